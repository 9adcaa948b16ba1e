//! Attachments: texts and files that the program hands to the model beside the messages; and the queue of prompts typed while the model was
//! at work.

use super::super::content::{content, kind, text, without};
use super::super::prompts::{QueuedItem, QueuedPrompt};
use super::super::record::ClaudeRecord;
use super::{folded, hooks, statements, user};
use crate::payloads::spaced;
use crate::value;
use serde_json::Value;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::transcript::Part;

/// The parts of an attachment.
pub(super) fn attachment(record: &ClaudeRecord<'_>) -> Vec<Part> {
    let told = hooks::reported(record);
    if !told.is_empty() {
        return told.into_iter().map(Part::Hook).collect();
    }
    let Some(span) = &record.attachment else { return Vec::new() };
    let bytes = record.slice(span);
    let attached = value::read(bytes);
    if kind(&attached) == "queued_command" {
        return QueuedPrompt::attached(record).map(|waiting| prompt(&waiting, bytes)).unwrap_or_default();
    }
    if let Some(stated) = statements::part(&attached) {
        return vec![stated];
    }
    match picture(&attached) {
        Some(picture) => vec![folded(label(&attached), picture.media.clone()), Part::Media(Content::Image(picture))],
        None => vec![put_in(record, &attached)],
    }
}

/// A file that was handed over and is a picture.
fn picture(attached: &Value) -> Option<Image> {
    let content = attached.get("content").filter(|content| kind(content) == "image")?;
    let file = content.get("file")?;
    let media = text(file, "type").unwrap_or_default().to_owned();
    Some(Image { media, data: Some(text(file, "base64")?.to_owned()), ..Image::default() })
}

/// A prompt that waited: a text, or blocks. `bytes` is what its spans are counted from.
fn prompt(waiting: &QueuedPrompt<'_>, bytes: &[u8]) -> Vec<Part> {
    let mut out = Vec::new();
    let own = waiting.content.text.iter().map(|(text, _)| *text);
    own.for_each(|text| user::queued(text, waiting.flags(), &mut out));
    for block in waiting.content.blocks() {
        match block.text {
            Some(text) => user::queued(text, waiting.flags(), &mut out),
            None => out.push(Part::Media(content(&value::read(bytes.get(block.span.clone()).unwrap_or_default())))),
        }
    }
    out
}

/// The parts of a queue record: the queued prompt, which may never appear elsewhere.
pub(super) fn queue(record: &ClaudeRecord<'_>) -> Vec<Part> {
    // Removing a prompt from the queue is no message.
    let enqueued = record.rare_text(|rare| rare.operation).is_some_and(|operation| operation == "enqueue");
    let content = record.rare().and_then(|rare| rare.content.as_ref()).filter(|_| enqueued);
    let Some(bytes) = content.map(|span| record.slice(span)) else { return Vec::new() };
    let Some(waiting) = QueuedPrompt::queued(record) else { return Vec::new() };
    match waiting.item() {
        // Its call shows the task.
        Some(QueuedItem::Task(_)) => Vec::new(),
        Some(QueuedItem::Command(line)) => vec![Part::Command { line, output: None }],
        None => prompt(&waiting, bytes),
    }
}

/// Any other attachment, folded: its kind, its subject and its words.
fn put_in(record: &ClaudeRecord<'_>, attached: &Value) -> Part {
    let rendered = || record.rare()?.rendered.as_ref().and_then(|span| statements::rendered(&value::read(record.slice(span))));
    folded(label(attached), said(attached).or_else(rendered).unwrap_or_else(|| fields(attached)))
}

/// The kind of an attachment, and its subject.
fn label(attached: &Value) -> String {
    let name = spaced(kind(attached));
    let about = ["displayPath", "filename", "path"].iter().find_map(|key| text(attached, key));
    about.map_or_else(|| name.clone(), |about| format!("{name}: {about}"))
}

/// The words of an attachment.
fn said(attached: &Value) -> Option<String> {
    let plain = ["content", "text", "snippet", "rendered", "newDate"].iter().find_map(|key| text(attached, key));
    // Files and memories nest: `content.content`, `content.file.content`.
    let nested = ["/content/content", "/content/file/content"].iter().find_map(|path| attached.pointer(path).and_then(Value::as_str));
    let listed = ["addedLines", "addedBlocks", "allowedTools", "content"].iter().find_map(|key| lines(attached.get(key)?));
    plain.or(nested).map(str::to_owned).or(listed)
}

/// The fields of an attachment without words.
fn fields(attached: &Value) -> String {
    let fields = without(attached, &["type"]);
    if fields.is_empty() { String::new() } else { serde_json::to_string_pretty(&fields).unwrap_or_default() }
}

/// A list of texts, one a line.
fn lines(value: &Value) -> Option<String> {
    let lines: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
    lines.filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n"))
}
