//! The sessions of a catalogue at a given moment, and their calls when they are requested.

use super::call_rows::{CALL, CallSpans, JsonColumns, open_call, spots};
use super::column::{count, json, maybe_count, optional, spelled_time, text, time};
use super::conditions::Conditions;
use super::details::DetailKey;
use super::{Catalogue, CatalogueError, FileStamp, schema};
use crate::queries::ColumnTest;
use crate::{Map, version};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use tooltrail_model::link::{Now, OpenCalls, Pulse, UnsettledSession};
use tooltrail_model::position::RowKeys;
use tooltrail_model::row::{CallNumber, CallRow, Place, SessionRow, VERSION};
use tooltrail_model::summary::Ending;
use tooltrail_model::usage::Tokens;
use tooltrail_model::{Status, Time};
use xxhash_rust::xxh3::xxh3_64;

/// The sessions of a catalogue at a moment, by start.
pub struct SessionListing {
    pub(super) sessions: Vec<SessionHead>,
    pub(super) sources: SourceAddresses,
}

/// The sources of a catalogue by their numbers: addresses, and for parts of databases the rows that their records are.
#[derive(Default)]
pub(super) struct SourceAddresses {
    addresses: Map<i64, String>,
    rows: Map<i64, RowKeys>,
}

impl SourceAddresses {
    /// The address of a source.
    fn address(&self, id: i64) -> &str {
        self.addresses.get(&id).map_or("", String::as_str)
    }

    /// A record of a source.
    pub(super) fn place(&self, id: i64, line: u64) -> Place<'_> {
        Place { file: self.address(id), line, row: self.rows.get(&id).and_then(|rows| rows.get(line)) }
    }
}

/// A session as it is stored, with its pulse.
pub(super) struct SessionHead {
    pub(super) id: i64,
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) short: String,
    pub(super) gone: bool,
    /// When its last call was made.
    newest: Option<i64>,
    pub(super) pulse: Pulse,
    sources: Vec<i64>,
    bundle: i64,
    /// The fingerprints of the logs of its bundle, added up.
    logs: u64,
    /// The fingerprint of its rows.
    fingerprint: i64,
    title: Option<String>,
    project: Option<String>,
    branch: Option<String>,
    started_at: Option<Time>,
    last_at: Option<Time>,
    turns: u64,
    calls: u64,
    by_status: BTreeMap<Status, u64>,
    inner_calls: u64,
    models: Vec<String>,
    usage: Tokens,
    open: OpenCalls,
    ending: Option<Ending>,
}

/// A call of a listing: enough to choose and to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedCall {
    /// Its session, in the order of [`SessionListing::rows`].
    pub session: usize,
    /// Its id in the catalogue.
    pub id: i64,
    /// Its number in the session.
    pub number: CallNumber,
    /// When it was made, or where it stands in its log.
    pub order: Option<i64>,
    /// How long it took.
    pub took: Option<u64>,
}

impl Catalogue {
    /// The sessions at a moment.
    pub fn list(&self, now: &Now) -> Result<SessionListing, CatalogueError> {
        self.query(|connection| SessionListing::read(connection, now))
    }

    /// The session that has a call of an id, by its place in a listing.
    pub fn session_of_call(&self, listing: &SessionListing, call: &str) -> Result<Option<usize>, CatalogueError> {
        self.session_where(listing, &|_| true, "(call = ?1 OR alias = ?1)", [call])
    }

    /// Whether a session has a call with an id. Much faster than looking in all sessions.
    pub fn has_call(&self, listing: &SessionListing, session: usize, call: &str) -> Result<bool, CatalogueError> {
        // The ids of a session's calls are one range, so only its own rows are looked at.
        let Some(head) = listing.sessions.get(session).filter(|head| !head.gone) else { return Ok(false) };
        self.query(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT 1 FROM call_rows WHERE id >= ?1 AND id < ?2 AND (call = ?3 OR alias = ?3)")?;
            statement.exists(params![head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT, call])
        })
    }

    /// The session whose call failed last, of those that `takes` accepts; sessions are given by their places in the listing.
    pub fn last_failed(&self, listing: &SessionListing, takes: &dyn Fn(usize) -> bool) -> Result<Option<usize>, CatalogueError> {
        self.session_where(listing, takes, "status = 'failed' ORDER BY requested_at DESC, id", [])
    }

    /// The first existing session with a call that meets a condition, of those that `takes` accepts.
    fn session_where(
        &self,
        listing: &SessionListing,
        takes: &dyn Fn(usize) -> bool,
        condition: &str,
        values: impl rusqlite::Params,
    ) -> Result<Option<usize>, CatalogueError> {
        let there = listing.sessions.iter().enumerate().filter(|(place, head)| !head.gone && takes(*place));
        let places: Map<i64, usize> = there.map(|(place, head)| (head.id, place)).collect();
        self.query(|connection| {
            let mut statement = connection.prepare_cached(&format!("SELECT id FROM call_rows WHERE {condition}"))?;
            let mut rows = statement.query(values)?;
            while let Some(row) = rows.next()? {
                // Stops at the first match in the requested order. Rows of sessions that are gone are passed over.
                if let Some(&place) = places.get(&(row.get::<_, i64>(0)? >> schema::SHIFT)) {
                    return Ok(Some(place));
                }
            }
            Ok(None)
        })
    }
}

const SESSIONS: &str = "
SELECT id, agent, session, short, gone, newest_us, title, project, branch, started_at, last_at, turns, calls, by_status, models, input,
  output, cache_write_5m, cache_write_1h, cache_read, open_calls, open_question, open_plan, open_asks, open_alone, ending, inner_calls, fingerprint
FROM session_rows ORDER BY first_us IS NULL, first_us, agent, session";

/// The signs of life of a source, and its bundle: when its file was written, and the time of its last record.
type SourceSign = (Option<Time>, Option<Time>, i64);

impl SessionListing {
    pub(super) fn read(connection: &Connection, now: &Now) -> rusqlite::Result<Self> {
        let (mut sources, mut signs): (SourceAddresses, Map<i64, SourceSign>) = (SourceAddresses::default(), Map::default());
        let mut logs: Map<i64, Vec<u64>> = Map::default();
        let mut statement = connection.prepare_cached(
            "SELECT id, path, modified_us, last_us, gone, bundle, size, mtime_ns, identity, bytes, agent FROM source_rows ORDER BY id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (id, bundle): (i64, i64) = (row.get(0)?, row.get(5)?);
            let (path, gone): (String, bool) = (row.get(1)?, row.get(4)?);
            // A log that is gone is not being written to, so its last modification is no sign of life.
            let modified = if gone { None } else { time(row, 2)? };
            signs.insert(id, (modified, time(row, 3)?, bundle));
            // A watcher knows only existing logs that belong to an agent, and must compute the same version.
            if !gone && row.get::<_, Option<String>>(10)?.is_some() {
                let stamp = FileStamp { size: count(row, 6)?, mtime_ns: row.get(7)?, identity: row.get::<_, i64>(8)?.cast_unsigned() };
                logs.entry(bundle).or_default().push(version::of_log(&path, modified, Some(stamp), count(row, 9)?));
            }
            sources.addresses.insert(id, path);
        }
        let mut statement = connection.prepare_cached("SELECT source, keys FROM row_key_rows")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            // Keys that cannot be decoded are left out: a place then names its record by number alone.
            let keys = postcard::from_bytes(row.get_ref(1)?.as_bytes().unwrap_or_default());
            sources.rows.extend(keys.ok().map(|keys| Ok::<_, rusqlite::Error>((row.get(0)?, keys))).transpose()?);
        }
        // By path, because that is the order of `files` in the rows.
        let mut of_session: Map<i64, Vec<i64>> = Map::default();
        let mut statement = connection.prepare_cached(
            "SELECT l.session, l.source FROM session_source_rows l JOIN source_rows f ON f.id = l.source ORDER BY f.path",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            of_session.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        let mut statement = connection.prepare_cached(SESSIONS)?;
        let mut rows = statement.query([])?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            let sources = of_session.remove(&row.get(0)?).unwrap_or_default();
            let signs: Vec<SourceSign> = sources.iter().filter_map(|source| signs.get(source).copied()).collect();
            // The version covers all logs of the bundle: a change in a linked log, such as a fork's origin, may change this
            // session too.
            let mut head = SessionHead::read(row, now, sources, &signs)?;
            head.logs = version::sum(logs.get(&head.bundle).into_iter().flatten().copied());
            sessions.push(head);
        }
        Ok(SessionListing { sessions, sources })
    }

    /// The rows of all sessions, by start.
    pub fn rows(&self) -> Vec<SessionRow<'_>> {
        self.sessions.iter().map(|head| head.row(&self.sources)).collect()
    }

    /// The rows of some sessions, by their places.
    pub(crate) fn rows_of(&self, sessions: &[usize]) -> Vec<SessionRow<'_>> {
        sessions.iter().filter_map(|&session| self.sessions.get(session)).map(|head| head.row(&self.sources)).collect()
    }

    /// Whether the logs of a session no longer exist.
    pub fn is_gone(&self, session: usize) -> bool {
        self.sessions.get(session).is_some_and(|head| head.gone)
    }

    /// The bundle of a session's logs; `None` if they no longer exist.
    pub fn bundle(&self, session: usize) -> Option<i64> {
        self.sessions.get(session).filter(|head| !head.gone && head.bundle > 0).map(|head| head.bundle)
    }

    /// The key under which the details of a session are stored; `None` for a session that may be live, whose details still depend on the
    /// time.
    pub(crate) fn detail_key(&self, session: usize) -> Option<DetailKey> {
        let head = self.sessions.get(session).filter(|head| head.pulse == Pulse::default())?;
        let logs = (!head.gone).then(|| head.logs.cast_signed());
        Some(DetailKey { session: head.id, logs, fingerprint: head.fingerprint })
    }

    /// Passes on the stored commands of a session's calls, by the ids of the calls: reading these is much less than reading whole rows.
    pub(crate) fn each_command(
        &self,
        catalogue: &Catalogue,
        session: usize,
        mut take: impl FnMut(i64, &str),
    ) -> Result<(), CatalogueError> {
        let Some(head) = self.sessions.get(session) else { return Ok(()) };
        catalogue.query(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, command FROM call_rows WHERE id >= ?1 AND id < ?2 AND command IS NOT NULL AND kind IN ('shell', 'script') ORDER BY id",
            )?;
            let mut rows = statement.query(params![head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT])?;
            while let Some(row) = rows.next()? {
                take(row.get(0)?, text(row, 1)?);
            }
            Ok(())
        })
    }

    /// The sessions, by the numbers that they have in the file.
    pub(crate) fn places(&self) -> Map<i64, usize> {
        self.sessions.iter().enumerate().map(|(place, head)| (head.id, place)).collect()
    }

    /// The number that a session has in the file.
    pub(crate) fn number(&self, session: usize) -> Option<i64> {
        self.sessions.get(session).map(|head| head.id)
    }

    /// When the newest call of a session was made.
    pub(crate) fn newest(&self, session: usize) -> Option<i64> {
        self.sessions.get(session).and_then(|head| head.newest)
    }

    /// Passes on one call of a session by its id.
    pub(crate) fn call_of_id(
        &self,
        catalogue: &Catalogue,
        session: usize,
        id: i64,
        take: impl FnMut(ListedCall, CallRow<'_>, CallSpans),
    ) -> Result<(), CatalogueError> {
        self.one_call(catalogue, ListedCall { session, id, number: CallNumber::default(), order: None, took: None }, take)
    }

    /// The version of a session: it changes with everything that the rows and texts of the session are made of, and when the session
    /// becomes live or ends. A watcher of the same logs computes the same ([`crate::watch::WatchedSession::version`]).
    pub fn version(&self, session: usize) -> u64 {
        self.sessions.get(session).map_or(0, |head| version::of_session(head.logs, &head.short, head.project.as_deref(), head.pulse))
    }

    /// A number that changes whenever a call may have changed or moved.
    pub fn calls_version(&self) -> u64 {
        let own = self.sessions.iter().enumerate().flat_map(|(place, head)| [head.id.to_le_bytes(), self.version(place).to_le_bytes()]);
        xxh3_64(&own.flatten().collect::<Vec<u8>>())
    }

    /// The sessions that a name may mean: the one with this id, or else all whose id begins with it. Existing sessions are preferred to
    /// those that are gone.
    pub fn sessions_named(&self, rows: &[SessionRow<'_>], name: &str) -> Vec<usize> {
        let fits = |gone: bool| {
            let there = |index: &usize| self.is_gone(*index) == gone;
            (0..rows.len()).filter(there).filter(|&index| !name.is_empty() && rows[index].session.starts_with(name)).collect::<Vec<_>>()
        };
        // Otherwise a prefix that used to be unambiguous would become ambiguous through sessions that were deleted long ago.
        let present = fits(false);
        let found = if present.is_empty() { fits(true) } else { present };
        match found.iter().find(|&&index| rows[index].session == name) {
            Some(&exact) => vec![exact],
            None => found,
        }
    }

    /// The existing session with the latest record.
    pub fn last(&self) -> Option<usize> {
        let there = (0..self.sessions.len()).filter(|&place| !self.is_gone(place));
        there.max_by_key(|&place| (self.sessions[place].last_at, place))
    }

    /// The number of calls in existing sessions, those in scripts included.
    pub fn calls(&self) -> u64 {
        self.sessions.iter().filter(|head| !head.gone).map(|head| head.calls + head.inner_calls).sum()
    }

    /// Passes on the calls of a session in the order of their requests, as they are at the moment of the listing.
    pub fn each_call(
        &self,
        catalogue: &Catalogue,
        session: usize,
        take: impl FnMut(ListedCall, CallRow<'_>, CallSpans),
    ) -> Result<(), CatalogueError> {
        self.each_call_where(catalogue, session, &[], take)
    }

    /// Passes on the calls of a session that meet tests of their stored columns.
    pub(crate) fn each_call_where(
        &self,
        catalogue: &Catalogue,
        session: usize,
        tests: &[ColumnTest],
        mut take: impl FnMut(ListedCall, CallRow<'_>, CallSpans),
    ) -> Result<(), CatalogueError> {
        let Some(head) = self.sessions.get(session) else { return Ok(()) };
        let Conditions { sql, values } = Conditions::of(tests);
        catalogue.query(|connection| {
            let mut statement = connection.prepare_cached(&format!("{CALL} WHERE id >= ? AND id < ?{sql} ORDER BY id"))?;
            let range = [head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT].map(Value::Integer);
            let mut rows = statement.query(params_from_iter(range.into_iter().chain(values)))?;
            while let Some(row) = rows.next()? {
                self.call(session, head, row, &mut take)?;
            }
            Ok(())
        })
    }

    /// Passes on one call.
    pub fn one_call(
        &self,
        catalogue: &Catalogue,
        listed: ListedCall,
        mut take: impl FnMut(ListedCall, CallRow<'_>, CallSpans),
    ) -> Result<(), CatalogueError> {
        let Some(head) = self.sessions.get(listed.session) else { return Ok(()) };
        catalogue.query(|connection| {
            let mut statement = connection.prepare_cached(&format!("{CALL} WHERE id = ?1"))?;
            let mut rows = statement.query([listed.id])?;
            match rows.next()? {
                Some(row) => self.call(listed.session, head, row, &mut take),
                None => Ok(()),
            }
        })
    }

    fn call(
        &self,
        session: usize,
        head: &SessionHead,
        row: &Row<'_>,
        take: &mut dyn FnMut(ListedCall, CallRow<'_>, CallSpans),
    ) -> rusqlite::Result<()> {
        let parts = JsonColumns::read(row)?;
        let call = open_call(row, head, &self.sources, &parts)?.settle(|| head.pulse);
        let listed = ListedCall {
            session,
            id: row.get(0)?,
            number: CallNumber { call: row.get(1)?, inner: row.get(43)? },
            order: row.get(41)?,
            took: call.duration_ms,
        };
        take(listed, call, spots(row)?);
        Ok(())
    }

    /// The calls of all sessions, in the order in which they are listed; with `gone`, also those of sessions that are gone.
    pub fn all_calls(&self, catalogue: &Catalogue, gone: bool) -> Result<Vec<ListedCall>, CatalogueError> {
        let places: Map<i64, usize> = self.sessions.iter().enumerate().map(|(place, head)| (head.id, place)).collect();
        // One pass over the table in its own order; sorting afterwards is faster than one query for each session.
        let mut calls = catalogue.query(|connection| {
            let mut statement = connection.prepare_cached("SELECT id, number, order_us, duration_ms, inner_number FROM call_rows")?;
            let mut rows = statement.query([])?;
            let mut calls = Vec::new();
            while let Some(row) = rows.next()? {
                let place = places.get(&(row.get::<_, i64>(0)? >> schema::SHIFT)).filter(|place| gone || !self.is_gone(**place));
                let Some(&session) = place else { continue };
                calls.push(listed(row, session)?);
            }
            Ok(calls)
        })?;
        calls.sort_unstable();
        Ok(calls)
    }

    /// The calls of a session, by request.
    pub fn calls_of(&self, catalogue: &Catalogue, session: usize) -> Result<Vec<ListedCall>, CatalogueError> {
        let Some(head) = self.sessions.get(session) else { return Ok(Vec::new()) };
        catalogue.query(|connection| {
            let mut statement = connection.prepare_cached(OF_SESSION)?;
            let rows =
                statement.query_map(params![head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT], |row| listed(row, session))?;
            rows.collect()
        })
    }

    /// The newest calls, in the order in which they are listed. Those without a time count as oldest; of the same moment, those listed last
    /// are kept.
    pub fn newest_calls(&self, catalogue: &Catalogue, limit: usize, gone: bool) -> Result<Vec<ListedCall>, CatalogueError> {
        let mut sessions: Vec<(usize, &SessionHead)> = self.sessions.iter().enumerate().filter(|(_, head)| gone || !head.gone).collect();
        sessions.sort_by_key(|(_, head)| Reverse(head.newest));
        // The call that would be dropped next is on top.
        let mut found: BinaryHeap<Reverse<(Option<i64>, ListedCall)>> = BinaryHeap::new();
        catalogue.query(|connection| {
            let mut statement = connection.prepare_cached(OF_SESSION)?;
            for (session, head) in sessions {
                // Sessions come by their newest call, so no later one can have a call that is newer than those in the heap.
                if found.len() >= limit && found.peek().is_none_or(|Reverse((oldest, _))| head.newest < *oldest) {
                    break;
                }
                let mut rows = statement.query(params![head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT])?;
                while let Some(row) = rows.next()? {
                    let listed = listed(row, session)?;
                    found.push(Reverse((listed.order, listed)));
                    if found.len() > limit {
                        found.pop();
                    }
                }
            }
            Ok(())
        })?;
        let mut calls: Vec<ListedCall> = found.into_iter().map(|Reverse((_, listed))| listed).collect();
        calls.sort_unstable();
        Ok(calls)
    }
}

const OF_SESSION: &str = "SELECT id, number, order_us, duration_ms, inner_number FROM call_rows WHERE id >= ?1 AND id < ?2";

fn listed(row: &Row<'_>, session: usize) -> rusqlite::Result<ListedCall> {
    Ok(ListedCall {
        session,
        id: row.get(0)?,
        number: CallNumber { call: row.get(1)?, inner: row.get(4)? },
        order: row.get(2)?,
        took: maybe_count(row, 3)?,
    })
}

impl SessionHead {
    fn read(row: &Row<'_>, now: &Now, sources: Vec<i64>, signs: &[SourceSign]) -> rusqlite::Result<Self> {
        let (session, gone): (String, bool) = (row.get(2)?, row.get(4)?);
        let alive = signs.iter().map(|&(modified, last, _)| (modified, last));
        Ok(SessionHead {
            id: row.get(0)?,
            agent: row.get(1)?,
            // A session without logs cannot be live, whatever its agent still lists.
            pulse: if gone { Pulse::default() } else { now.pulse(&session, alive) },
            session,
            short: row.get(3)?,
            gone,
            newest: row.get(5)?,
            // All existing sources of a session share one bundle; those that are gone have 0.
            bundle: signs.iter().map(|&(_, _, bundle)| bundle).max().unwrap_or_default(),
            logs: 0,
            fingerprint: row.get(27)?,
            sources,
            title: row.get(6)?,
            project: row.get(7)?,
            branch: row.get(8)?,
            started_at: spelled_time(row, 9)?,
            last_at: spelled_time(row, 10)?,
            turns: count(row, 11)?,
            calls: count(row, 12)?,
            by_status: json(row, 13)?,
            inner_calls: count(row, 26)?,
            models: json(row, 14)?,
            usage: Tokens {
                input: count(row, 15)?,
                output: count(row, 16)?,
                cache_write_5m: count(row, 17)?,
                cache_write_1h: count(row, 18)?,
                cache_read: count(row, 19)?,
            },
            open: OpenCalls { count: count(row, 20)?, question: row.get(21)?, plan: row.get(22)?, asks: row.get(23)?, alone: row.get(24)? },
            ending: optional(row, 25, super::write::ending_of)?,
        })
    }

    pub(super) fn row<'a>(&'a self, sources: &'a SourceAddresses) -> SessionRow<'a> {
        let row = SessionRow {
            v: VERSION,
            agent: &self.agent,
            session: &self.session,
            title: self.title.as_deref(),
            project: self.project.as_deref(),
            branch: self.branch.as_deref(),
            started_at: self.started_at,
            last_at: self.last_at,
            state: None,
            state_reason: None,
            turns: self.turns,
            calls: self.calls,
            by_status: self.by_status.clone(),
            inner_calls: self.inner_calls,
            models: self.models.iter().map(String::as_str).collect(),
            usage: self.usage,
            files: self.sources.iter().map(|&source| sources.address(source)).collect(),
            short: &self.short,
        };
        UnsettledSession { row, calls: self.open, ending: self.ending }.settle(self.pulse)
    }
}
