//! Names that Codex keeps for its threads outside of their logs: read, never changed, and fresh after every search.
//!
//! Databases are made here from statements, in the shape of the agent's own.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use rusqlite::{Connection, params};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tooltrail_formats::Places;
use tooltrail_formats::find::{self, FoundSource};
use tooltrail_formats::follow::Follower;
use tooltrail_formats::lines::Buffer;
use tooltrail_formats::scan::{Options, Progress, scan};
use tooltrail_model::{Linker, Now, Time};

const SCHEMA: &str = "CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT NOT NULL, created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, title TEXT NOT NULL, first_user_message TEXT NOT NULL DEFAULT '', tokens_used INTEGER NOT NULL DEFAULT 0)";

const A: &str = "019cb830-0000-7000-8000-00000000aa01";
const B: &str = "019cb830-0000-7000-8000-00000000aa02";
const CHILD: &str = "019cb830-0000-7000-8000-00000000aa03";

/// A home with two sessions and an agent of the first.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let day = home.path().join("sessions/2026/03/04");
    fs::create_dir_all(&day).unwrap();
    for (id, prompt, parent) in [(A, "fix the parser", None), (B, "write the docs", None), (CHILD, "scout", Some(A))] {
        let parent = parent.map_or(String::new(), |parent| format!(r#","parent_thread_id":"{parent}""#));
        let log = format!(
            r#"{{"timestamp":"2026-03-04T10:00:00Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-03-04T10:00:00Z","cwd":"/srv/app"{parent}}}}}
{{"timestamp":"2026-03-04T10:00:01Z","type":"event_msg","payload":{{"type":"user_message","message":"{prompt}"}}}}
"#
        );
        fs::write(day.join(format!("rollout-2026-03-04T10-00-00-{id}.jsonl")), log).unwrap();
    }
    home
}

fn database(path: &Path) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    connection
}

fn put(connection: &Connection, id: &str, title: &str, first: &str) {
    let values = params![id, title, first];
    connection.execute("INSERT OR REPLACE INTO threads VALUES (?1, '', 0, 0, ?2, ?3, 0)", values).unwrap();
}

fn found(home: &Path) -> Vec<FoundSource> {
    let places = Places { environment: [("CODEX_HOME", home.into())].into(), ..Places::default() };
    let search = find::in_places(&[places]);
    assert!(search.problems.is_empty(), "{:?}", search.problems);
    search.files
}

/// The titles of the sessions, by id.
fn titles(files: &[FoundSource]) -> BTreeMap<String, String> {
    let (linker, problems) = scan(files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    titles_of(&linker)
}

fn titles_of(linker: &Linker) -> BTreeMap<String, String> {
    let linked = linker.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let rows = linked.session_rows(&now);
    rows.iter().map(|row| (row.session.to_owned(), row.title.unwrap_or_default().to_owned())).collect()
}

fn expect(files: &[FoundSource], a: &str, b: &str) {
    assert_eq!(titles(files), BTreeMap::from([(A.to_owned(), a.to_owned()), (B.to_owned(), b.to_owned())]));
}

/// The files of a home, with their bytes.
fn bytes(home: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn a_name_is_the_title_and_the_beginning_of_a_prompt_is_none() {
    let home = home();
    let connection = database(&home.path().join("state_5.sqlite"));
    put(&connection, A, "Parser work", "fix the parser");
    put(&connection, B, "write the", "write the docs");
    // The name of an agent is not that of the session it works for.
    put(&connection, CHILD, "Scout", "scout");
    drop(connection);
    expect(&found(home.path()), "Parser work", "write the docs");
    // Newer versions have a name of its own, and another place.
    let newer = database(&home.path().join("sqlite/state_5.sqlite"));
    newer.execute_batch("ALTER TABLE threads ADD COLUMN name TEXT; ALTER TABLE threads ADD COLUMN preview TEXT").unwrap();
    newer
        .execute("INSERT INTO threads (id, rollout_path, created_at, updated_at, title, name) VALUES (?1, '', 0, 0, 'x', 'The docs')", [B])
        .unwrap();
    drop(newer);
    fs::write(home.path().join("session_index.jsonl"), format!("{{\"id\":\"{A}\",\"thread_name\":\"By the index\"}}\n")).unwrap();
    expect(&found(home.path()), "By the index", "The docs");
}

#[test]
fn a_new_name_changes_the_log_that_it_names_and_no_other() {
    let home = home();
    let index = home.path().join("session_index.jsonl");
    let before = found(home.path());
    expect(&before, "fix the parser", "write the docs");
    fs::write(&index, format!("{{\"id\":\"{A}\",\"thread_name\":\"First\"}}\n")).unwrap();
    let named = found(home.path());
    expect(&named, "First", "write the docs");
    let differ = |one: &[FoundSource], other: &[FoundSource]| -> Vec<bool> {
        one.iter().zip(other).map(|(one, other)| one.identity != other.identity).collect()
    };
    assert_eq!(differ(&before, &named), [true, false, false]);
    // A single file that is looked at again has the stamp that the search gave it.
    assert_eq!(find::at(&named[0].path), [named[0].clone()]);
    // A change of the file that is about no log here changes nothing.
    fs::write(&index, format!("{{\"id\":\"{A}\",\"thread_name\":\"First\"}}\n{{\"id\":\"x\",\"thread_name\":\"Other\"}}\n")).unwrap();
    assert_eq!(found(home.path()), named);
    // A follower shows the new name although the log has not grown.
    let mut follower = Follower::new(&named[0].path, &Options::default());
    let mut follow = || {
        let followed = follower.follow(&mut Buffer::default(), &mut |_, _| {}).unwrap();
        let mut linker = Linker::default();
        linker.put(followed.source);
        titles_of(&linker)[A].clone()
    };
    assert_eq!(follow(), "First");
    fs::write(&index, format!("{{\"id\":\"{A}\",\"thread_name\":\"Second\"}}\n")).unwrap();
    assert_ne!(found(home.path()), named);
    assert_eq!(follow(), "Second");
    fs::remove_file(&index).unwrap();
    assert_eq!(found(home.path()), before);
    assert_eq!(follow(), "fix the parser");
}

#[test]
fn a_database_is_left_as_it_is_while_the_agent_writes() {
    let home = home();
    let path = home.path().join("state_5.sqlite");
    let writer = database(&path);
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    put(&writer, A, "Parser work", "fix the parser");
    // Never opened, as everything beside it shows: it is no file that could be.
    fs::create_dir(home.path().join("auth.json")).unwrap();
    // A writer that holds its lock is not waited for, and what it has not committed is not seen.
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    put(&writer, B, "Docs work", "write the docs");
    let before = bytes(home.path());
    assert_eq!(before.len(), 3, "{:?}", before.keys());
    expect(&found(home.path()), "Parser work", "write the docs");
    assert!(bytes(home.path()) == before, "neither the database nor its log nor the index of that is written to");
    writer.execute_batch("COMMIT").unwrap();
    expect(&found(home.path()), "Parser work", "Docs work");
}

#[test]
fn a_damaged_or_hostile_database_names_nothing() {
    let home = home();
    let path = home.path().join("state_5.sqlite");
    fs::write(&path, b"SQLite format 3\0 and then nothing").unwrap();
    expect(&found(home.path()), "fix the parser", "write the docs");
    fs::remove_file(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(&format!("CREATE VIEW threads AS SELECT '{A}' AS id, 'No' AS title, '' AS first_user_message")).unwrap();
    drop(connection);
    expect(&found(home.path()), "fix the parser", "write the docs");
    fs::remove_file(&path).unwrap();
    let odd = Connection::open(&path).unwrap();
    odd.execute_batch("CREATE TABLE threads (id, title)").unwrap();
    odd.execute("INSERT INTO threads VALUES (?1, x'ff00'), (1, 'one'), (?2, 'Named')", [A, B]).unwrap();
    drop(odd);
    expect(&found(home.path()), "fix the parser", "Named");
}
