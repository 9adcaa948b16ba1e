//! Outputs, one file each. HTML, terminal escapes and Markdown are written only here.
//!
//! Each output writes a whole session from a [`Book`](crate::Book), entry by entry, so that memory does not grow with the session.
//! `walk.rs`, `brief.rs` and `markup.rs` are shared by them.

mod brief;
pub mod html;
pub mod json;
pub mod markdown;
mod markup;
pub mod terminal;
mod walk;

pub(crate) use markup::words;
