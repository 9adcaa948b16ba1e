//! Filters on the command line: which words are paths, and which are terms of a filter.
//!
//! `model::filter` has the language and its evaluator; `catalog::taken` applies a filter to logs.

use crate::cli::LogArgs;
use crate::logs;
use crate::refs::is_path;
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tooltrail_catalog::matching;
use tooltrail_formats::FORMATS;
use tooltrail_model::filter::{self, Filter, ProjectPattern, Setting, Spelling, Test, quoted};

/// Paths and a filter.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SelectArgs {
    /// Log files or directories to read; all other words are a filter (docs/filter.md)
    #[arg(value_name = "PATH or FILTER")]
    words: Vec<OsString>,
    #[command(flatten)]
    times: TimeArgs,
}

/// Times, as options.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TimeArgs {
    /// Only items newer than TIME, as in `7d` or `2026-03-01`; same as `since:` in a filter
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only items older than TIME; same as `until:` in a filter
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl SelectArgs {
    /// The words that are paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.words.iter().filter(|word| is_log(word)).map(PathBuf::from).collect()
    }

    /// The other words, as a filter.
    pub(crate) fn filter(&self, args: &LogArgs) -> anyhow::Result<Filter> {
        self.filter_within(args, ScopeArg::Call)
    }

    /// The other words, as a filter whose terms must hold in some scope.
    pub(crate) fn filter_within(&self, args: &LogArgs, scope: ScopeArg) -> anyhow::Result<Filter> {
        let times = self.times.terms();
        let words = self.words.iter().filter(|word| !is_log(word)).chain(&times);
        parse_within(args, &words.collect::<Vec<_>>(), Spelling::default(), scope)
    }
}

impl TimeArgs {
    /// The options as terms of a filter.
    pub(crate) fn terms(&self) -> Vec<OsString> {
        // Quoted, because a time may contain a space: `2026-03-01 10:00`.
        let term = |(key, value): (&str, &Option<String>)| Some(OsString::from(format!("{key}:{}", quoted(value.as_ref()?))));
        [("since", &self.since), ("until", &self.until)].into_iter().filter_map(term).collect()
    }
}

/// Reads words of the command line as a filter, all terms of which must hold in one place.
pub(crate) fn parse(args: &LogArgs, words: &[&OsString], spelling: Spelling) -> anyhow::Result<Filter> {
    parse_within(args, words, spelling, ScopeArg::Call)
}

/// Reads words of the command line as a filter whose terms must hold in some scope.
fn parse_within(args: &LogArgs, words: &[&OsString], spelling: Spelling, scope: ScopeArg) -> anyhow::Result<Filter> {
    let query: Vec<String> = words.iter().map(|word| term(&word.to_string_lossy(), spelling)).collect();
    // Finding out the person's zone looks through many files of the system, and a filter without terms has no dates.
    let zone = if query.is_empty() { jiff::tz::TimeZone::UTC } else { jiff::tz::TimeZone::system() };
    let asked = AskedAt { now: logs::asked_at(args), zone, words: spelling, apart: scope == ScopeArg::Session };
    read(&query.join(" "), asked)
}

/// The project that `project:NAME` means.
pub(crate) fn projects(name: &str) -> anyhow::Result<Vec<ProjectPattern>> {
    let (now, zone) = (tooltrail_model::Time::UNIX_EPOCH, jiff::tz::TimeZone::UTC);
    let filter = read(&filter::argument(&format!("project:{name}")), AskedAt { now, zone, words: Spelling::default(), apart: false })?;
    let patterns = |term: &filter::Term| if let Test::Project(patterns) = &term.test { patterns.clone() } else { Vec::new() };
    Ok(filter.terms().iter().flat_map(patterns).collect())
}

/// Time and reading of words of a query.
struct AskedAt {
    now: tooltrail_model::Time,
    zone: jiff::tz::TimeZone,
    words: Spelling,
    apart: bool,
}

fn read(query: &str, asked: AskedAt) -> anyhow::Result<Filter> {
    // Logs spell paths as text, so a directory that is not UTF-8 matches no session and is left out.
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    let (here, home) = (std::env::current_dir().ok().and_then(text), std::env::home_dir().and_then(text));
    let agents: Vec<&str> = FORMATS.iter().map(|format| format.agent()).collect();
    let setting = Setting {
        here: here.as_deref(),
        home: home.as_deref().filter(|home| !home.is_empty()),
        now: asked.now,
        zone: asked.zone,
        agents: &agents,
        words: asked.words,
        apart: asked.apart,
    };
    Ok(filter::parse(query, &setting)?)
}

/// A word of the command line as a term of a query. A word with spaces was quoted in the shell: it is a phrase, unless it contains terms
/// such as `status:failed`.
fn term(word: &str, spelling: Spelling) -> String {
    let is_phrase = word.contains(char::is_whitespace) && !word.split_whitespace().any(filter::is_term);
    match is_phrase {
        true if spelling.regex => format!("re:{}", quoted(word)),
        true => quoted(word),
        false => filter::argument(word),
    }
}

/// True if a word of the command line names logs: it looks like a path, or a file of that name exists.
pub(crate) fn is_log(word: &OsString) -> bool {
    // A word that is not UTF-8 can only be a path.
    word.to_str().is_none_or(names_file)
}

/// True if a word is a path.
fn names_file(word: &str) -> bool {
    // `file:package.json` ends like a log, but is a term; only an existing file of that very name is a path.
    if filter::is_term(word) { Path::new(word).exists() } else { is_path(word) }
}

/// Unit in which all terms of a filter must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScopeArg {
    /// In a single call or message
    Call,
    /// Anywhere in a session
    Session,
}

impl From<ScopeArg> for matching::MatchScope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Call => matching::MatchScope::Call,
            ScopeArg::Session => matching::MatchScope::Session,
        }
    }
}
