//! Turns: the person's prompts, each counted once however often the log repeats it.

use super::Assembler;
use crate::event::{Echo, Id, Origin, Prompt, TitleBy};
use crate::summary::{Ending, TurnRecord};
use crate::verdict::Sequel;
use crate::{Map, Set};

/// Prompts that are not settled yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Talk {
    /// A command that begins a turn if the model answers it.
    command: Option<UnsettledPrompt>,
    /// Queued prompts that have not appeared in the conversation.
    queued: Map<u64, UnsettledPrompt>,
    /// Prompts delivered in the middle of a turn, which may appear again as a record of their own.
    mid_turn: Set<u64>,
    /// The last prompt's form, where a log records each prompt in two forms.
    told: Echo,
}

/// A prompt that may begin a turn.
#[derive(Clone, Debug)]
struct UnsettledPrompt {
    turn: TurnRecord,
    /// How it begins.
    head: Box<str>,
    /// Whether it left the queue for the model or an agent, so that it cannot be taken back any more.
    delivered: bool,
}

impl UnsettledPrompt {
    /// The weight of its words as a title. The name of a command alone says little about a session.
    fn title_by(&self) -> TitleBy {
        if self.head.contains(char::is_whitespace) { TitleBy::Prompt } else { TitleBy::Command }
    }
}

impl Talk {
    /// Notes that the model was at work: the next prompt is another one.
    pub(super) fn answered(&mut self) {
        self.told = Echo::None;
    }

    /// Whether a prompt repeats the one before it in the other form.
    fn is_echo(&mut self, new: Echo) -> bool {
        let echo = matches!((self.told, new), (Echo::Sent, Echo::Shown) | (Echo::Shown, Echo::Sent));
        self.told = if echo { Echo::None } else { new };
        echo
    }

    /// Notes that the agent ran the last command itself.
    pub(super) fn command_ran(&mut self) {
        self.command = None;
    }

    /// Notes that the person took back all prompts that waited.
    pub(super) fn clear_queue(&mut self) {
        self.queued.retain(|_, prompt| prompt.delivered);
    }

    /// Notes that a prompt was dropped from the queue.
    pub(super) fn unqueue(&mut self, digest: u64) {
        self.queued.remove(&digest);
    }

    /// Notes that a prompt left the queue for the model or an agent; without a name, the one that waited longest.
    pub(super) fn deliver(&mut self, digest: Option<u64>) {
        let oldest = || {
            let waiting = self.queued.iter().filter(|(_, prompt)| !prompt.delivered);
            waiting.min_by_key(|(_, prompt)| prompt.turn.at).map(|(digest, _)| *digest)
        };
        let digest = digest.or_else(oldest);
        if let Some(prompt) = digest.and_then(|digest| self.queued.get_mut(&digest)) {
            prompt.delivered = true;
        }
    }
}

impl Assembler {
    pub(super) fn prompt(&mut self, prompt: &Prompt<'_>) {
        self.count(prompt.head.len());
        let turn = TurnRecord {
            at: self.here.at,
            time: self.here.time,
            session: self.here.session,
            node: self.here.node,
            original: self.here.original.or_else(|| self.prompt_id(prompt)),
            abandoned: false,
        };
        if self.owner.is_copy() {
            return self.keep_unanswered(prompt);
        }
        let said = self.here.within.filter(|_| prompt.digest != 0);
        // The first prompt of a subagent is its task, by which the call that started it is found.
        if let Some(agent) = said.and_then(|within| self.out.agents.get_mut(within as usize)) {
            agent.prompt = agent.prompt.or(Some(prompt.digest));
        }
        if matches!(prompt.origin, Origin::Human | Origin::Agent | Origin::Queued) {
            self.ends_with(Ending::Told);
        }
        match prompt.origin {
            Origin::Program | Origin::Agent => {}
            // Queued outside of the conversation: it counts when it is delivered, or at the end.
            Origin::Queued if self.here.node.is_none() => {
                let head = prompt.head.as_ref().into();
                self.talk.queued.insert(prompt.digest, UnsettledPrompt { turn, head, delivered: false });
            }
            Origin::Queued => {
                self.talk.queued.remove(&prompt.digest);
                self.talk.mid_turn.insert(prompt.digest);
                self.turn(turn, &prompt.head);
            }
            Origin::Command | Origin::Local => {
                let head = prompt.head.as_ref().into();
                let command = UnsettledPrompt { turn, head, delivered: false };
                self.talk.command = Some(command).filter(|_| prompt.origin == Origin::Command);
                self.sequel(Sequel::MovedOn, None);
            }
            Origin::Human if self.talk.is_echo(prompt.echo) => {}
            Origin::Human => {
                self.talk.queued.remove(&prompt.digest);
                // While the model works, a prompt steers it: open calls may still get their results.
                if self.at_work {
                    self.steered = self.steered.or(Some(self.here.at));
                } else {
                    self.sequel(Sequel::MovedOn, None);
                }
                // Delivered before, in the middle of a turn; this is its second record.
                if !self.talk.mid_turn.remove(&prompt.digest) {
                    self.turn(turn, &prompt.head);
                }
            }
        }
    }

    /// Identifies a prompt in another copy of the same log, where records have no ids of their own.
    fn prompt_id(&self, prompt: &Prompt<'_>) -> Option<Id> {
        let owner = self.out.names.text(self.owner.of_record()?);
        let time = self.here.time?.as_millisecond();
        Some(super::hash(&format!("{owner}\n{time}\n{}", prompt.digest)))
    }

    fn turn(&mut self, turn: TurnRecord, head: &str) {
        // One message may consist of several texts.
        if self.here.sidechain || self.out.turns.last().is_some_and(|last| last.at == turn.at) {
            return;
        }
        if let Some(node) = turn.node {
            self.chain.prompt(node);
        }
        self.talk.command = None;
        self.out.turns.push(turn);
        self.title(self.here.session, TitleBy::Prompt, head);
    }

    /// Notes that the model spoke: open calls of other messages get no result, and a pending command becomes a turn.
    pub(super) fn spoke(&mut self, message: Option<Id>) {
        let Some(message) = message else { return };
        if !self.here.sidechain
            && let Some(command) = self.talk.command.take()
        {
            self.title(command.turn.session, command.title_by(), &command.head);
            self.out.turns.push(command.turn);
        }
        self.sequel(Sequel::MovedOn, Some(message));
    }

    /// Retracts the last turns.
    pub(super) fn rollback(&mut self, turns: u32) {
        let session = self.here.session;
        let mut left = turns;
        for turn in self.out.turns.iter_mut().rev().filter(|turn| turn.session == session && !turn.abandoned) {
            let Some(rest) = left.checked_sub(1) else { break };
            turn.abandoned = true;
            left = rest;
        }
        self.out.shape.retracted = self.out.shape.retracted.saturating_add(turns - left);
    }

    /// Settles prompts that were queued and never seen again: they were delivered without a trace, and count where they
    /// were typed.
    pub(super) fn settle_talk(&mut self) {
        let mut queued: Vec<UnsettledPrompt> = self.talk.queued.drain().map(|(_, prompt)| prompt).collect();
        queued.sort_by_key(|prompt| prompt.turn.at);
        for prompt in queued {
            self.title(prompt.turn.session, TitleBy::Prompt, &prompt.head);
            self.out.turns.push(prompt.turn);
        }
        // A command that the model never answered still says what the session was meant for.
        if let Some(command) = self.talk.command.take() {
            self.title(command.turn.session, command.title_by(), &command.head);
        }
    }
}
