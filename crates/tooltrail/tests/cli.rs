//! The program as people and scripts meet it: what it reads, what it prints where, and how it exits.
//!
//! Every test makes a home directory of its own and runs the built program in it with an empty environment.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use tooltrail_testkit::corpus::{CorpusPlan, generate};
use tooltrail_testkit::shapes;

/// A home directory, gone when the test ends.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Home(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file below the home directory.
    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// A home with one session whose only call was answered.
    fn with_session(session: &str) -> Self {
        let home = Home::new();
        home.write(&format!(".claude/projects/-srv-app/{session}.jsonl"), good_log(session));
        home
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.args(arguments).env_clear().env("HOME", self.path()).current_dir(self.path());
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and reads the JSON it prints.
    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", err(&output));
        lines(&output)
    }
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    out(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A prompt, a call, its result.
fn good_log(session: &str) -> Vec<u8> {
    let lines: Vec<String> = [2, 3, 6].map(|index| shapes::CLAUDE[index].replace("\"s1\"", &format!("\"{session}\""))).to_vec();
    // Ids must differ between sessions, or the calls would be copies of each other.
    shapes::log(&lines.iter().map(|line| line.replace("toolu_1", &format!("toolu_{session}"))).collect::<Vec<_>>())
}

fn sessions(rows: &[Value]) -> Vec<&str> {
    let mut sessions: Vec<&str> = rows.iter().map(|row| row["session"].as_str().unwrap()).collect();
    sessions.sort_unstable();
    sessions
}

const READING: [&str; 3] = ["calls", "list", "stats"];

#[test]
fn exit_codes_tell_what_happened() {
    let good = Home::with_session("aaaa");
    let empty = Home::new();
    let foreign = Home::new();
    foreign.write(".claude/projects/p/x.jsonl", "{\"note\":1}\n");
    for command in READING {
        for json in [&[][..], &["--json"]] {
            let arguments = [&[command][..], json].concat();
            assert_eq!(good.run(&arguments).status.code(), Some(0), "{arguments:?}");
            assert_eq!(empty.run(&arguments).status.code(), Some(2), "{arguments:?} without logs");
            assert_eq!(foreign.run(&arguments).status.code(), Some(2), "{arguments:?} with a foreign file only");
        }
    }
    for arguments in [
        &["frobnicate"][..],
        &["calls", "--frobnicate"],
        &["calls", "-n", "many"],
        &["stats", "--alive", "soon"],
        &["list", "--demo", "--root", "."],
    ] {
        let output = good.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    for arguments in [&["calls", "/not/there.jsonl"][..], &["check", "/not/there"], &["list", "--root", "/not/there"]] {
        let output = good.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(err(&output).contains("/not/there"), "{}", err(&output));
    }
    let file = good.path().join(".claude/projects/-srv-app/aaaa.jsonl");
    assert_eq!(good.run(&["list", "--root", file.to_str().unwrap()]).status.code(), Some(2));
    for arguments in [&["--help"][..], &["--version"]] {
        assert_eq!(empty.run(arguments).status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn check_says_1_for_issues_and_0_for_none() {
    let good = Home::with_session("aaaa");
    assert_eq!(good.run(&["check"]).status.code(), Some(0));
    assert_eq!(good.json(&["check", "--json"])[0]["issues"], Value::Array(Vec::new()));
    let bad = Home::with_session("aaaa");
    bad.write(".claude/projects/p/bbbb.jsonl", [good_log("bbbb"), b"torn {\n".to_vec()].concat());
    for arguments in [&["check"][..], &["check", "--json"]] {
        let output = bad.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(out(&output).contains("unparsed_line"), "{}", out(&output));
    }
    assert_eq!(Home::new().run(&["check"]).status.code(), Some(2));
    // A file that is nobody's log is listed and is no reason to fail.
    let foreign = Home::with_session("aaaa");
    foreign.write(".claude/projects/p/notes.jsonl", "{\"note\":1}\nnot json\n");
    let rows = foreign.json(&["check", "--json"]);
    assert_eq!(rows.len(), 2);
    let row = rows.iter().find(|row| row["agent"].is_null()).unwrap();
    assert_eq!((&row["lines"], &row["unparsed"]), (&2.into(), &1.into()));
}

#[test]
fn without_logs_it_says_where_it_looked_and_what_to_do() {
    let home = Home::new();
    for arguments in [&[][..], &["calls"], &["list"], &["stats"], &["check"]] {
        let output = home.run(arguments);
        let text = err(&output);
        for word in [".claude/projects", ".codex/sessions", "--root", "--demo", home.path().to_str().unwrap()] {
            assert!(text.contains(word), "{arguments:?} does not mention {word}: {text}");
        }
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn colours_come_only_when_they_are_wanted() {
    let home = Home::with_session("aaaa");
    let colourful = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = home.command(arguments).envs(variables.iter().copied()).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        out(&output).contains('\u{1b}')
    };
    for command in ["calls", "list", "stats"] {
        assert!(!colourful(&[command], &[]), "{command} into a pipe");
        assert!(colourful(&[command, "--color", "always"], &[]), "{command}");
        assert!(colourful(&[command, "--color", "always"], &[("NO_COLOR", "1")]), "{command}");
        assert!(colourful(&[command], &[("CLICOLOR_FORCE", "1")]), "{command}");
        assert!(!colourful(&[command], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{command}");
        assert!(!colourful(&[command, "--color", "never"], &[("CLICOLOR_FORCE", "1")]), "{command}");
        assert!(!colourful(&[command, "--json", "--color", "always"], &[]), "{command}");
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let home = Home::new();
    generate(home.path(), &CorpusPlan { bytes: 2_000_000, seed: 3 }).unwrap();
    for arguments in
        [&["calls", "--json"][..], &["calls", "-n", "0"], &["calls", "--json", "--copies"], &["check", "--json"], &["completions", "zsh"]]
    {
        let mut child = home.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::with_capacity(64, child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{arguments:?}");
        drop(stdout);
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let code = child.wait().unwrap().code();
        assert!(code == Some(0) || (arguments[0] == "check" && code == Some(1)), "{arguments:?}: {code:?}");
        assert_eq!(errors, "", "{arguments:?}");
    }
}

/// Runs a command as somebody who may not read everything. `None` where that cannot be had.
#[cfg(unix)]
fn run_unprivileged(home: &Home, arguments: &[&str], forbidden: &Path) -> Option<Output> {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(forbidden, fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = home.command(arguments);
    let read = |path: &Path| {
        if path.is_dir() { fs::read_dir(path).is_ok() } else { fs::read(path).is_ok() }
    };
    if read(forbidden) {
        // Whoever runs this test may read anything; `nobody` may not.
        command.uid(65534).gid(65534);
    }
    let output = command.output().ok();
    fs::set_permissions(forbidden, fs::Permissions::from_mode(0o755)).unwrap();
    output
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_read() {
    let home = Home::with_session("aaaa");
    let file = home.write(".claude/projects/p/bbbb.jsonl", good_log("bbbb"));
    home.write(".claude/projects/q/cccc.jsonl", good_log("cccc"));
    let directory = home.path().join(".claude/projects/q");
    for (forbidden, left) in [(file, ["aaaa", "cccc"]), (directory, ["aaaa", "bbbb"])] {
        let Some(output) = run_unprivileged(&home, &["list", "--json"], &forbidden) else {
            println!("cannot run as somebody else here: nothing tested");
            return;
        };
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert_eq!(sessions(&lines(&output)), left);
        assert!(err(&output).contains(forbidden.to_str().unwrap()), "{}", err(&output));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_fails_to_read_is_told() {
    let home = Home::with_session("aaaa");
    let log = home.path().join(".claude/projects/-srv-app/aaaa.jsonl");
    // A file that opens, and fails at the first read.
    let output = home.run(&["list", "--json", log.to_str().unwrap(), "/proc/self/mem"]);
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert_eq!(sessions(&lines(&output)), ["aaaa"]);
    let output = home.run(&["check", "--json", log.to_str().unwrap(), "/proc/self/mem"]);
    let told = out(&output).contains("read_error") || err(&output).contains("/proc/self/mem");
    assert!(told, "{}{}", out(&output), err(&output));
}

#[test]
fn several_roots_are_read() {
    let (one, other) = (Home::with_session("aaaa"), Home::with_session("bbbb"));
    let roots = ["--root", one.path().to_str().unwrap(), "--root", other.path().to_str().unwrap()];
    let third = Home::with_session("cccc");
    let rows = third.json(&[&["list", "--json"][..], &roots].concat());
    assert_eq!(sessions(&rows), ["aaaa", "bbbb"]);
    let rows = third.json(&[&roots[..], &["calls", "--json"]].concat());
    assert_eq!(sessions(&rows), ["aaaa", "bbbb"]);
    // The same root twice is one root.
    let rows = third.json(&["check", "--json", roots[0], roots[1], roots[0], roots[1]]);
    assert_eq!(rows.len(), 1);
}

#[test]
fn the_environment_names_places() {
    let home = Home::with_session("aaaa");
    home.write("one/projects/p/bbbb.jsonl", good_log("bbbb"));
    home.write("two/projects/p/cccc.jsonl", good_log("cccc"));
    home.write("codex/sessions/2026/07/02/rollout-2026-07-02T09-00-00-0197-a.jsonl", shapes::log(shapes::CODEX));
    let places = format!("{0}/one, {0}/two", home.path().display());
    let mut command = home.command(&["list", "--json"]);
    let output = command.env("CLAUDE_CONFIG_DIR", places).env("CODEX_HOME", home.path().join("codex")).output().unwrap();
    assert_eq!(sessions(&lines(&output)), ["0197-a", "bbbb", "cccc"]);
    home.write("xdg/claude/projects/p/dddd.jsonl", good_log("dddd"));
    let output = home.command(&["list", "--json"]).env("XDG_CONFIG_HOME", home.path().join("xdg")).output().unwrap();
    assert_eq!(sessions(&lines(&output)), ["aaaa", "dddd"]);
}

#[test]
fn a_file_brings_its_subagents() {
    let home = Home::new();
    let log = home.write("logs/aaaa.jsonl", good_log("aaaa"));
    home.write("logs/bbbb.jsonl", good_log("bbbb"));
    let inner = shapes::CLAUDE[16].replace("\"s1\"", "\"aaaa\"").replace("\"isSidechain\"", "\"agentId\":\"a0123\",\"isSidechain\"");
    home.write("logs/aaaa/subagents/agent-a0123.jsonl", shapes::log(&[inner]));
    let rows = home.json(&["calls", "--json", log.to_str().unwrap()]);
    assert_eq!(sessions(&rows), ["aaaa", "aaaa"]);
    let agents: Vec<&Value> = rows.iter().map(|row| &row["agent_id"]).collect();
    assert!(agents.contains(&&"a0123".into()) && agents.contains(&&Value::Null), "{agents:?}");
    assert_eq!(home.json(&["list", "--json", log.to_str().unwrap()])[0]["files"].as_array().unwrap().len(), 2);
    assert_eq!(home.json(&["list", "--json", "logs"]).len(), 2);
}

#[test]
fn paths_are_printed_as_they_were_given() {
    let home = Home::with_session("aaaa");
    home.write("logs/bbbb.jsonl", good_log("bbbb"));
    let file = |rows: &[Value]| rows[0]["request"]["file"].as_str().unwrap().to_owned();
    assert_eq!(file(&home.json(&["calls", "--json", "logs/bbbb.jsonl"])), "logs/bbbb.jsonl");
    assert_eq!(file(&home.json(&["calls", "--json", "./logs"])), "./logs/bbbb.jsonl");
    assert!(Path::new(&file(&home.json(&["calls", "--json"]))).is_absolute());
}

#[test]
fn hidden_directories_are_walked_to_any_depth() {
    let home = Home::new();
    home.write("logs/.hidden/a/b/c/d/.deep/aaaa.jsonl", good_log("aaaa"));
    home.write("logs/bbbb.jsonl", good_log("bbbb"));
    home.write("logs/bbbb.txt", good_log("cccc"));
    assert_eq!(sessions(&home.json(&["list", "--json", "logs"])), ["aaaa", "bbbb"]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    home.write("logs/aaaa.jsonl", good_log("aaaa"));
    home.write("elsewhere/bbbb.jsonl", good_log("bbbb"));
    symlink(home.path().join("elsewhere"), home.path().join("logs/link")).unwrap();
    symlink(home.path().join("elsewhere/bbbb.jsonl"), home.path().join("logs/link.jsonl")).unwrap();
    symlink(home.path().join("logs"), home.path().join("logs/circle")).unwrap();
    assert_eq!(sessions(&home.json(&["list", "--json", "logs"])), ["aaaa"]);
    // A side directory that is a link may lead anywhere.
    symlink(home.path().join("elsewhere"), home.path().join("logs/aaaa")).unwrap();
    assert_eq!(sessions(&home.json(&["list", "--json", "logs/aaaa.jsonl"])), ["aaaa"]);
}

#[test]
fn the_tilde_is_home() {
    let home = Home::new();
    home.write("logs/aaaa.jsonl", good_log("aaaa"));
    for path in ["~/logs/aaaa.jsonl", "~/logs", "~"] {
        let rows = home.json(&["list", "--json", path]);
        assert_eq!(sessions(&rows), ["aaaa"], "{path}");
        assert!(!rows[0]["files"][0].as_str().unwrap().contains('~'));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_whose_names_are_no_text_are_all_read() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::with_session("aaaa");
    for (name, session) in [(&b"x\xff.jsonl"[..], "bbbb"), (b"x\xfe.jsonl", "cccc")] {
        let path = home.path().join(".claude/projects/-srv-app").join(std::ffi::OsStr::from_bytes(name));
        if fs::write(path, good_log(session)).is_err() {
            println!("this file system has no such names: nothing tested");
            return;
        }
    }
    assert_eq!(sessions(&home.json(&["list", "--json"])), ["aaaa", "bbbb", "cccc"]);
}

#[test]
fn help_shows_examples_and_completions_are_there() {
    let home = Home::new();
    for arguments in [
        &["--help"][..],
        &["calls", "--help"],
        &["list", "--help"],
        &["ls", "--help"],
        &["check", "--help"],
        &["stats", "--help"],
        &["completions", "--help"],
    ] {
        let text = out(&home.run(arguments));
        assert!(text.contains("Examples:"), "{arguments:?}: {text}");
        assert!(text.lines().filter(|line| line.trim_start().starts_with("tooltrail")).count() >= 3, "{arguments:?}: {text}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let output = home.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        for word in ["calls", "check", "list", "stats", "root"] {
            assert!(out(&output).contains(word), "{shell} does not complete {word}");
        }
    }
    assert_eq!(home.run(&["completions", "tcsh9"]).status.code(), Some(2));
}

/// The keys of an object in the order in which they stand.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

const CALL: &str = "v agent session agent_id ref call tool server kind status reason evidence requested_at completed_at duration_ms run_ms exit_code exit_of \
    masked purpose is_error input_bytes result_bytes model message parallel parent_call child_session background hooks request result cwd sidechain copy_of about \
    unwrapped inner origin input_from";
const SESSION: &str =
    "v agent session title project branch started_at last_at state state_reason turns calls by_status models usage files inner_calls";
const CHECK: &str =
    "v agent file bytes lines blank records unparsed unknown_records calls paired unanswered orphan_results duplicate_results issues";
const STATS: &str = "v sources bytes lines unparsed sessions turns calls by_status by_tool usage inner_calls";

#[test]
fn json_has_the_keys_of_the_contracts_in_their_order() {
    let home = Home::new();
    home.write(".claude/projects/p/s1.jsonl", shapes::log(shapes::CLAUDE));
    home.write(".claude/projects/p/fork.jsonl", shapes::log(&shapes::CLAUDE[..12]));
    home.write(".claude/projects/p/odd.jsonl", shapes::log(shapes::ODD));
    home.write(".codex/sessions/2026/07/02/rollout-2026-07-02T09-00-00-0197-a.jsonl", shapes::log(shapes::CODEX));
    let (mut hooks, mut tasks, mut copies) = (0, 0, 0);
    for arguments in [&["calls", "--json"][..], &["calls", "--json", "--copies"]] {
        for row in home.json(arguments) {
            assert_eq!(keys(&row), words(CALL));
            for place in ["evidence", "request", "result", "copy_of"].map(|name| &row[name]).into_iter().filter(|place| !place.is_null()) {
                assert_eq!(keys(place), ["file", "line"]);
            }
            for hook in row["hooks"].as_array().unwrap() {
                assert_eq!(keys(hook), words("event name command outcome exit_code duration_ms evidence"));
                hooks += 1;
            }
            if !row["background"].is_null() {
                assert_eq!(keys(&row["background"]), words("id state exit_code ended_at evidence"));
                tasks += 1;
            }
            copies += usize::from(!row["copy_of"].is_null());
            assert_eq!(row["v"], 1);
        }
    }
    assert!(hooks > 0 && tasks > 0 && copies > 0, "{hooks} {tasks} {copies}");
    for row in home.json(&["list", "--json"]) {
        assert_eq!(keys(&row), words(SESSION));
        assert_eq!(keys(&row["usage"]), words("input output cache_write_5m cache_write_1h cache_read"));
    }
    let output = home.run(&["check", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    for row in lines(&output) {
        assert_eq!(keys(&row), words(CHECK));
        for issue in row["issues"].as_array().unwrap() {
            let with_call = keys(issue) == ["code", "line", "call", "text"];
            assert!(with_call || keys(issue) == ["code", "line", "text"], "{issue}");
        }
    }
    let stats = home.json(&["stats", "--json"]);
    assert_eq!(stats.len(), 1);
    assert_eq!(keys(&stats[0]), words(STATS));
    for (_, tool) in stats[0]["by_tool"].as_object().unwrap() {
        assert_eq!(keys(tool), words("calls by_status p50_ms p95_ms"));
    }
    for (_, model) in stats[0]["usage"].as_object().unwrap() {
        assert_eq!(keys(model), words("messages input output cache_write_5m cache_write_1h cache_read"));
    }
    assert_eq!(home.json(&["--json"]), stats);
}

#[test]
fn threads_do_not_change_what_is_printed() {
    let home = Home::new();
    generate(home.path(), &CorpusPlan { bytes: 1_000_000, seed: 4 }).unwrap();
    for arguments in [&["calls", "--json", "--copies"][..], &["list", "--json"], &["stats", "--json"], &["check", "--json"]] {
        let of = |threads: &str| home.run(&[arguments, &["--threads", threads][..]].concat()).stdout;
        assert!(!of("1").is_empty());
        assert!(of("1") == of("5"), "{arguments:?}");
    }
}

#[test]
fn newest_calls_are_the_last_ones() {
    let home = Home::new();
    generate(home.path(), &CorpusPlan { bytes: 500_000, seed: 4 }).unwrap();
    let all = home.json(&["calls", "--json"]);
    let three = home.json(&["calls", "--json", "-n", "3"]);
    let time = |row: &Value| row["requested_at"].as_str().unwrap().to_owned();
    let mut times: Vec<String> = all.iter().map(time).collect();
    times.sort();
    let mut newest: Vec<String> = three.iter().map(time).collect();
    newest.sort();
    assert_eq!(newest, times[times.len() - 3..]);
    assert!(home.json(&["calls", "--json", "-n", "0"]) == all);
}

#[test]
fn a_call_runs_as_long_as_its_session_lives() {
    let home = Home::new();
    let path = home.write(".claude/projects/p/s1.jsonl", shapes::log(&shapes::CLAUDE[2..4]));
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_618_404);
    fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
    let status = |arguments: &[&str]| home.json(&[&["calls", "--json"][..], arguments].concat())[0]["status"].as_str().unwrap().to_owned();
    assert_eq!(status(&["--now", "2026-03-04T10:01:00Z"]), "running");
    assert_eq!(status(&["--now", "2026-03-04T11:01:00Z"]), "unanswered");
    assert_eq!(status(&["--now", "2026-03-04T11:01:00Z", "--alive", "2h"]), "running");
    assert_eq!(status(&["--now", "2026-03-04T10:01:00Z", "--alive", "0s"]), "unanswered");
    assert_eq!(status(&[]), "unanswered");
}

#[test]
fn nothing_in_a_log_reaches_the_terminal_as_a_command() {
    let home = Home::new();
    let evil = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\r\b";
    let record = |kind: &str, message: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{kind}{evil}","sessionId":"s{evil}","cwd":"/srv/{evil}","gitBranch":"{evil}","timestamp":"2026-03-04T10:00:00.000Z","message":{message}}}"#
        )
    };
    let prompt = record("user", &format!(r#"{{"content":"title {evil}"}}"#));
    let call = record(
        "assistant",
        &format!(
            r#"{{"id":"m{evil}","model":"model{evil}","usage":{{"output_tokens":1}},"content":[{{"type":"tool_use","id":"toolu{evil}","name":"Tool{evil}","input":{{"command":"ls {evil}"}}}}]}}"#
        ),
    );
    let type_of = format!(r#"{{"type":"odd{evil}","sessionId":"s{evil}"}}"#);
    home.write(".claude/projects/p/s1.jsonl", shapes::log(&[prompt, call, type_of]));
    let odd_name = if cfg!(unix) { "p/\u{1b}[31mred.jsonl" } else { "p/red.jsonl" };
    home.write(&format!(".claude/projects/{odd_name}"), [good_log("aaaa"), b"torn\n".to_vec()].concat());
    for command in ["calls", "list", "stats", "check"] {
        for variables in [&[][..], &[("COLUMNS", "300")]] {
            let output = home.command(&[command, "--color", "never"]).envs(variables.iter().copied()).output().unwrap();
            let text = out(&output) + &err(&output);
            let bad = text.chars().find(|char| (char.is_control() && *char != '\n') || *char == '\u{202e}');
            assert!(bad.is_none(), "{command} prints {bad:?}: {text:?}");
        }
    }
}

/// A session that breaks off: a prompt, a call, and an interrupt instead of a result.
fn interrupted_log(session: &str) -> String {
    let record = |line: u32, kind: &str, content: Value| {
        let message = serde_json::json!({"role": kind, "id": format!("m{line}"), "content": content});
        serde_json::json!({"type": kind, "uuid": format!("u{line}"), "sessionId": session, "cwd": "/srv/app",
            "timestamp": format!("2026-03-04T10:00:{line:02}.000Z"), "message": message})
    };
    let call = serde_json::json!([{"type": "tool_use", "id": "toolu_a", "name": "Bash", "input": {"command": "sleep 9"}}]);
    let records = [
        record(1, "user", "mail me at sam@quayside-mail.com".into()),
        record(2, "assistant", call),
        record(3, "user", "[Request interrupted by user for tool use]".into()),
    ];
    records.map(|record| format!("{record}\n")).concat()
}

#[test]
fn printed_evidence_can_be_asked_for() {
    let home = Home::new();
    let file = home.write("logs/s1.jsonl", interrupted_log("s1"));
    let call = &home.json(&["calls", "logs", "--json"])[0];
    assert_eq!((&call["status"], &call["evidence"]["line"]), (&Value::from("interrupted"), &Value::from(3)));
    for wanted in [format!("{}:3", file.display()), "logs/s1.jsonl:2".to_owned(), "~/logs/s1.jsonl:2".to_owned()] {
        let shown = home.json(&["show", &wanted, "--json"]);
        assert_eq!(shown[0]["call"]["call"], "toolu_a", "{wanted}");
    }
    assert_eq!(home.run(&["show", "logs/s1.jsonl:1"]).status.code(), Some(2));
}

#[test]
fn raw_records_of_a_session_are_all_there() {
    let home = Home::new();
    home.write("s1.jsonl", good_log("s1"));
    let raw = home.run(&["show", "s1.jsonl", "--raw"]);
    assert!(out(&raw).contains("tool_result"), "{}", out(&raw));
}

#[test]
fn what_is_shared_is_redacted_throughout() {
    let home = Home::new();
    home.write("s1.jsonl", interrupted_log("s1"));
    for to in tooltrail_view::render::outputs::OUTPUTS.iter().map(|output| output.name) {
        let shared = home.run(&["export", "s1.jsonl", "--to", to, "-o", "-"]);
        assert_eq!(shared.status.code(), Some(0), "{}", err(&shared));
        assert!(!out(&shared).contains("sam@quayside-mail.com"), "{to}: {}", out(&shared));
    }
}
