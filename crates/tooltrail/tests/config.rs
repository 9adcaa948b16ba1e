//! `config.toml`: what it changes, what comes before it, and what a mistake in it does.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory of its own for a test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("config-{name}"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Runs the program with a configuration: its exit status and its two outputs.
fn run(place: &Path, config: Option<&str>, arguments: &[&str]) -> (i32, String, String) {
    let file = place.join("config.toml");
    if let Some(config) = config {
        fs::write(&file, config).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", place).env("TOOLTRAIL_CONFIG", &file).env("TZ", "UTC").current_dir(place);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// The first line of a text.
fn head(text: &str) -> Vec<&str> {
    text.lines().next().unwrap_or_default().split_whitespace().collect()
}

#[test]
fn columns_and_aliases_are_those_of_the_file() {
    let place = directory("columns");
    let config =
        "[columns]\ncalls = [\"status\", \"REF\"]\nlist = [\"title\"]\n[alias]\nfails = [\"--demo\", \"calls\", \"status:failed\"]\n";
    let (code, out, err) = run(&place, Some(config), &["fails", "-n", "2"]);
    assert_eq!((code, head(&out), out.lines().count()), (0, vec!["STATUS", "REF"], 3), "{out}{err}");
    assert!(out.lines().skip(1).all(|row| row.contains("failed")), "{out}");
    assert_eq!(head(&run(&place, None, &["--demo", "list"]).1), ["TITLE"]);
    // An option comes before the file.
    assert_eq!(head(&run(&place, None, &["--demo", "list", "--columns", "session,calls"]).1), ["SESSION", "CALLS"]);
    assert!(head(&run(&place, Some(""), &["--demo", "list"]).1).len() > 5);
    let (code, _, err) = run(&place, None, &["--demo", "calls", "--columns", "outcome"]);
    assert!(code == 2 && err.contains("no column `outcome`; columns are REF, TIME, TOOL,"), "{err}");
}

#[test]
fn roots_are_read_unless_paths_are_named() {
    let place = directory("roots");
    let project = place.join("backup/.claude/projects/-srv-app");
    fs::create_dir_all(&project).unwrap();
    let line = |session: &str| {
        let id = format!("toolu_{session}");
        let call = serde_json::json!({"type": "assistant", "uuid": format!("u-{session}"), "sessionId": session, "timestamp": "2026-03-04T10:00:00.000Z",
            "cwd": "/srv/app", "message": {"id": format!("m-{session}"), "role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}]}});
        format!("{call}\n")
    };
    fs::write(project.join("a.jsonl"), line("a")).unwrap();
    fs::write(place.join("other.jsonl"), line("b")).unwrap();
    let config = format!("[logs]\nroots = [\"{}\"]\n", place.join("backup").display());
    let calls = |arguments: &[&str]| {
        let (code, out, err) = run(&place, Some(&config), &[&["calls", "--json"], arguments].concat());
        assert_eq!(code, 0, "{err}");
        out
    };
    let stored = calls(&[]);
    assert!(stored.contains("toolu_a") && !stored.contains("toolu_b"), "{stored}");
    let named = calls(&["other.jsonl"]);
    assert!(named.contains("toolu_b") && !named.contains("toolu_a"), "{named}");
    for command in ["list", "show", "stats", "check", "failures", "secrets", "export"] {
        let (_, out, err) = run(&place, Some(&config), &[command, "other.jsonl"]);
        assert!(!err.contains("not both"), "{command}: {err}{out}");
    }
    // On the command line both are a mistake.
    let (code, _, err) = run(&place, Some(&config), &["failures", "other.jsonl", "--root", "backup"]);
    assert!(code == 2 && err.contains("give either paths or `--root`, not both"), "{err}");
}

#[test]
fn a_mistake_stops_every_command_but_those_that_help() {
    let place = directory("mistake");
    let config = "[display]\ntime = \"soon\"\n";
    let (code, _, err) = run(&place, Some(config), &["--demo", "list"]);
    assert!(code == 2 && err.contains("config.toml`: line 2: `display.time` is `relative`, `local` or `iso`"), "{err}");
    for helps in [&["completions", "bash"] as &[&str], &["help", "refs"], &["config", "--path"]] {
        let (code, out, err) = run(&place, None, helps);
        assert!(code == 0 && !out.is_empty(), "{helps:?}: {err}");
    }
}

#[test]
fn a_file_to_begin_with_changes_nothing_and_is_never_written_over() {
    let place = directory("init");
    let (code, _, err) = run(&place, None, &["config", "--init"]);
    assert!(code == 0 && err.contains("remove the `#` of a key"), "{err}");
    let written = fs::read_to_string(place.join("config.toml")).unwrap();
    assert!(written.lines().all(|line| line.is_empty() || line.starts_with(['#', '['])), "{written}");
    assert_eq!(run(&place, None, &["--demo", "list", "-n", "1"]).0, 0);
    let (code, _, err) = run(&place, None, &["config", "--init"]);
    assert!(code == 2 && err.contains("exists already"), "{err}");
    assert_eq!(fs::read_to_string(place.join("config.toml")).unwrap(), written);
    // What is set stands as it is written, between the keys that are not.
    let (code, out, _) = run(&place, Some("[display]\nutc = true # everywhere\n"), &["config"]);
    assert!(code == 0 && out.contains("\nutc = true\n") && out.contains("\n# time = "), "{out}");
}
