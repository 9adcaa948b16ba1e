//! `check`: the integrity of logs. Accounts for every line, and reports every problem with its line.

use crate::cli::{LogArgs, PathArgs};
use crate::logs;
use crate::out::{self, BOLD, DIM};
use crate::pager::{self, PagedOutput};
use crate::table::{self, printable};
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use tooltrail_model::row::CheckRow;

const EXAMPLES: &str = "\
Examples:
  tooltrail check                   all logs on this machine
  tooltrail check session.jsonl     one log
  tooltrail check --json | jq 'select(.unparsed > 0) | .file'

Exits 1 if a log has issues. The codes are explained in docs/check.md.";

/// Maximum number of issues shown for one file on a terminal.
const SHOWN: usize = 20;

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    paths: PathArgs,
}

pub(crate) fn run(args: &LogArgs, own: &CheckArgs) -> anyhow::Result<ExitCode> {
    // Never from the catalogue: its rows were read without the check for valid UTF-8.
    let logs = logs::read(args, &own.paths.paths, true)?;
    if logs.linker.sources().next().is_none() {
        logs.require_any()?;
    }
    let linked = logs.link();
    let rows = linked.check_rows(&logs.now);
    // A directory of logs may contain other files; they are listed, but do not fail the check.
    let bad = rows.iter().any(|row| row.agent.is_some() && !row.issues.is_empty());
    if args.json {
        out::json_lines(&rows)?;
    } else {
        report(&mut PagedOutput::open(args), pager::row_limit(args, None, SHOWN), &rows)?;
    }
    Ok(if bad { ExitCode::FAILURE } else { logs.exit() })
}

fn report(out: &mut impl Write, limit: usize, rows: &[CheckRow<'_>]) -> anyhow::Result<()> {
    let limit = if limit == 0 { usize::MAX } else { limit };
    let ours = || rows.iter().filter(|row| row.agent.is_some());
    for row in ours().filter(|row| !row.issues.is_empty()) {
        writeln!(out, "{BOLD}{}{BOLD:#}", printable(row.file))?;
        for issue in row.issues.iter().take(limit) {
            let call = issue.call.as_deref().map(|call| format!(" {call}")).unwrap_or_default();
            let mark = issue.row.clone().unwrap_or_else(|| issue.line.to_string());
            writeln!(out, "  {:>6}  {}  {}{DIM}{}{DIM:#}", printable(&mark), issue.code.word(), printable(&issue.text), printable(&call))?;
        }
        if row.issues.len() > limit {
            writeln!(out, "  {DIM}and {} more; --json lists all{DIM:#}", row.issues.len() - limit)?;
        }
    }
    let sum = |of: fn(&CheckRow<'_>) -> u64| ours().map(of).sum::<u64>();
    let (logs, with_issues) = (ours().count() as u64, ours().filter(|row| !row.issues.is_empty()).count() as u64);
    if logs > 0 {
        writeln!(
            out,
            "{}, {} ({} unparsed, {} of unknown type), {} ({} paired, {} without result); {} with issues",
            table::counted(logs, "log"),
            table::counted(sum(|row| row.lines), "line"),
            table::count(sum(|row| row.unparsed)),
            table::count(sum(|row| row.unknown_records)),
            table::counted(sum(|row| row.calls), "call"),
            table::count(sum(|row| row.paired)),
            table::count(sum(|row| row.unanswered)),
            table::counted(with_issues, "log"),
        )?;
    }
    let foreign = rows.len() - ours().count();
    if foreign > 0 {
        writeln!(out, "{DIM}not an agent's log: {}{DIM:#}", table::counted(foreign as u64, "file"))?;
    }
    out.flush()?;
    Ok(())
}
