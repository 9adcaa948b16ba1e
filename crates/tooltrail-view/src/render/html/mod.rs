//! One HTML file that works offline: outline, filters, find, keyboard; light, dark and print.
//!
//! `plan` settles what stands where, `rows` draws chunks of it, `pack` draws them on all cores, packs them where there are many and
//! writes them in order, `page` is what surrounds them,
//! `digest` what stands at its head. `blocks`, `call` and `message` are the pieces, for other pages too.

mod about;
pub mod assets;
mod blocks;
mod call;
mod digest;
mod help;
mod image;
mod message;
mod name;
mod outline;
mod pack;
mod page;
mod palette;
mod plan;
mod prose;
mod rows;
#[cfg(test)]
mod sheet;
mod text;
pub mod window;

pub use about::title;
pub use assets::style;
pub use call::{Frame, call_row};
pub use message::message_row;
pub use name::{call_name, encoded};
pub use text::line;

use crate::Block;
use maud::Markup;
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
    let transcript = book.transcript();
    let plan = plan::Plan::new(transcript, &options.selection);
    let digest = crate::digest::rows(&tooltrail_model::digest::of(book, &options.selection), transcript);
    let page = page::Page { transcript, plan: &plan, digest: &digest, options };
    let rows = rows::Rows { book, plan: &plan };
    let heading = |chunk: &plan::Chunk| rows::tail(transcript, &plan, chunk);
    out.write_all(page.head().as_bytes())?;
    if options.plain {
        pack::plain(&rows, &heading, out)?
    } else {
        pack::auto(&rows, &heading, out)?
    }
    out.write_all(page.foot().as_bytes())
}

/// One block. A subagent's conversation is only named: whoever shows it puts it into `details[data-thread]`.
pub fn block(block: &Block) -> Markup {
    blocks::draw(block, &rows::placeless, 0)
}
