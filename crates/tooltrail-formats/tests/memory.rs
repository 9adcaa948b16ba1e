//! Lines of gigabytes and results of many megabytes are read in bounded memory. A test program of its own, because it looks
//! at the most memory that its process ever held.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};
use tooltrail_formats::find::FoundSource;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::Summary;
use tooltrail_testkit::hostile::{huge_line_reader, log_of_big_results};

/// The longest line of the test, and what reading it may take.
const HUGE: u64 = 2 << 30;
const PATIENCE: Duration = Duration::from_secs(10);
/// What the process may hold at most, in kilobytes.
const MOST: u64 = 150_000;

/// The most memory that this process ever held, in kilobytes; nothing where the system does not tell.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn assert_small(after: &str) {
    match peak() {
        Some(peak) => {
            println!("after {after}: {} MB at most", peak / 1000);
            assert!(peak < MOST, "{} MB after {after}", peak / 1000);
        }
        None => println!("no memory figures on this system"),
    }
}

fn read(input: impl Read) -> Summary {
    let options = Options { threads: 1, ..Options::default() };
    let path = Path::new("/nowhere/.claude/projects/p/s1.jsonl");
    scan::read(path, input, &options, &mut Buffer::default(), &Turns::default())
}

fn issues(summary: &Summary) -> Vec<(&'static str, u64)> {
    summary.issues.iter().map(|issue| (issue.code.word(), issue.line)).collect()
}

#[test]
fn memory_does_not_grow_with_what_is_read() {
    one_huge_line();
    a_huge_line_that_never_ends();
    big_results_on_several_threads();
}

fn one_huge_line() {
    let start = Instant::now();
    let summary = read(huge_line_reader(HUGE));
    println!("a line of {HUGE} bytes: {:.2?}", start.elapsed());
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(issues(&summary), [("oversized_line", 2)]);
    assert_eq!((summary.tally.lines, summary.tally.unparsed), (3, 1));
    assert!(summary.tally.bytes > HUGE);
    // What stands before and behind it is read, and the call knows that its result is on that line.
    assert_eq!(summary.calls.len(), 1);
    assert_eq!(summary.tally.records.values().sum::<u64>(), 2);
    assert_eq!(summary.turns.len(), 1);
    let sequel = format!("{:?}", summary.calls[0].sequel);
    assert!(sequel.contains("Truncated") && sequel.contains("line: 2"), "{sequel}");
    assert_small("a huge line");
}

fn a_huge_line_that_never_ends() {
    let mut head = Vec::new();
    huge_line_reader(2000).read_to_end(&mut head).unwrap();
    let first = head.iter().position(|&byte| byte == b'\n').unwrap();
    let endless = std::io::repeat(b'[').take(200 << 20);
    let summary = read((&head[..=first]).chain(endless));
    assert_eq!(issues(&summary), [("oversized_line", 2)]);
    assert_eq!(summary.tally.lines, 2);
    assert_small("a line that never ends");
}

/// Lines of 20 MB are decoded, and take turns: four threads do not hold four of them.
fn big_results_on_several_threads() {
    let directory = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for number in 0..4 {
        let path = directory.path().join(format!("s{number}.jsonl"));
        let written = log_of_big_results(&path, 3, 20_000_000).unwrap();
        assert_eq!(File::open(&path).unwrap().metadata().unwrap().len(), written.bytes);
        files.push(FoundSource { path, size: written.bytes, modified: None, identity: 0, alone: false });
    }
    let start = Instant::now();
    let options = Options { threads: 4, ..Options::default() };
    let (linker, problems) = scan::scan(&files, &options, &Progress::default());
    println!("four logs of 60 MB: {:.2?}", start.elapsed());
    assert!(problems.is_empty());
    for source in linker.sources() {
        let summary = &source.summary;
        assert_eq!(issues(summary), []);
        assert_eq!((summary.tally.lines, summary.calls.len()), (7, 3));
        for call in &summary.calls {
            assert!(call.result.as_ref().is_some_and(|result| result.bytes >= 20_000_000));
        }
    }
    assert_small("results of 20 MB");
}
