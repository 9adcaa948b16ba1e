//! What a session changed, told: which of its calls count, what files and calls are called, and all of it as a patch.

use super::{SessionChanges, private};
use crate::transcript::SessionBook;
use crate::value::Change;
use std::io::{self, Write};
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::changes::net::FileNet;
use tooltrail_model::changes::unified::{self, Names};

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

/// How files are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// For readers: those outside of the project by their whole path.
    Shown,
    /// For patches, which take relative paths only.
    Patch,
}

/// Gives `use_names` the names that a session's files and calls have. `change`: how texts are changed before anybody sees them.
pub fn with_names<T>(book: &dyn Book, paths: Paths, change: Option<&Change<'_>>, use_names: impl FnOnce(&Names<'_>) -> T) -> T {
    let transcript = book.transcript();
    // A path is seen from the directory as it is shown, which may be another one than it was.
    let project = transcript.session.project.map(str::to_owned);
    let project = if let Some(change) = change { project.map(change) } else { project };
    let path = |path: &str| match paths {
        Paths::Shown => unified::shown(path, project.as_deref()).to_owned(),
        Paths::Patch => unified::relative(path, project.as_deref()),
    };
    let call = |by: usize| transcript.calls.get(by).map(|call| call.row.r#ref.clone()).unwrap_or_default();
    use_names(&Names { path: &path, call: &call, whole: WHOLE })
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

/// Writes what changed as a patch, and says whether anything did.
pub fn patch(book: &SessionBook<'_>, which: &Which, change: Option<&Change<'_>>, out: &mut dyn Write) -> io::Result<bool> {
    with_names(book, Paths::Patch, change, |names| {
        groups(book, which, change, |groups| {
            let mut any = false;
            for group in groups {
                let patch = unified::patch(&group, names);
                any |= !patch.is_empty();
                out.write_all(patch.as_bytes())?;
            }
            Ok(any)
        })
    })
}
