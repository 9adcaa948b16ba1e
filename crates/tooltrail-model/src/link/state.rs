//! What a session is doing: who has to go on, and what tells so. Decided on asking, like everything that needs to know the time.

use super::life::{Chance, Live, Pulse};
use crate::Kind;
use crate::summary::Ending;
use crate::verdict::Life;

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The model or a tool is at work.
    Working,
    /// It asks the person something, or shows a plan.
    Asks,
    /// It waits for the person's permission.
    Waiting,
    /// It has answered; the person goes on, or nobody.
    YourTurn,
    /// There has been no sign of life for long.
    Ended,
}

impl State {
    /// The word used in output and in filters.
    pub(crate) fn word(self) -> &'static str {
        match self {
            State::Working => "working",
            State::Asks => "asks",
            State::Waiting => "waiting",
            State::YourTurn => "your_turn",
            State::Ended => "ended",
        }
    }
}

/// The calls of a session that have not ended, for the case that it is alive.
#[derive(Clone, Copy, Debug, Hash, Default, PartialEq, Eq)]
pub struct OpenCalls {
    /// How many there are.
    pub count: u64,
    /// One of them asks the person something.
    pub question: bool,
    /// One of them shows a plan.
    pub plan: bool,
    /// One of them asked to be allowed.
    pub asks: bool,
    /// There is one alone.
    pub alone: bool,
}

impl OpenCalls {
    /// Takes in a call.
    pub(super) fn take(&mut self, kind: Kind, chance: Chance) {
        self.count += 1;
        self.question |= kind == Kind::Question;
        self.plan |= kind == Kind::Plan;
        self.asks |= chance == Chance::Asks;
        self.alone |= chance == Chance::Alone;
    }

    /// What the calls are doing: whether they are at work, and whether one waits for a permission.
    pub(super) fn life(self, pulse: Pulse) -> Life {
        if self.count == 0 {
            return Life::Dead;
        }
        let chance = match (self.asks, self.alone) {
            (true, _) => Chance::Asks,
            (_, true) => Chance::Alone,
            _ => Chance::Works,
        };
        chance.life(pulse)
    }
}

/// What a session is doing, and what tells so.
pub(super) fn state(pulse: Pulse, calls: OpenCalls, ending: Option<Ending>) -> (State, &'static str) {
    let Pulse { listed, written } = pulse;
    if listed.is_none() && !written {
        return (State::Ended, "quiet");
    }
    let life = calls.life(pulse);
    let at_work = life != Life::Dead;
    match listed {
        _ if at_work && calls.question => return (State::Asks, "question"),
        _ if at_work && calls.plan => return (State::Asks, "plan"),
        _ if life == Life::AwaitsPermission => return (State::Waiting, "permission"),
        Some(Live::Waiting) => return (State::Waiting, "registry"),
        Some(Live::Idle) => return (State::YourTurn, "idle"),
        _ if at_work => return (State::Working, "call"),
        Some(Live::Running) | None => {}
    }
    match ending {
        Some(Ending::Told | Ending::Busy) => (State::Working, "model"),
        Some(Ending::Spoke) => (State::YourTurn, "answered"),
        Some(Ending::Interrupted) => (State::YourTurn, "interrupted"),
        Some(Ending::ApiError) => (State::YourTurn, "api_error"),
        None if listed == Some(Live::Running) => (State::Working, "registry"),
        None => (State::YourTurn, "nothing_asked"),
    }
}
