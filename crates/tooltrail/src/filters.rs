//! Filters on the command line: which words of it are paths and which a filter.
//!
//! The language itself, and the one evaluator, are `model::filter`; what a filter takes of logs is found out by `catalog::taken`.

use crate::cli::LogArgs;
use crate::logs;
use crate::refs::is_path;
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tooltrail_catalog::taken;
use tooltrail_formats::FORMATS;
use tooltrail_model::filter::{self, Filter, Setting, quoted};

/// Paths and a filter.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SelectArgs {
    /// Log files or directories to read, instead of the agents' own places; all other words are a filter (docs/filter.md)
    #[arg(value_name = "PATH or FILTER")]
    words: Vec<OsString>,
    /// Only what is as young as this, as in `7d` or `2026-03-01`: the same as the term `since:`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what is as old as this: the same as the term `until:`
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl SelectArgs {
    /// The words that are paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.words.iter().filter(|word| word.to_str().is_none_or(names_file)).map(PathBuf::from).collect()
    }

    /// The other words, as a filter.
    pub(crate) fn filter(&self, args: &LogArgs) -> anyhow::Result<Filter> {
        let words = self.words.iter().filter_map(|word| word.to_str()).filter(|word| !names_file(word)).map(str::to_owned);
        let option = |key: &str, value: &Option<String>| value.as_ref().map(|value| format!("{key}:{}", quoted(value)));
        let query: Vec<String> = words.chain(option("since", &self.since)).chain(option("until", &self.until)).collect();
        let text = |path: PathBuf| path.into_os_string().into_string().ok();
        let (here, home) = (std::env::current_dir().ok().and_then(text), std::env::home_dir().and_then(text));
        let agents: Vec<&str> = FORMATS.iter().map(|format| format.agent()).collect();
        let setting = Setting {
            here: here.as_deref(),
            home: home.as_deref().filter(|home| !home.is_empty()),
            now: logs::asked_at(args),
            zone: jiff::tz::TimeZone::system(),
            agents: &agents,
        };
        Ok(filter::parse(&query.join(" "), &setting)?)
    }
}

/// Whether a word is a path: it looks like one, or is there. `file:package.json` looks like one only at its end.
fn names_file(word: &str) -> bool {
    if filter::is_term(word) { Path::new(word).exists() } else { is_path(word) }
}

/// Where all terms of a filter must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// In one call or one message
    Call,
    /// Anywhere in one session, each term in its own place
    Session,
}

impl From<Scope> for taken::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Call => taken::Scope::Call,
            Scope::Session => taken::Scope::Session,
        }
    }
}
