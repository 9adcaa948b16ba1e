//! JSON: the session, its messages and calls, with their views.

use std::io::{self, Write};
use tooltrail_model::book::{Book, Selection};

/// How it is written.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which part of the session.
    pub selection: Selection,
    /// Whether the blocks of each view are written too.
    pub views: bool,
}

/// Writes a session.
pub fn session(book: &dyn Book, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let _ = (book, options, out);
    Ok(())
}

/// Writes one call, as its entry of the session.
pub fn call(book: &dyn Book, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let _ = (book, index, out);
    Ok(())
}
