//! A call looked at closely: its input, and what came back, taken from the records that hold them.

use super::super::markers;
use super::Opened;
use super::content::{blocks, call_id, contents, is_result, kind, result_id, text};
use serde_json::Value;
use tooltrail_model::content::words;
use tooltrail_model::transcript::{Answered, Asked};
use tooltrail_model::usage::Tokens;
use tooltrail_model::verdict::Marker;

/// The messages of a record: its own, or that of a subagent which a record of progress repeats.
fn messages(record: &Value) -> impl Iterator<Item = &Value> {
    let own = record.get("message");
    let nested = record.pointer("/data/message/message");
    own.into_iter().chain(nested)
}

/// The fields by which [`messages`] and their blocks are reached.
pub(super) const WAY_TO_INPUT: &[&str] = &["data", "message", "content"];

/// The input of a call, and what its message cost.
pub(super) fn asked(record: Opened<'_>, call: &str) -> Option<Asked> {
    messages(record.value).find_map(|message| {
        let block = blocks(message).iter().find(|block| call_id(block, message, record.line).as_deref() == Some(call))?;
        let usage = message.get("usage").filter(|usage| usage.is_object());
        Some(Asked {
            input: block.get("input").cloned().unwrap_or_default(),
            tokens: usage.map(tokens),
            tier: usage.and_then(|usage| text(usage, "service_tier")).map(str::to_owned),
        })
    })
}

/// Tokens as a message tells them; what the two parts of written cache lack of the total is five-minute cache.
fn tokens(usage: &Value) -> Tokens {
    let count = |value: &Value| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    let number = |path: &str| usage.pointer(path).and_then(count).unwrap_or(0);
    let one = number("/cache_creation/ephemeral_1h_input_tokens");
    let five = number("/cache_creation/ephemeral_5m_input_tokens");
    Tokens {
        input: number("/input_tokens"),
        output: number("/output_tokens"),
        cache_write_5m: five.max(number("/cache_creation_input_tokens").saturating_sub(one)),
        cache_write_1h: one,
        cache_read: number("/cache_read_input_tokens"),
    }
}

/// What the model saw of a result, what the tool produced, and what the person said when refusing.
pub(super) fn answered(record: Opened<'_>, call: &str) -> Option<Answered> {
    messages(record.value).find_map(|message| {
        let block = blocks(message).iter().find(|block| result_id(block, message, record.line).as_deref() == Some(call))?;
        let own = record.value.get("message").is_some_and(|own| std::ptr::eq(own, message));
        let seen = block.get("content").map(contents).unwrap_or_default();
        let refused = matches!(block.get("is_error"), Some(error) if *error == true || *error == "true");
        let said = || {
            let text = words(&seen);
            let rejected = refused && markers::of(&text) == Some(Marker::RejectedWithFeedback);
            markers::feedback(&text).filter(|_| rejected).map(str::to_owned)
        };
        let feedback = text(record.value, "userFeedback").filter(|_| own).map(str::to_owned).or_else(said);
        // The structured companion belongs to one result; with several, nobody can say to which.
        let only = own && blocks(message).iter().filter(|block| is_result(kind(block))).count() == 1;
        let produced = record.value.get("toolUseResult").filter(|value| only && !value.is_null()).cloned();
        Some(Answered { seen, produced, feedback })
    })
}
