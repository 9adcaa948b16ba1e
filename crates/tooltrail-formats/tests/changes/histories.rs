//! Invented histories: whatever the program says about them is true, and what the logs hold it says.

use super::applier::{Tree, apply, apply_with};
use super::world::{PROJECT, Truth, World};
use std::collections::{BTreeMap, BTreeSet};
use tooltrail_formats::changes::{FileLookup, SessionChanges, find, history};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Book;
use tooltrail_model::changes::net::{FileNet, ListedFile, NetPart, listed, net};
use tooltrail_model::changes::unified::{self, PatchNames};
use tooltrail_model::changes::{FileText, Moved, Step};
use tooltrail_model::link::Linked;
use tooltrail_model::{Now, Time};

/// How many edits a history has.
const EDITS: usize = 500;

fn invented(seed: u64) -> World {
    let mut world = World::new(seed);
    let names = ["src/a.rs", "src/b.rs", "docs/read me.md", "docs/größe.md", "web/\"x\".ts", "Makefile"];
    let mut free: Vec<String> = names.iter().map(|name| format!("{PROJECT}/{name}")).collect();
    free.extend((0..13).map(|number| format!("{PROJECT}/lib/part{number}/mod.rs")));
    free.push("/etc/elsewhere.conf".to_owned());
    for path in free.iter().take(12) {
        let text = world.text();
        world.files.insert(path.clone(), text);
    }
    let first = world.claude("11111111-0000-4000-8000-000000000000");
    let second = world.claude("22222222-0000-4000-8000-000000000000");
    let helper = world.subagent(first, "a0000000000000001");
    let codex = world.codex("019cb900-0000-7000-8000-000000000003");
    while world.edits < EDITS {
        let log = world.rng.pick(&[first, first, second, helper, codex, codex]);
        match world.rng.below(20) {
            0 | 1 => world.outside(),
            2..5 if log == codex => world.say(log),
            2 if log != helper => world.prompt(log),
            _ if log == codex => world.patch(log, &free),
            3 | 4 => {
                let place = world.rng.below(free.len());
                world.write(log, &free[place].clone());
            }
            5 | 6 => {
                if let Some(path) = world.file() {
                    world.read(log, &path);
                }
            }
            _ => {
                if let Some(path) = world.file() {
                    world.edit(log, &path);
                }
            }
        }
    }
    world
}

fn known(text: &Option<String>) -> FileText {
    text.as_deref().map_or(FileText::Absent, FileText::text)
}

/// What was found to hold, so that a test that looks at nothing fails.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    before: usize,
    after: usize,
    replayed: usize,
    gaps: usize,
    unknown: usize,
    patches: usize,
}

/// What was said of a file last, and whether something changed it since its text was last told as a whole that no step shows so far.
struct Last<'s> {
    step: &'s Step,
    truth: Truth,
    stale: bool,
    unsure: bool,
}

/// Checks steps against the truth. What comes back: where the logs cannot know that they are wrong.
fn check(steps: &[Step], truth_of: &dyn Fn(&Step) -> Truth, tally: &mut Tally) -> BTreeSet<(usize, String)> {
    let mut doubtful = BTreeSet::new();
    let mut lasts: BTreeMap<&str, Last<'_>> = BTreeMap::new();
    for step in steps {
        let truth = truth_of(step);
        let last = lasts.get(&*step.path);
        let changed = last.is_some_and(|last| last.truth.after != truth.before);
        // What is moved here is as sure as it was there.
        let moved = match &step.moved {
            Some(Moved::From(from)) => lasts.get(&**from).is_none_or(|from| from.step.by != step.by || from.unsure),
            _ => false,
        };
        let unsure = moved || changed || last.is_some_and(|last| last.stale);
        let said = format!("{} by {}: {step:?}\n{truth:?}\nafter {:?}", step.path, step.by, last.map(|last| (last.step, &last.truth)));
        if step.before.is_known() && (truth.holds_before || !unsure) {
            assert_eq!(step.before, known(&truth.before), "before, {said}");
            tally.before += 1;
        }
        if step.after.is_known() && (truth.holds_after || !unsure) {
            assert_eq!(step.after, known(&truth.after), "after, {said}");
            tally.after += 1;
        }
        assert!(!truth.holds_before || step.before.is_known(), "the log holds the text before, {said}");
        assert!(!truth.holds_after || step.after.is_known(), "the log holds the text after, {said}");
        let knew = last.is_some_and(|last| last.step.after.is_known());
        let follows = knew && !unsure && truth.replayable && step.moved.is_none();
        assert!(!follows || step.after.is_known(), "the text after follows, {said}");
        // Never said without cause, and always where a text that was known is not the one that is told.
        assert!(!step.outside || unsure, "nothing changed outside, {said}");
        let differs = last.is_some_and(|last| last.step.after != step.before);
        assert!(!(knew && truth.holds_before && differs) || step.outside, "the gap is not told, {said}");
        tally.gaps += usize::from(step.outside);
        tally.replayed += usize::from(step.replayed && step.after.is_known());
        tally.unknown += usize::from(!step.after.is_known());
        if unsure && !(truth.holds_before && truth.holds_after) {
            doubtful.insert((step.by, step.path.clone()));
        }
        let stale = unsure && !truth.holds_after && step.after.is_known();
        lasts.insert(&step.path, Last { step, truth, stale, unsure });
    }
    doubtful
}

fn name(path: &str) -> String {
    unified::relative(path, Some(PROJECT))
}

/// The first and the last text of a file that its patch knows.
fn ends(file: &FileNet) -> Option<(&FileText, &FileText)> {
    let nets =
        || file.parts.iter().filter_map(|part| if let NetPart::Net { before, after, .. } = part { Some((before, after)) } else { None });
    Some((nets().next()?.0, nets().next_back()?.1))
}

/// Applies the patch of some files and compares what comes out.
pub(crate) fn patched(files: &[FileNet], programs: bool, tally: &mut Tally) {
    let names = PatchNames { path: &name, left_out: &|_| None, call: &|by| by.to_string(), place: &|_| None, whole: "this session" };
    let patch = unified::patch(files, &names);
    let (mut before, mut after) = (Tree::new(), Tree::new());
    for listed in listed(files) {
        // A rename of an unknown text has to work on any.
        let ends = match listed {
            ListedFile::File(file) => ends(file).map(|texts| [(file, texts.0.as_text()), (file, texts.1.as_text())]),
            ListedFile::Renamed { old, new, before, after } => {
                Some([(old, before), (new, after)].map(|(file, text)| (file, Some(text.as_text().unwrap_or("any\n")))))
            }
        };
        for (tree, (file, text)) in [&mut before, &mut after].into_iter().zip(ends.into_iter().flatten()) {
            tree.extend(text.map(|text| (name(&file.path), text.to_owned())));
        }
    }
    let mut own = before.clone();
    apply(&mut own, &patch).unwrap_or_else(|error| panic!("{error}\n{patch}"));
    assert_eq!(own, after, "{patch}");
    tally.patches += 1;
    // A patch of comments alone is none to other programs.
    if programs && patch.contains("diff --git ") {
        for program in [&["git", "apply", "--whitespace=nowarn"][..], &["patch", "-p1", "--binary", "-s", "-E", "-i"][..]] {
            // `patch` deletes files that it leaves empty, and does not delete those that are.
            if program[0] == "patch" && before.values().chain(after.values()).any(String::is_empty) {
                continue;
            }
            if let Some(applied) = apply_with(program, &before, &patch) {
                assert_eq!(applied, after, "{program:?}\n{patch}");
            }
        }
    }
}

/// Checks what a session changed, all in all and turn by turn.
fn session(world: &World, linked: &Linked<'_>, now: &Now, disk: &super::world::Memory, index: usize, programs: bool, tally: &mut Tally) {
    let book = SessionBook::read(linked, &[index], now, disk, None);
    let calls = &book.transcript().calls;
    let truth = |by: usize, path: &str| {
        let call = calls[by].row.call;
        world.truths.get(&(call.to_owned(), path.to_owned())).unwrap_or_else(|| panic!("{call} did nothing to {path}")).clone()
    };
    let changes = SessionChanges::read(&book);
    let mut doubtful = BTreeSet::new();
    let mut told: BTreeSet<(String, String)> = BTreeSet::new();
    for steps in changes.steps() {
        doubtful.extend(check(&steps, &|step| truth(step.by, &step.path), tally));
        told.extend(steps.iter().filter(|step| step.changes).map(|step| (calls[step.by].row.call.to_owned(), step.path.clone())));
    }
    let own = |truth: &Truth| truth.changes && truth.session == *linked.sessions[index].id;
    let expected: BTreeSet<_> = world.truths.iter().filter(|(_, truth)| own(truth)).map(|(key, _)| key.clone()).collect();
    assert_eq!(told, expected, "every change is told, and no other");
    let turns = book.transcript().turns.len();
    for turn in std::iter::once(None).chain((0..turns).map(Some)) {
        let takes = |by: usize| turn.is_none_or(|turn| calls[by].turn == Some(turn));
        for files in changes.nets(takes) {
            for file in &files {
                for part in &file.parts {
                    let NetPart::Net { before, after, by } = part else { continue };
                    assert!(by.iter().all(|&by| takes(by)));
                    if by.iter().any(|&by| doubtful.contains(&(by, file.path.clone()))) {
                        continue;
                    }
                    assert_eq!(*before, known(&truth(by[0], &file.path).before));
                    assert_eq!(*after, known(&truth(*by.last().unwrap(), &file.path).after));
                }
            }
            patched(&files, programs && turn.is_none(), tally);
        }
    }
    assert!(turns > 1);
}

fn histories(seed: u64, programs: bool) {
    let world = invented(seed);
    let disk = world.disk();
    let linker = disk.linker();
    let linked = linker.link();
    let now = Now::at("2026-03-06T00:00:00Z".parse::<Time>().unwrap());
    assert_eq!(linked.sessions.len(), 3);
    let mut tally = Tally::default();
    for index in 0..linked.sessions.len() {
        session(&world, &linked, &now, &disk, index, programs, &mut tally);
    }
    let Tally { before, after, replayed, gaps, patches, unknown } = tally;
    assert!(before > 150 && after > 250 && replayed > 20 && gaps > 40 && patches > 50 && unknown > 50, "{tally:?}");
    let mut tally = Tally::default();
    let paths: BTreeSet<&String> = world.truths.keys().map(|(_, path)| path).collect();
    assert!(paths.len() >= 18);
    for path in paths {
        assert_eq!(find(&linked, &now, &disk, path, None), FileLookup::One(path.clone()));
        let history = history(&linked, &now, &disk, path);
        let truth = |step: &Step| {
            let call = history.evidence[step.by].call.clone().unwrap();
            world.truths.get(&(call.clone(), path.clone())).unwrap_or_else(|| panic!("{call} did nothing to {path}")).clone()
        };
        let own = world.truths.iter().filter(|((_, own), _)| own == path).count();
        assert_eq!(history.steps.len(), own, "{path} is told of as often as it was touched");
        check(&history.steps, &truth, &mut tally);
        patched(&net(&history.steps, |_| true).into_iter().map(alone).collect::<Vec<_>>(), programs, &mut tally);
    }
    assert!(tally.before > 300 && tally.after > 300 && tally.gaps > 10 && tally.replayed > 50, "{tally:?}");
}

/// A file without the one that it was moved from or to, which is not in the list.
fn alone(file: FileNet) -> FileNet {
    FileNet { moved_from: None, moved_to: None, ..file }
}

#[test]
fn versions_and_changes_are_true() {
    for seed in 0..6 {
        histories(seed, false);
    }
}

#[test]
fn patches_are_what_other_programs_take() {
    histories(100, true);
}
