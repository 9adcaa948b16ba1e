//! Every session of the real logs, viewed and exported. The logs lie beside the repository and are other people's words; where they
//! are not at hand the tests say so and pass.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a panic is the report

mod support;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::LazyLock;
use support::Logs;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::transcript::EntryKind;
use tooltrail_view::render::{html, markdown};

static LOGS: LazyLock<Option<Logs>> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing shown", root.display());
        return None;
    }
    Some(support::read(&[root.join("real"), root.join("fixtures")]))
});

#[test]
fn every_call_has_its_place_and_every_entry_opens() {
    let Some(logs) = &*LOGS else { return };
    let linked = logs.linker.link();
    let (mut calls, mut parts) = (0, 0);
    for (number, session) in linked.sessions.iter().enumerate() {
        let book = SessionBook::read(&linked, &[number], &logs.now, &logs.disk, None);
        let transcript = book.transcript();
        let mut placed = HashSet::new();
        for entry in transcript.threads.iter().flat_map(|thread| &thread.entries) {
            match (entry.what, book.open(entry)) {
                (EntryKind::Call(index), Loaded::Call(_)) => assert!(placed.insert(index), "{}: call {index} stands twice", session.id),
                (_, Loaded::Part(_)) => parts += 1,
                (what, loaded) => panic!("{}: line {}: {what:?}: {loaded:?}", session.id, entry.spot.at.line),
            }
        }
        assert_eq!(placed.len(), transcript.calls.len(), "{}: a call has no place", session.id);
        assert!(session.turns == 0 || !transcript.turns.is_empty(), "{}: no turns", session.id);
        calls += placed.len();
    }
    println!("{} sessions, {calls} calls, {parts} other entries", linked.sessions.len());
    assert!(linked.sessions.len() > 100 && calls > 5000);
}

#[test]
fn every_session_is_exported_with_every_call() {
    let Some(logs) = &*LOGS else { return };
    let linked = logs.linker.link();
    for (number, session) in linked.sessions.iter().enumerate() {
        let book = SessionBook::read(&linked, &[number], &logs.now, &logs.disk, None);
        let mut page = Vec::new();
        html::session(&book, &html::HtmlOptions::default(), &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        for call in linked.calls.iter().filter(|call| call.session == number && call.copy_of.is_none()) {
            let id = maud::html! { (linked.id(call.id)) }.into_string();
            assert!(page.contains(&format!("id=\"{id}\"")), "{}: no anchor for {id}", session.id);
        }
        let mut text = Vec::new();
        markdown::session(&book, &markdown::MarkdownOptions::default(), &mut text).unwrap();
        assert!(!text.is_empty());
    }
}
