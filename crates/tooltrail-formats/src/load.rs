//! Loading: one record read again by its position, for the details that a scan leaves in the log.

use crate::shelf::Shelf;
use crate::{Ask, FORMATS, Opened, Record, scan, value};
use tooltrail_model::detail::{Detail, Detailed};
use tooltrail_model::row::CallRow;
use tooltrail_model::{At, Fact, Kind, shell};
use tooltrail_skim::{Raw, Skim};

/// The longest record that is read for a table.
pub const LONGEST: u64 = 4 << 20;

/// The main argument of a call: the command, path, pattern or question that it is about.
pub fn argument(record: &[u8], at: At, call: &str) -> Option<String> {
    let format = scan::sniff(record)?;
    let mut found = None;
    let _ = format.decode(Record { at, bytes: record }, &mut |event| {
        if let Fact::Call(fact) = event.fact
            && fact.id == call
            && found.is_none()
        {
            let start = usize::try_from(fact.input.start.saturating_sub(at.span.start)).unwrap_or(usize::MAX);
            let end = usize::try_from(fact.input.end.saturating_sub(at.span.start)).unwrap_or(0);
            // A patch is told by the files it changes.
            let patches = if fact.kind == Kind::Edit { format.patches(record) } else { Vec::new() };
            let files: Vec<String> = patches.into_iter().map(|patch| patch.path).collect();
            found = if files.is_empty() { record.get(start..end).and_then(main_value) } else { Some(files.join(", ")) };
        }
    });
    found
}

/// The command line of a call that runs one, as its record of the request has it.
pub fn command(record: &[u8], line: u64, row: &CallRow<'_>) -> Option<String> {
    match asked(record, line, row)?.detail {
        Detail::Shell(shell) => Some(shell.command),
        _ => None,
    }
}

/// What the record of a call's request tells alone.
pub fn asked(record: &[u8], line: u64, row: &CallRow<'_>) -> Option<Detailed> {
    let format = FORMATS.iter().find(|format| format.agent() == row.agent)?;
    let value = value::read_along(record, format.way_to_input());
    let asked = format.asked(Opened { line, value: &value }, row.call)?;
    let ask = Ask {
        tool: row.tool,
        server: row.server,
        kind: row.kind,
        status: row.status,
        input: &asked.input,
        seen: &[],
        produced: None,
        answered: false,
    };
    Some(format.detail(&ask))
}

/// Adds to the row of a command what the command itself tells, read again from its log; gives the command back as it was read.
pub fn understand(shelf: &dyn Shelf, row: &mut CallRow<'_>, at: At) -> Option<shell::Script> {
    if row.kind != Kind::Shell {
        return None;
    }
    match asked_at(shelf, row, at)?.detail {
        Detail::Shell(shell) => shell::tell(row, &shell.command),
        _ => None,
    }
}

/// What the record of a call's request tells alone, read again from its log; nothing if it is too long, or not where it was.
pub fn asked_at(shelf: &dyn Shelf, row: &CallRow<'_>, at: At) -> Option<Detailed> {
    if at.span.len() > LONGEST {
        return None;
    }
    asked(&shelf.bytes(row.request.file, at.span)?, at.line, row)
}

/// The main argument of a call, read again from its log; nothing if its request is too long, or not where it was.
pub fn argument_at(shelf: &dyn Shelf, row: &CallRow<'_>, at: At) -> Option<String> {
    if at.span.len() > LONGEST {
        return None;
    }
    argument(&shelf.bytes(row.request.file, at.span)?, at, row.call)
}

/// The keys that say most about an input, best first.
const TELLING: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "query",
    "url",
    "prompt",
    "description",
    "skill",
    "subject",
    "bash_id",
    "shell_id",
    "task_id",
    "taskId",
    "plan",
    "question",
    "questions",
];

fn main_value(input: &[u8]) -> Option<String> {
    const LIMIT: usize = 300;
    let mut best: Option<(usize, String)> = None;
    let mut skim = Skim::new(input);
    // Some agents write the input as JSON inside a string.
    let inner = skim.string().map(Raw::text);
    let bytes = inner.as_deref().map_or(input, str::as_bytes);
    let mut skim = Skim::new(bytes);
    let _ = skim.object(|key, value| {
        let rank = TELLING.iter().position(|telling| telling.as_bytes() == key.as_bytes()).unwrap_or(TELLING.len());
        let mut text = value.string().map(|text| text.head(LIMIT).into_owned());
        if text.is_none() && rank < TELLING.len() {
            let mut words = Vec::new();
            value.array(|item| {
                words.extend(item.string().map(|word| word.head(LIMIT).into_owned()));
                // Questions and steps are objects that hold their text.
                item.object(|key, value| {
                    if matches!(key.as_bytes(), b"question" | b"step") {
                        words.extend(value.string().map(|word| word.head(LIMIT).into_owned()));
                    }
                    Ok(())
                })
            })?;
            text = (!words.is_empty()).then(|| words.join(" "));
        }
        if let Some(text) = text
            && best.as_ref().is_none_or(|(have, _)| rank < *have)
        {
            best = Some((rank, text));
        }
        Ok(())
    });
    let whole = || inner.as_deref().filter(|text| !text.trim_start().starts_with('{')).map(|text| text.chars().take(LIMIT).collect());
    best.map(|(_, text)| text).or_else(whole)
}
