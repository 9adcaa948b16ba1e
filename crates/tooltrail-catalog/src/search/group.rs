//! Logs that tell of the same things: those of one session, and those that repeat each other. What is found in a group can be told
//! without the other groups, so groups are what a search gives out, one after the other.

use super::Takes;
use crate::Map;
use std::sync::OnceLock;
use tooltrail_model::link::{Linked, LinkedCall};
use tooltrail_model::{At, Time};

/// Logs that belong together.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// The logs, those that began first in front: of copies, the first one counts.
    pub(super) sources: Vec<usize>,
    /// Their sessions, the newest first.
    pub(super) sessions: Vec<usize>,
    index: OnceLock<Index>,
}

/// Where the calls of a group stand.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By source and line: which calls a record requests or answers, in `Linked::calls`.
    lines: Map<(usize, u64), Vec<(Role, usize)>>,
    /// By id: all calls, copies too.
    ids: Map<Box<str>, Vec<usize>>,
}

/// What a record is to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It makes it.
    Request,
    /// It answers it.
    Result,
}

impl Group {
    /// Where the calls stand; found out when it is first asked for.
    pub(super) fn index(&self, linked: &Linked<'_>) -> &Index {
        self.index.get_or_init(|| Index::of(linked, &self.sessions))
    }
}

impl Index {
    fn of(linked: &Linked<'_>, sessions: &[usize]) -> Self {
        let mut index = Index::default();
        for &session in sessions {
            let start = linked.calls.partition_point(|call| call.session < session);
            for (number, call) in (start..).zip(linked.calls_of(session)) {
                index.ids.entry(linked.id(call.id).into()).or_default().push(number);
                if call.copy_of.is_some() {
                    continue;
                }
                let request = (call.id.source(), linked.record(call.id).at.line);
                index.lines.entry(request).or_default().push((Role::Request, number));
                if let Some((source, at)) = linked.result_spot(call) {
                    index.lines.entry((source, at.line)).or_default().push((Role::Result, number));
                }
            }
        }
        index
    }

    /// The calls that a record requests or answers. Several records may stand on one damaged line.
    pub(super) fn at<'i>(&'i self, linked: &'i Linked<'_>, source: usize, at: At) -> impl Iterator<Item = (Role, usize)> + 'i {
        let here = self.lines.get(&(source, at.line)).into_iter().flatten().copied();
        here.filter(move |&(role, number)| {
            let call = &linked.calls[number];
            match role {
                Role::Request => linked.record(call.id).at == at,
                Role::Result => linked.result_spot(call) == Some((source, at)),
            }
        })
    }

    /// The call of an id, as seen from a source: one of its own before any other.
    pub(super) fn named(&self, linked: &Linked<'_>, source: usize, id: &str) -> Option<usize> {
        let all = self.ids.get(id)?;
        let own = all.iter().find(|&&number| linked.calls[number].id.source() == source);
        own.or_else(|| all.iter().find(|&&number| linked.calls[number].copy_of.is_none())).or(all.first()).copied()
    }
}

/// All groups that have a session which is wanted, the newest first.
pub(super) fn groups(linked: &Linked<'_>, takes: &dyn Takes) -> Vec<Group> {
    let mut sets = Sets((0..linked.sources.len()).collect());
    for session in &linked.sessions {
        session.sources.windows(2).for_each(|pair| sets.join(pair[0], pair[1]));
    }
    for call in &linked.calls {
        join_call(linked, call, &mut sets);
    }
    // A conversation that goes on from another repeats its prompts.
    let mut prompts: Map<u64, usize> = Map::default();
    for (number, source) in linked.sources.iter().enumerate() {
        for id in source.summary.turns.iter().filter_map(|turn| turn.original.or(turn.node)) {
            sets.join(number, *prompts.entry(id).or_insert(number));
        }
    }
    let mut groups: Map<usize, Group> = Map::default();
    for (number, session) in linked.sessions.iter().enumerate() {
        let Some(&source) = session.sources.first() else { continue };
        groups.entry(sets.of(source)).or_default().sessions.push(number);
    }
    for source in 0..linked.sources.len() {
        if let Some(group) = groups.get_mut(&sets.of(source)) {
            group.sources.push(source);
        }
    }
    let mut groups: Vec<Group> =
        groups.into_values().filter(|group| group.sessions.iter().any(|&session| takes.session(session))).collect();
    let newest = |session: usize| (std::cmp::Reverse(linked.sessions[session].last), session);
    for group in &mut groups {
        group.sessions.sort_by_key(|&session| newest(session));
        group.sources.sort_by_key(|&source| (linked.sources[source].summary.first.unwrap_or(Time::MAX), source));
    }
    groups.sort_by_key(|group| group.sessions.first().map(|&session| newest(session)));
    groups
}

fn join_call(linked: &Linked<'_>, call: &LinkedCall, sets: &mut Sets) {
    if let Some(original) = call.copy_of {
        sets.join(call.id.source(), original.source());
    }
    if call.foreign_result.is_some()
        && let Some((source, _)) = linked.result_spot(call)
    {
        sets.join(call.id.source(), source);
    }
}

/// Sets of numbers that are joined; each number leads to another of its set or to itself.
struct Sets(Vec<usize>);

impl Sets {
    fn of(&mut self, mut number: usize) -> usize {
        while self.0[number] != number {
            self.0[number] = self.0[self.0[number]];
            number = self.0[number];
        }
        number
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_stays_joined() {
        let mut sets = Sets((0..6).collect());
        [(0, 1), (4, 5), (1, 4)].into_iter().for_each(|(one, other)| sets.join(one, other));
        let all: Vec<usize> = (0..6).map(|number| sets.of(number)).collect();
        assert_eq!(all, [0, 0, 2, 3, 0, 0]);
    }
}
