//! Content blocks as values: the parts of a message or a result, once a record is opened.

use serde_json::{Map, Value};
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

/// The blocks of a list that was written into a text. Any other list is the tool's own output.
fn spelled(text: &str) -> Option<Vec<Value>> {
    // A cheap test first: parsing every output that begins with a bracket would be slow.
    if !text.trim_start().starts_with("[{") || !text.contains("\"type\"") {
        return None;
    }
    let blocks: Vec<Value> = serde_json::from_str(text).ok()?;
    let known = |block: &Value| matches!(kind(block), "text" | "image" | "document" | "tool_reference" | "search_result" | "resource");
    // One unknown block is enough to leave the text as it is: a tool may print JSON of its own.
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

/// A document: its size, and its text if it is plain text.
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
    // Good enough for a size: white space inside is not counted out.
    base64.trim_end().trim_end_matches('=').len() * 3 / 4
}

/// A search hit: its words under its title.
fn search_result(block: &Value) -> Option<Content> {
    let inner = block.get("content").map(contents)?;
    let words = tooltrail_model::content::words(&inner);
    let title = text(block, "title").unwrap_or_default();
    let source = text(block, "source").unwrap_or_default();
    let parts: Vec<&str> = [title, source, &words].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| Content::text(parts.join("\n")))
}

/// The fields of an object that are not among these.
pub(super) fn without(value: &Value, keys: &[&str]) -> Map<String, Value> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .filter(|(key, value)| !keys.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_written_into_texts_are_blocks() {
        let spelled = json!(r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]"#);
        assert!(matches!(&contents(&spelled)[..], [Content::Image(image)] if image.data.as_deref() == Some("AAAA")));
        // A tool may answer in JSON of its own.
        let own = json!(r#"[{"type":"bug","text":"x"}]"#);
        assert!(matches!(&contents(&own)[..], [Content::Text { .. }]));
        assert!(matches!(&contents(&json!([{"type": "new_kind"}]))[..], [Content::Other { .. }]));
        assert_eq!(contents(&Value::Null), Vec::new());
    }

    #[test]
    fn documents_know_their_size() {
        let pdf = json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}});
        assert!(matches!(content(&pdf), Content::Document { bytes: 5, .. }));
    }
}
