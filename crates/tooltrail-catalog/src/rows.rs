//! Rows on their way into the catalogue: everything about one session, made from linked logs.
//!
//! A fingerprint shows whether the stored rows of a session are current. It is taken before requests are read again for what their
//! commands mean, because that costs more than everything else together and follows from the rest.

use crate::Map;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::load::{self, RequestPlace};
use tooltrail_model::command::Purpose;
use tooltrail_model::link::{Linked, LinkedCall, LinkedTurn, SessionPlace, UnsettledCall, UnsettledSession};
use tooltrail_model::row::{CallNumber, CallRow, ModelUsage};
use tooltrail_model::{At, Kind, Reason, Status, Time};

/// A call as it is stored.
#[derive(Hash)]
pub(crate) struct StoredCall<'a> {
    /// The row, without its reference: that may change when another session appears.
    pub(crate) open: UnsettledCall<'a>,
    pub(crate) number: CallNumber,
    pub(crate) source: usize,
    pub(crate) at: At,
    pub(crate) request: RequestPlace,
    pub(crate) result: Option<(usize, At)>,
    pub(crate) digest: u64,
    pub(crate) order: Option<Time>,
}

/// A record that repeats a call of another log.
#[derive(Hash)]
pub(crate) struct StoredCopy<'a> {
    pub(crate) call: &'a str,
    pub(crate) source: usize,
    pub(crate) at: At,
    pub(crate) original_source: usize,
    pub(crate) original: At,
}

/// A session as it is stored.
pub(crate) struct StoredSession<'a> {
    pub(crate) open: UnsettledSession<'a>,
    pub(crate) place: &'a SessionPlace,
    pub(crate) directory: Option<&'a str>,
    pub(crate) first: Option<Time>,
    pub(crate) sources: &'a [usize],
    /// Its calls; of very many only the first, [`Linkage::more`] has the others.
    pub(crate) calls: Vec<StoredCall<'a>>,
    /// The calls that are not made yet, among all of the session.
    later: std::ops::Range<usize>,
    /// The latest time of a request.
    pub(crate) newest: Option<Time>,
    pub(crate) copies: Vec<StoredCopy<'a>>,
    pub(crate) turns: &'a [LinkedTurn<'a>],
    pub(crate) usage: &'a [UsageByModel<'a>],
    pub(crate) fingerprint: u64,
}

/// The usage of one model.
pub(crate) type UsageByModel<'a> = (Option<&'a str>, ModelUsage);

/// Linked logs, with their turns and usage sorted by session.
pub(crate) struct Linkage<'a> {
    pub(crate) linked: &'a Linked<'a>,
    turns: Vec<Vec<LinkedTurn<'a>>>,
    usage: Vec<Vec<UsageByModel<'a>>>,
    /// Usage that belongs to no session, by bundle.
    pub(crate) stray_usage: BTreeMap<usize, Vec<UsageByModel<'a>>>,
}

impl<'a> Linkage<'a> {
    /// `bundles` gives for each source the first one of its bundle.
    pub(crate) fn new(linked: &'a Linked<'a>, bundles: &[usize]) -> Self {
        let mut turns = vec![Vec::new(); linked.sessions.len()];
        for turn in linked.turns() {
            turns[turn.session].push(turn);
        }
        let mut sums: Map<(Result<usize, usize>, Option<&str>), ModelUsage> = Map::default();
        for (source, session, model, _, part) in linked.usage() {
            let sum = sums.entry((session.ok_or(bundles[source]), model)).or_default();
            sum.messages += part.messages;
            sum.tokens.add(&part.tokens);
        }
        let mut usage = vec![Vec::new(); linked.sessions.len()];
        let mut stray_usage: BTreeMap<usize, Vec<UsageByModel<'_>>> = BTreeMap::new();
        // A record may name no session that exists here. Its tokens were still paid for, so they are kept with the bundle.
        for ((place, model), sum) in sums {
            let list = match place {
                Ok(session) => &mut usage[session],
                Err(bundle) => stray_usage.entry(bundle).or_default(),
            };
            list.push((model, sum));
        }
        // Hash maps have no order, and the order enters the fingerprint.
        usage.iter_mut().chain(stray_usage.values_mut()).for_each(|models| models.sort_by_key(|(model, _)| *model));
        Linkage { linked, turns, usage, stray_usage }
    }

    /// A session, by its place among all.
    pub(crate) fn session(&self, index: usize) -> Option<StoredSession<'_>> {
        let linked = self.linked;
        let own = linked.sessions.get(index)?;
        let mut open = linked.open_session(index)?;
        // The short name and the checkout depend on sessions that may not be in this bundle; the writer fills them in.
        (open.row.short, open.row.project) = ("", own.place.project.as_deref());
        // Very many small values are hashed, which this hasher is fast at; the seed is fixed because the result is stored.
        let mut hasher = foldhash::quality::FixedState::with_seed(0x726f_7773).build_hasher();
        open.hash(&mut hasher);
        let (mut calls, mut copies, mut newest) = (Vec::new(), Vec::new(), None);
        let all = linked.calls_of(index);
        let mut later = all.len()..all.len();
        for (place, call) in all.iter().enumerate() {
            // Forked sessions repeat the calls of their origin; a copy has no row of its own, only a pointer to the original.
            match call.copy_of {
                None => {
                    let stored = stored(linked, call);
                    stored.fingerprint(&mut hasher);
                    newest = newest.max(stored.order);
                    // Rows take several times as much memory as what they are made of, so those of very long sessions are made in parts.
                    if calls.len() < AT_ONCE {
                        calls.push(stored);
                    } else {
                        later.start = later.start.min(place);
                    }
                }
                Some(original) => copies.push(StoredCopy {
                    call: linked.id(call.id),
                    source: call.id.source(),
                    at: linked.record(call.id).at,
                    original_source: original.source(),
                    original: linked.record(original).at,
                }),
            }
        }
        let mut session = StoredSession {
            open,
            place: &own.place,
            directory: own.directory.as_deref(),
            first: own.first,
            sources: &own.sources,
            calls,
            later,
            newest,
            copies,
            turns: self.turns.get(index)?,
            usage: self.usage.get(index)?,
            fingerprint: 0,
        };
        session.fingerprint = fingerprint(linked, &session, hasher);
        Some(session)
    }

    /// Takes the next calls of a session in place of those that it has; `false` if there are none. Its requests are not complete yet.
    pub(crate) fn more<'s>(&'s self, index: usize, session: &mut StoredSession<'s>) -> bool {
        session.calls.clear();
        let linked = self.linked;
        while let Some(call) = linked.calls_of(index).get(session.later.clone()).and_then(<[_]>::first) {
            if session.calls.len() == AT_ONCE {
                break;
            }
            session.later.start += 1;
            session.calls.extend(call.copy_of.is_none().then(|| stored(linked, call)));
        }
        !session.calls.is_empty()
    }
}

/// The most rows of calls of a session that are made at once.
const AT_ONCE: usize = 8192;

impl StoredCall<'_> {
    /// Adds it to the fingerprint of its session.
    fn fingerprint(&self, hasher: &mut impl Hasher) {
        // The sources of request and result are left out: their paths are in the row.
        (&self.open, self.number, self.at, self.result.map(|(_, at)| at), self.digest, self.order).hash(hasher);
    }
}

fn stored<'a>(linked: &'a Linked<'_>, call: &LinkedCall) -> StoredCall<'a> {
    let record = linked.record(call.id);
    let mut open = linked.open_call(call, false);
    // It contains the short name of the session, which the writer may change later.
    open.row.r#ref.clear();
    StoredCall {
        open,
        number: call.number,
        source: call.id.source(),
        at: record.at,
        request: record.into(),
        result: linked.result_spot(call),
        digest: record.digest,
        order: record.order,
    }
}

/// The fingerprint of everything that is stored of a session; the session and its calls are in the hasher already. Sources go in by path:
/// their numbers differ from run to run.
fn fingerprint(linked: &Linked<'_>, session: &StoredSession<'_>, mut hasher: impl Hasher) -> u64 {
    let path = |source: usize| &linked.sources[source].path;
    (session.place, session.directory, session.first, session.usage).hash(&mut hasher);
    for copy in &session.copies {
        (copy.call, path(copy.source), copy.at, path(copy.original_source), copy.original).hash(&mut hasher);
    }
    for turn in session.turns {
        (path(turn.source), turn.record.at, turn.record.time, turn.record.abandoned).hash(&mut hasher);
    }
    hasher.finish()
}

/// The fingerprint of rows that were made from something unreadable. It never equals a real one, so they are written again.
pub(crate) const UNREAD: u64 = 0;

/// The facts of requests that were read before, by call id and fingerprint of the input.
pub(crate) type RequestFactsCache = Map<(Box<str>, u64), RequestFacts>;

/// Facts that are derived from the command in a request, with everything else that they were derived from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestFacts {
    pub(crate) basis: RequestBasis,
    pub(crate) exit_of: Option<String>,
    pub(crate) masked: Vec<String>,
    pub(crate) purpose: Option<Purpose>,
    pub(crate) about: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) path: Option<String>,
}

/// The properties of a call, besides its input, that the facts of its request depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestBasis {
    pub(crate) tool: String,
    pub(crate) cwd: Option<String>,
    pub(crate) status: Option<Status>,
    pub(crate) reason: Option<Reason>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) background: bool,
    pub(crate) replacement: Option<At>,
}

impl RequestBasis {
    /// Whether a row has these properties, so that facts derived from them hold for it.
    fn is(&self, row: &CallRow<'_>) -> bool {
        self.tool == row.tool
            && self.cwd.as_deref() == row.cwd
            && self.status == Some(row.status)
            && self.reason == row.reason
            && self.exit_code == row.exit_code
            && self.background == row.background.is_some()
            && self.replacement == row.replacement
    }
}

impl RequestFacts {
    /// Whether they are the facts of a row.
    fn are_of(&self, row: &CallRow<'_>) -> bool {
        // The command that a script failed by is not part of the basis, so neither a script with such a command nor facts with one are known.
        let failed_by = row.failed_by.is_some() || (row.kind == Kind::Script && self.exit_of.is_some());
        // Nothing may have been learned because the log was being replaced at that moment, so nothing is no fact to keep.
        !failed_by && self.about.is_some() && self.basis.is(row)
    }
}

impl StoredSession<'_> {
    /// Adds the facts of the requests, from the cache or from their logs. A log may have changed since it was scanned; a session with a
    /// request that could not be read is marked as unread, so that it is written again when the log is scanned again.
    pub(crate) fn complete(&mut self, known: &RequestFactsCache, disk: &dyn ReadLogs) {
        for call in &mut self.calls {
            let row = &mut call.open.row;
            // On a first refresh nothing is cached, and the key would be allocated for every call.
            let cached = if known.is_empty() { None } else { known.get(&(row.call.into(), call.digest)) };
            if let Some(facts) = cached.filter(|facts| facts.are_of(row)) {
                (row.exit_of, row.masked) = (facts.exit_of.clone(), facts.masked.clone());
                (row.purpose, row.about) = (facts.purpose.map(Purpose::word), facts.about.clone());
                (row.command, row.path) = (facts.command.clone(), facts.path.clone());
            } else if load::complete_at(disk, row, call.request).is_err() {
                call.digest = UNREAD;
                self.fingerprint = UNREAD;
            }
        }
    }
}
