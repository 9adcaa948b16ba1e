//! Tokens that a log records for each response of the model, by the response's id.
//!
//! Most logs report the same tokens as running totals as well (`meter`), so these numbers count only where the totals say nothing: in a
//! log without any, and for a response that summarised the history and that no reading of the totals reports.

use super::Assembler;
use crate::Set;
use crate::event::{Id, ResponseUsage};
use crate::usage::{Tokens, UsageSnapshot};

/// The responses of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct Responses {
    /// Each response once, with its id.
    all: Vec<(Id, UsageSnapshot)>,
    known: Set<Id>,
    /// Responses that summarised the history.
    summaries: Set<Id>,
}

impl Responses {
    /// Number of responses.
    pub(super) fn len(&self) -> usize {
        self.all.len() + self.summaries.len()
    }

    /// Notes that a response summarised the history.
    pub(super) fn summarised(&mut self, response: Id) {
        self.summaries.insert(response);
    }
}

impl Assembler {
    pub(super) fn response(&mut self, usage: &ResponseUsage<'_>) {
        let owner = || super::hash(self.out.names.text(self.owner.of_record().unwrap_or(self.here.session)));
        let id = usage.thread.unwrap_or_else(owner).rotate_left(32) ^ usage.response;
        // Records of the same response repeat it.
        if self.owner.is_copy() || !self.responses.known.insert(id) {
            return;
        }
        let Some(tokens) = self.sane(usage.tokens) else { return };
        let model = self.renamed(&usage.model, self.model).or(self.model);
        let snapshot = UsageSnapshot {
            message: id,
            request: None,
            sidechain: self.here.sidechain,
            session: Some(self.here.session),
            model,
            time: self.here.time,
            line: self.here.at.line,
            tokens,
            server_tools: [0; 2],
            tier: None,
            reported: false,
        };
        self.responses.all.push((usage.response, snapshot));
    }

    /// Counts the responses that the running totals do not report.
    pub(super) fn settle_responses(&mut self) {
        let Responses { all, summaries, .. } = std::mem::take(&mut self.responses);
        if all.is_empty() {
            return;
        }
        // Everything that was counted so far is a reading of the totals.
        let readings: Set<[u64; 3]> = self.out.usage.iter().map(|reading| numbers(&reading.tokens)).collect();
        let counts = |(response, one): &(Id, UsageSnapshot)| {
            readings.is_empty() || (summaries.contains(response) && !readings.contains(&numbers(&one.tokens)))
        };
        self.out.usage.extend(all.into_iter().filter(counts).map(|(_, snapshot)| snapshot));
    }
}

fn numbers(tokens: &Tokens) -> [u64; 3] {
    [tokens.input, tokens.output, tokens.cache_read]
}
