//! Markdown: a heading per turn, a line per call, bodies where they matter.

use std::io::{self, Write};
use tooltrail_model::book::{Book, Selection};

/// How it is written.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which part of the session.
    pub selection: Selection,
    /// Which calls are shown in full.
    pub bodies: Bodies,
}

/// Writes a session.
pub fn session(book: &dyn Book, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let _ = (book, options, out);
    Ok(())
}

/// Which calls are shown in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bodies {
    /// All of them.
    All,
    /// Failures and edits.
    #[default]
    Telling,
    /// None.
    None,
}
