//! The changes of a session for an output: which of its calls count, and the names of files and calls.

use super::{SessionChanges, private};
use crate::transcript::SessionBook;
use crate::value::RedactFn;
use crate::worktrees;
use std::io;
use tooltrail_model::book::{Book, Selection};
pub use tooltrail_model::changes::PathStyle;
use tooltrail_model::changes::net::FileNet;
use tooltrail_model::changes::unified::{self, CallPlace, PatchNames};
use tooltrail_model::changes::{ChangeReader, ChangeSource};

/// The name of everything that was not changed from outside.
const WHOLE: &str = "this session";

/// The calls that an output asks about.
#[derive(Clone, Debug, Default)]
pub struct CallSelection {
    /// The turns.
    pub selection: Selection,
    /// One call, by its place in the transcript.
    pub call: Option<usize>,
}

impl CallSelection {
    /// Whether the selection has a call, by its place in the transcript.
    pub fn takes(&self, book: &dyn Book, by: usize) -> bool {
        let Some(entry) = book.transcript().calls.get(by) else { return false };
        match self.call {
            Some(call) => call == by && self.selection.takes_turn(entry.turn),
            // What a fork copied was changed by the session that it comes from.
            None => entry.row.copy_of.is_none() && self.selection.takes_turn(entry.turn),
        }
    }
}

/// Calls `use_names` with the names of a session's files and calls. `change` redacts texts.
pub fn with_names<T>(book: &dyn Book, paths: PathStyle, change: Option<&RedactFn<'_>>, use_names: impl FnOnce(&PatchNames<'_>) -> T) -> T {
    let transcript = book.transcript();
    // Redacted before paths are made relative to it, because the paths that are shown are redacted as well.
    let project = transcript.session.project.map(str::to_owned);
    let project = if let Some(change) = change { project.map(change) } else { project };
    let project = project.as_deref();
    // A patch is for the repository, so a file in a worktree of it has the path that it has there.
    let base = |path: &str| worktrees::root(path, project).map(str::to_owned).or_else(|| project.map(str::to_owned));
    let path = |path: &str| match paths {
        PathStyle::Shown => unified::shown(path, project).to_owned(),
        PathStyle::Patch => unified::relative(path, base(path).as_deref()),
    };
    let left_out = |path: &str| unified::left_out(path, base(path).as_deref());
    let call = |by: usize| transcript.calls.get(by).map(|call| call.row.r#ref.clone()).unwrap_or_default();
    let place = |by: usize| {
        let evidence = transcript.calls.get(by)?.row.evidence;
        let (line, row) = (evidence.row.is_none().then_some(evidence.line), evidence.row.map(str::to_owned));
        Some(CallPlace { file: evidence.path().to_owned(), line, row })
    };
    use_names(&PatchNames { path: &path, left_out: &left_out, call: &call, place: &place, whole: WHOLE })
}

/// Calls `show` with the changes, a group of files at a time.
pub fn groups<T>(
    book: &SessionBook<'_>,
    which: &CallSelection,
    change: Option<&RedactFn<'_>>,
    show: impl FnOnce(&mut dyn Iterator<Item = Vec<FileNet>>) -> T,
) -> T {
    let read = SessionChanges::read(book);
    let mut groups = read.nets(|by| which.takes(book, by)).map(|mut group| {
        // After the net changes are computed: see `private`.
        if let Some(change) = change {
            private(&mut group, change);
        }
        group
    });
    show(&mut groups)
}

/// The changes of a session in the form that an output asks for.
pub struct SessionEdits<'a, 'b> {
    /// Opens the session without redaction. Changes are computed from the original texts, or edits would not fit together.
    pub book: &'a dyn Fn() -> &'a SessionBook<'b>,
    /// Which calls count.
    pub which: &'a CallSelection,
    /// Redacts texts before they are shown.
    pub change: Option<&'a RedactFn<'a>>,
}

impl ChangeSource for SessionEdits<'_, '_> {
    fn read(&self, paths: PathStyle, reader: &mut ChangeReader<'_>) -> io::Result<()> {
        let book = (self.book)();
        with_names(book, paths, self.change, |names| groups(book, self.which, self.change, |groups| reader(groups, names)))
    }
}
