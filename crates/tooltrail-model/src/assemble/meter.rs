//! Tokens that a log records as running totals: each reading counts once, by the difference to the one before.

use super::Assembler;
use crate::event::Meter;
use crate::issue::IssueCode;
use crate::usage::{Tokens, UsageSnapshot};
use std::hash::{BuildHasher, Hash, Hasher};

impl Assembler {
    pub(super) fn meter(&mut self, meter: &Meter) {
        let before = self.meter;
        if meter.total.is_some() && meter.total == before {
            // A repeated reading.
            return;
        }
        let meter =
            &Meter { total: meter.total.and_then(|total| self.sane_total(total)), last: meter.last.and_then(|last| self.sane(last)) };
        self.meter = meter.total.or(before);
        let Some(tokens) = meter.last.or_else(|| meter.total.map(|total| since(&total, before.as_ref()))) else { return };
        // A copy repeats tokens that the original log has counted already.
        if self.owner.is_copy() {
            return;
        }
        let snapshot = UsageSnapshot {
            message: self.reading(meter),
            request: None,
            sidechain: self.here.sidechain,
            session: Some(self.here.session),
            model: self.model,
            time: self.here.time,
            line: self.here.at.line,
            tokens,
            server_tools: [0; 2],
            tier: None,
            reported: false,
        };
        self.out.usage.push(snapshot);
    }

    /// The tokens of a request, unless there are more than any request can have, which is reported and counts as nothing.
    pub(super) fn sane(&mut self, tokens: Tokens) -> Option<Tokens> {
        self.unless_absurd(tokens, tokens.absurd(), "request")
    }

    /// The tokens of a conversation so far, unless there are more than any can have. The next reading is then compared with the one before.
    fn sane_total(&mut self, total: Tokens) -> Option<Tokens> {
        self.unless_absurd(total, total.absurd_in_total(), "conversation")
    }

    fn unless_absurd(&mut self, tokens: Tokens, absurd: Option<u64>, whole: &str) -> Option<Tokens> {
        let Some(count) = absurd else { return Some(tokens) };
        let text = format!("{count} tokens, more than a {whole} can have; they are not added up");
        self.issue(IssueCode::AbsurdTokens, self.here.at.line, text);
        None
    }

    /// Identifies a reading in copies of the log: totals only grow, so within a conversation they are unique.
    fn reading(&self, meter: &Meter) -> u64 {
        let mut hasher = foldhash::quality::FixedState::with_seed(0x6d65_7465).build_hasher();
        let owner = self.owner.of_record().unwrap_or(self.here.session);
        self.out.names.text(owner).hash(&mut hasher);
        let number = |tokens: &Tokens| [tokens.input, tokens.output, tokens.cache_read];
        meter.last.as_ref().map(number).hash(&mut hasher);
        match &meter.total {
            Some(total) => number(total).hash(&mut hasher),
            None => (self.here.time.map(|time| time.as_millisecond()), self.here.at.line).hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// Difference to the reading before; where a total has dropped, the meter was reset and all of it is new.
fn since(total: &Tokens, before: Option<&Tokens>) -> Tokens {
    let Some(before) = before else { return *total };
    let added = |field: fn(&Tokens) -> u64| field(total).checked_sub(field(before));
    let added = (added(|t| t.input), added(|t| t.output), added(|t| t.cache_read));
    match added {
        (Some(input), Some(output), Some(cache_read)) => Tokens { input, output, cache_read, ..Tokens::default() },
        _ => *total,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_counts_and_a_drop_starts_anew() {
        let tokens = |input, output, cache_read| Tokens { input, output, cache_read, ..Tokens::default() };
        assert_eq!(since(&tokens(900, 450, 700), None), tokens(900, 450, 700));
        assert_eq!(since(&tokens(900, 450, 700), Some(&tokens(500, 400, 700))), tokens(400, 50, 0));
        assert_eq!(since(&tokens(100, 500, 700), Some(&tokens(500, 400, 700))), tokens(100, 500, 700));
    }
}
