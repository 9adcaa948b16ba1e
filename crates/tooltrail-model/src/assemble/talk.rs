//! Turns: what a person said to the model, each counted once however often the log repeats it.

use super::Assembler;
use crate::event::{Id, Origin, Prompt, TitleBy};
use crate::summary::TurnRecord;
use crate::verdict::Sequel;
use crate::{Map, Set};

/// What is said but not settled yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Talk {
    /// A command that begins a turn if the model answers it.
    command: Option<TurnRecord>,
    /// Prompts put in the queue that have not appeared in the conversation.
    pub(super) queued: Map<u64, TurnRecord>,
    /// Prompts handed over in the middle of a turn, which may appear once more as a record of their own.
    mid_turn: Set<u64>,
}

impl Assembler {
    pub(super) fn prompt(&mut self, prompt: &Prompt<'_>) {
        let turn = TurnRecord {
            at: self.here.at,
            time: self.here.time,
            session: self.here.session,
            node: self.here.node,
            original: self.here.original,
            abandoned: false,
        };
        if let Some(agent) = self.here.within.and_then(|within| self.out.agents.get_mut(within as usize)) {
            agent.prompt = agent.prompt.or(Some(prompt.digest));
        }
        match prompt.origin {
            Origin::Program | Origin::Agent => {}
            Origin::Queued if self.here.node.is_none() => {
                self.talk.queued.insert(prompt.digest, turn);
            }
            Origin::Queued => {
                self.talk.queued.remove(&prompt.digest);
                self.talk.mid_turn.insert(prompt.digest);
                self.turn(turn, &prompt.head);
            }
            Origin::Command => {
                self.title(TitleBy::Command, &prompt.head);
                self.talk.command = Some(turn);
                self.sequel(Sequel::MovedOn, None);
            }
            Origin::Human => {
                self.talk.queued.remove(&prompt.digest);
                self.sequel(Sequel::MovedOn, None);
                if !self.talk.mid_turn.remove(&prompt.digest) {
                    self.turn(turn, &prompt.head);
                }
            }
        }
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
        self.title(TitleBy::Prompt, head);
    }

    /// The model said something: open calls of other messages will get no result, and a command becomes a turn.
    pub(super) fn spoke(&mut self, message: Option<Id>) {
        let Some(message) = message else { return };
        if !self.here.sidechain
            && let Some(turn) = self.talk.command.take()
        {
            self.out.turns.push(turn);
        }
        self.sequel(Sequel::MovedOn, Some(message));
    }

    /// What was queued and never seen again was handed over without a trace: it counts where it was typed.
    pub(super) fn settle_talk(&mut self) {
        let mut queued: Vec<TurnRecord> = self.talk.queued.drain().map(|(_, turn)| turn).collect();
        queued.sort_by_key(|turn| turn.at);
        self.out.turns.extend(queued);
    }
}
