//! A session on a true time axis: from when to when each call went on, as far as the log says, which calls were made side by side, and
//! which stretches of time nothing happened in.
//!
//! Pure: a [`Bar`] says no more than the call's row does. Whoever draws it decides how.

use crate::digest::{Lapse, Who};
use crate::event::TaskState;
use crate::row::{CallRow, Place};
use crate::transcript::CallEntry;
use crate::{Kind, Map, Reason, Status, Time};

/// A stretch without work is a gap if it is longer than this, in milliseconds.
pub const GAP: i64 = 60_000;

/// A call on the time axis. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// From when to when it went on.
    pub extent: Extent,
    /// How long it took, as its row says.
    pub took: Option<u64>,
    /// How long the tool itself ran, as its row says; it is the last part of the time that the call took.
    pub ran: Option<u64>,
    /// It waits, or waited, for a person: a question, a plan, a permission that is not given yet.
    pub person: bool,
    /// Its hooks, from when to when.
    pub hooks: Vec<(i64, i64)>,
    /// The background task that it started.
    pub task: Option<Task>,
}

/// From when to when a call went on, as far as the log says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The log does not say.
    Unknown,
    /// Only one time is known: that of its request, or that of its result.
    At(i64),
    /// Both are known.
    Whole {
        /// When it was requested.
        start: i64,
        /// When its result was written.
        end: i64,
        /// It may have ended before: results of several calls were written at once.
        at_most: bool,
    },
    /// It goes on.
    Running(i64),
    /// It began then, and has no end in the log.
    Open(i64),
}

/// What became of a background task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// When it ended.
    pub end: Option<i64>,
    /// Whether it goes on.
    pub running: bool,
}

impl Bar {
    /// The bar of a call. `at_most`: its result was written together with others.
    pub fn new(call: &CallEntry<'_>, at_most: bool) -> Self {
        let row = &call.row;
        let asked = matches!(row.kind, Kind::Question | Kind::Plan);
        Bar {
            extent: extent(row, call.time.map(Time::as_millisecond), at_most),
            took: row.duration_ms,
            // A tool that reports no time of its own reports a zero.
            ran: row.run_ms.filter(|run| *run > 0),
            person: asked || (row.status == Status::Running && row.reason == Some(Reason::AwaitingPermission)),
            hooks: call.hooked.iter().map(|(start, end)| (start.as_millisecond(), end.as_millisecond())).collect(),
            task: row
                .background
                .as_ref()
                .map(|task| Task { end: task.ended_at.map(Time::as_millisecond), running: task.state == TaskState::Running }),
        }
    }

    /// How long it waited before the tool ran: for a permission, in a queue, for hooks. `None` where the log does not tell.
    pub fn waited(&self) -> Option<u64> {
        Some(self.took?.saturating_sub(self.ran?))
    }

    /// When it began, or the one time that is known of it.
    pub fn start(&self) -> Option<i64> {
        match self.extent {
            Extent::Unknown => None,
            Extent::At(at) => Some(at),
            Extent::Whole { start, .. } | Extent::Running(start) | Extent::Open(start) => Some(start),
        }
    }

    /// The last time that is known of it, its hooks and its task.
    pub fn last(&self) -> Option<i64> {
        let own = if let Extent::Whole { end, .. } = self.extent { Some(end) } else { self.start() };
        let hooks = self.hooks.iter().map(|(_, end)| *end);
        own.into_iter().chain(hooks).chain(self.task.and_then(|task| task.end)).max()
    }
}

fn extent(row: &CallRow<'_>, requested: Option<i64>, at_most: bool) -> Extent {
    let lasted = row.duration_ms.and_then(|lasted| i64::try_from(lasted).ok());
    match (requested, lasted) {
        (Some(start), Some(lasted)) => Extent::Whole { start, end: start.saturating_add(lasted), at_most },
        (Some(start), None) if row.status == Status::Running => Extent::Running(start),
        (Some(start), None) if row.result.is_none() => Extent::Open(start),
        // There is an end, and no beginning that goes with it: the request was written with it, or by another clock.
        (requested, _) => row.completed_at.map(Time::as_millisecond).or(requested).map_or(Extent::Unknown, Extent::At),
    }
}

/// The bars of a session's calls, in their order.
pub fn bars(calls: &[CallEntry<'_>]) -> Vec<Bar> {
    let mut answers: Map<Place<'_>, u32> = Map::default();
    for place in calls.iter().filter_map(|call| call.row.result) {
        *answers.entry(place).or_default() += 1;
    }
    let together = |call: &CallEntry<'_>| call.row.result.is_some_and(|place| answers.get(&place).is_some_and(|count| *count > 1));
    calls.iter().map(|call| Bar::new(call, together(call))).collect()
}

/// The stretches in which nothing went on for longer than [`GAP`]: no tool, no hook, no model, and no call but those that ask a person.
/// A task in the background goes on for hours, and does not count.
pub fn gaps(lapse: &Lapse, bars: &[Bar]) -> Vec<(i64, i64)> {
    let at_work = lapse.spans().filter(|(who, ..)| matches!(who, Some(Who::Hook | Who::Tool | Who::Model)));
    let mut busy: Vec<(i64, i64)> = at_work.map(|(_, start, end)| (start, end)).collect();
    busy.extend(bars.iter().filter_map(|bar| match bar.extent {
        Extent::Unknown => None,
        Extent::Whole { start, end, .. } if !bar.person => Some((start, end)),
        // Something is drawn there, however long it is.
        Extent::At(start) | Extent::Whole { start, .. } | Extent::Running(start) | Extent::Open(start) => Some((start, start)),
    }));
    let (Some(first), Some(last)) = (lapse.first, lapse.last()) else { return Vec::new() };
    busy.push((last, last));
    busy.sort_unstable();
    let (mut gaps, mut here) = (Vec::new(), first);
    for (start, end) in busy {
        let start = start.min(last);
        if start.saturating_sub(here) > GAP {
            gaps.push((here, start));
        }
        here = here.max(end);
    }
    gaps
}

#[cfg(test)]
mod tests;
