//! Scripts of real Codex logs, where they lie beside the repository, held against a naive reading of their outputs: every script is listed, and
//! none whose output, or that of a `wait` on it, states an exit code other than 0 is said to have succeeded. Nothing of them is kept but totals.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report
#![allow(clippy::print_stdout)] // says what was compared

use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::{Now, Status, Time};

/// Spellings of an exit code in an output, whoever printed it.
const EXIT_CODE: &str = r#"(?i)(?:"?exit_?code"?\s*[:=]|exited with code|exit code:?|\bexit\s*[:=])\s*(-?\d+)"#;

/// A script of a log: the line of its call, and what it and every `wait` on it printed.
struct PrintedScript {
    line: u64,
    printed: String,
}

fn items(output: &Value) -> Vec<String> {
    let text = |item: &Value| item.as_str().or(item["text"].as_str()).unwrap_or_default().to_owned();
    output.as_array().map_or_else(|| vec![text(output)], |items| items.iter().map(text).collect())
}

fn scripts(log: &str) -> Vec<PrintedScript> {
    let mut scripts: Vec<PrintedScript> = Vec::new();
    // Scripts by the call whose output is theirs, and by the cell that a `wait` names.
    let (mut calls, mut cells) = (HashMap::<String, usize>::new(), HashMap::<String, usize>::new());
    for (line, text) in (1..).zip(log.split('\n')) {
        let Ok(record) = serde_json::from_str::<Value>(text) else { continue };
        let payload = &record["payload"];
        let Some(id) = payload["call_id"].as_str().map(str::to_owned) else { continue };
        match (payload["type"].as_str(), payload["name"].as_str()) {
            (Some("custom_tool_call"), Some("exec")) => {
                calls.insert(id, scripts.len());
                scripts.push(PrintedScript { line, printed: String::new() });
            }
            (Some("function_call"), Some("wait")) => {
                let arguments: Value = serde_json::from_str(payload["arguments"].as_str().unwrap_or_default()).unwrap_or_default();
                if let Some(at) = arguments["cell_id"].as_str().and_then(|cell| cells.get(cell)) {
                    calls.insert(id, *at);
                }
            }
            (Some("custom_tool_call_output" | "function_call_output"), _) => {
                let Some(at) = calls.get(&id) else { continue };
                let items = items(&payload["output"]);
                let cell = items.first().and_then(|first| first.strip_prefix("Script running with cell ID "));
                if let Some(cell) = cell.and_then(|rest| rest.split_whitespace().next()) {
                    cells.insert(cell.to_owned(), *at);
                }
                scripts[*at].printed += &items.join("\n");
            }
            _ => {}
        }
    }
    scripts
}

#[test]
fn no_script_succeeds_over_an_exit_code_that_it_printed() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real/codex");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return;
    }
    let (linker, _) = scan::scan(&find::in_paths(&[root]).files, &Options::default(), &Progress::default());
    let linked = linker.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let mut listed: HashMap<(String, u64), Vec<Status>> = HashMap::new();
    let mut inner = 0;
    for row in linked.call_rows(&now, true) {
        if row.is_inner() {
            inner += 1;
            continue;
        }
        listed.entry((row.request.file.to_string(), row.request.line)).or_default().push(row.status);
    }
    let exit_code = Regex::new(EXIT_CODE).unwrap();
    let (mut all, mut statuses, mut stated) = (0, BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
    for source in linker.sources() {
        let log = String::from_utf8_lossy(&fs::read(&*source.path).unwrap()).into_owned();
        for script in scripts(&log) {
            let place = format!("{}:{}", source.path, script.line);
            let [status] = listed.get(&(source.path.to_string(), script.line)).map_or(&[][..], Vec::as_slice) else {
                panic!("{place} is not listed once");
            };
            all += 1;
            *statuses.entry(status.word()).or_default() += 1;
            let is_failed = exit_code.captures_iter(&script.printed).any(|found| found[1].parse::<i64>().is_ok_and(|code| code != 0));
            if is_failed {
                *stated.entry(status.word()).or_default() += 1;
                assert_ne!(*status, Status::Succeeded, "{place} printed an exit code other than 0");
            }
        }
    }
    println!("{all} scripts, {inner} rows of calls in them; {statuses:?}; with an exit code other than 0 in the output: {stated:?}");
    assert!(all > 500 && stated.get("failed").is_some_and(|failed| *failed > 10), "{statuses:?} {stated:?}");
}
