//! The keep of this machine: which one the arguments mean, what it does beside other commands, and what is said about logs that are
//! about to be deleted.

use crate::cli::LogArgs;
use crate::{directories, logs, out, table};
use std::path::Path;
use tooltrail_catalog::keep::{Keep, SOON};
use tooltrail_formats::find::Search;
use tooltrail_formats::retention::Retention;
use tooltrail_model::Time;
use tooltrail_model::row::SessionRow;
use tracing::debug;

/// The keep of the places that the arguments name; none where there is no place for it.
pub(crate) fn keep(args: &LogArgs) -> Option<Keep> {
    if args.demo {
        return None;
    }
    let data = directories::data().inspect_err(|error| debug!(%error, "nothing is kept"));
    data.ok().map(|data| Keep::of(&data, &args.root))
}

/// Keeps what is due, where that was asked for. Whatever goes wrong is told and nothing more: the command is about something else.
pub(crate) fn after_refresh(args: &LogArgs, search: &Search) {
    let Some(keep) = keep(args).filter(|keep| keep.state().on) else { return };
    match keep.after_refresh(search, &retention(args), jiff::Timestamp::now().into()) {
        Ok(outcome) => outcome.problems.iter().for_each(|problem| out::complain_of(problem)),
        Err(error) => out::complain_of(&error),
    }
}

/// When agents delete logs. What a directory named with `--root` is, and whether an agent looks into it, nobody knows.
pub(crate) fn retention(args: &LogArgs) -> Retention {
    if args.demo || !args.root.is_empty() {
        return Retention::default();
    }
    logs::places(args).map(|places| Retention::read(&places)).unwrap_or_default()
}

/// Tells which sessions are about to be lost.
pub(crate) struct Fates {
    keep: Keep,
    retention: Retention,
    now: Time,
}

impl Fates {
    /// For logs of the agents' own places; nothing for others.
    pub(crate) fn new(args: &LogArgs) -> Option<Self> {
        Some(Fates { keep: keep(args)?, retention: retention(args), now: logs::asked_at(args) })
    }

    /// What to say about a session that will be deleted soon and is not kept: `gone in 3 days`.
    pub(crate) fn note(&self, session: &SessionRow<'_>) -> Option<String> {
        let is_soon = |time: Time| self.now.micros_until(time) <= i64::try_from(SOON.as_micros()).unwrap_or(i64::MAX);
        // No log was written before its session began, so most need no look at the disk.
        let may_be = |began| session.files.iter().any(|file| self.retention.deleted_at(Path::new(file), began).is_some_and(is_soon));
        if !session.started_at.is_none_or(may_be) {
            return None;
        }
        let lost = self.keep.lost_at(&self.retention, session.files.iter().copied())?;
        is_soon(lost).then(|| format!("gone {}", when(self.now, lost)))
    }

    /// What to do about so many such sessions.
    pub(crate) fn advice(&self, sessions: u64) -> String {
        let what = if self.keep.state().on { "`tooltrail keep now` keeps them" } else { "`tooltrail keep on` keeps them" };
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

/// How far away the moment is at which a log will be deleted.
pub(crate) fn when(now: Time, deleted: Time) -> String {
    const HOUR: i64 = 3_600_000_000;
    let left = |number: i64, unit: &str| format!("in {}", table::counted(number.unsigned_abs(), unit));
    match now.micros_until(deleted) / HOUR {
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
