//! Hooks in full: name, outcome and output. For calls and for turns.

use crate::cut::one_line;
use crate::head::{counted, took};
use crate::pieces::{notice, section};
use crate::texts::sniffed;
use crate::{Block, Class, Limits, Line, outcome};
use tooltrail_model::Status;
use tooltrail_model::event::HookOutcome;
use tooltrail_model::row::HookRow;
use tooltrail_model::transcript::{HookStory, Level, Story};

/// Most characters of a hook's words on the line of its call.
const WORDS: usize = 60;

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
    let body = hooks.iter().flat_map(|hook| told(hook, Some(call.row.status), limits)).collect();
    Some(section(format!("hooks ({})", hooks.len()), open, body))
}

/// Hooks of a call: with their output where that was loaded, otherwise as the row lists them.
pub(crate) fn all(call: &Story<'_>) -> Vec<HookStory> {
    if call.hooks.is_empty() { call.row.hooks.iter().map(from_row).collect() } else { call.hooks.clone() }
}

/// A hook and its output.
pub(crate) fn told(hook: &HookStory, call: Option<Status>, limits: &Limits) -> Vec<Block> {
    let mut blocks = vec![notice(level(hook), line(hook, call))];
    let texts = hook.texts.iter().filter(|(_, text)| !text.trim().is_empty());
    blocks.extend(texts.map(|(name, text)| section(Line::of(Class::Dim, name), true, vec![sniffed(text, limits)])));
    blocks
}

/// `PreToolUse:Bash guard.sh: blocked, exit 2, 31 ms`. `call` is the status of its call.
pub(crate) fn line(hook: &HookStory, call: Option<Status>) -> Line {
    let mut line = Line::of(Class::Strong, &name(hook));
    if let Some(command) = hook.command.as_deref().filter(|command| Some(*command) != hook.name.as_deref()) {
        line = line.with(Class::Plain, " ").with(Class::Plain, command);
    }
    let state = match hook.outcome.unwrap_or(HookOutcome::Unknown) {
        HookOutcome::Ok => "ok",
        HookOutcome::Blocked => "blocked",
        HookOutcome::Failed => "failed",
        HookOutcome::Cancelled => "cancelled",
        HookOutcome::Unknown if call == Some(Status::Running) => "running",
        // Nothing followed that would show that it ended.
        HookOutcome::Unknown if call == Some(Status::Unanswered) => "started",
        HookOutcome::Unknown => "ran",
    };
    let exit = hook.exit_code.map(|code| format!("exit {code}"));
    let facts: Vec<String> = std::iter::once(state.to_owned()).chain(exit).chain(hook.duration_ms.map(took)).collect();
    line.with(Class::Dim, ": ").with(Class::Plain, &facts.join(", "))
}

/// Name of a hook, with its event: `PreToolUse:Bash`, `PreToolUse security check`.
pub(crate) fn name(hook: &HookStory) -> String {
    let (event, name) = (hook.event.as_deref(), hook.name.as_deref());
    match (event, name) {
        // Most names begin with the event.
        (Some(event), Some(name)) if !name.starts_with(event) => format!("{event} {name}"),
        _ => name.or(event).or(hook.command.as_deref()).unwrap_or("hook").to_owned(),
    }
}

/// Words with which a hook refused a call, or objected to its result.
pub(crate) fn refusal(call: &Story<'_>) -> Option<String> {
    let blocked = call.hooks.iter().filter(|hook| hook.outcome == Some(HookOutcome::Blocked));
    blocked.filter_map(said).next()
}

/// The reason that a hook gave.
pub(crate) fn said(hook: &HookStory) -> Option<String> {
    hook.reason.as_deref().map(str::trim).filter(|words| !words.is_empty()).map(str::to_owned)
}

/// Marks on the line of a call for which hooks ran: `1 hook`, `2 hooks, 1 failed`, and the words of a hook that blocked.
pub(crate) fn marks(call: &Story<'_>) -> Vec<Line> {
    let hooks = all(call);
    if hooks.is_empty() {
        return Vec::new();
    }
    let number = |outcome| hooks.iter().filter(|hook| hook.outcome == Some(outcome)).count() as u64;
    // Of a refused call the status says it.
    let blocked = if call.row.status == Status::Blocked { 0 } else { number(HookOutcome::Blocked) };
    let told = [(blocked, "blocked"), (number(HookOutcome::Failed), "failed"), (number(HookOutcome::Cancelled), "cancelled")];
    let told: String = told.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!(", {number} {word}")).collect();
    let mark = format!("{}{told}", counted(hooks.len() as u64, "hook"));
    std::iter::once(mark).chain(refusal(call).map(|words| one_line(&words, WORDS))).map(|text| Line::of(Class::Dim, &text)).collect()
}

/// Severity of a hook's outcome.
pub(crate) fn level(hook: &HookStory) -> Level {
    match hook.outcome {
        Some(HookOutcome::Blocked | HookOutcome::Failed) => Level::Error,
        Some(HookOutcome::Cancelled) => Level::Warning,
        Some(HookOutcome::Ok | HookOutcome::Unknown) | None => Level::Info,
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
