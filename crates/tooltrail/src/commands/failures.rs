//! `failures`: failed calls of all sessions, grouped by their message.

use crate::catalogue;
use crate::cli::LogArgs;
use crate::filters::SelectArgs;
use crate::logs;
use crate::out::{self, DIM};
use crate::pager::{self, PagedOutput};
use crate::table::{self, Align, Cell, Table};
use crate::times::TimeWriter;
use anyhow::bail;
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use tooltrail_catalog::queries::Store;
use tooltrail_catalog::queries::failures::{FailureGroup, FailureQuery, FailureReport};
use tooltrail_model::Status;
use tooltrail_view::failures::follow_up_word;

const EXAMPLES: &str = "\
Examples:
  tooltrail failures                          the most frequent failures of all sessions
  tooltrail failures --since today
  tooltrail failures --unresolved --since 7d  what was never fixed this week
  tooltrail failures project:. tool:Bash      in this directory's project
  tooltrail failures status:blocked,rejected  what was refused
  tooltrail failures -n 5 --json | jq .failure

A failure is a call that failed, timed out, or was blocked or rejected. docs/failures.md explains the columns.";

/// Default number of groups in a table.
const SHOWN: usize = 30;
/// Tools that a row names.
const TOOLS: usize = 2;
/// How long logs of live sessions may be read: a command is asked for all of them.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Arguments of `failures`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FailuresArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Only failures that no later success of the same command or file resolved
    #[arg(long)]
    unresolved: bool,
    /// Only the N most frequent messages; 0 for all [default: 30 on a terminal, else all]
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
}

pub(crate) fn run(args: &LogArgs, own: &FailuresArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter(args)?;
    let paths = own.select.paths();
    // The catalogue of named logs and of the demo is thrown away afterwards.
    let (ready, _place) = match paths.is_empty() && !args.demo && !args.no_cache {
        true => (catalogue::ready(args)?, None),
        false => catalogue::temporary(args, &paths).map(|(ready, place)| (ready, Some(place)))?,
    };
    let listing = ready.list()?;
    let rows = listing.rows();
    if rows.is_empty() {
        bail!("no agent's logs found\n{}", logs::where_to_look(&ready.looked));
    }
    // A command has to count all sessions, so what is missing is made first; the page only says what it does not count.
    ready.asked(&listing, &rows).make_failures(&filter)?;
    let zone = if args.utc { jiff::tz::TimeZone::UTC } else { jiff::tz::TimeZone::system() };
    let query = FailureQuery { filter: &filter, unresolved: own.unresolved, zone: &zone, patience: PATIENCE };
    let limit = pager::row_limit(args, own.number, SHOWN);
    let report = ready.asked(&listing, &rows).failures(&query, None, if limit == 0 { usize::MAX } else { limit })?;
    if args.json {
        out::json_lines(report.groups.iter().map(FailureGroup::row))?;
        return Ok(ready.exit());
    }
    print(args, own, &report)?;
    Ok(ready.exit())
}

fn print(args: &LogArgs, own: &FailuresArgs, report: &FailureReport) -> anyhow::Result<()> {
    let mut out = PagedOutput::open(args);
    let kind = if own.unresolved { "unresolved failure" } else { "failure" };
    if report.groups.is_empty() {
        out.note(&format_args!("no {kind}s"))?;
        out.flush()?;
        return Ok(());
    }
    let times = TimeWriter::new(args);
    let columns = [
        ("CALLS", Align::Right),
        ("SESSIONS", Align::Right),
        ("TOOLS", Align::Fill),
        ("FIRST", Align::Left),
        ("LAST", Align::Left),
        ("REF", Align::Left),
        ("WHAT CAME NEXT", Align::Fill),
        ("MESSAGE", Align::Fill),
    ];
    let mut table = Table::new(&columns).optional(&["FIRST", "SESSIONS", "TOOLS", "WHAT CAME NEXT"]);
    for group in &report.groups {
        // The most frequent status gives the sign, as on the page: both must show the same one.
        let status = group.by_status.iter().max_by_key(|(_, count)| **count).map_or(Status::Failed, |(status, _)| *status);
        let (sign, style) = out::look(status);
        table.row(vec![
            table::count(group.count).into(),
            table::count(group.sessions).into(),
            tools(group).into(),
            times.maybe(group.first).into(),
            times.maybe(group.last).into(),
            Cell::styled(&group.example, DIM),
            follow_ups(group).into(),
            Cell::styled(format!("{sign} {}", group.group), style),
        ]);
    }
    table.print(&mut out, table::terminal_width())?;
    let total = &report.total;
    let unresolved = if own.unresolved { String::new() } else { format!(", {} unresolved", table::count(total.unresolved())) };
    let (calls, sessions, messages) =
        (table::counted(total.count, kind), table::counted(total.sessions, "session"), table::counted(report.all_groups, "message"));
    out.note(&format_args!("{calls} in {sessions}, {messages}{unresolved}"))?;
    if report.has_more {
        out.note(&format_args!("the {} most frequent; -n 0 shows all", report.groups.len()))?;
    }
    out.flush()?;
    Ok(())
}

fn tools(group: &FailureGroup) -> String {
    let names: Vec<&str> = group.tools.iter().take(TOOLS).map(|(tool, _)| tool.as_str()).collect();
    let more = group.tools.len().saturating_sub(TOOLS);
    format!("{}{}", names.join(", "), if more > 0 { format!(" +{more}") } else { String::new() })
}

/// What came after the failures of a group: `5 succeeded later, 2 not retried`.
fn follow_ups(group: &FailureGroup) -> String {
    let parts: Vec<String> =
        group.follow_ups.iter().map(|(follow_up, count)| format!("{} {}", table::count(*count), follow_up_word(*follow_up))).collect();
    parts.join(", ")
}
