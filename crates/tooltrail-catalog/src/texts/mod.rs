//! Text search in logs: which calls and messages contain the texts of a filter.
//!
//! `query` has the texts to search for, `prefilter` decides which lines are worth decoding. `read` reads one log and knows nothing but its
//! bytes, so no log has to be linked where nothing was found. `resolve` then finds the call or message that each text belongs to, with the
//! logs of a bundle linked; `group` holds those logs. `single_call` searches one call, and reads only its own records. `snippet` cuts out
//! the shown part. docs/search.md says what is searched.

pub(crate) mod group;
pub mod prefilter;
mod query;
mod read;
pub(crate) mod resolve;
pub(crate) mod single_call;
mod snippet;

pub use query::Query;
pub(crate) use read::RecordTexts;

use crate::stop::{Stop, StoppableReader};
use read::LogSearcher;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::saved;

/// A query, and the means to run it.
#[derive(Clone, Copy)]
pub(crate) struct TextSearch<'s> {
    pub(crate) query: &'s Query,
    pub(crate) disk: &'s dyn ReadLogs,
    pub(crate) threads: usize,
}

/// The records with matches in the logs of a bundle, in the order of the logs.
pub(crate) type BundleTexts = Vec<Vec<RecordTexts>>;

/// Searches the logs of many bundles. `settle` is called for a bundle once all of its logs are searched; its results go to `tell` in the
/// order of the bundles, whichever thread was first. `tell` may end the search.
pub(crate) fn each_bundle<T: Send>(
    search: &TextSearch<'_>,
    bundles: &[Vec<&str>],
    settle: impl Fn(usize, BundleTexts) -> T + Sync,
    mut tell: impl FnMut(usize, T) -> ControlFlow<()>,
) {
    let stop = Stop::current();
    let work = SearchWork::new(*search, bundles, settle);
    let work = &work;
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..search.threads.clamp(1, work.tasks.len().max(1)) {
            let send = send.clone();
            let stop = stop.clone();
            scope.spawn(move || stop.run(|| work.run(&send)));
        }
        // Otherwise the loop over `receive` would never end: it ends with the last sender.
        drop(send);
        // Bundles may be finished in another order than the one they are passed on in.
        let mut early: BTreeMap<usize, T> = BTreeMap::new();
        let mut order = (0..bundles.len()).filter(|&bundle| !bundles[bundle].is_empty());
        let mut next = order.next();
        for (bundle, settled) in receive {
            early.insert(bundle, settled);
            while let Some((bundle, settled)) = next.and_then(|bundle| Some((bundle, early.remove(&bundle)?))) {
                next = order.next();
                if tell(bundle, settled).is_break() {
                    // Threads stop after their current log. The scope waits for them, so this only keeps that wait short.
                    work.stop.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    });
}

/// The state that the searching threads share.
struct SearchWork<'w, S> {
    search: TextSearch<'w>,
    bundles: &'w [Vec<&'w str>],
    settle: S,
    /// Logs to read, each with its bundle.
    tasks: Vec<(usize, usize)>,
    next: AtomicUsize,
    /// Which logs of each bundle may have something, and how many of them are still to be looked at.
    likely: Vec<Mutex<(Vec<bool>, usize)>>,
    stop: AtomicBool,
    turns: Turns,
    hasher: foldhash::fast::RandomState,
}

impl<'w, S> SearchWork<'w, S> {
    fn new(search: TextSearch<'w>, bundles: &'w [Vec<&'w str>], settle: S) -> Self {
        let unknown = |files: &Vec<&str>| Mutex::new((vec![false; files.len()], files.len()));
        SearchWork {
            search,
            bundles,
            settle,
            tasks: bundles.iter().enumerate().flat_map(|(bundle, files)| (0..files.len()).map(move |file| (bundle, file))).collect(),
            next: AtomicUsize::new(0),
            likely: bundles.iter().map(unknown).collect(),
            stop: AtomicBool::new(false),
            turns: Turns::default(),
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    /// Prefilters log after log. The thread that does the last log of a bundle searches those that passed, and settles the bundle.
    fn run<T>(&self, send: &mpsc::Sender<(usize, T)>)
    where
        S: Fn(usize, BundleTexts) -> T,
    {
        let (mut buffer, mut chunk) = (Buffer::default(), Vec::new());
        while let Some(&(bundle, file)) = self.tasks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.stop.load(Ordering::Relaxed) || Stop::current().is_over() {
                return;
            }
            let likely = self.may_have(self.bundles[bundle][file], &mut chunk);
            let mut known = self.likely[bundle].lock().unwrap_or_else(PoisonError::into_inner);
            known.0[file] = likely;
            known.1 -= 1;
            if known.1 == 0 {
                let likely = std::mem::take(&mut known.0);
                // Searching takes long, and the lock is not needed for it.
                drop(known);
                let said = self.read(bundle, &likely, &mut buffer);
                // Where a text must be missing, logs that were not read to their end prove nothing.
                if self.search.query.filter().terms().iter().any(|term| term.not) && Stop::current().is_over() {
                    return;
                }
                // The receiver has left: the search was ended.
                if send.send((bundle, (self.settle)(bundle, said))).is_err() {
                    return;
                }
            }
        }
    }

    /// Whether a log may contain a match. One that cannot be read to its end may.
    fn may_have(&self, file: &str, chunk: &mut Vec<u8>) -> bool {
        let (lead, _) = self.search.query.lead();
        let saved = || saved::may_be_beside(file);
        self.search.disk.log(file).is_ok_and(|log| lead.may_have(StoppableReader::new(log), saved, chunk).unwrap_or(true))
    }

    /// Searches the logs of a bundle, if any of them may contain a match.
    fn read(&self, bundle: usize, likely: &[bool], buffer: &mut Buffer) -> BundleTexts {
        let (_, whole) = self.search.query.lead();
        let any = likely.contains(&true);
        let read = |(&file, &likely): (&&str, &bool)| match any && (likely || !whole) && !self.stop.load(Ordering::Relaxed) {
            // With a lead only one text was looked for so far. Where any log of the bundle has it, the others may have the other
            // texts, so all are read.
            true => LogSearcher::new(&self.search, file, &self.hasher).read(&self.turns, buffer),
            false => Vec::new(),
        };
        self.bundles[bundle].iter().zip(likely).map(read).collect()
    }
}
