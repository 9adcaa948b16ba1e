//! The demo as somebody would meet it: the built program, run with `--demo`.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Output};

fn tooltrail(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    // Whatever lies in the directory or the home of whoever runs the tests must not matter.
    command.args(arguments).env("TZ", "UTC").env("HOME", "/");
    command.current_dir(std::env::temp_dir()).output().unwrap()
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    let output = tooltrail(arguments);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str(line).unwrap());
    rows.collect()
}

fn text<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or("-")
}

#[test]
fn the_demo_shows_every_outcome() {
    let calls = rows(&["--demo", "calls", "--json"]);
    let shown: BTreeSet<(&str, &str)> = calls.iter().map(|row| (text(row, "status"), text(row, "reason"))).collect();
    let expected = [
        ("succeeded", "-"),
        ("failed", "tool_error"),
        ("failed", "exit_code"),
        ("failed", "invalid_input"),
        ("failed", "unknown_tool"),
        ("failed", "precondition"),
        ("failed", "too_large"),
        ("failed", "mcp_error"),
        ("answered", "no_outcome_recorded"),
        ("rejected", "user"),
        ("rejected", "user_feedback"),
        ("rejected", "after_rejection"),
        ("blocked", "hook"),
        ("blocked", "permission_rule"),
        ("blocked", "auto_mode"),
        ("blocked", "not_granted"),
        ("cancelled", "sibling_failed"),
        ("cancelled", "stream_discarded"),
        ("interrupted", "user"),
        ("interrupted", "handover"),
        ("timed_out", "timeout"),
        ("running", "awaiting_result"),
        ("running", "awaiting_permission"),
        ("unanswered", "log_ends"),
        ("unanswered", "conversation_moved_on"),
        ("unanswered", "api_error"),
        ("unanswered", "log_truncated"),
    ];
    assert_eq!(shown, expected.into_iter().collect());
}

#[test]
fn the_demo_shows_what_else_a_call_can_have() {
    let calls = rows(&["--demo", "calls", "--json"]);
    let some = |what: &str, holds: &dyn Fn(&Value) -> bool| {
        assert!(calls.iter().any(holds), "no call {what}");
    };
    some("of a subagent", &|row| row["parent_call"].is_string());
    some("that starts one", &|row| row["child_session"].is_string());
    some("with hooks", &|row| row["hooks"][0]["event"].is_string());
    some("beside others", &|row| row["parallel"].as_u64() > Some(2));
    some("with an exit code", &|row| row["exit_code"] == 101);
    some("on the service's side", &|row| row["tool"] == "web_search");
    for state in ["completed", "failed", "running"] {
        some(state, &|row| row["background"]["state"] == state);
    }
    let copies = rows(&["--demo", "calls", "--json", "--copies"]);
    let copied = copies.iter().filter(|row| row["copy_of"].is_object());
    assert_eq!(copied.count(), copies.len() - calls.len());
    assert!(copies.len() > calls.len());
}

#[test]
fn the_demo_has_a_session_of_codex() {
    let calls = rows(&["--demo", "calls", "--json"]);
    let codex: Vec<&Value> = calls.iter().filter(|row| row["agent"] == "codex").collect();
    let some = |what: &str, holds: &dyn Fn(&Value) -> bool| {
        assert!(codex.iter().any(|row| holds(row)), "no call {what}");
    };
    some("with a patch", &|row| row["tool"] == "apply_patch" && row["status"] == "succeeded");
    some("that fails", &|row| row["exit_code"] == 101 && row["status"] == "failed");
    some("that is stopped", &|row| row["status"] == "interrupted");
    some("that starts an agent", &|row| row["child_session"].is_string() && row["background"]["state"] == "completed");
    some("of that agent", &|row| row["parent_call"].is_string() && row["agent_id"].is_string());
    some("that goes on as a task", &|row| row["background"]["exit_code"] == 0);
}

#[test]
fn sessions_totals_and_calls_of_the_demo_agree() {
    let rows_of_calls = rows(&["--demo", "calls", "--json"]);
    // Calls in scripts are counted apart.
    let calls = rows_of_calls.iter().filter(|row| row["origin"] == "log").count() as u64;
    let sessions = rows(&["--demo", "list", "--json"]);
    assert_eq!(sessions.len(), 12);
    assert!(sessions.iter().all(|row| row["title"].is_string() && row["project"].is_string()));
    let listed: u64 = sessions.iter().map(|row| row["calls"].as_u64().unwrap()).sum();
    assert_eq!(listed, calls);
    let stats = rows(&["--demo", "stats", "--json"]);
    assert_eq!(stats.len(), 1);
    assert_eq!(stats[0]["calls"], calls);
    assert_eq!(stats[0]["sessions"], 12);
    assert_eq!(stats[0]["usage"].as_object().unwrap().len(), 4);
}

#[test]
fn check_accounts_for_every_line_of_the_demo() {
    let sources = rows(&["--demo", "check", "--json"]);
    assert_eq!(sources.len(), 16);
    let number = |row: &Value, key: &str| row[key].as_u64().unwrap();
    for row in &sources {
        let records = row["records"].as_object().unwrap().values();
        let records: u64 = records.map(|count| count.as_u64().unwrap()).sum();
        let sum = number(row, "blank") + records + number(row, "unparsed");
        assert_eq!(number(row, "lines"), sum, "{}", row["file"]);
        assert_eq!(number(row, "unknown_records"), 0, "{}", row["file"]);
    }
    let unparsed: u64 = sources.iter().map(|row| number(row, "unparsed")).sum();
    assert_eq!(unparsed, 1, "the line that the crash tore");
    // A log that a crash tore is a reason to fail.
    assert_eq!(tooltrail(&["--demo", "check"]).status.code(), Some(1));
}

#[test]
fn the_demo_alone_prints_a_summary() {
    let output = tooltrail(&["--demo"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("tool calls"), "{text}");
    for word in ["succeeded", "failed", "rejected", "running", "unanswered"] {
        assert!(text.contains(word), "no `{word}` in\n{text}");
    }
    assert!(text.contains("claude-sonnet-5"), "{text}");
}

/// What docs/json.md says about `export --to json` and `show --json`, held against what the program writes.
#[test]
fn the_document_on_json_names_every_field() {
    let document = include_str!("../../../docs/json.md");
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut add = |value: &Value| names.extend(value.as_object().into_iter().flatten().map(|(name, _)| name.clone()));
    let mut printed = String::new();
    for session in rows(&["--demo", "list", "--json"]) {
        let output = tooltrail(&["--demo", "show", text(&session, "session"), "--json"]);
        let whole = String::from_utf8(output.stdout).unwrap();
        let parsed: Value = serde_json::from_str(&whole).unwrap();
        add(&parsed);
        parsed["turns"].as_array().unwrap().iter().for_each(&mut add);
        let verdict = &parsed["verdict"];
        [verdict, &verdict["test"], &verdict["changed"]].into_iter().for_each(&mut add);
        verdict["claims"].as_array().unwrap().iter().for_each(&mut add);
        for entry in parsed["entries"].as_array().unwrap() {
            add(entry);
            add(&entry["side"]);
            entry["hooks"].as_array().into_iter().flatten().chain([&entry["hook"]]).for_each(&mut add);
            entry["seen"].as_array().into_iter().flatten().for_each(&mut add);
            assert!(document.contains(&format!("| `{0}`", text(entry, "type"))) || text(entry, "type") == "thinking", "{entry}");
        }
        printed.push_str(&whole);
    }
    for call in rows(&["--demo", "show", "3f2a:10", "--json"]) {
        add(&call);
        add(&call["view"]);
        add(&call["view"]["head"]);
    }
    for name in &names {
        assert!(document.contains(&format!("`{name}`")), "docs/json.md does not tell `{name}`");
    }
    let examples: Vec<&str> = document.lines().filter(|line| line.starts_with("{\"type\"") && !line.contains('…')).collect();
    assert_eq!(examples.len(), 2);
    for line in examples {
        assert!(printed.contains(line), "docs/json.md shows what is not printed: {line}");
    }
}

#[test]
fn the_last_words_of_a_turn_are_shown_once() {
    let output = tooltrail(&["--demo", "show", "019cb4"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(shown.matches("Fixed").count(), 1, "{shown}");
}

#[test]
fn the_demo_is_small() {
    let logs = rows(&["--demo", "check", "--json"]);
    let bytes: u64 = logs.iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
    assert!(bytes < 200_000, "{bytes} bytes of demo in the program");
}
