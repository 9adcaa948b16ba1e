//! Logs that are read up to a limit: every command that lists them names the log and the limit on standard error, and exits with 1.

#![allow(clippy::unwrap_used)] // a panic is the report

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).env("TOOLTRAIL_CACHE", home.join("cache")).current_dir(home).output().unwrap()
}

/// Writes a log of so many calls in one message each time, and gives its path.
fn log(home: &Path, name: &str, messages: usize, calls: usize) -> PathBuf {
    let directory = home.join(".claude/projects/-srv-app");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(format!("{name}.jsonl"));
    let line = |message: usize| {
        let call = |call: usize| format!(r#"{{"type":"tool_use","id":"{name}-{message}-{call}","name":"Bash","input":{{}}}}"#);
        let calls: Vec<String> = (0..calls).map(call).collect();
        let content = calls.join(",");
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"{name}-{message}\",\"sessionId\":\"{name}\",\"timestamp\":\"2026-03-04T10:00:00.000Z\",\"message\":{{\"id\":\"{name}-m{message}\",\"content\":[{content}]}}}}\n"
        )
    };
    fs::write(&path, (0..messages).map(line).collect::<String>()).unwrap();
    path
}

const COMMANDS: [&[&str]; 8] = [
    &["check"],
    &["check", "--json"],
    &["stats"],
    &["stats", "--json"],
    &["calls", "-n", "5"],
    &["calls", "--json", "-n", "5"],
    &["list"],
    &["list", "--json"],
];

/// Runs all commands, which have to name the log and the limit.
fn all_say(home: &Path, options: &[&str], log: &Path, limit: &str) {
    for command in COMMANDS {
        let arguments = [command, options].concat();
        let output = run(home, &arguments);
        let (out, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        let name = log.file_name().unwrap().to_str().unwrap();
        assert!(said.lines().any(|line| line.contains(name) && line.contains(limit)), "{arguments:?}: {said}");
        assert!(!out.is_empty(), "{arguments:?}: what was read is listed all the same");
    }
}

#[test]
fn a_log_that_is_too_long_or_needs_too_much_memory_is_named() {
    let home = tempfile::tempdir().unwrap();
    let cut = log(home.path(), "cut", 30, 1000);
    let whole = log(home.path(), "whole", 1, 3);
    all_say(home.path(), &["--max-kept", "1"], &cut, "--max-kept");
    all_say(home.path(), &["--max-log", "1"], &cut, "--max-log");
    // No limit is reached by default, and none by the other log.
    for command in [&["stats"][..], &["calls", "-n", "5"], &["list"]] {
        let output = run(home.path(), command);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(0) && !said.contains("--max-"), "{command:?}: {said}");
    }
    let output = run(home.path(), &["stats", "--max-kept", "1", whole.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_log_that_reached_a_limit_when_it_was_indexed_is_named_ever_after() {
    let home = tempfile::tempdir().unwrap();
    let cut = log(home.path(), "cut", 600, 1000);
    // The first command fills the index, the others ask it.
    all_say(home.path(), &[], &cut, "--max-kept");
}

#[test]
fn of_too_many_logs_the_directory_is_named() {
    let home = tempfile::tempdir().unwrap();
    for name in ["one", "two", "three"] {
        log(home.path(), name, 1, 1);
    }
    let directory = home.path().join(".claude");
    all_say(home.path(), &["--max-logs", "2"], &directory, "--max-logs");
}
