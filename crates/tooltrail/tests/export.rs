//! What leaves the machine: whatever a secret stands in, no export has it, unless it was asked for.

#![allow(clippy::unwrap_used)] // a panic is the report

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use tooltrail_view::render::outputs::OUTPUTS;

/// Shaped like a token, made of pieces so that nobody takes this file for a leak.
const SECRET: &str = concat!("gh", "p_", "Zq8Rt2Lm5Nw9Kd3Xv7Bc1Hs6Jf4Yg0PaUeTi");

fn run(home: &Path, arguments: &[&str]) -> Output {
    let output =
        Command::new(env!("CARGO_BIN_EXE_tooltrail")).args(arguments).env_clear().env("HOME", home).current_dir(home).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The arguments for every output, each showing as much as it can.
fn outputs() -> Vec<Vec<&'static str>> {
    let fully = |name| if name == "md" { vec!["--to", name, "--bodies", "all"] } else { vec!["--to", name] };
    OUTPUTS.iter().map(|output| fully(output.name)).chain([vec!["--to", "html", "--plain"]]).collect()
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
    for arguments in outputs() {
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
        // Other outputs show a part of the session only.
        let is_whole = ["html", "md", "json"].contains(&arguments[1]);
        assert!(text.contains("whole output") || !is_whole, "{arguments:?}: what was saved beside the log is there");
        assert!(said.contains("redacted:") && said.contains("token"), "{said}");
        let (kept, said) = export(&["--no-redact"]);
        assert!(kept.matches(SECRET).count() > if is_whole { 8 } else { 0 }, "{arguments:?}: the secret would be there");
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

/// A private key, drawn when the test runs: its lines, the last one short as it is in real ones.
fn key() -> Vec<String> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[(state >> 33) as usize % 62])
    };
    let body: Vec<String> = [64, 64, 64, 64, 20].iter().map(|len| (0..*len).map(|_| letter()).collect()).collect();
    let kind = concat!("PRIVATE", " KEY-----");
    [vec![format!("-----BEGIN {kind}")], body, vec![format!("-----END {kind}")]].concat()
}

/// The places where logs have a text in pieces: a name for each, and the records of a call that has the key there.
fn places(key: &[String]) -> Vec<(&'static str, Vec<Value>)> {
    let signed = |sign: &str| key.iter().map(|line| format!("{sign}{line}")).collect::<Vec<_>>();
    let numbered = || key.iter().enumerate().map(|(at, line)| format!("{:>6}→{line}", at + 1)).collect::<Vec<_>>();
    let whole = key.join("\n") + "\n";
    let patched = |lines: Vec<String>| {
        let lines = [vec![" before".to_owned()], lines, vec![" after".to_owned()]].concat();
        json!({"filePath": "/srv/app/a.txt", "oldString": "a", "newString": "b", "originalFile": null,
            "structuredPatch": [{"oldStart": 7, "oldLines": 1, "newStart": 7, "newLines": 9, "lines": lines}]})
    };
    let edit = || json!({"file_path": "/srv/app/a.txt", "old_string": "a", "new_string": "b"});
    let (half, rest) = key.split_at(3);
    let halves = json!({"filePath": "/srv/app/a.txt", "originalFile": null,
        "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": signed("+")[..3]}, {"oldStart": 90, "newStart": 90, "lines": signed("+")[3..]}]});
    let texts = |lines: &[String]| lines.iter().map(|line| json!({"type": "text", "text": line})).collect::<Value>();
    let done = || json!("done");
    vec![
        ("added lines", call("Edit", edit(), done(), patched(signed("+")))),
        ("removed lines", call("Edit", edit(), done(), patched(signed("-")))),
        ("lines around", call("Edit", edit(), done(), patched(signed(" ")))),
        ("two hunks", call("Edit", edit(), done(), halves)),
        ("a file that is replaced", call("Write", json!({"file_path": "/srv/app/a.txt", "content": whole}), done(), patched(signed("+")))),
        ("a list of lines", call("Strange", json!({"lines": key}), done(), json!({}))),
        ("a list of numbered lines", call("Strange", json!({"lines": numbered()}), done(), json!({"deep": {"er": numbered()}}))),
        (
            "lists in lists",
            call("Strange", json!({"rows": key.iter().map(|line| json!([1, {"t": line}])).collect::<Value>()}), done(), json!({})),
        ),
        ("pieces of an answer", call("Strange", json!({}), texts(key), json!({}))),
        ("pieces of a failure", call("Bash", json!({"command": "cat key"}), texts(key), json!({"stdout": key}))),
        (
            "a notebook",
            call(
                "Read",
                json!({"file_path": "/srv/app/n.ipynb"}),
                done(),
                json!({"type": "notebook", "file": {"filePath": "n.ipynb", "cells": [{"cell_type": "code", "source": key}]}}),
            ),
        ),
        ("a file with numbers", call("Read", json!({"file_path": "/srv/app/k"}), json!(numbered().join("\n")), json!({}))),
        ("the end of a file", call("Bash", json!({"command": "tail k"}), json!(key[2..].join("\n")), json!({}))),
        (
            "an unknown record",
            vec![
                call("Bash", json!({}), done(), json!({})).remove(0),
                json!({"type": "hologram", "uuid": "y2", "sessionId": "s1", "timestamp": "2026-03-04T10:00:04.000Z", "lines": key}),
            ],
        ),
        (
            "lines of a patch",
            patch(&format!("*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n{}\n*** End Patch\n", signed("+").join("\n"))),
        ),
        (
            "removed lines of a patch",
            patch(&format!("*** Begin Patch\n*** Update File: a.txt\n@@\n{}\n+new\n*** End Patch\n", signed("-").join("\n"))),
        ),
        (
            "a patch of two places",
            patch(&format!(
                "*** Begin Patch\n*** Update File: a.txt\n@@\n+{}\n@@\n-{}\n*** End Patch\n",
                half.join("\n+"),
                rest.join("\n-")
            )),
        ),
    ]
}

/// The records of one call of Claude Code.
fn call(tool: &str, input: Value, content: Value, produced: Value) -> Vec<Value> {
    let common = |kind: &str, id: u32, message: Value| {
        json!({"type": kind, "uuid": format!("u{id}"), "parentUuid": null, "sessionId": "s1",
            "timestamp": format!("2026-03-04T10:00:0{id}.000Z"), "cwd": "/srv/app", "message": message})
    };
    let asked = json!([{"type": "tool_use", "id": "t1", "name": tool, "input": input}]);
    let mut result =
        common("user", 3, json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": content}]}));
    result["toolUseResult"] = produced;
    vec![
        common("user", 1, json!({"role": "user", "content": "go"})),
        common("assistant", 2, json!({"id": "m1", "role": "assistant", "model": "m", "content": asked})),
        result,
    ]
}

/// The records of a patch that Codex applied.
fn patch(input: &str) -> Vec<Value> {
    let item = |second: u32, kind: &str, payload: Value| json!({"timestamp": format!("2026-03-04T11:00:{second:02}.000Z"), "type": kind, "payload": payload});
    let meta = json!({"id": "019cb900-0000-7000-8000-000000000003", "timestamp": "2026-03-04T11:00:00.000Z", "cwd": "/srv/app", "originator": "codex-tui", "cli_version": "0.145.0", "source": "cli"});
    let asked = json!({"type": "custom_tool_call", "status": "completed", "call_id": "call_1", "name": "apply_patch", "input": input});
    let output = json!({"type": "custom_tool_call_output", "call_id": "call_1", "output": "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n"});
    vec![
        item(0, "session_meta", meta),
        item(1, "event_msg", json!({"type": "user_message", "message": "go on"})),
        item(2, "response_item", asked),
        item(3, "response_item", output),
    ]
}

#[test]
fn no_export_has_a_line_of_a_key_whose_lines_stand_apart() {
    let home = tempfile::tempdir().unwrap();
    let key = key();
    let path = home.path().join("session.jsonl");
    let mut leaks = Vec::new();
    for (place, records) in places(&key) {
        std::fs::write(&path, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
        let mut shown = false;
        for arguments in outputs() {
            let all = |more: &[&str]| {
                let all = ["export", path.to_str().unwrap()].iter().chain(&arguments).chain(more).copied().collect::<Vec<_>>();
                String::from_utf8(run(home.path(), &all).stdout).unwrap()
            };
            let (text, kept) = (all(&[]), all(&["--no-redact"]));
            leaks
                .extend(key[1..6].iter().filter(|line| text.contains(line.as_str())).map(|line| format!("{place}, {arguments:?}: {line}")));
            shown |= kept.contains(&key[5]);
        }
        assert!(shown, "{place} is seen nowhere");
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

#[test]
fn passwords_on_command_lines_go_and_are_counted() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("session.jsonl");
    let word = ["open", "sesame", "7"].concat();
    let input = json!({"command": format!("curl -u jane:{word} x; mysql -p{word} db; psql postgres://bob:{word}@db/x postgres://eve:{word}@db/x"),
        "args": ["curl", "-u", format!("jane:{word}")]});
    let records = call("Strange", input, json!("Authorization: Basic YW5uYTpodW50ZXIy Basic YW5uYTpodW50ZXIz"), json!({}));
    std::fs::write(&path, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
    for to in OUTPUTS.iter().map(|output| output.name) {
        let output = run(home.path(), &["export", path.to_str().unwrap(), "--to", to]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains(&word), "{to}: {text}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(to != "json" || said.contains("2 basic credentials") && said.contains("2 passwords in urls"), "{said}");
    }
}
