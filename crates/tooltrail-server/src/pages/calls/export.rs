//! `/calls.csv` and `/calls.jsonl`: the calls of a table as a file, written while it is sent.

use super::columns::{CallColumn, CsvValue, TableCall};
use super::{View, WHOLE};
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::pipe::{self, Pipe};
use crate::request::PageRequest;
use crate::snapshot::CatalogueSnapshot;
use std::collections::HashMap;
use std::io::{self, Write};
use tooltrail_catalog::store::ListedCall;
use tooltrail_formats::error::ErrorChain;
use tooltrail_model::row::{CallRow, SessionRow};
use tooltrail_model::visible::neutral;
use tracing::{debug, warn};

/// The table's columns as CSV, for spreadsheets.
pub(crate) fn csv(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    file(app, request, CallFileFormat::Csv)
}

/// The rows of `calls --json`, for programs.
pub(crate) fn jsonl(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    file(app, request, CallFileFormat::Lines)
}

#[derive(Clone, Copy, PartialEq)]
enum CallFileFormat {
    Csv,
    Lines,
}

/// Starts to write a file.
fn file(app: &AppState, request: &PageRequest, to: CallFileFormat) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let view = View::new(app, request);
    let filter = app.filter(view.query, &snapshot).map_err(|mistake| Trouble::Wrong(mistake.to_string()))?;
    let busy = || Trouble::Later("Too many downloads at once. Try again later.".to_owned());
    let turn = app.writing.begin().ok_or_else(busy)?;
    let rows = snapshot.rows();
    let found = app.filter_cache.table(&snapshot, &rows, app.threads(), &view.asked(&filter, 0, usize::MAX), WHOLE)?;
    // A file that lacks calls without saying so would be wrong.
    if !found.whole {
        return Err(Trouble::Later("This search takes too long. Narrow the filter, for example with since:7d or a project.".to_owned()));
    }
    let mut calls = found.calls;
    // JSON lines come in the order of the command, unless the address names another.
    if to == CallFileFormat::Lines && request.word("sort").is_none() {
        calls.sort_unstable();
    }
    // They borrow from the snapshot, which moves to the thread.
    drop(rows);
    let (mut pipe, written) = Pipe::new();
    let (columns, threads) = (view.columns.clone(), app.threads());
    std::thread::spawn(move || {
        match write(&snapshot, &calls, to, &columns, threads, &mut pipe) {
            Ok(()) => pipe::finish(pipe.end()),
            // The response has begun, so the error can only be logged. Mostly the client has cancelled the download.
            Err(error @ Trouble::Store(_)) => warn!(error = %ErrorChain(&error), "a download of calls is broken off"),
            Err(error) => debug!(%error, "a download of calls is broken off"),
        }
        drop(turn);
    });
    Ok(match to {
        CallFileFormat::Csv => PageResponse::File("text/csv; charset=utf-8", "calls.csv".to_owned(), written),
        CallFileFormat::Lines => PageResponse::File("application/x-ndjson", "calls.jsonl".to_owned(), written),
    })
}

/// Number of calls that are read at once; their lines wait in memory until they are sent.
const PIECE: usize = 4096;

fn write(
    snapshot: &CatalogueSnapshot,
    calls: &[ListedCall],
    to: CallFileFormat,
    columns: &[&'static CallColumn],
    threads: usize,
    out: &mut dyn Write,
) -> Result<(), Trouble> {
    let gone = |error: io::Error| Trouble::Broken(error.to_string());
    let rows = snapshot.rows();
    if to == CallFileFormat::Csv {
        let names = columns.iter().flat_map(|column| column.fields).map(|(name, _)| CsvValue::Text((*name).to_owned()));
        out.write_all(line(names).as_bytes()).map_err(gone)?;
    }
    // Rows name their session by id; columns need its title, project and branch.
    let sessions: HashMap<(&str, &str), &SessionRow<'_>> = rows.iter().map(|row| ((row.agent, row.session), row)).collect();
    let told = |lines: &mut Vec<u8>, row: CallRow<'_>, _| match to {
        CallFileFormat::Lines => {
            // Serialising texts and numbers into memory cannot fail.
            let _ = serde_json::to_writer(&mut *lines, &row);
            lines.push(b'\n');
        }
        CallFileFormat::Csv => {
            let Some(session) = sessions.get(&(row.agent, row.session)) else { return };
            let told = TableCall { session, row: &row };
            let fields = columns.iter().flat_map(|column| column.fields).map(|(_, field)| field(&told));
            lines.extend_from_slice(line(fields).as_bytes());
        }
    };
    for piece in calls.chunks(PIECE) {
        snapshot.catalogued(&rows, threads).each_row(piece, told, |lines| out.write_all(&lines).map_err(gone))?;
    }
    Ok(())
}

/// A line of a CSV file (RFC 4180).
fn line(fields: impl Iterator<Item = CsvValue>) -> String {
    let cells: Vec<String> = fields.map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

/// A cell. Texts that a spreadsheet would run as a formula get an apostrophe in front; numbers are our own and need
/// none.
fn cell(field: CsvValue) -> String {
    let text = match field {
        CsvValue::None => return String::new(),
        CsvValue::Number(number) => return number.to_string(),
        CsvValue::Text(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => format!("'{text}"),
        CsvValue::Text(text) => text,
    };
    // A line feed would begin another line where the file is not read by a spreadsheet. The JSON lines have the values unchanged.
    let text = neutral(&text);
    if text.contains(['"', ',']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
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
            ("two\nlines", "two␊lines"),
            ("turned\u{202e}", "turned⟨U+202E⟩"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-rf", "'-rf"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "'    x"),
            ("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\""),
            ("", ""),
        ] {
            assert_eq!(super::cell(CsvValue::Text(text.to_owned())), cell, "{text}");
        }
        assert_eq!((super::cell(CsvValue::Number(-1)).as_str(), super::cell(CsvValue::None).as_str()), ("-1", ""));
    }
}
