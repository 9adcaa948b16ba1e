//! Calls, messages and sessions as subjects of a filter.

use super::{MatchContext, texts_of};
use crate::Map;
use crate::texts::resolve::MatchedMessage;
use std::cell::OnceCell;
use std::collections::HashMap;
use tooltrail_formats::load;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::content::{Content, Image};
use tooltrail_model::filter::{Answer, Filter, Item, Keeping, Subject, SubjectFacts, Within};
use tooltrail_model::link::{CallId, LinkedCall};
use tooltrail_model::row::{CallNumber, CallRow, SessionRow};
use tooltrail_model::transcript::Part;

/// A session whose calls are opened when the filter first needs one.
pub(super) struct LazySession<'a> {
    context: MatchContext<'a>,
    session: usize,
    row: SessionRow<'a>,
    keeping: Keeping,
    filter: &'a Filter,
    book: OnceCell<(SessionBook<'a>, HashMap<CallNumber, usize>)>,
}

impl<'a> LazySession<'a> {
    pub(super) fn new(context: MatchContext<'a>, session: usize, filter: &'a Filter) -> Self {
        let row = context.linked.session_row(session, context.now).unwrap_or_else(|| nameless(&context, session));
        let keeping = super::keeping(context.keep, filter, &row);
        LazySession { context, session, row, keeping, filter, book: OnceCell::new() }
    }

    /// The session's book, and the index of each call in it by number.
    fn book(&self) -> &(SessionBook<'a>, HashMap<CallNumber, usize>) {
        self.book.get_or_init(|| {
            let MatchContext { linked, now, disk, .. } = self.context;
            // An outline is enough to open calls, and reads no messages.
            let book = SessionBook::outline(linked, &[self.session], now, disk);
            let places = book.transcript().calls.iter().enumerate().map(|(index, call)| (call.number, index)).collect();
            (book, places)
        })
    }

    fn calls(&self) -> impl Iterator<Item = &'a LinkedCall> {
        self.context.linked.calls_of(self.session).iter().filter(|call| call.copy_of.is_none())
    }

    /// Whether all terms of a filter without texts hold for the session itself or for one of its calls.
    pub(super) fn has_one(&self) -> bool {
        let filter = self.filter;
        // The session first: it costs nothing, while a call may have to be opened.
        (filter.asks_sessions() && filter.takes(&SessionSubject(self)))
            || self.calls().any(|call| filter.takes(&CallSubject::new(self, call, false, 0)))
    }

    /// Whether a call or message of the session may be selected, as far as rows can decide.
    pub(super) fn may_have_one(&self) -> bool {
        self.filter.may_take(&self.row)
            && (self.filter.asks_messages() || self.calls().any(|call| CallSubject::new(self, call, false, 0).may_be_taken()))
    }

    /// Whether every term holds somewhere in the session, whose calls and messages have these texts.
    pub(super) fn has_all(&self, texts: &Map<CallId, u64>, messages: &[&MatchedMessage]) -> bool {
        let mut within = Within::new(self.filter);
        within.take(&SessionSubject(self));
        self.calls().for_each(|call| within.take(&CallSubject::new(self, call, false, texts_of(texts, call))));
        messages.iter().for_each(|message| within.take(&MessageSubject::new(self, message)));
        within.holds()
    }
}

/// The row for calls whose session has no record of its own: it has at least an agent.
fn nameless<'l>(context: &MatchContext<'l>, session: usize) -> SessionRow<'l> {
    let row = context.linked.calls_of(session).first().map(|call| context.linked.call_row(call, context.now, false));
    row.map(|row| SessionRow { agent: row.agent, session: row.session, ..SessionRow::default() }).unwrap_or_default()
}

/// A call, opened when a filter needs its content.
pub(super) struct CallSubject<'f, 'a> {
    lazy_session: &'f LazySession<'a>,
    call: &'f LinkedCall,
    row: CallRow<'f>,
    told: OnceCell<CallRow<'f>>,
    /// Which of the filter's texts it has.
    texts: u64,
    opened: OnceCell<Option<Loaded<'f>>>,
}

impl<'f, 'a> CallSubject<'f, 'a> {
    pub(super) fn new(lazy_session: &'f LazySession<'a>, call: &'f LinkedCall, alone: bool, texts: u64) -> Self {
        let row = lazy_session.context.linked.call_row(call, lazy_session.context.now, alone);
        CallSubject { lazy_session, call, row, told: OnceCell::new(), texts, opened: OnceCell::new() }
    }

    /// Whether it may be selected, whatever its texts are.
    pub(super) fn may_be_taken(&self) -> bool {
        let (session, keeping) = (self.session(), self.keeping());
        let known = SubjectFacts { session, keeping, item: self.item(), told: false, texts: None, content: None, opened: None };
        self.lazy_session.filter.ask(&known) != Answer::No
    }
}

impl Subject for CallSubject<'_, '_> {
    fn session(&self) -> &SessionRow<'_> {
        &self.lazy_session.row
    }

    fn keeping(&self) -> Keeping {
        self.lazy_session.keeping
    }

    fn item(&self) -> Item<'_> {
        Item::Call(&self.row)
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        Some(self.told.get_or_init(|| {
            // The request is read only here, when a term needs what its command means; most filters never get here.
            let mut row = self.row.clone();
            let MatchContext { linked, disk, .. } = self.lazy_session.context;
            load::understand(disk, &mut row, linked.record(self.call.id));
            row
        }))
    }

    fn texts(&self, _: &Filter) -> u64 {
        self.texts
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        let open = || {
            let (book, places) = self.lazy_session.book();
            places.get(&self.call.number).map(|&place| book.call(place))
        };
        self.opened.get_or_init(open).as_ref()
    }
}

/// A message with a match.
pub(super) struct MessageSubject<'f, 'a> {
    lazy_session: &'f LazySession<'a>,
    message: &'f MatchedMessage,
    /// An image, if the message has one: the only content of an opened message that a filter has terms for.
    picture: Option<Loaded<'static>>,
}

impl<'f, 'a> MessageSubject<'f, 'a> {
    pub(super) fn new(lazy_session: &'f LazySession<'a>, message: &'f MatchedMessage) -> Self {
        // Any image does: the filter only checks that there is one.
        let picture = || Loaded::Part(Part::Media(Content::Image(Image::default())));
        MessageSubject { lazy_session, message, picture: message.picture.then(picture) }
    }
}

impl Subject for MessageSubject<'_, '_> {
    fn session(&self) -> &SessionRow<'_> {
        &self.lazy_session.row
    }

    fn keeping(&self) -> Keeping {
        self.lazy_session.keeping
    }

    fn item(&self) -> Item<'_> {
        Item::Message(self.message.time)
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        None
    }

    fn texts(&self, _: &Filter) -> u64 {
        self.message.terms()
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        self.picture.as_ref()
    }
}

/// A session itself. There is nothing in it to open.
struct SessionSubject<'f, 'a>(&'f LazySession<'a>);

impl Subject for SessionSubject<'_, '_> {
    fn session(&self) -> &SessionRow<'_> {
        &self.0.row
    }

    fn keeping(&self) -> Keeping {
        self.0.keeping
    }

    fn item(&self) -> Item<'_> {
        Item::Session
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        None
    }

    fn texts(&self, _: &Filter) -> u64 {
        0
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        None
    }
}
