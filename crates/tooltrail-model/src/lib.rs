//! The model of a session: normalised events, their assembly into calls, turns and sessions, and the outcome of every call.
//!
//! Nothing here does IO, looks at the clock or knows an agent's spelling. The flow has two layers:
//!
//! 1. [`Assembler`]: the events of one source, in order, become a [`Summary`]. A pure function of that source's bytes.
//! 2. [`Linker`]: all summaries, in any order, become calls and sessions with their copies, subagents, background tasks and
//!    token usage settled. A pure function of the set of summaries.
//!
//! `running` and `unanswered` are distinguished last, when rows are made, from a [`Now`] that the caller passes in.

pub mod assemble;
pub mod book;
pub mod changes;
pub mod claims;
pub mod command;
pub mod content;
pub mod detail;
pub mod digest;
pub mod event;
pub mod failure_group;
pub mod failure_hint;
pub mod filter;
pub mod issue;
pub mod json_line;
pub mod kind;
pub mod link;
pub mod patch;
pub mod polls;
pub mod position;
pub mod reported;
pub mod row;
pub mod script;
pub mod session_verdict;
pub mod status;
pub mod summary;
pub mod text;
pub mod time;
pub mod transcript;
pub mod usage;
pub mod verdict;
pub mod visible;
pub mod waterfall;

pub use assemble::Assembler;
pub use event::{Event, Fact, Scope};
pub use kind::Kind;
pub use link::{Linked, Linker, Now};
pub use position::{At, Span};
pub use status::{Reason, Status};
pub use summary::Summary;
pub use time::Time;

/// A hash map that is fast and still hard to attack with chosen keys. The crates above use it too, so that there is one choice of hasher.
pub type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
/// A hash set with the hasher of [`Map`].
pub type Set<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;
