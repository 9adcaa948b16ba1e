//! The result of a call, as far as a record has it: the content that the model saw, and what the log keeps besides.
//!
//! The output of an item is the content that the model saw. End events and completed items have the tool's own output; their version of the
//! content counts only where there is no item.

use super::content::{self, image, str_of};
use super::fields::{FieldSpan, PayloadFields};
use super::record::{CodexRecord, RecordClass};
use super::{items, markers, output, script, tools};
use crate::value::Payloads;
use serde_json::Value;
use std::borrow::Cow;
use tooltrail_model::content::Content;
use tooltrail_model::transcript::{HookStory, LoggedResult};
use tooltrail_skim::{Raw, Skim};

/// Fields that identify a record rather than say something.
const NAMES: &[&str] = &["type", "id", "call_id", "callId", "turn_id", "internal_chat_message_metadata_passthrough"];

/// The result of a call.
pub(super) fn of(record: &CodexRecord<'_>, call: &str, payloads: Payloads<'_>) -> Option<LoggedResult> {
    let mut result = of_call(record, call, payloads)?;
    // The content may be one text in several pieces.
    payloads.together(&mut result.seen);
    Some(result)
}

fn of_call(record: &CodexRecord<'_>, call: &str, payloads: Payloads<'_>) -> Option<LoggedResult> {
    if !record.is_about(call) && script::inner_number(record, call).is_none() {
        return None;
    }
    if record.class != RecordClass::Item {
        return record.is_end().then(|| of_end(record, payloads));
    }
    let item = record.body();
    match &*record.kind {
        "function_call_output" | "function_call_result" | "custom_tool_call_output" | "local_shell_call_output" => {
            record.named()?;
            Some(of_output(item, payloads))
        }
        "tool_search_output" => {
            let names = item.some(item.tools).map(|tools| tool_names(Some(&payloads.value(tools)))).unwrap_or_default();
            let seen = names.into_iter().map(|name| Content::Tool { name }).collect();
            Some(LoggedResult { seen, produced: rest(item, payloads), ..LoggedResult::default() })
        }
        // Logged once they are over: the item is request and result.
        "web_search_call" | "image_generation_call" => items::is_over(item).then(|| LoggedResult {
            seen: made(record, payloads),
            produced: rest(item, payloads),
            ..LoggedResult::default()
        }),
        kind => items::is_new_output(kind, item).then(|| of_output(item, payloads)),
    }
}

/// The output of a call, by an item.
fn of_output(item: &PayloadFields<'_>, payloads: Payloads<'_>) -> LoggedResult {
    let (seen, produced) = output::open(item.raw(items::output(item)), payloads);
    LoggedResult { seen, produced, ..LoggedResult::default() }
}

/// The hook that refused a call. Codex keeps no records of hooks; the call's output mentions this one.
pub(super) fn hook(record: &CodexRecord<'_>, payloads: Payloads<'_>) -> Option<HookStory> {
    if record.class != RecordClass::Item || !record.kind.ends_with("_output") {
        return None;
    }
    let item = record.body();
    // Matched in the original words; only the reason is shown.
    let texts: Vec<Cow<'_, str>> = content::texts(item.some(item.output)?).into_iter().map(Raw::text).collect();
    let hook = markers::hook(content::lines(texts.iter().map(|text| &**text)).trim_start())?;
    let reason = hook.reason.map(|reason| payloads.decoded(reason.into_owned()));
    Some(HookStory {
        call: record.named().map(Cow::into_owned),
        event: hook.event.map(Cow::into_owned),
        outcome: hook.outcome,
        texts: reason.iter().map(|reason| ("reason".to_owned(), reason.clone())).collect(),
        reason,
        ..HookStory::default()
    })
}

fn of_end(record: &CodexRecord<'_>, payloads: Payloads<'_>) -> LoggedResult {
    let end = record.body();
    let open = |place: FieldSpan| end.some(place).map(|raw| content::open(raw, payloads)).unwrap_or_default();
    let seen = match &*record.kind {
        "exec_command_end" | "CommandExecution" => {
            // Any of these may be empty.
            let texts = [end.aggregated_output, end.formatted_output, end.stdout].map(|place| end.string(place));
            let text = texts.into_iter().flatten().find(|text| !text.is_empty());
            text.map(|text| Content::text(payloads.text(text))).into_iter().collect()
        }
        "mcp_tool_call_end" | "McpToolCall" => mcp(end, payloads),
        "dynamic_tool_call_response" | "DynamicToolCall" => open(end.first(&[end.content_items, end.content_items_camel])),
        _ => made(record, payloads),
    };
    let mut produced = rest(end, payloads);
    // The kind of an extension's item is the name of the tool.
    if record.is_extension()
        && let Some(fields) = produced.as_mut().and_then(Value::as_object_mut)
    {
        fields.shift_remove("kind");
    }
    LoggedResult { seen, produced, ..LoggedResult::default() }
}

/// `{"Ok":{"content":[…]}}`, `{"Err":"…"}`, or `{"content":[…]}` beside an error.
fn mcp(end: &PayloadFields<'_>, payloads: Payloads<'_>) -> Vec<Content> {
    let result = end.some(end.result).map(|result| {
        let inner = member(result, "Ok").or_else(|| member(result, "Err")).unwrap_or(result);
        member(inner, "content").unwrap_or(inner)
    });
    let error = || end.some(end.error).map(|error| member(error, "message").unwrap_or(error));
    result.or_else(error).map(|said| content::open(said, payloads)).unwrap_or_default()
}

/// The raw JSON of a member of an object; nothing if there is no such object.
fn member<'r>(raw: &'r [u8], name: &str) -> Option<&'r [u8]> {
    let mut found = None;
    let _ = Skim::new(raw).object(|key, value| {
        if key.as_bytes() == name.as_bytes() {
            let span = value.skip()?;
            found = Some(value.slice(span));
        }
        Ok(())
    });
    found
}

/// A picture that was made.
fn made(record: &CodexRecord<'_>, payloads: Payloads<'_>) -> Vec<Content> {
    let body = record.body();
    let makes = matches!(&*record.kind, "image_generation_call" | "image_generation_end" | "ImageGeneration" | "image_gen.generation");
    let picture = body.text(body.result).filter(|_| makes);
    // Pictures are PNG in base64, without saying so.
    let address = picture.map(|data| if data.starts_with("data:") { data } else { Cow::Owned(format!("data:image/png;base64,{data}")) });
    address.map(|address| Content::Image(image(&address, payloads))).into_iter().collect()
}

/// The names of the tools that a search found; those of a namespace one by one.
pub(super) fn tool_names(found: Option<&Value>) -> Vec<String> {
    let mut names = Vec::new();
    for tool in found.and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = str_of(tool, "name") else { continue };
        let inner = tool.get("tools").and_then(Value::as_array);
        let inner: Vec<&str> = inner.into_iter().flatten().filter_map(|tool| str_of(tool, "name")).collect();
        if inner.is_empty() {
            names.push(name.to_owned());
        }
        names.extend(inner.iter().map(|inner| tools::full_name(Some(name.into()), (*inner).into()).into_owned()));
    }
    names
}

/// The fields of a record besides its names.
fn rest(body: &PayloadFields<'_>, payloads: Payloads<'_>) -> Option<Value> {
    let mut value = payloads.value(body.own());
    value.as_object_mut()?.retain(|key, value| !NAMES.contains(&key.as_str()) && !value.is_null());
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::record::tests::of_json;
    use serde_json::json;

    fn output(output: Value) -> (Vec<Content>, Option<Value>) {
        let record = json!({"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": output}});
        let result = of(&of_json(&record.to_string()), "c", Payloads::default()).unwrap_or_default();
        (result.seen, result.produced)
    }

    #[test]
    fn outputs_lose_their_wrapping() {
        let text = |text: &str| vec![Content::text(text)];
        let meta = json!({"exit_code": 1});
        let table = [
            (json!("plain"), text("plain"), None),
            (json!({"output": "a", "metadata": {"exit_code": 1}}), text("a"), Some(meta.clone())),
            (json!(r#"{"output":"a","metadata":{"exit_code":1}}"#), text("a"), Some(meta)),
            (json!(r#"{"agent_id":"x"}"#), text(r#"{"agent_id":"x"}"#), None),
            (json!("Wall time: 1.2 seconds\nOutput:\nrows"), text("rows"), None),
            (json!("Wall time: 1.2 seconds\nOutput:\n[{\"type\":\"text\",\"text\":\"rows\"}]"), text("rows"), None),
            (
                json!([{"type": "input_text", "text": "Wall time: 1.2 seconds\nOutput:\n"}, {"type": "input_text", "text": "rows"}]),
                text("rows"),
                None,
            ),
            (json!("Exit code: 0\nWall time: 1.2 seconds\nOutput:\nx"), text("Exit code: 0\nWall time: 1.2 seconds\nOutput:\nx"), None),
            (Value::Null, Vec::new(), None),
        ];
        for (value, seen, produced) in table {
            assert_eq!(output(value.clone()), (seen, produced), "{value}");
        }
    }

    #[test]
    fn tools_of_a_namespace_are_named_one_by_one() {
        let tools = json!([{"name": "mcp__db", "tools": [{"name": "query"}, {"name": "tables"}]}, {"name": "plain"}, 1]);
        assert_eq!(tool_names(Some(&tools)), ["mcp__db__query", "mcp__db__tables", "plain"]);
    }
}
