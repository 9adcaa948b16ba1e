//! `tail`: calls as they are requested and as they end, while agents write their logs.

use crate::cli::{LogArgs, duration};
use crate::commands::calls::why;
use crate::filters::SelectArgs;
use crate::logs;
use crate::out::{self, DIM};
use crate::table::{self, Align, fit, printable};
use anyhow::{Context, bail};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tooltrail_catalog::watch::{CallNews, Change, Ground, Next, Options, Watcher, Wish};
use tooltrail_formats::Places;
use tooltrail_model::{Reason, Status, Time};
use unicode_width::UnicodeWidthStr;

const EXAMPLES: &str = "\
Examples:
  tooltrail tail                        the last calls, and what comes from now on
  tooltrail tail project:.              only what happens here
  tooltrail tail status:failed          only calls that fail
  tooltrail tail session.jsonl          one log as it grows
  tooltrail tail -n 0 --for 30s         only what comes in the next half minute
  tooltrail tail --json | jq -r 'select(.status == \"failed\") | .call'

A line is printed when a call is requested and when it ends. Ctrl-C ends it.";

/// The last calls that people are shown first, unless told otherwise.
const SHOWN: usize = 10;

/// Longer than anybody waits.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

/// Arguments of `tail`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TailArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Begin with the last N calls; those that run come in any case [default: 10 in a table, 0 as JSON]
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
    /// End after a time, as in `30s` or `5m`
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    length: Option<Duration>,
}

pub(crate) fn run(args: &LogArgs, own: &TailArgs) -> anyhow::Result<ExitCode> {
    if args.demo {
        bail!("the demo does not change, so there is nothing to follow; `tooltrail calls --demo` shows its calls");
    }
    let filter = own.select.filter(args)?;
    let filtered = !filter.is_empty();
    let places = logs::places(args)?;
    let ground = ground(args, &own.select.paths(), &places)?;
    let options = Options { scan: logs::options(args, false), ..Options::default() };
    let clock = {
        let args = args.clone();
        Arc::new(move || logs::now_in(&args, &places))
    };
    let end = own.length.map(|length| Instant::now() + length);
    let watcher = Watcher::start(ground, options, clock, None).context("cannot start a thread to watch with")?;
    let last = own.number.unwrap_or(if args.json { 0 } else { SHOWN });
    let subscriber = watcher.subscribe(Wish { filter, last });
    end_on_signal(&watcher)?;
    let mut out = out::stdout(args.color.as_str());
    let mut begun = false;
    loop {
        // However short the time, what was asked for at the beginning is printed.
        let end = end.filter(|_| begun);
        match subscriber.next_within(end.map_or(FOREVER, |end| end.saturating_duration_since(Instant::now()))) {
            Next::Change(change) => {
                begun |= matches!(*change, Change::Begun { .. });
                show(&mut out, &change, args.json, filtered)?;
            }
            Next::Quiet if end.is_none() => {}
            Next::Quiet | Next::Ended => return Ok(ExitCode::SUCCESS),
        }
    }
}

/// Where the arguments want calls to be followed.
fn ground(args: &LogArgs, paths: &[PathBuf], places: &[Places]) -> anyhow::Result<Ground> {
    if paths.is_empty() {
        return Ok(Ground::Places(places.to_vec()));
    }
    if !args.root.is_empty() {
        bail!("give either paths or `--root`, not both");
    }
    let paths = logs::expanded(paths);
    for path in &paths {
        std::fs::metadata(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    }
    Ok(Ground::Paths(paths))
}

/// The first Ctrl-C ends the watcher, and what was found is still printed; the second one does not wait.
fn end_on_signal(watcher: &Watcher) -> anyhow::Result<()> {
    let (end, asked) = (watcher.end(), AtomicBool::new(false));
    let stop = move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(0);
        }
        end.now();
    };
    ctrlc::set_handler(stop).context("cannot listen for Ctrl-C")
}

/// Prints a change, if it is one that people follow.
fn show(out: &mut impl Write, change: &Change, json: bool, filtered: bool) -> anyhow::Result<()> {
    match change {
        Change::Begun { running: 0 } => {
            let such = if filtered { "no such call runs" } else { "nothing runs" };
            out::remark(&format_args!("{such} now; waiting for the next call, Ctrl-C ends"));
        }
        Change::Lagged { missing } => {
            out::remark(&format_args!("too slow: {} left out; `tooltrail calls` shows all", table::counted(*missing, "change")));
        }
        Change::Here { call } | Change::Requested { call } | Change::Updated { call, .. } if json => {
            writeln!(out, "{}", call.row)?;
        }
        Change::Here { call } | Change::Requested { call } => line(out, call)?,
        // What else changes about a call is for programs.
        Change::Updated { call, before } if call.status != *before => line(out, call)?,
        _ => return Ok(()),
    }
    Ok(out.flush()?)
}

/// A call on a line: when, whose, what became of it, what it is.
fn line(out: &mut impl Write, call: &CallNews) -> std::io::Result<()> {
    let (sign, style) = out::look(call.status);
    let running = call.status == Status::Running;
    let time = call.requested.filter(|_| running).or(call.completed).or(call.requested).map(moment).unwrap_or_default();
    let project = call.project.as_deref().and_then(|path| path.rsplit(['/', '\\']).find(|part| !part.is_empty())).unwrap_or("");
    let doubt = if call.unsure { "?" } else { "" };
    // That it waits for its result is what running means.
    let reason = why(call.reason.filter(|reason| *reason != Reason::AwaitingResult), call.exit_code);
    let status = format!("{sign}{doubt} {} {reason}", call.status.word());
    let took = call.duration_ms.map(table::took).unwrap_or_default();
    let nested = if call.sidechain { "↳ " } else { "" };
    let what = printable(&format!("{nested}{}  {}", call.tool, call.what.as_deref().unwrap_or("")));
    let cell = |text: &str, width: usize, align: Align| fit(&printable(text), width, align, false);
    let whose = format!("{}  {}", cell(&call.short, 6, Align::Left), cell(project, 12, Align::Fill));
    let fate = cell(&status, 22, Align::Fill);
    let head = 8 + 2 + 20 + 2 + 22 + 2 + 8 + 2;
    let room = table::terminal_width().map_or(usize::MAX, |width| width.saturating_sub(head).max(20));
    let what = fit(&what, what.width().min(room), Align::Fill, true);
    writeln!(out, "{DIM}{time:8}  {whose}{DIM:#}  {style}{fate}{style:#}  {}  {}", cell(&took, 8, Align::Right), what.trim_end())
}

/// The time of a call of today, the day of any other.
fn moment(time: Time) -> String {
    let now = jiff::Zoned::now();
    let time = time.timestamp().to_zoned(now.time_zone().clone());
    time.strftime(if time.date() == now.date() { "%H:%M:%S" } else { "%b %d" }).to_string()
}
