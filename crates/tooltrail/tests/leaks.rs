//! No field of any record leads a secret past the redaction: every text of every fixture gets one, and no export shows any.

#![allow(clippy::unwrap_used)] // a panic is the report

use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tooltrail_testkit::rng::Rng;
use tooltrail_testkit::secrets::{Planted, SHAPES, Shape, plant as fill};
use tooltrail_view::render::outputs::OUTPUTS;

/// Fields that say what a record is and what belongs to it. With other values the log would be no log.
const STRUCTURE: &str = "type role subtype uuid parentUuid sessionId session_id id tool_use_id toolUseID timestamp call_id callID sessionID messageID \
    parentID leafUuid logicalParentUuid sourceToolAssistantUUID status state operation taskId hook_event_name outcome decision source phase \
    promptId time exit_code agentId agent_id task_id turn_id thread_id parentToolUseID requestId message_id item_id backgroundTaskId child \
    hookEvent isApiErrorMessage originator";

/// A token shaped like one of GitHub's.
fn token(rng: &mut Rng) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let body: String = (0..36).map(|_| char::from(rng.pick(letters))).collect();
    format!("gh{}{body}", "p_")
}

/// Gives `add` every text of a value with the path of its field, but for fields that say what a record is.
fn plant(value: &mut Value, path: &str, names: bool, add: &mut dyn FnMut(&mut String, &str)) {
    let field = path.rsplit('.').next().unwrap_or_default();
    match value {
        Value::String(text) => {
            let kept = STRUCTURE.split_ascii_whitespace().any(|name| name == field) || !names && ["name", "tool", "model"].contains(&field);
            // Texts that an agent reads are data of their own: JSON within a string.
            if !kept && !text.starts_with(['{', '[']) && !text.is_empty() {
                add(text, path);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| plant(item, path, names, add)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| plant(value, &format!("{path}.{name}"), names, add)),
        _ => {}
    }
}

/// Gives `look` each fixture, and a copy with something added to its texts.
fn each_fixture(home: &Path, mut add: impl FnMut(&mut String, &str), mut look: impl FnMut(&Path, &Path)) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests");
    for (number, log) in [logs(&fixtures.join("fixtures")), logs(&fixtures.join("tools"))].concat().iter().enumerate() {
        let Ok(text) = fs::read_to_string(log) else { continue };
        let lines = text.lines().map(|line| match serde_json::from_str::<Value>(line) {
            Ok(mut record) => {
                plant(&mut record, "", number % 2 == 0, &mut add);
                record.to_string()
            }
            Err(_) => line.to_owned(),
        });
        let path = home.join(log.file_name().unwrap());
        fs::write(&path, lines.map(|line| line + "\n").collect::<String>()).unwrap();
        look(log, &path);
        fs::remove_file(&path).unwrap();
    }
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    let (folders, files): (Vec<_>, Vec<_>) = found.into_iter().partition(|path| path.is_dir());
    let own = files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "jsonl" || end == "json"));
    own.chain(folders.iter().flat_map(|folder| logs(folder))).collect()
}

fn export(home: &Path, log: &Path, to: &str) -> Option<String> {
    let mut arguments = vec!["export", log.to_str()?, "--to", to];
    if to == "md" {
        arguments.extend(["--bodies", "all"]);
    }
    let output =
        Command::new(env!("CARGO_BIN_EXE_tooltrail")).args(&arguments).env_clear().env("HOME", home).current_dir(home).output().unwrap();
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn no_field_of_any_fixture_leads_a_secret_past_the_redaction() {
    let home = tempfile::tempdir().unwrap();
    let (mut leaks, mut exported, mut seen) = (BTreeMap::new(), 0, 0);
    let mut rng = Rng::new(11);
    let planted = RefCell::new(Vec::new());
    let add = |text: &mut String, field: &str| {
        let token = token(&mut rng);
        text.push_str(&format!(" {token}"));
        planted.borrow_mut().push((token, field.to_owned()));
    };
    each_fixture(home.path(), add, |log, path| {
        let planted = planted.take();
        for output in OUTPUTS {
            let Some(text) = export(home.path(), path, output.name) else { continue };
            exported += 1;
            for (token, field) in &planted {
                seen += 1;
                if text.contains(&token[8..20]) {
                    leaks.entry(format!("{}: {field}", output.name)).or_insert_with(|| log.to_owned());
                }
            }
        }
    });
    assert!(exported > 200 && seen > 2000, "{exported} exports, {seen} secrets looked for");
    let leaks: Vec<String> = leaks.iter().map(|(field, log)| format!("{field} in {}", log.display())).collect();
    assert!(leaks.is_empty(), "{} fields:\n{}", leaks.len(), leaks.join("\n"));
}

/// Every shape of a secret, in the texts of all fixtures by turns, as lines of their own: below one in two hundred can be read in any export.
#[test]
fn secrets_of_all_shapes_leak_from_no_field_into_an_export() {
    let home = tempfile::tempdir().unwrap();
    let (mut leaks, mut seen, mut used): (Vec<String>, usize, BTreeMap<&str, usize>) = (Vec::new(), 0, BTreeMap::new());
    let mut rng = Rng::new(23);
    let planted: RefCell<Vec<(&Shape, Planted, String)>> = RefCell::default();
    let mut shapes = SHAPES.iter().cycle();
    let add = |text: &mut String, field: &str| {
        let Some(shape) = shapes.next() else { return };
        let secret = fill(shape, &mut rng);
        text.push_str(&format!("\n\n{}\n", secret.text));
        planted.borrow_mut().push((shape, secret, field.to_owned()));
    };
    each_fixture(home.path(), add, |log, path| {
        let planted = planted.take();
        for output in OUTPUTS {
            let Some(text) = export(home.path(), path, output.name) else { continue };
            for (shape, secret, field) in &planted {
                seen += 1;
                *used.entry(shape.name).or_default() += 1;
                if secret.leaks_in(&text) {
                    leaks.push(format!("{}: {} at {field} in {}: {}", output.name, shape.name, log.display(), secret.text));
                }
            }
        }
    });
    println!("{} of {seen} leak, {} shapes\n{}", leaks.len(), used.len(), leaks.join("\n"));
    assert!(used.len() >= 200 && seen > 10_000, "{} shapes, {seen} secrets looked for", used.len());
    assert!(leaks.len() * 200 <= seen, "{} of {seen} leak:\n{}", leaks.len(), leaks.join("\n"));
}

/// A session of two turns: a password that nothing tells in the first, and its name in the second.
fn session(home: &Path, word: &str) -> PathBuf {
    let record = |kind: &str, number: u32, content: Value| {
        json!({"type": kind, "uuid": format!("u{number}"), "parentUuid": null, "sessionId": "s1", "cwd": "/srv/app",
            "timestamp": format!("2026-03-04T10:00:0{number}.000Z"),
            "message": {"id": format!("m{number}"), "role": kind, "model": "m", "content": content}})
    };
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": format!("login {word}")}}]);
    let records = [
        record("user", 1, json!(format!("try {word} on the server"))),
        record("assistant", 2, call),
        record(
            "user",
            3,
            json!([{"type": "tool_result", "tool_use_id": "t1", "content": format!("{word} was refused"), "is_error": true}]),
        ),
        record("user", 4, json!(format!("the settings are\n\nDB_PASSWORD={word}\n"))),
    ];
    let path = home.join("session.jsonl");
    fs::write(&path, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
    path
}

#[test]
fn a_secret_that_is_recognised_late_is_redacted_early() {
    let home = tempfile::tempdir().unwrap();
    let word = ["zebra", "Quilt", "99"].concat();
    let log = session(home.path(), &word);
    for output in OUTPUTS {
        let text = export(home.path(), &log, output.name).unwrap();
        assert!(!text.contains(&word), "{}: {text}", output.name);
        // A patch has no conversation, and no file was changed.
        assert!(text.contains("password 1") || output.name == "patch", "{}: {text}", output.name);
    }
}

#[test]
fn secrets_are_listed_and_never_shown() {
    let home = tempfile::tempdir().unwrap();
    let word = ["zebra", "Quilt", "99"].concat();
    let log = session(home.path(), &word);
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tooltrail")).args(arguments).env_clear().env("HOME", home.path()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let path = log.to_str().unwrap();
    let (code, text) = run(&["secrets", path]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains(&format!("{path}:4  password")) && text.contains("1 of 1 log") && !text.contains(&word), "{text}");
    let (code, lines) = run(&["secrets", path, "--json"]);
    let row: Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!((code, &row), (Some(1), &json!({"v": 1, "kind": "password", "agent": "claude", "file": path, "line": 4, "count": 1})));
    fs::write(&log, fs::read_to_string(&log).unwrap().replace("DB_PASSWORD=", "")).unwrap();
    let (code, text) = run(&["secrets", path]);
    assert_eq!((code, text.as_str()), (Some(0), "no secrets found in 1 log\n"));
}
