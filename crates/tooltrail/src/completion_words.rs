//! `__complete`: completions of a word that only the index and the filter language know: REFs, filter keys and their values.
//!
//! The scripts of `completions` run it. It prints a candidate a line, for REFs with a tab and the title behind it, and never fails: a
//! completion that says why it has nothing would be in the way.

use crate::catalogue::{self, Ready};
use crate::cli::LogArgs;
use crate::{out, table};
use clap::Args;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;
use tooltrail_formats::FORMATS;
use tooltrail_model::filter;

/// Commands whose words are a filter.
const FILTERED: &[&str] = &["board", "calls", "list", "ls", "search", "stats", "tail"];
/// Commands that take a REF.
const NAMED: &[&str] = &["export", "resume", "show"];
/// REFs that are always there.
const ALWAYS: &[&str] = &["last", "last:all", "last:failed", "project:."];
/// The most candidates.
const MOST: usize = 200;

/// Arguments of `__complete`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tooltrail __complete -- calls status:fa")]
pub(crate) struct CompletionWordsArgs {
    /// The words of the command line behind the program; the last one is completed
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

pub(crate) fn run(args: &LogArgs, own: &CompletionWordsArgs) -> anyhow::Result<ExitCode> {
    let Some((word, before)) = own.words.split_last() else { return Ok(ExitCode::SUCCESS) };
    let command = before.iter().find(|word| !word.starts_with('-')).map(String::as_str).unwrap_or_default();
    let found = match command {
        command if FILTERED.contains(&command) => terms(args, word),
        command if NAMED.contains(&command) => refs(args, word),
        "help" => ["filters", "refs", "json"].map(str::to_owned).into(),
        _ => Vec::new(),
    };
    let mut out = out::data();
    for candidate in found.iter().filter(|candidate| candidate.starts_with(word.as_str())).take(MOST) {
        writeln!(out, "{candidate}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The index as it is; nothing where it cannot be used.
fn ready(args: &LogArgs) -> Option<Ready> {
    catalogue::ready(args).ok()
}

/// REFs: the newest session, and those of the index, the newest first.
fn refs(args: &LogArgs, word: &str) -> Vec<String> {
    let mut found: Vec<String> = ALWAYS.iter().map(|&name| name.to_owned()).collect();
    if let Some(project) = word.strip_prefix("project:") {
        found.extend(names(args, "project", project));
        return found;
    }
    let Some(listing) = ready(args).and_then(|ready| ready.list().ok()) else { return found };
    let mut rows = listing.rows();
    rows.sort_by_key(|row| Reverse(row.last_at));
    found.extend(
        rows.iter().take(MOST).map(|row| format!("{}\t{}", table::printable(row.short), table::printable(row.title.unwrap_or("")))),
    );
    found
}

/// Keys of the filter language, or values of one.
fn terms(args: &LogArgs, word: &str) -> Vec<String> {
    let Some((key, value)) = word.rsplit_once(':') else {
        return filter::key_names().map(|key| format!("{key}:")).chain(["not:".to_owned()]).collect();
    };
    // Behind `not:` a key may follow, and behind a comma another value.
    if key.eq_ignore_ascii_case("not") {
        return filter::key_names().map(|name| format!("{key}:{name}:")).collect();
    }
    let name = key.rsplit([':', '-', '!']).next().unwrap_or(key);
    let first = value.rsplit_once(',').map_or("", |(first, _)| first);
    let before = if first.is_empty() { format!("{key}:") } else { format!("{key}:{first},") };
    let closed = filter::key_values(name);
    let values = if closed.is_empty() { names(args, name, value) } else { closed.into_iter().map(str::to_owned).collect() };
    values.into_iter().map(|value| format!("{before}{value}")).collect()
}

/// Names that the index has for a key: projects, branches, models, tools. Names with spaces would need quotes, and are left out.
fn names(args: &LogArgs, key: &str, _: &str) -> Vec<String> {
    if key == "agent" {
        return FORMATS.iter().map(|format| format.agent().to_owned()).collect();
    }
    let Some(ready) = ready(args) else { return Vec::new() };
    let mut found: BTreeSet<String> = BTreeSet::new();
    if key == "tool" || key == "server" {
        found.extend(called(&ready, key).unwrap_or_default());
    } else if let Ok(listing) = ready.list() {
        for row in listing.rows() {
            match key {
                "project" => found.extend(row.project.and_then(|path| path.rsplit(['/', '\\']).next()).map(str::to_owned)),
                "branch" => found.extend(row.branch.map(str::to_owned)),
                "model" => found.extend(row.models.iter().map(|&model| model.to_owned())),
                "session" => drop(found.insert(row.short.to_owned())),
                _ => {}
            }
        }
    }
    found.retain(|name| !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter.is_control()));
    found.into_iter().take(MOST).collect()
}

/// Tools or servers that were called.
fn called(ready: &Ready, column: &str) -> anyhow::Result<Vec<String>> {
    let catalogue = ready.library.catalogue();
    let connection = catalogue.ask(&ready.now)?;
    // The column is one of two constants.
    let mut statement = connection
        .prepare(&format!("SELECT {column} FROM calls WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 200"))?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names)
}
