//! What a session is doing: who has to go on, and what tells so. Decided on asking, like everything that needs to know the time.

use super::life::{Live, Now, is_fresh};
use super::{Linked, LinkedSession};
use crate::summary::Ending;
use crate::verdict::Verdict;
use crate::{Kind, Reason, Status};

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

/// What the calls of a session wait for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    question: bool,
    plan: bool,
    permission: bool,
    running: bool,
}

impl Waits {
    /// Takes in what became of a call.
    pub(super) fn take(&mut self, kind: Kind, verdict: Verdict) {
        if verdict.status == Status::Running {
            self.running = true;
            self.question |= kind == Kind::Question;
            self.plan |= kind == Kind::Plan;
            self.permission |= verdict.reason == Some(Reason::AwaitingPermission);
        }
    }
}

impl Linked<'_> {
    /// What a session is doing, and what tells so.
    pub(super) fn state(&self, session: &LinkedSession, waits: Waits, now: &Now) -> (State, &'static str) {
        let listed = now.live.get(&session.id).copied();
        let written = session.sources.iter().any(|&source| is_fresh(self.sources[source], now));
        if listed.is_none() && !written {
            return (State::Ended, "quiet");
        }
        match listed {
            _ if waits.question => return (State::Asks, "question"),
            _ if waits.plan => return (State::Asks, "plan"),
            _ if waits.permission => return (State::Waiting, "permission"),
            Some(Live::Waiting) => return (State::Waiting, "registry"),
            Some(Live::Idle) => return (State::YourTurn, "idle"),
            _ if waits.running => return (State::Working, "call"),
            Some(Live::Running) | None => {}
        }
        match session.ending.map(|ended| ended.what) {
            Some(Ending::Told | Ending::Busy) => (State::Working, "model"),
            Some(Ending::Spoke) => (State::YourTurn, "answered"),
            Some(Ending::Interrupted) => (State::YourTurn, "interrupted"),
            Some(Ending::ApiError) => (State::YourTurn, "api_error"),
            None if listed == Some(Live::Running) => (State::Working, "registry"),
            None => (State::YourTurn, "nothing_asked"),
        }
    }
}
