//! The owner of a log, and the part of it that repeats another log.
//!
//! A conversation that was forked from another, or started with its history, may begin with a copy of that one's records,
//! with new timestamps. Copied calls are recognised by their ids when everything is linked; turns and tokens have no ids,
//! so certain copies are left out here.

use super::{AgentKey, Assembler, Here};
use crate::Time;
use crate::event::{Begin, Prompt, Work};
use crate::summary::Ending;
use crate::text::Name;
use crate::verdict::Sequel;
use std::borrow::Cow;

/// Owner of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct LogOwner {
    /// The conversation, by the first record that names one.
    id: Option<Name>,
    made: Option<Time>,
    /// Number of the first record that is its own, until that one is reached.
    own_from: Option<u64>,
    /// Whether the current record has a lower number.
    inherited: bool,
    /// The conversation that is being repeated.
    copying: Option<Copying>,
}

#[derive(Clone, Debug)]
struct Copying {
    from: Name,
    /// Whether nothing speaks against it yet.
    sure: bool,
    /// The time of the last record.
    last: Option<Time>,
    /// Whether the current turn began before this conversation did.
    old_turn: bool,
    /// Prompts that the model has not answered yet.
    unanswered: Vec<UnansweredPrompt>,
}

/// A prompt that is a copy, unless the model takes its time to answer it.
#[derive(Clone, Debug)]
pub(super) struct UnansweredPrompt {
    here: Here,
    prompt: Prompt<'static>,
}

impl LogOwner {
    /// Whether the current record is certainly a copy.
    pub(super) fn is_copy(&self) -> bool {
        self.inherited || self.copying.as_ref().is_some_and(|copying| copying.sure)
    }

    /// Whether the current record may be a copy: nothing has ended the copied part yet.
    pub(super) fn may_be_copy(&self) -> bool {
        self.inherited || self.copying.is_some()
    }

    /// Whether the current record is history that was handed to this conversation at its start.
    pub(super) fn is_inherited(&self) -> bool {
        self.inherited
    }

    /// The conversation that the current record belongs to or may be a copy of.
    pub(super) fn of_record(&self) -> Option<Name> {
        self.copying.as_ref().map(|copying| copying.from).or(self.id)
    }

    /// Notes the number and the time of a record. Returns prompts that turn out to be no copies.
    pub(super) fn record(&mut self, time: Option<Time>, ordinal: Option<u64>) -> Vec<UnansweredPrompt> {
        if let Some((own, ordinal)) = self.own_from.zip(ordinal) {
            self.inherited = ordinal < own;
            if !self.inherited {
                (self.own_from, self.copying) = (None, None);
            }
        }
        let Some(copying) = self.copying.as_mut().filter(|_| !self.inherited) else { return Vec::new() };
        copying.pause(time)
    }

    /// Notes that the model answers, or never will.
    pub(super) fn answered(&mut self) {
        if let Some(copying) = &mut self.copying {
            copying.unanswered.clear();
        }
    }
}

impl Copying {
    fn of(from: Name, time: Option<Time>) -> Self {
        Copying { from, sure: true, last: time, old_turn: false, unanswered: Vec::new() }
    }

    /// Notes the time of a record. A copy is written in one go, so a pause makes it doubtful; and a pause after a prompt is the model at work
    /// on it, so that prompt is no copy.
    fn pause(&mut self, time: Option<Time>) -> Vec<UnansweredPrompt> {
        const PAUSE: i64 = 1_000_000;
        let long_after = |before: Option<Time>| before.zip(time).is_some_and(|(before, time)| before.micros_until(time) > PAUSE);
        // Records about the turn may come in between.
        let asked = self.unanswered.first().and_then(|first| first.here.time);
        let paused = long_after(self.last) || long_after(asked);
        self.last = time.or(self.last);
        if !paused {
            return Vec::new();
        }
        self.sure = false;
        std::mem::take(&mut self.unanswered)
    }
}

impl Assembler {
    pub(super) fn begin(&mut self, begin: &Begin<'_>) {
        let id = self.out.names.of(&begin.id);
        match self.owner.id {
            None => self.first_begin(id, begin),
            // The log names itself again: the copied part is over.
            Some(own) if own == id => self.owner.copying = None,
            Some(_) => self.owner.copying = Some(Copying::of(id, self.here.time)),
        }
    }

    fn first_begin(&mut self, id: Name, begin: &Begin<'_>) {
        self.owner.id = Some(id);
        self.owner.made = begin.made.or(self.here.time);
        self.owner.own_from = begin.own_from;
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
            self.owner.answered();
            self.ends_with(Ending::Spoke);
            return self.sequel(Sequel::MovedOn, None);
        }
        self.ends_with(Ending::Busy);
        // Another turn: open calls stay without a result. A prompt does not prove as much, since it may steer the running
        // turn.
        let another = work.turn.is_none() || work.turn != self.turn;
        // Where turns have no names, the record that begins one may follow its prompt.
        if another && work.turn.is_some() {
            self.owner.answered();
        }
        if another {
            self.sequel(Sequel::MovedOn, None);
        }
        self.turn = work.turn;
        // Work that began after this conversation was created cannot be a copy of another one.
        let after = work.made.zip(self.owner.made).map(|(work, made)| work >= made);
        if after == Some(true) {
            self.owner.copying = None;
        }
        if let Some(copying) = self.owner.copying.as_mut().filter(|_| another || after.is_some()) {
            copying.old_turn = after == Some(false);
        }
    }

    /// Keeps a prompt that is probably a copy until the model answers it.
    pub(super) fn keep_unanswered(&mut self, prompt: &Prompt<'_>) {
        let here = self.here;
        // Turns whose start is known need no guess.
        if let Some(copying) = self.owner.copying.as_mut().filter(|copying| copying.sure && !copying.old_turn) {
            let head = Cow::Owned(prompt.head.clone().into_owned());
            copying.unanswered.push(UnansweredPrompt { here, prompt: Prompt { head, ..*prompt } });
        }
    }

    /// Takes in prompts that were kept, as if they were read again.
    pub(super) fn take_prompts(&mut self, prompts: Vec<UnansweredPrompt>) {
        for UnansweredPrompt { here, prompt } in prompts {
            self.here = here;
            self.prompt(&prompt);
        }
    }
}
