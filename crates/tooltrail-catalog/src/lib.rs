//! What coding agents logged on this machine, for those who ask across all of it.
//!
//! [`search`] finds text in every session. The logs are its index: they are read at memory speed, so nothing has to be built first and
//! nothing can be stale.

pub mod search;

/// A hash map that is fast and still hard to attack with chosen keys.
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
/// The set that goes with [`Map`].
pub(crate) type Set<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;
