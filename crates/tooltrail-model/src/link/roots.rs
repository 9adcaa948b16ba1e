//! Finds the session that a subagent's subagent belongs to.
//!
//! A log may name only the agent that started it. If that agent was started by another, the session is further up.

use super::Source;
use crate::Map;

/// The starter of each subagent that has its own log.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots<'a> {
    parents: Map<(&'static str, &'a str), &'a str>,
}

/// The deepest chain of agents; a log that claims more, or to be its own ancestor, is not followed.
const DEEPEST: usize = 64;

impl<'a> Roots<'a> {
    pub(super) fn gather(sources: &[&'a Source]) -> Self {
        let mut parents = Map::default();
        for source in sources {
            let Some(agent) = source.summary.agent else { continue };
            let names = &source.summary.names;
            for part in source.summary.agents.iter().filter(|part| part.whole) {
                if let Some(name) = part.agent {
                    parents.entry((agent, names.text(name))).or_insert(names.text(part.session));
                }
            }
        }
        Roots { parents }
    }

    /// The session that a record refers to by the name of a session.
    pub(super) fn of(&self, agent: &'static str, session: &'a str) -> &'a str {
        let mut root = session;
        for _ in 0..DEEPEST {
            match self.parents.get(&(agent, root)) {
                Some(&parent) => root = parent,
                None => return root,
            }
        }
        // A cycle: the name is taken as it is.
        session
    }
}
