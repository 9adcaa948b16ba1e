//! Real Codex logs, where they lie beside the repository, held against a naive count with serde_json. Nothing of them is kept but
//! totals.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report
#![allow(clippy::print_stdout)] // says what was compared

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::{Linker, Now, Time};

fn scanned() -> Option<Linker> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return None;
    }
    let search = find::in_paths(&[root.join("real/codex"), root.join("fixtures/codex")]);
    assert!(search.problems.is_empty(), "{:?}", search.problems);
    let (linker, problems) = scan::scan(&search.files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    Some(linker)
}

/// Long after every log.
fn now() -> Now {
    Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap())
}

/// What a log holds, by a reading that knows nothing but item types.
#[derive(Default)]
struct Counted {
    /// Calls: line and id.
    calls: Vec<(u64, String)>,
    /// The first output for each id: line and, where it states one, exit code.
    outputs: BTreeMap<String, (u64, Option<i64>)>,
    /// End events by id, which may be the only record of a call.
    ends: BTreeSet<String>,
}

fn count(text: &str) -> Counted {
    let mut out = Counted::default();
    for (number, line) in (1..).zip(text.split('\n')) {
        let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
        let payload = &record["payload"];
        let kind = payload["type"].as_str().unwrap_or_default();
        let id = payload["call_id"].as_str().or(payload["id"].as_str()).map(str::to_owned);
        match (record["type"].as_str(), id) {
            (Some("response_item"), Some(id)) if kind.ends_with("_call") => out.calls.push((number, id)),
            (Some("response_item"), Some(id)) if kind.ends_with("_output") => {
                out.outputs.entry(id).or_insert((number, exit_code(&payload["output"])));
            }
            (Some("event_msg"), Some(id)) if kind.ends_with("_end") => {
                out.ends.insert(id);
            }
            _ => {}
        }
    }
    out
}

/// The exit code that an output states.
fn exit_code(output: &Value) -> Option<i64> {
    let text = output.as_str().or_else(|| output[0]["text"].as_str()).unwrap_or_default();
    let inner = serde_json::from_str::<Value>(text).unwrap_or_default();
    if let Some(code) = inner["metadata"]["exit_code"].as_i64().or(output["metadata"]["exit_code"].as_i64()) {
        return Some(code);
    }
    let head = text.split("\nOutput:").next().unwrap_or_default();
    let stated = head.lines().filter_map(|line| line.strip_prefix("Exit code: ").or(line.strip_prefix("Process exited with code ")));
    stated.filter_map(|code| code.trim().parse().ok()).next()
}

#[test]
fn every_call_is_listed_once_and_every_output_is_paired() {
    let Some(linker) = scanned() else { return };
    let linked = linker.link();
    let now = now();
    let mut listed: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    // The calls in a script have no records of their own to be counted.
    for row in linked.call_rows(&now, true).filter(|row| !row.is_inner()) {
        listed.entry((row.request.file.to_owned(), row.call.to_owned())).or_default().push(json!(row));
    }
    let (mut calls, mut paired, mut codes) = (0, 0, 0);
    for source in linker.sources().filter(|source| source.summary.agent == Some("codex")) {
        let own = count(&String::from_utf8_lossy(&fs::read(&*source.path).unwrap()));
        let mut known: BTreeSet<&str> = own.ends.iter().map(String::as_str).collect();
        for (line, id) in &own.calls {
            let place = format!("{id} of {}:{line}", source.path);
            let rows = listed.get(&(source.path.to_string(), id.clone())).unwrap_or_else(|| panic!("{place} is not listed"));
            assert_eq!(rows.len(), 1, "{place}");
            let row = &rows[0];
            assert_eq!(row["request"]["line"], *line, "{place}");
            calls += 1;
            known.insert(id);
            let Some((output, code)) = own.outputs.get(id) else { continue };
            assert_eq!(row["result"]["line"], *output, "{place}");
            paired += 1;
            if let Some(code) = code {
                assert_eq!(row["exit_code"], *code, "{place}");
                codes += 1;
            }
        }
        let of_file = listed.keys().filter(|(file, _)| **file == *source.path);
        let strange: Vec<_> = of_file.filter(|(_, id)| !known.contains(id.as_str()) && !id.starts_with("line-")).collect();
        assert!(strange.is_empty(), "listed, but no call: {strange:?}");
    }
    println!("{calls} call items, {paired} outputs, {codes} exit codes");
    assert!(calls > 1000 && codes > 800);
}

#[test]
fn totals_are_what_they_were() {
    let Some(linker) = scanned() else { return };
    let linked = linker.link();
    let now = now();
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut tasks: BTreeMap<String, u64> = BTreeMap::new();
    let (mut inner_reasons, mut inner_calls, mut rows) = (BTreeMap::<String, u64>::new(), 0, 0);
    for row in linked.call_rows(&now, false) {
        let reason = row.reason.map_or("-", |reason| reason.word());
        let counted = if row.is_inner() { &mut inner_reasons } else { &mut reasons };
        *counted.entry(format!("{} {reason}", row.status.word())).or_default() += 1;
        *if row.is_inner() { &mut inner_calls } else { &mut rows } += 1;
        if let Some(task) = row.background {
            *tasks.entry(json!(task.state).as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    let stats = linked.stats(&now);
    assert_eq!(stats.calls, rows, "calls in scripts are counted apart");
    let copies = linked.calls.iter().filter(|call| call.copy_of.is_some() && !call.id.is_inner()).count();
    let by_tool: BTreeMap<_, _> = stats.by_tool.iter().map(|(tool, stats)| (tool, stats.calls)).collect();
    let totals = json!({
        "sources": stats.sources,
        "bytes": stats.bytes,
        "lines": stats.lines,
        "unparsed": stats.unparsed,
        "sessions": stats.sessions,
        "turns": stats.turns,
        "calls": stats.calls,
        "copies": copies,
        "by_status_and_reason": reasons,
        "inner_calls": inner_calls,
        "inner_by_status_and_reason": inner_reasons,
        "by_tool": by_tool,
        "background": tasks,
        "usage": stats.usage,
    });
    insta::assert_json_snapshot!("corpus_totals_codex", totals);
}
