//! `show --changes`, `export --to patch` and `file` as a person uses them.

#![allow(clippy::unwrap_used)] // a panic is the report

use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Output};

/// Shaped like a token, made of pieces so that nobody takes this file for a leak.
const SECRET: &str = concat!("gh", "p_", "Zq8Rt2Lm5Nw9Kd3Xv7Bc1Hs6Jf4Yg0PaUeTi");

struct Home(tempfile::TempDir);

impl Home {
    /// A session that makes a file and edits another one, which somebody changes in between, and one of another agent.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let claude = home.path().join(".claude/projects/-srv-app");
        let codex = home.path().join(".codex/sessions/2026/03/04");
        std::fs::create_dir_all(&claude).unwrap();
        std::fs::create_dir_all(&codex).unwrap();
        std::fs::write(claude.join("s1.jsonl"), lines(&session("s1", "/srv/app"))).unwrap();
        std::fs::write(codex.join("rollout-2026-03-04T11-00-00-019cb900-0000-7000-8000-000000000003.jsonl"), lines(&other())).unwrap();
        Home(home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.args(arguments).env_clear().env("HOME", self.0.path()).current_dir(self.0.path()).output().unwrap()
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", error(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// A session of two turns; its calls are named after it.
fn session(id: &str, project: &str) -> Vec<Value> {
    let record = |kind: &str, second: u32, message: Value, produced: Value| {
        json!({"type": kind, "uuid": format!("{id}-u{second}"), "parentUuid": null, "sessionId": id, "cwd": project, "version": "2.1.250",
            "timestamp": format!("2026-03-04T10:00:{second:02}.000Z"), "message": message, "toolUseResult": produced})
    };
    let prompt = |second: u32, words: &str| record("user", second, json!({"role": "user", "content": words}), Value::Null);
    let ask = |second: u32, call: &str, tool: &str, input: Value| {
        let content = json!([{"type": "tool_use", "id": format!("{id}-{call}"), "name": tool, "input": input}]);
        record(
            "assistant",
            second,
            json!({"id": format!("{id}-m{second}"), "role": "assistant", "model": "m", "content": content}),
            Value::Null,
        )
    };
    let done = |second: u32, call: &str, produced: Value| {
        let content = json!([{"type": "tool_result", "tool_use_id": format!("{id}-{call}"), "content": "done"}]);
        record("user", second, json!({"role": "user", "content": content}), produced)
    };
    let edit = |old: &str, new: &str| json!({"file_path": format!("{project}/src/a.rs"), "old_string": old, "new_string": new});
    let edited = |before: &str| json!({"filePath": format!("{project}/src/a.rs"), "originalFile": before, "structuredPatch": [], "userModified": false});
    let new = format!("{project}/new file.toml");
    let written = format!("token = {SECRET}\n");
    vec![
        prompt(1, "first"),
        ask(2, "t1", "Edit", edit("one", "two")),
        done(3, "t1", edited("one\nrest")),
        prompt(4, "second"),
        ask(5, "t2", "Edit", edit("two", "three")),
        done(6, "t2", edited("by hand\ntwo\nrest")),
        ask(7, "t3", "Write", json!({"file_path": new, "content": written})),
        done(8, "t3", json!({"type": "create", "filePath": new, "content": written, "structuredPatch": [], "originalFile": null})),
    ]
}

fn other() -> Vec<Value> {
    let item = |second: u32, kind: &str, payload: Value| json!({"timestamp": format!("2026-03-04T11:00:{second:02}.000Z"), "type": kind, "payload": payload});
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-three\n+four\n*** End Patch\n";
    vec![
        item(
            0,
            "session_meta",
            json!({"id": "019cb900-0000-7000-8000-000000000003", "timestamp": "2026-03-04T11:00:00.000Z", "cwd": "/srv/app", "originator": "codex-tui", "cli_version": "0.145.0", "source": "cli"}),
        ),
        item(1, "event_msg", json!({"type": "user_message", "message": "go on"})),
        item(
            2,
            "response_item",
            json!({"type": "custom_tool_call", "status": "completed", "call_id": "call_1", "name": "apply_patch", "input": patch}),
        ),
        item(
            3,
            "response_item",
            json!({"type": "custom_tool_call_output", "call_id": "call_1", "output": "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n"}),
        ),
    ]
}

#[test]
fn changes_are_shown_with_their_gap() {
    let home = Home::new();
    let shown = home.says(&["show", "s1", "--changes", "--no-pager"]);
    for part in [
        "src/a.rs",
        "+2 −2",
        "s1:1 s1:2",
        "Changed outside this session between s1:1 and s1:2",
        "by hand",
        "new file.toml",
        "2 files changed",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    let second = home.says(&["show", "s1", "--changes", "--turns", "2", "--no-pager"]);
    assert!(second.contains("three") && !second.contains("by hand between") && !second.contains("outside"), "{second}");
    let rows: Vec<Value> =
        home.says(&["show", "s1", "--changes", "--json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), &rows[0]["fate"], &rows[1]["fate"]), (2, &json!("modified"), &json!("added")));
    let parts: Vec<&Value> = rows[0]["parts"].as_array().unwrap().iter().map(|part| &part["part"]).collect();
    assert_eq!(parts, ["net", "outside", "net"]);
    assert_eq!(rows[0]["parts"][1]["between"], json!(["s1:1", "s1:2"]));
    let one = home.says(&["show", "s1:2", "--changes", "--json"]);
    assert!(one.lines().count() == 1 && one.contains("+three") && !one.contains("outside"), "{one}");
}

#[test]
fn a_patch_leads_from_the_first_text_to_the_last() {
    let home = Home::new();
    let out = home.path("x.patch");
    let output = home.run(&["export", "s1", "--no-redact", "-o", "x.patch"]);
    assert!(output.status.success(), "{}", error(&output));
    let patch = std::fs::read_to_string(&out).unwrap();
    assert!(
        patch.contains("# src/a.rs: changed outside this session between s1:1 and s1:2\ndiff --git a/src/a.rs b/src/a.rs\n"),
        "{patch}"
    );
    for program in [&["git", "apply"][..], &["patch", "-s", "-p1", "-i"][..]] {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("src")).unwrap();
        std::fs::write(directory.path().join("src/a.rs"), "one\nrest").unwrap();
        let Ok(applied) = Command::new(program[0]).args(&program[1..]).arg(&out).current_dir(directory.path()).output() else { continue };
        assert!(applied.status.success(), "{program:?}: {}", error(&applied));
        let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!((read("src/a.rs").as_str(), read("new file.toml")), ("by hand\nthree\nrest", format!("token = {SECRET}\n")));
    }
}

#[test]
fn secrets_are_taken_out_of_a_patch_and_it_is_said() {
    let home = Home::new();
    let output = home.run(&["export", "s1", "--to", "patch"]);
    let patch = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(patch.contains("+token = ") && !patch.contains(SECRET), "{patch}");
    assert!(error(&output).contains("may not apply; --no-redact leaves it unchanged"), "{}", error(&output));
}

#[test]
fn versions_of_a_file_come_from_all_agents() {
    let home = Home::new();
    let listed = home.says(&["file", "src/a.rs"]);
    assert!(error(&home.run(&["file", "src/a.rs"])).starts_with("/srv/app/src/a.rs\n"));
    for part in ["before an edit", "changed outside the logs", "edited", "patched, replayed", "s1:1", "019c:1"] {
        assert!(listed.contains(part), "{part} in\n{listed}");
    }
    let rows: Vec<Value> = home.says(&["file", "a.rs", "--json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let how: Vec<&Value> = rows.iter().map(|row| &row["how"]).collect();
    assert_eq!(how, ["before", "edited", "before", "edited", "patched"]);
    assert_eq!(
        (&rows[2]["gap"], &rows[4]["agent"], &rows[4]["bytes"]),
        (&json!("outside"), &json!("codex"), &json!("by hand\nfour\nrest\n".len()))
    );
    // A log alone tells only its own part.
    let alone = home.says(&["file", "a.rs", ".codex", "--json"]);
    assert!(alone.is_empty(), "{alone}");
}

#[test]
fn a_text_comes_back_to_the_byte() {
    let home = Home::new();
    for (arguments, text) in [
        (["--before", "s1:1"], "one\nrest"),
        (["--after", "s1-t1"], "two\nrest"),
        (["--before", "s1:2"], "by hand\ntwo\nrest"),
        (["--after", "019c:1"], "by hand\nfour\nrest\n"),
        (["--version", "2"], "two\nrest"),
    ] {
        assert_eq!(home.says(&[&["file", "a.rs"], &arguments[..]].concat()), text, "{arguments:?}");
    }
    let saved = |arguments: &[&str]| home.run(&[&["file", "a.rs", "-o", "back.rs"], arguments].concat());
    assert!(saved(&["--before", "s1:1"]).status.success());
    let refused = saved(&["--after", "s1:1"]);
    assert!(refused.status.code() == Some(2) && error(&refused).contains("--force replaces it"), "{}", error(&refused));
    assert_eq!(std::fs::read_to_string(home.path("back.rs")).unwrap(), "one\nrest");
    assert!(saved(&["--after", "s1:1", "--force"]).status.success());
    assert_eq!(std::fs::read_to_string(home.path("back.rs")).unwrap(), "two\nrest");
    // Without a version it is the newest.
    assert!(saved(&["--force"]).status.success());
    assert_eq!(std::fs::read_to_string(home.path("back.rs")).unwrap(), home.says(&["file", "a.rs", "--version", "5"]));
}

#[test]
fn what_is_not_there_is_said() {
    let home = Home::new();
    let fails = |arguments: &[&str], code: i32, words: &str| {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", error(&output));
        assert!(error(&output).contains(words), "{arguments:?}: {}", error(&output));
        assert!(output.stdout.is_empty());
    };
    fails(&["file", "nowhere.rs"], 1, "no call read or changed `nowhere.rs`");
    fails(&["file", "a.rs", "--version", "9"], 2, "no version 9; the logs have 5 versions");
    fails(&["file", "a.rs", "--before", "s1"], 2, "`s1` is a session");
    fails(&["file", "a.rs", "--before", "s1:3"], 2, "did not change");
    fails(&["file", "new file.toml", "--before", "s1:3"], 1, "did not exist before s1:3");
    std::fs::write(home.path(".claude/projects/-srv-app/s2.jsonl"), lines(&session("s2", "/srv/web"))).unwrap();
    fails(&["file", "a.rs"], 2, "matches 2 files; give more of the path:\n  /srv/app/src/a.rs\n  /srv/web/src/a.rs");
}

/// A log of Codex whose patches are about files of which nothing else is known.
fn patched(home: &Home, patch: &str) {
    let mut records = other();
    records[2]["payload"]["input"] = json!(patch);
    std::fs::write(home.path("patched.jsonl"), lines(&records)).unwrap();
}

#[test]
fn a_move_is_counted_once_and_files_outside_are_named_whole() {
    let home = Home::new();
    patched(
        &home,
        "*** Begin Patch\n*** Update File: src/b.rs\n*** Move to: src/c.rs\n@@\n-x\n+y\n*** Add File: /etc/motd\n+hello\n*** End Patch\n",
    );
    let shown = home.says(&["show", "patched.jsonl", "--changes", "--no-pager"]);
    assert!(shown.contains("3 files changed, +2 −1; 2 with gaps"), "{shown}");
    assert!(shown.contains("/etc/motd") && shown.contains("src/b.rs") && !shown.contains("/srv/app"), "{shown}");
    let patch = home.says(&["export", "patched.jsonl", "--to", "patch"]);
    assert!(patch.contains("# /etc/motd: outside of the session's directory, so it is not in this patch\n"), "{patch}");
    assert!(!patch.contains("+++ b/etc"), "{patch}");
}

/// A program of Codex that applies a patch, and its output.
fn scripted(home: &Home, program: &str, output: &str) {
    let mut records = other();
    records[2]["payload"]["name"] = json!("exec");
    records[2]["payload"]["input"] = json!(program);
    records[3]["payload"]["output"] = json!(output);
    std::fs::write(home.path("scripted.jsonl"), lines(&records)).unwrap();
}

#[test]
fn a_patch_in_a_script_counts_where_it_is_proved() {
    let home = Home::new();
    let patch = r#"await tools.apply_patch("*** Begin Patch\n*** Add File: b.rs\n+x\n*** End Patch")"#;
    let shown = || home.says(&["show", "scripted.jsonl", "--changes", "--no-pager"]);
    scripted(&home, &format!("text({patch});"), "Script completed\nWall time 0.1 seconds\nOutput:\n\n{}");
    assert!(shown().contains("1 file changed, +1 −0"), "{}", shown());
    // It may have thrown before the patch, or stopped at the condition.
    scripted(&home, &format!("await tools.x(); {patch};"), "Script failed\nWall time 0.1 seconds\nOutput:\n\nScript error:\nno x");
    assert!(shown().starts_with("no successful edit changed a file"), "{}", shown());
    scripted(&home, &format!("if (later()) {patch};"), "Script completed\nWall time 0.1 seconds\nOutput:\n");
    assert!(shown().starts_with("no successful edit changed a file"), "{}", shown());
}

#[test]
fn shell_edits_name_their_evidence() {
    let home = Home::new();
    let says = |name: &str| home.says(&["--demo", "file", name]);
    assert!(says("src/cart.ts").contains("changed while the command ran, content unknown"), "{}", says("src/cart.ts"));
    assert!(says("docs/prices.md").contains("by shell command, content unknown"), "{}", says("docs/prices.md"));
    let shown = home.says(&["--demo", "show", "f04b", "--no-pager"]);
    assert!(shown.contains("src/cart.ts +1 −1 · changed while the command ran #3"), "{shown}");
    assert!(shown.contains("docs/prices.md · by shell command #5"), "{shown}");
}

#[test]
fn a_backslash_is_a_letter_in_the_name_of_a_file() {
    let home = Home::new();
    patched(&home, "*** Begin Patch\n*** Add File: q\\t.txt\n+hello\n*** End Patch\n");
    let patch = home.says(&["export", "patched.jsonl", "--to", "patch"]);
    assert!(patch.contains("+++ \"b/q\\\\t.txt\"\n"), "{patch}");
}

#[test]
fn what_cannot_be_given_is_said_once() {
    let home = Home::new();
    let fails = |arguments: &[&str], words: &str| {
        let output = home.run(arguments);
        assert!(output.status.code() == Some(2) && error(&output).matches(words).count() == 1, "{arguments:?}: {}", error(&output));
        assert!(!error(&output).contains("os error"), "{}", error(&output));
    };
    fails(&["file", "a.rs", "-o", ".", "--force"], "it is a directory");
    fails(&["export", "s1", "-o", ".", "--to", "md"], "it is a directory");
    fails(&["file", "a.rs", "--version", "2", "--json"], "--json lists versions");
    patched(&home, "*** Begin Patch\n*** End Patch\n");
    let output = home.run(&["export", "patched.jsonl", "--to", "patch"]);
    assert!(output.stdout.is_empty() && error(&output).contains("the patch is empty"), "{}", error(&output));
    assert!(home.says(&["help"]).contains("Examples:") && home.says(&["help", "show"]).contains("Examples:"));
}
