//! Databases in which agents keep sessions, read as if each session were a log of lines.
//!
//! A format describes its database by a few statements ([`Queries`]); the session of a database is then a source like any other. Its
//! records are one JSON object a line, made of the rows in a fixed order: the row's name first, the columns beside the data, the fields
//! of the data. So the same rows always give the same bytes, and spans, searches and copies work as they do for files.
//!
//! A database is never changed and never locked for longer than it takes to read a session:
//! - with a write-ahead log and its index beside it, it is opened read-only, the index too, and read in one transaction;
//! - with a write-ahead log or a journal alone, a private copy of both is opened, because SQLite would have to write to use them;
//! - otherwise it is opened as a file that does not change.
//!
//! What comes out of a database is hostile: its schema is not trusted, only ordinary tables count, and statements have a time limit.

use crate::{FORMATS, Format};
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tooltrail_model::position::{part_address, split_address};
use xxhash_rust::xxh3::xxh3_64;

/// How a database of some agent is read, as statements of SQLite.
#[derive(Debug)]
pub struct Queries {
    /// The tables by which a database is recognised as this agent's.
    pub tables: &'static [&'static str],
    /// The sessions: the key, how many bytes their records have, when they were last written in milliseconds, and whatever else is
    /// different once a session is.
    pub sessions: &'static str,
    /// The records of a session (`?1`), in order: the table of each, as in `rows`, and its key.
    pub records: &'static str,
    /// For each table the row of a key (`?1`) as two columns: `head`, a JSON object of what the row has beside its data, and `data`,
    /// the JSON that the agent stored.
    pub rows: &'static [(&'static str, &'static str)],
}

/// A session of a database, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionPart {
    /// The address of the source.
    pub(crate) address: PathBuf,
    /// How many bytes its records have, roughly.
    pub(crate) size: u64,
    /// When it was last written.
    pub(crate) modified: Option<SystemTime>,
    /// A fingerprint of what the database says about it.
    pub(crate) identity: u64,
}

/// How long one reading may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// How many steps SQLite takes between two looks at the clock.
const STEPS: i32 = 100_000;
/// The longest data that is read; longer is named, not read.
const LONGEST: u64 = 32 << 20;
/// A larger database is not copied.
const LARGEST_COPY: u64 = 4 << 30;
/// How much is read ahead.
const CHUNK: usize = 64 * 1024;

/// A private copy of a database, removed once its last reader is dropped.
#[derive(Debug)]
pub struct PrivateCopy {
    /// Path of the original, and its mark at the time of the copy.
    of: (PathBuf, u64),
    directory: TempDir,
}

/// Copies in use. Weak, so that the sessions of a database, opened one after the other, share a copy and the last one removes it.
static COPIES: Mutex<Vec<Weak<PrivateCopy>>> = Mutex::new(Vec::new());

/// An open database.
struct Database {
    connection: Connection,
    queries: &'static Queries,
    format: &'static dyn Format,
    copy: Option<Arc<PrivateCopy>>,
}

/// The database and the session of an address; nothing for the address of a file.
pub(crate) fn part_of(address: &Path) -> Option<(PathBuf, String)> {
    // An address is text, so a path that is not valid UTF-8 can only be a plain file.
    let (file, part) = split_address(address.to_str()?);
    Some((PathBuf::from(file), part?))
}

/// Whether a file is a database by its name.
pub(crate) fn is_database_name(path: &Path) -> bool {
    let usual = path.extension().is_some_and(|ending| ["db", "sqlite", "sqlite3"].iter().any(|usual| ending == *usual));
    // No agent hides its database; a hidden file is a backup or a temporary one.
    usual && path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))
}

/// The sessions of a database.
pub(crate) struct SessionList {
    pub(crate) parts: Vec<SessionPart>,
    /// The private copy that they were read from, if there had to be one: as long as it is held, it is not made again.
    pub(crate) copy: Option<Arc<PrivateCopy>>,
}

/// The sessions of a database; nothing if it is no known agent's.
pub(crate) fn sessions(path: &Path) -> io::Result<Option<SessionList>> {
    let Some(database) = Database::open(path)? else { return Ok(None) };
    let parts = database.sessions(path).map_err(io::Error::other)?;
    Ok(Some(SessionList { parts, copy: database.copy }))
}

/// One session of a database as it is now.
pub(crate) fn session(address: &Path) -> io::Result<SessionPart> {
    let (file, _) = part_of(address).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let list = sessions(&file)?.ok_or_else(unknown)?;
    list.parts.into_iter().find(|part| part.address == address).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// A number that changes whenever a database or a file that SQLite keeps beside it is written.
pub(crate) fn mark(path: &Path) -> io::Result<(fs::Metadata, u64)> {
    let meta = fs::metadata(path)?;
    // A commit goes to the write-ahead log first: the main file alone may look untouched for hours. The `-shm` index is left out, because
    // readers write to it.
    let files = [Some(meta.clone()), beside(path, "-wal"), beside(path, "-journal")];
    let mix = |all: u64, part: u64| (all ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let number = |meta: &fs::Metadata| mix(crate::find::identity(meta), meta.len());
    Ok((meta, files.iter().fold(1, |all, meta| mix(all, meta.as_ref().map_or(0, number)))))
}

/// The path of a file that SQLite keeps beside a database.
fn companion(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// A file beside a database that has something in it.
fn beside(path: &Path, ending: &str) -> Option<fs::Metadata> {
    fs::metadata(companion(path, ending)).ok().filter(|meta| meta.is_file() && meta.len() > 0)
}

fn unknown() -> io::Error {
    io::Error::other("it is not a database of an agent that is known")
}

/// Opens a file of SQLite by the rules above. A private copy has to be held for as long as the connection is used.
pub(crate) fn connect(path: &Path) -> io::Result<(Connection, Option<Arc<PrivateCopy>>)> {
    // The file is never opened as a file here: closing it again would let go of the locks that SQLite holds on it for another thread.
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    // An empty `-wal` or `-journal` is what a clean shutdown leaves behind; `beside` counts only files with content.
    let (wal, index) = (beside(path, "-wal").is_some(), beside(path, "-shm").is_some());
    let copy = if (wal && !index) || beside(path, "-journal").is_some() { Some(private_copy(path)?) } else { None };
    let connection = match &copy {
        // The copy is ours: SQLite may put the log and the file together.
        Some(copy) => Connection::open_with_flags(copy.directory.path().join("copy.db"), flags(OpenFlags::SQLITE_OPEN_READ_WRITE)),
        // The index is not written to either: SQLite would note in it which part of the log is being read.
        None if wal => Connection::open_with_flags(address(path, "mode=ro&readonly_shm=1"), flags(OpenFlags::SQLITE_OPEN_READ_ONLY)),
        // Without a log nothing is pending, so it is read as a file that does not change: SQLite takes no locks and creates no files.
        None => Connection::open_with_flags(address(path, "mode=ro&immutable=1"), flags(OpenFlags::SQLITE_OPEN_READ_ONLY)),
    };
    Ok((connection.and_then(harden).map_err(io::Error::other)?, copy))
}

impl Database {
    /// Opens a database; nothing if it is no known agent's.
    fn open(path: &Path) -> io::Result<Option<Self>> {
        let (connection, copy) = connect(path)?;
        let found = recognise(&connection).map_err(io::Error::other)?;
        Ok(found.map(|(format, queries)| Database { connection, queries, format, copy }))
    }

    fn sessions(&self, path: &Path) -> rusqlite::Result<Vec<SessionPart>> {
        let Some(file) = path.to_str() else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare(self.queries.sessions)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        let mut parts = Vec::new();
        while let Some(row) = rows.next()? {
            // A key that is no text names nothing that could be asked for.
            let Ok(key) = row.get::<_, String>(0) else { continue };
            // Every column counts, also those that only exist to show a change: the statement decides what makes a session different.
            let mut print = Vec::new();
            for column in 0..columns {
                stamp(row.get_ref(column)?, &mut print);
            }
            // Negative or fractional values come from a damaged database; the session is listed all the same.
            let millis = row.get::<_, i64>(2).ok().and_then(|millis| u64::try_from(millis).ok());
            parts.push(SessionPart {
                address: PathBuf::from(part_address(file, &key)),
                size: row.get::<_, i64>(1).ok().and_then(|size| u64::try_from(size).ok()).unwrap_or(0),
                modified: millis.and_then(|millis| SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis))),
                identity: xxh3_64(&print),
            });
        }
        Ok(parts)
    }
}

/// Adds a value to what is fingerprinted.
fn stamp(value: ValueRef<'_>, print: &mut Vec<u8>) {
    match value {
        ValueRef::Null => print.push(0),
        ValueRef::Integer(number) => print.extend(number.to_le_bytes()),
        ValueRef::Real(number) => print.extend(number.to_le_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            // The length in front keeps ("ab", "c") and ("a", "bc") apart.
            print.extend((bytes.len() as u64).to_le_bytes());
            print.extend(bytes);
        }
    }
}

fn flags(way: OpenFlags) -> OpenFlags {
    way | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// The path of a database as SQLite's own kind of address, which says how it is opened.
fn address(path: &Path, how: &str) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut address = String::from("file:");
    // SQLite reads `?`, `#` and `%` in such an address as syntax, so everything but plain characters is escaped byte by byte.
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("{address}?{how}")
}

/// Makes a connection safe to use on a database of unknown origin.
fn harden(mut connection: Connection) -> rusqlite::Result<Connection> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // A hostile schema can make a short statement run for hours, so the clock is checked while SQLite works.
    let until = Instant::now() + PATIENCE;
    connection.progress_handler(STEPS, Some(move || Instant::now() > until))?;
    // An agent that commits holds its lock for milliseconds; waiting two seconds avoids a false failure.
    connection.busy_timeout(Duration::from_secs(2))?;
    connection.execute_batch("PRAGMA query_only=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;")?;
    Ok(connection)
}

/// The agent whose database it is, recognised by its tables.
fn recognise(connection: &Connection) -> rusqlite::Result<Option<(&'static dyn Format, &'static Queries)>> {
    for format in FORMATS {
        let Some(queries) = format.database() else { continue };
        if has_tables(connection, queries.tables)? {
            return Ok(Some((*format, queries)));
        }
    }
    Ok(None)
}

/// Whether a database has some tables. A view or a virtual table may run anything, so only ordinary tables count.
pub(crate) fn has_tables(connection: &Connection, names: &[&str]) -> rusqlite::Result<bool> {
    let mut table =
        connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND sql NOT LIKE 'CREATE VIRTUAL%'")?;
    let mut all = true;
    for name in names {
        all &= table.exists([name])?;
    }
    Ok(all)
}

/// A copy of a database and of the log beside it, or the one that is read already.
fn private_copy(path: &Path) -> io::Result<Arc<PrivateCopy>> {
    let (meta, number) = mark(path)?;
    let of = (path.to_owned(), number);
    // Held while it is copied, so that threads which want the same one wait for it.
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    copies.retain(|copy| copy.strong_count() > 0);
    if let Some(copy) = copies.iter().filter_map(Weak::upgrade).find(|copy| copy.of == of) {
        return Ok(copy);
    }
    // The copy takes space in the temporary directory; refusing beats filling the disk.
    let size = meta.len() + beside(path, "-wal").map_or(0, |meta| meta.len());
    if size > LARGEST_COPY {
        return Err(io::Error::other(format!("it has a write-ahead log without an index, and {size} bytes are too many to copy")));
    }
    let directory = tempfile::Builder::new().prefix("tooltrail-database-").tempdir()?;
    for ending in ["", "-wal", "-journal"] {
        match fs::copy(companion(path, ending), directory.path().join(format!("copy.db{ending}"))) {
            // A log may vanish between the look and the copy, when the agent checkpoints. The main file may not.
            Err(error) if ending.is_empty() || error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let copy = Arc::new(PrivateCopy { of, directory });
    copies.push(Arc::downgrade(&copy));
    Ok(copy)
}

/// The records of a session, one a line. It is read in one transaction, which ends with the reader.
pub(crate) struct RowLines {
    database: Database,
    /// Table, as a place in `Queries::rows`, and key of each record.
    records: Vec<(usize, String)>,
    next: usize,
    buffer: Vec<u8>,
    taken: usize,
}

impl std::fmt::Debug for RowLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowLines")
            .field("agent", &self.database.format.agent())
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

impl RowLines {
    /// Begins to read the session of an address.
    pub(crate) fn open(file: &Path, session: &str) -> io::Result<Self> {
        let database = Database::open(file)?.ok_or_else(unknown)?;
        let records = database.records(session).map_err(io::Error::other)?;
        // A session without a row is one that was deleted since it was listed.
        if records.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(RowLines { database, records, next: 0, buffer: Vec::new(), taken: 0 })
    }

    /// Reads ahead.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.taken = 0;
        // Several rows per refill: most are far smaller than a read of the caller.
        while self.buffer.len() < CHUNK
            && let Some((table, key)) = self.records.get(self.next)
        {
            self.database.line(*table, key, &mut self.buffer).map_err(io::Error::other)?;
            self.next += 1;
        }
        Ok(())
    }
}

impl Read for RowLines {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.buffer.len() {
            self.fill()?;
        }
        let count = (&self.buffer[self.taken..]).read(out)?;
        self.taken += count;
        Ok(count)
    }
}

impl Database {
    /// The records of a session: the table and the key of each. Begins the transaction in which they are read.
    fn records(&self, session: &str) -> rusqlite::Result<Vec<(usize, String)>> {
        // One transaction for the list and all rows: a commit in between cannot mix two states.
        self.connection.execute_batch("BEGIN")?;
        let mut statement = self.connection.prepare(self.queries.records)?;
        let mut rows = statement.query([session])?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            let table: String = row.get(0)?;
            let place = self.queries.rows.iter().position(|(name, _)| *name == table);
            // A key that is no text cannot be asked for again; it is counted as a record that cannot be read.
            let key = String::from_utf8_lossy(row.get_ref(1)?.as_bytes().unwrap_or_default()).into_owned();
            records.extend(place.map(|place| (place, key)));
        }
        Ok(records)
    }

    /// Adds a record as a line.
    fn line(&self, table: usize, key: &str, out: &mut Vec<u8>) -> rusqlite::Result<()> {
        let Some((name, statement)) = self.queries.rows.get(table) else { return Ok(()) };
        // SQLite decides about the length, so that a huge value is never loaded.
        let long =
            format!("SELECT head, CASE WHEN octet_length(data) > {LONGEST} THEN octet_length(data) ELSE data END FROM ({statement})");
        let row = format!("{name}:{key}");
        let begin = out.len();
        let found = self.connection.prepare_cached(&long)?.query_row([key], |columns| {
            let (head, data) = (columns.get_ref(0)?, columns.get_ref(1)?);
            match data {
                ValueRef::Integer(bytes) => out.extend(unread(&row, &format!("has {bytes} bytes"))),
                data => object(&row, head.as_bytes().unwrap_or_default(), data.as_bytes().unwrap_or(b"{}"), out),
            }
            Ok(())
        });
        if found.optional()?.is_none() {
            out.extend(unread(&row, "is not there"));
        }
        // Outside strings a line feed is white space in JSON, and inside strings it is escaped; so a space does as well.
        out[begin..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        out.push(b'\n');
        Ok(())
    }
}

/// A line for a row that is not read: no record, so that it is counted and reported.
fn unread(row: &str, why: &str) -> Vec<u8> {
    serde_json::json!([row, why]).to_string().into_bytes()
}

/// The record of a row: its name, the columns beside the data, the fields of the data.
fn object(row: &str, head: &[u8], data: &[u8], out: &mut Vec<u8>) {
    out.extend(b"{\"row\":");
    out.extend(serde_json::Value::from(row).to_string().into_bytes());
    // Both objects are spliced as text: parsing and printing would change the agent's own spelling of numbers and strings.
    let fields = |object: &'_ [u8]| object.trim_ascii().strip_prefix(b"{").map(|fields| fields.trim_ascii_start().to_vec());
    if let Some(fields) = fields(head).and_then(|fields| fields.strip_suffix(b"}").map(<[u8]>::to_vec)).filter(|fields| !fields.is_empty())
    {
        out.push(b',');
        out.extend(fields);
    }
    match fields(data) {
        Some(fields) if fields == b"}" => out.push(b'}'),
        // Data that breaks off stays as it is, so that the scan reports the line as damaged.
        Some(fields) => {
            out.push(b',');
            out.extend(fields);
        }
        None => {
            // Data that is no object (a string, a list) is kept as text under a name of ours.
            out.extend(b",\"data\":");
            out.extend(serde_json::Value::from(String::from_utf8_lossy(data)).to_string().into_bytes());
            out.push(b'}');
        }
    }
}

/// The row that a line of a database is.
pub(crate) fn row_of(line: &[u8]) -> String {
    // Lines of rows that were not read begin with `[`; see `unread`.
    let rest = line.strip_prefix(b"{\"row\":").or_else(|| line.strip_prefix(b"[")).unwrap_or_default();
    tooltrail_skim::Skim::new(rest).string().map(|name| name.text().into_owned()).unwrap_or_default()
}
