//! A snapshot: what the catalogue says, and what time it is. Whatever a page shows comes from one snapshot, so its parts agree.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::store::{Catalogue, CatalogueError, SessionListing};
use tooltrail_model::link::Now;
use tooltrail_model::row::SessionRow;

/// The catalogue as it was at one moment.
pub struct Snapshot {
    /// The logs, as the catalogue knows them.
    pub library: StoredLibrary,
    /// The sessions.
    pub listing: SessionListing,
    /// The moment of asking.
    pub now: Now,
    /// How the logs were read.
    pub read: LogReading,
    /// How many changes had been heard of when the logs were looked at.
    pub(crate) heard: u64,
    /// When this was made, to tell its age.
    pub(crate) made: Instant,
    /// The catalogue of a few logs lies here, as long as it is needed.
    pub(crate) _place: Option<tempfile::TempDir>,
}

/// How logs were read.
#[derive(Clone, Debug, Default)]
pub struct LogReading {
    /// Whether this is not everything: reading goes on.
    pub partial: bool,
    /// How many logs there are.
    pub logs: usize,
    /// Their bytes.
    pub bytes: u64,
    /// What there was to do when the server began.
    pub first: FirstReading,
    /// How many were read since, because they were new or had changed.
    pub newer: usize,
    /// Where logs were looked for.
    pub looked: Vec<PathBuf>,
    /// What could not be read.
    pub problems: Vec<String>,
}

/// What there was to do when the server began.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstReading {
    /// How many logs had to be read; the others were known from before.
    pub read: usize,
    /// How many there were.
    pub logs: usize,
    /// How long it took.
    pub took: Duration,
}

impl Snapshot {
    pub(crate) fn new(catalogue: Catalogue, keep: Option<Keep>, now: Now, read: LogReading) -> Result<Self, CatalogueError> {
        let library = StoredLibrary::new(catalogue, keep);
        let listing = library.catalogue().list(&now)?;
        Ok(Snapshot { library, listing, now, read, heard: 0, made: Instant::now(), _place: None })
    }

    /// The rows of all sessions, by start.
    pub fn rows(&self) -> Vec<SessionRow<'_>> {
        self.listing.rows()
    }

    /// What it takes to ask about them.
    pub fn catalogued<'a>(&'a self, rows: &'a [SessionRow<'a>], threads: usize) -> CatalogueQuery<'a> {
        CatalogueQuery { library: &self.library, listing: &self.listing, rows, now: &self.now, threads }
    }
}
