//! `index`: the catalogue's file itself. Checks it against the logs, and makes it anew.

use crate::cli::LogArgs;
use crate::commands::keep::printed;
use crate::out::{self, DIM};
use crate::table::{self, printable};
use crate::{catalogue, logs, progress};
use anyhow::bail;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use tooltrail_catalog::refresh::refresh;
use tooltrail_catalog::store::{Catalogue, FileCondition, inspect};
use tooltrail_catalog::verify::{RowDifference, Verification, verify};
use tooltrail_formats::find::{self, Search};
use tooltrail_formats::scan::{Options, Progress, spelled};
use tooltrail_model::row::VERSION;

const EXAMPLES: &str = "\
Examples:
  tooltrail index check            check the index, and compare it with the logs
  tooltrail index check --json | jq .first
  tooltrail index rebuild          rebuild it from the logs; sessions without logs are kept

`check` exits 0 if there are no differences, else 1. The index is explained in docs/catalogue.md.";

/// Maximum number of differences shown.
const SHOWN: usize = 10;

/// Arguments of `index`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    what: IndexCommand,
}

/// Subcommands of `index`.
#[derive(Debug, Subcommand)]
enum IndexCommand {
    /// Check the index file, and compare its rows with the logs
    #[command(after_help = EXAMPLES)]
    Check,
    /// Rebuild the index from the logs, keeping sessions whose logs are gone
    #[command(after_help = EXAMPLES)]
    Rebuild,
}

/// Result of `index check` as JSON.
#[derive(Serialize)]
struct CheckResult<'a> {
    v: u32,
    file: String,
    condition: &'static str,
    damage: &'a [String],
    sessions: u64,
    calls: u64,
    gone: u64,
    differences: u64,
    first: &'a [RowDifference],
    changed_meanwhile: u64,
}

/// Result of `index rebuild` as JSON.
#[derive(Serialize)]
struct RebuildResult {
    v: u32,
    file: String,
    logs: usize,
    sessions: usize,
    problems: usize,
}

pub(crate) fn run(args: &LogArgs, own: &IndexArgs) -> anyhow::Result<ExitCode> {
    if args.demo || args.no_cache {
        bail!("this command works on the index; leave out {}", if args.demo { "--demo" } else { "--no-cache" });
    }
    let path = catalogue::file(args)?;
    match own.what {
        IndexCommand::Check => check(args, &path),
        IndexCommand::Rebuild => rebuild(args, &path),
    }
}

/// The logs, and how to read them for the catalogue.
fn search(args: &LogArgs) -> anyhow::Result<(Search, Options)> {
    let search = find::in_places(&logs::places(args)?).limit(find::MAX_LOGS);
    search.problems.iter().for_each(|problem| out::complain_of(problem));
    Ok((search, args.stored_options()))
}

fn check(args: &LogArgs, path: &Path) -> anyhow::Result<ExitCode> {
    let condition = inspect(path)?;
    // A file that is not in use is not begun for this, and one that is damaged is left for whoever wants to look at it.
    let verification = if condition == FileCondition::Sound { compare(args, path)? } else { Verification::default() };
    let damage = if let FileCondition::Damaged(damage) = &condition { damage.as_slice() } else { &[] };
    if args.json {
        let Verification { sessions, calls, gone, differing, differences, changed_meanwhile } = &verification;
        out::json_lines([CheckResult {
            v: VERSION,
            file: spelled(path),
            condition: word(&condition),
            damage,
            sessions: *sessions,
            calls: *calls,
            gone: *gone,
            differences: *differing,
            first: differences.get(..SHOWN.min(differences.len())).unwrap_or_default(),
            changed_meanwhile: *changed_meanwhile,
        }])?;
    } else {
        report(&mut out::stdout(args.color.as_str()), path, &condition, &verification)?;
    }
    Ok(if damage.is_empty() && verification.differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn word(condition: &FileCondition) -> &'static str {
    match condition {
        FileCondition::Missing => "missing",
        FileCondition::Sound => "sound",
        FileCondition::Outdated => "outdated",
        FileCondition::Newer => "newer",
        FileCondition::Damaged(_) => "damaged",
    }
}

/// Refreshes the catalogue, and compares it with the same logs, read again.
fn compare(args: &LogArgs, path: &Path) -> anyhow::Result<Verification> {
    let (search, options) = search(args)?;
    let mut catalogue = Catalogue::open(path)?;
    let total = search.files.iter().map(|found| found.size).sum();
    let progress = Progress::default();
    let clock = jiff::Timestamp::now().into();
    let now = logs::now_in(args, &logs::places(args)?);
    progress::with_bar(total, &progress, || {
        refresh(&mut catalogue, &search, &options, clock, &Progress::default())?;
        Ok(verify(&catalogue, &search, &options, &now, &progress)?)
    })
}

fn report(out: &mut impl Write, path: &Path, condition: &FileCondition, found: &Verification) -> anyhow::Result<()> {
    let path = printed(path);
    match condition {
        FileCondition::Missing => writeln!(out, "there is no index {path}; the next command creates it")?,
        FileCondition::Outdated => writeln!(out, "the index {path} is from another version; the next command rebuilds it")?,
        FileCondition::Newer => writeln!(out, "the index {path} is from a newer version; this version uses a separate file next to it")?,
        FileCondition::Damaged(damage) => {
            writeln!(out, "the index {path} is damaged; `tooltrail index rebuild` sets it aside and builds a new one")?;
            damage.iter().try_for_each(|line| writeln!(out, "  {}", printable(line)))?;
        }
        FileCondition::Sound => {
            let rows = format!("{} and {}", table::counted(found.sessions, "session"), table::counted(found.calls, "call"));
            match found.differing {
                0 => writeln!(out, "the index {path} is intact and matches the logs: {rows}")?,
                count => writeln!(out, "the index {path} is intact, but {} of {rows} differ from the logs", table::count(count))?,
            }
        }
    }
    for RowDifference { file, row, kind, fields } in found.differences.iter().take(SHOWN) {
        writeln!(out, "  {}  {kind} {}  {DIM}{}{DIM:#}", printable(row), printable(&fields.join(", ")), printable(file))?;
    }
    if found.differing > 0 {
        if let Some(more) = found.differing.checked_sub(SHOWN as u64).filter(|more| *more > 0) {
            writeln!(out, "  and {} more", table::count(more))?;
        }
        writeln!(out, "`tooltrail index rebuild` rebuilds it; please report the differences")?;
    }
    if found.gone > 0 {
        writeln!(out, "{DIM}{} without logs: nothing to compare with{DIM:#}", table::counted(found.gone, "session"))?;
    }
    if found.changed_meanwhile > 0 {
        let rows = table::counted(found.changed_meanwhile, "row");
        writeln!(out, "{DIM}{rows} not compared: their logs changed meanwhile or could not be read{DIM:#}")?;
    }
    Ok(out.flush()?)
}

fn rebuild(args: &LogArgs, path: &Path) -> anyhow::Result<ExitCode> {
    let (search, options) = search(args)?;
    // Damage that only a look at the whole file shows would be found in the middle of this.
    let condition = inspect(path)?;
    let set_aside = if let FileCondition::Damaged(damage) = condition { Some(Catalogue::set_aside(path, &damage)?) } else { None };
    let mut catalogue = Catalogue::open(path)?;
    let total = search.files.iter().map(|found| found.size).sum();
    let progress = Progress::default();
    let clock = jiff::Timestamp::now().into();
    let outcome = progress::with_bar(total, &progress, || catalogue.rebuild(&search, &options, clock, &progress))?;
    outcome.problems.iter().for_each(|problem| out::complain_of(problem));
    if let Some(file) = set_aside {
        out::remark(&format!("the index was damaged; it is now {}", printed(&file)));
    }
    if let Some(recovery) = catalogue.take_recovery() {
        out::remark(&recovery);
    }
    let (logs, sessions) = (outcome.read, outcome.sessions);
    if args.json {
        out::json_lines([RebuildResult { v: VERSION, file: spelled(path), logs, sessions, problems: outcome.problems.len() }])?;
    } else {
        let mut out = out::stdout(args.color.as_str());
        let read = format!("{}, {}", table::counted(logs as u64, "log"), table::counted(sessions as u64, "session"));
        writeln!(out, "rebuilt the index {}: {read}", printed(path))?;
        out.flush()?;
    }
    Ok(if outcome.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
