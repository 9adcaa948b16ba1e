//! `index`: the catalogue checked against the logs and made anew, and damage that heals by itself.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A home with the logs of the demo, one session of which is gone.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/projects");
        let project = |name: &str| home.0.path().join(".claude/projects").join(name);
        for name in ["-srv-shop", "-srv-orbit"] {
            fs::create_dir_all(project(name)).unwrap();
            for entry in fs::read_dir(demo.join(name)).unwrap().flatten().filter(|entry| entry.path().is_file()) {
                fs::copy(entry.path(), project(name).join(entry.file_name())).unwrap();
            }
        }
        assert!(home.run(&["list"]).status.success());
        fs::remove_file(fs::read_dir(project("-srv-shop")).unwrap().next().unwrap().unwrap().path()).unwrap();
        assert!(home.run(&["list"]).status.success());
        home
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.args(arguments).args(["--now", "2040-01-01T00:00:00Z"]).env_clear().env("HOME", self.0.path());
        command.current_dir(self.0.path()).output().unwrap()
    }

    /// What `index check` says, as JSON, and how it exits.
    fn check(&self) -> (Value, Option<i32>) {
        let output = self.run(&["index", "check", "--json"]);
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
    }

    fn gone(&self) -> String {
        let output = self.run(&["sql", "--json", "SELECT session, title, calls, input FROM sessions WHERE gone"]);
        String::from_utf8(output.stdout).unwrap()
    }

    fn directory(&self) -> PathBuf {
        self.0.path().join(".cache/tooltrail")
    }

    fn names(&self, ending: &str) -> Vec<PathBuf> {
        let all = fs::read_dir(self.directory()).unwrap().flatten().map(|entry| entry.path());
        all.filter(|path| path.to_str().unwrap().ends_with(ending)).collect()
    }

    fn catalogue(&self) -> PathBuf {
        self.names(".db").pop().unwrap()
    }

    fn change(&self, sql: &str) {
        assert!(Connection::open(self.catalogue()).unwrap().execute(sql, []).unwrap() > 0, "{sql}");
    }

    /// Overwrites the first page of a table.
    fn damage(&self, table: &str) {
        let path = self.catalogue();
        let connection = Connection::open(&path).unwrap();
        let page: u32 = connection.query_row("SELECT rootpage FROM sqlite_master WHERE name = ?1", [table], |row| row.get(0)).unwrap();
        let size: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
        drop(connection);
        let mut bytes = fs::read(&path).unwrap();
        let start = usize::try_from((page - 1) * size).unwrap();
        bytes[start..start + 512].fill(0xa5);
        fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn a_row_that_is_not_that_of_the_log_is_found_and_made_anew() {
    let home = Home::new();
    let (sound, code) = home.check();
    assert_eq!((sound["condition"].as_str(), sound["differences"].as_u64(), code), (Some("sound"), Some(0), Some(0)), "{sound}");
    assert!(sound["calls"].as_u64() > Some(20) && sound["gone"] == 1, "{sound}");
    let gone = home.gone();
    assert_eq!(gone.lines().count(), 1);

    let there = "(SELECT id FROM session_rows WHERE NOT gone ORDER BY id LIMIT 1)";
    home.change(&format!("UPDATE call_rows SET tool = 'Nothing' WHERE id = (SELECT min(id) FROM call_rows WHERE id >> 32 = {there})"));
    home.change(&format!("UPDATE session_rows SET title = 'another', calls = 7 WHERE id = {there}"));
    home.change(&format!("DELETE FROM call_rows WHERE id = (SELECT max(id) FROM call_rows WHERE id >> 32 = {there})"));
    let (wrong, code) = home.check();
    assert_eq!((wrong["differences"].as_u64(), code), (Some(3), Some(1)), "{wrong}");
    let told: Vec<(&str, Vec<&str>)> = wrong["first"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["kind"].as_str().unwrap(), row["fields"].as_array().unwrap().iter().filter_map(Value::as_str).collect()))
        .collect();
    for expected in [("differs", vec!["tool"]), ("differs", vec!["title", "calls"]), ("missing", vec![])] {
        assert!(told.contains(&expected), "{expected:?} in {told:?}");
    }
    let text = String::from_utf8(home.run(&["index", "check"]).stdout).unwrap();
    assert!(text.contains("differs title, calls") && text.contains(".jsonl") && text.contains("index rebuild"), "{text}");

    // A process that reads meanwhile goes on with what it saw.
    let reader = Connection::open(home.catalogue()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM call_rows").unwrap();
    let calls = || -> i64 { reader.query_row("SELECT count(*) FROM call_rows", [], |row| row.get(0)).unwrap() };
    let before = calls();
    assert!(home.run(&["index", "rebuild"]).status.success());
    assert_eq!(calls(), before);
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(calls(), before + 1, "it is the same file");
    drop(reader);
    let (anew, code) = home.check();
    assert_eq!((&anew, code), (&sound, Some(0)));
    assert_eq!(home.gone(), gone);
    assert_eq!(
        fs::read_dir(home.directory()).unwrap().flatten().count(),
        home.names(".db").len() + home.names("-wal").len() + home.names("-shm").len()
    );
}

#[test]
fn a_damaged_file_is_told_and_rebuilt() {
    let home = Home::new();
    let gone = home.gone();
    home.damage("copy_rows");
    let (damaged, code) = home.check();
    assert_eq!((damaged["condition"].as_str(), code), (Some("damaged"), Some(1)), "{damaged}");
    assert!(!damaged["damage"].as_array().unwrap().is_empty(), "{damaged}");
    let rebuilt = home.run(&["index", "rebuild"]);
    let told = String::from_utf8(rebuilt.stderr).unwrap();
    assert!(rebuilt.status.success() && told.contains(".damaged`"), "{told}");
    assert_eq!(home.names(".damaged").len(), 1);
    assert_eq!(home.check().1, Some(0));
    assert_eq!(home.gone(), gone, "its rows are elsewhere");
}

/// Damage that shows only while rows are read: the command says so in one line, and prints what it would have printed.
#[test]
fn damage_heals_while_a_command_runs() {
    let home = Home::new();
    let whole = home.run(&["calls", "--json"]).stdout;
    assert!(whole.len() > 1000);
    home.damage("call_rows");
    let healed = home.run(&["calls", "--json"]);
    let told = String::from_utf8(healed.stderr).unwrap();
    assert!(healed.status.success() && told.lines().count() == 1 && told.contains("damaged"), "{told}");
    assert_eq!(String::from_utf8(healed.stdout), String::from_utf8(whole));
    assert_eq!(home.names(".damaged").len(), 1);
    assert_eq!(home.check().1, Some(0));
    // A summary that cannot be read costs reading one log.
    home.change("UPDATE summary_rows SET summary = x'00' WHERE source = (SELECT min(source) FROM summary_rows)");
    let output = home.run(&["show", "last", "--json"]);
    assert!(output.status.success());
    assert!(home.run(&["stats"]).status.success());
    assert_eq!(home.check().1, Some(0));
}

#[test]
fn without_a_catalogue_nothing_is_made() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.args(arguments).env_clear().env("HOME", home.path()).current_dir(home.path()).output().unwrap()
    };
    let output = run(&["index", "check"]);
    assert!(output.status.success() && String::from_utf8(output.stdout).unwrap().contains("there is no index"));
    assert!(!home.path().join(".cache").exists());
    assert_eq!(run(&["index", "check", "--no-cache"]).status.code(), Some(2));
    assert_eq!(run(&["index", "rebuild", "--demo"]).status.code(), Some(2));
}
