//! Claude Desktop: sessions of its local agent mode are found in the directories of all systems, and its own descriptions give sessions
//! their titles. The layouts are those that other programs read; no real ones were seen.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::json;
use std::fs;
use std::path::Path;
use tooltrail_formats::scan::{Options, Progress, scan};
use tooltrail_formats::{Places, find};
use tooltrail_model::{Linker, Now, Time};

/// Where the application keeps its files, below a home.
const BASES: [&str; 4] = [
    ".config/Claude",
    "Library/Application Support/Claude",
    "AppData/Roaming/Claude",
    "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude",
];

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn log(path: &Path, session: &str) {
    let record = |kind: &str, content: &str, second: u32| {
        json!({
            "type": kind, "uuid": format!("{kind}-{session}"), "sessionId": session, "timestamp": format!("2026-03-04T10:00:0{second}.000Z"),
            "cwd": "/srv/app", "message": {"role": kind, "content": content},
        })
    };
    write(path, &format!("{}\n{}\n", record("user", "hello", 1), record("assistant", "hi", 2)));
}

/// Reads a home.
fn read(home: &Path) -> (Linker, Vec<String>) {
    let places = Places { home: Some(home.to_owned()), ..Places::default() };
    let found = find::in_places(&[places]);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let names = found.files.iter().map(|file| file.path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    let (linker, problems) = scan(&found.files, &Options::default(), &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    (linker, names)
}

fn at(time: &str) -> Now {
    Now::at(time.parse::<Time>().unwrap())
}

#[test]
fn sessions_of_the_local_agent_mode_are_found_on_every_system() {
    for base in BASES {
        let home = tempfile::tempdir().unwrap();
        let session = home.path().join(base).join("local-agent-mode-sessions/account/organisation/local_1");
        log(&session.join(".claude/projects/-srv-app/00015e55.jsonl"), "00015e55");
        for other in
            ["audit.jsonl", "uploads/a.jsonl", "outputs/.claude/projects/p/b.jsonl", "node_modules/c.jsonl", "skills-plugin/d.jsonl"]
        {
            log(&session.join(other), "other");
        }
        let description =
            json!({"sessionId": "local_1", "cliSessionId": "00015e55", "title": "Tax report", "lastActivityAt": 1_772_618_402_000_i64});
        write(&session.with_extension("json"), &description.to_string());
        let (linker, mut names) = read(home.path());
        names.sort();
        assert_eq!(names, ["00015e55.jsonl", "local_1.json"], "{base}");
        let (linked, now) = (linker.link(), at("2026-03-05T00:00:00Z"));
        let rows = linked.session_rows(&now);
        assert_eq!(rows.iter().map(|row| (row.session, row.title)).collect::<Vec<_>>(), [("00015e55", Some("Tax report"))], "{base}");
        assert!(rows[0].files.len() == 1 && rows[0].files[0].ends_with(".jsonl"), "{:?}", rows[0].files);
    }
}

#[test]
fn the_newest_description_of_a_session_names_it_and_describes_no_other() {
    let home = tempfile::tempdir().unwrap();
    log(&home.path().join(".claude/projects/-srv-app/00015e55.jsonl"), "00015e55");
    let registry = home.path().join(".config/Claude/claude-code-sessions/account/organisation");
    let describe = |name: &str, session: &str, title: &str, active: &str, archived: bool| {
        let active = active.parse::<Time>().unwrap().as_millisecond();
        let text = json!({"sessionId": name, "cliSessionId": session, "title": title, "lastActivityAt": active, "isArchived": archived});
        write(&registry.join(format!("{name}.json")), &serde_json::to_string_pretty(&text).unwrap());
    };
    describe("local_a", "00015e55", "Renamed later", "2026-03-04T10:00:04Z", true);
    describe("local_b", "00015e55", "First name", "2026-03-04T09:00:00Z", false);
    describe("local_c", "gone", "The log is gone", "2026-03-04T10:00:04Z", false);
    write(&registry.join("local_d.json"), "{\"cliSessionId\":\"00015e55\",\"title\":\"Bro");
    let (linker, _) = read(home.path());
    let linked = linker.link();
    // Written just now by the test, so the session counts as alive; what ends it is that it was archived.
    let rows = linked.session_rows(&at("2026-03-04T10:01:00Z"));
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.session, row.title, row.turns), ("00015e55", Some("Renamed later"), 1));
    assert_eq!(row.last_at, Some("2026-03-04T10:00:02Z".parse::<Time>().unwrap()));
    let ending = linked.sessions[0].ending.unwrap();
    assert_eq!(ending.what, tooltrail_model::summary::Ending::Archived);
}
