//! State of a session: who has to act next, and how that is known. Determined on request, because it depends on the time.

use super::life::{Chance, Live, Pulse};
use crate::Kind;
use crate::status::words;
use crate::summary::Ending;
use crate::verdict::Life;

words! {
    /// State of a session.
    State {
        /// The model or a tool is at work.
        Working => "working",
        /// A question to the person, or a plan to approve, is open.
        Asks => "asks",
        /// A call waits for the person's permission.
        Waiting => "waiting",
        /// The agent has answered; the person may continue.
        YourTurn => "your_turn",
        /// No sign of life for a long time.
        Ended => "ended",
    }
}

words! {
    /// Reason for the state of a session.
    StateReason {
        /// A call is at work.
        Call => "call",
        /// The model is.
        Model => "model",
        /// The agent's own list of sessions says so.
        Registry => "registry",
        /// A question is open.
        Question => "question",
        /// A plan is shown.
        Plan => "plan",
        /// A call has to be allowed.
        Permission => "permission",
        /// The model has answered.
        Answered => "answered",
        /// The agent says that it has nothing to do.
        Idle => "idle",
        /// The person stopped it.
        Interrupted => "interrupted",
        /// The model's service failed.
        ApiError => "api_error",
        /// No prompt has been sent yet.
        NothingAsked => "nothing_asked",
        /// No record for a long time.
        Quiet => "quiet",
        /// The conversation goes on in another session.
        Continued => "continued",
        /// The person put the session away.
        Archived => "archived",
    }
}

/// Unfinished calls of a session, for the case that it is alive.
#[derive(Clone, Copy, Debug, Hash, Default, PartialEq, Eq)]
pub struct OpenCalls {
    /// Number of calls.
    pub count: u64,
    /// Whether one of them asks the person something.
    pub question: bool,
    /// Whether one of them shows a plan.
    pub plan: bool,
    /// Whether one of them asked for permission.
    pub asks: bool,
    /// Whether there is exactly one.
    pub alone: bool,
}

impl OpenCalls {
    /// Adds a call.
    pub(super) fn take(&mut self, kind: Kind, chance: Chance) {
        self.count += 1;
        self.question |= kind == Kind::Question;
        self.plan |= kind == Kind::Plan;
        self.asks |= chance == Chance::Asks;
        self.alone |= chance == Chance::Alone;
    }

    /// Activity of the calls: whether they are running, and whether one waits for a permission.
    pub(super) fn life(self, pulse: Pulse) -> Life {
        // Without an unfinished call nothing can be running.
        if self.count == 0 {
            return Life::Dead;
        }
        // A request for permission decides, because the person has to act on it.
        let chance = match (self.asks, self.alone) {
            (true, _) => Chance::Asks,
            (_, true) => Chance::Alone,
            _ => Chance::Works,
        };
        chance.life(pulse)
    }
}

/// State of a session, and the reason.
pub(super) fn state(pulse: Pulse, calls: OpenCalls, ending: Option<Ending>) -> (State, StateReason) {
    let Pulse { listed, written } = pulse;
    if listed.is_none() && !written {
        return (State::Ended, StateReason::Quiet);
    }
    let life = calls.life(pulse);
    let at_work = life != Life::Dead;
    // Calls that wait for the person come first: they decide what the person has to do.
    match listed {
        _ if at_work && calls.question => return (State::Asks, StateReason::Question),
        _ if at_work && calls.plan => return (State::Asks, StateReason::Plan),
        _ if life == Life::AwaitsPermission => return (State::Waiting, StateReason::Permission),
        Some(Live::Waiting) => return (State::Waiting, StateReason::Registry),
        // The agent's own list outweighs a call that only looks unfinished in the log.
        Some(Live::Idle) => return (State::YourTurn, StateReason::Idle),
        _ if at_work => return (State::Working, StateReason::Call),
        Some(Live::Running) | None => {}
    }
    // No call decides, so the last event of the conversation does.
    match ending {
        Some(Ending::Told | Ending::Busy) => (State::Working, StateReason::Model),
        Some(Ending::Spoke) => (State::YourTurn, StateReason::Answered),
        Some(Ending::Interrupted) => (State::YourTurn, StateReason::Interrupted),
        Some(Ending::ApiError) => (State::YourTurn, StateReason::ApiError),
        Some(Ending::Continued) => (State::Ended, StateReason::Continued),
        Some(Ending::Archived) => (State::Ended, StateReason::Archived),
        None if listed == Some(Live::Running) => (State::Working, StateReason::Registry),
        // Files of snapshots, titles or settings alone: nothing was said, and no process is known that could wait for it.
        None => (State::Ended, StateReason::NothingAsked),
    }
}
