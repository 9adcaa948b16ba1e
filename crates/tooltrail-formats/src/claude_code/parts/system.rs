//! System records: events around the conversation.

use super::super::content::{text, without};
use super::super::record::ClaudeRecord;
use super::{hooks, user};
use crate::payloads::spaced;
use crate::value;
use serde_json::Value;
use tooltrail_model::transcript::{Level, Part};

/// Fields that every record has, or that are shown otherwise.
const FRAME: &[&str] = &[
    "type",
    "subtype",
    "content",
    "level",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "timestamp",
    "sessionId",
    "session_id",
    "isSidechain",
    "isMeta",
    "cwd",
    "version",
    "gitBranch",
    "userType",
    "entrypoint",
    "slug",
    "agentId",
    "toolUseID",
];

/// The parts of a system record.
pub(super) fn system(record: &ClaudeRecord<'_>) -> Vec<Part> {
    let hooks: Vec<Part> = hooks::reported(record).into_iter().map(Part::Hook).collect();
    let subtype = record.rare_text(|rare| rare.subtype);
    // A summary without hooks has nothing to show.
    if !hooks.is_empty() || subtype.as_deref() == Some("stop_hook_summary") {
        return hooks;
    }
    if subtype.as_deref() == Some("local_command") {
        let mut out = Vec::new();
        record.content_text().into_iter().for_each(|text| user::local(text, &mut out));
        return out;
    }
    // Each subtype has fields of its own, which only a reader needs.
    let value = &value::read(record.record.bytes);
    let content = text(value, "content").map(str::trim).filter(|text| !text.is_empty());
    vec![match subtype.as_deref() {
        Some("turn_duration") => turn(value),
        Some("compact_boundary") => compaction(value, content),
        Some("microcompact_boundary") => microcompaction(value),
        Some("api_error") => retry(value),
        Some("away_summary") => notice(Level::Info, "while you were away", content),
        Some(fallback @ ("model_refusal_fallback" | "model_consent_fallback")) => fell_back(value, fallback, content),
        Some("api_refusal") => refused(value, content),
        other => anything(value, other.unwrap_or_default(), content),
    }]
}

/// Something that happened.
fn notice(level: Level, title: &str, text: Option<&str>) -> Part {
    Part::Notice { level, title: title.to_owned(), text: text.map(str::to_owned) }
}

/// A number of milliseconds in words: `8.1 s`, `2 m 5 s`.
fn span(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        _ if millis < 1000 => format!("{millis} ms"),
        0..60 => format!("{}.{} s", seconds, millis % 1000 / 100),
        60..3600 => format!("{} m {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A number that is not negative.
fn number(value: &Value, key: &str) -> Option<u64> {
    value.get(key)?.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64)
}

/// The end of a turn.
fn turn(value: &Value) -> Part {
    let title = match number(value, "durationMs") {
        Some(millis) => format!("the turn took {}", span(millis)),
        None => "the turn ended".to_owned(),
    };
    let count = number(value, "messageCount").map(|count| format!("{count} messages"));
    notice(Level::Info, &title, count.as_deref())
}

/// The history was summed up.
fn compaction(value: &Value, content: Option<&str>) -> Part {
    let metadata = value.get("compactMetadata").unwrap_or(&Value::Null);
    let mut facts = facts(metadata, &[("trigger", "trigger"), ("preTokens", "tokens before"), ("postTokens", "tokens after")]);
    facts.extend(number(metadata, "durationMs").map(|millis| ("took".to_owned(), span(millis))));
    let kept = metadata.pointer("/preservedMessages/uuids").and_then(Value::as_array).map(Vec::len);
    facts.extend(kept.map(|kept| ("messages kept".to_owned(), kept.to_string())));
    Part::Boundary { title: content.unwrap_or("Conversation compacted").to_owned(), facts }
}

/// Old results were taken out of the history.
fn microcompaction(value: &Value) -> Part {
    let metadata = value.get("microcompactMetadata").unwrap_or(&Value::Null);
    let mut facts = facts(metadata, &[("trigger", "trigger"), ("preTokens", "tokens before"), ("tokensSaved", "tokens saved")]);
    for (key, name) in [("compactedToolIds", "results cleared"), ("clearedAttachmentUUIDs", "attachments cleared")] {
        let count = metadata.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        facts.extend((count > 0).then(|| (name.to_owned(), count.to_string())));
    }
    Part::Boundary { title: "Old results cleared".to_owned(), facts }
}

/// Fields that are there, under the names they are shown with.
fn facts(value: &Value, keys: &[(&str, &str)]) -> Vec<(String, String)> {
    let shown = |value: &Value| value.as_str().map(str::to_owned).or_else(|| value.as_number().map(ToString::to_string));
    keys.iter().filter_map(|(key, name)| Some(((*name).to_owned(), shown(value.get(key)?)?))).collect()
}

/// A request that failed and is tried again.
fn retry(value: &Value) -> Part {
    let status = value.pointer("/error/status").and_then(Value::as_u64);
    let mut title = status.map_or_else(|| "API error".to_owned(), |status| format!("API error {status}"));
    if let Some(attempt) = number(value, "retryAttempt") {
        title.push_str(&format!(", attempt {attempt}"));
        title.extend(number(value, "maxRetries").map(|most| format!(" of {most}")));
    }
    title.extend(number(value, "retryInMs").map(|millis| format!(", again in {}", span(millis))));
    // The service nests its message; a failed connection has it at the top.
    let paths =
        ["/error/error/error/message", "/error/error/message", "/error/message", "/error/formatted", "/cause/message", "/error/cause/code"];
    let told = paths.iter().find_map(|path| value.pointer(path).and_then(Value::as_str));
    notice(Level::Warning, &title, told.or(text(value, "content")))
}

/// Another model took over.
fn fell_back(value: &Value, subtype: &str, content: Option<&str>) -> Part {
    let model = |key: &str| text(value, key).unwrap_or("?");
    let why = if subtype == "model_refusal_fallback" { "the model refused" } else { "the model was changed" };
    let title = format!("{why}: {} answers instead of {}", model("fallbackModel"), model("originalModel"));
    notice(Level::Warning, &title, content.or(text(value, "apiRefusalCategory")))
}

/// The service refused to answer.
fn refused(value: &Value, content: Option<&str>) -> Part {
    let title = match text(value, "apiRefusalCategory") {
        Some(category) => format!("the model's service refused: {}", spaced(category)),
        None => "the model's service refused".to_owned(),
    };
    notice(Level::Warning, &title, text(value, "apiRefusalExplanation").or(content))
}

/// A record without a view of its own: its words, or its fields.
fn anything(value: &Value, subtype: &str, content: Option<&str>) -> Part {
    let level = match text(value, "level") {
        Some("error") => Level::Error,
        Some("warning") => Level::Warning,
        _ => Level::Info,
    };
    let title = if subtype.is_empty() { "said by the program".to_owned() } else { spaced(subtype) };
    let fields = without(value, FRAME);
    let own = match content {
        Some(text) => Some(text.to_owned()),
        None if fields.is_empty() => None,
        None => serde_json::to_string_pretty(&fields).ok(),
    };
    Part::Notice { level, title, text: own }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_words() {
        assert_eq!([span(40), span(8_123), span(125_000), span(7_260_000)], ["40 ms", "8.1 s", "2 m 5 s", "2 h 1 m"]);
    }
}
