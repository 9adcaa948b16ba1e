//! Holds the corpus to what real logs were measured to have, and to being the same every time.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tooltrail_testkit::corpus::{CorpusPlan, Long, WrittenAmounts, generate, long_session};
use tooltrail_testkit::floor::{logs_below, newline_floor};

/// A directory of this test's own, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tooltrail-corpus-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Every log's path below `out`, and its text.
fn logs(out: &Path) -> HashMap<PathBuf, String> {
    logs_below(out)
        .unwrap()
        .into_iter()
        .map(|path| (path.strip_prefix(out).unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

fn corpus(name: &str, bytes: u64, seed: u64) -> (WrittenAmounts, HashMap<PathBuf, String>) {
    let out = Scratch::new(name);
    let written = generate(&out.0, &CorpusPlan { bytes, seed }).unwrap();
    (written, logs(&out.0))
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    let first = corpus("first", 2_000_000, 7);
    assert!(first == corpus("second", 2_000_000, 7));
    assert!(first.1 != corpus("other", 2_000_000, 8).1);
}

#[test]
fn what_was_written_is_what_is_there() {
    let out = Scratch::new("count");
    let written = generate(&out.0, &CorpusPlan { bytes: 3_000_000, seed: 1 }).unwrap();
    let paths = logs_below(&out.0).unwrap();
    assert_eq!(paths.len() as u64, written.files);
    for threads in [0, 1, 3] {
        assert_eq!(newline_floor(&paths, threads).unwrap(), (written.bytes, written.lines));
    }
    assert!((3_000_000..3_600_000).contains(&written.bytes), "{written:?}");
}

#[test]
fn a_long_session_has_the_rows_it_was_asked_for() {
    let make = |name: &str, seed| {
        let out = Scratch::new(name);
        let file = out.0.join("long.jsonl");
        let written = long_session(&file, &Long { rows: 800, seed }).unwrap();
        (written, logs(&out.0))
    };
    let (written, logs) = make("long", 1);
    assert!(make("long-again", 1) == (written, logs.clone()) && make("long-other", 2).1 != logs);
    assert_eq!(logs.len() as u64, written.files);
    assert_eq!(logs.values().map(String::len).sum::<usize>() as u64, written.bytes);
    assert_eq!(logs.values().flat_map(|text| text.lines()).count() as u64, written.lines);
    let records: Vec<Value> = logs.values().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows = |record: &&Value| record["type"] == "assistant" || record["message"]["content"].is_string();
    let rows = records.iter().filter(rows).count();
    assert!((800..900).contains(&rows), "{rows} rows");
    assert!(written.bytes < 2_800_000, "{written:?}");
}

#[test]
fn lines_have_the_measured_mix_and_lengths() {
    let (written, logs) = corpus("mix", 40_000_000, 1);
    let (mut lengths, mut structured, mut backslashes) = (Vec::new(), 0, 0);
    let mut bytes: HashMap<String, usize> = HashMap::new();
    for line in logs.values().flat_map(|text| text.lines()) {
        let record: Value = serde_json::from_str(line).unwrap();
        lengths.push(line.len());
        *bytes.entry(record["type"].as_str().unwrap().to_owned()).or_default() += line.len();
        backslashes += line.matches('\\').count();
        // From its key on; what follows the value is short.
        structured += line.rfind("\"toolUseResult\":").map_or(0, |at| line.len() - at);
    }
    lengths.sort_unstable();
    let total = written.bytes as usize;
    let share = |part: usize| part * 100 / total;
    let at = |per_mille: usize| lengths[lengths.len() * per_mille / 1000];
    let figures = [
        ("median line", at(500), 1000..=1450),
        ("line, 90 %", at(900), 6000..=8500),
        ("line, 99 %", at(990), 20_000..=32_000),
        ("mean line", total / lengths.len(), 2900..=3800),
        ("toolUseResult, % of bytes", share(structured), 36..=45),
        ("user, % of bytes", share(bytes["user"]), 65..=76),
        ("assistant, % of bytes", share(bytes["assistant"]), 18..=27),
        ("progress, % of bytes", share(bytes["progress"]), 4..=9),
        ("backslashes in 10,000 bytes", backslashes * 10_000 / total, 170..=250),
    ];
    for (name, figure, expected) in figures {
        assert!(expected.contains(&figure), "{name}: {figure}, expected {expected:?}");
    }
}

#[test]
fn calls_have_one_result_or_none_and_ids_are_unique() {
    let (_, logs) = corpus("calls", 20_000_000, 3);
    let (mut calls, mut results, mut errors) = (HashSet::new(), HashSet::new(), 0);
    let mut outputs: HashMap<String, Vec<u64>> = HashMap::new();
    for line in logs.values().flat_map(|text| text.lines()) {
        let record: Value = serde_json::from_str(line).unwrap();
        let message = &record["message"];
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str().unwrap() {
                "tool_use" => assert!(calls.insert(block["id"].clone()), "{block}"),
                "tool_result" => {
                    assert!(results.insert(block["tool_use_id"].clone()), "{block}");
                    errors += usize::from(block["is_error"] == true);
                }
                _ => {}
            }
        }
        if let Some(output) = message["usage"]["output_tokens"].as_u64() {
            outputs.entry(message["id"].to_string()).or_default().push(output);
        }
    }
    assert!(results.is_subset(&calls));
    let lost = calls.len() - results.len();
    assert!((1..calls.len() / 50).contains(&lost), "{lost} of {}", calls.len());
    assert!((calls.len() / 50..calls.len() / 15).contains(&errors), "{errors}");
    assert!(outputs.values().all(|outputs| outputs.is_sorted()));
    assert!(outputs.values().any(|outputs| outputs.first() < outputs.last()));
}

#[test]
fn subagents_belong_to_a_session_and_repeat_what_was_told() {
    let (_, logs) = corpus("agents", 20_000_000, 3);
    let mut seen = 0;
    for (path, text) in &logs {
        let Some(id) = path.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("agent-")) else {
            continue;
        };
        seen += 1;
        let parent_path = path.parent().unwrap().parent().unwrap().with_extension("jsonl");
        let parent = &logs[&parent_path];
        let session = parent_path.file_stem().unwrap().to_str().unwrap();
        for line in text.lines().filter(|line| line.starts_with("{\"parentUuid\"")) {
            let record: Value = serde_json::from_str(line).unwrap();
            assert_eq!(record["agentId"], id);
            assert_eq!(record["sessionId"], session);
            assert_eq!(record["isSidechain"], true);
        }
        let told: Vec<Value> = parent
            .lines()
            .filter(|line| line.contains("\"agent_progress\"") && line.contains(id))
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["data"]["message"]["message"].clone())
            .collect();
        assert!(!told.is_empty());
        for message in told {
            let call = message["content"][0]["id"].as_str().unwrap();
            assert!(text.contains(call), "{call} is not in the log of {id}");
        }
    }
    assert!(seen > 3, "{seen} subagents");
}
