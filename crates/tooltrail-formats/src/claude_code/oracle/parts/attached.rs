//! Attachments: what the program hands to the model beside the messages; and the queue of prompts typed while the model was at work.

use super::super::Opened;
use super::super::content::{blocks, content, kind, text, without, words};
use super::{flag, folded, hooks, spoken};
use serde_json::{Value, json};
use tooltrail_model::content::{Content, Image};
use tooltrail_model::transcript::Part;

/// The parts of an attachment.
pub(super) fn attachment(value: &Value) -> Vec<Part> {
    let Some(attached) = value.get("attachment") else { return Vec::new() };
    let told = hooks::hooks(Opened { line: 0, bytes: &[], payloads: Default::default(), value });
    if !told.is_empty() {
        return told.into_iter().map(Part::Hook).collect();
    }
    if kind(attached) == "queued_command" {
        return attached.get("prompt").map(|prompt| waiting(prompt, by_person(attached))).unwrap_or_default();
    }
    match picture(attached) {
        Some(picture) => vec![folded(label(attached), picture.media.clone()), Part::Media(Content::Image(picture))],
        None => vec![put_in(attached)],
    }
}

/// A file that was handed over and is a picture.
fn picture(attached: &Value) -> Option<Image> {
    let content = attached.get("content").filter(|content| kind(content) == "image")?;
    let file = content.get("file")?;
    let media = text(file, "type").unwrap_or_default().to_owned();
    Some(Image { media, data: Some(text(file, "base64")?.to_owned()), ..Image::default() })
}

/// Whether a person typed it: other modes, and other origins, are the program's.
fn by_person(attached: &Value) -> bool {
    let mode = text(attached, "commandMode").is_none_or(|mode| mode == "prompt");
    let origin = attached.get("origin").is_none_or(|origin| text(origin, "kind") == Some("human"));
    mode && origin && !flag(attached, "isMeta")
}

/// A prompt that waited: a text, or blocks.
fn waiting(prompt: &Value, human: bool) -> Vec<Part> {
    let message = json!({"content": prompt});
    let mut out = Vec::new();
    for block in blocks(&message) {
        match words(block) {
            Some(text) => spoken::queued(text, human, &mut out),
            None => out.push(Part::Media(content(block))),
        }
    }
    out
}

/// The parts of a record of the queue: what is put in, which may never appear elsewhere.
pub(super) fn queue(value: &Value) -> Vec<Part> {
    match (text(value, "operation"), value.get("content")) {
        (Some("enqueue"), Some(content)) => waiting(content, true),
        _ => Vec::new(),
    }
}

/// Anything else, folded: what it is, what it is about, and its words.
fn put_in(attached: &Value) -> Part {
    folded(label(attached), said(attached))
}

/// What an attachment is, and what it is about.
fn label(attached: &Value) -> String {
    let name = kind(attached).replace('_', " ");
    let about = ["displayPath", "filename", "path"].iter().find_map(|key| text(attached, key));
    about.map_or_else(|| name.clone(), |about| format!("{name}: {about}"))
}

/// The words of an attachment; its fields where it has none of its own.
fn said(attached: &Value) -> String {
    let plain = ["content", "text", "snippet", "rendered", "newDate"].iter().find_map(|key| text(attached, key));
    // Files and memories nest: `content.content`, `content.file.content`.
    let nested = ["/content/content", "/content/file/content"].iter().find_map(|path| attached.pointer(path).and_then(Value::as_str));
    let listed = ["addedLines", "addedBlocks", "allowedTools", "content"].iter().find_map(|key| lines(attached.get(key)?));
    if let Some(text) = plain.or(nested).map(str::to_owned).or(listed) {
        return text;
    }
    let fields = without(attached, &["type"]);
    if fields.is_empty() { String::new() } else { serde_json::to_string_pretty(&fields).unwrap_or_default() }
}

/// A list of texts, one a line.
fn lines(value: &Value) -> Option<String> {
    let lines: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
    lines.filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n"))
}
