//! What a session changed, told: which of its calls count, and what files and calls are called.

use super::{SessionChanges, private};
use crate::transcript::SessionBook;
use crate::value::Change;
use std::io;
use tooltrail_model::book::{Book, Selection};
pub use tooltrail_model::changes::PathStyle;
use tooltrail_model::changes::net::FileNet;
use tooltrail_model::changes::unified::{self, PatchNames};
use tooltrail_model::changes::{ChangeReader, ChangeSource};

/// What everything belongs to that is not outside.
const WHOLE: &str = "this session";

/// Which calls are asked about.
#[derive(Clone, Debug, Default)]
pub struct Which {
    /// The turns.
    pub selection: Selection,
    /// One call, by its place in the transcript.
    pub call: Option<usize>,
}

impl Which {
    fn takes(&self, book: &dyn Book, by: usize) -> bool {
        let turn = book.transcript().calls.get(by).and_then(|call| call.turn);
        self.call.is_none_or(|call| call == by) && self.selection.takes_turn(turn)
    }
}

/// Gives `use_names` the names that a session's files and calls have. `change`: how texts are changed before anybody sees them.
pub fn with_names<T>(book: &dyn Book, paths: PathStyle, change: Option<&Change<'_>>, use_names: impl FnOnce(&PatchNames<'_>) -> T) -> T {
    let transcript = book.transcript();
    // A path is seen from the directory as it is shown, which may be another one than it was.
    let project = transcript.session.project.map(str::to_owned);
    let project = if let Some(change) = change { project.map(change) } else { project };
    let path = |path: &str| match paths {
        PathStyle::Shown => unified::shown(path, project.as_deref()).to_owned(),
        PathStyle::Patch => unified::relative(path, project.as_deref()),
    };
    let call = |by: usize| transcript.calls.get(by).map(|call| call.row.r#ref.clone()).unwrap_or_default();
    use_names(&PatchNames { path: &path, call: &call, whole: WHOLE })
}

/// Gives `show` what changed, a group of files at a time.
pub fn groups<T>(
    book: &SessionBook<'_>,
    which: &Which,
    change: Option<&Change<'_>>,
    show: impl FnOnce(&mut dyn Iterator<Item = Vec<FileNet>>) -> T,
) -> T {
    let read = SessionChanges::read(book);
    let mut groups = read.nets(|by| which.takes(book, by)).map(|mut group| {
        if let Some(change) = change {
            private(&mut group, change);
        }
        group
    });
    show(&mut groups)
}

/// The changes of a session as an output asks for them.
pub struct SessionEdits<'a, 'b> {
    /// Opens the session as it is. Changes are found in texts that nothing was taken out of, or edits would not fit together.
    pub book: &'a dyn Fn() -> &'a SessionBook<'b>,
    /// Which calls count.
    pub which: &'a Which,
    /// How texts are changed before anybody sees them.
    pub change: Option<&'a Change<'a>>,
}

impl ChangeSource for SessionEdits<'_, '_> {
    fn read(&self, paths: PathStyle, reader: &mut ChangeReader<'_>) -> io::Result<()> {
        let book = (self.book)();
        with_names(book, paths, self.change, |names| groups(book, self.which, self.change, |groups| reader(groups, names)))
    }
}
