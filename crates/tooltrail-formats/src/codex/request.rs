//! The request of a call, as far as a record has it: its input, taken out of its carrier.

use super::content;
use super::fields::{FieldSpan, PayloadFields};
use super::items;
use super::record::{CodexRecord, RecordClass};
use super::script;
use crate::value::Payloads;
use serde_json::Value;
use tooltrail_model::transcript::LoggedRequest;
use tooltrail_skim::{Raw, Skim};

/// The input of a call.
pub(super) fn of(record: &CodexRecord<'_>, call: &str, payloads: Payloads<'_>) -> Option<LoggedRequest> {
    if let Some((input, program)) = script::request(record, call, payloads) {
        return Some(LoggedRequest { input, program: Some(program), ..LoggedRequest::default() });
    }
    if !record.is_about(call) {
        return None;
    }
    let input = if record.class == RecordClass::Item { of_item(record, payloads)? } else { of_end(record, payloads)? };
    Some(LoggedRequest { input, ..LoggedRequest::default() })
}

fn of_item(record: &CodexRecord<'_>, payloads: Payloads<'_>) -> Option<Value> {
    let item = record.body();
    match &*record.kind {
        // A custom tool takes text, which is no JSON even where it looks like it.
        "custom_tool_call" => Some(item.some(item.input).map_or(Value::Null, |raw| payloads.value(raw))),
        "image_generation_call" => Some(object(item, &[("revised_prompt", item.revised_prompt)], payloads)),
        "function_call" | "local_shell_call" | "tool_search_call" | "web_search_call" => Some(unpacked(item, items::input(item), payloads)),
        kind if items::is_new_call(kind, item) => {
            let input = items::input(item);
            let told = item.some(input).is_some();
            // Without a known field for the input, the item as a whole is shown.
            Some(if told { unpacked(item, input, payloads) } else { payloads.value(item.own()) })
        }
        _ => None,
    }
}

/// The value of arguments, which are JSON in a string, sometimes in a string in that string, and may be no JSON at all.
fn unpacked(fields: &PayloadFields<'_>, place: FieldSpan, payloads: Payloads<'_>) -> Value {
    let Some(raw) = fields.some(place) else { return Value::Null };
    let Some(text) = Skim::new(raw).string().map(Raw::text) else { return payloads.value(raw) };
    // Opened from the innermost text, so that it is parsed once and each text in it is redacted as itself.
    let trimmed = text.trim();
    let nested = Skim::new(trimmed.as_bytes()).string().map(Raw::text);
    let inner = nested.as_deref().unwrap_or(trimmed);
    if content::is_object(inner) { payloads.value(inner.as_bytes()) } else { Value::String(payloads.decoded(text.into_owned())) }
}

/// The request of a call that is only known by its end: the fields that say what was done.
fn of_end(record: &CodexRecord<'_>, payloads: Payloads<'_>) -> Option<Value> {
    if !record.is_end() {
        return None;
    }
    let end = record.body();
    let some = |members: &[(&str, FieldSpan)]| object(end, members, payloads);
    Some(match &*record.kind {
        "exec_command_end" | "CommandExecution" => some(&[("command", end.command), ("cwd", end.cwd)]),
        "patch_apply_end" | "FileChange" => some(&[("changes", end.changes)]),
        "mcp_tool_call_end" => unpacked(end, end.inside(end.invocation).arguments, payloads),
        "McpToolCall" | "dynamic_tool_call_response" | "DynamicToolCall" => unpacked(end, end.arguments, payloads),
        "web_search_end" | "WebSearch" | "web.search" => searched(end, payloads),
        "image_generation_end" | "ImageGeneration" => some(&[("revised_prompt", end.revised_prompt)]),
        "view_image_tool_call" | "ImageView" => some(&[("path", end.path)]),
        "image_gen.generation" => some(&[("revised_prompt", end.first(&[end.revised_prompt_camel, end.revised_prompt]))]),
        "clock.sleep" => some(&[("duration_ms", end.duration_ms_camel)]),
        _ if record.is_extension() => some(&[]),
        _ => some(&[
            ("prompt", end.prompt),
            ("model", end.model),
            ("reasoning_effort", end.reasoning_effort),
            ("reasoningEffort", end.reasoning_effort_camel),
        ]),
    })
}

/// The action of a search of the web, or its query where the action names nothing to look for.
fn searched(end: &PayloadFields<'_>, payloads: Payloads<'_>) -> Value {
    let action = end.some(end.action).map(|action| payloads.value(action));
    // Nulls and empty lists say nothing either.
    let tells =
        |value: &Value| value.as_str().is_some_and(|text| !text.is_empty()) || value.as_array().is_some_and(|list| !list.is_empty());
    let told = action.as_ref().is_some_and(|action| ["query", "queries", "url"].iter().any(|name| action.get(name).is_some_and(tells)));
    match action {
        Some(action) if told || end.text(end.query).is_none() => action,
        _ => object(end, &[("query", end.query)], payloads),
    }
}

/// Some fields of a record as an object. It is opened as one, because the name of a field decides how its value is redacted.
fn object(fields: &PayloadFields<'_>, members: &[(&str, FieldSpan)], payloads: Payloads<'_>) -> Value {
    let mut json = vec![b'{'];
    for (name, raw) in members.iter().filter_map(|(name, place)| Some((name, fields.some(*place)?))) {
        if json.len() > 1 {
            json.push(b',');
        }
        json.extend_from_slice(format!("\"{name}\":").as_bytes());
        json.extend_from_slice(raw);
    }
    json.push(b'}');
    payloads.value(&json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::record::tests::of_json;
    use serde_json::json;

    fn input(payload: Value, call: &str) -> Option<Value> {
        let class = if payload["type"].as_str().is_some_and(|kind| kind.ends_with("_call")) { "response_item" } else { "event_msg" };
        let text = json!({"type": class, "payload": payload}).to_string();
        of(&of_json(&text), call, Payloads::default()).map(|request| request.input)
    }

    #[test]
    fn inputs_are_taken_out_of_every_carrier() {
        let call = |arguments: &str| json!({"type": "function_call", "call_id": "c", "arguments": arguments});
        assert_eq!(input(call(r#"{"cmd":"ls"}"#), "c"), Some(json!({"cmd": "ls"})));
        assert_eq!(input(call(r#""{\"cmd\":\"ls\"}""#), "c"), Some(json!({"cmd": "ls"})));
        assert_eq!(input(call(r#"{"cmd":"ls"#), "c"), Some(json!(r#"{"cmd":"ls"#)));
        assert_eq!(input(call("{}"), "other"), None);
        assert_eq!(input(json!({"type": "custom_tool_call", "call_id": "c", "input": "{}"}), "c"), Some(json!("{}")));
        assert_eq!(input(json!({"type": "web_search_call", "action": {"query": "q"}}), "line-7"), Some(json!({"query": "q"})));
        assert_eq!(input(json!({"type": "fly_call", "call_id": "c", "arguments": "{\"to\":1}"}), "c"), Some(json!({"to": 1})));
        assert_eq!(input(json!({"type": "exec_command_end", "call_id": "c", "command": ["ls"]}), "c"), Some(json!({"command": ["ls"]})));
        assert_eq!(input(json!({"type": "exec_command_end", "call_id": "c", "source": "user_shell"}), "c"), None);
    }
}
