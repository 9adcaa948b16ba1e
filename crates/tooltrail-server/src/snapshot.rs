//! A snapshot of the catalogue, with its time. Everything on a page comes from one snapshot, so its parts agree.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::store::{Catalogue, CatalogueError, SessionListing};
use tooltrail_model::link::Now;
use tooltrail_model::row::SessionRow;

/// The catalogue as it was at one moment.
pub struct CatalogueSnapshot {
    /// The logs, as the catalogue knows them.
    pub library: StoredLibrary,
    /// The sessions.
    pub listing: SessionListing,
    /// Time of the snapshot.
    pub now: Now,
    /// Statistics of reading.
    pub read: LogReading,
    /// Number of changes that had been reported when the logs were looked at.
    pub(crate) heard: u64,
    /// Time of creation.
    pub(crate) made: Instant,
    /// Directory of a temporary catalogue, deleted with the snapshot.
    pub(crate) _place: Option<tempfile::TempDir>,
}

/// Statistics of reading logs.
#[derive(Clone, Debug, Default)]
pub struct LogReading {
    /// Whether logs are still being read, so that sessions are missing.
    pub partial: bool,
    /// Number of logs.
    pub logs: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Work that was done when the server started.
    pub first: FirstReading,
    /// Number of logs read since, because they were new or had changed.
    pub newer: usize,
    /// Directories in which logs were looked for.
    pub looked: Vec<PathBuf>,
    /// Problems with directories and logs.
    pub problems: Vec<String>,
}

/// The first reading of logs after the server started.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstReading {
    /// Number of logs that had to be read; the others were from the index.
    pub read: usize,
    /// Number of logs.
    pub logs: usize,
    /// Duration.
    pub took: Duration,
}

impl CatalogueSnapshot {
    pub(crate) fn new(catalogue: Catalogue, keep: Option<Keep>, now: Now, read: LogReading) -> Result<Self, CatalogueError> {
        let library = StoredLibrary::new(catalogue, keep);
        // Listed once per snapshot: every page needs it, and states depend on the time of the snapshot.
        let listing = library.catalogue().list(&now)?;
        Ok(CatalogueSnapshot { library, listing, now, read, heard: 0, made: Instant::now(), _place: None })
    }

    /// The rows of all sessions, by start.
    pub fn rows(&self) -> Vec<SessionRow<'_>> {
        self.listing.rows()
    }

    /// A view of the snapshot that filters can be applied to.
    pub fn catalogued<'a>(&'a self, rows: &'a [SessionRow<'a>], threads: usize) -> CatalogueQuery<'a> {
        CatalogueQuery { library: &self.library, listing: &self.listing, rows, now: &self.now, threads }
    }
}
