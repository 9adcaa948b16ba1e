//! Loading: one record read again by its position, for details that a scan leaves in the log. Completes rows of calls with a title and with
//! the outcome of their command. Whole calls, with their results, are opened by `transcript`.

use crate::disk::ReadLogs;
use crate::value::Payloads;
use crate::{DetailRequest, Format, Record, format_of};
use serde_json::Value;
use tooltrail_model::detail::{Detail, Detailed};
use tooltrail_model::filter::content;
use tooltrail_model::row::CallRow;
use tooltrail_model::summary::CallRecord;
use tooltrail_model::{At, Kind, Span};
use tooltrail_shell::CommandLine;

/// The longest record that is read for a row.
pub const LONGEST: u64 = 4 << 20;

/// The records that have the input of a call: the request, and the record of the hook that replaced its input.
#[derive(Clone, Copy, Debug)]
pub struct InputRecords<'b> {
    /// The record of the request.
    pub request: &'b [u8],
    /// Its number.
    pub line: u64,
    /// The record at [`CallRow::replacement`]. Without it the call is told by what the model requested.
    pub replacement: Option<&'b [u8]>,
}

/// The command line of a call that runs one, as its record of the request has it.
pub fn command(record: &[u8], line: u64, row: &CallRow<'_>) -> Option<String> {
    match asked(InputRecords { request: record, line, replacement: None }, row)?.detail {
        Detail::Shell(shell) => Some(shell.command),
        _ => None,
    }
}

/// A call in neutral form, from the records of its input alone.
pub fn asked(records: InputRecords<'_>, row: &CallRow<'_>) -> Option<Detailed> {
    open(records, row, Payloads::default()).map(|(_, detailed)| detailed)
}

/// A call in neutral form, from the record of its request, with what the tool produced where that record is given.
pub fn asked_with(records: InputRecords<'_>, row: &CallRow<'_>, result: Option<&[u8]>) -> Option<Detailed> {
    let Some(result) = result else { return asked(records, row) };
    let (input, told) = open(records, row, Payloads::default())?;
    let format = format_of(row.agent)?;
    let open = format.open(Record { at: At { line: records.line, ..At::default() }, bytes: result }).ok()?;
    let Some(answer) = open.result(row.call, Payloads::default()) else { return Some(told) };
    Some(format.detail(&DetailRequest {
        tool: row.ran(),
        server: row.server,
        kind: row.kind,
        status: row.status,
        input: &input,
        seen: &answer.seen,
        produced: answer.produced.as_ref(),
        answered: true,
    }))
}

/// The payloads from which a title is made. A command is parsed as a whole, the steps of a plan are counted, and a patch names its files
/// anywhere in a text; of everything else a title shows no more than the beginning, and a `Write` may carry a whole file.
fn title_payloads(row: &CallRow<'_>) -> Payloads<'static> {
    // Inputs with fields of their own name the file of an edit in one of them.
    let has_patches = || format_of(row.agent).is_none_or(|format| !format.has_plain_inputs());
    match row.kind {
        Kind::Shell | Kind::Script | Kind::Plan => Payloads::default(),
        Kind::Edit | Kind::Other if has_patches() => Payloads::default(),
        _ => Payloads::beginnings(),
    }
}

/// The input of a call, and the call in neutral form, from the record of its request alone.
fn open(records: InputRecords<'_>, row: &CallRow<'_>, payloads: Payloads<'_>) -> Option<(Value, Detailed)> {
    let format = format_of(row.agent)?;
    // The span is not needed: nothing that is asked for here refers to a position in the log.
    let at = At { line: records.line, ..At::default() };
    let replaced = || replaced(format, row, records.replacement?);
    let requested = || Some(format.open(Record { at, bytes: records.request }).ok()?.request(row.call, payloads)?.input);
    Some(detailed(format, row, replaced().or_else(requested)?))
}

/// The input of a call that the record of a hook has.
fn replaced(format: &dyn Format, row: &CallRow<'_>, record: &[u8]) -> Option<Value> {
    let at = At { line: row.replacement?.line, ..At::default() };
    // Whole, because hooks replace little more than commands.
    let hooks = format.open(Record { at, bytes: record }).ok()?.hooks(Payloads::default());
    hooks
        .into_iter()
        .filter(|hook| hook.call.as_deref().is_none_or(|call| call == row.call))
        .find_map(|hook| hook.input)
        .map(|input| *input)
}

/// A call in neutral form, from its input alone, and the input.
fn detailed(format: &dyn Format, row: &CallRow<'_>, input: Value) -> (Value, Detailed) {
    let detailed = format.detail(&DetailRequest {
        tool: row.ran(),
        server: row.server,
        kind: row.kind,
        status: row.status,
        input: &input,
        seen: &[],
        produced: None,
        answered: false,
    });
    (input, detailed)
}

/// The title of a call, from the records of its input.
pub fn about(records: InputRecords<'_>, row: &CallRow<'_>) -> Option<String> {
    let (input, detailed) = open(records, row, title_payloads(row))?;
    Some(detailed.detail.about(&input, row.cwd)?.text())
}

/// Adds to a row what the call is about, its command and file, and what the command says about the outcome.
fn complete_with(row: &mut CallRow<'_>, (input, detailed): &(Value, Detailed)) -> Option<CommandLine> {
    row.about = detailed.detail.about(input, row.cwd).map(|title| title.text());
    if let Detail::Shell(shell) = &detailed.detail {
        row.command = Some(shell.command.clone());
    }
    content::paths(&detailed.detail, &mut |path| row.path = row.path.take().or_else(|| Some(path.to_owned())));
    if matches!(row.kind, Kind::Shell | Kind::Script) { annotate(row, &detailed.detail) } else { None }
}

/// Parses the command of a call whose detail is known, and adds to its row what the command shows about the outcome.
pub fn annotate(row: &mut CallRow<'_>, detail: &Detail) -> Option<CommandLine> {
    match detail {
        Detail::Shell(shell) => tooltrail_shell::annotate(row, &shell.command),
        Detail::Script(script) => {
            // A script that failed by a command did so by the part of it that decided its exit code.
            let call = row.failed_by.and_then(|number| script.calls.get((number as usize).checked_sub(1)?));
            if let Some(Detail::Shell(shell)) = call.map(|call| &call.detail) {
                row.exit_of = tooltrail_shell::understand(&shell.command).and_then(|line| line.exit_of(false).map(str::to_owned));
            }
            None
        }
        _ => None,
    }
}

/// The place of a call's request in its log.
#[derive(Clone, Copy, Debug, Hash)]
pub struct RequestPlace {
    at: At,
    /// The input inside the record, where it is known.
    input: Option<Span>,
}

impl From<At> for RequestPlace {
    fn from(at: At) -> Self {
        RequestPlace { at, input: None }
    }
}

impl From<&CallRecord> for RequestPlace {
    fn from(call: &CallRecord) -> Self {
        RequestPlace { at: call.at, input: Some(call.input) }
    }
}

/// A request that is not where it was when its log was scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestMoved;

/// The input of a call and the call in neutral form, read again from its log; nothing if the record has no such request, or if it is too long.
fn open_at(
    disk: &dyn ReadLogs,
    row: &CallRow<'_>,
    place: RequestPlace,
    payloads: Payloads<'_>,
) -> Result<Option<(Value, Detailed)>, RequestMoved> {
    // A request of many megabytes is a file being written; its title is not worth the wait in a list.
    let Some(format) = format_of(row.agent).filter(|_| place.at.span.len() <= LONGEST) else { return Ok(None) };
    let (file, record) = (row.request.file, place.at.span);
    if let Some(at) = row.replacement.filter(|at| at.span.len() <= LONGEST) {
        let replacement = disk.bytes(file, at.span).ok_or(RequestMoved)?;
        // A record without the input it was scanned with is another one.
        let input = replaced(format, row, &replacement).ok_or(RequestMoved)?;
        return Ok(Some(detailed(format, row, input)));
    }
    if let Some(span) = place.input.filter(|_| format.has_plain_inputs()) {
        let input = disk.bytes_within(file, record, span).ok_or(RequestMoved)?;
        // Without its record, only the shape of an input shows that the log was not rewritten in the meantime.
        if matches!(input[..], [b'{', .., b'}']) {
            return Ok(Some(detailed(format, row, payloads.value(&input))));
        }
    }
    let request = &disk.bytes(file, record).ok_or(RequestMoved)?;
    Ok(open(InputRecords { request, line: place.at.line, replacement: None }, row, payloads))
}

/// Completes a row by reading the request again from its log, and gives the command that it runs. A request that is not where it was
/// leaves the row unchanged.
pub fn complete_at(
    disk: &dyn ReadLogs,
    row: &mut CallRow<'_>,
    place: impl Into<RequestPlace>,
) -> Result<Option<CommandLine>, RequestMoved> {
    let opened = open_at(disk, row, place.into(), title_payloads(row))?;
    Ok(opened.and_then(|opened| complete_with(row, &opened)))
}

/// Parses the command of a call, read again from its log, and adds to the row what it shows about the outcome. For rows whose title is
/// known already or not needed.
pub fn understand(disk: &dyn ReadLogs, row: &mut CallRow<'_>, place: impl Into<RequestPlace>) -> Option<CommandLine> {
    // Checked first: only commands say more than the row, and reading the record costs a seek.
    if !matches!(row.kind, Kind::Shell | Kind::Script) {
        return None;
    }
    let (_, detailed) = open_at(disk, row, place.into(), Payloads::default()).ok()??;
    annotate(row, &detailed.detail)
}

/// The name of a command, as totals by command have it.
pub fn label(command: &str) -> Option<String> {
    tooltrail_shell::understand(command)?.label()
}

/// The title of a call, read again from its log.
pub fn about_at(disk: &dyn ReadLogs, row: &CallRow<'_>, place: impl Into<RequestPlace>) -> Option<String> {
    let (input, detailed) = open_at(disk, row, place.into(), title_payloads(row)).ok()??;
    Some(detailed.detail.about(&input, row.cwd)?.text())
}
