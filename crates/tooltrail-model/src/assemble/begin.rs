//! The owner of a log, and the part of it that repeats another log.
//!
//! A conversation that was forked from another, or started with its history, may begin with a copy of that one's records,
//! with new timestamps. Copied calls are recognised by their ids when everything is linked; turns and tokens have no ids,
//! so certain copies are left out here.

use super::{AgentKey, Assembler};
use crate::Time;
use crate::event::{Begin, Work};
use crate::summary::Ending;
use crate::text::Name;
use crate::verdict::Sequel;

/// Owner of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct LogOwner {
    /// The conversation, by the first record that names one.
    id: Option<Name>,
    made: Option<Time>,
    /// The conversation that is being repeated.
    copying: Option<Copying>,
}

#[derive(Clone, Copy, Debug)]
struct Copying {
    from: Name,
    /// Whether nothing speaks against it yet.
    sure: bool,
    /// The time of the last record.
    last: Option<Time>,
}

impl LogOwner {
    /// Whether the current record is certainly a copy.
    pub(super) fn is_copy(&self) -> bool {
        self.copying.is_some_and(|copying| copying.sure)
    }

    /// The conversation that the current record belongs to or may be a copy of.
    pub(super) fn of_record(&self) -> Option<Name> {
        self.copying.map(|copying| copying.from).or(self.id)
    }

    /// Notes the time of a record. A copy is written in one go, so a pause makes it doubtful.
    pub(super) fn record(&mut self, time: Option<Time>) {
        const PAUSE: i64 = 1_000_000;
        if let Some(copying) = &mut self.copying {
            let paused = copying.last.zip(time).is_some_and(|(last, time)| last.micros_until(time) > PAUSE);
            copying.sure &= !paused;
            copying.last = time.or(copying.last);
        }
    }
}

impl Assembler {
    pub(super) fn begin(&mut self, begin: &Begin<'_>) {
        let id = self.out.names.of(&begin.id);
        match self.owner.id {
            None => self.first_begin(id, begin),
            // The log names itself again: the copied part is over.
            Some(own) if own == id => self.owner.copying = None,
            Some(_) => self.owner.copying = Some(Copying { from: id, sure: true, last: self.here.time }),
        }
    }

    fn first_begin(&mut self, id: Name, begin: &Begin<'_>) {
        self.owner.id = Some(id);
        self.owner.made = begin.made.or(self.here.time);
        // A log that names itself as its parent is no subagent's.
        let parent = begin.parent.as_deref().filter(|parent| **parent != *begin.id).map(|parent| self.out.names.of(parent));
        let session = parent.unwrap_or(id);
        self.fallback = session;
        self.here.session = session;
        // Records before this one were counted for the session named after the file; their times belong here too.
        let (first, last) = (self.out.first, self.out.last);
        let record = self.session(session);
        record.first = [record.first, first].into_iter().flatten().min();
        record.last = record.last.max(last);
        if parent.is_none() {
            return;
        }
        self.subagent = Some(id);
        (self.here.agent, self.here.sidechain) = (Some(id), true);
        let within = self.agent(AgentKey::Named(session, id));
        self.here.within = Some(within);
        let path = begin.path.as_deref().map(|path| self.out.names.of(path));
        if let Some(agent) = self.out.agents.get_mut(within as usize) {
            (agent.path, agent.whole) = (path, true);
        }
    }

    /// Notes that the model was set to work, or has finished.
    pub(super) fn work(&mut self, work: Work) {
        self.at_work = !work.done;
        if work.done {
            self.ends_with(Ending::Spoke);
            return self.sequel(Sequel::MovedOn, None);
        }
        self.ends_with(Ending::Busy);
        // Another turn: open calls stay without a result. A prompt does not prove as much, since it may steer the running
        // turn.
        if work.turn.is_none() || work.turn != self.turn {
            self.sequel(Sequel::MovedOn, None);
        }
        self.turn = work.turn;
        // Work that began after this conversation was created cannot be a copy of another one.
        if self.owner.copying.is_some() && work.made.zip(self.owner.made).is_some_and(|(work, made)| work >= made) {
            self.owner.copying = None;
        }
    }
}
