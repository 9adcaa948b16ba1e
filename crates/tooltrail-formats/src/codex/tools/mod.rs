//! Calls in neutral form: one file per family of tools. [`detail`] finds the family and keeps what it does not take.

mod agent;
mod bag;
mod error;
mod files;
mod mcp;
mod names;
mod patch;
mod picture;
mod plan;
mod question;
pub(super) mod shell;
mod task;
mod web;

use super::content::printed;
use super::header::{self, Header};
use crate::Ask;
use bag::Bag;
pub(super) use names::{full_name, kind, of_end, server};
use serde_json::{Map, Value};
use tooltrail_model::detail::{Detail, Detailed};

/// A call that is being taken apart.
struct Call<'a> {
    /// Its input.
    input: Bag,
    /// The input where it is no object: the text of a script, a patch, or broken JSON.
    script: Option<&'a str>,
    /// What the tool produced.
    produced: Bag,
    /// What the model saw, as one text.
    said: &'a str,
    /// The lines in front of it, and what follows them.
    header: Header<'a>,
    /// The message of a failure.
    error: Option<String>,
    /// Everything.
    ask: &'a Ask<'a>,
}

/// Fields of ends that the call's row tells already.
const IN_ROW: &[&str] = &["status", "success", "exit_code", "duration", "duration_ms", "durationMs", "duration_seconds"];

/// A call in neutral form, with what had no place in it.
pub(super) fn detail(ask: &Ask<'_>) -> Detailed {
    let said = printed(ask.seen);
    let mut call = Call {
        input: Bag::of(Some(ask.input)),
        script: ask.input.as_str(),
        produced: Bag::of(ask.produced),
        said: &said,
        header: header::read(&said),
        error: None,
        ask,
    };
    call.error = error::read(&call);
    let detail = family(&mut call);
    call.produced.drop(IN_ROW);
    let rest_input = match (&detail, call.script) {
        // The whole input speaks for itself.
        (Detail::Other | Detail::Mcp(_), _) => Map::new(),
        // Input that is no object, and that nobody took, is kept under a name of ours.
        (_, Some(script)) => Map::from_iter([("input".to_owned(), Value::from(script))]),
        (_, None) => call.input.rest(),
    };
    Detailed { detail, rest_input, rest_produced: call.produced.rest(), error: call.error, saved: None }
}

/// The family of a call, by the last part of its name.
fn family(call: &mut Call<'_>) -> Detail {
    if call.ask.tool.starts_with("mcp__") || call.ask.server.is_some() {
        return mcp::detail(call);
    }
    let name = call.ask.tool.rsplit_once("__").map_or(call.ask.tool, |(_, name)| name);
    match name {
        "shell" | "shell_command" | "exec_command" | "local_shell" | "local_shell_call" | "container.exec" => {
            patch::in_shell(call).unwrap_or_else(|| shell::detail(call))
        }
        "apply_patch" => patch::detail(call),
        "write_stdin" => task::detail(call),
        "wait" if call.input.has("cell_id") => task::detail(call),
        "update_plan" => plan::detail(call),
        "view_image" | "image_generation" | "image_generation_call" => picture::detail(call),
        "request_user_input" => question::detail(call),
        "web_search" | "web_search_call" => web::search(call),
        "tool_search" | "tool_search_call" => web::tools(call),
        "read_file" => files::read(call),
        "grep_files" => files::grep(call),
        "list_dir" => files::list(call),
        name => match agent::action(name) {
            Some(action) => agent::detail(call, action),
            None => other(call),
        },
    }
}

/// A tool without a family. An end that is all there is repeats the request.
fn other(call: &mut Call<'_>) -> Detail {
    call.produced.drop(&["tool", "namespace", "arguments", "content_items", "contentItems"]);
    Detail::Other
}
