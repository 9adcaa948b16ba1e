//! Failures, answered from the catalogue: those that are stored, and those of live sessions, which are read from their logs.

use super::failures::{FailureGroup, FailureQuery, FailureReport, GroupCursor, GroupedCall};
use super::stored::{add, most_first};
use super::{CallCursor, Column, ColumnTest, Page, StoredCallRow, column_tests};
use crate::matching::stored::CatalogueQuery;
use crate::stop::Stop;
use crate::store::{CatalogueError, ListedCall};
use crate::{Map, Set};
use jiff::tz::TimeZone;
use std::cmp::Reverse;
use std::time::Instant;
use tooltrail_model::digest::FollowUp;
use tooltrail_model::filter::{Filter, Test};
use tooltrail_model::row::CallNumber;
use tooltrail_model::{Status, Time};

/// The statuses of failures.
const FAILURES: [Status; 4] = [Status::Failed, Status::TimedOut, Status::Blocked, Status::Rejected];

/// About how many calls of a live session are opened in a millisecond.
const CALLS_PER_MS: u64 = 5;

/// A failure while it is counted.
struct CountedFailure<'r> {
    session: usize,
    id: i64,
    number: CallNumber,
    tool: &'r str,
    status: Status,
    time: Option<Time>,
    order: Option<i64>,
    group: &'r str,
    error: Option<&'r str>,
    follow_up: FollowUp,
}

/// A call of a group, before its row is read.
struct CallOfGroup {
    cursor: CallCursor,
    listed: ListedCall,
    time: Option<Time>,
    follow_up: FollowUp,
    error: Option<String>,
}

impl CatalogueQuery<'_> {
    /// Makes and stores what is missing of the failures in the sessions that a filter may select.
    pub fn make_failures(&self, filter: &Filter) -> Result<(), CatalogueError> {
        let sessions: Vec<usize> = self.likely_sessions(filter).filter(|&session| self.has_failures(session)).collect();
        self.library.fill(self.listing, &sessions, self.threads, &|| !Stop::current().is_over()).map(drop)
    }

    pub(super) fn failure_report(
        &self,
        query: &FailureQuery<'_>,
        after: Option<&GroupCursor>,
        limit: usize,
    ) -> Result<FailureReport, CatalogueError> {
        let mut groups: Map<String, GroupTally> = Map::default();
        let (mut total, mut projects) = (GroupTally::default(), Map::default());
        let mut days = LocalDays::new(query.zone);
        let pending = self.each_failure(query, |failure| {
            let day = failure.time.map(|time| days.day(time));
            let row = self.rows.get(failure.session);
            let short = row.map_or("", |row| row.short);
            row.and_then(|row| row.project).into_iter().for_each(|project| add(&mut projects, project, 1));
            // Nearly all failures repeat a message, so it is copied only for a new group.
            if !groups.contains_key(failure.group) {
                groups.insert(failure.group.to_owned(), GroupTally::default());
            }
            let own = groups.get_mut(failure.group);
            own.into_iter().chain([&mut total]).for_each(|tally| tally.add(failure, day.as_deref(), short));
        })?;
        let all_groups = groups.len() as u64;
        let mut found: Vec<FailureGroup> = groups.into_iter().map(|(name, tally)| tally.finish(name)).collect();
        found.sort_by(|one, other| one.key().cmp(&other.key()));
        if let Some(after) = after {
            // Behind a place, not a number of groups: one that appears meanwhile does not shift the next page.
            found.retain(|group| group.key() > after.key());
        }
        let has_more = found.len() > limit;
        found.truncate(limit);
        let (total, projects) = (total.finish(String::new()), most_first(projects));
        Ok(FailureReport { groups: found, has_more, all_groups, total, projects, pending })
    }

    pub(super) fn grouped_calls(
        &self,
        query: &FailureQuery<'_>,
        group: &str,
        after: Option<&CallCursor>,
        limit: usize,
    ) -> Result<Page<GroupedCall>, CatalogueError> {
        let mut found: Vec<CallOfGroup> = Vec::new();
        self.each_failure(query, |failure| {
            let Some(row) = self.rows.get(failure.session).filter(|_| failure.group == group) else { return };
            let CountedFailure { session, id, number, order, .. } = *failure;
            let cursor = CallCursor { order, agent: row.agent.to_owned(), session: row.session.to_owned(), number };
            if after.is_none_or(|after| cursor < *after) {
                let listed = ListedCall { session, id, number, order, took: None };
                let (time, follow_up, error) = (failure.time, failure.follow_up, failure.error.map(str::to_owned));
                found.push(CallOfGroup { cursor, listed, time, follow_up, error });
            }
        })?;
        found.sort_by(|one, other| other.cursor.cmp(&one.cursor));
        let has_more = found.len() > limit;
        found.truncate(limit);
        let mut entries = Vec::with_capacity(found.len());
        for CallOfGroup { cursor, listed, time, follow_up, error } in found {
            let call = self.call_row(cursor, listed)?;
            entries.extend(call.map(|call| GroupedCall { call: StoredCallRow { error, ..call }, time, follow_up }));
        }
        Ok(Page { entries, has_more })
    }

    /// Passes on the failures that are asked for. Returns the number of sessions with failures that are not known.
    fn each_failure(&self, query: &FailureQuery<'_>, mut take: impl FnMut(&CountedFailure<'_>)) -> Result<u64, CatalogueError> {
        let filter = query.filter;
        let likely: Set<usize> = self.likely_sessions(filter).filter(|&session| self.has_failures(session)).collect();
        let selected = self.selected_failures(filter, &likely)?;
        let is_selected = |id: i64| selected.as_ref().is_none_or(|selected| selected.contains(&id));
        let is_asked = |follow_up: FollowUp| !query.unresolved || follow_up.is_unresolved();
        let places = self.listing.places();
        self.library.details.each_failure(&column_tests(filter), |session, logs, call| {
            // Details of logs as they were before may name calls that are gone.
            let place = places.get(&session).copied().filter(|place| likely.contains(place) && self.is_current(*place, logs));
            let Some(session) = place.filter(|_| is_selected(call.id) && is_asked(call.follow_up)) else { return };
            let crate::store::failures::FailedCall { id, number, tool, status, time, order, group, error, follow_up, .. } = call;
            take(&CountedFailure { session, id, number, tool, status, time, order, group, error, follow_up });
        });
        let (stored, start) = (self.library.details.stored(), Instant::now());
        let (mut pending, mut calls) = (0, u64::try_from(query.patience.as_millis()).unwrap_or(u64::MAX).saturating_mul(CALLS_PER_MS));
        let mut unstored: Vec<usize> = likely.iter().copied().filter(|&session| !self.is_stored(session, &stored)).collect();
        // The time may not suffice for all, and recent failures matter most.
        unstored.sort_by_key(|&session| Reverse(self.listing.newest(session)));
        for session in unstored {
            // A session that is not live is read in the background, for good.
            let is_live = self.listing.detail_key(session).is_none();
            let details = match self.library.known_live(self.listing, session) {
                Some(known) => Some(known),
                None if is_live && start.elapsed() < query.patience => {
                    // A session that is begun is read to its end, so one that would take too long is not begun.
                    let own = self.rows.get(session).map_or(0, |row| row.calls);
                    calls = calls.saturating_sub(own);
                    if calls > 0 { self.library.live(self.listing, session)? } else { None }
                }
                None => None,
            };
            let Some(details) = details else {
                pending += 1;
                continue;
            };
            let tests: Vec<ColumnTest> = column_tests(filter).into_iter().chain([failing()]).collect();
            self.listing.each_call_where(&self.library.catalogue(), session, &tests, |listed, row, _| {
                let Some(call) = details.calls.get(&listed.number).filter(|_| is_selected(listed.id)) else { return };
                let (Some(group), Some(follow_up)) = (call.failure.as_deref(), call.follow_up.filter(|known| is_asked(*known))) else {
                    return;
                };
                let ListedCall { id, number, order, .. } = listed;
                let (tool, status, time, error) = (row.tool, row.status, row.requested_at, call.error.as_deref());
                take(&CountedFailure { session, id, number, tool, status, time, order, group, error, follow_up });
            })?;
        }
        Ok(pending)
    }

    /// The ids of the failed calls that a filter selects; `None` if it selects all of those in the sessions that it may select.
    fn selected_failures(&self, filter: &Filter, likely: &Set<usize>) -> Result<Option<Set<i64>>, CatalogueError> {
        if is_of_sessions(filter) {
            return Ok(None);
        }
        if filter.asks_texts() {
            return Ok(Some(self.calls(filter)?.into_iter().map(|call| call.id).collect()));
        }
        self.make_content(filter)?;
        let calls = self.calls_where(filter, likely.iter().copied(), &[failing()])?;
        Ok(Some(calls.into_iter().map(|call| call.id).collect()))
    }

    /// Whether a session has failed calls, those in the texts of scripts perhaps.
    fn has_failures(&self, session: usize) -> bool {
        let counts = |row: &tooltrail_model::row::SessionRow<'_>| {
            // Counts by status leave out calls in the texts of scripts, which may have failed too.
            row.inner_calls > 0 || FAILURES.iter().any(|status| row.by_status.get(status).is_some_and(|count| *count > 0))
        };
        !self.listing.is_gone(session) && self.rows.get(session).is_some_and(counts)
    }

    /// Whether the details of a session are among the stored ones.
    pub(super) fn is_stored(&self, session: usize, stored: &Map<i64, i64>) -> bool {
        let key = self.listing.detail_key(session);
        key.is_some_and(|key| stored.get(&key.session()).is_some_and(|logs| key.logs.is_none_or(|own| own == *logs)))
    }
}

/// The test that a call did not succeed in a way that may be a failure.
fn failing() -> ColumnTest {
    ColumnTest::OneOf(Column::Status, FAILURES.iter().map(|status| status.word()).collect())
}

/// Whether a filter selects all calls of a session or none, as far as its row tells.
pub(super) fn is_of_sessions(filter: &Filter) -> bool {
    filter.terms().iter().all(|term| matches!(term.test, Test::Project(_) | Test::Agent(_) | Test::Session(_) | Test::Branch(_)))
}

/// Days of a time zone. Neighbouring calls are mostly of one day, so the last one is remembered.
pub(super) struct LocalDays<'z> {
    zone: &'z TimeZone,
    last: Option<(i64, i64, String)>,
}

impl<'z> LocalDays<'z> {
    pub(super) fn new(zone: &'z TimeZone) -> Self {
        LocalDays { zone, last: None }
    }

    /// The day of a moment: `2026-03-04`.
    pub(super) fn day(&mut self, time: Time) -> String {
        let second = time.timestamp().as_second();
        if let Some((_, _, day)) = self.last.as_ref().filter(|(from, to, _)| (*from..*to).contains(&second)) {
            return day.clone();
        }
        let zoned = time.timestamp().to_zoned(self.zone.clone());
        let day = zoned.date().to_string();
        // Asked of the zone: a day on which clocks change has no 24 hours.
        let bounds = || Some((zoned.start_of_day().ok()?, zoned.end_of_day().ok()?));
        self.last = bounds().map(|(from, to)| (from.timestamp().as_second(), to.timestamp().as_second(), day.clone()));
        day
    }
}

/// A group of failures while it is counted.
#[derive(Default)]
struct GroupTally {
    group: FailureGroup,
    sessions: Set<usize>,
    tools: Map<String, u64>,
    /// The place of its newest call.
    newest: Option<(Option<Time>, usize, CallNumber)>,
}

impl GroupTally {
    fn add(&mut self, failure: &CountedFailure<'_>, day: Option<&str>, short: &str) {
        let GroupTally { group, sessions, tools, newest } = self;
        group.count += 1;
        sessions.insert(failure.session);
        add(tools, failure.tool, 1);
        *group.by_status.entry(failure.status).or_default() += 1;
        *group.follow_ups.entry(failure.follow_up).or_default() += 1;
        if let Some(day) = day {
            *group.days.entry(day.to_owned()).or_default() += 1;
        }
        group.first = group.first.into_iter().chain(failure.time).min();
        // Of two at the same moment the later one counts, whatever the order in which they come.
        let place = (failure.time, failure.session, failure.number);
        if newest.is_none_or(|known| place > known) {
            *newest = Some(place);
            group.last = failure.time;
            group.example = format!("{short}:{}", failure.number);
            group.error = failure.error.map(str::to_owned);
        }
    }

    fn finish(self, name: String) -> FailureGroup {
        FailureGroup { group: name, sessions: self.sessions.len() as u64, tools: most_first(self.tools), ..self.group }
    }
}
