//! What digests say of commands whose output stands in later records, and of the tools and shells of servers. The logs are cases of
//! `fixtures/`.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use std::path::Path;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::scan::{Options, Progress, scan};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Selection;
use tooltrail_model::digest::{self, Digest};
use tooltrail_model::{Now, Time};

/// The digest of the one session of a case.
fn digest(case: &str) -> Digest {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(case);
    let options = Options { threads: 1, ..Options::default() };
    let (linker, problems) = scan(&find::in_paths(&[folder]).files, &options, &Progress::default());
    assert!(problems.is_empty(), "{problems:?}");
    let linked = linker.link();
    assert_eq!(linked.sessions.len(), 1);
    let (now, disk) = (Now::at("2026-03-05T10:00:00Z".parse::<Time>().unwrap()), Disk::default());
    digest::of(&SessionBook::read(&linked, &[0], &now, &disk, None), &Selection::default())
}

/// What a session shipped: the kind, which, the number of the call and the line of the record that says so.
fn shipped(digest: &Digest) -> Vec<(&str, Option<&str>, u32, u64)> {
    let each = digest.shipped.iter();
    each.map(|one| (one.what.as_str(), one.which.as_deref(), one.cited.number.call, one.cited.line.unwrap())).collect()
}

#[test]
fn what_polls_print_is_shipped_by_the_command_that_they_poll() {
    let digest = digest("codex/shipped-later");
    let request = |number: u32| format!("https://example.org/acme/api/pull/{number}");
    let (seven, eight, nine) = (request(7), request(8), request(9));
    let told = shipped(&digest);
    let (commands, served) = told.split_at(told.len() - 2);
    assert_eq!(
        commands,
        [
            ("commit", Some("1a2b3c4"), 1, 7),
            ("push", Some("fix"), 1, 9),
            ("pull_request", Some(&*seven), 4, 13),
            ("commit", Some("2b3c4d5"), 6, 17),
            ("commit", Some("3c4d5e6"), 8, 23),
            ("push", Some("fix"), 11, 25),
            ("push", None, 12, 27),
            // A script and a command both had the name that is polled: what the poll printed is proved of neither.
            ("commit", None, 14, 31),
        ]
    );
    // The record of the first may be a call of its own, or belong to that in the script.
    let served: Vec<_> = served.iter().map(|(what, which, ..)| (*what, *which)).collect();
    assert_eq!(served, [("pull_request", Some(&*eight)), ("pull_request", Some(&*nine))]);
}

#[test]
fn a_failed_poll_is_told_by_the_command_that_it_polls() {
    let digest = digest("codex/shipped-later");
    let failed: Vec<(&str, &str)> = digest.failures.iter().map(|open| (open.tool.as_str(), open.what.as_str())).collect();
    assert_eq!(failed, [("write_stdin", "gh run watch 12 --exit-status")]);
}

#[test]
fn checks_report_what_a_poll_prints() {
    let run = digest("codex/shipped-later").test.unwrap();
    assert_eq!((run.command.as_str(), run.outcome), ("cargo test", digest::RunOutcome::Unknown));
    assert!(run.reported.unwrap().text.starts_with("test result: ok. 5 passed"));
}

#[test]
fn shells_of_servers_report_their_checks_and_tools_open_requests() {
    let digest = digest("claude_code/served-checks");
    let told = |run: Option<digest::CheckRun>| run.map(|run| (run.outcome, run.reported.map(|reported| reported.text))).unwrap();
    let (outcome, test) = told(digest.test.clone());
    assert_eq!(outcome, digest::RunOutcome::Unknown);
    assert!(test.unwrap().starts_with("test result: ok. 6 passed"));
    let (outcome, lint) = told(digest.lint.clone());
    assert_eq!(
        (outcome, lint.as_deref()),
        (digest::RunOutcome::Unknown, Some("error: could not compile `app` (lib) due to 1 previous error"))
    );
    assert_eq!(shipped(&digest), [("pull_request", Some("https://example.org/acme/api/pull/12"), 3, 7)]);
}
