//! Whether a session is still at work: the one question that needs to know what time it is.

use super::{Linked, LinkedCall, Source};
use crate::event::{HookStage, TaskState};
use crate::summary::HookRecord;
use crate::verdict::Life;
use crate::{Map, Time};

/// The moment of asking, and what the machine says about sessions that run.
#[derive(Clone, Debug)]
pub struct Now {
    /// The time.
    pub time: Time,
    /// How long after its last sign of life a session still counts as alive.
    pub patience: std::time::Duration,
    /// Sessions that the agent itself lists as running.
    pub live: Map<Box<str>, Live>,
}

/// What an agent's own list says of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Live {
    /// It runs.
    Running,
    /// It waits for the person to decide something.
    Waiting,
    /// It is there, at work on nothing.
    Idle,
}

impl Now {
    /// Now, with nothing known of running sessions.
    pub fn at(time: Time) -> Self {
        Now { time, patience: std::time::Duration::from_secs(15 * 60), live: Map::default() }
    }

    fn recent(&self, sign: Time) -> bool {
        let age = sign.micros_until(self.time).unsigned_abs();
        u128::from(age) <= self.patience.as_micros()
    }
}

/// Whether a source was written to lately. A fresh file with old records is a copy of a dead log; an old file with fresh
/// records is no sign of life either.
pub(super) fn is_fresh(source: &Source, now: &Now) -> bool {
    source.modified.is_some_and(|modified| now.recent(modified)) && source.summary.last.is_none_or(|last| now.recent(last))
}

impl Linked<'_> {
    /// Whether the session of a call may still be at work on it.
    pub(super) fn life(&self, call: &LinkedCall, now: &Now) -> Life {
        let Some(session) = self.sessions.get(call.session) else { return Life::Dead };
        let listed = now.live.get(&session.id).filter(|live| **live != Live::Idle);
        let written = session.sources.iter().any(|&source| is_fresh(self.sources[source], now));
        if (listed.is_none() && !written) || self.agent_ended(call) {
            return Life::Dead;
        }
        let asks = |hook: &HookRecord| hook.stage == HookStage::Permission && hook.allows.is_none();
        // Of several open calls nobody can say which one the person is asked about.
        let only = self.open.get(&call.session) == Some(&1);
        let waits = (listed == Some(&Live::Waiting) && only) || self.record(call.id).hooks.iter().any(asks);
        if waits { Life::AwaitsPermission } else { Life::Alive }
    }

    /// Whether the call was made by a subagent that has ended, however alive its session is.
    fn agent_ended(&self, call: &LinkedCall) -> bool {
        let record = self.record(call.id);
        let source = call.id.source();
        let parent = record.rare().parent.as_deref().or_else(|| self.agents.parent(source, record.within));
        let Some(parent) = parent else { return false };
        let agent = self.agent_of(source);
        let name = self.sources[source].summary.names.opt(record.agent);
        let news = self.tasks.last(agent, self.session_text(call.id), parent, name, None);
        let over = news.is_some_and(|news| !matches!(news.record.state, TaskState::Running | TaskState::Unknown));
        over || self.agents.has_ended(agent, parent)
    }
}
