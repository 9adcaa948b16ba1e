//! The named queries, held to answers that are counted again from all rows.

#![allow(clippy::unwrap_used)] // a panic is the report

mod support;

use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use support::*;
use tooltrail_catalog::library::StoredLibrary;
use tooltrail_catalog::matching::MatchContext;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::queries::failures::{FailureGroup, FailureQuery, FailureReport};
use tooltrail_catalog::queries::{Facet, Store};
use tooltrail_catalog::store::SessionListing;
use tooltrail_catalog::totals;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_model::Status;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{By, GroupSums, Live, Now};
use tooltrail_model::session_verdict::SessionVerdict;

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

/// Asks for failures in UTC, with all the time there is.
fn failures(world: &World, query: &str, unresolved: bool, limit: usize) -> FailureReport {
    let filter = filter(query);
    let asked = FailureQuery { filter: &filter, unresolved, zone: &TimeZone::UTC, patience: Duration::MAX };
    world.ask(|store| store.failures(&asked, None, limit).unwrap())
}

#[test]
fn failures_are_grouped_as_they_are_stored() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    let report = failures(&world, "", false, usize::MAX);
    let groups = &report.groups;
    let counted = world.sql("SELECT failure, CAST(count(*) AS TEXT), CAST(count(DISTINCT agent || session) AS TEXT) FROM calls WHERE failure IS NOT NULL GROUP BY failure");
    let told: BTreeSet<Vec<String>> =
        groups.iter().map(|group| vec![group.group.clone(), group.count.to_string(), group.sessions.to_string()]).collect();
    assert_eq!(told, counted.into_iter().collect());
    // Commands say by their output why they failed, wherever they printed anything.
    let silent: u64 = groups.iter().filter(|group| group.group.ends_with("without a message")).map(|group| group.count).sum();
    assert!(silent * 2 < report.total.count, "{groups:?}");
    assert!(groups.len() > 5 && groups.is_sorted_by(|one, next| one.count >= next.count));
    let sums = |number: fn(&FailureGroup) -> u64| (groups.iter().map(number).sum::<u64>(), number(&report.total));
    for (sum, total) in [sums(|group| group.count), sums(|group| group.by_status.values().sum()), sums(|group| group.days.values().sum())] {
        assert_eq!(sum, total);
    }
    assert_eq!((report.all_groups, report.has_more, report.pending), (groups.len() as u64, false, 0));
    assert!(report.projects.iter().map(|(_, count)| count).sum::<u64>() <= report.total.count);
    for group in groups {
        assert_eq!(group.tools.iter().map(|(_, count)| count).sum::<u64>(), group.count);
        assert_eq!(group.follow_ups.values().sum::<u64>(), group.count);
        assert!(group.days.values().sum::<u64>() <= group.count && group.unresolved() <= group.count);
        assert!(group.example.contains(':') && group.first <= group.last, "{group:?}");
        let row = serde_json::to_value(group.row()).unwrap();
        assert_eq!((&row["failure"], &row["calls"]), (&group.group.as_str().into(), &group.count.into()));
    }
    let some = failures(&world, "tool:Bash", false, 2);
    let bash = |group: &FailureGroup| group.tools.iter().all(|(tool, _)| tool.eq_ignore_ascii_case("bash"));
    assert!(some.groups.len() == 2 && some.has_more && some.groups.iter().all(bash), "{some:?}");
    assert_eq!(failures(&world, "status:succeeded", false, 9), FailureReport::default());
}

/// The failures that a query selects, each by its reference, group and what followed, worked out from the views alone.
fn naive(world: &World, query: &str, unresolved: bool) -> BTreeSet<(String, String, String)> {
    let selected: BTreeSet<String> = world.ask(|store| {
        let (mut refs, calls) = (BTreeSet::new(), store.calls(&filter(query)).unwrap());
        let take = |own: &mut Vec<String>, row: tooltrail_model::row::CallRow<'_>, _| own.push(row.r#ref);
        let done = |own: Vec<String>| {
            refs.extend(own);
            Ok::<_, tooltrail_catalog::store::CatalogueError>(())
        };
        store.each_row(&calls, take, done).unwrap();
        refs
    });
    let all = world.sql("SELECT ref, failure, follow_up FROM calls WHERE failure IS NOT NULL");
    let asked = |row: &Vec<String>| selected.contains(&row[0]) && (!unresolved || row[2] != "resolved");
    all.into_iter().filter(asked).map(|row| (row[0].clone(), row[1].clone(), row[2].clone())).collect()
}

#[test]
fn failures_of_any_filter_are_those_that_every_row_tells() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    let more = [
        "project:atlas",
        "agent:codex",
        "since:2026-03-03",
        "status:blocked,rejected",
        "not:tool:Bash",
        "reason:exit_code",
        "session:3f2a",
        "timeout",
    ];
    let mut most = 0;
    for query in FILTERS.into_iter().chain(more) {
        for unresolved in [false, true] {
            let parsed = filter(query);
            let asked = FailureQuery { filter: &parsed, unresolved, zone: &TimeZone::UTC, patience: Duration::MAX };
            let mut told = BTreeSet::new();
            world.ask(|store| {
                // Groups and their calls a page at a time, as pages show them.
                let (mut groups, mut after) = (Vec::new(), None);
                loop {
                    let report = store.failures(&asked, after.as_ref(), 4).unwrap();
                    after = report.groups.last().map(FailureGroup::cursor);
                    groups.extend(report.groups);
                    if !report.has_more {
                        assert_eq!(groups.len() as u64, report.all_groups, "{query}");
                        break;
                    }
                }
                for group in &groups {
                    let (mut calls, mut after) = (Vec::new(), None);
                    loop {
                        let page = store.failed_calls(&asked, &group.group, after.as_ref(), 3).unwrap();
                        after = page.entries.last().map(|call| call.cursor().clone());
                        calls.extend(page.entries);
                        if !page.has_more {
                            break;
                        }
                    }
                    assert_eq!(calls.len() as u64, group.count, "{query}: {}", group.group);
                    assert!(calls.is_sorted_by(|one, next| one.cursor() > next.cursor()));
                    told.extend(calls.into_iter().map(|call| (call.call.r#ref, group.group.clone(), call.follow_up.word().to_owned())));
                }
            });
            assert_eq!(told, naive(&world, query, unresolved), "{query}, unresolved: {unresolved}");
            most = most.max(told.len());
        }
    }
    assert!(most > 30, "{most}");
}

#[test]
fn unresolved_failures_are_those_of_digests() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    let all = world.sql("SELECT agent, session, ref, status, follow_up FROM calls WHERE failure IS NOT NULL");
    let mut open = 0;
    world.ask(|store| {
        for row in store.rows {
            let digest = store.stored_digest(row.agent, row.session).unwrap().unwrap();
            let own = || all.iter().filter(|call| call[0] == row.agent && call[1] == row.session);
            let unresolved: BTreeSet<&str> =
                own().filter(|call| matches!(&*call[3], "failed" | "timed_out") && call[4] != "resolved").map(|call| &*call[2]).collect();
            // A digest lists repeated failures once, at the last of them.
            let told: BTreeSet<&str> = digest.failures.iter().map(|call| &*call.cited.r#ref).collect();
            assert!(told.is_subset(&unresolved), "{}: {told:?} {unresolved:?}", row.session);
            assert_eq!(told.is_empty(), unresolved.is_empty(), "{}", row.session);
            for left in unresolved.difference(&told) {
                assert_eq!(own().find(|call| call[2] == **left).unwrap()[4], "retried", "{left}");
            }
            open += told.len();
        }
    });
    assert!(open > 5);
    let words: BTreeSet<&str> = all.iter().map(|call| &*call[4]).collect();
    assert_eq!(words, BTreeSet::from(["moved_on", "resolved", "retried", "stopped"]));
}

#[test]
fn live_sessions_tell_their_failures() {
    let home = tempfile::tempdir().unwrap();
    let mut world = World::new(home.path());
    let before = failures(&world, "", false, usize::MAX);
    let busy = world.sql("SELECT session FROM calls WHERE failure IS NOT NULL GROUP BY session ORDER BY count(*) DESC LIMIT 2");
    for row in &busy {
        world.now.live.insert(row[0].as_str().into(), Live::Running);
    }
    world.listing = world.library.catalogue().list(&world.now).unwrap();
    // Without any time they are missing, and that is said.
    let all = Filter::default();
    let none = FailureQuery { filter: &all, unresolved: false, zone: &TimeZone::UTC, patience: Duration::ZERO };
    let few = world.ask(|store| store.failures(&none, None, usize::MAX).unwrap());
    assert!(few.pending == 2 && few.total.count < before.total.count, "{few:?}");
    let whole = failures(&world, "", false, usize::MAX);
    assert_eq!((whole.pending, whole.total.count, &whole.groups), (0, before.total.count, &before.groups));
    // What has been read is remembered.
    assert_eq!(world.ask(|store| store.failures(&none, None, usize::MAX).unwrap()), whole);
}

#[test]
fn days_are_those_of_the_calls() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    for (query, hours) in [("", 0), ("", 9), ("", -7), ("project:atlas", 2), ("tool:Bash", 0)] {
        let zone = TimeZone::fixed(jiff::tz::offset(hours));
        let since = time("2026-01-01T00:00:00Z");
        let days = world.ask(|store| store.activity(&filter(query), since, &zone).unwrap());
        // Counted again from every call of the sessions that the filter selects.
        let sessions: BTreeSet<String> = world.ask(|store| {
            let page = store.sessions_page(&filter(query), None, usize::MAX).unwrap();
            page.entries.into_iter().map(|row| format!("{} {}", row.cursor.agent, row.cursor.session)).collect()
        });
        let calls = world.sql("SELECT agent || ' ' || session, requested_at, origin, CASE WHEN failure IS NULL THEN 'no' ELSE 'yes' END FROM calls WHERE requested_at IS NOT NULL");
        let mut counted: BTreeMap<String, (BTreeSet<String>, u64, u64)> = BTreeMap::new();
        for call in calls.into_iter().filter(|call| sessions.contains(&call[0])) {
            let at = time(&call[1]);
            if at < since {
                continue;
            }
            let day = counted.entry(at.timestamp().to_zoned(zone.clone()).date().to_string()).or_default();
            day.0.insert(call[0].clone());
            day.1 += u64::from(call[2] == "log");
            day.2 += u64::from(call[3] == "yes");
        }
        let told: Vec<_> = days.iter().map(|day| (day.day.clone(), day.sessions, day.calls, day.failed)).collect();
        let counted: Vec<_> = counted.into_iter().map(|(day, (own, calls, failed))| (day, own.len() as u64, calls, failed)).collect();
        assert_eq!(told, counted, "{query} {hours}");
        assert!(!told.is_empty());
    }
}

#[test]
fn failing_commands_are_counted_in_every_session() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    let told = world.ask(|store| store.failing_commands(&Filter::default(), usize::MAX).unwrap());
    assert!(told.len() > 3 && told.is_sorted_by(|one, next| one.failed >= next.failed), "{told:?}");
    // Worked out again from logs that are read anew: the same names, as `stats --by command` counts them.
    let linker = world.library.whole().unwrap();
    let linked = linker.link();
    let disk = Disk::default();
    let context = MatchContext { linked: &linked, disk: &disk, now: &world.now, threads: 1, keep: None };
    let zone = TimeZone::UTC;
    let mut sums = GroupSums::new(By::Command, &zone);
    totals::add_groups(&mut sums, &context, &Filter::default());
    let groups = sums.finish();
    for command in &told {
        let group = groups.iter().find(|group| group.key.as_deref() == Some(&command.command));
        let count = |statuses: &[Status]| group.map_or(0, |group| group.count(statuses));
        let all = group.map_or(0, |group| group.calls);
        let started = all - count(&[Status::Rejected, Status::Blocked, Status::Cancelled]);
        // Those in the texts of scripts are counted here only.
        assert!(command.runs >= started && command.failed <= command.runs, "{command:?} {group:?}");
        assert!(command.failed > 0 && command.example.contains(':'));
    }
    let failed = world.sql(
        "SELECT CAST(count(*) AS TEXT) FROM calls WHERE failure IS NOT NULL AND status IN ('failed', 'timed_out') AND command IS NOT NULL",
    );
    assert!(told.iter().map(|command| command.failed).sum::<u64>() <= failed[0][0].parse().unwrap());
    let of_project: u64 = world
        .ask(|store| store.projects().unwrap())
        .iter()
        .filter_map(|project| project.project.clone())
        .map(|path| {
            let filter = filter(&format!("project:{}", tooltrail_model::filter::quoted(&path)));
            world.ask(|store| store.failing_commands(&filter, usize::MAX).unwrap()).iter().map(|command| command.failed).sum::<u64>()
        })
        .max()
        .unwrap();
    assert!(of_project > 0 && of_project < told.iter().map(|command| command.failed).sum());
}

#[test]
fn judged_sessions_have_the_verdicts_of_their_digests() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    world.ask(|store| {
        let (first, whole) = (
            store.judged_sessions(&Filter::default(), None, 5).unwrap(),
            store.judged_sessions(&Filter::default(), None, usize::MAX).unwrap(),
        );
        assert!(first.has_more && !whole.has_more && whole.entries.len() == store.rows.len());
        let last = first.entries.last().unwrap().row.cursor.clone();
        let rest = store.judged_sessions(&Filter::default(), Some(&last), usize::MAX).unwrap();
        assert_eq!(first.entries.iter().chain(&rest.entries).collect::<Vec<_>>(), whole.entries.iter().collect::<Vec<_>>());
        for judged in &whole.entries {
            let digest = store.stored_digest(&judged.row.cursor.agent, &judged.row.cursor.session).unwrap().unwrap();
            assert_eq!(judged.verdict.as_ref().unwrap(), &SessionVerdict::of(&digest));
        }
    });
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
