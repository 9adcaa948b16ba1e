//! What is read, linked or stored in parts is the same as all at once.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use support::*;
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::matching::MatchContext;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::parts::ScannedParts;
use tooltrail_catalog::refresh::refresh_in_steps;
use tooltrail_catalog::totals;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find::Search;
use tooltrail_formats::scan::Progress;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{By, GroupSums, Linked, Linker, StatsSums};

const FILTERS: [&str; 4] = ["", "status:failed", "kind:shell since:2026-01-01", "project:app or branch:main"];
const GROUPS: [By; 9] = [By::Project, By::Day, By::Week, By::Month, By::Model, By::Tool, By::Agent, By::Branch, By::Session];

/// Totals as text, of logs that come in parts.
fn totals_of(filter: &Filter, each: impl Fn(&mut dyn FnMut(&Linked<'_>))) -> Vec<String> {
    let (now, disk, zone) = (later(), Disk::default(), jiff::tz::TimeZone::UTC);
    let mut sums = StatsSums::default();
    each(&mut |linked| totals::add(&mut sums, &MatchContext { linked, disk: &disk, now: &now, threads: 2, keep: None }, filter));
    let mut lines = vec![serde_json::to_string(&sums.finish()).unwrap()];
    for by in GROUPS {
        let mut sums = GroupSums::new(by, &zone);
        each(&mut |linked| {
            let context = MatchContext { linked, disk: &disk, now: &now, threads: 2, keep: None };
            totals::add_groups(&mut sums, &context, filter);
        });
        lines.extend(sums.finish().iter().map(|row| serde_json::to_string(row).unwrap()));
    }
    lines
}

fn compare(search: &Search) {
    let home = tempfile::tempdir().unwrap();
    let mut catalogue = open(home.path());
    refreshed(&mut catalogue, search);
    let library = StoredLibrary::new(catalogue, None);
    let linker = scanned(search);
    for query in FILTERS {
        let filter = filter(query);
        let whole = totals_of(&filter, |take| take(&linker.link()));
        assert!(whole.len() > GROUPS.len(), "{query}");
        let parts = totals_of(&filter, |take| library.each_part_of(1, 2, take).unwrap());
        same(query, &parts, &whole);
        for size in [1, u64::MAX] {
            let packed = totals_of(&filter, |take| {
                let outcome = ScannedParts::packed(linker.clone(), size).each_part(2, true, take);
                assert!(outcome.is_ok());
            });
            same(query, &packed, &whole);
        }
    }
    commands(&library, &linker);
}

/// Commands are counted from their rows as they are from the logs.
fn commands(library: &StoredLibrary, linker: &Linker) {
    let (now, disk, zone) = (later(), Disk::default(), jiff::tz::TimeZone::UTC);
    let listing = library.catalogue().list(&now).unwrap();
    let rows = listing.rows();
    let query = CatalogueQuery { library, listing: &listing, rows: &rows, now: &now, threads: 2 };
    let linked = linker.link();
    for text in FILTERS {
        let mut sums = GroupSums::new(By::Command, &zone);
        let context = MatchContext { linked: &linked, disk: &disk, now: &now, threads: 2, keep: None };
        totals::add_groups(&mut sums, &context, &filter(text));
        let lines =
            |rows: Vec<tooltrail_model::row::GroupRow>| rows.iter().map(|row| serde_json::to_string(row).unwrap()).collect::<Vec<_>>();
        same(text, &lines(totals::of_commands(&query, &filter(text)).unwrap()), &lines(sums.finish()));
    }
}

#[test]
fn totals_of_parts() {
    compare(&fixtures());
    corpus().iter().for_each(compare);
}

/// A log in each step, so that nearly every bundle is linked and written several times.
#[test]
fn a_refresh_in_many_steps() {
    for search in [Some(fixtures()), corpus()].into_iter().flatten() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (mut whole, mut steps) = (open(one.path()), open(other.path()));
        refreshed(&mut whole, &search);
        let outcome = refresh_in_steps(&mut steps, &search, &options(), clock(), &Progress::default(), 0).unwrap();
        assert_eq!(outcome.read, search.files.len());
        same("rows", &dump(&steps), &dump(&whole));
        assert_eq!(refreshed(&mut steps, &search).read, 0, "nothing is left to read");
    }
}
