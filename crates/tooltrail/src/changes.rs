//! The changes of a session, for `show --changes`: as text for a terminal, or as JSON lines.

use crate::out::DIM;
use crate::{out, table};
use std::io::{self, Write};
pub(crate) use tooltrail_formats::changes::report::CallSelection;
use tooltrail_formats::changes::report::{PathStyle, groups, with_names};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Book;
use tooltrail_view::diff::LineCounts;
use tooltrail_view::render::terminal;
use tooltrail_view::{Limits, changes};

/// Shows what changed in a terminal.
pub(crate) fn show(
    book: &SessionBook<'_>,
    which: &CallSelection,
    options: &terminal::TerminalOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let limits = if options.all { Limits::WHOLE } else { Limits::PAGE };
    with_names(book, PathStyle::Shown, None, |names| {
        // Printed group by group instead of collected: a long session may have changed thousands of files.
        let (mut files, mut gaps, mut counts) = (0, 0, LineCounts::default());
        groups(book, which, None, |groups| {
            for group in groups {
                // Each block is one file.
                for block in changes::blocks(&group, names, &limits) {
                    terminal::blocks(book, &[block], options, out)?;
                    writeln!(out)?;
                    files += 1;
                }
                gaps += changes::gaps(&group);
                counts = counts.and(changes::counts(&group));
            }
            io::Result::Ok(())
        })?;
        // Commands may have changed files too, but the log does not have those changes.
        if files == 0 {
            return writeln!(out, "no successful edit changed a file; commands may have, see `tooltrail show`");
        }
        let LineCounts { added, removed } = counts;
        write!(out, "{DIM}{} changed, +{} −{}", table::counted(files, "file"), table::count(added), table::count(removed))?;
        if gaps > 0 {
            write!(out, "; {} with gaps", table::count(gaps))?;
        }
        writeln!(out, "{DIM:#}")
    })
}

/// Writes what changed as JSON, a line for each file.
pub(crate) fn json(book: &SessionBook<'_>, which: &CallSelection) -> anyhow::Result<()> {
    let session = book.transcript().session.session;
    with_names(book, PathStyle::Patch, None, |names| {
        groups(book, which, None, |groups| out::json_lines(groups.flat_map(|group| changes::rows(&group, session, names))))
    })
}
