//! Outputs, one file each. Only here anybody knows HTML, terminal escapes or Markdown.
//!
//! Each output writes a whole session from a [`Book`](crate::Book), entry by entry, so that memory does not grow with the session.
//! `walk.rs`, `brief.rs` and `markup.rs` hold what they share.

mod brief;
pub mod html;
pub mod json;
pub mod markdown;
mod markup;
pub mod terminal;
mod walk;

pub(crate) use markup::words;
