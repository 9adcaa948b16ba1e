//! Catalogues beside this one that may know sessions whose logs are gone: those that were set aside, and those of older schemas.
//!
//! Each is carried over once, which the table `meta` notes under its name. What could not be read for a passing reason has no note, and is
//! tried again whenever the catalogue is opened.

use super::carry::{CarriedSessions, CarryError, carry};
use super::error::is_permanent;
use super::files::{predecessors, remove};
use super::write::CatalogueWriter;
use super::{Catalogue, aside, read};
use rusqlite::{Connection, OptionalExtension, params};
use std::path::{Path, PathBuf};
use tooltrail_model::visible::neutral_path;
use tracing::{info, warn};

/// A repair of a damaged catalogue: its file was set aside, and a new one was begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The name of the damaged file now.
    pub file: PathBuf,
    /// What SQLite said about it.
    pub cause: String,
    /// The number of sessions without logs that were saved from it.
    pub saved: usize,
    /// The number of sessions that could not be read, as far as they could be counted.
    pub lost: usize,
    /// Whether there may be more that could not be read.
    pub is_torn: bool,
}

impl std::fmt::Display for Recovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Recovery { file, cause, saved, lost, is_torn } = self;
        let sessions = |count: usize| format!("{count} session{}", if count == 1 { "" } else { "s" });
        write!(f, "the index was damaged ({cause}); it is now `{}`, and a new one was built from the logs", neutral_path(file))?;
        if *saved > 0 {
            write!(f, "; {} without logs carried over", sessions(*saved))?;
        }
        if *lost > 0 {
            write!(f, "; {} in it could not be read", sessions(*lost))?;
        } else if *is_torn {
            write!(f, "; sessions without logs may be missing")?;
        }
        Ok(())
    }
}

/// How carrying a file over ended, as `meta` notes it.
const DONE: i64 = 1;
const UNREADABLE: i64 = 2;

impl Catalogue {
    /// Copies into a new draft what only the files beside it know.
    pub(super) fn take_over(&mut self) -> rusqlite::Result<()> {
        for file in pending(&self.connection, &self.path)? {
            match carry(&self.connection, &file) {
                Ok(carried) => self.note(&file, carried)?,
                Err(CarryError::Other(error)) => self.put_off(&file, &error)?,
                // What is left in the draft of a session has no journal to take it back, and need not have one: the draft is thrown away.
                Err(CarryError::Own(error)) => return Err(error),
            }
        }
        Ok(())
    }

    /// Copies into a catalogue in use what only the files beside it know. That there are any is rare: a process was killed, or could not
    /// read them at the time. What fails now is tried again.
    pub(super) fn take_leftovers(&mut self) {
        let files = pending(&self.connection, &self.path).unwrap_or_default();
        for file in files {
            if let Err(error) = self.take_leftover(&file) {
                warn!(path = ?file, %error, "cannot take sessions over from another index; trying again next time");
            }
        }
        self.drop_leftovers();
    }

    /// Takes over what a file knows that is about to be removed. Returns whether nothing in it is left behind.
    pub(super) fn absorb(&mut self, file: &Path) -> bool {
        match self.take_leftover(file) {
            Ok(()) => matches!(noted(&self.connection, file), Ok(Some(DONE))),
            Err(error) => {
                warn!(path = ?file, %error, "an older index stays, because it cannot be read");
                false
            }
        }
    }

    fn take_leftover(&mut self, file: &Path) -> rusqlite::Result<()> {
        let epoch = read::epoch(&self.connection)?;
        let Some(writer) = CatalogueWriter::begin(&mut self.connection, epoch)? else { return Ok(()) };
        match carry(writer.connection(), file) {
            Ok(carried) => {
                note(writer.connection(), file, if carried.unreadable > 0 || carried.is_torn { UNREADABLE } else { DONE })?;
                writer.name_sessions()?;
                writer.commit()?;
                report(file, carried);
                Ok(())
            }
            Err(CarryError::Other(error)) if is_permanent(&error) => {
                warn!(path = ?file, %error, "nothing can be taken over from another index");
                note(writer.connection(), file, UNREADABLE)?;
                writer.commit()
            }
            Err(CarryError::Other(error) | CarryError::Own(error)) => Err(error),
        }
    }

    /// Notes in a draft that a file was carried over.
    fn note(&mut self, file: &Path, carried: CarriedSessions) -> rusqlite::Result<()> {
        let CarriedSessions { copied, unreadable, is_torn } = carried;
        note(&self.connection, file, if unreadable > 0 || is_torn { UNREADABLE } else { DONE })?;
        self.has_carried |= copied > 0;
        if let Some(recovery) = self.recovery.as_mut().filter(|recovery| recovery.file == file) {
            (recovery.saved, recovery.lost, recovery.is_torn) = (copied, unreadable, is_torn);
        }
        report(file, carried);
        Ok(())
    }

    /// Goes on without a file that cannot be read; unless it never can be, the next command tries again.
    fn put_off(&mut self, file: &Path, error: &rusqlite::Error) -> rusqlite::Result<()> {
        let permanent = is_permanent(error);
        warn!(path = ?file, %error, permanent, "cannot take sessions over from another index");
        if permanent {
            note(&self.connection, file, UNREADABLE)?;
        }
        if let Some(recovery) = self.recovery.as_mut().filter(|recovery| recovery.file == file) {
            recovery.is_torn = true;
        }
        Ok(())
    }

    /// Removes the `.old` file once all that it knew is in this one, or gives it a lasting name if some of it could not be read.
    pub(super) fn drop_leftovers(&mut self) {
        let old = aside::old(&self.path);
        let Ok(noted) = noted(&self.connection, &old) else { return };
        match noted {
            Some(DONE) => remove(&old),
            Some(_) => match aside::stamp_old(&self.path) {
                // Its new name needs a note of its own.
                Ok(file) => drop(note(&self.connection, &file, UNREADABLE)),
                Err(error) => warn!(path = ?old, %error, "cannot rename an older index"),
            },
            None => return,
        }
        // The next file of this name is another one. If this fails, that one keeps its name for longer.
        let _ = self.connection.execute("DELETE FROM meta WHERE key = ?1", [key(&old)]);
    }
}

fn report(file: &Path, carried: CarriedSessions) {
    let CarriedSessions { copied, unreadable, is_torn } = carried;
    if copied > 0 || unreadable > 0 || is_torn {
        info!(path = ?file, copied, unreadable, is_torn, "took sessions without logs over from another index");
    }
}

/// The files beside a catalogue that it has not taken over yet.
fn pending(own: &Connection, path: &Path) -> rusqlite::Result<Vec<PathBuf>> {
    let old = aside::old(path);
    let candidates = std::iter::once(old).chain(aside::stamped(path).into_iter().rev()).chain(predecessors(path));
    let mut pending = Vec::new();
    for file in candidates.filter(|file| file.is_file()) {
        if noted(own, &file)?.is_none() {
            pending.push(file);
        }
    }
    Ok(pending)
}

/// Whether a file was carried over, and how that ended.
pub(super) fn noted(own: &Connection, file: &Path) -> rusqlite::Result<Option<i64>> {
    own.prepare_cached("SELECT value FROM meta WHERE key = ?1")?.query_row([key(file)], |row| row.get(0)).optional()
}

fn note(own: &Connection, file: &Path, outcome: i64) -> rusqlite::Result<()> {
    own.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", params![key(file), outcome]).map(drop)
}

fn key(file: &Path) -> String {
    format!("carried {}", file.file_name().unwrap_or_default().to_string_lossy())
}
