//! Test results of sessions for the list. Found once per version of a session, and only within a time limit.
//!
//! Most are stored with their session. Where they are not yet, finding them means reading every command of a session, a millisecond or
//! two per session; a list has a hundred sessions.

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
use tooltrail_model::digest::{self, CheckRun, Digest, RunOutcome};
use tooltrail_model::row::SessionRow;
use tooltrail_view::head::{Tone, counted};
use tracing::warn;

/// Limit on the results in memory.
const KNOWN: usize = 5_000;

/// Test result of a session, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tested {
    /// Short result: `✓ then 2 edits`; empty without tests.
    pub(crate) say: String,
    /// Result as a sentence.
    pub(crate) title: String,
    /// Class of its colour.
    pub(crate) class: &'static str,
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
    fn allow(&self, snapshot: &CatalogueSnapshot, rows: &[SessionRow<'_>], place: usize) -> bool {
        !snapshot.listing.is_gone(place) && rows.get(place).is_some_and(|row| row.calls <= self.calls)
    }
}

/// Known results, by session and version.
#[derive(Default)]
pub(crate) struct Tests {
    known: Mutex<HashMap<(String, u64), Tested>>,
}

impl Tests {
    /// Test results of some sessions, as far as they are found within bounds.
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

/// Test result of a session; `None` if it cannot be opened.
fn tested(snapshot: &CatalogueSnapshot, rows: &[SessionRow<'_>], place: usize) -> Option<Tested> {
    let row = rows.get(place).filter(|row| row.calls > 0)?;
    let opened = snapshot.library.open(snapshot.listing.bundle(place)?);
    let linker = opened.inspect_err(|error| warn!(error = %ErrorChain(error), "cannot open a session for its tests")).ok()?;
    let linked = linker.link();
    let own = linked.sessions.iter().position(|session| session.agent == row.agent && *session.id == *row.session)?;
    let book = SessionBook::outline(&linked, &[own], &snapshot.now, snapshot.library.shelf());
    Some(of_digest(&digest::of(&book, &Selection::default())))
}

fn of_digest(digest: &Digest) -> Tested {
    digest.test.as_ref().map(said).unwrap_or_default()
}

fn said(run: &CheckRun) -> Tested {
    let (sign, title, tone) = match run.outcome {
        RunOutcome::Passed => ("✓", "the last tests passed", Tone::Ok),
        RunOutcome::Failed => ("✗", "the last tests failed", Tone::Error),
        // The exit code is that of another command in the line, and it is not a success either.
        RunOutcome::Masked if run.exit_code.is_some_and(|code| code != 0) => {
            ("?", "the last tests ran, and their own outcome was not recorded", Tone::Stopped)
        }
        RunOutcome::Masked => {
            ("✓?", "the success is that of another command: the outcome of the last tests was not recorded", Tone::Stopped)
        }
        RunOutcome::Unknown => ("?", "how the last tests ended was not recorded", Tone::Muted),
    };
    let edits = counted(run.edits_after, "edit");
    let (say, title) = match run.edits_after {
        0 => (sign.to_owned(), title.to_owned()),
        _ => (format!("{sign} then {edits}"), format!("{title}; {edits} since")),
    };
    Tested { say, title, class: words::class(tone) }
}
