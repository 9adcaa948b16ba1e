//! `search` as people and scripts meet it: what is looked for and where, what is printed, and how it exits.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A home directory with one session in it.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-srv-app");
    fs::create_dir_all(&folder).unwrap();
    let record = |second: u32, kind: &str, content: Value| {
        json!({"type": kind, "uuid": format!("u{second}"), "sessionId": "3f2a0000-0000-4000-8000-000000000001", "cwd": "/srv/app",
               "timestamp": format!("2026-03-04T10:00:{second:02}.000Z"), "message": {"role": kind, "content": content}})
    };
    let hostile = "evil \u{1b}[2J\u{1b}]0;title\u{7} needle \u{202e}txt.exe\nsecond line";
    let records = [
        record(1, "user", json!("Fix the flaky test, please")),
        record(2, "assistant", json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cargo test flaky"}}])),
        record(3, "user", json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": hostile}])),
        record(4, "assistant", json!([{"type": "text", "text": "The FLAKY test is fixed."}])),
    ];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    fs::write(folder.join("3f2a0000-0000-4000-8000-000000000001.jsonl"), lines).unwrap();
    home
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.arg("search").args(arguments).env_clear().env("HOME", home).current_dir(home).stdin(Stdio::null());
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn hits(output: &Output) -> Vec<Value> {
    text(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn hits_are_grouped_and_counted() {
    let home = home();
    let output = run(home.path(), &["flaky"]);
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("Fix the flaky test, please  3f2a · claude · 2026-03-04"), "{printed}");
    assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["3f2a:1", "input", "cargo", "test", "flaky"]);
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said(&output), "3 hits in 1 call and 2 messages of 1 session\n");
    let shorter = run(home.path(), &["flaky", "-n", "1"]);
    assert_eq!(said(&shorter), "3 hits in 1 call and 2 messages of 1 session; showing the first 1, -n 0 shows all\n");
    // Sessions alone, with and without their number of hits.
    assert!(text(&run(home.path(), &["-l", "flaky"])).starts_with("3f2a  2026-03-04"), "{printed}");
    assert!(text(&run(home.path(), &["--count", "flaky"])).starts_with("     3  3f2a  2026-03-04"), "{printed}");
    assert_eq!(hits(&run(home.path(), &["--count", "flaky", "--json"]))[0]["hits"], 3);
    // Case is ignored unless it is asked for, and the last of two options counts.
    assert_eq!(run(home.path(), &["fLaKy", "-i"]).status.code(), Some(0));
    assert_eq!(run(home.path(), &["fLaKy", "--case"]).status.code(), Some(1));
    assert_eq!(run(home.path(), &["fLaKy", "--case", "-i"]).status.code(), Some(0));
    // Whole lines below the name of the call.
    let whole = text(&run(home.path(), &["flaky", "-C", "1"]));
    assert!(whole.contains("\n  3f2a:1  input\n    cargo test flaky\n"), "{whole}");
}

#[test]
fn the_exit_status_is_that_of_grep() {
    let home = home();
    let nothing = run(home.path(), &["zebra"]);
    assert_eq!((nothing.status.code(), text(&nothing).as_str()), (Some(1), ""));
    assert_eq!(String::from_utf8_lossy(&nothing.stderr), "no matches\n");
    assert_eq!(run(home.path(), &["zebra", "--json"]).status.code(), Some(1));
    let wrong = run(home.path(), &["--regex", "a(b"]);
    assert_eq!(wrong.status.code(), Some(2));
    let said = "error: invalid regular expression: unclosed group\n  a(b\n  ^^^\n";
    assert_eq!(String::from_utf8_lossy(&wrong.stderr), said);
    for arguments in [&[][..], &[""], &["a", "--field", "colour"], &["a", "./no-such-file.jsonl"]] {
        assert_eq!(run(home.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
    let fields = run(home.path(), &["tool:Bash", "not:zebra"]);
    assert_eq!(fields.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&fields.stderr).starts_with("error: no search text: "));
    let none = tempfile::tempdir().unwrap();
    assert_eq!(run(none.path(), &["flaky"]).status.code(), Some(2));
}

#[test]
fn words_phrases_patterns_case_and_fields() {
    let home = home();
    let count = |arguments: &[&str]| hits(&run(home.path(), &[arguments, &["--json"]].concat())).len();
    assert_eq!(count(&["flaky"]), 3);
    assert_eq!(count(&["flaky", "fixed"]), 1);
    assert_eq!(count(&["cargo", "second"]), 2, "one word in the input, the other in the result");
    assert_eq!(count(&["flaky test"]), 2);
    assert_eq!(count(&["\"flaky test\""]), 2);
    assert_eq!(count(&["re:^second"]), 1);
    assert_eq!(count(&["--regex", r"needle\s", "line$"]), 1);
    assert_eq!(count(&["--case", "FLAKY"]), 1);
    assert_eq!(count(&["case:FLAKY"]), 1);
    assert_eq!(count(&["--case", "--regex", "FL[A-Z]+", "case:test"]), 1);
    assert_eq!(count(&["flaky", "--field", "prompt,input"]), 2);
    assert_eq!(count(&["flaky", "tool:Bash"]), 1);
    assert_eq!(count(&["not:cargo", "flaky"]), 2);
    assert_eq!(count(&["flaky kind:shell,read"]), 1, "terms in one piece");
    assert_eq!(count(&["flaky", "since:2026-03-05"]), 0);
    assert_eq!(count(&["re:cargo|please", "project:app", "status:succeeded"]), 1);
    assert_eq!(count(&["flaky", "-n", "2"]), 2);
}

#[test]
fn the_first_word_is_always_looked_for() {
    let home = home();
    fs::write(home.path().join("flaky"), "").unwrap();
    let log = ".claude/projects/-srv-app/3f2a0000-0000-4000-8000-000000000001.jsonl";
    assert_eq!(hits(&run(home.path(), &["flaky", log, "--json"])).len(), 3);
    assert_eq!(hits(&run(home.path(), &["flaky", "--json"])).len(), 3);
}

/// The same words give the same calls and sessions, whichever command they are given to.
#[test]
fn calls_list_and_search_agree() {
    let home = home();
    let rows = |command: &str, query: &[&str], key: &str| -> BTreeSet<String> {
        let mut program = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        program.args(["--demo", command, "--json"]).args(query).env_clear().env("HOME", home.path()).stdin(Stdio::null());
        let found = hits(&program.output().unwrap()).into_iter();
        let found = found.filter(|row| command != "search" || key == "session" || row["ref"].as_str().unwrap().contains(':'));
        found.map(|row| row[key].as_str().unwrap().to_owned()).collect()
    };
    let queries: &[&[&str]] = &[
        &["test"],
        &["error warning"],
        &["error", "not:warning"],
        &["status:failed", "error"],
        &["re:^error", "kind:shell"],
        &["cargo check", "purpose:test,build"],
        &["case:Error"],
        &["agent:codex", "src"],
        &["the", "has:masked"],
    ];
    for query in queries {
        let calls = rows("search", query, "ref");
        assert_eq!(calls, rows("calls", query, "ref"), "{query:?}");
        assert_eq!(rows("search", query, "session"), rows("list", query, "session"), "{query:?}");
    }
    assert!(!rows("search", queries[3], "ref").is_empty());
}

#[test]
fn json_is_the_contract_and_can_be_pasted_back() {
    let home = home();
    let found = hits(&run(home.path(), &["needle", "--json"]));
    let keys: Vec<&String> = found[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["v", "agent", "session", "ref", "call", "field", "file", "line", "at", "snippet", "matches"]);
    let hit = &found[0];
    let snippet: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
    let place = |side: usize| usize::try_from(hit["matches"][0][side].as_u64().unwrap()).unwrap();
    assert_eq!(String::from_iter(&snippet[place(0)..place(1)]), "needle");
    let mut show = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    show.args(["show", hit["ref"].as_str().unwrap()]).env_clear().env("HOME", home.path()).stdin(Stdio::null());
    assert!(text(&show.output().unwrap()).contains("cargo test flaky"));
}

#[test]
fn nothing_of_a_log_acts_on_a_terminal() {
    let home = home();
    let plain = text(&run(home.path(), &["needle", "--color", "never"]));
    assert!(plain.contains("needle") && !plain.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{plain:?}");
    let coloured = text(&run(home.path(), &["needle", "--color", "always"]));
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31mneedle\u{1b}[0m"), "{coloured:?}");
    assert!(!coloured.contains("\u{1b}[2J") && !coloured.contains("\u{1b}]0"), "{coloured:?}");
}

#[test]
fn times_are_options_too() {
    let home = home();
    let count = |arguments: &[&str]| hits(&run(home.path(), &[&["flaky", "--json"], arguments].concat())).len();
    assert_eq!(count(&["--since", "2026-03-04T10:00:02Z"]), 2);
    assert_eq!(count(&["--until", "2026-03-04T10:00:02Z"]), 1);
    assert_eq!(count(&["--since", "2026-03-04T10:00:02Z", "--until", "2026-03-04T10:00:03Z"]), 1);
}
