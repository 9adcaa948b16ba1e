//! Assistant records: the model's words, thoughts and calls.

use super::super::content::content;
use super::super::message::ContentBlock;
use super::super::record::ClaudeRecord;
use super::super::settings;
use crate::payloads::spaced;
use crate::value;
use serde_json::Value;
use tooltrail_model::transcript::{Level, Part};
use tooltrail_skim::Raw;

/// The parts of an assistant record.
pub(super) fn assistant(record: &ClaudeRecord<'_>) -> Vec<Part> {
    let content = &record.message.content;
    let own = content.text.iter().filter_map(|(text, _)| words(record, *text));
    let parts = own.chain(content.blocks().filter_map(|block| part(record, block)));
    // Behind what was written of it.
    let aborted = record.rare().is_some_and(|rare| rare.aborted) && !record.api_error;
    let broken_off = aborted.then_some((Level::Warning, "the answer broke off while it was being written"));
    let ends = settings::stopped(&record.message).into_iter().chain(broken_off);
    parts.chain(ends.map(|(level, title)| Part::Notice { level, title: title.to_owned(), text: None })).collect()
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
        let title = failure(&record.rare_text(|rare| rare.error).unwrap_or_default(), record.rare().and_then(|rare| rare.error_status));
        let text = [Some(trimmed.to_owned()), details(record), limits(record)].into_iter().flatten().collect::<Vec<_>>().join("\n");
        Part::Notice { level: Level::Error, title, text: Some(text) }
    } else if record.message.is_synthetic() {
        notice(Level::Info, "said by the program".to_owned())
    } else {
        Part::Text(own.into_owned())
    })
}

/// A failure of the service, with its status and its own word for it: `API error 429: rate limit`.
fn failure(error: &str, status: Option<u64>) -> String {
    let title = status.map_or_else(|| "API error".to_owned(), |status| format!("API error {status}"));
    match spaced(error) {
        word if word.is_empty() || word == "unknown" => title,
        word => format!("{title}: {word}"),
    }
}

/// What else the service said about a failure.
fn details(record: &ClaudeRecord<'_>) -> Option<String> {
    match value::read(record.slice(record.rare()?.error_details.as_ref()?)) {
        Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// The limit that was reached, and when it ends.
fn limits(record: &ClaudeRecord<'_>) -> Option<String> {
    let quota = value::read(record.slice(record.rare()?.quota.as_ref()?));
    let limit = quota.get("rateLimitType").and_then(Value::as_str).map(|limit| format!("limit: {}", spaced(limit)));
    // Seconds since 1970, or a text.
    let resets = quota.get("resetsAt").and_then(|time| match time {
        Value::String(text) => Some(text.clone()),
        time => tooltrail_model::Time::from_millisecond(time.as_i64()?.checked_mul(1000)?).map(|time| time.to_string()),
    });
    let lines: Vec<String> = limit.into_iter().chain(resets.map(|time| format!("resets at {time}"))).collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}
