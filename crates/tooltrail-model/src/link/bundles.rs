//! Groups sources that are related to each other.
//!
//! Linking joins sources by names: a session, a call, a message, a prompt that occurs in both. Sources without a common
//! name cannot affect each other, so each bundle of related sources can be linked alone, with the same rows as among all
//! others. Only the short names of sessions and the checkouts of worktrees depend on everything; the caller that links a bundle alone
//! provides them ([`Linker::call_sessions`]).

use super::{Linker, SessionNames};
use crate::Map;
use crate::assemble::hash;
use crate::event::Id;
use crate::summary::{CallRecord, Summary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names by which a source may be joined to others, as fingerprints that are the same in every process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ties {
    /// Sessions, calls, messages and prompts; sorted, each once.
    pub names: Vec<u64>,
    /// Records that titles here refer to: any source may contain them.
    pub leaves: Vec<Id>,
}

/// Kind of name. The same text may name things of several kinds.
#[derive(Clone, Copy)]
enum Of {
    Session = 1,
    Call,
    Message,
    Request,
    Prompt,
}

impl Ties {
    /// The ties of a source.
    pub fn of(summary: &Summary) -> Self {
        let leaves: Vec<Id> = summary.leaf_titles.iter().map(|(leaf, _)| *leaf).collect();
        let Some(agent) = summary.agent else { return Ties { names: Vec::new(), leaves } };
        let agent = hash(agent);
        let mut names = Vec::with_capacity(summary.calls.len() + summary.usage.len() + summary.turns.len() + 8);
        let mut tie = |of: Of, key: u64| names.push(mix(agent, of, key));
        let text = |name| hash(summary.names.text(name));
        let sessions = summary.sessions.iter().map(|record| record.session);
        let sessions = sessions.chain(summary.agents.iter().map(|part| part.session));
        // A log may use the name of an agent to refer to that agent's session.
        let sessions = sessions.chain(summary.agents.iter().filter(|part| part.whole).filter_map(|part| part.agent));
        let sessions = sessions.chain(summary.tasks.iter().map(|task| task.session));
        let sessions = sessions.chain(summary.claims.iter().map(|claim| claim.session));
        sessions.chain(summary.orphans.iter().map(|orphan| orphan.session)).for_each(|name| tie(Of::Session, text(name)));
        for call in summary.calls.iter().chain(&summary.nested) {
            match call.message {
                // A call without an id is identified by its message, or else only within its session.
                Some(message) if call.unnamed => tie(Of::Message, text(message)),
                _ if call.unnamed => tie(Of::Session, text(call.session)),
                _ => tie(Of::Call, call.key),
            }
            parent(call).into_iter().for_each(|call| tie(Of::Call, hash(call)));
        }
        let named = summary.orphans.iter().map(|orphan| &*orphan.call).chain(summary.claims.iter().map(|claim| &*claim.call));
        named.chain(summary.tasks.iter().filter_map(|task| task.call.as_deref())).for_each(|call| tie(Of::Call, hash(call)));
        summary.usage.iter().for_each(|snapshot| tie(Of::Request, snapshot.message));
        // Prompts have no agent mixed in: a log may be copied between agents' directories.
        let prompts = summary.turns.iter().flat_map(|turn| [turn.original, turn.node]).flatten();
        names.extend(prompts.map(|id| mix(0, Of::Prompt, id)));
        names.sort_unstable();
        names.dedup();
        Ties { names, leaves }
    }
}

fn parent(call: &CallRecord) -> Option<&str> {
    call.rare().parent.as_deref()
}

/// Fingerprint of a name, from parts that are fingerprints already.
fn mix(agent: u64, of: Of, key: u64) -> u64 {
    (agent ^ key).wrapping_add((of as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The bundle of each source, as the index of its first source. Each comes with the ids of its records.
pub fn bundles<'s>(sources: impl Iterator<Item = (&'s Ties, &'s [Id])> + Clone) -> Vec<usize> {
    let mut sets = Sets((0..sources.clone().count()).collect());
    let mut names: Map<u64, usize> = Map::default();
    let mut wanted: Map<Id, usize> = Map::default();
    for (number, (ties, _)) in sources.clone().enumerate() {
        for &name in &ties.names {
            let first = *names.entry(name).or_insert(number);
            sets.join(first, number);
        }
        // A title may be for a record of any source, so the record's id is searched in all of them below.
        for &leaf in &ties.leaves {
            let first = *wanted.entry(leaf).or_insert(number);
            sets.join(first, number);
        }
    }
    // Only if titles are waiting: this reads the ids of all records.
    if !wanted.is_empty() {
        for (number, (_, nodes)) in sources.enumerate() {
            nodes.iter().filter_map(|node| wanted.get(node)).for_each(|&wants| sets.join(wants, number));
        }
    }
    (0..sets.0.len()).map(|number| sets.of(number)).collect()
}

/// Disjoint sets of numbers; each number leads to a smaller one of its set, or to itself if it is the smallest.
struct Sets(Vec<usize>);

impl Sets {
    fn of(&mut self, mut number: usize) -> usize {
        while self.0[number] != number {
            // Halves the path on the way, which keeps lookups short.
            self.0[number] = self.0[self.0[number]];
            number = self.0[number];
        }
        number
    }

    fn join(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.max(other)] = one.min(other);
    }
}

impl Linker {
    /// Splits the sources into bundles. Sessions keep the names that they have among all.
    pub fn split(self) -> Vec<Linker> {
        let ties: Vec<Ties> = self.sources.values().map(|source| Ties::of(&source.summary)).collect();
        let bundles = bundles(ties.iter().zip(self.sources.values().map(|source| source.summary.nodes.as_slice())));
        let names = self.names.clone().unwrap_or_else(|| Arc::new(SessionNames::among(self.places().iter())));
        let mut parts: BTreeMap<usize, Linker> = BTreeMap::new();
        for (source, bundle) in self.sources.into_values().zip(bundles) {
            parts.entry(bundle).or_insert_with(|| Linker { names: Some(Arc::clone(&names)), ..Linker::default() }).put(source);
        }
        parts.into_values().collect()
    }
}
