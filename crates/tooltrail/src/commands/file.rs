//! `file`: every version of a file that the logs hold, and each of them as it was.

use crate::cli::LogArgs;
use crate::logs::{self, Logs};
use crate::out::{self, DIM};
use crate::output_file::{self, Existing};
use crate::pager::PagedOutput;
use crate::refs::{Reference, Target};
use crate::table::{self, Align, Cell, Table};
use crate::times::TimeWriter;
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use tooltrail_formats::changes::{ChangeEvidence, FileHistory, FileLookup, find, history};
use tooltrail_model::changes::versions::{Gap, HistoryRow, Version, versions};
use tooltrail_model::changes::{FileText, Strength};
use tooltrail_model::link::Linked;
use tooltrail_model::row::{Place, VERSION};
use tooltrail_model::visible::neutral_path;

const EXAMPLES: &str = "\
Examples:
  tooltrail file src/main.rs                        every version found in the logs
  tooltrail file src/main.rs --before 3f2a:41       its text before a call
  tooltrail file src/main.rs --after 3f2a:41 | less
  tooltrail file src/main.rs --version 3 -o main.rs.old
  tooltrail file src/main.rs --before last:last -o src/main.rs --force
  tooltrail file src/main.rs session.jsonl          only from one log
  tooltrail file src/main.rs --json";

/// Arguments of `file`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FileArgs {
    /// Path of the file, or the end of it
    #[arg(value_name = "PATH")]
    path: String,
    /// Log files, or directories to search [default: where agents write their logs]
    #[arg(value_name = "LOGS")]
    logs: Vec<PathBuf>,
    /// Print the text before a call: `3f2a:41`, its id, or FILE:LINE
    #[arg(long, value_name = "CALL", group = "which")]
    before: Option<String>,
    /// Print the text after a call
    #[arg(long, value_name = "CALL", group = "which")]
    after: Option<String>,
    /// Print a version by its number in the list
    #[arg(long, value_name = "N", group = "which")]
    version: Option<usize>,
    /// Write the text to a file instead of printing it [default version: the newest]
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

pub(crate) fn run(args: &LogArgs, own: &FileArgs) -> anyhow::Result<ExitCode> {
    let logs = logs::open(args, &own.logs)?;
    logs.require_any()?;
    let linked = logs.link();
    let directory = std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned());
    let path = match find(&linked, &logs.now, logs.disk(), &own.path, directory.as_deref()) {
        FileLookup::One(path) => path,
        // Exit code 1 for an unknown file, as `grep` for no match, so that scripts can tell it from an error.
        FileLookup::Nothing => {
            out::complain(&format!("no call read or changed `{}`; give the end of its path as it is in the logs", own.path));
            return Ok(ExitCode::from(1));
        }
        FileLookup::Several(paths) => {
            const SHOWN: usize = 20;
            let shown: Vec<String> = paths.iter().take(SHOWN).map(|path| table::printable(path)).collect();
            let more = if paths.len() > SHOWN { "\n  …" } else { "" };
            bail!("`{}` matches {} files; give more of the path:\n  {}{more}", own.path, paths.len(), shown.join("\n  "));
        }
    };
    let history = history(&linked, &logs.now, logs.disk(), &path);
    let entries = versions(&history.steps);
    // Each of these asks for one text instead of the list.
    if own.before.is_some() || own.after.is_some() || own.version.is_some() || own.output.is_some() {
        if args.json {
            bail!("--json lists versions; leave it out to print the text of a version");
        }
        return one(&logs, &linked, own, &history, &entries);
    }
    if args.json {
        out::json_lines(rows(&linked, &history, &entries))?;
    } else {
        list(args, &linked, &history, &entries)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a single text, or writes it to a file.
fn one(logs: &Logs, linked: &Linked<'_>, own: &FileArgs, history: &FileHistory, entries: &[HistoryRow]) -> anyhow::Result<ExitCode> {
    let (known, which) = match (&own.before, &own.after, own.version) {
        (Some(call), _, _) => (at(logs, linked, history, call, true)?, format!("before {call}")),
        (_, Some(call), _) => (at(logs, linked, history, call, false)?, format!("after {call}")),
        (_, _, number) => {
            let number = number.unwrap_or_else(|| newest(entries));
            (numbered(entries, number)?, format!("in version {number}"))
        }
    };
    let FileText::Text(text) = known else {
        let why = if known == FileText::Absent { "did not exist" } else { "has unknown content" };
        let path = table::printable(&history.path);
        out::complain(&format!("`{path}` {why} {which}; `tooltrail file {}` lists the versions", own.path));
        return Ok(ExitCode::from(1));
    };
    match output_file::path(own.output.as_deref()) {
        Some(path) => {
            let existing = if own.force { Existing::Replace } else { Existing::Refuse };
            let written = output_file::write(path, existing, |out| out.write_all(text.as_bytes()));
            written.with_context(|| format!("cannot write `{}`", neutral_path(path)))?;
            out::remark(&format!("wrote {} ({})", neutral_path(path), tooltrail_view::head::size(text.len() as u64)));
        }
        None => print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The text before or after a call.
fn at(logs: &Logs, linked: &Linked<'_>, history: &FileHistory, call: &str, before: bool) -> anyhow::Result<FileText> {
    let Target::Call(session, number) = Reference::parse(call).find(linked, &logs.now)? else {
        bail!("`{call}` is a session; name a call, as in `{call}:41`");
    };
    let is_it = |by: usize| history.evidence.get(by).is_some_and(|evidence| evidence.session == session && evidence.number == Some(number));
    let mut steps = history.steps.iter().filter(|step| is_it(step.by));
    // A call may change a file several times: its first step has the text before it, its last step the text after it.
    let found = if before { steps.next().map(|step| &step.before) } else { steps.next_back().map(|step| &step.after) };
    found.cloned().with_context(|| format!("`{call}` did not change `{}` or read all of it", table::printable(&history.path)))
}

/// The number of the newest version.
fn newest(entries: &[HistoryRow]) -> usize {
    entries.iter().filter_map(|entry| if let HistoryRow::Version(version) = entry { Some(version.number) } else { None }).max().unwrap_or(0)
}

/// The text of a version.
fn numbered(entries: &[HistoryRow], number: usize) -> anyhow::Result<FileText> {
    let all = entries.iter().filter_map(|entry| if let HistoryRow::Version(version) = entry { Some(version) } else { None });
    let count = all.clone().count();
    let found = all.into_iter().find(|version| version.number == number).map(|version| version.known.clone());
    found.with_context(|| format!("no version {number}; the logs have {}", table::counted(count as u64, "version")))
}

/// Prints a text: unchanged into a pipe, with control characters made visible on a terminal.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(out::data());
    if io::stdout().is_terminal() {
        let shown = tooltrail_view::line::neutral_text(text);
        out.write_all(shown.as_bytes())?;
        out.flush()?;
        // Copying from the terminal would give another text than the file had.
        if shown != text {
            out::remark(&"control characters are shown as symbols; use -o or a pipe for the original text");
        }
    } else {
        out.write_all(text.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

fn list(args: &LogArgs, linked: &Linked<'_>, history: &FileHistory, entries: &[HistoryRow]) -> anyhow::Result<()> {
    let mut out = PagedOutput::open(args);
    match out.is_terminal() {
        true => writeln!(out, "{}", table::printable(&history.path))?,
        false => out.note(&table::printable(&history.path))?,
    }
    if entries.is_empty() {
        out.note(&"the logs name this file, but do not contain its full text")?;
        out.flush()?;
        return Ok(());
    }
    let mut table = Table::new(&[
        ("N", Align::Right),
        ("TIME", Align::Left),
        ("KNOWN", Align::Left),
        ("CALL", Align::Left),
        ("LINES", Align::Right),
        ("BYTES", Align::Right),
        ("SESSION", Align::Fill),
    ])
    .optional(&["BYTES", "LINES"]);
    let times = TimeWriter::new(args);
    for entry in entries {
        let (by, number, known, size) = match entry {
            HistoryRow::Version(version) => (version.by, version.number.to_string(), words(version).into(), sizes(&version.known)),
            HistoryRow::Gap(Gap::Outside(by)) => (*by, String::new(), Cell::styled("changed outside the logs", DIM), None),
            HistoryRow::Gap(Gap::Unknown(by, strength)) => {
                let known = format!("{}, content unknown", strength.label().unwrap_or("changed"));
                (*by, String::new(), Cell::styled(known, DIM), None)
            }
        };
        // An index without a source would be a bug; skipping the row is better than a panic.
        let Some(evidence) = history.evidence.get(by) else { continue };
        let count = |number: Option<u64>| number.map(table::count).unwrap_or_default();
        table.row(vec![
            number.into(),
            times.maybe(evidence.time).into(),
            known,
            Cell::styled(&evidence.cited, DIM),
            count(size.map(|(lines, _)| lines)).into(),
            count(size.map(|(_, bytes)| bytes)).into(),
            title(linked, evidence).unwrap_or_default().into(),
        ]);
    }
    table.print(&mut out, table::terminal_width())?;
    out.note(&"--version N prints a version; --before CALL and --after CALL print the text around a call")?;
    out.flush()?;
    Ok(())
}

fn title<'l>(linked: &'l Linked<'_>, evidence: &ChangeEvidence) -> Option<&'l str> {
    linked.sessions.get(evidence.session)?.title.as_deref()
}

/// Source of a version, in words.
fn words(version: &Version) -> String {
    use tooltrail_model::changes::How;
    let how = match (version.how, &version.known) {
        // The same source means something else for a file that does not exist.
        (How::Before, FileText::Absent) => "does not exist",
        (How::Before, _) => "before an edit",
        (How::Moved, FileText::Absent) => "moved away",
        (How::Moved, _) => "moved here",
        (How::Copied, _) => "copied here",
        (How::Observed, _) => "changed while the command ran",
        (how, _) => how.word(),
    };
    format!("{how}{}", if version.replayed { ", replayed" } else { "" })
}

/// Number of lines and bytes of a text.
fn sizes(known: &FileText) -> Option<(u64, u64)> {
    known.as_text().map(|text| (text.split_terminator('\n').count() as u64, text.len() as u64))
}

/// A version as JSON; docs/json.md says what each field means.
#[derive(Serialize)]
struct VersionRow<'r> {
    v: u32,
    path: &'r str,
    version: usize,
    how: &'static str,
    strength: Option<&'static str>,
    replayed: bool,
    exists: bool,
    gap: Option<&'static str>,
    time: Option<String>,
    agent: &'static str,
    session: &'r str,
    title: Option<&'r str>,
    r#ref: &'r str,
    call: Option<&'r str>,
    evidence: Place<'r>,
    again: Vec<&'r str>,
    lines: Option<u64>,
    bytes: Option<u64>,
}

fn rows<'r>(linked: &'r Linked<'_>, history: &'r FileHistory, entries: &'r [HistoryRow]) -> impl Iterator<Item = VersionRow<'r>> {
    // Gaps have no row of their own in JSON; the version after a gap names it.
    let mut gap = None;
    entries.iter().filter_map(move |entry| {
        let version = match entry {
            HistoryRow::Version(version) => version,
            HistoryRow::Gap(here) => {
                let word = if matches!(here, Gap::Outside(_)) { "outside" } else { "unknown" };
                gap = gap.or(Some(word));
                return None;
            }
        };
        let evidence = history.evidence.get(version.by)?;
        let session = linked.sessions.get(evidence.session)?;
        let size = sizes(&version.known);
        Some(VersionRow {
            v: VERSION,
            path: &history.path,
            version: version.number,
            how: version.how.word(),
            strength: version.strength.map(Strength::word),
            replayed: version.replayed,
            exists: version.known != FileText::Absent,
            gap: gap.take(),
            time: evidence.time.map(|time| time.to_string()),
            agent: session.agent,
            session: &session.id,
            title: session.title.as_deref(),
            r#ref: &evidence.cited,
            call: evidence.call.as_deref(),
            evidence: Place { file: &evidence.file, line: evidence.line, row: evidence.row.as_deref() },
            again: version.again.iter().filter_map(|by| Some(&*history.evidence.get(*by)?.cited)).collect(),
            lines: size.map(|(lines, _)| lines),
            bytes: size.map(|(_, bytes)| bytes),
        })
    })
}
