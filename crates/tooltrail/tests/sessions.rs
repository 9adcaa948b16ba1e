//! What sessions are doing, and how they are taken up again: by the words of `list` and `resume`.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// When all of this happens.
const NOW: &str = "2026-03-04T10:00:30Z";

fn run(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).args(["--now", NOW]).env_clear().env("HOME", home).current_dir(home).output().unwrap()
}

fn record(second: u64, kind: &str, content: Value, cwd: &str) -> Value {
    let message = json!({"role": kind, "id": format!("msg_{second}"), "content": content});
    let time = format!("2026-03-04T10:00:{second:02}.000Z");
    json!({"type": kind, "uuid": format!("u{second}"), "sessionId": "s1", "timestamp": time, "cwd": cwd, "message": message})
}

fn asks(tool: &str) -> Value {
    json!([{"type": "tool_use", "id": "toolu_1", "name": tool, "input": {"command": "sleep 60", "questions": [], "plan": "p"}}])
}

/// The state of a session with these records, and what tells so. `fresh`: its log was written just now; `listed`: what its agent's
/// list says of it.
fn state(records: &[Value], fresh: bool, listed: Option<&str>) -> (String, String) {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join(".claude/projects/-srv-app/s1.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
    let now: jiff::Timestamp = NOW.parse().unwrap();
    let written = if fresh { now } else { now - jiff::Span::new().hours(5) };
    fs::File::options().append(true).open(&log).unwrap().set_modified(written.into()).unwrap();
    if let Some(status) = listed {
        let list = home.path().join(".claude/sessions/1.json");
        fs::create_dir_all(list.parent().unwrap()).unwrap();
        // Our own process is one that surely runs.
        fs::write(list, json!({"pid": std::process::id(), "sessionId": "s1", "status": status}).to_string()).unwrap();
    }
    let output = run(home.path(), &["list", "--json"]);
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    (row["state"].as_str().unwrap().to_owned(), row["state_reason"].as_str().unwrap().to_owned())
}

#[test]
fn a_session_says_whose_turn_it_is() {
    let prompt = record(1, "user", json!("go"), "/srv/app");
    let said = record(2, "assistant", json!([{"type": "text", "text": "done"}]), "/srv/app");
    let thought = record(2, "assistant", json!([{"type": "thinking", "thinking": "hm"}]), "/srv/app");
    let call = |tool: &str| record(2, "assistant", asks(tool), "/srv/app");
    let answer = record(3, "user", json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]), "/srv/app");
    let stopped = record(3, "user", json!([{"type": "text", "text": "[Request interrupted by user]"}]), "/srv/app");
    // The records, whether the log is fresh, what the list says; the state and what tells so.
    type Given<'a> = (&'a [&'a Value], bool, Option<&'a str>, &'a str, &'a str);
    let snapshot = json!({"type": "file-history-snapshot", "messageId": "m1", "snapshot": {"trackedFileBackups": {}}, "sessionId": "s1"});
    let summary = json!({"type": "summary", "summary": "A title", "leafUuid": "u9"});
    let mode = json!({"type": "permission-mode", "permissionMode": "plan", "sessionId": "s1"});
    let cases: [Given<'_>; 17] = [
        (&[&prompt], true, None, "working", "model"),
        (&[&prompt, &thought], true, None, "working", "model"),
        (&[&prompt, &call("Bash")], true, None, "working", "call"),
        (&[&prompt, &call("Bash"), &answer], true, None, "working", "model"),
        (&[&prompt, &call("AskUserQuestion")], true, None, "asks", "question"),
        (&[&prompt, &call("ExitPlanMode")], true, None, "asks", "plan"),
        (&[&prompt, &call("Bash")], true, Some("waiting"), "waiting", "permission"),
        (&[&prompt, &said], true, Some("waiting"), "waiting", "registry"),
        (&[&prompt, &said], true, None, "your_turn", "answered"),
        (&[&prompt, &thought, &stopped], true, None, "your_turn", "interrupted"),
        (&[&prompt, &said], false, Some("idle"), "your_turn", "idle"),
        (&[&prompt, &call("Bash")], false, Some("busy"), "working", "call"),
        (&[&prompt, &call("Bash")], false, None, "ended", "quiet"),
        (&[&prompt, &said], false, None, "ended", "quiet"),
        // Nothing was ever said in these: they wait for nobody, however fresh the file is.
        (&[&snapshot], true, None, "ended", "nothing_asked"),
        (&[&summary, &mode], true, None, "ended", "nothing_asked"),
        (&[&snapshot], true, Some("idle"), "your_turn", "idle"),
    ];
    for (records, fresh, listed, expected, reason) in cases {
        let records: Vec<Value> = records.iter().map(|record| (*record).clone()).collect();
        assert_eq!(state(&records, fresh, listed), (expected.to_owned(), reason.to_owned()), "{records:?} {fresh} {listed:?}");
    }
}

#[test]
fn the_last_of_an_order_are_those_that_are_last_in_it() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-srv-app");
    fs::create_dir_all(&folder).unwrap();
    // The first to start is the last to be heard of.
    for (session, seconds) in [("aa", [1, 9]), ("bb", [2, 3])] {
        let said = seconds.map(|second| record(second, "user", json!("go"), "/srv/app").to_string().replace("s1", session) + "\n");
        fs::write(folder.join(format!("{session}.jsonl")), said.concat()).unwrap();
    }
    let newest = |arguments: &[&str]| -> Value {
        let output = run(home.path(), &[&["list", "--json", "-n", "1"], arguments].concat());
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["session"].clone()
    };
    assert_eq!((newest(&[]), newest(&["--sort", "last"]), newest(&["--sort", "started"])), (json!("aa"), json!("aa"), json!("bb")));
}

#[test]
fn a_session_is_resumed_where_it_began() {
    let home = tempfile::tempdir().unwrap();
    let out = |arguments: &[&str]| String::from_utf8(run(home.path(), arguments).stdout).unwrap();
    assert_eq!(out(&["resume", "6ab3", "--demo"]), "cd /srv/ledger && claude --resume 6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35\n");
    assert_eq!(out(&["resume", "6ab3:3", "--demo"]), out(&["resume", "6ab3", "--demo"]));
    assert_eq!(out(&["resume", "019cb4", "--demo"]), "cd /srv/harbor && codex resume 019cb4dd-5728-73c1-9b0e-5d2f84a6c7e1\n");
    let row: Value = serde_json::from_str(&out(&["resume", "6ab3", "--demo", "--json"])).unwrap();
    assert_eq!(row["command"], json!(["claude", "--resume", "6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35"]));
}

#[test]
fn what_a_log_says_does_nothing_in_a_shell() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("s1.jsonl");
    let touch = home.path().join("touched");
    let cwd = format!("/srv/it's $(touch {0}); touch {0}\n`touch {0}` \u{1b}[2J", touch.display());
    fs::write(&log, format!("{}\n", record(1, "user", json!("go"), &cwd))).unwrap();
    let output = run(home.path(), &["resume", "./s1.jsonl"]);
    let line = String::from_utf8(output.stdout).unwrap();
    assert!(!line.contains('\u{1b}') && line.ends_with(" && claude --resume s1\n"), "{line:?}");
    // What the shell makes of it: the directory, to the letter.
    let word = line.strip_prefix("cd ").unwrap().strip_suffix(" && claude --resume s1\n").unwrap();
    let printed = Command::new("bash").args(["-c", &format!("printf %s {word}")]).output().unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), cwd);
    assert!(!touch.exists());
    let odd = record(1, "user", json!("go"), "/srv").to_string().replace("\"s1\"", "\"--help; reboot\"");
    fs::write(&log, odd + "\n").unwrap();
    let refused = run(home.path(), &["resume", "./s1.jsonl"]);
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0));
}

#[test]
fn the_newest_session_is_that_of_the_project_here() {
    let home = tempfile::tempdir().unwrap();
    let (api, web) = (home.path().join("src/api"), home.path().join("src/web"));
    fs::create_dir_all(api.join("deep")).unwrap();
    fs::create_dir_all(&web).unwrap();
    let log = |session: &str, second: u64, cwd: &Path| {
        let folder = home.path().join(".claude/projects/any");
        fs::create_dir_all(&folder).unwrap();
        let said = record(second, "user", json!(format!("prompt of {session}")), &cwd.to_string_lossy()).to_string().replace("s1", session);
        fs::write(folder.join(format!("{session}.jsonl")), said + "\n").unwrap();
    };
    log("aa11", 1, &api);
    log("aa22", 5, &api);
    log("bb11", 9, &web);
    let show = |directory: &Path, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.args(arguments).args(["--now", NOW]).env_clear().env("HOME", home.path()).current_dir(directory);
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        ["aa11", "aa22", "bb11"].into_iter().filter(|session| text.contains(&format!("prompt of {session}"))).collect::<Vec<_>>().join(" ")
            + if output.status.success() { "" } else { " failed" }
    };
    for more in [&[][..], &["--no-cache"]] {
        let of = |directory: &Path, wanted: &str| show(directory, &[&["show", wanted, "--no-pager"], more].concat());
        assert_eq!(of(&api, "last"), "aa22");
        assert_eq!(of(&api.join("deep"), "last"), "aa22");
        assert_eq!(of(&api, "last:all"), "bb11");
        assert_eq!((of(&api, "."), of(&web, "project:."), of(&web, "project:api")), ("aa22".into(), "bb11".into(), "aa22".into()));
        // A home is above all projects, so there the newest of all is meant; `.` insists.
        assert_eq!(of(home.path(), "last"), "bb11");
        assert_eq!((of(home.path(), ".git"), of(&api, "project:other")), (" failed".into(), " failed".into()));
        // Without the newest session of this project, another one would be published.
        assert_eq!(show(&api, &[&["export", "last", "--to", "md"], more].concat()), "aa22");
    }
    let said = |more: &[&str]| String::from_utf8(run(home.path(), &[&["show", "aa"], more].concat()).stderr).unwrap();
    let expected = "error: `aa` matches 2 sessions:\n  aa22  25 s ago  prompt of aa22\n  aa11  29 s ago  prompt of aa11\n";
    assert_eq!((said(&[]).as_str(), said(&["--no-cache"]).as_str()), (expected, expected));
}
