//! Assistant records: the model's words, thoughts and calls.

use super::super::content::content;
use super::super::message::ContentBlock;
use super::super::record::ClaudeRecord;
use super::super::settings;
use crate::value;
use serde_json::Value;
use tooltrail_model::transcript::{Level, Part};
use tooltrail_skim::Raw;

/// The parts of an assistant record.
pub(super) fn assistant(record: &ClaudeRecord<'_>) -> Vec<Part> {
    let content = &record.message.content;
    let own = content.text.iter().filter_map(|(text, _)| words(record, *text));
    let said = own.chain(content.blocks().filter_map(|block| part(record, block)));
    let stopped = settings::stopped(&record.message).map(|(level, title)| Part::Notice { level, title: title.to_owned(), text: None });
    said.chain(stopped).collect()
}

/// One block of the message.
fn part(record: &ClaudeRecord<'_>, block: &ContentBlock<'_>) -> Option<Part> {
    let (message, line) = (&record.message, record.record.at.line);
    // Before the kind: calls on the service's side have kinds of their own.
    if let Some(id) = message.call_id(block, line) {
        return Some(Part::Call(id.into_owned()));
    }
    if let Some(id) = message.result_id(block, line) {
        return Some(Part::Result(id.into_owned()));
    }
    let kind = block.kind.map(Raw::text).unwrap_or_default();
    Some(match &*kind {
        "thinking" => Part::Thinking(block.thinking.map(Raw::text).unwrap_or_default().into_owned()),
        // Shown as a thought without words: it was there, encrypted.
        "redacted_thinking" => Part::Thinking(String::new()),
        "image" | "document" => Part::Media(content(&value::read(record.slice(&block.span)))),
        "fallback" => {
            let block = value::read(record.slice(&block.span));
            let model = |key: &str| block.pointer(&format!("/{key}/model")).and_then(Value::as_str).unwrap_or("?");
            let title = format!("another model answers: {} instead of {}", model("to"), model("from"));
            Part::Notice { level: Level::Info, title, text: None }
        }
        _ => match block.text {
            Some(text) => return words(record, text),
            None => Part::Unknown { name: kind.into_owned(), value: value::read(record.slice(&block.span)) },
        },
    })
}

/// A text of the message: the model's, or the program's in its place.
fn words(record: &ClaudeRecord<'_>, text: Raw<'_>) -> Option<Part> {
    // A text of white space alone is nothing to read.
    let own = text.text();
    let trimmed = own.trim();
    if trimmed.is_empty() {
        return None;
    }
    let notice = |level, title| Part::Notice { level, title, text: Some(trimmed.to_owned()) };
    // The program writes errors in the model's name; shown as words they would read as an answer.
    Some(if record.api_error {
        notice(Level::Error, failure(&record.rare_text(|rare| rare.error).unwrap_or_default()))
    } else if record.message.is_synthetic() {
        notice(Level::Info, "said by the program".to_owned())
    } else {
        Part::Text(own.into_owned())
    })
}

/// A failure of the service, with its own word for it: `rate_limit`.
fn failure(error: &str) -> String {
    match error.replace('_', " ") {
        word if word.is_empty() || word == "unknown" => "API error".to_owned(),
        word => format!("API error: {word}"),
    }
}
