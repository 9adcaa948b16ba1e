//! Real logs: what is replayed must be what the next call finds, and patches must apply. Where the logs are not at hand, the tests say so
//! and pass; nothing of them is kept here but totals.

use super::applier::{Tree, apply};
use std::path::PathBuf;
use tooltrail_formats::changes::SessionChanges;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Book;
use tooltrail_model::changes::net::{self, FileNet, ListedFile, NetPart};
use tooltrail_model::changes::unified::{self, PatchNames};
use tooltrail_model::changes::{FileText, Step};
use tooltrail_model::{Kind, Now, Time};

#[derive(Debug, Default)]
struct Tally {
    sessions: usize,
    files: usize,
    changes: usize,
    whole: usize,
    replayed: usize,
    confirmed: usize,
    outside: usize,
    pieces: usize,
    patches: usize,
}

/// Whether something that can change files ran between two steps: a command, another agent.
fn explained(book: &SessionBook<'_>, last: &Step, next: &Step) -> bool {
    let time = |by: usize| book.transcript().calls[by].time;
    let between = |kind: Kind| matches!(kind, Kind::Shell | Kind::Subagent | Kind::Mcp | Kind::Other | Kind::Task);
    let (from, to) = (time(last.by), time(next.by));
    book.transcript().calls.iter().any(|call| call.time >= from && call.time <= to && between(call.row.kind))
}

fn count(book: &SessionBook<'_>, steps: &[Step], tally: &mut Tally, unexplained: &mut Vec<String>) {
    for (place, step) in steps.iter().enumerate() {
        let last = steps[..place].iter().rev().find(|last| last.path == step.path);
        let knew = last.is_some_and(|last| last.after.is_known());
        tally.changes += usize::from(step.changes);
        tally.whole += usize::from(step.changes && step.before.is_known() && step.after.is_known());
        tally.replayed += usize::from(step.changes && step.replayed && step.after.is_known());
        tally.pieces += usize::from(step.changes && !(step.before.is_known() && step.after.is_known()));
        tally.outside += usize::from(step.outside);
        // What was known before is what this call found.
        tally.confirmed += usize::from(knew && !step.outside && !step.replayed && step.before.is_known());
        if let Some(last) = last.filter(|last| step.outside && !explained(book, last, step)) {
            let cited = |by: usize| book.transcript().calls[by].row.r#ref.clone();
            unexplained.push(format!("{} between {} and {}", step.path, cited(last.by), cited(step.by)));
        }
    }
}

fn patched(files: &[FileNet]) {
    let names = PatchNames {
        path: &|path| unified::relative(path, None),
        left_out: &|_| None,
        call: &|by| by.to_string(),
        place: &|_| None,
        whole: "this session",
    };
    let patch = unified::patch(files, &names);
    let nets = |file: &FileNet| file.parts.iter().filter(|part| matches!(part, NetPart::Net { .. })).cloned().collect::<Vec<_>>();
    let (mut before, mut expected) = (Tree::new(), Tree::new());
    for file in files {
        let nets = nets(file);
        let (Some(NetPart::Net { before: first, .. }), Some(NetPart::Net { after: last, .. })) = (nets.first(), nets.last()) else {
            continue;
        };
        let name = (names.path)(&file.path);
        before.extend(first.as_text().map(|text| (name.clone(), text.to_owned())));
        expected.extend(last.as_text().map(|text| (name, text.to_owned())));
    }
    for file in net::listed(files) {
        let ListedFile::Renamed { old, new, before: first, after: last } = file else { continue };
        // A file whose text is in no log can still be moved: whatever it has must arrive under the new name.
        let stand_in = format!("any text of {}\n", old.path);
        let text = |known: &FileText| known.as_text().map_or_else(|| stand_in.clone(), str::to_owned);
        before.insert((names.path)(&old.path), text(first));
        expected.insert((names.path)(&new.path), text(last));
    }
    apply(&mut before, &patch).unwrap_or_else(|error| panic!("{error}"));
    let other = |name: &&String| before.get(*name) != expected.get(*name);
    let differ: Vec<&String> = before.keys().chain(expected.keys()).filter(other).collect();
    assert!(differ.is_empty(), "a patch of real changes gives another text: {differ:?}");
}

#[test]
fn real_changes_are_replayed() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return;
    }
    let (linker, _) = scan::scan(&find::in_paths(&[root]).files, &Options::default(), &Progress::default());
    let linked = linker.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let disk = Disk::default();
    let (mut tally, mut unexplained) = (Tally::default(), Vec::new());
    for index in 0..linked.sessions.len() {
        let book = SessionBook::read(&linked, &[index], &now, &disk, None);
        let changes = SessionChanges::read(&book);
        tally.sessions += 1;
        for steps in changes.steps() {
            count(&book, &steps, &mut tally, &mut unexplained);
        }
        for files in changes.nets(|_| true) {
            tally.files += files.len();
            tally.patches += 1;
            patched(&files);
        }
    }
    println!("{tally:#?}\nwithout a command between: {unexplained:#?}");
    assert!(tally.whole > 500 && tally.confirmed > 300, "{tally:?}");
    assert!(tally.outside * 10 < tally.confirmed, "{tally:?}");
}
