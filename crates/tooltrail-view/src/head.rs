//! Heads: a call in one line, without its body. And the words and signs that all outputs share.

use crate::line::Line;
use serde::Serialize;
use tooltrail_model::row::CallRow;
use tooltrail_model::{Kind, Reason, Status, Time};

/// What a duration may include besides the tool's own run.
pub const WAITS: &str = "includes waiting for approval, if any";

/// A call in one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Head {
    /// A sign for the kind of tool, one column wide.
    pub icon: &'static str,
    /// The tool, as people call it.
    pub name: Line,
    /// Subject of the call: the command, the path, the pattern.
    pub title: Line,
    /// A few facts about what came back: `120 of 840 lines`, `+8 −3`.
    pub facts: Vec<Line>,
}

/// Appearance of a status that all outputs share; each adds its own style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// A sign, one column wide, distinguishable without colour.
    pub glyph: &'static str,
    /// A word.
    pub word: &'static str,
    /// Colour.
    pub tone: Tone,
}

/// The colour of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Tone {
    Ok,
    Error,
    Neutral,
    Denied,
    Muted,
    Stopped,
    Running,
    Missing,
}

/// The look of a status.
pub fn look(status: Status) -> Look {
    let (glyph, word, tone) = match status {
        Status::Succeeded => ("✓", "succeeded", Tone::Ok),
        Status::Failed => ("✗", "failed", Tone::Error),
        Status::Answered => ("•", "answered", Tone::Neutral),
        Status::Rejected => ("⊘", "rejected", Tone::Denied),
        Status::Blocked => ("⊗", "blocked", Tone::Denied),
        Status::Cancelled => ("∅", "cancelled", Tone::Muted),
        Status::Interrupted => ("■", "interrupted", Tone::Stopped),
        Status::TimedOut => ("◷", "timed out", Tone::Stopped),
        Status::Running => ("●", "running", Tone::Running),
        Status::Unanswered => ("?", "no result", Tone::Missing),
    };
    Look { glyph, word, tone }
}

/// Appearance of a call: that of its status, unless it waits for the person.
pub fn look_of(row: &CallRow<'_>) -> Look {
    match row.status {
        _ if asks(row) => Look { glyph: "◆", word: "asks you", tone: Tone::Denied },
        // A command that printed something is not answered: whether it worked is what a reader wants to know.
        Status::Answered if matches!(row.kind, Kind::Shell | Kind::Script) => Look { word: "outcome not recorded", ..look(row.status) },
        status => look(status),
    }
}

/// Whether a call waits for the person's answer: a question, or a plan to approve. No tool is running then.
pub fn asks(row: &CallRow<'_>) -> bool {
    row.status == Status::Running && row.reason == Some(Reason::AwaitingResult) && matches!(row.kind, Kind::Question | Kind::Plan)
}

/// Reason for a call's status, in a few words.
pub fn why_of(row: &CallRow<'_>) -> Option<&'static str> {
    if asks(row) { Some("waiting for your answer") } else { row.reason.map(why) }
}

/// Whether a call needs attention: it did not do what was requested.
pub fn is_problem(status: Status) -> bool {
    !matches!(status, Status::Succeeded | Status::Answered | Status::Running)
}

/// Text beside the sign: nothing for a success, `exit 101` or the word and the reason otherwise.
pub fn outcome(row: &CallRow<'_>) -> String {
    let word = look_of(row).word;
    match (row.status, row.reason, row.exit_code) {
        (Status::Succeeded, _, _) => String::new(),
        (_, Some(Reason::ExitCode), Some(code)) => format!("exit {code}"),
        // For these statuses the reason adds nothing to the word.
        (Status::Failed | Status::TimedOut | Status::Answered, _, _) => word.to_owned(),
        (_, Some(Reason::User), _) => word.to_owned(),
        _ if asks(row) => word.to_owned(),
        (_, Some(reason), _) => format!("{word}: {}", why(reason)),
        (_, None, _) => word.to_owned(),
    }
}

/// A reason in a few words.
pub fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::ToolError => "the tool reported an error",
        Reason::ExitCode => "the command failed",
        Reason::InvalidInput => "invalid arguments",
        Reason::UnknownTool => "unknown tool",
        Reason::Precondition => "precondition not met",
        Reason::TooLarge => "result too large",
        Reason::McpError => "the MCP server reported an error",
        Reason::NoOutcomeRecorded => "outcome not recorded",
        Reason::User => "by you",
        Reason::UserFeedback => "by you, with a reason",
        Reason::AfterRejection => "after another call was rejected",
        Reason::Hook => "by a hook",
        Reason::PermissionRule => "by a permission rule",
        Reason::AutoMode => "by auto mode",
        Reason::NotGranted => "permission not granted",
        Reason::Sandbox => "by the sandbox",
        Reason::SiblingFailed => "a parallel call failed",
        Reason::StreamDiscarded => "the response was discarded",
        Reason::Handover => "the session was handed over",
        Reason::Timeout => "time limit reached",
        Reason::AwaitingResult => "waiting for a result",
        Reason::AwaitingPermission => "waiting for permission",
        Reason::LogEnds => "the log ends",
        Reason::ConversationMovedOn => "the conversation moved on",
        Reason::ApiError => "API error",
        Reason::LogTruncated => "the log is damaged here",
    }
}

/// Sentence for a call that has no result, or none of its own.
pub fn no_result(row: &CallRow<'_>) -> Option<&'static str> {
    Some(match row.reason? {
        Reason::AwaitingResult if asks(row) => "No result yet: waiting for your answer.",
        Reason::AwaitingResult => "No result yet: the tool is running.",
        Reason::AwaitingPermission => "No result yet: waiting for permission.",
        Reason::LogEnds => "The log ends before the result.",
        Reason::ConversationMovedOn => "The conversation went on without a result.",
        Reason::ApiError => "An API error ended the turn before a result was used.",
        Reason::LogTruncated => "The log is damaged where the result should be.",
        Reason::StreamDiscarded => "The response with this call was discarded.",
        Reason::SiblingFailed => "It never ran: a parallel call failed first.",
        Reason::AfterRejection => "It never ran: another call was rejected first.",
        _ => return None,
    })
}

/// A number with separators: `12,048`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        // A separator before every third digit from the end.
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with its word: `1 line`, `12 lines`.
pub fn counted(number: u64, word: &str) -> String {
    let words = match word.strip_suffix('y') {
        _ if number == 1 => word.to_owned(),
        // `key` becomes `keys`, but `entry` becomes `entries`.
        Some(start) if !start.ends_with(['a', 'e', 'o', 'u']) => format!("{start}ies"),
        _ if word.ends_with("ch") || word.ends_with("sh") || word.ends_with('s') => format!("{word}es"),
        _ => format!("{word}s"),
    };
    format!("{} {words}", count(number))
}

/// Time since a moment in one unit: `3 m`, `2 h`, `5 d`.
pub fn ago(then: Time, now: Time) -> String {
    // Clocks may disagree; a time in the future counts as now.
    let seconds = (then.micros_until(now) / 1_000_000).max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A duration in two units at most: `12 ms`, `1.9 s`, `1 m 04 s`.
pub fn took(millis: u64) -> String {
    match millis {
        0..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        60_000..3_600_000 => format!("{} m {:02} s", millis / 60_000, millis % 60_000 / 1000),
        _ => format!("{} h {:02} m", millis / 3_600_000, millis % 3_600_000 / 60_000),
    }
}

/// A size: `640 B`, `12 kB`, `3.4 MB`, `1.0 GB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} kB", (bytes + 500) / 1000),
        1_000_000..1_000_000_000 => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes % 1_000_000_000 / 100_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_their_number() {
        let words = |word| counted(2, word);
        assert_eq!(
            (words("line"), words("match"), words("home directory")),
            ("2 lines".into(), "2 matches".into(), "2 home directories".into())
        );
        assert_eq!(
            (words("key"), words("e-mail address"), counted(1, "entry")),
            ("2 keys".into(), "2 e-mail addresses".into(), "1 entry".into())
        );
    }
}
