//! The program's own log: asked for by `--log` or `TOOLTRAIL_LOG`, written to standard error, without a word of the sessions.

#![allow(clippy::unwrap_used)] // a panic is the report

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tooltrail_testkit::shapes;

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).env("TMPDIR", home).current_dir(home).stdin(Stdio::null());
    command
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    command(home, arguments).output().unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A home with one log, and one that is no log.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let logs = home.path().join(".claude/projects/-srv-app");
    fs::create_dir_all(&logs).unwrap();
    let lines: Vec<String> = [2, 3, 6].map(|index| shapes::CLAUDE[index].to_owned()).to_vec();
    fs::write(logs.join("s1.jsonl"), shapes::log(&lines)).unwrap();
    home
}

#[test]
fn the_log_goes_to_standard_error_and_nothing_else_changes() {
    let home = home();
    // Made before, so that both runs find the same catalogue.
    let quiet = run(home.path(), &["calls", "--json"]);
    assert!(quiet.status.success() && quiet.stderr.is_empty(), "{}", err(&quiet));
    for arguments in [&["calls", "--json", "--log", "debug"][..], &["--log", "debug", "calls", "--json"]] {
        let loud = run(home.path(), arguments);
        assert_eq!(loud.stdout, quiet.stdout);
        assert!(err(&loud).contains("found logs files=1"), "{}", err(&loud));
        assert!(err(&loud).contains("refreshed the index"), "{}", err(&loud));
    }
    let by_variable = command(home.path(), &["calls", "--json"]).env("TOOLTRAIL_LOG", "info").output().unwrap();
    assert_eq!(by_variable.stdout, quiet.stdout);
    assert!(err(&by_variable).contains("refreshed the index") && !err(&by_variable).contains("found logs"), "{}", err(&by_variable));
    // The option is nearer than the variable.
    let off = command(home.path(), &["calls", "--json", "--log", "off"]).env("TOOLTRAIL_LOG", "trace").output().unwrap();
    assert!(off.stderr.is_empty() && off.stdout == quiet.stdout, "{}", err(&off));
    let part = run(home.path(), &["calls", "--json", "--log", "formats=debug"]);
    assert!(err(&part).contains("tooltrail_formats::find") && !err(&part).contains("tooltrail_catalog"), "{}", err(&part));
}

#[test]
fn the_log_has_paths_and_positions_and_no_texts() {
    let home = home();
    let logs = home.path().join(".claude/projects/-srv-app");
    let secret = "open sesame and nothing else";
    let line = shapes::CLAUDE[2].replace("\"s1\"", &format!("\"s2\",\"note\":\"{secret}\""));
    let command = format!(
        r#"{{"type":"assistant","uuid":"a9","parentUuid":null,"sessionId":"s2","timestamp":"2026-03-04T10:00:01.000Z","message":{{"id":"m9","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"t9","name":"Bash","input":{{"command":"echo '{secret}' | tail -1"}}}}]}}}}"#
    );
    fs::write(logs.join("s2\n\u{1b}[2J.jsonl"), format!("{line}\n{command}\n")).unwrap();
    for arguments in [&["calls", "--log", "trace"][..], &["show", "s2", "--log", "trace", "--all"], &["search", "sesame", "--log", "trace"]]
    {
        let output = run(home.path(), arguments);
        assert!(err(&output).contains("scanned") || err(&output).contains("refreshed"), "{arguments:?}: {}", err(&output));
        assert!(!err(&output).contains("sesame"), "{arguments:?}: {}", err(&output));
        assert!(!err(&output).contains('\u{1b}'), "{arguments:?}");
        let each = err(&output);
        // The totals of a search go to standard error too.
        let is_event = |line: &str| line.contains(" tooltrail") || line == "1 hit in 1 call of 1 session";
        assert!(each.lines().all(is_event), "every line is an event: {each}");
    }
}

#[test]
fn a_wrong_level_is_told_with_those_that_there_are() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, variable) in [(&["calls", "--log", "loud"][..], ""), (&["calls"], "loud")] {
        let output = command(home.path(), arguments).env("TOOLTRAIL_LOG", variable).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = err(&output);
        assert!(told.contains("`loud` is not a level; use `error`, `warn`, `info`, `debug`, `trace` or `off`"), "{told}");
        assert!(told.contains(if variable.is_empty() { "--log" } else { "TOOLTRAIL_LOG" }), "{told}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_server_logs_its_requests_without_their_queries() {
    let home = home();
    let arguments = ["serve", "--demo", "--no-open", "--port", "0", "--log", "info"];
    let mut process = command(home.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let host = address.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut stream = TcpStream::connect(&host).unwrap();
    write!(stream, "GET /nowhere?q=sesame HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    stream.read_to_string(&mut String::new()).unwrap();
    process.kill().unwrap();
    let mut told = String::new();
    process.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    process.wait().unwrap();
    let served = told.lines().find(|line| line.contains("served a request")).unwrap_or_default();
    assert!(
        served.contains("method=GET") && served.contains("/nowhere") && served.contains("status=404") && served.contains("took="),
        "{told}"
    );
    assert!(!told.contains("sesame"), "{told}");
}
