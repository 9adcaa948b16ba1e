//! Turns and calls in the order of the page, without messages: for views that show when things happened.

use super::super::plan::{PlanRow, ThreadHome};
use super::{SessionPageRequest, Window};
use tooltrail_model::transcript::{EntryKind, Transcript};

/// A line of such a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderedLine {
    /// A turn begins, by its place in `Transcript::turns`.
    Turn(usize),
    /// A conversation that no call of the page holds, by its place in `Transcript::threads`; `None` for calls that stand in none.
    Thread(Option<usize>),
    /// A call.
    Call {
        /// Its place in `Transcript::calls`.
        index: usize,
        /// Number of calls around it.
        depth: usize,
    },
}

impl Window {
    /// The turns and calls in the order of the page, those of subagents where their call stands.
    pub fn order(&self, transcript: &Transcript<'_>) -> Vec<OrderedLine> {
        let mut order = Vec::new();
        for root in self.plan.roots() {
            self.order_in(transcript, root, 0, &mut order);
        }
        // A heading without calls below it has nothing to show here.
        let followed: Vec<bool> = order.iter().skip(1).map(|next| matches!(next, OrderedLine::Call { .. })).chain([false]).collect();
        let kept = order.into_iter().zip(followed).filter(|(placed, followed)| *followed || !matches!(placed, OrderedLine::Thread(_)));
        kept.map(|(placed, _)| placed).collect()
    }

    fn order_in(&self, transcript: &Transcript<'_>, section: usize, depth: usize, order: &mut Vec<OrderedLine>) {
        let Some(chunk) = self.plan.chunks.get(section) else { return };
        if chunk.heads {
            order.push(OrderedLine::Thread(chunk.thread));
        }
        for row in &chunk.rows {
            if let PlanRow::Entry { begins: Some(turn), .. } = row {
                order.push(OrderedLine::Turn(*turn));
            }
            let Some(index) = row.call() else { continue };
            order.push(OrderedLine::Call { index, depth });
            for &thread in transcript.calls.get(index).map_or(&[][..], |call| &call.threads) {
                // Shown only in its home, as on the page itself.
                let here = self.plan.homes.get(thread) == Some(&ThreadHome::Call(index));
                for &section in self.plan.of_thread.get(thread).filter(|_| here).map_or(&[][..], |sections| sections) {
                    self.order_in(transcript, section, depth + 1, order);
                }
            }
        }
    }

    /// The address of a call's row in the transcript, if it has one.
    pub fn row_address(&self, call: usize, at: &SessionPageRequest<'_>) -> Option<String> {
        Some(format!("{}{}", at.base, self.address(self.anchor(call)?)))
    }

    /// The address of a call's own page.
    pub fn page_address(&self, transcript: &Transcript<'_>, call: usize, at: &SessionPageRequest<'_>) -> Option<String> {
        Some(self.page_of(transcript.calls.get(call)?, call, at))
    }

    /// The call that an anchor of the page leads to. Where that is a turn or a message, the next call of its conversation.
    pub fn call_at(&self, transcript: &Transcript<'_>, anchor: &str) -> Option<usize> {
        // Ids first: an id from a log may look like `turn-3`, and then the page gave it another anchor.
        if let Some(call) = self.plan.anchors.iter().position(|known| known == anchor) {
            return Some(call);
        }
        let first = |entries: &[tooltrail_model::transcript::Entry]| {
            entries.iter().find_map(|entry| if let EntryKind::Call(call) = entry.what { Some(call) } else { None })
        };
        if let Some(turn) = anchor.strip_prefix("turn-") {
            let turn = transcript.turns.get(turn.parse::<usize>().ok()?.checked_sub(1)?)?;
            // A turn may have no calls; then the first call of a later turn is the nearest.
            return first(transcript.threads.first()?.entries.get(turn.entries.start..)?);
        }
        let thread = anchor.strip_prefix('m')?.split('-').next()?.parse::<usize>().ok()?;
        let entries = &transcript.threads.get(thread)?.entries;
        let place = entries.iter().position(|entry| super::way::message(thread, entry) == anchor)?;
        first(entries.get(place..)?)
    }
}
