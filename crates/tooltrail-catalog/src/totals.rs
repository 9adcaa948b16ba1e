//! Totals of what a filter selects, as one sum or grouped: the rows that `stats`, the pages and the API print.
//!
//! Tokens are spent by sessions, not by calls, so they are those of the sessions that a filter selects.

use crate::matching::{self, MatchContext, MatchScope};
use jiff::tz::TimeZone;
use tooltrail_formats::load;
use tooltrail_model::Kind;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{By, LinkedCall, Selected};
use tooltrail_model::row::{GroupRow, StatsRow};

/// The totals as one sum.
pub fn whole(context: &MatchContext<'_>, filter: &Filter) -> StatsRow {
    if filter.is_empty() {
        // Without a filter the linked logs have the sums already, and nothing has to be selected.
        return context.linked.stats(context.now);
    }
    let (calls, sessions) = selected(context, filter);
    context.linked.stats_of(&calls, &sessions, context.now)
}

/// The totals by group. Days, weeks and months are those of the given time zone.
pub fn apart(context: &MatchContext<'_>, filter: &Filter, by: By, zone: &TimeZone) -> Vec<GroupRow> {
    let label = |call: &LinkedCall| label(context, call);
    if filter.is_empty() {
        let all = Selected { calls: &context.linked.calls, sessions: None, since: None, until: None };
        return context.linked.groups(by, all, context.now, zone, &label);
    }
    let (calls, sessions) = selected(context, filter);
    // Usage carries its own times, so a filter by time cuts through a session: only the tokens within it count.
    let (since, until) = filter.times();
    context.linked.groups(by, Selected { calls: &calls, sessions: Some(&sessions), since, until }, context.now, zone, &label)
}

/// The command that a call ran, read from its log.
fn label(context: &MatchContext<'_>, call: &LinkedCall) -> Option<String> {
    let record = context.linked.record(call.id);
    if !matches!(record.kind, Kind::Shell | Kind::Script) {
        return None;
    }
    let mut row = context.linked.call_row(call, context.now, false);
    load::understand(context.shelf, &mut row, record)?.label()
}

fn selected(context: &MatchContext<'_>, filter: &Filter) -> (Vec<LinkedCall>, Vec<usize>) {
    let calls = matching::calls(context, filter, false).into_iter().copied().collect();
    (calls, matching::sessions(context, filter, MatchScope::Call))
}
