//! Everything that coding agents logged on this machine, and the ways to query all of it at once.
//!
//! [`store`] is the catalogue: sessions, calls, turns and usage in a file that is only a cache of the logs. [`refresh`] makes it equal to
//! what the logs say now. [`library`] opens sessions. [`matching`] decides which of them a filter selects. [`search`] finds text in
//! every session. The logs are its index: they are read at memory speed, so nothing has to be built first and nothing can be stale.
//! `details` makes what follows from the content of sessions: digests, errors, files, requests; `live_details` keeps it in memory
//! where it cannot be stored. [`verify`] compares the catalogue with a fresh reading. [`queries`] names what pages and commands ask about
//! all sessions. [`totals`] sums up what a filter selects, of logs that [`parts`] links a part at a time.
//! [`keep`] copies logs before their agents delete them. [`watch`] reports what changes in them while it happens.

mod details;
pub mod keep;
pub mod library;
mod live_details;
pub mod matching;
pub mod parts;
pub mod queries;
pub mod refresh;
mod rows;
pub mod search;
pub mod stop;
pub mod store;
pub mod texts;
pub mod totals;
pub mod verify;
mod version;
pub mod watch;

pub(crate) use tooltrail_model::{Map, Set};

/// Maps all items on several threads. The outcomes are in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    each(threads, items.len(), |index| work(&items[index]))
}

/// Calls `ask` with every index below `count`, on several threads. The answers are in the order of the indexes.
pub(crate) fn each<T: Send>(threads: usize, count: usize, ask: impl Fn(usize) -> T + Sync) -> Vec<T> {
    // Threads take the next index when they are free: sessions and logs differ in size by orders of magnitude, so equal
    // shares would leave most threads waiting for one.
    let next = std::sync::atomic::AtomicUsize::new(0);
    let stop = stop::Stop::current();
    let work = || {
        let mut answers = Vec::new();
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if index >= count {
                return answers;
            }
            answers.push((index, ask(index)));
        }
    };
    let mut answers = std::thread::scope(|scope| {
        // This thread works too, so with one thread nothing is spawned.
        let others: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(|| stop.run(work))).collect();
        let mut answers = work();
        for other in others {
            answers.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        answers
    });
    answers.sort_unstable_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
