//! Totals of what a filter takes: all in all, or told apart. What `stats` prints, and whoever else is asked for it.
//!
//! Tokens are spent by sessions, not by calls, so they are those of the sessions that a filter takes.

use crate::taken::{self, Asked, Scope};
use jiff::tz::TimeZone;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{By, LinkedCall, Selected};
use tooltrail_model::row::{GroupRow, StatsRow};

/// The totals, all in all.
pub fn whole(asked: &Asked<'_>, filter: &Filter) -> StatsRow {
    if filter.is_empty() {
        return asked.linked.stats(asked.now);
    }
    let (calls, sessions) = selected(asked, filter);
    asked.linked.stats_of(&calls, &sessions, asked.now)
}

/// The totals, told apart. Days and weeks are those of a zone.
pub fn apart(asked: &Asked<'_>, filter: &Filter, by: By, zone: &TimeZone) -> Vec<GroupRow> {
    if filter.is_empty() {
        let all = Selected { calls: &asked.linked.calls, sessions: None, since: None, until: None };
        return asked.linked.groups(by, all, asked.now, zone);
    }
    let (calls, sessions) = selected(asked, filter);
    let (since, until) = filter.times();
    asked.linked.groups(by, Selected { calls: &calls, sessions: Some(&sessions), since, until }, asked.now, zone)
}

fn selected(asked: &Asked<'_>, filter: &Filter) -> (Vec<LinkedCall>, Vec<usize>) {
    let calls = taken::calls(asked, filter, false).into_iter().copied().collect();
    (calls, taken::sessions(asked, filter, Scope::Call))
}
