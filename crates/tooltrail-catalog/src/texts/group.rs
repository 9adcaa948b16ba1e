//! Groups of logs that are linked with each other, alone or among others. Matches in a group can be resolved without other logs.

use crate::Map;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use tooltrail_model::link::{Linked, Ties, bundles};
use tooltrail_model::{At, Time};

/// Logs that belong together.
#[derive(Debug, Default)]
pub(crate) struct LogGroup {
    /// The logs, those that began first in front: of copies, the first one counts.
    pub(crate) sources: Vec<usize>,
    /// Their sessions, the newest first.
    pub(crate) sessions: Vec<usize>,
    index: OnceLock<CallIndex>,
}

/// An index from records and ids to the calls of a group.
#[derive(Debug, Default)]
pub(crate) struct CallIndex {
    /// By source and line: which calls a record requests or answers, in `Linked::calls`.
    lines: Map<(usize, u64), Vec<(RecordRole, usize)>>,
    /// By id: all calls, copies too.
    ids: Map<Box<str>, Vec<usize>>,
}

/// The role of a record for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordRole {
    /// The record requests the call.
    Request,
    /// The record holds its result.
    Result,
}

impl LogGroup {
    /// All logs as one group.
    pub(crate) fn whole(linked: &Linked<'_>) -> Self {
        let (sources, sessions) = ((0..linked.sources.len()).collect(), (0..linked.sessions.len()).collect());
        LogGroup { sources, sessions, index: OnceLock::new() }.sorted(linked)
    }

    fn sorted(mut self, linked: &Linked<'_>) -> Self {
        self.sessions.sort_by_key(|&session| (Reverse(linked.sessions[session].last), session));
        self.sources.sort_by_key(|&source| (linked.sources[source].summary.first.unwrap_or(Time::MAX), source));
        self
    }

    /// The index of the calls, built on first use.
    pub(crate) fn index(&self, linked: &Linked<'_>) -> &CallIndex {
        self.index.get_or_init(|| CallIndex::of(linked, &self.sessions))
    }
}

impl CallIndex {
    fn of(linked: &Linked<'_>, sessions: &[usize]) -> Self {
        let mut index = CallIndex::default();
        for &session in sessions {
            // Calls are sorted by session, so this is the index of the session's first call.
            let start = linked.calls.partition_point(|call| call.session < session);
            for (number, call) in (start..).zip(linked.calls_of(session)) {
                index.ids.entry(linked.id(call.id).into()).or_default().push(number);
                if let Some(alias) = &linked.record(call.id).rare().alias {
                    index.ids.entry(alias.clone()).or_default().push(number);
                }
                // A copy is found by its id, but its records do not count: the original has the same text.
                if call.copy_of.is_some() {
                    continue;
                }
                let request = (call.id.source(), linked.record(call.id).at.line);
                index.lines.entry(request).or_default().push((RecordRole::Request, number));
                if let Some((source, at)) = linked.result_spot(call) {
                    index.lines.entry((source, at.line)).or_default().push((RecordRole::Result, number));
                }
            }
        }
        index
    }

    /// The calls that a record requests or answers. Several records may stand on one damaged line.
    pub(crate) fn at<'i>(&'i self, linked: &'i Linked<'_>, source: usize, at: At) -> impl Iterator<Item = (RecordRole, usize)> + 'i {
        let here = self.lines.get(&(source, at.line)).into_iter().flatten().copied();
        here.filter(move |&(role, number)| {
            let call = &linked.calls[number];
            match role {
                RecordRole::Request => linked.record(call.id).at == at,
                RecordRole::Result => linked.result_spot(call) == Some((source, at)),
            }
        })
    }

    /// The call of an id, as seen from a source: one of its own before any other.
    pub(crate) fn named(&self, linked: &Linked<'_>, source: usize, id: &str) -> Option<usize> {
        let all = self.ids.get(id)?;
        // Ids may be reused in other logs, so a call of the same log is the most likely one; then any original, then any copy.
        let own = all.iter().find(|&&number| linked.calls[number].id.source() == source);
        own.or_else(|| all.iter().find(|&&number| linked.calls[number].copy_of.is_none())).or(all.first()).copied()
    }
}

/// The groups that contain a wanted session: the bundles that the logs would be split into.
pub(crate) fn groups(linked: &Linked<'_>, wanted: impl Fn(usize) -> bool) -> Vec<LogGroup> {
    let ties: Vec<Ties> = linked.sources.iter().map(|source| Ties::of(&source.summary)).collect();
    let bundles = bundles(ties.iter().zip(linked.sources.iter().map(|source| source.summary.nodes.as_slice())));
    let mut groups: BTreeMap<usize, LogGroup> = BTreeMap::new();
    for (number, session) in linked.sessions.iter().enumerate() {
        // All sources of a session are in one bundle, so the first one is enough.
        let Some(&bundle) = session.sources.first().and_then(|&source| bundles.get(source)) else { continue };
        groups.entry(bundle).or_default().sessions.push(number);
    }
    for (source, bundle) in bundles.iter().enumerate() {
        if let Some(group) = groups.get_mut(bundle) {
            group.sources.push(source);
        }
    }
    groups.retain(|_, group| group.sessions.iter().any(|&session| wanted(session)));
    groups.into_values().map(|group| group.sorted(linked)).collect()
}
