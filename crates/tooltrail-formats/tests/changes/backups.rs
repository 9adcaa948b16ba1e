//! The copies that Claude Code keeps of files: each is a version, and one without a name says that the file was not there.

use super::world::Memory;
use serde_json::{Value, json};
use tooltrail_formats::changes::{FileLookup, find, history};
use tooltrail_model::changes::versions::{HistoryRow, versions};
use tooltrail_model::{Now, Time};

fn record(kind: &str, second: u64, message: Value, produced: Value) -> Value {
    json!({
        "type": kind, "uuid": format!("u{second}"), "parentUuid": null, "sessionId": "s1", "cwd": "/srv/app", "version": "2.1.250",
        "timestamp": format!("2026-03-04T10:00:{second:02}.000Z"), "message": message, "toolUseResult": produced,
    })
}

fn backup(name: Option<&str>, second: u64) -> Value {
    json!({"backupFileName": name, "version": 1, "backupTime": format!("2026-03-04T10:00:{second:02}.000Z")})
}

/// A session that edits a file twice. Its results hold no text; only the copies do.
fn logs() -> Memory {
    let ask = |id: &str, old: &str, new: &str| {
        let input = json!({"file_path": "/srv/app/src/a.rs", "old_string": old, "new_string": new});
        json!({"id": format!("m{id}"), "role": "assistant", "model": "m", "content": [{"type": "tool_use", "id": id, "name": "Edit", "input": input}]})
    };
    let done = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "done"}]});
    let snapshot = |second: u64, files: Value| json!({"type": "file-history-snapshot", "messageId": "x", "snapshot": {"messageId": "x", "timestamp": format!("2026-03-04T10:00:{second:02}.000Z"), "trackedFileBackups": files}});
    let delta = json!({"type": "file-history-delta", "messageId": "x", "trackingPath": "src/a.rs", "backup": backup(Some("9f@v1"), 4), "timestamp": "2026-03-04T10:00:04.000Z"});
    let records = [
        record("user", 1, json!({"role": "user", "content": "change it"}), Value::Null),
        snapshot(2, json!({"src/a.rs": backup(None, 2), "src/other.rs": backup(Some("77@v1"), 2)})),
        record("assistant", 3, ask("t1", "one", "two"), Value::Null),
        delta,
        record("user", 5, done("t1"), Value::Null),
        // Told again, as snapshots tell everything.
        snapshot(6, json!({"src/a.rs": backup(Some("9f@v1"), 4)})),
        record("assistant", 7, ask("t2", "two", "three"), Value::Null),
        record("user", 8, done("t2"), Value::Null),
        snapshot(9, json!({"src/a.rs": backup(Some("9f@v2"), 9), "src/b.rs": backup(Some("../../secret"), 9)})),
    ];
    let text = records.iter().map(|record| format!("{record}\n")).collect::<String>();
    let mut memory = Memory::default();
    memory.0.insert("/home/me/.claude/projects/-srv-app/s1.jsonl".to_owned(), text.into_bytes());
    memory.1.insert("9f@v1".to_owned(), "one\n".to_owned());
    memory.1.insert("9f@v2".to_owned(), "three, by hand\n".to_owned());
    memory
}

#[test]
fn copies_are_versions() {
    let logs = logs();
    let linker = logs.linker();
    let linked = linker.link();
    let now = Now::at("2026-03-05T00:00:00Z".parse::<Time>().unwrap());
    assert_eq!(find(&linked, &now, &logs, "a.rs", Some("/elsewhere")), FileLookup::One("/srv/app/src/a.rs".to_owned()));
    let history = history(&linked, &now, &logs, "/srv/app/src/a.rs");
    let said = |entry: &HistoryRow| match entry {
        HistoryRow::Version(version) => {
            let evidence = &history.evidence[version.by];
            let line = format!("{} {:?} {} {}", version.number, version.known.as_text(), version.how.word(), evidence.line);
            format!("{line}{}", if version.replayed { " replayed" } else { "" })
        }
        HistoryRow::Gap(gap) => format!("{gap:?}"),
    };
    let told: Vec<String> = versions(&history.steps).iter().map(said).collect();
    let expected = [
        "Outside(1)",
        "1 Some(\"one\\n\") backup 4",
        "2 Some(\"two\\n\") edited 5 replayed",
        "3 Some(\"three\\n\") edited 8 replayed",
        "Outside(4)",
        "4 Some(\"three, by hand\\n\") backup 9",
    ];
    assert_eq!(told, expected);
}
