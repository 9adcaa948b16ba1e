//! Content blocks as values: what a message or a result is made of, once a record is looked at closely.

use serde_json::{Map, Value};
use std::borrow::Cow;
use tooltrail_model::content::{Content, Image};

/// The content of a message or a result: one text, or a list of blocks. A list that was written into a text is the blocks it holds.
pub(super) fn contents(value: &Value) -> Vec<Content> {
    match value {
        Value::String(text) => match spelled(text) {
            Some(blocks) => blocks.iter().map(content).collect(),
            None => vec![Content::text(text.as_str())],
        },
        Value::Array(blocks) => blocks.iter().map(content).collect(),
        Value::Null => Vec::new(),
        other => vec![content(other)],
    }
}

/// The blocks of a list that was written into a text. Other lists are the tool's own words.
fn spelled(text: &str) -> Option<Vec<Value>> {
    if !text.trim_start().starts_with("[{") || !text.contains("\"type\"") {
        return None;
    }
    let blocks: Vec<Value> = serde_json::from_str(text).ok()?;
    let known = |block: &Value| matches!(kind(block), "text" | "image" | "document" | "tool_reference" | "search_result" | "resource");
    (!blocks.is_empty() && blocks.iter().all(known)).then_some(blocks)
}

/// The type of a block.
pub(super) fn kind(block: &Value) -> &str {
    text(block, "type").unwrap_or_default()
}

/// A text of a block.
pub(super) fn text<'v>(block: &'v Value, key: &str) -> Option<&'v str> {
    block.get(key).and_then(Value::as_str)
}

/// One block.
pub(super) fn content(block: &Value) -> Content {
    let found = match (kind(block), block) {
        (_, Value::String(words)) => Some(Content::text(words.as_str())),
        ("text", _) => text(block, "text").map(Content::text),
        ("image", _) => image(block).map(Content::Image),
        ("document", _) => document(block),
        ("tool_reference", _) => text(block, "tool_name").map(|name| Content::Tool { name: name.to_owned() }),
        ("search_result", _) => search_result(block),
        _ => None,
    };
    found.unwrap_or_else(|| Content::Other { value: block.clone() })
}

/// A picture. The API keeps it in `source`; MCP servers write `data` and `mimeType` side by side.
fn image(block: &Value) -> Option<Image> {
    let source = block.get("source").unwrap_or(block);
    let media = text(source, "media_type").or(text(source, "mimeType")).unwrap_or_default().to_owned();
    let data = text(source, "data").map(str::to_owned);
    let place = ["url", "file_id"].iter().find_map(|key| text(source, key)).map(str::to_owned);
    (data.is_some() || place.is_some()).then(|| Image { media, data, source: place, ..Image::default() })
}

/// A document: its size, and its text where that is what it is.
fn document(block: &Value) -> Option<Content> {
    let source = block.get("source")?;
    let data = text(source, "data");
    let plain = text(source, "type") == Some("text");
    let bytes = data.map_or(0, |data| if plain { data.len() } else { decoded(data) }) as u64;
    let own = ["title", "context"].iter().find_map(|key| text(block, key));
    Some(Content::Document {
        title: own.or(text(source, "url")).or(text(source, "file_id")).map(str::to_owned),
        media: text(source, "media_type").map(str::to_owned),
        text: data.filter(|_| plain).map(str::to_owned),
        bytes,
    })
}

/// How many bytes a text in base64 stands for.
pub(super) fn decoded(base64: &str) -> usize {
    base64.trim_end().trim_end_matches('=').len() * 3 / 4
}

/// A passage that was found: its words under its title.
fn search_result(block: &Value) -> Option<Content> {
    let inner = block.get("content").map(contents)?;
    let words = tooltrail_model::content::words(&inner);
    let title = text(block, "title").unwrap_or_default();
    let source = text(block, "source").unwrap_or_default();
    let parts: Vec<&str> = [title, source, &words].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| Content::text(parts.join("\n")))
}

/// The blocks of a message. A bare text is a block of words.
pub(super) fn blocks(message: &Value) -> &[Value] {
    match message.get("content") {
        Some(Value::Array(blocks)) => blocks,
        Some(text @ Value::String(_)) => std::slice::from_ref(text),
        _ => &[],
    }
}

/// The words of a block that is words.
pub(super) fn words(block: &Value) -> Option<&str> {
    block.as_str().or_else(|| text(block, "text"))
}

/// Whether a block of this type requests a call: `tool_use`, or one of the API-side kinds.
pub(super) fn is_call(kind: &str) -> bool {
    kind == "tool_use" || kind.ends_with("_tool_use")
}

/// Whether a block of this type answers a call.
pub(super) fn is_result(kind: &str) -> bool {
    kind == "tool_result" || kind.ends_with("_tool_result")
}

/// The name of a call or a result that has no id: its line, and its number if there were others before it on the line.
pub(super) fn place_name(line: u64, before: usize) -> String {
    if before == 0 { format!("line-{line}") } else { format!("line-{line}-{}", before + 1) }
}

/// The call that a block of a message requests, which stands on this line.
pub(super) fn call_id<'v>(block: &'v Value, message: &Value, line: u64) -> Option<Cow<'v, str>> {
    named(block, message, line, "id", is_call)
}

/// The call that a block of a message answers, which stands on this line.
pub(super) fn result_id<'v>(block: &'v Value, message: &Value, line: u64) -> Option<Cow<'v, str>> {
    named(block, message, line, "tool_use_id", is_result)
}

/// The id of a block of some kind; one that has none is named after its place.
fn named<'v>(block: &'v Value, message: &Value, line: u64, key: &str, is_one: fn(&str) -> bool) -> Option<Cow<'v, str>> {
    if !is_one(kind(block)) {
        return None;
    }
    let unnamed = || blocks(message).iter().filter(|block| is_one(kind(block)) && id(block, key).is_none());
    let before = || unnamed().position(|other| std::ptr::eq(other, block)).unwrap_or_default();
    Some(id(block, key).unwrap_or_else(|| Cow::Owned(place_name(line, before()))))
}

/// An id: a text, or a number by its digits. An empty one is none.
fn id<'v>(block: &'v Value, key: &str) -> Option<Cow<'v, str>> {
    match block.get(key)? {
        Value::String(text) if !text.is_empty() => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// The fields of an object that are not among these.
pub(super) fn without(value: &Value, keys: &[&str]) -> Map<String, Value> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .filter(|(key, value)| !keys.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
