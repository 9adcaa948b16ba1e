//! Layer 2: all summaries together. Copies are recognised, results and tasks in other files found, subagents assigned to
//! the call that started them, usage counted once.
//!
//! [`Linker`] keeps summaries by source; adding and removing them in any order gives the same set. [`Linker::link`] is a
//! pure function of that set: sources are taken in the order of their paths, and every choice has a complete tie-break. So
//! the result is the same on any number of threads ([`Linker::link_on`]).

mod agents;
mod bundles;
mod checkouts;
mod groups;
mod identity;
mod life;
mod open;
mod parallel;
mod roots;
mod rows;
mod sessions;
mod state;
mod tasks;
mod totals;

pub use bundles::{Ties, bundles};
pub use checkouts::{Checkouts, SessionKey, SessionNames, SessionPlace, Shorts};
pub use groups::{By, GroupSums, Selected};
pub use life::{Chance, Live, Now, Pulse};
pub use open::{UnsettledCall, UnsettledSession};
pub use sessions::{LinkedSession, LinkedTurn, shorten};
pub use state::{OpenCalls, State, StateReason};
pub use totals::{LinkedRequest, StatsSums};

use crate::row::CallNumber;
use crate::summary::{CallRecord, ResultRecord, Summary};
use crate::text::Name;
use crate::{Map, Set, Time};
use parallel::both;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A source with its file's properties.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path, as the user gave it or absolute.
    pub path: Box<str>,
    /// Modification time of the file.
    pub modified: Option<Time>,
    /// Summary of its content.
    pub summary: Summary,
}

/// All sources, whatever the order they came in.
#[derive(Clone, Debug, Default)]
pub struct Linker {
    sources: BTreeMap<Box<str>, Source>,
    /// Names of sessions among more sources than these.
    names: Option<Arc<SessionNames>>,
}

impl Linker {
    /// Adds a source, or replaces it.
    pub fn put(&mut self, source: Source) {
        self.sources.insert(source.path.clone(), source);
    }

    /// Removes a source.
    pub fn remove(&mut self, path: &str) {
        self.sources.remove(path);
    }

    /// Removes all sources but some.
    pub fn retain(&mut self, mut keep: impl FnMut(&Source) -> bool) {
        self.sources.retain(|_, source| keep(source));
    }

    /// Sets the names that sessions have among more sources than these.
    pub fn call_sessions(&mut self, names: Arc<SessionNames>) {
        self.names = Some(names);
    }

    /// The sessions here, with their places.
    pub fn places(&self) -> Map<SessionKey, SessionPlace> {
        let sources: Vec<&Source> = self.sources.values().collect();
        let (sessions, index) = sessions::gather(&sources, &roots::Roots::gather(&sources), None);
        let places = sessions::places(&sources, &index, sessions.len());
        sessions.into_iter().map(|session| (session.agent, session.id)).zip(places).collect()
    }

    /// The sources themselves, by path.
    pub fn into_sources(self) -> impl Iterator<Item = Source> {
        self.sources.into_values()
    }

    /// The sources, by path.
    pub fn sources(&self) -> impl Iterator<Item = &Source> + Clone {
        self.sources.values()
    }

    /// Settles everything that needs more than one source.
    pub fn link(&self) -> Linked<'_> {
        self.link_on(1)
    }

    /// Settles everything on so many threads, which later queries may use too.
    pub fn link_on(&self, threads: usize) -> Linked<'_> {
        let threads = threads.min(parallel::MOST);
        let sources: Vec<&Source> = self.sources.values().collect();
        let roots = roots::Roots::gather(&sources);
        // Two halves that need nothing from each other.
        let ((agents, (sessions, session_index)), (usage, repeated)) = both(
            threads,
            || (agents::link(&sources, &roots), sessions::gather(&sources, &roots, self.names.as_deref())),
            || (totals::usage(&sources), identity::repeated_calls(&sources)),
        );
        let mut linked = Linked {
            calls: Vec::new(),
            sessions: Vec::new(),
            by_id: Vec::new(),
            session_index,
            tasks: tasks::gather(&sources, &roots),
            orphans: identity::orphans(&sources),
            sources,
            roots,
            agents,
            usage,
            open: Map::default(),
            threads,
        };
        // Calls and sessions are worked out from everything else, so they are filled in afterwards.
        let calls = identity::calls(&linked, &repeated);
        let count = sessions.len();
        let (calls, sessions) =
            both(threads, || identity::number(&linked, calls, count), || sessions::describe(&linked, sessions, self.names.as_deref()));
        (linked.calls, linked.sessions) = (calls, sessions);
        linked.by_id = sessions::by_id(&linked.sessions);
        // Last, because it reads the linked calls and writes to the sessions.
        sessions::take_in_calls(&mut linked);
        linked
    }
}

/// Fingerprints that occur more than once, and by chance a few others. Unique ones, which nearly all are, are recognised
/// quickly.
fn repeated(all: impl Iterator<Item = u64> + Clone) -> Set<u64> {
    // One bit per fingerprint, in enough words that collisions are rare.
    let mut seen = vec![0u64; all.clone().count().max(1)];
    let again = |key: &u64| {
        // Scales the fingerprint to an index; cheaper than a division.
        let word = ((u128::from(*key) * seen.len() as u128) >> 64) as usize;
        let (before, bit) = (seen[word], 1 << (key & 63));
        seen[word] |= bit;
        before & bit != 0
    };
    all.filter(again).collect()
}

/// A call of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    // Small, because there are many and each call contains up to three.
    source: u32,
    list: CallList,
    index: u32,
}

/// The list of a source that a call is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum CallList {
    /// Those that its records request.
    Own,
    /// Those that it only reports.
    Nested,
    /// Those in the texts of scripts.
    Inner,
}

impl CallId {
    fn new(source: usize, list: CallList, index: usize) -> Self {
        CallId { source: small(source), list, index: small(index) }
    }

    /// Whether the call stands in the text of a script.
    pub fn is_inner(self) -> bool {
        self.list == CallList::Inner
    }

    /// Whether a record of its source requests the call.
    fn is_own(self) -> bool {
        self.list == CallList::Own
    }

    /// Whether the call is only reported in its source.
    fn is_nested(self) -> bool {
        self.list == CallList::Nested
    }

    /// The source.
    pub fn source(self) -> usize {
        self.source as usize
    }

    /// Its index in the source's list.
    fn index(self) -> usize {
        self.index as usize
    }
}

/// A count that fits into 32 bits, because memory could not hold more.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A call among all others.
#[derive(Clone, Copy, Debug)]
pub struct LinkedCall {
    /// The call.
    pub id: CallId,
    /// The first copy of it, if that is another one.
    pub copy_of: Option<CallId>,
    /// Position of its result, if not beside it.
    pub foreign_result: Option<Foreign>,
    /// Its session.
    pub session: usize,
    /// Its number in the session.
    pub number: CallNumber,
    // Fields of its record that linking needs, copied so that the record need not be fetched from memory again.
    model: Option<Name>,
    order: Time,
    /// Whether no source has a result for it.
    open: bool,
}

/// A result in another source than its call.
#[derive(Clone, Copy, Debug)]
pub enum Foreign {
    /// Beside a copy of the call.
    Copy(CallId),
    /// On its own: source and index of the orphan.
    Orphan(u32, u32),
}

/// Everything, linked.
#[derive(Clone, Debug)]
pub struct Linked<'a> {
    /// The sources, by path.
    pub sources: Vec<&'a Source>,
    /// All calls, copies too, by session start and then by request.
    pub calls: Vec<LinkedCall>,
    /// The sessions, by start.
    pub sessions: Vec<LinkedSession>,
    /// The sessions by agent and id: a hostile log has tens of thousands, and each of their records names one.
    by_id: Vec<u32>,
    session_index: sessions::SessionIndex,
    roots: roots::Roots<'a>,
    agents: agents::Agents,
    tasks: tasks::TaskNewsIndex<'a>,
    orphans: Map<(&'static str, &'a str), Vec<(usize, usize)>>,
    usage: totals::CountedUsage,
    /// Number of calls of each session without a result.
    open: Map<usize, u32>,
    /// Number of threads that may be used.
    threads: usize,
}

impl<'a> Linked<'a> {
    /// The record of a call.
    pub fn record(&self, id: CallId) -> &'a CallRecord {
        let summary = &self.sources[id.source()].summary;
        match id.list {
            CallList::Own => &summary.calls[id.index()],
            CallList::Nested => &summary.nested[id.index()],
            CallList::Inner => &summary.inner[id.index()],
        }
    }

    /// The order of calls that stand in one record: a call, then those in its script.
    fn place_in_source(&self, id: CallId) -> (bool, usize, u32) {
        match self.record(id).rare().inner.filter(|_| id.is_inner()) {
            Some(inner) => (false, inner.script as usize, inner.number),
            None => (id.is_nested(), id.index(), 0),
        }
    }

    /// The number of a call in its script; 0 for any other call.
    fn inner_number(&self, id: CallId) -> u32 {
        self.record(id).rare().inner.map_or(0, |inner| inner.number)
    }

    /// The id of a call, as its log has it.
    pub fn id(&self, call: CallId) -> &'a str {
        self.sources[call.source()].summary.names.text(self.record(call).id)
    }

    /// Whether a call has an id: its own, or that of a record of its own.
    pub fn is_called(&self, call: CallId, id: &str) -> bool {
        self.id(call) == id || self.record(call).rare().alias.as_deref() == Some(id)
    }

    /// The calls of a session, copies too, by request.
    pub fn calls_of(&self, session: usize) -> &[LinkedCall] {
        // Calls are sorted by session, so its own are one range.
        let start = self.calls.partition_point(|call| call.session < session);
        let own = &self.calls[start..];
        &own[..own.partition_point(|call| call.session == session)]
    }

    /// The result of a call, with its source. `alone` limits it to the call's own source.
    fn result(&self, call: &LinkedCall, alone: bool) -> Option<(usize, &'a ResultRecord)> {
        if let Some(result) = &self.record(call.id).result {
            return Some((call.id.source(), result));
        }
        match call.foreign_result? {
            // The same request may occur twice in one file, with the result beside only one of them.
            Foreign::Copy(copy) if alone && copy.source != call.id.source => None,
            Foreign::Orphan(..) if alone => None,
            Foreign::Copy(copy) => self.record(copy).result.as_ref().map(|result| (copy.source(), result)),
            Foreign::Orphan(source, index) => {
                let source = source as usize;
                Some((source, &self.sources[source].summary.orphans[index as usize].result))
            }
        }
    }

    /// Position of a call's result: its source, and the record.
    pub fn result_spot(&self, call: &LinkedCall) -> Option<(usize, crate::At)> {
        self.result(call, false).map(|(source, result)| (source, result.at))
    }

    /// The session that a source refers to by a name, as an index in [`Linked::sessions`].
    pub fn session_named(&self, source: usize, name: &str) -> Option<usize> {
        let agent = self.agent_of(source);
        self.session_with_id(agent, self.roots.of(agent, name))
    }

    /// The session of an agent with an id, as an index in [`Linked::sessions`].
    pub fn session_with_id(&self, agent: &str, id: &str) -> Option<usize> {
        let key = |index: u32| self.sessions.get(index as usize).map(|session| (session.agent, &*session.id));
        let place = self.by_id.binary_search_by(|&index| key(index).cmp(&Some((agent, id)))).ok()?;
        self.by_id.get(place).map(|&index| index as usize)
    }

    fn agent_of(&self, source: usize) -> &'static str {
        self.sources[source].summary.agent.unwrap_or("")
    }

    fn session_text(&self, call: CallId) -> &'a str {
        self.session_of(call.source(), self.record(call).session)
    }

    /// The session that a source refers to by a name.
    fn session_of(&self, source: usize, name: Name) -> &'a str {
        self.roots.of(self.agent_of(source), self.sources[source].summary.names.text(name))
    }
}
