//! `tail`: calls as they are requested and as they end, while agents write their logs.

use crate::cli::{LogArgs, duration};
use crate::commands::calls::why;
use crate::filters::SelectArgs;
use crate::out::{self, DIM};
use crate::table::{self, Align, fit, printable};
use crate::{catalogue, keeping, logs};
use anyhow::{Context, bail};
use clap::Args;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tooltrail_catalog::watch::{CallNews, ChangeEvent, LogLocations, NextChange, SubscribeOptions, WatchOptions, Watcher};
use tooltrail_formats::Places;
use tooltrail_model::visible::neutral_path;
use tooltrail_model::{Reason, Status, Time};
use unicode_width::UnicodeWidthStr;

const EXAMPLES: &str = "\
Examples:
  tooltrail tail                        recent calls, then new ones as they happen
  tooltrail tail project:.              only calls of this project
  tooltrail tail status:failed          only calls that fail
  tooltrail tail session.jsonl          one log as it grows
  tooltrail tail -n 0 --for 30s         only new calls, for 30 seconds
  tooltrail tail --json | jq -r 'select(.status == \"failed\") | .call'

Each call is printed when it starts and when it ends. Press Ctrl-C to quit.";

/// Default number of earlier calls in a terminal.
const SHOWN: usize = 10;

/// Interval at which a closed pipe is noticed.
const LOOK: Duration = Duration::from_secs(1);

/// Width of the status column: that of `● running awaiting_permission`, which must not be cut.
const FATE: usize = 29;
/// Width of the status column in a terminal narrower than `SMALL`, without the reason.
const SMALL_FATE: usize = 15;
const SMALL: usize = 80;
/// Width of the column of REFs, unless one is longer.
const REF: usize = 8;

/// Terminal width from which the project is shown.
const NARROW: usize = 100;

/// Arguments of `tail`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TailArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Start with the last N calls; running calls are always shown [default: 10 in a table, 0 with --json]
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
    /// Stop after this time, as in `30s` or `5m`
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    length: Option<Duration>,
}

pub(crate) fn run(args: &LogArgs, own: &TailArgs) -> anyhow::Result<ExitCode> {
    if args.demo {
        bail!("the demo does not change; `tooltrail calls --demo` lists its calls");
    }
    let filter = own.select.filter(args)?;
    let filtered = !filter.is_empty();
    let end = own.length.map(|length| Instant::now() + length);
    let watcher = watcher(args, &own.select.paths())?;
    let last = own.number.unwrap_or(if args.json { 0 } else { SHOWN });
    let subscriber = watcher.subscribe(SubscribeOptions { filter, last, ..SubscribeOptions::default() });
    end_on_signal(&watcher)?;
    let mut out = out::stdout(args.color.as_str());
    let mut begun = false;
    loop {
        // The time counts only after the earlier calls are printed: `--for 1s` must not cut them off.
        let end = end.filter(|_| begun);
        let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
        match subscriber.next_within(left.min(LOOK)) {
            NextChange::Change(change) => {
                begun |= matches!(*change, ChangeEvent::Begun { .. });
                show(&mut out, &change, args, filtered)?;
            }
            // A closed pipe is noticed at the next write, and that may be hours away.
            NextChange::Quiet if left.is_zero() || out::is_closed() => return Ok(ExitCode::SUCCESS),
            NextChange::Quiet => {}
            NextChange::Ended => {
                watcher.finish().context("the watcher failed; start the command again, and please report this with the messages above")?;
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

/// Starts a watcher of the logs that the arguments name.
pub(crate) fn watcher(args: &LogArgs, paths: &[PathBuf]) -> anyhow::Result<Watcher> {
    let places = logs::places(args)?;
    let ground = ground(args, paths, &places)?;
    // The catalogue saves reading old logs at the start; without one the watcher reads them.
    let seed = if args.no_cache { None } else { catalogue::file(args).ok() };
    let options = WatchOptions { scan: args.options(false), keep: keeping::keep(args), seed, ..WatchOptions::default() };
    let clock = {
        let args = args.clone();
        Arc::new(move || logs::now_in(&args, &places))
    };
    Watcher::start(ground, options, clock).context("cannot start the watcher thread")
}

/// The directories or files to watch.
fn ground(args: &LogArgs, paths: &[PathBuf], places: &[Places]) -> anyhow::Result<LogLocations> {
    if paths.is_empty() {
        return Ok(LogLocations::Places(places.to_vec()));
    }
    args.refuse_both(paths)?;
    let paths = logs::expanded(paths);
    // A path that does not exist would otherwise be waited for silently.
    for path in &paths {
        std::fs::metadata(path).with_context(|| format!("cannot read `{}`", neutral_path(path)))?;
    }
    Ok(LogLocations::Paths(paths))
}

/// Handles Ctrl-C: the first ends the watcher, and pending changes are still printed; the second exits at once.
fn end_on_signal(watcher: &Watcher) -> anyhow::Result<()> {
    let (end, asked) = (watcher.end(), AtomicBool::new(false));
    let stop = move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(0);
        }
        end.now();
    };
    ctrlc::set_handler(stop).context("cannot handle Ctrl-C")
}

/// Prints a change: as JSON all changes of calls, in a terminal those of their status.
fn show(out: &mut impl Write, change: &ChangeEvent, args: &LogArgs, filtered: bool) -> anyhow::Result<()> {
    match change {
        ChangeEvent::Begun { running: 0 } => {
            let such = if filtered { "no matching call is running" } else { "no call is running" };
            out::remark(&format_args!("{such}; waiting for the next call, press Ctrl-C to quit"));
        }
        ChangeEvent::Lagged { missing } => {
            out::remark(&format_args!("output is too slow: {} left out; `tooltrail calls` lists all", table::counted(*missing, "change")));
        }
        ChangeEvent::Here { call } | ChangeEvent::Requested { call } | ChangeEvent::Updated { call, .. } if args.json => {
            writeln!(out, "{}", call.row)?;
        }
        ChangeEvent::Here { call } | ChangeEvent::Requested { call } => line(out, call, logs::asked_at(args), width())?,
        // A changed duration or reason is only of use to programs.
        ChangeEvent::Updated { call, before } if call.status != *before => line(out, call, logs::asked_at(args), width())?,
        _ => return Ok(()),
    }
    Ok(out.flush()?)
}

/// Width of the terminal; `None` if standard output is a pipe or file.
fn width() -> Option<usize> {
    table::terminal_width().filter(|_| std::io::stdout().is_terminal())
}

/// Prints a call on a line: time, REF, status, duration, subject. Without a terminal nothing is cut.
fn line(out: &mut impl Write, call: &CallNews, now: Time, terminal: Option<usize>) -> std::io::Result<()> {
    let (sign, style) = out::look(call.status);
    let running = call.status == Status::Running;
    let time = call.requested.filter(|_| running).or(call.completed).or(call.requested).map(|time| moment(time, now)).unwrap_or_default();
    let project = call.project.as_deref().and_then(|path| path.rsplit(['/', '\\']).find(|part| !part.is_empty())).unwrap_or("");
    let doubt = if call.unsure { "?" } else { "" };
    // `awaiting_result` says no more than `running` does.
    let reason = why(call.reason.filter(|reason| *reason != Reason::AwaitingResult), call.exit_code);
    let narrow = terminal.is_some_and(|width| width < SMALL);
    let status = match call.reason {
        // The one state that needs the user has to be recognisable in any width.
        Some(Reason::AwaitingPermission) if narrow => format!("{sign} waits for you"),
        _ if narrow => format!("{sign}{doubt} {}", call.status.word()),
        _ => format!("{sign}{doubt} {} {reason}", call.status.word()),
    };
    let column = if narrow { SMALL_FATE } else { FATE };
    let took = call.duration_ms.map(table::took).unwrap_or_default();
    let nested = if call.sidechain { "↳ " } else { "" };
    let what = printable(&format!("{nested}{}  {}", call.tool, call.what.as_deref().unwrap_or("")));
    let cell = |text: &str, width: usize, align: Align| fit(&printable(text), width, align, false);
    let most = |text: &str, width: usize| if terminal.is_some() { width } else { text.width().max(width) };
    // Never cut: `show` takes the REF as it is printed.
    let reference = reference(call);
    let mut whose = cell(&reference, reference.width().max(REF), Align::Left);
    if terminal.is_none_or(|width| width >= NARROW) {
        whose = format!("{whose}  {}", cell(project, most(project, 12), Align::Fill));
    }
    let fate = cell(&status, most(&status, column), Align::Fill);
    let head = 8 + 2 + whose.width() + 2 + column + 2 + 8 + 2;
    let space = terminal.map_or(usize::MAX, |width| width.saturating_sub(head).max(4));
    let what = fit(&what, what.width().min(space), Align::Fill, true);
    writeln!(out, "{DIM}{time:8}  {whose}{DIM:#}  {style}{fate}{style:#}  {}  {}", cell(&took, 8, Align::Right), what.trim_end())
}

/// The REF of a call, as its row has it; that of its session if the row has none.
fn reference(call: &CallNews) -> String {
    #[derive(serde::Deserialize)]
    struct RowRef {
        r#ref: String,
    }
    serde_json::from_str::<RowRef>(call.row.get()).map_or_else(|_| call.short.to_string(), |row| row.r#ref)
}

/// The time for a call of today, the date for others.
fn moment(time: Time, now: Time) -> String {
    let [time, now] = [time, now].map(|time| time.timestamp().to_zoned(jiff::tz::TimeZone::system()));
    time.strftime(if time.date() == now.date() { "%H:%M:%S" } else { "%b %d" }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_somebody_can_be_read_in_a_narrow_terminal() {
        let call = CallNews {
            agent: "claude".into(),
            session: "3f2a91c4".into(),
            short: "3f2a".into(),
            project: Some("/srv/a-project-with-a-long-name".into()),
            call: "toolu_1".into(),
            again: 0,
            tool: "Bash".into(),
            sidechain: false,
            what: Some("cargo test --workspace --all-targets --no-fail-fast".into()),
            status: Status::Running,
            reason: Some(Reason::AwaitingPermission),
            exit_code: None,
            unsure: false,
            requested: None,
            completed: None,
            duration_ms: None,
            row: serde_json::value::RawValue::from_string(r#"{"v":1,"ref":"3f2a:41"}"#.to_owned()).unwrap(),
        };
        let printed = |width: Option<usize>| {
            let mut line_of = Vec::new();
            line(&mut line_of, &call, Time::UNIX_EPOCH, width).unwrap();
            anstream::adapter::strip_str(&String::from_utf8(line_of).unwrap()).to_string()
        };
        for width in [52, 60, 79] {
            let line = printed(Some(width));
            assert!(
                line.contains(" 3f2a:41 ") && line.contains("● waits for you  ") && line.trim_end().width() <= width,
                "{width}: {line}"
            );
        }
        for width in [80, 99, 100, 120] {
            let line = printed(Some(width));
            assert!(line.contains("● running awaiting_permission  ") && line.trim_end().width() <= width, "{width}: {line}");
        }
        let whole = printed(None);
        assert!(
            whole.contains("a-project-with-a-long-name  ● running awaiting_permission  ") && whole.contains("--no-fail-fast"),
            "{whole}"
        );
    }
}
