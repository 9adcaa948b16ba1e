//! What a refresh has to know of what is stored already.

use super::column::{count, json, optional, time, word};
use super::schema;
use super::write::Stamp;
use crate::Map;
use crate::rows::{From, Known, Told};
use rusqlite::{Connection, OptionalExtension, params};
use tooltrail_model::shell::Purpose;
use tooltrail_model::{Reason, Status, Time};

/// How often the catalogue was written.
pub(crate) fn epoch(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT value FROM meta WHERE key = 'epoch'")?.query_row([], |row| row.get(0))
}

/// What the catalogue knows of a source.
#[derive(Clone, Debug)]
pub(crate) struct SourceInfo {
    pub(crate) id: i64,
    pub(crate) agent: Option<String>,
    pub(crate) stamp: Stamp,
    pub(crate) modified: Option<Time>,
    /// Whether it was there when it was last looked for.
    pub(crate) gone: bool,
}

/// The sources, by path.
pub(crate) fn sources(connection: &Connection) -> rusqlite::Result<Map<String, SourceInfo>> {
    let mut statement =
        connection.prepare_cached("SELECT path, id, agent, size, mtime_ns, identity, modified_us, gone FROM source_rows")?;
    let rows = statement.query_map([], |row| {
        let stamp = Stamp { size: count(row, 3)?, mtime_ns: row.get(4)?, identity: row.get::<_, i64>(5)?.cast_unsigned() };
        let info = SourceInfo { id: row.get(1)?, agent: row.get(2)?, stamp, modified: time(row, 6)?, gone: row.get(7)? };
        Ok((row.get(0)?, info))
    })?;
    rows.collect()
}

/// The packed summary of a source.
pub(crate) fn summary(connection: &Connection, source: i64) -> rusqlite::Result<Option<Vec<u8>>> {
    connection.prepare_cached("SELECT summary FROM summary_rows WHERE source = ?1")?.query_row([source], |row| row.get(0)).optional()
}

/// What the catalogue knows of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionInfo {
    pub(crate) id: i64,
    pub(crate) fingerprint: u64,
    pub(crate) gone: bool,
}

/// What a session is found by.
pub(crate) fn session_key(agent: &str, session: &str) -> String {
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

/// What the commands of all sessions told that a source belongs to.
pub(crate) fn told(connection: &Connection, source: i64, known: &mut Known) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT c.call, c.digest, c.tool, c.status, c.reason, c.exit_code, c.background IS NOT NULL, c.exit_of, c.masked, c.purpose
         FROM session_source_rows l JOIN call_rows c ON c.id >= l.session << ?2 AND c.id < (l.session + 1) << ?2
         WHERE l.source = ?1 AND c.kind = 'shell'",
    )?;
    let mut rows = statement.query(params![source, schema::SHIFT])?;
    while let Some(row) = rows.next()? {
        let from = From {
            tool: row.get(2)?,
            status: Some(word(row, 3, Status::of_word)?),
            reason: optional(row, 4, Reason::of_word)?,
            exit_code: row.get(5)?,
            background: row.get(6)?,
        };
        let told = Told { from, exit_of: row.get(7)?, masked: json(row, 8)?, purpose: optional(row, 9, Purpose::of_word)? };
        known.insert((row.get::<_, String>(0)?.into(), row.get::<_, i64>(1)?.cast_unsigned()), told);
    }
    Ok(())
}
