//! What the catalogue says is what the logs say: every call and every session, at any moment, byte for byte.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use std::fs::File;
use std::time::{Duration, SystemTime};
use support::*;
use tooltrail_catalog::library::{Library, StoredLibrary};
use tooltrail_formats::find::{self, Search};
use tooltrail_model::Now;
use tooltrail_model::link::Live;

/// Compares everything at a moment.
fn compare(what: &str, search: &Search, nows: &[Now]) {
    let home = tempfile::tempdir().unwrap();
    let mut catalogue = open(home.path());
    refreshed(&mut catalogue, search);
    let linker = scanned(search);
    for now in nows {
        let (calls, sessions) = direct(&linker, now);
        assert!(!calls.is_empty() && !sessions.is_empty());
        same(what, &kept_calls(&catalogue, now), &calls);
        same(what, &kept_sessions(&catalogue, now), &sessions);
    }
    // What is opened a bundle at a time says the same too, and each log is in one bundle.
    let library = StoredLibrary::new(catalogue, None);
    let (mut calls, mut sessions, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for bundle in library.bundles().unwrap() {
        let linker = library.open(bundle.id).unwrap();
        let rows = direct(&linker, &nows[0]);
        calls.extend(rows.0);
        sessions.extend(rows.1);
        files.extend(bundle.files);
    }
    let in_order = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let whole = direct(&library.whole().unwrap(), &nows[0]);
    same(what, &whole.0, &direct(&linker, &nows[0]).0);
    same(what, &in_order(calls), &in_order(whole.0));
    same(what, &in_order(sessions), &in_order(whole.1));
    assert_eq!(files.len(), linker.sources().filter(|source| source.summary.agent.is_some()).count());
    drop(library);
    // Opened again it says the same, and finds nothing to do.
    let mut catalogue = open(home.path());
    let again = refreshed(&mut catalogue, search);
    assert_eq!((again.read, again.lost, again.sessions), (0, 0, 0));
    same(what, &kept_calls(&catalogue, &nows[0]), &direct(&linker, &nows[0]).0);
}

#[test]
fn real_logs() {
    if let Some(search) = corpus() {
        compare("corpus", &search, &[later()]);
    }
}

#[test]
fn invented_logs() {
    compare("fixtures", &fixtures(), &[later()]);
}

/// The demo, with every file as old as its last record, so that sessions are alive at the right moment.
#[test]
fn sessions_that_are_alive() {
    let home = tempfile::tempdir().unwrap();
    copy(&demo(), home.path());
    let search = find::in_paths(&[home.path().to_owned()]);
    for source in scanned(&search).sources() {
        let last = source.summary.last.unwrap();
        let written = SystemTime::UNIX_EPOCH + Duration::from_micros(last.as_microsecond().cast_unsigned());
        File::options().append(true).open(&*source.path).unwrap().set_modified(written).unwrap();
    }
    let search = find::in_paths(&[home.path().to_owned()]);
    let mut nows = Vec::new();
    for moment in ["2026-03-04T12:00:30Z", "2026-03-04T09:40:00Z", "2026-03-03T18:10:00Z"] {
        let mut now = Now::at(time(moment));
        nows.push(now.clone());
        for live in [Live::Waiting, Live::Running, Live::Idle] {
            for session in scanned(&search).link().sessions {
                now.live.insert(session.id.clone(), live);
            }
            nows.push(now.clone());
        }
    }
    let linker = scanned(&search);
    let running = direct(&linker, &nows[0]).0.iter().filter(|line| line.contains("\"status\":\"running\"")).count();
    assert!(running > 0, "the demo has a call at work");
    compare("demo", &search, &nows);
}
