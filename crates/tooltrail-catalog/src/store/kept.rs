//! Rows as the contracts have them, read back from what was kept and settled at a moment.

use super::column::{count, json, maybe_count, maybe_text, optional, text, time, word};
use super::{Catalogue, Error, schema};
use crate::Map;
use rusqlite::{Connection, Row, params};
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tooltrail_model::event::{HookOutcome, TaskState};
use tooltrail_model::link::{Now, OpenCall, OpenCalls, OpenSession, Pulse};
use tooltrail_model::row::{Background, CallRow, HookRow, Place, SessionRow, VERSION};
use tooltrail_model::shell::Purpose;
use tooltrail_model::usage::Tokens;
use tooltrail_model::{At, Kind, Reason, Span, Status};

/// Which calls are asked for. The catalogue only leaves out what is certain not to be wanted.
#[derive(Clone, Debug, Default)]
pub struct Picked {
    /// Only the newest ones, so many.
    pub newest: Option<usize>,
    /// Only those of a session, by its whole id.
    pub session: Option<String>,
}

/// Where a call stands, to be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spots {
    /// The request, in the file of the row's `request`.
    pub request: At,
    /// The result, in the file of the row's `result`.
    pub result: Option<At>,
}

impl Catalogue {
    /// Gives the rows of calls, each once, by session start and then by request. Calls of sessions that are gone come too, if asked for.
    pub fn each_call<E>(
        &self,
        now: &Now,
        picked: &Picked,
        gone: bool,
        mut take: impl FnMut(CallRow<'_>, Spots) -> Result<(), E>,
    ) -> Result<Result<(), E>, Error> {
        let mut read = || {
            let heads = Heads::read(&self.connection, now)?;
            let newest = picked.newest.map(|limit| newest(&self.connection, &heads, gone, limit)).transpose()?;
            let mut statement = self.connection.prepare_cached(&format!("{CALL} WHERE id >= ?1 AND id < ?2 ORDER BY id"))?;
            for head in heads.sessions.iter().filter(|head| gone || !head.gone) {
                if picked.session.as_ref().is_some_and(|wanted| *wanted != head.session) {
                    continue;
                }
                if newest.as_ref().is_some_and(|kept| !kept.contains_key(&head.id)) {
                    continue;
                }
                let mut rows = statement.query(params![head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT])?;
                while let Some(row) = rows.next()? {
                    let kept = newest.as_ref().and_then(|kept| kept.get(&head.id));
                    if kept.is_some_and(|kept| row.get(0).is_ok_and(|id: i64| !kept.contains(&id))) {
                        continue;
                    }
                    let parts = Parts::read(row)?;
                    let open = open_call(row, head, &heads.paths, &parts)?;
                    if let Err(error) = take(open.settle(|| head.pulse), spots(row)?) {
                        return Ok(Err(error));
                    }
                }
            }
            Ok(Ok(()))
        };
        read().map_err(|error| self.failed(error))
    }

    /// Gives the rows of sessions, by start, and whether no file tells of them any more.
    pub fn each_session<E>(&self, now: &Now, mut take: impl FnMut(SessionRow<'_>, bool) -> Result<(), E>) -> Result<Result<(), E>, Error> {
        self.sessions(now, &mut |head, row| take(row, head.gone)).map_err(|error| self.failed(error))
    }

    fn sessions<E>(&self, now: &Now, take: &mut dyn FnMut(&Head, SessionRow<'_>) -> Result<(), E>) -> rusqlite::Result<Result<(), E>> {
        let heads = Heads::read(&self.connection, now)?;
        let mut statement = self.connection.prepare_cached(
            "SELECT title, project, branch, started_at, last_at, turns, calls, by_status, models, input, output, cache_write_5m,
               cache_write_1h, cache_read, open_calls, open_question, open_plan, open_asks, open_alone, ending
             FROM session_rows WHERE id = ?1",
        )?;
        for head in &heads.sessions {
            let mut rows = statement.query([head.id])?;
            let Some(row) = rows.next()? else { continue };
            let models: Vec<String> = json(row, 8)?;
            let open = open_session(row, head, &heads.paths, &models)?;
            if let Err(error) = take(head, open.settle(head.pulse)) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    /// A connection that cannot write, on which `sessions` and `calls` show what they are at a moment.
    pub fn ask(&self, now: &Now) -> Result<Connection, Error> {
        let fill = |connection: &Connection| -> rusqlite::Result<()> {
            connection.execute_batch(schema::NOW)?;
            connection.execute_batch(&schema::timed_views(true))?;
            self.fill_sessions(connection, now)?;
            self.fill_calls(connection, now)?;
            connection.pragma_update(None, "query_only", true)
        };
        let connection = self.reader()?;
        fill(&connection).map_err(|error| self.failed(error))?;
        Ok(connection)
    }

    /// Notes what the sessions are doing.
    fn fill_sessions(&self, connection: &Connection, now: &Now) -> rusqlite::Result<()> {
        let mut insert = connection.prepare("INSERT INTO temp.now_sessions VALUES (?1, ?2, ?3, ?4)")?;
        self.sessions(now, &mut |head, row| {
            if row.state == Some("ended") {
                return Ok(());
            }
            let by_status = serde_json::to_string(&row.by_status).unwrap_or_default();
            insert.execute(params![head.id, row.state, row.state_reason, by_status]).map(drop)
        })?
    }

    /// Notes what the calls are that may be at work.
    fn fill_calls(&self, connection: &Connection, now: &Now) -> rusqlite::Result<()> {
        let heads = Heads::read(&self.connection, now)?;
        let mut insert = connection.prepare("INSERT INTO temp.now_calls VALUES (?1, ?2, ?3, ?4)")?;
        let open = format!("{CALL} WHERE id >= ?1 AND id < ?2 AND (open IS NOT NULL OR background_open)");
        let mut statement = self.connection.prepare(&open)?;
        for head in heads.sessions.iter().filter(|head| head.pulse != Pulse::default()) {
            let mut rows = statement.query(params![head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT])?;
            while let Some(row) = rows.next()? {
                let parts = Parts::read(row)?;
                let call = open_call(row, head, &heads.paths, &parts)?.settle(|| head.pulse);
                let background = call.background.as_ref().and_then(|task| serde_json::to_string(task).ok());
                insert.execute(params![row.get::<_, i64>(0)?, call.status.word(), call.reason.map(Reason::word), background])?;
            }
        }
        Ok(())
    }
}

/// What every row of a session needs of it.
struct Head {
    id: i64,
    agent: String,
    session: String,
    short: String,
    gone: bool,
    /// When its last call was made.
    newest: Option<i64>,
    pulse: Pulse,
    sources: Vec<i64>,
}

/// The heads of all sessions, in the order in which they are listed, and the paths of all sources.
struct Heads {
    sessions: Vec<Head>,
    paths: Map<i64, String>,
}

impl Heads {
    fn read(connection: &Connection, now: &Now) -> rusqlite::Result<Self> {
        let (mut paths, mut signs) = (Map::default(), Map::default());
        let mut statement = connection.prepare_cached("SELECT id, path, modified_us, last_us, gone FROM source_rows")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            paths.insert(id, row.get(1)?);
            // What is not there is not written to.
            let modified = if row.get(4)? { None } else { time(row, 2)? };
            signs.insert(id, (modified, time(row, 3)?));
        }
        let mut of_session: Map<i64, Vec<i64>> = Map::default();
        let mut statement = connection.prepare_cached(
            "SELECT l.session, l.source FROM session_source_rows l JOIN source_rows f ON f.id = l.source ORDER BY f.path",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            of_session.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        let mut statement = connection.prepare_cached(
            "SELECT id, agent, session, short, gone, newest_us FROM session_rows ORDER BY first_us IS NULL, first_us, agent, session",
        )?;
        let sessions = statement.query_map([], |row| {
            let (id, gone): (i64, bool) = (row.get(0)?, row.get(4)?);
            let session: String = row.get(2)?;
            let sources = of_session.remove(&id).unwrap_or_default();
            let signs = sources.iter().filter_map(|source| signs.get(source).copied());
            let pulse = if gone { Pulse::default() } else { now.pulse(&session, signs) };
            Ok(Head { id, agent: row.get(1)?, session, short: row.get(3)?, gone, newest: row.get(5)?, pulse, sources })
        })?;
        Ok(Heads { sessions: sessions.collect::<rusqlite::Result<_>>()?, paths })
    }
}

/// The newest calls, by session. Those without a time count as oldest; of the same moment, those listed last are kept.
fn newest(connection: &Connection, heads: &Heads, gone: bool, limit: usize) -> rusqlite::Result<Map<i64, Vec<i64>>> {
    let mut sessions: Vec<(usize, &Head)> = heads.sessions.iter().enumerate().filter(|(_, head)| gone || !head.gone).collect();
    sessions.sort_by_key(|(_, head)| Reverse(head.newest));
    let mut statement = connection.prepare_cached("SELECT id, order_us FROM call_rows WHERE id >= ?1 AND id < ?2")?;
    // The one that would be dropped next is on top.
    let mut found: BinaryHeap<Reverse<(Option<i64>, usize, i64)>> = BinaryHeap::new();
    for (rank, head) in sessions {
        if found.len() >= limit && found.peek().is_none_or(|Reverse((oldest, ..))| head.newest < *oldest) {
            break;
        }
        let mut rows = statement.query(params![head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT])?;
        while let Some(row) = rows.next()? {
            found.push(Reverse((row.get(1)?, rank, row.get(0)?)));
            if found.len() > limit {
                found.pop();
            }
        }
    }
    let mut kept: Map<i64, Vec<i64>> = Map::default();
    for Reverse((.., id)) in found {
        kept.entry(id >> schema::SHIFT).or_default().push(id);
    }
    Ok(kept)
}

fn path(paths: &Map<i64, String>, id: i64) -> &str {
    paths.get(&id).map_or("", String::as_str)
}

fn open_session<'a>(
    row: &'a Row<'_>,
    head: &'a Head,
    paths: &'a Map<i64, String>,
    models: &'a [String],
) -> rusqlite::Result<OpenSession<'a>> {
    let usage = Tokens {
        input: count(row, 9)?,
        output: count(row, 10)?,
        cache_write_5m: count(row, 11)?,
        cache_write_1h: count(row, 12)?,
        cache_read: count(row, 13)?,
    };
    let calls = OpenCalls { count: count(row, 14)?, question: row.get(15)?, plan: row.get(16)?, asks: row.get(17)?, alone: row.get(18)? };
    let ending = optional(row, 19, super::write::ending_of)?;
    let row = SessionRow {
        v: VERSION,
        agent: &head.agent,
        session: &head.session,
        title: maybe_text(row, 0)?,
        project: maybe_text(row, 1)?,
        branch: maybe_text(row, 2)?,
        started_at: row.get(3)?,
        last_at: row.get(4)?,
        state: None,
        state_reason: None,
        turns: count(row, 5)?,
        calls: count(row, 6)?,
        by_status: json(row, 7)?,
        models: models.iter().map(String::as_str).collect(),
        usage,
        files: head.sources.iter().map(|&source| path(paths, source)).collect(),
        short: &head.short,
    };
    Ok(OpenSession { row, calls, ending })
}

/// The columns of a call that its row is made of.
const CALL: &str = "
SELECT id, number, source, agent_id, call, tool, server, kind, status, reason, open, evidence_source, evidence_line, requested_at,
  completed_at, duration_ms, run_ms, exit_code, exit_of, masked, purpose, is_error, input_bytes, result_bytes, model, message, parallel,
  parent_call, child_session, background, background_open, hooks, request_line, request_start, request_end, result_source, result_line,
  result_start, result_end, cwd, sidechain
FROM call_rows";

/// What of a call is stored as JSON, taken apart.
struct Parts {
    masked: Vec<String>,
    background: Option<Task>,
    hooks: Vec<Hook>,
}

#[derive(Deserialize)]
struct Task {
    id: Option<String>,
    state: TaskState,
    exit_code: Option<i64>,
    ended_at: Option<String>,
    evidence: Spot,
}

#[derive(Deserialize)]
struct Hook {
    event: Option<String>,
    name: Option<String>,
    command: Option<String>,
    outcome: HookOutcome,
    exit_code: Option<i64>,
    duration_ms: Option<u64>,
    evidence: Spot,
}

impl Hook {
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
struct Spot {
    file: String,
    line: u64,
}

impl Spot {
    fn place(&self) -> Place<'_> {
        Place { file: &self.file, line: self.line }
    }
}

impl Parts {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Parts { masked: json(row, 19)?, background: json(row, 29)?, hooks: json(row, 31)? })
    }

    fn background(&self) -> Option<Background<'_>> {
        self.background.as_ref().map(|task| Background {
            id: task.id.as_deref(),
            state: task.state,
            exit_code: task.exit_code,
            ended_at: task.ended_at.clone(),
            evidence: task.evidence.place(),
        })
    }

    fn hooks(&self) -> Vec<HookRow<'_>> {
        self.hooks.iter().map(Hook::row).collect()
    }
}

fn open_call<'a>(row: &'a Row<'_>, head: &'a Head, paths: &'a Map<i64, String>, parts: &'a Parts) -> rusqlite::Result<OpenCall<'a>> {
    let file = |column: usize| row.get(column).map(|id| path(paths, id));
    let result = match row.get::<_, Option<i64>>(35)? {
        Some(source) => Some(Place { file: path(paths, source), line: count(row, 36)? }),
        None => None,
    };
    let kept = CallRow {
        v: VERSION,
        agent: &head.agent,
        session: &head.session,
        agent_id: maybe_text(row, 3)?,
        r#ref: format!("{}:{}", head.short, row.get::<_, u32>(1)?),
        call: text(row, 4)?,
        tool: text(row, 5)?,
        server: maybe_text(row, 6)?,
        kind: word(row, 7, Kind::of_word)?,
        status: word(row, 8, Status::of_word)?,
        reason: optional(row, 9, Reason::of_word)?,
        evidence: Place { file: file(11)?, line: count(row, 12)? },
        requested_at: row.get(13)?,
        completed_at: row.get(14)?,
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
        request: Place { file: file(2)?, line: count(row, 32)? },
        result,
        cwd: maybe_text(row, 39)?,
        sidechain: row.get(40)?,
        copy_of: None,
    };
    Ok(OpenCall { row: kept, chance: optional(row, 10, super::write::chance_of)?, background: row.get(30)? })
}

fn spots(row: &Row<'_>) -> rusqlite::Result<Spots> {
    let at = |line: usize| {
        Ok::<_, rusqlite::Error>(At { line: count(row, line)?, span: Span { start: count(row, line + 1)?, end: count(row, line + 2)? } })
    };
    let answered = row.get::<_, Option<i64>>(35)?.is_some();
    Ok(Spots { request: at(32)?, result: answered.then(|| at(36)).transpose()? })
}
