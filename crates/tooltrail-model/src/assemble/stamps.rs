//! Timestamps that say nothing about a call: a resumed session may write its history again, with the moment of the resume on every record.
//!
//! A model gives its next answer only once it has the results of the one before, which takes far longer than [`TOGETHER`]. So results of
//! two answers of one conversation that carry the same time were not written when their tools ended. Results of parallel calls belong to
//! one answer and may honestly have one time.

use super::Assembler;
use crate::summary::CallRecord;
use crate::text::Names;
use crate::{At, Map, Time};

/// The time between two results, in microseconds, up to which they count as written at once.
const TOGETHER: i64 = 2_000;

/// The last answer without a name in a conversation, while its calls are gone through.
struct NamelessAnswer {
    number: usize,
    turn: Option<u32>,
    /// Its first result.
    first: Option<At>,
}

/// The answers of the model that calls belong to, each by the number of its first call.
#[derive(Default)]
struct Answers {
    /// By the conversation and a fingerprint of the message's name.
    named: Map<(Option<u32>, u64), usize>,
    nameless: Map<Option<u32>, NamelessAnswer>,
}

impl Answers {
    fn number(&mut self, index: usize, call: &CallRecord, names: &Names) -> usize {
        // Calls of one message need not follow each other: results may come in between. Then a message has several names, all of one text.
        if let Some(message) = call.message {
            return *self.named.entry((call.within, super::hash(names.text(message)))).or_insert(index);
        }
        let result = call.result.as_ref().map(|result| result.at);
        // Without the name of a message, an answer ends with the first result or the next prompt.
        let made = |answer: &&mut NamelessAnswer| answer.turn == call.turn && answer.first.is_none_or(|result| call.at <= result);
        if let Some(answer) = self.nameless.get_mut(&call.within).filter(made) {
            answer.first = [answer.first, result].into_iter().flatten().min();
            return answer.number;
        }
        self.nameless.insert(call.within, NamelessAnswer { number: index, turn: call.turn, first: result });
        index
    }
}

impl Assembler {
    /// Marks the results whose time is only that of their writing.
    pub(super) fn settle_stamps(&mut self) {
        let results = self.out.calls.iter().enumerate().filter_map(|(index, call)| {
            let time = call.result.as_ref()?.time?;
            Some((call.within, time, index))
        });
        let mut stamped: Vec<(Option<u32>, Time, usize)> = results.collect();
        stamped.sort_unstable();
        let near = |a: &(Option<u32>, Time, usize), b: &(Option<u32>, Time, usize)| a.0 == b.0 && a.1.micros_until(b.1) <= TOGETHER;
        // Most logs have no two results this close, and need no answers.
        let mut numbers = None;
        let mut rewritten = Vec::new();
        for burst in stamped.chunk_by(near) {
            let apart = burst.len() > 1 && {
                let numbers = numbers.get_or_insert_with(|| self.answers());
                burst.iter().any(|(_, _, index)| numbers[*index] != numbers[burst[0].2])
            };
            rewritten.extend(burst.iter().filter(|(_, time, index)| apart || self.is_all_at(*index, *time)).map(|(_, _, index)| *index));
        }
        for index in rewritten {
            if let Some(result) = self.out.calls[index].result.as_mut() {
                result.rewritten = true;
            }
        }
    }

    /// The answer of each call.
    fn answers(&self) -> Vec<usize> {
        let mut answers = Answers::default();
        self.out.calls.iter().enumerate().map(|(index, call)| answers.number(index, call, &self.out.names)).collect()
    }

    /// Whether a call, the prompt of its turn and its result have one and the same time.
    fn is_all_at(&self, index: usize, time: Time) -> bool {
        let call = &self.out.calls[index];
        let turn = call.turn.and_then(|turn| self.out.turns.get(turn as usize));
        call.time == Some(time) && turn.is_some_and(|turn| turn.time == Some(time))
    }
}
