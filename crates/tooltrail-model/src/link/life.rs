//! Whether a session is still at work: the one question that needs to know what time it is.

use super::{Linked, LinkedCall};
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
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
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

    /// The signs of life of a session, by its id and by each of its sources: when the file was last written, and its last record.
    pub fn pulse(&self, session: &str, sources: impl IntoIterator<Item = (Option<Time>, Option<Time>)>) -> Pulse {
        let written = sources.into_iter().any(|(modified, last)| self.is_fresh(modified, last));
        Pulse { listed: self.live.get(session).copied(), written }
    }

    /// Whether a source was written to lately. A fresh file with old records is a copy of a dead log; an old file with fresh
    /// records is no sign of life either.
    pub fn is_fresh(&self, modified: Option<Time>, last: Option<Time>) -> bool {
        modified.is_some_and(|modified| self.recent(modified)) && last.is_none_or(|last| self.recent(last))
    }

    fn recent(&self, sign: Time) -> bool {
        let age = sign.micros_until(self.time).unsigned_abs();
        u128::from(age) <= self.patience.as_micros()
    }
}

/// The signs of life of a session at the moment of asking.
#[derive(Clone, Copy, Debug, Default, Hash, PartialEq, Eq)]
pub struct Pulse {
    /// What its agent's own list says of it.
    pub listed: Option<Live>,
    /// One of its sources was written to lately.
    pub written: bool,
}

impl Pulse {
    /// The signs that rows depend on: the rows of a session are the same as long as these are.
    pub fn decisive(self) -> Pulse {
        // A session that is listed as running or waiting is at work whether or not it has written lately.
        let written = self.written && !matches!(self.listed, Some(Live::Running | Live::Waiting));
        Pulse { written, ..self }
    }

    /// Whether its calls may be at work.
    fn beats(self) -> bool {
        self.written || self.listed.is_some_and(|live| live != Live::Idle)
    }
}

/// What a call that has not ended is doing if its session is alive. This much is known without knowing the time.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum Chance {
    /// It is at work.
    Works,
    /// The same; and it is the only one that is open, so if its session waits for a permission, it is for this one.
    Alone,
    /// A hook asked somebody to allow it.
    Asks,
}

impl Chance {
    /// What it is doing.
    pub fn life(self, pulse: Pulse) -> Life {
        if !pulse.beats() {
            return Life::Dead;
        }
        match self {
            Chance::Asks => Life::AwaitsPermission,
            Chance::Alone if pulse.listed == Some(Live::Waiting) => Life::AwaitsPermission,
            Chance::Alone | Chance::Works => Life::Alive,
        }
    }
}

impl Linked<'_> {
    /// The signs of life of a session, by its place in [`Linked::sessions`].
    pub fn pulse(&self, session: usize, now: &Now) -> Pulse {
        let Some(session) = self.sessions.get(session) else { return Pulse::default() };
        let sources = session.sources.iter().map(|&source| self.sources[source]);
        now.pulse(&session.id, sources.map(|source| (source.modified, source.summary.last)))
    }

    /// Whether the session of a call may still be at work on it; without a time, as if it had ended.
    pub(super) fn life(&self, call: &LinkedCall, now: Option<&Now>) -> Life {
        let Some(now) = now else { return Life::Dead };
        let pulse = self.pulse(call.session, now);
        if !pulse.beats() {
            return Life::Dead;
        }
        self.chance(call).map_or(Life::Dead, |chance| chance.life(pulse))
    }

    /// What a call that has not ended is doing if its session is alive; nothing if it cannot be at work even so.
    pub(super) fn chance(&self, call: &LinkedCall) -> Option<Chance> {
        if call.session >= self.sessions.len() || self.agent_ended(call) {
            return None;
        }
        let asks = |hook: &HookRecord| hook.stage == HookStage::Permission && hook.allows.is_none();
        if self.record(call.id).hooks.iter().any(asks) {
            return Some(Chance::Asks);
        }
        // Of several open calls nobody can say which one the person is asked about.
        let alone = self.open.get(&call.session) == Some(&1);
        Some(if alone { Chance::Alone } else { Chance::Works })
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
        over || self.agents.has_ended(agent, self.session_text(call.id), parent)
    }
}
