//! `stats`: totals of everything that was read. Also what is printed without a command.

use crate::cli::LogArgs;
use crate::filters::SelectArgs;
use crate::logs::{self, Logs, PartedLogs};
use crate::out::{self, BOLD, DIM};
use crate::pager::{self, PagedOutput};
use crate::table::{self, Align, Cell, Table};
use anstyle::Style;
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::totals;
use tooltrail_model::Status;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{By, GroupSums, StatsSums};
use tooltrail_model::row::{GroupRow, StatsRow};

const EXAMPLES: &str = "\
Examples:
  tooltrail stats                   all logs on this machine
  tooltrail stats session.jsonl     one log
  tooltrail stats project:. since:7d
  tooltrail stats --by day --since 2w
  tooltrail stats --by project status:failed
  tooltrail stats --by command status:failed    which commands fail most
  tooltrail stats --by session -n 5
  tooltrail stats --by model --json
  tooltrail stats --json | jq .usage";

/// Arguments of `stats`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Group totals by project, day, week, month, model, tool, agent, branch, session or command
    #[arg(long, value_name = "WHAT", value_enum)]
    by: Option<GroupArg>,
    /// With --by, show N groups: the newest days, weeks or months, else those with the most calls; 0 for all [default: 30 on a terminal, else all]
    #[arg(short = 'n', long, value_name = "N", requires = "by")]
    number: Option<usize>,
}

/// Attribute by which totals are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum GroupArg {
    Project,
    Day,
    Week,
    Month,
    Model,
    Tool,
    Agent,
    Branch,
    Session,
    Command,
}

impl GroupArg {
    fn by(self) -> By {
        match self {
            GroupArg::Project => By::Project,
            GroupArg::Day => By::Day,
            GroupArg::Week => By::Week,
            GroupArg::Month => By::Month,
            GroupArg::Model => By::Model,
            GroupArg::Tool => By::Tool,
            GroupArg::Agent => By::Agent,
            GroupArg::Branch => By::Branch,
            GroupArg::Session => By::Session,
            GroupArg::Command => By::Command,
        }
    }
}

pub(crate) fn run(args: &LogArgs, own: &StatsArgs) -> anyhow::Result<ExitCode> {
    let filter = own.select.filter(args)?;
    let logs = logs::open_parts(args, &own.select.paths())?;
    match own.by {
        Some(by) => apart(args, own, logs, &filter, by.by()),
        None => {
            let (logs, stats) = whole(logs, &filter)?;
            let Some(stats) = stats else {
                logs.none_found()?;
                return Ok(logs.exit());
            };
            print(args, &logs, &stats)
        }
    }
}

/// Default number of groups in a table.
const SHOWN: usize = 30;

/// The groups, with the short name and the title of each session where groups are sessions.
#[derive(Default)]
struct Groups {
    rows: Vec<GroupRow>,
    titles: BTreeMap<String, String>,
}

/// Prints totals by group.
fn apart(args: &LogArgs, own: &StatsArgs, logs: PartedLogs, filter: &Filter, by: By) -> anyhow::Result<ExitCode> {
    let (logs, groups) = groups(logs, filter, by)?;
    let Some(Groups { rows: groups, titles }) = groups else {
        logs.none_found()?;
        return Ok(logs.exit());
    };
    let limit = pager::row_limit(args, own.number, SHOWN);
    let surplus = if limit == 0 { 0 } else { groups.len().saturating_sub(limit) };
    // Days, weeks and months are in order of time, the newest last; other groups have the most calls first.
    let shown = if by.is_time() { &groups[surplus..] } else { &groups[..groups.len() - surplus] };
    if args.json {
        out::json_lines(shown)?;
        return Ok(logs.exit());
    }
    let mut out = PagedOutput::open(args);
    if groups.is_empty() {
        out.note(&"no data")?;
    } else {
        group_table(&titles, by, shown).print(&mut out, table::terminal_width())?;
        out.note(&TIMES)?;
    }
    if surplus > 0 {
        let which = if by.is_time() { "newest" } else { "first" };
        out.note(&format_args!("the {which} {} of {}; -n 0 shows all", shown.len(), table::counted(groups.len() as u64, by.word())))?;
    }
    out.flush()?;
    Ok(logs.exit())
}

/// Totals by group; `None` if there are no logs.
fn groups(logs: PartedLogs, filter: &Filter, by: By) -> anyhow::Result<(Logs, Option<Groups>)> {
    if let Some(library) = logs.stored().filter(|_| by == By::Command) {
        let (now, threads) = (&logs.logs.now, logs.logs.threads());
        let listing = library.catalogue().list(now)?;
        let sessions = listing.rows();
        if (0..sessions.len()).all(|session| listing.is_gone(session)) {
            return Ok((logs.logs, None));
        }
        let query = CatalogueQuery { library, listing: &listing, rows: &sessions, now, threads };
        let rows = totals::of_commands(&query, filter)?;
        return Ok((logs.logs, Some(Groups { rows, ..Groups::default() })));
    }
    let zone = jiff::tz::TimeZone::system();
    let mut sums = GroupSums::new(by, &zone);
    let mut titles = BTreeMap::new();
    let (logs, any) = logs.each(true, |logs, linked| {
        totals::add_groups(&mut sums, &logs.asked(linked), filter);
        // Ids are long; a short one is a REF, and the title says which session it is.
        let named = linked.sessions.iter().filter(|_| by == By::Session);
        titles.extend(named.map(|own| (own.id.to_string(), format!("{}  {}", own.short, own.title.as_deref().unwrap_or("")))));
    })?;
    Ok((logs, any.then(|| Groups { rows: sums.finish(), titles })))
}

/// What the durations of calls are, below the tables that have them.
const TIMES: &str = "durations of calls: from request to result, including waiting for approval";

fn group_table(titles: &BTreeMap<String, String>, by: By, groups: &[GroupRow]) -> Table {
    let name = by.word().to_uppercase();
    let fill = if by == By::Project { Align::FillEnd } else { Align::Fill };
    let mut columns = vec![(name.as_str(), fill), ("SESSIONS", Align::Right)];
    // A turn has no single tool or model, and tokens are not counted per tool.
    let (turns, tokens) = (by.has_turns(), by.has_tokens());
    columns.extend(turns.then_some(("TURNS", Align::Right)));
    columns.extend(["CALLS", "FAILED", "REFUSED", "NO RESULT", "TOOL TIME"].map(|column| (column, Align::Right)));
    if tokens {
        columns.extend(["INPUT", "OUTPUT", "CACHE WRITE", "CACHE READ"].map(|column| (column, Align::Right)));
    } else {
        columns.extend(["P50", "P95"].map(|column| (column, Align::Right)));
    }
    let mut table =
        Table::new(&columns).optional(&["P95", "P50", "CACHE WRITE", "SESSIONS", "NO RESULT", "TURNS", "REFUSED", "CACHE READ"]);
    let named = |key: &str| titles.get(key).cloned().unwrap_or_else(|| key.to_owned());
    for group in groups {
        let number = |number: u64| {
            Cell::styled(if number == 0 { "–".to_owned() } else { table::count(number) }, if number == 0 { DIM } else { Style::new() })
        };
        let statuses = |statuses: &[Status]| {
            let count = group.count(statuses);
            if count == 0 { number(0) } else { Cell::styled(table::count(count), out::look(statuses[0]).1) }
        };
        let mut cells = vec![
            group.key.as_deref().map_or_else(|| Cell::styled("(none)", DIM), |key| named(key).into()),
            table::count(group.sessions).into(),
        ];
        cells.extend(turns.then(|| number(group.turns.unwrap_or(0))));
        cells.extend([
            number(group.calls),
            statuses(&[Status::Failed]),
            statuses(&[Status::Rejected, Status::Blocked]),
            statuses(&[Status::Unanswered]),
            if group.took_ms == 0 { number(0) } else { table::took(group.took_ms).into() },
        ]);
        if tokens {
            let used = group.usage.unwrap_or_default().tokens;
            cells.extend([used.input, used.output, used.cache_write_5m.saturating_add(used.cache_write_1h), used.cache_read].map(number));
        } else {
            cells.extend([group.p50_ms, group.p95_ms].map(|took| took.map(table::took).unwrap_or_default().into()));
        }
        table.row(cells);
    }
    table
}

/// Output of `tooltrail` without a command, if standard output is no terminal.
pub(crate) fn overview(args: &LogArgs) -> anyhow::Result<ExitCode> {
    let (logs, stats) = whole(logs::open_parts(args, &[])?, &Filter::default())?;
    let Some(stats) = stats else {
        // Not an error: the first thing a new user runs should explain rather than fail.
        out::remark(&format!("No agent's logs were found.\n{}", logs::where_to_look(&logs.looked)));
        return Ok(ExitCode::SUCCESS);
    };
    print(args, &logs, &stats)
}

/// The totals of what a filter selects; `None` if there are no logs.
fn whole(logs: PartedLogs, filter: &Filter) -> anyhow::Result<(Logs, Option<StatsRow>)> {
    let mut sums = StatsSums::default();
    // Without a filter nothing depends on the names of sessions.
    let named = !filter.is_empty();
    let (logs, any) = logs.each(named, |logs, linked| totals::add(&mut sums, &logs.asked(linked), filter))?;
    Ok((logs, any.then(|| sums.finish())))
}

fn print(args: &LogArgs, logs: &Logs, stats: &StatsRow) -> anyhow::Result<ExitCode> {
    if args.json {
        out::json_lines([stats])?;
        return Ok(logs.exit());
    }
    let mut out = PagedOutput::open(args);
    head(&mut out, logs, stats)?;
    if stats.calls > 0 {
        tools(stats).print(&mut out, table::terminal_width())?;
        out.note(&TIMES)?;
    }
    if !stats.usage.is_empty() {
        writeln!(out)?;
        models(stats).print(&mut out, table::terminal_width())?;
    }
    out.flush()?;
    Ok(logs.exit())
}

fn head(out: &mut impl Write, logs: &Logs, stats: &StatsRow) -> anyhow::Result<()> {
    let counted = table::counted;
    let calls = counted(stats.calls, "tool call");
    writeln!(out, "{BOLD}{calls}{BOLD:#} in {} of {}", counted(stats.turns, "turn"), counted(stats.sessions, "session"))?;
    writeln!(
        out,
        "{DIM}{}, {}, {} ({} unparsed), {} in {:.2} s{DIM:#}",
        counted(stats.sources, "log"),
        table::bytes(stats.bytes),
        counted(stats.lines, "line"),
        table::count(stats.unparsed),
        // Where the index answers, the time is that of opening it and of reading what is new.
        if logs.is_stored { "from the index" } else { "read" },
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

/// Prints the number of calls by status, wrapped to the width of the terminal.
fn statuses(out: &mut impl Write, stats: &StatsRow) -> anyhow::Result<()> {
    // Without a terminal nothing wraps, so that a script finds all statuses on one line.
    let limit = table::terminal_width().unwrap_or(usize::MAX);
    let mut used = 0;
    for (status, number) in &stats.by_status {
        let (sign, style) = out::look(*status);
        let text = format!("{sign} {} {}", table::count(*number), status.word());
        let width = text.chars().count();
        if used > 0 {
            // Three spaces stand between two statuses.
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
    // Most used first; by name where equal, so that the order is stable.
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
            cell(&[Status::Unanswered]),
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
