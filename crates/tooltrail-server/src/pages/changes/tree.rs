//! The tree of changed files: directories with the files in them, each with its sign, its lines and whether its diff is whole.

use super::ReviewPage;
use crate::open_sessions::IndexedFile;
use crate::words::last_part;
use maud::{Markup, html};
use tooltrail_view::changes::ChangeKind;
use tooltrail_view::head::count;
use tooltrail_view::line::neutral;

/// Sign and word for the kind of a change.
pub(super) fn kind(kind: ChangeKind) -> (&'static str, &'static str) {
    match kind {
        ChangeKind::Added => ("A", "new file"),
        ChangeKind::Deleted => ("D", "deleted"),
        ChangeKind::Renamed => ("R", "renamed"),
        ChangeKind::Modified => ("M", "modified"),
        ChangeKind::ChangedBack => ("=", "no net change"),
        ChangeKind::Partial => ("M", "modified, not all of its text is known"),
    }
}

impl ReviewPage<'_, '_> {
    /// The files, directory by directory.
    pub(super) fn tree(&self, files: &[(usize, &IndexedFile)]) -> Markup {
        let directories = files.chunk_by(|one, next| one.1.directory() == next.1.directory());
        html! {
            div.dirs { @for files in directories {
                @let directory = files.first().map_or("", |(_, file)| file.directory());
                @if directory.is_empty() { (self.leaves(files)) }
                @else {
                    details.dir open { summary title=(neutral(directory)) { span { bdi { (neutral(directory)) } } } (self.leaves(files)) }
                }
            } }
        }
    }

    fn leaves(&self, files: &[(usize, &IndexedFile)]) -> Markup {
        html! { ul { @for (number, file) in files { li data-path=(neutral(file.facts.last_path())) { (self.leaf(*number, file)) } } } }
    }

    fn leaf(&self, number: usize, file: &IndexedFile) -> Markup {
        let facts = &file.facts;
        let (sign, word) = kind(facts.kind);
        // On the page of one file the others are elsewhere.
        let address = match self.only {
            None => format!("#file-{number}"),
            Some(_) => self.address(&[("file", number.to_string())]),
        };
        html! {
            a href=(address) data-file=(number) title=(neutral(facts.last_path())) aria-current=[(self.only == Some(number)).then_some("true")] {
                span class={ "mark " (mark_class(facts.kind)) } title=(word) { (sign) span.vh { " " (word) ": " } }
                span.n { (neutral(last_part(facts.last_path()))) }
                @if facts.gap { span.part title="The logs do not have all of its text" { "~" span.vh { " diff incomplete" } } }
                span.c { span.ok { "+" (count(facts.counts.added)) } " " span.no { "−" (count(facts.counts.removed)) } }
                span.tickmark aria-hidden="true" {}
            }
        }
    }
}

/// Class of the sign: its colour only adds to the letter.
pub(super) fn mark_class(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "t-ok",
        ChangeKind::Deleted => "t-error",
        ChangeKind::Renamed => "t-running",
        ChangeKind::Modified | ChangeKind::Partial => "t-stopped",
        ChangeKind::ChangedBack => "t-muted",
    }
}
