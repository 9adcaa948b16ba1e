//! Reading a source for a transcript: the conversation that each record belongs to, and the turns that begin on the way.

use super::record_index::IndexedRecord;
use std::collections::{HashMap, HashSet};
use tooltrail_model::Time;
use tooltrail_model::summary::Summary;

/// The conversation that a record belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ConversationKey {
    /// The main one.
    Main,
    /// A subagent's, by its name.
    Agent(String),
    /// The calls of a script, by the call that runs it.
    Script(String),
    /// A subagent's without a name, by the source and the record that it begins with.
    Inline(usize, String),
}

/// What stands around a record in its log.
pub(super) struct RecordContext<'t, 'r> {
    pub(super) side: ConversationKey,
    /// The latest time up to it.
    pub(super) latest: Option<Time>,
    pub(super) begins: &'r mut OpenTurns<'t>,
}

/// The lines of a source at which turns begin, each of which begins one.
pub(super) struct OpenTurns<'t> {
    pub(super) all: &'t HashMap<u64, bool>,
    pub(super) seen: HashSet<u64>,
}

impl OpenTurns<'_> {
    /// Whether a turn begins at a line, and was abandoned. The line of damaged records has several; the first begins it.
    pub(super) fn take(&mut self, line: u64) -> Option<bool> {
        let abandoned = *self.all.get(&line)?;
        self.seen.insert(line).then_some(abandoned)
    }
}

/// A source that is being read.
pub(super) struct SourceReading {
    source: usize,
    /// The subagent whose log it is.
    pub(super) whole: Option<String>,
    /// The lines at which turns begin, and whether each was abandoned.
    pub(super) turns: HashMap<u64, bool>,
    /// The first record of the conversation that each record beside the main one belongs to.
    chain: HashMap<String, String>,
    pub(super) latest: Option<Time>,
}

impl SourceReading {
    pub(super) fn of(source: usize, summary: &Summary) -> Self {
        let whole = summary.agents.iter().find(|agent| agent.whole);
        let whole = whole.map(|agent| summary.names.opt(agent.agent).unwrap_or("").to_owned());
        let turns = summary.turns.iter().map(|turn| (turn.at.line, turn.abandoned)).collect();
        SourceReading { source, whole, turns, chain: HashMap::new(), latest: None }
    }

    /// The conversation that a record belongs to.
    pub(super) fn side(&mut self, record: &IndexedRecord) -> ConversationKey {
        if let Some(agent) = record.agent.as_deref().or(self.whole.as_deref()) {
            return ConversationKey::Agent(agent.to_owned());
        }
        let Some((id, parent)) = record.chain.as_ref().filter(|_| record.sidechain) else { return ConversationKey::Main };
        // An inline conversation is known by the record that it begins with.
        let root = parent.as_ref().and_then(|parent| self.chain.get(parent)).cloned();
        let root = root.or_else(|| id.clone()).unwrap_or_default();
        if let Some(id) = id {
            self.chain.insert(id.clone(), root.clone());
        }
        ConversationKey::Inline(self.source, root)
    }
}
