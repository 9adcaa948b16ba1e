//! Hooks: attachments since about 2.1.9, progress records before that, system records in 1.0, and the summary of Stop hooks.

use super::record::ClaudeRecord;
use std::borrow::Cow;
use std::ops::Range;
use tooltrail_model::event::{Hook, HookOutcome, HookStage, Refusal, Text};
use tooltrail_model::verdict::Denial;
use tooltrail_skim::{Raw, Skim, Type};

/// How much of a hook's words is decoded.
pub(super) const WORDS: usize = 2000;

/// When a hook of this event runs, seen from a call.
pub(super) fn stage(event: &str) -> HookStage {
    match event {
        "PreToolUse" => HookStage::Before,
        "PermissionRequest" => HookStage::Permission,
        "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" | "PermissionDenied" => HookStage::After,
        _ => HookStage::Other,
    }
}

fn words(raw: Raw<'_>) -> Cow<'_, str> {
    raw.head(WORDS)
}

/// The object of a hook in a record, if there is one: an attachment, or the data of a progress record.
pub(super) fn object<'e>(record: &'e ClaudeRecord<'_>) -> Option<&'e Range<usize>> {
    record.attachment.as_ref().or(record.data.as_ref())
}

/// Reads the object of a hook: an attachment, or the data of a progress record.
pub(super) fn read<'r>(record: &ClaudeRecord<'r>) -> Option<Hook<'r>> {
    let inner = object(record)?.clone();
    let mut hook = Hook::default();
    let mut kind = None;
    let mut stdout = None;
    let mut stopped = None;
    let read = Skim::new(record.slice(&inner)).object(|key, value| {
        match key.as_bytes() {
            b"type" => kind = value.string().map(Raw::text),
            b"hookEvent" => hook.event = value.string().map(Raw::text),
            b"hookName" => hook.name = value.string().map(Raw::text),
            b"command" => hook.command = value.string().map(words),
            b"toolUseID" => hook.call = value.string().map(Raw::text),
            b"exitCode" => hook.exit_code = value.int().and_then(|code| i64::try_from(code).ok()),
            b"durationMs" => hook.duration_ms = value.uint(),
            b"status" => hook.status = value.string().map(Raw::text),
            b"decision" => hook.decision = value.string().map(Raw::text),
            b"reason" | b"message" => stopped = value.string().map(words),
            b"additionalContext" => hook.context = value.string().map(words),
            // An empty text is no reason.
            b"stderr" => hook.reason = value.string().filter(|text| !text.is_empty()).map(words),
            b"stdout" => {
                // `peek` moves past white space, so that the span begins with the string.
                value.peek();
                let start = inner.start + value.position();
                stdout = value.string();
                hook.output = Some(record.record.span(start..inner.start + value.position()));
            }
            b"content" => match value.string() {
                Some(text) => hook.context = Some(text).filter(|text| !text.is_empty()).map(words),
                // Several texts: the first is enough for a row.
                None => value.array(|item| {
                    hook.context = hook.context.take().or(item.string().map(words));
                    Ok(())
                })?,
            },
            b"blockingError" => value.object(|key, value| {
                match key.as_bytes() {
                    b"blockingError" => hook.reason = value.string().map(words),
                    b"command" => hook.command = value.string().map(words),
                    _ => {}
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    });
    read.ok()?;
    // A stop reason is more specific than what was printed.
    hook.reason = stopped.or(hook.reason).map(|reason| words_alone(reason, hook.command.as_deref()));
    hook.call = hook.call.take().or(record.parent_tool_use.or(record.tool_use).map(Raw::text));
    decide(&mut hook, kind.as_deref().unwrap_or_default(), stdout)?;
    hook.stage = hook.event.as_deref().map_or(HookStage::Other, stage);
    Some(hook)
}

/// The words of a hook without its command, which the program puts before them: `[guard.sh]: no`.
fn words_alone<'r>(reason: Cow<'r, str>, command: Option<&str>) -> Cow<'r, str> {
    let rest = command.and_then(|command| reason.strip_prefix('[')?.strip_prefix(command)?.strip_prefix("]: "));
    match rest {
        Some(words) => Cow::Owned(words.to_owned()),
        None => reason,
    }
}

/// The hook that got a record as its input. The record shows that it ran, not how it ended.
pub(super) fn input<'r>(record: &ClaudeRecord<'r>) -> Option<Hook<'r>> {
    let event = record.hook_input()?.text();
    Some(Hook { call: record.tool_use.map(Raw::text), stage: stage(&event), event: Some(event), ..Hook::default() })
}

/// The refusal that a hook was run for: this event follows a refusal by the automatic mode alone.
pub(super) fn refusal<'r>(hook: &Hook<'r>) -> Option<Refusal<'r>> {
    let denied = hook.event.as_deref() == Some("PermissionDenied");
    hook.call.clone().filter(|_| denied).map(|call| Refusal { call: Some(call), node: None, denial: Denial::AutoMode })
}

/// Works out how the hook ended. `None` if the record is not about a hook.
fn decide(hook: &mut Hook<'_>, kind: &str, stdout: Option<Raw<'_>>) -> Option<()> {
    hook.outcome = match kind {
        "hook_success" => Some(by_code(hook.exit_code)),
        "hook_blocking_error" => Some(HookOutcome::Blocked),
        "hook_stopped_continuation" => Some(HookOutcome::Blocked),
        "hook_non_blocking_error" | "hook_error_during_execution" => Some(HookOutcome::Failed),
        "hook_cancelled" => Some(HookOutcome::Cancelled),
        "hook_additional_context" | "hook_system_message" => Some(HookOutcome::Ok),
        "async_hook_response" => Some(by_code(hook.exit_code)),
        "hook_permission_decision" => Some(HookOutcome::Ok),
        // Older logs only record the start; some add the decision.
        "hook_progress" => None,
        _ => return None,
    };
    if let Some(stdout) = stdout.filter(|text| text.head(64).trim_start().starts_with('{')) {
        // A hook decides by its exit code or by JSON on stdout, which may overrule the code.
        spoken(hook, &stdout.text());
    }
    hook.allows = match hook.decision.as_deref() {
        Some("deny" | "block") => Some(false),
        Some("allow" | "approve") => Some(true),
        _ => None,
    };
    match hook.allows {
        Some(false) => hook.outcome = Some(HookOutcome::Blocked),
        _ if hook.decision.is_some() && hook.outcome.is_none() => hook.outcome = Some(HookOutcome::Ok),
        _ => {}
    }
    Some(())
}

/// The outcome by exit code: 0 is success, 2 refuses, anything else is a failure of the hook itself.
fn by_code(code: Option<i64>) -> HookOutcome {
    match code {
        None | Some(0) => HookOutcome::Ok,
        Some(2) => HookOutcome::Blocked,
        Some(_) => HookOutcome::Failed,
    }
}

/// Takes over the decision in the JSON that a hook printed.
fn spoken(hook: &mut Hook<'_>, text: &str) {
    let owned = |raw: Option<Raw<'_>>| raw.map(|raw| Text::Owned(words(raw).into_owned()));
    let _ = Skim::new(text.as_bytes()).object(|key, value| {
        match key.as_bytes() {
            b"decision" => hook.decision = owned(value.string()).or(hook.decision.take()),
            b"reason" => hook.reason = owned(value.string()).or(hook.reason.take()),
            b"hookSpecificOutput" => value.object(|key, value| {
                match key.as_bytes() {
                    b"permissionDecision" => hook.decision = owned(value.string()).or(hook.decision.take()),
                    b"permissionDecisionReason" => hook.reason = owned(value.string()).or(hook.reason.take()),
                    b"updatedInput" => hook.replaces |= value.peek() == Some(Type::Object),
                    b"additionalContext" => hook.context = hook.context.take().or(owned(value.string())),
                    // The answer to a permission request is an object.
                    b"decision" => value.object(|key, value| {
                        match key.as_bytes() {
                            b"behavior" => hook.decision = owned(value.string()).or(hook.decision.take()),
                            b"message" => hook.reason = owned(value.string()).or(hook.reason.take()),
                            b"updatedInput" => hook.replaces |= value.peek() == Some(Type::Object),
                            _ => {}
                        }
                        Ok(())
                    })?,
                    _ => {}
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    });
}

/// Hooks in the system records of 1.0: `PreToolUse:Bash [cmd] failed with non-blocking status code 1: …`, `Running X...`.
pub(super) fn in_words<'r>(text: &str, call: Option<Raw<'r>>) -> Option<Hook<'r>> {
    let text = tooltrail_model::text::without_escapes(text);
    let running = text.strip_prefix("Running ").map(|rest| rest.trim_end_matches('.'));
    let rest = running.unwrap_or(&text);
    let name = rest.split([' ', '.']).next().filter(|name| !name.is_empty())?;
    let event = name.split(':').next().unwrap_or(name);
    let known = ["PreToolUse", "PostToolUse", "Stop", "SubagentStop", "UserPromptSubmit", "SessionStart", "PreCompact", "Notification"];
    // Other system records begin with ordinary words.
    if !known.contains(&event) {
        return None;
    }
    let after = rest[name.len()..].trim_start();
    // The command is in brackets and may hold brackets itself; it ends with the last one before the verdict.
    let ends = ["] completed successfully", "] failed with", "] was blocked", "]"];
    let command_end = ends.iter().find_map(|end| after.find(end));
    let command = after.strip_prefix('[').zip(command_end).and_then(|(_, end)| after.get(1..end));
    let verdict = command_end.and_then(|end| after.get(end + 1..)).unwrap_or(after).trim_start();
    let code = verdict.find("status code ").and_then(|at| {
        let rest = &verdict[at + "status code ".len()..];
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    let outcome = if verdict.starts_with("completed successfully") {
        Some(HookOutcome::Ok)
    } else if verdict.starts_with("failed with non-blocking") {
        Some(HookOutcome::Failed)
    } else if verdict.starts_with("was blocked") || verdict.starts_with("failed with blocking") {
        Some(HookOutcome::Blocked)
    } else {
        None
    };
    let owned = |text: &str| Text::Owned(text.chars().take(WORDS).collect());
    Some(Hook {
        call: call.map(Raw::text),
        stage: stage(event),
        event: Some(owned(event)),
        name: Some(owned(name)),
        command: command.map(owned),
        outcome,
        exit_code: code,
        reason: Some(verdict).filter(|_| outcome == Some(HookOutcome::Failed)).map(owned),
        ..Hook::default()
    })
}

/// The hooks of a `stop_hook_summary`.
pub(super) fn summary<'r>(record: &ClaudeRecord<'r>) -> Vec<Hook<'r>> {
    let Some(rare) = record.rare() else { return Vec::new() };
    let (mut hooks, mut errors): (Vec<Hook<'r>>, usize) = (Vec::new(), 0);
    let list = |span: &Option<Range<usize>>| Skim::new(span.as_ref().map(|span| record.slice(span)).unwrap_or_default());
    let _ = list(&rare.hook_infos).array(|info| {
        let call = record.tool_use.map(Raw::text);
        let mut hook = Hook { event: Some("Stop".into()), name: Some("Stop".into()), call, ..Hook::default() };
        info.object(|key, value| {
            match key.as_bytes() {
                b"command" => hook.command = value.string().map(words),
                b"durationMs" => hook.duration_ms = value.uint(),
                _ => {}
            }
            Ok(())
        })?;
        hooks.push(hook);
        Ok(())
    });
    let _ = list(&rare.hook_errors).array(|_| {
        errors += 1;
        Ok(())
    });
    let reason = rare.stop_reason.filter(|text| !text.is_empty()).map(words);
    // Errors name no hook, so they are attributed only where there is a single one.
    let outcome = match (errors, rare.prevented) {
        (0, false) => Some(HookOutcome::Ok),
        (0, true) if hooks.len() == 1 => Some(HookOutcome::Blocked),
        (_, false) if hooks.len() == 1 => Some(HookOutcome::Failed),
        _ => None,
    };
    for hook in &mut hooks {
        hook.outcome = outcome;
        hook.reason = reason.clone();
    }
    hooks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_told_in_words_are_read() {
        let failed =
            in_words("\u{1b}[1mPreToolUse:Bash\u{1b}[22m [cat | jq '.a[0]'] failed with non-blocking status code 1: no", None).unwrap();
        assert_eq!(failed.name.as_deref(), Some("PreToolUse:Bash"));
        assert_eq!(failed.command.as_deref(), Some("cat | jq '.a[0]'"));
        assert_eq!((failed.outcome, failed.exit_code), (Some(HookOutcome::Failed), Some(1)));
        let running = in_words("Running \u{1b}[1mPostToolUse:Edit\u{1b}[22m...", None).unwrap();
        assert_eq!((running.name.as_deref(), running.outcome), (Some("PostToolUse:Edit"), None));
        assert!(in_words("Conversation compacted", None).is_none());
    }
}
