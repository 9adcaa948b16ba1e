//! `keep restore`: the kept files that a REF names, their target paths, and the report.

use crate::cli::LogArgs;
use crate::commands::keep::printed;
use crate::refs::{Reference, Target};
use crate::{keeping, logs, out, table};
use anyhow::bail;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tooltrail_catalog::keep::{Keep, RestoreOptions, RestoreOutcome, belongings};
use tooltrail_formats::scan::spelled;
use tooltrail_formats::{Places, mirror};
use tooltrail_model::Time;
use tooltrail_model::row::VERSION;

/// Arguments of `keep restore`.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A session: its id or the beginning of it; a log, where it is kept or where it was; or `all`
    #[arg(value_name = "REF")]
    wanted: String,
    /// Put them into this directory instead, laid out like a home
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Replace files that are there and differ; they get another name. What only grew is left alone
    #[arg(long)]
    force: bool,
    /// Let them count as written now, so that their agent does not delete them again at once
    #[arg(long)]
    touch: bool,
}

/// Outcome for one restored file, as JSON.
#[derive(Serialize)]
struct RestoreRow {
    v: u32,
    kept: String,
    file: String,
    outcome: &'static str,
    aside: Option<String>,
}

/// Restores the files of a REF.
pub(crate) fn restore(args: &LogArgs, keep: &Keep, own: &RestoreArgs) -> anyhow::Result<ExitCode> {
    let (retention, now) = (keeping::retention(args), logs::asked_at(args));
    let (mut rows, mut doomed) = (Vec::new(), false);
    let homes = homes(args)?;
    for copy in wanted(args, keep, own)? {
        // Without the path of its original there is nowhere to restore a file to.
        let Some(original) = keep.original(&copy) else { continue };
        let target = own.to.as_ref().map_or_else(|| Some(original.clone()), |to| below(to, &original, &homes));
        let Some(target) = target else { continue };
        let (outcome, aside) = put_back(keep, &copy, &target, own);
        // Agents delete by the time of modification, and a restored file has that of its original unless it is touched.
        let written = std::fs::metadata(&target).and_then(|meta| meta.modified()).ok();
        let written = written.and_then(|time| jiff::Timestamp::try_from(time).ok()).map(Time::from);
        doomed |= written.and_then(|time| retention.deleted_at(&target, time)).is_some_and(|time| time <= now);
        rows.push(RestoreRow { v: VERSION, kept: spelled(&copy), file: spelled(&target), outcome, aside: aside.as_deref().map(spelled) });
    }
    let count = |outcome: &str| rows.iter().filter(|row| row.outcome == outcome).count() as u64;
    // A file that is there already, or has grown since, is no failure: nothing of it is missing.
    let code = if count("differs") + count("failed") == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) };
    if args.json {
        out::json_lines(rows)?;
        return Ok(code);
    }
    let mut out = out::stdout(args.color.as_str());
    let place = own.to.as_deref().map_or_else(String::new, |to| format!(" to {}", printed(to)));
    let mut told = format!("restored {}{place}", table::counted(count("written") + count("replaced"), "file"));
    for (outcome, what) in [("same", "exists already"), ("grown", "exists and is longer than the copy: nothing is missing")] {
        if count(outcome) > 0 {
            told += &format!("; {} {what}", count(outcome));
        }
    }
    writeln!(out, "{told}")?;
    out.flush()?;
    if doomed {
        out::remark(&"they are so old that the agent will delete them again when it starts; --touch makes them count as new");
    }
    Ok(code)
}

/// Restores one file. Returns the outcome, and the new name of a file that it replaced; reports conflicts and failures.
fn put_back(keep: &Keep, copy: &Path, target: &Path, own: &RestoreArgs) -> (&'static str, Option<PathBuf>) {
    let outcome = match keep.restore(copy, target, RestoreOptions { force: own.force, touch: own.touch }) {
        Ok(RestoreOutcome::Written) => "written",
        Ok(RestoreOutcome::Replaced(aside)) => {
            out::remark(&format!("what was at {} is now {}", printed(target), printed(&aside)));
            return ("replaced", Some(aside));
        }
        Ok(RestoreOutcome::Same) => "same",
        Ok(RestoreOutcome::Grown) => "grown",
        Ok(RestoreOutcome::Differs) => {
            let what = "exists and differs; --to DIR restores the copy elsewhere, --force restores it here and renames the existing file";
            out::complain(&format!("{} {what}", printed(target)));
            "differs"
        }
        Err(error) => {
            out::complain(&format!("cannot restore {}: {error}", printed(target)));
            "failed"
        }
    };
    (outcome, None)
}

/// The copies that a REF names, with the files that belong to them, such as logs of subagents.
fn wanted(args: &LogArgs, keep: &Keep, own: &RestoreArgs) -> anyhow::Result<Vec<PathBuf>> {
    if own.wanted == "all" {
        let copies = keep.copies();
        if copies.is_empty() {
            bail!("nothing is kept; `tooltrail keep on` starts it");
        }
        // `all` restores what is missing; existing files are only touched if the user asks for it.
        let is_there = |copy: &PathBuf| keep.original(copy).is_some_and(|original| original.exists());
        return Ok(copies.into_iter().filter(|copy| own.to.is_some() || own.force || !is_there(copy)).collect());
    }
    // A name has to be looked up, and the logs that are read include the kept ones.
    let logs: Vec<PathBuf> = match Reference::parse(&own.wanted) {
        Reference::File(path) | Reference::Line(path, _) | Reference::Row(path, _) => logs::expanded(&[path]),
        wanted @ (Reference::Newest(_) | Reference::Name(_)) => {
            let logs = logs::read(args, &[], false)?;
            logs.require_any()?;
            let linked = logs.link();
            let sessions = match wanted.find(&linked, &logs.now)? {
                Target::Sessions(sessions) => sessions,
                Target::Call(session, _) => vec![session],
            };
            let rows = sessions.into_iter().filter_map(|session| linked.session_row(session, &logs.now));
            rows.flat_map(|row| row.files.into_iter().map(PathBuf::from).collect::<Vec<_>>()).collect()
        }
    };
    // A set, because two logs of a session may share their belongings.
    let mut copies = BTreeSet::new();
    for copy in logs.iter().filter_map(|log| keep.copy_of(log)) {
        copies.extend(belongings(&copy));
        copies.insert(copy);
    }
    if copies.is_empty() {
        bail!("`{}` is not kept; `tooltrail keep status` lists what is", tooltrail_view::line::neutral(&own.wanted));
    }
    Ok(copies.into_iter().collect())
}

/// Directories of users and agents, each with its name in a home directory; nested ones first.
fn homes(args: &LogArgs) -> anyhow::Result<Vec<(PathBuf, &'static str)>> {
    let rooted = |root: &PathBuf| Places { home: Some(root.clone()), ..Places::default() };
    // Not checked for existence: a root may be gone, which is when its files are needed most.
    let places = if args.root.is_empty() { logs::places(args)? } else { args.root.iter().map(rooted).collect() };
    let mut homes = Vec::new();
    for places in &places {
        homes.extend(places.moved());
        homes.extend(places.home.iter().map(|path| (path.clone(), "")));
    }
    // Spelled like the paths of kept files, with which they are compared.
    let mut homes: Vec<_> = homes.into_iter().filter_map(|(path, name)| Some((mirror::place(Path::new(""), &path)?, name))).collect();
    homes.sort_by_key(|(path, _)| std::cmp::Reverse(path.components().count()));
    Ok(homes)
}

/// Target of a file below another directory: laid out like a home, so that `--root` can read it; with its whole path if it is in none.
fn below(to: &Path, original: &Path, homes: &[(PathBuf, &'static str)]) -> Option<PathBuf> {
    let path = mirror::place(Path::new(""), original)?;
    let in_home = homes.iter().find_map(|(home, name)| Some(to.join(name).join(path.strip_prefix(home).ok()?)));
    in_home.or_else(|| Some(to.join(path)))
}
