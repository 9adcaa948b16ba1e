//! Totals of what a filter selects, as one sum or grouped: the rows that `stats`, the pages and the API print.
//!
//! Tokens are spent by sessions, not by calls, so they are those of the sessions that a filter selects.

use crate::Map;
use crate::library::Library;
use crate::matching::stored::CatalogueQuery;
use crate::matching::{self, MatchContext, MatchScope};
use crate::store::{CatalogueError, ListedCall, is_cut};
use jiff::tz::TimeZone;
use tooltrail_formats::load;
use tooltrail_model::Kind;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{By, GroupSums, LinkedCall, Selected, StatsSums};
use tooltrail_model::row::GroupRow;

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

/// The totals by command, from what a catalogue stores of calls, so that no log has to be read.
pub fn of_commands(query: &CatalogueQuery<'_>, filter: &Filter) -> Result<Vec<GroupRow>, CatalogueError> {
    let zone = TimeZone::UTC;
    let mut sums = GroupSums::new(By::Command, &zone);
    let (mut current, mut labels) = (None, Map::default());
    query.each_key(filter, None, |session, key, _| {
        if current != Some(session) {
            (current, labels) = (Some(session), self::labels(query, session)?);
        }
        let call = key.listed(session);
        // Calls in scripts are counted with the script.
        if call.number.inner > 0 || query.listing.is_gone(session) {
            return Ok(());
        }
        let label = match labels.get_mut(&call.id) {
            Some(label) => label.take(),
            // A very long command is not stored whole.
            None if matches!(key.kind, Kind::Shell | Kind::Script) => read_label(query, call)?,
            None => None,
        };
        label.into_iter().for_each(|label| sums.add_call(Some(label), session, key.status, call.took));
        Ok(())
    })?;
    Ok(sums.finish())
}

/// The names of the stored commands of a session's calls, by the ids of these; without those that are not stored whole.
fn labels(query: &CatalogueQuery<'_>, session: usize) -> Result<Map<i64, Option<String>>, CatalogueError> {
    let mut labels = Map::default();
    query.listing.each_command(&query.library.catalogue(), session, |call, command| {
        if !is_cut(command) {
            labels.insert(call, load::label(command));
        }
    })?;
    Ok(labels)
}

/// The name of the command of a call, read from its log if its beginning is stored.
fn read_label(query: &CatalogueQuery<'_>, call: ListedCall) -> Result<Option<String>, CatalogueError> {
    let mut label = None;
    query.listing.one_call(&query.library.catalogue(), call, |_, mut row, spots| {
        if row.command.is_some() {
            label = load::understand(query.library.disk(), &mut row, spots.request).and_then(|command| command.label());
        }
    })?;
    Ok(label)
}

/// The command that a call ran, read from its log.
fn label(context: &MatchContext<'_>, call: &LinkedCall) -> Option<String> {
    let record = context.linked.record(call.id);
    if !matches!(record.kind, Kind::Shell | Kind::Script) {
        return None;
    }
    let mut row = context.linked.call_row(call, context.now, false);
    load::understand(context.disk, &mut row, record)?.label()
}

fn selected(context: &MatchContext<'_>, filter: &Filter) -> (Vec<LinkedCall>, Vec<usize>) {
    let calls = matching::calls(context, filter, false).into_iter().copied().collect();
    (calls, matching::sessions(context, filter, MatchScope::Call))
}
