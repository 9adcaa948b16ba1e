//! `stats`: totals of everything that was read. Also what is printed without a command.

use crate::cli::LogArgs;
use crate::filters::SelectArgs;
use crate::logs::{self, Logs};
use crate::out::{self, BOLD, DIM};
use crate::table::{self, Align, Cell, Table};
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use tooltrail_catalog::taken::{self, Scope};
use tooltrail_model::Status;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{Linked, LinkedCall};
use tooltrail_model::row::StatsRow;

const EXAMPLES: &str = "\
Examples:
  tooltrail stats                   all logs on this machine
  tooltrail stats session.jsonl     one log
  tooltrail stats project:. since:7d
  tooltrail stats --json | jq .usage";

/// Arguments of `stats`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    select: SelectArgs,
}

pub(crate) fn run(args: &LogArgs, own: &StatsArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter(args)?;
    let logs = logs::open(args, &own.select.paths())?;
    logs.require_any()?;
    print(args, &logs, &filter)
}

/// What `tooltrail` alone prints.
pub(crate) fn overview(args: &LogArgs) -> anyhow::Result<ExitCode> {
    let logs = logs::open(args, &[])?;
    if logs.any() {
        return print(args, &logs, &Filter::default());
    }
    out::remark(&format!("No agent's logs were found.\n{}", logs::where_to_look(&logs.looked)));
    Ok(ExitCode::SUCCESS)
}

fn print(args: &LogArgs, logs: &Logs, filter: &Filter) -> anyhow::Result<ExitCode> {
    // As with the logs themselves: the process is about to end, and taking everything apart would only cost time.
    let linked = ManuallyDrop::new(logs.link());
    let stats = if filter.is_empty() { linked.stats(&logs.now) } else { filtered(logs, &linked, filter) };
    let mut out = out::stdout(args.color.as_str());
    if args.json {
        out::json_lines([&stats])?;
        return Ok(ExitCode::SUCCESS);
    }
    head(&mut out, logs, &stats)?;
    if stats.calls > 0 {
        tools(&stats).print(&mut out, table::terminal_width())?;
    }
    if !stats.usage.is_empty() {
        writeln!(out)?;
        models(&stats).print(&mut out, table::terminal_width())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The totals of the calls and sessions that a filter takes. Tokens are spent by sessions, not by calls, so they are those of the sessions.
fn filtered(logs: &Logs, linked: &Linked<'_>, filter: &Filter) -> StatsRow {
    let calls: Vec<LinkedCall> = taken::calls(&logs.asked(linked), filter, false).into_iter().copied().collect();
    let sessions = taken::sessions(&logs.asked(linked), filter, Scope::Call);
    linked.stats_of(&calls, &sessions, &logs.now)
}

fn head(out: &mut impl Write, logs: &Logs, stats: &StatsRow) -> anyhow::Result<()> {
    let counted = table::counted;
    let calls = counted(stats.calls, "tool call");
    writeln!(out, "{BOLD}{calls}{BOLD:#} in {} of {}", counted(stats.turns, "turn"), counted(stats.sessions, "session"))?;
    writeln!(
        out,
        "{DIM}{}, {}, {} ({} unparsed), read in {:.2} s{DIM:#}",
        counted(stats.sources, "log"),
        table::bytes(stats.bytes),
        counted(stats.lines, "line"),
        table::count(stats.unparsed),
        logs.took.as_secs_f64(),
    )?;
    if stats.calls == 0 {
        return Ok(());
    }
    writeln!(out)?;
    statuses(out, stats)?;
    writeln!(out)?;
    Ok(())
}

/// The statuses in one line, or as many as the terminal needs.
fn statuses(out: &mut impl Write, stats: &StatsRow) -> anyhow::Result<()> {
    let limit = table::terminal_width().unwrap_or(usize::MAX);
    let mut used = 0;
    for (status, number) in &stats.by_status {
        let (sign, style) = out::look(*status);
        let text = format!("{sign} {} {}", table::count(*number), status.word());
        let width = text.chars().count();
        if used > 0 {
            let fits = used + 3 + width <= limit;
            write!(out, "{}", if fits { "   " } else { "\n" })?;
            used = if fits { used + 3 } else { 0 };
        }
        write!(out, "{style}{text}{style:#}")?;
        used += width;
    }
    writeln!(out)?;
    Ok(())
}

fn tools(stats: &StatsRow) -> Table {
    let mut table = Table::new(&[
        ("TOOL", Align::Fill),
        ("CALLS", Align::Right),
        ("FAILED", Align::Right),
        ("REFUSED", Align::Right),
        ("STOPPED", Align::Right),
        ("NO RESULT", Align::Right),
        ("P50", Align::Right),
        ("P95", Align::Right),
    ])
    .optional(&["P95", "P50", "STOPPED", "NO RESULT"]);
    let mut rows: Vec<_> = stats.by_tool.iter().collect();
    rows.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then_with(|| a.0.cmp(b.0)));
    for (name, tool) in rows {
        let cell = |statuses: &[Status]| {
            let number = sum(&tool.by_status, statuses);
            let style = if number == 0 { DIM } else { out::look(statuses[0]).1 };
            Cell::styled(if number == 0 { "–".to_owned() } else { table::count(number) }, style)
        };
        table.row(vec![
            name.into(),
            table::count(tool.calls).into(),
            cell(&[Status::Failed]),
            cell(&[Status::Rejected, Status::Blocked]),
            cell(&[Status::Interrupted, Status::TimedOut, Status::Cancelled]),
            cell(&[Status::Unanswered, Status::Running]),
            tool.p50_ms.map(table::took).unwrap_or_default().into(),
            tool.p95_ms.map(table::took).unwrap_or_default().into(),
        ]);
    }
    table
}

fn sum(by_status: &BTreeMap<Status, u64>, statuses: &[Status]) -> u64 {
    statuses.iter().filter_map(|status| by_status.get(status)).sum()
}

fn models(stats: &StatsRow) -> Table {
    let mut table = Table::new(&[
        ("MODEL", Align::Fill),
        ("REQUESTS", Align::Right),
        ("INPUT", Align::Right),
        ("OUTPUT", Align::Right),
        ("CACHE WRITE", Align::Right),
        ("CACHE READ", Align::Right),
    ])
    .optional(&["CACHE WRITE", "REQUESTS"]);
    let mut rows: Vec<_> = stats.usage.iter().collect();
    rows.sort_by(|a, b| b.1.messages.cmp(&a.1.messages).then_with(|| a.0.cmp(b.0)));
    for (name, usage) in rows {
        let tokens = &usage.tokens;
        table.row(vec![
            name.into(),
            table::count(usage.messages).into(),
            table::count(tokens.input).into(),
            table::count(tokens.output).into(),
            table::count(tokens.cache_write_5m.saturating_add(tokens.cache_write_1h)).into(),
            table::count(tokens.cache_read).into(),
        ]);
    }
    table
}
