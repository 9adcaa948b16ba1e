//! Freshness of snapshots: a thread compares the catalogue with the logs when a request comes and it was not just done.
//!
//! Without requests nothing happens. A request waits for the comparison, but not long: where there is much to read, pages show
//! what the catalogue already has. On the first start that is nothing, so the newest logs get a small catalogue of their own
//! first.

use crate::app_state::Setup;
use crate::machine::Machine;
use crate::snapshot::{CatalogueSnapshot, FirstReading, LogReading};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tooltrail_catalog::refresh::{is_much, refresh, refresh_elsewhere};
use tooltrail_catalog::store::{Catalogue, CatalogueError};
use tooltrail_formats::error::{ErrorChain, panic_message};
use tooltrail_formats::find::{FoundSource, LimitedLog, Search};
use tooltrail_formats::scan::{Options, Progress, may_unpack};
use tracing::{error, warn};

/// Snapshots younger than this are used as they are.
const YOUNG: Duration = Duration::from_millis(700);
/// With very many logs, snapshots stay young for longer, but for no longer than this.
const YOUNG_AT_MOST: Duration = Duration::from_secs(5);
/// Longest wait of a page for a newer snapshot.
const PATIENCE: Duration = Duration::from_millis(250);
/// Longest wait of the first page, when there is nothing to show yet.
const FIRST: Duration = Duration::from_millis(500);
/// Rest after a refresh, as a multiple of the time that it took.
const REST: u32 = 3;
/// After so long without a request, the snapshot is dropped.
const IDLE: Duration = Duration::from_secs(60);
/// Limits on the newest logs that are read first, on the first start.
const EARLY_BYTES: u64 = 48 << 20;
const EARLY_LOGS: usize = 200;

/// Keeps a snapshot of the catalogue fresh.
pub(crate) struct SnapshotSource {
    state: Mutex<RefreshState>,
    changed: Condvar,
    progress: Mutex<Arc<RefreshProgress>>,
}

/// Progress of a refresh.
#[derive(Debug, Default)]
pub(crate) struct RefreshProgress {
    /// Bytes and logs read so far.
    pub(crate) progress: Progress,
    /// The bytes of all logs; those that need no reading count as read when it is over.
    pub(crate) total: AtomicU64,
}

#[derive(Default)]
struct RefreshState {
    snapshot: Option<Arc<CatalogueSnapshot>>,
    /// Number of the last refresh that was asked for, and of the last one that is done.
    asked: u64,
    done: u64,
    /// The first reading, and the number of logs read since.
    first: Option<FirstReading>,
    newer: usize,
    /// Number of reported changes, in all and when the last comparison with the logs began.
    heard: u64,
    compared: u64,
    /// Earliest time of the next comparison. Without a rest, comparisons would take all the time there is.
    rested: Option<Instant>,
    /// How long the last comparison took.
    took: Duration,
    /// Error of the last refresh.
    problem: Option<String>,
    /// The server is ending: the thread stops.
    over: bool,
}

impl RefreshState {
    /// Age up to which a snapshot is used as it is.
    fn young(&self) -> Duration {
        (REST * self.took).clamp(YOUNG, YOUNG_AT_MOST)
    }

    /// Whether something has changed, and it is time to look.
    fn is_old(&self) -> bool {
        self.heard > self.compared && self.rested.is_none_or(|rested| Instant::now() >= rested)
    }
}

impl SnapshotSource {
    /// Starts the thread, which ends with [`SnapshotSource::stop`].
    pub(crate) fn start(machine: Arc<dyn Machine>, setup: &Setup) -> Arc<Self> {
        let fresh = Arc::new(SnapshotSource {
            // Asked for once from the start, so that reading begins before the first request.
            state: Mutex::new(RefreshState { asked: 1, ..RefreshState::default() }),
            changed: Condvar::new(),
            progress: Mutex::default(),
        });
        let (own, setup) = (Arc::clone(&fresh), setup.clone());
        std::thread::spawn(move || {
            let refresher =
                Refresher { machine: &*machine, catalogue: &setup.catalogue, place: &setup.place, options: &setup.options, fresh: &own };
            while let Some(ticket) = own.wanted() {
                let start = Instant::now();
                // A panic must not end the thread: requests would wait for it in vain from then on.
                let run = || match refresher.run() {
                    // A damaged catalogue is set aside, or its logs are read again, so a second attempt finds a sound one.
                    Err(error) if error.heal().is_some() => refresher.run(),
                    outcome => outcome,
                };
                let problem = match catch_unwind(AssertUnwindSafe(run)) {
                    Ok(Ok(())) => None,
                    Ok(Err(error)) => Some(ErrorChain(&error).to_string()),
                    Err(panic) => {
                        let said = panic_message(&*panic);
                        Some(format!("the logs could not be read; run `tooltrail check` for details: an internal error: {said}"))
                    }
                };
                if let Some(error) = &problem {
                    error!(%error, "cannot refresh what pages show");
                }
                let mut state = own.state();
                state.done = ticket;
                state.problem = problem;
                // Comparing takes longer with more logs; resting in proportion keeps its share of the processor small.
                state.took = start.elapsed();
                state.rested = Some(Instant::now() + REST * state.took);
                own.changed.notify_all();
            }
        });
        fresh
    }

    /// The snapshot, refreshed where it is old; `None` if nothing has been read yet.
    pub(crate) fn snapshot(&self) -> Option<Arc<CatalogueSnapshot>> {
        let mut state = self.state();
        if let Some(snapshot) =
            state.snapshot.as_ref().filter(|snapshot| snapshot.made.elapsed() < state.young() && !snapshot.read.partial && !state.is_old())
        {
            return Some(Arc::clone(snapshot));
        }
        // A refresh that is already under way serves this request too.
        if state.done == state.asked {
            state.asked += 1;
            self.changed.notify_all();
        }
        let ticket = state.asked;
        let wait = |state, patience, waiting: fn(&RefreshState, u64) -> bool| {
            let waited = self.changed.wait_timeout_while(state, patience, |state| waiting(state, ticket));
            waited.unwrap_or_else(PoisonError::into_inner).0
        };
        // First a short wait for a fresh snapshot; if there is none at all, a longer one, because the page would be empty.
        let state = wait(state, PATIENCE, |state, ticket| state.done < ticket);
        let state = wait(state, FIRST, |state, ticket| state.done < ticket && state.snapshot.is_none());
        state.snapshot.clone()
    }

    /// Notes that something has changed, so that the next request looks at the logs.
    pub(crate) fn expire(&self) {
        self.state().heard += 1;
    }

    /// Waits until everything has been read once, or reading has failed.
    pub(crate) fn wait_until_read(&self) {
        self.snapshot();
        let reading = |state: &mut RefreshState| {
            let whole = state.snapshot.as_ref().is_some_and(|snapshot| !snapshot.read.partial);
            !whole && state.problem.is_none() && !state.over
        };
        drop(self.changed.wait_while(self.state(), reading));
    }

    /// Whether something has changed that a snapshot does not have. A page may ask this about an older snapshot than the latest.
    pub(crate) fn is_old(&self, snapshot: &CatalogueSnapshot) -> bool {
        let state = self.state();
        // If comparing fails, loading the page again does not help; it shows the problem instead.
        state.problem.is_none() && state.heard > snapshot.heard
    }

    /// The latest snapshot as it is. Only if there is none is it waited for.
    pub(crate) fn latest_snapshot(&self) -> Option<Arc<CatalogueSnapshot>> {
        let known = self.state().snapshot.clone();
        known.or_else(|| self.snapshot())
    }

    /// The next whole snapshot that is not the one made at this time; `None` at the end.
    pub(crate) fn next_snapshot(&self, known: Option<Instant>) -> Option<Arc<CatalogueSnapshot>> {
        let is_next = |snapshot: &Arc<CatalogueSnapshot>| !snapshot.read.partial && Some(snapshot.made) != known;
        let waiting = |state: &mut RefreshState| !state.over && !state.snapshot.as_ref().is_some_and(is_next);
        let state = self.changed.wait_while(self.state(), waiting).unwrap_or_else(PoisonError::into_inner);
        state.snapshot.as_ref().filter(|_| !state.over).map(Arc::clone)
    }

    /// Whether no newer snapshot has been made, and the server goes on.
    pub(crate) fn is_latest(&self, snapshot: &CatalogueSnapshot) -> bool {
        let state = self.state();
        // A snapshot that was dropped because no request came is still the latest one.
        !state.over && state.snapshot.as_ref().is_none_or(|latest| latest.made == snapshot.made)
    }

    /// The error of the last refresh.
    pub(crate) fn problem(&self) -> Option<String> {
        self.state().problem.clone()
    }

    /// Progress of the current refresh; `None` if there is none.
    pub(crate) fn work(&self) -> Option<Arc<RefreshProgress>> {
        let state = self.state();
        (state.done < state.asked).then(|| Arc::clone(&self.progress.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.state().over = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, RefreshState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a snapshot is asked for. Gives the number of the request, or `None` at the end.
    fn wanted(&self) -> Option<u64> {
        let idle = |state: &mut RefreshState| state.done == state.asked && !state.over;
        let (mut state, waited) = self.changed.wait_timeout_while(self.state(), IDLE, idle).unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            // A snapshot keeps a database connection and rows in memory, which nothing needs while no request comes.
            state.snapshot = None;
            state = self.changed.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
        }
        // Set before the logs are looked at: a change that is reported meanwhile may have been missed, and counts as new.
        state.compared = state.heard;
        (!state.over).then_some(state.asked)
    }

    /// Counts the logs that a refresh has read, and gives how the first one went and how much was read since.
    fn count(&self, read: usize, logs: usize, took: Duration) -> (FirstReading, usize) {
        let mut state = self.state();
        match state.first {
            None => state.first = Some(FirstReading { read, logs, took }),
            Some(_) => state.newer += read,
        }
        (state.first.unwrap_or_default(), state.newer)
    }

    fn show(&self, mut snapshot: CatalogueSnapshot) {
        let mut state = self.state();
        if let Some(before) = &state.snapshot {
            // Details of live sessions are only in memory; without this, each snapshot would read their logs again.
            snapshot.library.share_memory(&before.library);
        }
        state.snapshot = Some(Arc::new(snapshot));
        drop(state);
        self.changed.notify_all();
    }

    fn shows_any(&self) -> bool {
        self.state().snapshot.is_some()
    }
}

struct Refresher<'a> {
    machine: &'a dyn Machine,
    catalogue: &'a Path,
    place: &'a Path,
    options: &'a Options,
    fresh: &'a SnapshotSource,
}

impl Refresher<'_> {
    fn run(&self) -> Result<(), CatalogueError> {
        let start = Instant::now();
        // Changes that are reported from here on may have been written after their log was looked at.
        let heard = self.fresh.state().compared;
        let search = self.machine.search();
        let mut read = LogReading {
            logs: search.files.len(),
            bytes: search.files.iter().map(|found| found.size).sum(),
            looked: search.looked.clone(),
            problems: search.problems.iter().map(|problem| ErrorChain(problem).to_string()).collect(),
            ..LogReading::default()
        };
        let work = Arc::new(RefreshProgress { total: AtomicU64::new(read.bytes), ..RefreshProgress::default() });
        *self.fresh.progress.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&work);
        let mut catalogue = Catalogue::open(self.catalogue)?;
        if !self.fresh.shows_any() {
            self.begin(&catalogue, &search, &read)?;
        }
        // A process of its own gives the memory back when it is done.
        let elsewhere = || self.machine.fill(&|bytes| work.progress.bytes.store(bytes, Ordering::Relaxed));
        let is_new = catalogue.is_new();
        let recovered = catalogue.take_recovery();
        if is_new && is_much(search.files.iter()) {
            // A new file gets its name when it is filled, so this one must not be in its place.
            drop(catalogue);
            elsewhere();
            catalogue = Catalogue::open(self.catalogue)?;
        }
        // Another process cannot fill a file that has no name yet.
        let is_nameless = catalogue.is_new();
        let elsewhere = || !is_nameless && elsewhere();
        let outcome = refresh_elsewhere(&mut catalogue, &search, self.options, self.machine.now().time, &work.progress, &elsewhere)?;
        // Logs that had not changed were not read, and count as read now.
        work.progress.bytes.store(work.total.load(Ordering::Relaxed), Ordering::Relaxed);
        read.problems.extend(outcome.problems.iter().map(|problem| ErrorChain(problem).to_string()));
        read.problems.extend(outcome.limited.iter().map(LimitedLog::to_string));
        read.problems.extend(recovered.into_iter().chain(catalogue.take_recovery()).map(|recovery| recovery.to_string()));
        // Another process may have filled the new catalogue, and what that one read is not in `outcome`.
        let first = if is_new { read.logs } else { outcome.read };
        (read.first, read.newer) = self.fresh.count(first, read.logs, start.elapsed());
        self.machine.refreshed(&search);
        self.fresh.show(CatalogueSnapshot { heard, ..CatalogueSnapshot::new(catalogue, self.machine.keep(), self.machine.now(), read)? });
        Ok(())
    }

    /// Shows something while everything is read: the catalogue as it was stored, or a catalogue of the newest logs.
    fn begin(&self, catalogue: &Catalogue, search: &Search, read: &LogReading) -> Result<(), CatalogueError> {
        let read = LogReading { partial: true, ..read.clone() };
        if !catalogue.is_new() {
            let stored = Catalogue::open(self.catalogue)?;
            self.fresh.show(CatalogueSnapshot::new(stored, self.machine.keep(), self.machine.now(), read)?);
            return Ok(());
        }
        // Little enough to be read completely while the first page waits.
        if read.bytes <= EARLY_BYTES {
            return Ok(());
        }
        // Not fatal: without a temporary catalogue the first page waits longer.
        let place = match tempfile::tempdir_in(self.place) {
            Ok(place) => place,
            Err(error) => {
                warn!(path = ?self.place, %error, "no place for a first index; the first page waits");
                return Ok(());
            }
        };
        let mut few = Catalogue::open(&place.path().join("newest.sqlite"))?;
        let newest = Search { files: newest(&search.files), ..Search::default() };
        refresh(&mut few, &newest, self.options, self.machine.now().time, &Progress::default())?;
        let snapshot = CatalogueSnapshot::new(few, self.machine.keep(), self.machine.now(), read)?;
        self.fresh.show(CatalogueSnapshot { _place: Some(place), ..snapshot });
        Ok(())
    }
}

/// The logs that were written last, as many as can be read in a moment.
fn newest(files: &[FoundSource]) -> Vec<FoundSource> {
    let mut order: Vec<&FoundSource> = files.iter().collect();
    order.sort_by_key(|found| std::cmp::Reverse(found.modified));
    let mut left = EARLY_BYTES;
    // A log that does not fit is skipped, not the end: one huge log must not hide all others. Nobody knows how much a compressed one has.
    let fits = |found: &&&FoundSource| {
        let fits = found.size <= left && !may_unpack(found);
        left -= if fits { found.size } else { 0 };
        fits
    };
    order.iter().filter(fits).take(EARLY_LOGS).map(|found| (*found).clone()).collect()
}
