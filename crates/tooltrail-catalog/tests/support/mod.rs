//! What the tests of the catalogue share: a catalogue of its own, and everything that it says as text.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // helpers of tests, where a panic is the report

use std::path::{Path, PathBuf};
use tooltrail_catalog::refresh::{RefreshOutcome, refresh};
use tooltrail_catalog::store::Catalogue;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find::{self, Search};
use tooltrail_formats::load;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::filter::{self, Filter, Setting, Spelling};
use tooltrail_model::{Linker, Now, Time};

pub(crate) fn time(text: &str) -> Time {
    text.parse().unwrap()
}

/// Long after every log.
pub(crate) fn later() -> Now {
    Now::at(time("2040-01-01T00:00:00Z"))
}

/// The moment at which a refresh is said to happen: no file was written shortly before.
pub(crate) fn clock() -> Time {
    time("2040-01-01T00:00:00Z")
}

/// A query as people write it.
pub(crate) fn filter(query: &str) -> Filter {
    let zone = jiff::tz::TimeZone::UTC;
    let (words, agents) = (Spelling::default(), &["claude", "codex"]);
    let setting = Setting { here: None, home: None, now: clock(), zone, agents, words, apart: false };
    filter::parse(query, &setting).unwrap_or_else(|mistake| panic!("{mistake}"))
}

/// One text to look for.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) text: String,
    pub(crate) regex: bool,
    pub(crate) case: bool,
}

impl Term {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Term { text: text.into(), regex: false, case: false }
    }

    pub(crate) fn regex(text: impl Into<String>) -> Self {
        Term { text: text.into(), regex: true, case: false }
    }

    pub(crate) fn cased(self, case: bool) -> Self {
        Term { case, ..self }
    }

    /// The term in a query.
    pub(crate) fn written(&self) -> String {
        format!("{}{}{}", if self.case { "case:" } else { "" }, if self.regex { "re:" } else { "" }, filter::quoted(&self.text))
    }

    /// What finds it, made without any code of the program.
    pub(crate) fn compiled(&self) -> Result<regex::Regex, regex::Error> {
        let source = if self.regex { self.text.clone() } else { regex::escape(&self.text) };
        regex::RegexBuilder::new(&source).case_insensitive(!self.case).multi_line(true).build()
    }
}

/// Terms as a query.
pub(crate) fn written(terms: &[Term]) -> String {
    terms.iter().map(Term::written).collect::<Vec<_>>().join(" ")
}

pub(crate) fn options() -> Options {
    Options { threads: 2, ..Options::default() }
}

pub(crate) fn refreshed(catalogue: &mut Catalogue, search: &Search) -> RefreshOutcome {
    refresh(catalogue, search, &options(), clock(), &Progress::default()).unwrap()
}

/// The rows of `calls --json` as the catalogue has them.
pub(crate) fn kept_calls(catalogue: &Catalogue, now: &Now) -> Vec<String> {
    let listing = catalogue.list(now).unwrap();
    let mut lines = Vec::new();
    for listed in listing.all_calls(catalogue, false).unwrap() {
        listing.one_call(catalogue, listed, |_, row, _| lines.push(serde_json::to_string(&row).unwrap())).unwrap();
    }
    lines
}

/// The rows of `list --json` as the catalogue has them.
pub(crate) fn kept_sessions(catalogue: &Catalogue, now: &Now) -> Vec<String> {
    let listing = catalogue.list(now).unwrap();
    let rows = listing.rows();
    let there = rows.iter().enumerate().filter(|(session, _)| !listing.is_gone(*session));
    there.map(|(_, row)| serde_json::to_string(row).unwrap()).collect()
}

pub(crate) fn scanned(search: &Search) -> Linker {
    scan::scan(&search.files, &options(), &Progress::default()).0
}

/// The same rows made from the logs.
pub(crate) fn direct(linker: &Linker, now: &Now) -> (Vec<String>, Vec<String>) {
    let linked = linker.link();
    let disk = Disk::default();
    let mut calls = Vec::new();
    for call in linked.calls.iter().filter(|call| call.copy_of.is_none()) {
        let mut row = linked.call_row(call, now, false);
        assert!(load::complete_at(&disk, &mut row, linked.record(call.id)).is_ok());
        calls.push(serde_json::to_string(&row).unwrap());
    }
    (calls, linked.session_rows(now).iter().map(|row| serde_json::to_string(row).unwrap()).collect())
}

/// Fails at the first difference.
pub(crate) fn same(what: &str, kept: &[String], direct: &[String]) {
    for (kept, direct) in kept.iter().zip(direct) {
        assert_eq!(kept, direct, "{what}");
    }
    assert_eq!(kept.len(), direct.len(), "{what}");
}

/// The real logs, if they are here.
pub(crate) fn corpus() -> Option<Search> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return None;
    }
    Some(find::in_paths(&[root]))
}

/// The invented logs of the formats' tests.
pub(crate) fn fixtures() -> Search {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests");
    find::in_paths(&[tests.join("fixtures"), tests.join("tools")])
}

/// The logs of the demo.
pub(crate) fn demo() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tooltrail/src/demo")
}

pub(crate) fn open(directory: &Path) -> Catalogue {
    Catalogue::open(&directory.join("catalogue.db")).unwrap()
}

/// Everything that the views say of what is there, but numbers of rows and times of reading.
pub(crate) fn dump(catalogue: &Catalogue) -> Vec<String> {
    const QUERIES: &[&str] = &[
        "SELECT * FROM calls",
        "SELECT * FROM sessions WHERE NOT gone",
        "SELECT * FROM turns",
        "SELECT * FROM usage",
        "SELECT * FROM copies",
        "SELECT * FROM issues WHERE file IN (SELECT file FROM sources WHERE NOT gone)",
        "SELECT file, agent, size, bytes, lines, blank, unparsed, unknown_records, calls, orphan_results FROM sources WHERE NOT gone",
    ];
    let connection = catalogue.ask(&later()).unwrap();
    let mut lines = Vec::new();
    for query in QUERIES {
        let mut statement = connection.prepare(query).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let start = lines.len();
        while let Some(row) = rows.next().unwrap() {
            let cells: Vec<String> = (0..columns).map(|column| cell(row.get_ref(column).unwrap())).collect();
            lines.push(format!("{query}: {}", cells.join(" | ")));
        }
        lines[start..].sort();
    }
    lines
}

fn cell(value: rusqlite::types::ValueRef<'_>) -> String {
    value.as_str().map_or_else(|_| format!("{value:?}"), str::to_owned)
}

/// Copies what is in a directory.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
