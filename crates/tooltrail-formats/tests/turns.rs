//! A list counts the turns that a session's page shows: the row of every session against its transcript, for all invented logs and, where
//! they are at hand, the real ones.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use std::path::{Path, PathBuf};
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::scan::{Options, Progress, scan};
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Book;
use tooltrail_model::{Linker, Now, Time};

/// The sessions whose row counts other turns than their transcript shows, and how many sessions there are.
fn different(path: &Path) -> (Vec<String>, usize) {
    let found = find::in_paths(&[path.to_owned()]);
    let (all, _) = scan(&found.files, &Options::default(), &Progress::default());
    let all_linked = all.link();
    let now = Now::at("2040-01-01T00:00:00Z".parse::<Time>().unwrap());
    let (mut wrong, disk) = (Vec::new(), Disk::default());
    for listed in &all_linked.sessions {
        // Alone: among others, turns that were copied from another session are shown here and counted there.
        let mut alone = Linker::default();
        listed.sources.iter().for_each(|&source| alone.put(all_linked.sources[source].clone()));
        let linked = alone.link();
        let Some(session) = linked.sessions.iter().position(|own| own.agent == listed.agent && own.id == listed.id) else { continue };
        let book = SessionBook::read(&linked, &[session], &now, &disk, None);
        let (counted, shown) = (linked.sessions[session].turns, book.transcript().turns.len() as u64);
        if counted != shown {
            wrong.push(format!("{} {}: {counted} counted, {shown} shown", listed.agent, listed.id));
        }
    }
    (wrong, all_linked.sessions.len())
}

fn beside(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A damaged log with one id for two prompts. By the id the second is a copy of the first, which counts once; its words are other ones, so
/// both are shown. No agent writes that.
const ONE_ID_FOR_TWO: &str = "claude 00045e55-0000-4000-8000-000000000000: 1 counted, 2 shown";

#[test]
fn invented_logs() {
    let agents = std::fs::read_dir(beside("tests/fixtures")).unwrap().map(|entry| entry.unwrap().path());
    let cases = agents.filter(|path| path.is_dir()).flat_map(|agent| std::fs::read_dir(agent).unwrap());
    let mut count = 0;
    for case in cases.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let (mut wrong, sessions) = different(&case);
        wrong.retain(|line| line != ONE_ID_FOR_TWO || !case.ends_with("odd-chains"));
        assert!(wrong.is_empty(), "{}: {wrong:#?}", case.display());
        count += sessions;
    }
    assert!(count > 150, "{count} sessions");
}

#[test]
fn real_logs() {
    let root = beside("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return;
    }
    let (wrong, count) = different(&root);
    println!("{count} sessions");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
