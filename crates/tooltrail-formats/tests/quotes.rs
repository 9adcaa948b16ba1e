//! The words of a person, as a reader sees them: what is a prompt in a transcript, and which prompts a digest quotes. The logs are cases
//! of `fixtures/`, whose snapshots show titles and numbers of turns.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use std::path::Path;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::scan::{Options, Progress, scan};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded, Selection};
use tooltrail_model::digest;
use tooltrail_model::transcript::Part;
use tooltrail_model::{Now, Time};

/// Reads one session of a case.
fn with_book<T>(case: &str, session: &str, test: impl FnOnce(&SessionBook<'_>) -> T) -> T {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(case);
    let options = Options { threads: 1, ..Options::default() };
    let (linker, problems) = scan(&find::in_paths(&[folder]).files, &options, &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    let linked = linker.link();
    let index = linked.sessions.iter().position(|found| found.id.starts_with(session)).unwrap();
    let now = Now::at("2026-03-05T10:00:00Z".parse::<Time>().unwrap());
    let disk = Disk::default();
    test(&SessionBook::read(&linked, &[index], &now, &disk, None))
}

/// The prompts and commands of a session, in order.
fn prompts(case: &str, session: &str) -> Vec<String> {
    with_book(case, session, |book| {
        let entries = book.transcript().threads.first().map(|main| main.entries.clone()).unwrap_or_default();
        let words = entries.iter().filter_map(|entry| match book.open(entry) {
            Loaded::Part(Part::Prompt { text, .. }) => Some(text.trim().to_owned()),
            Loaded::Part(Part::Command { line, .. }) => Some(format!("command {line}")),
            _ => None,
        });
        words.collect()
    })
}

/// The first and the last prompt that the digest of a session quotes.
fn quoted(case: &str, session: &str) -> (String, String) {
    with_book(case, session, |book| {
        let digest = digest::of(book, &Selection::default());
        let text = |quote: Option<digest::Quote>| quote.map_or_else(|| "nothing".to_owned(), |quote| quote.text);
        (text(digest.asked_first), text(digest.asked))
    })
}

fn pair(first: &str, last: &str) -> (String, String) {
    (first.to_owned(), last.to_owned())
}

#[test]
fn tasks_in_the_queue_are_no_prompts() {
    let case = "claude_code/prompts-queued-tasks";
    let own = "{\"task_id\":\"x\"} is what I see in my log";
    assert_eq!(prompts(case, "0001"), ["1: build it in the background", own]);
    assert_eq!(quoted(case, "0001"), pair("1: build it in the background", own));
}

#[test]
fn what_was_taken_back_is_shown_and_not_quoted() {
    let case = "claude_code/prompts-removed-from-queue";
    let shown = prompts(case, "0002");
    assert!(shown.contains(&"taken back".to_owned()), "{shown:?}");
    assert_eq!(shown.iter().filter(|line| line.contains("/review")).count(), 1, "{shown:?}");
    assert_eq!(quoted(case, "0002"), pair("1: start", "/review src"));
}

#[test]
fn commands_of_the_program_are_not_quoted() {
    let case = "claude_code/prompts-local-commands";
    assert_eq!(quoted(case, "0003"), pair("1: the first words", "1: the first words"));
    assert_eq!(quoted(case, "0004"), pair("nothing", "nothing"));
    assert_eq!(quoted(case, "0005"), pair("/fix the roof first", "2: thanks, now the door"));
}

#[test]
fn words_are_found_among_those_of_other_programs() {
    let case = "claude_code/prompts-of-other-apps";
    assert_eq!(prompts(case, "0008"), ["1: what is this project about?"]);
    assert_eq!(prompts(case, "0009"), ["command /mcp", "2: words beside an editor's context"]);
    assert_eq!(prompts(case, "0010"), ["1: mend the roof"]);
    assert_eq!(prompts(case, "0011"), ["1: after texts of the program"]);
    let words = "1: after a setting that the app sent as a prompt";
    assert_eq!(prompts(case, "0012"), ["command /clear", words, "command /model"]);
    assert_eq!(quoted(case, "0012"), pair(words, words));
}

#[test]
fn texts_that_codex_injects_are_no_prompts() {
    let injected = ["1: what is in the picture?", "Warning: the build is red. 2: mend it"];
    assert_eq!(prompts("codex/prompts-injected", "019cb830"), injected);
    assert_eq!(quoted("codex/prompts-injected", "019cb830"), pair(injected[0], injected[1]));
    let kinds = ["<skill> is a tag I like: 1: explain it", "2: go on", "3: of an older version", "4: without a word"];
    assert_eq!(prompts("codex/prompts-with-kinds", "019cb830"), kinds);
}

#[test]
fn of_a_template_only_what_was_typed_is_a_prompt() {
    let typed = "list the rules of the harbour";
    assert_eq!(prompts("codex/prompts-of-templates", "019cb830"), [typed]);
    assert_eq!(quoted("codex/prompts-of-templates", "019cb830"), pair(typed, typed));
}
