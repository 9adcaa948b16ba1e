//! Calls and messages as neutral views, and the outputs made of them.
//!
//! A call that was loaded, with its result already in it, becomes a [`Head`] (cheap: one line) and, when asked, a body of [`Block`]s.
//! Blocks are made of classified [`Line`]s and know no output format. `render/` turns heads and blocks into HTML, terminal text,
//! Markdown or JSON; `tools/` knows how each kind of tool is shown. Nothing here reads a file or looks for a result.
//!
//! Control characters are neutralised when lines are made, so no output can print one by accident.

pub mod ansi;
pub mod block;
pub mod call;
pub mod changes;
pub mod course;
pub mod cut;
pub mod diff;
pub mod digest;
pub mod head;
pub mod highlight;
mod hooks;
pub mod json;
mod life;
pub mod limits;
pub mod line;
pub mod links;
pub mod messages;
mod outcome;
pub mod pieces;
pub mod place;
pub mod redact;
pub mod render;
pub mod resume;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod sample_files;
mod seen;
mod texts;
pub mod tools;
pub mod truths;
pub mod why;

pub use block::Block;
pub use head::Head;
pub use limits::Limits;
pub use line::{Class, Line, Run};
pub use tooltrail_model::book::{Book, Loaded, Selection};
