//! Rendering: HTML, terminal escapes, Markdown and JSON are known only here. [`outputs`] lists what a session can be exported to.
//!
//! Each output writes a whole session from a [`Book`](crate::Book), entry by entry, so that memory does not grow with the session.
//! `walk.rs`, `brief.rs` and `markup.rs` are shared by them.

mod brief;
pub mod html;
pub mod json;
pub mod markdown;
mod markup;
pub mod outputs;
pub mod terminal;
mod walk;

pub(crate) use markup::words;
