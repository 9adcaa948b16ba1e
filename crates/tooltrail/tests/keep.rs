//! `keep` as people and scripts meet it: sessions that are gone and read as before, processes that are killed or come several at a time,
//! warnings before logs are deleted, and files that are put back.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tooltrail_testkit::corpus::{CorpusPlan, generate};
use tooltrail_testkit::rng::Rng;

/// A home directory, gone when the test ends.
struct Home {
    home: TempDir,
    /// What is in the environment besides it.
    variables: Vec<(&'static str, String)>,
}

impl Home {
    fn new() -> Self {
        Home { home: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.args(arguments).env_clear().env("HOME", self.path()).current_dir(self.path()).stdin(Stdio::null());
        command.envs(self.variables.iter().cloned());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What a command prints that must succeed.
    fn ask(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(self.ask(&[arguments, &["--json"]].concat()).lines().next().unwrap()).unwrap()
    }

    /// Where the copies lie.
    fn kept(&self) -> String {
        self.path().join(".local/share/tooltrail/keep/own/files").to_str().unwrap().to_owned()
    }

    /// Writes a session with one call, last touched so many days ago.
    fn session(&self, id: &str, days: u64) -> PathBuf {
        let record = |kind: &str, content: Value| {
            let message = serde_json::json!({"role": kind, "content": content});
            let record = serde_json::json!({"type": kind, "uuid": format!("{id}{kind}"), "sessionId": id, "cwd": "/srv/app",
                "timestamp": "2026-03-04T10:00:00.000Z", "message": message});
            format!("{record}\n")
        };
        let call = record(
            "assistant",
            serde_json::json!([{"type": "tool_use", "id": format!("toolu_{id}"), "name": "Bash", "input": {"command": "echo needle"}}]),
        );
        let result =
            record("user", serde_json::json!([{"type": "tool_result", "tool_use_id": format!("toolu_{id}"), "content": "needle"}]));
        let path = self.path().join(format!(".claude/projects/-srv-app/{id}.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, call + &result).unwrap();
        age(&path, days);
        path
    }
}

fn age(path: &Path, days: u64) {
    // An hour younger, so that the test may take its time.
    let time = SystemTime::now() - Duration::from_secs(days * 86_400) + Duration::from_secs(3600);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// All files below a directory: their content and time.
fn files(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let (mut open, mut found) = (vec![root.to_owned()], BTreeMap::new());
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            if meta.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), (fs::read(&path).unwrap(), meta.modified().unwrap()));
            }
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    for (path, (content, time)) in files(from) {
        let target = to.join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(&target, content).unwrap();
        File::options().write(true).open(target).unwrap().set_modified(time).unwrap();
    }
}

/// What is printed about all sessions, on their own and together.
fn everything(home: &Home) -> Vec<String> {
    let now = ["--now", "2026-06-01T00:00:00Z"];
    let ask = |arguments: &[&str]| home.ask(&[arguments, &now].concat());
    let mut told = vec![ask(&["calls", "--json", "--copies"]), ask(&["list", "--json", "--digest"]), ask(&["stats", "--json"])];
    let sessions: Vec<String> =
        told[1].lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["session"].as_str().unwrap().to_owned()).collect();
    assert!(sessions.len() > 3);
    for session in sessions.iter().step_by(3) {
        told.push(ask(&["show", "--json", session]));
        told.push(ask(&["export", session, "--to", "md", "-o", "-"]));
    }
    told.push(ask(&["search", "the", "--json"]));
    told
}

#[test]
fn sessions_that_are_gone_and_kept_read_as_before() {
    let mut home = Home::new();
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests/fixtures");
    let mut claude = Vec::new();
    for case in fs::read_dir(fixtures.join("claude_code")).unwrap().flatten() {
        let place = home.path().join("claude").join(case.file_name());
        copy(&case.path(), &place);
        claude.push(place.to_str().unwrap().to_owned());
    }
    let codex = home.path().join("codex");
    for case in ["subagent-v2", "ends", "archived", "document", "paginated"] {
        copy(&fixtures.join("codex").join(case), &codex);
    }
    claude.sort();
    home.variables = vec![("CLAUDE_CONFIG_DIR", claude.join(",")), ("CODEX_HOME", codex.to_str().unwrap().to_owned())];
    let before = everything(&home);
    home.ask(&["keep", "now"]);
    for place in claude.iter().flat_map(|place| ["projects", "file-history"].map(|name| Path::new(place).join(name))) {
        let _ = fs::remove_dir_all(place);
    }
    fs::remove_dir_all(&codex).unwrap();
    let after = everything(&home);
    assert!(after[0].contains(&home.kept()), "evidence names the kept file");
    for (before, after) in before.iter().zip(&after) {
        let after = after.replace(&home.kept(), "");
        for (before, after) in before.lines().zip(after.lines()) {
            assert_eq!(before, after);
        }
        assert_eq!(before.lines().count(), after.lines().count());
    }
    // What is printed as evidence can be asked for.
    let row: Value = serde_json::from_str(after[0].lines().next().unwrap()).unwrap();
    let evidence = format!("{}:{}", row["request"]["file"].as_str().unwrap(), row["request"]["line"]);
    assert!(!home.ask(&["show", &evidence]).is_empty());
}

#[test]
fn a_keep_that_is_killed_is_whole_and_completed_the_next_time() {
    let home = Home::new();
    generate(home.path(), &CorpusPlan { bytes: 12_000_000, seed: 7 }).unwrap();
    let start = Instant::now();
    home.ask(&["keep", "now"]);
    let whole = start.elapsed();
    home.ask(&["keep", "off", "--delete"]);
    let mut rng = Rng::new(3);
    for round in 0..8 {
        let mut child = home.command(&["keep", "now"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(rng.below(1000) as f64 / 900.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let status = home.json(&["keep", "status", "--verify"]);
        assert_eq!(status["damaged"], Value::Array(Vec::new()), "round {round}");
        // Some logs go on, one is begun anew.
        let logs: Vec<PathBuf> =
            files(&home.path().join(".claude")).into_keys().map(|path| home.path().join(".claude").join(path)).collect();
        for _ in 0..5 {
            let path = &logs[rng.below(logs.len())];
            let mut content = fs::read(path).unwrap();
            match rng.below(3) {
                0 => content.truncate(content.len() / 2),
                _ => content.extend(b"{\"type\":\"user\"}\n"),
            }
            fs::write(path, content).unwrap();
        }
    }
    home.ask(&["keep", "now"]);
    let original = files(&home.path().join(".claude"));
    fs::remove_dir_all(home.path().join(".claude")).unwrap();
    home.ask(&["keep", "restore", "all"]);
    let restored = files(&home.path().join(".claude"));
    assert!(original.keys().eq(restored.keys()));
    assert!(original == restored, "some file is another");
}

#[test]
fn several_processes_keep_at_once() {
    let home = Home::new();
    generate(home.path(), &CorpusPlan { bytes: 4_000_000, seed: 8 }).unwrap();
    let spawn = |arguments: &&[&str]| home.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let commands: &[&[&str]] = &[&["keep", "on"], &["keep", "now"], &["keep", "now"], &["sql", "SELECT 1"], &["list", "--json"]];
    let children: Vec<_> = commands.iter().map(spawn).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let status = home.json(&["keep", "status", "--verify"]);
    assert_eq!((status["unkept"].as_u64(), status["older"].as_u64(), status["on"].as_bool()), (Some(0), Some(0), Some(true)));
}

#[test]
fn logs_that_will_be_deleted_are_told_of_until_they_are_kept() {
    let home = Home::new();
    home.session("aaaa1111", 26);
    home.session("bbbb2222", 3);
    home.session("cccc3333", 40);
    let list = home.ask(&["list"]);
    let row = |list: &str, id: &str| list.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    assert!(row(&list, "aaaa").contains("gone in 4 days"), "{list}");
    assert!(row(&list, "bbbb").contains("ended"), "{list}");
    assert!(row(&list, "cccc").contains("gone any time now"), "{list}");
    let advice = "2 sessions will be deleted by the agent within 7 days; `tooltrail keep on` keeps them";
    assert!(String::from_utf8_lossy(&home.run(&["list"]).stderr).lines().any(|line| line == advice));
    assert!(!home.ask(&["list", "--json"]).contains("gone"));
    // Not of logs that are named, nor of another home.
    assert!(!home.ask(&["list", ".claude"]).contains("gone"));
    assert!(!home.ask(&["list", "--root", "."]).contains("gone"));
    let soon = home.json(&["keep", "status"])["soon"].clone();
    let names: Vec<&str> = soon.as_array().unwrap().iter().map(|log| log["file"].as_str().unwrap().rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["cccc3333.jsonl", "aaaa1111.jsonl"]);
    assert!(home.ask(&["keep"]).contains("in 4 days     /"), "{}", home.ask(&["keep"]));
    // The settings decide.
    fs::write(home.path().join(".claude/settings.json"), "{\"cleanupPeriodDays\": 365}").unwrap();
    assert!(!home.ask(&["list"]).contains("gone"));
    fs::remove_file(home.path().join(".claude/settings.json")).unwrap();
    let said = home.ask(&["keep", "on"]);
    assert!(said.starts_with("Logs are copied, compressed, to `") && said.ends_with(" ms\n") || said.ends_with(" s\n"), "{said}");
    assert!(!home.ask(&["list"]).contains("gone"));
    assert_eq!(home.json(&["keep", "status"])["soon"], Value::Array(Vec::new()));
}

#[test]
fn while_it_is_on_other_commands_keep_what_is_new() {
    let home = Home::new();
    home.session("aaaa1111", 3);
    home.ask(&["sql", "SELECT 1"]);
    assert!(!home.path().join(".local/share/tooltrail").exists(), "nobody asked");
    home.ask(&["keep", "on"]);
    let path = home.session("bbbb2222", 2);
    home.ask(&["sql", "SELECT 1"]);
    assert!(Path::new(&format!("{}{}", home.kept(), path.display())).is_file());
    fs::remove_file(path).unwrap();
    assert_eq!(
        home.ask(&["sql", "--csv", "SELECT session, gone FROM sessions ORDER BY session"]),
        "session,gone\naaaa1111,0\nbbbb2222,0\n"
    );
    home.ask(&["keep", "off"]);
    let path = home.session("dddd4444", 2);
    home.ask(&["sql", "SELECT 1"]);
    assert!(!Path::new(&format!("{}{}", home.kept(), path.display())).exists());
    // What is kept stays, until it is to be deleted.
    assert!(home.ask(&["list", "--json"]).contains("bbbb2222"));
    let told = home.run(&["keep", "off", "--delete", "--json"]);
    assert_eq!(told.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&told.stderr).contains("only the keep still has 1 log; nothing was changed."), "{told:?}");
    assert!(home.ask(&["keep", "off"]).contains("the only copies of 1 log;"));
    assert!(home.ask(&["list", "--json"]).contains("bbbb2222"));
    let told = home.ask(&["keep", "off", "--delete", "--force"]);
    assert!(told.contains("2 files") && told.ends_with(", including the only copies of 1 log\n"), "{told}");
    assert!(!home.ask(&["list", "--json"]).contains("bbbb2222"));
}

#[test]
fn sessions_are_put_back_where_they_were_or_elsewhere() {
    let home = Home::new();
    let old = home.session("aaaa1111", 60);
    home.session("bbbb2222", 3);
    let saved = old.with_extension("").join("tool-results/t.txt");
    fs::create_dir_all(saved.parent().unwrap()).unwrap();
    fs::write(&saved, "saved").unwrap();
    assert_eq!(home.run(&["keep", "restore", "all"]).status.code(), Some(2));
    home.ask(&["keep", "now"]);
    let before = files(&home.path().join(".claude"));
    fs::remove_dir_all(home.path().join(".claude/projects")).unwrap();
    assert_eq!(home.ask(&["search", "-l", "needle"]).lines().count(), 2);
    // An agent finds no copies, so its command would fail.
    let resumed = home.run(&["resume", "bbbb"]);
    let said = String::from_utf8_lossy(&resumed.stderr).into_owned();
    assert!(resumed.status.code() == Some(2) && said.contains("`tooltrail keep restore bbbb --touch` restores them"), "{said}");
    // Elsewhere, laid out like a home.
    let elsewhere = home.path().join("elsewhere");
    home.ask(&["keep", "restore", "all", "--to", "elsewhere"]);
    assert!(files(&elsewhere.join(".claude")) == before);
    assert_eq!(home.ask(&["list", "--json", "--root", "elsewhere"]).lines().count(), 2);
    // One session, with what belongs to it.
    let output = home.run(&["keep", "restore", "aaaa"]);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout)), (Some(0), "restored 2 files\n".into()));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--touch"), "so old that it will be deleted again");
    assert_eq!(fs::read(&saved).unwrap(), b"saved");
    assert_eq!(fs::metadata(&old).unwrap().modified().unwrap(), before[old.strip_prefix(home.path().join(".claude")).unwrap()].1);
    assert_eq!(home.ask(&["list", "--json"]).matches(&home.kept()).count(), 1);
    // By the place where it was; what is another now is left alone.
    let lost = home.path().join(".claude/projects/-srv-app/bbbb2222.jsonl");
    home.ask(&["keep", "restore", lost.to_str().unwrap()]);
    assert!(files(&home.path().join(".claude")) == before);
    fs::write(&lost, "{}\n").unwrap();
    let output = home.run(&["keep", "restore", lost.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--force"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"outcome\":\"differs\""));
    let replaced = home.json(&["keep", "restore", lost.to_str().unwrap(), "--force"]);
    let aside = replaced["aside"].as_str().unwrap();
    assert_eq!((replaced["outcome"].as_str(), fs::read(aside).unwrap().as_slice()), (Some("replaced"), b"{}\n".as_slice()));
    fs::remove_file(aside).unwrap();
    assert!(files(&home.path().join(".claude")) == before);
    assert_eq!(home.run(&["keep", "restore", "nobody"]).status.code(), Some(2));
    assert_eq!(home.run(&["keep", "status", "--demo"]).status.code(), Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn a_copy_that_cannot_be_written_is_not_blamed_on_the_log() {
    let home = Home::new();
    home.session("aaaa1111", 3);
    let large = home.path().join(".claude/projects/-srv-app/large.jsonl");
    let mut rng = Rng::new(5);
    fs::write(&large, (0..400_000).map(|_| b'a' + rng.below(26) as u8).collect::<Vec<u8>>()).unwrap();
    // Files may have 64 KB and no more, as on a disk that is nearly full.
    let limited = "trap '' XFSZ; ulimit -f 128; exec \"$0\" keep now";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_tooltrail")]).env_clear().env("HOME", home.path()).current_dir(home.path());
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let keep = home.path().join(".local/share/tooltrail/keep/own");
    let expected = format!("error: cannot keep `{}`: its copy cannot be written to `{}`: ", large.display(), keep.display());
    assert!(told.starts_with(&expected) && told.lines().count() == 1, "{told}");
    assert_eq!((output.status.code(), home.json(&["keep", "status"])["logs"].as_u64()), (Some(1), Some(1)), "the other log is kept");
}

#[test]
fn a_log_is_kept_after_all_that_belongs_to_it() {
    let home = Home::new();
    home.ask(&["keep", "on"]);
    for (id, command) in [("aaaa1111", ["keep", "now"]), ("bbbb2222", ["sql", "SELECT 1"])] {
        let log = home.session(id, 3);
        let mut beside: Vec<PathBuf> = (0..60).map(|number| log.with_extension("").join(format!("tool-results/{number}.txt"))).collect();
        beside.push(home.path().join(format!(".claude/file-history/{id}/9f@v1")));
        for path in &beside {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "saved").unwrap();
        }
        let copy = |path: &Path| PathBuf::from(format!("{}{}", home.kept(), path.display()));
        let mut child = home.command(&command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Killed as soon as the log is kept: nobody would look for the others again.
        while !copy(&log).exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(copy(&log).exists(), "{command:?}");
        let missing = beside.iter().filter(|path| !copy(path).exists()).count();
        assert_eq!(missing, 0, "{command:?}");
    }
}

#[test]
fn a_log_that_goes_on_is_not_overwritten_with_what_was_kept() {
    let home = Home::new();
    let log = home.session("aaaa1111", 3);
    home.ask(&["keep", "now"]);
    let mut longer = fs::read(&log).unwrap();
    longer.extend(b"{\"type\":\"user\"}\n");
    fs::write(&log, &longer).unwrap();
    for arguments in
        [["keep", "restore", "all", "--force"].as_slice(), &["keep", "restore", "aaaa"], &["keep", "restore", "aaaa", "--force"]]
    {
        let output = home.run(arguments);
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(told, "restored 0 files; 1 exists and is longer than the copy: nothing is missing\n", "{arguments:?}");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()), "{arguments:?}");
        assert!(fs::read(&log).unwrap() == longer, "{arguments:?}");
    }
}

#[test]
fn what_only_the_keep_has_is_not_deleted_unless_asked() {
    let home = Home::new();
    let refused = |what: &str| {
        let output = home.run(&["keep", "off", "--delete"]);
        assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("only the keep still has {what}; ")), "{output:?}");
        assert_eq!((output.status.code(), home.json(&["keep", "status"])["on"].as_bool()), (Some(2), Some(true)));
    };
    let log = home.session("aaaa1111", 3);
    let saved = log.with_extension("").join("tool-results/t.txt");
    fs::create_dir_all(saved.parent().unwrap()).unwrap();
    fs::write(&saved, "saved").unwrap();
    home.ask(&["keep", "on"]);
    let whole = fs::read(&log).unwrap();
    fs::remove_file(&saved).unwrap();
    refused("1 other file");
    fs::write(&log, "").unwrap();
    refused("1 log, 1 other file");
    fs::write(&log, "{}\n").unwrap();
    fs::write(&saved, "saved").unwrap();
    home.ask(&["keep", "now"]);
    refused("1 older version");
    home.ask(&["keep", "off", "--delete", "--force"]);
    // What is all there may go.
    fs::write(&log, whole).unwrap();
    home.ask(&["keep", "now"]);
    assert_eq!(home.json(&["keep", "off", "--delete"])["deleted"].as_u64(), Some(2));
}

#[test]
fn ten_logs_that_will_be_deleted_are_listed_and_the_others_counted() {
    let home = Home::new();
    let told = || {
        let status = home.ask(&["keep"]);
        (status.matches(".jsonl").count(), status.lines().find(|line| line.contains("more;")).map(str::to_owned))
    };
    (0..10).for_each(|number| drop(home.session(&format!("aaaa000{number}"), 40)));
    assert_eq!(told(), (10, None));
    (0..2).for_each(|number| drop(home.session(&format!("bbbb000{number}"), 40)));
    assert_eq!(told(), (10, Some("… and 2 more; --json has all of them".to_owned())));
    assert_eq!(home.json(&["keep", "status"])["soon"].as_array().map(Vec::len), Some(12));
}

#[test]
fn what_is_put_elsewhere_is_laid_out_like_a_home_wherever_it_was() {
    let mut home = Home::new();
    home.session("aaaa1111", 3);
    let sessions = |home: &Home, root: &str| home.ask(&["list", "--json", "--root", root]).lines().count();
    // Of a directory that was named.
    fs::create_dir(home.path().join("other")).unwrap();
    fs::rename(home.path().join(".claude"), home.path().join("other/.claude")).unwrap();
    let root = home.path().join("other").to_str().unwrap().to_owned();
    let before = files(Path::new(&root));
    home.ask(&["--root", "other", "keep", "now"]);
    home.ask(&["--root", &root, "keep", "restore", "all", "--to", "out1"]);
    assert!(files(&home.path().join("out1")) == before && sessions(&home, "out1") == 1);
    // The directory may be gone.
    fs::rename(&root, home.path().join("away")).unwrap();
    home.ask(&["--root", "other", "keep", "restore", "all", "--to", "out3"]);
    assert!(files(&home.path().join("out3")) == before);
    let output = home.run(&["--root", "other", "keep", "off", "--delete"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("only the keep still has 1 log; "), "{output:?}");
    fs::rename(home.path().join("away"), &root).unwrap();
    // Of agents that were told to live elsewhere, in the home and outside.
    let codex = tempfile::tempdir().unwrap();
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests/fixtures");
    copy(&fixtures.join("codex/ends"), codex.path());
    home.variables = vec![("CLAUDE_CONFIG_DIR", format!("{root}/.claude")), ("CODEX_HOME", codex.path().to_str().unwrap().to_owned())];
    home.ask(&["keep", "now"]);
    home.ask(&["keep", "restore", "all", "--to", "out2"]);
    let out = files(&home.path().join("out2"));
    assert!(out.keys().all(|path| path.starts_with(".claude/projects") || path.starts_with(".codex/sessions")), "{:?}", out.keys());
    assert_eq!(sessions(&home, "out2"), home.ask(&["list", "--json"]).lines().count());
}

/// That it cannot be told whether logs are kept is an error, and never means that they are not.
#[test]
fn a_state_that_cannot_be_read_is_an_error() {
    let home = Home::new();
    home.session("a", 1);
    home.ask(&["keep", "on"]);
    let state = home.path().join(".local/share/tooltrail/keep/own/state.json");
    for broken in ["", "{\"on\":tr", "[]"] {
        fs::write(&state, broken).unwrap();
        let output = home.run(&["keep", "status"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("cannot tell whether logs are kept") && told.contains("state.json"), "{told}");
        // Another command does its work, and says so too.
        let output = home.run(&["list"]);
        assert!(output.status.success() && String::from_utf8(output.stderr).unwrap().contains("cannot tell whether logs are kept"));
    }
    home.ask(&["keep", "on"]);
    assert_eq!(home.json(&["keep", "status"])["on"], true);
}

/// A log of several frames, whose lines tell where they stood.
fn long_session(home: &Home, id: &str) -> PathBuf {
    let path = home.session(id, 1);
    let record = fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
    // Text that hardly gets smaller, so that a place in the middle of the copy lies within a frame.
    let mut rng = Rng::new(7);
    let mut noise = || (0..200).map(|_| char::from(b'a' + u8::try_from(rng.below(26)).unwrap())).collect::<String>();
    let text: String =
        (0..12_000).map(|number| format!("{}\n", record.replace("needle", &format!("needle {number} {}", noise())))).collect();
    fs::write(&path, text).unwrap();
    age(&path, 1);
    path
}

#[test]
fn what_is_whole_of_a_damaged_copy_is_saved() {
    let home = Home::new();
    let (lost, there) = (long_session(&home, "lost"), long_session(&home, "there"));
    let lines: Vec<String> = fs::read_to_string(&lost).unwrap().lines().map(str::to_owned).collect();
    home.ask(&["keep", "now"]);
    let time = fs::metadata(&lost).unwrap().modified().unwrap();
    fs::remove_file(&lost).unwrap();
    assert_eq!(home.ask(&["keep", "repair"]), "all copies are intact\n");
    let copies = [&lost, &there].map(|log| PathBuf::from(format!("{}{}", home.kept(), log.display())));
    for copy in &copies {
        let (mut bytes, time) = (fs::read(copy).unwrap(), fs::metadata(copy).unwrap().modified().unwrap());
        let middle = bytes.len() / 2;
        bytes[middle..middle + 40].fill(0);
        fs::write(copy, bytes).unwrap();
        File::options().append(true).open(copy).unwrap().set_modified(time).unwrap();
    }
    let status = home.run(&["keep", "status", "--verify", "--json"]);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["damaged"].as_array().unwrap().len(), 2, "{status}");

    let output = home.run(&["keep", "repair", "--json"]);
    assert_eq!(output.status.code(), Some(1), "something is lost");
    let rows: Vec<Value> = String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |outcome: &str| rows.iter().find(|row| row["outcome"] == outcome).unwrap_or_else(|| panic!("{outcome} in {rows:?}"));
    assert_eq!(of("copied_again")["file"], copies[1].to_str().unwrap());
    let salvaged = of("salvaged");
    assert_eq!((salvaged["file"].as_str(), salvaged["lost_parts"].as_u64()), (copies[0].to_str(), Some(1)));

    let restored = home.path().join("restored");
    home.ask(&["keep", "restore", "all", "--to", restored.to_str().unwrap()]);
    let restored = restored.join(lost.strip_prefix(home.path()).unwrap());
    let saved: Vec<String> = fs::read_to_string(&restored).unwrap().lines().map(str::to_owned).collect();
    assert!(saved.len() > lines.len() / 2 && saved.len() < lines.len(), "{} of {}", saved.len(), lines.len());
    let first_lost = lines.iter().zip(&saved).take_while(|(one, other)| one == other).count();
    let gap = lines.len() - saved.len();
    assert_eq!(saved[first_lost..], lines[first_lost + gap..], "one gap, at line ends");
    let bytes: usize = lines[first_lost..first_lost + gap].iter().map(|line| line.len() + 1).sum();
    assert_eq!(salvaged["lost_bytes"].as_u64(), Some(bytes as u64));
    assert_eq!(fs::metadata(&restored).unwrap().modified().unwrap(), time);

    let whole = home.json(&["keep", "status", "--verify"]);
    assert_eq!((whole["damaged"].as_array().map(Vec::len), whole["set_aside"].as_u64()), (Some(0), Some(2)), "{whole}");
}

/// A copy whose end is torn off: the frames are found without the table.
#[test]
fn a_torn_copy_gives_back_its_beginning() {
    let home = Home::new();
    let log = long_session(&home, "torn");
    let text = fs::read_to_string(&log).unwrap();
    home.ask(&["keep", "now"]);
    fs::remove_file(&log).unwrap();
    let copy = PathBuf::from(format!("{}{}", home.kept(), log.display()));
    let length = fs::metadata(&copy).unwrap().len();
    File::options().write(true).open(&copy).unwrap().set_len(length * 2 / 3).unwrap();
    let output = home.run(&["keep", "repair"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && told.contains("recovered") && told.contains("1 damaged part lost"), "{told}");
    let restored = home.path().join("restored");
    home.ask(&["keep", "restore", "all", "--to", restored.to_str().unwrap()]);
    let saved = fs::read_to_string(restored.join(log.strip_prefix(home.path()).unwrap())).unwrap();
    assert!(saved.len() > text.len() / 3 && text.starts_with(&saved) && saved.ends_with('\n'), "{} of {}", saved.len(), text.len());
}

#[test]
fn keeping_that_is_overdue_is_told_and_a_schedule_is_offered() {
    let home = Home::new();
    home.session("a", 1);
    home.ask(&["keep", "on"]);
    assert_eq!(home.json(&["keep", "status"])["overdue"], false);
    let state = home.path().join(".local/share/tooltrail/keep/own/state.json");
    fs::write(&state, "{\"on\":true,\"last\":\"2026-01-01T00:00:00.000Z\"}").unwrap();
    for (now, overdue) in [("2026-01-22T00:00:00Z", false), ("2026-01-25T00:00:00Z", true)] {
        assert_eq!(home.json(&["keep", "status", "--now", now])["overdue"], overdue, "{now}");
    }
    let told = home.ask(&["keep", "status", "--now", "2026-03-01T00:00:00Z"]);
    assert!(told.contains("after 30 days") && told.contains("keep schedule"), "{told}");
    // A command that finds nothing to keep has looked, too.
    home.ask(&["list"]);
    assert_eq!(home.json(&["keep", "status"])["overdue"], false);
    if cfg!(target_os = "linux") {
        let printed = home.ask(&["keep", "schedule"]);
        assert!(printed.contains(env!("CARGO_BIN_EXE_tooltrail")) && printed.contains("OnCalendar=daily"), "{printed}");
        assert!(!home.path().join(".config").exists(), "printed only");
    }
}
