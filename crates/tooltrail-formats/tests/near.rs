//! What was said around a call, found in the bytes around its records: the same as what is found in a session that was read whole.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::transcript::{Entry, Part};
use tooltrail_model::{Linker, Now, Time};

fn now() -> Now {
    Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap())
}

fn read(paths: &[PathBuf]) -> Linker {
    scan::scan(&find::in_paths(paths).files, &Options::default(), &Progress::default()).0
}

/// What was said, in words.
fn said(book: &SessionBook<'_>, entries: &[Entry]) -> Vec<String> {
    let words = |entry: &Entry| match book.open(entry) {
        Loaded::Part(Part::Prompt { text, .. }) => format!("prompt {}", text.trim()),
        Loaded::Part(Part::Text(text)) => format!("text {}", text.trim()),
        Loaded::Part(Part::Thinking(text)) => format!("thinking {}", text.trim()),
        other => format!("{other:?}"),
    };
    entries.iter().map(words).collect()
}

fn claude(number: u32, kind: &str, content: Value) -> Value {
    let time = format!("2026-03-04T10:00:{:02}.000Z", number % 60);
    json!({ "type": kind, "uuid": format!("u{number}"), "sessionId": "s", "timestamp": time, "message": { "role": kind, "id": format!("m{number}"), "content": content } })
}

fn call(number: u32, id: &str) -> Value {
    claude(number, "assistant", json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": "ls" } }]))
}

fn result(number: u32, id: &str, content: &str) -> Value {
    claude(number, "user", json!([{ "type": "tool_result", "tool_use_id": id, "content": content }]))
}

fn lay(folder: &Path, records: &[Value]) -> Vec<PathBuf> {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let log = folder.join("s.jsonl");
    // The last line need not end.
    std::fs::write(&log, lines.trim_end()).unwrap();
    vec![log]
}

#[test]
fn the_nearest_words_and_one_thought() {
    let folder = tempfile::tempdir().unwrap();
    let mut beside = claude(3, "assistant", json!([{ "type": "text", "text": "of a subagent" }]));
    beside["isSidechain"] = json!(true);
    let think = |number, text: &str| claude(number, "assistant", json!([{ "type": "thinking", "thinking": text }]));
    let paths = lay(
        folder.path(),
        &[
            claude(1, "user", json!("please look")),
            claude(2, "assistant", json!([{ "type": "text", "text": "I will" }])),
            beside,
            think(4, "far"),
            think(5, "near"),
            call(6, "a"),
            result(7, "a", &"long ".repeat(60_000)),
            call(8, "b"),
            result(9, "b", "x"),
            think(10, "first"),
            think(11, "second"),
            claude(12, "assistant", json!([{ "type": "text", "text": "done" }])),
        ],
    );
    let linker = read(&paths);
    let (linked, now, disk) = (linker.link(), now(), Disk::default());
    let whole = SessionBook::read(&linked, &[0], &now, &disk, None);
    let outline = SessionBook::outline(&linked, &[0], &now, &disk);
    for book in [&whole, &outline] {
        for index in 0..2 {
            let around = book.around(index);
            assert_eq!(said(book, &around.before), ["text I will", "thinking near"], "{index}");
            assert_eq!(said(book, &around.after), ["thinking first", "text done"], "{index}");
        }
        assert!(book.around(9).before.is_empty());
    }
    // Lines behind a record can be found by their number, those before it cannot.
    let from = outline.transcript().calls[0].request;
    for line in [6, 7, 12] {
        let spot = outline.line(from, line).unwrap();
        let record: Value = serde_json::from_slice(&outline.raw(spot).unwrap()).unwrap();
        assert_eq!((spot.at.line, &record["uuid"]), (line, &json!(format!("u{line}"))));
    }
    assert_eq!((outline.line(from, 5), outline.line(from, 13)), (None, None));
    assert_eq!(outline.time(from).map(|time| time.to_string()).as_deref(), Some("2026-03-04T10:00:06.000Z"));
}

#[test]
fn real_logs_tell_the_same_in_both_ways() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return;
    }
    let linker = read(&["claude", "codex"].map(|agent| root.join(agent)));
    let (linked, now, disk) = (linker.link(), now(), Disk::default());
    let (mut same, mut other) = (0, Vec::new());
    for session in 0..linked.sessions.len() {
        let whole = SessionBook::read(&linked, &[session], &now, &disk, None);
        let outline = SessionBook::outline(&linked, &[session], &now, &disk);
        for index in 0..outline.transcript().calls.len() {
            let (one, two) = (whole.around(index), outline.around(index));
            let both = [(&one.before, &two.before), (&one.after, &two.after)];
            for (place, (one, two)) in both.into_iter().enumerate() {
                let (one, two) = (said(&whole, one), said(&outline, two));
                if one == two {
                    same += 1;
                } else {
                    other.push(format!(
                        "{} {}: {one:.200?} {two:.200?}",
                        outline.transcript().calls[index].row.r#ref,
                        ["before", "after"][place]
                    ));
                }
            }
        }
    }
    println!("{same} the same, {} not", other.len());
    other.iter().take(10).for_each(|line| println!("{}", line.chars().take(400).collect::<String>()));
    assert!(same > 10_000 && other.len() * 100 < same, "{} differ", other.len());
}
