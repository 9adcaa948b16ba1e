//! The verdict on a session in the columns of `list`.

use crate::out::{self, DIM};
use crate::table::{Align, Cell};
use anstyle::Style;
use tooltrail_model::Status;
use tooltrail_model::session_verdict::SessionVerdict;
use tooltrail_view::head::Tone;
use tooltrail_view::verdict::{VerdictCell, VerdictCells};

/// Headings of the columns.
pub(crate) const HEADS: [(&str, Align); 4] =
    [("TESTS", Align::Left), ("UNRESOLVED", Align::Right), ("LINES", Align::Right), ("COMMITS", Align::Right)];

/// The cells of a session, in the order of [`HEADS`].
pub(crate) fn cells(verdict: &SessionVerdict) -> [Cell; 4] {
    let VerdictCells { tests, unresolved, lines, commits } = VerdictCells::of(verdict);
    [tests, unresolved, lines, commits].map(cell)
}

fn cell(cell: VerdictCell) -> Cell {
    let style = match cell.tone {
        Tone::Ok => out::look(Status::Succeeded).1,
        Tone::Error => out::look(Status::Failed).1,
        Tone::Stopped => out::look(Status::TimedOut).1,
        Tone::Muted => DIM,
        _ => Style::new(),
    };
    Cell::styled(cell.text, style)
}
