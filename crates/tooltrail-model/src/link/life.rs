//! Whether a session is still at work: the one question that needs to know what time it is.

use super::{Linked, LinkedCall};
use crate::event::HookStage;
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
    /// It waits for the person.
    Waiting,
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

impl Linked<'_> {
    /// Whether the session of a call may still be at work.
    pub(super) fn life(&self, call: &LinkedCall, now: &Now) -> Life {
        let Some(session) = self.sessions.get(call.session) else { return Life::Dead };
        let listed = now.live.get(&session.id);
        let written = session.sources.iter().any(|&source| {
            let source = self.sources[source];
            // A fresh file with old records is a copy of a dead log; an old file with fresh records is no sign either.
            source.modified.is_some_and(|modified| now.recent(modified)) && source.summary.last.is_none_or(|last| now.recent(last))
        });
        if listed.is_none() && !written {
            return Life::Dead;
        }
        let asks = self.record(call.id).hooks.iter().any(|hook| hook.stage == HookStage::Permission);
        if listed == Some(&Live::Waiting) || asks { Life::AwaitsPermission } else { Life::Alive }
    }
}
