//! `board` as people and scripts use it: once, into a pipe, and as rows that follow what is written.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a line may take here at most.
const PATIENCE: Duration = Duration::from_secs(60);

fn tooltrail(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).env("TZ", "UTC").current_dir(home);
    command
}

fn printed(home: &Path, arguments: &[&str]) -> String {
    let output = tooltrail(home, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn log(home: &Path, session: &str) -> PathBuf {
    let directory = home.join(".claude/projects/-srv-app");
    fs::create_dir_all(&directory).unwrap();
    directory.join(format!("{session}.jsonl"))
}

/// Adds a record of so many seconds ago to a session's log.
fn add(home: &Path, session: &str, kind: &str, ago: i64, message: Value) {
    let at = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(ago);
    let at = at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    let uuid = format!("{session}-{at}-{kind}");
    let record = serde_json::json!({ "type": kind, "uuid": uuid, "parentUuid": null, "sessionId": session, "cwd": "/srv/app", "timestamp": at, "message": message });
    let mut file = OpenOptions::new().create(true).append(true).open(log(home, session)).unwrap();
    file.write_all(format!("{record}\n").as_bytes()).unwrap();
}

fn prompt(home: &Path, session: &str, text: &str, ago: i64) {
    add(home, session, "user", ago, serde_json::json!({ "role": "user", "content": text }));
}

fn call(home: &Path, session: &str, id: &str, tool: &str, input: Value, ago: i64) {
    let content = serde_json::json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]);
    add(
        home,
        session,
        "assistant",
        ago,
        serde_json::json!({ "role": "assistant", "model": "m", "id": format!("msg_{id}"), "content": content }),
    );
}

fn result(home: &Path, session: &str, id: &str, text: &str, error: bool, ago: i64) {
    let content = serde_json::json!([{ "type": "tool_result", "tool_use_id": id, "is_error": error, "content": text }]);
    add(home, session, "user", ago, serde_json::json!({ "role": "user", "content": content }));
}

fn answer(home: &Path, session: &str, text: &str, ago: i64) {
    let content = serde_json::json!([{ "type": "text", "text": text }]);
    add(
        home,
        session,
        "assistant",
        ago,
        serde_json::json!({ "role": "assistant", "model": "m", "id": format!("msg_{session}"), "stop_reason": "end_turn", "content": content }),
    );
}

/// One session that asks, one that works, one that has answered, and one that ended long ago.
fn four(home: &Path) {
    prompt(home, "done", "say hello", 300);
    answer(home, "done", "hello", 290);
    prompt(home, "work", "make it \u{1b}[31mfast\u{202e}", 200);
    call(home, "work", "toolu_1", "Bash", serde_json::json!({ "command": "cargo test" }), 190);
    result(home, "work", "toolu_1", "Exit code 101\nerror", true, 180);
    call(home, "work", "toolu_2", "Bash", serde_json::json!({ "command": "cargo bench\u{1b}[31m" }), 125);
    prompt(home, "asks", "which one?", 100);
    let question =
        serde_json::json!({ "questions": [{ "question": "This one?", "header": "Which", "multiSelect": false, "options": [] }] });
    call(home, "asks", "toolu_3", "AskUserQuestion", question, 65);
    prompt(home, "gone", "long ago", 90_000);
    answer(home, "gone", "yes", 89_000);
}

#[test]
fn into_a_pipe_it_is_printed_once() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(tooltrail(home.path(), &["board"]).output().unwrap().stderr, b"no sessions are running\n");
    four(home.path());
    let board = printed(home.path(), &["board"]);
    let lines: Vec<&str> = board.lines().collect();
    assert_eq!(lines.len(), 4, "{board}");
    assert!(lines[0].starts_with("SESSION  STATE"), "{board}");
    // Who needs somebody comes first.
    for (line, wanted) in lines[1..].iter().zip([
        &["asks you: a question is open", "1 m  app", "which one?", "AskUserQuestion", "This one?"][..],
        &["working: a call is running", "2 m  app", "make it fast", "Bash cargo bench␛[31m", "3 m ago: exit 101 Bash cargo test"],
        &["your turn: the model answered", "4 m  app", "say hello"],
    ]) {
        assert!(wanted.iter().all(|wanted| line.contains(wanted)), "{wanted:?} in {line}");
    }
    assert!(!board.contains(['\u{1b}', '\u{202e}']) && !board.contains("long ago"), "{board}");
    assert_eq!(printed(home.path(), &["board", "--once"]).lines().count(), 4);
    assert_eq!(printed(home.path(), &["board", "session:work"]).lines().count(), 2);
    assert_eq!(printed(home.path(), &["board", "tool:Bash"]).lines().count(), 2);
    assert_eq!(printed(home.path(), &["board", "--no-cache", "is:waiting"]).lines().count(), 2);
    assert_eq!(printed(home.path(), &["board", "agent:codex"]), "");
    assert_eq!(printed(home.path(), &["board", ".claude/projects/-srv-app/work.jsonl"]).lines().count(), 2);
    assert!(printed(home.path(), &["board", "--demo"]).contains("waits for you: a call needs permission"));
}

#[test]
fn as_json_it_has_the_rows_of_list() {
    let home = tempfile::tempdir().unwrap();
    four(home.path());
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let listed = sorted(printed(home.path(), &["list", "--json", "is:live"]));
    assert_eq!(listed.len(), 3);
    assert_eq!(sorted(printed(home.path(), &["board", "--json", "--once"])), listed);
    assert_eq!(sorted(printed(home.path(), &["board", "--json", "--once", "--no-cache"])), listed);
}

/// A board at work.
struct Board {
    child: Child,
    lines: Receiver<String>,
}

impl Board {
    fn start(home: &Path, arguments: &[&str]) -> Self {
        let arguments = [&["board", "--json"], arguments].concat();
        let mut child = tooltrail(home, &arguments).stdout(Stdio::piped()).spawn().unwrap();
        let (send, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(send.send(line))));
        Board { child, lines }
    }

    fn row(&self) -> Value {
        serde_json::from_str(&self.lines.recv_timeout(PATIENCE).unwrap()).unwrap()
    }

    /// Waits for a row of a session in a state.
    fn until(&self, session: &str, state: &str) -> Value {
        let start = Instant::now();
        loop {
            let row = self.row();
            if row["session"] == session && row["state"] == state {
                return row;
            }
            assert!(start.elapsed() < PATIENCE, "{session} is never {state}: {row}");
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn rows_follow_what_is_written() {
    let home = tempfile::tempdir().unwrap();
    four(home.path());
    let board = Board::start(home.path(), &[]);
    let states: Vec<String> = (0..3).map(|_| board.row()["state"].as_str().unwrap().to_owned()).collect();
    assert_eq!(states, ["asks", "working", "your_turn"]);
    result(home.path(), "asks", "toolu_3", "that one", false, 0);
    assert_eq!(board.until("asks", "working")["state_reason"], "model");
    let start = Instant::now();
    answer(home.path(), "asks", "then that one", 0);
    board.until("asks", "your_turn");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    // One that was not there, and one that comes back.
    prompt(home.path(), "anew", "something else", 0);
    board.until("anew", "working");
    prompt(home.path(), "gone", "once more", 0);
    let row = board.until("gone", "working");
    let listed = printed(home.path(), &["list", "--json", "session:gone"]);
    assert_eq!(row, serde_json::from_str::<Value>(&listed).unwrap());
}

#[test]
fn a_session_that_ends_is_told_once_and_a_filter_holds() {
    let home = tempfile::tempdir().unwrap();
    four(home.path());
    let board = Board::start(home.path(), &["session:work", "--alive", "4s"]);
    // Its last record is older than that: nothing runs. Then it does, and then nobody writes any more.
    prompt(home.path(), "done", "not this one", 0);
    result(home.path(), "work", "toolu_2", "ok", false, 0);
    assert_eq!(board.row()["state"], "working");
    let row = board.until("work", "ended");
    assert_eq!(row["state_reason"], "quiet");
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_a_closed_pipe_are_success() {
    let home = tempfile::tempdir().unwrap();
    four(home.path());
    let mut board = Board::start(home.path(), &[]);
    board.row();
    assert!(Command::new("kill").args(["-INT", &board.child.id().to_string()]).status().unwrap().success());
    assert_eq!(board.child.wait().unwrap().code(), Some(0));
    let mut child = tooltrail(home.path(), &["board", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    (0..3).for_each(|_| drop(out.read_line(&mut String::new())));
    drop(out);
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it waits for a change that nobody would read");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(child.wait().unwrap().success());
}
