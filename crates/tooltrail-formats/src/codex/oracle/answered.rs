//! What a record says about the result of a call: what the model saw, and what the log keeps besides.
//!
//! The output of an item is what the model saw. End events and completed items tell what the tool produced; what they give as seen
//! counts only where no item says it.

use super::Opened;
use super::content::{image, list, printed};
use super::opened::{Entry, Sort, json, str_of};
use crate::codex::{header, markers};
use serde_json::{Map, Value};
use tooltrail_model::content::{Content, Image};
use tooltrail_model::transcript::{Answered, HookStory};

/// Fields by which a record is found rather than what it says.
const NAMES: &[&str] = &["type", "id", "call_id", "callId", "turn_id", "internal_chat_message_metadata_passthrough"];

/// The result of a call.
pub(super) fn read(record: Opened<'_>, call: &str) -> Option<Answered> {
    let entry = Entry::of(record);
    if !entry.is_about(call) {
        return None;
    }
    if entry.sort != Sort::Item {
        return entry.is_end().then(|| of_end(&entry));
    }
    match entry.kind {
        "function_call_output" | "function_call_result" | "custom_tool_call_output" | "local_shell_call_output" => {
            entry.named()?;
            Some(output(&entry))
        }
        "tool_search_output" => {
            let seen = tool_names(entry.field("tools")).into_iter().map(|name| Content::Tool { name }).collect();
            Some(Answered { seen, produced: rest(&entry), ..Answered::default() })
        }
        // Logged once they are over: the item is both.
        "web_search_call" | "image_generation_call" => {
            let over = !matches!(entry.text("status")?, "in_progress" | "searching" | "generating");
            over.then(|| Answered { seen: made(&entry), produced: rest(&entry), ..Answered::default() })
        }
        _ => entry.is_new_output().then(|| output(&entry)),
    }
}

/// What an item gives as the output of a call.
fn output(entry: &Entry<'_>) -> Answered {
    let output = ["output", "result", "content"].iter().find_map(|key| entry.body.get(key));
    output.map(unpacked).unwrap_or_default()
}

/// The hook that refused a call. Codex keeps no record of hooks; it tells of this one in the call's output.
pub(super) fn hook(record: Opened<'_>) -> Option<HookStory> {
    let entry = Entry::of(record);
    if entry.sort != Sort::Item || !entry.kind.ends_with("_output") {
        return None;
    }
    let hook = markers::hook(printed(&list(entry.field("output")?)).trim_start())?;
    let texts = hook.reason.map(|reason| ("reason".to_owned(), reason.into_owned())).into_iter().collect();
    Some(HookStory {
        call: entry.named().map(str::to_owned),
        event: hook.event.map(|event| event.into_owned()),
        outcome: hook.outcome,
        texts,
        ..HookStory::default()
    })
}

/// An output without what the agent wraps around it: `{"output":…,"metadata":…}`, also as JSON in a string, and the time that a call
/// of an MCP server took.
fn unpacked(output: &Value) -> Answered {
    let inner = output.as_str().and_then(json);
    let object = inner.as_ref().unwrap_or(output);
    if let Some(text) = object.get("output").filter(|_| object.get("metadata").is_some_and(Value::is_object)) {
        return Answered { seen: list(text), produced: object.get("metadata").cloned(), ..Answered::default() };
    }
    let mut seen = list(output);
    untimed(&mut seen);
    Answered { seen, ..Answered::default() }
}

/// Takes `Wall time: 1.2 seconds\nOutput:` away. What stands behind it may be a list of content, as JSON.
fn untimed(seen: &mut Vec<Content>) {
    let Some(Content::Text { text }) = seen.first() else { return };
    let header = header::read(text);
    if !header.is_time_alone() {
        return;
    }
    let body = header.body.to_owned();
    let blocks = json(&body).filter(|blocks| blocks.as_array().is_some_and(|all| all.iter().all(|one| one.get("type").is_some())));
    let instead = match blocks {
        Some(blocks) => list(&blocks),
        None if body.is_empty() && seen.len() > 1 => Vec::new(),
        None => vec![Content::text(body)],
    };
    seen.splice(..1, instead);
}

fn of_end(entry: &Entry<'_>) -> Answered {
    let seen = match entry.kind {
        "exec_command_end" | "CommandExecution" => ["aggregated_output", "formatted_output", "stdout"]
            .iter()
            .find_map(|key| entry.text(key))
            .map(Content::text)
            .into_iter()
            .collect(),
        "mcp_tool_call_end" | "McpToolCall" => mcp(entry),
        "dynamic_tool_call_response" | "DynamicToolCall" => {
            let content = ["content_items", "contentItems"].iter().find_map(|key| entry.field(key));
            content.map(list).unwrap_or_default()
        }
        _ => made(entry),
    };
    Answered { seen, produced: rest(entry), ..Answered::default() }
}

/// `{"Ok":{"content":[…]}}`, `{"Err":"…"}`, or `{"content":[…]}` beside an error.
fn mcp(entry: &Entry<'_>) -> Vec<Content> {
    let result = entry.field("result");
    let result = result.map(|result| result.get("Ok").or_else(|| result.get("Err")).unwrap_or(result));
    let error = || entry.field("error").map(|error| error.get("message").unwrap_or(error));
    let said = result.map(|result| result.get("content").unwrap_or(result)).or_else(error);
    said.map(list).unwrap_or_default()
}

/// A picture that was made.
fn made(entry: &Entry<'_>) -> Vec<Content> {
    let picture =
        entry.text("result").filter(|_| matches!(entry.kind, "image_generation_call" | "image_generation_end" | "ImageGeneration"));
    picture.map(|data| Content::Image(made_image(data))).into_iter().collect()
}

/// Pictures are made as PNG, in base64 without saying so.
pub(super) fn made_image(data: &str) -> Image {
    if data.starts_with("data:") { image(data) } else { image(&format!("data:image/png;base64,{data}")) }
}

/// The names of the tools that a search found; those of a namespace one by one.
pub(super) fn tool_names(tools: Option<&Value>) -> Vec<String> {
    let mut names = Vec::new();
    for tool in tools.and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = str_of(tool, "name") else { continue };
        let inner = tool.get("tools").and_then(Value::as_array);
        let inner: Vec<&str> = inner.into_iter().flatten().filter_map(|tool| str_of(tool, "name")).collect();
        if inner.is_empty() {
            names.push(name.to_owned());
        }
        names.extend(inner.iter().map(|inner| crate::codex::tools::full_name(Some(name.into()), (*inner).into()).into_owned()));
    }
    names
}

/// What a record says besides its names.
fn rest(entry: &Entry<'_>) -> Option<Value> {
    let fields = entry.body.as_object()?.iter().filter(|(key, value)| !NAMES.contains(&key.as_str()) && !value.is_null());
    Some(Value::Object(fields.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>()))
}
