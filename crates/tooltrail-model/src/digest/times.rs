//! Use of time: the wall time of a session, each moment of it assigned to whatever was active.
//!
//! Moments with several activities count once: hooks before tools, tools before people, people before the model.
//! Unexplained time is unknown.

use super::TimeBreakdown;
use super::beginnings;
use crate::book::Selection;
use crate::transcript::{CallEntry, EntryKind, Transcript};
use crate::{Kind, Time};

/// Activity, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// A hook.
    Hook,
    /// A tool, or waiting for permission to run it.
    Tool,
    /// Waiting for the person.
    Person,
    /// The model.
    Model,
}

/// The wall time of a session, divided where the activity changes. The parts are in order, none is empty, and each begins
/// where the one before it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lapse {
    /// Time of the first record, in milliseconds since 1970; `None` if there is none.
    pub first: Option<i64>,
    /// Activity and its end, in milliseconds since 1970. `None`: the logs do not say.
    pub parts: Vec<(Option<Who>, i64)>,
}

impl Lapse {
    /// Time of the last record.
    pub fn last(&self) -> Option<i64> {
        self.parts.last().map(|(_, end)| *end).or(self.first)
    }

    /// The parts with their beginnings: activity, start, end.
    pub fn spans(&self) -> impl Iterator<Item = (Option<Who>, i64, i64)> {
        let starts = self.first.into_iter().chain(self.parts.iter().map(|(_, end)| *end));
        starts.zip(&self.parts).map(|(start, &(who, end))| (who, start, end))
    }

    /// Sums by activity.
    pub fn times(&self) -> TimeBreakdown {
        let mut times = TimeBreakdown::default();
        for (who, start, end) in self.spans() {
            let millis = span_ms(start, end);
            let part = match who {
                Some(Who::Hook) => &mut times.hooks_ms,
                Some(Who::Tool) => &mut times.tools_ms,
                Some(Who::Person) => &mut times.person_ms,
                Some(Who::Model) => &mut times.model_ms,
                None => &mut times.unknown_ms,
            };
            *part += millis;
            times.wall_ms += millis;
        }
        times
    }
}

/// Longest time that the model may work without a record, in milliseconds.
const LONGEST: i64 = 60 * 60 * 1000;

/// An activity from start to end, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct ActivitySpan {
    who: Who,
    start: i64,
    end: i64,
}

/// An event of the main conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TimedEvent {
    at: i64,
    what: Happened,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happened {
    /// A tool returned.
    Answered,
    /// The person or an agent sent a prompt.
    Asked,
    /// The model thought, or called a tool.
    Worked,
    /// The model wrote a text.
    Spoke,
    /// The agent injected a text for the model.
    Told,
    /// Something else: a hook ran, a notice was written.
    Other,
}

/// Division of a session's time.
pub fn lapse(transcript: &Transcript<'_>, selection: &Selection) -> Lapse {
    let calls: Vec<&CallEntry<'_>> = transcript
        .calls
        .iter()
        .filter(|call| call.row.copy_of.is_none() && !call.row.is_inner() && selection.takes_turn(call.turn))
        .collect();
    let mut spans: Vec<ActivitySpan> = calls.iter().filter_map(|call| ran(call)).collect();
    let moments = moments(transcript, selection);
    spans.extend(between(&moments));
    let seen = transcript.threads.iter().flat_map(|thread| &thread.entries).filter(|entry| selection.takes(entry));
    let seen = seen.filter_map(|entry| entry.time).map(Time::as_millisecond);
    let whole = [transcript.session.started_at, transcript.session.last_at].into_iter().flatten();
    let whole = whole.filter(|_| selection.turns.is_none()).map(Time::as_millisecond);
    let signs: Vec<i64> = seen.chain(whole).chain(spans.iter().flat_map(|span| [span.start, span.end])).collect();
    let (Some(&first), Some(&last)) = (signs.iter().min(), signs.iter().max()) else { return Lapse::default() };
    // Hooks are clamped to the session: some run after its last record.
    spans.extend(transcript.hooks.iter().map(|&(start, end)| hook(start, end, first, last)));
    cut(&spans, first, last)
}

/// A call from its request to its result. While a question or a plan is open, the person is active.
fn ran(call: &CallEntry<'_>) -> Option<ActivitySpan> {
    let start = call.time?.as_millisecond();
    let lasted = i64::try_from(call.row.duration_ms?).ok()?;
    let who = if matches!(call.row.kind, Kind::Question | Kind::Plan) { Who::Person } else { Who::Tool };
    Some(ActivitySpan { who, start, end: start.saturating_add(lasted) })
}

fn hook(start: Time, end: Time, first: i64, last: i64) -> ActivitySpan {
    let within = |time: Time| time.as_millisecond().clamp(first, last);
    ActivitySpan { who: Who::Hook, start: within(start), end: within(end) }
}

/// Events of the main conversation, in order.
fn moments(transcript: &Transcript<'_>, selection: &Selection) -> Vec<TimedEvent> {
    let mut moments = Vec::new();
    let entries = transcript.threads.first().map(|main| main.entries.as_slice()).unwrap_or_default();
    let begins = beginnings(transcript);
    for (place, entry) in entries.iter().enumerate().filter(|(_, entry)| selection.takes(entry)) {
        let what = match entry.what {
            EntryKind::Prompt | EntryKind::Media => Happened::Asked,
            EntryKind::Command if begins.contains(&place) => Happened::Asked,
            EntryKind::Thinking | EntryKind::Call(_) => Happened::Worked,
            EntryKind::Text => Happened::Spoke,
            EntryKind::Folded => Happened::Told,
            _ => Happened::Other,
        };
        moments.extend(entry.time.map(|time| TimedEvent { at: time.as_millisecond(), what }));
        let call = if let EntryKind::Call(index) = entry.what { transcript.calls.get(index) } else { None };
        let call = call.filter(|call| call.row.copy_of.is_none());
        // The result is an event of its own: after it, the model is active again.
        moments.extend(call.and_then(ran).map(|span| TimedEvent { at: span.end, what: Happened::Answered }));
    }
    moments.sort_unstable();
    moments
}

/// Activities between two events: before a text of the model the model, before a prompt the person.
fn between(moments: &[TimedEvent]) -> Vec<ActivitySpan> {
    let mut spans = Vec::new();
    let mut last: Option<TimedEvent> = None;
    // Time of the last injected text since then, and of any other event.
    let (mut told, mut other) = (None, None);
    for &moment in moments {
        if matches!(moment.what, Happened::Told | Happened::Other) {
            told = if moment.what == Happened::Told { Some(moment.at) } else { told };
            other = Some(moment.at);
            continue;
        }
        if let Some(before) = last {
            // The model may have been idle until a text was injected; after it has spoken, any event may have woken it.
            let start = if before.what == Happened::Spoke { other } else { told }.unwrap_or(before.at);
            match (before.what, moment.what) {
                // No model takes that long: the machine slept, or the program was closed.
                (_, Happened::Worked | Happened::Spoke) if moment.at.saturating_sub(start) > LONGEST => {}
                (_, Happened::Worked | Happened::Spoke) => spans.push(ActivitySpan { who: Who::Model, start, end: moment.at }),
                // After a call without a result, or a result that the model did not use, the activity is unknown.
                (Happened::Spoke, Happened::Asked) => spans.push(ActivitySpan { who: Who::Person, start: before.at, end: moment.at }),
                _ => {}
            }
        }
        (last, told, other) = (Some(moment), None, None);
    }
    spans
}

/// Assigns each moment to the activity with precedence.
fn cut(spans: &[ActivitySpan], first: i64, last: i64) -> Lapse {
    // At each edge the number of active ones changes.
    // Empty and reversed spans are dropped: clocks may go backwards.
    let mut edges: Vec<(i64, Who, i32)> =
        spans.iter().filter(|span| span.start < span.end).flat_map(|span| [(span.start, span.who, 1), (span.end, span.who, -1)]).collect();
    edges.sort_unstable();
    let mut at_work = [0i32; 4];
    let mut lapse = Lapse { first: Some(first), parts: Vec::new() };
    let mut here = first;
    // A last edge that changes nothing closes the final part.
    for (at, who, change) in edges.into_iter().chain([(last, Who::Model, 0)]) {
        let at = at.clamp(first, last);
        if at > here {
            let now = WHO.into_iter().zip(at_work).find(|(_, count)| *count > 0).map(|(who, _)| who);
            match lapse.parts.last_mut() {
                Some((before, end)) if *before == now => *end = at,
                _ => lapse.parts.push((now, at)),
            }
            here = at;
        }
        at_work[who as usize] += change;
    }
    lapse
}

/// All activities in order of precedence.
const WHO: [Who; 4] = [Who::Hook, Who::Tool, Who::Person, Who::Model];

fn span_ms(start: i64, end: i64) -> u64 {
    u64::try_from(end.saturating_sub(start)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(spans: &[(Who, i64, i64)], last: i64) -> [u64; 5] {
        let spans: Vec<ActivitySpan> = spans.iter().map(|&(who, start, end)| ActivitySpan { who, start, end }).collect();
        let times = cut(&spans, 0, last).times();
        let parts = [times.model_ms, times.tools_ms, times.hooks_ms, times.person_ms, times.unknown_ms];
        assert_eq!((parts.iter().sum::<u64>(), times.wall_ms), (times.wall_ms, span_ms(0, last)));
        parts
    }

    #[test]
    fn what_goes_on_side_by_side_counts_once() {
        assert_eq!(parts(&[(Who::Tool, 10, 30), (Who::Tool, 20, 40)], 50), [0, 30, 0, 0, 20]);
        assert_eq!(parts(&[(Who::Model, 0, 50), (Who::Tool, 10, 30), (Who::Hook, 10, 15)], 50), [30, 15, 5, 0, 0]);
        assert_eq!(parts(&[(Who::Person, 40, 90), (Who::Tool, 80, 100)], 100), [0, 20, 0, 40, 40]);
    }

    proptest! {
        /// Whatever is active when: each moment is assigned once.
        #[test]
        fn parts_follow_each_other_without_holes(spans in prop::collection::vec((0usize..4, -50i64..250, 0i64..100), 0..30), last in 0i64..200) {
            let spans: Vec<ActivitySpan> = spans.into_iter().map(|(who, start, took)| ActivitySpan { who: WHO[who], start, end: start + took }).collect();
            let lapse = cut(&spans, 0, last);
            let mut before = (0, None);
            for (place, (who, start, end)) in lapse.spans().enumerate() {
                prop_assert!(start == before.0 && start < end && (place == 0 || before.1 != Some(who)), "{:?}", lapse);
                let at_work = |who| spans.iter().any(|span| span.who == who && span.start < span.end && span.start < end && span.end > start);
                prop_assert_eq!(who, WHO.into_iter().find(|who| at_work(*who)));
                before = (end, Some(who));
            }
            prop_assert_eq!((before.0, lapse.last()), (last, Some(last)));
            let times = lapse.times();
            let parts = [times.model_ms, times.tools_ms, times.hooks_ms, times.person_ms, times.unknown_ms];
            prop_assert_eq!((parts.iter().sum::<u64>(), times.wall_ms), (times.wall_ms, span_ms(0, last)));
        }
    }

    #[test]
    fn clocks_that_go_astray_do_no_harm() {
        assert_eq!(parts(&[(Who::Tool, 30, 10)], 50), [0, 0, 0, 0, 50]);
        assert_eq!(parts(&[(Who::Tool, -10, 10), (Who::Model, 40, 90)], 50), [10, 10, 0, 0, 30]);
        assert_eq!(parts(&[(Who::Tool, i64::MIN, i64::MAX)], 0), [0, 0, 0, 0, 0]);
    }

    #[test]
    fn the_model_is_at_work_before_it_speaks_and_the_person_after() {
        let moment = |at, what| TimedEvent { at, what };
        let moments = [
            moment(0, Happened::Asked),
            moment(5, Happened::Worked),
            moment(9, Happened::Answered),
            moment(12, Happened::Spoke),
            moment(13, Happened::Other),
            moment(20, Happened::Asked),
            moment(21, Happened::Asked),
            moment(22, Happened::Other),
            moment(25, Happened::Spoke),
            moment(80, Happened::Other),
            moment(85, Happened::Spoke),
            moment(86, Happened::Answered),
            moment(90, Happened::Told),
            moment(91, Happened::Other),
            moment(99, Happened::Worked),
        ];
        let found: Vec<(Who, i64, i64)> = between(&moments).iter().map(|span| (span.who, span.start, span.end)).collect();
        let expected = [
            (Who::Model, 0, 5),
            (Who::Model, 9, 12),
            (Who::Person, 12, 20),
            (Who::Model, 21, 25),
            // Idle until an event woke it.
            (Who::Model, 80, 85),
            (Who::Model, 90, 99),
        ];
        assert_eq!(found, expected);
    }
}
