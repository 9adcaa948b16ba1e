//! Whose log a source is, and which part of it repeats another log.
//!
//! A conversation that was forked from another, or started with its history, may begin with a copy of that one's records, stamped
//! anew. Their calls are recognised by their ids when everything is linked; turns and tokens have no ids, so what surely is a
//! copy is left out here.

use super::{AgentKey, Assembler};
use crate::Time;
use crate::event::{Begin, Work};
use crate::summary::Ending;
use crate::text::Name;
use crate::verdict::Sequel;

/// Whose log it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Owner {
    /// The conversation, by the first record that names one.
    id: Option<Name>,
    made: Option<Time>,
    /// The conversation that is being repeated.
    copying: Option<Copying>,
}

#[derive(Clone, Copy, Debug)]
struct Copying {
    from: Name,
    /// Nothing yet speaks against it.
    sure: bool,
    /// The time of the last record.
    last: Option<Time>,
}

impl Owner {
    /// Whether the record at hand surely is a copy.
    pub(super) fn is_copy(&self) -> bool {
        self.copying.is_some_and(|copying| copying.sure)
    }

    /// The conversation that the record at hand belongs to or may be a copy of.
    pub(super) fn of_record(&self) -> Option<Name> {
        self.copying.map(|copying| copying.from).or(self.id)
    }

    /// A copy is written in one go: a pause ends it, or at least makes it doubtful.
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
            Some(own) if own == id => self.owner.copying = None,
            Some(_) => self.owner.copying = Some(Copying { from: id, sure: true, last: self.here.time }),
        }
    }

    fn first_begin(&mut self, id: Name, begin: &Begin<'_>) {
        self.owner.id = Some(id);
        self.owner.made = begin.made.or(self.here.time);
        let parent = begin.parent.as_deref().filter(|parent| **parent != *begin.id).map(|parent| self.out.names.of(parent));
        let session = parent.unwrap_or(id);
        self.fallback = session;
        self.here.session = session;
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

    /// The model was set to work, or has finished.
    pub(super) fn work(&mut self, work: Work) {
        self.at_work = !work.done;
        if work.done {
            self.ends_with(Ending::Spoke);
            return self.sequel(Sequel::MovedOn, None);
        }
        self.ends_with(Ending::Busy);
        // Another turn: what is open now stays open. A prompt does not prove as much, it may steer the turn that is at work.
        if work.turn.is_none() || work.turn != self.turn {
            self.sequel(Sequel::MovedOn, None);
        }
        self.turn = work.turn;
        // What began after this conversation was made cannot be a copy of another one.
        if self.owner.copying.is_some() && work.made.zip(self.owner.made).is_some_and(|(work, made)| work >= made) {
            self.owner.copying = None;
        }
    }
}
