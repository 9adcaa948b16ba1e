//! `list`: sessions, with what they are about and what became of their calls.

use crate::catalogue::Ready;
use crate::cli::LogArgs;
use crate::commands::calls::local;
use crate::filters::{ScopeArg, SelectArgs};
use crate::keeping::Fates;
use crate::logs;
use crate::out::{self, DIM};
use crate::table::{self, Align, Cell, Table};
use anyhow::bail;
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;
use tooltrail_catalog::library::Library;
use tooltrail_catalog::matching;
use tooltrail_formats::shelf::Shelf;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::Status;
use tooltrail_model::book::Selection;
use tooltrail_model::digest::{self, Digest, RunOutcome};
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{Linked, Now};
use tooltrail_model::row::SessionRow;

const EXAMPLES: &str = "\
Examples:
  tooltrail list                    the newest sessions
  tooltrail list -n 0               all of them
  tooltrail list project:. since:7d what was done here this week
  tooltrail list is:waiting         which ones need me
  tooltrail list purpose:test status:failed
  tooltrail list --digest --json    with what each amounts to
  tooltrail list --json | jq -r '[.session, .title] | @tsv'";

/// Default number of sessions in a table.
const SHOWN: usize = 30;

/// Number of sessions whose digests are made together.
const TOGETHER: usize = 64;

/// Arguments of `list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Where all terms of the filter must hold: in one call or message, or anywhere in one session
    #[arg(long, value_name = "WHAT", default_value = "call")]
    within: ScopeArg,
    /// Only the newest N sessions; 0 for all [default: 30 in a table, all as JSON]
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
    /// As JSON: add what each session amounts to, as `show --json` has it
    #[arg(long)]
    digest: bool,
    /// In which order; with -n the last of them are shown [default: by their start, and with -n those with the last signs of life]
    #[arg(long, value_name = "BY")]
    sort: Option<SessionSort>,
}

/// Order of sessions; the largest comes last, nearest to the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SessionSort {
    /// By their start
    Started,
    /// By their last sign of life
    Last,
    /// By how many calls they made
    Calls,
    /// By how many of their calls failed
    Failed,
}

/// A session with its digest, as JSON.
#[derive(Serialize)]
struct Digested<'a> {
    #[serde(flatten)]
    row: &'a SessionRow<'a>,
    digest: Digest,
}

/// Sessions to print, from the catalogue or from logs.
struct ListedSessions<'a> {
    rows: &'a [SessionRow<'a>],
    /// Indices of the rows that match the filter.
    found: Vec<usize>,
    /// Digest of a session: `true` for all of it, `false` for the parts that a table shows.
    digest: &'a dyn Fn(usize, bool) -> anyhow::Result<Digest>,
    /// Makes the digests of several sessions at once, where that is quicker.
    prepare: &'a dyn Fn(&[usize]) -> anyhow::Result<()>,
    is_gone: &'a dyn Fn(usize) -> bool,
}

pub(crate) fn run(args: &LogArgs, own: &ListArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter(args)?;
    if let Some(ready) = logs::if_stored(args, &own.select.paths())? {
        return stored(args, own, &filter, &ready);
    }
    let logs = logs::read(args, &own.select.paths(), false)?;
    logs.require_any()?;
    let linked = logs.link();
    let rows = linked.session_rows(&logs.now);
    let found = matching::sessions(&logs.asked(&linked), &filter, own.within.into());
    let digest = |session: usize, whole: bool| Ok(digest_of(&linked, session, &logs.now, logs.shelf(), whole));
    print(args, own, &filter, ListedSessions { rows: &rows, found, digest: &digest, prepare: &|_| Ok(()), is_gone: &|_| false })?;
    Ok(logs.exit())
}

/// Lists sessions from the catalogue.
fn stored(args: &LogArgs, own: &ListArgs, filter: &Filter, ready: &Ready) -> anyhow::Result<ExitCode> {
    let listing = ready.list()?;
    let rows = listing.rows();
    let nothing = || (0..rows.len()).all(|session| listing.is_gone(session));
    if rows.is_empty() || (args.json && !filter.asks_gone() && nothing()) {
        bail!("no agent's logs found\n{}", logs::where_to_look(&ready.looked));
    }
    let mut found = ready.asked(&listing, &rows).sessions(filter, own.within.into())?;
    // Programs usually open what is listed, so sessions without logs are only listed on request.
    if args.json && !filter.asks_gone() {
        found.retain(|&session| !listing.is_gone(session));
    }
    let digest = |session: usize, whole: bool| {
        if let Some(digest) = ready.library.digest(&listing, &rows[session], session) {
            return Ok(digest);
        }
        // That of a live session depends on the time, so it is not stored.
        let Some(bundle) = listing.bundle(session) else { return Ok(Digest::default()) };
        let linker = ready.library.open(bundle)?;
        let linked = linker.link();
        let row = &rows[session];
        let place = linked.sessions.iter().position(|linked| linked.agent == row.agent && *linked.id == *row.session);
        Ok(place.map(|place| digest_of(&linked, place, &ready.now, ready.library.shelf(), whole)).unwrap_or_default())
    };
    let prepare = |sessions: &[usize]| Ok(ready.library.fill(&listing, sessions, ready.threads, &|| true).map(drop)?);
    let is_gone = |session: usize| listing.is_gone(session);
    print(args, own, filter, ListedSessions { rows: &rows, found, digest: &digest, prepare: &prepare, is_gone: &is_gone })?;
    Ok(ready.exit())
}

fn digest_of(linked: &Linked<'_>, session: usize, now: &Now, shelf: &dyn Shelf, whole: bool) -> Digest {
    let book = match whole {
        true => SessionBook::read(linked, &[session], now, shelf, None),
        false => SessionBook::outline(linked, &[session], now, shelf),
    };
    digest::of(&book, &Selection::default())
}

fn print(args: &LogArgs, own: &ListArgs, filter: &Filter, listed: ListedSessions<'_>) -> anyhow::Result<()> {
    let ListedSessions { rows, found, digest, prepare, is_gone } = listed;
    let limit = own.number.unwrap_or(if args.json { 0 } else { SHOWN });
    let shown = match own.sort {
        None => newest(rows, &found, limit),
        Some(sort) => last(rows, &found, sort, limit),
    };
    let mut out = out::stdout(args.color.as_str());
    if args.json {
        match own.digest {
            true => {
                // Printed one by one, so that the first line appears before the last digest is made.
                for some in shown.chunks(TOGETHER) {
                    prepare(some)?;
                    for &index in some {
                        out::json_lines([Digested { row: &rows[index], digest: digest(index, true)? }])?;
                    }
                }
            }
            false => out::json_lines(shown.iter().map(|&index| &rows[index]))?,
        }
        return Ok(());
    }
    if found.is_empty() && !filter.is_empty() {
        writeln!(out, "no such sessions among {}", table::count(rows.len() as u64))?;
        out.flush()?;
        return Ok(());
    }
    let mut table = columns();
    // Logs that are named by path may lie outside of the directories in which agents delete.
    let fates = if own.select.paths().is_empty() { Fates::new(args) } else { None };
    let soon = |index: usize| fates.as_ref().filter(|_| !is_gone(index)).and_then(|fates| fates.note(&rows[index]));
    let note = |index: usize| if is_gone(index) { Some("gone".to_owned()) } else { soon(index) };
    prepare(&shown)?;
    for &index in &shown {
        table.row(cells(&rows[index], &digest(index, false)?, note(index)));
    }
    table.print(&mut out, table::terminal_width())?;
    if shown.len() < found.len() {
        let which = if matches!(own.sort, None | Some(SessionSort::Started | SessionSort::Last)) { "newest" } else { "last" };
        writeln!(out, "{DIM}the {which} {} of {} sessions; -n 0 shows all{DIM:#}", shown.len(), table::count(found.len() as u64))?;
    }
    // Counted over all sessions, not only the shown ones: the endangered ones are the oldest.
    let doomed = (0..rows.len()).filter(|&index| soon(index).is_some()).count() as u64;
    if let Some(fates) = fates.as_ref().filter(|_| doomed > 0) {
        writeln!(out, "{DIM}{}{DIM:#}", fates.advice(doomed))?;
    }
    out.flush()?;
    Ok(())
}

/// The table of sessions, without rows.
fn columns() -> Table {
    Table::new(&[
        ("SESSION", Align::Left),
        ("STARTED", Align::Left),
        ("AGENT", Align::Left),
        ("STATE", Align::Left),
        ("TURNS", Align::Right),
        ("CALLS", Align::Right),
        ("NOT FINE", Align::Left),
        ("FILES", Align::Right),
        ("TESTS", Align::Left),
        ("PROJECT", Align::FillEnd),
        ("TITLE", Align::Fill),
    ])
    .optional(&["TURNS", "AGENT", "FILES", "STARTED", "PROJECT", "TESTS", "STATE"])
}

/// The newest `limit` of the found sessions, in the order of listing. Sessions without a time count as oldest.
fn newest(rows: &[SessionRow<'_>], found: &[usize], limit: usize) -> Vec<usize> {
    let mut order = last(rows, found, SessionSort::Last, limit);
    order.sort_unstable();
    order
}

/// The last `limit` of the found sessions in the given order.
fn last(rows: &[SessionRow<'_>], found: &[usize], sort: SessionSort, limit: usize) -> Vec<usize> {
    let mut order = found.to_vec();
    let failed = |row: &SessionRow<'_>| row.by_status.get(&Status::Failed).copied().unwrap_or(0);
    match sort {
        // The index breaks ties, so that the order is the same on every run.
        SessionSort::Started => order.sort_by_key(|&index| (rows[index].started_at, index)),
        SessionSort::Last => order.sort_by_key(|&index| (rows[index].last_at, index)),
        SessionSort::Calls => order.sort_by_key(|&index| (rows[index].calls, index)),
        SessionSort::Failed => order.sort_by_key(|&index| (failed(&rows[index]), index)),
    }
    let surplus = if limit == 0 { 0 } else { order.len().saturating_sub(limit) };
    order.drain(..surplus);
    order
}

/// Cell with the state of a session. An ended one is dimmed, unless it is about to be lost.
fn state(row: &SessionRow<'_>, note: Option<String>) -> Cell {
    match row.state {
        Some("ended") | None if note.is_some() => Cell::styled(note.unwrap_or_default(), out::look(Status::TimedOut).1),
        Some("ended") | None => Cell::styled("ended", DIM),
        Some("your_turn") => "your turn".into(),
        Some("working") => Cell::styled("working", out::look(Status::Running).1),
        Some(state) => Cell::styled(state, out::look(Status::TimedOut).1),
    }
}

/// Cell with the outcome of the last tests, and the number of edits since.
fn tests(digest: &Digest) -> Cell {
    let Some(run) = &digest.test else { return "".into() };
    let (sign, style) = match run.outcome {
        RunOutcome::Passed => ("✓", out::look(Status::Succeeded).1),
        RunOutcome::Failed => ("✗", out::look(Status::Failed).1),
        // Its own exit code was not recorded, and the exit code of the whole line is a failure.
        RunOutcome::Masked if run.exit_code.is_some_and(|code| code != 0) => ("?", out::look(Status::TimedOut).1),
        RunOutcome::Masked => ("✓?", out::look(Status::TimedOut).1),
        RunOutcome::Unknown => ("?", DIM),
    };
    match run.edits_after {
        0 => Cell::styled(sign, style),
        edits => Cell::styled(format!("{sign} then {}", table::counted(edits, "edit")), style),
    }
}

fn cells(row: &SessionRow<'_>, digest: &Digest, note: Option<String>) -> Vec<Cell> {
    let troubles: Vec<String> = row
        .by_status
        .iter()
        .filter(|(status, _)| !matches!(status, Status::Succeeded | Status::Answered))
        .map(|(status, count)| format!("{}{count}", out::look(*status).0))
        .collect();
    let started = row.started_at.map(local).unwrap_or_default();
    vec![
        Cell::styled(row.short, DIM),
        started.into(),
        row.agent.into(),
        state(row, note),
        table::count(row.turns).into(),
        table::count(row.calls).into(),
        troubles.join(" ").into(),
        match digest.changed.files.len() {
            0 => "".into(),
            files => table::count(files as u64).into(),
        },
        tests(digest),
        row.project.unwrap_or_default().into(),
        row.title.unwrap_or_default().into(),
    ]
}
