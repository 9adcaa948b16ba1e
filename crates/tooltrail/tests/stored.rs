//! Commands that ask the catalogue say what they say when they read the logs themselves, byte for byte.

#![allow(clippy::unwrap_used)] // a panic is the report

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A home with logs in it.
struct Home(TempDir);

impl Home {
    /// The demo's logs, and where they are at hand the real ones, each agent's below a directory of its own.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real");
        demo(home.path());
        copy(&real.join("claude"), &home.path().join(".claude/projects/real"));
        copy(&real.join("codex"), &home.path().join(".codex/sessions/real"));
        Home(home)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.args(arguments).args(["--now", "2026-12-01T00:00:00Z"]).env_clear();
        command.env("HOME", self.0.path()).env("TZ", "UTC").current_dir(self.0.path()).stdin(Stdio::null()).output().unwrap()
    }

    /// What a command says, which is the same with a catalogue and without.
    fn same(&self, arguments: &[&str]) -> String {
        let stored = self.run(arguments);
        let read = self.run(&[arguments, &["--no-cache"]].concat());
        let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        let (stored_text, read_text) = (text(&stored), text(&read));
        let differ = stored_text.lines().zip(read_text.lines()).find(|(one, other)| one != other);
        assert_eq!(differ, None, "{arguments:?}");
        assert_eq!(stored_text.len(), read_text.len(), "{arguments:?}");
        assert_eq!(stored.status.code(), read.status.code(), "{arguments:?}: {}", String::from_utf8_lossy(&stored.stderr));
        assert_eq!(stored.stderr, read.stderr, "{arguments:?}: {}", String::from_utf8_lossy(&stored.stderr));
        stored_text
    }
}

/// Puts the demo's logs where agents have theirs.
fn demo(home: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo");
    copy(&from.join("projects"), &home.join(".claude/projects"));
    copy(&from.join("codex"), &home.join(".codex"));
}

fn copy(from: &Path, to: &Path) {
    let entries: Vec<PathBuf> = fs::read_dir(from).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    for entry in entries {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &target);
        } else if entry.is_file() {
            fs::create_dir_all(to).unwrap();
            fs::copy(&entry, &target).unwrap();
        }
    }
}

#[test]
fn every_command_says_the_same_with_a_catalogue_and_without() {
    let home = Home::new();
    let calls = home.same(&["calls", "--json"]);
    assert!(calls.lines().count() > 20);
    let sessions = home.same(&["list", "--json"]);
    for arguments in [
        &["calls"][..],
        &["calls", "-n", "7"],
        &["calls", "--sort", "took", "-n", "20"],
        &["calls", "--sort", "time", "-n", "20", "--json"],
        &["calls", "--json", "--copies"],
        &["calls", "--json", "status:failed"],
        &["calls", "--json", "purpose:test", "not:agent:codex"],
        &["calls", "--json", "has:diff", "since:2026-01-01"],
        &["calls", "--json", "file:**/*.md"],
        &["calls", "--json", "command:git", "took:1s.."],
        &["calls", "--json", "error"],
        &["calls", "--json", "tool:Bash", "not:error"],
        &["calls", "--json", "not:error"],
        &["calls", "nothing-like-this-is-anywhere"],
        &["list"],
        &["list", "-n", "5", "--sort", "failed"],
        &["list", "--json", "purpose:test", "status:failed"],
        &["list", "--json", "permission"],
        &["list", "--json", "agent:codex", "since:2026-01-01"],
        &["list", "--json", "--within", "session", "status:failed", "commit"],
        &["list", "--json", "is:gone"],
        &["list", "--json", "is:failed", "not:error"],
        &["list", "--json", "--digest", "-n", "3"],
        &["search", "--json", "permission"],
        &["search", "--json", "tool:Bash", "status:failed", "error"],
        &["search", "permission"],
        &["stats", "--json"],
        &["stats", "--json", "project:app"],
        &["show", "last", "--no-pager"],
        &["show", "last:failed"],
        &["show", "no-such-thing"],
        &["export", "last", "--to", "md"],
        &["resume", "last"],
        &["resume", "last", "--json"],
    ] {
        home.same(arguments);
    }
    // Sessions of calls that are taken for what they do not have.
    let of = |text: &str| -> std::collections::BTreeSet<String> {
        text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["session"].as_str().unwrap().to_owned()).collect()
    };
    let filter = ["--json", "not:error", "status:failed"];
    let without = of(&home.same(&[&["calls"], &filter[..]].concat()));
    assert!(!without.is_empty());
    assert_eq!(of(&home.same(&[&["list"], &filter[..]].concat())), without);
    // A few of everything, by each of its names.
    let field = |line: &str, key: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()[key].as_str().unwrap().to_owned();
    for line in calls.lines().step_by(calls.lines().count().div_ceil(12)) {
        home.same(&["show", &field(line, "ref")]);
        home.same(&["show", &field(line, "call"), "--json"]);
    }
    for line in sessions.lines().step_by(sessions.lines().count().div_ceil(6)) {
        home.same(&["show", &field(line, "session"), "--no-pager"]);
        home.same(&["show", &field(line, "session")[..1], "--no-pager"]);
    }
}

#[test]
fn a_catalogue_that_cannot_be_used_is_no_reason_to_fail() {
    let home = tempfile::tempdir().unwrap();
    demo(home.path());
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    // A file where there should be a directory.
    let output = command.args(["list", "--json"]).env_clear().env("HOME", home.path()).env("TOOLTRAIL_CACHE", &file).output().unwrap();
    assert!(output.status.success());
    assert!(!output.stdout.is_empty());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("reading the logs instead") && told.contains("--no-cache"), "{told}");
}

#[test]
fn what_is_gone_stays_listed_for_people_and_for_who_asks() {
    let home = tempfile::tempdir().unwrap();
    demo(home.path());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        let output = command.args(arguments).env_clear().env("HOME", home.path()).env("TZ", "UTC").output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let before = run(&["list", "--json"]).1;
    let first: serde_json::Value = serde_json::from_str(before.lines().next().unwrap()).unwrap();
    let (id, files) = (first["session"].as_str().unwrap(), first["files"].as_array().unwrap());
    let calls = run(&["calls", "--json", &format!("session:{id}")]).1;
    files.iter().for_each(|file| fs::remove_file(file.as_str().unwrap()).unwrap());
    assert_eq!(run(&["list", "--json"]).1.lines().count(), before.lines().count() - 1);
    let gone = run(&["list", "--json", "is:gone"]).1;
    assert_eq!(gone.lines().count(), 1);
    assert!(gone.contains(id), "{gone}");
    assert!(run(&["list"]).1.lines().any(|line| line.contains(" gone ")));
    // Its calls are known too, and only told if asked for.
    assert!(!run(&["calls", "--json"]).1.contains(id));
    let known = run(&["calls", "--json", "is:gone"]).1;
    assert_eq!(known.lines().count(), calls.lines().count());
    let (code, _, told) = run(&["show", id]);
    assert!(code != Some(0) && told.contains("deleted") && told.contains("is:gone"), "{told}");
}

#[test]
fn catalogues_of_different_places_do_not_mix() {
    let (one, other, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    demo(one.path());
    demo(other.path());
    let list = |home: &TempDir, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.arg("list").args(arguments).env_clear().env("HOME", home.path()).env("TOOLTRAIL_CACHE", cache.path()).env("TZ", "UTC");
        let output = command.current_dir(home.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for _ in 0..2 {
        for home in [&one, &other] {
            assert!(!list(home, &[]).contains(" gone "));
            assert!(list(home, &["--json"]).contains(home.path().to_str().unwrap()));
        }
        // A directory may be named in several ways, and files are named as it is.
        assert!(list(&one, &["--json", "--root", "."]).contains("\"./.claude/"));
        assert!(!list(&one, &["--root", one.path().to_str().unwrap()]).contains(" gone "));
    }
}
