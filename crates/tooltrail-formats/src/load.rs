//! Loading: one record read again by its position, for details that a scan leaves in the log. Completes rows of calls with a title and with
//! the outcome of their command. Whole calls, with their results, are opened by `transcript`.

use crate::shelf::Shelf;
use crate::value::Payloads;
use crate::{DetailRequest, Record, format_of};
use serde_json::Value;
use tooltrail_model::detail::{Detail, Detailed};
use tooltrail_model::row::CallRow;
use tooltrail_model::{At, Kind};
use tooltrail_shell::CommandLine;

/// The longest record that is read for a row.
pub const LONGEST: u64 = 4 << 20;

/// The command line of a call that runs one, as its record of the request has it.
pub fn command(record: &[u8], line: u64, row: &CallRow<'_>) -> Option<String> {
    match asked(record, line, row)?.detail {
        Detail::Shell(shell) => Some(shell.command),
        _ => None,
    }
}

/// A call in neutral form, from the record of its request alone.
pub fn asked(record: &[u8], line: u64, row: &CallRow<'_>) -> Option<Detailed> {
    open(record, line, row, Payloads::default()).map(|(_, detailed)| detailed)
}

/// The payloads from which a title is made. A command is parsed as a whole, and a patch names its files anywhere; of everything else a
/// title shows no more than the beginning, and a `Write` may carry a whole file.
fn title_payloads(kind: Kind) -> Payloads<'static> {
    match kind {
        Kind::Shell | Kind::Edit | Kind::Other => Payloads::default(),
        _ => Payloads::beginnings(),
    }
}

/// The input of a call, and the call in neutral form, from the record of its request alone.
fn open(record: &[u8], line: u64, row: &CallRow<'_>, payloads: Payloads<'_>) -> Option<(Value, Detailed)> {
    let format = format_of(row.agent)?;
    // The span is not needed: nothing that is asked for here refers to a position in the log.
    let at = At { line, ..At::default() };
    let input = format.open(Record { at, bytes: record }).ok()?.request(row.call, payloads)?.input;
    let detailed = format.detail(&DetailRequest {
        tool: row.tool,
        server: row.server,
        kind: row.kind,
        status: row.status,
        input: &input,
        seen: &[],
        produced: None,
        answered: false,
    });
    Some((input, detailed))
}

/// The title of a call, from the record of its request.
pub fn about(record: &[u8], line: u64, row: &CallRow<'_>) -> Option<String> {
    let (input, detailed) = open(record, line, row, title_payloads(row.kind))?;
    Some(detailed.detail.about(&input, row.cwd)?.text())
}

/// Completes a row from the record of its request: what the call is about, and what its command says about the outcome.
pub fn complete(record: &[u8], line: u64, row: &mut CallRow<'_>) -> Option<CommandLine> {
    let (input, detailed) = open(record, line, row, title_payloads(row.kind))?;
    row.about = detailed.detail.about(&input, row.cwd).map(|title| title.text());
    if row.kind == Kind::Shell { annotate(row, &detailed.detail) } else { None }
}

/// Parses the command of a call whose detail is known, and adds to its row what the command shows about the outcome.
pub fn annotate(row: &mut CallRow<'_>, detail: &Detail) -> Option<CommandLine> {
    match detail {
        Detail::Shell(shell) => tooltrail_shell::annotate(row, &shell.command),
        _ => None,
    }
}

/// Completes a row by reading the request again from its log; a request that is not where it was leaves the row unchanged.
pub fn complete_at(shelf: &dyn Shelf, row: &mut CallRow<'_>, at: At) -> Option<CommandLine> {
    complete(&request_at(shelf, row, at)?, at.line, row)
}

/// Parses the command of a call, read again from its log, and adds to the row what it shows about the outcome. For rows whose title is
/// known already or not needed.
pub fn understand(shelf: &dyn Shelf, row: &mut CallRow<'_>, at: At) -> Option<CommandLine> {
    // Checked first: only commands say more than the row, and reading the record costs a seek.
    if row.kind != Kind::Shell {
        return None;
    }
    let told = asked(&request_at(shelf, row, at)?, at.line, row)?;
    annotate(row, &told.detail)
}

/// The title of a call, read again from its log.
pub fn about_at(shelf: &dyn Shelf, row: &CallRow<'_>, at: At) -> Option<String> {
    about(&request_at(shelf, row, at)?, at.line, row)
}

/// The record of a call's request, read again from its log; nothing if it is too long, or not where it was.
pub fn request_at(shelf: &dyn Shelf, row: &CallRow<'_>, at: At) -> Option<Vec<u8>> {
    // A request of many megabytes is a file being written; its title is not worth the wait in a list.
    if at.span.len() > LONGEST {
        return None;
    }
    shelf.bytes(row.request.file, at.span)
}
