//! Named queries: everything that pages, the API and commands ask about all sessions at once, behind one trait.
//!
//! [`Store`] says what can be asked and knows no database. Lists come in pages, newest first, each continued behind the last entry of the
//! one before (`after`), so that no answer grows with what is stored. A filter on columns is decided by columns, one on the content of
//! calls by what is stored of it, and one on texts by a search; the verdict is always that of the one evaluator (`model::filter`).
//! `stored` answers from the catalogue, with `stored_failures` and `stored_projects`.

mod call_table;
mod columns;
pub mod failures;
pub mod projects;
mod stored;
mod stored_failures;
mod stored_projects;

pub use call_table::{CallSortKey, CallTable, CallTableQuery};
pub(crate) use columns::{Column, ColumnTest, column_tests};

use failures::{FailureQuery, FailureReport, GroupCursor, GroupedCall};
use jiff::tz::TimeZone;
use projects::{DayActivity, FailingCommand, JudgedSession};
use std::collections::BTreeMap;
use tooltrail_model::digest::Digest;
use tooltrail_model::filter::Filter;
use tooltrail_model::row::CallNumber;
use tooltrail_model::usage::Tokens;
use tooltrail_model::{Kind, Status, Time};

/// The queries.
pub trait Store {
    /// The reason why a query failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The number of sessions and calls that a filter selects.
    fn totals(&self, filter: &Filter) -> Result<StoreTotals, Self::Error>;

    /// Sessions that a filter selects, those with the last signs of life first.
    fn sessions_page(&self, filter: &Filter, after: Option<&SessionCursor>, limit: usize) -> Result<Page<StoredRow>, Self::Error>;

    /// One session, by its agent and id.
    fn session_row(&self, agent: &str, session: &str) -> Result<Option<StoredRow>, Self::Error>;

    /// Calls that a filter selects, the newest first.
    fn calls_page(&self, filter: &Filter, after: Option<&CallCursor>, limit: usize) -> Result<Page<StoredCallRow>, Self::Error>;

    /// The calls that a filter selects, counted by a property, the most frequent first.
    fn counts(&self, filter: &Filter, by: Facet) -> Result<Vec<(String, u64)>, Self::Error>;

    /// The failures that are asked for, grouped by their message, the most frequent first.
    fn failures(&self, query: &FailureQuery<'_>, after: Option<&GroupCursor>, limit: usize) -> Result<FailureReport, Self::Error>;

    /// The calls of a group of failures, the newest first.
    fn failed_calls(
        &self,
        query: &FailureQuery<'_>,
        group: &str,
        after: Option<&CallCursor>,
        limit: usize,
    ) -> Result<Page<GroupedCall>, Self::Error>;

    /// The commands that failed in the sessions that a filter selects, the most frequent failures first.
    fn failing_commands(&self, filter: &Filter, limit: usize) -> Result<Vec<FailingCommand>, Self::Error>;

    /// The files that sessions changed, those changed in most sessions first.
    fn changed_files(&self, filter: &Filter, limit: usize) -> Result<Vec<ChangedPathCount>, Self::Error>;

    /// The sessions and calls of each day since a moment, in the sessions that a filter selects. Days without any are left out.
    fn activity(&self, filter: &Filter, since: Time, zone: &TimeZone) -> Result<Vec<DayActivity>, Self::Error>;

    /// Sessions that a filter selects with their verdicts, those with the last signs of life first.
    fn judged_sessions(&self, filter: &Filter, after: Option<&SessionCursor>, limit: usize) -> Result<Page<JudgedSession>, Self::Error>;

    /// The projects, those with the last signs of life first.
    fn projects(&self) -> Result<Vec<ProjectCount>, Self::Error>;

    /// The digest of a session that has ended; `None` where it is not stored yet.
    fn stored_digest(&self, agent: &str, session: &str) -> Result<Option<Digest>, Self::Error>;

    /// The tokens of requests in a period, by model and tier.
    fn spent(&self, since: Option<Time>, until: Option<Time>) -> Result<Vec<SpentTokens>, Self::Error>;

    /// The number of sessions whose details (digest, errors, requests) are not stored yet.
    fn pending(&self) -> Result<usize, Self::Error>;
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries.
    pub entries: Vec<T>,
    /// Whether more follow.
    pub has_more: bool,
}

/// The sessions and calls that a filter selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreTotals {
    /// Number of sessions.
    pub sessions: u64,
    /// Number of calls by status, without those in the texts of scripts.
    pub calls: BTreeMap<Status, u64>,
}

/// Place of a session in a list of sessions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionCursor {
    /// Time of its last record.
    pub last_at: Option<Time>,
    /// Its agent.
    pub agent: String,
    /// Its id.
    pub session: String,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// Its place.
    pub cursor: SessionCursor,
    /// Its short name.
    pub short: String,
    /// Its title.
    pub title: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// Its state.
    pub state: Option<&'static str>,
    /// Time of its first record.
    pub started_at: Option<Time>,
    /// Number of its turns.
    pub turns: u64,
    /// Number of its calls by status.
    pub by_status: BTreeMap<Status, u64>,
}

/// Place of a call in a list of calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallCursor {
    /// When it was made, or where it stands in its log, in microseconds.
    pub order: Option<i64>,
    /// The agent of its session.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// Its number there.
    pub number: CallNumber,
}

/// A call in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCallRow {
    /// Its place.
    pub cursor: CallCursor,
    /// Its reference.
    pub r#ref: String,
    /// Its tool.
    pub tool: String,
    /// Kind of its tool.
    pub kind: Kind,
    /// Its status.
    pub status: Status,
    /// Its subject in one line.
    pub about: Option<String>,
    /// The command that it ran.
    pub command: Option<String>,
    /// The file that it is about.
    pub path: Option<String>,
    /// The line that says what went wrong.
    pub error: Option<String>,
}

/// A property by which calls are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facet {
    /// The tool.
    Tool,
    /// Kind of tool.
    Kind,
    /// The status.
    Status,
    /// Purpose of the command.
    Purpose,
    /// The model that requested it.
    Model,
    /// The project of its session.
    Project,
    /// The agent.
    Agent,
}

/// A file that sessions changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPathCount {
    /// The file.
    pub path: String,
    /// Number of sessions that changed it.
    pub sessions: u64,
    /// Number of calls that changed it.
    pub calls: u64,
    /// Added and removed lines; `None` where not all are known.
    pub lines: Option<(u64, u64)>,
}

/// The sessions of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectCount {
    /// The project; `None` for sessions without one.
    pub project: Option<String>,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of calls.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
    /// Time of the last record.
    pub last_at: Option<Time>,
}

/// Tokens of requests to one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentTokens {
    /// The model.
    pub model: Option<String>,
    /// The service tier.
    pub tier: Option<String>,
    /// Number of requests.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Tokens,
}
