//! `verify` for people, programs and hooks, and the verdict that every output shows: one session claims that all tests pass over a run
//! that failed.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory of its own for a test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("verify-{name}"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Runs the program with a configuration file and something on its standard input.
fn run(config: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env("TOOLTRAIL_CONFIG", config).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read its input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// The exit status and the two outputs.
fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// The path of an empty configuration file.
fn empty(directory: &Path) -> PathBuf {
    let config = directory.join("config.toml");
    fs::write(&config, "").unwrap();
    config
}

#[test]
fn the_demo_is_verified_with_exact_gaps() {
    let config = empty(&directory("demo"));
    let verify = |more: &[&str]| told(&run(&config, &[&["--demo", "verify"], more].concat(), ""));
    let (code, out, _) = verify(&["6ab3"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.starts_with("✗ not verified  6ab3 "), "{out}");
    assert!(out.contains("`cargo test` says “test result: FAILED. 41 passed; 1 failed;"), "{out}");
    assert!(out.contains("its own exit code was not recorded (that of `tail -6` was): #3"), "{out}");
    let (code, out, _) = verify(&["e41c"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("ran before 2 edits: #"), "{out}");
    // Nothing was edited or claimed where only words were said.
    let (code, out, _) = verify(&["last:failed", "--json"]);
    let row: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(row["passed"], code == 0, "{out}");
    let (code, out, _) = verify(&["6ab3", "--json"]);
    let row: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &row["passed"], &row["needed"]), (1, &json!(false), &json!(["test"])));
    let gap = &row["gaps"][0];
    assert_eq!((&gap["check"], &gap["needed"], &gap["gap"]), (&json!("test"), &json!("ran"), &json!("reported_failed")));
    assert_eq!((&gap["run"]["ref"], &gap["run"]["line"]), (&json!("6ab3:3"), &json!(8)));
    assert_eq!(row["verdict"]["state"], "red");
    assert_eq!(verify(&["nobody"]).0, 2);
}

#[test]
fn a_false_claim_is_red_in_every_output() {
    let place = directory("outputs");
    let config = empty(&place);
    let demo = |arguments: &[&str]| {
        let (code, out, err) = told(&run(&config, &[&["--demo"], arguments].concat(), ""));
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    };
    let shown = demo(&["show", "6ab3"]);
    let head = shown.split("Asked").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(head.contains("Tests ✗ agent says “All tests pass” · output says “test result: FAILED. 41 passed; 1 failed;"), "{shown}");
    let document: Value = serde_json::from_str(&demo(&["show", "6ab3", "--json"])).unwrap();
    let verdict = &document["verdict"];
    assert_eq!((&verdict["state"], &verdict["reason"]), (&json!("red"), &json!("claim_contradicted")));
    let claim = &verdict["claims"][0];
    assert_eq!((&claim["text"], &claim["standing"], &claim["check"]), (&json!("All tests pass"), &json!("contradicted"), &json!("test")));
    assert_eq!((&verdict["test"]["state"], &verdict["build"]), (&json!("reported"), &json!({"state": "none"})));
    let row = demo(&["list", "--json", "--digest"]);
    let row = row.lines().find(|line| line.contains("6ab3d920")).unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&row).unwrap()["verdict"], *verdict);
    let listed = demo(&["list"]);
    let line = listed.lines().find(|line| line.starts_with("6ab3")).unwrap();
    assert!(line.contains("✗ false claim") && line.contains("+3 −1"), "{listed}");
    for (format, words) in [
        ("html", "agent says “All tests pass”"),
        ("md", "**Tests ✗** agent says “All tests pass”"),
        ("pr", "**Tests ✗** agent says “All tests pass”"),
    ] {
        let page = place.join(format!("page.{format}"));
        demo(&["export", "6ab3", "--to", format, "-o", page.to_str().unwrap()]);
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains(words), "{format}");
    }
    let page = fs::read_to_string(place.join("page.html")).unwrap();
    assert!(page.contains("verdict-strip t-error") && page.contains("aria-label=\"Verdict: failed\""));
}

#[test]
fn one_number_of_lines_stands_everywhere() {
    let config = empty(&directory("lines"));
    let demo = |arguments: &[&str]| told(&run(&config, &[&["--demo"], arguments].concat(), "")).1;
    let rows: Vec<Value> = demo(&["list", "--json", "--digest"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut changed = 0;
    for row in &rows {
        let shown = demo(&["show", row["session"].as_str().unwrap(), "--changes", "--json"]);
        let files: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let sum = |field: &str| files.iter().map(|file| file[field].as_u64().unwrap()).sum::<u64>();
        let net = &row["digest"]["changed"]["net"];
        let told = (net["files"].as_u64().unwrap(), net["added"].as_u64().unwrap(), net["removed"].as_u64().unwrap());
        assert_eq!(told, (files.len() as u64, sum("added"), sum("removed")), "{}", row["session"]);
        let strip = &row["verdict"]["changed"];
        assert!(if files.is_empty() { strip.is_null() } else { strip == net }, "{strip} {net}");
        changed += usize::from(!files.is_empty());
    }
    assert!(changed > 4, "{changed}");
}

/// A log of a session that edits a file, runs tests with this result, and answers.
fn log(directory: &Path, tests: Option<(&str, bool)>, answer: &str) -> PathBuf {
    let line = |value: &Value| format!("{value}\n");
    let (mut text, mut parent, mut number) = (String::new(), Value::Null, 0);
    let mut say = |kind: &str, content: Value| {
        number += 1;
        let uuid = format!("u{number}");
        let time = format!("2026-03-04T10:00:{number:02}.000Z");
        let message = json!({"role": kind, "id": format!("msg_{number}"), "model": "model-1", "content": content});
        let record = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": time, "sessionId": "5e551011-0000-4000-8000-000000000001",
            "cwd": "/srv/app", "version": "2.1.0", "message": message});
        parent = json!(uuid);
        text.push_str(&line(&record));
    };
    say("user", json!("fix the parser"));
    let edit = json!({"file_path": "/srv/app/a.rs", "old_string": "1", "new_string": "2"});
    say("assistant", json!([{"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": edit}]));
    say("user", json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "The file /srv/app/a.rs has been updated."}]));
    if let Some((output, failed)) = tests {
        say("assistant", json!([{"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "cargo test"}}]));
        say("user", json!([{"type": "tool_result", "tool_use_id": "toolu_2", "content": output, "is_error": failed}]));
    }
    say("assistant", json!([{"type": "text", "text": answer}]));
    let file = directory.join("5e551011-0000-4000-8000-000000000001.jsonl");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn a_hook_keeps_the_agent_going_once() {
    let place = directory("hook");
    let config = empty(&place);
    let hook = |file: &Path, more: Value| {
        let mut input = json!({"session_id": "s", "transcript_path": file, "hook_event_name": "Stop", "stop_hook_active": false});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        told(&run(&config, &["verify", "--stop-hook"], &input.to_string()))
    };
    let untested = log(&place, None, "Done.");
    let (code, out, err) = hook(&untested, json!({}));
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("no tests ran, but files were edited"), "{err}");
    // The second time it lets the agent stop, and still says what is missing.
    let (code, _, err) = hook(&untested, json!({"stop_hook_active": true}));
    assert!(code == 0 && err.contains("no tests ran"), "{code} {err}");
    let failed = log(&place, Some(("Exit code 101\nerror: test failed", true)), "Done.");
    let (code, _, err) = hook(&failed, json!({}));
    assert!(code == 2 && err.contains("`cargo test` failed with exit code 101"), "{code} {err}");
    let passed = log(&place, Some(("test result: ok. 3 passed; 0 failed", false)), "Done.");
    assert_eq!(hook(&passed, json!({})), (0, String::new(), String::new()));
    // A claim that is not in the log yet.
    let (code, _, err) = hook(&passed, json!({"last_assistant_message": "Clippy is clean."}));
    assert!(code == 2 && err.contains("no linter ran, but the agent says that it passed"), "{code} {err}");
    // What cannot be checked must not keep an agent going.
    assert_eq!(hook(&place.join("missing.jsonl"), json!({})).0, 1);
    assert_eq!(told(&run(&config, &["verify", "--stop-hook"], "no JSON")).0, 1);
    fs::write(&config, "[verify]\nrequires = 1\n").unwrap();
    assert_eq!(hook(&passed, json!({})).0, 1);
}

#[test]
fn a_policy_comes_from_a_file_and_from_options() {
    let place = directory("policy");
    let config = empty(&place);
    let file = log(&place, Some(("test result: ok. 3 passed; 0 failed", false)), "Done.");
    let verify = |more: &[&str]| told(&run(&config, &[&["verify", file.to_str().unwrap()], more].concat(), ""));
    let (code, out, _) = verify(&[]);
    assert!(code == 0 && out.contains("`cargo test` passed: #2"), "{out}");
    assert_eq!(verify(&["--require", "test,lint"]).0, 1);
    fs::write(&config, "[verify]\nrequire = [\"lint\"]\n").unwrap();
    let (code, out, _) = verify(&[]);
    assert!(code == 1 && out.contains("no linter ran, and the policy requires it"), "{out}");
    // Options stand above the file, and ignored edits need nothing.
    assert_eq!(verify(&["--require", "test"]).0, 0);
    assert_eq!(verify(&["--ignore", "*.rs"]).0, 0);
    fs::write(&config, "[verify]\nreqire = [\"lint\"]\n").unwrap();
    let (code, _, err) = verify(&[]);
    assert!(code == 2 && err.contains("line 2: unknown key `verify.reqire`; did you mean `verify.require`?"), "{code} {err}");
    assert_eq!(verify(&["--require", "tests"]).0, 2);
}
