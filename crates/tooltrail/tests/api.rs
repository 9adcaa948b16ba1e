//! The API of a server as a process: the same bytes as the commands print, and what docs/api.md shows is what comes.

#![allow(clippy::expect_used)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The moment at which everything is asked: long after everything in the logs.
const NOW: &str = "2026-03-05T00:00:00Z";

/// A server, which ends with the test.
struct Server {
    process: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn command(arguments: &[&str], home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).env("TOOLTRAIL_CACHE", home.join("cache")).env("TZ", "UTC").current_dir(home);
    command.stdin(Stdio::null());
    command
}

impl Server {
    fn start(arguments: &[&str], home: &Path) -> Self {
        let arguments = [&["serve", "--no-open", "--port", "0"], arguments].concat();
        let mut process = command(&arguments, home).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program runs");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its output is piped")).read_line(&mut line).expect("it prints");
        let port = line.trim().trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok()).expect("an address");
        Server { process, port }
    }

    /// The body of an answer, once the logs are read.
    fn ask(&self, path: &str) -> (u16, String) {
        let start = Instant::now();
        loop {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
            write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port).expect("it reads");
            let mut said = String::new();
            stream.read_to_string(&mut said).expect("it answers");
            let (head, body) = said.split_once("\r\n\r\n").expect("headers end");
            let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
            if status != 503 || start.elapsed() > Duration::from_secs(30) {
                return (status, body.to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Lays the invented logs of the formats' tests into a home, each case in a project of its own.
fn lay(home: &Path) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests/fixtures");
    for (agent, from, to) in [("claude_code", "projects", ".claude/projects"), ("codex", "sessions", ".codex/sessions")] {
        for case in std::fs::read_dir(fixtures.join(agent)).expect("cases").flatten() {
            let name = case.file_name().to_string_lossy().into_owned();
            let (from, to) = (case.path().join(from), home.join(to));
            for entry in std::fs::read_dir(&from).into_iter().flatten().flatten() {
                copy(&entry.path(), &to.join(format!("{name}-{}", entry.file_name().to_string_lossy())));
            }
        }
    }
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::create_dir_all(to.parent().expect("a directory")).expect("it is made");
        std::fs::copy(from, to).expect("it is copied");
        return;
    }
    for entry in std::fs::read_dir(from).expect("entries").flatten() {
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

#[test]
fn it_answers_what_the_commands_print() {
    let home = tempfile::tempdir().expect("a directory");
    let root = home.path().join("logs");
    lay(&root);
    let root = root.to_string_lossy().into_owned();
    let server = Server::start(&["--root", &root, "--now", NOW], home.path());
    let mut lines = 0;
    for (arguments, path) in [
        (&["list", "--json"][..], "sessions?format=jsonl"),
        (&["list", "--json", "is:failed"], "sessions?format=jsonl&q=is:failed"),
        (&["list", "--json", "error"], "sessions?format=jsonl&q=error"),
        (&["calls", "--json"], "calls?format=jsonl"),
        (&["calls", "--json", "status:failed", "kind:shell"], "calls?format=jsonl&q=status:failed%20kind:shell"),
        (&["calls", "--json", "purpose:test"], "calls?format=jsonl&q=purpose:test"),
        (&["calls", "--json", "--copies"], "calls?format=jsonl&copies=1"),
        (&["search", "--json", "error"], "search?format=jsonl&q=error"),
        (&["search", "--json", "e", "--field", "path"], "search?format=jsonl&q=e&field=path"),
        (&["search", "--json", "error", "-n", "5"], "search?format=jsonl&q=error&limit=5"),
        (&["stats", "--json"], "stats"),
        (&["stats", "--json", "status:failed"], "stats?format=jsonl&q=status:failed"),
        (&["stats", "--json", "--by", "tool"], "stats?format=jsonl&by=tool"),
        (&["stats", "--json", "--by", "day", "agent:codex"], "stats?format=jsonl&by=day&q=agent:codex"),
        (&["show", "--json", "last:failed"], "calls/last:failed?full=1"),
    ] {
        let output = command(&[arguments, &["--root", &root, "--now", NOW]].concat(), home.path()).output().expect("it runs");
        let printed = String::from_utf8(output.stdout).expect("text");
        let (status, said) = server.ask(&format!("/api/v1/{path}"));
        assert_eq!(status, 200, "{path}: {said}");
        assert!(
            !printed.is_empty() && said == printed,
            "{arguments:?} and {path} differ:\n{}\n{}",
            first(&printed, &said),
            first(&said, &printed)
        );
        lines += printed.lines().count();
    }
    assert!(lines > 1000, "{lines}");
}

/// The first line of one text that is not that of another.
fn first<'t>(one: &'t str, other: &str) -> &'t str {
    one.lines().zip(other.lines().chain(std::iter::repeat(""))).find(|(one, other)| one != other).map(|(one, _)| one).unwrap_or_default()
}

/// What an example of the document asks and shows.
struct Example {
    path: String,
    /// What is asked of `jq`, if anything.
    jq: Option<String>,
    answer: Option<String>,
}

fn examples(document: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if line == "```json" {
            let answer: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            examples.last_mut().expect("a question before its answer").answer = Some(answer.join("\n"));
        }
        let Some(rest) = line.strip_prefix("curl -s ") else { continue };
        let (address, jq) = rest.split_once(" | jq ").map_or((rest, None), |(address, jq)| (address, Some(jq.to_owned())));
        let path = address.trim_matches('"').strip_prefix("http://127.0.0.1:7432").expect("the usual address").to_owned();
        examples.push(Example { path, jq, answer: None });
    }
    examples
}

/// What `jq` would print of `.a` or `[.a, .b]`.
fn picked(answer: &str, jq: &str) -> String {
    let value: Value = serde_json::from_str(answer).expect("JSON");
    let field = |name: &str| value[name.trim().trim_start_matches('.')].clone();
    let wanted = jq.trim_start_matches("-c ").trim_matches('\'');
    match wanted.strip_prefix('[').and_then(|names| names.strip_suffix(']')) {
        Some(names) => Value::Array(names.split(',').map(field).collect()).to_string(),
        None => field(wanted).to_string(),
    }
}

/// An answer as the document has it: without what is another one each time.
fn shortened(answer: &str) -> String {
    let mut out = String::new();
    for (place, piece) in answer.split('"').enumerate() {
        let file = ["/.claude/", "/.codex/"].iter().find_map(|home| piece.find(home)).map(|at| format!("/home/me{}", &piece[at..]));
        let cursor = out.ends_with("\"next\":");
        out.push_str(if place > 0 { "\"" } else { "" });
        out.push_str(if cursor { "…" } else { file.as_deref().unwrap_or(piece) });
    }
    out.trim_end().to_owned()
}

#[test]
fn the_examples_of_the_document_are_true() {
    let document = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let document = std::fs::read_to_string(document).expect("the document");
    let home = tempfile::tempdir().expect("a directory");
    let server = Server::start(&["--demo"], home.path());
    let examples = examples(&document);
    assert!(examples.len() >= 8 && examples.iter().filter(|example| example.answer.is_some()).count() >= 7);
    for example in examples {
        let (status, said) = server.ask(&example.path);
        assert!(status == 200 || said.contains("\"error\""), "{}: {status} {said}", example.path);
        let Some(answer) = example.answer else { continue };
        let real = match &example.jq {
            Some(jq) => picked(&said, jq),
            None => shortened(&said),
        };
        assert_eq!(answer, real, "{}", example.path);
    }
    // Whatever can be asked is written down.
    let (_, described) = server.ask("/api/v1/openapi.json");
    let described: Value = serde_json::from_str(&described).expect("JSON");
    for path in described["paths"].as_object().expect("paths").keys() {
        assert!(document.contains(&format!("| `/api/v1{path}` |")), "{path}");
    }
    let codes =
        described.pointer("/components/schemas/Error/properties/error/properties/code/enum").and_then(Value::as_array).expect("codes");
    for code in codes {
        assert!(document.contains(&format!("`{}`", code.as_str().expect("a word"))), "{code}");
    }
    let kinds = described["paths"]["/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["x-events"].as_object();
    for kind in kinds.expect("kinds of events").keys() {
        assert!(document.contains(&format!("`{kind}`")), "{kind}");
    }
}
