//! Loading: one record read again by its position, for the details that a scan leaves in the log.

use crate::shelf::Shelf;
use crate::value::Payloads;
use crate::{Ask, FORMATS, Record, scan};
use tooltrail_model::detail::{Agent, Detail, Detailed};
use tooltrail_model::row::CallRow;
use tooltrail_model::{At, Fact, Kind};
use tooltrail_shell::CommandLine;
use tooltrail_skim::{Raw, Skim};

/// The longest record that is read for a table.
pub const LONGEST: u64 = 4 << 20;

/// What a call is about, as its record of the request tells: the command, path, pattern or question. Lists and tables of calls show
/// it; the view of a call says the same in its head (`crates/tooltrail-server/tests/words.rs`).
pub fn argument(record: &[u8], at: At, row: &CallRow<'_>) -> Option<String> {
    let told = asked(record, at.line, row).and_then(|told| about(&told.detail, row.cwd));
    told.filter(|text| !text.trim().is_empty()).or_else(|| written(record, at, row.call))
}

/// What the input says of itself, for tools of which nothing is known.
fn written(record: &[u8], at: At, call: &str) -> Option<String> {
    let format = scan::sniff(record)?;
    let mut found = None;
    let _ = format.decode(Record { at, bytes: record }, &mut |event| {
        if let Fact::Call(fact) = event.fact
            && fact.id == call
            && found.is_none()
        {
            let start = usize::try_from(fact.input.start.saturating_sub(at.span.start)).unwrap_or(usize::MAX);
            let end = usize::try_from(fact.input.end.saturating_sub(at.span.start)).unwrap_or(0);
            found = record.get(start..end).and_then(main_value);
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
    let at = At { line, ..At::default() };
    let asked = format.open(Record { at, bytes: record }).ok()?.request(row.call, Payloads::default())?;
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

/// Understands the command of a call, read again from its log, and adds to the row what that says about the outcome.
pub fn understand(shelf: &dyn Shelf, row: &mut CallRow<'_>, at: At) -> Option<CommandLine> {
    if row.kind != Kind::Shell {
        return None;
    }
    let told = asked_at(shelf, row, at)?;
    annotate(row, &told.detail)
}

/// Understands the command of a call whose detail is known, and adds to its row what that says about the outcome.
pub fn annotate(row: &mut CallRow<'_>, detail: &Detail) -> Option<CommandLine> {
    match detail {
        Detail::Shell(shell) => tooltrail_shell::annotate(row, &shell.command),
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
    argument(&shelf.bytes(row.request.file, at.span)?, at, row)
}

/// The longest text that tells what a call is about.
const LIMIT: usize = 300;

/// How many files of a patch are named.
const NAMED: usize = 4;

/// What a call of a known kind is about; nothing where its input speaks for itself.
fn about(detail: &Detail, cwd: Option<&str>) -> Option<String> {
    let path = |path: &str| if path.is_empty() { "no path given".to_owned() } else { start(path) };
    Some(match detail {
        Detail::Shell(shell) => start(&shell.command),
        Detail::Read(read) => path(&read.path),
        Detail::Write(write) => path(&write.path),
        Detail::Edit(edit) => path(&edit.path),
        Detail::Patch(patch) => {
            let files = patch.files.iter().map(|file| match &file.moved_to {
                Some(to) => format!("{} → {}", inside(&file.path, cwd), inside(to, cwd)),
                None => inside(&file.path, cwd).to_owned(),
            });
            let more = patch.files.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            start(&files.take(NAMED).collect::<Vec<_>>().join(", ")) + &more
        }
        Detail::Grep(grep) => {
            let options = grep.glob.iter().chain(&grep.file_type).chain(&grep.flags);
            let pattern = format!("/{}/{}", start(&grep.pattern), within(grep.path.as_deref(), cwd));
            options.fold(pattern, |text, option| format!("{text}  {option}"))
        }
        Detail::Glob(glob) => start(&glob.pattern) + &within(glob.path.as_deref(), cwd),
        Detail::TaskOutput(task) => {
            let sent = task.sent.as_deref().filter(|sent| !sent.is_empty()).map(|sent| format!(" ← {}", start(sent)));
            task.task.as_deref().or(task.description.as_deref()).unwrap_or_default().to_owned() + &sent.unwrap_or_default()
        }
        Detail::Agent(agent) => agent_about(agent),
        Detail::WebSearch(search) => match &search.opened {
            Some(page) if search.query.is_empty() => start(page),
            Some(page) => format!("\"{}\" in {}", start(&search.query), start(page)),
            None if search.query.is_empty() => return None,
            None => format!("\"{}\"", start(&search.query)),
        },
        _ => return None,
    })
}

/// What is asked of another agent, and of which: `Explore: find the callers`, `wait a1, a2`.
fn agent_about(agent: &Agent) -> String {
    let task = agent.description.as_deref().or(agent.prompt.as_deref()).map(|text| start(text.trim())).unwrap_or_default();
    let name = agent.name.as_deref().or(agent.id.as_deref());
    let starts = matches!(agent.action, "start" | "resume" | "");
    let who = match (agent.action, agent.sort.as_deref().or(name)) {
        ("send", _) => name.map(|name| format!("to {name}")),
        (_, who) if starts => who.map(str::to_owned),
        (action, _) => {
            let others: Vec<&str> = agent.agents.iter().map(|(name, _)| name.as_str()).take(4).collect();
            let whom = name.map_or_else(|| others.join(", "), str::to_owned);
            Some(format!("{action} {whom}").trim_end().to_owned())
        }
    };
    match who {
        Some(who) if task.is_empty() => who,
        Some(who) => format!("{who}: {task}"),
        None => task,
    }
}

/// Where something is looked for, unless that is where the session is.
fn within(path: Option<&str>, cwd: Option<&str>) -> String {
    let path = path.filter(|path| !path.is_empty() && Some(*path) != cwd);
    path.map(|path| format!(" in {}", inside(path, cwd))).unwrap_or_default()
}

/// A path without the directory that it lies in.
fn inside<'p>(path: &'p str, cwd: Option<&str>) -> &'p str {
    let rest =
        cwd.filter(|cwd| !cwd.is_empty()).and_then(|cwd| path.strip_prefix(cwd.trim_end_matches(['/', '\\']))?.strip_prefix(['/', '\\']));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// The beginning of a text.
fn start(text: &str) -> String {
    text.chars().take(LIMIT).collect()
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
    let whole = || inner.as_deref().filter(|text| !text.trim_start().starts_with('{')).map(start);
    best.map(|(_, text)| text).or_else(whole)
}
