//! `secrets`: which secrets the logs hold, and where. Never their values.

use crate::cli::{LogArgs, PathArgs};
use crate::logs::{self, Logs};
use crate::out::{self, BOLD, DIM};
use crate::pager::{self, PagedOutput};
use crate::table::{self, printable};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::lines::{Buffer, Lines, Turns};
use tooltrail_model::link::Source;
use tooltrail_model::row::{Place, VERSION};
use tooltrail_redact::Redactor;

const EXAMPLES: &str = "\
Examples:
  tooltrail secrets                   all logs on this machine
  tooltrail secrets session.jsonl     one log
  tooltrail secrets --json | jq -r .kind | sort | uniq -c

Exits 1 if secrets were found, else 0. Values are never printed. docs/redaction.md lists what is recognised.";

/// The most lines of one log that are listed on a terminal.
const SHOWN: usize = 50;

/// Arguments of `secrets`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SecretsArgs {
    #[command(flatten)]
    paths: PathArgs,
}

/// The secrets of one kind in one record.
#[derive(Debug, Serialize)]
struct SecretRow<'a> {
    v: u32,
    kind: &'static str,
    agent: Option<&'a str>,
    #[serde(flatten)]
    place: Place<'a>,
    count: u64,
}

pub(crate) fn run(args: &LogArgs, own: &SecretsArgs) -> anyhow::Result<ExitCode> {
    // The logs themselves: the catalogue has rows, and not all texts.
    let logs = logs::read(args, &own.paths.paths, false)?;
    logs.require_any()?;
    let linked = logs.link();
    let sources: Vec<&Source> = linked.sources.iter().copied().filter(|source| source.summary.agent.is_some()).collect();
    let found = search(&logs, &sources, args.max_line.saturating_mul(1 << 20));
    for (source, problem) in &found.problems {
        out::complain(&format!("cannot read `{source}`: {problem}"));
    }
    if args.json {
        out::json_lines(found.rows.iter().flatten())?;
    } else {
        report(&mut PagedOutput::open(args), pager::row_limit(args, None, SHOWN), &found.rows, sources.len())?;
    }
    let any = found.rows.iter().any(|rows| !rows.is_empty());
    Ok(if any || !found.problems.is_empty() { ExitCode::FAILURE } else { logs.exit() })
}

/// What a search found.
#[derive(Default)]
struct FoundSecrets<'a> {
    /// The rows of each source, in the order of the sources.
    rows: Vec<Vec<SecretRow<'a>>>,
    /// Sources that could not be read to their end, and why.
    problems: Vec<(&'a str, io::Error)>,
}

/// The rows of each source, by its place, and whether it could be read to its end.
type SourceFindings<'a> = BTreeMap<usize, (Vec<SecretRow<'a>>, io::Result<()>)>;

/// Searches the sources on several threads, each for itself.
fn search<'a>(logs: &Logs, sources: &[&'a Source], max_line: usize) -> FoundSecrets<'a> {
    // Nothing is learned from one line for another, so one redactor serves all threads.
    let (redactor, turns, next) = (Redactor::default(), Turns::default(), AtomicUsize::new(0));
    let found: Mutex<SourceFindings<'a>> = Mutex::default();
    let disk = logs.disk();
    let work = || {
        let mut buffer = Buffer::default();
        while let Some((index, source)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, *sources.get(index)?))) {
            let mut rows = Vec::new();
            let read = secrets_of(source, disk, &redactor, (&mut buffer, &turns, max_line), &mut rows);
            found.lock().unwrap_or_else(PoisonError::into_inner).insert(index, (rows, read));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..logs.threads().clamp(1, sources.len().max(1)) {
            scope.spawn(work);
        }
    });
    let mut all = FoundSecrets::default();
    for (index, (rows, read)) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        all.rows.push(rows);
        if let (Err(error), Some(source)) = (read, sources.get(index)) {
            all.problems.push((&source.path, error));
        }
    }
    all
}

/// Adds the secrets of a source, a row for each kind in each line.
fn secrets_of<'a>(
    source: &'a Source,
    disk: &dyn ReadLogs,
    redactor: &Redactor,
    (buffer, turns, max_line): (&mut Buffer, &Turns, usize),
    rows: &mut Vec<SecretRow<'a>>,
) -> io::Result<()> {
    let mut lines = Lines::new(disk.log(&source.path)?, buffer, turns, max_line);
    while let Some(line) = lines.next_line()? {
        // Bytes that are no text are replaced; what stands beside them is still looked at.
        let text = String::from_utf8_lossy(line.bytes);
        let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
        for finding in redactor.find(&text) {
            *kinds.entry(finding.kind).or_default() += 1;
        }
        let place = Place { file: &source.path, line: line.number, row: source.summary.rows.get(line.number) };
        let agent = source.summary.agent;
        rows.extend(kinds.into_iter().map(|(kind, count)| SecretRow { v: VERSION, kind, agent, place, count }));
    }
    Ok(())
}

fn report(out: &mut impl Write, limit: usize, found: &[Vec<SecretRow<'_>>], sources: usize) -> anyhow::Result<()> {
    let limit = if limit == 0 { usize::MAX } else { limit };
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for rows in found {
        for row in rows {
            *kinds.entry(row.kind).or_default() += row.count;
        }
        for row in rows.iter().take(limit) {
            let times = if row.count > 1 { format!(" ×{}", row.count) } else { String::new() };
            writeln!(out, "{}  {BOLD}{}{BOLD:#}{DIM}{times}{DIM:#}", printable(&row.place.to_string()), row.kind)?;
        }
        if let (Some(first), true) = (rows.first(), rows.len() > limit) {
            let more = table::count((rows.len() - limit) as u64);
            writeln!(out, "{DIM}{more} more in {}; --json lists all{DIM:#}", printable(first.place.path()))?;
        }
    }
    let logs = found.iter().filter(|rows| !rows.is_empty()).count() as u64;
    if logs == 0 {
        writeln!(out, "no secrets found in {}", table::counted(sources as u64, "log"))?;
    } else {
        let each: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind} ×{}", table::count(*count))).collect();
        writeln!(out, "secrets in {} of {}: {}", table::count(logs), table::counted(sources as u64, "log"), each.join(", "))?;
    }
    out.flush()?;
    Ok(())
}
