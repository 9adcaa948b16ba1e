//! `json`: the session as one document for programs, described in docs/json.md. It is made in `render/json.rs`.

use super::{Output, OutputSource, TerminalRule};
use crate::render::json;

pub(super) const OUTPUT: Output = Output {
    name: "json",
    endings: &["json"],
    media_type: "application/json",
    label: "JSON, for programs",
    description: "For programs",
    source: OutputSource::Session,
    terminal: TerminalRule::Print,
    write: |export, out| {
        let options = json::JsonOptions { selection: export.options.selection.clone(), ..json::JsonOptions::default() };
        json::session(export.book, &options, out)
    },
};
