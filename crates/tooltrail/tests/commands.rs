//! What `calls` tells of the commands that shell calls ran: in JSON, in the table, and in order on any number of threads.

#![allow(clippy::unwrap_used)] // a panic is the report

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// A log whose calls ran these commands, all of which succeeded.
fn log(commands: impl Iterator<Item = String>) -> String {
    let record = |line: usize, kind: &str, content: Value| {
        let time = format!("2026-03-04T{:02}:{:02}:{:02}.000Z", line / 3600, line / 60 % 60, line % 60);
        let message = json!({"role": kind, "content": content, "id": format!("msg_{line}"), "model": "m"});
        let place = json!({"sessionId": "s1", "cwd": "/srv/app", "version": "2.1.250", "uuid": format!("u{line}"), "timestamp": time});
        let mut record = json!({"type": kind, "message": message, "isSidechain": false});
        record.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let calls = commands.enumerate().flat_map(|(index, command)| {
        let id = format!("toolu_{index}");
        let asked = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]);
        let answer = json!([{"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": false}]);
        [record(2 * index + 1, "assistant", asked), record(2 * index + 2, "user", answer)]
    });
    std::iter::once(record(0, "user", json!("go on"))).chain(calls).collect()
}

fn run(home: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).current_dir(home).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_success_that_is_not_the_tests_is_told() {
    let home = tempfile::tempdir().unwrap();
    let commands = ["cd api && cargo test 2>&1 | tail -5", "cargo test", "ls | head", "for f in a b\n  echo\nend"];
    std::fs::write(home.path().join("s1.jsonl"), log(commands.map(str::to_owned).into_iter())).unwrap();
    let rows: Vec<Value> =
        run(home.path(), &["calls", "--json", "s1.jsonl"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |row: &Value| json!([row["exit_of"], row["masked"], row["purpose"]]);
    assert_eq!(told(&rows[0]), json!(["tail -5", ["cargo test"], "test"]));
    assert_eq!(told(&rows[1]), json!(["cargo test", [], "test"]));
    assert_eq!(told(&rows[2]), json!(["head", ["ls"], null]));
    assert_eq!(told(&rows[3]), json!([null, [], null]));
    let table = run(home.path(), &["calls", "s1.jsonl"]);
    let doubted: Vec<&str> = table.lines().filter(|line| line.contains("✓? succeeded")).collect();
    assert!(doubted.len() == 1 && doubted[0].contains("cargo test"), "{table}");
    assert_eq!(table.matches("✓ succeeded").count(), 3, "{table}");
}

#[test]
fn many_rows_are_printed_in_order_on_any_number_of_threads() {
    let home = tempfile::tempdir().unwrap();
    const CALLS: usize = 5_000;
    std::fs::write(home.path().join("s1.jsonl"), log((0..CALLS).map(|index| format!("make {index} | tail -{index}")))).unwrap();
    let of = |threads: &str| run(home.path(), &["calls", "--json", "--threads", threads, "s1.jsonl"]);
    let one = of("1");
    for (index, line) in one.lines().enumerate() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&row["exit_of"], &row["call"]), (&json!(format!("tail -{index}")), &json!(format!("toolu_{index}"))));
    }
    assert_eq!(one.lines().count(), CALLS);
    assert!(of("2") == one && of("3") == one && of("16") == one);
}
