//! `tail` as people and scripts use it: lines as they come, JSON as `calls` prints it, and nothing at all while nothing happens.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tooltrail_testkit::corpus::{CorpusPlan, generate};

/// How long a line may take here at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// The moment that it is said to be: just after what the logs here tell.
const NOW: &str = "2026-03-04T10:01:00Z";

fn tooltrail(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).env("TZ", "UTC").current_dir(home);
    command
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    tooltrail(home, arguments).output().unwrap()
}

/// A `tail` at work.
struct Tail {
    child: Child,
    lines: Receiver<String>,
}

impl Tail {
    fn start(home: &Path, arguments: &[&str]) -> Self {
        let arguments = [&["tail"], arguments].concat();
        let mut child = tooltrail(home, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(|line| drop(send.send(line))));
        Tail { child, lines }
    }

    /// Waits until it says that nothing runs: then it watches.
    fn ready(mut self) -> Self {
        let mut said = String::new();
        BufReader::new(self.child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("running; waiting"), "{said}");
        self
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    fn row(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn log(home: &Path, session: &str) -> PathBuf {
    let path = home.join(format!(".claude/projects/-srv-app/{session}.jsonl"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn append(path: &Path, line: &str) {
    writeln!(OpenOptions::new().append(true).create(true).open(path).unwrap(), "{line}").unwrap();
}

fn prompt(session: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{session}-p","sessionId":"{session}","timestamp":"2026-03-04T10:00:00.000Z","cwd":"/srv/app","message":{{"role":"user","content":"go"}}}}"#
    )
}

fn request(session: &str, number: u32) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{session}-a{number}","sessionId":"{session}","timestamp":"2026-03-04T10:00:0{number}.000Z","message":{{"id":"msg_{session}_{number}","role":"assistant","content":[{{"type":"tool_use","id":"toolu_{session}_{number}","name":"Bash","input":{{"command":"cargo test {number}"}}}}]}}}}"#
    )
}

fn result(session: &str, number: u32, text: &str) -> String {
    let failed = text.starts_with("Exit");
    format!(
        r#"{{"type":"user","uuid":"{session}-r{number}","sessionId":"{session}","timestamp":"2026-03-04T10:00:0{}.500Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{session}_{number}","is_error":{failed},"content":"{text}"}}]}}}}"#,
        number + 1
    )
}

#[test]
fn every_call_has_a_line_when_it_is_requested_and_when_it_ends() {
    let home = tempfile::tempdir().unwrap();
    let log = log(home.path(), "s1");
    append(&log, &prompt("s1"));
    let tail = Tail::start(home.path(), &["--now", NOW, "--alive", "0s"]).ready();
    append(&log, &request("s1", 1));
    assert_eq!(tail.line(), "10:00:01  s1:1      app           ? unanswered log_ends                    Bash  cargo test 1");
    append(&log, &result("s1", 1, "Exit code 101"));
    assert_eq!(tail.line(), "10:00:02  s1:1      app           ✗ failed exit 101                 1.5 s  Bash  cargo test 1");
    append(&log, &request("s1", 3));
    append(&log, &result("s1", 3, "\\u001b[31mok"));
    let line = tail.line();
    assert!(line.ends_with("Bash  cargo test 3") && !line.contains('\u{1b}'), "{line}");
    // What a program reads is whole.
    append(&log, &request("s1", 5));
    append(&log, &prompt("s1").replace("s1-p", "s1-p2").replace("10:00:00", "10:00:09"));
    let line = (0..2).map(|_| tail.line()).find(|line| !line.contains("log_ends"));
    assert!(line.as_ref().is_some_and(|line| line.contains("? unanswered conversation_moved_on  ")), "{line:?}");
}

/// A line of a log with the time it is now.
fn at_once(line: &str) -> String {
    let start = line.find("2026-03-04T").unwrap();
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    format!("{}{now}{}", &line[..start], &line[start + now.len()..])
}

#[test]
fn json_is_what_calls_prints() {
    let home = tempfile::tempdir().unwrap();
    let log = log(home.path(), "s1");
    append(&log, &at_once(&prompt("s1")));
    let tail = Tail::start(home.path(), &["--json"]).ready();
    for number in [1, 3] {
        append(&log, &at_once(&request("s1", number)));
        let (requested, id) = (tail.row(), format!("toolu_s1_{number}"));
        assert_eq!((requested["call"].as_str(), requested["status"].as_str()), (Some(&*id), Some("running")));
        append(&log, &at_once(&result("s1", number, "ok")));
        let ended = tail.line();
        let calls = String::from_utf8(run(home.path(), &["calls", "--json"]).stdout).unwrap();
        assert_eq!(calls.lines().last(), Some(ended.as_str()));
        assert!(ended.contains("\"status\":\"succeeded\"") && ended.contains("\"exit_of\":\"cargo test"), "{ended}");
    }
    // Calls that run come first, whatever is asked for.
    append(&log, &at_once(&request("s1", 5)));
    tail.row();
    let other = Tail::start(home.path(), &["--json"]);
    assert_eq!(other.row()["status"], "running");
}

/// Two sessions of three calls each.
fn two_sessions(home: &Path) {
    for session in ["s1", "s2"] {
        let log = log(home, session);
        append(&log, &prompt(session));
        for number in [1, 3, 5] {
            append(&log, &request(session, number));
            append(&log, &result(session, number, if number == 3 { "Exit code 1" } else { "ok" }));
        }
    }
}

#[test]
fn the_last_calls_come_first_and_filters_and_paths_hold_for_them() {
    let home = tempfile::tempdir().unwrap();
    two_sessions(home.path());
    let ids = |arguments: &[&str]| {
        let output = run(home.path(), &[&["tail", "--for", "0s", "--json"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let rows = String::from_utf8(output.stdout).unwrap();
        rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["call"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(ids(&[]).is_empty());
    assert_eq!(ids(&["-n", "2"]), ["toolu_s1_5", "toolu_s2_5"]);
    assert_eq!(ids(&["-n", "100"]).len(), 6);
    assert_eq!(ids(&["-n", "100", "status:failed"]), ["toolu_s1_3", "toolu_s2_3"]);
    assert_eq!(ids(&["-n", "100", "session:s2", "cargo test 5"]), ["toolu_s2_5"]);
    assert_eq!(ids(&["-n", "100", ".claude/projects/-srv-app/s1.jsonl"]), ["toolu_s1_1", "toolu_s1_3", "toolu_s1_5"]);
    assert_eq!(ids(&["-n", "100", "--root", "."]).len(), 6);
}

#[test]
fn one_file_is_followed_and_others_are_not() {
    let home = tempfile::tempdir().unwrap();
    two_sessions(home.path());
    let [one, other] = ["s1", "s2"].map(|session| log(home.path(), session));
    let tail = Tail::start(home.path(), &["--json", "-n", "0", &one.to_string_lossy()]).ready();
    append(&other, &request("s2", 7));
    append(&one, &request("s1", 7));
    assert_eq!(tail.row()["call"], "toolu_s1_7");
}

#[test]
fn what_cannot_be_followed_is_said() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, says) in [
        (&["tail", "--demo"][..], "the demo does not change"),
        (&["tail", "./nothing.jsonl"], "cannot read `./nothing.jsonl`"),
        (&["tail", "--root", ".", "./x.jsonl"], "either paths or `--root`"),
        (&["tail", "stats:failed"], "stats"),
        (&["tail", "--for", "soon"], "is not a duration"),
    ] {
        let output = run(home.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(says), "{arguments:?}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_success() {
    let home = tempfile::tempdir().unwrap();
    two_sessions(home.path());
    let mut child = tooltrail(home.path(), &["tail", "-n", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    // The whole line: what is left of it could not be written, and that would tell.
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    // Nobody reads on, and nothing more is written: it notices by itself.
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it waits for a line that nobody would read");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_with_success() {
    let home = tempfile::tempdir().unwrap();
    let mut tail = Tail::start(home.path(), &[]).ready();
    let kill = Command::new("kill").args(["-INT", &tail.child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(tail.child.wait().unwrap().code(), Some(0));
}

/// Nothing happens, so nothing is done: what the system counts of its work hardly moves. The exact bounds are in docs/performance.md.
#[cfg(target_os = "linux")]
#[test]
fn doing_nothing_costs_nothing() {
    let home = tempfile::tempdir().unwrap();
    generate(home.path(), &CorpusPlan { bytes: 5_000_000, seed: 4 }).unwrap();
    let tail = Tail::start(home.path(), &["-n", "0"]).ready();
    let process = PathBuf::from(format!("/proc/{}", tail.child.id()));
    let work = || {
        let tasks = fs::read_dir(process.join("task")).unwrap().flatten();
        let run = |task: fs::DirEntry| fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        let nanos: u64 = tasks.filter_map(|task| run(task).split(' ').next()?.parse::<u64>().ok()).sum();
        let io = fs::read_to_string(process.join("io")).unwrap_or_default();
        let read = io.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse::<u64>().ok()).unwrap_or(0);
        (nanos / 1_000_000, read)
    };
    std::thread::sleep(Duration::from_millis(500));
    let (millis, read) = work();
    std::thread::sleep(Duration::from_secs(5));
    let (millis, read) = (work().0 - millis, work().1 - read);
    // A quarter of the logs would be a million bytes, and a thread that spins five thousand milliseconds.
    assert!(millis < 100, "{millis} ms of work");
    assert!(read < 100_000, "{read} bytes read");
}
