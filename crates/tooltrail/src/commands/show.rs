//! `show`: a session in the terminal, or one call in full.

use crate::changes::{self, CallSelection};
use crate::cli::LogArgs;
use crate::logs;
use crate::pager::PagerOutput;
use crate::refs::Target;
use crate::{out, picker, table};
use anyhow::bail;
use clap::Args;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::Kind;
use tooltrail_model::book::{Book, Selection};
use tooltrail_model::link::Linked;
use tooltrail_model::row::CallNumber;
use tooltrail_model::transcript::Spot;
use tooltrail_view::render::{json, terminal};

const EXAMPLES: &str = "\
Examples:
  tooltrail show                        the newest session of this directory's project, with failures expanded
  tooltrail show -i                     choose a session from a list
  tooltrail show last:all               the newest session of all projects
  tooltrail show project:api            the newest session of another project
  tooltrail show 3f2a                   the session whose id starts with 3f2a
  tooltrail show 3f2a:41                its 41st call in full, with its timeline
  tooltrail show last:failed            the newest call that failed
  tooltrail show session.jsonl          everything in a file
  tooltrail show session.jsonl:42       the call on this line of a log
  tooltrail show 3f2a:41 --raw          the log records of a call
  tooltrail show 3f2a:41 --json         a call as JSON
  tooltrail show 3f2a --turns 3..5 --all
  tooltrail show 3f2a --changes         its net changes, file by file
  tooltrail show 3f2a --changes --turns 3";

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowArgs {
    /// A session: its id or a prefix of it, `last` (the newest of this directory's project), or a file. A call: `3f2a:41`, its id,
    /// `last:failed`, or FILE:LINE (`help refs`)
    #[arg(value_name = "REF", default_value = "last")]
    wanted: String,
    /// Choose the session from a list
    #[arg(short = 'i', long)]
    pick: bool,
    /// Print the log records unchanged
    #[arg(long)]
    raw: bool,
    /// Expand every call, not only failures
    #[arg(long)]
    all: bool,
    /// Show the net changes of each file, from successful edits
    #[arg(long, conflicts_with = "raw")]
    changes: bool,
    /// Only these turns, as in `3` or `3..5`
    #[arg(long, value_name = "N..M", value_parser = turns)]
    turns: Option<(usize, usize)>,
}

/// Reads `3`, `3..5`, `..5` or `3..`.
pub(crate) fn turns(text: &str) -> Result<(usize, usize), String> {
    // Turns are counted from 1, so 0 is a mistake rather than the first.
    let number = |text: &str, other: usize| if text.is_empty() { Some(other) } else { text.parse().ok().filter(|number| *number > 0) };
    let read = match text.split_once("..") {
        Some((first, last)) => number(first, 1).zip(number(last.trim_start_matches('='), usize::MAX)),
        None => number(text, 0).filter(|number| *number > 0).map(|number| (number, number)),
    };
    read.filter(|(first, last)| first <= last).ok_or_else(|| format!("`{text}` is not a range of turns; write `3` or `3..5`"))
}

pub(crate) fn run(args: &LogArgs, own: &ShowArgs) -> anyhow::Result<ExitCode> {
    let Some(wanted) = picker::reference(args, &own.wanted, own.pick)? else { return Ok(ExitCode::from(130)) };
    let logs = logs::open_for(args, &wanted)?;
    logs.require_any()?;
    let linked = logs.link();
    let target = wanted.find(&linked, &logs.now)?;
    let sessions = match &target {
        Target::Sessions(sessions) => sessions.clone(),
        Target::Call(session, _) => vec![*session],
    };
    let alone = outline_is_enough(args, own, &linked, &target);
    let book = match alone {
        true => SessionBook::outline(&linked, &sessions, &logs.now, logs.disk()),
        false => SessionBook::read(&linked, &sessions, &logs.now, logs.disk(), None),
    };
    let selection = Selection { turns: own.turns };
    check_turns(&book, &selection)?;
    let call = match target {
        Target::Call(_, number) => Some(index_of(&book, number)?),
        Target::Sessions(_) => None,
    };
    if own.raw {
        return raw(&book, call, &selection);
    }
    if args.json && own.changes {
        changes::json(&book, &CallSelection { selection, call })?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.json {
        let mut out = std::io::BufWriter::with_capacity(256 * 1024, std::io::stdout().lock());
        match call {
            Some(index) => json::call(&book, index, &mut out)?,
            None => json::session(&book, &json::JsonOptions { selection, ..json::JsonOptions::default() }, &mut out)?,
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = terminal::TerminalOptions {
        selection,
        width: table::terminal_width().unwrap_or(100),
        links: std::io::stdout().is_terminal() && args.color != "never",
        all: own.all,
        zone: Some(jiff::tz::TimeZone::system()),
    };
    let color = args.color.as_str();
    PagerOutput::open(args, !args.no_pager).write(color, |mut out| {
        match call {
            _ if own.changes => changes::show(&book, &CallSelection { selection: options.selection.clone(), call }, &options, &mut out)?,
            Some(index) => terminal::call(&book, index, &options, &mut out)?,
            None => terminal::session(&book, &options, &mut out)?,
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// True if an outline of the session, which is much faster to read, has everything that is shown. Turns, changes and JSON need the whole
/// session, and so does a call that started a subagent, whose conversation is shown with it.
fn outline_is_enough(args: &LogArgs, own: &ShowArgs, linked: &Linked<'_>, target: &Target) -> bool {
    let starts = |session: usize, number: CallNumber| {
        linked.calls_of(session).iter().any(|call| call.number == number && linked.record(call.id).kind == Kind::Subagent)
    };
    // Raw records are printed the same for programs, so `--json` does not matter to them.
    let plain = own.turns.is_none() && !own.changes && (own.raw || !args.json);
    plain && matches!(*target, Target::Call(session, number) if own.raw || !starts(session, number))
}

/// Fails if none of the selected turns exists.
pub(crate) fn check_turns(book: &dyn Book, selection: &Selection) -> anyhow::Result<()> {
    let count = book.transcript().turns.len();
    if let Some((first, _)) = selection.turns.filter(|(first, _)| *first > count.max(1)) {
        bail!("no turn {first}; the session has {}", table::counted(count as u64, "turn"));
    }
    Ok(())
}

/// Index of the call with a number.
fn index_of(book: &dyn Book, number: CallNumber) -> anyhow::Result<usize> {
    let found = book.transcript().calls.iter().position(|call| call.number == number);
    found.ok_or_else(|| anyhow::anyhow!("the call is no longer in the logs of its session"))
}

/// Prints the records of a call or a session exactly as the log has them.
fn raw(book: &SessionBook<'_>, call: Option<usize>, selection: &Selection) -> anyhow::Result<ExitCode> {
    let entries = || book.transcript().threads.iter().flat_map(|thread| &thread.entries);
    let mut spots: Vec<Spot> = match call {
        Some(index) => book.spots_of_call(index),
        None => entries().filter(|entry| selection.takes(entry)).flat_map(|entry| book.spots(entry)).collect(),
    };
    // One record may hold several calls or messages; it is printed once.
    spots.sort_unstable();
    spots.dedup();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let watched = std::io::stdout().is_terminal();
    for spot in spots {
        let bytes = match book.raw(spot) {
            Ok(bytes) => bytes,
            // The log may have been cut or deleted since it was indexed; the other records are still worth printing.
            Err(error) => {
                out::remark(&ErrorChain(&error));
                continue;
            }
        };
        // A terminal acts on what it is sent; a program reads the bytes as they are.
        let text = String::from_utf8_lossy(&bytes);
        if watched {
            out.write_all(tooltrail_view::line::neutral(&text).as_bytes())?
        } else {
            out.write_all(&bytes)?
        }
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
