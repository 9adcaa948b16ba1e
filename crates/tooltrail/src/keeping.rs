//! The keep of this machine: its directory for the given arguments, copying as a side effect of other commands, and notes about logs
//! that their agent will delete soon.

use crate::cli::LogArgs;
use crate::{directories, logs, out, table};
use std::path::Path;
use tooltrail_catalog::keep::{Keep, SOON};
use tooltrail_formats::find::Search;
use tooltrail_formats::retention::Retention;
use tooltrail_model::Time;
use tooltrail_model::row::SessionRow;
use tracing::debug;

/// The keep for the places that the arguments name; `None` without a data directory.
pub(crate) fn keep(args: &LogArgs) -> Option<Keep> {
    if args.demo {
        return None;
    }
    // Commands that only read must work without a home directory, so this is not an error here; `keep` itself reports it.
    let data = directories::data().inspect_err(|error| debug!(%error, "nothing is kept"));
    data.ok().map(|data| Keep::of(&data, &args.root))
}

/// Copies new logs if keeping is switched on.
pub(crate) fn after_refresh(args: &LogArgs, search: &Search) {
    let Some(keep) = keep(args) else { return };
    // Failures are only reported: the user ran another command, which can still do its work.
    match keep.after_refresh(search, &retention(args), jiff::Timestamp::now().into()) {
        Ok(outcome) => outcome.problems.iter().for_each(|problem| out::complain_of(problem)),
        Err(error) => out::complain_of(&error),
    }
}

/// The rules by which agents delete logs.
pub(crate) fn retention(args: &LogArgs) -> Retention {
    // A directory given with `--root` may be a backup that no agent ever touches, so nothing is predicted for it.
    if args.demo || !args.root.is_empty() {
        return Retention::default();
    }
    logs::places(args).map(|places| Retention::read(&places)).unwrap_or_default()
}

/// Predicts which sessions are about to be lost: their agent will delete the log, and no copy is kept.
pub(crate) struct Fates {
    keep: Keep,
    retention: Retention,
    now: Time,
}

impl Fates {
    /// Predictions for the agents' own places; `None` without a keep.
    pub(crate) fn new(args: &LogArgs) -> Option<Self> {
        Some(Fates { keep: keep(args)?, retention: retention(args), now: logs::asked_at(args) })
    }

    /// Note about a session that will be deleted soon and is not kept: `gone in 3 days`.
    pub(crate) fn note(&self, session: &SessionRow<'_>) -> Option<String> {
        let is_soon = |time: Time| self.now.micros_until(time) <= i64::try_from(SOON.as_micros()).unwrap_or(i64::MAX);
        // A log is deleted by its age, and is at least as young as its session. Most sessions are ruled out by that, without a look at
        // the disk.
        let may_be = |began| session.files.iter().any(|file| self.retention.deleted_at(Path::new(file), began).is_some_and(is_soon));
        if !session.started_at.is_none_or(may_be) {
            return None;
        }
        let lost = self.keep.lost_at(&self.retention, session.files.iter().copied())?;
        is_soon(lost).then(|| format!("gone {}", when(self.now, lost)))
    }

    /// Advice for this number of endangered sessions.
    pub(crate) fn advice(&self, sessions: u64) -> String {
        let what = match self.keep.state() {
            Ok(state) if state.on => "`tooltrail keep now` keeps them",
            Ok(_) => "`tooltrail keep on` keeps them",
            Err(_) => "`tooltrail keep` says why they are not kept",
        };
        format!("{} will be deleted by the agent within 7 days; {what}", table::counted(sessions, "session"))
    }
}

impl tooltrail_server::LogRetention for Fates {
    fn note(&self, session: &SessionRow<'_>) -> Option<String> {
        self.note(session)
    }

    fn advice(&self, sessions: u64) -> String {
        self.advice(sessions)
    }
}

/// Time left until a log is deleted, in words.
pub(crate) fn when(now: Time, deleted: Time) -> String {
    const HOUR: i64 = 3_600_000_000;
    let left = |number: i64, unit: &str| format!("in {}", table::counted(number.unsigned_abs(), unit));
    match now.micros_until(deleted) / HOUR {
        // Agents delete when they start, so a deadline in the past or within the hour may strike at any moment.
        hours if now.micros_until(deleted) <= 0 || hours < 1 => "any time now".to_owned(),
        hours @ ..24 => left(hours, "hour"),
        hours => left(hours / 24, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_reads_well() {
        let now: Time = "2026-03-04T10:00:00Z".parse().unwrap();
        for (deleted, expected) in [
            ("2026-03-01T10:00:00Z", "any time now"),
            ("2026-03-04T10:20:00Z", "any time now"),
            ("2026-03-04T11:00:00Z", "in 1 hour"),
            ("2026-03-05T09:59:59Z", "in 23 hours"),
            ("2026-03-05T10:00:00Z", "in 1 day"),
            ("2026-03-11T09:00:00Z", "in 6 days"),
        ] {
            assert_eq!(when(now, deleted.parse().unwrap()), expected);
        }
    }
}
