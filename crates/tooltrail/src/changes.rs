//! What a session changed, for `show --changes` and `export --to patch`.

use crate::out::DIM;
use crate::{out, table};
use std::io::{self, Write};
use tooltrail_formats::changes::{SessionChanges, private};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_formats::value::Change;
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::changes::unified::{self, Names};
use tooltrail_view::diff::Counts;
use tooltrail_view::render::terminal;
use tooltrail_view::{Block, Limits, changes};

/// What everything belongs to that is not outside.
const WHOLE: &str = "this session";

/// Which calls are asked about.
#[derive(Debug)]
pub(crate) struct Which {
    /// The turns.
    pub(crate) selection: Selection,
    /// One call, by its place in the transcript.
    pub(crate) call: Option<usize>,
}

impl Which {
    fn takes(&self, book: &dyn Book, by: usize) -> bool {
        let turn = book.transcript().calls.get(by).and_then(|call| call.turn);
        self.call.is_none_or(|call| call == by) && self.selection.takes_turn(turn)
    }
}

/// How files are named.
#[derive(Clone, Copy, PartialEq)]
enum Paths {
    /// For readers: those outside of the project by their whole path.
    Shown,
    /// For patches, which take relative paths only.
    Patch,
}

/// Gives `use_names` the names that a session's files and calls have.
fn with_names<T>(book: &dyn Book, paths: Paths, change: Option<&Change<'_>>, use_names: impl FnOnce(&Names<'_>) -> T) -> T {
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

/// Shows what changed in a terminal.
pub(crate) fn show(book: &SessionBook<'_>, which: &Which, options: &terminal::Options, out: &mut dyn Write) -> io::Result<()> {
    let limits = if options.all { Limits::WHOLE } else { Limits::PAGE };
    with_names(book, Paths::Shown, None, |names| {
        let (mut files, mut gaps, mut counts) = (0, 0, Counts::default());
        for group in SessionChanges::read(book).nets(|by| which.takes(book, by)) {
            for block in changes::blocks(&group, names, &limits) {
                terminal::blocks(book, &[block], options, out)?;
                writeln!(out)?;
                files += 1;
            }
            gaps += changes::gaps(&group);
            counts = counts.and(changes::counts(&group));
        }
        if files == 0 {
            return writeln!(out, "no edit that succeeded changed a file; commands may have, and `tooltrail show` lists them");
        }
        let Counts { added, removed } = counts;
        write!(out, "{DIM}{} changed, +{} −{}", table::counted(files, "file"), table::count(added), table::count(removed))?;
        if gaps > 0 {
            write!(out, "; {} with gaps", table::count(gaps))?;
        }
        writeln!(out, "{DIM:#}")
    })
}

/// Writes what changed as JSON, a line for each file.
pub(crate) fn json(book: &SessionBook<'_>, which: &Which) -> anyhow::Result<()> {
    let session = book.transcript().session.session;
    with_names(book, Paths::Patch, None, |names| {
        let changes_of = SessionChanges::read(book);
        out::json_lines(changes_of.nets(|by| which.takes(book, by)).flat_map(|group| changes::rows(&group, session, names)))
    })
}

/// Gives `show` a section for each file that changed. `change`: how texts are changed before anybody sees them.
pub(crate) fn sections<T>(
    book: &SessionBook<'_>,
    which: &Which,
    change: Option<&Change<'_>>,
    limits: &Limits,
    show: impl FnOnce(&mut dyn Iterator<Item = Block>) -> T,
) -> T {
    with_names(book, Paths::Shown, change, |names| {
        let read = SessionChanges::read(book);
        let mut sections = read.nets(|by| which.takes(book, by)).flat_map(|mut group| {
            if let Some(change) = change {
                private(&mut group, change);
            }
            changes::blocks(&group, names, limits)
        });
        show(&mut sections)
    })
}

/// Writes what changed as a patch, and says whether anything did. `change`: how texts are changed before anybody sees them.
pub(crate) fn patch(book: &SessionBook<'_>, which: &Which, change: Option<&Change<'_>>, out: &mut dyn Write) -> io::Result<bool> {
    with_names(book, Paths::Patch, change, |names| {
        let mut any = false;
        for mut group in SessionChanges::read(book).nets(|by| which.takes(book, by)) {
            if let Some(change) = change {
                private(&mut group, change);
            }
            let patch = unified::patch(&group, names);
            any |= !patch.is_empty();
            out.write_all(patch.as_bytes())?;
        }
        Ok(any)
    })
}
