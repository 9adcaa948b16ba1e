//! The verdict on calls and messages in which texts were found.

use super::Asked;
use super::subjects::{CallSubject, Folder, MessageSubject};
use crate::Map;
use crate::texts::Query;
use crate::texts::group::Group;
use crate::texts::resolve::{Find, Message, Units, terms, told_once};

/// What a filter takes of a group of logs.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The calls, by their place in `Linked::calls`, with what was found of each.
    pub(crate) calls: Vec<(usize, Vec<Find>)>,
    /// The messages, each told once.
    pub(crate) messages: Vec<Message>,
}

/// Which of the calls and messages that have texts a query takes.
pub(crate) fn judge(asked: &Asked<'_>, query: &Query, group: &Group, units: Units) -> Taken {
    let filter = query.filter();
    let mut by_session: Map<usize, Taken> = Map::default();
    for (call, finds) in units.calls {
        by_session.entry(asked.linked.calls[call].session).or_default().calls.push((call, finds));
    }
    for message in units.messages.into_iter().filter(|_| filter.asks_messages()) {
        by_session.entry(message.session).or_default().messages.push(message);
    }
    let mut taken = Taken::default();
    for (session, found) in by_session {
        let folder = Folder::new(*asked, session, filter);
        let call =
            |(call, finds): &(usize, Vec<Find>)| filter.takes(&CallSubject::new(&folder, &asked.linked.calls[*call], false, terms(finds)));
        taken.calls.extend(found.calls.into_iter().filter(call));
        taken.messages.extend(found.messages.into_iter().filter(|message| filter.takes(&MessageSubject::new(&folder, message))));
    }
    // Only what is taken: what a session repeats of another one counts where that one is not asked about.
    taken.messages = told_once(group, taken.messages);
    taken
}
