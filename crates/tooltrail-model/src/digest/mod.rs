//! The digest of a session: the prompt, changes, tests since then, open problems, use of time.
//!
//! Facts, each with the call that proves it; no judgement. A digest is a pure function of a session: `call_effect`
//! describes the effect of each call, with `file_effect` for the files it changed, `polls` for what it printed later, `shipped` and
//! `served_request` for what it sent away; `fold` combines them, `follow_up` says what came after failures, `quotes` finds the words, `objections` those of hooks, `times` divides the time.

mod call_effect;
mod file_effect;
mod fold;
mod follow_up;
mod objections;
mod polls;
mod quotes;
mod served_request;
mod shipped;
mod stored;
mod times;

pub use follow_up::FollowUp;
pub use times::{Lapse, Who, lapse};

use self::call_effect::CallEffect;
use crate::book::{Book, Selection};
use crate::changes::Strength;
use crate::changes::net::{FileSize, NetSize};
use crate::claims::Claim;
use crate::reported::Reported;
use crate::row::{CallNumber, Place};
use crate::transcript::{Story, Transcript};
use crate::{Reason, Status};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The digest of a session, or a part of it.
pub fn of(book: &dyn Book, selection: &Selection) -> Digest {
    of_effects(&call_effect::of_calls(book, selection), book, selection)
}

/// The digest of a session, and what followed each of its failures: of each call that failed, timed out, or was blocked or rejected. Calls
/// that only answered no ([`is_negative_answer`]) are not among these, and a script is not where a call in it failed.
pub fn with_follow_ups(book: &dyn Book) -> (Digest, Vec<(CallNumber, FollowUp)>) {
    let selection = Selection::default();
    let effects = call_effect::of_calls(book, &selection);
    let own = book.transcript().calls.iter().filter(|call| call.row.copy_of.is_none());
    let follow_ups = follow_up::follow_ups(&effects, own.map(|call| call.number).max());
    (of_effects(&effects, book, &selection), follow_ups)
}

fn of_effects(effects: &[CallEffect], book: &dyn Book, selection: &Selection) -> Digest {
    let transcript = book.transcript();
    let mut digest = fold::digest(effects);
    digest.state = transcript.session.state;
    digest.state_reason = transcript.session.state_reason;
    // Quotes and times come from the conversation, not from calls, so `fold::digest` leaves them empty.
    let quotes = quotes::of(book, selection);
    (digest.asked_first, digest.asked, digest.said) = (quotes.asked_first, quotes.asked, quotes.said);
    digest.claims = quotes.claims;
    if let Some(sizes) = book.net_sizes(selection) {
        digest.changed.measure(&sizes);
    }
    digest.hooks = objections::of(book, selection);
    digest.time = times::lapse(transcript, selection).times();
    digest.time.may_wait = transcript.calls.iter().any(|call| call.row.may_wait && selection.takes_turn(call.turn));
    digest
}

/// Beginnings of the turns of the main conversation: the entries with a prompt or a command of the person.
fn beginnings(transcript: &Transcript<'_>) -> HashSet<usize> {
    transcript.turns.iter().filter(|turn| turn.entries.contains(&turn.begins)).map(|turn| turn.begins).collect()
}

/// The outcome that the output of a command reports of its test, build or linter, where no exit code of that was recorded.
pub fn reported(story: &Story<'_>) -> Option<Reported> {
    call_effect::reported_of(story)
}

/// Explanation of a failure or refusal, in the words of the tool or the person; `None` for a call that has no problem, or no words.
pub fn explanation(story: &Story<'_>) -> Option<String> {
    call_effect::why(story)
}

/// True if a failed command only answered a question by its exit code: `grep` found nothing. Such a call keeps its status, but it is no
/// failure: neither in digests and verdicts, nor among failures, nor among failing commands.
pub fn is_negative_answer(story: &Story<'_>) -> bool {
    // Most calls have not failed, and need no look at their output.
    let failed = story.row.status == Status::Failed;
    failed
        && story
            .command
            .as_ref()
            .is_some_and(|line| line.is_negative_answer(story.row.exit_of.as_deref(), story.row.exit_code, &call_effect::output(story)))
}

/// Summary of a session as facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// State of the session: `working`, `asks`, `waiting`, `your_turn`, `ended`. It depends on the time, so it is not read back.
    #[serde(skip_deserializing)]
    pub state: Option<&'static str>,
    /// Reason for the state.
    #[serde(skip_deserializing)]
    pub state_reason: Option<&'static str>,
    /// The first prompt of the person.
    pub asked_first: Option<Quote>,
    /// The last prompt of the person.
    pub asked: Option<Quote>,
    /// The last answer of the model.
    pub said: Option<Quote>,
    /// What that answer claims about tests, builds and linters. The verdict tells them.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// Changes.
    pub changed: ChangeSummary,
    /// Files whose change needs a check: temporary files and plans of agents do not.
    #[serde(skip)]
    pub edited: Vec<String>,
    /// Commits, pushes, pull requests, in order.
    pub shipped: Vec<Shipped>,
    /// The last test run; `None` where nothing was tested.
    pub test: Option<CheckRun>,
    /// The last build.
    pub build: Option<CheckRun>,
    /// The last run of a linter.
    pub lint: Option<CheckRun>,
    /// Calls that failed, and did not succeed later.
    pub failures: Vec<UnresolvedCall>,
    /// Calls that the person refused.
    pub rejected: Vec<UnresolvedCall>,
    /// Calls that a program refused.
    pub blocked: Vec<UnresolvedCall>,
    /// Calls without a result.
    pub unanswered: Vec<UnresolvedCall>,
    /// Objections of hooks that refused no call: to a result, to a prompt, or to the end of a turn.
    pub hooks: Vec<DigestHook>,
    /// Number of scripts of the agent's own that were run. Their commands are unknown, so there may have been tests.
    #[serde(skip)]
    pub scripts: u64,
    /// Number of scripts whose calls are not all known, so that nothing can be said to be missing.
    pub scripts_incomplete: u64,
    /// Use of the time.
    pub time: TimeBreakdown,
}

/// A call that proves something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cited {
    /// Short reference.
    pub r#ref: String,
    /// Its id.
    pub call: String,
    /// Its number in the session.
    #[serde(skip)]
    pub number: CallNumber,
    /// Its place in `Transcript::calls`.
    #[serde(skip)]
    pub index: usize,
    /// Log with the record that proves its outcome.
    pub file: String,
    /// Line of that record; `None` for a row of a database.
    pub line: Option<u64>,
    /// Row of a database, by table and key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
}

impl Cited {
    /// The same call, proved by this record.
    fn at(self, place: &Place<'_>) -> Self {
        let line = place.row.is_none().then_some(place.line);
        Cited { file: place.path().to_owned(), line, row: place.row.map(str::to_owned), ..self }
    }
}

/// A quoted text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The text, as Markdown; cut if it is long.
    pub text: String,
    /// True if something was cut off.
    pub cut: bool,
    /// Time.
    pub at: Option<String>,
    /// Log that contains it.
    pub file: String,
    /// Line of the record; `None` for a row of a database.
    pub line: Option<u64>,
    /// Row of a database, by table and key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
}

/// Changes of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSummary {
    /// Files changed by edits and commands that succeeded, in the order of their first change.
    pub files: Vec<ChangedFile>,
    /// Commands that may have changed more.
    pub commands: Vec<Cited>,
    /// The size of the net change, as the page of changes shows it; `None` where it was not worked out.
    pub net: Option<NetSize>,
}

impl ChangeSummary {
    /// The size of the net change; without one the sum over all edits, unless a file has no numbers.
    pub fn size(&self) -> Option<NetSize> {
        self.net.or_else(|| {
            let begin = NetSize { files: self.files.len() as u64, ..NetSize::default() };
            // One file without numbers makes the sum unknown; the sum of the others would be too small.
            self.files.iter().try_fold(begin, |sum, file| {
                file.lines.map(|lines| NetSize { added: sum.added + lines.0, removed: sum.removed + lines.1, ..sum })
            })
        })
    }

    /// Replaces sums over edits by net sizes.
    fn measure(&mut self, sizes: &[FileSize]) {
        self.net = Some(NetSize::of(sizes));
        for file in &mut self.files {
            // A file without an entry was changed by nothing that could be replayed.
            if let Some(size) = sizes.iter().find(|size| size.path == file.path) {
                file.lines = (!size.unknown).then_some(size.lines);
            }
        }
    }
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// The file.
    pub path: String,
    /// Added and removed lines, net; `None` where the log does not have them.
    pub lines: Option<(u64, u64)>,
    /// The calls that changed it.
    pub calls: Vec<Cited>,
    /// The weakest evidence for any of its changes.
    pub strength: Strength,
}

/// A commit, a push, a pull request: something that left the working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shipped {
    /// `commit`, `push`, `pull_request`, `merge` …
    pub what: String,
    /// Which: a hash, a branch, an address; `None` where neither the output nor the command names it.
    pub which: Option<String>,
    /// The call, with the record that says so: a later one, where a poll printed it.
    #[serde(flatten)]
    pub cited: Cited,
}

/// A test, build or linter run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// The command alone, without the rest of its line.
    pub command: String,
    /// Outcome.
    pub outcome: RunOutcome,
    /// Command whose exit code was recorded instead, where the outcome is masked and that is known.
    pub exit_of: Option<String>,
    /// The exit code that was recorded.
    pub exit_code: Option<i64>,
    /// Words of the output that indicate a failure: a hint, not a proof.
    pub hint: Option<String>,
    /// Outcome in its own summary line, where no exit code of it was recorded: weaker evidence.
    pub reported: Option<Reported>,
    /// Number of calls after it that changed files.
    pub edits_after: u64,
    /// Those calls.
    #[serde(skip)]
    pub edits: Vec<LaterEdit>,
    /// Number of commands after it that may have changed files.
    pub commands_after: u64,
    /// Number of scripts after it whose calls are not all known, so that they may have changed files.
    pub scripts_after: u64,
    /// When it was requested.
    pub at: Option<String>,
    /// The call.
    #[serde(flatten)]
    pub cited: Cited,
}

/// A call that changed files after a check ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterEdit {
    /// The call.
    pub cited: Cited,
    /// The files.
    pub paths: Vec<String>,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// According to its own exit code.
    Passed,
    /// According to its own exit code.
    Failed,
    /// Only the exit code of another command was recorded.
    Masked,
    /// Not ended, or not recorded.
    Unknown,
}

/// A call with an unresolved problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnresolvedCall {
    /// Status.
    pub status: Status,
    /// Reason of the status.
    pub reason: Option<Reason>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// The tool.
    pub tool: String,
    /// Subject: the command, the file.
    pub what: String,
    /// The hook that refused it.
    pub by: Option<String>,
    /// Explanation in the words of a tool or a person.
    pub why: Option<String>,
    /// The call.
    #[serde(flatten)]
    pub cited: Cited,
}

/// An objection of a hook that refused no call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestHook {
    /// The event it was registered for.
    pub event: Option<String>,
    /// Its command or name.
    pub by: Option<String>,
    /// Its words.
    pub why: Option<String>,
    /// Short reference of the call that it ran for.
    pub r#ref: Option<String>,
    /// Log with its record.
    pub file: String,
    /// Line of that record; `None` for a row of a database.
    pub line: Option<u64>,
    /// The call that it ran for.
    #[serde(skip)]
    pub cited: Option<Cited>,
}

/// Use of the time. Parallel activities are counted once, so the parts add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBreakdown {
    /// From the first to the last record.
    pub wall_ms: u64,
    /// Time of the model.
    pub model_ms: u64,
    /// Time of tools, including waits for permission.
    pub tools_ms: u64,
    /// Time of hooks.
    pub hooks_ms: u64,
    /// Time of waiting for the person.
    pub person_ms: u64,
    /// Time that the logs do not explain.
    pub unknown_ms: u64,
    /// Whether the time of tools may include waiting for approval.
    #[serde(skip)]
    pub may_wait: bool,
}
