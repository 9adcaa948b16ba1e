//! Hooks in full: everything that a record says about one. The outcome of a hook is decided when it is decoded (`hooks`); here its texts
//! are added, each under the name it is shown with.

use super::super::calls::hook_in_text;
use super::super::content::{kind, text};
use super::super::hooks;
use super::super::record::ClaudeRecord;
use crate::value::{self, Payloads};
use serde_json::Value;
use tooltrail_model::event::Hook;
use tooltrail_model::transcript::HookStory;

/// The hooks that a record reports, redacted if asked for.
pub(in super::super) fn hooks(record: &ClaudeRecord<'_>, payloads: Payloads<'_>) -> Vec<HookStory> {
    let mut hooks = reported(record);
    hooks.iter_mut().for_each(|hook| payloads.hook(hook));
    hooks
}

/// The hooks that a record reports, as the log has them.
pub(super) fn reported(record: &ClaudeRecord<'_>) -> Vec<HookStory> {
    let subtype = record.rare_text(|rare| rare.subtype);
    match record.kind.map(|kind| kind.text()).as_deref() {
        Some("attachment" | "progress") => one(record).into_iter().collect(),
        Some("system") if subtype.as_deref() == Some("stop_hook_summary") => summary(record),
        Some("system") if subtype.is_none() => in_words(record).into_iter().collect(),
        Some("user") => in_results(record),
        None => hooks::input(record).map(story).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A hook with an object of its own.
fn one(record: &ClaudeRecord<'_>) -> Option<HookStory> {
    let mut story = story(hooks::read(record)?);
    let hook = value::read(record.slice(hooks::object(record)?));
    // Decoding for a scan cuts long commands.
    let command = text(&hook, "command").or(hook.pointer("/blockingError/command").and_then(Value::as_str));
    story.command = command.map(str::to_owned).or(story.command);
    story.texts = texts(&hook);
    story.input = replacement(&hook).map(Box::new);
    if kind(&hook) == "hook_cancelled" && hook.get("timedOut") == Some(&Value::Bool(true)) {
        let limit = hook.get("timeoutMs").and_then(Value::as_u64).map(|limit| format!(" after {limit} ms")).unwrap_or_default();
        story.texts.push(("stopped".to_owned(), format!("ran out of time{limit}")));
    }
    Some(story)
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
        reason: hook.reason.map(Into::into),
        texts: Vec::new(),
        input: None,
    }
}

/// The input with which a hook replaced that of its call, by the JSON that it printed.
fn replacement(hook: &Value) -> Option<Value> {
    let printed = text(hook, "stdout").filter(|text| text.trim_start().starts_with('{'))?;
    let said = value::read(printed.as_bytes());
    let own = said.get("hookSpecificOutput")?;
    // The answer to a request for permission has an object of its own.
    let input = own.get("updatedInput").or_else(|| own.get("decision")?.get("updatedInput"))?;
    input.is_object().then(|| input.clone())
}

/// The texts that a hook printed, said or added, each with its label.
fn texts(hook: &Value) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, text: Option<&str>| {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        // The same words are often in two fields.
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
    // Either a list of texts or a single one.
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

/// The hooks at the end of a turn. Errors name no hook, so they are shown with the first.
fn summary(record: &ClaudeRecord<'_>) -> Vec<HookStory> {
    let Some(rare) = record.rare() else { return Vec::new() };
    let mut hooks: Vec<HookStory> = hooks::summary(record).into_iter().map(story).collect();
    let list = |name: &'static str, span: &Option<std::ops::Range<usize>>| {
        let items = span.as_ref().map(|span| value::read(record.slice(span)));
        let items = items.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        items.into_iter().filter_map(move |item| Some((name.to_owned(), item.as_str()?.to_owned())))
    };
    let mut texts: Vec<(String, String)> = list("error", &rare.hook_errors).chain(list("added context", &rare.hook_context)).collect();
    let reason = rare.stop_reason.map(|reason| reason.text().into_owned()).filter(|reason| !reason.is_empty());
    texts.extend(reason.map(|reason| ("reason".to_owned(), reason)));
    // A summary that lists no hooks can still have errors.
    if hooks.is_empty() && !texts.is_empty() {
        hooks.push(HookStory { event: Some("Stop".to_owned()), name: Some("Stop".to_owned()), ..HookStory::default() });
    }
    if let Some(first) = hooks.first_mut() {
        first.texts = texts;
    }
    hooks
}

/// Hooks that refused a call, where its result alone says so.
fn in_results(record: &ClaudeRecord<'_>) -> Vec<HookStory> {
    let (message, line) = (&record.message, record.record.at.line);
    let refused = message.content.blocks().filter(|block| block.is_error == Some(true)).filter_map(|block| {
        let hook = hook_in_text(&block.result.first?.head(hooks::WORDS))?;
        let call = message.result_id(block, line)?.into_owned();
        Some(HookStory { call: Some(call), ..story(hook) })
    });
    refused.collect()
}

/// Hooks in the system records of 1.0, reported as a sentence.
fn in_words(record: &ClaudeRecord<'_>) -> Option<HookStory> {
    let content = record.content_text()?.text();
    let mut story = story(hooks::in_words(&content, record.tool_use)?);
    let plain = tooltrail_model::text::without_escapes(&content);
    // A record of a hook's start has no words of its own.
    if !plain.starts_with("Running ") {
        story.texts.push(("said".to_owned(), plain.trim().to_owned()));
    }
    Some(story)
}
