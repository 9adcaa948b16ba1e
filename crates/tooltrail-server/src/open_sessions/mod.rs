//! Open sessions: a bounded cache of the sessions that pages are about.
//!
//! Opening a session means linking its logs, and reading them if a page shows more than its calls. That takes from
//! milliseconds to seconds, so the sessions that were used last stay open. Each version of a session is opened once,
//! however many requests want it at the same time, and no session waits for another. A new version gets the record
//! notes of the one before, so that only the new records of logs that have grown are read. Idle sessions are closed,
//! even if no request comes any more. `session` has the operations of an open session; `app_state` decides which
//! version is opened.

mod change_index;
mod session;

pub use change_index::{ChangeIndex, IndexedFile};
pub use session::{LogSource, OpenSession, SessionReader};

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tooltrail_catalog::store;
use tooltrail_formats::transcript::RecordIndexCache;
use tooltrail_model::row::SessionRow;

/// Number of sessions that stay open.
const OPEN: usize = 6;
/// Time after which an unused session is closed.
const IDLE: Duration = Duration::from_secs(90);
/// Limit on downloads at once.
const DOWNLOADS: usize = 6;

/// Random number of this run of the program. It is part of every version, because browsers cache parts of pages forever
/// and another release may draw them differently.
pub(crate) static RUN: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));

/// Reason why a session could not be opened. Pages show the message, so it says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its logs were deleted.
    #[error("The logs of this session are gone: the agent deleted them.")]
    Gone,
    /// Its logs are there but do not contain it.
    #[error("{UNREADABLE}")]
    Missing,
    /// The catalogue cannot load its logs.
    #[error("{UNREADABLE}")]
    Catalogue(#[source] store::CatalogueError),
    /// Too many downloads are being written.
    #[error("Too many downloads at once. Try again later.")]
    Busy,
    /// The system has no thread for a download.
    #[error("The export could not start. Try again in a moment.")]
    Thread(#[source] io::Error),
}

const UNREADABLE: &str = "Cannot build this page from the logs. Reload it; if that does not help, run `tooltrail check`.";

/// A version of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionKey {
    agent: String,
    session: String,
    version: u64,
}

impl SessionKey {
    /// The key of a version of a session, as the catalogue or a watcher numbers it.
    pub fn new(row: &SessionRow<'_>, version: u64) -> Self {
        SessionKey { agent: row.agent.to_owned(), session: row.session.to_owned(), version: version ^ *RUN }
    }

    /// Whether another key is of the same session, in whichever version.
    fn is_of(&self, other: &SessionKey) -> bool {
        self.agent == other.agent && self.session == other.session
    }
}

/// An open session, or why it could not be opened; requests that wait for the same opening share either.
type Opening = Result<Arc<OpenSession>, Arc<OpenError>>;

/// A place for a session, made when it is first requested.
struct Slot {
    key: SessionKey,
    notes: Arc<RecordIndexCache>,
    /// Empty until the first request has opened it. The others wait here, without holding up those that want other sessions.
    opening: OnceLock<Opening>,
}

/// The slots, the one that was used last first.
#[derive(Default)]
struct Cache {
    slots: Vec<(Arc<Slot>, Instant)>,
    /// Whether a thread waits for sessions to become idle.
    swept: bool,
}

/// The sessions that are open.
pub struct OpenSessions {
    cache: Arc<Mutex<Cache>>,
    idle: Duration,
    downloads: Arc<AtomicUsize>,
}

impl Default for OpenSessions {
    fn default() -> Self {
        OpenSessions { cache: Arc::default(), idle: IDLE, downloads: Arc::default() }
    }
}

impl OpenSessions {
    /// Opens a version of a session, unless it is open. Other versions of it are closed.
    pub fn open(&self, key: SessionKey, logs: LogSource) -> Opening {
        self.open_with(key, |key, notes| OpenSession::open(key, logs, notes))
    }

    /// A session that is open in a version, by its id and version alone. Nothing is opened or read.
    pub fn find(&self, session: &str, version: u64) -> Option<Arc<OpenSession>> {
        let mut cache = self.cache();
        let (slot, used) = cache.slots.iter_mut().find(|(slot, _)| slot.key.session == session && slot.key.version == version)?;
        let open = slot.opening.get()?.as_ref().ok()?;
        *used = Instant::now();
        Some(Arc::clone(open))
    }

    /// Opens a session for one download, and writes that on a thread of its own, at the speed of the client. The
    /// session is opened before this returns, so that an error becomes a response and not a file that breaks off.
    pub fn download(
        &self,
        key: &SessionKey,
        logs: LogSource,
        write: impl FnOnce(&OpenSession) + Send + 'static,
    ) -> Result<(), Arc<OpenError>> {
        // Before the session is opened, which is the expensive part.
        let permit = DownloadPermit::take(&self.downloads).ok_or(OpenError::Busy)?;
        let session = OpenSession::open(key, logs, Arc::default())?;
        let work = move || {
            let _permit = permit;
            write(&session);
        };
        let thread = std::thread::Builder::new().name("download".to_owned()).spawn(work);
        Ok(thread.map(drop).map_err(OpenError::Thread)?)
    }

    /// The agents and ids of the sessions that are open, the one that was used last first.
    pub fn names(&self) -> Vec<(String, String)> {
        self.cache().slots.iter().map(|(slot, _)| (slot.key.agent.clone(), slot.key.session.clone())).collect()
    }

    fn open_with(
        &self,
        key: SessionKey,
        open: impl FnOnce(&SessionKey, Arc<RecordIndexCache>) -> Result<OpenSession, OpenError>,
    ) -> Opening {
        let slot = self.slot(key);
        // Should opening panic, the slot stays empty, and the next request that waits for it tries again.
        let opening = slot.opening.get_or_init(|| Ok(Arc::new(open(&slot.key, Arc::clone(&slot.notes))?)));
        if opening.is_err() {
            // The failure is not cached: the next request may succeed.
            self.cache().slots.retain(|(other, _)| !Arc::ptr_eq(other, &slot));
        }
        opening.clone()
    }

    /// The slot of a key, which becomes the one that was used last.
    fn slot(&self, key: SessionKey) -> Arc<Slot> {
        let now = Instant::now();
        let mut cache = self.cache();
        if let Some(place) = cache.slots.iter().position(|(slot, _)| slot.key == key) {
            let (slot, _) = cache.slots.remove(place);
            cache.slots.insert(0, (Arc::clone(&slot), now));
            return slot;
        }
        let older = cache.slots.iter().position(|(slot, _)| slot.key.is_of(&key)).map(|place| cache.slots.remove(place).0);
        let notes = older.as_ref().map(|slot| Arc::clone(&slot.notes)).unwrap_or_default();
        let slot = Arc::new(Slot { key, notes, opening: OnceLock::new() });
        cache.slots.insert(0, (Arc::clone(&slot), now));
        // Sessions in use are not affected: requests hold references of their own.
        let stay = cache.slots.len().min(OPEN);
        let surplus = cache.slots.split_off(stay);
        if !cache.swept {
            let (sessions, idle) = (Arc::downgrade(&self.cache), self.idle);
            // Without a thread for it, the next session that is opened tries again.
            cache.swept = std::thread::Builder::new().name("idle sessions".to_owned()).spawn(move || sweep(&sessions, idle)).is_ok();
        }
        drop(cache);
        // Freeing a large session takes a while, and other requests must not wait for it.
        drop((older, surplus));
        slot
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        lock(&self.cache)
    }
}

fn lock(cache: &Mutex<Cache>) -> MutexGuard<'_, Cache> {
    // The cache is consistent after each change, so a panic elsewhere does no harm.
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes sessions that have become idle. Ends when none is open: at rest there is no thread.
fn sweep(sessions: &Weak<Mutex<Cache>>, idle: Duration) {
    // Sleeps until the next session can be idle; `None` means that all are closed.
    while let Some(rest) = sweep_once(sessions, idle) {
        std::thread::sleep(rest);
    }
}

/// Closes the sessions that are idle now. Gives the time until the next one may be.
fn sweep_once(sessions: &Weak<Mutex<Cache>>, idle: Duration) -> Option<Duration> {
    // The server may have ended meanwhile.
    let sessions = sessions.upgrade()?;
    let mut cache = lock(&sessions);
    let (stay, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut cache.slots).into_iter().partition(|(_, used)| used.elapsed() < idle);
    cache.slots = stay;
    cache.swept = !cache.slots.is_empty();
    let next = cache.slots.iter().map(|(_, used)| idle.saturating_sub(used.elapsed())).min();
    drop(cache);
    drop(gone);
    next
}

/// Permission to write a download, until it is dropped.
struct DownloadPermit(Arc<AtomicUsize>);

impl DownloadPermit {
    fn take(count: &Arc<AtomicUsize>) -> Option<Self> {
        let taken = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count < DOWNLOADS).then_some(count + 1));
        taken.is_ok().then(|| DownloadPermit(Arc::clone(count)))
    }
}

impl Drop for DownloadPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
