//! Totals of what a filter selects, as one sum or grouped: the rows that `stats`, the pages and the API print.
//!
//! Tokens are spent by sessions, not by calls, so they are those of the sessions that a filter selects.

use crate::library::Library;
use crate::matching::stored::CatalogueQuery;
use crate::matching::{self, MatchContext, MatchScope};
use crate::store::{CatalogueError, is_cut};
use jiff::tz::TimeZone;
use tooltrail_formats::load;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{By, GroupSums, LinkedCall, Selected, StatsSums};
use tooltrail_model::row::{CallRow, CallRowOrigin, GroupRow};
use tooltrail_model::{At, Kind};

/// Adds what a filter selects of some logs to a sum.
pub fn add(sums: &mut StatsSums, context: &MatchContext<'_>, filter: &Filter) {
    if filter.is_empty() {
        // Nothing has to be selected.
        return sums.add(context.linked, &context.linked.calls, None, context.now);
    }
    let (calls, sessions) = selected(context, filter);
    sums.add(context.linked, &calls, Some(&sessions), context.now);
}

/// Adds what a filter selects of some logs to groups.
pub fn add_groups(sums: &mut GroupSums<'_>, context: &MatchContext<'_>, filter: &Filter) {
    let label = |call: &LinkedCall| label(context, call);
    if filter.is_empty() {
        let all = Selected { calls: &context.linked.calls, sessions: None, since: None, until: None };
        return sums.add(context.linked, all, context.now, &label);
    }
    let (calls, sessions) = selected(context, filter);
    // Usage carries its own times, so a filter by time cuts through a session: only the tokens within it count.
    let (since, until) = filter.times();
    sums.add(context.linked, Selected { calls: &calls, sessions: Some(&sessions), since, until }, context.now, &label);
}

/// The totals by command, from the rows of a catalogue: commands are stored, so that no log has to be read.
pub fn of_commands(query: &CatalogueQuery<'_>, filter: &Filter) -> Result<Vec<GroupRow>, CatalogueError> {
    let zone = TimeZone::UTC;
    let mut sums = GroupSums::new(By::Command, &zone);
    let calls: Vec<_> =
        query.calls(filter)?.into_iter().filter(|call| call.number.inner == 0 && !query.listing.is_gone(call.session)).collect();
    let mut place = calls.iter().map(|call| call.session);
    query.each_row(
        &calls,
        |_: &mut (), row, request| {
            let session = place.next().unwrap_or_default();
            if row.origin == CallRowOrigin::Log
                && let Some(label) = stored_label(query, row.clone(), request)
            {
                sums.add_call(Some(label), session, row.status, row.duration_ms);
            }
        },
        |()| Ok::<_, CatalogueError>(()),
    )?;
    Ok(sums.finish())
}

/// The command of a stored call. A very long one is not stored whole, and is read from its log.
fn stored_label(query: &CatalogueQuery<'_>, mut row: CallRow<'_>, request: At) -> Option<String> {
    if !matches!(row.kind, Kind::Shell | Kind::Script) {
        return None;
    }
    match row.command.as_deref() {
        Some(command) if !is_cut(command) => load::label(command),
        Some(_) => load::understand(query.library.shelf(), &mut row, request)?.label(),
        None => None,
    }
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
