//! Hooks in full: name, outcome and output. For calls and for turns.

use crate::head::took;
use crate::pieces::{notice, section};
use crate::texts::sniffed;
use crate::{Block, Class, Limits, Line, outcome};
use tooltrail_model::Status;
use tooltrail_model::event::HookOutcome;
use tooltrail_model::row::HookRow;
use tooltrail_model::transcript::{HookStory, Level, Story};

/// Hooks of a call, if one of them printed something or did not succeed. Open if one of them refused or failed. A refusal
/// that the frame already shows is left out.
pub(crate) fn of_call(call: &Story<'_>, limits: &Limits) -> Option<Block> {
    let refusal = outcome::error(call).filter(|_| call.row.status == Status::Blocked).unwrap_or_default();
    let told_above = |hook: &HookStory| {
        let blocked = call.row.status == Status::Blocked && hook.outcome == Some(HookOutcome::Blocked);
        blocked && hook.texts.iter().all(|(_, text)| text.contains(&refusal) || refusal.contains(text.trim()))
    };
    let mut hooks = all(call);
    // Only one is dropped: the frame shows a single refusal.
    if let Some(first) = hooks.iter().position(told_above) {
        hooks.remove(first);
    }
    let quiet = |hook: &HookStory| hook.texts.is_empty() && matches!(hook.outcome, None | Some(HookOutcome::Ok));
    if hooks.iter().all(quiet) {
        return None;
    }
    let open = hooks.iter().any(|hook| level(hook) == Level::Error);
    let body = hooks.iter().flat_map(|hook| told(hook, limits)).collect();
    Some(section(format!("hooks ({})", hooks.len()), open, body))
}

/// Hooks of a call: with their output where that was loaded, otherwise as the row lists them.
pub(crate) fn all(call: &Story<'_>) -> Vec<HookStory> {
    if call.hooks.is_empty() { call.row.hooks.iter().map(from_row).collect() } else { call.hooks.clone() }
}

/// A hook and its output.
pub(crate) fn told(hook: &HookStory, limits: &Limits) -> Vec<Block> {
    let mut blocks = vec![notice(level(hook), line(hook))];
    let texts = hook.texts.iter().filter(|(_, text)| !text.trim().is_empty());
    blocks.extend(texts.map(|(name, text)| section(Line::of(Class::Dim, name), true, vec![sniffed(text, limits)])));
    blocks
}

/// `PreToolUse:Bash guard.sh: blocked, exit 2, 31 ms`.
pub(crate) fn line(hook: &HookStory) -> Line {
    let mut line = Line::of(Class::Strong, &name(hook));
    if let Some(command) = hook.command.as_deref().filter(|command| Some(*command) != hook.name.as_deref()) {
        line = line.with(Class::Plain, " ").with(Class::Plain, command);
    }
    let exit = hook.exit_code.map(|code| format!("exit {code}"));
    let facts: Vec<String> = hook.outcome.map(word).map(str::to_owned).into_iter().chain(exit).chain(hook.duration_ms.map(took)).collect();
    if facts.is_empty() { line } else { line.with(Class::Dim, ": ").with(Class::Plain, &facts.join(", ")) }
}

/// Name of a hook.
pub(crate) fn name(hook: &HookStory) -> String {
    hook.name.as_deref().or(hook.event.as_deref()).or(hook.command.as_deref()).unwrap_or("hook").to_owned()
}

/// Severity of a hook's outcome.
pub(crate) fn level(hook: &HookStory) -> Level {
    match hook.outcome {
        Some(HookOutcome::Blocked | HookOutcome::Failed) => Level::Error,
        Some(HookOutcome::Cancelled) => Level::Warning,
        Some(HookOutcome::Ok | HookOutcome::Unknown) | None => Level::Info,
    }
}

/// Word for a hook's outcome.
fn word(outcome: HookOutcome) -> &'static str {
    match outcome {
        HookOutcome::Ok => "ok",
        HookOutcome::Blocked => "blocked",
        HookOutcome::Failed => "failed",
        HookOutcome::Cancelled => "cancelled",
        HookOutcome::Unknown => "how it ended was not recorded",
    }
}

fn from_row(row: &HookRow<'_>) -> HookStory {
    HookStory {
        event: row.event.map(str::to_owned),
        name: row.name.map(str::to_owned),
        command: row.command.map(str::to_owned),
        outcome: Some(row.outcome),
        exit_code: row.exit_code,
        duration_ms: row.duration_ms,
        ..HookStory::default()
    }
}
