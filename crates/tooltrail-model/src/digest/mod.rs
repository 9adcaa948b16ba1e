//! What a session amounts to: what was asked, what changed, whether it was tested since, what is left open, where the time went.
//!
//! Facts, each with the call that proves it; no verdicts. A digest is a pure function of a session: `deed` says what each call
//! amounts to, `fold` what all of them do, `times` where the time went.

mod deed;
mod fold;
mod times;

pub use times::{Lapse, Who, lapse};

use crate::book::{Book, Selection};
use crate::transcript::{Transcript, What};
use crate::{Reason, Status};
use serde::Serialize;
use std::collections::HashSet;

/// What a session, or a part of it, amounts to.
pub fn of(book: &dyn Book, selection: &Selection) -> Digest {
    let transcript = book.transcript();
    let mut digest = fold::digest(&deed::deeds(book, selection));
    digest.state = transcript.session.state;
    digest.state_reason = transcript.session.state_reason;
    (digest.asked, digest.said) = fold::quotes(book, selection);
    digest.time = times::lapse(transcript, selection).times();
    digest
}

/// Where the turns of the main conversation begin: the entries with the words, or the command, of a person.
fn beginnings(transcript: &Transcript<'_>) -> HashSet<usize> {
    let entries = transcript.threads.first().map(|main| main.entries.as_slice()).unwrap_or_default();
    let speaks = |at: &usize| entries.get(*at).is_some_and(|entry| matches!(entry.what, What::Prompt | What::Command));
    transcript.turns.iter().filter_map(|turn| turn.entries.clone().find(speaks)).collect()
}

/// What a session amounts to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Digest {
    /// What the session is doing: `working`, `asks`, `waiting`, `your_turn`, `ended`.
    pub state: Option<&'static str>,
    /// What tells so.
    pub state_reason: Option<&'static str>,
    /// What the person said last.
    pub asked: Option<Quote>,
    /// What the model answered last.
    pub said: Option<Quote>,
    /// What changed.
    pub changed: Changed,
    /// Commits, pushes, pull requests, in order.
    pub shipped: Vec<Shipped>,
    /// The last run of tests; `None` where nothing was tested.
    pub test: Option<Run>,
    /// The last build.
    pub build: Option<Run>,
    /// The last run of a linter.
    pub lint: Option<Run>,
    /// Calls that failed, and did not succeed later.
    pub failures: Vec<Open>,
    /// Calls that the person refused.
    pub rejected: Vec<Open>,
    /// Calls that a program refused.
    pub blocked: Vec<Open>,
    /// Calls that were never answered.
    pub unanswered: Vec<Open>,
    /// How many scripts of the agent's own were run. What they ran is not looked at, so there may have been tests.
    #[serde(skip)]
    pub scripts: u64,
    /// Where the time went.
    pub time: Times,
}

/// A call that proves something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cited {
    /// Its short name.
    pub r#ref: String,
    /// Its id.
    pub call: String,
    /// Its number in the session.
    #[serde(skip)]
    pub number: u32,
    /// Its place in `Transcript::calls`.
    #[serde(skip)]
    pub index: usize,
    /// The log that proves what became of it.
    pub file: String,
    /// The line of that.
    pub line: u64,
}

/// Words that somebody said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Quote {
    /// The words, as Markdown; cut where they are long.
    pub text: String,
    /// Something was cut off.
    pub cut: bool,
    /// When.
    pub at: Option<String>,
    /// The log that has them.
    pub file: String,
    /// The line of that.
    pub line: u64,
}

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Files changed by edits that succeeded, in the order of their first change.
    pub files: Vec<ChangedFile>,
    /// Commands that may have changed more.
    pub commands: Vec<Cited>,
}

impl Changed {
    /// Lines that came and lines that went; `None` where the log does not say it of every file.
    pub fn lines(&self) -> Option<(u64, u64)> {
        self.files.iter().try_fold((0, 0), |sum, file| file.lines.map(|lines| (sum.0 + lines.0, sum.1 + lines.1)))
    }
}

/// A file that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    /// The file.
    pub path: String,
    /// Lines that came and lines that went, over all edits; `None` where the log does not say.
    pub lines: Option<(u64, u64)>,
    /// The calls that changed it.
    pub calls: Vec<Cited>,
}

/// Something that left the working directory: a commit, a push, a pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shipped {
    /// `commit`, `push`, `pull_request`, `merge` …
    pub what: String,
    /// Which: a hash, a branch, an address.
    pub which: String,
    /// The call.
    #[serde(flatten)]
    pub cited: Cited,
}

/// A run of tests, of a build or of a linter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The command that was run, without what stands around it.
    pub command: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Whose exit code was recorded instead, where the outcome is masked and that can be told.
    pub exit_of: Option<String>,
    /// The exit code that was recorded.
    pub exit_code: Option<i64>,
    /// Words of the output that speak of a failure: a hint, no proof.
    pub hint: Option<String>,
    /// How many edits came after it.
    pub edits_after: u64,
    /// How many commands came after it that may have changed files.
    pub commands_after: u64,
    /// The call.
    #[serde(flatten)]
    pub cited: Cited,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Its own exit code says so.
    Passed,
    /// Its own exit code says so.
    Failed,
    /// Only the exit code of another command was recorded.
    Masked,
    /// It did not end, or how was not recorded.
    Unknown,
}

/// A call that is left open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Open {
    /// What became of it.
    pub status: Status,
    /// Why.
    pub reason: Option<Reason>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// The tool.
    pub tool: String,
    /// What it was about: the command, the file.
    pub what: String,
    /// The hook that refused it.
    pub by: Option<String>,
    /// Why it did not go through, in the words of whoever said so: a message, a person's reason.
    pub why: Option<String>,
    /// The call.
    #[serde(flatten)]
    pub cited: Cited,
}

/// Where the time went. What went on side by side is counted once, so the parts add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    /// From the first to the last sign of life.
    pub wall_ms: u64,
    /// The model was at work.
    pub model_ms: u64,
    /// Tools were, or waited to be allowed to.
    pub tools_ms: u64,
    /// Hooks were.
    pub hooks_ms: u64,
    /// The person was waited for.
    pub person_ms: u64,
    /// The logs do not say.
    pub unknown_ms: u64,
}
