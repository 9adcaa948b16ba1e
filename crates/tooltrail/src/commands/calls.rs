//! `calls`: tool calls with their outcome, time and evidence.

use crate::catalogue::Ready;
use crate::cli::LogArgs;
use crate::filters::SelectArgs;
use crate::logs::{self, Logs};
use crate::out::{self, DIM};
use crate::pager::{self, PagedOutput};
use crate::table::{self, Align, Cell, Table};
use crate::times::TimeWriter;
use anyhow::bail;
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use tooltrail_catalog::library::Library;
use tooltrail_catalog::matching;
use tooltrail_catalog::store::ListedCall;
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::load::{self, RequestPlace};
use tooltrail_model::Reason;
use tooltrail_model::filter::Filter;
use tooltrail_model::json_line;
use tooltrail_model::link::{Linked, LinkedCall};
use tooltrail_model::row::CallRow;

const EXAMPLES: &str = "\
Examples:
  tooltrail calls                       the newest calls
  tooltrail calls -n 0                  all of them
  tooltrail calls session.jsonl         the calls of one log
  tooltrail calls status:failed since:7d
  tooltrail calls purpose:test project:. not:agent:codex
  tooltrail calls took:5m.. --sort took
  tooltrail calls 'file:src/**' '\"permission denied\"'
  tooltrail calls --json | jq 'select(.status == \"failed\")'
  tooltrail calls --json --copies       including every copy";

/// Most characters of an error in a table.
const ERROR: usize = 60;

/// Default number of calls in a table.
const SHOWN: usize = 50;

/// Arguments of `calls`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CallsArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// List every copy of a call, each as its own file records it
    #[arg(long)]
    copies: bool,
    /// Only the newest N calls; 0 for all [default: 50 on a terminal, else all]
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
    /// Sort order; -n shows the last N in this order
    #[arg(long, value_name = "BY", default_value = "session")]
    sort: CallSort,
    /// Only these columns, in this order, as in `ref,status,what` [default: columns.calls in config.toml, else all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,
}

impl CallsArgs {
    /// The table without rows. Errors are a column where one is known, or where it is chosen.
    fn table(&self, args: &LogArgs, has_errors: bool) -> anyhow::Result<Table> {
        let columns = if self.columns.is_empty() { &args.config.calls_columns } else { &self.columns };
        let table = empty_table().choose(columns)?;
        Ok(if columns.is_empty() && !has_errors { table.without("ERROR") } else { table })
    }
}

/// Order of calls; the newest or slowest comes last, nearest to the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CallSort {
    /// By session, then by time of request
    Session,
    /// By time of request
    Time,
    /// By duration
    Took,
}

pub(crate) fn run(args: &LogArgs, own: &CallsArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter(args)?;
    if !own.copies
        && let Some(ready) = logs::if_stored(args, &own.select.paths())?
    {
        return stored(args, own, &filter, &ready);
    }
    // The stored listing has each call once, so copies are taken from the linked logs.
    let logs = if own.copies { logs::open(args, &own.select.paths()) } else { logs::read(args, &own.select.paths(), false) }?;
    logs.require_any()?;
    let linked = logs.link();
    let calls = matching::calls(&logs.asked(&linked), &filter, own.copies);
    let limit = pager::row_limit(args, own.number, SHOWN);
    let shown = match own.sort {
        CallSort::Session => newest(&linked, &calls, limit),
        sort => last(sorted(&logs, &linked, &calls, sort), limit),
    };
    if args.json {
        print_json(&logs, &linked, &shown, own.copies)?;
        return Ok(logs.exit());
    }
    let (mut table, times) = (own.table(args, false)?, TimeWriter::new(args));
    for call in &shown {
        add_row(&mut table, logs.disk(), &times, linked.call_row(call, &logs.now, own.copies), linked.record(call.id), None);
    }
    let sources = linked.sources.iter().filter(|source| source.summary.agent.is_some()).count() as u64;
    let counts = ShownCounts { shown: shown.len() as u64, all: calls.len() as u64, logs: sources };
    print(args, table, own.sort, counts, &filter)?;
    Ok(logs.exit())
}

/// Numbers for the line below the table.
struct ShownCounts {
    shown: u64,
    all: u64,
    logs: u64,
}

fn print(args: &LogArgs, table: Table, sort: CallSort, counts: ShownCounts, filter: &Filter) -> anyhow::Result<()> {
    let mut out = PagedOutput::open(args);
    if counts.all == 0 {
        let such = if filter.is_empty() { "" } else { "such " };
        out.note(&format_args!("no {such}tool calls in {}", table::counted(counts.logs, "log")))?;
    } else {
        table.print(&mut out, table::terminal_width())?;
    }
    if counts.shown < counts.all {
        let which = if sort == CallSort::Took { "slowest" } else { "newest" };
        out.note(&format_args!("the {which} {} of {} calls; -n 0 shows all", counts.shown, table::count(counts.all)))?;
    }
    out.flush()?;
    Ok(())
}

/// Lists calls from the catalogue.
fn stored(args: &LogArgs, own: &CallsArgs, filter: &Filter, ready: &Ready) -> anyhow::Result<ExitCode> {
    let listing = ready.list()?;
    let rows = listing.rows();
    if !filter.asks_gone() && (0..rows.len()).all(|session| listing.is_gone(session)) {
        bail!("no agent's logs found\n{}", logs::where_to_look(&ready.looked));
    }
    let asked = ready.asked(&listing, &rows);
    let limit = pager::row_limit(args, own.number, SHOWN);
    // The most common case, the newest calls without a filter, is one query instead of a walk through all calls.
    let quick = filter.is_empty() && own.sort == CallSort::Session && limit > 0;
    let (shown, all) = if quick {
        (listing.newest_calls(&ready.library.catalogue(), limit, false)?, listing.calls())
    } else {
        let mut found = asked.calls(filter)?;
        let all = found.len() as u64;
        match own.sort {
            CallSort::Session => found = newest_listed(found, limit),
            CallSort::Time => found.sort_by_key(|call| call.order),
            CallSort::Took => found.sort_by_key(|call| call.took),
        }
        (last(found, limit), all)
    };
    if args.json {
        let mut stdout = out::data();
        asked.each_row(
            &shown,
            |lines: &mut Vec<u8>, row, _| {
                // Rows hold nothing that a line cannot.
                let _ = json_line::append(lines, &row);
            },
            |lines| anyhow::Ok(stdout.write_all(&lines)?),
        )?;
        stdout.flush()?;
        return Ok(ready.exit());
    }
    // Errors are there once the details of a session are stored. A table does not wait for them.
    let mut errors = shown.iter().map(|call| ready.library.error(&listing, *call)).collect::<Vec<_>>().into_iter();
    let has_errors = errors.as_slice().iter().any(Option::is_some);
    let (mut table, times) = (own.table(args, has_errors)?, TimeWriter::new(args));
    let add = |_: &mut (), row: CallRow<'_>, at| {
        let error = errors.next().flatten();
        add_row(&mut table, ready.library.disk(), &times, row, at, error);
    };
    asked.each_row(&shown, add, |()| anyhow::Ok(()))?;
    let logs = ready.library.bundles()?.iter().map(|bundle| bundle.files.len() as u64).sum();
    print(args, table, own.sort, ShownCounts { shown: shown.len() as u64, all, logs }, filter)?;
    Ok(ready.exit())
}

/// The newest `limit` calls, in the order in which calls are listed.
fn newest_listed(mut calls: Vec<ListedCall>, limit: usize) -> Vec<ListedCall> {
    // Selected by time, then shown in the order of sessions.
    if limit > 0 {
        calls.sort_by_key(|call| call.order);
        calls = last(calls, limit);
        calls.sort_unstable();
    }
    calls
}

/// Number of rows that a thread makes at a time.
const CHUNK: usize = 1024;

/// Prints rows as JSON. Each thread makes a chunk, and the chunks are printed in order.
fn print_json(logs: &Logs, linked: &Linked<'_>, calls: &[&LinkedCall], copies: bool) -> anyhow::Result<()> {
    let lines = |calls: &[&LinkedCall]| -> Result<Vec<u8>, std::fmt::Error> {
        let mut lines = Vec::new();
        for call in calls {
            let mut row = linked.call_row(call, &logs.now, copies);
            logs.complete(&mut row, linked.record(call.id));
            json_line::append(&mut lines, &row)?;
        }
        Ok(lines)
    };
    let mut out = out::data();
    // The record of each request is read again for its row, which takes longer than printing. Batches limit the memory.
    for batch in calls.chunks(CHUNK.saturating_mul(logs.threads())) {
        let (first, others) = batch.split_at(batch.len().min(CHUNK));
        std::thread::scope(|scope| -> anyhow::Result<()> {
            let others: Vec<_> = others.chunks(CHUNK).map(|chunk| scope.spawn(move || lines(chunk))).collect();
            // This thread works too, on the chunk that is printed first.
            out.write_all(&lines(first)?)?;
            for other in others {
                out.write_all(&other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?)?;
            }
            Ok(())
        })?;
    }
    out.flush()?;
    Ok(())
}

/// The calls in another order than that of sessions.
fn sorted<'c>(logs: &Logs, linked: &Linked<'_>, calls: &[&'c LinkedCall], sort: CallSort) -> Vec<&'c LinkedCall> {
    let mut calls = calls.to_vec();
    match sort {
        // Cached, because a duration takes a whole row to compute.
        CallSort::Took => calls.sort_by_cached_key(|call| linked.call_row(call, &logs.now, false).duration_ms),
        CallSort::Session | CallSort::Time => calls.sort_by_key(|call| linked.record(call.id).order),
    }
    calls
}

/// The last `limit` calls.
fn last<T>(mut calls: Vec<T>, limit: usize) -> Vec<T> {
    let surplus = if limit == 0 { 0 } else { calls.len().saturating_sub(limit) };
    calls.drain(..surplus);
    calls
}

/// The newest `limit` calls, in the order in which calls are listed.
fn newest<'c>(linked: &Linked<'_>, calls: &[&'c LinkedCall], limit: usize) -> Vec<&'c LinkedCall> {
    if limit == 0 || calls.len() <= limit {
        return calls.to_vec();
    }
    let mut times: Vec<_> = calls.iter().enumerate().map(|(index, call)| (linked.record(call.id).order, index)).collect();
    times.sort_unstable();
    let mut kept: Vec<usize> = times[times.len() - limit..].iter().map(|&(_, index)| index).collect();
    kept.sort_unstable();
    kept.into_iter().map(|index| calls[index]).collect()
}

/// An empty table; with a column for the first line of errors where any is known.
fn empty_table() -> Table {
    let columns = [
        ("REF", Align::Left),
        ("TIME", Align::Left),
        ("TOOL", Align::Fill),
        ("STATUS", Align::Left),
        ("REASON", Align::Fill),
        ("TOOK", Align::Right),
        ("ERROR", Align::Fill),
        ("WHAT", Align::Fill),
    ];
    Table::new(&columns).optional(&["ERROR", "REASON", "TOOK"])
}

/// Adds a call to a table.
fn add_row(
    table: &mut Table,
    disk: &dyn ReadLogs,
    times: &TimeWriter,
    mut row: CallRow<'_>,
    request: impl Into<RequestPlace>,
    error: Option<String>,
) {
    let (sign, style) = out::look(row.status);
    // A stored row says already what the call is about, and only commands are read again.
    let command = if row.about.is_some() {
        load::understand(disk, &mut row, request)
    } else {
        load::complete_at(disk, &mut row, request).ok().flatten()
    };
    // Marks a success that is not the success of the test or build in the command.
    let doubt = if command.is_some_and(|command| command.masks_success(&row)) { "?" } else { "" };
    // Below the call that made it: a subagent's, or one in a script.
    let nested = if row.sidechain || row.is_inner() { "↳ " } else { "" };
    let mut cells = vec![
        Cell::styled(&row.r#ref, DIM),
        times.maybe(row.requested_at).into(),
        format!("{nested}{}", row.ran()).into(),
        Cell::styled(format!("{sign}{doubt} {}", row.status.word()), style),
        Cell::styled(why(row.reason, row.exit_code), style),
        row.duration_ms.map(table::took).unwrap_or_default().into(),
    ];
    // Where nothing limits the width, as in a pipe, a long error would push what the call is about out of sight.
    let error = error.map(|error| table::shortened(&error, ERROR)).unwrap_or_default();
    cells.push(Cell::styled(error, style));
    cells.push(row.about.unwrap_or_default().into());
    table.row(cells);
}

/// Reason for the outcome of a call, in a word or two.
pub(crate) fn why(reason: Option<Reason>, exit_code: Option<i64>) -> String {
    match (reason, exit_code) {
        (Some(Reason::ExitCode), Some(code)) => format!("exit {code}"),
        (Some(reason), _) => reason.word().to_owned(),
        (None, _) => String::new(),
    }
}
