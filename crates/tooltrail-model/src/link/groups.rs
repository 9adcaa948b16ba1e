//! Totals grouped by project, day, week, model or tool.

use super::totals::{MINUTE, percentile};
use super::{Linked, LinkedCall, Now};
use crate::row::{GroupRow, VERSION};
use crate::status::words;
use crate::{Map, Set, Status, Time};
use jiff::tz::TimeZone;
use std::cmp::Reverse;

words! {
    /// Grouping of totals.
    By {
        /// The directory that a session belongs to.
        Project => "project",
        /// The day in the person's calendar.
        Day => "day",
        /// The week according to ISO 8601.
        Week => "week",
        /// The model that made a call, or that tokens were paid for.
        Model => "model",
        /// The tool.
        Tool => "tool",
    }
}

/// Selection to sum up.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'s> {
    /// These calls.
    pub calls: &'s [LinkedCall],
    /// Sessions whose turns and usage count, by their indexes in [`Linked::sessions`], sorted; all where `None`.
    pub sessions: Option<&'s [usize]>,
    /// Only events since then.
    pub since: Option<Time>,
    /// Only events before.
    pub until: Option<Time>,
}

impl Selected<'_> {
    /// Whether an event of a session, within some milliseconds after a time, is selected.
    fn has(&self, session: Option<usize>, time: Option<Time>, within: i64) -> bool {
        // Without a time an event is in no bounded period.
        let bounded = self.since.is_some() || self.until.is_some();
        let not_before = |time: Time, since: Time| time.as_millisecond().saturating_add(within) >= since.as_millisecond();
        let in_time = |time: Time| self.since.is_none_or(|since| not_before(time, since)) && self.until.is_none_or(|until| time < until);
        let listed = |only: &[usize]| session.is_some_and(|session| only.binary_search(&session).is_ok());
        self.sessions.is_none_or(listed) && time.map_or(!bounded, in_time)
    }
}

/// A group while it is summed up.
#[derive(Default)]
struct Sum {
    row: GroupRow,
    sessions: Set<usize>,
    took: Vec<u64>,
}

/// The groups while they are summed up, by key.
struct Sums<'z> {
    by: By,
    zone: &'z TimeZone,
    all: Map<Option<String>, Sum>,
    /// The last day that was computed: most events follow each other.
    last: Option<(i64, String)>,
}

impl Sums<'_> {
    /// The group of an event in a session at some time.
    fn group(&mut self, session: Option<(usize, Option<&str>)>, time: Option<Time>, model: Option<&str>, tool: Option<&str>) -> &mut Sum {
        // `None` is a group too: events without a project, a model or a time.
        let key = match self.by {
            By::Project => session.and_then(|(_, project)| project).map(str::to_owned),
            By::Model => model.map(str::to_owned),
            By::Tool => tool.map(str::to_owned),
            By::Day | By::Week => time.map(|time| self.date(time)),
        };
        let sum = self.all.entry(key).or_default();
        sum.sessions.extend(session.map(|(session, _)| session));
        sum
    }

    fn date(&mut self, time: Time) -> String {
        // No time zone changes its offset except at a full quarter of an hour.
        let quarter = time.as_millisecond().div_euclid(15 * 60 * 1000);
        if let Some((_, date)) = self.last.as_ref().filter(|(known, _)| *known == quarter) {
            return date.clone();
        }
        let day = time.timestamp().to_zoned(self.zone.clone()).date();
        let date = match self.by {
            By::Week => {
                let week = day.iso_week_date();
                format!("{}-W{:02}", week.year(), week.week())
            }
            _ => day.to_string(),
        };
        self.last = Some((quarter, date.clone()));
        date
    }

    /// The rows: days and weeks in order, others with the most calls first.
    fn rows(self) -> Vec<GroupRow> {
        let by = self.by;
        let finish = |(key, Sum { mut row, sessions, mut took }): (Option<String>, Sum)| {
            (row.v, row.by, row.key) = (VERSION, by.word(), key);
            row.sessions = sessions.len() as u64;
            row.took_ms = took.iter().fold(0, |sum: u64, took| sum.saturating_add(*took));
            (row.p50_ms, row.p95_ms) = (percentile(&mut took, 50), percentile(&mut took, 95));
            row
        };
        let mut rows: Vec<GroupRow> = self.all.into_iter().map(finish).collect();
        match by {
            By::Day | By::Week => rows.sort_by(|one, other| one.key.cmp(&other.key)),
            // The key breaks ties, so that the order is the same in every run.
            _ => rows.sort_by(|one, other| (Reverse(one.calls), &one.key).cmp(&(Reverse(other.calls), &other.key))),
        }
        rows
    }
}

impl Linked<'_> {
    /// Totals by group. A call counts at its request, tokens at the first request they were paid for. Turns belong to no
    /// model and no tool, and tokens to no tool.
    pub fn groups(&self, by: By, selected: Selected<'_>, now: &Now, zone: &TimeZone) -> Vec<GroupRow> {
        let mut sums = Sums { by, zone, all: Map::default(), last: None };
        let place = |session: usize| self.sessions.get(session).map(|own| (session, own.project.as_deref()));
        // Copies were counted with their original, and calls in scripts are with the script.
        for call in selected.calls.iter().filter(|call| call.copy_of.is_none() && !call.id.is_inner()) {
            let record = self.record(call.id);
            let names = &self.sources[call.id.source()].summary.names;
            let judged = self.judge(call, Some(now), false);
            let sum = sums.group(place(call.session), record.time, names.opt(record.model), Some(names.text(record.tool)));
            sum.row.calls += 1;
            *sum.row.by_status.entry(judged.verdict.status).or_default() += 1;
            sum.took.extend(judged.duration_ms);
        }
        // Where turns have no group the rows say nothing about them, which is not the same as 0.
        if !matches!(by, By::Model | By::Tool) {
            for turn in self.turns().into_iter().filter(|turn| selected.has(Some(turn.session), turn.record.time, 0)) {
                *sums.group(place(turn.session), turn.record.time, None, None).row.turns.get_or_insert(0) += 1;
            }
        }
        if by != By::Tool {
            // Usage is known to the minute: a minute counts if any of it is in the period.
            for (_, session, model, time, usage) in
                self.usage().filter(|(_, session, _, time, _)| selected.has(*session, *time, MINUTE - 1))
            {
                let sum = sums.group(session.and_then(place), time, model, None);
                let all = sum.row.usage.get_or_insert_default();
                all.messages += usage.messages;
                all.tokens.add(&usage.tokens);
            }
        }
        sums.rows()
    }
}

impl GroupRow {
    /// Number of calls with one of some statuses.
    pub fn count(&self, statuses: &[Status]) -> u64 {
        statuses.iter().filter_map(|status| self.by_status.get(status)).sum()
    }
}
