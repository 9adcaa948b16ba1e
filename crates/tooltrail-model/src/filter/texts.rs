//! Searchable texts of calls and messages: prompts, answers, thoughts, inputs and results, without ids, signatures, usage
//! and pictures. This is the only definition; filters and searches look at nothing else.
//!
//! Every text here is a decoded string of the record, a part of one, or several joined by line feeds. (The few exceptions
//! are known to the formats.) This allows a search to look at the raw bytes first.

use crate::content::Content;
use crate::status::words;
use crate::transcript::{LoggedResult, Part};
use serde_json::Value;

words! {
    /// Kind of text.
    Field {
        /// Written to the model or to the agent: by a person or another agent, or a command with its output.
        Prompt => "prompt",
        /// Said by the model.
        Text => "text",
        /// Thought by the model.
        Thinking => "thinking",
        /// A file that a call is about: part of its input.
        Path => "path",
        /// Input of a tool.
        Input => "input",
        /// Result of a tool.
        Result => "result",
    }
}

/// A text of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordText {
    /// Kind of text.
    pub field: Field,
    /// The text.
    pub text: String,
    /// Whether it is the tool's output beside the text that the model saw: mostly the same again.
    pub produced: bool,
}

impl RecordText {
    fn new(field: Field, text: impl Into<String>) -> Self {
        RecordText { field, text: text.into(), produced: false }
    }

    /// A text of the tool's output beside what the model saw.
    pub fn produced(text: impl Into<String>) -> Self {
        RecordText { produced: true, ..RecordText::new(Field::Result, text) }
    }
}

/// Texts of a message; none for texts that the agent injected.
pub fn message(part: Part) -> Vec<RecordText> {
    let one = |field, text: String| if text.is_empty() { Vec::new() } else { vec![RecordText::new(field, text)] };
    match part {
        Part::Prompt { text, .. } => one(Field::Prompt, text),
        Part::Command { line, output } => {
            let output = output.map(|output| one(Field::Prompt, output)).unwrap_or_default();
            one(Field::Prompt, line).into_iter().chain(output).collect()
        }
        Part::Text(text) => one(Field::Text, text),
        Part::Thinking(text) => one(Field::Thinking, text),
        Part::Media(content) => content_texts(content, Field::Prompt),
        // Calls and results have their own functions below; injected texts and notices are not searched.
        _ => Vec::new(),
    }
}

/// Texts of a call's input: every string in it.
pub fn input(input: Value) -> Vec<RecordText> {
    let mut out = Vec::new();
    walk(input, "", &mut |key, text| {
        let field = if is_path(key, &text) { Field::Path } else { Field::Input };
        out.push(RecordText::new(field, text));
    });
    out
}

/// Texts of a call's result: the content that the model saw, then the tool's output.
pub fn result(answered: LoggedResult) -> Vec<RecordText> {
    let mut out: Vec<RecordText> = answered.seen.into_iter().flat_map(|content| content_texts(content, Field::Result)).collect();
    let mut produced = |text: String| out.push(RecordText::produced(text));
    if let Some(value) = answered.produced {
        walk(value, "", &mut |key, text| {
            // Ids and states would match searches for ordinary words.
            if !is_name(key) {
                produced(text)
            }
        });
    }
    answered.feedback.into_iter().for_each(produced);
    out.retain(|text| !text.text.is_empty());
    out
}

fn content_texts(content: Content, field: Field) -> Vec<RecordText> {
    let mut out = Vec::new();
    match content {
        Content::Text { text } => out.push(RecordText::new(field, text)),
        Content::Document { title, text, .. } => out.extend(title.into_iter().chain(text).map(|text| RecordText::new(field, text))),
        Content::Other { value } => walk(value, "", &mut |key, text| {
            if !is_name(key) {
                out.push(RecordText::new(field, text));
            }
        }),
        Content::Image(_) | Content::Tool { .. } => {}
    }
    out.retain(|text| !text.text.is_empty());
    out
}

/// Passes on every string of a value with the name of its field; strings of a list have the name of the list.
fn walk(value: Value, key: &str, take: &mut dyn FnMut(&str, String)) {
    match value {
        Value::String(text) if !text.is_empty() && !is_encoded(&text) => take(key, text),
        Value::Array(items) => items.into_iter().for_each(|item| walk(item, key, take)),
        Value::Object(mut fields) => {
            // Other fields of such an object, like a title, may still be searched.
            if is_media(&fields) {
                ["data", "type", "media_type", "mimeType", "mime_type"].iter().for_each(|name| drop(fields.remove(*name)));
            }
            for (name, value) in fields {
                // The files of a patch are names of fields.
                if key == "changes" {
                    take("path", name.clone());
                }
                // Encoded content would match by chance, and costs time.
                if !matches!(name.as_str(), "base64" | "signature" | "encrypted_content") {
                    walk(value, &name, take);
                }
            }
        }
        _ => {}
    }
}

/// Whether an object contains an encoded picture, sound or document.
fn is_media(fields: &serde_json::Map<String, Value>) -> bool {
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    matches!(kind, "image" | "audio" | "base64" | "input_audio")
        || ["media_type", "mimeType", "mime_type"].iter().any(|key| fields.contains_key(*key))
}

/// Whether a text is a `data:` address with encoded content.
fn is_encoded(text: &str) -> bool {
    // The media type and its parameters come before the content, and are short.
    const HEAD: usize = 200;
    text.starts_with("data:") && text[..text.floor_char_boundary(HEAD)].contains(";base64,")
}

/// Whether a field is an identifier rather than a text. For outputs of tools only, not for their inputs.
fn is_name(key: &str) -> bool {
    matches!(key, "type" | "id" | "uuid" | "status" | "source") || key.ends_with("_id") || key.ends_with("Id") || key.ends_with("ID")
}

/// Whether a string of an input is a file or directory.
fn is_path(key: &str, text: &str) -> bool {
    // Names that agents and common MCP servers use; others count as ordinary input.
    const KEYS: &[&str] = &[
        "file_path",
        "notebook_path",
        "path",
        "paths",
        "file",
        "files",
        "filename",
        "filePath",
        "cwd",
        "workdir",
        "directory",
        "dir",
        "old_path",
        "new_path",
        "source_path",
        "target_path",
        "move_path",
    ];
    // A text of several lines is content rather than a name.
    KEYS.contains(&key) && !text.contains('\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(all: Vec<RecordText>) -> Vec<(Field, String, bool)> {
        all.into_iter().map(|text| (text.field, text.text, text.produced)).collect()
    }

    fn own(field: Field, text: &str) -> (Field, String, bool) {
        (field, text.to_owned(), false)
    }

    #[test]
    fn inputs_are_their_strings() {
        let asked = json!({"file_path": "/srv/a.rs", "edits": [{"old": "a", "n": 1}], "image": {"type": "image", "data": "AAAA"}, "e": ""});
        assert_eq!(texts(input(asked)), [own(Field::Path, "/srv/a.rs"), own(Field::Input, "a")]);
        let patch = json!({"changes": {"src/a.rs": {"content": "x"}}});
        assert_eq!(texts(input(patch)), [own(Field::Path, "src/a.rs"), own(Field::Input, "x")]);
        assert_eq!(texts(input(json!({"url": "data:image/png;base64,AAAA"}))), []);
        assert_eq!(texts(input(json!("*** Begin Patch"))), [own(Field::Input, "*** Begin Patch")]);
    }

    #[test]
    fn results_are_what_was_seen_and_what_was_produced() {
        let answered = LoggedResult {
            seen: vec![Content::text("seen"), Content::Other { value: json!({"type": "x", "title": "t"}) }],
            produced: Some(json!({"stdout": "seen", "agentId": "a1", "file": {"base64": "AAAA", "name": "n"}})),
            feedback: None,
        };
        let produced = |text: &str| (Field::Result, text.to_owned(), true);
        assert_eq!(texts(result(answered)), [own(Field::Result, "seen"), own(Field::Result, "t"), produced("seen"), produced("n")]);
    }

    #[test]
    fn messages_are_words() {
        let command = Part::Command { line: "!ls".into(), output: Some("a.rs".into()) };
        assert_eq!(texts(message(command)), [own(Field::Prompt, "!ls"), own(Field::Prompt, "a.rs")]);
        assert_eq!(texts(message(Part::Folded { label: "reminder".into(), text: "x".into() })), []);
        assert_eq!(texts(message(Part::Thinking(String::new()))), []);
    }
}
