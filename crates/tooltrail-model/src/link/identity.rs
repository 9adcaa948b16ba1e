//! Recognises records of the same call, finds the original, and numbers the calls of each session.

use super::parallel::in_runs;
use super::{CallId, CallList, Foreign, Linked, LinkedCall, Source, repeated, small};
use crate::row::CallNumber;
use crate::summary::Summary;
use crate::{Map, Set, Time};
use std::collections::BTreeMap;

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

/// The logs of agents among the sources, with their indexes.
fn logs<'a>(sources: &[&'a Source]) -> impl Iterator<Item = (usize, &'a Summary)> + Clone {
    sources.iter().enumerate().map(|(number, source)| (number, &source.summary)).filter(|(_, log)| log.agent.is_some())
}

/// Keys of calls that may occur more than once.
pub(super) fn repeated_calls(sources: &[&Source]) -> Set<u64> {
    repeated(logs(sources).flat_map(|(_, log)| log.calls.iter().chain(&log.nested).chain(&log.inner)).map(|call| call.key))
}

/// Settled calls, and those that may have copies, by key.
type Sifted = (Vec<LinkedCall>, Map<u64, Vec<CallId>>);

/// All calls of all sources with their copies settled.
pub(super) fn calls(linked: &Linked<'_>, repeated: &Set<u64>) -> Vec<LinkedCall> {
    let logs: Vec<_> = logs(&linked.sources).collect();
    let runs = in_runs(linked.threads, &logs, &|(_, log)| log.calls.len() + log.nested.len() + log.inner.len(), &|run| {
        sift(linked, repeated, run)
    });
    let (mut calls, groups) = runs.into_iter().reduce(join).unwrap_or_default();
    for group in groups.into_values() {
        // The key was only shared by chance.
        if let [only] = group[..] {
            calls.extend(alone(linked, only));
            continue;
        }
        for same_id in by_id(linked, group) {
            settle_group(linked, same_id, &mut calls);
        }
    }
    calls
}

/// Settles the calls of some logs that occur once, as nearly all do, in the order they are in memory.
fn sift(linked: &Linked<'_>, repeated: &Set<u64>, logs: &[(usize, &Summary)]) -> Sifted {
    let mut groups: Map<u64, Vec<CallId>> = Map::default();
    let mut calls = Vec::with_capacity(logs.iter().map(|(_, log)| log.calls.len() + log.nested.len() + log.inner.len()).sum());
    for &(source, log) in logs {
        for (list, records) in [(CallList::Own, &log.calls), (CallList::Nested, &log.nested), (CallList::Inner, &log.inner)] {
            for (index, record) in records.iter().enumerate() {
                let call = CallId::new(source, list, index);
                if repeated.contains(&record.key) {
                    groups.entry(record.key).or_default().push(call);
                } else {
                    calls.extend(alone(linked, call));
                }
            }
        }
    }
    (calls, groups)
}

fn join(mut some: Sifted, more: Sifted) -> Sifted {
    some.0.extend(more.0);
    for (key, group) in more.1 {
        some.1.entry(key).or_default().extend(group);
    }
    some
}

/// Settles a call without copies.
fn alone(linked: &Linked<'_>, call: CallId) -> Option<LinkedCall> {
    (!call.is_nested() || !has_own_log(linked, call)).then(|| settle(linked, call, call, None, linked.record(call).unnamed))
}

/// Splits calls with the same hash by their ids and agents. Nearly always there is only one id. A call without an id is
/// identified by its message, or else only within its session.
fn by_id(linked: &Linked<'_>, group: Vec<CallId>) -> Vec<Vec<CallId>> {
    let unnamed = |call: CallId| linked.record(call).unnamed.then(|| scope(linked, call));
    let key = |call: CallId| (linked.agent_of(call.source()), linked.id(call), unnamed(call));
    // Checked without allocating, because nearly always it is true.
    if group.iter().all(|&call| key(call) == key(group[0])) {
        return vec![group];
    }
    let mut split: BTreeMap<_, Vec<CallId>> = BTreeMap::new();
    for call in group {
        split.entry(key(call)).or_default().push(call);
    }
    split.into_values().collect()
}

fn settle_group(linked: &Linked<'_>, mut group: Vec<CallId>, calls: &mut Vec<LinkedCall>) {
    // Calls reported in progress records count only where no other record exists, and once.
    let real = group.iter().filter(|call| !call.is_nested()).count();
    if real > 0 {
        group.retain(|call| !call.is_nested());
    } else {
        // The subagent's own log would contain the call if it were real.
        if group.iter().any(|&call| has_own_log(linked, call)) {
            return;
        }
        by_age(linked, &mut group);
        let answered = group.iter().copied().find(|&call| linked.record(call).result.is_some());
        calls.push(settle(linked, group[0], group[0], answered, false));
        return;
    }
    // An id that was used for different calls is no name beyond its session.
    let unnamed = group.iter().any(|&call| linked.record(call).unnamed);
    let differ = group.iter().any(|&call| what(linked, call) != what(linked, group[0]));
    let mut parts = partition(linked, group, unnamed || differ);
    if differ {
        parts = join_streamed(linked, parts);
    }
    let scoped = unnamed || (differ && parts.len() > 1);
    for same in parts {
        let answered = |call: &&CallId| linked.record(**call).result.is_some();
        let first = same.iter().find(answered).copied();
        // A result in the same file is preferred.
        let mut beside: Map<usize, CallId> = Map::default();
        for &call in same.iter().filter(answered) {
            beside.entry(call.source()).or_insert(call);
        }
        let nearest = |call: CallId| beside.get(&call.source()).copied().or(first);
        calls.extend(same.iter().map(|&call| settle(linked, call, same[0], nearest(call), scoped)));
    }
}

/// Whether the subagent that made a call has its own log, which would contain the call if it were real.
fn has_own_log(linked: &Linked<'_>, call: CallId) -> bool {
    let record = linked.record(call);
    let names = &linked.sources[call.source()].summary.names;
    let agent = linked.agent_of(call.source());
    record.agent.is_some_and(|name| linked.agents.has_log(agent, linked.session_text(call), names.text(name)))
}

/// Content of a call: the tool, and a fingerprint of the input.
fn what<'a>(linked: &Linked<'a>, call: CallId) -> (&'a str, u64) {
    let record = linked.record(call);
    (linked.sources[call.source()].summary.names.text(record.tool), record.digest)
}

/// Distinguishes copies from other calls where the id does not: the message, or else the session.
fn scope<'a>(linked: &Linked<'a>, call: CallId) -> &'a str {
    let message = linked.sources[call.source()].summary.names.opt(linked.record(call).message);
    message.unwrap_or_else(|| linked.session_text(call))
}

/// Splits records that share an id into groups of the same call. The first of each is the original.
fn partition(linked: &Linked<'_>, group: Vec<CallId>, scoped: bool) -> Vec<Vec<CallId>> {
    let mut parts: Map<_, Vec<CallId>> = Map::default();
    for call in group {
        parts.entry((what(linked, call), scoped.then(|| scope(linked, call)))).or_default().push(call);
    }
    let parts = parts.into_values().map(|mut calls| {
        by_age(linked, &mut calls);
        calls
    });
    parts.collect()
}

/// Number of inputs of one call id and message that are compared with each other.
const STREAMED: usize = 64;

/// Joins the records of a call that was logged again while its input streamed in. The longest input is the whole one, and comes first.
fn join_streamed(linked: &Linked<'_>, mut parts: Vec<Vec<CallId>>) -> Vec<Vec<CallId>> {
    // A map has no order of its own, and the order decides which records meet first.
    parts.sort();
    let message = |call: CallId| linked.record(call).message.map(|_| (what(linked, call).0, scope(linked, call)));
    // Only two records of one source show that an input grew: ids that are made up occur in many logs. Copies in other sources follow them.
    let streams = |one: &[CallId], other: &[CallId]| {
        let pairs = one.iter().flat_map(|one| other.iter().map(move |other| (one, other)));
        let mut beside = pairs.filter(|(one, other)| one.source == other.source).peekable();
        // Bounded, because a hostile log could repeat one id for ever.
        one.len() * other.len() <= STREAMED * STREAMED
            && beside.peek().is_some()
            && beside.all(|(one, other)| linked.record(*one).streams_into(linked.record(*other)))
    };
    let mut joined: Vec<Vec<CallId>> = Vec::new();
    let mut by_message: Map<_, Vec<usize>> = Map::default();
    for part in parts {
        let key = message(part[0]);
        let known = key.map(|key| by_message.entry(key).or_default());
        let fits = |index: &&usize| streams(&part, &joined[**index]);
        let place = known.as_ref().and_then(|known| known.iter().take(STREAMED).find(fits).copied());
        match (place, known) {
            (Some(place), _) => joined[place].extend(part),
            (None, known) => {
                known.into_iter().for_each(|known| known.push(joined.len()));
                joined.push(part);
            }
        }
    }
    let grown = |call: &&mut Vec<CallId>| call.iter().any(|&record| linked.record(record).digest != linked.record(call[0]).digest);
    for call in joined.iter_mut().filter(grown) {
        by_age(linked, call);
        call.sort_by_key(|&record| std::cmp::Reverse(linked.record(record).input.len()));
    }
    joined
}

/// Sorts records of one call so that the original comes first.
fn by_age(linked: &Linked<'_>, calls: &mut [CallId]) {
    calls.sort_by_key(|&call| {
        let record = linked.record(call);
        let first = linked.sources[call.source()].summary.first;
        // A complete order: every tie is broken, so that the outcome does not depend on the order of sources.
        (last_if_none(record.time), !record.has_request, last_if_none(first), call.source(), record.at, call.index())
    });
}

fn last_if_none(time: Option<Time>) -> Time {
    time.unwrap_or(Time::MAX)
}

/// Settles a call. `answered` is a copy of it that has a result.
fn settle(linked: &Linked<'_>, call: CallId, original: CallId, answered: Option<CallId>, scoped: bool) -> LinkedCall {
    let record = linked.record(call);
    let elsewhere = || answered.map(Foreign::Copy).or_else(|| orphan(linked, call, scoped));
    let foreign_result = if record.result.is_some() { None } else { elsewhere() };
    LinkedCall {
        id: call,
        copy_of: (call != original).then_some(original),
        foreign_result,
        session: linked.session_index.get(&(call.source(), record.session)).copied().unwrap_or(usize::MAX),
        number: CallNumber::default(),
        model: record.model,
        order: last_if_none(record.order),
        open: record.result.is_none() && foreign_result.is_none(),
    }
}

/// A result in another source without a call beside it: one of the same session, else any unless the id is `scoped`.
fn orphan(linked: &Linked<'_>, call: CallId, scoped: bool) -> Option<Foreign> {
    // A call without a name cannot be referred to elsewhere.
    if linked.record(call).unnamed {
        return None;
    }
    let found = linked.orphans.get(&(linked.agent_of(call.source()), linked.id(call)))?;
    let session = linked.session_text(call);
    let same_session = |&&(source, index): &&(usize, usize)| {
        let orphan = &linked.sources[source].summary.orphans[index];
        linked.session_of(source, orphan.session) == session
    };
    let &(source, index) = found.iter().find(same_session).or_else(|| found.first().filter(|_| !scoped))?;
    Some(Foreign::Orphan(small(source), small(index)))
}

/// Sorts the calls by session and by request, and numbers them within their session.
pub(super) fn number(linked: &Linked<'_>, mut calls: Vec<LinkedCall>, sessions: usize) -> Vec<LinkedCall> {
    let ends = by_session(&mut calls, sessions);
    let (mut rest, mut start) = (&mut calls[..], 0);
    for end in ends {
        let own = rest.split_off_mut(..end - start).unwrap_or_default();
        start = end;
        // The calls of a log are already in order, which makes a stable sort fast.
        own.sort_by(|a, b| {
            let order = |call: &LinkedCall| (call.order, call.id.source());
            let place = |call: &LinkedCall| (linked.record(call.id).at, linked.place_in_source(call.id));
            order(a).cmp(&order(b)).then_with(|| place(a).cmp(&place(b)))
        });
        count(linked, own);
    }
    calls
}

/// Groups the calls by session, and returns the end of each session. Calls of no session come last.
fn by_session(calls: &mut [LinkedCall], none: usize) -> Vec<usize> {
    let mut places = vec![0; none + 1];
    for call in calls.iter() {
        places[call.session.min(none)] += 1;
    }
    let mut start = 0;
    // Turns counts into starting positions.
    for place in &mut places {
        start += std::mem::replace(place, start);
    }
    let next = |call: &LinkedCall| {
        let place = &mut places[call.session.min(none)];
        *place += 1;
        *place - 1
    };
    let mut targets: Vec<usize> = calls.iter().map(next).collect();
    // Every swap brings one call to its place.
    for index in 0..calls.len() {
        while targets[index] != index {
            let target = targets[index];
            calls.swap(index, target);
            targets.swap(index, target);
        }
    }
    places
}

/// Numbers the calls of a session: each call once, even where the session contains a copy of it.
fn count(linked: &Linked<'_>, calls: &mut [LinkedCall]) {
    let copied: Set<CallId> = calls.iter().filter_map(|call| call.copy_of).collect();
    let mut numbers: Map<CallId, u32> = Map::default();
    let mut count = 0;
    // A script comes right before its calls.
    let mut script = 0;
    for call in calls {
        if call.id.is_inner() {
            call.number = CallNumber { call: script, inner: linked.inner_number(call.id) };
            continue;
        }
        // Records of one call share their original.
        let original = call.copy_of.unwrap_or(call.id);
        let mut next = || {
            count += 1;
            count
        };
        script = if copied.contains(&original) { *numbers.entry(original).or_insert_with(next) } else { next() };
        call.number = script.into();
    }
}
