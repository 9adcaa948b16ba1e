//! What coding agents logged on this machine, for those who ask across all of it.
//!
//! [`store`] is the catalogue: sessions, calls, turns and usage in a file that is only a cache of the logs. [`refresh`] makes it equal to
//! what the logs say now. [`library`] is how sessions are opened. [`keep`] copies logs before their agents delete them. [`search`] finds text in every session. The logs are its index: they are read at memory speed, so nothing has to
//! be built first and nothing can be stale.

pub mod keep;
pub mod library;
pub mod refresh;
mod rows;
pub mod search;
pub mod store;

/// A hash map that is fast and still hard to attack with chosen keys.
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
/// The set that goes with [`Map`].
pub(crate) type Set<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;
