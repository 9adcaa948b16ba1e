//! Where sessions are asked for, one bundle of logs at a time.
//!
//! Most logs have nothing to do with most others. A bundle is what has: the logs of a session, of those it was forked from or goes on
//! from, of their subagents. Whatever is asked about a session can be told from its bundle, so nothing else has to be in memory.

use crate::in_parallel;
use crate::store::{Catalogue, Error, Packed, read};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tooltrail_formats::shelf::{Disk, Shelf};
use tooltrail_model::Time;
use tooltrail_model::link::{Linker, Shorts, Source};

/// Logs that are linked with each other and with no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// What it is opened by.
    pub id: i64,
    /// Its logs, by path.
    pub files: Vec<Box<str>>,
    /// When the last thing in it happened.
    pub last: Option<Time>,
}

/// All logs of some places.
pub trait Library: Sync {
    /// The bundles, those in which something happened last first.
    fn bundles(&self) -> Result<Vec<Bundle>, Error>;

    /// What the logs of a bundle hold, ready to be linked. Sessions have the short names that they have among all.
    fn open(&self, bundle: i64) -> Result<Arc<Linker>, Error>;

    /// Where the logs are read again from.
    fn shelf(&self) -> &dyn Shelf;
}

/// The logs that a catalogue knows, as it knows them.
pub struct Stored {
    catalogue: Mutex<Catalogue>,
    shorts: OnceLock<Arc<Shorts>>,
    shelf: Disk,
}

impl Stored {
    /// Takes a catalogue that has been refreshed.
    pub fn new(catalogue: Catalogue) -> Self {
        Stored { catalogue: Mutex::new(catalogue), shorts: OnceLock::new(), shelf: Disk::default() }
    }

    /// The catalogue itself.
    pub fn catalogue(&self) -> MutexGuard<'_, Catalogue> {
        self.catalogue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All logs at once.
    pub fn whole(&self) -> Result<Linker, Error> {
        self.linker(None)
    }

    fn linker(&self, bundle: Option<i64>) -> Result<Linker, Error> {
        let catalogue = self.catalogue();
        let sources = catalogue.asked(|connection| read::packed(connection, bundle))?;
        let damaged = Error::Damaged { path: catalogue.path().to_owned() };
        drop(catalogue);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let unpacked: Option<Vec<Source>> = in_parallel(threads, &sources, Packed::unpack).into_iter().collect();
        let mut linker = Linker::default();
        unpacked.ok_or(damaged)?.into_iter().for_each(|source| linker.put(source));
        linker.call_sessions(self.shorts()?);
        Ok(linker)
    }

    fn shorts(&self) -> Result<Arc<Shorts>, Error> {
        if let Some(known) = self.shorts.get() {
            return Ok(Arc::clone(known));
        }
        let shorts = Arc::new(self.catalogue().asked(read::shorts)?);
        Ok(Arc::clone(self.shorts.get_or_init(|| shorts)))
    }
}

impl Library for Stored {
    fn bundles(&self) -> Result<Vec<Bundle>, Error> {
        self.catalogue().asked(read::bundles)
    }

    fn open(&self, bundle: i64) -> Result<Arc<Linker>, Error> {
        self.linker(Some(bundle)).map(Arc::new)
    }

    fn shelf(&self) -> &dyn Shelf {
        &self.shelf
    }
}
