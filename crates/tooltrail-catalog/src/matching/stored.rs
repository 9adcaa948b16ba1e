//! Applying a filter to a catalogue.
//!
//! Rows decide as much as they can. Only the bundles of calls that they leave open are opened, and filtered like logs that were just
//! read; for a filter with texts, those are the bundles in which a search finds a match.

use super::by_content::ContentFilter;
use super::key_filter::KeyFilter;
use super::subjects::{CallSubject, LazySession};
use super::{MatchContext, MatchScope};
use crate::library::{Library, StoredLibrary};
use crate::queries::{ColumnTest, column_tests};
use crate::search::{Hit, HitOwner, search};
use crate::stop::Stop;
use crate::store::{CallSpans, CatalogueError, ListedCall, SessionListing};
use crate::texts::Query;
use crate::{Map, Set, each};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use tooltrail_model::At;
use tooltrail_model::filter::{Answer, Filter, Item, Keeping, SubjectFacts};
use tooltrail_model::link::{Linked, Now};
use tooltrail_model::row::{CallNumber, CallRow, SessionRow};

/// A catalogue at one moment, to be filtered.
#[derive(Clone, Copy)]
pub struct CatalogueQuery<'a> {
    /// The catalogue.
    pub library: &'a StoredLibrary,
    /// Its sessions at the moment of asking.
    pub listing: &'a SessionListing,
    /// Their rows.
    pub rows: &'a [SessionRow<'a>],
    /// The moment of asking.
    pub now: &'a Now,
    /// How many threads there are to work on.
    pub threads: usize,
}

impl CatalogueQuery<'_> {
    /// The calls that a filter selects, in the order in which calls are listed.
    pub fn calls(&self, filter: &Filter) -> Result<Vec<ListedCall>, CatalogueError> {
        self.calls_while(filter, || true).map(|(calls, _)| calls)
    }

    /// The calls that a filter selects, as far as they are found in time: logs are searched only while `go_on` returns `true`, the most
    /// recent ones first, and no longer than [`Stop::current`] allows. Returns also whether the search was complete.
    pub fn calls_while(&self, filter: &Filter, go_on: impl FnMut() -> bool) -> Result<(Vec<ListedCall>, bool), CatalogueError> {
        if filter.is_empty() {
            return Ok((self.listing.all_calls(&self.library.catalogue(), false)?, true));
        }
        if filter.asks_texts() {
            return self.calls_with_texts(filter, go_on);
        }
        self.make_content(filter)?;
        let mut taken = self.calls_of(filter, self.likely_sessions(filter))?;
        taken.sort_unstable();
        Ok((taken, !Stop::current().is_reached()))
    }

    /// The calls of some sessions that a filter without texts selects, in no particular order.
    pub(crate) fn calls_of(&self, filter: &Filter, sessions: impl IntoIterator<Item = usize>) -> Result<Vec<ListedCall>, CatalogueError> {
        self.calls_where(filter, sessions, &[])
    }

    /// Like [`CatalogueQuery::calls_of`], but calls that do not meet some more tests of their columns may be left out.
    pub(crate) fn calls_where(
        &self,
        filter: &Filter,
        sessions: impl IntoIterator<Item = usize>,
        more: &[ColumnTest],
    ) -> Result<Vec<ListedCall>, CatalogueError> {
        let (mut taken, mut doubtful) = (Vec::new(), BTreeMap::new());
        let mut sieve = KeyFilter::new(filter);
        let stop = Stop::current();
        for session in sessions.into_iter().take_while(|_| !stop.is_over()) {
            let take = |answer, listed| match answer {
                Answer::Yes => taken.push(listed),
                Answer::Open => doubtful.entry(session).or_insert_with(Vec::new).push(listed),
                Answer::No => {}
            };
            match more {
                [] => sieve.ask_calls(self, session, take)?,
                _ => self.ask_calls_where(filter, session, more, take)?,
            }
        }
        // All doubtful calls of a session at once, so that its bundle is linked only once.
        let opened = self.open(&doubtful, |context, session, doubts: &Vec<ListedCall>| {
            let lazy_session = LazySession::new(*context, session, filter);
            let doubts: Map<CallNumber, &ListedCall> = doubts.iter().map(|listed| (listed.number, listed)).collect();
            let calls = context.linked.calls_of(session).iter().filter(|call| call.copy_of.is_none());
            let calls = calls.filter_map(|call| Some((call, **doubts.get(&call.number)?)));
            calls
                .filter(|(call, _)| filter.takes(&CallSubject::new(&lazy_session, call, false, 0)))
                .map(|(_, listed)| listed)
                .collect::<Vec<_>>()
        })?;
        taken.extend(opened.into_iter().flat_map(|(_, calls)| calls));
        Ok(taken)
    }

    /// The first calls that a filter without texts selects, behind a call, and at least one more if there are more; in the order in which
    /// calls are listed. No session is read that is not needed for these.
    pub fn calls_after(&self, filter: &Filter, after: Option<(usize, i64)>, limit: usize) -> Result<Vec<ListedCall>, CatalogueError> {
        self.make_content(filter)?;
        let first = after.map_or(0, |(session, _)| session);
        let mut found = Vec::new();
        for session in self.likely_sessions(filter).filter(|&session| session >= first) {
            let mut own = match filter.is_empty() {
                true => self.listing.calls_of(&self.library.catalogue(), session)?,
                false => self.calls_of(filter, [session])?,
            };
            own.sort_unstable();
            found.extend(own.into_iter().filter(|call| after.is_none_or(|after| (call.session, call.id) > after)));
            if found.len() > limit || Stop::current().is_over() {
                break;
            }
        }
        Ok(found)
    }

    /// Passes on the rows of calls in their order. `take` collects those that follow each other in a session, and `done` gets the result.
    /// For many calls of a session all of its rows are read; few are read one by one.
    pub fn each_row<T: Default, E: From<CatalogueError>>(
        &self,
        calls: &[ListedCall],
        mut take: impl FnMut(&mut T, CallRow<'_>, At),
        mut done: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        const FEW: usize = 8;
        for own in calls.chunk_by(|one, next| one.session == next.session && one.id < next.id) {
            let (catalogue, mut made) = (self.library.catalogue(), T::default());
            match own {
                [first, ..] if own.len() > FEW => {
                    let mut wanted = own.iter().peekable();
                    self.listing.each_call(&catalogue, first.session, |listed, row, spots| {
                        if wanted.next_if(|wanted| wanted.id == listed.id).is_some() {
                            take(&mut made, row, spots.request);
                        }
                    })?;
                }
                few => {
                    for &call in few {
                        self.listing.one_call(&catalogue, call, |_, row, spots| take(&mut made, row, spots.request))?;
                    }
                }
            }
            // `done` may write to a slow reader; the connection is free for others meanwhile.
            drop(catalogue);
            done(made)?;
        }
        Ok(())
    }

    /// The sessions that a filter selects, in the order in which sessions are listed.
    pub fn sessions(&self, filter: &Filter, scope: MatchScope) -> Result<Vec<usize>, CatalogueError> {
        if filter.is_empty() {
            return Ok((0..self.rows.len()).collect());
        }
        // Here each term may hold in another place, or texts are only excluded: neither rows nor a search can decide that.
        if scope == MatchScope::Session || (filter.asks_texts() && filter.patterns().next().is_none()) {
            let linker = self.library.whole()?;
            let linked = linker.link_on(self.threads);
            let found = super::sessions(&self.context(&linked), filter, scope);
            let places = self.places();
            let mut found: Vec<usize> =
                found.into_iter().filter_map(|at| places.get(&(linked.sessions[at].agent, &*linked.sessions[at].id)).copied()).collect();
            // Sessions without logs are not among the linked ones, so their rows decide.
            for session in self.likely_sessions(filter).filter(|&session| self.listing.is_gone(session)) {
                found.extend((self.ask_session(filter, session)? == Answer::Yes).then_some(session));
            }
            found.sort_unstable();
            return Ok(found);
        }
        let mut taken: Set<usize> = Set::default();
        if filter.asks_texts() {
            let places = self.places();
            self.search(filter, |hits| {
                taken.extend(hits.iter().filter_map(|hit| places.get(&(hit.agent, &*hit.session))));
                ControlFlow::Continue(())
            })?;
        } else {
            self.make_content(filter)?;
            let mut doubtful = BTreeMap::new();
            for session in self.likely_sessions(filter) {
                match self.ask_session(filter, session)? {
                    Answer::Yes => drop(taken.insert(session)),
                    Answer::Open => drop(doubtful.insert(session, ())),
                    Answer::No => {}
                }
            }
            let opened = self.open(&doubtful, |context, session, ()| LazySession::new(*context, session, filter).has_one())?;
            taken.extend(opened.into_iter().filter(|(_, takes)| *takes).map(|(session, _)| session));
        }
        let mut taken: Vec<usize> = taken.into_iter().collect();
        taken.sort_unstable();
        Ok(taken)
    }

    /// The first sessions that a filter without texts selects, from a place on, and one more if there are more; in the order in which sessions
    /// are listed. No session is read that is not needed for these.
    pub fn sessions_from(&self, filter: &Filter, first: usize, limit: usize) -> Result<Vec<usize>, CatalogueError> {
        self.make_content(filter)?;
        let mut found = Vec::new();
        for session in self.likely_sessions(filter).filter(|&session| session >= first) {
            let takes = match self.ask_session(filter, session)? {
                Answer::Yes => true,
                Answer::No => false,
                Answer::Open => {
                    let doubtful = BTreeMap::from([(session, ())]);
                    let opened = self.open(&doubtful, |context, session, ()| LazySession::new(*context, session, filter).has_one())?;
                    opened.into_iter().any(|(_, takes)| takes)
                }
            };
            found.extend(takes.then_some(session));
            if found.len() > limit || Stop::current().is_over() {
                break;
            }
        }
        Ok(found)
    }

    /// The calls that a filter with texts selects.
    fn calls_with_texts(&self, filter: &Filter, mut go_on: impl FnMut() -> bool) -> Result<(Vec<ListedCall>, bool), CatalogueError> {
        let (places, mut whole) = (self.places(), true);
        let mut found: Map<usize, Set<CallNumber>> = Map::default();
        let mut note = |agent: &str, session: &str, number: CallNumber| {
            places.get(&(agent, session)).map(|&place| found.entry(place).or_default().insert(number));
        };
        if filter.patterns().next().is_some() {
            self.search(filter, |hits| {
                for hit in hits {
                    if let HitOwner::Call(number) = hit.unit {
                        note(hit.agent, &hit.session, number);
                    }
                }
                // Asked after each bundle, so that the calls found so far are kept.
                whole = go_on();
                if whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        } else {
            // A filter that only excludes texts gives a search nothing to look for, so all calls are checked.
            let linker = self.library.whole()?;
            let linked = linker.link_on(self.threads);
            for call in super::calls(&self.context(&linked), filter, false) {
                if let Some(session) = linked.sessions.get(call.session) {
                    note(session.agent, &session.id, call.number);
                }
            }
        }
        let mut taken = Vec::new();
        for (session, numbers) in found {
            let listed = self.listing.calls_of(&self.library.catalogue(), session)?;
            taken.extend(listed.into_iter().filter(|listed| numbers.contains(&listed.number)));
        }
        taken.sort_unstable();
        Ok((taken, whole && !Stop::current().is_reached()))
    }

    fn search(&self, filter: &Filter, mut each: impl FnMut(&[Hit]) -> ControlFlow<()>) -> Result<(), CatalogueError> {
        search(self.library, &Query::unseen(filter.clone()), self.now, self.threads, |hits| each(&hits)).map(drop)
    }

    fn context<'l>(&'l self, linked: &'l Linked<'l>) -> MatchContext<'l> {
        MatchContext { linked, disk: self.library.disk(), now: self.now, threads: self.threads, keep: self.library.keep() }
    }

    /// The places of the sessions, by agent and id.
    fn places(&self) -> Map<(&str, &str), usize> {
        self.rows.iter().enumerate().map(|(place, row)| ((row.agent, row.session), place)).collect()
    }

    /// The sessions in which a filter may select anything. Those that are gone are included only if the filter asks for them.
    pub(crate) fn likely_sessions<'s>(&'s self, filter: &'s Filter) -> impl Iterator<Item = usize> + 's {
        let gone = filter.asks_gone();
        let there = move |session: usize| gone || !self.listing.is_gone(session);
        (0..self.rows.len()).filter(move |&session| there(session) && filter.may_take(&self.rows[session]))
    }

    /// Whether the logs of a session are kept or gone, if the filter has a term about it.
    pub(super) fn keeping(&self, filter: &Filter, session: usize) -> Keeping {
        if self.listing.is_gone(session) {
            return Keeping { gone: true, kept: false };
        }
        super::keeping(self.library.keep(), filter, &self.rows[session])
    }

    /// Passes on the filter's answer for the row of each call of a session.
    pub(crate) fn ask_calls(&self, filter: &Filter, session: usize, take: impl FnMut(Answer, ListedCall)) -> Result<(), CatalogueError> {
        self.ask_calls_where(filter, session, &[], take)
    }

    /// Like [`CatalogueQuery::ask_calls`], but calls that do not meet some more tests of their columns may be left out.
    fn ask_calls_where(
        &self,
        filter: &Filter,
        session: usize,
        more: &[ColumnTest],
        mut take: impl FnMut(Answer, ListedCall),
    ) -> Result<(), CatalogueError> {
        let (row, keeping) = (&self.rows[session], self.keeping(filter, session));
        let content = ContentFilter::new(self, filter, session);
        let left = content.as_ref().map(|content| content.candidates(self, session)).transpose()?.flatten();
        let mut ask = |listed: ListedCall, call: CallRow<'_>, _: CallSpans| {
            let content = content.as_ref().and_then(|content| content.facts(listed.id, &call));
            let known = SubjectFacts { session: row, keeping, item: Item::Call(&call), told: true, texts: None, content, opened: None };
            take(filter.ask(&known), listed);
        };
        let catalogue = self.library.catalogue();
        match left {
            Some(left) => left.into_iter().try_for_each(|call| self.listing.call_of_id(&catalogue, session, call, &mut ask)),
            None => {
                let tests: Vec<ColumnTest> = column_tests(filter).into_iter().chain(more.iter().cloned()).collect();
                self.listing.each_call_where(&catalogue, session, &tests, ask)
            }
        }
    }

    /// Makes the content of calls that a filter asks for, where it is not stored yet.
    pub(crate) fn make_content(&self, filter: &Filter) -> Result<(), CatalogueError> {
        if !filter.asks_content() {
            return Ok(());
        }
        let mut likely: Vec<usize> = self.likely_sessions(filter).collect();
        // The newest are most likely to be asked for again, should this be cut off.
        likely.reverse();
        self.library.fill(self.listing, &likely, self.threads, &|| true).map(drop)
    }

    /// The filter's answer for a session and the rows of its calls.
    fn ask_session(&self, filter: &Filter, session: usize) -> Result<Answer, CatalogueError> {
        let (row, keeping) = (&self.rows[session], self.keeping(filter, session));
        let known = SubjectFacts { session: row, keeping, item: Item::Session, told: false, texts: None, content: None, opened: None };
        if filter.asks_sessions() && filter.ask(&known) == Answer::Yes {
            return Ok(Answer::Yes);
        }
        let mut found = Answer::No;
        self.ask_calls(filter, session, |answer, _| match answer {
            Answer::Yes => found = Answer::Yes,
            // A later Yes still wins; an open answer must not replace one.
            Answer::Open if found == Answer::No => found = Answer::Open,
            _ => {}
        })?;
        Ok(found)
    }

    /// Opens the bundles of some sessions, and calls `ask` for each session with its linked bundle.
    fn open<T: Sync, R: Send>(
        &self,
        sessions: &BTreeMap<usize, T>,
        ask: impl Fn(&MatchContext<'_>, usize, &T) -> R + Sync,
    ) -> Result<Vec<(usize, R)>, CatalogueError> {
        let mut bundles: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for &session in sessions.keys() {
            if let Some(bundle) = self.listing.bundle(session) {
                bundles.entry(bundle).or_default().push(session);
            }
        }
        let bundles: Vec<(i64, Vec<usize>)> = bundles.into_iter().collect();
        let answers = each(self.threads, bundles.len(), |index| -> Result<Vec<(usize, R)>, CatalogueError> {
            let (bundle, own) = &bundles[index];
            if Stop::current().is_over() {
                return Ok(Vec::new());
            }
            let linker = self.library.open(*bundle)?;
            let linked = linker.link();
            // The bundles already run in parallel.
            let context = MatchContext { threads: 1, ..self.context(&linked) };
            let answer = |session: usize| {
                let row = &self.rows[session];
                // A log may have been deleted since the refresh; then the session is not there, and its calls are left out.
                let place = linked.session_with_id(row.agent, row.session)?;
                Some((session, ask(&context, place, sessions.get(&session)?)))
            };
            Ok(own.iter().filter_map(|&session| answer(session)).collect())
        });
        let answers: Result<Vec<_>, CatalogueError> = answers.into_iter().collect();
        Ok(answers?.into_iter().flatten().collect())
    }
}
