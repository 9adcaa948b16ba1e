//! A call is told in the same words wherever it is shown: what it is about, how long it took, that it waits for somebody.

#![allow(clippy::expect_used, dead_code)] // helpers of tests, where a panic is the report; not all of them are used here

mod support;

use std::collections::BTreeMap;
use support::{Small, World};

/// Sessions of the demo, with most kinds of tools and with both agents.
const SESSIONS: &[&str] = &["3f2a", "7c10", "c2d4", "019cb4dd", "91f7"];

/// A text of a page without its tags and entities.
fn text(markup: &str) -> String {
    let mut out = String::new();
    for piece in markup.split('<') {
        out.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
    }
    ["&amp;", "&lt;", "&gt;", "&quot;"].iter().zip(["&", "<", ">", "\""]).fold(out, |text, (name, sign)| text.replace(name, sign))
}

/// What stands between two pieces.
fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    page.split_once(start).and_then(|(_, rest)| rest.split_once(end)).map_or("", |(found, _)| found)
}

/// The calls of a transcript by number: the classes, what each is about, how long it took.
fn transcript(page: &str) -> BTreeMap<u64, (String, String, String)> {
    let rows = page.split("<a class=\"nr\"").skip(1).filter_map(|row| {
        let number = between(row, ">", "<").parse().ok()?;
        let title = text(between(row, "<span class=\"title\">", "<span class=\"facts\">"));
        let took = text(between(row, "<span class=\"took\">", "</span><span class=\"verdict"));
        Some((number, (between(row, "class=\"row call ", "\"").to_owned(), title, took)))
    });
    rows.collect()
}

/// The same of the table of the waterfall: what, and how long.
fn table(page: &str) -> BTreeMap<u64, (String, String)> {
    let rows = page.split("<td class=\"c-number\">").skip(1).filter_map(|row| {
        let number = text(row.split("</td>").next()?).parse().ok()?;
        let cell = |name: &str| text(between(row, &format!("<td class=\"{name}\">"), "</td>"));
        Some((number, (cell("c-what"), cell("c-duration"))))
    });
    rows.collect()
}

#[test]
fn a_call_is_about_the_same_and_took_as_long_on_every_page() {
    let world = World::demo();
    let (mut alike, mut timed) = (0, 0);
    for session in SESSIONS {
        let (_, head, _) = world.answer(&format!("/s/{session}"));
        let address = between(&head, "ocation: ", "\r\n").to_owned();
        let rows = transcript(&world.page(&address));
        let table = table(&world.page(&format!("{address}/waterfall?view=table")));
        assert!(!rows.is_empty() && rows.len() <= table.len(), "{session}");
        for (number, (classes, title, took)) in &rows {
            let (what, lasted) = table.get(number).expect("the same calls");
            if !took.is_empty() && !lasted.starts_with('≤') {
                assert_eq!(lasted.trim_end_matches(" (you)"), took, "{session}:{number}");
                timed += 1;
            }
            // Commands are shortened in their own ways; a head also says which lines were read.
            let told = ["k-read", "k-write", "k-edit", "k-search", "k-subagent", "k-task"].iter().any(|kind| classes.contains(kind));
            if told {
                assert!(title.starts_with(what.trim_end_matches('…')) && !what.is_empty(), "{session}:{number}: {title:?}, {what:?}");
                alike += 1;
            }
        }
    }
    assert!(alike > 20 && timed > 30, "{alike} {timed}");
}

/// A session that has asked its person something.
fn asks(home: &std::path::Path) {
    let folder = home.join(".claude/projects/-srv-app");
    std::fs::create_dir_all(&folder).expect("a folder");
    let line = |kind: &str, uuid: &str, parent: &str, time: &str, message: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"timestamp\":\"2026-03-04T12:00:{time}Z\",\"sessionId\":\"a5c0\",\"cwd\":\"/srv/app\",\"message\":{message}}}\n"
        )
    };
    let question = r#"{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"toolu_q","name":"AskUserQuestion","input":{"questions":[{"question":"Which store?","header":"Store","options":[{"label":"SQLite","description":"a file"},{"label":"Redis","description":"a server"}],"multiSelect":false}]}}]}"#;
    let log = line("user", "u1", "null", "10.000", r#"{"role":"user","content":"pick a store"}"#)
        + &line("assistant", "a1", "\"u1\"", "12.000", question);
    let path = folder.join("a5c0.jsonl");
    std::fs::write(&path, log).expect("a log");
    let written = support::time("2026-03-04T12:00:12Z").timestamp().into();
    std::fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(written)).expect("its time");
}

#[test]
fn a_question_that_is_open_waits_for_its_answer() {
    let world = World::new(asks);
    let page = world.page("/s/a5c0");
    let (row, body) = (between(&page, "<details class=\"row call", "</details>"), world.page("/s/a5c0/body/0"));
    assert!(row.contains("◆") && row.contains("asks you") && row.contains("waiting for your answer"), "{row}");
    assert!(!row.contains("running</span>") && body.contains("waiting for your answer") && !body.contains("the tool is at work"), "{body}");
    assert!(page.contains("asks you: a question is open"), "the state is told in words");
    assert!(world.page("/calls").contains("asks you") && world.page("/").contains("asks you"));
}

#[test]
fn a_page_without_logs_says_so_wherever_one_asks() {
    let world = World::new(|_| {});
    for path in ["/calls", "/search?q=needle"] {
        assert!(world.page(path).contains("No logs yet."), "{path}");
    }
}

#[test]
fn projects_of_the_same_name_are_told_apart_in_lists() {
    let world = World::new(|home| {
        for (id, cwd) in [("a0000001", "/srv/one/app"), ("a0000002", "/srv/two/app")] {
            Small { id, prompt: "p", cwd, command: "true", at: "2026-03-04T10:00:00Z", fails: false }.lay(home);
        }
    });
    for path in ["/", "/sessions", "/calls"] {
        let page = world.page(path);
        assert!(page.contains(">one/app</a>") && page.contains(">two/app</a>"), "{path}");
    }
}

#[test]
fn what_a_session_changed_leads_to_the_calls_that_did() {
    let world = World::demo();
    let (_, head, _) = world.answer("/s/3f2a");
    let address = between(&head, "ocation: ", "\r\n").to_owned();
    let page = world.page(&format!("{address}/changes"));
    let by = between(&page, "<p class=\"by\">", "</p>");
    assert_eq!(text(by).trim(), "Changed by #10 #14");
    let to = between(by, "href=\"", "\"").replace("&amp;", "&");
    let (path, anchor) = to.split_once('#').expect("it leads to a row");
    assert!(world.page(path).contains(&format!("id=\"{anchor}\"")), "{to}");
    // The evidence is named where it is weaker than a text in the log.
    let (_, head, _) = world.answer("/s/f04b");
    let page = text(&world.page(&format!("{}/changes", between(&head, "ocation: ", "\r\n"))));
    let all: String = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all.contains("edited ×1 · turn 1 · changed while the command ran"), "{all}");
    assert!(all.contains("notes/prices.md → docs/prices.md") && all.contains("edited ×1 · turn 1 · by shell command"), "{all}");
}

#[test]
fn what_was_copied_from_another_session_says_so() {
    let world = World::demo();
    let (_, head, _) = world.answer("/s/c2d4");
    let address = between(&head, "ocation: ", "\r\n").to_owned();
    let page = world.page(&address);
    let note = text(between(&page, "<p class=\"copied di\">", "</p>"));
    assert!(note.starts_with("5 calls, with the messages around them, copied from 3f2a91c4-"), "{note}");
    assert_eq!(page.matches(">copied</span>").count(), 5);
}
