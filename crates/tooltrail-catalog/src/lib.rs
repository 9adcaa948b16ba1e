//! What coding agents logged on this machine, for those who ask across all of it.
//!
//! [`store`] is the catalogue: sessions, calls, turns and usage in a file that is only a cache of the logs. [`refresh`] makes it equal to
//! what the logs say now. [`library`] is how sessions are opened. [`taken`] tells what a filter takes of them. [`search`] finds text in
//! every session. The logs are its index: they are read at memory speed, so nothing has to be built first and nothing can be stale.
//! [`keep`] copies logs before their agents delete them. [`watch`] tells what changes in them while it happens.

pub mod keep;
pub mod library;
pub mod refresh;
mod rows;
pub mod search;
pub mod store;
pub mod taken;
pub mod texts;
pub mod watch;

/// A hash map that is fast and still hard to attack with chosen keys.
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
/// The set that goes with [`Map`].
pub(crate) type Set<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;

/// Does the same to all items, on some threads. The outcomes are in order.
pub(crate) fn in_parallel<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let share = items.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let runs: Vec<_> = items.chunks(share).map(|run| scope.spawn(|| run.iter().map(&work).collect::<Vec<R>>())).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
