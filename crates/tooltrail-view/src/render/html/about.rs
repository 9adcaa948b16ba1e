//! What a session's pages say about it: its title, who, where, when, how much; and how times are written.

use crate::head::{count, took};
use crate::line::neutral;
use tooltrail_model::row::SessionRow;
use tooltrail_model::transcript::Transcript;

/// What a session is called: its title, or how it begins, or its id.
pub fn title(transcript: &Transcript<'_>) -> String {
    let session = &transcript.session;
    let first = transcript.turns.iter().map(|turn| turn.head.as_str()).find(|head| !head.is_empty());
    let title = session.title.or(first).map(|title| neutral(title).chars().take(160).collect::<String>());
    title.unwrap_or_else(|| format!("Session {}", neutral(session.short)))
}

/// What there is to say about a session: a name and a value each.
pub(super) fn about(session: &SessionRow<'_>) -> Vec<(&'static str, String)> {
    let mut about = vec![("agent", session.agent.to_owned())];
    let mut say = |name, value: Option<String>| about.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)));
    say("project", session.project.map(str::to_owned));
    say("branch", session.branch.map(str::to_owned));
    say(if session.models.len() == 1 { "model" } else { "models" }, Some(session.models.join(", ")));
    say("started", session.started_at.as_deref().map(|time| format!("{} UTC", moment(time))));
    say("lasted", lasted(session));
    say("state", session.state.map(str::to_owned));
    say("turns", Some(count(session.turns)));
    say("calls", Some(count(session.calls)));
    let usage = &session.usage;
    say("tokens", Some(format!("{} in · {} out", short(usage.input), short(usage.output))).filter(|_| usage.input + usage.output > 0));
    let cache = usage.cache_write_5m.saturating_add(usage.cache_write_1h);
    say("cache", Some(format!("{} read · {} written", short(usage.cache_read), short(cache))).filter(|_| usage.cache_read + cache > 0));
    say("session", Some(session.session.to_owned()));
    about
}

/// How long a session lasted.
fn lasted(session: &SessionRow<'_>) -> Option<String> {
    let time = |text: &Option<String>| text.as_deref()?.parse::<tooltrail_model::Time>().ok();
    let micros = time(&session.started_at)?.micros_until(time(&session.last_at)?);
    u64::try_from(micros / 1000).ok().filter(|millis| *millis > 0).map(took)
}

/// A number in three digits or so.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// A time of the contracts, to the second: `2026-03-04 10:00:09`.
pub(super) fn moment(time: &str) -> String {
    time.get(..19).unwrap_or(time).replace('T', " ")
}
