//! Assistant records: what the model says, thinks and asks for.

use super::super::content::{blocks, call_id, content, kind, result_id, text, words};
use super::flag;
use serde_json::Value;
use tooltrail_model::transcript::{Level, Part};

/// The parts of an assistant record.
pub(super) fn assistant(value: &Value, line: u64) -> Vec<Part> {
    let Some(message) = value.get("message") else { return Vec::new() };
    let failed = flag(value, "isApiErrorMessage").then(|| text(value, "error").unwrap_or_default());
    let program = text(message, "model") == Some("<synthetic>");
    let parts = blocks(message).iter().filter_map(|block| part(block, message, line, failed, program));
    parts.collect()
}

/// One block of the message.
fn part(block: &Value, message: &Value, line: u64, failed: Option<&str>, program: bool) -> Option<Part> {
    if let Some(id) = call_id(block, message, line) {
        return Some(Part::Call(id.into_owned()));
    }
    if let Some(id) = result_id(block, message, line) {
        return Some(Part::Result(id.into_owned()));
    }
    Some(match kind(block) {
        "thinking" => Part::Thinking(text(block, "thinking").unwrap_or_default().to_owned()),
        "redacted_thinking" => Part::Thinking(String::new()),
        "image" | "document" => Part::Media(content(block)),
        "fallback" => {
            let model = |key: &str| block.pointer(&format!("/{key}/model")).and_then(Value::as_str).unwrap_or("?");
            let title = format!("another model answers: {} instead of {}", model("to"), model("from"));
            Part::Notice { level: Level::Info, title, text: None }
        }
        _ => {
            let Some(own) = words(block) else {
                return Some(Part::Unknown { name: kind(block).to_owned(), value: block.clone() });
            };
            let trimmed = own.trim();
            match failed {
                _ if trimmed.is_empty() => return None,
                Some(error) => Part::Notice { level: Level::Error, title: failure(error), text: Some(trimmed.to_owned()) },
                None if program => {
                    Part::Notice { level: Level::Info, title: "said by the program".to_owned(), text: Some(trimmed.to_owned()) }
                }
                None => Part::Text(own.to_owned()),
            }
        }
    })
}

/// A failure of the service, with its own word for it: `rate_limit`.
fn failure(error: &str) -> String {
    match error.replace('_', " ") {
        word if word.is_empty() || word == "unknown" => "API error".to_owned(),
        word => format!("API error: {word}"),
    }
}
