//! Totals grouped by project, time, model, tool, agent, branch, session or command.

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
        /// The month in the person's calendar.
        Month => "month",
        /// The model that made a call, or that tokens were paid for.
        Model => "model",
        /// The tool.
        Tool => "tool",
        /// The agent.
        Agent => "agent",
        /// The branch that a session was on.
        Branch => "branch",
        /// The session.
        Session => "session",
        /// The command that a shell call ran, as [`CommandLine::label`](crate::command::CommandLine::label) names it.
        Command => "command",
    }
}

impl By {
    /// Whether groups are in the order of time.
    pub fn is_time(self) -> bool {
        matches!(self, By::Day | By::Week | By::Month)
    }

    /// Whether a turn has such a group: no turn belongs to a single model, tool or command.
    pub fn has_turns(self) -> bool {
        !matches!(self, By::Model | By::Tool | By::Command)
    }

    /// Whether tokens have such a group: they are spent on requests, not on calls.
    pub fn has_tokens(self) -> bool {
        !matches!(self, By::Tool | By::Command)
    }
}

/// Where an event belongs.
#[derive(Clone, Copy, Default)]
struct EventPlace<'e> {
    /// Its session, by its index in [`Linked::sessions`].
    session: Option<usize>,
    time: Option<Time>,
    model: Option<&'e str>,
    tool: Option<&'e str>,
    command: Option<&'e str>,
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
#[derive(Debug, Default)]
struct Sum {
    row: GroupRow,
    sessions: Set<usize>,
    took: Vec<u64>,
}

/// Totals by group while they are summed up, possibly of logs that are linked one part after the other. No part may share a bundle with
/// another.
#[derive(Debug)]
pub struct GroupSums<'z> {
    by: By,
    zone: &'z TimeZone,
    all: Map<Option<String>, Sum>,
    /// The last day that was computed: most events follow each other.
    last: Option<(i64, String)>,
}

impl<'z> GroupSums<'z> {
    /// No events yet.
    pub fn new(by: By, zone: &'z TimeZone) -> Self {
        GroupSums { by, zone, all: Map::default(), last: None }
    }

    /// Adds a call of a session, by its place among the sessions of all calls that are added, to a group.
    pub fn add_call(&mut self, key: Option<String>, session: usize, status: Status, took: Option<u64>) {
        let sum = self.all.entry(key).or_default();
        sum.sessions.insert(session);
        sum.row.calls += 1;
        *sum.row.by_status.entry(status).or_default() += 1;
        sum.took.extend(took);
    }

    /// The group of an event.
    fn group(&mut self, linked: &Linked<'_>, event: EventPlace<'_>) -> &mut Sum {
        let session = event.session.and_then(|session| linked.sessions.get(session));
        // `None` is a group too: events without a project, a model or a time.
        let key = match self.by {
            By::Project => session.and_then(|session| session.project.as_deref()).map(str::to_owned),
            By::Branch => session.and_then(|session| session.branch.as_deref()).map(str::to_owned),
            By::Agent => session.map(|session| session.agent.to_owned()),
            By::Session => session.map(|session| session.id.to_string()),
            By::Model => event.model.map(str::to_owned),
            By::Tool => event.tool.map(str::to_owned),
            By::Command => event.command.map(str::to_owned),
            By::Day | By::Week | By::Month => event.time.map(|time| self.date(time)),
        };
        let sum = self.all.entry(key).or_default();
        sum.sessions.extend(event.session.filter(|_| session.is_some()));
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
            By::Month => format!("{:04}-{:02}", day.year(), day.month()),
            _ => day.to_string(),
        };
        self.last = Some((quarter, date.clone()));
        date
    }

    /// The groups: days, weeks and months in order, others with the most calls first.
    pub fn finish(self) -> Vec<GroupRow> {
        let by = self.by;
        let finish = |(key, Sum { mut row, sessions, mut took }): (Option<String>, Sum)| {
            (row.v, row.by, row.key) = (VERSION, by.word(), key);
            row.sessions += sessions.len() as u64;
            row.took_ms = took.iter().fold(0, |sum: u64, took| sum.saturating_add(*took));
            (row.p50_ms, row.p95_ms) = (percentile(&mut took, 50), percentile(&mut took, 95));
            row
        };
        let mut rows: Vec<GroupRow> = self.all.into_iter().map(finish).collect();
        match by.is_time() {
            true => rows.sort_by(|one, other| one.key.cmp(&other.key)),
            // The key breaks ties, so that the order is the same in every run.
            false => rows.sort_by(|one, other| (Reverse(one.calls), &one.key).cmp(&(Reverse(other.calls), &other.key))),
        }
        rows
    }

    /// Adds what is selected of some logs. A call counts at its request, tokens at the first request they were paid for. `command` labels the
    /// command of a call, and is only asked where groups are commands; calls without one are then left out.
    pub fn add(&mut self, linked: &Linked<'_>, selected: Selected<'_>, now: &Now, command: &dyn Fn(&LinkedCall) -> Option<String>) {
        let by = self.by;
        // Copies were counted with their original, and calls in scripts are with the script.
        for call in selected.calls.iter().filter(|call| call.copy_of.is_none() && !call.id.is_inner()) {
            let label = if by == By::Command { command(call) } else { None };
            if by == By::Command && label.is_none() {
                continue;
            }
            let record = linked.record(call.id);
            let names = &linked.sources[call.id.source()].summary.names;
            let judged = linked.judge(call, Some(now), false);
            let (model, tool) = (names.opt(record.model), Some(names.text(record.tool)));
            let place = EventPlace { session: Some(call.session), time: record.time, model, tool, command: label.as_deref() };
            let sum = self.group(linked, place);
            sum.row.calls += 1;
            *sum.row.by_status.entry(judged.verdict.status).or_default() += 1;
            sum.took.extend(judged.duration_ms);
        }
        // Where turns have no group the rows say nothing about them, which is not the same as 0.
        if by.has_turns() {
            for turn in linked.turns().into_iter().filter(|turn| selected.has(Some(turn.session), turn.record.time, 0)) {
                let place = EventPlace { session: Some(turn.session), time: turn.record.time, ..EventPlace::default() };
                *self.group(linked, place).row.turns.get_or_insert(0) += 1;
            }
        }
        if by.has_tokens() {
            // Usage is known to the minute: a minute counts if any of it is in the period.
            for (_, session, model, time, usage) in
                linked.usage().filter(|(_, session, _, time, _)| selected.has(*session, *time, MINUTE - 1))
            {
                let sum = self.group(linked, EventPlace { session, time, model, ..EventPlace::default() });
                let all = sum.row.usage.get_or_insert_default();
                all.messages += usage.messages;
                all.tokens.add(&usage.tokens);
            }
        }
        // Their indexes mean other sessions in the next part.
        for sum in self.all.values_mut() {
            sum.row.sessions += std::mem::take(&mut sum.sessions).len() as u64;
        }
    }
}

impl GroupRow {
    /// Number of calls with one of some statuses.
    pub fn count(&self, statuses: &[Status]) -> u64 {
        statuses.iter().filter_map(|status| self.by_status.get(status)).sum()
    }
}
