//! Whatever a log says, a terminal is sent nothing of it that it would act on: by no command, and by no error.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What clears a screen, sets a title, rings, begins a sequence in one byte, turns the direction, and begins a line of its own.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;pwned\u{7}\u{9b}5m\u{202e}\u{200e}\u{200f}\u{2066}\u{2069}\r\nforged";

/// Marks that turn the direction of writing.
const TURNS: &str = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";

/// A log of a session in which everything that can be named has a hostile name.
fn write(home: &Path, number: u32) -> PathBuf {
    let record = |second: u32, kind: &str, content: Value| {
        json!({"type": kind, "uuid": format!("u{number}-{second}"), "sessionId": format!("{HOSTILE}{number}"), "cwd": format!("/srv/{HOSTILE}"),
               "gitBranch": HOSTILE, "version": HOSTILE, "timestamp": format!("2026-03-04T10:00:{second:02}.000Z"),
               "message": {"id": format!("msg{number}{HOSTILE}"), "role": kind, "model": HOSTILE, "content": content}})
    };
    let call = format!("{HOSTILE}-call-{number}");
    let edit = json!({"file_path": format!("/srv/{HOSTILE}/a.rs"), "old_string": HOSTILE, "new_string": "b", "command": HOSTILE});
    let records = [
        record(1, "user", json!(format!("needle {HOSTILE}"))),
        record(
            2,
            "assistant",
            json!([{"type": "tool_use", "id": call, "name": HOSTILE, "input": edit},
                                      {"type": "tool_use", "id": format!("e{number}"), "name": "Edit", "input": edit}]),
        ),
        record(
            3,
            "user",
            json!([{"type": "tool_result", "tool_use_id": call, "is_error": true, "content": format!("needle {HOSTILE}")},
                                 {"type": "tool_result", "tool_use_id": format!("e{number}"), "content": "ok"}]),
        ),
    ];
    let path = home.join(format!(".claude/projects/-srv-app/{number}-\u{1b}[2J\u{7}\nforged\u{200f}.jsonl"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, records.iter().map(|record| format!("{record}\n")).collect::<String>() + "{\u{1b}[2J\n").unwrap();
    path
}

/// What was printed, without our own colours: `ESC [ numbers m`.
fn without_colours(printed: &[u8]) -> String {
    let printed = String::from_utf8(printed.to_vec()).unwrap();
    let mut parts = printed.split("\u{1b}[");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        match rest.strip_prefix('m') {
            Some(rest) => plain.push_str(rest),
            None => plain.push_str(&format!("\u{1b}[{part}")),
        }
    }
    plain
}

/// Runs a command with colours, so that nothing but ourselves takes sequences out. Gives standard output and error.
fn run_raw(home: &Path, arguments: &[&str]) -> [String; 2] {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).args(["--color", "always"]).env_clear().env("CLICOLOR_FORCE", "1").env("HOME", home).current_dir(home);
    let output = command.output().unwrap();
    [output.stdout, output.stderr].map(|printed| without_colours(&printed))
}

/// Runs a command, whose output must not act.
fn run(home: &Path, arguments: &[&str]) -> [String; 2] {
    let printed = run_raw(home, arguments);
    for text in &printed {
        let acts = |c: char| (c.is_control() && c != '\n') || TURNS.contains(c);
        assert!(!text.contains(acts), "{arguments:?} printed {text:?}");
        // What somebody asked for is repeated as it was written.
        let asked = arguments.iter().any(|word| word.contains(HOSTILE));
        assert!(asked || !text.contains("\nforged"), "{arguments:?} printed {text:?}");
    }
    printed
}

#[test]
fn nothing_from_a_log_acts_on_a_terminal() {
    let home = tempfile::tempdir().unwrap();
    let logs = [1, 2].map(|number| write(home.path(), number));
    let one = format!("{HOSTILE}1");
    let [first, absent] = [1, 99].map(|number| format!("{one}:{number}"));
    let file = logs[0].to_string_lossy();
    let line = format!("{file}:77");
    for cache in [&[][..], &["--no-cache"]] {
        let run = |arguments: &[&str]| run(home.path(), &[arguments, cache].concat());
        for (arguments, shows) in [
            (&["list"][..], "pwned"),
            (&["calls"], "pwned"),
            (&["search", "needle"], "pwned"),
            (&["show", &one, "--all"], "pwned"),
            (&["show", &first], "pwned"),
            (&["show", &one, "--changes"], "a.rs"),
            (&["tail", "--for", "0s", "-n", "9"], "pwned"),
            (&["stats"], "pwned"),
            (&["stats", "--by", "project"], "pwned"),
            (&["stats", "--by", "model"], "pwned"),
            (&["check"], "[2J"),
            (&["file", "a.rs"], "pwned"),
            (&["export", &one, "--to", "md", "-o", "-"], "pwned"),
            (&["export", &one, "--to", "pr", "-o", "-"], "pwned"),
        ] {
            let [out, error] = run(arguments);
            assert!(out.contains(shows), "{arguments:?} printed {out:?} and {error:?}");
        }
        for (arguments, says) in [
            (&["show", "x"][..], "matches 2 sessions"),
            (&["export", "x", "-o", "-"], "matches 2 sessions"),
            (&["resume", "x"], "matches 2 sessions"),
            (&["keep", "restore", "x"], "matches 2 sessions"),
            (&["show", &absent], "has no call"),
            (&["show", &line], "no call on line 77"),
            (&["export", &first, "-o", "-"], "is a call"),
            (&["resume", &one], "is not a valid session id"),
            (&["file", "a.rs", "--before", &one], "is a session"),
        ] {
            let [out, error] = run(arguments);
            assert!(error.contains(says), "{arguments:?} printed {out:?} and {error:?}");
        }
    }
    for form in [&[][..], &["--csv"]] {
        let rows = run(home.path(), &[&["sql", "SELECT * FROM calls"], form].concat());
        assert!(rows[0].contains("pwned") && rows[0].contains("⟨U+200F⟩"), "{rows:?}");
    }
    let rows = run(home.path(), &["sql", "--csv", "SELECT about FROM calls UNION ALL SELECT file FROM sources"]);
    assert!(rows[0].lines().all(|line| !line.starts_with("forged")), "{rows:?}");
    // JSON has the values as they are.
    let [rows, _] = run_raw(home.path(), &["sql", "--json", "SELECT file FROM sources ORDER BY file"]);
    let row: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!(row["file"].as_str().unwrap(), file);
    fs::remove_file(&logs[0]).unwrap();
    let [_, error] = run(home.path(), &["show", &one]);
    assert!(error.contains("are gone"), "{error}");
}
