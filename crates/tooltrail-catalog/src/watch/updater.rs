//! Lazy updates of the catalogue's file: after a moment without changes, but never long after the first one.

use super::WatchClock;
use super::log_locations::LogLocations;
use crate::refresh::refresh;
use crate::store::Catalogue;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::scan::{Options, Progress};
use tracing::warn;

/// How long it must be quiet, and how long a change waits at most.
const QUIET: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(10);

/// Refreshes the catalogue in a thread of its own.
#[derive(Debug)]
pub(super) struct CatalogueUpdater {
    shared: Arc<RefreshSignal>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct RefreshSignal {
    state: Mutex<PendingRefresh>,
    wake: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct PendingRefresh {
    /// The first and the last change that are not in the catalogue.
    changes: Option<(Instant, Instant)>,
    ended: bool,
}

impl RefreshSignal {
    fn state(&self) -> MutexGuard<'_, PendingRefresh> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a refresh is due; returns `None` at the end.
    fn due(&self) -> Option<()> {
        let mut state = self.state();
        loop {
            if state.ended {
                return None;
            }
            let due = state.changes.map(|(first, last)| (last + QUIET).min(first + LONGEST));
            match due.map(|due| due.saturating_duration_since(Instant::now())) {
                Some(left) if left.is_zero() => {
                    // Before the refresh: a change during it has to cause another one.
                    state.changes = None;
                    return Some(());
                }
                Some(left) => state = self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl CatalogueUpdater {
    /// Starts a thread that keeps a catalogue up to date; `None` if the system has no thread for it.
    pub(super) fn start(mut catalogue: Catalogue, locations: LogLocations, options: Options, clock: Arc<WatchClock>) -> Option<Self> {
        let shared = Arc::new(RefreshSignal::default());
        let own = Arc::clone(&shared);
        let work = move || {
            while own.due().is_some() {
                // The catalogue is a cache: if it cannot be written now, the next command refreshes it.
                if let Err(error) = refresh(&mut catalogue, &locations.search(), &options, clock().time, &Progress::default()) {
                    warn!(error = %ErrorChain(&error), "cannot keep the catalogue up with the logs");
                }
            }
        };
        let thread = std::thread::Builder::new().name("catalogue".to_owned()).spawn(work);
        let thread = thread.inspect_err(|error| warn!(%error, "no thread to keep the catalogue up with the logs")).ok()?;
        Some(CatalogueUpdater { shared, thread: Some(thread) })
    }

    /// Reports a change that is not in the catalogue yet.
    pub(super) fn changed(&self) {
        let now = Instant::now();
        let mut state = self.shared.state();
        // The first change keeps its time, which limits how long a busy log can delay the refresh.
        state.changes = Some(state.changes.map_or((now, now), |(first, _)| (first, now)));
        drop(state);
        self.shared.wake.notify_one();
    }
}

impl Drop for CatalogueUpdater {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed, and a destructor cannot return it.
            let _ = thread.join();
        }
    }
}
