//! A look at the file without using it, and a new catalogue in the place of one in use.
//!
//! Other processes may have the file open, so it cannot be replaced by another one: they would go on in one that has no name. A new
//! catalogue is made beside it, and then takes the place of its rows in one transaction, so that a process that is killed leaves the old
//! rows or the new ones.

use super::carry::{CarryError, carry};
use super::files::{remove, with_ending};
use super::schema::{self, Provenance};
use super::{Catalogue, CatalogueError, CatalogueWriter, PATIENCE, error, is_there, read};
use crate::refresh::{RefreshOutcome, refresh};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use tooltrail_formats::find::Search;
use tooltrail_formats::scan::{Options, Progress};
use tooltrail_model::Time;

/// The condition of a catalogue's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileCondition {
    /// There is no file.
    Missing,
    /// SQLite finds nothing wrong with it.
    Sound,
    /// Its schema is an older one, or its rows are those of other readers, so the next command makes a new one.
    Outdated,
    /// A newer version has made it.
    Newer,
    /// It is damaged; these are the first things that SQLite says about it.
    Damaged(Vec<String>),
}

/// The condition of a file, which is read to its end and not changed.
pub fn inspect(path: &Path) -> Result<FileCondition, CatalogueError> {
    if !is_there(path).map_err(|error| CatalogueError::Hidden { path: path.to_owned(), error })? {
        return Ok(FileCondition::Missing);
    }
    let look = || {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(PATIENCE)?;
        let mut statement = connection.prepare("PRAGMA integrity_check(10)")?;
        let said: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        if said != ["ok"] {
            return Ok(FileCondition::Damaged(said));
        }
        Ok(match schema::provenance(&connection)? {
            Provenance::Newer(_) => FileCondition::Newer,
            Provenance::Current => FileCondition::Sound,
            Provenance::Empty | Provenance::Outdated => FileCondition::Outdated,
        })
    };
    match look() {
        Err(error) if error::is_damaged(&error) => Ok(FileCondition::Damaged(vec![error.to_string()])),
        outcome => outcome.map_err(|error| CatalogueError::Store { path: path.to_owned(), error }),
    }
}

/// A file that is removed in the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

impl Catalogue {
    /// Makes all rows anew from the logs, and takes over sessions whose logs are gone. Until the end the old rows are there.
    pub fn rebuild(
        &mut self,
        search: &Search,
        options: &Options,
        now: Time,
        progress: &Progress,
    ) -> Result<RefreshOutcome, CatalogueError> {
        if self.is_new() {
            return refresh(self, search, options, now, progress);
        }
        let beside = Scratch(with_ending(&self.path, &format!(".{}.rebuild", std::process::id())));
        remove(&beside.0);
        let mut fresh = Catalogue::open(&beside.0)?;
        let carried = carry(&fresh.connection, &self.path);
        let carried = carried.map_err(|error| match error {
            CarryError::Other(error) => self.failed(error),
            CarryError::Own(error) => fresh.failed(error),
        })?;
        fresh.has_carried = carried.copied > 0;
        let outcome = refresh(&mut fresh, search, options, now, progress)?;
        fresh.publish()?;
        // Attached, a file counts as damaged whose views name `main`.
        let views = ["calls", "sessions", "turns", "usage", "copies", "issues", "sources", "requests", "digests"];
        let dropped = views.iter().try_for_each(|view| fresh.connection.execute_batch(&format!("DROP VIEW IF EXISTS {view}")));
        dropped.map_err(|error| fresh.failed(error))?;
        drop(fresh);
        self.replace_rows(&beside.0).map_err(|error| self.failed(error))?;
        Ok(outcome)
    }

    /// Puts the rows of another file in the place of ours.
    fn replace_rows(&mut self, fresh: &Path) -> rusqlite::Result<()> {
        self.connection.execute("ATTACH ?1 AS fresh", [fresh.to_string_lossy()])?;
        let replaced = self.copy_rows();
        let detached = self.connection.execute_batch("DETACH fresh");
        replaced.and(detached)
    }

    fn copy_rows(&mut self) -> rusqlite::Result<()> {
        // Whoever has planned a refresh by the old rows sees by the epoch that these are others.
        let epoch = read::epoch(&self.connection)?;
        let Some(writer) = CatalogueWriter::begin(&mut self.connection, epoch)? else {
            // Another process has written since; its rows are no better than those that were there before.
            return self.copy_rows();
        };
        let own = writer.connection();
        let mut statement = own.prepare("SELECT name FROM main.sqlite_master WHERE type = 'table' AND name <> 'meta'")?;
        let tables: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        drop(statement);
        for table in tables {
            own.execute_batch(&format!("DELETE FROM main.\"{table}\"; INSERT INTO main.\"{table}\" SELECT * FROM fresh.\"{table}\""))?;
        }
        writer.commit()
    }
}
