//! The catalogue's file: opened, checked, and made again when it is damaged or outdated.
//!
//! It is a cache: whatever is wrong with it, it is filled again from the logs, without asking. It alone knows one thing: sessions whose
//! logs are gone. So a file is never deleted because of an error. One that SQLite calls damaged, one of an older schema and one of other
//! readers are set aside (`aside`), and a new one takes these sessions over (`carry`). One of a newer schema is not touched at all. Any
//! other error, such as a full disk, leaves the file as it is, and the caller reads the logs. Several processes may use it at once:
//! readers never wait, and what a refresh writes is seen all at once or not at all.

mod aside;
mod call_rows;
mod carry;
mod column;
mod conditions;
pub(crate) mod details;
mod error;
pub(crate) mod failures;
mod files;
mod keys;
mod leftovers;
mod listing;
pub(crate) mod read;
mod rebuild;
mod schema;
mod summaries;
mod write;

pub use call_rows::CallSpans;
pub(crate) use error::is_damaged;
pub use error::{CatalogueError, Repair};
pub use files::file_name;
pub use keys::{CallKey, Figure, KeyReader};
pub use leftovers::Recovery;
pub use listing::{ListedCall, SessionListing};
pub use rebuild::{FileCondition, inspect};
pub use summaries::SummaryError;
pub(crate) use summaries::{Packed, may_have, pack, pack_nodes, pack_ties, unpack};
pub(crate) use write::is_cut;
pub(crate) use write::{CatalogueWriter, FileStamp, NewSource, SourceIds};

use error::is_sound;
use files::{remove, touch, with_ending};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use schema::Provenance;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing::{debug, warn};

/// How long a process waits for another one that writes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The catalogue.
#[derive(Debug)]
pub struct Catalogue {
    pub(crate) connection: Connection,
    path: PathBuf,
    /// The file that is being filled for the first time, before it gets its name.
    draft: Option<Draft>,
    /// Whether the draft took over sessions of another file.
    has_carried: bool,
    /// The damage that was repaired, for whoever uses the catalogue to report.
    recovery: Option<Recovery>,
}

/// A file that is filled without regard to what happens if that breaks off: then it is thrown away.
#[derive(Debug)]
struct Draft {
    path: PathBuf,
}

impl Drop for Draft {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

impl Catalogue {
    /// Opens the catalogue in a file, or begins an empty one. If a newer version has made the file, another one beside it is used.
    pub fn open(path: &Path) -> Result<Self, CatalogueError> {
        if let Some(directory) = path.parent() {
            make_private(directory).map_err(|error| CatalogueError::Directory { path: directory.to_owned(), error })?;
        }
        for path in [path, &with_ending(path, &format!(".schema-{}", schema::VERSION))] {
            match Catalogue::open_own(path)? {
                Some(catalogue) => return Ok(catalogue),
                None => debug!(?path, "a newer version has made this index"),
            }
        }
        Err(CatalogueError::Newer { path: path.to_owned() })
    }

    /// Opens the catalogue in a file, or begins one; nothing if the file is that of a newer version.
    fn open_own(path: &Path) -> Result<Option<Self>, CatalogueError> {
        let store = |error| CatalogueError::Store { path: path.to_owned(), error };
        let renamed = |error| CatalogueError::Aside { path: path.to_owned(), error };
        let mut damaged = None;
        if is_there(path).map_err(|error| CatalogueError::Hidden { path: path.to_owned(), error })? {
            match connect(path, OpenMode::Shared) {
                Ok((connection, Provenance::Current)) => {
                    touch(path);
                    let path = path.to_owned();
                    let mut catalogue = Catalogue { connection, path, draft: None, has_carried: false, recovery: None };
                    catalogue.take_leftovers();
                    catalogue.sweep();
                    return Ok(Some(catalogue));
                }
                Ok((_, Provenance::Newer(_))) => return Ok(None),
                Ok((connection, _)) => replace_outdated(connection, path).map_err(renamed)?,
                // Looked at twice: what is set aside costs a reading of all logs.
                Err(error) if is_damaged(&error) && !is_sound(path) => {
                    warn!(?path, %error, "the index is damaged");
                    damaged = Some((aside::set_aside(path, aside::DAMAGED).map_err(renamed)?, error.to_string()));
                }
                // A lock, a full disk, a lack of file handles: nothing is wrong with the file.
                Err(error) => return Err(store(error)),
            }
        }
        let mut catalogue = Catalogue::begin(path).map_err(store)?;
        catalogue.recovery = damaged.map(|(file, cause)| Recovery { file, cause, ..Recovery::default() });
        catalogue.take_over().map_err(store)?;
        catalogue.sweep();
        Ok(Some(catalogue))
    }

    /// Begins an empty catalogue in a file of its own.
    fn begin(path: &Path) -> rusqlite::Result<Self> {
        let draft = Draft { path: with_ending(path, &format!(".{}.new", std::process::id())) };
        remove(&draft.path);
        let (connection, _) = connect(&draft.path, OpenMode::Alone)?;
        Ok(Catalogue { connection, path: path.to_owned(), draft: Some(draft), has_carried: false, recovery: None })
    }

    /// Gives a file that was filled for the first time its name. If another process was quicker, the catalogue is the one that has the name,
    /// and has to be refreshed again.
    pub(crate) fn publish(&mut self) -> Result<bool, CatalogueError> {
        let path = self.path.clone();
        let failed = |error| CatalogueError::Store { path: path.clone(), error };
        let Some(draft) = self.draft.take() else { return Ok(true) };
        // Done now, while nothing is waited for: later it would wait until all of the file is on the disk.
        self.connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).map_err(failed)?;
        self.close().map_err(failed)?;
        // What it took over is nowhere else once the other file is removed. All else comes from the logs, and need not be waited for.
        let synced = if self.has_carried { fs::File::open(&draft.path).and_then(|file| file.sync_all()) } else { Ok(()) };
        let named = synced
            .and_then(|()| give_name(&draft.path, &self.path))
            .map_err(|error| CatalogueError::Unnamed { path: self.path.clone(), error })?;
        drop(draft);
        let (connection, provenance) = connect(&self.path, OpenMode::Shared).map_err(failed)?;
        if provenance != Provenance::Current {
            return Err(CatalogueError::Newer { path: self.path.clone() });
        }
        self.connection = connection;
        self.has_carried = false;
        // What the draft took over is in a file with a name only now.
        self.drop_leftovers();
        Ok(named)
    }

    fn close(&mut self) -> rusqlite::Result<()> {
        self.connection = Connection::open_in_memory()?;
        Ok(())
    }

    /// Whether it is new: other processes cannot see it before its first refresh.
    pub fn is_new(&self) -> bool {
        self.draft.is_some()
    }

    /// Whether it has just been begun, with rows that were carried over from an older file.
    pub(crate) fn has_carried(&self) -> bool {
        self.has_carried
    }

    /// The damage that was repaired since the last call, to be reported once.
    pub fn take_recovery(&mut self) -> Option<Recovery> {
        self.recovery.take()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another connection to the same file that cannot write.
    pub fn reader(&self) -> Result<Connection, CatalogueError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let path = self.draft.as_ref().map_or(&self.path, |draft| &draft.path);
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            Ok(connection)
        };
        open().map_err(|error| self.failed(error))
    }

    /// Sets a damaged file aside, so that opening the catalogue begins a new one. Returns its name now.
    pub fn set_aside(path: &Path, damage: &[String]) -> Result<PathBuf, CatalogueError> {
        warn!(?path, ?damage, "the index is damaged");
        aside::set_aside(path, aside::DAMAGED).map_err(|error| CatalogueError::Aside { path: path.to_owned(), error })
    }

    /// Sets the file aside, after it turned out to be damaged while it was used, and begins a new one.
    pub(crate) fn start_over(&mut self, cause: &rusqlite::Error) -> Result<(), CatalogueError> {
        self.close().map_err(|error| self.failed(error))?;
        // A draft has no name yet, so another file may have it, with which nothing is wrong.
        let was_draft = self.draft.take().is_some();
        if is_sound(&self.path) || was_draft {
            *self = Catalogue::open(&self.path)?;
            return Ok(());
        }
        let file = aside::set_aside(&self.path, aside::DAMAGED);
        let file = file.map_err(|error| CatalogueError::Aside { path: self.path.clone(), error })?;
        *self = Catalogue::begin(&self.path).map_err(|error| self.failed(error))?;
        self.recovery = Some(Recovery { file, cause: cause.to_string(), ..Recovery::default() });
        self.take_over().map_err(|error| self.failed(error))
    }

    /// Runs a query, and adds the path of the file to an error.
    pub(crate) fn query<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, CatalogueError> {
        question(&self.connection).map_err(|error| self.failed(error))
    }

    pub(crate) fn failed(&self, error: rusqlite::Error) -> CatalogueError {
        CatalogueError::Store { path: self.path.clone(), error }
    }
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

/// How a file is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenMode {
    /// By several processes; what is written is seen all at once or not at all.
    Shared,
    /// By this one, until it is whole.
    Alone,
}

/// Whether there is a file of this name. An error is not taken for a no: then a new file would take the place of the one that is there.
fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Renames a file of an older schema or of other readers, so that a new one can take its place.
fn replace_outdated(connection: Connection, path: &Path) -> io::Result<()> {
    // Without this the newest rows would stay in the log beside it. If it fails, that is renamed too.
    let _ = connection.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()));
    drop(connection);
    let old = aside::old(path);
    if is_there(&old)? {
        // It may know sessions that could not be taken over yet.
        aside::stamp_old(path)?;
    }
    aside::rename(path, &old)
}

/// Gives a draft its name; returns whether it has it, rather than the file of another process.
fn give_name(draft: &Path, path: &Path) -> io::Result<bool> {
    // Unlike a renamed one, a linked file never takes the place of one that is in use.
    match fs::hard_link(draft, path) {
        Ok(()) => sync_directory(path).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            debug!(?path, "another process has named its index");
            Ok(false)
        }
        // Not every file system has links.
        Err(_) if !is_there(path)? => fs::rename(draft, path).map(|()| true),
        Err(_) => Ok(false),
    }
}

/// Has the names in a file's directory written to the disk.
fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(directory) = path.parent() {
        fs::File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// Opens a file, and makes tables in it if it is empty. A file of a newer schema is left as it is.
fn connect(path: &Path, mode: OpenMode) -> rusqlite::Result<(Connection, Provenance)> {
    #[cfg(unix)]
    {
        // Only its owner may read it. If it cannot be made, opening it says why. One that is there is not opened: closing it again would
        // let go of the locks that this process has on it elsewhere.
        use std::os::unix::fs::OpenOptionsExt;
        drop(fs::OpenOptions::new().create_new(true).append(true).mode(0o600).open(path));
    }
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    if let newer @ Provenance::Newer(_) = schema::provenance(&connection)? {
        // Otherwise closing it would move rows from the log beside it into the file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        return Ok((connection, newer));
    }
    // A refresh that is cut off leaves the last one in place. Losing the newest to a power cut costs nothing but reading logs again.
    let (journal, synchronous) = match mode {
        OpenMode::Shared => ("WAL", "NORMAL"),
        OpenMode::Alone => ("OFF", "OFF"),
    };
    // Counts only for a file that is begun: rows are wide, and large pages take fewer steps to fill.
    connection.pragma_update(None, "page_size", 16 * 1024)?;
    connection.pragma_update_and_check(None, "journal_mode", journal, |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "cache_size", -32 * 1024)?;
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    connection.set_prepared_statement_cache_capacity(64);
    let provenance = make_tables(&connection)?;
    Ok((connection, provenance))
}

/// Makes the tables of an empty file; returns the provenance of the file after that.
fn make_tables(connection: &Connection) -> rusqlite::Result<Provenance> {
    let found = schema::provenance(connection)?;
    if found != Provenance::Empty {
        return Ok(found);
    }
    // The first process makes the tables; others wait here until it is done.
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let made = schema::provenance(connection).and_then(|found| match found {
        Provenance::Empty => schema::make(connection).map(|()| Provenance::Current),
        other => Ok(other),
    });
    connection.execute_batch(if made.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    made
}
