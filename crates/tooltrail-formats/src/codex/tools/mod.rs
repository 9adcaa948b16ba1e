//! Calls in neutral form: one file per family of tools. [`TOOLS`] has the names, the kind and the reader of each tool; [`detail`] keeps the
//! fields that a reader does not take.

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
use crate::DetailRequest;
use bag::Bag;
pub(super) use names::{full_name, kind, of_end, server};
use serde_json::{Map, Value};
use tooltrail_model::Kind;
use tooltrail_model::detail::{Detail, Detailed, InnerDetail, ScriptDetail};

/// Reads the calls of one tool.
type CodexToolReader = fn(&mut CodexCall<'_>) -> Detail;

/// A tool: the names it has had, the family that filters and `kind` go by, and the reader of its calls.
struct CodexTool {
    names: &'static [&'static str],
    kind: Kind,
    read: CodexToolReader,
}

/// A line of the table.
const fn tool(names: &'static [&'static str], kind: Kind, read: CodexToolReader) -> CodexTool {
    CodexTool { names, kind, read }
}

/// Every tool that is known, by its name without a namespace; with it, where the name alone could be any tool's. A name that is not here is shown by its input and answer.
///
/// A scan looks up every call here, one name after the other: what is called most stands first.
static TOOLS: &[CodexTool] = &[
    tool(&["exec_command", "shell", "shell_command", "local_shell", "local_shell_call", "container.exec"], Kind::Shell, patch::or_command),
    tool(&["apply_patch"], Kind::Edit, patch::detail),
    tool(&["write_stdin"], Kind::Task, task::detail),
    tool(&["update_plan"], Kind::Todo, plan::detail),
    tool(&["exec"], Kind::Script, script),
    tool(&["js_repl"], Kind::Shell, other),
    tool(&["wait"], Kind::Task, agent::wait_or_task),
    tool(&["wait_agent"], Kind::Task, |call| agent::detail(call, "wait")),
    tool(&["close_agent"], Kind::Task, |call| agent::detail(call, "stop")),
    tool(&["interrupt_agent"], Kind::Task, |call| agent::detail(call, "interrupt")),
    tool(&["list_agents"], Kind::Task, |call| agent::detail(call, "list")),
    tool(&["spawn_agent"], Kind::Subagent, |call| agent::detail(call, "start")),
    tool(&["send_input", "send_message", "followup_task"], Kind::Subagent, |call| agent::detail(call, "send")),
    tool(&["resume_agent"], Kind::Subagent, |call| agent::detail(call, "resume")),
    // Spellings of items that only report how a call ended.
    tool(&["sendMessage", "followupTask"], Kind::Other, |call| agent::detail(call, "send")),
    tool(&["interruptAgent"], Kind::Other, |call| agent::detail(call, "interrupt")),
    tool(&["listAgents"], Kind::Other, |call| agent::detail(call, "list")),
    tool(&["view_image", "image_generation", "image_generation_call"], Kind::Image, picture::detail),
    tool(&["image_gen__imagegen", "image_gen.generation"], Kind::Image, picture::detail),
    tool(&["web_search", "web_search_call", "web.search"], Kind::WebSearch, web::search),
    tool(&["web__run"], Kind::WebSearch, web::run),
    tool(&["tool_search", "tool_search_call"], Kind::Search, web::tools),
    tool(&["read_file"], Kind::Read, files::read),
    tool(&["grep_files"], Kind::Search, files::grep),
    tool(&["list_dir"], Kind::List, files::list),
    tool(&["read_mcp_resource"], Kind::Read, other),
    tool(&["list_mcp_resources", "list_mcp_resource_templates"], Kind::List, other),
    tool(&["get_goal", "create_goal", "update_goal"], Kind::Todo, other),
    tool(&["request_user_input"], Kind::Question, question::detail),
    tool(&["request_permissions"], Kind::Question, other),
];

/// The tool of a name, without its namespace (what stands before the last `__`) or with it.
fn find(name: &str) -> Option<&'static CodexTool> {
    let named = |name: &str| TOOLS.iter().find(|tool| tool.names.contains(&name));
    match name.rsplit_once("__") {
        // A name such as `run` says something only together with its namespace.
        Some((_, last)) => named(last).or_else(|| named(name)),
        None => named(name),
    }
}

/// A call that is being taken apart.
struct CodexCall<'a> {
    /// Its input.
    input: Bag,
    /// The input where it is no object: the text of a script, a patch, or broken JSON.
    script: Option<&'a str>,
    /// The tool's own output.
    produced: Bag,
    /// The text that the model saw.
    said: &'a str,
    /// The lines in front of it, and what follows them.
    header: Header<'a>,
    /// The message of a failure.
    error: Option<String>,
    /// Everything.
    ask: &'a DetailRequest<'a>,
}

/// Fields of ends that the call's row has already.
const IN_ROW: &[&str] = &["status", "success", "exit_code", "duration", "duration_ms", "durationMs", "duration_seconds"];

/// A call in neutral form, with the fields that had no place in it.
pub(super) fn detail(ask: &DetailRequest<'_>) -> Detailed {
    // A tool in the other agent's spelling is read as that agent's.
    if !names::is_mcp(ask.tool) && ask.server.is_none() && find(ask.tool).is_none() && crate::claude_code::tool_kind(ask.tool).is_some() {
        return crate::claude_code::tool_detail(ask);
    }
    let said = printed(ask.seen);
    let mut call = CodexCall {
        input: Bag::of(Some(ask.input)),
        script: ask.input.as_str(),
        produced: Bag::of(ask.produced),
        said: &said,
        header: header::read(&said),
        error: None,
        ask,
    };
    // Before the reader runs, which may take the fields that the message is in.
    call.error = error::read(&call);
    let detail = read(&mut call);
    call.produced.drop(IN_ROW);
    error::drop_given(&mut call);
    let rest_input = match (&detail, call.script) {
        // Both views show the whole input themselves.
        (Detail::Other | Detail::Mcp(_) | Detail::Script(_), _) => Map::new(),
        // Input that is no object, and that no reader took, is kept under a name of ours.
        (_, Some(script)) => Map::from_iter([("input".to_owned(), Value::from(script))]),
        (_, None) => call.input.rest(),
    };
    Detailed { detail, rest_input, rest_produced: call.produced.rest(), error: call.error, saved: None }
}

/// The call in neutral form, without what its reader leaves over.
fn read(call: &mut CodexCall<'_>) -> Detail {
    if names::is_mcp(call.ask.tool) || call.ask.server.is_some() {
        return mcp::detail(call);
    }
    match find(call.ask.tool) {
        Some(tool) => (tool.read)(call),
        None => other(call),
    }
}

/// A program that calls tools: each of its calls is read like a call of its own that has no result.
fn script(call: &mut CodexCall<'_>) -> Detail {
    let Some(program) = call.script else { return other(call) };
    let read = super::script::read(program);
    let calls = read.script.calls.iter().zip(read.tools).map(|(inner, tool)| {
        let input = super::script::input(&inner.argument);
        let ask = DetailRequest {
            tool: &tool.tool,
            server: tool.server.as_deref(),
            kind: tool.kind,
            input: &input,
            seen: &[],
            produced: None,
            answered: false,
            ..*call.ask
        };
        // A program cannot be called by a program, so this goes no deeper.
        let detail = if tool.kind == Kind::Script { Detail::Other } else { detail(&ask).detail };
        InnerDetail { tool: tool.tool, input, detail }
    });
    Detail::Script(ScriptDetail { calls: calls.collect(), complete: read.script.complete })
}

/// A tool without a family. An end that is the only record of a call repeats the request.
fn other(call: &mut CodexCall<'_>) -> Detail {
    call.produced.drop(&["tool", "namespace", "arguments", "content_items", "contentItems"]);
    Detail::Other
}
