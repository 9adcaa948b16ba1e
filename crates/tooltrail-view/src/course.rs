//! The timeline of a call: its request, hooks, permission, result and what followed, each with its time and its line of the
//! log. Steps that are not recorded are shown as not recorded.

use crate::head::{WAITS, look, took};
use crate::pieces::{section, task_state};
use crate::texts::sniffed;
use crate::{Block, Class, Limits, Line, hooks};
use tooltrail_model::event::TaskState;
use tooltrail_model::row::Place;
use tooltrail_model::transcript::{CallEntry, Level, Spot, Story};
use tooltrail_model::{Reason, Status, Time};

/// One step of a timeline.
#[derive(Clone, Debug)]
pub struct TimelineStep<'a> {
    /// Description of the step.
    pub what: Line,
    /// Time of the step.
    pub time: Option<Time>,
    /// Line of the log that records it.
    pub place: Option<Place<'a>>,
    /// Severity; `None` where the step is not known to have happened.
    pub level: Option<Level>,
    /// Texts that belong to the step.
    pub words: Vec<Block>,
}

impl<'a> TimelineStep<'a> {
    fn new(what: impl Into<Line>, time: Option<Time>, place: Option<Place<'a>>) -> Self {
        TimelineStep { what: what.into(), time, place, level: Some(Level::Info), words: Vec::new() }
    }
}

/// Steps in order. `when` returns the time of a record.
pub fn steps<'a>(
    call: &'a Story<'_>,
    entry: &CallEntry<'_>,
    limits: &Limits,
    when: &dyn Fn(Spot) -> Option<Time>,
) -> Vec<TimelineStep<'a>> {
    let row = &call.row;
    let requested = row.requested_at;
    let result = result(call, entry, when);
    let mut around = hook_steps(call, entry, limits, when);
    // Some agents write a record when a run ends, and the result for the model separately.
    around.extend(entry.ends.iter().filter(|end| Some(**end) != entry.result).map(|end| {
        let place = Place { file: row.request.file, line: end.at.line, row: None };
        TimelineStep::new("end of the run", when(*end), Some(place))
    }));
    // The order in the log is reliable; times of parallel records often are not.
    around.sort_by_key(|step| step.place.map(|place| place.line));
    let (after, before): (Vec<_>, Vec<_>) = around.into_iter().partition(|step| follows(step, &result));
    let mut steps = vec![TimelineStep::new("requested", requested, Some(row.request))];
    steps.extend(before);
    // Permission is shown right before the result, since no log records when it was given.
    steps.extend([permission(call), result]);
    steps.extend(after);
    steps.extend(background(call));
    steps
}

/// Whether a step came after the result: by its time, or by its position in the log where times are missing or equal.
fn follows(step: &TimelineStep<'_>, result: &TimelineStep<'_>) -> bool {
    match (step.time, result.time, step.place, result.place) {
        (Some(step), Some(result), _, _) if step != result => step > result,
        (_, _, Some(step), Some(result)) => step.file == result.file && step.line > result.line,
        _ => false,
    }
}

/// The hooks, in the order of the log.
fn hook_steps<'a>(
    call: &'a Story<'_>,
    entry: &CallEntry<'_>,
    limits: &Limits,
    when: &dyn Fn(Spot) -> Option<Time>,
) -> Vec<TimelineStep<'a>> {
    let stories = hooks::all(call);
    // The two lists match only if they are equally long.
    let paired = stories.len() == call.row.hooks.len();
    let places = call.row.hooks.iter().map(|hook| Some(hook.evidence).filter(|_| paired)).chain(std::iter::repeat(None));
    stories
        .iter()
        .zip(places)
        .map(|(hook, place)| {
            let spot = place.and_then(|place| entry.hooks.iter().find(|spot| spot.at.line == place.line));
            let texts = hook.texts.iter().filter(|(_, text)| !text.trim().is_empty());
            let words = texts.map(|(name, text)| section(Line::of(Class::Dim, name), true, vec![sniffed(text, limits)])).collect();
            TimelineStep {
                level: Some(hooks::level(hook)),
                words,
                ..TimelineStep::new(hooks::line(hook, Some(call.row.status)), spot.and_then(|spot| when(*spot)), place)
            }
        })
        .collect()
}

/// Permission, as far as it is known.
fn permission<'a>(call: &Story<'_>) -> TimelineStep<'a> {
    let (what, level) = match (call.row.status, call.row.reason) {
        (Status::Rejected, Some(Reason::AfterRejection)) => ("permission: another call was declined first", Some(Level::Warning)),
        (Status::Rejected, _) => ("permission: you declined", Some(Level::Warning)),
        (Status::Blocked, Some(Reason::PermissionRule)) => ("permission: refused by a rule", Some(Level::Warning)),
        (Status::Blocked, Some(Reason::AutoMode)) => ("permission: refused by auto mode", Some(Level::Warning)),
        (Status::Blocked, Some(Reason::NotGranted)) => ("permission: not granted, the session was not interactive", Some(Level::Warning)),
        (Status::Blocked, Some(Reason::Sandbox)) => ("permission: refused by the sandbox", Some(Level::Warning)),
        (Status::Running, Some(Reason::AwaitingPermission)) => ("permission: waiting for you", Some(Level::Warning)),
        // A call that ran was allowed somehow, but no agent logs by whom.
        _ => ("permission: not recorded", None),
    };
    TimelineStep { level, ..TimelineStep::new(Line::of(if level.is_none() { Class::Dim } else { Class::Plain }, what), None, None) }
}

/// Result of the call, or that there is none.
fn result<'a>(call: &'a Story<'_>, entry: &CallEntry<'_>, when: &dyn Fn(Spot) -> Option<Time>) -> TimelineStep<'a> {
    let row = &call.row;
    let Some(place) = row.result else {
        let what = Line::of(Class::Strong, "no result")
            .with(Class::Plain, &row.reason.map(|reason| format!(": {}", crate::head::why(reason))).unwrap_or_default());
        let level = if row.status == Status::Running { None } else { Some(Level::Warning) };
        // Evidence that is only the request itself proves nothing.
        return TimelineStep { level, ..TimelineStep::new(what, None, Some(row.evidence).filter(|place| *place != row.request)) };
    };
    let time = row.completed_at.or_else(|| entry.result.and_then(when));
    let exit = row.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
    let level = match row.status {
        Status::Succeeded | Status::Answered => Level::Info,
        Status::Failed => Level::Error,
        _ => Level::Warning,
    };
    // A call in a script has no record of its own, so the time is that of the script's result.
    let shared = row.is_inner() && row.completed_at.is_none();
    let what = Line::from(if shared { "result of the script; this call: " } else { "result: " })
        .with(Class::Strong, look(row.status).word)
        .with(Class::Plain, &exit);
    TimelineStep { level: Some(level), ..TimelineStep::new(what, time, Some(place)) }
}

/// Outcome of the background task.
fn background<'a>(call: &'a Story<'_>) -> Option<TimelineStep<'a>> {
    let task = call.row.background.as_ref()?;
    let exit = task.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
    let name = task.id.map_or("background task".to_owned(), |id| format!("background task {id}"));
    let word = match task.state {
        TaskState::Unknown => "its end is not recorded",
        state => task_state(state),
    };
    let level = match task.state {
        TaskState::Failed => Some(Level::Error),
        TaskState::Killed | TaskState::Stopped => Some(Level::Warning),
        TaskState::Completed => Some(Level::Info),
        TaskState::Running | TaskState::Unknown => None,
    };
    let what = Line::from(format!("{name}: ")).with(Class::Strong, word).with(Class::Plain, &exit);
    Some(TimelineStep {
        level,
        ..TimelineStep::new(what, task.ended_at, Some(task.evidence).filter(|place| Some(*place) != call.row.result))
    })
}

/// Offset from the request: `+0.03 s`, `+12.4 s`, `+2 m 05 s`.
pub fn offset(from: Time, to: Time) -> Option<String> {
    let micros = u64::try_from(from.micros_until(to)).ok()?;
    Some(match micros / 1000 {
        millis @ 0..10_000 => format!("+{}.{:02} s", millis / 1000, millis % 1000 / 10),
        millis => format!("+{}", took(millis)),
    })
}

/// Durations, and what they include.
pub fn durations(call: &Story<'_>) -> Vec<Line> {
    let row = &call.row;
    let mut lines = Vec::new();
    if let Some(all) = row.duration_ms {
        let waits = if row.may_wait { format!("; {WAITS}") } else { String::new() };
        lines.push(Line::of(Class::Strong, &took(all)).with(Class::Plain, &format!(" from request to result{waits}")));
    }
    if let Some(run) = row.run_ms.filter(|run| *run > 0) {
        lines.push(Line::of(Class::Strong, &took(run)).with(Class::Plain, " run time, as reported by the tool"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, story};
    use tooltrail_model::At;
    use tooltrail_model::detail::Detail;
    use tooltrail_model::event::HookOutcome;
    use tooltrail_model::row::{Background, CallRowOrigin, HookRow};
    use tooltrail_model::{Kind, Span};

    fn spot(line: u64) -> Spot {
        Spot { source: 0, at: At { line, span: Span::default() } }
    }

    fn at(second: u64) -> Option<Time> {
        format!("2026-03-04T10:00:{second:02}Z").parse().ok()
    }

    /// Steps with their lines of the log. In these tests a record's line is also the second in which it was written.
    fn told(call: &Story<'_>, hooks: &[u64], ends: &[u64]) -> Vec<String> {
        let spots = |lines: &[u64]| lines.iter().copied().map(spot).collect::<Vec<_>>();
        let entry = CallEntry {
            row: call.row.clone(),
            number: (1).into(),
            request: spot(call.row.request.line),
            result: call.row.result.map(|place| spot(place.line)),
            ends: spots(ends),
            hooks: spots(hooks),
            progress: None,
            hooked: Vec::new(),
            time: None,
            threads: Vec::new(),
            turn: None,
        };
        let steps = steps(call, &entry, &Limits::PAGE, &|spot| at(spot.at.line));
        steps.iter().map(|step| format!("{} {}", step.place.map_or(0, |place| place.line), step.what.text())).collect()
    }

    fn hook(name: &'static str, line: u64) -> HookRow<'static> {
        let evidence = Place { file: "/logs/a.jsonl", line, row: None };
        let outcome = HookOutcome::Ok;
        HookRow { event: None, name: Some(name), command: None, outcome, exit_code: None, duration_ms: None, evidence }
    }

    #[test]
    fn a_life_is_told_in_order() {
        let mut call = answered(story("Bash", Kind::Shell, Status::Succeeded, Detail::Other), "x");
        call.row.request.line = 40;
        call.row.result = Some(Place { file: "/logs/a.jsonl", line: 42, row: None });
        call.row.completed_at = at(42);
        // The second hook stands before the result in the list, but after it by its time.
        call.row.hooks = vec![hook("before", 41), hook("after", 45)];
        let evidence = Place { file: "/logs/a.jsonl", line: 50, row: None };
        call.row.background =
            Some(Background { id: Some("b1"), state: TaskState::Completed, exit_code: Some(0), ended_at: None, evidence });
        assert_eq!(
            told(&call, &[41, 45], &[43]),
            [
                "40 requested",
                "41 before: ok",
                "0 permission: not recorded",
                "42 result: succeeded",
                "43 end of the run",
                "45 after: ok",
                "50 background task b1: completed, exit 0"
            ]
        );
        call.row.result = None;
        call.row.background = None;
        call.row.hooks.clear();
        call.row.status = Status::Unanswered;
        call.row.reason = Some(Reason::LogEnds);
        call.row.evidence.line = 60;
        assert_eq!(told(&call, &[], &[]), ["40 requested", "0 permission: not recorded", "60 no result: the log ends"]);
    }

    #[test]
    fn the_time_of_a_call_in_a_script_is_that_of_the_script() {
        let mut call = answered(story("exec_command", Kind::Shell, Status::Succeeded, Detail::Other), "x");
        call.row.origin = CallRowOrigin::Script;
        call.row.request.line = 40;
        call.row.result = Some(Place { file: "/logs/a.jsonl", line: 42, row: None });
        call.row.completed_at = None;
        let result = |call: &Story<'_>| told(call, &[], &[]).pop();
        assert_eq!(result(&call).as_deref(), Some("42 result of the script; this call: succeeded"));
        // A record of its own has its own time.
        call.row.completed_at = at(41);
        assert_eq!(result(&call).as_deref(), Some("42 result: succeeded"));
    }

    #[test]
    fn offsets_have_two_units_at_most() {
        let after = |millis: i64| offset(Time::UNIX_EPOCH, Time::from_millisecond(millis).unwrap());
        let said = [30, 9_999, 12_400, 125_000].map(|millis| after(millis).unwrap_or_default());
        assert_eq!(said, ["+0.03 s", "+9.99 s", "+12.4 s", "+2 m 05 s"]);
        assert_eq!(after(-1), None);
    }
}
