//! What was found in a group of logs, settled: copies and echoes left out, calls that lack a term left out, the rest in order.

use super::group::Group;
use super::read::{Find, Finds, Message};
use super::{Hit, Unit};
use crate::search::query::Query;
use crate::{Map, Set};
use tooltrail_formats::texts::Field;
use tooltrail_model::link::Linked;
use tooltrail_model::row::VERSION;
use tooltrail_model::{At, Time};

/// Where something stands among all else of a group: session, time, log, record.
type Order = (usize, Option<Time>, usize, At);

/// The hits of a group in the order in which they are told: the newest session first, each session as it went.
pub(super) fn settle<'l>(linked: &'l Linked<'_>, query: &Query, group: &Group, finds: Vec<Finds>) -> Vec<Hit<'l>> {
    let rank: Map<usize, usize> = group.sources.iter().enumerate().map(|(rank, &source)| (source, rank)).collect();
    let rank = |source: usize| rank.get(&source).copied().unwrap_or(usize::MAX);
    let place: Map<usize, usize> = group.sessions.iter().enumerate().map(|(place, &session)| (session, place)).collect();
    let place = |session: usize| place.get(&session).copied().unwrap_or(usize::MAX);
    let (mut messages, mut calls): (Vec<Message>, Map<usize, Vec<Find>>) = (Vec::new(), Map::default());
    for source in finds {
        messages.extend(without_echoes(source.messages));
        source.calls.into_iter().for_each(|(call, find)| calls.entry(call).or_default().push(find));
    }
    let mut told: Vec<(Order, Unit, Vec<Find>)> = Vec::new();
    for (number, finds) in calls {
        let call = &linked.calls[number];
        let finds = of_call(query, finds);
        if finds.iter().fold(0, |terms, find| terms | find.terms) == query.all() {
            let record = linked.record(call.id);
            let order = (place(call.session), record.time, rank(call.id.source()), record.at);
            told.push((order, Unit::Call { session: call.session, number: call.number, index: number }, finds));
        }
    }
    messages.sort_by_key(|message| (rank(message.spot.source), message.spot.at));
    let mut seen: Set<u64> = Set::default();
    for message in messages.into_iter().filter(|message| message.copy.is_none_or(|copy| seen.insert(copy))) {
        let order = (place(message.session), message.time, rank(message.spot.source), message.spot.at);
        told.push((order, Unit::Message { session: message.session, spot: message.spot }, message.finds));
    }
    told.sort_by_key(|(order, _, _)| *order);
    told.into_iter().flat_map(|(_, unit, finds)| finds.into_iter().map(move |find| hit(linked, unit, find))).collect()
}

/// Leaves out what only repeats other records of the same log; what is only told by such records counts once.
fn without_echoes(messages: Vec<Message>) -> Vec<Message> {
    if messages.iter().all(|message| !message.echo) {
        return messages;
    }
    let mut told: Set<u64> = messages.iter().filter(|message| !message.echo).flat_map(|message| message.paragraphs.clone()).collect();
    let mut new = |message: &Message| {
        let new = !message.echo || message.paragraphs.iter().any(|piece| !told.contains(piece));
        told.extend(message.paragraphs.iter().copied());
        new
    };
    messages.into_iter().filter(|message| new(message)).collect()
}

/// The finds of a call that count: what the tool produced only for terms that nothing else of the call has, and only fields that are
/// asked for.
fn of_call(query: &Query, mut finds: Vec<Find>) -> Vec<Find> {
    finds.sort_by_key(|find| (find.produced, find.field == Field::Result, find.spot));
    let mut terms = 0;
    finds.retain(|find| {
        let counts = !find.produced || find.terms & !terms != 0;
        terms |= find.terms;
        counts
    });
    finds.retain(|find| query.wants(find.field));
    finds
}

fn hit<'l>(linked: &'l Linked<'_>, unit: Unit, find: Find) -> Hit<'l> {
    let session = &linked.sessions[unit.session()];
    let (r#ref, call) = match unit {
        Unit::Call { number, index, .. } => (format!("{}:{number}", session.short), Some(linked.id(linked.calls[index].id).to_owned())),
        Unit::Message { .. } => (session.short.to_string(), find.names),
    };
    Hit {
        v: VERSION,
        agent: session.agent,
        session: &session.id,
        r#ref,
        call,
        field: find.field.word(),
        file: &linked.sources[find.spot.source].path,
        line: find.spot.at.line,
        at: find.time.map(|time| time.to_string()),
        snippet: find.snippet,
        matches: find.matches,
        unit,
    }
}
