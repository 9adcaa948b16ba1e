//! Which calls and messages have the texts that a filter asks about, told by the logs themselves.
//!
//! `query` is what is looked for, `prefilter` which lines are worth decoding. `read` reads one log and knows nothing but its bytes, so no
//! log has to be linked where nothing was found. `resolve` then tells whose each text is, with the logs that belong together linked;
//! `group` says which do. `snippet` cuts out what is shown. What is searched is written down in docs/search.md.

pub(crate) mod group;
pub mod prefilter;
mod query;
mod read;
pub(crate) mod resolve;
mod snippet;

pub use query::Query;
pub(crate) use read::Saying;

use read::Reader;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::shelf::Shelf;

/// What is looked for, and where logs are read from.
#[derive(Clone, Copy)]
pub(crate) struct Search<'s> {
    pub(crate) query: &'s Query,
    pub(crate) shelf: &'s dyn Shelf,
    pub(crate) threads: usize,
}

/// What was found in the logs of a bundle, in the order of the logs.
pub(crate) type Sayings = Vec<Vec<Saying>>;

/// Reads the logs of many bundles. What was found in a bundle is settled as soon as all of its logs are read, and told in the order of
/// the bundles, whichever thread was first. `tell` may end it.
pub(crate) fn each_bundle<T: Send>(
    search: &Search<'_>,
    bundles: &[Vec<&str>],
    settle: impl Fn(usize, Sayings) -> T + Sync,
    mut tell: impl FnMut(usize, T) -> ControlFlow<()>,
) {
    let work = Work::new(*search, bundles, settle);
    let work = &work;
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..search.threads.clamp(1, work.tasks.len().max(1)) {
            let send = send.clone();
            scope.spawn(move || work.run(&send));
        }
        drop(send);
        // Bundles may be done in another order than they are told in.
        let mut early: BTreeMap<usize, T> = BTreeMap::new();
        let mut order = (0..bundles.len()).filter(|&bundle| !bundles[bundle].is_empty());
        let mut next = order.next();
        for (bundle, settled) in receive {
            early.insert(bundle, settled);
            while let Some((bundle, settled)) = next.and_then(|bundle| Some((bundle, early.remove(&bundle)?))) {
                next = order.next();
                if tell(bundle, settled).is_break() {
                    work.stop.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    });
}

/// What the threads share.
struct Work<'w, S> {
    search: Search<'w>,
    bundles: &'w [Vec<&'w str>],
    settle: S,
    /// Logs to read, each with its bundle.
    tasks: Vec<(usize, usize)>,
    next: AtomicUsize,
    /// What was found in the logs of each bundle so far, and how many of them are still to be read.
    found: Vec<Mutex<(Sayings, usize)>>,
    stop: AtomicBool,
    turns: Turns,
    hasher: foldhash::fast::RandomState,
}

impl<'w, S> Work<'w, S> {
    fn new(search: Search<'w>, bundles: &'w [Vec<&'w str>], settle: S) -> Self {
        let empty = |files: &Vec<&str>| Mutex::new((files.iter().map(|_| Vec::new()).collect(), files.len()));
        Work {
            search,
            bundles,
            settle,
            tasks: bundles.iter().enumerate().flat_map(|(bundle, files)| (0..files.len()).map(move |file| (bundle, file))).collect(),
            next: AtomicUsize::new(0),
            found: bundles.iter().map(empty).collect(),
            stop: AtomicBool::new(false),
            turns: Turns::default(),
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    /// Reads log after log. Whoever reads the last one of a bundle settles it.
    fn run<T>(&self, send: &mpsc::Sender<(usize, T)>)
    where
        S: Fn(usize, Sayings) -> T,
    {
        let mut buffer = Buffer::default();
        while let Some(&(bundle, file)) = self.tasks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let reader = Reader::new(&self.search, self.bundles[bundle][file], &self.hasher);
            let sayings = reader.read(&self.turns, &mut buffer);
            let mut found = self.found[bundle].lock().unwrap_or_else(PoisonError::into_inner);
            found.0[file] = sayings;
            found.1 -= 1;
            if found.1 == 0 {
                let all = std::mem::take(&mut found.0);
                drop(found);
                if send.send((bundle, (self.settle)(bundle, all))).is_err() {
                    return;
                }
            }
        }
    }
}
