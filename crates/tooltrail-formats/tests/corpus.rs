//! The program against an independent count, on real logs: every line, every call, its pairing, its error flag, its times.
//!
//! The logs lie in `shared/corpus` beside the repository and are other people's words, so nothing of them is kept here but
//! totals. Where they are not at hand the tests say so and pass. The count is made with serde_json and shares no code with
//! the program.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::{Linker, Now, Time};

/// The corpus below `part`, if it is here.
fn corpus(parts: &[&str]) -> Option<Vec<PathBuf>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return None;
    }
    Some(parts.iter().map(|part| root.join(part)).filter(|path| path.is_dir()).collect())
}

fn claude() -> Option<Vec<PathBuf>> {
    corpus(&["real/claude", "fixtures/claude"])
}

fn scan(paths: &[PathBuf]) -> Linker {
    let search = find::in_paths(paths);
    assert!(search.problems.is_empty(), "{:?}", search.problems);
    assert!(!search.files.is_empty());
    let (linker, problems) = scan::scan(&search.files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    linker
}

/// Long after every log.
fn now() -> Now {
    Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap())
}

/// A log as the independent count reads it.
#[derive(Default)]
struct Counted {
    lines: u64,
    blank: u64,
    /// Lines that serde_json takes for objects, by type.
    records: BTreeMap<String, u64>,
    /// Lines that it takes for other values, and lines that it does not take.
    others: u64,
    refused: BTreeSet<u64>,
    calls: Vec<Call>,
    /// Results by the call they answer.
    results: BTreeMap<String, Vec<Answer>>,
    /// Calls that the service made itself, and lines of progress, by line.
    service: BTreeSet<(u64, String)>,
    progress: BTreeSet<u64>,
}

struct Call {
    line: u64,
    id: String,
    time: Option<Timestamp>,
}

struct Answer {
    line: u64,
    error: bool,
    time: Option<Timestamp>,
}

fn count(bytes: &[u8]) -> Counted {
    let mut out = Counted::default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    if bytes.is_empty() {
        return out;
    }
    for (number, line) in (1..).zip(text.split('\n')) {
        out.lines += 1;
        if line.chars().all(|char| " \t\r".contains(char)) {
            out.blank += 1;
            continue;
        }
        match serde_json::from_str::<Value>(line) {
            Ok(record) if record.is_object() => out.record(number, &record),
            Ok(_) => out.others += 1,
            Err(_) => {
                out.refused.insert(number);
            }
        }
    }
    out
}

impl Counted {
    fn record(&mut self, line: u64, record: &Value) {
        let kind = record["type"].as_str().unwrap_or("?");
        *self.records.entry(kind.to_owned()).or_default() += 1;
        if kind == "progress" {
            self.progress.insert(line);
        }
        let time = record["timestamp"].as_str().and_then(|text| text.parse().ok());
        for block in record["message"]["content"].as_array().into_iter().flatten() {
            let id = |name: &str| block[name].as_str().map(str::to_owned);
            match (kind, block["type"].as_str().unwrap_or_default(), id("id"), id("tool_use_id")) {
                ("assistant", "tool_use", Some(id), _) => self.calls.push(Call { line, id, time }),
                ("assistant", other, Some(id), _) if other.ends_with("_tool_use") => {
                    self.service.insert((line, id));
                }
                ("user" | "assistant", "tool_result", _, Some(id)) => {
                    let error = block["is_error"] == true;
                    self.results.entry(id).or_default().push(Answer { line, error, time });
                }
                _ => {}
            }
        }
    }
}

/// The lines of each file of lines, counted naively. Databases and documents have counts of their own (`opencode.rs`).
fn counts(linker: &Linker) -> BTreeMap<String, Counted> {
    let read = |path: &str| count(&fs::read(path).unwrap());
    let of_lines = linker.sources().filter(|source| source.summary.agent != Some("opencode"));
    of_lines.map(|source| (source.path.to_string(), read(&source.path))).collect()
}

#[test]
fn every_line_is_counted_as_what_it_is() {
    let Some(paths) = corpus(&["."]) else { return };
    let linker = scan(&paths);
    let counts = counts(&linker);
    let linked = linker.link();
    for row in linked.check_rows(&now()) {
        let Some(own) = counts.get(row.file) else { continue };
        let file = row.file;
        let records: u64 = row.records.values().sum();
        assert_eq!(row.lines, own.lines, "lines of {file}");
        assert_eq!(row.blank, own.blank, "blank lines of {file}");
        assert_eq!(row.lines, row.blank + records + row.unparsed, "{file}");
        assert_eq!(row.bytes, fs::metadata(file).unwrap().len(), "{file}");
        // The program takes what serde_json takes, and some of what it refuses.
        assert!(row.unparsed >= own.others, "{file}");
        assert!(row.unparsed <= own.others + own.refused.len() as u64, "{file}");
        for (name, count) in &own.records {
            let ours = row.records.get(&**name).copied().unwrap_or(0);
            let exact = own.refused.is_empty();
            assert!(ours == *count || (!exact && ours > *count), "{ours} instead of {count} records of one type in {file}");
        }
    }
}

#[test]
fn every_call_is_listed_where_it_stands() {
    let Some(paths) = claude() else { return };
    let linker = scan(&paths);
    let counts = counts(&linker);
    let linked = linker.link();
    let now = now();
    let mut listed: BTreeMap<(String, u64, String), Vec<Value>> = BTreeMap::new();
    for row in linked.call_rows(&now, true) {
        let key = (row.request.file.to_owned(), row.request.line, row.call.to_owned());
        listed.entry(key).or_default().push(json!(row));
    }
    let (mut calls, mut compared) = (0, 0);
    for (file, own) in &counts {
        for call in &own.calls {
            calls += 1;
            let key = (file.clone(), call.line, call.id.clone());
            let rows = listed.get_mut(&key).unwrap_or_else(|| panic!("{} of {file}:{} is not listed", call.id, call.line));
            let row = rows.pop().unwrap_or_else(|| panic!("{} of {file}:{} is listed too seldom", call.id, call.line));
            let same_id = own.calls.iter().filter(|other| other.id == call.id).count();
            compared += usize::from(call_agrees(&row, call, own.results.get(&call.id), same_id));
        }
    }
    for ((file, line, id), _) in listed.iter().filter(|(_, rows)| !rows.is_empty()) {
        let own = &counts[file];
        let known = own.service.contains(&(*line, id.clone())) || own.progress.contains(line) || own.refused.contains(line);
        assert!(known, "{id} of {file}:{line} is listed, but is no call");
    }
    println!("{calls} calls, {compared} of them compared in every point");
    assert!(compared * 10 > calls * 9, "{compared} of {calls}");
}

/// Holds a row against the record it was read from. Whether everything could be compared.
fn call_agrees(row: &Value, call: &Call, results: Option<&Vec<Answer>>, same_id: usize) -> bool {
    let time = |name: &str| row[name].as_str().map(|text| text.parse::<Timestamp>().unwrap());
    let place = format!("{} of {}", call.id, row["request"]);
    assert_eq!(time("requested_at"), call.time, "{place}");
    let Some(results) = results else {
        assert!(row["result"].is_null(), "{place} has no result in its file");
        return true;
    };
    if same_id == 1 {
        assert!(!row["result"].is_null(), "{place} has a result on line {}", results[0].line);
    }
    let [result] = results.as_slice() else {
        return false;
    };
    if same_id > 1 {
        return false;
    }
    assert_eq!(row["result"]["line"], result.line, "{place}");
    assert_eq!(row["result"]["file"], row["request"]["file"], "{place}");
    assert_eq!(row["is_error"], result.error, "{place}");
    assert_eq!(time("completed_at"), result.time, "{place}");
    let took = call.time.zip(result.time).map(|(start, end)| end.as_millisecond() - start.as_millisecond());
    // A history that was written again has no durations: its requests and results all have the time of the copy.
    let rewritten = row["duration_ms"].is_null() && took.is_some_and(|took| (0..=2).contains(&took));
    assert_eq!(row["duration_ms"].as_i64(), took.filter(|took| *took >= 0 && !rewritten), "{place}");
    true
}

#[test]
fn totals_are_what_they_were() {
    let Some(paths) = claude() else { return };
    let linker = scan(&paths);
    let linked = linker.link();
    let now = now();
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for row in linked.call_rows(&now, false) {
        let reason = row.reason.map_or("-", |reason| reason.word());
        *reasons.entry(format!("{} {reason}", row.status.word())).or_default() += 1;
    }
    let (mut issues, mut agents) = (BTreeMap::<&str, u64>::new(), BTreeMap::<&str, u64>::new());
    for row in linked.check_rows(&now) {
        *agents.entry(row.agent.unwrap_or("none")).or_default() += 1;
        for issue in row.issues {
            *issues.entry(issue.code.word()).or_default() += 1;
        }
    }
    let stats = linked.stats(&now);
    let totals = json!({
        "files": agents,
        "bytes": stats.bytes,
        "lines": stats.lines,
        "unparsed": stats.unparsed,
        "issues": issues,
        "sessions": stats.sessions,
        "turns": stats.turns,
        "calls": stats.calls,
        "copies": linked.calls.len() as u64 - stats.calls,
        "by_status_and_reason": reasons,
        "usage": stats.usage,
    });
    insta::assert_json_snapshot!("corpus_totals", totals);
}
