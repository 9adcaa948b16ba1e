//! Opening sessions, one bundle of logs at a time.
//!
//! Most logs have nothing to do with most others. A bundle holds those that do: the logs of a session, of the
//! sessions that it was forked from or continues, and of their subagents. Every question about a session can be answered from its
//! bundle, so nothing else has to be in memory.

use crate::keep::Keep;
use crate::live_details::LiveDetails;
use crate::matching::stored::CatalogueQuery;
use crate::matching::{self, MatchContext};
use crate::store::details::DetailStore;
use crate::store::{Catalogue, CatalogueError, Packed, read};
use crate::{Map, Set, in_parallel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_model::Time;
use tooltrail_model::filter::{Answer, Filter, Test};
use tooltrail_model::link::{Linker, Now, SessionNames};
use tracing::{debug, warn};

/// Logs that are linked with each other and with no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The number that [`Library::open`] takes.
    pub id: i64,
    /// Its logs, by path.
    pub files: Vec<Box<str>>,
    /// When the last thing in it happened.
    pub last: Option<Time>,
}

/// All logs of some places.
pub trait Library: Sync {
    /// The bundles, those in which something happened last first.
    fn bundles(&self) -> Result<Vec<Bundle>, CatalogueError>;

    /// Opens the logs of a bundle, ready to be linked. Sessions have the short names that they have among all sessions.
    fn open(&self, bundle: i64) -> Result<Arc<Linker>, CatalogueError>;

    /// The reader for records of these logs.
    fn disk(&self) -> &dyn ReadLogs;

    /// The copies of logs that are gone, if any are kept.
    fn keep(&self) -> Option<&Keep>;

    /// The bundles in which a filter may select anything, in the same order. An implementation that returns too many only costs time.
    fn likely(&self, filter: &Filter, now: &Now, threads: usize) -> Result<Vec<Bundle>, CatalogueError> {
        let _ = (filter, now, threads);
        self.bundles()
    }
}

/// Logs that have just been read.
pub struct ScannedLibrary<'s> {
    /// The bundles in their order; the id of each is its index here.
    bundles: Vec<(Bundle, Arc<Linker>)>,
    disk: &'s dyn ReadLogs,
    keep: Option<&'s Keep>,
}

impl<'s> ScannedLibrary<'s> {
    /// A library of logs that were just scanned, with the reader for their records.
    pub fn new(linker: Linker, disk: &'s dyn ReadLogs, keep: Option<&'s Keep>) -> Self {
        let bundle = |linker: Linker| {
            let files = linker.sources().map(|source| source.path.clone()).collect();
            let last = linker.sources().filter_map(|source| source.summary.last).max();
            (Bundle { id: 0, files, last }, Arc::new(linker))
        };
        let mut bundles: Vec<_> = linker.split().into_iter().map(bundle).collect();
        // The order must be the same in every run, so bundles of the same moment are ordered by their files.
        bundles.sort_by(|(one, _), (other, _)| other.last.cmp(&one.last).then_with(|| one.files.cmp(&other.files)));
        (0..).zip(&mut bundles).for_each(|(id, (bundle, _))| bundle.id = id);
        ScannedLibrary { bundles, disk, keep }
    }
}

impl Library for ScannedLibrary<'_> {
    fn bundles(&self) -> Result<Vec<Bundle>, CatalogueError> {
        Ok(self.bundles.iter().map(|(bundle, _)| bundle.clone()).collect())
    }

    fn open(&self, bundle: i64) -> Result<Arc<Linker>, CatalogueError> {
        let known = usize::try_from(bundle).ok().and_then(|place| self.bundles.get(place));
        Ok(known.map(|(_, linker)| Arc::clone(linker)).unwrap_or_default())
    }

    fn disk(&self) -> &dyn ReadLogs {
        self.disk
    }

    fn keep(&self) -> Option<&Keep> {
        self.keep
    }

    fn likely(&self, filter: &Filter, now: &Now, threads: usize) -> Result<Vec<Bundle>, CatalogueError> {
        // Rows say nothing about texts, so a filter of texts alone excludes no bundle, and linking each to find that out would
        // be wasted.
        let only_texts = filter.terms().iter().all(|term| matches!(term.test, Test::Text(_)));
        let likely = |(bundle, linker): &(Bundle, Arc<Linker>)| {
            let may = || {
                matching::may_take(&MatchContext { linked: &linker.link(), disk: self.disk, now, threads: 1, keep: self.keep() }, filter)
            };
            (only_texts || may()).then(|| bundle.clone())
        };
        Ok(in_parallel(threads, &self.bundles, likely).into_iter().flatten().collect())
    }
}

/// How much of the catalogue's file is held while it is only read, in kilobytes.
const CACHE: i64 = 4 * 1024;

/// The logs that a catalogue describes, as they were at its last refresh.
pub struct StoredLibrary {
    catalogue: Mutex<Catalogue>,
    /// Details of sessions, which are written while the catalogue is read.
    pub(crate) details: DetailStore,
    /// Those of live sessions.
    pub(crate) live: LiveDetails,
    names: OnceLock<Arc<SessionNames>>,
    /// The sources of each bundle.
    bundles: OnceLock<Map<i64, Vec<i64>>>,
    /// The bundles whose logs have very many lines or calls.
    pub(crate) large: OnceLock<Set<i64>>,
    disk: Disk,
    keep: Option<Keep>,
}

impl StoredLibrary {
    /// A library of the logs in a refreshed catalogue, with the copies of logs that are gone.
    pub fn new(catalogue: Catalogue, keep: Option<Keep>) -> Self {
        // All questions are answered from one state of the file, whatever other processes write meanwhile. If this fails, so
        // will the questions, and they report it.
        if let Err(error) = catalogue.connection.execute_batch("BEGIN") {
            warn!(path = ?catalogue.path(), %error, "the index may change between two questions");
        }
        // Lists read far more than fits into a cache, each page of the file once, and the system has the file in memory anyway.
        if let Err(error) = catalogue.connection.pragma_update(None, "cache_size", -CACHE) {
            warn!(path = ?catalogue.path(), %error, "the index keeps more of itself in memory");
        }
        let details = DetailStore::new(catalogue.path());
        StoredLibrary {
            details,
            live: LiveDetails::default(),
            catalogue: Mutex::new(catalogue),
            names: OnceLock::new(),
            bundles: OnceLock::new(),
            large: OnceLock::new(),
            disk: Disk::default(),
            keep,
        }
    }

    /// The catalogue itself.
    pub fn catalogue(&self) -> MutexGuard<'_, Catalogue> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All logs at once.
    pub fn whole(&self) -> Result<Linker, CatalogueError> {
        self.linker(None)
    }

    fn linker(&self, bundle: Option<i64>) -> Result<Linker, CatalogueError> {
        let catalogue = self.catalogue();
        let sources = match bundle {
            None => catalogue.query(read::packed)?,
            Some(bundle) => {
                let sources = self.sources_of(&catalogue, bundle)?;
                catalogue.query(|connection| read::packed_sources(connection, &sources))?
            }
        };
        let path = catalogue.path().to_owned();
        // Unpacking takes most of the time and needs no connection, so other threads may use it meanwhile.
        drop(catalogue);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut linker = Linker::default();
        for (unpacked, packed) in in_parallel(threads, &sources, Packed::unpack).into_iter().zip(&sources) {
            linker.put(unpacked.map_err(|error| CatalogueError::Damaged { path: path.clone(), log: packed.path.clone(), error })?);
        }
        debug!(sources = sources.len(), bundle, "opened stored logs");
        linker.call_sessions(self.session_names()?);
        Ok(linker)
    }

    /// The sources of a bundle. A list of all is made once: most questions open many bundles, and the file has no index by bundle.
    fn sources_of(&self, catalogue: &Catalogue, bundle: i64) -> Result<Vec<i64>, CatalogueError> {
        let known = match self.bundles.get() {
            Some(known) => known,
            None => {
                let read = catalogue.query(read::sources_by_bundle)?;
                self.bundles.get_or_init(|| read)
            }
        };
        Ok(known.get(&bundle).cloned().unwrap_or_default())
    }

    pub(crate) fn session_names(&self) -> Result<Arc<SessionNames>, CatalogueError> {
        if let Some(known) = self.names.get() {
            return Ok(Arc::clone(known));
        }
        // Not inside `get_or_init`, which cannot fail. Two threads may both read the names; the first result is kept.
        let names = Arc::new(self.catalogue().query(read::session_names)?);
        Ok(Arc::clone(self.names.get_or_init(|| names)))
    }
}

impl Library for StoredLibrary {
    fn bundles(&self) -> Result<Vec<Bundle>, CatalogueError> {
        self.catalogue().query(read::bundles)
    }

    fn open(&self, bundle: i64) -> Result<Arc<Linker>, CatalogueError> {
        self.linker(Some(bundle)).map(Arc::new)
    }

    fn disk(&self) -> &dyn ReadLogs {
        &self.disk
    }

    fn keep(&self) -> Option<&Keep> {
        self.keep.as_ref()
    }

    fn likely(&self, filter: &Filter, now: &Now, threads: usize) -> Result<Vec<Bundle>, CatalogueError> {
        let mut bundles = self.bundles()?;
        if filter.terms().iter().all(|term| matches!(term.test, Test::Text(_))) {
            return Ok(bundles);
        }
        let listing = self.catalogue().list(now)?;
        let rows = listing.rows();
        let catalogued = CatalogueQuery { library: self, listing: &listing, rows: &rows, now, threads };
        let mut likely: Set<i64> = Set::default();
        for session in catalogued.likely_sessions(filter) {
            let Some(bundle) = listing.bundle(session).filter(|bundle| !likely.contains(bundle)) else { continue };
            // Messages have no rows: where a filter may select one, the bundle has to be read.
            let mut any = filter.asks_messages();
            if !any {
                catalogued.ask_calls(filter, session, |answer, _| any |= answer != Answer::No)?;
            }
            if any {
                likely.insert(bundle);
            }
        }
        bundles.retain(|bundle| likely.contains(&bundle.id));
        Ok(bundles)
    }
}
