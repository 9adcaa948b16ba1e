//! Damages logs at random for as long as `TOOLTRAIL_FUZZ_SECONDS` says (1 by default) and reads what comes out.
//!
//! What must hold: no panic, every line accounted for, every position inside the log, reading in pieces gives the rows that
//! reading whole gives, and every entry and call of the transcripts can be opened, each call once. Seeds are the testkit's shapes, the fixtures, and a few lines of a generated corpus. The number
//! that the damage depends on is printed; `TOOLTRAIL_FUZZ_SEED` runs one again.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use serde_json::{Value, json};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::scan::{self, Options};
use tooltrail_formats::transcript::{Private, SessionBook};
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::link::Source;
use tooltrail_model::transcript::EntryKind;
use tooltrail_model::{Linker, Now, Span, Summary, Time};
use tooltrail_testkit::corpus::{CorpusPlan, generate};
use tooltrail_testkit::floor::logs_below;
use tooltrail_testkit::mangle::mangle;
use tooltrail_testkit::readers::ChunkedReader;
use tooltrail_testkit::rng::Rng;
use tooltrail_testkit::shapes;

const PATH: &str = "/nowhere/.claude/projects/p/s1.jsonl";
/// Longer records are no seeds: most of their bytes are payload, and damage would seldom hit anything else.
const LONGEST: usize = 4000;

fn seeds() -> Vec<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let plan = CorpusPlan { bytes: 300_000, seed: 5 };
    generate(directory.path(), &plan).unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths = logs_below(directory.path()).unwrap();
    paths.extend(logs_below(&fixtures).unwrap_or_default());
    let mut seeds = shapes::all();
    for path in paths {
        let bytes = fs::read(path).unwrap();
        let lines = bytes.split(|&byte| byte == b'\n');
        seeds.extend(lines.filter(|line| line.len() <= LONGEST).map(<[u8]>::to_vec));
    }
    seeds.sort();
    seeds.dedup();
    seeds
}

/// A few records, most of them damaged, mostly on lines of their own.
fn log(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut log = Vec::new();
    for _ in 0..=rng.below(8) {
        let seed = &seeds[rng.below(seeds.len())];
        if rng.chance(0.6) {
            log.extend(mangle(seed, seeds, rng));
        } else {
            log.extend_from_slice(seed);
        }
        if rng.chance(0.95) {
            log.push(b'\n');
        }
    }
    log
}

fn read(input: impl std::io::Read, buffer: &mut Buffer) -> Summary {
    let options = Options { threads: 1, check_utf8: true, ..Options::default() };
    scan::read(Path::new(PATH), input, &options, buffer, &Turns::default())
}

fn rows(summary: Summary) -> Vec<Value> {
    let mut linker = Linker::default();
    linker.put(Source { path: PATH.into(), modified: summary.last, summary });
    let linked = linker.link();
    let now = Now::at("2026-03-04T10:01:00Z".parse::<Time>().unwrap());
    let mut rows: Vec<Value> = linked.call_rows(&now, true).map(|row| json!(row)).collect();
    rows.extend(linked.session_rows(&now).iter().map(|row| json!(row)));
    rows.extend(linked.check_rows(&now).iter().map(|row| json!(row)));
    rows.push(json!(linked.stats(&now)));
    rows
}

/// A log in memory.
struct Memory<'b>(&'b [u8]);

impl ReadLogs for Memory<'_> {
    fn log(&self, _: &str) -> std::io::Result<Box<dyn std::io::Read + '_>> {
        Ok(Box::new(self.0))
    }

    fn bytes(&self, _: &str, span: Span) -> Option<Vec<u8>> {
        Some(self.0.get(span.start as usize..span.end as usize)?.to_vec())
    }

    fn beside(&self, _: &str, _: &str, _: u64) -> std::io::Result<(Vec<u8>, u64)> {
        Ok((b"saved".to_vec(), 5))
    }
}

/// Opens everything there is to read, as it is and redacted. What is there does not depend on that.
fn open_all(bytes: &[u8], summary: Summary) {
    let mut linker = Linker::default();
    linker.put(Source { path: PATH.into(), modified: summary.last, summary });
    let linked = linker.link();
    let now = Now::at("2026-03-04T10:01:00Z".parse::<Time>().unwrap());
    let disk = Memory(bytes);
    let change = |text: String| text.replace(['e', '<'], "#");
    let words = typed_arena::Arena::new();
    for session in 0..linked.sessions.len() {
        let mut kinds = Vec::new();
        for private in [None, Some(Private { change: &change, words: &words })] {
            let book = SessionBook::read(&linked, &[session], &now, &disk, private);
            let transcript = book.transcript();
            let entries: Vec<_> = transcript.threads.iter().flat_map(|thread| &thread.entries).collect();
            let mut placed: Vec<usize> = Vec::new();
            for entry in &entries {
                placed.extend(if let EntryKind::Call(index) = entry.what { Some(index) } else { None });
                assert!(!matches!(book.open(entry), Loaded::Gone(_)), "{entry:?}");
                assert!(book.spots(entry).iter().all(|spot| book.raw(*spot).is_ok()));
            }
            placed.sort_unstable();
            assert_eq!(placed, (0..transcript.calls.len()).collect::<Vec<_>>(), "each call has one entry");
            kinds.push(entries.iter().map(|entry| (entry.spot, entry.part, entry.what)).collect::<Vec<_>>());
        }
        assert_eq!(kinds[0], kinds[1], "redaction changes what is there");
    }
}

fn check(bytes: &[u8], buffer: &mut Buffer) {
    let summary = read(bytes, buffer);
    let tally = &summary.tally;
    let ended = bytes.last().is_none_or(|&byte| byte == b'\n');
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + usize::from(!ended);
    assert_eq!(tally.lines, lines as u64, "lines");
    assert_eq!(tally.lines, tally.blank + tally.records.values().sum::<u64>() + tally.unparsed, "{tally:?}");
    assert_eq!(tally.bytes, bytes.len() as u64);
    open_all(bytes, summary.clone());
    let whole = rows(summary);
    for row in &whole {
        for place in ["request", "result", "evidence", "copy_of"].map(|name| &row[name]) {
            let line = place["line"].as_u64();
            assert!(line.is_none_or(|line| (1..=lines as u64).contains(&line)), "{row}");
        }
    }
    for most in [1, 61] {
        let pieces = rows(read(ChunkedReader { left: bytes, most }, buffer));
        assert_eq!(pieces, whole, "reading {most} bytes at a time");
    }
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

#[test]
fn damaged_logs_are_survived() {
    let seconds = variable("TOOLTRAIL_FUZZ_SECONDS", 1);
    let seed = variable("TOOLTRAIL_FUZZ_SEED", 0x5eed);
    println!("TOOLTRAIL_FUZZ_SEED={seed}");
    let seeds = seeds();
    let (mut rng, mut buffer) = (Rng::new(seed), Buffer::default());
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut count = 0u64;
    while Instant::now() < end {
        let bytes = log(&seeds, &mut rng);
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| check(&bytes, &mut buffer)));
        assert!(result.is_ok(), "input {count} of seed {seed}: b\"{}\"", bytes.escape_ascii());
        let took = start.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?} for input {count} of seed {seed}: b\"{}\"", bytes.escape_ascii());
        count += 1;
    }
    println!("{count} inputs from {} seeds", seeds.len());
}
