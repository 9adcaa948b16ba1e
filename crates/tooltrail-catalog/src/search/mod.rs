//! Search: text found in the sessions of all agents, without an index.
//!
//! `query` says what is looked for, `prefilter` which lines are worth decoding, `group` which logs are settled together. `read` searches
//! one log, `settle` puts together what was found in a group, and `snippet` cuts out what is shown. What is searched, and what counts
//! as one hit, is written down in docs/search.md.

mod group;
pub mod prefilter;
pub mod query;
mod read;
mod settle;
mod snippet;

pub use query::{Error, Query, Term};
pub use tooltrail_formats::texts::Field;

use group::Group;
use read::{Finds, Reader};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::shelf::Shelf;
use tooltrail_model::link::{Linked, LinkedCall};
use tooltrail_model::transcript::Spot;

/// Decides where is searched. This is the joint for filters: a filter over rows says which calls may be found, and whether messages
/// of a session may.
pub trait Takes: Sync {
    /// Whether anything of a session may be found, in `Linked::sessions`. Logs that have no such session are not read.
    fn session(&self, session: usize) -> bool {
        let _ = session;
        true
    }

    /// Whether a call may be found.
    fn call(&self, call: &LinkedCall) -> bool {
        self.session(call.session)
    }

    /// Whether the messages of a session may be found.
    fn message(&self, session: usize) -> bool {
        self.session(session)
    }
}

/// Everywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everywhere;

impl Takes for Everywhere {}

/// A text that was found. The fields that are serialised are a contract: docs/search.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "docs/search.md says what each field means")]
pub struct Hit<'l> {
    pub v: u32,
    pub agent: &'l str,
    pub session: &'l str,
    pub r#ref: String,
    pub call: Option<String>,
    pub field: &'static str,
    pub file: &'l str,
    pub line: u64,
    pub at: Option<String>,
    pub snippet: String,
    pub matches: Vec<[usize; 2]>,
    /// The call or message that has it.
    #[serde(skip)]
    pub unit: Unit,
}

/// A call or a message: what must have all terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A call.
    Call {
        /// Its session, in `Linked::sessions`.
        session: usize,
        /// Its number in the session.
        number: u32,
        /// Its place in `Linked::calls`.
        index: usize,
    },
    /// A message: what one record says.
    Message {
        /// Its session, in `Linked::sessions`.
        session: usize,
        /// The record.
        spot: Spot,
    },
}

impl Unit {
    /// The session it belongs to, in `Linked::sessions`.
    pub fn session(self) -> usize {
        match self {
            Unit::Call { session, .. } | Unit::Message { session, .. } => session,
        }
    }
}

/// Where logs are read from, and what long lines take turns by.
pub(crate) struct Shelves<'s> {
    shelf: &'s dyn Shelf,
    turns: Turns,
}

/// How much was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Texts.
    pub hits: u64,
    /// Calls that have them.
    pub calls: u64,
    /// Messages that have them.
    pub messages: u64,
    /// Sessions that have these.
    pub sessions: u64,
}

impl Totals {
    /// Counts the hits of one group: all hits of a call, a message or a session are in it.
    fn add(&mut self, hits: &[Hit<'_>]) {
        self.hits += hits.len() as u64;
        // Hits of one thing follow each other.
        let mut last: Option<Unit> = None;
        for hit in hits {
            self.sessions += u64::from(last.is_none_or(|last| last.session() != hit.unit.session()));
            if last != Some(hit.unit) {
                match hit.unit {
                    Unit::Call { .. } => self.calls += 1,
                    Unit::Message { .. } => self.messages += 1,
                }
            }
            last = Some(hit.unit);
        }
    }
}

/// Finds everything that a query asks for. Hits come in pieces as they are found, in an order that does not depend on the number of
/// threads: what was last said first, each session as it went. `found` may end the search; the totals count what came till then.
pub fn search<'l>(
    linked: &'l Linked<'_>,
    shelf: &dyn Shelf,
    query: &Query,
    takes: &dyn Takes,
    threads: usize,
    mut found: impl FnMut(Vec<Hit<'l>>) -> ControlFlow<()>,
) -> Totals {
    let groups = group::groups(linked, takes);
    let work = Work::new(linked, shelf, query, takes, &groups);
    let mut totals = Totals::default();
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..threads.clamp(1, work.tasks.len().max(1)) {
            let (work, send) = (&work, send.clone());
            scope.spawn(move || work.run(&send));
        }
        drop(send);
        // Groups may be done in another order than they are told in.
        let mut early: BTreeMap<usize, Vec<Hit<'l>>> = BTreeMap::new();
        let mut next = 0;
        for (group, hits) in receive {
            early.insert(group, hits);
            while let Some(hits) = early.remove(&next) {
                next += 1;
                totals.add(&hits);
                if !hits.is_empty() && found(hits).is_break() {
                    work.stop.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    });
    totals
}

/// What the threads share.
struct Work<'w, 'l, 'a> {
    linked: &'l Linked<'a>,
    shelves: Shelves<'w>,
    query: &'w Query,
    takes: &'w dyn Takes,
    groups: &'w [Group],
    /// Logs to search, each with its group.
    tasks: Vec<(usize, usize)>,
    next: AtomicUsize,
    /// What was found in the logs of each group so far.
    found: Vec<Mutex<Vec<Finds>>>,
    stop: AtomicBool,
    hasher: foldhash::fast::RandomState,
}

impl<'w, 'l, 'a> Work<'w, 'l, 'a> {
    fn new(linked: &'l Linked<'a>, shelf: &'w dyn Shelf, query: &'w Query, takes: &'w dyn Takes, groups: &'w [Group]) -> Self {
        Work {
            linked,
            shelves: Shelves { shelf, turns: Turns::default() },
            query,
            takes,
            groups,
            tasks: groups.iter().enumerate().flat_map(|(group, own)| own.sources.iter().map(move |&source| (group, source))).collect(),
            next: AtomicUsize::new(0),
            found: groups.iter().map(|_| Mutex::default()).collect(),
            stop: AtomicBool::new(false),
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    /// Searches log after log. Whoever searches the last one of a group settles it.
    fn run(&self, send: &mpsc::Sender<(usize, Vec<Hit<'l>>)>) {
        let mut buffer = Buffer::default();
        while let Some(&(number, source)) = self.tasks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let (Some(group), Some(found)) = (self.groups.get(number), self.found.get(number)) else { return };
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let reader = Reader::new(self.linked, self.query, self.takes, group, source, &self.hasher);
            let finds = reader.read(&self.shelves, &mut buffer);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.push(finds);
            if found.len() == group.sources.len() {
                let all = std::mem::take(&mut *found);
                drop(found);
                if send.send((number, settle::settle(self.linked, self.query, group, all))).is_err() {
                    return;
                }
            }
        }
    }
}
