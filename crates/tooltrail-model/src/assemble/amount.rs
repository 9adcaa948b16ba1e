//! How much an assembler keeps of its source, and the limit on that.
//!
//! A log of a few kilobytes may unpack to millions of tiny records, each of which is kept as a call, a turn, a problem. So what
//! is kept is measured now and then, and from a limit on nothing more is taken. The measure counts entries by their size; it need not be exact.

use super::Assembler;
use crate::event::{CallResult, Hook, Id};
use crate::issue::Issue;
use crate::summary::{
    AgentRecord, CallRecord, ClaimRecord, HookRecord, LooseHook, Orphan, ResultRecord, SessionRecord, TaskRecord, TurnRecord,
};
use crate::usage::UsageSnapshot;
use std::mem::size_of;

/// Number of events between two measurements, which are cheap, but not free.
const EVERY: u32 = 4096;

/// Bytes that a call takes in the tables by which it is found, and an entry in a table of hashes.
const TABLES: usize = 160;
const SLOT: usize = 40;
/// Bytes of a session and of a turn, with what they become when logs are linked and stored.
const SESSION: usize = size_of::<SessionRecord>() + 1800;
const TURN: usize = 2 * size_of::<TurnRecord>() + 100;
/// A line of which nothing is kept counts all the same: billions of empty ones would take hours.
const LINE: usize = 8;
/// Bytes of a record that is neither a call nor its result nor a prompt, when its session is shown.
const RECORD: usize = 300;
/// Bytes of a problem with its texts. `check` makes a copy of each.
const PROBLEM: usize = 2 * (size_of::<Issue>() + 100);

/// Bytes from which a source counts as large. Those of agents take less than half of it, with logs of a hundred megabytes.
const LARGE: usize = 32 << 20;

/// How much is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptAmount {
    /// Number of events so far.
    events: u32,
    /// Bytes of texts that are kept with entries, as far as they may be long.
    texts: usize,
    /// Number of results.
    results: usize,
    /// The limit in bytes; `None` for no limit.
    limit: Option<usize>,
    full: bool,
    large: bool,
}

impl Assembler {
    /// Limits how much is kept of the source, in bytes.
    pub fn limit(&mut self, bytes: usize) {
        self.amount.limit = Some(bytes);
    }

    /// Whether as much is kept as may be, so that nothing more is taken.
    pub fn is_full(&self) -> bool {
        self.amount.full
    }

    /// Whether so much is kept that only one such source should be read at a time.
    pub fn is_large(&self) -> bool {
        self.amount.large
    }

    /// Counts an event of which something is kept, with its texts as far as they may be of any length.
    pub(super) fn count(&mut self, texts: usize) {
        self.amount.texts += texts;
        self.amount.events = self.amount.events.wrapping_add(1);
        if self.amount.events.is_multiple_of(EVERY) {
            let kept = self.kept();
            self.amount.full |= self.amount.limit.is_some_and(|limit| kept > limit);
            self.amount.large |= kept > LARGE;
        }
    }

    /// Counts a type of records that is new.
    pub(super) fn count_new_type(&mut self, name: &str) {
        self.amount.texts += name.len() + 2 * SLOT;
    }

    /// Counts a result.
    pub(super) fn count_result(&mut self, result: &CallResult<'_>) {
        self.amount.results += 1;
        self.count(result.call.len() + length(result.background.as_deref()));
    }

    /// Counts a hook.
    pub(super) fn count_hook(&mut self, hook: &Hook<'_>) {
        self.count(size_of::<HookRecord>() + texts_of(hook));
    }

    /// About how many bytes are kept.
    pub fn kept(&self) -> usize {
        let out = &self.out;
        let calls = out.calls.len() + out.nested.len() + out.inner.len();
        let ids = out.nodes.len() + self.chain.len() + out.retracted.len() + out.leaf_titles.len();
        let lines = usize::try_from(out.tally.lines).unwrap_or(usize::MAX);
        let blank = usize::try_from(out.tally.blank).unwrap_or(usize::MAX);
        let others = lines.saturating_sub(blank).saturating_sub(calls + self.amount.results + out.turns.len());
        // Results that are not the one of their call wait for it in a list of their own, or become problems in the end.
        let surplus = self.amount.results.saturating_sub(calls);
        [
            calls * (size_of::<CallRecord>() + TABLES),
            self.ends.len() * (size_of::<CallRecord>() + size_of::<ResultRecord>()),
            self.calls.extra() * SLOT,
            out.tasks.len() * size_of::<TaskRecord>(),
            out.claims.len() * size_of::<ClaimRecord>(),
            out.agents.len() * (size_of::<AgentRecord>() + SLOT),
            (out.usage.len() + self.responses.len()) * (size_of::<UsageSnapshot>() + SLOT),
            out.sessions.len() * SESSION,
            out.turns.len() * TURN,
            lines.saturating_mul(LINE),
            others.saturating_mul(RECORD),
            out.hooks.len() * size_of::<LooseHook>(),
            (out.issues.len() + self.calls.reused()) * PROBLEM,
            surplus * (4 * size_of::<ResultRecord>() + size_of::<Orphan>() + PROBLEM),
            ids * (size_of::<Id>() + SLOT),
            out.names.kept(),
            out.rows.kept(),
            self.amount.texts,
        ]
        .iter()
        .sum()
    }
}

fn length(text: Option<&str>) -> usize {
    text.map_or(0, str::len)
}

/// The texts of a hook that are kept with it.
fn texts_of(hook: &Hook<'_>) -> usize {
    [&hook.call, &hook.event, &hook.name, &hook.command, &hook.status, &hook.decision, &hook.reason, &hook.context]
        .into_iter()
        .map(|text| length(text.as_deref()))
        .sum()
}
