//! A cache of the calls that filters take, and of what calls are sorted and counted by: kept from one request to the next, as long as
//! nothing changes.

use crate::answer::Trouble;
use crate::snapshot::Snapshot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tooltrail_catalog::store::{CallKeys, CatalogueError, ListedCall};
use tooltrail_model::filter::Filter;
use tooltrail_model::row::SessionRow;

/// How many answers are held, and how long it must have taken to find one.
const HELD: usize = 4;
const WORTH: Duration = Duration::from_millis(20);

/// A cache of what filters took of all calls.
#[derive(Default)]
pub(crate) struct FilterCache {
    state: Mutex<FilterCacheState>,
}

#[derive(Default)]
struct FilterCacheState {
    /// The keys of a snapshot, recognised by when it was made.
    keys: Option<(Instant, Arc<CallKeys>)>,
    /// What filters took, the newest last.
    found: Vec<CachedFilter>,
}

struct CachedFilter {
    version: u64,
    filter: Filter,
    calls: Arc<[ListedCall]>,
}

/// The calls that a filter takes.
pub(crate) struct FilteredCalls {
    /// The calls, in the order in which calls are listed.
    pub(crate) calls: Arc<[ListedCall]>,
    /// What they are sorted and counted by.
    pub(crate) keys: Arc<CallKeys>,
    /// Whether these are all of them.
    pub(crate) whole: bool,
}

impl FilterCache {
    /// The calls that a filter takes. Logs are looked through for so long at most; all else is known.
    pub(crate) fn find(
        &self,
        snapshot: &Snapshot,
        rows: &[SessionRow<'_>],
        threads: usize,
        filter: &Filter,
        patience: Duration,
    ) -> Result<FilteredCalls, Trouble> {
        let keys = self.keys(snapshot)?;
        if filter.is_empty() {
            return Ok(FilteredCalls { calls: keys.all().into(), keys, whole: true });
        }
        let version = keys.version();
        let known = self.state().found.iter().find(|held| held.version == version && held.filter == *filter).map(|held| held.calls.clone());
        if let Some(calls) = known {
            return Ok(FilteredCalls { calls, keys, whole: true });
        }
        let start = Instant::now();
        let (calls, whole) = snapshot.catalogued(rows, threads).calls_while(filter, Some(&keys), || start.elapsed() < patience)?;
        let calls: Arc<[ListedCall]> = calls.into();
        if whole && start.elapsed() > WORTH && !snapshot.read.partial {
            let mut state = self.state();
            // What belongs to another snapshot is of no use any more.
            state.found.retain(|held| held.version == version);
            let surplus = (state.found.len() + 1).saturating_sub(HELD);
            state.found.drain(..surplus);
            state.found.push(CachedFilter { version, filter: filter.clone(), calls: calls.clone() });
        }
        Ok(FilteredCalls { calls, keys, whole })
    }

    /// The keys of a snapshot's calls. Only those of sessions are read that have changed since the last time.
    fn keys(&self, snapshot: &Snapshot) -> Result<Arc<CallKeys>, CatalogueError> {
        let read = |before: Option<&CallKeys>| CallKeys::read(&snapshot.library.catalogue(), &snapshot.listing, before).map(Arc::new);
        if snapshot.read.partial {
            return read(None);
        }
        let mut state = self.state();
        if let Some((_, keys)) = state.keys.as_ref().filter(|(made, _)| *made == snapshot.made) {
            return Ok(Arc::clone(keys));
        }
        let keys = read(state.keys.as_ref().map(|(_, keys)| &**keys))?;
        state.keys = Some((snapshot.made, Arc::clone(&keys)));
        Ok(keys)
    }

    fn state(&self) -> MutexGuard<'_, FilterCacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
