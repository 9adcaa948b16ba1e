//! `calls`: tool calls with their outcome, time and evidence.

use crate::cli::LogArgs;
use crate::filters::SelectArgs;
use crate::logs::{self, Logs};
use crate::out::{self, DIM};
use crate::table::{self, Align, Cell, Table};
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use tooltrail_catalog::taken;
use tooltrail_model::link::{Linked, LinkedCall};
use tooltrail_model::{Reason, Status};

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
  tooltrail calls --json --copies       every copy on its own line";

/// The newest calls that a table shows, unless told otherwise.
const SHOWN: usize = 50;

/// Arguments of `calls`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CallsArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Give every copy of a call a line of its own, which says only what its own file says
    #[arg(long)]
    copies: bool,
    /// Only the newest N calls; 0 for all [default: 50 in a table, all as JSON]
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
    /// In which order; with -n the last of them are shown
    #[arg(long, value_name = "BY", default_value = "session")]
    sort: Sort,
}

/// The order of calls, the most last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// By session, and in it by request
    Session,
    /// By request
    Time,
    /// By how long they took
    Took,
}

pub(crate) fn run(args: &LogArgs, own: &CallsArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter(args)?;
    let logs = logs::read(args, &own.select.paths(), false)?;
    logs.require_any()?;
    let linked = logs.link();
    let calls = taken::calls(&logs.asked(&linked), &filter, own.copies);
    let limit = own.number.unwrap_or(if args.json { 0 } else { SHOWN });
    let shown = match own.sort {
        Sort::Session => newest(&linked, &calls, limit),
        sort => last(sorted(&logs, &linked, &calls, sort), limit),
    };
    let mut out = out::stdout(args.color.as_str());
    if args.json {
        print_json(&logs, &linked, &shown, own.copies)?;
        return Ok(ExitCode::SUCCESS);
    }
    if calls.is_empty() {
        let such = if filter.is_empty() { "" } else { "such " };
        writeln!(out, "no {such}tool calls in {}", table::counted(linked.sources.len() as u64, "log"))?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    table(&logs, &linked, &shown, own.copies).print(&mut out, table::terminal_width())?;
    if shown.len() < calls.len() {
        let which = if own.sort == Sort::Took { "slowest" } else { "newest" };
        writeln!(out, "{DIM}the {which} {} of {} calls; -n 0 shows all{DIM:#}", shown.len(), table::count(calls.len() as u64))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// How many rows a thread makes at a time.
const CHUNK: usize = 1024;

/// Prints rows as JSON. Each thread makes a piece, and the pieces are printed in order: a command is read again for its row, and that takes time.
fn print_json(logs: &Logs, linked: &Linked<'_>, calls: &[&LinkedCall], copies: bool) -> anyhow::Result<()> {
    let lines = |calls: &[&LinkedCall]| -> serde_json::Result<Vec<u8>> {
        let mut lines = Vec::new();
        for call in calls {
            let mut row = linked.call_row(call, &logs.now, copies);
            logs.understand(&mut row, linked.record(call.id).at);
            serde_json::to_writer(&mut lines, &row)?;
            lines.push(b'\n');
        }
        Ok(lines)
    };
    let mut out = std::io::stdout().lock();
    for batch in calls.chunks(CHUNK.saturating_mul(logs.threads())) {
        let (first, others) = batch.split_at(batch.len().min(CHUNK));
        std::thread::scope(|scope| -> anyhow::Result<()> {
            let others: Vec<_> = others.chunks(CHUNK).map(|chunk| scope.spawn(move || lines(chunk))).collect();
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
fn sorted<'c>(logs: &Logs, linked: &Linked<'_>, calls: &[&'c LinkedCall], sort: Sort) -> Vec<&'c LinkedCall> {
    let mut calls = calls.to_vec();
    match sort {
        Sort::Took => calls.sort_by_cached_key(|call| linked.call_row(call, &logs.now, false).duration_ms),
        Sort::Session | Sort::Time => calls.sort_by_key(|call| linked.record(call.id).order),
    }
    calls
}

/// The last `limit` calls.
fn last(mut calls: Vec<&LinkedCall>, limit: usize) -> Vec<&LinkedCall> {
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

fn table(logs: &Logs, linked: &Linked<'_>, calls: &[&LinkedCall], copies: bool) -> Table {
    let mut table = Table::new(&[
        ("REF", Align::Left),
        ("TIME", Align::Left),
        ("TOOL", Align::Fill),
        ("STATUS", Align::Left),
        ("REASON", Align::Fill),
        ("TOOK", Align::Right),
        ("WHAT", Align::Fill),
    ])
    .optional(&["TIME", "REASON", "TOOK"]);
    for call in calls {
        let mut row = linked.call_row(call, &logs.now, copies);
        let (sign, style) = out::look(row.status);
        let record = linked.record(call.id);
        let script = logs.understand(&mut row, record.at);
        // A success that is not that of the test or build in it.
        let unsure = row.status == Status::Succeeded && script.is_some_and(|script| !script.masked_runs().is_empty());
        let doubt = if unsure { "?" } else { "" };
        let what = logs.argument(row.request.file, record.at, row.call).unwrap_or_default();
        let reason = why(row.reason, row.exit_code);
        let nested = if row.sidechain { "↳ " } else { "" };
        table.row(vec![
            Cell::styled(&row.r#ref, DIM),
            record.time.map(local).unwrap_or_default().into(),
            format!("{nested}{}", row.tool).into(),
            Cell::styled(format!("{sign}{doubt} {}", row.status.word()), style),
            Cell::styled(reason, style),
            row.duration_ms.map(table::took).unwrap_or_default().into(),
            what.into(),
        ]);
    }
    table
}

/// Why a call ended as it did, in a word or two.
pub(crate) fn why(reason: Option<Reason>, exit_code: Option<i64>) -> String {
    match (reason, exit_code) {
        (Some(Reason::ExitCode), Some(code)) => format!("exit {code}"),
        (Some(reason), _) => reason.word().to_owned(),
        (None, _) => String::new(),
    }
}

/// A time of day as the person's clock shows it.
pub(crate) fn local(time: tooltrail_model::Time) -> String {
    time.timestamp().to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}
