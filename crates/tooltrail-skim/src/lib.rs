//! A skimming JSON reader: the caller names what it wants, everything else is stepped over at the speed of memory.
//!
//! Agents' logs repeat whole files inside their records, so most bytes of a log are of no interest to a scan. [`Skim`] walks
//! one JSON text without building anything: wanted strings come back as [`Raw`] slices of the input, unwanted values are
//! skipped 64 bytes at a time (see [`blocks`](self)), however deep they nest.
//!
//! **What it accepts.** Everything that is JSON, with the values that serde_json would give (duplicate keys are handed over in
//! order, so the caller's last write wins). Beyond that it is a superset, because real logs are not always JSON:
//! - lone surrogates and invalid UTF-8 in strings decode to U+FFFD; unknown escapes (`\q`) keep both characters;
//! - raw control characters in strings are taken as they are;
//! - numbers of any size and `NaN`, `Infinity` are stepped over; [`Skim::uint`] saturates;
//! - inside a skipped value only strings and the number of brackets are checked, not their kinds nor the commas.
//!
//! What it never does: panic, recurse deeper than the caller's own code, or read past the text.

mod blocks;
mod digest;
mod raw;
mod skim;

pub use raw::Raw;
pub use skim::{ByteRange, ObjectKey, Skim, Torn, Type};
