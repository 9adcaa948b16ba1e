//! Times in the waterfall, in the digest and in `calls --json` agree, for every call of the real logs.
//!
//! The logs lie in `shared/corpus` beside the repository; where they are not at hand the demo's are all there is. The columns of the
//! waterfall are taken apart here again, from the JSON that its page gets.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tooltrail_model::Time;

/// The program on some logs, and its server.
struct Logs {
    arguments: Vec<String>,
    place: tempfile::TempDir,
    server: Child,
    host: String,
}

impl Drop for Logs {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Logs {
    fn of(arguments: &[&str]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut server = Command::new(env!("CARGO_BIN_EXE_tooltrail"))
            .args(["serve", "--no-open", "--port", "0"])
            .args(arguments)
            .env("TOOLTRAIL_CACHE", place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Logs { arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(), place, server, host }
    }

    /// The lines that a command prints.
    fn lines(&self, command: &[&str]) -> Vec<Value> {
        let mut run = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        let output = run.args(command).args(&self.arguments).env("TOOLTRAIL_CACHE", self.place.path()).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn waterfall(&self, session: &str) -> Value {
        // The first answers may come while logs are still being read.
        for _ in 0..200 {
            let mut stream = TcpStream::connect(&self.host).unwrap();
            let path = format!("/s/{session}/waterfall.json");
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            if head.starts_with("HTTP/1.1 200") {
                return serde_json::from_str(body).unwrap();
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("no waterfall of {session}");
    }
}

/// A call, as the waterfall tells it. Times are milliseconds since 1970.
#[derive(Debug, Default)]
struct Told {
    start: Option<i64>,
    took: Option<i64>,
    ran: Option<i64>,
    task: Option<i64>,
    /// Only one moment of it is known.
    moment: bool,
}

/// The calls of a waterfall by their numbers, as they stand in a REF.
fn calls(fall: &Value) -> HashMap<String, Told> {
    let pairs = |name: &str| -> HashMap<usize, Value> {
        fall[name].as_array().unwrap().iter().map(|pair| (pair[0].as_u64().unwrap() as usize, pair[1].clone())).collect()
    };
    let (jumps, numbers, ran, tasks) = (pairs("call"), pairs("number"), pairs("ran"), pairs("tasks"));
    let first = fall["first"].as_i64().unwrap();
    let moments: Vec<u64> = fall["moment"].as_array().unwrap().iter().map(|place| place.as_u64().unwrap()).collect();
    let (mut index, mut start, mut calls) = (-1, 0, HashMap::new());
    for place in 0..fall["count"].as_u64().unwrap() as usize {
        index = jumps.get(&place).map_or(index + 1, |index| index.as_i64().unwrap());
        let step = fall["start"][place].as_i64();
        start += step.unwrap_or(0);
        let told = Told {
            start: step.map(|_| first + start),
            took: fall["took"][place].as_i64(),
            ran: ran.get(&place).map(|ran| ran.as_i64().unwrap()),
            task: tasks.get(&place).and_then(|end| Some(first + end.as_i64()?)),
            moment: moments.contains(&(place as u64)),
        };
        let number = numbers
            .get(&place)
            .map_or_else(|| (index + 1).to_string(), |number| number.as_str().map_or_else(|| number.to_string(), str::to_owned));
        assert!(calls.insert(number.clone(), told).is_none(), "call {number} twice");
    }
    calls
}

fn millis(time: &Value) -> Option<i64> {
    Some(time.as_str()?.parse::<Time>().unwrap().as_millisecond())
}

/// A call has the times of its row.
fn check_call(told: &Told, row: &Value) {
    assert_eq!(told.took, row["duration_ms"].as_i64(), "{row}: {told:?}");
    assert_eq!(told.ran, row["run_ms"].as_i64().filter(|run| *run > 0), "{row}: {told:?}");
    assert_eq!(told.task, millis(&row["background"]["ended_at"]), "{row}: {told:?}");
    let (requested, completed) = (millis(&row["requested_at"]), millis(&row["completed_at"]));
    if told.moment {
        assert!(told.start == completed.or(requested) && told.took.is_none(), "{row}: {told:?}");
    } else {
        assert_eq!(told.start, requested, "{row}: {told:?}");
    }
    if let (Some(start), Some(took)) = (told.start, told.took) {
        assert_eq!(Some(start + took), completed, "{row}: {told:?}");
    }
}

/// Where the time went is what the digest says, and adds up.
fn check_sums(fall: &Value, digest: &Value) {
    let mut sums = HashMap::from([("hooks_ms", 0), ("tools_ms", 0), ("person_ms", 0), ("model_ms", 0), ("unknown_ms", 0)]);
    let lengths = fall["lengths"].as_array().unwrap();
    let who = fall["who"].as_str().unwrap();
    assert_eq!(who.len(), lengths.len());
    for (who, length) in who.bytes().zip(lengths) {
        let name = ["hooks_ms", "tools_ms", "person_ms", "model_ms", "unknown_ms"][usize::from(who - b'0')];
        let length = length.as_u64().filter(|length| *length > 0).unwrap();
        *sums.get_mut(name).unwrap() += length;
    }
    for (name, sum) in &sums {
        assert_eq!(digest["time"][name].as_u64(), Some(*sum), "{name} {digest}");
    }
    let wall: u64 = sums.values().sum();
    assert_eq!(digest["time"]["wall_ms"].as_u64(), Some(wall));
    assert_eq!(fall["last"].as_u64().unwrap(), fall["began"].as_u64().unwrap() + wall);
}

/// How many calls agree.
fn check(logs: &Logs) -> usize {
    let mut rows: HashMap<String, Vec<Value>> = HashMap::new();
    for row in logs.lines(&["calls", "--json"]) {
        rows.entry(row["session"].as_str().unwrap().to_owned()).or_default().push(row);
    }
    let mut agreed = 0;
    for session in logs.lines(&["list", "--json", "--digest"]) {
        let id = session["session"].as_str().unwrap();
        let fall = logs.waterfall(id);
        check_sums(&fall, &session["digest"]);
        let told = calls(&fall);
        for row in rows.remove(id).unwrap_or_default() {
            let number = row["ref"].as_str().unwrap().rsplit_once(':').unwrap().1;
            check_call(told.get(number).unwrap_or_else(|| panic!("not in the waterfall: {row}")), &row);
            agreed += 1;
        }
    }
    assert!(rows.is_empty(), "calls of no session: {:?}", rows.keys());
    agreed
}

/// Puts logs where their agents would have them.
fn lay(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            lay(&path, &target);
        } else if !target.exists() {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn times_are_those_of_the_calls_and_the_digest() {
    assert!(check(&Logs::of(&["--demo"])) > 50);
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real");
    if !corpus.is_dir() {
        println!("no real logs at {}: only the demo was compared", corpus.display());
        return;
    }
    let home = tempfile::tempdir().unwrap();
    for (agent, below, place) in [("claude", "projects", ".claude/projects"), ("codex", "sessions", ".codex/sessions")] {
        for source in fs::read_dir(corpus.join(agent)).unwrap().map(|entry| entry.unwrap().path()) {
            let logs = source.join(below);
            if logs.is_dir() {
                lay(&logs, &home.path().join(place));
            }
        }
    }
    let agreed = check(&Logs::of(&["--root", &home.path().to_string_lossy()]));
    println!("{agreed} calls agree");
    assert!(agreed > 4_000, "only {agreed} calls were compared");
}
