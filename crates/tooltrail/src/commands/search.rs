//! `search`: text found in all sessions, by session and call.

use super::calls::local;
use crate::cli::{LogArgs, duration};
use crate::filters::TimeArgs;
use crate::out::{self, BOLD, DIM};
use crate::table;
use crate::{filters, logs};
use anstyle::{AnsiColor, Style};
use anyhow::bail;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tooltrail_catalog::library::{Library, ScannedLibrary};
use tooltrail_catalog::search::{Field, Hit, HitSession, HitTotals, Query, search};
use tooltrail_catalog::stop::Stop;
use tooltrail_model::filter::{Filter, Spelling};
use tooltrail_model::link::Now;

const EXAMPLES: &str = "\
Examples:
  tooltrail search timeout                     in prompts, answers, calls and results
  tooltrail search deadlock mutex              both words in the same call or message
  tooltrail search \"connection refused\"        a phrase
  tooltrail search tool:Bash status:failed refused since:7d project:.
  tooltrail search timeout --since 2w --until yesterday
  tooltrail search --regex '^error\\[E\\d+\\]'    ^ and $ match at line ends
  tooltrail search re:'TODO|FIXME' not:node_modules --field input
  tooltrail search --case README --field path
  tooltrail search panicked session.jsonl      in one log
  tooltrail search timeout --json | jq .ref

The first QUERY is always a search term; later ones are logs to read if such a file exists.";

/// Default number of hits in a terminal.
const SHOWN: usize = 50;

/// Arguments of `search`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SearchArgs {
    /// Words, phrases and filter terms (docs/filter.md), then log files or directories to read
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<OsString>,
    /// Treat words as regular expressions
    #[arg(long)]
    regex: bool,
    /// Only search these: prompt, text, thinking, input, path, result
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', hide_possible_values = true)]
    field: Vec<FieldArg>,
    /// Case-sensitive
    #[arg(long)]
    case: bool,
    /// Only the first N hits; 0 for all [default: 50 in a terminal, all with --json]
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,
    /// How long to search, as in `30s` or `10m`; `0s` for as long as it takes
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    timeout: Duration,
    #[command(flatten)]
    times: TimeArgs,
}

/// A field, by its name.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FieldArg {
    Prompt,
    Text,
    Thinking,
    Input,
    Path,
    Result,
}

impl FieldArg {
    fn field(self) -> Field {
        match self {
            FieldArg::Prompt => Field::Prompt,
            FieldArg::Text => Field::Text,
            FieldArg::Thinking => Field::Thinking,
            FieldArg::Input => Field::Input,
            FieldArg::Path => Field::Path,
            FieldArg::Result => Field::Result,
        }
    }
}

pub(crate) fn run(args: &LogArgs, own: &SearchArgs) -> anyhow::Result<ExitCode> {
    let (filter, paths) = own.asked(args)?;
    let fields: Vec<Field> = own.field.iter().map(|field| field.field()).collect();
    let query = Query::new(filter, &fields);
    if let Some(ready) = logs::if_stored(args, &paths)? {
        if ready.library.bundles()?.is_empty() {
            bail!("no agent's logs found\n{}", logs::where_to_look(&ready.looked));
        }
        return find(args, own, &ready.library, &query, &ready.now, ready.threads);
    }
    let mut logs = logs::read(args, &paths, false)?;
    logs.require_any()?;
    // Never dropped: the process ends right after printing, and freeing all of it would only cost time.
    let library = ManuallyDrop::new(ScannedLibrary::new(logs.take(), logs.shelf(), logs.keep()));
    find(args, own, &*library, &query, &logs.now, logs.threads())
}

/// Searches a library and prints the hits as they are found.
fn find(args: &LogArgs, own: &SearchArgs, library: &dyn Library, query: &Query, now: &Now, threads: usize) -> anyhow::Result<ExitCode> {
    let limit = own.number.unwrap_or(if args.json { 0 } else { SHOWN });
    let mut page = HitPrinter { json: args.json, left: if limit == 0 { usize::MAX } else { limit }, session: None };
    let mut out = out::stdout(if args.json { "never" } else { args.color.as_str() });
    let mut written = Ok(());
    let stop = Stop::new((!own.timeout.is_zero()).then_some(own.timeout), || false);
    let searched = || {
        search(library, query, now, threads, |hits| {
            written = page.print(&mut out, &hits);
            // Text output goes on counting after the last hit it shows, for the totals below it; JSON has no totals and stops.
            let enough = args.json && page.left == 0;
            if written.is_err() || enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    let totals = stop.run(searched);
    // The error of the output first: the search was only stopped because of it.
    written?;
    let totals = totals?;
    if !args.json {
        writeln!(out, "{}", summary(&totals, limit))?;
    }
    out.flush()?;
    if stop.is_reached() {
        out::complain(&format_args!("the search was stopped after {:?}; these are the hits until then (--timeout)", own.timeout));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::from(u8::from(totals.hits == 0)))
}

impl SearchArgs {
    /// The filter, and the logs to search.
    fn asked(&self, args: &LogArgs) -> anyhow::Result<(Filter, Vec<PathBuf>)> {
        // The first word is always searched for, even if a file of that name exists.
        let is_log = |(number, word): &(usize, &OsString)| *number > 0 && filters::is_log(word);
        let (paths, words): (Vec<_>, Vec<_>) = self.query.iter().enumerate().partition(is_log);
        let times = self.times.terms();
        let words: Vec<&OsString> = words.into_iter().map(|(_, word)| word).chain(&times).collect();
        let filter = filters::parse(args, &words, Spelling { regex: self.regex, cased: self.case })?;
        if filter.patterns().next().is_none() {
            bail!("no search text: give a word, a \"phrase\" or re:PATTERN, or use `tooltrail calls` or `tooltrail list` with this filter");
        }
        Ok((filter, paths.into_iter().map(|(_, path)| PathBuf::from(path)).collect()))
    }
}

/// Prints hits, up to a limit, with a heading for each session.
struct HitPrinter {
    json: bool,
    left: usize,
    /// The session whose hits were printed last.
    session: Option<Arc<HitSession>>,
}

impl HitPrinter {
    fn print(&mut self, out: &mut impl Write, hits: &[Hit]) -> anyhow::Result<()> {
        let shown = &hits[..hits.len().min(self.left)];
        self.left -= shown.len();
        let width = table::terminal_width();
        let mut last = None;
        for hit in shown {
            if self.json {
                serde_json::to_writer(&mut *out, hit)?;
                out.write_all(b"\n")?;
                continue;
            }
            if self.session.as_ref().is_none_or(|session| !Arc::ptr_eq(session, &hit.about)) {
                title(out, hit)?;
                self.session = Some(Arc::clone(&hit.about));
                last = None;
            }
            // Only the first hit of a call has its name, so that hits of one call read as a group.
            let name = if last.replace(hit.unit) == Some(hit.unit) { String::new() } else { table::printable(&hit.r#ref) };
            // 28 columns are taken by the name, the field and the spaces between them.
            let room = width.map(|width| width.saturating_sub(28).max(20));
            writeln!(out, "  {DIM}{name:<14}{DIM:#} {:<9} {}", hit.field, marked(&hit.snippet, &hit.matches, room))?;
        }
        out.flush()?;
        Ok(())
    }
}

/// Prints the heading for the session of a hit.
fn title(out: &mut impl Write, hit: &Hit) -> std::io::Result<()> {
    let about = &hit.about;
    let title = table::printable(about.title.as_deref().unwrap_or("(no title)"));
    let short = table::printable(&about.short);
    let project = table::printable(about.project.as_deref().unwrap_or_default());
    let when = about.last.map(local).unwrap_or_default();
    writeln!(out, "{BOLD}{title}{BOLD:#}  {DIM}{short} · {} · {when} · {project}{DIM:#}", hit.agent)
}

/// Style of a match.
const MATCH: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red))).bold();

/// A snippet on one line, without control characters, with its matches highlighted; cut so that the first match is visible.
fn marked(snippet: &str, matches: &[[usize; 2]], room: Option<usize>) -> String {
    let first = matches.first().map_or(0, |span| span[0]);
    // Leaves a third of the line as context before the match.
    let skipped = room.map_or(0, |room| first.saturating_sub(room / 3));
    let inside = |at: usize| matches.iter().any(|span| (span[0]..span[1]).contains(&at));
    let (mut out, mut lit, mut blank, mut width) = (String::new(), false, true, 0);
    // Letter by letter: positions of matches count letters of the snippet, and some letters are replaced or dropped for the terminal.
    for (at, c) in snippet.chars().enumerate().skip(skipped) {
        let shown = if c.is_whitespace() { " ".to_owned() } else { table::printable(c.encode_utf8(&mut [0; 4])) };
        // Runs of spaces, such as line ends and indentation, would only push the text out of sight.
        if shown == " " && blank && !inside(at) {
            continue;
        }
        width += unicode_width::UnicodeWidthStr::width(shown.as_str());
        if room.is_some_and(|room| width > room) {
            break;
        }
        if inside(at) != lit {
            out.push_str(&if lit { format!("{MATCH:#}") } else { format!("{MATCH}") });
            lit = !lit;
        }
        blank = shown == " ";
        out.push_str(&shown);
    }
    if lit {
        out.push_str(&format!("{MATCH:#}"));
    }
    out
}

/// HitTotals of a search: `37 hits in 12 calls and 3 messages of 4 sessions`.
fn summary(totals: &HitTotals, limit: usize) -> String {
    if totals.hits == 0 {
        return "no matches".to_owned();
    }
    let counted = |number: u64, thing: &str| (number > 0).then(|| table::counted(number, thing));
    let units: Vec<String> = [counted(totals.calls, "call"), counted(totals.messages, "message")].into_iter().flatten().collect();
    let (hits, sessions) = (table::counted(totals.hits, "hit"), table::counted(totals.sessions, "session"));
    let all = format!("{hits} in {} of {sessions}", units.join(" and "));
    if limit > 0 && totals.hits > limit as u64 { format!("{all}; showing the first {limit}, -n 0 shows all") } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_cannot_act_on_a_terminal() {
        let line = marked("a\u{1b}[31m\n\tneedle \u{202e}x", &[[8, 14]], None);
        assert_eq!(line, format!("a␛[31m {MATCH}needle{MATCH:#} ⟨U+202E⟩x"));
        let long = format!("{}needle", "x".repeat(100));
        assert!(marked(&long, &[[100, 106]], Some(30)).contains("needle"));
    }

    #[test]
    fn totals_are_told_in_words() {
        let totals = HitTotals { hits: 37, calls: 12, messages: 3, sessions: 4 };
        assert_eq!(summary(&totals, 0), "37 hits in 12 calls and 3 messages of 4 sessions");
        assert_eq!(
            summary(&HitTotals { messages: 0, ..totals }, 10),
            "37 hits in 12 calls of 4 sessions; showing the first 10, -n 0 shows all"
        );
        assert_eq!(summary(&HitTotals { hits: 1, calls: 0, messages: 1, sessions: 1 }, 50), "1 hit in 1 message of 1 session");
    }
}
