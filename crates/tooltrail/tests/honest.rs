//! What a hostile or broken log says is reported, and misleads nobody: absurd counts of tokens, and patches that reach out of the project.

#![allow(clippy::unwrap_used)] // a panic is the report

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).current_dir(home).output().unwrap()
}

fn says(home: &Path, arguments: &[&str]) -> String {
    let output = run(home, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn write(path: PathBuf, records: &[Value]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
}

/// A record of a session of Claude Code in `/srv/app`.
fn record(kind: &str, second: u32, message: &Value, produced: &Value) -> Value {
    json!({"type": kind, "uuid": format!("u{second}"), "parentUuid": null, "sessionId": "s1", "cwd": "/srv/app",
        "timestamp": format!("2026-03-04T10:00:{second:02}.000Z"), "message": message, "toolUseResult": produced})
}

/// The tokens of all models, and the codes that `check` reports, which has to exit with 1.
fn tokens_and_codes(home: &Path) -> (u64, Vec<String>) {
    let stats: Value = serde_json::from_str(says(home, &["stats", "--json"]).lines().next().unwrap()).unwrap();
    let counts = stats["usage"].as_object().unwrap().values().flat_map(|model| model.as_object().unwrap().iter());
    let tokens = counts.filter(|(name, _)| *name != "messages").filter_map(|(_, count)| count.as_u64()).sum();
    let check = run(home, &["check", "--json"]);
    assert_eq!(check.status.code(), Some(1));
    let rows = String::from_utf8(check.stdout).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let codes = rows.flat_map(|row| row["issues"].as_array().cloned().unwrap_or_default());
    (tokens, codes.map(|issue| issue["code"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn an_absurd_count_of_tokens_is_reported_and_not_added_up() {
    let spelled = [json!("100000001"), json!(" 9000000000000000000 "), json!("99999999999999999999999999"), json!("1e300")];
    for absurd in [json!(9_000_000_000_000_000_000_u64), json!(100_000_001), json!(1e300)].into_iter().chain(spelled) {
        let home = tempfile::tempdir().unwrap();
        let answer = |second: u32, input: &Value| {
            let usage = json!({"input_tokens": input, "output_tokens": 7});
            let content = json!([{"type": "text", "text": "so"}]);
            let message = json!({"id": format!("m{second}"), "role": "assistant", "model": "claude-x", "content": content, "usage": usage});
            record("assistant", second, &message, &Value::Null)
        };
        let prompt = record("user", 1, &json!({"role": "user", "content": "go"}), &Value::Null);
        // The last has as many as a request may have.
        let records = [prompt, answer(2, &json!(100)), answer(3, &absurd), answer(4, &json!(100_000_000))];
        write(home.path().join(".claude/projects/-srv-app/s1.jsonl"), &records);
        let (tokens, codes) = tokens_and_codes(home.path());
        assert_eq!((tokens, codes), (100_000_114, vec!["absurd_tokens".to_owned()]), "{absurd}");
    }
}

#[test]
fn counts_that_are_written_as_texts_are_added_up() {
    let home = tempfile::tempdir().unwrap();
    let id = "019cb900-0000-7000-8000-000000000004";
    let item = |kind: &str, payload: Value| json!({"timestamp": "2026-03-04T11:00:01.000Z", "type": kind, "payload": payload});
    let tokens = |input: Value| json!({"input_tokens": input, "cached_input_tokens": "30", "output_tokens": 5});
    let count = |input: &str| {
        item(
            "event_msg",
            json!({"type": "token_count", "info": {"total_token_usage": tokens(json!(input)), "last_token_usage": tokens(json!(input))}}),
        )
    };
    let meta = json!({"id": id, "timestamp": "2026-03-04T11:00:00.000Z", "cwd": "/srv/app", "originator": "codex-tui", "cli_version": "0.145.0", "source": "cli"});
    let turn = item("turn_context", json!({"cwd": "/srv/app", "model": "gpt-x"}));
    let prompt = item("event_msg", json!({"type": "user_message", "message": "go on"}));
    // The second total is absurd.
    let records = [item("session_meta", meta), turn, prompt, count("130"), count("900000000000000000000")];
    write(home.path().join(format!(".codex/sessions/2026/03/04/rollout-2026-03-04T11-00-00-{id}.jsonl")), &records);
    let (tokens, codes) = tokens_and_codes(home.path());
    assert_eq!(tokens, 135);
    assert!(!codes.is_empty() && codes.iter().all(|code| code == "absurd_tokens"), "{codes:?}");
}

#[test]
fn an_absurd_total_does_not_count_and_does_not_disturb_the_next() {
    let home = tempfile::tempdir().unwrap();
    let id = "019cb900-0000-7000-8000-000000000003";
    let item = |second: u32, kind: &str, payload: Value| json!({"timestamp": format!("2026-03-04T11:00:{second:02}.000Z"), "type": kind, "payload": payload});
    let count = |second: u32, total: u64, last: u64| {
        let tokens = |input: u64| json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": 0});
        let info = json!({"total_token_usage": tokens(total), "last_token_usage": if last > 0 { tokens(last) } else { Value::Null }});
        item(second, "event_msg", json!({"type": "token_count", "info": info}))
    };
    let meta = json!({"id": id, "timestamp": "2026-03-04T11:00:00.000Z", "cwd": "/srv/app", "originator": "codex-tui", "cli_version": "0.145.0", "source": "cli"});
    let records = [
        item(0, "session_meta", meta),
        item(1, "turn_context", json!({"cwd": "/srv/app", "model": "gpt-x"})),
        item(2, "event_msg", json!({"type": "user_message", "message": "go on"})),
        count(3, 1000, 1000),
        count(4, 9_000_000_000_000_000_000, 0),
        count(5, 3000, 9_000_000_000_000_000_000),
        count(6, 3500, 500),
    ];
    write(home.path().join(format!(".codex/sessions/2026/03/04/rollout-2026-03-04T11-00-00-{id}.jsonl")), &records);
    let (tokens, codes) = tokens_and_codes(home.path());
    assert_eq!((tokens, codes), (3500, vec!["absurd_tokens".to_owned(); 2]));
}

/// Paths of files that a session writes, and the names that a patch may give them.
const WRITTEN: [(&str, Option<&str>); 13] = [
    ("/srv/app/src/a.rs", Some("src/a.rs")),
    ("/srv/app/src/../b.rs", Some("b.rs")),
    ("/srv/app/.gitignore", Some(".gitignore")),
    ("/srv/app/.claude/worktrees/w1/c.rs", Some("c.rs")),
    ("/etc/cron.d/job", None),
    ("/srv/app/../../etc/passwd", None),
    ("/srv/apple/a.rs", None),
    ("/srv/other/.claude/worktrees/w1/d.rs", None),
    ("/srv/app/.git/hooks/pre-commit", None),
    ("/srv/app/vendor/.GIT/config", None),
    ("/srv/app/.g\u{200c}it/config", None),
    ("/srv/app/git~1/config", None),
    ("/srv/app/.git /config", None),
];

#[test]
fn a_patch_names_no_path_outside_the_project_or_of_git() {
    let home = tempfile::tempdir().unwrap();
    let mut records = vec![record("user", 1, &json!({"role": "user", "content": "go"}), &Value::Null)];
    for (second, (path, _)) in (2..).step_by(2).zip(WRITTEN) {
        let (call, text) = (format!("t{second}"), format!("text of {second}\n"));
        let content = json!([{"type": "tool_use", "id": call, "name": "Write", "input": {"file_path": path, "content": text}}]);
        let asked = json!({"id": format!("m{second}"), "role": "assistant", "model": "m", "content": content});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "done"}]});
        let produced = json!({"type": "create", "filePath": path, "content": text, "structuredPatch": [], "originalFile": null});
        records.push(record("assistant", second, &asked, &Value::Null));
        records.push(record("user", second + 1, &result, &produced));
    }
    write(home.path().join(".claude/projects/-srv-app/s1.jsonl"), &records);
    let patch = says(home.path(), &["export", "s1", "--to", "patch", "--no-redact", "-o", "-"]);
    let mut named: Vec<&str> = patch.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect();
    let mut expected: Vec<&str> = WRITTEN.iter().filter_map(|(_, name)| *name).collect();
    named.sort_unstable();
    expected.sort_unstable();
    assert_eq!(named, expected, "{patch}");
    let left_out = WRITTEN.len() - expected.len();
    assert_eq!(patch.matches("so it is not in this patch\n").count(), left_out, "{patch}");
    let names = patch.lines().filter(|line| !line.starts_with('#') && !line.starts_with(['+', '@']) || line.starts_with("+++"));
    let bad = |line: &str| ["..", "etc", ".git/", "git~", ".GIT", "apple", "d.rs"].iter().any(|word| line.contains(word));
    assert_eq!(names.filter(|line| bad(line)).collect::<Vec<_>>(), Vec::<&str>::new());
}
