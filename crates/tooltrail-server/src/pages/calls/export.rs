//! `/calls.csv` and `/calls.jsonl`: the calls of a table as a file, written while it is sent.

use super::columns::{Column, Field, Told};
use super::{View, WHOLE};
use crate::answer::{Answer, Trouble};
use crate::app_state::AppState;
use crate::pipe::{self, Pipe};
use crate::request::PageRequest;
use crate::snapshot::Snapshot;
use std::collections::HashMap;
use std::io::{self, Write};
use tooltrail_catalog::store::ListedCall;
use tooltrail_formats::error::ErrorChain;
use tooltrail_model::row::{CallRow, SessionRow};
use tracing::{debug, warn};

/// For spreadsheets: the columns of the table.
pub(crate) fn csv(app: &AppState, request: &PageRequest) -> Result<Answer, Trouble> {
    file(app, request, To::Csv)
}

/// For programs: what `calls --json` prints.
pub(crate) fn jsonl(app: &AppState, request: &PageRequest) -> Result<Answer, Trouble> {
    file(app, request, To::Lines)
}

#[derive(Clone, Copy, PartialEq)]
enum To {
    Csv,
    Lines,
}

/// Begins to write a file.
fn file(app: &AppState, request: &PageRequest, to: To) -> Result<Answer, Trouble> {
    let snapshot = app.snapshot()?;
    let view = View::new(app, request);
    let filter = app.filter(view.query, &snapshot).map_err(|mistake| Trouble::Wrong(mistake.to_string()))?;
    let busy = || Trouble::Later("Too much is being written already. Ask again when that is done.".to_owned());
    let turn = app.writing.begin().ok_or_else(busy)?;
    let rows = snapshot.rows();
    let found = app.filter_cache.find(&snapshot, &rows, app.threads(), &filter, WHOLE)?;
    if !found.whole {
        return Err(Trouble::Later("This takes more than a minute to find. Narrow it down, by since:7d or by a project.".to_owned()));
    }
    let mut calls = found.calls.to_vec();
    // As the command prints them, unless an order is asked for.
    if to == To::Csv || request.word("sort").is_some() {
        view.order.sort(&mut calls, &found.keys, &rows);
    }
    drop((rows, found));
    let (mut pipe, written) = Pipe::new();
    let (columns, threads) = (view.columns.clone(), app.threads());
    std::thread::spawn(move || {
        match write(&snapshot, &calls, to, &columns, threads, &mut pipe) {
            Ok(()) => pipe::finish(pipe.end()),
            // The file is broken off there: the catalogue has gone, or mostly whoever wanted it.
            Err(error @ Trouble::Store(_)) => warn!(error = %ErrorChain(&error), "a download of calls is broken off"),
            Err(error) => debug!(%error, "a download of calls is broken off"),
        }
        drop(turn);
    });
    Ok(match to {
        To::Csv => Answer::File("text/csv; charset=utf-8", "calls.csv".to_owned(), written),
        To::Lines => Answer::File("application/x-ndjson", "calls.jsonl".to_owned(), written),
    })
}

/// How many calls are looked up at once: what is made of them waits until it is sent.
const PIECE: usize = 4096;

fn write(
    snapshot: &Snapshot,
    calls: &[ListedCall],
    to: To,
    columns: &[&'static Column],
    threads: usize,
    out: &mut dyn Write,
) -> Result<(), Trouble> {
    let gone = |error: io::Error| Trouble::Broken(error.to_string());
    let rows = snapshot.rows();
    if to == To::Csv {
        let names = columns.iter().flat_map(|column| column.fields).map(|(name, _)| Field::Text((*name).to_owned()));
        out.write_all(line(names).as_bytes()).map_err(gone)?;
    }
    let sessions: HashMap<(&str, &str), &SessionRow<'_>> = rows.iter().map(|row| ((row.agent, row.session), row)).collect();
    let told = |lines: &mut Vec<u8>, row: CallRow<'_>, _| match to {
        To::Lines => {
            // Rows are made of texts and numbers; they cannot fail to be written.
            let _ = serde_json::to_writer(&mut *lines, &row);
            lines.push(b'\n');
        }
        To::Csv => {
            let Some(session) = sessions.get(&(row.agent, row.session)) else { return };
            let told = Told { session, row: &row };
            let fields = columns.iter().flat_map(|column| column.fields).map(|(_, field)| field(&told));
            lines.extend_from_slice(line(fields).as_bytes());
        }
    };
    for piece in calls.chunks(PIECE) {
        snapshot.catalogued(&rows, threads).each_row(piece, told, |lines| out.write_all(&lines).map_err(gone))?;
    }
    Ok(())
}

/// A line of cells, as RFC 4180 has it.
fn line(fields: impl Iterator<Item = Field>) -> String {
    let cells: Vec<String> = fields.map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

/// A cell. What a spreadsheet would take for a formula is told to be a text; numbers are ours.
fn cell(field: Field) -> String {
    let text = match field {
        Field::None => return String::new(),
        Field::Number(number) => return number.to_string(),
        Field::Text(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => format!("'{text}"),
        Field::Text(text) => text,
    };
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        for (text, cell) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-rf", "'-rf"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "'\tx"),
            ("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\""),
            ("", ""),
        ] {
            assert_eq!(super::cell(Field::Text(text.to_owned())), cell, "{text}");
        }
        assert_eq!((super::cell(Field::Number(-1)).as_str(), super::cell(Field::None).as_str()), ("-1", ""));
    }
}
