//! The verdict on calls and messages in which texts were found.

use super::MatchContext;
use super::subjects::{CallSubject, LazySession, MessageSubject};
use crate::Map;
use crate::texts::Query;
use crate::texts::group::LogGroup;
use crate::texts::resolve::{LocatedMatch, MatchedMessage, MatchedUnits, terms, without_repeats};

/// The calls and messages of a group of logs that a filter selects.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// The calls, by their index in `Linked::calls`, with the matches of each.
    pub(crate) calls: Vec<(usize, Vec<LocatedMatch>)>,
    /// The messages, without copies and echoes.
    pub(crate) messages: Vec<MatchedMessage>,
}

/// Decides which of the calls and messages with matches a query selects.
pub(crate) fn judge(context: &MatchContext<'_>, query: &Query, group: &LogGroup, units: MatchedUnits) -> Matches {
    let filter = query.filter();
    // By session, so that each one is opened at most once.
    let mut by_session: Map<usize, Matches> = Map::default();
    for (call, finds) in units.calls {
        by_session.entry(context.linked.calls[call].session).or_default().calls.push((call, finds));
    }
    for message in units.messages.into_iter().filter(|_| filter.asks_messages()) {
        by_session.entry(message.session).or_default().messages.push(message);
    }
    let mut taken = Matches::default();
    for (session, found) in by_session {
        let lazy_session = LazySession::new(*context, session, filter);
        let call = |(call, finds): &(usize, Vec<LocatedMatch>)| {
            filter.takes(&CallSubject::new(&lazy_session, &context.linked.calls[*call], false, terms(finds)))
        };
        taken.calls.extend(found.calls.into_iter().filter(call));
        taken.messages.extend(found.messages.into_iter().filter(|message| filter.takes(&MessageSubject::new(&lazy_session, message))));
    }
    // Only after the filter: a message that a session repeats from another one counts if the filter excludes that other session.
    taken.messages = without_repeats(group, taken.messages);
    taken
}
