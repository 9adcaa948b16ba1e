//! Verdicts on sessions for lists. Worked out once per version of a session, and only within a time limit.
//!
//! Most are stored with their session. Where they are not yet, working one out means reading every command of a session, a millisecond or two
//! per session; a list has a hundred sessions.

use crate::snapshot::CatalogueSnapshot;
use crate::words;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tooltrail_catalog::library::Library;
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Selection;
use tooltrail_model::digest::{self, Digest};
use tooltrail_model::row::SessionRow;
use tooltrail_model::session_verdict::SessionVerdict;
use tooltrail_view::line::neutral;
use tooltrail_view::verdict::{VerdictCell, VerdictCells};
use tracing::warn;

/// Limit on the verdicts in memory.
const KNOWN: usize = 5_000;

/// A cell of a verdict, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ToldCell {
    /// What it says; empty for nothing.
    pub(crate) say: String,
    /// The same as a sentence.
    pub(crate) title: String,
    /// Class of its colour.
    pub(crate) class: &'static str,
}

/// The verdict on a session, by the columns of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tested {
    /// Tests, and any other check that failed.
    pub(crate) tests: ToldCell,
    /// Unresolved failures.
    pub(crate) open: ToldCell,
    /// Added and removed lines.
    pub(crate) changed: ToldCell,
    /// Commits and pull requests.
    pub(crate) shipped: ToldCell,
}

impl Tested {
    /// The cell of a column.
    pub(crate) fn cell(&self, column: &str) -> Option<&ToldCell> {
        match column {
            "tests" => Some(&self.tests),
            "open" => Some(&self.open),
            "changed" => Some(&self.changed),
            "shipped" => Some(&self.shipped),
            _ => None,
        }
    }

    fn of(verdict: &SessionVerdict) -> Self {
        let VerdictCells { tests, unresolved, lines, commits } = VerdictCells::of(verdict);
        let told = |cell: VerdictCell| ToldCell {
            say: neutral(&cell.text).into_owned(),
            title: neutral(&cell.title).into_owned(),
            class: words::class(cell.tone),
        };
        Tested { tests: told(tests), open: told(unresolved), changed: told(lines), shipped: told(commits) }
    }
}

/// Limits on the work for one request.
pub(crate) struct Bounds {
    /// Number of threads.
    pub(crate) threads: usize,
    /// Time limit. A session that was begun before it is finished.
    pub(crate) patience: Duration,
    /// Largest session that is read, in calls.
    pub(crate) calls: u64,
}

impl Bounds {
    /// Limits for a page, which must not wait for long.
    pub(crate) fn of_page(threads: usize) -> Self {
        Bounds { threads, patience: Duration::from_millis(60), calls: 200 }
    }

    /// Limits for the script that asks again.
    pub(crate) fn of_script(threads: usize) -> Self {
        Bounds { threads, patience: Duration::from_secs(5), calls: u64::MAX }
    }

    fn allow(&self, snapshot: &CatalogueSnapshot, rows: &[SessionRow<'_>], place: usize) -> bool {
        let is_small = || rows.get(place).is_some_and(|row| row.calls <= self.calls);
        // The logs of a small session may be those of tens of thousands of others.
        let is_quick = || self.calls == u64::MAX || snapshot.library.is_large(&snapshot.listing, place).is_ok_and(|is| !is);
        !snapshot.listing.is_gone(place) && is_small() && is_quick()
    }
}

/// Known verdicts, by session and version.
#[derive(Default)]
pub(crate) struct Tests {
    known: Mutex<HashMap<(String, u64), Tested>>,
}

impl Tests {
    /// Verdicts on some sessions, as far as they are worked out within bounds.
    pub(crate) fn of(
        &self,
        snapshot: &CatalogueSnapshot,
        rows: &[SessionRow<'_>],
        places: &[usize],
        bounds: &Bounds,
    ) -> HashMap<usize, Tested> {
        let key = |place: usize| rows.get(place).map(|row| (row.session.to_owned(), snapshot.listing.version(place)));
        let mut told: HashMap<usize, Tested> = HashMap::new();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        told.extend(places.iter().filter_map(|&place| Some((place, known.get(&key(place)?)?.clone()))));
        // Not held while logs are read: other pages have known results to show.
        drop(known);
        // Those that are stored need no log, however large the session is.
        let stored = |place: usize| snapshot.library.digest(&snapshot.listing, rows.get(place)?, place);
        let unknown: Vec<usize> = places.iter().copied().filter(|place| !told.contains_key(place)).collect();
        told.extend(unknown.into_iter().filter_map(|place| Some((place, of_digest(&stored(place)?)))));
        let open: Vec<usize> =
            places.iter().copied().filter(|place| !told.contains_key(place) && bounds.allow(snapshot, rows, *place)).collect();
        let (start, next, found) = (Instant::now(), AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            // Threads take the next session from a shared counter, because sessions differ much in size.
            while start.elapsed() < bounds.patience
                && let Some(&place) = open.get(next.fetch_add(1, Ordering::Relaxed))
            {
                if let Some(tested) = tested(snapshot, rows, place) {
                    found.lock().unwrap_or_else(PoisonError::into_inner).push((place, tested));
                }
            }
        };
        std::thread::scope(|scope| {
            // One less than there are threads: this thread works too.
            for _ in 1..bounds.threads.min(open.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Versions that are out of date never leave the map by themselves; emptying it is rare and costs one slow page.
        if known.len() > KNOWN {
            known.clear();
        }
        for (place, tested) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
            known.extend(key(place).map(|key| (key, tested.clone())));
            told.insert(place, tested);
        }
        told
    }
}

/// Verdict on a session; `None` if it cannot be opened.
fn tested(snapshot: &CatalogueSnapshot, rows: &[SessionRow<'_>], place: usize) -> Option<Tested> {
    let row = rows.get(place).filter(|row| row.calls > 0)?;
    let opened = snapshot.library.open(snapshot.listing.bundle(place)?);
    let linker = opened.inspect_err(|error| warn!(error = %ErrorChain(error), "cannot open a session for its verdict")).ok()?;
    let linked = linker.link();
    let own = linked.session_with_id(row.agent, row.session)?;
    // The conversation is read too, because a verdict quotes the last answer.
    let book = SessionBook::read(&linked, &[own], &snapshot.now, snapshot.library.disk(), None);
    Some(of_digest(&digest::of(&book, &Selection::default())))
}

fn of_digest(digest: &Digest) -> Tested {
    Tested::of(&SessionVerdict::of(digest))
}
