//! Logs that are appended to, cut, replaced, moved, deleted and added, in any order and while they are read: after a refresh the catalogue
//! says the same as one that was made from nothing.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a panic is the report

mod edit;
mod racing;
#[path = "../support/mod.rs"]
mod support;
mod unreadable;
mod versions;

use edit::{Edit, World, edit};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::SystemTime;
use support::*;
use tooltrail_catalog::refresh::{RefreshOutcome, refresh};
use tooltrail_catalog::store::Catalogue;
use tooltrail_formats::find;
use tooltrail_formats::scan::Progress;
use tooltrail_model::Time;

fn clock_now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Time::from_microsecond(i64::try_from(since.as_micros()).unwrap()).unwrap()
}

fn update(catalogue: &mut Catalogue, root: &Path) -> RefreshOutcome {
    let now = clock_now();
    let search = find::in_paths(&[root.to_owned()]);
    refresh(catalogue, &search, &options(), now, &Progress::default()).unwrap()
}

/// Refreshes, and compares with a catalogue made from nothing and with the logs themselves.
fn compare(what: &str, catalogue: &mut Catalogue, root: &Path) -> Vec<String> {
    update(catalogue, root);
    let fresh = tempfile::tempdir().unwrap();
    let mut other = open(fresh.path());
    update(&mut other, root);
    let said = dump(catalogue);
    same(what, &said, &dump(&other));
    let (calls, sessions) = direct(&scanned(&find::in_paths(&[root.to_owned()])), &later());
    same(what, &kept_calls(catalogue, &later()), &calls);
    same(what, &kept_sessions(catalogue, &later()), &sessions);
    said
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_refresh_gives_what_a_fresh_catalogue_has(edits in prop::collection::vec(edit(), 1..18)) {
        let (world, cache) = (World::new(2), tempfile::tempdir().unwrap());
        let mut catalogue = open(cache.path());
        update(&mut catalogue, world.root());
        for edit in &edits {
            world.apply(edit);
            match edit {
                Edit::Refresh => drop(update(&mut catalogue, world.root())),
                Edit::Reopen => catalogue = open(cache.path()),
                _ => {}
            }
        }
        compare("after edits", &mut catalogue, world.root());
    }
}

/// Which logs belong together.
fn bundles(catalogue: &Catalogue) -> BTreeSet<BTreeSet<String>> {
    let connection = catalogue.ask(&later()).unwrap();
    let mut statement =
        connection.prepare("SELECT json_group_array(path) FROM source_rows WHERE NOT gone AND agent IS NOT NULL GROUP BY bundle").unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|paths| serde_json::from_str(&paths.unwrap()).unwrap()).collect()
}

/// Each thing alone, and that it is seen at all.
#[test]
fn everything_that_happens_is_noticed() {
    use Edit::*;
    // The demo has sixteen logs; one that is made comes after them. The first three are of another agent, and have no file beside them.
    const LAST: usize = 16;
    let steps: &[&[Edit]] = &[
        &[Append(4, 4)],
        &[Truncate(5, 128)],
        &[Replace(6, 0)],
        &[Swap(3, 0)],
        &[Overwrite(3, 0)],
        &[Rename(1, 7)],
        &[Move(4, 0)],
        &[Delete(4), Add(4)],
        &[Away(3), Back],
        &[Copy(4, 8), Replace(0, 5)],
        // A title, another one, none.
        &[Beside(4, 1), Beside(4, 2), Bare(4)],
        &[Join(4, 9, 1), Part],
        &[Summary(7, 3), Delete(LAST)],
        // It becomes a log, and none again.
        &[Foreign(1), Replace(LAST, 10), Foreign(1)],
    ];
    for edits in steps {
        let (world, cache) = (World::new(1), tempfile::tempdir().unwrap());
        let mut catalogue = open(cache.path());
        let mut before = compare("at first", &mut catalogue, world.root());
        for edit in *edits {
            world.apply(edit);
            let after = compare(&format!("{edit:?} of {edits:?}"), &mut catalogue, world.root());
            assert!(before != after, "{edit:?} of {edits:?} did nothing");
            before = after;
        }
    }
}

/// A log that repeats two others makes one bundle of theirs; without it they are two again.
#[test]
fn bundles_are_joined_and_parted() {
    let (world, cache) = (World::new(1), tempfile::tempdir().unwrap());
    let mut catalogue = open(cache.path());
    update(&mut catalogue, world.root());
    let apart = bundles(&catalogue);
    world.apply(&Edit::Join(3, 8, 1));
    compare("joined", &mut catalogue, world.root());
    assert_eq!(bundles(&catalogue).len(), apart.len() - 1);
    world.apply(&Edit::Append(3, 3));
    compare("appended to one of them", &mut catalogue, world.root());
    world.apply(&Edit::Part);
    compare("parted", &mut catalogue, world.root());
    assert_eq!(bundles(&catalogue), apart);
    // A title for a record of another log joins too.
    world.apply(&Edit::Summary(6, 3));
    compare("titled", &mut catalogue, world.root());
    assert_eq!(bundles(&catalogue).len(), apart.len());
}

#[test]
fn a_session_that_was_deleted_stays_listed_as_gone() {
    let (world, cache) = (World::new(5), tempfile::tempdir().unwrap());
    let mut catalogue = open(cache.path());
    update(&mut catalogue, world.root());
    let listed = |catalogue: &Catalogue| {
        let listing = catalogue.list(&later()).unwrap();
        let row = |(session, row): (usize, &tooltrail_model::row::SessionRow<'_>)| {
            (row.session.to_owned(), row.calls, row.files.len(), listing.is_gone(session))
        };
        listing.rows().iter().enumerate().map(row).collect::<Vec<_>>()
    };
    let before = listed(&catalogue);
    assert!(before.len() > 1 && before.iter().all(|(.., gone)| !gone));
    world.apply(&Edit::Delete(0));
    update(&mut catalogue, world.root());
    let after = listed(&catalogue);
    let gone: Vec<_> = after.iter().filter(|(.., gone)| *gone).collect();
    assert_eq!(gone.len(), 1);
    assert!(gone[0].1 > 0 && gone[0].2 == 1, "what is known of it stays: {gone:?}");
    // It comes back.
    world.apply(&Edit::Add(0));
    update(&mut catalogue, world.root());
    assert_eq!(listed(&catalogue), before);
}

#[test]
fn a_damaged_file_is_made_again() {
    let (world, cache) = (World::new(2), tempfile::tempdir().unwrap());
    let mut catalogue = open(cache.path());
    update(&mut catalogue, world.root());
    let whole = dump(&catalogue);
    let path = catalogue.path().to_owned();
    drop(catalogue);
    let good = fs::read(&path).unwrap();
    // No database; another version; its head torn; its inside overwritten.
    let other_version = {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", 77).unwrap();
        drop(connection);
        fs::read(&path).unwrap()
    };
    let mut torn = good.clone();
    torn.truncate(good.len() / 2);
    let mut overwritten = good.clone();
    overwritten[4096..].fill(0xa5);
    for damaged in [b"not a database".to_vec(), Vec::new(), other_version, torn, overwritten] {
        fs::write(&path, damaged).unwrap();
        let mut catalogue = Catalogue::open(&path).unwrap();
        update(&mut catalogue, world.root());
        same("made again", &dump(&catalogue), &whole);
    }
}
