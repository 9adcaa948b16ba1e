//! Which records of calls are the same call, which of them came first, and what number each call has in its session.

use super::{CallId, Foreign, Linked, LinkedCall, Source};
use crate::{Map, Set, Time};

/// Results without a call in their own source, by the call they answer.
pub(super) fn orphans<'a>(sources: &[&'a Source]) -> Map<(&'static str, &'a str), Vec<(usize, usize)>> {
    let mut all: Map<_, Vec<_>> = Map::default();
    for (number, source) in sources.iter().enumerate() {
        let Some(agent) = source.summary.agent else { continue };
        for (index, orphan) in source.summary.orphans.iter().enumerate() {
            all.entry((agent, &*orphan.call)).or_default().push((number, index));
        }
    }
    all
}

/// All calls of all sources with their copies settled.
pub(super) fn calls(linked: &Linked<'_>) -> Vec<LinkedCall> {
    let mut groups: Map<(&'static str, &str), Vec<CallId>> = Map::default();
    for (source, entry) in linked.sources.iter().enumerate() {
        let Some(agent) = entry.summary.agent else { continue };
        for (index, call) in entry.summary.calls.iter().enumerate() {
            groups.entry((agent, &*call.id)).or_default().push(CallId { source, nested: false, index });
        }
    }
    nested(linked, &mut groups);
    let mut calls = Vec::with_capacity(groups.values().map(Vec::len).sum());
    for (key, group) in groups {
        let orphans = linked.orphans.get(&key).map(Vec::as_slice).unwrap_or_default();
        if let [only] = group[..] {
            calls.push(settle(linked, &[only], only, orphans));
            continue;
        }
        for same in partition(linked, group) {
            let orphans = if same.scoped { &[] } else { orphans };
            calls.extend(same.calls.iter().map(|&call| settle(linked, &same.calls, call, orphans)));
        }
    }
    calls
}

/// Adds calls that are only told of in records of progress, where the subagent's own log is missing.
fn nested<'a>(linked: &Linked<'a>, groups: &mut Map<(&'static str, &'a str), Vec<CallId>>) {
    for (source, entry) in linked.sources.iter().enumerate() {
        let Some(agent) = entry.summary.agent else { continue };
        for (index, call) in entry.summary.nested.iter().enumerate() {
            let session = entry.summary.names.text(call.session);
            let own_log = call.agent.is_some_and(|name| linked.agents.has_log(agent, session, entry.summary.names.text(name)));
            if !own_log {
                groups.entry((agent, &*call.id)).or_insert_with(|| vec![CallId { source, nested: true, index }]);
            }
        }
    }
}

/// Records of one call.
struct Same {
    calls: Vec<CallId>,
    /// The id names several calls, so that only the session tells them apart.
    scoped: bool,
}

/// Splits records that share an id into those that are the same call. The first of each is the original.
fn partition(linked: &Linked<'_>, group: Vec<CallId>) -> Vec<Same> {
    let what = |call: CallId| {
        let record = linked.record(call);
        (linked.sources[call.source].summary.names.text(record.tool), record.digest)
    };
    let scoped = group.iter().any(|&call| what(call) != what(group[0]));
    let mut parts: Map<_, Vec<CallId>> = Map::default();
    for call in group {
        // An id that was used for different things is no name beyond its session.
        let session = scoped.then(|| linked.session_text(call));
        parts.entry((what(call), session)).or_default().push(call);
    }
    let parts = parts.into_values().map(|mut calls| {
        calls.sort_by_key(|&call| {
            let record = linked.record(call);
            let first = linked.sources[call.source].summary.first;
            (last_if_none(record.time), !record.has_request, last_if_none(first), call.source, record.at, call.index)
        });
        Same { calls, scoped }
    });
    parts.collect()
}

fn last_if_none(time: Option<Time>) -> Time {
    time.unwrap_or(Time::MAX)
}

fn settle(linked: &Linked<'_>, copies: &[CallId], call: CallId, orphans: &[(usize, usize)]) -> LinkedCall {
    let original = copies[0];
    let elsewhere = || {
        let copy = copies.iter().copied().find(|&copy| linked.record(copy).result.is_some());
        let orphan = || orphans.first().map(|&(source, index)| Foreign::Orphan(source, index));
        copy.map(Foreign::Copy).or_else(orphan)
    };
    let record = linked.record(call);
    LinkedCall {
        id: call,
        copy_of: (call != original).then_some(original),
        foreign_result: if record.result.is_some() { None } else { elsewhere() },
        session: linked.session_index.get(&(call.source, record.session)).copied().unwrap_or(usize::MAX),
        number: 0,
    }
}

/// Sorts the calls and numbers them within their session: each call once, also where the session holds a copy of it.
pub(super) fn number(linked: &mut Linked<'_>) {
    let mut calls = std::mem::take(&mut linked.calls);
    calls.sort_by_cached_key(|call| {
        let record = linked.record(call.id);
        (call.session, last_if_none(record.time), call.id.source, record.at, call.id.nested, call.id.index)
    });
    let (mut session, mut count) = (usize::MAX, 0);
    let mut numbers: Map<(Option<CallId>, CallId), u32> = Map::default();
    let mut seen = Set::default();
    for call in &mut calls {
        if call.session != session {
            (session, count) = (call.session, 0);
            numbers.clear();
            seen.clear();
        }
        // Records of one call share their original.
        let original = call.copy_of.unwrap_or(call.id);
        if seen.insert(original) {
            count += 1;
            numbers.insert((None, original), count);
        }
        call.number = numbers.get(&(None, original)).copied().unwrap_or(count);
    }
    linked.calls = calls;
}
