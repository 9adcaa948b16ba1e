//! What a record says about the request of a call: its input, taken out of whatever carries it.

use super::Opened;
use super::opened::{Entry, Sort, json};
use serde_json::{Map, Value};
use tooltrail_model::transcript::Asked;

/// The input of a call.
pub(super) fn read(record: Opened<'_>, call: &str) -> Option<Asked> {
    let entry = Entry::of(record);
    if !entry.is_about(call) {
        return None;
    }
    let input = if entry.sort == Sort::Item { of_item(&entry)? } else { of_end(&entry)? };
    Some(Asked { input, ..Asked::default() })
}

fn of_item(entry: &Entry<'_>) -> Option<Value> {
    match entry.kind {
        "custom_tool_call" => Some(entry.field("input").cloned().unwrap_or(Value::Null)),
        "image_generation_call" => Some(some(entry, &["revised_prompt"])),
        "function_call" | "local_shell_call" | "tool_search_call" | "web_search_call" => {
            let input = ["arguments", "input", "action"].iter().find_map(|key| entry.field(key));
            Some(input.map_or(Value::Null, unpacked))
        }
        _ if entry.is_new_call() => {
            let input = ["arguments", "input", "action"].iter().find_map(|key| entry.field(key));
            Some(input.map_or_else(|| entry.body.clone(), unpacked))
        }
        _ => None,
    }
}

/// Arguments are JSON in a string, sometimes in a string in that string, and may be no JSON at all.
fn unpacked(input: &Value) -> Value {
    let Some(text) = input.as_str() else { return input.clone() };
    let text = text.trim();
    let inner = text.starts_with('"').then(|| crate::value::read(text.as_bytes()));
    let inner = inner.as_ref().and_then(Value::as_str).unwrap_or(text);
    json(inner).filter(Value::is_object).unwrap_or_else(|| input.clone())
}

/// A call that is only known by its end was asked for what the end says it did.
fn of_end(entry: &Entry<'_>) -> Option<Value> {
    if !entry.is_end() {
        return None;
    }
    Some(match entry.kind {
        "exec_command_end" | "CommandExecution" => some(entry, &["command", "cwd"]),
        "patch_apply_end" | "FileChange" => some(entry, &["changes"]),
        "mcp_tool_call_end" => entry.field("invocation").and_then(|asked| asked.get("arguments")).map_or(Value::Null, unpacked),
        "McpToolCall" | "dynamic_tool_call_response" | "DynamicToolCall" => entry.field("arguments").map_or(Value::Null, unpacked),
        "web_search_end" | "WebSearch" => entry.field("action").cloned().unwrap_or_else(|| some(entry, &["query"])),
        "image_generation_end" | "ImageGeneration" => some(entry, &["revised_prompt"]),
        "view_image_tool_call" | "ImageView" => some(entry, &["path"]),
        _ => some(entry, &["prompt", "model", "reasoning_effort", "reasoningEffort"]),
    })
}

/// Some fields of a record, as an object.
fn some(entry: &Entry<'_>, keys: &[&str]) -> Value {
    let fields = keys.iter().filter_map(|key| Some(((*key).to_owned(), entry.field(key)?.clone())));
    Value::Object(fields.collect::<Map<_, _>>())
}
