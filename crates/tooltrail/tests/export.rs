//! What leaves the machine: whatever a secret stands in, no export has it, unless it was asked for.

#![allow(clippy::unwrap_used)] // a panic is the report

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

/// Shaped like a token, made of pieces so that nobody takes this file for a leak.
const SECRET: &str = concat!("gh", "p_", "Zq8Rt2Lm5Nw9Kd3Xv7Bc1Hs6Jf4Yg0PaUeTi");

fn run(home: &Path, arguments: &[&str]) -> Output {
    let output =
        Command::new(env!("CARGO_BIN_EXE_tooltrail")).args(arguments).env_clear().env("HOME", home).current_dir(home).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A session that has the secret wherever a log may have one.
fn log(home: &Path) -> String {
    let at = |second: u32| format!("2026-03-04T10:00:{second:02}.000Z");
    // A prompt whose beginning is cut off in the middle of the secret.
    let long = format!("{} TOKEN={SECRET} please", "x".repeat(180));
    let record = |kind: &str, number: u32, message: Value, more: Value| {
        let mut record = json!({"type": kind, "uuid": format!("u{number}"), "parentUuid": null, "sessionId": "s1", "timestamp": at(number),
            "cwd": format!("/srv/{SECRET}"), "gitBranch": SECRET, "message": message});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    };
    let user = |number, content: Value, more| record("user", number, json!({"role": "user", "content": content}), more);
    let assistant = |number, content: Value| {
        record("assistant", number, json!({"id": format!("m{number}"), "role": "assistant", "model": "m", "content": content}), json!({}))
    };
    let lines = [
        json!({"type": "custom-title", "customTitle": format!("title {SECRET}"), "sessionId": "s1"}),
        user(1, json!(format!("{SECRET} is the first word")), json!({})),
        assistant(
            2,
            json!([{"type": "thinking", "thinking": SECRET}, {"type": "text", "text": format!("said {SECRET}")},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": format!("curl -H {SECRET}"), SECRET: 1}},
            {"type": "tool_use", "id": "t2", "name": "Strange", "input": {"deep": [{"er": SECRET}]}},
            {"type": "tool_use", "id": "t3", "name": "Bash", "input": {"command": "ls"}},
            {"type": "tool_use", "id": "t4", "name": "Bash", "input": {"command": format!("cargo test -- {SECRET} | grep {SECRET}")}},
            {"type": "tool_use", "id": "t5", "name": "Write", "input": {"file_path": format!("/x/{SECRET}"), "content": SECRET}}]),
        ),
        json!({"type": "attachment", "uuid": "h1", "parentUuid": "u2", "sessionId": "s1", "timestamp": at(3), "attachment": {"type": "hook_success",
            "hookName": SECRET, "hookEvent": "PreToolUse", "toolUseID": "t1", "stdout": SECRET, "command": SECRET, "exitCode": 0}}),
        user(
            4,
            json!([{"type": "tool_result", "tool_use_id": "t1", "content": SECRET}]),
            json!({"toolUseResult": {"stdout": SECRET, "stderr": SECRET, "persistedOutputPath": "saved.txt"}}),
        ),
        user(
            5,
            json!([{"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": SECRET}], "is_error": true}]),
            json!({"toolUseResult": SECRET}),
        ),
        user(
            6,
            json!([{"type": "tool_result", "tool_use_id": "t3", "content": "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nuse ".to_owned() + SECRET, "is_error": true}]),
            json!({}),
        ),
        user(
            6,
            json!([{"type": "tool_result", "tool_use_id": "t4", "content": format!("test result: FAILED {SECRET}")},
                {"type": "tool_result", "tool_use_id": "t5", "content": "written"}]),
            json!({}),
        ),
        user(7, json!(long), json!({})),
        user(8, json!(format!("<command-name>/x</command-name><command-args>{SECRET}</command-args>")), json!({})),
        json!({"type": "system", "subtype": "informational", "content": SECRET, "uuid": "y1", "parentUuid": null, "sessionId": "s1", "timestamp": at(9)}),
        json!({"type": "hologram", "uuid": "y2", "sessionId": "s1", "timestamp": at(10), SECRET: {"in": SECRET}}),
    ];
    let path = home.join("session.jsonl");
    std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    std::fs::create_dir_all(home.join("session/tool-results")).unwrap();
    std::fs::write(home.join("session/tool-results/saved.txt"), format!("whole output\n{SECRET}\n")).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn no_export_has_a_secret_wherever_it_stood() {
    let home = tempfile::tempdir().unwrap();
    let log = log(home.path());
    // Part of it would be enough for somebody.
    let pieces = [SECRET, &SECRET[..12], &SECRET[SECRET.len() - 12..]];
    for arguments in
        [&["--to", "html"][..], &["--to", "html", "--plain"], &["--to", "md", "--bodies", "all"], &["--to", "pr"], &["--to", "json"]]
    {
        let export = |more: &[&str]| {
            let all: Vec<&str> =
                ["export", log.as_str()].into_iter().chain(arguments.iter().copied()).chain(more.iter().copied()).collect();
            let output = run(home.path(), &all);
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
        };
        let (text, said) = export(&[]);
        for piece in pieces {
            let at = text.find(piece).map(|at| text[at.saturating_sub(200)..at].to_owned());
            assert_eq!(at, None, "{arguments:?} has {piece}");
        }
        assert!(text.contains("whole output") || arguments == ["--to", "pr"], "{arguments:?}: what was saved beside the log is there");
        assert!(said.contains("redacted:") && said.contains("token"), "{said}");
        let (kept, said) = export(&["--no-redact"]);
        assert!(kept.matches(SECRET).count() > 8, "{arguments:?}");
        assert!(said.contains("nothing was redacted"), "{said}");
    }
}

#[test]
fn a_file_is_replaced_whole_and_compressed_by_its_name() {
    let home = tempfile::tempdir().unwrap();
    let log = log(home.path());
    let (plain, packed) = (home.path().join("a.html"), home.path().join("a.html.gz"));
    std::fs::write(&plain, "old").unwrap();
    run(home.path(), &["export", &log, "-o", plain.to_str().unwrap()]);
    run(home.path(), &["export", &log, "-o", packed.to_str().unwrap()]);
    let text = std::fs::read_to_string(&plain).unwrap();
    let mut unpacked = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(std::fs::File::open(&packed).unwrap()), &mut unpacked).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text == unpacked);
    let left: Vec<_> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with(".tooltrail"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
