//! The catalogue's file: opened, checked, made anew when it is not what it should be.
//!
//! It is a cache. Whatever is wrong with it, it is thrown away and filled again from the logs; nobody is asked. Several processes may
//! use it at once: readers never wait, and what a refresh writes is seen all at once or not at all.

mod column;
mod kept;
pub(crate) mod read;
mod schema;
mod summaries;
mod write;

pub use kept::{Picked, Spots};
pub(crate) use summaries::{pack, unpack};
pub(crate) use write::{Ids, NewSource, Stamp, Writer};

use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What can go wrong with the catalogue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be used.
    #[error("cannot use the catalogue `{}`: {error}; it may be deleted, it is made again from the logs", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// Why.
        error: rusqlite::Error,
    },
    /// Its directory cannot be made.
    #[error("cannot make the directory `{}`: {error}; choose another one with TOOLTRAIL_CACHE", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// How long a process waits for another one that writes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The catalogue.
#[derive(Debug)]
pub struct Catalogue {
    pub(crate) connection: Connection,
    path: PathBuf,
}

/// The name of the catalogue of some directories; nothing for the agents' own places. Catalogues of different directories never mix.
pub fn file_name(roots: &[PathBuf]) -> String {
    if roots.is_empty() {
        return format!("catalogue-{}.db", schema::VERSION);
    }
    let mut key = Vec::new();
    for root in roots {
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.clone());
        key.extend_from_slice(root.as_os_str().as_encoded_bytes());
        key.push(0);
    }
    format!("catalogue-{}-{:016x}.db", schema::VERSION, xxhash_rust::xxh3::xxh3_64(&key))
}

impl Catalogue {
    /// Opens the catalogue in a file, or begins an empty one.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if let Some(directory) = path.parent() {
            make_private(directory).map_err(|error| Error::Directory { path: directory.to_owned(), error })?;
        }
        let first = match connect(path) {
            Ok(connection) => return Ok(Catalogue { connection, path: path.to_owned() }),
            // Another process is at work on it: it is not damaged.
            Err(error) if is_busy(&error) => return Err(Error::Store { path: path.to_owned(), error }),
            Err(error) => error,
        };
        remove(path);
        let connection = connect(path).map_err(|_| Error::Store { path: path.to_owned(), error: first })?;
        Ok(Catalogue { connection, path: path.to_owned() })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another connection to the same file that cannot write.
    pub fn reader(&self) -> Result<Connection, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = Connection::open_with_flags(&self.path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            Ok(connection)
        };
        open().map_err(|error| self.failed(error))
    }

    /// Throws everything away, for a file that turned out to be damaged while it was used.
    pub(crate) fn start_over(&mut self) -> Result<(), Error> {
        // The old file is closed first.
        self.connection = Connection::open_in_memory().map_err(|error| self.failed(error))?;
        remove(&self.path);
        self.connection = connect(&self.path).map_err(|error| self.failed(error))?;
        Ok(())
    }

    pub(crate) fn failed(&self, error: rusqlite::Error) -> Error {
        Error::Store { path: self.path.clone(), error }
    }
}

/// Whether an error means that the file is not what it should be.
pub(crate) fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as E;
    matches!(error.sqlite_error_code(), Some(E::DatabaseCorrupt | E::NotADatabase))
        || matches!(error, rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as E;
    matches!(error.sqlite_error_code(), Some(E::DatabaseBusy | E::DatabaseLocked))
}

/// Makes a directory that only its owner can look into: what was said in sessions is private.
fn make_private(directory: &Path) -> std::io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

fn remove(path: &Path) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = OsString::from(path);
        name.push(ending);
        // What cannot be removed shows when the file is opened again.
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    #[cfg(unix)]
    {
        // Only its owner may read it. If it cannot be made, opening it says why.
        use std::os::unix::fs::OpenOptionsExt;
        drop(fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path));
    }
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    // A refresh that is cut off leaves the last one in place. Losing the newest to a power cut costs nothing but reading logs again.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -64 * 1024)?;
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    connection.set_prepared_statement_cache_capacity(64);
    let version = |connection: &Connection| connection.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0));
    if version(&connection)? == schema::VERSION {
        return Ok(connection);
    }
    // Whoever comes first makes the tables; the others wait for them here.
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let made = match version(&connection)? {
        schema::VERSION => Ok(()),
        0 => connection
            .execute_batch(schema::TABLES)
            .and_then(|()| connection.execute_batch(schema::VIEWS))
            .and_then(|()| connection.execute_batch(&schema::timed_views(false)))
            .and_then(|()| connection.pragma_update(None, "user_version", schema::VERSION)),
        _ => Err(rusqlite::Error::InvalidQuery),
    };
    connection.execute_batch(if made.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    made.map(|()| connection)
}
