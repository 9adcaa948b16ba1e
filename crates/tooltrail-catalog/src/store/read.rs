//! Queries for a refresh and the watcher: stored sources, their summaries and ties, sessions, and facts of requests.

use super::call_rows::replacement;
use super::column::{count, json, optional, place, text, time, word};
use super::schema;
use super::summaries::{Packed, agent, unpack_nodes, unpack_ties};
use super::write::FileStamp;
use crate::library::Bundle;
use crate::rows::{RequestBasis, RequestFacts, RequestFactsCache};
use crate::{Map, Set};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use std::path::Path;
use std::time::Duration;
use tooltrail_formats::find::LimitedLog;
use tooltrail_model::command::Purpose;
use tooltrail_model::event::Id;
use tooltrail_model::issue::IssueCode;
use tooltrail_model::link::{Checkouts, SessionNames, SessionPlace, Ties};
use tooltrail_model::{Reason, Status, Time};

/// Opens a catalogue in its current state, which this connection keeps seeing. Fails if there is none, or if another schema or other
/// readers made it.
pub(crate) fn snapshot(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // The caller can read the logs instead, which is better than waiting long for a lock.
    connection.busy_timeout(Duration::from_secs(1))?;
    connection.execute_batch("BEGIN")?;
    // `BEGIN` alone fixes nothing: the first read does, and this is it.
    match schema::provenance(&connection)? {
        schema::Provenance::Current => Ok(connection),
        _ => Err(rusqlite::Error::InvalidQuery),
    }
}

/// How often the catalogue was written.
pub(crate) fn epoch(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT value FROM meta WHERE key = 'epoch'")?.query_row([], |row| row.get(0))
}

/// A source as the catalogue describes it.
#[derive(Clone, Debug)]
pub(crate) struct SourceInfo {
    pub(crate) id: i64,
    pub(crate) agent: Option<String>,
    pub(crate) stamp: FileStamp,
    pub(crate) modified: Option<Time>,
    /// Its last timestamp.
    pub(crate) last: Option<Time>,
    /// Whether its file was missing at the last refresh.
    pub(crate) gone: bool,
    /// The bundle that it belongs to.
    pub(crate) bundle: i64,
}

const SOURCES: &str = "SELECT path, id, agent, size, mtime_ns, identity, modified_us, gone, bundle, last_us FROM source_rows";

/// The sources, by path.
pub(crate) fn sources(connection: &Connection) -> rusqlite::Result<Map<String, SourceInfo>> {
    connection.prepare_cached(SOURCES)?.query_map([], source)?.collect()
}

/// The sources that were read up to a limit, by path.
pub(crate) fn limited(connection: &Connection) -> rusqlite::Result<Vec<LimitedLog>> {
    let question =
        "SELECT s.path, i.text FROM issue_rows i JOIN source_rows s ON s.id = i.source WHERE i.code = ?1 AND NOT s.gone ORDER BY 1";
    let log = |row: &Row<'_>| Ok(LimitedLog { path: row.get(0)?, text: row.get(1)? });
    connection.prepare_cached(question)?.query_map([IssueCode::LogLimit.word()], log)?.collect()
}

fn source(row: &Row<'_>) -> rusqlite::Result<(String, SourceInfo)> {
    let stamp = FileStamp { size: count(row, 3)?, mtime_ns: row.get(4)?, identity: row.get::<_, i64>(5)?.cast_unsigned() };
    let (modified, gone, bundle, last) = (time(row, 6)?, row.get(7)?, row.get(8)?, time(row, 9)?);
    Ok((row.get(0)?, SourceInfo { id: row.get(1)?, agent: row.get(2)?, stamp, modified, last, gone, bundle }))
}

/// The packed summary of a source.
pub(crate) fn summary(connection: &Connection, source: i64) -> rusqlite::Result<Option<Vec<u8>>> {
    connection.prepare_cached("SELECT summary FROM summary_rows WHERE source = ?1")?.query_row([source], |row| row.get(0)).optional()
}

/// Passes on the ties of all sources, by source id; `None` where they are damaged.
pub(crate) fn ties(connection: &Connection, mut each: impl FnMut(i64, Option<Ties>)) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("SELECT source, ties FROM tie_rows")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, row.get_ref(1)?.as_blob().ok().and_then(unpack_ties));
    }
    Ok(())
}

/// Passes on which sources have one of these records, or damaged ids of records, by source id.
pub(crate) fn sources_with(connection: &Connection, records: &Set<Id>, mut each: impl FnMut(i64)) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("SELECT f.id, n.nodes FROM source_rows f LEFT JOIN node_rows n ON n.source = f.id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let has = |packed: &[u8]| unpack_nodes(packed).is_none_or(|mut nodes| nodes.any(|node| records.contains(&node)));
        if row.get_ref(1)?.as_blob().map_or(true, has) {
            each(row.get(0)?);
        }
    }
    Ok(())
}

/// Collects the ids of the sessions that a source belongs to.
pub(crate) fn sessions_of(connection: &Connection, source: i64, found: &mut Set<i64>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("SELECT session FROM session_source_rows WHERE source = ?1")?;
    let mut rows = statement.query([source])?;
    while let Some(row) = rows.next()? {
        found.insert(row.get(0)?);
    }
    Ok(())
}

/// Passes on the sessions whose logs exist, by agent and id, once for each source that they belong to.
pub(crate) fn session_sources(
    connection: &Connection,
    mut each: impl FnMut(i64, &'static str, &str, SessionPlace),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT l.source, s.agent, s.session, s.project, s.stand_in, s.repository
         FROM session_rows s JOIN session_source_rows l ON l.session = s.id WHERE NOT s.gone",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // The row of an agent that this version has no reader for, as after a downgrade, is passed over.
        if let Some(agent) = agent(text(row, 1)?) {
            each(row.get(0)?, agent, text(row, 2)?, place(row, 3)?);
        }
    }
    Ok(())
}

/// All logs, as they are stored.
pub(crate) fn packed(connection: &Connection) -> rusqlite::Result<Vec<Packed>> {
    let mut statement = connection.prepare_cached(&format!("{PACKED} WHERE f.agent IS NOT NULL AND NOT f.gone"))?;
    statement.query_map([], packed_source)?.collect()
}

/// Some logs by their ids, as they are stored.
pub(crate) fn packed_sources(connection: &Connection, sources: &[i64]) -> rusqlite::Result<Vec<Packed>> {
    let mut statement = connection.prepare_cached(&format!("{PACKED} WHERE f.id = ?1"))?;
    sources.iter().filter_map(|source| statement.query_row([source], packed_source).optional().transpose()).collect()
}

const PACKED: &str = "SELECT f.path, f.agent, f.modified_us, s.summary FROM source_rows f JOIN summary_rows s ON s.source = f.id";

fn packed_source(row: &Row<'_>) -> rusqlite::Result<Packed> {
    Ok(Packed { path: row.get(0)?, agent: row.get(1)?, modified: time(row, 2)?, summary: row.get(3)? })
}

/// The ids of the logs that are there, by bundle.
pub(crate) fn sources_by_bundle(connection: &Connection) -> rusqlite::Result<Map<i64, Vec<i64>>> {
    let mut bundles: Map<i64, Vec<i64>> = Map::default();
    let mut statement = connection.prepare_cached("SELECT bundle, id FROM source_rows WHERE agent IS NOT NULL AND NOT gone")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        bundles.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    Ok(bundles)
}

/// The bundles whose logs have more lines and calls than this together.
pub(crate) fn large_bundles(connection: &Connection, more: i64) -> rusqlite::Result<Set<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT bundle FROM source_rows WHERE agent IS NOT NULL AND NOT gone
         GROUP BY bundle HAVING sum(coalesce(lines, 0) + coalesce(calls, 0)) > ?1",
    )?;
    statement.query_map([more], |row| row.get(0))?.collect()
}

/// The logs of the bundles with numbers in a range, as they are stored.
pub(crate) fn packed_between(connection: &Connection, first: i64, last: i64) -> rusqlite::Result<Vec<Packed>> {
    let mut statement = connection.prepare_cached(
        "SELECT f.path, f.agent, f.modified_us, s.summary FROM source_rows f JOIN summary_rows s ON s.source = f.id
         WHERE f.agent IS NOT NULL AND NOT f.gone AND f.bundle BETWEEN ?1 AND ?2",
    )?;
    let packed = |row: &Row<'_>| Ok(Packed { path: row.get(0)?, agent: row.get(1)?, modified: time(row, 2)?, summary: row.get(3)? });
    statement.query_map([first, last], packed)?.collect()
}

/// The bundles of the logs that are there, with the bytes of their packed summaries, by number.
pub(crate) fn bundle_sizes(connection: &Connection) -> rusqlite::Result<Vec<(i64, i64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT f.bundle, sum(length(s.summary)) FROM source_rows f JOIN summary_rows s ON s.source = f.id
         WHERE f.agent IS NOT NULL AND NOT f.gone GROUP BY f.bundle ORDER BY f.bundle",
    )?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The bundles of the logs that are there.
pub(crate) fn bundles(connection: &Connection) -> rusqlite::Result<Vec<Bundle>> {
    let mut bundles: Map<i64, Bundle> = Map::default();
    let mut statement =
        connection.prepare_cached("SELECT bundle, path, last_us FROM source_rows WHERE agent IS NOT NULL AND NOT gone ORDER BY path")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let bundle = bundles.entry(id).or_insert_with(|| Bundle { id, files: Vec::new(), last: None });
        bundle.files.push(row.get::<_, String>(1)?.into());
        bundle.last = bundle.last.max(time(row, 2)?);
    }
    // The same order as that of scanned logs (`ScannedLibrary`), so that a search prints the same with and without a
    // catalogue.
    let mut bundles: Vec<Bundle> = bundles.into_values().collect();
    bundles.sort_by(|one, other| other.last.cmp(&one.last).then_with(|| one.files.cmp(&other.files)));
    Ok(bundles)
}

/// The names of the sessions that are there.
pub(crate) fn session_names(connection: &Connection) -> rusqlite::Result<SessionNames> {
    let (mut names, mut places) = (SessionNames::default(), Vec::new());
    let mut statement =
        connection.prepare_cached("SELECT agent, session, short, project, stand_in, repository FROM session_rows WHERE NOT gone")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(agent) = agent(text(row, 0)?) {
            names.shorts.insert((agent, text(row, 1)?.into()), text(row, 2)?.into());
            places.push(place(row, 3)?);
        }
    }
    names.checkouts = Checkouts::of(&places);
    Ok(names)
}

/// A session as the catalogue describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionInfo {
    pub(crate) id: i64,
    pub(crate) fingerprint: u64,
    pub(crate) gone: bool,
}

/// The key of a session in [`sessions`].
pub(crate) fn session_key(agent: &str, session: &str) -> String {
    // No agent's name has a NUL, so two different sessions never share a key.
    format!("{agent}\0{session}")
}

/// The sessions, by agent and id.
pub(crate) fn sessions(connection: &Connection) -> rusqlite::Result<Map<String, SessionInfo>> {
    let mut statement = connection.prepare_cached("SELECT agent, session, id, fingerprint, gone FROM session_rows")?;
    let rows = statement.query_map([], |row| {
        let info = SessionInfo { id: row.get(2)?, fingerprint: row.get::<_, i64>(3)?.cast_unsigned(), gone: row.get(4)? };
        Ok((session_key(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?), info))
    })?;
    rows.collect()
}

/// Collects the facts of the requests of all sessions that a source belongs to.
pub(crate) fn request_facts(connection: &Connection, source: i64, known: &mut RequestFactsCache) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT c.call, c.digest, c.tool, c.status, c.reason, c.exit_code, c.background IS NOT NULL, c.exit_of, c.masked, c.purpose,
           c.about, c.cwd, c.replacement_line, c.replacement_start, c.replacement_end, c.command, c.path
         FROM session_source_rows l JOIN call_rows c ON c.id >= l.session << ?2 AND c.id < (l.session + 1) << ?2
         WHERE l.source = ?1 AND c.digest <> 0",
    )?;
    // A digest of 0 marks a request that could not be read: nothing is known of it.
    let mut rows = statement.query(params![source, schema::SHIFT])?;
    while let Some(row) = rows.next()? {
        let basis = RequestBasis {
            tool: row.get(2)?,
            cwd: row.get(11)?,
            status: Some(word(row, 3, Status::of_word)?),
            reason: optional(row, 4, Reason::of_word)?,
            exit_code: row.get(5)?,
            background: row.get(6)?,
            replacement: replacement(row, 12)?,
        };
        let facts = RequestFacts {
            basis,
            exit_of: row.get(7)?,
            masked: json(row, 8)?,
            purpose: optional(row, 9, Purpose::of_word)?,
            about: row.get(10)?,
            command: row.get(15)?,
            path: row.get(16)?,
        };
        known.insert((row.get::<_, String>(0)?.into(), row.get::<_, i64>(1)?.cast_unsigned()), facts);
    }
    Ok(())
}
