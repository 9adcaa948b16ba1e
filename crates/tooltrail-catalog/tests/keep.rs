//! The keep: what is kept of files that grow, are truncated, replaced and deleted is what was there, to the byte.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use tooltrail_catalog::keep::{Keep, KeepOutcome, RestoreOptions, RestoreOutcome};
use tooltrail_formats::Places;
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_formats::find::{self, Search};
use tooltrail_formats::frames::FRAME;
use tooltrail_formats::retention::Retention;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::filter::Keeping;
use tooltrail_model::{Now, Time};

/// A home directory with a keep.
struct World {
    home: TempDir,
    data: TempDir,
    /// So many things were written, each a second after the other.
    clock: u64,
}

impl World {
    fn new() -> Self {
        World { home: tempfile::tempdir().unwrap(), data: tempfile::tempdir().unwrap(), clock: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn keep(&self) -> Keep {
        Keep::of(self.data.path(), &[])
    }

    fn places(&self) -> Vec<Places> {
        vec![Places { home: Some(self.home.path().to_owned()), kept: Some(self.keep().files()), ..Places::default() }]
    }

    fn search(&self) -> Search {
        find::in_places(&self.places())
    }

    fn listed(&self) -> Vec<PathBuf> {
        self.search().files.into_iter().map(|found| found.path).collect()
    }

    fn write(&mut self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        self.clock += 1;
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_770_000_000 + self.clock, 123_456_789);
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        path
    }

    fn now(&self) -> KeepOutcome {
        let outcome = self.keep().now(&self.search(), 2, clock(), &Progress::default()).unwrap();
        assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
        outcome
    }

    /// What the keep gives back of a file, and its time.
    fn given_back(&self, original: &Path) -> Option<(Vec<u8>, SystemTime)> {
        let target = self.data.path().join("given-back");
        let copy = self.keep().copy_of(original)?;
        assert_eq!(self.keep().restore(&copy, &target, RestoreOptions { force: true, touch: false }).unwrap(), RestoreOutcome::Written);
        let (content, time) = (fs::read(&target).unwrap(), modified(&target));
        fs::remove_file(target).unwrap();
        Some((content, time))
    }

    /// Everything that was put aside, unpacked by a tool that knows nothing of us.
    fn older(&self) -> Vec<Vec<u8>> {
        let (mut open, mut found) = (vec![self.keep().directory().join("older")], Vec::new());
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => open.push(entry.path()),
                    false => found.push(zstd::decode_all(File::open(entry.path()).unwrap()).unwrap()),
                }
            }
        }
        found
    }
}

fn clock() -> Time {
    "2026-11-15T10:00:00Z".parse().unwrap()
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

/// What happens to one of the files.
#[derive(Clone, Debug)]
enum Edit {
    Append(Vec<u8>),
    Truncate(u8),
    Replace(Vec<u8>),
    /// Something in the middle is another, and the end grew.
    Change(u8, Vec<u8>),
    Touch,
    Delete,
    Keep,
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let small = prop::collection::vec(any::<u8>(), 0..200);
    // Lines that compress well, over several frames.
    let large = (any::<u8>(), 1_usize..5, 1_usize..60_000).prop_map(|(seed, frames, line)| {
        (0..frames * FRAME * 3 / 4).map(|at| if at % line == 0 { b'\n' } else { seed ^ (at / line) as u8 }).collect()
    });
    prop_oneof![4 => small, 1 => large]
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => content().prop_map(Edit::Append),
        1 => any::<u8>().prop_map(Edit::Truncate),
        1 => content().prop_map(Edit::Replace),
        1 => (any::<u8>(), content()).prop_map(|(at, more)| Edit::Change(at, more)),
        1 => Just(Edit::Touch),
        1 => Just(Edit::Delete),
        6 => Just(Edit::Keep),
    ]
}

/// A main log, its subagent, an output saved beside it, a copy of a file it changed; a log of another agent.
const NAMES: &[&str] = &[
    ".claude/projects/p/s1.jsonl",
    ".claude/projects/p/s1/subagents/agent-a1.jsonl",
    ".claude/projects/p/s1/tool-results/t1.txt",
    ".claude/file-history/s1/9f@v1",
    ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-t1.jsonl",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_comes_back_is_what_was_kept_last(edits in prop::collection::vec((0..NAMES.len(), edit()), 1..40)) {
        let mut world = World::new();
        // The log has to be there for what lies beside it to be found.
        world.write(NAMES[0], b"{}\n");
        let mut files: BTreeMap<usize, Vec<u8>> = BTreeMap::from([(0, b"{}\n".to_vec())]);
        let mut kept: BTreeMap<usize, (Vec<u8>, SystemTime)> = BTreeMap::new();
        let mut replaced: Vec<Vec<u8>> = Vec::new();
        let last = edits.len();
        for (step, (index, edit)) in edits.into_iter().chain([(0, Edit::Keep)]).enumerate() {
            let mut content = files.get(&index).cloned().unwrap_or_default();
            match edit {
                Edit::Append(more) => content.extend(more),
                Edit::Truncate(part) => content.truncate(content.len() * usize::from(part) / 256),
                Edit::Replace(other) => content = other,
                Edit::Change(at, more) => {
                    let at = content.len() * usize::from(at) / 256;
                    content.get_mut(at).into_iter().for_each(|byte| *byte ^= 1);
                    content.extend(more);
                }
                Edit::Touch => {}
                Edit::Delete => {
                    let _ = fs::remove_file(world.path(NAMES[index]));
                    files.remove(&index);
                    continue;
                }
                Edit::Keep => {
                    world.now();
                    // What lies beside logs is kept with them.
                    let is_found = |index: usize| match index {
                        2 => files.contains_key(&0),
                        3 => files.contains_key(&0) || files.contains_key(&1),
                        _ => true,
                    };
                    for (&index, content) in files.iter().filter(|(index, _)| is_found(**index)) {
                        let old = kept.get(&index).map(|(old, _)| old.clone()).unwrap_or_default();
                        if content.is_empty() && !old.is_empty() {
                            continue;
                        }
                        if !content.starts_with(&old) {
                            replaced.push(old);
                        }
                        kept.insert(index, (content.clone(), modified(&world.path(NAMES[index]))));
                    }
                    for (&index, expected) in &kept {
                        let given = world.given_back(&world.path(NAMES[index]));
                        prop_assert!(given.as_ref() == Some(expected), "step {step} of {last}: {}", NAMES[index]);
                    }
                    let older = world.older();
                    for old in &replaced {
                        // What was compressed already is given as it was; nothing here begins so.
                        prop_assert!(older.contains(old), "step {step} of {last}: a replaced content is lost");
                    }
                    continue;
                }
            }
            world.write(NAMES[index], &content);
            files.insert(index, content);
        }
        prop_assert_eq!(world.now().copied(), 0, "a second time there is nothing to do");
    }
}

#[test]
fn a_log_counts_where_it_lies_and_its_copy_only_when_it_is_gone() {
    let mut world = World::new();
    let claude = world.write(".claude/projects/p/s1.jsonl", b"{\"type\":\"user\"}\n");
    let codex = world.write(".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-t1.jsonl", b"{}\n");
    assert_eq!(world.now().new, 2);
    assert_eq!(world.listed(), [claude.clone(), codex.clone()]);
    assert_eq!(world.search().kept.len(), 2);
    let keeping = |path: &Path| world.keep().keeping([path.to_str().unwrap()]);
    assert_eq!(keeping(&claude), Keeping { kept: true, gone: false });
    // Put away, or compressed by its agent: it is still there.
    let archived = world.path(".codex/archived_sessions/rollout-2026-01-01T00-00-00-t1.jsonl");
    fs::create_dir_all(archived.parent().unwrap()).unwrap();
    fs::rename(&codex, &archived).unwrap();
    assert_eq!(world.listed(), [claude.clone(), archived.clone()]);
    let packed = zstd::encode_all(File::open(&archived).unwrap(), 3).unwrap();
    fs::remove_file(&archived).unwrap();
    let codex = codex.with_extension("jsonl.zst");
    fs::write(&codex, &packed).unwrap();
    assert_eq!(world.listed(), [claude.clone(), codex.clone()]);
    // Kept as it is, to the byte, and the plain form counts more when both are gone.
    assert_eq!(world.now().new, 1);
    assert_eq!(world.given_back(&codex).unwrap().0, packed);
    fs::remove_file(&codex).unwrap();
    let kept = world.keep().copy_of(&codex.with_extension("")).unwrap();
    assert_eq!(BTreeSet::from_iter(world.listed()), BTreeSet::from([claude.clone(), kept.clone()]));
    assert_eq!(keeping(&kept), Keeping { kept: true, gone: true });
    // What grew is not kept as it is now.
    let mut world = world;
    world.write(".claude/projects/p/s1.jsonl", b"{\"type\":\"user\"}\n{}\n");
    assert_eq!(world.keep().keeping([claude.to_str().unwrap()]), Keeping::default());
    assert_eq!(world.keep().keeping([]), Keeping::default());
}

/// A log of calls, each with a result of some kilobytes.
fn long_log(bytes: usize) -> Vec<u8> {
    let mut log = Vec::new();
    for call in 0.. {
        if log.len() > bytes {
            return log;
        }
        let (time, text) =
            (format!("2026-03-04T{:02}:{:02}:{:02}.000Z", call / 3600, call / 60 % 60, call % 60), format!("word{call} ").repeat(300));
        log.extend(format!("{{\"type\":\"assistant\",\"uuid\":\"a{call}\",\"sessionId\":\"s1\",\"timestamp\":\"{time}\",\"message\":{{\"id\":\"m{call}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{call}\",\"name\":\"Bash\",\"input\":{{\"command\":\"echo {call}\"}}}}]}}}}\n").bytes());
        log.extend(format!("{{\"type\":\"user\",\"uuid\":\"u{call}\",\"parentUuid\":\"a{call}\",\"sessionId\":\"s1\",\"timestamp\":\"{time}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{call}\",\"content\":\"{text}\"}}]}}}}\n").bytes());
    }
    log
}

#[test]
fn one_call_of_a_long_kept_log_is_read_from_two_frames_at_most() {
    let mut world = World::new();
    let log = long_log(20 << 20);
    let path = world.write(".claude/projects/p/s1.jsonl", &log);
    world.now();
    fs::remove_file(path).unwrap();
    let (linker, problems) = scan::scan(&world.search().files, &Options::default(), &Progress::default());
    assert!(problems.is_empty());
    let linked = linker.link();
    assert!(linked.calls.len() > 5000);
    let now = Now::at(clock());
    for call in linked.calls.iter().step_by(97) {
        let disk = Disk::default();
        let row = linked.call_row(call, &now, false);
        let read = |span: tooltrail_model::Span| {
            let bytes = disk.bytes(row.request.file, span).unwrap();
            assert_eq!(bytes, log[usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap()]);
        };
        read(linked.record(call.id).at.span);
        read(linked.result_spot(call).unwrap().1.span);
        assert!((1..=2 * FRAME as u64).contains(&disk.unpacked()), "{} bytes", disk.unpacked());
    }
    // All calls in order: every frame once.
    let disk = Disk::default();
    for call in &linked.calls {
        disk.bytes(&linked.sources[call.id.source()].path, linked.record(call.id).at.span).unwrap();
    }
    assert!(disk.unpacked() <= log.len() as u64, "{} of {}", disk.unpacked(), log.len());
}

#[test]
fn what_is_due_is_kept_beside_other_work() {
    let mut world = World::new();
    let clock = SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000);
    let now = Time::from_microsecond(1_790_000_000_000_000).unwrap();
    let written = |path: &Path, age: u64| {
        File::options().write(true).open(path).unwrap().set_modified(clock - Duration::from_secs(age)).unwrap();
    };
    let quiet = world.write(".claude/projects/p/quiet.jsonl", b"{}\n");
    let hot = world.write(".claude/projects/p/hot.jsonl", b"{}\n");
    let beside = world.write(".claude/projects/p/quiet/tool-results/a.txt", b"much");
    let large = world.write(".claude/projects/p/large.jsonl", &vec![b'\n'; 40 << 20]);
    written(&quiet, 61);
    written(&hot, 59);
    written(&large, 120);
    let kept = |path: &Path| world.keep().copy_of(path).is_some();
    let once = || world.keep().after_refresh(&world.search(), &Retention::read(&world.places()), now).unwrap().copied();
    // Until nothing is due: each time ends after a moment, which on a busy machine is one log.
    let after = || std::iter::repeat_with(once).take_while(|copied| *copied > 0).sum::<usize>();
    // Nobody asked.
    assert_eq!(after(), 0);
    world.keep().switch(true).unwrap();
    assert_eq!(after(), 2);
    assert!(kept(&quiet) && kept(&beside) && !kept(&hot) && !kept(&large));
    assert_eq!(after(), 0);
    // About to be deleted: it does not matter how large it is, nor what is quiet.
    fs::write(world.path(".claude/settings.json"), "{\"cleanupPeriodDays\":3}").unwrap();
    assert_eq!(after(), 2);
    assert!(kept(&hot) && kept(&large));
    world.keep().switch(false).unwrap();
    fs::write(&hot, "{}\n{}\n").unwrap();
    written(&hot, 1000);
    assert_eq!(after(), 0);
}

#[test]
fn damage_is_noticed_and_nothing_wrong_is_given_back() {
    let mut world = World::new();
    let log = long_log(3 << 20);
    let path = world.write(".claude/projects/p/s1.jsonl", &log);
    world.now();
    let copy = world.keep().copy_of(&path).unwrap();
    let damaged = |verify| world.keep().status(&world.search(), &Retention::default(), clock(), verify).damaged;
    assert!(damaged(true).is_empty());
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(&copy, &bytes).unwrap();
    assert_eq!(damaged(true), std::slice::from_ref(&copy));
    let target = world.path("back.jsonl");
    assert!(world.keep().restore(&copy, &target, RestoreOptions::default()).is_err());
    assert!(!target.exists());
    // While the log is there, its next copy is whole again.
    let longer = [log.as_slice(), b"{}\n"].concat();
    world.write(".claude/projects/p/s1.jsonl", &longer);
    assert_eq!(world.now().grown, 1);
    assert_eq!(world.given_back(&path).unwrap().0, longer);
    // A copy that is no copy at all is put aside and made anew.
    fs::write(&copy, "nonsense").unwrap();
    assert_eq!(world.now().new, 1);
    assert_eq!(world.given_back(&path).unwrap().0, longer);
}

#[test]
fn files_that_are_there_are_not_replaced_unless_asked() {
    let mut world = World::new();
    let path = world.write(".claude/projects/p/s1.jsonl", b"{\"a\":1}\n");
    world.now();
    let time = modified(&path);
    let copy = world.keep().copy_of(&path).unwrap();
    let restore = |force, touch| world.keep().restore(&copy, &path, RestoreOptions { force, touch }).unwrap();
    assert_eq!(restore(false, false), RestoreOutcome::Same);
    fs::write(&path, "{\"a\":2}\n").unwrap();
    assert_eq!(restore(false, false), RestoreOutcome::Differs);
    assert_eq!(fs::read(&path).unwrap(), b"{\"a\":2}\n");
    let aside = |number| PathBuf::from(format!("{}.before-restore-{number}", path.display()));
    assert_eq!(restore(true, false), RestoreOutcome::Replaced(aside(1)));
    assert_eq!((fs::read(&path).unwrap(), modified(&path)), (b"{\"a\":1}\n".to_vec(), time));
    assert_eq!(fs::read(aside(1)).unwrap(), b"{\"a\":2}\n", "what was there is not lost");
    assert!(!world.listed().contains(&aside(1)), "it is no log any more");
    assert_eq!(restore(false, true), RestoreOutcome::Same);
    assert!(modified(&path) > time);
    // What was kept before a file was replaced can be given back too.
    fs::write(&path, "{\"b\":1}\n").unwrap();
    assert_eq!(world.now().replaced, 1);
    let older = tooltrail_formats::mirror::place(&world.keep().directory().join("older/1"), &path).unwrap();
    assert_eq!(world.keep().copy_of(&older), Some(older.clone()));
    assert_eq!(world.keep().original(&older), Some(path.clone()));
    let replaced = world.keep().restore(&older, &path, RestoreOptions { force: true, touch: false }).unwrap();
    assert_eq!((replaced, fs::read(&path).unwrap()), (RestoreOutcome::Replaced(aside(2)), b"{\"a\":1}\n".to_vec()));
    assert_eq!(fs::read(aside(2)).unwrap(), b"{\"b\":1}\n");
    world.now();
    #[cfg(unix)]
    {
        // Nothing is written through a link, and the copies are nobody else's business.
        use std::os::unix::fs::{PermissionsExt, symlink};
        let other = world.path("other");
        fs::write(&other, "mine").unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&other, &path).unwrap();
        assert_eq!(restore(false, false), RestoreOutcome::Differs);
        assert_eq!(restore(true, false), RestoreOutcome::Replaced(aside(3)));
        assert_eq!((fs::read(&other).unwrap(), fs::read(aside(3)).unwrap()), (b"mine".to_vec(), b"mine".to_vec()));
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        for directory in copy.ancestors().skip(1).take_while(|path| path.starts_with(world.keep().directory())) {
            assert_eq!(fs::metadata(directory).unwrap().permissions().mode() & 0o777, 0o700, "{}", directory.display());
        }
    }
}

#[test]
fn keeps_of_different_places_are_apart_and_can_be_thrown_away() {
    let mut world = World::new();
    let path = world.write(".claude/projects/p/s1.jsonl", b"{}\n");
    world.now();
    let other = Keep::of(world.data.path(), &[world.home.path().to_owned()]);
    assert_ne!(other.directory(), world.keep().directory());
    assert_eq!(other.copy_of(&path), None);
    let again = Keep::of(world.data.path(), &[world.home.path().join(".claude/..")]);
    assert_eq!(again.directory(), other.directory());
    world.keep().delete().unwrap();
    assert_eq!(world.keep().copies(), Vec::<PathBuf>::new());
    assert_eq!(world.now().new, 1);
}

#[test]
fn what_comes_to_a_kept_log_later_is_kept_with_what_the_log_says_of_it() {
    let mut world = World::new();
    world.write(".claude/projects/p/s1.jsonl", b"{}\n");
    world.keep().switch(true).unwrap();
    let after = |world: &World| world.keep().after_refresh(&world.search(), &Retention::default(), clock()).unwrap().copied();
    assert_eq!(after(&world), 1);
    let saved = world.write(".claude/projects/p/s1/tool-results/t1.txt", b"much");
    let backup = world.write(".claude/file-history/s1/9f@v1", b"before");
    world.write(".claude/projects/p/s1.jsonl", b"{}\n{}\n");
    assert_eq!(after(&world), 3);
    assert_eq!(world.given_back(&saved).unwrap().0, b"much");
    assert_eq!(world.given_back(&backup).unwrap().0, b"before");
    // Whatever the log says, whoever asks for everything gets everything.
    world.write(".claude/projects/p/s1/tool-results/t2.txt", b"more");
    assert_eq!((after(&world), world.now().new), (0, 1));
}

#[test]
fn an_emptied_log_counts_as_kept_until_it_tells_something_again() {
    let mut world = World::new();
    let path = world.write(".claude/projects/p/s1.jsonl", b"{\"a\":1}\n");
    world.now();
    world.write(".claude/projects/p/s1.jsonl", b"");
    world.keep().switch(true).unwrap();
    let after = |world: &World| world.keep().after_refresh(&world.search(), &Retention::default(), clock()).unwrap().copied();
    let state = world.keep().state().unwrap();
    assert_eq!(after(&world), 0);
    assert_eq!(world.keep().state().unwrap(), state, "nothing was due");
    assert_eq!(world.keep().status(&world.search(), &Retention::default(), clock(), false).unkept, 0);
    assert!(world.keep().keeping([path.to_str().unwrap()]).kept);
    assert_eq!(world.given_back(&path).unwrap().0, b"{\"a\":1}\n");
    world.write(".claude/projects/p/s1.jsonl", b"{\"b\":1}\n");
    assert_eq!(after(&world), 1);
    assert_eq!((world.given_back(&path).unwrap().0, world.older()), (b"{\"b\":1}\n".to_vec(), vec![b"{\"a\":1}\n".to_vec()]));
    // One that was empty from the beginning is kept like any other.
    world.write(".claude/projects/p/s2.jsonl", b"");
    assert_eq!((world.now().new, after(&world)), (1, 0));
}

#[test]
fn a_log_that_only_grew_is_never_put_back() {
    let mut world = World::new();
    let path = world.write(".claude/projects/p/s1.jsonl", b"{\"a\":1}\n");
    world.now();
    let copy = world.keep().copy_of(&path).unwrap();
    let grown = b"{\"a\":1}\n{\"a\":2}\n";
    world.write(".claude/projects/p/s1.jsonl", grown);
    for force in [false, true] {
        assert_eq!(world.keep().restore(&copy, &path, RestoreOptions { force, touch: false }).unwrap(), RestoreOutcome::Grown);
        assert_eq!(fs::read(&path).unwrap(), grown);
    }
    // Cut off, it is another one.
    world.write(".claude/projects/p/s1.jsonl", b"{\"a\"");
    assert_eq!(world.keep().restore(&copy, &path, RestoreOptions::default()).unwrap(), RestoreOutcome::Differs);
}
