//! The same filter takes the same everywhere: the calls that a search tells of are those that are listed, and so are the sessions.

use crate::support::{self, written};
use crate::{Asked as Looked, Decoded, Dice, asked};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use tooltrail_catalog::library::{Library, ScannedLibrary};
use tooltrail_catalog::matching::{self, MatchContext, MatchScope};
use tooltrail_catalog::search::{HitOwner, Query, search};
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find::Search;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::Linked;

/// Terms that go with texts: decided by rows, by commands, by what is opened.
const FIELDS: &[&str] = &[
    "tool:Bash",
    "not:tool:*e*",
    "kind:shell,read",
    "status:failed",
    "not:status:succeeded",
    "agent:claude",
    "not:agent:claude",
    "since:2025-11",
    "until:2025-11",
    "took:..5s",
    "exit:nonzero",
    "is:failed",
    "model:sonnet",
    "purpose:test,build",
    "has:masked",
    "not:has:masked",
    "command:git",
    "file:src",
    "has:image",
    "not:has:image",
    "not:the",
    "not:re:\\d{4}",
    "not:error",
];

/// The calls and the sessions that a search tells of.
fn searched(library: &dyn Library, filter: Filter) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut calls, mut sessions) = (BTreeSet::new(), BTreeSet::new());
    let found = search(library, &Query::new(filter, &[]), &support::later(), 2, |hits| {
        for hit in hits {
            if matches!(hit.unit, HitOwner::Call(_)) {
                calls.insert(format!("{} {}", hit.session, hit.r#ref));
            }
            sessions.insert(hit.session);
        }
        ControlFlow::Continue(())
    });
    found.unwrap();
    (calls, sessions)
}

/// The calls and the sessions that are listed.
fn listed(linked: &Linked<'_>, disk: &Disk, filter: &Filter) -> (BTreeSet<String>, BTreeSet<String>) {
    let now = support::later();
    let asked = MatchContext { linked, disk, now: &now, threads: 2, keep: None };
    let calls = matching::calls(&asked, filter, false).into_iter().map(|call| linked.call_row(call, &now, false));
    let calls = calls.map(|row| format!("{} {}", row.session, row.r#ref)).collect();
    let sessions = matching::sessions(&asked, filter, MatchScope::Call).into_iter().map(|session| linked.sessions[session].id.to_string());
    (calls, sessions.collect())
}

fn same(logs: &Search, queries: usize) {
    let linker = support::scanned(logs);
    let disk = Disk::default();
    let library = ScannedLibrary::new(linker.clone(), &disk, None);
    let linked = linker.link();
    let decoded = Decoded::read(&linked);
    let (units, all) = (decoded.units(), decoded.texts());
    let mut dice = Dice(7);
    let (mut some_calls, mut some_messages) = (0, 0);
    for number in 0..queries {
        let Looked { terms, .. } = asked(&mut dice, number, &units, &all);
        if terms.iter().any(|term| term.text.is_empty()) {
            continue;
        }
        let mut query = written(&terms);
        let mut others: Vec<&str> = Vec::new();
        for _ in 0..dice.roll(3) {
            let other = *dice.pick(FIELDS);
            // A term and its opposite can never both hold, and such a filter is refused.
            let opposite = |known: &&str| known.strip_prefix("not:") == Some(other) || other.strip_prefix("not:") == Some(known);
            if !others.iter().any(opposite) {
                others.push(other);
                query = format!("{query} {other}");
            }
        }
        let (calls, sessions) = searched(&library, support::filter(&query));
        let (listed_calls, listed_sessions) = listed(&linked, &disk, &support::filter(&query));
        assert_eq!(calls, listed_calls, "{query}");
        assert_eq!(sessions, listed_sessions, "{query}");
        some_calls += usize::from(!calls.is_empty());
        some_messages += usize::from(calls.is_empty() && !sessions.is_empty());
    }
    println!("{queries} queries: {some_calls} with calls, {some_messages} with messages alone");
    assert!(some_calls > queries / 4 && some_messages > 0, "hardly anything is found");
}

#[test]
fn what_is_searched_is_what_is_listed() {
    same(&support::fixtures(), 150);
}

#[test]
fn what_is_searched_is_what_is_listed_of_real_logs() {
    if let Some(logs) = support::corpus() {
        same(&logs, 100);
    }
}
