//! The JSON contracts: the objects that `calls`, `list`, `check` and `stats` print, field by field. Other programs are built on these.

use crate::event::{HookOutcome, InputFrom, TaskState};
use crate::issue::Issue;
use crate::position::file_of;
use crate::status::words;
use crate::usage::Tokens;
use crate::{At, Kind, Reason, Status, Time};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// The version of the contracts.
pub const VERSION: u32 = 1;

/// Writes a time as the contracts spell it. Rows hold parsed times, so that code that reads a row need not parse text again.
pub fn time_as_text<S: Serializer>(time: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        // Formats straight into the output instead of building a `String` first.
        Some(time) => serializer.collect_str(time),
        None => serializer.serialize_none(),
    }
}

/// A record of a log: a line of a file, or a row of a database.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub struct Place<'a> {
    /// The address of the source: the file, and for a part of a database the part as well.
    pub file: &'a str,
    /// The record's number, counted from 1; for a file of lines the line.
    pub line: u64,
    /// The row, where the record is one: `part:prt_1`, the table and the key.
    pub row: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// The file that the record is in.
    pub fn path(&self) -> &'a str {
        if self.row.is_some() { file_of(self.file) } else { self.file }
    }

    /// The record's name in its file: its line or its row.
    pub fn mark(&self) -> String {
        self.row.map_or_else(|| self.line.to_string(), str::to_owned)
    }
}

/// A position as it is printed and can be given as a REF again: `FILE:LINE`, or `FILE:TABLE:KEY` for a row.
impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path(), self.mark())
    }
}

impl Serialize for Place<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Lines are far more frequent than rows, and their objects stay as they always were.
        let mut place = serializer.serialize_struct("Place", 2 + usize::from(self.row.is_some()))?;
        place.serialize_field("file", self.path())?;
        place.serialize_field("line", &self.row.is_none().then_some(self.line))?;
        if let Some(row) = self.row {
            place.serialize_field("row", row)?;
        }
        place.end()
    }
}

/// Writes the files of sources: a database once, however many of its parts are meant.
fn files<S: Serializer>(addresses: &[&str], serializer: S) -> Result<S::Ok, S::Error> {
    let mut files: Vec<&str> = addresses.iter().map(|address| file_of(address)).collect();
    files.dedup();
    files.serialize(serializer)
}

/// The number of a call in its session, counted from 1, and of a call in the text of a script: `41`, `41.1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallNumber {
    /// The number of the call.
    pub call: u32,
    /// The number in its script, counted from 1; 0 for the call itself.
    pub inner: u32,
}

impl CallNumber {
    /// Reads `41` or `41.1`.
    pub fn read(text: &str) -> Option<Self> {
        // `parse` alone would take `+41` too.
        let whole = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        match text.split_once('.') {
            // Calls in a script count from 1; `41.0` would be a second name for call 41.
            Some((call, inner)) => Some(CallNumber { call: whole(call)?, inner: whole(inner).filter(|inner| *inner > 0)? }),
            None => Some(CallNumber { call: whole(text)?, inner: 0 }),
        }
    }
}

impl From<u32> for CallNumber {
    fn from(call: u32) -> Self {
        CallNumber { call, inner: 0 }
    }
}

/// A number for a call, a text for a call in the text of a script.
impl Serialize for CallNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.inner == 0 { serializer.serialize_u32(self.call) } else { serializer.collect_str(self) }
    }
}

impl fmt::Display for CallNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.call)?;
        if self.inner > 0 { write!(f, ".{}", self.inner) } else { Ok(()) }
    }
}

/// One tool call.
#[derive(Clone, Debug, Hash, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct CallRow<'a> {
    pub v: u32,
    pub agent: &'a str,
    pub session: &'a str,
    pub agent_id: Option<&'a str>,
    pub r#ref: String,
    pub call: &'a str,
    pub tool: &'a str,
    pub server: Option<&'a str>,
    pub kind: Kind,
    pub status: Status,
    pub reason: Option<Reason>,
    pub evidence: Place<'a>,
    #[serde(serialize_with = "time_as_text")]
    pub requested_at: Option<Time>,
    #[serde(serialize_with = "time_as_text")]
    pub completed_at: Option<Time>,
    pub duration_ms: Option<u64>,
    pub run_ms: Option<u64>,
    pub exit_code: Option<i64>,
    pub exit_of: Option<String>,
    pub masked: Vec<String>,
    pub purpose: Option<&'static str>,
    pub is_error: Option<bool>,
    pub input_bytes: u64,
    pub result_bytes: Option<u64>,
    pub model: Option<&'a str>,
    pub message: Option<&'a str>,
    pub parallel: u32,
    pub parent_call: Option<&'a str>,
    pub child_session: Option<&'a str>,
    pub background: Option<Background<'a>>,
    pub hooks: Vec<HookRow<'a>>,
    pub request: Place<'a>,
    pub result: Option<Place<'a>>,
    pub cwd: Option<&'a str>,
    pub sidechain: bool,
    pub copy_of: Option<Place<'a>>,
    pub about: Option<String>,
    pub unwrapped: Option<&'a str>,
    pub inner: Option<InnerCalls>,
    pub origin: CallRowOrigin,
    pub input_from: InputFrom,
    /// The record of the hook whose output replaced the input, in the file of the request: for readers, not part of the contract.
    #[serde(skip)]
    pub replacement: Option<At>,
    /// The call whose background task or script it asks about, by its id, where that is proved: for readers, not part of the contract.
    #[serde(skip)]
    pub polls: Option<&'a str>,
    /// Whether `duration_ms` may include waiting for the person's approval: for readers, not part of the contract.
    #[serde(skip)]
    pub may_wait: bool,
    /// The number of the call that a script failed by, of which `exit_of` is the command: for readers, not part of the contract.
    #[serde(skip)]
    pub failed_by: Option<u32>,
    /// The whole shell command that it ran: for readers, not part of the contract.
    #[serde(skip)]
    pub command: Option<String>,
    /// The file that it is about, or the first of several: for readers, not part of the contract.
    #[serde(skip)]
    pub path: Option<String>,
    /// Another id of it, as of the record of its own that a call in a script has: for readers, not part of the contract.
    #[serde(skip)]
    pub alias: Option<&'a str>,
}

impl<'a> CallRow<'a> {
    /// The tool that ran: the inner one where a script is its one call.
    pub fn ran(&self) -> &'a str {
        self.unwrapped.unwrap_or(self.tool)
    }

    /// Whether it stands in the text of a script.
    pub fn is_inner(&self) -> bool {
        self.origin == CallRowOrigin::Script
    }

    /// What identifies the message of the call: its id or, where it has none and made several calls, its record.
    pub fn message_key(&self) -> Option<(Option<&'a str>, Option<Place<'a>>)> {
        match self.message {
            Some(message) => Some((Some(message), None)),
            None => (self.parallel > 1).then_some((None, Some(self.request))),
        }
    }

    /// Whether another call was made by the same message.
    pub fn is_together_with(&self, other: &Self) -> bool {
        self.message_key().is_some_and(|key| other.message_key() == Some(key))
    }
}

/// The calls of a script that makes several.
#[derive(Clone, Copy, Debug, Default, Hash, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct InnerCalls {
    pub calls: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub unknown: u64,
    pub complete: bool,
}

words! {
    /// Where a row comes from.
    CallRowOrigin {
        /// A call of the log.
        Log => "log",
        /// A call in the text of a script.
        Script => "script",
    }
}

/// A background task of a call.
#[derive(Clone, Debug, Hash, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct Background<'a> {
    pub id: Option<&'a str>,
    pub state: TaskState,
    pub exit_code: Option<i64>,
    #[serde(serialize_with = "time_as_text")]
    pub ended_at: Option<Time>,
    pub evidence: Place<'a>,
}

/// A hook of a call.
#[derive(Clone, Debug, Hash, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct HookRow<'a> {
    pub event: Option<&'a str>,
    pub name: Option<&'a str>,
    pub command: Option<&'a str>,
    pub outcome: HookOutcome,
    pub exit_code: Option<i64>,
    pub duration_ms: Option<u64>,
    pub evidence: Place<'a>,
}

/// One session.
#[derive(Clone, Debug, Hash, Default, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct SessionRow<'a> {
    pub v: u32,
    pub agent: &'a str,
    pub session: &'a str,
    pub title: Option<&'a str>,
    pub project: Option<&'a str>,
    pub branch: Option<&'a str>,
    #[serde(serialize_with = "time_as_text")]
    pub started_at: Option<Time>,
    #[serde(serialize_with = "time_as_text")]
    pub last_at: Option<Time>,
    pub state: Option<&'static str>,
    pub state_reason: Option<&'static str>,
    pub turns: u64,
    pub calls: u64,
    pub by_status: BTreeMap<Status, u64>,
    pub models: Vec<&'a str>,
    pub usage: Tokens,
    #[serde(serialize_with = "files")]
    pub files: Vec<&'a str>,
    pub inner_calls: u64,
    /// The shortest name of the session, for tables.
    // It changes with the other sessions of the machine, so it is no part of the contract.
    #[serde(skip)]
    pub short: &'a str,
}

/// One source.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct CheckRow<'a> {
    pub v: u32,
    pub agent: Option<&'a str>,
    pub file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    pub bytes: u64,
    pub lines: u64,
    pub blank: u64,
    pub records: BTreeMap<&'a str, u64>,
    pub unparsed: u64,
    pub unknown_records: u64,
    pub calls: u64,
    pub paired: u64,
    pub unanswered: u64,
    pub orphan_results: u64,
    pub duplicate_results: u64,
    pub issues: Vec<Issue>,
}

/// The totals of everything.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct StatsRow {
    pub v: u32,
    pub sources: u64,
    pub bytes: u64,
    pub lines: u64,
    pub unparsed: u64,
    pub sessions: u64,
    pub turns: u64,
    pub calls: u64,
    pub by_status: BTreeMap<Status, u64>,
    pub by_tool: BTreeMap<String, ToolStats>,
    pub usage: BTreeMap<String, ModelUsage>,
    pub inner_calls: u64,
}

impl Default for StatsRow {
    fn default() -> Self {
        // A derived `Default` would set the version of the contract to 0.
        StatsRow {
            v: VERSION,
            sources: 0,
            bytes: 0,
            lines: 0,
            unparsed: 0,
            sessions: 0,
            turns: 0,
            calls: 0,
            by_status: BTreeMap::new(),
            inner_calls: 0,
            by_tool: BTreeMap::new(),
            usage: BTreeMap::new(),
        }
    }
}

/// The totals of a group of calls and sessions.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct GroupRow {
    pub v: u32,
    pub by: &'static str,
    pub key: Option<String>,
    pub sessions: u64,
    pub turns: Option<u64>,
    pub calls: u64,
    pub by_status: BTreeMap<Status, u64>,
    pub took_ms: u64,
    pub p50_ms: Option<u64>,
    pub p95_ms: Option<u64>,
    pub usage: Option<ModelUsage>,
}

/// The totals of one tool.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct ToolStats {
    pub calls: u64,
    pub by_status: BTreeMap<Status, u64>,
    pub p50_ms: Option<u64>,
    pub p95_ms: Option<u64>,
}

/// The totals of one model.
#[derive(Clone, Copy, Debug, Hash, Default, Serialize)]
#[allow(missing_docs, reason = "the contract in docs/json.md says what each field means")]
pub struct ModelUsage {
    pub messages: u64,
    #[serde(flatten)]
    pub tokens: Tokens,
}
