//! OpenCode's databases and exports: read like any log, left as they are, and real ones held against a naive count.
//!
//! Databases are made here from statements; nothing of a real one is kept but totals.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report
#![allow(clippy::print_stdout)] // says what was compared

use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_formats::follow::Follower;
use tooltrail_formats::lines::Buffer;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::{Places, find};
use tooltrail_model::{Linker, Now, Time};

const SCHEMA: &str = "
CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL,
  title TEXT NOT NULL, version TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
  time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE INDEX part_session_idx ON part(session_id);
";

/// Long after everything.
fn now() -> Now {
    Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap())
}

fn export(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode/export/opencode").join(name)
}

/// Puts an export into a database, as the agent would have it there: what is a column is not part of the data.
fn put(connection: &Connection, export: &Path) {
    let document: Value = serde_json::from_slice(&fs::read(export).unwrap()).unwrap();
    let session = &document["info"];
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
    connection
        .execute(
            "INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                text(session, "id"),
                text(session, "projectID"),
                text(session, "parentID"),
                text(session, "slug"),
                text(session, "directory"),
                text(session, "title"),
                text(session, "version"),
                session["time"]["created"].as_i64(),
                session["time"]["updated"].as_i64(),
            ],
        )
        .unwrap();
    for message in document["messages"].as_array().unwrap() {
        let info = &message["info"];
        let created = info["time"]["created"].as_i64();
        let without = |value: &Value| {
            let mut value = value.clone();
            ["id", "sessionID", "messageID"].iter().for_each(|key| drop(value.as_object_mut().unwrap().remove(*key)));
            value.to_string()
        };
        connection
            .execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
                params![text(info, "id"), text(info, "sessionID"), created, without(info)],
            )
            .unwrap();
        for part in message["parts"].as_array().unwrap() {
            connection
                .execute(
                    "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                    params![text(part, "id"), text(part, "messageID"), text(part, "sessionID"), created, without(part)],
                )
                .unwrap();
        }
    }
}

/// A home with a database in it, the sessions of two exports.
fn home() -> (tempfile::TempDir, PathBuf, Connection) {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("opencode");
    fs::create_dir(&directory).unwrap();
    let path = directory.join("opencode.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    put(&connection, &export("ses_01main.json"));
    put(&connection, &export("ses_02child.json"));
    (home, path, connection)
}

fn scanned(paths: &[PathBuf]) -> Linker {
    let search = find::in_paths(paths);
    assert!(search.problems.is_empty(), "{:?}", search.problems);
    let (linker, problems) = scan::scan(&search.files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    linker
}

fn rows(linker: &Linker) -> Vec<Value> {
    let linked = linker.link();
    linked.call_rows(&now(), false).map(|row| serde_json::to_value(row).unwrap()).collect()
}

/// A call without where it stands.
fn without_places(mut row: Value) -> Value {
    for key in ["evidence", "request", "result", "input_bytes", "result_bytes"] {
        row.as_object_mut().unwrap().remove(key);
    }
    row
}

/// The files of a database, with their bytes.
fn bytes(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    entries.map(|entry| entry.unwrap().path()).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn a_database_and_an_export_tell_the_same_calls() {
    let (_home, path, connection) = home();
    drop(connection);
    let before = bytes(&path);
    let (stored, exported) = (rows(&scanned(std::slice::from_ref(&path))), rows(&scanned(&[export("")])));
    assert_eq!(bytes(&path), before);
    assert_eq!(stored.len(), 13);
    let position = &stored[0]["request"];
    assert_eq!(*position, json!({"file": path.to_str().unwrap(), "line": null, "row": "part:prt_2_3"}));
    assert_eq!((&stored[0]["evidence"], &stored[0]["result"]), (position, position));
    assert_eq!(stored.into_iter().map(without_places).collect::<Vec<_>>(), exported.into_iter().map(without_places).collect::<Vec<_>>());
}

#[test]
fn a_session_in_a_database_and_an_export_is_one_session_with_copies() {
    let (_home, path, connection) = home();
    drop(connection);
    let alone = scanned(std::slice::from_ref(&path));
    let both = scanned(&[path.clone(), export("")]);
    let sessions = |linker: &Linker| {
        let linked = linker.link();
        let session = |row| {
            let mut row = serde_json::to_value(row).unwrap();
            let files = row.as_object_mut().unwrap().remove("files").unwrap();
            (row, files.as_array().unwrap().len())
        };
        linked.session_rows(&now()).into_iter().map(session).collect::<Vec<_>>()
    };
    let [(one, one_file)] = &sessions(&alone)[..] else { panic!("one session") };
    let [(two, three_files)] = &sessions(&both)[..] else { panic!("one session") };
    assert_eq!(one, two);
    assert_eq!((one_file, three_files), (&1, &3));
    let copies = both.link().call_rows(&now(), true).filter(|row| row.copy_of.is_some()).count();
    assert_eq!((rows(&both).len(), copies), (13, 13));
}

#[test]
fn a_database_that_is_being_written_is_read_as_it_is_at_one_moment() {
    let (_home, path, connection) = home();
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    let running = json!({"type": "tool", "callID": "call_new", "tool": "bash", "state": {"status": "running", "input": {"command": "make"},
        "time": {"start": 1_772_618_440_000_i64}}});
    connection.execute("INSERT INTO part VALUES ('prt_9', 'msg_3', 'ses_01main', 1, 1, ?1)", [running.to_string()]).unwrap();
    // Another one is under way, and not for anybody else to see yet.
    connection.execute_batch("BEGIN IMMEDIATE; DELETE FROM part WHERE session_id = 'ses_02child'").unwrap();
    let before = bytes(&path);
    assert_eq!(before.len(), 3, "{:?}", before.keys());
    let linker = scanned(std::slice::from_ref(&path));
    assert_eq!(bytes(&path), before, "neither the database nor its log nor the index of that is written to");
    let found = rows(&linker);
    assert_eq!(found.len(), 14);
    let new = found.iter().find(|row| row["call"] == "call_new").unwrap();
    assert_eq!((&new["status"], &new["request"]["row"]), (&json!("unanswered"), &json!("part:prt_9")));
    // The writer was not kept waiting, and what it writes is seen afterwards.
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(rows(&scanned(&[path])).len(), 13);
}

#[test]
fn what_lies_in_the_log_beside_a_database_counts_where_nobody_has_it_open() {
    let (_home, path, connection) = home();
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    connection.execute("UPDATE session SET title = 'Renamed' WHERE id = 'ses_01main'", []).unwrap();
    // As a backup has it: the database and its log, without the index.
    let away = tempfile::tempdir().unwrap();
    let copy = away.path().join("opencode.db");
    fs::copy(&path, &copy).unwrap();
    fs::copy(path.with_extension("db-wal"), copy.with_extension("db-wal")).unwrap();
    let before = bytes(&copy);
    let linker = scanned(std::slice::from_ref(&copy));
    assert_eq!(linker.link().session_rows(&now())[0].title, Some("Renamed"));
    assert_eq!(bytes(&copy), before);
}

#[test]
fn the_records_of_a_session_are_read_again_at_any_place() {
    let (_home, path, connection) = home();
    let search = find::in_paths(std::slice::from_ref(&path));
    let linker = scanned(std::slice::from_ref(&path));
    let linked = linker.link();
    let disk = Disk::default();
    for call in &linked.calls {
        let (record, source) = (linked.record(call.id), &linked.sources[call.id.source()]);
        let bytes = disk.bytes(&source.path, record.at.span).unwrap();
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["callID"], linked.id(call.id));
        assert_eq!(value["row"].as_str(), source.summary.rows.get(record.at.line));
    }
    // A follower reads it whole, and sees what has changed.
    let address = search.files.iter().find(|found| found.path.to_string_lossy().ends_with("ses_01main")).unwrap();
    let mut follower = Follower::new(&address.path, &Options::default());
    let mut lines = 0;
    let first = follower.follow(&mut Buffer::default(), &mut |_, _| lines += 1).unwrap();
    assert_eq!((first.source.summary.calls.len(), lines), (12, first.source.summary.tally.lines));
    connection.execute("DELETE FROM part WHERE id = 'prt_2_3'", []).unwrap();
    let second = follower.follow(&mut Buffer::default(), &mut |_, _| {}).unwrap();
    assert_eq!((second.source.summary.calls.len(), second.whole), (11, true));
    let found = find::at(&path);
    let after = found.iter().find(|found| found.path == address.path).unwrap();
    assert_ne!(after, address, "a stamp tells that it has changed");
    let other = |files: &[find::FoundSource]| files.iter().find(|found| found.path != address.path).cloned();
    assert_eq!(other(&found), other(&search.files), "and that the other has not");
}

#[test]
fn a_database_that_is_damaged_or_hostile_is_a_problem_and_nothing_else() {
    let (_home, path, connection) = home();
    connection.execute("UPDATE part SET data = '{\"type\":\"tool\",\"callID\":' WHERE id = 'prt_2_3'", []).unwrap();
    connection.execute("UPDATE part SET data = x'00ff', message_id = 'none' WHERE id = 'prt_2_4'", []).unwrap();
    connection.execute("UPDATE message SET data = '[1]' WHERE id = 'msg_3'", []).unwrap();
    connection.execute("INSERT INTO session VALUES ('../a b#c', '', NULL, '', '', '', '', 0, 0)", []).unwrap();
    drop(connection);
    let linker = scanned(std::slice::from_ref(&path));
    assert_eq!(rows(&linker).len(), 11);
    let linked = linker.link();
    let checks: Vec<Value> = linked.check_rows(&now()).into_iter().map(|row| serde_json::to_value(row).unwrap()).collect();
    let check = checks.iter().find(|row| row["part"] == "ses_01main").unwrap();
    assert_eq!((&check["lines"], &check["unparsed"]), (&json!(24), &json!(1)));
    assert_eq!((&check["issues"][0]["line"], &check["issues"][0]["row"]), (&json!(null), &json!("part:prt_2_3")));
    assert!(checks.iter().any(|row| row["part"] == "../a b#c"));
    // Cut anywhere, it is read or it is not.
    let whole = fs::read(&path).unwrap();
    for cut in [0, 1, 99, 100, 4096, 4097, whole.len() / 2, whole.len() - 1] {
        let mut broken = whole[..cut].to_vec();
        fs::write(&path, &broken).unwrap();
        let search = find::in_paths(std::slice::from_ref(&path));
        let _ = scan::scan(&search.files, &Options::default(), &Progress::default());
        broken = whole.clone();
        broken[cut.min(whole.len() - 1)..].iter_mut().step_by(7).for_each(|byte| *byte ^= 0x5a);
        fs::write(&path, &broken).unwrap();
        let search = find::in_paths(std::slice::from_ref(&path));
        let _ = scan::scan(&search.files, &Options::default(), &Progress::default());
    }
    // A view that never ends is no table.
    fs::remove_file(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(&format!(
            "{SCHEMA} DROP TABLE part; CREATE VIEW part AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)
             SELECT i AS id, i AS message_id, i AS session_id, i AS time_created, i AS time_updated, i AS data FROM n"
        ))
        .unwrap();
    let search = find::in_paths(std::slice::from_ref(&path));
    assert!(search.files.is_empty() && search.problems.is_empty());
}

#[test]
fn databases_are_found_where_the_agent_keeps_them() {
    let (home, path, _connection) = home();
    fs::copy(&path, path.with_file_name("opencode-dev.db")).unwrap();
    fs::copy(&path, path.with_file_name("other.db")).unwrap();
    fs::create_dir(path.with_file_name("snapshot")).unwrap();
    fs::write(path.with_file_name("snapshot").join("a.jsonl"), "{}").unwrap();
    let files = |places: Places| {
        let names = find::in_places(&[places]).files.into_iter().map(|found| found.path);
        names.map(|path| path.strip_prefix(home.path()).unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let data = Places { environment: [("XDG_DATA_HOME", home.path().into())].into(), ..Places::default() };
    let usual = [
        "opencode/opencode-dev.db#session=ses_01main",
        "opencode/opencode-dev.db#session=ses_02child",
        "opencode/opencode.db#session=ses_01main",
        "opencode/opencode.db#session=ses_02child",
    ];
    assert_eq!(files(data.clone()), usual);
    let mut named = data;
    named.environment.insert("OPENCODE_DB", path.with_file_name("other.db").into());
    assert_eq!(files(named).len(), 6);
}

/// Real exports and databases, counted naively.
#[test]
fn every_call_of_real_sessions_is_listed_once_with_its_status_and_times() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real/other/opencode");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return;
    }
    let mut expected: BTreeMap<String, (String, Value, Value)> = BTreeMap::new();
    let mut count = |part: &Value| {
        let state = &part["state"];
        let failed = state["metadata"]["exit"].as_i64().is_some_and(|code| code != 0);
        let status = match state["status"].as_str().unwrap() {
            "completed" if failed => "failed",
            "completed" => "succeeded",
            "error" if state["error"].as_str().unwrap().starts_with("The user rejected") => "rejected",
            "error" => "failed",
            other => panic!("{other}"),
        };
        let time = |key: &str| Time::from_millisecond(state["time"][key].as_i64().unwrap()).unwrap().to_string().into();
        let id = part["callID"].as_str().unwrap().to_owned();
        assert!(expected.insert(id, (status.to_owned(), time("start"), time("end"))).is_none());
    };
    let files = find::in_paths(std::slice::from_ref(&root)).files;
    for found in &files {
        let path = found.path.to_string_lossy();
        if let Some((file, _)) = path.split_once("#session=") {
            let connection = Connection::open(format!("file:{}?immutable=1", file.replace('+', "%2B"))).unwrap();
            let mut parts = connection.prepare("SELECT data FROM part").unwrap();
            let parts = parts.query_map([], |row| row.get::<_, String>(0)).unwrap();
            let parts = parts.map(|data| serde_json::from_str::<Value>(&data.unwrap()).unwrap());
            parts.filter(|part| part["type"] == "tool").for_each(|part| count(&part));
        } else {
            let document: Value = serde_json::from_slice(&fs::read(&found.path).unwrap()).unwrap();
            let parts = document["messages"].as_array().unwrap().iter().flat_map(|message| message["parts"].as_array().unwrap());
            parts.filter(|part| part["type"] == "tool").for_each(&mut count);
        }
    }
    let found = rows(&scanned(&[root]));
    println!("{} calls of {} sources", found.len(), files.len());
    assert_eq!(found.len(), expected.len());
    for row in found {
        let (status, start, end) = &expected[row["call"].as_str().unwrap()];
        assert_eq!((&row["status"], &row["requested_at"], &row["completed_at"]), (&json!(status), start, end), "{row}");
        assert!(row["duration_ms"].is_u64() && row["session"].is_string() && row["model"].is_string(), "{row}");
    }
}
