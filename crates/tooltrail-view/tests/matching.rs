//! The statements of the product's first document on matching results to calls, one test each. The whole way is taken: a log on
//! the disk, scanned, linked, loaded and viewed.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use serde_json::{Value, json};
use tooltrail_model::Status;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::content::Content;
use tooltrail_model::transcript::{EntryKind, Part, Story};
use tooltrail_view::{Block, Limits, call};

/// One pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn user(number: u32, content: Value) -> Value {
    let at = format!("2026-03-04T10:00:{number:02}.000Z");
    json!({"type": "user", "uuid": format!("u{number}"), "parentUuid": null, "sessionId": "s1", "timestamp": at, "cwd": "/srv/app",
        "message": {"role": "user", "content": content}})
}

fn assistant(number: u32, content: Value) -> Value {
    let at = format!("2026-03-04T10:00:{number:02}.000Z");
    json!({"type": "assistant", "uuid": format!("a{number}"), "parentUuid": null, "sessionId": "s1", "timestamp": at, "cwd": "/srv/app",
        "message": {"id": format!("m{number}"), "role": "assistant", "model": "claude-opus-4-8", "content": content}})
}

fn asks(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn answers(id: &str, content: Value, error: bool) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": error})
}

/// Loads every call of a log.
fn with_stories(lines: &[Value], test: impl FnOnce(&[Story<'_>], &dyn Book)) {
    let folder = tempfile::tempdir().unwrap();
    let logs = support::log(folder.path(), lines);
    logs.with_book(|_, book| {
        let load = |index| match book.call(index) {
            Loaded::Call(story) => *story,
            other => panic!("{other:?}"),
        };
        let stories: Vec<Story<'_>> = (0..book.transcript().calls.len()).map(load).collect();
        test(&stories, book);
    });
}

/// A body with all its sections, as text.
fn text(call: &Story<'_>) -> String {
    format!("{:?}", call::body(call, &Limits::PAGE))
}

fn simple(result: Option<Value>) -> Vec<Value> {
    let mut lines = vec![user(1, json!("read it")), assistant(2, json!([asks("t1", "Bash", json!({"command": "ls"}))]))];
    lines.extend(result.map(|result| user(3, json!([result]))));
    lines
}

#[test]
fn results_are_in_their_calls_whatever_the_order() {
    let lines = [
        user(1, json!("go")),
        assistant(
            2,
            json!([{"type": "text", "text": "Two at once"}, asks("t1", "Bash", json!({"command": "one"})), asks("t2", "Bash", json!({"command": "two"}))]),
        ),
        user(3, json!([answers("t2", json!("second"), false)])),
        user(4, json!([answers("t1", json!("first"), false)])),
    ];
    with_stories(&lines, |stories, _| {
        let seen: Vec<_> = stories.iter().map(|story| (story.row.call, story.answer.as_ref().unwrap().seen.clone())).collect();
        assert_eq!(seen, [("t1", vec![Content::text("first")]), ("t2", vec![Content::text("second")])]);
    });
}

#[test]
fn a_message_that_held_only_results_is_no_message() {
    with_stories(&simple(Some(answers("t1", json!("a.rs"), false))), |_, book| {
        let entries: Vec<EntryKind> = book.transcript().threads[0].entries.iter().map(|entry| entry.what).collect();
        assert_eq!(entries, [EntryKind::Prompt, EntryKind::Call(0)]);
    });
}

#[test]
fn words_beside_a_result_stay() {
    let lines = [
        user(1, json!("go")),
        assistant(2, json!([asks("t1", "Bash", json!({"command": "ls"}))])),
        user(3, json!([answers("t1", json!("a.rs"), false), {"type": "text", "text": "<system-reminder>be brief</system-reminder>"}])),
    ];
    with_stories(&lines, |_, book| {
        let transcript = book.transcript();
        let last = transcript.threads[0].entries.last().unwrap();
        assert_eq!(last.what, EntryKind::Folded);
        match book.open(last) {
            Loaded::Part(Part::Folded { text, .. }) => assert!(text.contains("be brief"), "{text}"),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn pictures_are_read_from_blocks_and_from_json_in_a_string() {
    let block = json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]);
    for content in [block.clone(), Value::String(block.to_string())] {
        let lines = [
            user(1, json!("look")),
            assistant(2, json!([asks("t1", "Read", json!({"file_path": "/srv/app/shot.png"}))])),
            user(3, json!([answers("t1", content, false)])),
        ];
        with_stories(&lines, |stories, _| {
            let seen = &stories[0].answer.as_ref().unwrap().seen;
            assert!(matches!(&seen[..], [Content::Image(image)] if image.data.as_deref() == Some(PIXEL)), "{seen:?}");
            let body = call::body(&stories[0], &Limits::PAGE);
            assert!(body.iter().any(|block| matches!(block, Block::Image { image, .. } if image.media == "image/png")), "{body:?}");
        });
    }
}

#[test]
fn other_json_in_a_string_stays_a_string_until_its_view_reads_it() {
    let said = "{\"rows\": [1, 2]}";
    with_stories(&simple(Some(answers("t1", json!(said), false))), |stories, _| {
        assert_eq!(stories[0].answer.as_ref().unwrap().seen, [Content::text(said)]);
    });
}

#[test]
fn answers_to_questions_are_read_from_the_text() {
    let question = json!({"questions": [{"question": "Which store?", "header": "Store", "multiSelect": false,
        "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}]}]});
    let lines = [
        user(1, json!("go")),
        assistant(2, json!([asks("t1", "AskUserQuestion", question)])),
        user(
            3,
            json!([answers("t1", json!("User has answered your questions: \"Which store?\"=\"SQLite\". You can now continue."), false)]),
        ),
    ];
    with_stories(&lines, |stories, _| {
        let body = call::body(&stories[0], &Limits::PAGE);
        let Some(Block::Questions { questions }) = body.iter().find(|block| matches!(block, Block::Questions { .. })) else {
            panic!("{body:?}")
        };
        let chosen: Vec<String> = questions[0].options.iter().filter(|option| option.2).map(|option| option.0.text()).collect();
        assert_eq!(chosen, ["SQLite"]);
    });
}

#[test]
fn a_missing_result_is_said_to_be_missing() {
    with_stories(&simple(None), |stories, _| {
        assert_eq!(stories[0].row.status, Status::Unanswered);
        assert!(stories[0].answer.is_none());
        assert!(text(&stories[0]).contains("The log ends before the result"), "{}", text(&stories[0]));
    });
}

#[test]
fn a_running_call_is_said_to_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut logs = support::log(folder.path(), &simple(None));
    let soon = tooltrail_model::Time::from(jiff::Timestamp::now());
    logs.now = tooltrail_model::Now::at(soon);
    logs.now.live.insert("s1".into(), tooltrail_model::link::Live::Running);
    logs.with_book(|_, book| {
        let Loaded::Call(story) = book.call(0) else { panic!("no call") };
        assert_eq!(story.row.status, Status::Running);
        assert!(text(&story).contains("No result yet"), "{}", text(&story));
    });
}

#[test]
fn an_error_is_shown_first() {
    with_stories(
        &simple(Some(answers("t1", json!("<tool_use_error>File has not been read yet. Read it first.</tool_use_error>"), true))),
        |stories, _| {
            assert_eq!(stories[0].row.status, Status::Failed);
            let body = call::body(&stories[0], &Limits::PAGE);
            let first = format!("{:?}", body.first().unwrap());
            assert!(first.contains("File has not been read yet"), "{first}");
            assert!(!format!("{body:?}").contains("tool_use_error"), "{body:?}");
        },
    );
}

#[test]
fn nothing_is_searched_for_or_read_while_viewing() {
    let folder = tempfile::tempdir().unwrap();
    let logs = support::log(folder.path(), &simple(Some(answers("t1", json!("a.rs"), false))));
    logs.with_book(|_, book| {
        let Loaded::Call(story) = book.call(0) else { panic!("no call") };
        let reads = logs.disk.reads();
        let _ = (call::head(&story), call::body(&story, &Limits::WHOLE), call::life(&story));
        assert_eq!(logs.disk.reads(), reads);
    });
}

#[test]
fn viewing_changes_nothing() {
    with_stories(&simple(Some(answers("t1", json!("a.rs"), false))), |stories, _| {
        let before = format!("{stories:?}");
        let first = call::body(&stories[0], &Limits::PAGE);
        let second = call::body(&stories[0], &Limits::PAGE);
        assert_eq!(first, second);
        assert_eq!(format!("{stories:?}"), before);
    });
}

#[test]
fn a_tool_that_nobody_knows_is_shown_with_all_it_has() {
    let lines = [
        user(1, json!("go")),
        assistant(2, json!([asks("t1", "Zeppelin", json!({"height": 300, "crew": ["Ada", "Bob"]}))])),
        user(3, json!([answers("t1", json!("landed"), false)])),
    ];
    with_stories(&lines, |stories, _| {
        let (head, body) = (format!("{:?}", call::head(&stories[0])), text(&stories[0]));
        assert!(head.contains("Zeppelin"), "{head}");
        for word in ["height", "300", "Ada", "Bob", "landed"] {
            assert!(body.contains(word), "{word} is not in {body}");
        }
    });
}

#[test]
fn what_only_the_program_said_is_folded_and_not_lost() {
    let lines = [user(1, json!("<system-reminder>mind the gap</system-reminder>")), user(2, json!("hello"))];
    with_stories(&lines, |_, book| {
        let entries: Vec<EntryKind> = book.transcript().threads[0].entries.iter().map(|entry| entry.what).collect();
        assert_eq!(entries, [EntryKind::Folded, EntryKind::Prompt]);
    });
}
