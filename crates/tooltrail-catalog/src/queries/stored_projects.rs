//! Days, commands and verdicts of sessions, answered from the catalogue.

use super::projects::{DayActivity, FailingCommand, JudgedSession};
use super::stored_failures::{LocalDays, is_of_sessions};
use super::{Page, SessionCursor, Store};
use crate::matching::stored::CatalogueQuery;
use crate::store::CatalogueError;
use crate::store::details::CommandTally;
use crate::{Map, Set};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use tooltrail_model::Time;
use tooltrail_model::filter::Filter;
use tooltrail_model::row::CallNumber;
use tooltrail_model::session_verdict::SessionVerdict;

/// A command while it is counted.
#[derive(Default)]
struct CommandCount {
    command: FailingCommand,
    /// The place of its last failure.
    newest: Option<(Option<Time>, usize, CallNumber)>,
}

impl CatalogueQuery<'_> {
    pub(super) fn commands_failing(&self, filter: &Filter, limit: usize) -> Result<Vec<FailingCommand>, CatalogueError> {
        let selected: Set<usize> = self.present(filter)?.into_iter().collect();
        let mut found: Map<String, CommandCount> = Map::default();
        let mut take = |session: usize, tallies: &[CommandTally]| {
            for tally in tallies {
                let count = found.entry(tally.label.clone()).or_default();
                count.command.runs += tally.runs;
                count.command.failed += tally.failed;
                let Some((call, inner)) = tally.last else { continue };
                let place = (tally.at, session, CallNumber { call, inner });
                if count.newest.is_none_or(|known| place > known) {
                    count.newest = Some(place);
                    let short = self.rows.get(session).map_or("", |row| row.short);
                    (count.command.example, count.command.last) = (format!("{short}:{}", place.2), tally.at);
                }
            }
        };
        let places = self.listing.places();
        self.library.details.each_tally(|session, logs, tallies| {
            if let Some(&session) = places.get(&session).filter(|place| selected.contains(place) && self.is_current(**place, logs)) {
                take(session, &tallies);
            }
        });
        for &session in selected.iter().filter(|&&session| self.listing.detail_key(session).is_none()) {
            // Only what is in memory: reading the logs of live sessions would keep a page waiting.
            if let Some(live) = self.library.known_live(self.listing, session) {
                take(session, &live.commands);
            }
        }
        let named = found.into_iter().map(|(command, count)| FailingCommand { command, ..count.command });
        let mut found: Vec<FailingCommand> = named.filter(|command| command.failed > 0).collect();
        found.sort_by(|one, other| other.failed.cmp(&one.failed).then_with(|| one.command.cmp(&other.command)));
        found.truncate(limit);
        Ok(found)
    }

    pub(super) fn active_days(&self, filter: &Filter, since: Time, zone: &TimeZone) -> Result<Vec<DayActivity>, CatalogueError> {
        // Most filters here name a project, which rows alone decide.
        let sessions = if is_of_sessions(filter) { self.likely_sessions(filter).collect() } else { self.present(filter)? };
        let second: String = since.to_string().chars().take(19).collect();
        let mut days = LocalDays::new(zone);
        let mut found: BTreeMap<String, DayActivity> = BTreeMap::new();
        for session in sessions {
            // No call of a session is later than its last record.
            let row = self.rows.get(session).filter(|row| row.last_at.is_none_or(|last| last >= since));
            if row.is_none() || self.listing.is_gone(session) {
                continue;
            }
            let Some(number) = self.listing.number(session) else { continue };
            let mut own: Set<String> = Set::default();
            self.library.details.each_minute(number, &second, |minute| {
                // A minute begins in one day, and no zone changes its day within one.
                let Ok(time) = format!("{}:00Z", minute.minute).parse::<Time>() else { return };
                let day = days.day(time);
                let known = found.entry(day.clone()).or_insert_with(|| DayActivity { day: day.clone(), ..DayActivity::default() });
                known.calls += minute.calls;
                known.failed += minute.failed;
                known.sessions += u64::from(own.insert(day));
            });
        }
        Ok(found.into_values().collect())
    }

    pub(super) fn judged(
        &self,
        filter: &Filter,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<Page<JudgedSession>, CatalogueError> {
        let page = self.sessions_page(filter, after, limit)?;
        let places: Map<(&str, &str), usize> = (0..).zip(self.rows).map(|(place, row)| ((row.agent, row.session), place)).collect();
        let judged = page.entries.into_iter().map(|row| {
            let place = places.get(&(row.cursor.agent.as_str(), row.cursor.session.as_str())).copied();
            let digest = place.and_then(|place| self.library.digest(self.listing, self.rows.get(place)?, place));
            JudgedSession { row, verdict: digest.map(|digest| SessionVerdict::of(&digest)) }
        });
        Ok(Page { entries: judged.collect(), has_more: page.has_more })
    }
}
