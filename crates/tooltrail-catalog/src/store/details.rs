//! Details of sessions as they are stored: the digest, what calls contain, the requests to models.
//!
//! They follow from the content of records, which takes much longer to read than rows, so they are made after the rows, in any order, by
//! whoever needs them first. A session whose details are not there is pending, and nothing else: a process that is killed leaves no half of
//! them, because those of a session are written in one transaction.
//!
//! Details count only under the key they were made for ([`DetailKey`]): the logs that the session is linked with, as they were then. They have a
//! connection of their own, so that they may be written while all other questions are answered from one state of the file.

use super::column::{json, maybe_text};
use super::schema;
use super::write::{is_cut, whole};
use crate::Map;
use crate::queries::SpentTokens;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tooltrail_model::Time;
use tooltrail_model::digest::FollowUp;
use tooltrail_model::row::CallNumber;
use tooltrail_model::usage::Tokens;
use tracing::debug;

/// How long details wait for another process that writes: they can be made again, and pages may wait for this connection.
const PATIENCE: Duration = Duration::from_secs(1);

/// The longest command that is stored whole beside a row that has only its beginning, in bytes.
const COMMAND: usize = 64 * 1024;
/// The most bytes of file names that are stored of one call.
const FILES: usize = 64 * 1024;

/// The key of a session's details: the state that they were made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DetailKey {
    /// The session's number.
    pub(super) session: i64,
    /// The fingerprints of the logs that it is linked with; `None` for a session that is gone, whose details cannot change.
    pub(crate) logs: Option<i64>,
    /// The fingerprint of its rows.
    pub(super) fingerprint: i64,
}

impl DetailKey {
    /// The session's number in the file.
    pub(crate) fn session(self) -> i64 {
        self.session
    }

    /// Whether the details are among all that are stored.
    pub(crate) fn is_among(&self, stored: &Map<i64, i64>) -> bool {
        stored.get(&self.session).is_some_and(|logs| self.logs.is_none_or(|own| own == *logs))
    }
}

/// Everything that follows from the content of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SessionDetails {
    /// The digest (`Digest::to_stored`), as of a session that has ended.
    pub(crate) digest: String,
    /// Its calls.
    pub(crate) calls: Vec<CallDetails>,
    /// Its commands, by name.
    pub(crate) commands: Vec<CommandTally>,
    /// Its paid requests, by time.
    pub(crate) requests: Vec<RequestDetails>,
}

/// Details of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallDetails {
    pub(crate) number: CallNumber,
    pub(crate) facts: CallContent,
    /// The line that says what went wrong.
    pub(crate) error: Option<String>,
    /// The group of its failure.
    pub(crate) failure: Option<String>,
    /// What followed its failure.
    pub(crate) follow_up: Option<FollowUp>,
}

/// The facts that filters ask for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallContent {
    /// Whether the call could be opened.
    pub(crate) known: bool,
    pub(crate) files: Vec<String>,
    pub(crate) has_image: bool,
    /// The command: of a stored call only where the row does not have it.
    pub(crate) command: Option<String>,
}

/// A paid request to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestDetails {
    pub(crate) time: Option<Time>,
    /// The turn that it belongs to, counted from 1; `None` before the first.
    pub(crate) turn: Option<u64>,
    pub(crate) agent_id: Option<String>,
    pub(crate) sidechain: bool,
    pub(crate) model: Option<String>,
    pub(crate) tier: Option<String>,
    pub(crate) tokens: Tokens,
}

/// The runs of a command in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandTally {
    /// The name under which its runs are counted: `cargo test`.
    pub(crate) label: String,
    /// How often it was started.
    pub(crate) runs: u64,
    /// How often it failed or ran out of time.
    pub(crate) failed: u64,
    /// Its last failure.
    pub(crate) last: Option<(u32, u32)>,
    /// When that was.
    pub(crate) at: Option<Time>,
}

/// The stored facts of a session's calls, by the calls' numbers in the file.
#[derive(Debug, Default)]
pub(crate) struct SessionContent(Map<i64, CallContent>);

impl SessionContent {
    /// The stored content of a call; `None` if its content is not known. Nearly all calls have no more than their row.
    pub(crate) fn of(&self, call: i64) -> Option<&CallContent> {
        const NOTHING: &CallContent = &CallContent { known: true, files: Vec::new(), has_image: false, command: None };
        self.0.get(&call).map_or(Some(NOTHING), |facts| Some(facts).filter(|facts| facts.known))
    }

    /// The calls that have more than their row, or whose content is not known.
    pub(crate) fn each(&self) -> impl Iterator<Item = (i64, &CallContent)> {
        self.0.iter().map(|(&id, facts)| (id, facts))
    }
}

/// The connection to the details of a catalogue.
#[derive(Debug)]
pub(crate) struct DetailStore {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl DetailStore {
    /// The details in a catalogue's file. It is opened when it is first needed.
    pub(crate) fn new(path: &Path) -> Self {
        DetailStore { path: path.to_owned(), connection: Mutex::new(None) }
    }

    /// Asks the file. An error counts as no answer: then details are made anew, and what is wrong with the file is said by whoever reads
    /// its rows.
    pub(super) fn ask<T>(&self, ask: impl FnOnce(&mut Connection) -> rusqlite::Result<Option<T>>) -> Option<T> {
        // A panic of another thread leaves the connection sound: its transaction was rolled back when it was dropped.
        let mut held: MutexGuard<'_, Option<Connection>> = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            // A failure leaves it closed, so the next question tries again: the file may only have been busy.
            *held = connect(&self.path).inspect_err(|error| debug!(path = ?self.path, %error, "cannot open stored details")).ok();
        }
        let connection = held.as_mut()?;
        ask(connection).inspect_err(|error| debug!(path = ?self.path, %error, "cannot use stored details")).ok().flatten()
    }

    /// Whether the details of a session are there.
    pub(crate) fn has(&self, key: DetailKey) -> bool {
        self.ask(|connection| {
            // Without logs the session is gone and its details are final, whatever they were made from.
            let mut statement = connection.prepare_cached("SELECT 1 FROM detail_rows WHERE session = ?1 AND (?2 IS NULL OR logs = ?2)")?;
            statement.exists(params![key.session, key.logs]).map(|is| is.then_some(()))
        })
        .is_some()
    }

    /// The logs that the details of each session were made from, of all sessions that have any.
    pub(crate) fn all(&self) -> Map<i64, i64> {
        let asked = self.ask(|connection| {
            let mut statement = connection.prepare_cached("SELECT session, logs FROM detail_rows")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>().map(Some)
        });
        asked.unwrap_or_default()
    }

    /// The digest of a session.
    pub(crate) fn digest(&self, key: DetailKey) -> Option<String> {
        self.ask(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT digest FROM detail_rows WHERE session = ?1 AND (?2 IS NULL OR logs = ?2)")?;
            statement.query_row(params![key.session, key.logs], |row| row.get(0)).optional()
        })
    }

    /// The facts of a session's calls.
    pub(crate) fn content(&self, key: DetailKey) -> Option<SessionContent> {
        self.ask(|connection| {
            // In one statement, so that another process cannot replace the rows between two of them.
            let mut statement = connection.prepare_cached(
                "SELECT x.id, x.known, x.files, x.image, x.command FROM detail_rows d
                   LEFT JOIN content_rows x ON x.id >= d.session << ?3 AND x.id < (d.session + 1) << ?3
                 WHERE d.session = ?1 AND (?2 IS NULL OR d.logs = ?2)",
            )?;
            let mut rows = statement.query(params![key.session, key.logs, schema::SHIFT])?;
            let mut content = None;
            while let Some(row) = rows.next()? {
                let content = content.get_or_insert_with(SessionContent::default);
                // A session whose calls have no more than their rows: known, and different from one without details.
                let Some(id) = row.get::<_, Option<i64>>(0)? else { continue };
                let facts = CallContent {
                    known: row.get(1)?,
                    files: json(row, 2)?,
                    has_image: row.get(3)?,
                    command: maybe_text(row, 4)?.map(str::to_owned),
                };
                content.0.insert(id, facts);
            }
            Ok(content)
        })
    }

    /// Everything that is stored of a session, with the calls that have something, by number.
    pub(crate) fn details(&self, key: DetailKey) -> Option<SessionDetails> {
        let digest = self.digest(key)?;
        let content = self.content(key)?;
        self.ask(|connection| {
            // The number of a session is the upper part of those of its calls and requests, so they are one range.
            let (first, next) = (key.session << schema::SHIFT, (key.session + 1) << schema::SHIFT);
            let mut statement = connection.prepare_cached(
                "SELECT c.id, c.number, c.inner_number, c.command, x.error, x.failure, x.follow_up FROM call_rows c
                   LEFT JOIN content_rows x ON x.id = c.id WHERE c.id >= ?1 AND c.id < ?2 ORDER BY c.id",
            )?;
            let mut rows = statement.query([first, next])?;
            let mut calls = Vec::new();
            while let Some(row) = rows.next()? {
                let mut facts = content.of(row.get(0)?).cloned().unwrap_or_default();
                // `put` leaves out a command that stands in the row.
                if facts.known && facts.command.is_none() {
                    facts.command = row.get(3)?;
                }
                let number = CallNumber { call: row.get(1)?, inner: row.get(2)? };
                let follow_up = super::column::optional(row, 6, FollowUp::of_word)?;
                calls.push(CallDetails { number, facts, error: row.get(4)?, failure: row.get(5)?, follow_up });
            }
            let mut statement = connection.prepare_cached(
                "SELECT at, turn, agent_id, sidechain, model, tier, input, output, cache_write_5m, cache_write_1h, cache_read
                 FROM request_rows WHERE id >= ?1 AND id < ?2 ORDER BY id",
            )?;
            let requests = statement.query_map([first, next], request)?.collect::<rusqlite::Result<_>>()?;
            let mut statement = connection.prepare_cached("SELECT commands FROM detail_rows WHERE session = ?1")?;
            let commands = statement.query_row([key.session], |row| json(row, 0)).optional()?.unwrap_or_default();
            Ok(Some(SessionDetails { digest, calls, commands, requests }))
        })
    }

    /// The tokens of stored requests in a period, by model and tier. Times are compared as JSON spells them.
    pub(crate) fn spent(&self, since: Option<Time>, until: Option<Time>) -> Vec<SpentTokens> {
        let asked = self.ask(|connection| {
            let mut statement = connection.prepare_cached(
                // As texts, times with fractions of different length would not be in order.
                "SELECT model, tier, count(*), sum(input), sum(output), sum(cache_write_5m), sum(cache_write_1h), sum(cache_read) FROM requests
                 WHERE (?1 IS NULL OR julianday(at) >= julianday(?1)) AND (?2 IS NULL OR julianday(at) < julianday(?2))
                 GROUP BY model, tier ORDER BY 5 DESC, model, tier",
            )?;
            let text = |time: Option<Time>| time.map(|time| time.to_string());
            let rows = statement.query_map(params![text(since), text(until)], |row| {
                let count = |column: usize| super::column::count(row, column);
                let tokens = Tokens {
                    input: count(3)?,
                    output: count(4)?,
                    cache_write_5m: count(5)?,
                    cache_write_1h: count(6)?,
                    cache_read: count(7)?,
                };
                Ok(SpentTokens { model: row.get(0)?, tier: row.get(1)?, requests: count(2)?, tokens })
            })?;
            rows.collect::<rusqlite::Result<_>>().map(Some)
        });
        asked.unwrap_or_default()
    }

    /// Stores the details of sessions, but not of those that another process has written meanwhile. Returns whether this worked.
    pub(crate) fn put(&self, sessions: &[(DetailKey, SessionDetails)]) -> bool {
        self.ask(|connection| {
            // A transaction that begins by reading may fail at its first write, where another process wrote meanwhile, without any wait.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (key, details) in sessions {
                put(&transaction, *key, details)?;
            }
            transaction.commit().map(Some)
        })
        .is_some()
    }
}

fn request(row: &rusqlite::Row<'_>) -> rusqlite::Result<RequestDetails> {
    let tokens = |column: usize| super::column::count(row, column);
    Ok(RequestDetails {
        time: super::column::spelled_time(row, 0)?,
        turn: super::column::maybe_count(row, 1)?,
        agent_id: row.get(2)?,
        sidechain: row.get(3)?,
        model: row.get(4)?,
        tier: row.get(5)?,
        tokens: Tokens {
            input: tokens(6)?,
            output: tokens(7)?,
            cache_write_5m: tokens(8)?,
            cache_write_1h: tokens(9)?,
            cache_read: tokens(10)?,
        },
    })
}

/// Opens a catalogue that is there and that these readers made.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // Without the mutex of SQLite: `DetailStore` has one around the connection.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    // Details that a power failure loses are made again, so a commit need not wait for the disk.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    match schema::provenance(&connection)? {
        schema::Provenance::Current => Ok(connection),
        // Tables of another version may have other columns; whoever opens the rows replaces such a file.
        _ => Err(rusqlite::Error::InvalidQuery),
    }
}

/// Removes the details of a session.
pub(super) fn clear(connection: &Connection, session: i64) -> rusqlite::Result<()> {
    let (first, next) = (session << schema::SHIFT, (session + 1) << schema::SHIFT);
    connection.prepare_cached("DELETE FROM detail_rows WHERE session = ?1")?.execute([session])?;
    for table in ["content_rows", "request_rows"] {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE id >= ?1 AND id < ?2"))?.execute([first, next])?;
    }
    Ok(())
}

fn put(transaction: &Transaction<'_>, key: DetailKey, details: &SessionDetails) -> rusqlite::Result<()> {
    let mut same = transaction.prepare_cached("SELECT 1 FROM session_rows WHERE id = ?1 AND fingerprint = ?2 AND NOT gone")?;
    // A fingerprint of 0 belongs to rows that are not whole, and are made again.
    let (Some(logs), true) = (key.logs, key.fingerprint != 0) else { return Ok(()) };
    // Another process may have read the logs again meanwhile: these details would describe rows that are gone.
    if !same.exists(params![key.session, key.fingerprint])? {
        return Ok(());
    }
    // Details of an earlier state may be there, with rows for calls that the session no longer has.
    clear(transaction, key.session)?;
    let (first, next) = (key.session << schema::SHIFT, (key.session + 1) << schema::SHIFT);
    let mut own: Map<CallNumber, &CallDetails> = details.calls.iter().map(|call| (call.number, call)).collect();
    let mut calls = transaction.prepare_cached("SELECT id, number, inner_number, command FROM call_rows WHERE id >= ?1 AND id < ?2")?;
    let mut insert = transaction.prepare_cached("INSERT INTO content_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    let mut rows = calls.query([first, next])?;
    while let Some(row) = rows.next()? {
        let found = own.remove(&CallNumber { call: row.get(1)?, inner: row.get(2)? });
        let missing = CallDetails::default();
        let CallDetails { facts, error, failure, follow_up, .. } = found.unwrap_or(&missing);
        let stored = maybe_text(row, 3)?;
        // The row has the command already, unless it is a long one, or reads differently next to its result.
        let command = facts.command.as_deref().filter(|command| stored != Some(command) || is_cut(command));
        // The row has a command that the log no longer gives: filters must not take it for a call without one.
        let lost = facts.command.is_none() && stored.is_some();
        let files: usize = facts.files.iter().map(String::len).sum();
        // A list that is cut would let a filter say no where it cannot know; a call marked as unknown is opened instead.
        let known = facts.known && !lost && files <= FILES && command.is_none_or(|command| command.len() <= COMMAND);
        if known && error.is_none() && failure.is_none() && facts.files.is_empty() && !facts.has_image && command.is_none() {
            continue;
        }
        let list = (known && files > 0).then(|| serde_json::to_string(&facts.files).unwrap_or_default());
        let (command, follow_up) = (command.filter(|_| known), follow_up.map(FollowUp::word));
        insert.execute(params![row.get::<_, i64>(0)?, known, error, failure, list, facts.has_image, command, follow_up])?;
    }
    let mut insert = transaction.prepare_cached("INSERT INTO request_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")?;
    for (id, request) in (first..next).zip(&details.requests) {
        let RequestDetails { time, turn, agent_id, sidechain, model, tier, tokens } = request;
        let time = time.map(|time| time.to_string());
        insert.execute(params![
            id,
            time,
            turn.map(whole),
            agent_id,
            sidechain,
            model,
            tier,
            whole(tokens.input),
            whole(tokens.output),
            whole(tokens.cache_write_5m),
            whole(tokens.cache_write_1h),
            whole(tokens.cache_read)
        ])?;
    }
    // Last: a session without this row is pending.
    let mut insert = transaction.prepare_cached("INSERT INTO detail_rows VALUES (?1, ?2, ?3, ?4)")?;
    // Names, numbers and times only; they cannot fail to be written.
    let commands = (!details.commands.is_empty()).then(|| serde_json::to_string(&details.commands).unwrap_or_default());
    insert.execute(params![key.session, logs, details.digest, commands]).map(drop)
}
