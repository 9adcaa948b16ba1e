//! Outcome of a call in words, before anything its tool shows: errors, refusals, missing results, background tasks.

use crate::head::{no_result, size, took, why};
use crate::line::neutral;
use crate::pieces::{markdown, notice, section, task_state};
use crate::texts::{as_json, gist, sniffed, walk};
use crate::{Block, Class, Limits, Line, hooks};
use tooltrail_model::content::words;
use tooltrail_model::detail::Detail;
use tooltrail_model::event::{HookOutcome, TaskState};
use tooltrail_model::row::{Background, Place};
use tooltrail_model::transcript::{Level, Story};
use tooltrail_model::{Kind, Reason, Status, Time};

/// Longest error that is shown as a remark; a longer one gets a block of its own.
const REMARK: usize = 300;

/// Longest error of a cancelled or timed-out call that only repeats the status.
const SENTENCE: usize = 100;

/// Whether a call came back with a result. Otherwise nothing may be claimed about it.
pub(crate) fn came(call: &Story<'_>) -> bool {
    matches!(call.row.status, Status::Succeeded | Status::Answered) && call.answer.is_some()
}

/// Text of an error or refusal, without the agent's wrapping for the model. Where the format found none, it is the text
/// that the model saw instead of a result, unless the tool's view shows that as output; else the words of the hook that refused.
pub(crate) fn error(call: &Story<'_>) -> Option<String> {
    let told = call.told.error.clone();
    let printed = matches!(call.told.detail, Detail::Shell(_) | Detail::TaskOutput(_));
    let failed = matches!(call.row.status, Status::Failed | Status::Blocked | Status::TimedOut | Status::Cancelled);
    let seen = || call.answer.as_ref().filter(|_| failed && !printed).map(|answer| words(&answer.seen));
    let refusal = || hooks::refusal(call).filter(|_| call.row.status == Status::Blocked);
    told.or_else(seen).or_else(refusal).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Whether the status says that it failed or was refused.
pub(crate) fn went_wrong(call: &Story<'_>) -> bool {
    !matches!(call.row.status, Status::Succeeded | Status::Answered | Status::Running | Status::Unanswered)
}

/// Outcome of the call. `shown` is what the tool's view shows, so that an error is not shown twice.
pub(crate) fn blocks(call: &Story<'_>, shown: &[Block], limits: &Limits) -> Vec<Block> {
    let mut blocks = match call.row.status {
        Status::Succeeded | Status::Answered => Vec::new(),
        Status::Failed => failed(call, shown, limits),
        Status::Rejected => rejected(call, limits),
        Status::Blocked => blocked(call, shown, limits),
        Status::Cancelled => cancelled(call, shown, limits),
        Status::Interrupted => interrupted(call, shown, limits),
        Status::TimedOut => timed_out(call, shown, limits),
        Status::Running => vec![missing(call, Level::Info, "No result yet.")],
        Status::Unanswered => vec![missing(call, Level::Warning, "There is no result.")],
    };
    // The view of a command mentions its own task.
    let task = call.row.background.as_ref().filter(|task| task.id.is_none() || !matches!(call.told.detail, Detail::Shell(_)));
    blocks.extend(task.map(background));
    blocks
}

/// Texts about the outcome: the error, or the words of the person who refused. For pages that show the status separately.
pub(crate) fn said(call: &Story<'_>, shown: &[Block], limits: &Limits) -> Vec<Block> {
    let feedback = call.answer.as_ref().and_then(|answer| answer.feedback.as_deref()).filter(|text| !text.trim().is_empty());
    match call.row.status {
        Status::Succeeded | Status::Answered | Status::Running | Status::Unanswered => Vec::new(),
        Status::Rejected => feedback.map(|text| section("you said", true, vec![markdown(text, limits)])).into_iter().collect(),
        // A short error of these only says again that it was cancelled or timed out.
        Status::Cancelled | Status::TimedOut if is_sentence(call) => Vec::new(),
        Status::Failed => error_blocks(call, Level::Error, shown, limits),
        _ => error_blocks(call, Level::Warning, shown, limits),
    }
}

/// A position in the log, in the form that commands accept.
pub(crate) fn place(place: &Place<'_>) -> String {
    place.to_string()
}

fn failed(call: &Story<'_>, shown: &[Block], limits: &Limits) -> Vec<Block> {
    let blocks = error_blocks(call, Level::Error, shown, limits);
    // A command's exit code is shown elsewhere and says enough.
    let silent = error(call).is_none() && call.row.exit_code.is_none();
    let reason = || call.row.reason.map_or("It failed without a message.".to_owned(), |reason| sentence(why(reason)));
    if silent { vec![notice(Level::Error, reason())] } else { blocks }
}

/// The error: a remark if it is short, otherwise its first line and the rest below; nothing if the tool's view shows it.
fn error_blocks(call: &Story<'_>, level: Level, shown: &[Block], limits: &Limits) -> Vec<Block> {
    // What a script printed is in its output; its calls have errors of their own.
    if call.row.kind == Kind::Script && call.row.reason == Some(Reason::ExitCode) {
        return Vec::new();
    }
    let Some(error) = error(call) else { return Vec::new() };
    if shows(shown, &error) {
        return Vec::new();
    }
    match error.split_once('\n') {
        None if error.len() <= REMARK => vec![notice(level, error)],
        // The first line of JSON is a brace, which would make a poor remark.
        Some((first, rest)) if first.len() <= REMARK && as_json(&error).is_none() => {
            vec![notice(level, first.trim_end()), sniffed(rest, limits)]
        }
        _ => vec![notice(level, call.row.reason.map_or_else(|| gist(&error), |reason| sentence(why(reason)))), sniffed(&error, limits)],
    }
}

fn rejected(call: &Story<'_>, limits: &Limits) -> Vec<Block> {
    if call.row.reason == Some(Reason::AfterRejection) {
        return vec![missing(call, Level::Warning, "It never ran: another call was rejected first.")];
    }
    let feedback = call.answer.as_ref().and_then(|answer| answer.feedback.as_deref()).filter(|text| !text.trim().is_empty());
    match feedback {
        Some(text) => vec![notice(Level::Warning, "You declined, and said:"), markdown(text, limits)],
        None => vec![notice(Level::Warning, "You declined.")],
    }
}

fn blocked(call: &Story<'_>, shown: &[Block], limits: &Limits) -> Vec<Block> {
    let mut blocks = vec![notice(Level::Warning, who_blocked(call))];
    blocks.extend(error_blocks(call, Level::Warning, shown, limits));
    blocks
}

/// The hook or rule that refused: `Blocked by the hook PreToolUse:Bash, which ran guard.sh`.
pub(crate) fn who_blocked(call: &Story<'_>) -> Line {
    let by = hooks::all(call).into_iter().find(|hook| hook.outcome == Some(HookOutcome::Blocked));
    match (by, call.row.reason) {
        (Some(hook), _) => {
            let line = Line::from("Blocked by the hook ").with(Class::Strong, &hooks::name(&hook));
            match hook.command.filter(|command| Some(command) != hook.name.as_ref()) {
                Some(command) => line.with(Class::Plain, ", which ran ").with(Class::Strong, &command),
                None => line,
            }
        }
        (None, Some(Reason::NotGranted)) => Line::from("Blocked: permission not granted, the session was not interactive."),
        (None, Some(reason)) => Line::from(format!("Blocked {}.", why(reason))),
        (None, None) => Line::from("Blocked."),
    }
}

fn cancelled(call: &Story<'_>, shown: &[Block], limits: &Limits) -> Vec<Block> {
    let mut blocks = vec![missing(call, Level::Warning, "It never ran.")];
    // Where there is a sentence for the reason, the agent's own short text only repeats it.
    if no_result(&call.row).is_none() || !is_sentence(call) {
        blocks.extend(error_blocks(call, Level::Info, shown, limits));
    }
    blocks
}

/// Whether an error is no more than a few words.
fn is_sentence(call: &Story<'_>) -> bool {
    error(call).is_none_or(|error| error.len() <= SENTENCE && !error.contains('\n'))
}

fn interrupted(call: &Story<'_>, shown: &[Block], limits: &Limits) -> Vec<Block> {
    let text = match call.row.reason {
        Some(Reason::User) | None => "You interrupted it.".to_owned(),
        Some(reason) => format!("Interrupted: {}.", why(reason)),
    };
    let mut blocks = vec![notice(Level::Warning, text)];
    blocks.extend(error_blocks(call, Level::Info, shown, limits));
    blocks
}

fn timed_out(call: &Story<'_>, shown: &[Block], limits: &Limits) -> Vec<Block> {
    let progress = call.progress.as_ref();
    let limit = progress.and_then(|progress| progress.limit_ms).map(|limit| format!(" (limit {})", took(limit))).unwrap_or_default();
    let text = match call.row.run_ms.or(call.row.duration_ms).or(progress.and_then(|progress| progress.elapsed_ms)) {
        Some(millis) => format!("Timed out after {}{limit}.", took(millis)),
        None => "Timed out.".to_owned(),
    };
    let mut blocks = vec![notice(Level::Warning, text)];
    if !is_sentence(call) {
        blocks.extend(error_blocks(call, Level::Info, shown, limits));
    }
    blocks
}

/// Reason why there is no result, and the record that shows it.
fn missing(call: &Story<'_>, level: Level, otherwise: &str) -> Block {
    let sentence = no_result(&call.row).unwrap_or(otherwise);
    let line = Line::from(sentence).with(Class::Dim, " See ").with(Class::Path, &place(&call.row.evidence));
    notice(level, line)
}

/// `Background task b1: completed, exit code 0, at 2026-03-04T10:00:09Z`.
fn background(task: &Background<'_>) -> Block {
    let (level, word) = match task.state {
        TaskState::Running => (Level::Info, "still running when the log ends"),
        TaskState::Completed => (Level::Info, "completed"),
        TaskState::Failed => (Level::Error, "failed"),
        TaskState::Killed => (Level::Warning, "killed"),
        TaskState::Stopped => (Level::Warning, "stopped"),
        TaskState::Unknown => (Level::Info, "outcome not recorded"),
    };
    let name = task.id.map_or("Background task".to_owned(), |id| format!("Background task {id}"));
    let exit = task.exit_code.map(|code| format!("exit code {code}"));
    let at = task.ended_at.map(|time| format!("at {}", short_time(time)));
    let facts: Vec<String> = std::iter::once(word.to_owned()).chain(exit).chain(at).collect();
    notice(level, format!("{name}: {}", facts.join(", ")))
}

/// Outcome of a command in the background.
pub(crate) fn went_on(call: &Story<'_>) -> Option<Block> {
    let Detail::Shell(shell) = &call.told.detail else { return None };
    let task = call.row.background.as_ref();
    let id = shell.task.as_deref().or(task.and_then(|task| task.id))?;
    let mut text = format!("Moved to the background as {id}");
    if let Some(task) = task {
        text += &format!(": {}", task_state(task.state));
        text += &task.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
        text += &task.ended_at.map(|time| format!(", at {}", short_time(time))).unwrap_or_default();
    }
    Some(notice(Level::Info, text + "."))
}

/// A time without its fraction of a second where that is zero.
pub(crate) fn short_time(time: Time) -> String {
    time.to_string().replace(".000Z", "Z")
}

/// A few words as a sentence.
pub(crate) fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters).chain(['.']).collect()
}

/// Whether the blocks contain the text, however its lines are indented. Only its first lines are searched: the rest may be
/// cut.
fn shows(blocks: &[Block], text: &str) -> bool {
    let beginning = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).map(neutral);
    let mut wanted = beginning.peekable();
    walk(blocks, &mut |line| {
        // A short text occurs by accident, unless it is a whole line.
        let found = |next: &str| line.trim() == next || (next.len() > 20 && line.contains(next));
        // Lines must follow in order, but others may stand between them.
        if wanted.peek().is_some_and(|next| found(next)) {
            wanted.next();
        }
    });
    wanted.peek().is_none()
}

/// Output saved beside the log, or a remark on where it was saved.
pub(crate) fn side(call: &Story<'_>, limits: &Limits) -> Option<Block> {
    // A file that does not belong to the log's own directories is named, but never read.
    let Some(side) = &call.side else {
        let saved = call.told.saved.as_ref()?;
        let bytes = saved.bytes.map(|bytes| format!(" ({})", size(bytes))).unwrap_or_default();
        let line = Line::from(format!("The full output{bytes} was saved outside the log: ")).with(Class::Path, &saved.path);
        return Some(notice(Level::Info, line));
    };
    let mut fields = vec![(Line::of(Class::Dim, "file"), Line::of(Class::Path, &side.path))];
    if side.bytes > 0 {
        fields.push((Line::of(Class::Dim, "size"), size(side.bytes).into()));
    }
    let mut body = vec![Block::Fields { fields }];
    match &side.text {
        Ok(text) => {
            if side.cut {
                body.push(notice(Level::Info, format!("Only the first {} were read.", size(text.len() as u64))));
            }
            body.push(sniffed(text, limits));
        }
        Err(why) => body.push(notice(Level::Warning, format!("Cannot show it: {why}"))),
    }
    Some(section("full output, saved outside the log", false, body))
}
