//! Every session of the real logs, viewed and exported. The logs lie beside the repository and are other people's words; where they
//! are not at hand the test says so and passes.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a panic is the report

mod support;

use std::collections::HashSet;
use std::path::PathBuf;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::transcript::What;
use tooltrail_view::render::{html, markdown};

#[test]
fn every_session_is_shown_with_every_call() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing shown", root.display());
        return;
    }
    let logs = support::read(&[root.join("real"), root.join("fixtures")]);
    let linked = logs.linker.link();
    let (mut sessions, mut calls, mut parts) = (0, 0, 0);
    for (number, session) in linked.sessions.iter().enumerate() {
        let book = SessionBook::read(&linked, &[number], &logs.now, &logs.shelf, None);
        let transcript = book.transcript();
        let mut placed = HashSet::new();
        for entry in transcript.threads.iter().flat_map(|thread| &thread.entries) {
            match entry.what {
                What::Call(index) => assert!(placed.insert(index), "{}: call {index} stands twice", session.id),
                _ => match book.open(entry) {
                    Loaded::Part(_) => parts += 1,
                    other => panic!("{}: line {}: {other:?}", session.id, entry.spot.at.line),
                },
            }
        }
        assert_eq!(placed.len(), transcript.calls.len(), "{}: a call has no place", session.id);
        let mut page = Vec::new();
        html::session(&book, &html::Options::default(), &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        for call in linked.calls.iter().filter(|call| call.session == number && call.copy_of.is_none()) {
            let id = maud::html! { (&*linked.record(call.id).id) }.into_string();
            assert!(page.contains(&format!("id=\"{id}\"")), "{}: no anchor for {id}", session.id);
            calls += 1;
        }
        let mut text = Vec::new();
        markdown::session(&book, &markdown::Options::default(), &mut text).unwrap();
        assert!(!text.is_empty());
        sessions += 1;
    }
    println!("{sessions} sessions, {calls} calls, {parts} other entries");
    assert!(sessions > 100 && calls > 5000);
}
