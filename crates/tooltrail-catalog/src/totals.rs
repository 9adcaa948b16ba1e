//! Totals of what a filter takes: all in all, or told apart. What `stats` prints, and whoever else is asked for it.
//!
//! Tokens are spent by sessions, not by calls, so they are those of the sessions that a filter takes.

use crate::matching::{self, MatchContext, MatchScope};
use jiff::tz::TimeZone;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{By, LinkedCall, Selected};
use tooltrail_model::row::{GroupRow, StatsRow};

/// The totals, all in all.
pub fn whole(context: &MatchContext<'_>, filter: &Filter) -> StatsRow {
    if filter.is_empty() {
        return context.linked.stats(context.now);
    }
    let (calls, sessions) = selected(context, filter);
    context.linked.stats_of(&calls, &sessions, context.now)
}

/// The totals, told apart. Days and weeks are those of a zone.
pub fn apart(context: &MatchContext<'_>, filter: &Filter, by: By, zone: &TimeZone) -> Vec<GroupRow> {
    if filter.is_empty() {
        let all = Selected { calls: &context.linked.calls, sessions: None, since: None, until: None };
        return context.linked.groups(by, all, context.now, zone);
    }
    let (calls, sessions) = selected(context, filter);
    let (since, until) = filter.times();
    context.linked.groups(by, Selected { calls: &calls, sessions: Some(&sessions), since, until }, context.now, zone)
}

fn selected(context: &MatchContext<'_>, filter: &Filter) -> (Vec<LinkedCall>, Vec<usize>) {
    let calls = matching::calls(context, filter, false).into_iter().copied().collect();
    (calls, matching::sessions(context, filter, MatchScope::Call))
}
