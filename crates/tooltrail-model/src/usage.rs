//! Tokens: the cost of one request, and which of several records about it to believe.

use crate::Time;
use crate::text::Name;
use serde::{Deserialize, Serialize};

/// Tokens of one request or a sum of them. Cached input is not part of `input`.
#[derive(Clone, Copy, Debug, Hash, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Fresh input.
    pub input: u64,
    /// Output, including thinking.
    pub output: u64,
    /// Input written to the five-minute cache.
    pub cache_write_5m: u64,
    /// Input written to the one-hour cache.
    pub cache_write_1h: u64,
    /// Input read from the cache.
    pub cache_read: u64,
}

/// More tokens than one request can have: models read a few million at most.
const MOST_OF_REQUEST: u64 = 100_000_000;

/// More tokens than a conversation can have: a thousand of the largest requests.
const MOST_OF_CONVERSATION: u64 = 1000 * MOST_OF_REQUEST;

impl Tokens {
    /// A count that no request can have, if there is one. A single such number would drown every sum that it is part of.
    pub fn absurd(&self) -> Option<u64> {
        self.most().filter(|most| *most > MOST_OF_REQUEST)
    }

    /// A count that not even all requests of a conversation can have together.
    pub fn absurd_in_total(&self) -> Option<u64> {
        self.most().filter(|most| *most > MOST_OF_CONVERSATION)
    }

    fn most(&self) -> Option<u64> {
        [self.input, self.output, self.cache_write_5m, self.cache_write_1h, self.cache_read].into_iter().max()
    }

    /// Adds without overflowing.
    pub fn add(&mut self, other: &Tokens) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_write_5m = self.cache_write_5m.saturating_add(other.cache_write_5m);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
    }
}

/// One record about one request. Several records may describe the same request while its answer streams in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSnapshot {
    /// Hash of the API message's id.
    pub message: u64,
    /// Hash of the request's id, where the record names one.
    pub request: Option<u64>,
    /// Whether it was written by a subagent or a helper.
    pub sidechain: bool,
    /// The session it was written under.
    pub session: Option<Name>,
    /// The model that answered.
    pub model: Option<Name>,
    /// Time.
    pub time: Option<Time>,
    /// Number of the record, which breaks ties.
    pub line: u64,
    /// The numbers.
    pub tokens: Tokens,
    /// Tool uses on the service's side: searches and fetches.
    pub server_tools: [u32; 2],
    /// The service tier, in the agent's spelling.
    pub tier: Option<Name>,
    /// Whether another agent's log only reports it.
    pub reported: bool,
}

impl UsageSnapshot {
    /// Whether this record is more reliable than another about the same request: more output, or later at a tie.
    pub fn beats(&self, other: &UsageSnapshot) -> bool {
        (self.tokens.output, self.time, self.line) > (other.tokens.output, other.time, other.line)
    }
}
