//! `pr`: Markdown for the description of a pull request, with what changed. It is made in `render/markdown/pr.rs`.

use super::{Output, OutputSource, TerminalRule};
use crate::changes;
use crate::render::markdown::pr;
use tooltrail_model::changes::PathStyle;

pub(super) const OUTPUT: Output = Output {
    name: "pr",
    endings: &["md"],
    media_type: "text/markdown; charset=utf-8",
    label: "Pull request description",
    description: "Markdown for a pull request: summary, prompts, changes and failures, with the rest folded; at most 8,000 characters",
    source: OutputSource::Session,
    terminal: TerminalRule::Print,
    write: |export, out| {
        let (selection, note) = (export.options.selection.clone(), export.options.note.clone());
        let options = pr::PullRequestOptions { selection, note, most: export.options.most };
        export.changes.read(PathStyle::Shown, &mut |groups, names| {
            // Taken one by one: as soon as the text is full, no more files are looked at.
            let mut blocks = groups.flat_map(|group| changes::blocks(&group, names, &pr::CHANGE));
            pr::session(export.book, &mut blocks, &options, out)
        })
    },
};
