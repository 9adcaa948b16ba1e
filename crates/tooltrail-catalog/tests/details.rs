//! Details of sessions: what is stored is what the logs say, however far making it has come, and filters select the same with it.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::*;
use tooltrail_catalog::library::{Library, StoredLibrary};
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::matching::{self, MatchContext, MatchScope};
use tooltrail_catalog::refresh::refresh_elsewhere;
use tooltrail_catalog::store::{Catalogue, SessionListing};
use tooltrail_catalog::verify::verify;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find::{self, Search};
use tooltrail_formats::scan::Progress;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::Selection;
use tooltrail_model::digest;
use tooltrail_model::link::Now;
use tooltrail_model::row::CallNumber;

const QUERIES: [&str; 12] = [
    "file:**/*.rs",
    "file:*.md",
    "not:file:**/*.rs",
    "file:src status:failed",
    "command:cargo",
    "command:git tool:Bash",
    "command:git not:command:commit",
    "not:command:cargo status:failed",
    "has:image",
    "not:has:image file:**/*.md",
    "has:diff file:**/*.*",
    "has:hooks,image",
];

/// The sessions of a catalogue, ready to be asked.
fn library(home: &Path) -> (StoredLibrary, SessionListing) {
    let library = StoredLibrary::new(open(home), None);
    let listing = library.catalogue().list(&later()).unwrap();
    (library, listing)
}

fn all(listing: &SessionListing) -> Vec<usize> {
    (0..listing.rows().len()).collect()
}

/// The calls and sessions that a query selects.
type Selected = (Vec<(String, CallNumber)>, Vec<String>);

fn stored(library: &StoredLibrary, listing: &SessionListing, query: &str) -> Selected {
    let (rows, now) = (listing.rows(), later());
    let asked = CatalogueQuery { library, listing, rows: &rows, now: &now, threads: 2 };
    let calls = asked.calls(&filter(query)).unwrap().into_iter().map(|call| (rows[call.session].session.to_owned(), call.number));
    let sessions = asked.sessions(&filter(query), MatchScope::Call).unwrap();
    (calls.collect(), sessions.into_iter().map(|session| rows[session].session.to_owned()).collect())
}

fn read(search: &Search, query: &str) -> Selected {
    let (linker, now, disk) = (scanned(search), later(), Disk::default());
    let linked = linker.link();
    let context = MatchContext { linked: &linked, disk: &disk, now: &now, threads: 2, keep: None };
    let name = |session: usize| linked.sessions[session].id.to_string();
    let calls = matching::calls(&context, &filter(query), false).into_iter().map(|call| (name(call.session), call.number));
    let sessions = matching::sessions(&context, &filter(query), MatchScope::Call);
    (calls.collect(), sessions.into_iter().map(name).collect())
}

fn compare(search: &Search) {
    let home = tempfile::tempdir().unwrap();
    refreshed(&mut open(home.path()), search);
    let (library, listing) = library(home.path());
    let sessions = all(&listing);
    assert!(sessions.iter().all(|&session| library.is_pending(&listing, session)));
    assert_eq!(library.fill(&listing, &sessions, 2, &|| true).unwrap(), sessions.len());
    assert!(!sessions.iter().any(|&session| library.is_pending(&listing, session)));
    for query in QUERIES {
        assert_eq!(stored(&library, &listing, query), read(search, query), "{query}");
    }
    // Digests as a command makes them that reads the logs.
    let (linker, now, disk) = (scanned(search), later(), Disk::default());
    let linked = linker.link();
    let rows = listing.rows();
    for (place, row) in rows.iter().enumerate() {
        let index = linked.sessions.iter().position(|session| session.agent == row.agent && *session.id == *row.session).unwrap();
        let book = SessionBook::read(&linked, &[index], &now, &disk, None);
        let fresh = serde_json::to_string(&digest::of(&book, &Selection::default())).unwrap();
        let kept = library.digest(&listing, row, place).unwrap();
        assert_eq!(serde_json::to_string(&kept).unwrap(), fresh, "{} {}", row.agent, row.session);
    }
    drop(library);
    let catalogue = open(home.path());
    let verification = verify(&catalogue, search, &options(), &later(), &Progress::default()).unwrap();
    assert_eq!(verification.differing, 0, "{:?}", verification.differences);
    let count = |sql: &str| -> i64 { catalogue.ask(&later()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap() };
    // Every paid request of a session is there once: the sums by session and model are those of the usage.
    let sums =
        "SELECT session, model, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write_5m), sum(cache_write_1h) FROM requests
        GROUP BY agent, session, model";
    let usage =
        "SELECT session, model, messages, input, output, cache_read, cache_write_5m, cache_write_1h FROM usage WHERE session IS NOT NULL";
    assert_eq!(count(&format!("SELECT count(*) FROM ({sums} EXCEPT {usage})")), 0);
    assert_eq!(count(&format!("SELECT count(*) FROM ({usage} EXCEPT {sums})")), 0);
    assert!(count("SELECT count(*) FROM requests WHERE turn > 0") > 0);
    assert!(count("SELECT count(*) FROM calls WHERE failure IS NOT NULL AND error IS NOT NULL") > 0);
    assert_eq!(count("SELECT count(*) FROM calls WHERE failure IS NOT NULL AND status IN ('succeeded', 'answered')"), 0);
    assert_eq!(count("SELECT count(*) FROM digests"), i64::try_from(rows.len()).unwrap());
}

#[test]
fn invented_logs() {
    compare(&fixtures());
}

#[test]
fn real_logs() {
    if let Some(search) = corpus() {
        compare(&search);
    }
}

#[test]
fn filters_select_the_same_before_anything_is_stored() {
    for query in QUERIES {
        let home = tempfile::tempdir().unwrap();
        refreshed(&mut open(home.path()), &fixtures());
        let (library, listing) = library(home.path());
        assert_eq!(stored(&library, &listing, query), read(&fixtures(), query), "{query}");
    }
}

#[test]
fn what_is_stored_stays_and_what_has_changed_is_pending() {
    let (home, logs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy(&demo().join("projects"), logs.path());
    let search = find::in_paths(&[logs.path().to_owned()]);
    refreshed(&mut open(home.path()), &search);
    let (first, listing) = library(home.path());
    let sessions = all(&listing);
    // Stopped after some of them: the rest is pending, and the next one goes on.
    let left = AtomicUsize::new(2);
    let some = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
    let done = first.fill(&listing, &sessions, 1, &some).unwrap();
    assert!(done > 0 && done < sessions.len(), "{done} of {}", sessions.len());
    let pending = |library: &StoredLibrary, listing: &SessionListing| {
        all(listing).into_iter().filter(|&session| library.is_pending(listing, session)).collect::<Vec<_>>()
    };
    assert_eq!(pending(&first, &listing).len(), sessions.len() - done);
    drop(first);
    let (second, listing) = library(home.path());
    assert_eq!(second.fill(&listing, &sessions, 2, &|| true).unwrap(), sessions.len() - done);
    // A snapshot of before a change goes on to use what was stored for it, or makes it anew, but never takes that of after it.
    let row = &listing.rows()[0];
    let file = row.files[0].to_owned();
    let before = second.digest(&listing, row, 0).unwrap();
    let more = std::fs::read_to_string(&file).unwrap();
    let last = more.lines().last().unwrap().to_owned();
    std::fs::write(&file, format!("{more}{last}\n")).unwrap();
    let changed = find::in_paths(&[logs.path().to_owned()]);
    let mut catalogue = open(home.path());
    assert!(refreshed(&mut catalogue, &changed).read > 0);
    drop(catalogue);
    assert_eq!(second.digest(&listing, row, 0), None, "it is that of other logs");
    let (third, now_listing) = library(home.path());
    let again = pending(&third, &now_listing);
    assert!(again.contains(&0) && again.len() < sessions.len(), "{again:?}");
    // The older snapshot must not store what it makes under the newer rows.
    second.fill(&listing, &sessions, 1, &|| true).unwrap();
    assert_eq!(pending(&third, &now_listing), again);
    third.fill(&now_listing, &again, 2, &|| true).unwrap();
    assert!(pending(&third, &now_listing).is_empty());
    assert_eq!(third.digest(&now_listing, &now_listing.rows()[0], 0).unwrap().changed, before.changed);
    drop((second, third));
    let verification = verify(&open(home.path()), &changed, &options(), &later(), &Progress::default()).unwrap();
    assert_eq!(verification.differing, 0, "{:?}", verification.differences);
}

#[test]
fn details_that_differ_are_found() {
    let home = tempfile::tempdir().unwrap();
    refreshed(&mut open(home.path()), &fixtures());
    let (library, listing) = library(home.path());
    library.fill(&listing, &all(&listing), 2, &|| true).unwrap();
    drop(library);
    let check = || {
        let catalogue: Catalogue = open(home.path());
        let found = verify(&catalogue, &fixtures(), &options(), &later(), &Progress::default()).unwrap();
        found.differences.into_iter().map(|differs| (differs.kind, differs.fields)).collect::<Vec<_>>()
    };
    assert_eq!(check(), []);
    let change = |sql: &str| assert!(rusqlite::Connection::open(home.path().join("catalogue.db")).unwrap().execute(sql, []).unwrap() > 0);
    change("UPDATE content_rows SET failure = 'nothing' WHERE id = (SELECT min(id) FROM content_rows WHERE failure IS NOT NULL)");
    assert_eq!(check(), [("differs", vec!["content".to_owned()])]);
    change("DELETE FROM request_rows WHERE id = (SELECT max(id) FROM request_rows)");
    assert_eq!(check().len(), 2);
    // Without this row there are none.
    change("DELETE FROM detail_rows");
    assert_eq!(check(), []);
}

#[test]
fn a_live_session_has_no_details() {
    let (home, logs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy(&demo().join("projects"), logs.path());
    let search = find::in_paths(&[logs.path().to_owned()]);
    refreshed(&mut open(home.path()), &search);
    let library = StoredLibrary::new(open(home.path()), None);
    let mut now: Now = later();
    let name = library.catalogue().list(&now).unwrap().rows()[0].session.to_owned();
    now.live.insert(name.as_str().into(), tooltrail_model::link::Live::Running);
    let listing = library.catalogue().list(&now).unwrap();
    let sessions = all(&listing);
    assert_eq!(library.fill(&listing, &sessions, 2, &|| true).unwrap(), sessions.len() - 1);
    assert_eq!(library.digest(&listing, &listing.rows()[0], 0), None);
    assert!(library.bundles().unwrap().len() > 1);
}

#[test]
fn work_that_takes_much_memory_may_be_done_elsewhere() {
    let (home, logs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let line = |session: &str, number: usize| {
        format!("{{\"type\":\"user\",\"uuid\":\"{session}-{number}\",\"sessionId\":\"{session}\",\"message\":{{\"content\":\"go\"}}}}\n")
    };
    let search = || find::in_paths(&[logs.path().to_owned()]);
    let asked = AtomicUsize::new(0);
    let refresh = |elsewhere: bool| {
        let found = search();
        let fill = || {
            asked.fetch_add(1, Ordering::Relaxed);
            // Another process, as far as the catalogue can tell.
            if elsewhere {
                refreshed(&mut open(home.path()), &found);
            }
            elsewhere
        };
        refresh_elsewhere(&mut open(home.path()), &found, &options(), clock(), &Progress::default(), &fill).unwrap().read
    };
    std::fs::write(logs.path().join("plain.jsonl"), line("plain", 1)).unwrap();
    assert_eq!((refresh(true), asked.load(Ordering::Relaxed)), (1, 0), "a small log is read here");
    for (number, elsewhere) in [(1, true), (2, false)] {
        let packed = zstd::encode_all(line("packed", number).repeat(2 * number).as_bytes(), 1).unwrap();
        std::fs::write(logs.path().join("packed.jsonl.zst"), packed).unwrap();
        assert_eq!((refresh(elsewhere), asked.load(Ordering::Relaxed)), (1, number), "a compressed one may have any length");
        assert_eq!((refresh(elsewhere), asked.load(Ordering::Relaxed)), (0, number), "nothing is left");
    }
    let (library, listing) = library(home.path());
    assert_eq!(listing.rows().len(), 2);
    assert!(!library.is_much(&listing, &all(&listing)).unwrap(), "two sessions with a line each");
    assert!(!library.is_large(&listing, 0).unwrap());
    drop(library);
    // The same with a log that has very many lines.
    std::fs::write(logs.path().join("long.jsonl"), line("long", 1) + &"{}\n".repeat(100_001)).unwrap();
    assert_eq!(refresh(true), 1);
    let (library, listing) = self::library(home.path());
    let large: Vec<bool> = all(&listing).into_iter().map(|session| library.is_large(&listing, session).unwrap()).collect();
    assert_eq!(large.iter().filter(|large| **large).count(), 1);
    assert!(library.is_much(&listing, &all(&listing)).unwrap());
}
