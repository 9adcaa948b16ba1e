//! The keys of calls say what their rows say, and a filter takes the same with them as the evaluator does with the rows.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use std::collections::HashMap;
use std::fs::File;
use std::time::SystemTime;
use support::*;
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::matching::{self, MatchContext};
use tooltrail_catalog::queries::{CallSortKey, CallTableQuery};
use tooltrail_catalog::store::{Figure, KeyReader, ListedCall};
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find::{self, Search};
use tooltrail_model::Now;
use tooltrail_model::filter::Filter;
use tooltrail_model::row::CallRow;

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
    let asked = CatalogueQuery { library: &library, listing: &listing, rows: &rows, now, threads: 2 };
    let all = asked.calls(&filter("")).unwrap();
    let mut reader = KeyReader::default();
    let mut listed = Vec::new();
    for session in (0..rows.len()).filter(|&session| !listing.is_gone(session)) {
        let keys = reader.read(&library.catalogue(), &listing, session).unwrap();
        for key in &keys {
            let told = |row: &CallRow<'_>| {
                assert_eq!((&*reader.tools()[reader.tool(key)], key.kind, key.status), (row.tool, row.kind, row.status), "{}", row.r#ref);
                let figures = [Figure::Took, Figure::Ran, Figure::Result].map(|figure| key.figure(figure).map(i64::cast_unsigned));
                assert_eq!(figures, [row.duration_ms, row.run_ms, row.result_bytes], "{}", row.r#ref);
                assert_eq!((key.figure(Figure::Exit), key.figure(Figure::Input)), (row.exit_code, i64::try_from(row.input_bytes).ok()));
                assert_eq!(key.requested(), row.requested_at, "{}", row.r#ref);
                assert_eq!(key.purpose.map(|purpose| purpose.word()), row.purpose);
            };
            listing.one_call(&library.catalogue(), key.listed(session), |_, row, _| told(&row)).unwrap();
            listed.push(key.listed(session));
        }
    }
    assert_eq!(listed, all);
    let linker = scanned(search);
    let linked = linker.link();
    let disk = Disk::default();
    let context = MatchContext { linked: &linked, disk: &disk, now, threads: 2, keep: None };
    let mut taken = HashMap::new();
    for query in FILTERS {
        let filter = filter(query);
        let calls = asked.calls(&filter).unwrap();
        // The evaluator alone, on what the logs say.
        let direct = matching::calls(&context, &filter, false);
        let direct: Vec<String> = direct.iter().map(|call| linked.call_row(call, now, false).r#ref).collect();
        let names: Vec<String> = calls.iter().map(|call| format!("{}:{}", rows[call.session].short, call.number)).collect();
        assert_eq!(names, direct, "{query}");
        table(&asked, &filter, &calls);
        taken.insert(*query, calls.len());
    }
    assert!(taken.values().filter(|number| **number > 0).count() > FILTERS.len() / 2, "too few of these take anything: {taken:?}");
}

/// The table of these calls, whole and in parts.
fn table(asked: &CatalogueQuery<'_>, filter: &Filter, calls: &[ListedCall]) {
    let query = |offset, limit| CallTableQuery {
        filter,
        inner: true,
        sort: CallSortKey::Figure(Figure::Order),
        desc: true,
        project: &str::to_owned,
        offset,
        limit,
    };
    let whole = asked.call_table(&query(0, usize::MAX), None).unwrap();
    assert_eq!(asked.call_table(&query(0, usize::MAX), Some(calls)).unwrap(), whole);
    let mut newest = calls.to_vec();
    newest.sort_by_key(|call| std::cmp::Reverse((call.order, *call)));
    assert_eq!((&whole.calls, whole.total, whole.statuses.values().sum::<u64>()), (&newest, calls.len(), calls.len() as u64));
    let middle = asked.call_table(&query(7, 7), None).unwrap();
    assert_eq!(
        (middle.calls.as_slice(), middle.total),
        (newest.get(middle.first..newest.len().min(middle.first + 7)).unwrap(), calls.len())
    );
    let outer = asked.call_table(&CallTableQuery { inner: false, ..query(0, 0) }, None).unwrap();
    assert_eq!((outer.total + outer.inner, outer.inner), (calls.len(), calls.iter().filter(|call| call.number.inner > 0).count()));
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

/// While a session is alive, its calls are what they are now.
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
    let running = |now: &Now| {
        let (listing, mut reader) = (catalogue.list(now).unwrap(), KeyReader::default());
        let sessions = 0..listing.rows().len();
        let keys = sessions.flat_map(|session| reader.read(&catalogue, &listing, session).unwrap()).collect::<Vec<_>>();
        (keys.iter().filter(|key| key.status.word() == "running").count(), listing.calls_version())
    };
    let (alive, ended) = (running(&now), running(&later()));
    assert!(alive.0 > 0);
    assert_eq!((ended.0, ended.1 == alive.1, ended), (0, false, running(&later())));
}
