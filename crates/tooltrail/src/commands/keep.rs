//! `keep`: copies of logs, made before their agents delete them.

use crate::cli::LogArgs;
use crate::keeping::{self, when};
use crate::out::{self, BOLD, DIM};
use crate::table::{self, Align, Table};
use crate::times::TimeWriter;
use crate::{directories, logs, mending, progress, restoring, scheduling};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tooltrail_catalog::keep::{Keep, KeepStatus};
use tooltrail_formats::find::{self, Search};
use tooltrail_formats::scan::{Progress, spelled};
use tooltrail_model::row::VERSION;

const EXAMPLES: &str = "\
Examples:
  tooltrail keep on                keep copies of all logs from now on
  tooltrail keep now               copy new logs once
  tooltrail keep                   show what is kept, and what will be deleted without a copy
  tooltrail keep status --verify   read every copy and list damaged ones
  tooltrail keep repair            recover damaged copies
  tooltrail keep schedule          print a daily job; --install sets it up
  tooltrail keep restore 3f2a      restore the files of a session
  tooltrail keep restore all --to /tmp/logs
  tooltrail keep off               stop keeping logs; existing copies stay
  tooltrail keep off --delete      also delete the copies, unless some are the only ones left";

/// Maximum number of endangered logs in the table.
const LISTED: usize = 10;

/// Arguments of `keep`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeepArgs {
    #[command(subcommand)]
    what: Option<KeepCommand>,
}

/// Subcommands of `keep`; without one, `status`.
#[derive(Debug, Subcommand)]
enum KeepCommand {
    /// Keep logs: commands that read logs also copy what is new
    On,
    /// Stop keeping logs; existing copies stay
    Off {
        /// Also delete the copies, unless some are the only ones left
        #[arg(long)]
        delete: bool,
        /// Delete even copies that are the only ones left
        #[arg(long, requires = "delete")]
        force: bool,
    },
    /// Copy new logs once
    Now,
    /// Show what is kept, and what will be deleted without a copy (default)
    Status {
        /// Read every copy completely and list damaged ones
        #[arg(long)]
        verify: bool,
    },
    /// Recover damaged copies from the original files, or from their intact parts
    Repair,
    /// Print a job that keeps logs every day: a systemd timer, a launchd agent or a scheduled task
    Schedule {
        /// Set up the job
        #[arg(long)]
        install: bool,
    },
    /// Restore the files of a session
    Restore(restoring::RestoreArgs),
}

/// Result of `keep now` as JSON.
#[derive(Serialize)]
struct NowRow {
    v: u32,
    on: bool,
    new: usize,
    grown: usize,
    replaced: usize,
    bytes: u64,
    problems: usize,
}

/// Result of `keep status` as JSON.
#[derive(Serialize)]
struct StatusRow<'a> {
    v: u32,
    on: bool,
    last: Option<&'a str>,
    directory: String,
    logs: u64,
    files: u64,
    gone: u64,
    bytes: u64,
    kept_bytes: u64,
    older: u64,
    older_bytes: u64,
    overdue: bool,
    damaged: Vec<String>,
    unreadable: Vec<String>,
    set_aside: u64,
    unkept: u64,
    soon: Vec<SoonRow>,
}

/// A log that its agent will delete soon and that is not kept, as JSON.
#[derive(Serialize)]
struct SoonRow {
    file: String,
    deleted_at: String,
}

pub(crate) fn run(args: &LogArgs, own: &KeepArgs) -> anyhow::Result<ExitCode> {
    if args.demo {
        bail!("the demo has no logs to keep; leave out --demo");
    }
    // Checked first, because its error says how to name a data directory.
    directories::data()?;
    let keep = keeping::keep(args).context("no directory to keep logs in")?;
    match &own.what {
        None => status(args, &keep, false),
        Some(KeepCommand::Status { verify }) => status(args, &keep, *verify),
        Some(KeepCommand::On) => on(args, &keep),
        Some(KeepCommand::Off { delete, force }) => off(args, &keep, *delete, *force),
        Some(KeepCommand::Now) => now(args, &keep),
        Some(KeepCommand::Repair) => mending::repair(args, &keep),
        Some(KeepCommand::Schedule { install }) => scheduling::schedule(args, *install),
        Some(KeepCommand::Restore(own)) => restoring::restore(args, &keep, own),
    }
}

fn search(args: &LogArgs) -> anyhow::Result<Search> {
    let search = find::in_places(&logs::places(args)?);
    search.problems.iter().for_each(|problem| out::complain_of(problem));
    Ok(search)
}

fn on(args: &LogArgs, keep: &Keep) -> anyhow::Result<ExitCode> {
    keep.switch(true)?;
    if !args.json {
        let mut out = out::stdout(args.color.as_str());
        writeln!(out, "Logs are copied, compressed, to {}", printed(keep.directory()))?;
        writeln!(
            out,
            "whenever a command reads them. Logs that agents delete are still listed, shown and searched. `tooltrail keep off` stops this."
        )?;
        out.flush()?;
    }
    now(args, keep)
}

fn off(args: &LogArgs, keep: &Keep, delete: bool, force: bool) -> anyhow::Result<ExitCode> {
    // A root may be gone together with its logs; switching the keep off has to work nevertheless.
    let search = search(args).unwrap_or_default();
    let status = keep.status(&search, &keeping::retention(args), logs::asked_at(args), false);
    if delete && let Some(unknown) = status.unreadable.first().filter(|_| !force) {
        bail!("cannot read {}, which may hold the only copy of a log; nothing was changed. --force deletes everything", printed(unknown));
    }
    // Deleting the last copies of logs takes an explicit `--force`.
    let only = nowhere_else(&status);
    if let Some(only) = only.as_ref().filter(|_| delete && !force) {
        bail!(
            "only the keep still has {only}; nothing was changed. `tooltrail keep restore all --to DIR` takes copies out, --force deletes \
             everything, `tooltrail keep off` alone deletes nothing"
        );
    }
    keep.switch(false)?;
    if delete {
        keep.delete()?;
    }
    let (files, size) = (table::counted(status.files, "file"), table::bytes(status.kept_bytes + status.older_bytes));
    let directory = printed(keep.directory());
    let mut out = out::stdout(args.color.as_str());
    if args.json {
        let deleted = if delete { status.files } else { 0 };
        writeln!(
            out,
            "{}",
            serde_json::json!({"v": VERSION, "on": false, "deleted": deleted, "only": status.only, "older": status.older})
        )?;
    } else if delete {
        let lost = only.map_or_else(String::new, |only| format!(", including the only copies of {only}"));
        writeln!(out, "Logs are no longer kept. {files} ({size}) were deleted from {directory}{lost}")?;
    } else {
        let alone = only.map_or_else(String::new, |only| format!(", the only copies of {only}"));
        writeln!(out, "Logs are no longer kept. {files} ({size}) stay in {directory}{alone}; --delete removes them")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The files that exist only in the keep, in words; `None` if there are none.
fn nowhere_else(status: &KeepStatus) -> Option<String> {
    let parts = [(status.only_logs, "log"), (status.only - status.only_logs, "other file"), (status.older, "older version")];
    let parts: Vec<String> = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| table::counted(*count, what)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn now(args: &LogArgs, keep: &Keep) -> anyhow::Result<ExitCode> {
    let start = Instant::now();
    let search = search(args)?;
    let total = search.files.iter().map(|found| found.size).sum();
    let (progress, threads) = (Progress::default(), args.options(false).threads);
    // The real clock even with `--now`: the time is stored as that of the last copy.
    let clock = jiff::Timestamp::now().into();
    let outcome = progress::with_bar(total, &progress, || keep.now(&search, threads, clock, &progress))?;
    outcome.problems.iter().for_each(|problem| out::complain_of(problem));
    let mut out = out::stdout(args.color.as_str());
    if args.json {
        let (new, grown, replaced, bytes) = (outcome.new, outcome.grown, outcome.replaced, outcome.bytes);
        let row = NowRow { v: VERSION, on: keep.state()?.on, new, grown, replaced, bytes, problems: outcome.problems.len() };
        out::json_lines([row])?;
    } else if outcome.copied() == 0 {
        writeln!(out, "nothing new to keep")?;
    } else {
        let parts = [(outcome.new, "new"), (outcome.grown, "grown"), (outcome.replaced, "replaced")];
        let parts: Vec<String> = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let took = table::took(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
        let files = table::counted(outcome.copied() as u64, "file");
        writeln!(out, "kept {files} ({}), {} in {took}", parts.join(", "), table::bytes(outcome.bytes))?;
    }
    out.flush()?;
    Ok(if outcome.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn status(args: &LogArgs, keep: &Keep, verify: bool) -> anyhow::Result<ExitCode> {
    let (search, now) = (search(args)?, logs::asked_at(args));
    let status = keep.status(&search, &keeping::retention(args), now, verify);
    let state = keep.state()?;
    let overdue = state.overdue(&keeping::retention(args), now);
    let code = if status.damaged.is_empty() && status.unreadable.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) };
    if args.json {
        let soon = status.doomed.iter().map(|log| SoonRow { file: spelled(&log.file), deleted_at: log.deleted_at.to_string() });
        out::json_lines([StatusRow {
            v: VERSION,
            on: state.on,
            last: state.last.as_deref(),
            directory: spelled(keep.directory()),
            logs: status.logs,
            files: status.files,
            gone: status.gone,
            bytes: status.bytes,
            kept_bytes: status.kept_bytes,
            older: status.older,
            older_bytes: status.older_bytes,
            overdue: overdue.is_some(),
            damaged: status.damaged.iter().map(|path| spelled(path)).collect(),
            unreadable: status.unreadable.iter().map(|path| spelled(path)).collect(),
            set_aside: status.set_aside,
            unkept: status.unkept,
            soon: soon.collect(),
        }])?;
        return Ok(code);
    }
    let mut out = out::stdout(args.color.as_str());
    let times = TimeWriter::new(args);
    let last = state.last.as_deref().and_then(|time| time.parse().ok()).map(|time| times.text(time));
    for (name, text) in lines(&status, state.on, last, keep.directory()) {
        writeln!(out, "{BOLD}{name:<10}{BOLD:#} {text}")?;
    }
    warn(&mut out, &status, overdue)?;
    if !status.doomed.is_empty() {
        let mut table = Table::new(&[("DELETED", Align::Left), ("LOG", Align::FillEnd)]);
        status.doomed.iter().take(LISTED).for_each(|log| table.row(vec![when(now, log.deleted_at).into(), spelled(&log.file).into()]));
        writeln!(out)?;
        table.print(&mut out, table::terminal_width())?;
        if let Some(more) = status.doomed.len().checked_sub(LISTED).filter(|more| *more > 0) {
            writeln!(out, "… and {more} more; --json has all of them")?;
        }
        let what = if state.on { "keep now" } else { "keep on" };
        writeln!(out, "{DIM}agents will delete these logs within 7 days, and they have no copy; `tooltrail {what}` keeps them{DIM:#}")?;
    }
    out.flush()?;
    Ok(code)
}

/// Prints what is wrong with a keep, and what can be done about it.
fn warn(out: &mut impl Write, status: &KeepStatus, overdue: Option<Duration>) -> anyhow::Result<()> {
    if let Some(lifetime) = overdue {
        let days = table::counted(lifetime.as_secs() / 86_400, "day");
        writeln!(out, "no command has copied logs for too long: agents delete logs after {days}, so some may be gone without a copy;")?;
        writeln!(out, "`tooltrail keep now` copies the logs that are left, `tooltrail keep schedule` sets up a daily job")?;
    }
    for path in &status.unreadable {
        writeln!(out, "cannot be read: {}", printed(path))?;
    }
    for path in &status.damaged {
        writeln!(out, "damaged: {}", printed(path))?;
    }
    if !status.damaged.is_empty() {
        writeln!(out, "`tooltrail keep repair` recovers damaged copies")?;
    }
    Ok(())
}

/// Lines of the status of a keep: label and text.
fn lines(status: &KeepStatus, on: bool, last: Option<String>, directory: &Path) -> Vec<(&'static str, String)> {
    let mut lines = vec![("keeping", if on { "on" } else { "off; `tooltrail keep on` starts it" }.to_owned())];
    // A keep that was never used has nothing else to report.
    if status.files == 0 && last.is_none() {
        return lines;
    }
    // Without any kept byte the ratio would be NaN.
    let times = if status.kept_bytes == 0 { 0.0 } else { status.bytes as f64 / status.kept_bytes as f64 };
    let (logs, files) = (table::counted(status.logs, "log"), table::counted(status.files, "file"));
    let sizes = format!("{} in {} ({times:.1} times smaller)", table::bytes(status.bytes), table::bytes(status.kept_bytes));
    lines.push(("last", last.unwrap_or_else(|| "never".to_owned())));
    lines.push(("directory", printed(directory)));
    lines.push(("kept", format!("{logs}, {files} in total: {sizes}")));
    if status.older > 0 {
        let older = table::counted(status.older, "older version");
        lines.push(("older", format!("{older} of replaced files, {}", table::bytes(status.older_bytes))));
    }
    if status.set_aside > 0 {
        lines.push(("repaired", format!("{} moved to `damaged`", table::counted(status.set_aside, "damaged file"))));
    }
    lines.push(("gone", format!("{} kept here only", table::counted(status.gone, "log"))));
    lines.push(("not kept", format!("{} as of now", table::counted(status.unkept, "log"))));
    lines
}

/// A path for messages, in backquotes and without control characters.
pub(crate) fn printed(path: &Path) -> String {
    format!("`{}`", table::printable(&spelled(path)))
}
