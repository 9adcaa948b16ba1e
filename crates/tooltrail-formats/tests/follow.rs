//! A log that is followed as it grows says, at every moment, what a fresh scan of it says; and only what is new is read.
//!
//! Every fixture, a log of every shape of record, and where the real logs are at hand (`shared/corpus` beside the repository) a sample
//! of them, cut at any places.

#![allow(clippy::unwrap_used)] // a panic is the report

use proptest::prelude::*;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::follow::{Follower, SEAM};
use tooltrail_formats::lines::Buffer;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::transcript::{RecordIndexCache, SessionBook};
use tooltrail_model::link::Source;
use tooltrail_model::{Linker, Now, Time};
use tooltrail_testkit::rng::Rng;
use tooltrail_testkit::shapes;

/// Real logs up to this size are read, and so many of them.
const SMALL: u64 = 2_000_000;
const SAMPLE: usize = 60;

fn options() -> Options {
    Options { threads: 1, check_utf8: true, ..Options::default() }
}

/// Everything that is printed of a source, and the source itself.
fn told(source: Source) -> String {
    let mut linker = Linker::default();
    let whole = format!("{:?}\n", source.summary);
    linker.put(source);
    let linked = linker.link();
    let last = linker.sources().filter_map(|source| source.summary.last).max().map_or(0, Time::as_millisecond);
    let mut out = whole;
    for later in [60_000, 400_000_000] {
        let now = Now::at(Time::from_millisecond(last.saturating_add(later)).unwrap_or(Time::MAX));
        let calls = linked.call_rows(&now, false).map(|row| serde_json::to_string(&row).unwrap());
        let sessions = linked.session_rows(&now).into_iter().map(|row| serde_json::to_string(&row).unwrap());
        let checks = linked.check_rows(&now).into_iter().map(|row| serde_json::to_string(&row).unwrap());
        calls.chain(sessions).chain(checks).for_each(|line| out.extend([line.as_str(), "\n"]));
    }
    out
}

fn scanned(path: &Path) -> String {
    let files = find::in_paths(&[path.to_owned()]).files;
    let files: Vec<_> = files.into_iter().filter(|found| found.path == path).collect();
    let (linker, problems) = scan::scan(&files, &options(), &Progress::default());
    assert!(problems.is_empty());
    told(linker.into_sources().next().unwrap())
}

fn followed(follower: &mut Follower) -> String {
    told(follower.follow(&mut Buffer::default(), &mut |_, _| {}).unwrap().source)
}

/// Reads the sessions of a log anew and from notes, and wants the same.
fn reads_on(path: &Path, notes: &RecordIndexCache) {
    let found: Vec<_> = find::in_paths(&[path.to_owned()]).files.into_iter().filter(|found| found.path == path).collect();
    let (linker, _) = scan::scan(&found, &options(), &Progress::default());
    let (linked, now, disk) = (linker.link(), Now::at(Time::from_millisecond(2_000_000_000_000).unwrap()), Disk::default());
    for session in 0..linked.sessions.len() {
        let whole = SessionBook::read(&linked, &[session], &now, &disk, None);
        let grown = SessionBook::read_on(&linked, session, &now, &disk, notes);
        assert!(format!("{whole:?}") == format!("{grown:?}"), "{} session {session}", path.display());
    }
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// A place for a copy of a log, as deep in directories that say whose it is as the log itself.
fn copy_of(home: &Path, log: &Path) -> PathBuf {
    let parts: Vec<_> = log.components().rev().take(6).filter(|part| matches!(part, std::path::Component::Normal(_))).collect();
    let path = parts.into_iter().rev().fold(home.to_owned(), |path, part| path.join(part));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn logs() -> Vec<(PathBuf, Vec<u8>)> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut logs: Vec<_> = find::in_paths(&[base.join("tests/fixtures")]).files;
    let mut real = find::in_paths(&[base.join("../../../shared/corpus")]).files;
    // Only files grow by being appended to.
    real.retain(|found| found.size <= SMALL && found.path.is_file());
    let step = real.len().div_ceil(SAMPLE).max(1);
    logs.extend(real.into_iter().step_by(step));
    let mut logs: Vec<_> = logs.into_iter().map(|found| (found.path.clone(), fs::read(&found.path).unwrap())).collect();
    let shape = |name: &str, records: &[&str]| (Path::new("/h/.claude/projects/p").join(name), shapes::log(records));
    logs.extend([shape("s1.jsonl", shapes::CLAUDE), shape("rollout-2026-07-02T09-00-00-0197-a.jsonl", shapes::CODEX)]);
    logs.push((PathBuf::from("/h/.claude/projects/p/odd.jsonl"), [shapes::log(shapes::ODD), shapes::log(shapes::CLAUDE)].concat()));
    logs
}

#[test]
fn a_growing_log_says_what_a_scan_says() {
    let mut rng = Rng::new(5);
    let mut steps = 0;
    for (log, bytes) in logs() {
        let home = tempfile::tempdir().unwrap();
        let path = copy_of(home.path(), &log);
        let mut cuts: Vec<usize> = (0..4).map(|_| rng.below(bytes.len() + 1)).collect();
        // Where lines end, just before, and just behind.
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        cuts.extend((0..4).filter_map(|shift| Some((ends.get(rng.below(ends.len().max(1)))? + shift).min(bytes.len()))));
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut follower = Follower::new(&path, &options());
        let notes = RecordIndexCache::default();
        let mut from = 0;
        for cut in cuts {
            append(&path, &bytes[from..cut]);
            from = cut;
            assert!(followed(&mut follower) == scanned(&path), "{} cut at {cut}", log.display());
            reads_on(&path, &notes);
            steps += 1;
        }
        // A file beside it that comes, changes and goes.
        for text in ["{\"customTitle\":\"one\",\"toolUseId\":\"t1\"}", "{\"customTitle\":\"other\"}"] {
            for beside in [path.with_extension("").join("custom-title.json"), path.with_extension("meta.json")] {
                fs::create_dir_all(beside.parent().unwrap()).unwrap();
                fs::write(&beside, text).unwrap();
                assert!(followed(&mut follower) == scanned(&path), "{} with {}", log.display(), beside.display());
                if text.contains("other") {
                    fs::remove_file(&beside).unwrap();
                    assert!(followed(&mut follower) == scanned(&path), "{} without {}", log.display(), beside.display());
                }
            }
        }
    }
    assert!(steps > 100, "only {steps} steps");
}

#[test]
fn only_what_is_new_is_read() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s1.jsonl");
    let mut follower = Follower::new(&path, &options());
    let lines: Vec<&str> = shapes::CLAUDE.to_vec();
    let mut heard = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        append(&path, format!("{line}\n").as_bytes());
        let before = follower.bytes();
        let step =
            follower.follow(&mut Buffer::default(), &mut |_, line| heard.push(String::from_utf8_lossy(line.bytes).into_owned())).unwrap();
        assert_eq!(step.whole, number == 0);
        let read = follower.bytes() - before;
        let new = line.len() as u64 + 1;
        assert!(read >= new && read <= new + SEAM as u64, "{read} bytes read for {new}");
    }
    assert_eq!(heard, lines);
    let before = follower.bytes();
    assert!(!follower.follow(&mut Buffer::default(), &mut |_, _| {}).unwrap().whole);
    assert_eq!(follower.bytes(), before, "nothing is new");
}

#[test]
fn a_log_that_does_not_just_grow_is_read_again() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s1.jsonl");
    let whole = shapes::log(shapes::CLAUDE);
    let half = shapes::log(&shapes::CLAUDE[..20]);
    fs::write(&path, &whole).unwrap();
    let mut follower = Follower::new(&path, &options());
    let notes = RecordIndexCache::default();
    let mut again = |what: &str, change: &dyn Fn()| {
        // A change in the same tick of the clock could not be told from none.
        std::thread::sleep(std::time::Duration::from_millis(20));
        change();
        let step = follower.follow(&mut Buffer::default(), &mut |_, _| {}).unwrap();
        assert!(step.whole, "{what}");
        assert!(told(step.source) == scanned(&path), "{what}");
        reads_on(&path, &notes);
    };
    again("first", &|| {});
    again("cut", &|| OpenOptions::new().write(true).open(&path).unwrap().set_len(half.len() as u64).unwrap());
    again("another file, longer", &|| {
        fs::write(home.path().join("new"), &whole).unwrap();
        fs::rename(home.path().join("new"), &path).unwrap();
    });
    again("written over, as long", &|| {
        fs::write(&path, whole.iter().map(|&byte| if byte == b'7' { b'8' } else { byte }).collect::<Vec<_>>()).unwrap()
    });
    again("written over, longer", &|| fs::write(&path, [shapes::log(&shapes::CLAUDE[3..]), whole.clone()].concat()).unwrap());
    fs::remove_file(&path).unwrap();
    assert!(follower.follow(&mut Buffer::default(), &mut |_, _| {}).is_err());
    fs::write(&path, &half).unwrap();
    assert!(followed(&mut follower) == scanned(&path));
}

/// Until a line is finished, it may look like another agent's; what was read before it is read again then.
#[test]
fn whose_a_log_is_may_turn_out_otherwise() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s1.jsonl");
    let (nobodys, notes) = ("{\"uuid\":\"z1\",\"sessionId\":\"s1\",\"note\":\"no type\"}\n", RecordIndexCache::default());
    let mut follower = Follower::new(&path, &options());
    let later = format!("{}\n", shapes::CLAUDE[1]);
    for piece in [&*nobodys.repeat(2), shapes::CODEX[3], shapes::CLAUDE[1], "\n", &later] {
        append(&path, piece.as_bytes());
        assert!(followed(&mut follower) == scanned(&path));
        reads_on(&path, &notes);
    }
}

#[test]
fn logs_that_do_not_grow_by_lines_are_read_whole() {
    let home = tempfile::tempdir().unwrap();
    let packed = home.path().join("rollout-2026-07-02T09-00-00-0197-a.jsonl.zst");
    let document = home.path().join("rollout-2025-05-01-a.json");
    for count in [3, shapes::CODEX.len()] {
        fs::write(&packed, zstd::encode_all(&shapes::log(&shapes::CODEX[..count])[..], 3).unwrap()).unwrap();
        let items = vec!["{\"type\":\"message\",\"role\":\"user\",\"content\":[]}"; count].join(",\n");
        fs::write(&document, format!("{{\"session\":{{\"id\":\"a\",\"timestamp\":\"2025-05-01T10:00:00Z\"}},\n\"items\":[{items}]}}"))
            .unwrap();
        for path in [&packed, &document] {
            assert!(followed(&mut Follower::new(path, &options())) == scanned(path));
        }
    }
    let mut follower = Follower::new(&document, &options());
    let text = fs::read(&document).unwrap();
    for cut in [10, 25, 40, 80, text.len()] {
        fs::write(&document, &text[..cut]).unwrap();
        assert!(followed(&mut follower) == scanned(&document), "cut at {cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any pieces, whole records and torn ones, in any order.
    #[test]
    fn any_pieces(pieces in prop::collection::vec((any::<prop::sample::Index>(), 0..3u8, any::<prop::sample::Index>()), 1..12)) {
        let pool = shapes::all();
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("s1.jsonl");
        append(&path, b"");
        let mut follower = Follower::new(&path, &options());
        let notes = RecordIndexCache::default();
        for (which, how, cut) in pieces {
            let record = which.get(&pool).as_slice();
            match how {
                0 => append(&path, &[record, b"\n"].concat()),
                1 => append(&path, record),
                _ => append(&path, &record[..cut.index(record.len() + 1)]),
            }
            prop_assert!(followed(&mut follower) == scanned(&path));
            reads_on(&path, &notes);
        }
    }
}
