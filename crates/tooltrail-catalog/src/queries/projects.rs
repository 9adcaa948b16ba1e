//! The work on a project over time: what was done on each day, which commands fail, how the checks of its sessions ended.

use super::StoredRow;
use tooltrail_model::Time;
use tooltrail_model::session_verdict::SessionVerdict;

/// The sessions and calls of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayActivity {
    /// The day: `2026-03-04`.
    pub day: String,
    /// Number of sessions that made calls on it.
    pub sessions: u64,
    /// Number of calls, without those in the texts of scripts.
    pub calls: u64,
    /// Number of failures, without negative answers.
    pub failed: u64,
}

/// A command that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailingCommand {
    /// The name under which its runs are counted: `cargo test`.
    pub command: String,
    /// How often it failed or ran out of time, without negative answers.
    pub failed: u64,
    /// How often it was started.
    pub runs: u64,
    /// Reference of the last failure.
    pub example: String,
    /// When that was.
    pub last: Option<Time>,
}

/// A session with its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedSession {
    /// The session.
    pub row: StoredRow,
    /// The verdict; `None` while it is not stored.
    pub verdict: Option<SessionVerdict>,
}
