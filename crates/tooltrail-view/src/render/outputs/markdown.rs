//! `md`: the session as Markdown, for a document or a comment. It is made in `render/markdown/`.

use super::{Output, OutputSource, TerminalRule};
use crate::render::markdown;

pub(super) const OUTPUT: Output = Output {
    name: "md",
    endings: &["md", "markdown"],
    media_type: "text/markdown; charset=utf-8",
    label: "Markdown",
    description: "Text for a document or a comment",
    source: OutputSource::Session,
    terminal: TerminalRule::Print,
    write: |export, out| {
        let options = markdown::MarkdownOptions { selection: export.options.selection.clone(), bodies: export.options.bodies };
        markdown::session(export.book, &options, out)
    },
};
