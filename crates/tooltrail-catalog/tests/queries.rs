//! The named queries, held to answers that are counted again from all rows.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use support::*;
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::queries::{Facet, Store};
use tooltrail_catalog::store::SessionListing;
use tooltrail_formats::find;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::Now;

/// A catalogue with everything in it.
struct World {
    library: StoredLibrary,
    listing: SessionListing,
    now: Now,
}

impl World {
    fn new(home: &Path) -> Self {
        let search = find::in_paths(&[demo().join("projects"), demo().join("codex")]);
        refreshed(&mut open(home), &search);
        refreshed(&mut open(home), &fixtures_and(search));
        let library = StoredLibrary::new(open(home), None);
        let listing = library.catalogue().list(&later()).unwrap();
        let sessions: Vec<usize> = (0..listing.rows().len()).collect();
        library.fill(&listing, &sessions, 2, &|| true).unwrap();
        World { library, listing, now: later() }
    }

    fn ask<T>(&self, ask: impl FnOnce(&CatalogueQuery<'_>) -> T) -> T {
        let rows = self.listing.rows();
        ask(&CatalogueQuery { library: &self.library, listing: &self.listing, rows: &rows, now: &self.now, threads: 2 })
    }

    /// Everything that SQL says of calls, as JSON-like columns.
    fn sql(&self, sql: &str) -> Vec<Vec<String>> {
        let connection = self.library.catalogue().reader().unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let text = |value: rusqlite::types::ValueRef<'_>| value.as_str().map_or_else(|_| format!("{value:?}"), str::to_owned);
        let rows = statement.query_map([], |row| Ok((0..columns).map(|column| text(row.get_ref(column).unwrap())).collect())).unwrap();
        rows.map(Result::unwrap).collect()
    }
}

/// The demo's logs and the fixtures.
fn fixtures_and(search: find::Search) -> find::Search {
    let mut both = fixtures();
    both.files.extend(search.files);
    both
}

const FILTERS: [&str; 10] = [
    "",
    "status:failed",
    "kind:shell took:0s..",
    "exit:nonzero",
    "purpose:test",
    "since:2026-01-01 until:2026-06-01",
    "file:**/*.rs",
    "command:cargo",
    "has:masked",
    "error",
];

#[test]
fn pages_put_together_are_the_whole_list() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    for query in FILTERS {
        let filter: Filter = filter(query);
        world.ask(|store| {
            let (mut sessions, mut calls) = (Vec::new(), Vec::new());
            let mut after = None;
            loop {
                let page = store.sessions_page(&filter, after.as_ref(), 3).unwrap();
                assert!(page.entries.len() <= 3 && (!page.has_more || page.entries.len() == 3), "{query}");
                after = page.entries.last().map(|row| row.cursor.clone());
                sessions.extend(page.entries);
                if !page.has_more {
                    break;
                }
            }
            let mut after = None;
            loop {
                let page = store.calls_page(&filter, after.as_ref(), 7).unwrap();
                after = page.entries.last().map(|row| row.cursor.clone());
                calls.extend(page.entries);
                if !page.has_more {
                    break;
                }
            }
            assert!(sessions.is_sorted_by(|one, next| one.cursor > next.cursor), "{query}");
            assert!(calls.is_sorted_by(|one, next| one.cursor > next.cursor), "{query}");
            let found: BTreeSet<String> = calls.iter().map(|call| call.r#ref.clone()).collect();
            let mut all = BTreeSet::new();
            let listed = store.calls(&filter).unwrap();
            store
                .each_row(
                    &listed,
                    |refs: &mut Vec<String>, row, _| refs.push(row.r#ref),
                    |refs| {
                        all.extend(refs);
                        Ok::<_, tooltrail_catalog::store::CatalogueError>(())
                    },
                )
                .unwrap();
            assert_eq!(found, all, "{query}");
            assert_eq!(calls.len(), listed.len(), "{query}");
            assert!(!calls.is_empty(), "{query}");
            let totals = store.totals(&filter).unwrap();
            assert_eq!(totals.sessions, sessions.len() as u64, "{query}");
            let outer = calls.iter().filter(|call| call.cursor.number.inner == 0);
            let mut by_status = BTreeMap::new();
            outer.for_each(|call| *by_status.entry(call.status).or_insert(0u64) += 1);
            assert_eq!(totals.calls, by_status, "{query}");
            let counted = store.counts(&filter, Facet::Status).unwrap();
            assert_eq!(counted.iter().map(|(_, count)| count).sum::<u64>(), by_status.values().sum::<u64>(), "{query}");
            for by in [Facet::Tool, Facet::Kind, Facet::Agent] {
                let counted = store.counts(&filter, by).unwrap();
                assert_eq!(counted.iter().map(|(_, count)| count).sum::<u64>(), by_status.values().sum::<u64>(), "{query} {by:?}");
                assert!(counted.is_sorted_by(|one, next| one.1 >= next.1));
            }
        });
    }
}

#[test]
fn failures_are_grouped_as_they_are_stored() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    let groups = world.ask(|store| store.failures(&Filter::default(), usize::MAX).unwrap());
    let counted = world.sql("SELECT failure, CAST(count(*) AS TEXT), CAST(count(DISTINCT agent || session) AS TEXT) FROM calls WHERE failure IS NOT NULL GROUP BY failure");
    let told: BTreeSet<Vec<String>> =
        groups.iter().map(|group| vec![group.group.clone(), group.count.to_string(), group.sessions.to_string()]).collect();
    assert_eq!(told, counted.into_iter().collect());
    // Commands say by their output why they failed, wherever they printed anything.
    let silent: u64 = groups.iter().filter(|group| group.group.ends_with("without a message")).map(|group| group.count).sum();
    assert!(silent * 2 < groups.iter().map(|group| group.count).sum::<u64>(), "{groups:?}");
    assert!(groups.len() > 5 && groups.is_sorted_by(|one, next| one.count >= next.count));
    for group in &groups {
        assert_eq!(group.tools.iter().map(|(_, count)| count).sum::<u64>(), group.count);
        assert!(group.days.values().sum::<u64>() <= group.count);
        assert!(group.example.contains(':') && group.first <= group.last, "{group:?}");
    }
    let some = world.ask(|store| store.failures(&filter("tool:Bash"), 2).unwrap());
    assert!(some.len() <= 2 && some.iter().all(|group| group.tools.iter().all(|(tool, _)| tool.eq_ignore_ascii_case("bash"))), "{some:?}");
    assert_eq!(world.ask(|store| store.failures(&filter("status:succeeded"), 9).unwrap()), []);
    let commands = world.ask(|store| store.failing_commands(&Filter::default(), 100).unwrap());
    assert!(!commands.is_empty() && commands.iter().all(|command| command.failed <= command.runs && command.failed > 0));
}

#[test]
fn other_queries_agree_with_the_views() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    let number = |sql: &str| world.sql(&format!("SELECT CAST(({sql}) AS TEXT)"))[0][0].parse::<u64>().unwrap_or_default();
    world.ask(|store| {
        let projects = store.projects().unwrap();
        assert_eq!(projects.iter().map(|project| project.sessions).sum::<u64>(), number("SELECT count(*) FROM sessions"));
        assert_eq!(projects.iter().map(|project| project.calls).sum::<u64>(), number("SELECT sum(calls) FROM sessions"));
        let spent = store.spent(None, None).unwrap();
        assert_eq!(spent.iter().map(|spent| spent.tokens.output).sum::<u64>(), number("SELECT sum(output) FROM requests"));
        let moment = time("2026-03-04T00:00:00Z");
        let (before, behind) = (store.spent(None, Some(moment)).unwrap(), store.spent(Some(moment), None).unwrap());
        let timed = number("SELECT count(*) FROM requests WHERE at IS NOT NULL");
        assert_eq!(before.iter().chain(&behind).map(|spent| spent.requests).sum::<u64>(), timed);
        assert!(!before.is_empty() && !behind.is_empty());
        assert_eq!(store.pending().unwrap(), 0);
        let files = store.changed_files(&Filter::default(), 1000).unwrap();
        assert!(!files.is_empty() && files.iter().all(|file| file.sessions > 0 && file.calls >= file.sessions));
        for row in store.rows {
            assert_eq!(store.session_row(row.agent, row.session).unwrap().unwrap().short, row.short);
            assert!(store.stored_digest(row.agent, row.session).unwrap().is_some());
        }
        assert_eq!(store.session_row("claude", "no such session").unwrap(), None);
        assert_eq!(store.stored_digest("claude", "no such session").unwrap(), None);
    });
}
