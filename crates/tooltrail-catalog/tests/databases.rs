//! Sessions of a database in the catalogue: stored, refreshed, searched, kept and watched like the logs of any file.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report
#![allow(dead_code, reason = "the support is shared with other tests")]

mod support;

use rusqlite::{Connection, params};
use serde_json::Value;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use support::*;
use tooltrail_catalog::keep::Keep;
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::search::{Hit, Query, search};
use tooltrail_catalog::watch::{LogLocations, NextChange, SubscribeOptions, WatchOptions, Watcher};
use tooltrail_formats::Places;
use tooltrail_formats::find::{self, Search};
use tooltrail_formats::scan::Progress;
use tooltrail_model::Time;

const SCHEMA: &str = "
CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT, version TEXT,
  time_created INTEGER, time_updated INTEGER);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
";

/// A home whose database holds the sessions of the invented exports, each of its own.
struct Home {
    directory: tempfile::TempDir,
    connection: Connection,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".local/share/opencode/opencode.db");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let exports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests/fixtures/opencode");
        for name in ["export/opencode/ses_01main.json", "export/opencode/ses_02child.json", "unanswered/opencode/ses_03open.json"] {
            put(&connection, &serde_json::from_slice(&fs::read(exports.join(name)).unwrap()).unwrap());
        }
        Home { directory, connection }
    }

    fn places(&self, kept: Option<PathBuf>) -> Vec<Places> {
        vec![Places { home: Some(self.directory.path().to_owned()), kept, ..Places::default() }]
    }

    fn search(&self) -> Search {
        find::in_places(&self.places(None))
    }
}

fn put(connection: &Connection, export: &Value) {
    let session = &export["info"];
    let columns = ["id", "projectID", "parentID", "slug", "directory", "title", "version"].map(|key| session[key].as_str());
    let [id, project, parent, slug, directory, title, version] = columns;
    let (created, updated) = (session["time"]["created"].as_i64(), session["time"]["updated"].as_i64());
    let row = params![id, project, parent, slug, directory, title, version, created, updated];
    connection.execute("INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", row).unwrap();
    for message in export["messages"].as_array().unwrap() {
        let (info, time) = (&message["info"], message["info"]["time"]["created"].as_i64());
        let row = params![info["id"].as_str(), id, time, info.to_string()];
        connection.execute("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)", row).unwrap();
        for part in message["parts"].as_array().unwrap() {
            let row = params![part["id"].as_str(), info["id"].as_str(), id, time, part.to_string()];
            connection.execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)", row).unwrap();
        }
    }
}

#[test]
fn the_catalogue_says_what_the_database_says_and_reads_only_what_changed() {
    let (home, cache) = (Home::new(), tempfile::tempdir().unwrap());
    let mut catalogue = open(cache.path());
    let same_as_scanned = |catalogue: &_, calls: usize| {
        let (direct_calls, direct_sessions) = direct(&scanned(&home.search()), &later());
        assert_eq!(direct_calls.len(), calls);
        assert!(direct_calls.iter().all(|row| row.contains("\"line\":null,\"row\":\"part:prt_")));
        same("database", &kept_calls(catalogue, &later()), &direct_calls);
        same("database", &kept_sessions(catalogue, &later()), &direct_sessions);
    };
    assert_eq!(refreshed(&mut catalogue, &home.search()).read, 3);
    same_as_scanned(&catalogue, 15);
    assert_eq!(refreshed(&mut catalogue, &home.search()).read, 0, "nothing has changed");
    // A call ends: its part is written anew.
    let ended =
        "UPDATE part SET time_updated = time_updated + 5, data = replace(data, '\"running\"', '\"completed\"') WHERE id = 'prt_22_1'";
    assert_eq!(home.connection.execute(ended, []).unwrap(), 1);
    let outcome = refreshed(&mut catalogue, &home.search());
    assert_eq!((outcome.read, outcome.lost), (1, 0), "only the session that has changed");
    same_as_scanned(&catalogue, 15);
    home.connection.execute_batch("DELETE FROM session WHERE id = 'ses_03open'").unwrap();
    assert_eq!(refreshed(&mut catalogue, &home.search()).lost, 1);
    same_as_scanned(&catalogue, 13);
}

#[test]
fn texts_in_a_database_are_found() {
    let (home, cache) = (Home::new(), tempfile::tempdir().unwrap());
    let mut catalogue = open(cache.path());
    refreshed(&mut catalogue, &home.search());
    let library = StoredLibrary::new(catalogue, None);
    let found = |text: &str| {
        let query = Query::new(filter(text), &[]);
        let mut hits: Vec<Hit> = Vec::new();
        let totals = search(&library, &query, &later(), 2, |more| {
            hits.extend(more);
            ControlFlow::Continue(())
        });
        assert_eq!(totals.unwrap().hits, hits.len() as u64);
        hits.into_iter().map(|hit| (hit.field.to_owned(), hit.row.unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(found("\"wait for it\""), [("prompt".to_owned(), "part:prt_21_1".to_owned())]);
    assert_eq!(found("\"cargo test\""), [("input".to_owned(), "part:prt_2_4".to_owned())]);
    assert_eq!(found("\"two callers\"").len(), 2, "what a subagent says and what its call gave");
}

#[test]
fn sessions_are_kept_and_read_when_their_database_is_gone() {
    let (home, data) = (Home::new(), tempfile::tempdir().unwrap());
    let keep = Keep::of(data.path(), &[]);
    let places = home.places(Some(keep.files()));
    let now: Time = "2026-04-01T00:00:00Z".parse().unwrap();
    let kept = || {
        let outcome = keep.now(&find::in_places(&places), 2, now, &Progress::default()).unwrap();
        assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
        outcome.copied()
    };
    assert_eq!(kept(), 3);
    assert_eq!(kept(), 0, "they are kept as they are");
    home.connection.execute_batch("UPDATE part SET time_updated = time_updated + 5000000 WHERE id = 'prt_22_1'").unwrap();
    let before = direct(&scanned(&find::in_places(&places)), &later());
    assert!(before.0.iter().all(|row| row.contains("\"line\":null")), "the database counts while it is there");
    fs::remove_file(home.directory.path().join(".local/share/opencode/opencode.db")).unwrap();
    let after = direct(&scanned(&find::in_places(&places)), &later());
    assert_eq!(after.0.len(), 15);
    assert!(after.0.iter().all(|row| row.contains("#session=ses_") && row.contains(".jsonl\",\"line\":")), "{}", after.0[0]);
    let address = home.directory.path().join(".local/share/opencode/opencode.db#session=ses_01main");
    let copy = keep.copy_of(&address).unwrap();
    assert!(keep.restore(&copy, &address, Default::default()).is_err(), "nothing is written beside a database");
    assert!(!address.exists());
}

#[test]
fn what_is_written_to_a_database_is_told() {
    let home = Home::new();
    home.connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    let now = later();
    let ground = LogLocations::Places(home.places(None));
    let watcher = Watcher::start(ground, WatchOptions::default(), Arc::new(move || now.clone())).unwrap();
    let subscriber = watcher.subscribe(SubscribeOptions { last: usize::MAX, ..SubscribeOptions::default() });
    let wait_for = |words: [&str; 2]| loop {
        match subscriber.next_within(Duration::from_secs(60)) {
            NextChange::Change(change) => {
                let text = serde_json::to_string(&*change).unwrap();
                if words.iter().all(|word| text.contains(word)) {
                    return text;
                }
            }
            other => panic!("{words:?} was not told: {other:?}"),
        }
    };
    wait_for(["call_pending", "unanswered"]);
    let ended =
        "UPDATE part SET time_updated = time_updated + 5, data = replace(data, '\"running\"', '\"completed\"') WHERE id = 'prt_22_1'";
    home.connection.execute(ended, []).unwrap();
    assert!(wait_for(["call_moved", "\"status\":\"succeeded\""]).contains("\"row\":\"part:prt_22_1\""));
    // A session that was not there before.
    let said = r#"{"info":{"id":"ses_04new","directory":"/srv/app","title":"Another","time":{"created":1772618500000,"updated":1772618500000}},
        "messages":[{"info":{"id":"msg_41","sessionID":"ses_04new","role":"user","time":{"created":1772618500000}},
        "parts":[{"id":"prt_41_1","sessionID":"ses_04new","messageID":"msg_41","type":"text","text":"one more thing"}]}]}"#;
    put(&home.connection, &serde_json::from_str(said).unwrap());
    wait_for(["ses_04new", "Another"]);
    watcher.finish().unwrap();
}
