//! The catalogue's file: opened, checked, and rebuilt when it is damaged or outdated.
//!
//! It is a cache: whatever is wrong with it, it is filled again from the logs, without asking. It alone knows one thing: sessions whose
//! logs are gone. So a file of an older schema or of other readers is set aside until a new one has taken these over (`carry`), and one
//! of a newer schema is set aside for good. Only a damaged file is removed. Several processes may use it at once: readers never wait,
//! and what a refresh writes is seen all at once or not at all.

mod call_rows;
mod carry;
mod column;
mod files;
mod keys;
mod listing;
pub(crate) mod read;
mod schema;
mod summaries;
mod write;

pub use call_rows::CallSpans;
pub use files::file_name;
pub use keys::{CallKey, CallKeys, Figure};
pub use listing::{ListedCall, SessionListing};
pub use summaries::SummaryError;
pub(crate) use summaries::{Packed, may_have, pack, pack_ties, unpack};
pub(crate) use write::{CatalogueWriter, FileStamp, NewSource, SourceIds};

use carry::CarriedRows;
use files::{aside, remove, rename, sweep, touch, with_ending};
use rusqlite::{Connection, OpenFlags};
use schema::Provenance;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tooltrail_formats::error::ErrorChain;
use tracing::{debug, warn};

/// An error of the catalogue.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The file cannot be used.
    #[error("cannot use the catalogue `{}`, which may be deleted: it is made again from the logs", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: rusqlite::Error,
    },
    /// Its directory cannot be made.
    #[error("cannot make the directory `{}`; choose another one with TOOLTRAIL_CACHE", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// A file of another schema or of other readers cannot be renamed.
    #[error("cannot rename the catalogue `{}`, which another version made: {error}", path.display())]
    Aside {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The stored summary of a log cannot be read.
    #[error("the catalogue `{}` is damaged where it describes `{log}`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The log whose summary it is.
        log: String,
        /// Why the summary is none.
        #[source]
        error: SummaryError,
    },
}

impl CatalogueError {
    /// Removes a catalogue that turned out to be damaged during a query; the next command rebuilds it. Returns whether damage was the
    /// cause of this error.
    pub fn heal(&self) -> bool {
        match self {
            CatalogueError::Store { path, error } if is_damaged(error) => remove(path),
            CatalogueError::Damaged { path, .. } => remove(path),
            _ => return false,
        }
        warn!(error = %ErrorChain(self), "removed a damaged catalogue");
        true
    }
}

/// How long a process waits for another one that writes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The catalogue.
#[derive(Debug)]
pub struct Catalogue {
    pub(crate) connection: Connection,
    path: PathBuf,
    /// The file that is being filled for the first time, before it gets its name.
    draft: Option<Draft>,
    /// The rows of an older file that the draft took over.
    carried: CarriedRows,
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
    /// Opens the catalogue in a file, or begins an empty one.
    pub fn open(path: &Path) -> Result<Self, CatalogueError> {
        if let Some(directory) = path.parent() {
            make_private(directory).map_err(|error| CatalogueError::Directory { path: directory.to_owned(), error })?;
        }
        if path.exists() {
            touch(path);
            match connect(path, OpenMode::Shared) {
                Ok((connection, Provenance::Current)) => {
                    sweep(path);
                    return Ok(Catalogue { connection, path: path.to_owned(), draft: None, carried: CarriedRows::Nothing });
                }
                Ok((connection, provenance)) => {
                    set_aside(connection, path, provenance).map_err(|error| CatalogueError::Aside { path: path.to_owned(), error })?;
                }
                // Another process is at work on it: it is not damaged.
                Err(error) if is_busy(&error) => return Err(CatalogueError::Store { path: path.to_owned(), error }),
                Err(error) => {
                    warn!(?path, %error, "removed a catalogue that cannot be opened");
                    remove(path);
                }
            }
        }
        let failed = |error| CatalogueError::Store { path: path.to_owned(), error };
        let mut catalogue = Catalogue::begin(path).map_err(failed)?;
        let carried = carry::carry(&mut catalogue.connection, path);
        if carried == CarriedRows::Failed {
            // A draft has no journal, so that what was begun in it cannot be taken back.
            drop(catalogue);
            catalogue = Catalogue::begin(path).map_err(failed)?;
        }
        catalogue.carried = carried;
        sweep(path);
        Ok(catalogue)
    }

    /// Begins an empty catalogue in a file of its own.
    fn begin(path: &Path) -> rusqlite::Result<Self> {
        let draft = Draft { path: with_ending(path, &format!(".{}.new", std::process::id())) };
        remove(&draft.path);
        let (connection, _) = connect(&draft.path, OpenMode::Alone)?;
        Ok(Catalogue { connection, path: path.to_owned(), draft: Some(draft), carried: CarriedRows::Nothing })
    }

    /// Gives a file that was filled for the first time its name. If another process was quicker, or names cannot be given here, the
    /// catalogue is the one that has the name, and has to be refreshed again.
    pub(crate) fn publish(&mut self) -> rusqlite::Result<bool> {
        let Some(draft) = self.draft.take() else { return Ok(true) };
        // Done now, while nothing is waited for: later it would wait until all of the file is on the disk.
        self.connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        self.close()?;
        // Unlike a renamed one, a linked file never takes the place of one that is in use.
        let linked = fs::hard_link(&draft.path, &self.path);
        let named = linked.inspect_err(|error| debug!(path = ?self.path, %error, "another process has named its catalogue")).is_ok();
        drop(draft);
        (self.connection, _) = connect(&self.path, OpenMode::Shared)?;
        if named && self.carried != CarriedRows::Failed {
            // Only now is everything that it alone knew in a file with a name.
            remove(&aside(&self.path));
        }
        self.carried = CarriedRows::Nothing;
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
        self.carried == CarriedRows::Rows
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

    /// Throws everything away, for a file that turned out to be damaged while it was used.
    pub(crate) fn start_over(&mut self) -> Result<(), CatalogueError> {
        self.close().map_err(|error| self.failed(error))?;
        remove(&self.path);
        // A new draft has the name of the one before, which must not be removed after it was begun.
        self.draft = None;
        *self = Catalogue::begin(&self.path).map_err(|error| self.failed(error))?;
        Ok(())
    }

    /// Runs a query, and adds the path of the file to an error.
    pub(crate) fn query<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, CatalogueError> {
        question(&self.connection).map_err(|error| self.failed(error))
    }

    pub(crate) fn failed(&self, error: rusqlite::Error) -> CatalogueError {
        CatalogueError::Store { path: self.path.clone(), error }
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

/// How a file is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenMode {
    /// By several processes; what is written is seen all at once or not at all.
    Shared,
    /// By this one, until it is whole.
    Alone,
}

/// Renames a file that another version has made, so that a new one can take its place. One with a newer schema is not ours to take
/// anything from, and is kept under a name that nothing removes.
fn set_aside(connection: Connection, path: &Path, provenance: Provenance) -> std::io::Result<()> {
    // Without this the newest rows would stay in the log beside it. If it fails, that is renamed too.
    let _ = connection.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()));
    drop(connection);
    match provenance {
        Provenance::Newer(schema) => rename(path, &with_ending(path, &format!(".{schema}.newer"))),
        _ => rename(path, &aside(path)),
    }
}

/// Opens a file, and makes tables in it if it is empty.
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
