//! The named queries, answered from the catalogue.

use super::failures::{FailureQuery, FailureReport, GroupCursor, GroupedCall};
use super::projects::{DayActivity, FailingCommand, JudgedSession};
use super::{
    CallCursor, ChangedPathCount, Facet, Page, ProjectCount, SessionCursor, SpentTokens, Store, StoreTotals, StoredCallRow, StoredRow,
};
use crate::Map;
use crate::matching::MatchScope;
use crate::matching::stored::CatalogueQuery;
use crate::store::{CatalogueError, ListedCall};
use jiff::tz::TimeZone;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use tooltrail_model::digest::Digest;
use tooltrail_model::filter::Filter;
use tooltrail_model::row::{CallRow, SessionRow};
use tooltrail_model::{Status, Time};

impl Store for CatalogueQuery<'_> {
    type Error = CatalogueError;

    fn totals(&self, filter: &Filter) -> Result<StoreTotals, CatalogueError> {
        let mut totals = StoreTotals { sessions: self.present(filter)?.len() as u64, ..StoreTotals::default() };
        if filter.is_empty() {
            // Sessions have these sums already.
            for row in self.rows.iter().enumerate().filter(|(place, _)| !self.listing.is_gone(*place)).map(|(_, row)| row) {
                row.by_status.iter().for_each(|(status, count)| *totals.calls.entry(*status).or_default() += count);
            }
            return Ok(totals);
        }
        self.each_selected(filter, |row| *totals.calls.entry(row.status).or_default() += 1)?;
        Ok(totals)
    }

    fn sessions_page(&self, filter: &Filter, after: Option<&SessionCursor>, limit: usize) -> Result<Page<StoredRow>, CatalogueError> {
        let mut found: Vec<(SessionCursor, usize)> =
            self.present(filter)?.into_iter().filter_map(|place| Some((cursor(self.rows.get(place)?), place))).collect();
        found.retain(|(cursor, _)| after.is_none_or(|after| cursor < after));
        found.sort_unstable_by(|one, other| other.cmp(one));
        let has_more = found.len() > limit;
        let entries = found.into_iter().take(limit).filter_map(|(_, place)| self.rows.get(place).map(stored_row)).collect();
        Ok(Page { entries, has_more })
    }

    fn session_row(&self, agent: &str, session: &str) -> Result<Option<StoredRow>, CatalogueError> {
        Ok(self.rows.iter().find(|row| row.agent == agent && row.session == session).map(stored_row))
    }

    fn calls_page(&self, filter: &Filter, after: Option<&CallCursor>, limit: usize) -> Result<Page<StoredCallRow>, CatalogueError> {
        self.make_content(filter)?;
        // The call that would be dropped next is on top.
        let mut newest: BinaryHeap<Reverse<(CallCursor, ListedCall)>> = BinaryHeap::new();
        let wanted = limit.saturating_add(1);
        let mut take = |calls: Vec<ListedCall>| {
            for call in calls {
                let Some(cursor) = self.rows.get(call.session).map(|row| call_cursor(row, call)) else { continue };
                if after.is_none_or(|after| cursor < *after) {
                    newest.push(Reverse((cursor, call)));
                    if newest.len() > wanted {
                        newest.pop();
                    }
                }
            }
            (newest.len() >= wanted).then(|| newest.peek().and_then(|Reverse((cursor, _))| cursor.order)).flatten()
        };
        if filter.asks_texts() {
            take(self.calls(filter)?);
        } else {
            let mut sessions: Vec<usize> = self.likely_sessions(filter).collect();
            sessions.sort_by_key(|&session| Reverse(self.listing.newest(session)));
            for session in sessions {
                let oldest = take(self.calls_of(filter, [session])?);
                // Sessions come by their newest call: none of the later ones has a call for this page.
                if oldest.is_some_and(|oldest| self.listing.newest(session).is_none_or(|newest| newest < oldest)) {
                    break;
                }
            }
        }
        let mut found: Vec<(CallCursor, ListedCall)> = newest.into_iter().map(|Reverse(found)| found).collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        let has_more = found.len() > limit;
        found.truncate(limit);
        let mut entries = Vec::with_capacity(found.len());
        for (cursor, call) in found {
            entries.extend(self.call_row(cursor, call)?);
        }
        Ok(Page { entries, has_more })
    }

    fn counts(&self, filter: &Filter, by: Facet) -> Result<Vec<(String, u64)>, CatalogueError> {
        let mut counts: Map<String, u64> = Map::default();
        let projects: Map<(&str, &str), Option<&str>> = self.rows.iter().map(|row| ((row.agent, row.session), row.project)).collect();
        self.each_selected(filter, |row| {
            let value = match by {
                Facet::Tool => Some(row.tool),
                Facet::Kind => Some(row.kind.word()),
                Facet::Status => Some(row.status.word()),
                Facet::Purpose => row.purpose,
                Facet::Model => row.model,
                Facet::Agent => Some(row.agent),
                Facet::Project => projects.get(&(row.agent, row.session)).copied().flatten(),
            };
            if let Some(value) = value {
                add(&mut counts, value, 1);
            }
        })?;
        Ok(most_first(counts))
    }

    fn failures(&self, query: &FailureQuery<'_>, after: Option<&GroupCursor>, limit: usize) -> Result<FailureReport, CatalogueError> {
        self.failure_report(query, after, limit)
    }

    fn failed_calls(
        &self,
        query: &FailureQuery<'_>,
        group: &str,
        after: Option<&CallCursor>,
        limit: usize,
    ) -> Result<Page<GroupedCall>, CatalogueError> {
        self.grouped_calls(query, group, after, limit)
    }

    fn failing_commands(&self, filter: &Filter, limit: usize) -> Result<Vec<FailingCommand>, CatalogueError> {
        self.commands_failing(filter, limit)
    }

    fn activity(&self, filter: &Filter, since: Time, zone: &TimeZone) -> Result<Vec<DayActivity>, CatalogueError> {
        self.active_days(filter, since, zone)
    }

    fn judged_sessions(&self, filter: &Filter, after: Option<&SessionCursor>, limit: usize) -> Result<Page<JudgedSession>, CatalogueError> {
        self.judged(filter, after, limit)
    }

    fn changed_files(&self, filter: &Filter, limit: usize) -> Result<Vec<ChangedPathCount>, CatalogueError> {
        let mut found: Map<String, ChangedPathCount> = Map::default();
        for place in self.present(filter)? {
            let Some(digest) = self.rows.get(place).and_then(|row| self.library.digest(self.listing, row, place)) else { continue };
            for file in digest.changed.files {
                let known = found.entry(file.path.clone()).or_insert_with(|| ChangedPathCount {
                    path: file.path.clone(),
                    sessions: 0,
                    calls: 0,
                    lines: Some((0, 0)),
                });
                known.sessions += 1;
                known.calls += file.calls.len() as u64;
                // A single unknown number makes the sum unknown.
                known.lines = known.lines.zip(file.lines).map(|(sum, more)| (sum.0 + more.0, sum.1 + more.1));
            }
        }
        let mut found: Vec<ChangedPathCount> = found.into_values().collect();
        found.sort_by(|one, other| (other.sessions, other.calls, &one.path).cmp(&(one.sessions, one.calls, &other.path)));
        found.truncate(limit);
        Ok(found)
    }

    fn projects(&self) -> Result<Vec<ProjectCount>, CatalogueError> {
        let mut found: BTreeMap<Option<&str>, ProjectCount> = BTreeMap::new();
        for (_, row) in self.rows.iter().enumerate().filter(|(place, _)| !self.listing.is_gone(*place)) {
            let project = found.entry(row.project).or_default();
            project.sessions += 1;
            project.calls += row.calls;
            project.failed += row.by_status.get(&Status::Failed).copied().unwrap_or_default();
            project.last_at = project.last_at.max(row.last_at);
        }
        let named = found.into_iter().map(|(name, count)| ProjectCount { project: name.map(str::to_owned), ..count });
        let mut projects: Vec<ProjectCount> = named.collect();
        // The sort is stable: projects of one moment stay in the order of their names.
        projects.sort_by_key(|project| Reverse(project.last_at));
        Ok(projects)
    }

    fn stored_digest(&self, agent: &str, session: &str) -> Result<Option<Digest>, CatalogueError> {
        let place = self.rows.iter().position(|row| row.agent == agent && row.session == session);
        Ok(place.and_then(|place| self.library.digest(self.listing, self.rows.get(place)?, place)))
    }

    fn spent(&self, since: Option<Time>, until: Option<Time>) -> Result<Vec<SpentTokens>, CatalogueError> {
        Ok(self.library.details.spent(since, until))
    }

    fn pending(&self) -> Result<usize, CatalogueError> {
        Ok((0..self.rows.len()).filter(|&session| self.library.is_pending(self.listing, session)).count())
    }
}

impl CatalogueQuery<'_> {
    /// The sessions that a filter selects. Those that are gone are among them only if it asks for them.
    pub(super) fn present(&self, filter: &Filter) -> Result<Vec<usize>, CatalogueError> {
        let mut found = self.sessions(filter, MatchScope::Call)?;
        found.retain(|&session| filter.asks_gone() || !self.listing.is_gone(session));
        Ok(found)
    }

    /// Passes on the rows of the calls that a filter selects, but for those in the texts of scripts.
    fn each_selected(&self, filter: &Filter, mut take: impl FnMut(&CallRow<'_>)) -> Result<(), CatalogueError> {
        // A script and the calls in its text are the same work, which would count twice.
        let calls: Vec<ListedCall> = self.calls(filter)?.into_iter().filter(|call| call.number.inner == 0).collect();
        self.each_row(&calls, |_: &mut (), row, _| take(&row), |()| Ok::<_, CatalogueError>(()))
    }

    /// Whether details that were made from these logs are those of a session that is there.
    pub(super) fn is_current(&self, session: usize, logs: i64) -> bool {
        self.listing.detail_key(session).is_some_and(|key| key.logs == Some(logs))
    }

    pub(super) fn call_row(&self, cursor: CallCursor, call: ListedCall) -> Result<Option<StoredCallRow>, CatalogueError> {
        let error = self.library.error(self.listing, call);
        let (mut made, mut place) = (None, Some((cursor, error)));
        self.listing.one_call(&self.library.catalogue(), call, |_, row, _| {
            made = place.take().map(|(cursor, error)| StoredCallRow {
                cursor,
                error,
                r#ref: row.r#ref.clone(),
                tool: row.tool.to_owned(),
                kind: row.kind,
                status: row.status,
                about: row.about.clone(),
                command: row.command.clone(),
                path: row.path.clone(),
            });
        })?;
        Ok(made)
    }
}

fn cursor(row: &SessionRow<'_>) -> SessionCursor {
    SessionCursor { last_at: row.last_at, agent: row.agent.to_owned(), session: row.session.to_owned() }
}

fn call_cursor(row: &SessionRow<'_>, call: ListedCall) -> CallCursor {
    CallCursor { order: call.order, agent: row.agent.to_owned(), session: row.session.to_owned(), number: call.number }
}

fn stored_row(row: &SessionRow<'_>) -> StoredRow {
    StoredRow {
        cursor: cursor(row),
        short: row.short.to_owned(),
        title: row.title.map(str::to_owned),
        project: row.project.map(str::to_owned),
        state: row.state,
        started_at: row.started_at,
        turns: row.turns,
        by_status: row.by_status.clone(),
    }
}

pub(super) fn add(counts: &mut Map<String, u64>, name: &str, more: u64) {
    // Names repeat, so a copy is made only of a new one.
    match counts.get_mut(name) {
        Some(count) => *count += more,
        None => drop(counts.insert(name.to_owned(), more)),
    }
}

/// Counts by their size, and of one size by name.
pub(super) fn most_first(counts: Map<String, u64>) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    counts
}
