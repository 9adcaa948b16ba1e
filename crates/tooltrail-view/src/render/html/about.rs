//! Facts about a session for its pages: title, agent, project, times, counts; and how times are written.

use crate::head::{count, took};
use crate::line::neutral;
use crate::settings;
use jiff::tz::TimeZone;
use tooltrail_model::Time;
use tooltrail_model::row::SessionRow;
use tooltrail_model::transcript::Transcript;

/// Title of a session: its own, or its first prompt, or its id.
pub fn title(transcript: &Transcript<'_>) -> String {
    let session = &transcript.session;
    let first = transcript.turns.iter().map(|turn| turn.head.as_str()).find(|head| !head.is_empty());
    // Titles may be whole prompts; a page's title and heading need a limit.
    let title = session.title.or(first).map(|title| neutral(title).chars().take(160).collect::<String>());
    title.unwrap_or_else(|| format!("Session {}", neutral(session.short)))
}

/// Facts about a session as pairs of name and value.
pub(super) fn about(transcript: &Transcript<'_>, clock: PageClock<'_>) -> Vec<(&'static str, String)> {
    let session = &transcript.session;
    // The order is the order on the page: identity, time, then amounts.
    let mut about = vec![("agent", settings::agent(transcript))];
    let mut say = |name, value: Option<String>| about.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)));
    say("project", session.project.map(str::to_owned));
    say("branch", session.branch.map(str::to_owned));
    say(if session.models.len() == 1 { "model" } else { "models" }, Some(session.models.join(", ")));
    say("permission mode", settings::permissions(&transcript.settings));
    say("started", session.started_at.map(|time| clock.said(time)));
    say("lasted", lasted(session));
    say("state", session.state.map(str::to_owned));
    say("turns", Some(count(session.turns)));
    say("calls", Some(count(session.calls)));
    let usage = &session.usage;
    say("tokens", Some(format!("{} in · {} out", short(usage.input), short(usage.output))).filter(|_| usage.input + usage.output > 0));
    // Two lifetimes of cache entries have different prices, but a reader wants one number.
    let cache = usage.cache_write_5m.saturating_add(usage.cache_write_1h);
    say("cache", Some(format!("{} read · {} written", short(usage.cache_read), short(cache))).filter(|_| usage.cache_read + cache > 0));
    say("by the API", settings::server_tools(transcript.settings.server_tools));
    say("session", Some(session.session.to_owned()));
    about
}

/// Text below the last row: whether the session has ended.
pub(super) fn ending(session: &SessionRow<'_>) -> &'static str {
    if matches!(session.state, Some("ended") | None) { "End of the session" } else { "Latest" }
}

/// Duration of a session.
fn lasted(session: &SessionRow<'_>) -> Option<String> {
    // Clocks may go backwards within a log; a negative duration is left out.
    let micros = session.started_at?.micros_until(session.last_at?);
    u64::try_from(micros / 1000).ok().filter(|millis| *millis > 0).map(took)
}

/// A number in about three digits, with a unit.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// Time zone in which times are written: that of the reader, where it is known. An exported file may be read anywhere and
/// uses UTC.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageClock<'a>(pub(super) Option<&'a TimeZone>);

impl PageClock<'_> {
    /// A time, to the second: `2026-03-04 10:00:09`.
    pub(super) fn moment(self, time: Time) -> String {
        let zone = self.0.cloned().unwrap_or(TimeZone::UTC);
        time.timestamp().to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// A time with its zone, for places where nothing around it names the clock.
    pub(super) fn said(self, time: Time) -> String {
        format!("{}{}", self.moment(time), if self.0.is_some() { "" } else { " UTC" })
    }

    /// A time, followed by that of UTC where the two differ.
    pub(super) fn full(self, time: Time) -> String {
        let (here, there) = (self.moment(time), PageClock(None).moment(time));
        if here == there { here } else { format!("{here} ({there} UTC)") }
    }

    /// Tooltip of a time: that of UTC, where the page uses another zone.
    pub(super) fn title(self, time: Time) -> Option<String> {
        self.0.map(|_| PageClock(None).said(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_reader_where_that_is_known() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let (here, file) = (PageClock(Some(&zone)), PageClock(None));
        let time: Time = "2026-03-04T23:00:09.5Z".parse().unwrap();
        assert_eq!((here.moment(time).as_str(), file.moment(time).as_str()), ("2026-03-05 01:00:09", "2026-03-04 23:00:09"));
        assert_eq!((here.said(time).as_str(), file.said(time).as_str()), ("2026-03-05 01:00:09", "2026-03-04 23:00:09 UTC"));
        assert_eq!(here.full(time), "2026-03-05 01:00:09 (2026-03-04 23:00:09 UTC)");
        assert_eq!(file.full(time), "2026-03-04 23:00:09");
        assert_eq!((here.title(time).as_deref(), file.title(time)), (Some("2026-03-04 23:00:09 UTC"), None));
    }
}
