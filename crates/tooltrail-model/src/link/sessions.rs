//! Sessions: what all sources of a session say about it, put together.

use super::roots::Roots;
use super::{Linked, Source};
use crate::event::TitleBy;
use crate::text::Name;
use crate::usage::Tokens;
use crate::{Map, Set, Time};
use std::collections::BTreeSet;

/// A session of an agent.
#[derive(Clone, Debug, Default)]
pub struct LinkedSession {
    /// The agent.
    pub agent: &'static str,
    /// Its id.
    pub id: Box<str>,
    /// The shortest beginning of the id that no other session has.
    pub short: Box<str>,
    /// Its sources, by path.
    pub sources: Vec<usize>,
    /// The first timestamp.
    pub first: Option<Time>,
    /// The last timestamp.
    pub last: Option<Time>,
    /// Its title.
    pub title: Option<Box<str>>,
    /// The directory it belongs to.
    pub project: Option<Box<str>>,
    /// The branch it was last on.
    pub branch: Option<Box<str>>,
    /// The models that answered.
    pub models: BTreeSet<Box<str>>,
    /// Turns that began here.
    pub turns: u64,
    /// Tokens of requests first made here.
    pub usage: Tokens,
}

/// Finds the sessions and sorts them by start.
pub(super) fn gather<'a>(logs: &[&'a Source], roots: &Roots<'a>, index: &mut Map<(usize, Name), usize>) -> Vec<LinkedSession> {
    let mut found: Map<(&'static str, Box<str>), LinkedSession> = Map::default();
    for (number, source) in logs.iter().enumerate() {
        let Some(agent) = source.summary.agent else { continue };
        for record in &source.summary.sessions {
            let id: Box<str> = roots.of(agent, source.summary.names.text(record.session)).into();
            let session = found.entry((agent, id.clone())).or_insert_with(|| LinkedSession { agent, id, ..LinkedSession::default() });
            if session.sources.last() != Some(&number) {
                session.sources.push(number);
            }
            session.first = [session.first, record.first].into_iter().flatten().min();
            session.last = session.last.max(record.last);
        }
    }
    let mut sessions: Vec<LinkedSession> = found.into_values().collect();
    sessions.sort_by(|a, b| (a.first.unwrap_or(Time::MAX), a.agent, &a.id).cmp(&(b.first.unwrap_or(Time::MAX), b.agent, &b.id)));
    shorten(&mut sessions);
    let numbers: Map<(&str, &str), usize> =
        sessions.iter().enumerate().map(|(number, session)| ((session.agent, &*session.id), number)).collect();
    for (source, entry) in logs.iter().enumerate() {
        let Some(agent) = entry.summary.agent else { continue };
        for record in &entry.summary.sessions {
            let number = numbers.get(&(agent, roots.of(agent, entry.summary.names.text(record.session))));
            index.extend(number.map(|&number| ((source, record.session), number)));
        }
    }
    sessions
}

/// Gives each session the shortest beginning of its id that is its own, of at least four characters.
fn shorten(sessions: &mut [LinkedSession]) {
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by(|&a, &b| sessions[a].id.cmp(&sessions[b].id));
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    for (place, &index) in order.iter().enumerate() {
        let id = sessions[index].id.clone();
        let near = [place.checked_sub(1), Some(place + 1)].into_iter().flatten().filter_map(|place| order.get(place));
        let longest = near.map(|&other| shared(&id, &sessions[other].id)).max().unwrap_or(0);
        sessions[index].short = id.chars().take((longest + 1).max(4)).collect::<String>().into();
    }
}

/// Fills in titles, places, models, turns and usage, once everything else is linked.
pub(super) fn fill(linked: &mut Linked<'_>) {
    let mut sessions = std::mem::take(&mut linked.sessions);
    let by_leaf = leaf_titles(linked);
    for session in &mut sessions {
        describe(linked, session, &by_leaf);
    }
    count_turns(linked, &mut sessions);
    // Each name of a model is looked up once per source and session.
    let mut seen: Set<(usize, usize, Name)> = Set::default();
    for (&(model, session), usage) in &linked.usage {
        let Some(session) = session.and_then(|(source, name)| index_of(linked, source, name)) else { continue };
        sessions[session].usage.add(&usage.tokens);
        if let Some((source, name)) = model.filter(|&(source, name)| seen.insert((session, source, name))) {
            sessions[session].models.insert(linked.sources[source].summary.names.text(name).into());
        }
    }
    let count = sessions.len();
    for call in linked.calls.iter().filter(|call| call.copy_of.is_none() && call.session < count) {
        let source = call.id.source;
        if let Some(name) = linked.record(call.id).model.filter(|&name| seen.insert((call.session, source, name))) {
            sessions[call.session].models.insert(linked.sources[source].summary.names.text(name).into());
        }
    }
    linked.sessions = sessions;
}

fn index_of(linked: &Linked<'_>, source: usize, name: Name) -> Option<usize> {
    linked.session_index.get(&(source, name)).copied()
}

/// Titles that name the record their conversation ends in.
fn leaf_titles(linked: &Linked<'_>) -> Map<u64, Box<str>> {
    let mut titles = Map::default();
    for source in &linked.sources {
        let names = &source.summary.names;
        titles.extend(source.summary.leaf_titles.iter().map(|&(leaf, title)| (leaf, names.text(title).into())));
    }
    titles
}

fn describe(linked: &Linked<'_>, session: &mut LinkedSession, by_leaf: &Map<u64, Box<str>>) {
    let mut best: Option<(TitleBy, Option<Time>, Box<str>)> = None;
    let mut better = |by: TitleBy, time: Option<Time>, title: &str| {
        let wins = best.as_ref().is_none_or(|(have, at, _)| {
            // Among prompts the first one counts, among other titles the last one.
            if by == TitleBy::Prompt { (by, *at) > (*have, time) } else { (by, time) >= (*have, *at) }
        });
        if wins {
            best = Some((by, time, title.into()));
        }
    };
    let mut earliest = None;
    let mut latest = None;
    for &number in &session.sources {
        let summary = &linked.sources[number].summary;
        let names = &summary.names;
        let Some(record) = summary.sessions.iter().find(|record| linked.session_of(number, record.session) == &*session.id) else {
            continue;
        };
        if let Some((by, title)) = record.title {
            better(by, record.last, names.text(title));
        }
        if !by_leaf.is_empty() {
            // The later its leaf, the more of the conversation a summary covers.
            if let Some(title) = summary.nodes.iter().rev().find_map(|node| by_leaf.get(node)) {
                better(TitleBy::Summary, record.last, title);
            }
        }
        let place = names.opt(record.project.or(record.cwd));
        if let Some(place) = place {
            // What was said on purpose outweighs the directory a record happened to be written in.
            let rank = (record.project.is_none(), record.first.unwrap_or(Time::MAX), number);
            if earliest.as_ref().is_none_or(|(have, _)| rank < *have) {
                earliest = Some((rank, place));
            }
        }
        if let Some(branch) = names.opt(record.branch) {
            let rank = (record.last, number);
            if latest.as_ref().is_none_or(|(have, _)| rank > *have) {
                latest = Some((rank, branch));
            }
        }
    }
    session.title = best.map(|(_, _, title)| title);
    session.project = earliest.map(|(_, place)| place.into());
    session.branch = latest.map(|(_, branch)| branch.into());
}

/// Counts each turn once, in the session of the source that has it first.
fn count_turns(linked: &Linked<'_>, sessions: &mut [LinkedSession]) {
    let mut order: Vec<usize> = (0..linked.sources.len()).collect();
    order.sort_by_key(|&source| (linked.sources[source].summary.first.unwrap_or(Time::MAX), source));
    let mut seen: Set<u64> = Set::default();
    for source in order {
        for turn in &linked.sources[source].summary.turns {
            if turn.original.is_none_or(|original| seen.insert(original))
                && let Some(session) = index_of(linked, source, turn.session).and_then(|index| sessions.get_mut(index))
            {
                session.turns += 1;
            }
        }
    }
}
