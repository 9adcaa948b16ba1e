//! Decides whether a session is still active: the one question that depends on the current time.

use super::{Linked, LinkedCall};
use crate::event::{HookStage, TaskState};
use crate::summary::HookRecord;
use crate::verdict::Life;
use crate::{Map, Time};

/// The current time, and the sessions that agents report as running.
#[derive(Clone, Debug)]
pub struct Now {
    /// The time.
    pub time: Time,
    /// Time after its last record during which a session still counts as alive.
    pub patience: std::time::Duration,
    /// Sessions that the agent itself lists as running.
    pub live: Map<Box<str>, Live>,
}

/// State of a session in its agent's own list.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum Live {
    /// Working.
    Running,
    /// Waiting for the person to decide something.
    Waiting,
    /// Open, but not working.
    Idle,
}

impl Now {
    /// The current time, without any knowledge of running sessions.
    pub fn at(time: Time) -> Self {
        Now { time, patience: std::time::Duration::from_secs(15 * 60), live: Map::default() }
    }

    /// Signs of life of a session, by its id and by each of its sources: the file's modification time, and its last record.
    pub fn pulse(&self, session: &str, sources: impl IntoIterator<Item = (Option<Time>, Option<Time>)>) -> Pulse {
        let written = sources.into_iter().any(|(modified, last)| self.is_fresh(modified, last));
        Pulse { listed: self.live.get(session).copied(), written }
    }

    /// Whether a source was written to recently. A new file with old records is a copy of a dead log; an old file with
    /// recent records is no sign of life either.
    pub fn is_fresh(&self, modified: Option<Time>, last: Option<Time>) -> bool {
        modified.is_some_and(|modified| self.recent(modified)) && last.is_none_or(|last| self.recent(last))
    }

    fn recent(&self, sign: Time) -> bool {
        // Absolute, because clocks may be slightly ahead.
        let age = sign.micros_until(self.time).unsigned_abs();
        u128::from(age) <= self.patience.as_micros()
    }
}

/// Signs of life of a session at the current time.
#[derive(Clone, Copy, Debug, Default, Hash, PartialEq, Eq)]
pub struct Pulse {
    /// State in its agent's own list.
    pub listed: Option<Live>,
    /// Whether one of its sources was written to recently.
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

/// Activity of an unfinished call if its session is alive. This much is known without knowing the time.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum Chance {
    /// Running.
    Works,
    /// Running, and the only unfinished call: if its session waits for a permission, then for this call.
    Alone,
    /// A hook asked for permission.
    Asks,
}

impl Chance {
    /// The activity, given the signs of life.
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
    /// Signs of life of a session, by its index in [`Linked::sessions`].
    pub fn pulse(&self, session: usize, now: &Now) -> Pulse {
        let Some(session) = self.sessions.get(session) else { return Pulse::default() };
        let sources = session.sources.iter().map(|&source| self.sources[source]);
        now.pulse(&session.id, sources.map(|source| (source.modified, source.summary.last)))
    }

    /// Whether the session of a call may still be working on it; without a time, as if it had ended.
    pub(super) fn life(&self, call: &LinkedCall, now: Option<&Now>) -> Life {
        let Some(now) = now else { return Life::Dead };
        let pulse = self.pulse(call.session, now);
        if !pulse.beats() {
            return Life::Dead;
        }
        self.chance(call).map_or(Life::Dead, |chance| chance.life(pulse))
    }

    /// Activity of an unfinished call if its session is alive; `None` if it cannot be running even so.
    pub(super) fn chance(&self, call: &LinkedCall) -> Option<Chance> {
        if call.session >= self.sessions.len() || self.agent_ended(call) {
            return None;
        }
        // A permission hook without a decision leaves it to the person.
        let asks = |hook: &HookRecord| hook.stage == HookStage::Permission && hook.allows.is_none();
        if self.record(call.id).hooks.iter().any(asks) {
            return Some(Chance::Asks);
        }
        // Of several unfinished calls it is unknown which one the person is asked about.
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
        // A subagent in the background reports its end as a task, one in the foreground by the result of its call.
        let news = self.tasks.last(agent, self.session_text(call.id), parent, name, None);
        let over = news.is_some_and(|news| !matches!(news.record.state, TaskState::Running | TaskState::Unknown));
        over || self.agents.has_ended(agent, self.session_text(call.id), parent)
    }
}
