//! The keys of calls say what their rows say, and a filter takes the same with them as without.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use std::collections::HashMap;
use std::fs::File;
use std::time::SystemTime;
use support::*;
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::store::{CallKeys, Figure};
use tooltrail_formats::find::{self, Search};
use tooltrail_model::Now;

/// Filters that keys decide, that they decide in part, and that they do not.
const FILTERS: &[&str] = &[
    "status:failed",
    "is:failed",
    "not:is:failed",
    "is:live status:running",
    "tool:bash",
    "tool:*e* not:tool:Read",
    "kind:shell exit:nonzero",
    "exit:0..2",
    "took:1s..",
    "took:..10ms kind:read",
    "agent:codex",
    "project:orbit status:failed,blocked",
    "branch:main",
    "model:*opus*",
    "not:model:*opus*",
    "purpose:test",
    "purpose:test status:failed",
    "since:2026-03-03",
    "until:2026-03-03 kind:edit",
    "since:2026-03-03T09:12:40Z until:2026-03-03T18:00:00Z",
    "server:*",
    "reason:exit_code tool:Bash",
    "has:subagent",
    "has:masked kind:shell",
    "has:diff status:succeeded",
    "file:src/** kind:edit",
    "command:cargo status:failed",
    "is:gone",
    "cargo tool:Bash",
    "not:cargo kind:shell status:failed",
];

fn compare(search: &Search, now: &Now) {
    let home = tempfile::tempdir().unwrap();
    let mut catalogue = open(home.path());
    refreshed(&mut catalogue, search);
    let library = StoredLibrary::new(catalogue, None);
    let listing = library.catalogue().list(now).unwrap();
    let rows = listing.rows();
    let keys = CallKeys::read(&library.catalogue(), &listing, None).unwrap();
    let asked = CatalogueQuery { library: &library, listing: &listing, rows: &rows, now, threads: 2 };
    let all = asked.calls(&filter("")).unwrap();
    assert_eq!(keys.all(), all);
    for &call in &all {
        let key = keys.of(call).unwrap();
        listing
            .one_call(&library.catalogue(), call, |_, row, _| {
                assert_eq!((&*keys.tools()[keys.tool(key)], key.kind, key.status), (row.tool, row.kind, row.status), "{}", row.r#ref);
                let figures = [Figure::Took, Figure::Ran, Figure::Result].map(|figure| key.figure(figure).map(i64::cast_unsigned));
                assert_eq!(figures, [row.duration_ms, row.run_ms, row.result_bytes], "{}", row.r#ref);
                assert_eq!((key.figure(Figure::Exit), key.figure(Figure::Input)), (row.exit_code, i64::try_from(row.input_bytes).ok()));
                assert_eq!(key.requested(), row.requested_at, "{}", row.r#ref);
                assert_eq!(key.purpose.map(|purpose| purpose.word()), row.purpose);
            })
            .unwrap();
    }
    let mut taken = HashMap::new();
    for query in FILTERS {
        let filter = filter(query);
        let plain = asked.calls(&filter).unwrap();
        assert_eq!(asked.calls_while(&filter, Some(&keys), || true).unwrap(), (plain.clone(), true), "{query}");
        taken.insert(*query, plain.len());
    }
    assert!(taken.values().filter(|number| **number > 0).count() > FILTERS.len() / 2, "too few of these take anything: {taken:?}");
}

#[test]
fn of_invented_logs() {
    compare(&find::in_paths(&[demo()]), &later());
}

#[test]
fn of_real_logs() {
    if let Some(search) = corpus() {
        compare(&search, &later());
    }
}

/// While a session is alive, its calls are what they are now; only what has changed is read again.
#[test]
fn of_sessions_that_are_alive() {
    let home = tempfile::tempdir().unwrap();
    copy(&demo(), home.path());
    let now = Now::at(time("2026-03-04T12:00:30Z"));
    for source in scanned(&find::in_paths(&[home.path().to_owned()])).sources() {
        let written = SystemTime::from(now.time.timestamp());
        File::options().append(true).open(&*source.path).unwrap().set_modified(written).unwrap();
    }
    let search = find::in_paths(&[home.path().to_owned()]);
    compare(&search, &now);

    let place = tempfile::tempdir().unwrap();
    let mut catalogue = open(place.path());
    refreshed(&mut catalogue, &search);
    let read = |now: &Now, before: Option<&CallKeys>| CallKeys::read(&catalogue, &catalogue.list(now).unwrap(), before).unwrap();
    let alive = read(&now, None);
    let ended = read(&later(), Some(&alive));
    let running = |keys: &CallKeys| keys.all().iter().filter(|call| keys.of(**call).unwrap().status.word() == "running").count();
    assert!(running(&alive) > 0);
    assert_eq!(running(&ended), 0);
    assert_eq!((ended.all(), ended.version() == alive.version()), (alive.all(), false));
    assert_eq!(read(&later(), Some(&ended)).version(), ended.version());
}
