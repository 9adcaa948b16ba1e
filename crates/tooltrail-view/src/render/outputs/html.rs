//! `html`: one file for a browser that works offline. The page itself is made in `render/html/`.

use super::{Output, OutputSource, TerminalRule};
use crate::render::html;

pub(super) const OUTPUT: Output = Output {
    name: "html",
    endings: &["html", "htm"],
    media_type: "text/html; charset=utf-8",
    label: "Web page, works offline",
    description: "A single file for a browser",
    source: OutputSource::Session,
    terminal: TerminalRule::Refuse,
    write: |export, out| {
        let options = export.options;
        let options = html::HtmlOptions { selection: options.selection.clone(), plain: options.plain, note: options.note.clone() };
        html::session(export.book, &options, out)
    },
};
