//! A cache of the calls that slow filters select, valid as long as nothing changes. What sessions and stored keys of calls decide is found again
//! each time, so that memory does not grow with the number of calls.

use crate::answer::Trouble;
use crate::snapshot::CatalogueSnapshot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tooltrail_catalog::queries::{CallTable, CallTableQuery};
use tooltrail_catalog::store::ListedCall;
use tooltrail_model::filter::Filter;
use tooltrail_model::row::SessionRow;

/// Number of cached results, the most calls of one, and the time that finding one must have taken.
const HELD: usize = 4;
const MOST: usize = 20_000;
const WORTH: Duration = Duration::from_millis(20);

/// Results of filters on all calls.
#[derive(Default)]
pub(crate) struct FilterCache {
    /// The newest last.
    found: Mutex<Vec<CachedFilter>>,
}

struct CachedFilter {
    version: u64,
    filter: Filter,
    calls: Arc<[ListedCall]>,
}

/// Whether a call stands in the text of a script.
pub(crate) fn is_inner(call: &ListedCall) -> bool {
    call.number.inner > 0
}

impl FilterCache {
    /// A part of the table of the calls that a filter selects. Logs are searched for `patience` at most; everything else is in the catalogue.
    pub(crate) fn table(
        &self,
        snapshot: &CatalogueSnapshot,
        rows: &[SessionRow<'_>],
        threads: usize,
        query: &CallTableQuery<'_>,
        patience: Duration,
    ) -> Result<CallTable, Trouble> {
        let catalogued = snapshot.catalogued(rows, threads);
        if catalogued.is_quick(query.filter) {
            return Ok(catalogued.call_table(query, None)?);
        }
        // The version changes with any session, so an equal version means that the result is still right.
        let version = snapshot.listing.calls_version();
        let known = self.found().iter().find(|held| held.version == version && held.filter == *query.filter).map(|held| held.calls.clone());
        if let Some(calls) = known {
            return Ok(catalogued.call_table(query, Some(&calls))?);
        }
        let start = Instant::now();
        // Without the lock: a slow search must not hold up other pages.
        let (calls, whole) = catalogued.calls_while(query.filter, || start.elapsed() < patience)?;
        let took = start.elapsed();
        let table = CallTable { whole, ..catalogued.call_table(query, Some(&calls))? };
        // An incomplete result would hide calls, and a quick one is found again as quickly.
        if whole && took > WORTH && calls.len() <= MOST && !snapshot.read.partial {
            let mut found = self.found();
            // Results of older versions are never asked for again.
            found.retain(|held| held.version == version);
            let surplus = (found.len() + 1).saturating_sub(HELD);
            found.drain(..surplus);
            found.push(CachedFilter { version, filter: query.filter.clone(), calls: calls.into() });
        }
        Ok(table)
    }

    fn found(&self) -> MutexGuard<'_, Vec<CachedFilter>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
