//! Terminal text: width-aware, with colours or without, links where they are supported.

use std::io::{self, Write};
use tooltrail_model::book::{Book, Selection};

/// How it is written.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which part of the session.
    pub selection: Selection,
    /// How many columns there are.
    pub width: usize,
    /// Whether links may be written as such.
    pub links: bool,
    /// Whether every call is shown in full, rather than failures only.
    pub all: bool,
}

/// Writes a session.
pub fn session(book: &dyn Book, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let _ = (book, options, out);
    Ok(())
}

/// Writes one call in full, with its life.
pub fn call(book: &dyn Book, index: usize, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let _ = (book, index, options, out);
    Ok(())
}
