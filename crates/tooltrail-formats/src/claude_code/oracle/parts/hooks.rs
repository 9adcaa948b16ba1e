//! Hooks told in full: everything that a record says about one. How a hook ended is decided as it is decoded (`hooks`); here its
//! texts are added, each under the name it is shown with.

use super::super::super::{hooks, record::ClaudeRecord};
use super::super::Opened;
use super::super::content::{kind, text};
use crate::Record;
use serde_json::Value;
use tooltrail_model::At;
use tooltrail_model::event::Hook;
use tooltrail_model::transcript::HookStory;

/// The hooks that a record tells of.
pub(in super::super) fn hooks(record: Opened<'_>) -> Vec<HookStory> {
    let value = record.value;
    match text(value, "type") {
        Some("attachment") => value.get("attachment").and_then(|hook| one(value, hook)).into_iter().collect(),
        Some("progress") => value.get("data").and_then(|hook| one(value, hook)).into_iter().collect(),
        Some("system") if text(value, "subtype") == Some("stop_hook_summary") => summary(value),
        Some("system") if text(value, "subtype").is_none() => in_words(value).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A hook with an object of its own.
fn one(record: &Value, hook: &Value) -> Option<HookStory> {
    let kind = kind(hook);
    if !kind.starts_with("hook_") && kind != "async_hook_response" {
        return None;
    }
    let mut story = decode(record, |record| hooks::read(record).map(story))?;
    // Decoding keeps the beginning of a long command.
    let command = text(hook, "command").or(hook.pointer("/blockingError/command").and_then(Value::as_str));
    story.command = command.map(str::to_owned).or(story.command);
    story.texts = texts(hook);
    if kind == "hook_cancelled" && hook.get("timedOut") == Some(&Value::Bool(true)) {
        let limit = hook.get("timeoutMs").and_then(Value::as_u64).map(|limit| format!(" after {limit} ms")).unwrap_or_default();
        story.texts.push(("stopped".to_owned(), format!("ran out of time{limit}")));
    }
    Some(story)
}

/// The record as it is decoded, so that a hook ends the same way in every output.
fn decode<T>(record: &Value, read: impl FnOnce(&ClaudeRecord<'_>) -> Option<T>) -> Option<T> {
    let bytes = serde_json::to_vec(record).ok()?;
    let record = Record { at: At::default(), bytes: &bytes };
    read(&ClaudeRecord::read(record).ok()?)
}

/// A hook as it is decoded, without its texts.
fn story(hook: Hook<'_>) -> HookStory {
    HookStory {
        call: hook.call.map(Into::into),
        event: hook.event.map(Into::into),
        name: hook.name.map(Into::into),
        command: hook.command.map(Into::into),
        outcome: hook.outcome,
        exit_code: hook.exit_code,
        duration_ms: hook.duration_ms,
        texts: Vec::new(),
    }
}

/// What a hook printed, said or added.
fn texts(hook: &Value) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, text: Option<&str>| {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        // The same words often stand in two places.
        if let Some(text) = text.filter(|text| !out.iter().any(|(_, known)| known == text)) {
            out.push((name.to_owned(), text.to_owned()));
        }
    };
    add("refused", hook.pointer("/blockingError/blockingError").and_then(Value::as_str));
    for (key, name) in [("decision", "decision"), ("reason", "reason"), ("message", "message"), ("stopReason", "reason")] {
        add(name, text(hook, key));
    }
    add("added context", text(hook, "additionalContext"));
    let content = if kind(hook) == "hook_additional_context" { "added context" } else { "said" };
    match hook.get("content") {
        Some(Value::Array(items)) => items.iter().for_each(|item| add(content, item.as_str())),
        other => add(content, other.and_then(Value::as_str)),
    }
    add("stdout", text(hook, "stdout"));
    add("stderr", text(hook, "stderr"));
    let response = hook.get("response").filter(|value| value.as_object().is_some_and(|fields| !fields.is_empty()));
    add("response", response.and_then(|value| serde_json::to_string_pretty(value).ok()).as_deref());
    out
}

/// The hooks at the end of a turn. What went wrong is not said to be any one hook's, so it stands with the first.
fn summary(value: &Value) -> Vec<HookStory> {
    let decoded = decode(value, |record| Some(hooks::summary(record).into_iter().map(story).collect()));
    let mut hooks: Vec<HookStory> = decoded.unwrap_or_default();
    let list = |key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let reason = text(value, "stopReason").filter(|reason| !reason.is_empty());
    let told = list("hookErrors").map(|text| ("error", text)).chain(list("hookAdditionalContext").map(|text| ("added context", text)));
    let told = told.chain(reason.map(|text| ("reason", text))).map(|(name, text)| (name.to_owned(), text.to_owned()));
    let texts: Vec<(String, String)> = told.collect();
    if hooks.is_empty() && !texts.is_empty() {
        hooks.push(HookStory { event: Some("Stop".to_owned()), name: Some("Stop".to_owned()), ..HookStory::default() });
    }
    if let Some(first) = hooks.first_mut() {
        first.texts = texts;
    }
    hooks
}

/// Hooks in the system records of 1.0, told in a sentence.
fn in_words(value: &Value) -> Option<HookStory> {
    let content = text(value, "content")?;
    let mut story = story(hooks::in_words(content, None)?);
    story.call = text(value, "toolUseID").map(str::to_owned);
    let plain = tooltrail_model::text::without_escapes(content);
    // A hook that only begins says nothing of its own.
    if !plain.starts_with("Running ") {
        story.texts.push(("said".to_owned(), plain.trim().to_owned()));
    }
    Some(story)
}
