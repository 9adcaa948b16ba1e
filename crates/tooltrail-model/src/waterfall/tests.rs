//! Bars contain what rows do, and gaps are empty.

use super::*;
use crate::event::InputFrom;
use crate::position::At;
use crate::row::{Background, CallRowOrigin, VERSION};
use crate::transcript::Spot;
use proptest::prelude::*;

const RESULT: Place<'static> = Place { file: "/a.jsonl", line: 9, row: None };

/// A call from some millisecond on, for so many.
fn call(start: Option<i64>, took: Option<u64>, status: Status) -> CallEntry<'static> {
    let place = Place { file: "/a.jsonl", line: 1, row: None };
    let time = start.and_then(Time::from_millisecond);
    let end = start.zip(took).and_then(|(start, took)| Time::from_millisecond(start + took as i64));
    let row = CallRow {
        v: VERSION,
        agent: "claude",
        session: "s",
        agent_id: None,
        r#ref: "s:1".to_owned(),
        call: "c",
        tool: "Bash",
        server: None,
        kind: Kind::Shell,
        status,
        reason: None,
        evidence: place,
        requested_at: time,
        completed_at: end,
        duration_ms: took,
        run_ms: None,
        exit_code: None,
        exit_of: None,
        masked: Vec::new(),
        purpose: None,
        is_error: None,
        input_bytes: 0,
        result_bytes: None,
        model: None,
        message: None,
        parallel: 1,
        parent_call: None,
        child_session: None,
        background: None,
        hooks: Vec::new(),
        request: place,
        result: took.map(|_| RESULT),
        cwd: None,
        sidechain: false,
        copy_of: None,
        about: None,
        unwrapped: None,
        inner: None,
        origin: CallRowOrigin::Log,
        input_from: InputFrom::Request,
        failed_by: None,
        command: None,
        path: None,
        alias: None,
        polls: None,
        replacement: None,
        may_wait: false,
    };
    let spot = Spot { source: 0, at: At::default() };
    let (ends, hooks, hooked, threads) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    CallEntry { row, number: 1.into(), request: spot, result: None, ends, hooks, progress: None, hooked, time, threads, turn: None }
}

#[test]
fn a_bar_says_no_more_than_its_row() {
    let whole = call(Some(1_000), Some(500), Status::Failed);
    assert_eq!(Bar::new(&whole, false).extent, Extent::Whole { start: 1_000, end: 1_500, at_most: false });
    assert_eq!(Bar::new(&call(Some(1_000), None, Status::Running), false).extent, Extent::Running(1_000));
    assert_eq!(Bar::new(&call(Some(1_000), None, Status::Unanswered), false).extent, Extent::Open(1_000));
    assert_eq!(Bar::new(&call(None, None, Status::Succeeded), false).extent, Extent::Unknown);
    // Only the end is known: the request has no time of its own, or was written by another clock.
    let mut sole = call(Some(1_000), None, Status::Succeeded);
    sole.row.result = Some(RESULT);
    sole.row.completed_at = Time::from_millisecond(3_000);
    assert_eq!(Bar::new(&sole, false).extent, Extent::At(3_000));
    sole.row.completed_at = None;
    assert_eq!(Bar::new(&sole, false).extent, Extent::At(1_000));
}

#[test]
fn waiting_is_what_running_leaves() {
    let mut ran = call(Some(0), Some(500), Status::Succeeded);
    let waited = |call: &CallEntry<'_>| Bar::new(call, false).waited();
    assert_eq!(waited(&ran), None);
    for (run, left) in [(0, None), (200, Some(300)), (500, Some(0)), (900, Some(0))] {
        ran.row.run_ms = Some(run);
        assert_eq!(waited(&ran), left, "{run}");
    }
    let mut asked = call(Some(0), None, Status::Running);
    assert!(!Bar::new(&asked, false).person);
    asked.row.reason = Some(Reason::AwaitingPermission);
    assert!(Bar::new(&asked, false).person);
    ran.row.kind = Kind::Question;
    assert!(Bar::new(&ran, false).person);
}

#[test]
fn results_that_were_written_at_once_are_bounds() {
    let mut calls = vec![call(Some(0), Some(10), Status::Succeeded), call(Some(1), Some(9), Status::Succeeded)];
    let at_most = |calls: &[CallEntry<'_>]| {
        bars(calls).iter().map(|bar| matches!(bar.extent, Extent::Whole { at_most: true, .. })).collect::<Vec<_>>()
    };
    assert_eq!(at_most(&calls), [true, true]);
    calls[1].row.result = Some(Place { line: 10, ..RESULT });
    assert_eq!(at_most(&calls), [false, false]);
}

#[test]
fn a_task_lasts_longer_than_its_call() {
    let mut launch = call(Some(0), Some(10), Status::Succeeded);
    let ended_at = Time::from_millisecond(60_000);
    launch.row.background = Some(Background { id: None, state: TaskState::Completed, exit_code: None, ended_at, evidence: RESULT });
    let bar = Bar::new(&launch, false);
    assert_eq!((bar.task, bar.last()), (Some(BackgroundTask { end: Some(60_000), running: false }), Some(60_000)));
    launch.hooked = vec![(Time::from_millisecond(60_500).unwrap(), Time::from_millisecond(61_000).unwrap())];
    assert_eq!(Bar::new(&launch, false).last(), Some(61_000));
}

/// A lapse of these parts.
fn lapse(first: i64, parts: &[(Option<Who>, i64)]) -> Lapse {
    let mut end = first;
    let parts = parts.iter().map(|&(who, length)| {
        end += length;
        (who, end)
    });
    Lapse { first: Some(first), parts: parts.collect() }
}

#[test]
fn gaps_are_long_and_empty() {
    let told =
        lapse(0, &[(Some(Who::Model), 1_000), (Some(Who::Person), 90_000), (Some(Who::Tool), 500), (None, GAP), (Some(Who::Model), 1)]);
    assert_eq!(gaps(&told, &[]), [(1_000, 91_000)], "a minute is not longer than a minute");
    // A call without a time splits no gap, one that begins inside does, and one that asks a person only does where it
    // begins.
    let bar = |call: &CallEntry<'_>| Bar::new(call, false);
    assert_eq!(gaps(&told, &[bar(&call(None, None, Status::Failed))]), [(1_000, 91_000)]);
    assert_eq!(gaps(&told, &[bar(&call(Some(70_000), None, Status::Unanswered))]), [(1_000, 70_000)]);
    let mut question = call(Some(1_500), Some(80_000), Status::Succeeded);
    question.row.kind = Kind::Question;
    assert_eq!(gaps(&told, &[bar(&question)]), [(1_500, 91_000)]);
    assert_eq!(gaps(&Lapse::default(), &[bar(&question)]), []);
}

proptest! {
    /// Whatever the times: sums add up, gaps are in order, longer than a minute, within the session, and nothing happens in
    /// them.
    #[test]
    fn gaps_hold_nothing(
        parts in prop::collection::vec((0usize..5, 1i64..200_000), 0..30),
        calls in prop::collection::vec((-10_000i64..2_000_000, prop::option::of(0u64..150_000)), 0..20),
    ) {
        let who = [Some(Who::Hook), Some(Who::Tool), Some(Who::Person), Some(Who::Model), None];
        let parts: Vec<_> = parts.into_iter().map(|(at, length)| (who[at], length)).collect();
        let lapse = lapse(0, &parts);
        let times = lapse.times();
        prop_assert_eq!(times.wall_ms, parts.iter().map(|(_, length)| *length as u64).sum::<u64>());
        prop_assert_eq!(times.model_ms + times.tools_ms + times.hooks_ms + times.person_ms + times.unknown_ms, times.wall_ms);
        let calls: Vec<_> = calls.into_iter().map(|(start, took)| call(Some(start), took, Status::Succeeded)).collect();
        let bars = bars(&calls);
        let gaps = gaps(&lapse, &bars);
        let last = lapse.last().unwrap_or(0);
        let mut before = 0;
        for (start, end) in gaps {
            prop_assert!(before <= start && end - start > GAP && end <= last, "{}..{}", start, end);
            before = end;
            for (who, from, to) in lapse.spans() {
                let works = matches!(who, Some(Who::Hook | Who::Tool | Who::Model));
                prop_assert!(!works || to <= start || from >= end, "somebody works from {} to {}", from, to);
            }
            for bar in &bars {
                let Extent::Whole { start: from, end: to, .. } = bar.extent else { continue };
                prop_assert!(to <= start || from >= end, "a call from {} to {} in {}..{}", from, to, start, end);
            }
        }
    }
}
