//! `list`: sessions, with what they are about and what became of their calls.

use crate::catalogue::Ready;
use crate::cli::LogArgs;
use crate::filters::{ScopeArg, SelectArgs};
use crate::keeping::Fates;
use crate::logs;
use crate::out::{self, DIM};
use crate::pager::{self, PagedOutput};
use crate::table::{self, Align, Cell, Table};
use crate::times::TimeWriter;
use crate::verdict_cells;
use anyhow::bail;
use clap::Args;
use serde::Serialize;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::process::ExitCode;
use tooltrail_catalog::library::Library;
use tooltrail_catalog::matching;
use tooltrail_catalog::store::SessionListing;
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::transcript::{SessionBook, SharedRecords};
use tooltrail_model::Status;
use tooltrail_model::book::Selection;
use tooltrail_model::digest::{self, Digest};
use tooltrail_model::filter::Filter;
use tooltrail_model::link::Now;
use tooltrail_model::row::SessionRow;
use tooltrail_model::session_verdict::SessionVerdict;

const EXAMPLES: &str = "\
Examples:
  tooltrail list                    the newest sessions
  tooltrail list -n 0               all of them
  tooltrail list project:. since:7d sessions of this project, last 7 days
  tooltrail list is:waiting         sessions that wait for you
  tooltrail list purpose:test status:failed
  tooltrail list --digest --json    with the summary of each session
  tooltrail list --json | jq -r '[.session, .title] | @tsv'";

/// Default number of sessions in a table.
const SHOWN: usize = 30;

/// Number of sessions whose digests are made together: few at first, so that the first line appears soon, then more and more, because
/// sessions of the same log are cheaper together.
const FIRST_TOGETHER: usize = 64;
const MOST_TOGETHER: usize = 8192;

/// Arguments of `list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Where all terms of the filter must match: in a single call or message, or anywhere in a session
    #[arg(long, value_name = "WHAT", default_value = "call")]
    within: ScopeArg,
    /// Only the newest N sessions; 0 for all [default: 30 on a terminal, else all]
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
    /// With --json: add the summary of each session, as in `show --json`
    #[arg(long)]
    digest: bool,
    /// Sort order; -n shows the last N in this order [default: by start; with -n, the most recently active]
    #[arg(long, value_name = "BY")]
    sort: Option<SessionSort>,
    /// Only these columns, in this order, as in `session,tests,title` [default: columns.list in config.toml, else all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
}

/// Order of sessions; the largest comes last, nearest to the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SessionSort {
    /// By start
    Started,
    /// By last activity
    Last,
    /// By number of calls
    Calls,
    /// By number of failed calls
    Failed,
}

/// A session with its digest, as JSON.
#[derive(Serialize)]
struct Digested<'a> {
    #[serde(flatten)]
    row: &'a SessionRow<'a>,
    verdict: SessionVerdict,
    digest: Digest,
}

/// Sessions to print, from the catalogue or from logs.
struct ListedSessions<'a> {
    rows: &'a [SessionRow<'a>],
    /// Indices of the rows that match the filter.
    found: Vec<usize>,
    /// Digest of a session.
    digest: &'a dyn Fn(usize) -> anyhow::Result<Digest>,
    /// Makes the digests of several sessions at once, which are asked for next.
    prepare: &'a dyn Fn(&[usize]) -> anyhow::Result<()>,
    is_gone: &'a dyn Fn(usize) -> bool,
}

pub(crate) fn run(args: &LogArgs, own: &ListArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter_within(args, own.within)?;
    if let Some(ready) = logs::if_stored(args, &own.select.paths())? {
        return stored(args, own, &filter, &ready);
    }
    let logs = logs::read(args, &own.select.paths(), false)?;
    logs.require_any()?;
    let linked = logs.link();
    let rows = linked.session_rows(&logs.now);
    let found = matching::sessions(&logs.asked(&linked), &filter, own.within.into());
    let records = SharedRecords::new(&linked);
    let digest = |session: usize| Ok(digest_of(&records, session, &logs.now, logs.disk()));
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
    let unstored = RefCell::new(HashMap::new());
    let digest = |session: usize| {
        let stored = || ready.library.digest(&listing, &rows[session], session);
        Ok(unstored.borrow_mut().remove(&session).or_else(stored).unwrap_or_default())
    };
    let prepare = |sessions: &[usize]| {
        ready.library.fill(&listing, sessions, ready.threads, &|| true)?;
        *unstored.borrow_mut() = unstored_digests(ready, &listing, &rows, sessions)?;
        Ok(())
    };
    let is_gone = |session: usize| listing.is_gone(session);
    print(args, own, filter, ListedSessions { rows: &rows, found, digest: &digest, prepare: &prepare, is_gone: &is_gone })?;
    Ok(ready.exit())
}

/// The digests of the sessions among some that have none in the index: that of a live session depends on the time.
fn unstored_digests(
    ready: &Ready,
    listing: &SessionListing,
    rows: &[SessionRow<'_>],
    sessions: &[usize],
) -> anyhow::Result<HashMap<usize, Digest>> {
    let mut bundles: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for &session in sessions.iter().filter(|&&session| !ready.library.has_digest(listing, session)) {
        if let Some(bundle) = listing.bundle(session) {
            bundles.entry(bundle).or_default().push(session);
        }
    }
    let mut digests = HashMap::new();
    for (bundle, sessions) in bundles {
        let linker = ready.library.open(bundle)?;
        let linked = linker.link();
        let records = SharedRecords::new(&linked);
        for session in sessions {
            if let Some(place) = linked.session_with_id(rows[session].agent, rows[session].session) {
                digests.insert(session, digest_of(&records, place, &ready.now, ready.library.disk()));
            }
        }
    }
    Ok(digests)
}

fn digest_of(records: &SharedRecords<'_>, session: usize, now: &Now, disk: &dyn ReadLogs) -> Digest {
    // The conversation is read for a table too: its verdict is about what the last answer claims.
    let book = SessionBook::read_shared(records, session, now, disk);
    digest::of(&book, &Selection::default())
}

fn print(args: &LogArgs, own: &ListArgs, filter: &Filter, listed: ListedSessions<'_>) -> anyhow::Result<()> {
    let ListedSessions { rows, found, digest, prepare, is_gone } = listed;
    let limit = pager::row_limit(args, own.number, SHOWN);
    let shown = match own.sort {
        None => newest(rows, &found, limit),
        Some(sort) => last(rows, &found, sort, limit),
    };
    if args.json {
        return print_json(rows, &shown, digest, prepare, own.digest);
    }
    let mut table = columns().choose(if own.columns.is_empty() { &args.config.list_columns } else { &own.columns })?;
    let mut out = PagedOutput::open(args);
    if found.is_empty() && !filter.is_empty() {
        out.note(&format_args!("no matching sessions among {}", table::count(rows.len() as u64)))?;
        out.flush()?;
        return Ok(());
    }
    let times = TimeWriter::new(args);
    // Logs that are named by path may lie outside of the directories in which agents delete.
    let fates = if own.select.paths().is_empty() { Fates::new(args) } else { None };
    let soon = |index: usize| fates.as_ref().filter(|_| !is_gone(index)).and_then(|fates| fates.note(&rows[index]));
    let note = |index: usize| if is_gone(index) { Some("gone".to_owned()) } else { soon(index) };
    prepare(&shown)?;
    for &index in &shown {
        table.row(cells(&rows[index], &digest(index)?, note(index), &times));
    }
    table.print(&mut out, table::terminal_width())?;
    if shown.len() < found.len() {
        let which = if matches!(own.sort, None | Some(SessionSort::Started | SessionSort::Last)) { "newest" } else { "last" };
        out.note(&format_args!("the {which} {} of {} sessions; -n 0 shows all", shown.len(), table::count(found.len() as u64)))?;
    }
    // Counted over all sessions, not only the shown ones: the endangered ones are the oldest.
    let doomed = (0..rows.len()).filter(|&index| soon(index).is_some()).count() as u64;
    if let Some(fates) = fates.as_ref().filter(|_| doomed > 0) {
        out.note(&fates.advice(doomed))?;
    }
    out.flush()?;
    Ok(())
}

/// Prints sessions as JSON, with their digests if asked for.
fn print_json(
    rows: &[SessionRow<'_>],
    shown: &[usize],
    digest: &dyn Fn(usize) -> anyhow::Result<Digest>,
    prepare: &dyn Fn(&[usize]) -> anyhow::Result<()>,
    whole: bool,
) -> anyhow::Result<()> {
    if !whole {
        return out::json_lines(shown.iter().map(|&index| &rows[index]));
    }
    let (mut rest, mut together) = (shown, FIRST_TOGETHER);
    while let Some((some, later)) = rest.split_at_checked(together.min(rest.len())).filter(|(some, _)| !some.is_empty()) {
        (rest, together) = (later, (2 * together).min(MOST_TOGETHER));
        prepare(some)?;
        for &index in some {
            let digest = digest(index)?;
            out::json_lines([Digested { row: &rows[index], verdict: SessionVerdict::of(&digest), digest }])?;
        }
    }
    Ok(())
}

/// The table of sessions, without rows.
fn columns() -> Table {
    let [tests, unresolved, lines, commits] = verdict_cells::HEADS;
    Table::new(&[
        ("SESSION", Align::Left),
        ("STARTED", Align::Left),
        ("AGENT", Align::Left),
        ("STATE", Align::Left),
        ("TURNS", Align::Right),
        ("CALLS", Align::Right),
        ("PROBLEMS", Align::Left),
        ("FILES", Align::Right),
        tests,
        unresolved,
        lines,
        commits,
        ("PROJECT", Align::FillEnd),
        ("TITLE", Align::Fill),
    ])
    .optional(&["TURNS", "AGENT", "FILES", "COMMITS", "UNRESOLVED", "LINES", "PROJECT", "TESTS", "STATE", "CALLS"])
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

fn cells(row: &SessionRow<'_>, digest: &Digest, note: Option<String>, times: &TimeWriter) -> Vec<Cell> {
    let troubles: Vec<String> = row
        .by_status
        .iter()
        .filter(|(status, _)| !matches!(status, Status::Succeeded | Status::Answered))
        .map(|(status, count)| format!("{}{count}", out::look(*status).0))
        .collect();
    let [tests, unresolved, lines, commits] = verdict_cells::cells(&SessionVerdict::of(digest));
    vec![
        Cell::styled(row.short, DIM),
        times.maybe(row.started_at).into(),
        row.agent.into(),
        state(row, note),
        table::count(row.turns).into(),
        table::count(row.calls).into(),
        troubles.join(" ").into(),
        match digest.changed.files.len() {
            0 => "".into(),
            files => table::count(files as u64).into(),
        },
        tests,
        unresolved,
        lines,
        commits,
        row.project.unwrap_or_default().into(),
        row.title.unwrap_or_default().into(),
    ]
}
