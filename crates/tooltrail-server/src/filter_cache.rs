//! A cache of the calls that filters select, and of the keys by which calls are sorted and counted, valid as long as nothing
//! changes.

use crate::answer::Trouble;
use crate::snapshot::CatalogueSnapshot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tooltrail_catalog::store::{CallKeys, CatalogueError, ListedCall};
use tooltrail_model::filter::Filter;
use tooltrail_model::row::SessionRow;

/// Number of cached results, and the time that finding one must have taken.
const HELD: usize = 4;
const WORTH: Duration = Duration::from_millis(20);

/// Results of filters on all calls.
#[derive(Default)]
pub(crate) struct FilterCache {
    state: Mutex<FilterCacheState>,
}

#[derive(Default)]
struct FilterCacheState {
    /// The keys of a snapshot, recognised by when it was made.
    keys: Option<(Instant, Arc<CallKeys>)>,
    /// Results, the newest last.
    found: Vec<CachedFilter>,
}

struct CachedFilter {
    version: u64,
    filter: Filter,
    calls: Arc<[ListedCall]>,
}

/// Calls that a filter selects.
pub(crate) struct FilteredCalls {
    /// The calls, in the order in which calls are listed.
    pub(crate) calls: Arc<[ListedCall]>,
    /// CallKeys to sort and count them by.
    pub(crate) keys: Arc<CallKeys>,
    /// Number of calls in the texts of scripts that were left out.
    pub(crate) left_out: usize,
    /// Whether these are all of them.
    pub(crate) whole: bool,
}

impl FilteredCalls {
    fn new(calls: Arc<[ListedCall]>, keys: Arc<CallKeys>, whole: bool) -> Self {
        FilteredCalls { calls, keys, left_out: 0, whole }
    }

    /// Leaves out calls in the texts of scripts, as all numbers of calls do, so that a link from a number leads to that many rows.
    pub(crate) fn without_inner(mut self) -> Self {
        let inner = self.calls.iter().filter(|call| is_inner(call)).count();
        // Without any, the shared list is kept as it is.
        if inner > 0 {
            self.calls = self.calls.iter().filter(|call| !is_inner(call)).copied().collect();
            self.left_out = inner;
        }
        self
    }
}

/// Whether a call stands in the text of a script.
pub(crate) fn is_inner(call: &ListedCall) -> bool {
    call.number.inner > 0
}

impl FilterCache {
    /// Finds the calls that a filter selects. Logs are searched for `patience` at most; everything else is in the catalogue.
    pub(crate) fn find(
        &self,
        snapshot: &CatalogueSnapshot,
        rows: &[SessionRow<'_>],
        threads: usize,
        filter: &Filter,
        patience: Duration,
    ) -> Result<FilteredCalls, Trouble> {
        let keys = self.keys(snapshot)?;
        if filter.is_empty() {
            return Ok(FilteredCalls::new(keys.all().into(), keys, true));
        }
        // The version of the keys changes with any session, so an equal version means that the result is still right.
        let version = keys.version();
        let known = self.state().found.iter().find(|held| held.version == version && held.filter == *filter).map(|held| held.calls.clone());
        if let Some(calls) = known {
            return Ok(FilteredCalls::new(calls, keys, true));
        }
        let start = Instant::now();
        // Without the lock: a slow search must not hold up other pages.
        let (calls, whole) = snapshot.catalogued(rows, threads).calls_while(filter, Some(&keys), || start.elapsed() < patience)?;
        let calls: Arc<[ListedCall]> = calls.into();
        // An incomplete result would hide calls, and a quick one is found again as quickly.
        if whole && start.elapsed() > WORTH && !snapshot.read.partial {
            let mut state = self.state();
            // Results of older versions are never asked for again.
            state.found.retain(|held| held.version == version);
            let surplus = (state.found.len() + 1).saturating_sub(HELD);
            state.found.drain(..surplus);
            state.found.push(CachedFilter { version, filter: filter.clone(), calls: calls.clone() });
        }
        Ok(FilteredCalls::new(calls, keys, whole))
    }

    /// The keys of a snapshot's calls. Only sessions that have changed since the last time are read.
    fn keys(&self, snapshot: &CatalogueSnapshot) -> Result<Arc<CallKeys>, CatalogueError> {
        let read = |before: Option<&CallKeys>| CallKeys::read(&snapshot.library.catalogue(), &snapshot.listing, before).map(Arc::new);
        if snapshot.read.partial {
            // A partial snapshot may come from a temporary catalogue, so its keys are neither kept nor made from kept ones.
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
