//! The verdict on calls and messages in which texts were found.

use super::MatchContext;
use super::subjects::{CallSubject, LazySession, MessageSubject};
use crate::Map;
use crate::texts::Query;
use crate::texts::group::LogGroup;
use crate::texts::resolve::{LocatedMatch, MatchedMessage, MatchedUnits, terms, told_once};

/// What a filter takes of a group of logs.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// The calls, by their place in `Linked::calls`, with what was found of each.
    pub(crate) calls: Vec<(usize, Vec<LocatedMatch>)>,
    /// The messages, each told once.
    pub(crate) messages: Vec<MatchedMessage>,
}

/// Which of the calls and messages that have texts a query takes.
pub(crate) fn judge(context: &MatchContext<'_>, query: &Query, group: &LogGroup, units: MatchedUnits) -> Matches {
    let filter = query.filter();
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
    // Only what is taken: what a session repeats of another one counts where that one is not asked about.
    taken.messages = told_once(group, taken.messages);
    taken
}
