//! Rows of calls, read back from the catalogue exactly as they were stored; and a connection for SQL that shows everything as it is at
//! a given moment.

use super::column::{count, json, maybe_count, maybe_text, optional, spelled_time, text, word};
use super::listing::{SessionHead, SessionListing, SourceAddresses};
use super::{Catalogue, CatalogueError, schema};
use rusqlite::{Connection, Row, params};
use serde::Deserialize;
use tooltrail_model::command::Purpose;
use tooltrail_model::event::{HookOutcome, InputFrom, TaskState};
use tooltrail_model::link::{Now, Pulse, UnsettledCall};
use tooltrail_model::row::{Background, CallNumber, CallRow, CallRowOrigin, HookRow, InnerCalls, Place, VERSION};
use tooltrail_model::{At, Kind, Reason, Span, Status};

/// The places of a call's records in its logs, to read them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSpans {
    /// The request, in the file of the row's `request`.
    pub request: At,
    /// The result, in the file of the row's `result`.
    pub result: Option<At>,
}

impl Catalogue {
    /// A read-only connection, on which `sessions` and `calls` show their status at a given moment.
    pub fn ask(&self, now: &Now) -> Result<Connection, CatalogueError> {
        let fill = |connection: &Connection| -> rusqlite::Result<()> {
            // One transaction, so that all queries see the same rows, whatever other processes write meanwhile.
            connection.execute_batch("BEGIN")?;
            connection.execute_batch(schema::NOW)?;
            connection.execute_batch(&schema::timed_views(true))?;
            let listing = SessionListing::read(connection, now)?;
            fill_sessions(connection, &listing)?;
            fill_calls(connection, &listing)?;
            // The file was opened read-only, but the temporary tables could still be changed by a query.
            connection.pragma_update(None, "query_only", true)
        };
        let connection = self.reader()?;
        fill(&connection).map_err(|error| self.failed(error))?;
        Ok(connection)
    }
}

/// Stores the current status of calls that may be running.
fn fill_calls(connection: &Connection, listing: &SessionListing) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO temp.now_calls VALUES (?1, ?2, ?3, ?4)")?;
    let open = format!("{CALL} WHERE id >= ?1 AND id < ?2 AND (open IS NOT NULL OR background_open)");
    let mut statement = connection.prepare(&open)?;
    // In a session without signs of life the stored rows are right, and most sessions are like that.
    for head in listing.sessions.iter().filter(|head| head.pulse != Pulse::default()) {
        let mut rows = statement.query(params![head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT])?;
        while let Some(row) = rows.next()? {
            let parts = JsonColumns::read(row)?;
            let call = open_call(row, head, &listing.sources, &parts)?.settle(|| head.pulse);
            let background = call.background.as_ref().and_then(|task| serde_json::to_string(task).ok());
            insert.execute(params![row.get::<_, i64>(0)?, call.status.word(), call.reason.map(Reason::word), background])?;
        }
    }
    Ok(())
}

/// Stores the current state of sessions that have not ended.
fn fill_sessions(connection: &Connection, listing: &SessionListing) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO temp.now_sessions VALUES (?1, ?2, ?3, ?4)")?;
    for head in &listing.sessions {
        let row = head.row(&listing.sources);
        if row.state != Some("ended") {
            // A running call changes the counts of its session too.
            let by_status = serde_json::to_string(&row.by_status).unwrap_or_default();
            insert.execute(params![head.id, row.state, row.state_reason, by_status])?;
        }
    }
    Ok(())
}

/// The columns of a call that its row is made of.
pub(super) const CALL: &str = "
SELECT id, number, source, agent_id, call, tool, server, kind, status, reason, open, evidence_source, evidence_line, requested_at,
  completed_at, duration_ms, run_ms, exit_code, exit_of, masked, purpose, is_error, input_bytes, result_bytes, model, message, parallel,
  parent_call, child_session, background, background_open, hooks, request_line, request_start, request_end, result_source, result_line,
  result_start, result_end, cwd, sidechain, order_us, about, inner_number, unwrapped, inner_calls, origin, input_from, alias, replacement_line,
  replacement_start, replacement_end, command, path
FROM call_rows";

/// The columns of a call that hold JSON, decoded. They are apart because the row borrows from them.
pub(super) struct JsonColumns {
    masked: Vec<String>,
    background: Option<StoredTask>,
    hooks: Vec<StoredHook>,
    inner: Option<InnerCalls>,
}

#[derive(Deserialize)]
struct StoredTask {
    id: Option<String>,
    state: TaskState,
    exit_code: Option<i64>,
    ended_at: Option<String>,
    evidence: StoredPlace,
}

#[derive(Deserialize)]
struct StoredHook {
    event: Option<String>,
    name: Option<String>,
    command: Option<String>,
    outcome: HookOutcome,
    exit_code: Option<i64>,
    duration_ms: Option<u64>,
    evidence: StoredPlace,
}

impl StoredHook {
    fn row(&self) -> HookRow<'_> {
        HookRow {
            event: self.event.as_deref(),
            name: self.name.as_deref(),
            command: self.command.as_deref(),
            outcome: self.outcome,
            exit_code: self.exit_code,
            duration_ms: self.duration_ms,
            evidence: self.evidence.place(),
        }
    }
}

#[derive(Deserialize)]
struct StoredPlace {
    file: String,
    /// The line; `None` for a row of a database.
    line: Option<u64>,
    row: Option<String>,
}

impl StoredPlace {
    fn place(&self) -> Place<'_> {
        Place { file: &self.file, line: self.line.unwrap_or(0), row: self.row.as_deref() }
    }
}

impl JsonColumns {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(JsonColumns { masked: json(row, 19)?, background: json(row, 29)?, hooks: json(row, 31)?, inner: json(row, 45)? })
    }

    fn background(&self) -> Option<Background<'_>> {
        self.background.as_ref().map(|task| Background {
            id: task.id.as_deref(),
            state: task.state,
            exit_code: task.exit_code,
            // The time was written by this program; a broken one can only come from a changed file, and is no reason to fail.
            ended_at: task.ended_at.as_deref().and_then(|time| time.parse().ok()),
            evidence: task.evidence.place(),
        })
    }

    fn hooks(&self) -> Vec<HookRow<'_>> {
        self.hooks.iter().map(StoredHook::row).collect()
    }
}

/// The row of a call, as if its session had ended.
pub(super) fn open_call<'a>(
    row: &'a Row<'_>,
    head: &'a SessionHead,
    sources: &'a SourceAddresses,
    parts: &'a JsonColumns,
) -> rusqlite::Result<UnsettledCall<'a>> {
    let place = |source: i64, line: usize| Ok::<_, rusqlite::Error>(sources.place(source, count(row, line)?));
    // Column numbers are those of `CALL`, in its order.
    let stored = CallRow {
        v: VERSION,
        agent: &head.agent,
        session: &head.session,
        agent_id: maybe_text(row, 3)?,
        r#ref: format!("{}:{}", head.short, CallNumber { call: row.get(1)?, inner: row.get(43)? }),
        call: text(row, 4)?,
        tool: text(row, 5)?,
        server: maybe_text(row, 6)?,
        kind: word(row, 7, Kind::of_word)?,
        status: word(row, 8, Status::of_word)?,
        reason: optional(row, 9, Reason::of_word)?,
        evidence: place(row.get(11)?, 12)?,
        requested_at: spelled_time(row, 13)?,
        completed_at: spelled_time(row, 14)?,
        duration_ms: maybe_count(row, 15)?,
        run_ms: maybe_count(row, 16)?,
        exit_code: row.get(17)?,
        exit_of: row.get(18)?,
        masked: parts.masked.clone(),
        purpose: optional(row, 20, Purpose::of_word)?.map(Purpose::word),
        is_error: row.get(21)?,
        input_bytes: count(row, 22)?,
        result_bytes: maybe_count(row, 23)?,
        model: maybe_text(row, 24)?,
        message: maybe_text(row, 25)?,
        parallel: row.get(26)?,
        parent_call: maybe_text(row, 27)?,
        child_session: maybe_text(row, 28)?,
        background: parts.background(),
        hooks: parts.hooks(),
        request: place(row.get(2)?, 32)?,
        result: row.get::<_, Option<i64>>(35)?.map(|source| place(source, 36)).transpose()?,
        cwd: maybe_text(row, 39)?,
        sidechain: row.get(40)?,
        // Copies are stored in a table of their own and never become rows of calls.
        copy_of: None,
        about: row.get(42)?,
        unwrapped: maybe_text(row, 44)?,
        inner: parts.inner,
        origin: word(row, 46, CallRowOrigin::of_word)?,
        input_from: word(row, 47, InputFrom::of_word)?,
        failed_by: None,
        command: row.get(52)?,
        path: row.get(53)?,
        alias: maybe_text(row, 48)?,
        replacement: replacement(row, 49)?,
        polls: None,
        may_wait: false,
    };
    Ok(UnsettledCall { row: stored, chance: optional(row, 10, super::write::chance_of)?, background: row.get(30)? })
}

/// The record with the input that replaced the requested one, from three columns.
pub(super) fn replacement(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<At>> {
    let Some(line) = maybe_count(row, first)? else { return Ok(None) };
    Ok(Some(At { line, span: Span { start: count(row, first + 1)?, end: count(row, first + 2)? } }))
}

/// The places of a call's records.
pub(super) fn spots(row: &Row<'_>) -> rusqlite::Result<CallSpans> {
    let at = |line: usize| {
        Ok::<_, rusqlite::Error>(At { line: count(row, line)?, span: Span { start: count(row, line + 1)?, end: count(row, line + 2)? } })
    };
    let answered = row.get::<_, Option<i64>>(35)?.is_some();
    Ok(CallSpans { request: at(32)?, result: answered.then(|| at(36)).transpose()? })
}
