//! `list`: sessions, with what they are about and what became of their calls.

use crate::cli::{LogArgs, PathArgs};
use crate::commands::calls::local;
use crate::logs;
use crate::out::{self, DIM};
use crate::table::{self, Align, Cell, Table};
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use tooltrail_model::Status;
use tooltrail_model::row::SessionRow;

const EXAMPLES: &str = "\
Examples:
  tooltrail list                    the newest sessions
  tooltrail list -n 0               all of them
  tooltrail list --json | jq -r '[.session, .title] | @tsv'";

/// The newest sessions that a table shows, unless told otherwise.
const SHOWN: usize = 30;

/// Arguments of `list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    paths: PathArgs,
    /// Only the newest N sessions; 0 for all [default: 30 in a table, all as JSON]
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
}

pub(crate) fn run(args: &LogArgs, own: &ListArgs) -> anyhow::Result<ExitCode> {
    let logs = logs::read(args, &own.paths.paths, false)?;
    logs.require_any()?;
    let linked = logs.link();
    let rows = linked.session_rows(&logs.now);
    let limit = own.number.unwrap_or(if args.json { 0 } else { SHOWN });
    let shown = newest(&rows, limit);
    let mut out = out::stdout(args.color.as_str());
    if args.json {
        out::json_lines(shown)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(&[
        ("SESSION", Align::Left),
        ("STARTED", Align::Left),
        ("AGENT", Align::Left),
        ("TURNS", Align::Right),
        ("CALLS", Align::Right),
        ("NOT FINE", Align::Left),
        ("PROJECT", Align::FillEnd),
        ("TITLE", Align::Fill),
    ])
    .optional(&["AGENT", "TURNS", "STARTED", "PROJECT"]);
    for row in &shown {
        table.row(cells(row));
    }
    table.print(&mut out, table::terminal_width())?;
    if shown.len() < rows.len() {
        writeln!(out, "{DIM}the newest {} of {} sessions; -n 0 shows all{DIM:#}", shown.len(), table::count(rows.len() as u64))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The newest `limit` sessions, in the order in which sessions are listed. Those without a time count as oldest.
fn newest<'r, 'a>(rows: &'r [SessionRow<'a>], limit: usize) -> Vec<&'r SessionRow<'a>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    if limit > 0 && rows.len() > limit {
        order.sort_by_key(|&index| (rows[index].last_at.as_deref(), index));
        order.drain(..rows.len() - limit);
        order.sort_unstable();
    }
    order.into_iter().map(|index| &rows[index]).collect()
}

fn cells(row: &SessionRow<'_>) -> Vec<Cell> {
    let troubles: Vec<String> = row
        .by_status
        .iter()
        .filter(|(status, _)| !matches!(status, Status::Succeeded | Status::Answered))
        .map(|(status, count)| format!("{}{count}", out::look(*status).0))
        .collect();
    let started = row.started_at.as_deref().and_then(|time| time.parse().ok()).map(local).unwrap_or_default();
    vec![
        Cell::styled(row.short, DIM),
        started.into(),
        row.agent.into(),
        table::count(row.turns).into(),
        table::count(row.calls).into(),
        troubles.join(" ").into(),
        row.project.unwrap_or_default().into(),
        row.title.unwrap_or_default().into(),
    ]
}
