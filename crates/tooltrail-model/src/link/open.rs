//! Rows before the current time is known: their values if the session has ended, and the differences if it is alive.
//!
//! Everything but these differences is independent of the time and may be stored. Settling is the last step, and the only
//! one that depends on the time; stored rows and new rows are settled by the same code.

use super::life::{Chance, Pulse};
use super::state::{OpenCalls, state};
use crate::Status;
use crate::event::TaskState;
use crate::row::{CallRow, SessionRow};
use crate::summary::Ending;
use crate::verdict::{Life, at_work};

/// A call, as if its session had ended.
#[derive(Clone, Debug, Hash)]
pub struct UnsettledCall<'a> {
    /// The row.
    pub row: CallRow<'a>,
    /// Activity of the call otherwise, if it has not ended.
    pub chance: Option<Chance>,
    /// Whether its background task is running otherwise.
    pub background: bool,
}

impl<'a> UnsettledCall<'a> {
    /// The row at some time. Most rows are final, and signs of life are not looked up for them.
    pub fn settle(mut self, pulse: impl FnOnce() -> Pulse) -> CallRow<'a> {
        if self.chance.is_none() && !self.background {
            return self.row;
        }
        let pulse = pulse();
        if let Some(verdict) = self.chance.and_then(|chance| at_work(chance.life(pulse))) {
            (self.row.status, self.row.reason) = (verdict.status, verdict.reason);
        }
        // Any call of a live session will do: a task runs beside it.
        let alive = Chance::Works.life(pulse) != Life::Dead;
        if let Some(task) = self.row.background.as_mut().filter(|_| self.background && alive) {
            task.state = TaskState::Running;
        }
        self.row
    }
}

/// A session, as if it had ended; only its state is missing.
#[derive(Clone, Debug, Hash)]
pub struct UnsettledSession<'a> {
    /// The row.
    pub row: SessionRow<'a>,
    /// Its calls that have not ended.
    pub calls: OpenCalls,
    /// The last thing that happened in it.
    pub ending: Option<Ending>,
}

impl<'a> UnsettledSession<'a> {
    /// The row at some time.
    pub fn settle(mut self, pulse: Pulse) -> SessionRow<'a> {
        if self.calls.life(pulse) != Life::Dead {
            // Without a result, a call that may be running was counted as unanswered.
            if let Some(unanswered) = self.row.by_status.get_mut(&Status::Unanswered) {
                *unanswered = unanswered.saturating_sub(self.calls.count);
            }
            self.row.by_status.retain(|_, count| *count > 0);
            *self.row.by_status.entry(Status::Running).or_default() += self.calls.count;
        }
        let (state, reason) = state(pulse, self.calls, self.ending);
        (self.row.state, self.row.state_reason) = (Some(state.word()), Some(reason.word()));
        self.row
    }
}
