//! Calls and messages as views that no output format is part of, and the outputs made from them.
//!
//! A loaded call, with its result in it, becomes a [`Head`] (one line, cheap) and, on request, a body of [`Block`]s. Blocks
//! consist of classified [`Line`]s and are independent of the output. `render/` turns heads and blocks into HTML, terminal
//! text, Markdown or JSON; `tools/` has a view for each kind of tool. Nothing here reads a file or looks for a result.
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
pub mod failures;
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
mod progress;
pub mod render;
mod replaced;
pub mod resume;
pub mod review;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod sample_files;
mod seen;
mod settings;
mod texts;
pub mod tools;
pub mod truths;
pub mod verdict;
pub mod why;

pub use block::Block;
pub use head::Head;
pub use limits::Limits;
pub use line::{Class, Line, TextRun};
pub use tooltrail_model::book::{Book, Loaded, Selection};
