//! The course of a call: what happened one after the other, from its request through hooks and permission to its result and what came
//! after, each with its time and its line of the log. What is not recorded is said to be not recorded.

use crate::head::{look, took};
use crate::pieces::{section, task_state};
use crate::texts::sniffed;
use crate::{Block, Class, Limits, Line, hooks};
use tooltrail_model::event::TaskState;
use tooltrail_model::row::Place;
use tooltrail_model::transcript::{CallEntry, Level, Spot, Story};
use tooltrail_model::{Reason, Status, Time};

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// What.
    pub what: Line,
    /// When.
    pub time: Option<Time>,
    /// The line of the log that tells it.
    pub place: Option<Place<'a>>,
    /// How bad it is; nothing where it is not known to have happened.
    pub level: Option<Level>,
    /// What was said.
    pub words: Vec<Block>,
}

impl<'a> Step<'a> {
    fn new(what: impl Into<Line>, time: Option<Time>, place: Option<Place<'a>>) -> Self {
        Step { what: what.into(), time, place, level: Some(Level::Info), words: Vec::new() }
    }
}

/// What happened, in order. `when` tells the time of a record.
pub fn steps<'a>(call: &'a Story<'_>, entry: &CallEntry<'_>, limits: &Limits, when: &dyn Fn(Spot) -> Option<Time>) -> Vec<Step<'a>> {
    let row = &call.row;
    let requested = row.requested_at.as_deref().and_then(|time| time.parse().ok());
    let result = result(call, entry, when);
    let (after, before): (Vec<_>, Vec<_>) = hook_steps(call, entry, limits, when).into_iter().partition(|hook| follows(hook, &result));
    let mut steps = vec![Step::new("requested", requested, Some(row.request))];
    steps.extend(before);
    steps.extend([permission(call), result]);
    steps.extend(after);
    steps.extend(background(call));
    steps
}

/// Whether a hook ran after the result: it is younger, or stands behind it in the log where their times do not tell.
fn follows(hook: &Step<'_>, result: &Step<'_>) -> bool {
    match (hook.time, result.time, hook.place, result.place) {
        (Some(hook), Some(result), _, _) if hook != result => hook > result,
        (_, _, Some(hook), Some(result)) => hook.file == result.file && hook.line > result.line,
        _ => false,
    }
}

/// The hooks, in the order of the log.
fn hook_steps<'a>(call: &'a Story<'_>, entry: &CallEntry<'_>, limits: &Limits, when: &dyn Fn(Spot) -> Option<Time>) -> Vec<Step<'a>> {
    let stories = hooks::all(call);
    // The two lists are one only if they are equally long.
    let paired = stories.len() == call.row.hooks.len();
    let places = call.row.hooks.iter().map(|hook| Some(hook.evidence).filter(|_| paired)).chain(std::iter::repeat(None));
    stories
        .iter()
        .zip(places)
        .map(|(hook, place)| {
            let spot = place.and_then(|place| entry.hooks.iter().find(|spot| spot.at.line == place.line));
            let texts = hook.texts.iter().filter(|(_, text)| !text.trim().is_empty());
            let words = texts.map(|(name, text)| section(Line::of(Class::Dim, name), true, vec![sniffed(text, limits)])).collect();
            Step { level: Some(hooks::level(hook)), words, ..Step::new(hooks::line(hook), spot.and_then(|spot| when(*spot)), place) }
        })
        .collect()
}

/// What is known of a permission.
fn permission<'a>(call: &Story<'_>) -> Step<'a> {
    let (what, level) = match (call.row.status, call.row.reason) {
        (Status::Rejected, Some(Reason::AfterRejection)) => ("permission: another call was declined first", Some(Level::Warning)),
        (Status::Rejected, _) => ("permission: you declined", Some(Level::Warning)),
        (Status::Blocked, Some(Reason::PermissionRule)) => ("permission: refused by a rule", Some(Level::Warning)),
        (Status::Blocked, Some(Reason::AutoMode)) => ("permission: refused by the automatic mode", Some(Level::Warning)),
        (Status::Blocked, Some(Reason::NotGranted)) => ("permission: nobody was there to grant it", Some(Level::Warning)),
        (Status::Blocked, Some(Reason::Sandbox)) => ("permission: refused by the sandbox", Some(Level::Warning)),
        (Status::Running, Some(Reason::AwaitingPermission)) => ("permission: waits for you", Some(Level::Warning)),
        _ => ("permission: not recorded", None),
    };
    Step { level, ..Step::new(Line::of(if level.is_none() { Class::Dim } else { Class::Plain }, what), None, None) }
}

/// How it ended, or that it did not.
fn result<'a>(call: &'a Story<'_>, entry: &CallEntry<'_>, when: &dyn Fn(Spot) -> Option<Time>) -> Step<'a> {
    let row = &call.row;
    let Some(place) = row.result else {
        let what = Line::of(Class::Strong, "no result")
            .with(Class::Plain, &row.reason.map(|reason| format!(": {}", crate::head::why(reason))).unwrap_or_default());
        let level = if row.status == Status::Running { None } else { Some(Level::Warning) };
        return Step { level, ..Step::new(what, None, Some(row.evidence).filter(|place| *place != row.request)) };
    };
    let time = row.completed_at.as_deref().and_then(|time| time.parse().ok()).or_else(|| entry.result.and_then(when));
    let exit = row.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
    let level = match row.status {
        Status::Succeeded | Status::Answered => Level::Info,
        Status::Failed => Level::Error,
        _ => Level::Warning,
    };
    let what = Line::from("result: ").with(Class::Strong, look(row.status).word).with(Class::Plain, &exit);
    Step { level: Some(level), ..Step::new(what, time, Some(place)) }
}

/// What became of it in the background.
fn background<'a>(call: &'a Story<'_>) -> Option<Step<'a>> {
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
    let time = task.ended_at.as_deref().and_then(|time| time.parse().ok());
    let what = Line::from(format!("{name}: ")).with(Class::Strong, word).with(Class::Plain, &exit);
    Some(Step { level, ..Step::new(what, time, Some(task.evidence).filter(|place| Some(*place) != call.row.result)) })
}

/// How long after the request: `+0.03 s`, `+12.4 s`, `+2 m 05 s`.
pub fn offset(from: Time, to: Time) -> Option<String> {
    let micros = u64::try_from(from.micros_until(to)).ok()?;
    Some(match micros / 1000 {
        millis @ 0..10_000 => format!("+{}.{:02} s", millis / 1000, millis % 1000 / 10),
        millis => format!("+{}", took(millis)),
    })
}

/// How long it took, and what that includes.
pub fn durations(call: &Story<'_>) -> Vec<Line> {
    let row = &call.row;
    let mut lines = Vec::new();
    if let Some(all) = row.duration_ms {
        lines.push(Line::of(Class::Strong, &took(all)).with(Class::Plain, " from request to result, any wait for permission included"));
    }
    if let Some(run) = row.run_ms.filter(|run| *run > 0) {
        lines.push(Line::of(Class::Strong, &took(run)).with(Class::Plain, " of it the tool ran, as it reports itself"));
    }
    lines
}
