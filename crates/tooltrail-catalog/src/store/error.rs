//! Errors of the catalogue, and what each of them may do to its file.
//!
//! The file alone knows sessions whose logs are gone, so it is set aside only where SQLite itself says that it is damaged. A full disk, a
//! lack of file handles, a lock or a directory that cannot be read says nothing about the file.

use super::summaries::SummaryError;
use super::{PATIENCE, aside};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::io;
use std::path::{Path, PathBuf};
use tooltrail_formats::error::ErrorChain;
use tooltrail_model::visible::{neutral, neutral_path};
use tracing::warn;

/// An error of the catalogue.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The file cannot be used.
    #[error("cannot use the index `{}`", neutral_path(path))]
    Store {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: rusqlite::Error,
    },
    /// Whether the file is there cannot be told.
    #[error("cannot look for the index `{}`", neutral_path(path))]
    Hidden {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// Its directory cannot be made.
    #[error("cannot create the directory `{}`; choose another one with TOOLTRAIL_CACHE", neutral_path(path))]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A file that is damaged, or that another version has made, cannot be renamed.
    #[error("cannot rename the damaged index `{}` to make space for a new one", neutral_path(path))]
    Aside {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A new file cannot be given its name.
    #[error("cannot give the index `{}` its name", neutral_path(path))]
    Unnamed {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// Newer versions have made the file, and the one that this version would use instead.
    #[error("the index `{}` is from a newer version of tooltrail", neutral_path(path))]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// The stored summary of a log cannot be read.
    #[error("the index `{}` is damaged where it describes `{}`", neutral_path(path), neutral(log))]
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

/// What was done about damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The file was renamed to this, and the next command makes a new one.
    SetAside(PathBuf),
    /// The next command reads this log again.
    ReadAgain(String),
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Repair::SetAside(path) => {
                write!(f, "the index was damaged; it is now `{}`, and a new one is built from the logs", neutral_path(path))
            }
            Repair::ReadAgain(log) => write!(f, "the index was damaged where it describes `{log}`, which is read again"),
        }
    }
}

impl CatalogueError {
    /// Repairs the file after a query found it damaged, so that the next command finds a sound one. Returns nothing if this error is not
    /// about damage: then the file is left as it is.
    pub fn heal(&self) -> Option<Repair> {
        let repair = match self {
            CatalogueError::Store { path, error } if is_damaged(error) && !is_sound(path) => {
                let renamed = aside::set_aside(path, aside::DAMAGED);
                Repair::SetAside(renamed.inspect_err(|error| warn!(?path, %error, "cannot rename a damaged index")).ok()?)
            }
            CatalogueError::Damaged { path, log, .. } => {
                let marked = read_again(path, log).inspect_err(|error| warn!(?path, %error, "cannot repair the index"));
                marked.is_ok_and(|any| any).then(|| Repair::ReadAgain(log.clone()))?
            }
            _ => return None,
        };
        warn!(error = %ErrorChain(self), %repair, "repaired the index");
        Some(repair)
    }
}

/// Whether SQLite says that the file is damaged.
pub(crate) fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Whether an error will occur again, however often the file is read: it is damaged, or its tables are not those that were expected.
pub(super) fn is_permanent(error: &rusqlite::Error) -> bool {
    // `Unknown` is SQLite's general error: no such table or column.
    is_damaged(error) || matches!(error.sqlite_error_code(), None | Some(ErrorCode::Unknown))
}

/// Whether a second look at all of a file finds no damage. A read that failed once without an error looks like damage, too.
pub(super) fn is_sound(path: &Path) -> bool {
    let look = || {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(PATIENCE)?;
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    };
    match look() {
        Ok(said) => said == "ok",
        // Anything but damage, such as a lock, proves nothing against the file.
        Err(error) => !is_damaged(&error),
    }
}

/// Has a log read again by the next refresh; returns whether the file knows it.
fn read_again(path: &Path, log: &str) -> rusqlite::Result<bool> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    // No file has this time.
    Ok(connection.execute("UPDATE source_rows SET mtime_ns = -2 WHERE path = ?1", [log])? > 0)
}
