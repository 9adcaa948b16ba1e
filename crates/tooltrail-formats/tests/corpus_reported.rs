//! Checks of the real logs whose own exit code was not recorded: how many of them report an outcome in their output. Nothing of the
//! logs is kept but totals; `REPORTED=40` prints that many for reading.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use std::collections::BTreeMap;
use std::path::PathBuf;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::command::{CommandLine, CommandOutcome, Purpose};
use tooltrail_model::digest;
use tooltrail_model::reported::ReportedOutcome;
use tooltrail_model::row::CallRow;
use tooltrail_model::{Now, Status, Time};

fn is_check(purpose: Option<Purpose>) -> bool {
    matches!(purpose, Some(Purpose::Test | Purpose::Build | Purpose::Lint))
}

/// Whether a test, build or linter of a call ended without an outcome of its own.
fn is_open(row: &CallRow<'_>, line: &CommandLine) -> bool {
    let worked = match (row.status, row.exit_code) {
        (Status::Succeeded | Status::Failed | Status::Answered, Some(code)) => Some(code == 0),
        (Status::Succeeded, None) if row.background.is_none() => Some(true),
        (Status::Failed, None) => Some(false),
        (Status::Answered, None) => None,
        _ => return false,
    };
    let outcomes = line.outcomes(worked);
    line.commands.iter().zip(outcomes).any(|(command, outcome)| {
        let check = is_check(command.purpose);
        // Of a line that failed, the command that did is known where only one of them does real work.
        check && (outcome == CommandOutcome::Masked || outcome == CommandOutcome::Unknown && worked != Some(false))
    })
}

#[test]
fn checks_without_an_exit_code_report_their_outcome() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real");
    if !root.is_dir() {
        println!("no real logs at {}: nothing read", root.display());
        return;
    }
    let (linker, _) = scan::scan(&find::in_paths(&[root]).files, &Options::default(), &Progress::default());
    let linked = linker.link();
    let (now, disk) = (Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap()), Disk::default());
    // By agent: calls with checks of which one has no outcome, those that report one, those that report a failure, and all with checks.
    let mut told: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    let mut read = Vec::new();
    for session in 0..linked.sessions.len() {
        let book = SessionBook::outline(&linked, &[session], &now, &disk);
        for index in 0..book.transcript().calls.len() {
            let Loaded::Call(story) = book.call(index) else { continue };
            let Some(line) = story.command.as_ref().filter(|_| story.row.copy_of.is_none()) else { continue };
            if !line.commands.iter().any(|command| is_check(command.purpose)) {
                continue;
            }
            let totals = told.entry(linked.sessions[session].agent).or_default();
            totals[3] += 1;
            if !is_open(&story.row, line) {
                continue;
            }
            totals[0] += 1;
            let reported = digest::reported(&story);
            if let Some(reported) = &reported {
                totals[1] += 1;
                totals[2] += usize::from(reported.outcome == ReportedOutcome::Failed);
            }
            read.push(format!("{:?} {} {:?}\n  {:?}", story.row.status, story.row.r#ref, reported, story.told.detail));
        }
    }
    println!("{told:?}");
    let wanted: usize = std::env::var("REPORTED").ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    // The same ones every time: a step that has no factor in common with most totals.
    for place in 0..wanted.min(read.len()) {
        println!("{}", read[place * 7919 % read.len()]);
    }
    let [claude, codex] = ["claude", "codex"].map(|agent| told.get(agent).copied().unwrap_or_default());
    assert!(claude[0] > 50 && claude[1] * 3 > claude[0], "{told:?}");
    // Most scripts of Codex print what they wait for in a later record, or only a part of it.
    assert!(codex[0] > 50 && codex[1] * 9 > codex[0], "{told:?}");
}
