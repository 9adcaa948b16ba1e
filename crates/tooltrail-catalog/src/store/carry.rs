//! Carrying over: sessions that only another catalogue knows are copied into this one.
//!
//! A catalogue of an older schema, of other readers, or with damage is made anew from the logs. Sessions whose logs are gone cannot be, so
//! their rows are copied as they are, in the columns that both files have: what a new schema adds is empty in them. Everything else is
//! left behind, summaries above all, whose bytes only the readers understand that made them.
//!
//! Only sessions that are missing are copied, one at a time, so that it does no harm to try again, and that damage costs no more than the
//! sessions it is in.

use super::PATIENCE;
use super::error::{is_damaged, is_permanent};
use super::schema::{self, SHIFT};
use crate::rows::UNREAD;
use crate::{Map, Set};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params, params_from_iter};
use std::path::Path;

/// The tables with the rows of a session, each with the condition that selects these. The last ones came with a later schema
/// ([`LATER`]).
const TABLES: [(&str, &str); 9] = [
    ("session_rows", "id = ?1"),
    ("session_source_rows", "session = ?1"),
    ("usage_rows", "session = ?1"),
    ("turn_rows", "id >= ?1 << 32 AND id < (?1 + 1) << 32"),
    ("call_rows", "id >= ?1 << 32 AND id < (?1 + 1) << 32"),
    ("copy_rows", "id >= ?1 << 32 AND id < (?1 + 1) << 32"),
    ("detail_rows", "session = ?1"),
    ("content_rows", "id >= ?1 << 32 AND id < (?1 + 1) << 32"),
    ("request_rows", "id >= ?1 << 32 AND id < (?1 + 1) << 32"),
];

/// Tables that older files do not have, each with the schema that it came with.
const LATER: [(&str, u32); 3] = [("detail_rows", 6), ("content_rows", 6), ("request_rows", 6)];

/// Sessions that were taken over from another catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CarriedSessions {
    /// How many were copied.
    pub(super) copied: usize,
    /// How many could not be read, as far as they can be counted.
    pub(super) unreadable: usize,
    /// Whether rows are missing besides: the list of sessions broke off, or a table is not there.
    pub(super) is_torn: bool,
}

/// The reason why nothing was carried over.
#[derive(Debug)]
pub(super) enum CarryError {
    /// The other file cannot be read.
    Other(rusqlite::Error),
    /// Ours cannot be written. What was begun in it has to be taken back.
    Own(rusqlite::Error),
}

/// The rows of one session in another file.
struct SessionRows {
    /// For each of [`TABLES`], the columns that both files have, and the rows.
    tables: Vec<(Vec<String>, Vec<Vec<Value>>)>,
    /// The sources that they name, by their numbers there.
    sources: Map<i64, Vec<Value>>,
}

/// Another catalogue, open to be copied from.
struct OtherCatalogue {
    connection: Connection,
    /// For each of [`TABLES`], and at last for `source_rows`, the columns that both files have.
    columns: Vec<Vec<String>>,
    /// Whether a table is missing that a file of its schema has.
    is_torn: bool,
}

/// Copies the sessions without logs that only another file knows. The caller commits.
pub(super) fn carry(own: &Connection, other: &Path) -> Result<CarriedSessions, CarryError> {
    // A read that failed for a passing reason can look like damage, so damage is believed only the second time.
    match attempt(own, other, Tolerance::Strict) {
        Ok(first) if first.unreadable > 0 || first.is_torn => {
            attempt(own, other, Tolerance::Lenient).map(|second| CarriedSessions { copied: first.copied + second.copied, ..second })
        }
        Err(CarryError::Other(error)) if is_permanent(&error) => attempt(own, other, Tolerance::Lenient),
        outcome => outcome,
    }
}

/// What happens to a session whose calls, turns or tokens are damaged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tolerance {
    /// It is left out.
    Strict,
    /// It is copied without these.
    Lenient,
}

fn attempt(own: &Connection, other: &Path, tolerance: Tolerance) -> Result<CarriedSessions, CarryError> {
    let Some(other) = OtherCatalogue::open(own, other)? else { return Ok(CarriedSessions::default()) };
    // A table that is missing is damage that SQLite does not see; the rest is worth having.
    let mut carried = CarriedSessions { is_torn: other.is_torn, ..CarriedSessions::default() };
    let sessions = other.sessions(&mut carried).map_err(CarryError::Other)?;
    let mut known = own.prepare("SELECT 1 FROM session_rows WHERE agent = ?1 AND session = ?2").map_err(CarryError::Own)?;
    for (id, agent, session, gone) in sessions {
        if known.exists(params![agent, session]).map_err(CarryError::Own)? {
            continue;
        }
        // All of it is read before any of it is written: a draft has no journal that could take half a session back.
        match other.read(id, gone, tolerance, &mut carried.is_torn) {
            Ok(Some(rows)) => {
                other.write(own, &rows).map_err(CarryError::Own)?;
                carried.copied += 1;
            }
            Ok(None) => {}
            Err(error) if is_permanent(&error) => carried.unreadable += 1,
            Err(error) => return Err(CarryError::Other(error)),
        }
    }
    Ok(carried)
}

impl OtherCatalogue {
    /// Opens a file; nothing if its schema is not one that can be copied from.
    fn open(own: &Connection, path: &Path) -> Result<Option<Self>, CarryError> {
        let open = || {
            // A connection of its own: attached to another one, a file whose views name `main` counts as damaged.
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(PATIENCE)?;
            connection.execute_batch("BEGIN")?;
            let schema = schema::schema_number(&connection)?;
            Ok((schema::OLDEST..=schema::VERSION).contains(&schema).then_some((connection, schema)))
        };
        let Some((connection, schema)) = open().map_err(CarryError::Other)? else { return Ok(None) };
        let (mut shared, mut is_torn) = (Vec::<Vec<String>>::new(), false);
        for table in TABLES.iter().map(|(table, _)| *table).chain(["source_rows"]) {
            let ours = columns(own, table).map_err(CarryError::Own)?;
            let theirs = columns(&connection, table).map_err(CarryError::Other)?;
            let is_later = LATER.iter().any(|(later, since)| *later == table && *since > schema);
            is_torn |= theirs.is_empty() && !is_later;
            shared.push(theirs.into_iter().filter(|column| ours.contains(column)).collect());
        }
        Ok(Some(OtherCatalogue { connection, columns: shared, is_torn }))
    }

    /// Its sessions: number, agent, id, and whether it says that they are gone.
    fn sessions(&self, carried: &mut CarriedSessions) -> rusqlite::Result<Vec<(i64, String, String, bool)>> {
        let (mut found, mut seen) = (Vec::new(), Set::default());
        // Where damage ends the list, the rest of it is read from its other end.
        for order in ["ASC", "DESC"] {
            let mut statement =
                self.connection.prepare(&format!("SELECT id, agent, session, gone FROM session_rows ORDER BY id {order}"))?;
            let mut rows = statement.query([])?;
            let torn = loop {
                match rows.next() {
                    Ok(Some(row)) => match session(row) {
                        Ok(session) if seen.insert(session.0) => found.push(session),
                        Ok(_) => {}
                        Err(_) => carried.unreadable += 1,
                    },
                    Ok(None) => break false,
                    Err(error) if is_damaged(&error) => break true,
                    Err(error) => return Err(error),
                }
            };
            carried.is_torn |= torn;
            if !torn {
                break;
            }
        }
        Ok(found)
    }

    /// The rows of a session; nothing if one of its logs is still there, so that it can be read from that.
    fn read(&self, session: i64, gone: bool, tolerance: Tolerance, torn: &mut bool) -> rusqlite::Result<Option<SessionRows>> {
        // An agent may have deleted logs since the other file was written.
        if !gone && self.has_logs(session)? {
            return Ok(None);
        }
        let (mut tables, mut sources) = (Vec::new(), Map::default());
        for ((table, condition), columns) in TABLES.iter().zip(&self.columns) {
            let rows = match self.rows(table, condition, columns, session) {
                Err(error) if tolerance == Tolerance::Lenient && *table != "session_rows" && is_damaged(&error) => {
                    *torn = true;
                    Vec::new()
                }
                rows => rows?,
            };
            let named = columns.iter().enumerate().filter(|(_, column)| is_source(column)).map(|(place, _)| place);
            for source in named.flat_map(|place| rows.iter().filter_map(move |row| integer(row.get(place)?))) {
                if !sources.contains_key(&source) {
                    let columns = self.columns.last().map_or(&[][..], Vec::as_slice);
                    sources.extend(self.rows("source_rows", "id = ?1", columns, source)?.into_iter().map(|row| (source, row)));
                }
            }
            tables.push((columns.clone(), rows));
        }
        Ok(Some(SessionRows { tables, sources }))
    }

    fn has_logs(&self, session: i64) -> rusqlite::Result<bool> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT f.path FROM session_source_rows l JOIN source_rows f ON f.id = l.source WHERE l.session = ?1")?;
        let mut rows = statement.query([session])?;
        while let Some(row) = rows.next()? {
            if Path::new(&row.get::<_, String>(0)?).exists() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rows(&self, table: &str, condition: &str, columns: &[String], key: i64) -> rusqlite::Result<Vec<Vec<Value>>> {
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.connection.prepare_cached(&format!("SELECT {} FROM {table} WHERE {condition}", quoted(columns)))?;
        let mut rows = statement.query([key])?;
        let mut read = Vec::new();
        while let Some(row) = rows.next()? {
            read.push((0..columns.len()).map(|column| row.get(column)).collect::<rusqlite::Result<_>>()?);
        }
        Ok(read)
    }

    /// Writes the rows of a session into another file, under numbers that are free there.
    fn write(&self, own: &Connection, session: &SessionRows) -> rusqlite::Result<()> {
        let mut sources = Map::default();
        for (id, row) in &session.sources {
            sources.insert(*id, self.put_source(own, row)?);
        }
        let id: i64 = own.query_row("SELECT coalesce(max(id), 0) + 1 FROM session_rows", [], |row| row.get(0))?;
        for ((table, _), (columns, rows)) in TABLES.iter().zip(&session.tables) {
            if rows.is_empty() {
                continue;
            }
            let mut insert = own.prepare_cached(&insertion(table, columns))?;
            for row in rows {
                let values = columns.iter().zip(row).map(|(column, value)| renumbered(table, column, value, id, &sources));
                insert.execute(params_from_iter(values))?;
            }
        }
        // Found again, all of this is read and written like something new: nothing may pass for what these readers would say.
        own.execute("UPDATE session_rows SET gone = 1, fingerprint = ?2 WHERE id = ?1", params![id, UNREAD.cast_signed()])?;
        own.execute("UPDATE call_rows SET digest = 0 WHERE id >= ?1 << 32 AND id < (?1 + 1) << 32", [id])?;
        Ok(())
    }

    /// The number of a source in another file, which learns of it if it does not know it.
    fn put_source(&self, own: &Connection, row: &[Value]) -> rusqlite::Result<i64> {
        let columns = self.columns.last().map_or(&[][..], Vec::as_slice);
        let cells = || columns.iter().zip(row).filter(|(column, _)| *column != "id");
        let path = columns.iter().position(|column| column == "path").and_then(|place| row.get(place));
        let known = own.prepare_cached("SELECT id FROM source_rows WHERE path = ?1")?.query_row([path], |row| row.get(0)).optional()?;
        if let Some(known) = known {
            return Ok(known);
        }
        let names: Vec<String> = cells().map(|(column, _)| column.clone()).collect();
        own.prepare_cached(&insertion("source_rows", &names))?.execute(params_from_iter(cells().map(|(_, value)| value)))?;
        let id = own.last_insert_rowid();
        own.execute("UPDATE source_rows SET gone = 1, bundle = 0 WHERE id = ?1", [id])?;
        Ok(id)
    }
}

fn session(row: &Row<'_>) -> rusqlite::Result<(i64, String, String, bool)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

/// Whether a column holds the number of a source.
fn is_source(column: &str) -> bool {
    column == "source" || column.ends_with("_source")
}

/// A value with the numbers of sessions and sources replaced by ours.
fn renumbered(table: &str, column: &str, value: &Value, session: i64, sources: &Map<i64, i64>) -> Value {
    const PLACE: i64 = (1 << SHIFT) - 1;
    match (column, value) {
        ("id", Value::Integer(_)) if table == "session_rows" => Value::Integer(session),
        ("id", Value::Integer(id)) => Value::Integer((session << SHIFT) | (id & PLACE)),
        ("session", Value::Integer(_)) if table != "session_rows" => Value::Integer(session),
        (column, Value::Integer(source)) if is_source(column) => Value::Integer(sources.get(source).copied().unwrap_or_default()),
        _ => value.clone(),
    }
}

fn integer(value: &Value) -> Option<i64> {
    if let Value::Integer(number) = value { Some(*number) } else { None }
}

fn quoted(columns: &[String]) -> String {
    columns.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn insertion(table: &str, columns: &[String]) -> String {
    format!("INSERT INTO {table}({}) VALUES ({})", quoted(columns), vec!["?"; columns.len()].join(", "))
}

/// The columns of a table; none if there is no such table.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}
