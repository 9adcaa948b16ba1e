//! What coding agents logged on this machine, for those who ask across all of it.
//!
//! [`store`] is the catalogue: sessions, calls, turns and usage in a file that is only a cache of the logs. [`refresh`] makes it equal to
//! what the logs say now. [`library`] is how sessions are opened. [`matching`] tells what a filter takes of them. [`search`] finds text in
//! every session. The logs are its index: they are read at memory speed, so nothing has to be built first and nothing can be stale.
//! [`totals`] sums up what is taken.
//! [`keep`] copies logs before their agents delete them. [`watch`] tells what changes in them while it happens.

pub mod keep;
pub mod library;
pub mod matching;
pub mod refresh;
mod rows;
pub mod search;
pub mod store;
pub mod texts;
pub mod totals;
mod version;
pub mod watch;

pub(crate) use tooltrail_model::{Map, Set};

/// Does the same to all items, on some threads. The outcomes are in order.
pub(crate) fn in_parallel<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    each(threads, items.len(), |index| work(&items[index]))
}

/// The answers to so many questions, in order, asked on several threads.
pub(crate) fn each<T: Send>(threads: usize, count: usize, ask: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = std::sync::atomic::AtomicUsize::new(0);
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
        let others: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(work)).collect();
        let mut answers = work();
        for other in others {
            answers.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        answers
    });
    answers.sort_unstable_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
