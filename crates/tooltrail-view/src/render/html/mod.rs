//! One HTML file that works offline: outline, filters, find, keyboard; light, dark and print.
//!
//! `plan` settles the layout, `rows` draws chunks of it, `pack` draws them on all cores, packs them where there are many and
//! writes them in order, `page` surrounds them, `verdict` and `digest` stand at the head. `blocks`, `call` and `message` are parts that
//! other pages use too.

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
pub mod review;
mod rows;
#[cfg(test)]
mod sheet;
mod text;
mod verdict;
pub mod window;

pub use about::title;
pub use assets::style;
pub use call::{RowFrame, call_row};
pub use message::message_row;
pub use name::{call_name, encoded};
pub use text::line;

use crate::Block;
use crate::verdict::VerdictStrip;
use maud::Markup;
use std::io::{self, Write};
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::session_verdict::SessionVerdict;

/// Options of the HTML export.
#[derive(Clone, Debug, Default)]
pub struct HtmlOptions {
    /// Part of the session to render.
    pub selection: Selection,
    /// Whether the page is never packed, and has no scripts.
    pub plain: bool,
    /// Remark at the foot: what was redacted.
    pub note: Option<String>,
}

/// Writes a session.
pub fn session(book: &dyn Book, options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    let transcript = book.transcript();
    let plan = plan::PagePlan::new(transcript, &options.selection);
    let digest = tooltrail_model::digest::of(book, &options.selection);
    let verdict = VerdictStrip::of(&SessionVerdict::of(&digest));
    let digest = crate::digest::rows(&digest, transcript);
    let page = page::ExportPage { transcript, plan: &plan, verdict: &verdict, digest: &digest, options };
    let rows = rows::ChunkRenderer { book, plan: &plan };
    let heading = |chunk: &plan::Chunk| rows::tail(transcript, &plan, chunk);
    out.write_all(page.head().as_bytes())?;
    if options.plain {
        pack::plain(&rows, &heading, out)?
    } else {
        pack::auto(&rows, &heading, out)?
    }
    out.write_all(page.foot().as_bytes())
}

/// One block. A subagent's conversation is only named: the caller fills `details[data-thread]`.
pub fn block(block: &Block) -> Markup {
    blocks::draw(block, &rows::placeless, 0)
}
