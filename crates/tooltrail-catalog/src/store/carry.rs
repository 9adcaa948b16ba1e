//! Carrying over: sessions that only an older file knows are copied into a new one.
//!
//! A catalogue of an older schema, or of other readers, is made anew from the logs. Sessions whose logs are gone cannot be, so their
//! rows are copied as they are, column by column: what a new schema adds is empty in them. Everything else is left behind, summaries
//! above all, whose bytes only the readers understand that made them.

use super::PATIENCE;
use super::files::{aside, predecessors};
use super::schema::{self, SHIFT};
use crate::rows::UNREAD;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use std::path::Path;

/// The tables whose rows are carried over, with the condition that selects those of the sessions in `temp.carried`.
const TABLES: &[(&str, &str)] = &[
    // All of them: a row of a call may name a source that its session does not. The next refresh removes those that are not needed.
    ("source_rows", "TRUE"),
    ("session_rows", "id IN temp.carried"),
    ("session_source_rows", "session IN temp.carried"),
    ("usage_rows", "session IN temp.carried"),
    ("turn_rows", "id >> ?1 IN temp.carried"),
    ("call_rows", "id >> ?1 IN temp.carried"),
    ("copy_rows", "id >> ?1 IN temp.carried"),
];

/// The rows of an older file, after [`carry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CarriedRows {
    /// There were none that only it knew.
    Nothing,
    /// They are in the new file.
    Rows,
    /// They could not be read. The new file may have half of them, and has to be begun again; the older one is left as it is.
    Failed,
}

/// Copies the sessions that only an older file knows into a new one. `path` is the name that the new file will have.
pub(super) fn carry(new: &mut Connection, path: &Path) -> CarriedRows {
    let older = std::iter::once(aside(path)).chain(predecessors(path)).find(|older| older.is_file());
    let Some(older) = older else { return CarriedRows::Nothing };
    match copy(&older, new) {
        Ok(true) => CarriedRows::Rows,
        Ok(false) => CarriedRows::Nothing,
        // Not worth stopping for: everything but the gone sessions comes from the logs.
        Err(_) => CarriedRows::Failed,
    }
}

/// Copies rows from an older file; returns whether there were any.
fn copy(older: &Path, new: &mut Connection) -> rusqlite::Result<bool> {
    // A connection of its own: attached to another one, a file whose views name `main` counts as damaged.
    let older = Connection::open_with_flags(older, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    older.busy_timeout(PATIENCE)?;
    older.execute_batch("BEGIN")?;
    if !(schema::OLDEST..=schema::VERSION).contains(&schema::schema_number(&older)?) {
        return Ok(false);
    }
    older.execute_batch("CREATE TEMP TABLE carried(id INTEGER PRIMARY KEY)")?;
    let sessions = without_logs(&older)?;
    for session in &sessions {
        older.execute("INSERT OR IGNORE INTO temp.carried VALUES (?1)", [session])?;
    }
    if sessions.is_empty() {
        return Ok(false);
    }
    let transaction = new.transaction()?;
    for (table, condition) in TABLES {
        copy_table(&older, &transaction, table, condition)?;
    }
    // Found again, all of this is read and written like something new: nothing may pass for what these readers would say.
    transaction.execute_batch("UPDATE source_rows SET gone = 1, bundle = 0; UPDATE call_rows SET digest = 0")?;
    transaction.execute("UPDATE session_rows SET gone = 1, fingerprint = ?1", [UNREAD.cast_signed()])?;
    transaction.commit()?;
    Ok(true)
}

/// The sessions of a file whose logs no longer exist.
fn without_logs(older: &Connection) -> rusqlite::Result<Vec<i64>> {
    let mut statement = older.prepare(
        "SELECT s.id, s.gone, f.path FROM session_rows s LEFT JOIN session_source_rows l ON l.session = s.id
           LEFT JOIN source_rows f ON f.id = l.source ORDER BY s.id",
    )?;
    let mut rows = statement.query([])?;
    // Sessions with whether any of their logs is there: an agent may have deleted them since the older file was written.
    let mut sessions: Vec<(i64, bool)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, gone, path): (i64, bool, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let there = !gone && path.is_some_and(|path| Path::new(&path).exists());
        match sessions.last_mut() {
            Some((last, any)) if *last == id => *any |= there,
            _ => sessions.push((id, there)),
        }
    }
    Ok(sessions.into_iter().filter(|(_, there)| !there).map(|(id, _)| id).collect())
}

/// Copies the rows of one table that a condition picks, in the columns that both files have.
fn copy_table(older: &Connection, new: &Connection, table: &str, condition: &str) -> rusqlite::Result<()> {
    let (theirs, ours) = (columns(older, table)?, columns(new, table)?);
    let shared: Vec<String> = theirs.into_iter().filter(|column| ours.contains(column)).map(|name| format!("\"{name}\"")).collect();
    let (list, places) = (shared.join(", "), vec!["?"; shared.len()].join(", "));
    let mut insert = new.prepare(&format!("INSERT INTO {table}({list}) VALUES ({places})"))?;
    let mut select = older.prepare(&format!("SELECT {list} FROM {table} WHERE {condition}"))?;
    let mut rows = if select.parameter_count() == 0 { select.query([])? } else { select.query([SHIFT])? };
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..shared.len()).map(|column| row.get(column)).collect::<rusqlite::Result<_>>()?;
        insert.execute(params_from_iter(values))?;
    }
    Ok(())
}

/// The columns of a table.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}
