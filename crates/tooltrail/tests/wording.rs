//! No wording that was replaced by plainer English is in any visible text: strings of the sources, the documents, the help of every
//! command, and everything that is drawn of the demo.

#![allow(clippy::unwrap_used)] // a panic is the report

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Wordings that have a plainer one, in lower case, with the words to use instead.
const REPLACED: &[(&str, &str)] = &[
    ("not fine", "problems"),
    ("went wrong", "failed, failures"),
    ("went badly", "failed"),
    ("its own was not recorded", "its own exit code is unknown"),
    ("the success is that of", "the success came from"),
    ("is that of tail", "came from tail"),
    ("tail's exit", "exit code masked"),
    ("tail’s exit", "exit code masked"),
    ("not all told", "partly unknown"),
    ("would be +", "not applied: +"),
    ("would be a new", "not applied: new"),
    ("would be deleted", "not applied: deleted"),
    ("life of this call", "timeline of this call"),
    ("its whole life", "its timeline"),
    ("a word about it", "a short status message"),
    ("the log keeps only this", "only copy in the log"),
    ("what was asked of tools", "tool inputs"),
    ("put in by the program", "injected by the agent"),
    ("a call beside it", "a parallel call"),
    ("a call made beside it", "a parallel call"),
    ("its time ran out", "timed out"),
    ("own time ran out", "timed out"),
    ("being done", "in progress"),
    ("this filter means nothing", "unknown filter"),
    ("filter that means nothing", "invalid filter"),
    ("means nothing here", "is not valid here"),
    ("is no key", "unknown filter"),
    ("what a filter can say", "filter syntax"),
    ("a regular expression, without some", "regular expression"),
    (", here 1 to", "1–100 of 1,362"),
    ("single keys do something", "enable single-key shortcuts"),
    ("session before, after", "previous, next session"),
    ("chips: what is shown", "filters"),
    ("in ways that the logs do not tell", "diff incomplete"),
    ("looked for and taken out", "redacted on a best-effort basis"),
    ("a help, no guarantee", "best effort"),
    ("help and no guarantee", "best effort"),
    ("is no text for a terminal", "refusing to print HTML to a terminal"),
    ("as young as this", "newer than TIME"),
    ("as old as this", "older than TIME"),
    ("amounts to", "summary"),
    ("amount to", "summary"),
    ("all in all", "net, total"),
    ("tell totals apart", "group totals by"),
    ("tells totals apart", "groups totals by"),
    ("tell upper from lower case", "case-sensitive"),
    ("take words for regular", "treat words as regular expressions"),
    ("stop that;", "stop keeping logs;"),
    ("ask the catalogue", "query the index with SQL"),
    ("asks the catalogue", "queries the index"),
    ("takes a session up again", "resumes a session"),
    ("take a session up again", "resume a session"),
    ("take up the newest session", "resume the newest session"),
    ("that is told", "that is recorded"),
    ("of which none", "none of which"),
    ("whose turn it is", "which sessions wait for you"),
    ("what one comes for", "what you look for"),
];

/// Labels that were replaced, which the sources spell as a whole string.
const LABELS: &[&str] = &[
    "\"Lately\"",
    "\"Lasted\"",
    "\"Proof\"",
    "\"Shipped\"",
    "\"Said\"",
    "\"Not here\"",
    "\"So far\"",
    "\"Life\"",
    "type=\"submit\" { \"Show\"",
];

/// The replaced wordings of a text, each with its surroundings and the words to use instead.
fn replaced(text: &str) -> Vec<String> {
    // Documents wrap their lines, and strings continue on the next one.
    let text = text.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = text.to_lowercase();
    let near = |at: usize, length: usize| {
        let (start, end) =
            (lower.floor_char_boundary(at.saturating_sub(40)), lower.ceil_char_boundary((at + length + 40).min(lower.len())));
        lower[start..end].to_owned()
    };
    let found = REPLACED.iter().flat_map(|(old, new)| {
        lower.match_indices(old).map(move |(at, _)| (at, old.len(), *new)).filter(|(at, length, _)| is_whole(&lower, *at, *length))
    });
    let labels = LABELS.iter().flat_map(|label| text.match_indices(label).map(|(at, _)| (at, label.len(), "the label in docs")));
    found
        .chain(labels.filter(|_| text.len() == lower.len()))
        .map(|(at, length, new)| format!("…{}…: say “{new}”", near(at, length)))
        .collect()
}

/// Whether a match begins and ends with a word: `not finest` is not `not fine`.
fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let letter = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    let matched = &text[at..at + length];
    !(letter(matched.chars().next()) && letter(text[..at].chars().next_back())
        || letter(matched.chars().next_back()) && letter(text[at + length..].chars().next()))
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} replaced wordings are visible:\n{}", wrong.len(), wrong.join("\n"));
}

/// Adds what is wrong with a text.
fn check(name: &str, text: &str, wrong: &mut Vec<String>) {
    assert!(!text.trim().is_empty(), "{name} has no text");
    wrong.extend(replaced(text).into_iter().map(|found| format!("{name}: {found}")));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder whose names end so.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let (folders, files): (Vec<_>, Vec<_>) = entries.into_iter().partition(|path| path.is_dir());
    let own = files.into_iter().filter(|path| path.extension().is_some_and(|end| endings.iter().any(|ending| end == *ending)));
    own.chain(folders.iter().flat_map(|folder| self::files(folder, endings))).collect()
}

/// A source without its comments.
fn code(text: &str) -> String {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| line.split(" // ").next().unwrap_or(line).to_owned() + "\n")
        .collect()
}

#[test]
fn replaced_wordings_are_found() {
    for wrong in ["a\nword about it", "3 Not fine", "<b>What it amounts</b> amounts to", "h2 { \"Lately\" }", "would be +21 −0"] {
        assert!(!replaced(wrong).is_empty(), "{wrong}");
    }
    for right in ["not finest", "not fined", "a total that amounts tomorrow", "", "\"Lately, they\"", "key", "besides, is no keyboard"] {
        assert!(replaced(right).is_empty(), "{right}");
    }
    assert_eq!(replaced("Say\n  all in\n  all."), ["…say all in all.…: say “net, total”"]);
    assert_eq!(code("// all in all\nlet a = \"b\"; // all in all\n").trim(), "let a = \"b\";");
}

#[test]
fn sources_have_no_replaced_wording() {
    let mut wrong = Vec::new();
    for name in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        // The test kit writes logs, which say what agents say.
        if name.ends_with("tooltrail-testkit") {
            continue;
        }
        for file in ["src", "assets"].iter().flat_map(|folder| files(&name.join(folder), &["rs", "js"])) {
            let text = code(&fs::read_to_string(&file).unwrap());
            wrong.extend(replaced(&text).into_iter().map(|found| format!("{}: {found}", file.display())));
        }
    }
    report(&wrong);
}

#[test]
fn documents_have_no_replaced_wording() {
    let (mut wrong, root) = (Vec::new(), root());
    let documents = files(&root.join("docs"), &["md"]);
    assert!(documents.len() > 10, "no documents in {}", root.display());
    for file in documents.into_iter().chain([root.join("README.md"), root.join("CHANGELOG.md")]) {
        check(&file.display().to_string(), &fs::read_to_string(&file).unwrap(), &mut wrong);
    }
    report(&wrong);
}

fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tooltrail")).args(arguments).env_remove("TOOLTRAIL_LOG").output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| line.starts_with("  "));
    listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn help_has_no_replaced_wording() {
    let (mut wrong, help) = (Vec::new(), printed(&["--help"]));
    check("help", &help, &mut wrong);
    let names = commands(&help);
    assert!(names.len() > 10, "{help}");
    for name in &names {
        let help = printed(&[name, "--help"]);
        check(name, &help, &mut wrong);
        for inner in commands(&help) {
            check(&format!("{name} {inner}"), &printed(&[name, &inner, "--help"]), &mut wrong);
        }
    }
    report(&wrong);
}

/// A server of the demo.
struct DemoServer {
    process: Child,
    host: String,
    _cache: tempfile::TempDir,
}

impl Drop for DemoServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl DemoServer {
    fn start() -> Self {
        let cache = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_tooltrail"))
            .args(["serve", "--no-open", "--no-auth", "--port", "0", "--demo"])
            .env("TOOLTRAIL_CACHE", cache.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        DemoServer { process, host, _cache: cache }
    }

    /// A page, once all logs are read.
    fn page(&self, path: &str) -> String {
        for _ in 0..200 {
            let mut stream = TcpStream::connect(&self.host).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host).unwrap();
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            let answer = String::from_utf8_lossy(&bytes).into_owned();
            if !answer.contains("Reading your logs") && !answer.starts_with("HTTP/1.1 5") {
                return answer;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("no page {path}");
    }
}

/// The names of all calls of the demo: `3f2a:41`.
fn calls() -> Vec<String> {
    let names: Vec<String> = printed(&["calls", "--demo", "--json"])
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["ref"].as_str().map(str::to_owned))
        .collect();
    assert!(names.len() > 50, "{} calls", names.len());
    names
}

#[test]
fn pages_of_the_demo_have_no_replaced_wording() {
    let (mut wrong, server, calls) = (Vec::new(), DemoServer::start(), calls());
    let lists = [
        "/",
        "/sessions",
        "/calls",
        "/failures",
        "/failures?period=all",
        "/p/orbit",
        "/search",
        "/help",
        "/search?q=cargo",
        "/calls?q=stauts:failed",
        "/sessions?q=is:gone",
        "/none",
    ];
    for path in lists {
        check(path, &server.page(path), &mut wrong);
    }
    let mut sessions: Vec<&str> = calls.iter().filter_map(|call| call.split(':').next()).collect();
    sessions.dedup();
    for session in sessions {
        for part in ["", "/waterfall", "/waterfall?view=table", "/changes", "/raw"] {
            let path = format!("/s/{session}{part}");
            check(&path, &server.page(&path), &mut wrong);
        }
    }
    for call in &calls {
        let path = format!("/c/{call}");
        check(&path, &server.page(&path), &mut wrong);
    }
    report(&wrong);
}

#[test]
fn outputs_of_the_demo_have_no_replaced_wording() {
    let (mut wrong, calls) = (Vec::new(), calls());
    for arguments in [
        &["list", "--demo"][..],
        &["calls", "--demo", "-n", "0"],
        &["stats", "--demo"],
        &["check", "--demo"],
        &["board", "--demo", "--once"],
    ] {
        check(&arguments.join(" "), &printed(arguments), &mut wrong);
    }
    let mut sessions: Vec<&str> = calls.iter().filter_map(|call| call.split(':').next()).collect();
    sessions.dedup();
    for session in sessions {
        check(&format!("show {session}"), &printed(&["show", session, "--demo", "--all"]), &mut wrong);
        check(&format!("changes of {session}"), &printed(&["show", session, "--demo", "--changes"]), &mut wrong);
        for to in ["html", "md", "pr"] {
            check(&format!("export {session} {to}"), &printed(&["export", session, "--demo", "--to", to, "--plain"]), &mut wrong);
        }
    }
    report(&wrong);
}
