//! Hooks, progress and settings in every output: what a hook said, what a call without a result had printed, how the agent was set.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use regex::Regex;
use std::path::Path;
use support::Logs;
use tooltrail_view::render::markdown::{ShownBodies, pr};
use tooltrail_view::render::outputs::ExportOptions;
use tooltrail_view::render::terminal;

fn case(name: &str, time: &str) -> Logs {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests/fixtures/claude_code").join(name);
    support::read_at(&[folder], time)
}

/// A session as an overview in the terminal, without colours.
fn overview(logs: &Logs) -> String {
    let mut out = Vec::new();
    let options = terminal::TerminalOptions { width: 100, ..terminal::TerminalOptions::default() };
    logs.with_book(|_, book| terminal::session(book, &options, &mut out)).unwrap();
    colourless(&out)
}

fn colourless(out: &[u8]) -> String {
    let text = String::from_utf8_lossy(out);
    Regex::new("\x1b\\[[0-9;]*m").unwrap().replace_all(&text, "").into_owned()
}

fn exported(logs: &Logs, output: &str) -> String {
    let mut out = Vec::new();
    if output == "pr" {
        // Written without the changes of files, which are read elsewhere.
        let options = pr::PullRequestOptions::default();
        logs.with_book(|_, book| pr::session(book, &mut std::iter::empty(), &options, &mut out)).unwrap();
        return String::from_utf8(out).unwrap();
    }
    let options = ExportOptions { plain: true, bodies: ShownBodies::Telling, ..ExportOptions::default() };
    logs.with_book(|_, book| support::export(output, book, &options, &mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

/// Longer ago than any session can be alive.
const LATER: &str = "2026-03-05T10:00:00Z";

/// Without the directory of the test, which differs from machine to machine.
fn placeless(text: &str) -> String {
    Regex::new(r"[^ ]*00015e55-0000-4000-8000-000000000000\.jsonl").unwrap().replace_all(text, "LOG").into_owned()
}

#[test]
fn the_words_of_a_hook_stand_in_every_output() {
    let logs = case("blocked-without-result", LATER);
    for output in ["md", "pr", "html", "json"] {
        let text = exported(&logs, output);
        for words in ["use trash instead", "no rm in here"] {
            assert!(text.contains(words), "{words} is not in {output}: {text}");
        }
    }
    insta::assert_snapshot!("hooks", placeless(&overview(&logs)));
}

#[test]
fn an_objection_after_the_call_stands_in_every_output() {
    let logs = case("blocked-by-hook", LATER);
    for output in ["md", "pr", "html", "json"] {
        assert!(exported(&logs, output).contains("line too long"), "not in {output}: {}", exported(&logs, output));
    }
    let overview = overview(&logs);
    let digest = overview.split("── 1").next().unwrap();
    assert!(digest.contains("PostToolUse lint.sh blocked · line too long"), "{overview}");
    assert!(overview.contains("1 hook, 1 blocked"), "{overview}");
}

#[test]
fn hooks_are_named_with_event_and_state_in_order() {
    let logs = case("hook-inputs", LATER);
    assert!(overview(&logs).contains("1 hook"), "{}", overview(&logs));
    logs.with_book(|_, book| {
        let Some(tooltrail_view::Loaded::Call(story)) = Some(tooltrail_view::Book::call(book, 0)) else { panic!("no call") };
        let hooks: Vec<_> = story.hooks.iter().map(|hook| (hook.event.as_deref(), hook.name.as_deref())).collect();
        assert_eq!(hooks, [(Some("PreToolUse"), Some("security_check"))], "one run, however many records report it");
        let mut out = Vec::new();
        terminal::call(book, 0, &terminal::TerminalOptions { width: 100, ..Default::default() }, &mut out).unwrap();
        let text = colourless(&out);
        assert!(text.contains("PreToolUse security_check: ran"), "{text}");
    });
    // Two hooks before and one after: each with its outcome, in the order of the log.
    let (logs, of) = (case("hooks", LATER), "toolu_03_two_hooks");
    logs.with_book(|_, book| {
        let calls = &tooltrail_view::Book::transcript(book).calls;
        let index = calls.iter().position(|call| call.row.call == of).unwrap();
        let tooltrail_view::Loaded::Call(story) = tooltrail_view::Book::call(book, index) else { panic!("no call") };
        let commands: Vec<_> = story.hooks.iter().filter_map(|hook| hook.command.as_deref()).collect();
        assert_eq!(commands, ["first.sh", "second.sh", "fmt.sh"]);
    });
}

#[test]
fn a_call_without_a_result_shows_what_its_progress_holds() {
    let logs = case("progress-without-result", LATER);
    for output in ["md", "html", "json"] {
        let text = exported(&logs, output);
        for words in ["test b ... ok", "chapter 2"] {
            assert!(text.contains(words), "{words} is not in {output}: {text}");
        }
    }
    insta::assert_snapshot!("progress", placeless(&overview(&logs)));
    let running = overview(&case("progress-running", "2026-03-04T10:00:08Z"));
    // The file is not young, only its records are: whether it runs is not the point here.
    assert!(running.contains("Compiling b"), "{running}");
}

#[test]
fn settings_are_said_in_the_head_and_beside_their_answer() {
    let logs = case("settings", LATER);
    for output in ["md", "pr", "html", "json"] {
        let text = exported(&logs, output);
        for words in ["2.1.50", "2.1.51", "accept edits"] {
            assert!(text.contains(words), "{words} is not in {output}: {text}");
        }
    }
    let text = overview(&logs);
    assert_eq!(text.matches("reached the output limit").count(), 1, "once for a message, however many records it has: {text}");
    insta::assert_snapshot!("settings", placeless(&text));
}
