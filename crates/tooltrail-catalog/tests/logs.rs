//! Search over small invented logs: what counts as found, where, how often, and in which order.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

mod support;

use serde_json::{Value, json};
use std::fs;
use std::ops::ControlFlow;
use tempfile::TempDir;
use tooltrail_catalog::library::ScannedLibrary;
use tooltrail_catalog::search::{Field, HitTotals, Query, search};
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::link::Linker;

/// Logs in a directory of their own.
struct Logs(TempDir);

impl Logs {
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(home.path().join(name), bytes).unwrap();
        }
        Logs(home)
    }

    fn scan(&self) -> Linker {
        let (linker, problems) = scan::scan(&find::in_paths(&[self.0.path().to_owned()]).files, &Options::default(), &Progress::default());
        assert!(problems.is_empty(), "{problems:?}");
        linker
    }

    /// What a search finds, as JSON, and how much of it there is.
    fn ask(&self, query: &str, fields: &[Field]) -> (Vec<Value>, HitTotals) {
        ask(self.scan(), query, fields, 2)
    }

    /// The hits in short: `ref field line`.
    fn found(&self, query: &str) -> Vec<String> {
        self.ask(query, &[]).0.iter().map(short).collect()
    }
}

fn ask(linker: Linker, query: &str, fields: &[Field], threads: usize) -> (Vec<Value>, HitTotals) {
    let (disk, query) = (Disk::default(), Query::new(support::filter(query), fields));
    let mut hits = Vec::new();
    let totals = search(&ScannedLibrary::new(linker, &disk, None), &query, &support::later(), threads, |page| {
        hits.extend(page.iter().map(|hit| serde_json::to_value(hit).unwrap()));
        ControlFlow::Continue(())
    });
    (hits, totals.unwrap())
}

fn short(hit: &Value) -> String {
    format!("{} {} {}", hit["ref"].as_str().unwrap(), hit["field"].as_str().unwrap(), hit["line"])
}

/// Records as lines.
fn log(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

/// A record of a session at a second of a day.
fn record(session: &str, second: u32, kind: &str, content: Value) -> Value {
    let (minute, second) = (second / 60, second % 60);
    json!({"type": kind, "uuid": format!("{session}-{minute}-{second}"), "sessionId": session, "cwd": "/srv/app",
           "timestamp": format!("2026-03-04T10:{minute:02}:{second:02}.000Z"), "message": {"role": kind, "content": content}})
}

fn call(session: &str, second: u32, id: &str, tool: &str, input: Value) -> Value {
    record(session, second, "assistant", json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]))
}

fn result(session: &str, second: u32, id: &str, text: &str) -> Value {
    record(session, second, "user", json!([{"type": "tool_result", "tool_use_id": id, "content": text}]))
}

/// A session in which a command and a file are looked at.
fn session(name: &str) -> Vec<Value> {
    vec![
        record(name, 1, "user", json!("please look at the \"quoted\" parser")),
        record(name, 2, "assistant", json!([{"type": "thinking", "thinking": "Hmm, the lexer", "signature": "lexerlexer"}])),
        record(name, 3, "assistant", json!([{"type": "text", "text": "I will read\nthe lexer 🦀"}])),
        call(name, 4, &format!("{name}-1"), "Bash", json!({"command": "cargo test lexer", "description": "run"})),
        result(name, 5, &format!("{name}-1"), "1 passed\nall fine"),
        call(name, 6, &format!("{name}-2"), "Read", json!({"file_path": "/srv/app/lexer.rs"})),
        result(name, 7, &format!("{name}-2"), "fn lex() {}"),
    ]
}

#[test]
fn hits_say_what_where_and_when() {
    let logs = Logs::new(&[("s1.jsonl", log(&session("aaaa1111")))]);
    let (hits, totals) = logs.ask("LEXER", &[]);
    let short: Vec<String> = hits.iter().map(short).collect();
    assert_eq!(short, ["aaaa thinking 2", "aaaa text 3", "aaaa:1 input 4", "aaaa:2 path 6"]);
    assert_eq!(totals, HitTotals { hits: 4, calls: 2, messages: 2, sessions: 1 });
    let mut hit = hits[1].clone();
    assert!(hit["file"].as_str().unwrap().ends_with("s1.jsonl"));
    hit["file"] = json!("s1.jsonl");
    let expected = json!({"v": 1, "agent": "claude", "session": "aaaa1111", "ref": "aaaa", "call": null, "field": "text", "file": "s1.jsonl",
        "line": 3, "at": "2026-03-04T10:00:03.000Z", "snippet": "I will read\nthe lexer 🦀", "matches": [[16, 21]]});
    assert_eq!(hit, expected);
    assert_eq!((&hits[2]["call"], &hits[2]["ref"]), (&json!("aaaa1111-1"), &json!("aaaa:1")));
}

#[test]
fn all_terms_are_needed_in_one_call_or_one_message() {
    let logs = Logs::new(&[("s1.jsonl", log(&session("aaaa1111")))]);
    // The command has one word, its output the other.
    assert_eq!(logs.found("cargo fine"), ["aaaa:1 input 4", "aaaa:1 result 5"]);
    assert!(logs.found("cargo parser").is_empty());
    assert_eq!(logs.found(r#"parser "\"QUOTED\" p""#), ["aaaa prompt 1"]);
    assert_eq!(logs.found(r#"re:^the\s re:read$"#), ["aaaa text 3"]);
    assert_eq!(logs.found(r#"re:passed\s+all"#), ["aaaa:1 result 5"]);
    assert!(logs.found("case:Cargo").is_empty());
    assert!(logs.found("lexerlexer").is_empty(), "signatures are not searched");
    let fields = |fields: &[Field]| logs.ask("lexer", fields).0.iter().map(short).collect::<Vec<_>>();
    assert_eq!(fields(&[Field::Path]), ["aaaa:2 path 6"]);
    assert_eq!(fields(&[Field::Input, Field::Thinking]), ["aaaa thinking 2", "aaaa:1 input 4", "aaaa:2 path 6"]);
    assert!(fields(&[Field::Result]).is_empty());
}

#[test]
fn what_a_tool_produced_folds_into_its_call() {
    let mut answer = result("aaaa1111", 5, "t1", "seen by the model");
    answer["toolUseResult"] = json!({"stdout": "seen by the model, and more", "agentId": "more"});
    let logs = Logs::new(&[("s1.jsonl", log(&[call("aaaa1111", 4, "t1", "Bash", json!({"command": "more"})), answer]))]);
    assert_eq!(logs.found("model"), ["aaaa:1 result 2"]);
    assert_eq!(logs.found(r#""and more""#), ["aaaa:1 result 2"]);
    assert_eq!(logs.found("more"), ["aaaa:1 input 1"]);
    assert_eq!(logs.ask("more", &[Field::Result]).0.len(), 0);
}

#[test]
fn copies_are_found_once_where_they_began() {
    let (original, mut fork) = (session("aaaa1111"), session("aaaa1111"));
    fork.iter_mut().for_each(|record| record["sessionId"] = json!("bbbb2222"));
    fork.push(record("bbbb2222", 9, "user", json!("now the lexer of the fork")));
    let logs = Logs::new(&[("a.jsonl", log(&original)), ("b.jsonl", log(&fork))]);
    let (hits, totals) = logs.ask("lexer", &[]);
    let places: Vec<(&str, u64)> = hits.iter().map(|hit| (hit["ref"].as_str().unwrap(), hit["line"].as_u64().unwrap())).collect();
    assert_eq!(places, [("bbbb", 8), ("aaaa", 2), ("aaaa", 3), ("aaaa:1", 4), ("aaaa:2", 6)]);
    assert_eq!(totals.sessions, 2);
}

#[test]
fn commands_are_found_as_they_were_typed() {
    let typed =
        json!("<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>src deep</command-args>");
    let logs = Logs::new(&[("s1.jsonl", log(&[record("aaaa1111", 1, "user", typed)]))]);
    assert_eq!(logs.found(r#""review src""#), ["aaaa prompt 1"]);
}

#[test]
fn damaged_and_packed_logs_are_searched() {
    let lines: Vec<String> = session("aaaa1111").iter().map(Value::to_string).collect();
    let glued = format!("{}{}\n{{\"type\":\"us{}\n\n{}", lines[0], lines[2], lines[3], &lines[4][..40]);
    let codex = |kind: &str, payload: Value| json!({"timestamp": "2026-03-04T10:00:00.000Z", "type": kind, "payload": payload});
    let words = json!([{"type": "output_text", "text": "the lexer of codex"}]);
    let packed = log(&[
        codex("session_meta", json!({"id": "0199-c", "cwd": "/srv"})),
        codex("response_item", json!({"type": "message", "role": "assistant", "content": words})),
        codex("event_msg", json!({"type": "agent_message", "message": "the lexer of codex"})),
        codex(
            "response_item",
            json!({"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{\"command\":[\"grep\",\"a \\\"lexer\\\"\"]}"}),
        ),
    ]);
    let packed = zstd::encode_all(&*packed, 1).unwrap();
    let logs = Logs::new(&[("s1.jsonl", glued.into_bytes()), ("rollout-2026-03-04T10-00-00-0199-c.jsonl.zst", packed)]);
    let mut found = logs.found("lexer");
    found.sort();
    assert_eq!(found, ["0199 text 2", "0199:1 input 4", "aaaa text 1", "aaaa:1 input 2"]);
    assert_eq!(logs.found(r#""a \"lexer\"""#), ["0199:1 input 4"]);
}

#[test]
fn results_without_a_call_are_found_too() {
    let logs =
        Logs::new(&[("s1.jsonl", log(&[record("aaaa1111", 1, "user", json!("go")), result("aaaa1111", 5, "gone", "lost and found")]))]);
    let (hits, totals) = logs.ask("lost", &[]);
    assert_eq!((short(&hits[0]), &hits[0]["call"]), ("aaaa result 2".to_owned(), &json!("gone")));
    assert_eq!((totals.calls, totals.messages), (0, 1));
}

#[test]
fn the_newest_session_comes_first_on_any_number_of_threads() {
    let mut files = Vec::new();
    let names: Vec<String> = (0..9).map(|number| format!("s{number}.jsonl")).collect();
    for (number, name) in names.iter().enumerate() {
        let id = format!("{number}{number}{number}{number}-id");
        let second = ((number * 5) % 9) as u32 * 60;
        files.push((
            &**name,
            log(&[record(&id, second, "user", json!("a needle")), record(&id, second + 1, "user", json!("one more needle"))]),
        ));
    }
    let logs = Logs::new(&files);
    let (one, totals) = ask(logs.scan(), "needle", &[], 1);
    let times: Vec<&str> = one.iter().step_by(2).map(|hit| hit["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a > b), "{times:?}");
    assert_eq!((one.len(), totals.sessions), (18, 9));
    for threads in [2, 5] {
        assert_eq!(ask(logs.scan(), "needle", &[], threads).0, one);
    }
    // Whoever has enough may stop.
    let (disk, query) = (Disk::default(), Query::new(support::filter("needle"), &[]));
    let mut pages = 0;
    let totals = search(&ScannedLibrary::new(logs.scan(), &disk, None), &query, &support::later(), 2, |_| {
        pages += 1;
        ControlFlow::Break(())
    });
    assert_eq!((pages, totals.unwrap().hits), (1, 2));
}

#[test]
fn other_terms_decide_what_may_be_found() {
    let logs = Logs::new(&[("s1.jsonl", log(&session("aaaa1111")))]);
    assert_eq!(logs.found("lexer tool:Read"), ["aaaa:2 path 6"]);
    assert_eq!(logs.found("lexer not:tool:Read kind:shell,read"), ["aaaa:1 input 4"]);
    assert_eq!(logs.found("lexer not:kind:shell"), ["aaaa thinking 2", "aaaa text 3", "aaaa:2 path 6"]);
    assert_eq!(logs.found("lexer command:cargo"), ["aaaa:1 input 4"]);
    assert_eq!(logs.found("lexer since:2026-03-04T10:00:03Z until:2026-03-04T10:00:05Z"), ["aaaa text 3", "aaaa:1 input 4"]);
    assert!(logs.found("lexer project:other").is_empty() && logs.found("lexer agent:codex").is_empty());
    // What must not be there may stand in another record of the call.
    assert_eq!(logs.found("lexer not:passed"), ["aaaa thinking 2", "aaaa text 3", "aaaa:2 path 6"]);
    assert_eq!(logs.found("lexer not:🦀 not:hmm not:re:^fn"), ["aaaa:1 input 4"]);
}

#[test]
fn outputs_saved_beside_a_log_are_found() {
    let saved = "<persisted-output>\nOutput too large (80KB). Full output saved to: /elsewhere/tool-results/b1.txt\n\nPreview (first 2KB):\nthe beginning\n</persisted-output>";
    let records = [call("aaaa1111", 4, "t1", "Bash", json!({"command": "make"})), result("aaaa1111", 5, "t1", saved)];
    let logs = Logs::new(&[("aaaa1111.jsonl", log(&records))]);
    let beside = logs.0.path().join("aaaa1111/tool-results");
    fs::create_dir_all(&beside).unwrap();
    fs::write(beside.join("b1.txt"), "the beginning\nand \u{1f980} the very END").unwrap();
    assert_eq!(logs.found("\"very end\" make"), ["aaaa:1 input 1", "aaaa:1 result 2"]);
    assert_eq!(logs.found("beginning"), ["aaaa:1 result 2"], "what the model saw has it already");
    assert!(logs.found("beginning not:end").is_empty());
}
