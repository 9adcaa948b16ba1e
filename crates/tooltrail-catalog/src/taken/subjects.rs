//! Calls, messages and sessions as a filter is asked about them.

use super::Asked;
use std::cell::OnceCell;
use std::collections::HashMap;
use tooltrail_formats::load;
use tooltrail_formats::transcript::SessionBook;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::filter::{Filter, Item, Subject, Within};
use tooltrail_model::link::LinkedCall;
use tooltrail_model::row::{CallRow, SessionRow};
use tooltrail_model::transcript::{Entry, What};

/// A session, and its logs once something in them has to be read.
pub(super) struct Folder<'a> {
    asked: Asked<'a>,
    session: usize,
    row: &'a SessionRow<'a>,
    filter: &'a Filter,
    book: OnceCell<(SessionBook<'a>, HashMap<u32, usize>)>,
}

impl<'a> Folder<'a> {
    pub(super) fn new(asked: Asked<'a>, session: usize, row: &'a SessionRow<'a>, filter: &'a Filter) -> Self {
        Folder { asked, session, row, filter, book: OnceCell::new() }
    }

    /// The session to read, and where its calls are by their number.
    fn book(&self) -> &(SessionBook<'a>, HashMap<u32, usize>) {
        self.book.get_or_init(|| {
            let Asked { linked, now, shelf, .. } = self.asked;
            // Some logs tell in records of their own how a call ended, and a text may be in those alone.
            let book = match self.filter.asks_texts() {
                true => SessionBook::read(linked, &[self.session], now, shelf, None),
                false => SessionBook::outline(linked, &[self.session], now, shelf),
            };
            let places = book.transcript().calls.iter().enumerate().map(|(index, call)| (call.number, index)).collect();
            (book, places)
        })
    }

    fn calls(&self) -> impl Iterator<Item = &'a LinkedCall> {
        self.asked.linked.calls_of(self.session).iter().filter(|call| call.copy_of.is_none())
    }

    /// What was said, if that is `asked` about.
    fn messages(&self, asked: bool) -> impl Iterator<Item = &Entry> {
        let threads = asked.then(|| &self.book().0.transcript().threads);
        threads.into_iter().flatten().flat_map(|thread| &thread.entries).filter(|entry| !matches!(entry.what, What::Call(_)))
    }

    /// Whether all terms hold for one thing in the session.
    pub(super) fn has_one(&self) -> bool {
        let filter = self.filter;
        (filter.asks_sessions() && filter.takes(&SessionSubject(self.row)))
            || self.calls().any(|call| filter.takes(&CallSubject::new(self, call, false)))
            || self.messages(filter.asks_messages()).any(|entry| filter.takes(&MessageSubject::new(self, entry)))
    }

    /// Whether every term holds somewhere in the session.
    pub(super) fn has_all(&self) -> bool {
        let mut within = Within::new(self.filter);
        within.take(&SessionSubject(self.row));
        self.calls().for_each(|call| within.take(&CallSubject::new(self, call, false)));
        self.messages(self.filter.asks_texts()).for_each(|entry| within.take(&MessageSubject::new(self, entry)));
        within.holds()
    }
}

/// A call, opened when a filter asks for it.
pub(super) struct CallSubject<'f, 'a> {
    folder: &'f Folder<'a>,
    call: &'f LinkedCall,
    row: CallRow<'f>,
    told: OnceCell<CallRow<'f>>,
    opened: OnceCell<Option<Loaded<'f>>>,
}

impl<'f, 'a> CallSubject<'f, 'a> {
    pub(super) fn new(folder: &'f Folder<'a>, call: &'f LinkedCall, alone: bool) -> Self {
        let row = folder.asked.linked.call_row(call, folder.asked.now, alone);
        CallSubject { folder, call, row, told: OnceCell::new(), opened: OnceCell::new() }
    }
}

impl Subject for CallSubject<'_, '_> {
    fn session(&self) -> &SessionRow<'_> {
        self.folder.row
    }

    fn item(&self) -> Item<'_> {
        Item::Call(&self.row)
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        Some(self.told.get_or_init(|| {
            let mut row = self.row.clone();
            let Asked { linked, shelf, .. } = self.folder.asked;
            load::understand(shelf, &mut row, linked.record(self.call.id).at);
            row
        }))
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        let open = || {
            let (book, places) = self.folder.book();
            places.get(&self.call.number).map(|&place| book.call(place))
        };
        self.opened.get_or_init(open).as_ref()
    }
}

/// A message, opened when a filter asks for it.
struct MessageSubject<'f, 'a> {
    folder: &'f Folder<'a>,
    entry: &'f Entry,
    opened: OnceCell<Loaded<'f>>,
}

impl<'f, 'a> MessageSubject<'f, 'a> {
    fn new(folder: &'f Folder<'a>, entry: &'f Entry) -> Self {
        MessageSubject { folder, entry, opened: OnceCell::new() }
    }
}

impl Subject for MessageSubject<'_, '_> {
    fn session(&self) -> &SessionRow<'_> {
        self.folder.row
    }

    fn item(&self) -> Item<'_> {
        Item::Message(self.entry.time)
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        None
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        Some(self.opened.get_or_init(|| self.folder.book().0.open(self.entry)))
    }
}

/// A session itself. There is nothing in it to open.
struct SessionSubject<'a>(&'a SessionRow<'a>);

impl Subject for SessionSubject<'_> {
    fn session(&self) -> &SessionRow<'_> {
        self.0
    }

    fn item(&self) -> Item<'_> {
        Item::Session
    }

    fn told(&self) -> Option<&CallRow<'_>> {
        None
    }

    fn open(&self) -> Option<&Loaded<'_>> {
        None
    }
}
