//! Rows on their way into the catalogue: everything about one session, made from linked logs.
//!
//! A fingerprint tells whether a session is stored as it is now. It is taken before requests are read again for what they tell, because
//! that costs more than everything else together and follows from the rest.

use crate::Map;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use tooltrail_formats::load;
use tooltrail_formats::shelf::Shelf;
use tooltrail_model::command::Purpose;
use tooltrail_model::link::{Linked, LinkedCall, LinkedTurn, OpenCall, OpenSession};
use tooltrail_model::row::{CallRow, ModelUsage};
use tooltrail_model::{At, Reason, Status, Time};

/// A call as it is stored.
#[derive(Hash)]
pub(crate) struct StoredCall<'a> {
    /// The row, without its reference: that may change when another session comes.
    pub(crate) open: OpenCall<'a>,
    pub(crate) number: u32,
    pub(crate) source: usize,
    pub(crate) at: At,
    pub(crate) result: Option<(usize, At)>,
    pub(crate) digest: u64,
    pub(crate) order: Option<Time>,
}

/// A record that repeats a call of another place.
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
    pub(crate) open: OpenSession<'a>,
    pub(crate) directory: Option<&'a str>,
    pub(crate) first: Option<Time>,
    pub(crate) sources: &'a [usize],
    pub(crate) calls: Vec<StoredCall<'a>>,
    pub(crate) copies: Vec<StoredCopy<'a>>,
    pub(crate) turns: &'a [LinkedTurn<'a>],
    pub(crate) usage: &'a [UsageByModel<'a>],
    pub(crate) fingerprint: u64,
}

/// What was paid for in a session, by model.
pub(crate) type UsageByModel<'a> = (Option<&'a str>, ModelUsage);

/// Linked logs with what is told by session taken apart.
pub(crate) struct Linkage<'a> {
    pub(crate) linked: &'a Linked<'a>,
    turns: Vec<Vec<LinkedTurn<'a>>>,
    usage: Vec<Vec<UsageByModel<'a>>>,
    /// What belongs to no session, by bundle.
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
        for ((place, model), sum) in sums {
            let list = match place {
                Ok(session) => &mut usage[session],
                Err(bundle) => stray_usage.entry(bundle).or_default(),
            };
            list.push((model, sum));
        }
        usage.iter_mut().chain(stray_usage.values_mut()).for_each(|models| models.sort_by_key(|(model, _)| *model));
        Linkage { linked, turns, usage, stray_usage }
    }

    /// A session, by its place among all.
    pub(crate) fn session(&self, index: usize) -> Option<StoredSession<'_>> {
        let linked = self.linked;
        let own = linked.sessions.get(index)?;
        let (mut calls, mut copies) = (Vec::new(), Vec::new());
        for call in linked.calls_of(index) {
            match call.copy_of {
                None => calls.push(stored(linked, call)),
                Some(original) => copies.push(StoredCopy {
                    call: linked.id(call.id),
                    source: call.id.source(),
                    at: linked.record(call.id).at,
                    original_source: original.source(),
                    original: linked.record(original).at,
                }),
            }
        }
        let mut open = linked.open_session(index)?;
        // It depends on sessions that may not be here.
        open.row.short = "";
        let mut session = StoredSession {
            open,
            directory: own.directory.as_deref(),
            first: own.first,
            sources: &own.sources,
            calls,
            copies,
            turns: self.turns.get(index)?,
            usage: self.usage.get(index)?,
            fingerprint: 0,
        };
        session.fingerprint = fingerprint(linked, &session);
        Some(session)
    }
}

fn stored<'a>(linked: &'a Linked<'_>, call: &LinkedCall) -> StoredCall<'a> {
    let record = linked.record(call.id);
    let mut open = linked.open_call(call, false);
    open.row.r#ref.clear();
    StoredCall {
        open,
        number: call.number,
        source: call.id.source(),
        at: record.at,
        result: linked.result_spot(call),
        digest: record.digest,
        order: record.order,
    }
}

/// Sources are told by their paths: their numbers here are others the next time.
fn fingerprint(linked: &Linked<'_>, session: &StoredSession<'_>) -> u64 {
    // It is made of very many small pieces.
    let mut hasher = foldhash::quality::FixedState::with_seed(0x726f_7773).build_hasher();
    let path = |source: usize| &linked.sources[source].path;
    session.open.hash(&mut hasher);
    (session.directory, session.first, session.usage).hash(&mut hasher);
    for call in &session.calls {
        // The paths of request and result are in the row.
        (&call.open, call.number, call.at, call.result.map(|(_, at)| at), call.digest, call.order).hash(&mut hasher);
    }
    for copy in &session.copies {
        (copy.call, path(copy.source), copy.at, path(copy.original_source), copy.original).hash(&mut hasher);
    }
    for turn in session.turns {
        (path(turn.source), turn.record.at, turn.record.time, turn.record.abandoned).hash(&mut hasher);
    }
    hasher.finish()
}

/// In place of a fingerprint: made from something that could not be read.
pub(crate) const UNREAD: u64 = 0;

/// What a request told when it was read before, by the call and the fingerprint of its input.
pub(crate) type RequestFactsCache = Map<(Box<str>, u64), RequestFacts>;

/// What a request tells, and what of its call that followed from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestFacts {
    pub(crate) from: RequestBasis,
    pub(crate) exit_of: Option<String>,
    pub(crate) masked: Vec<String>,
    pub(crate) purpose: Option<Purpose>,
    pub(crate) about: Option<String>,
}

/// What of a call bears on what its request tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestBasis {
    pub(crate) tool: String,
    pub(crate) cwd: Option<String>,
    pub(crate) status: Option<Status>,
    pub(crate) reason: Option<Reason>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) background: bool,
}

impl RequestBasis {
    fn is(&self, row: &CallRow<'_>) -> bool {
        self.tool == row.tool
            && self.cwd.as_deref() == row.cwd
            && self.status == Some(row.status)
            && self.reason == row.reason
            && self.exit_code == row.exit_code
            && self.background == row.background.is_some()
    }
}

impl StoredSession<'_> {
    /// Adds what the requests tell, from what was known of them or from their logs. A log may have changed since it was scanned; what could
    /// not be read in it is left open, so that the session is another one when the log is scanned again.
    pub(crate) fn complete(&mut self, known: &RequestFactsCache, shelf: &dyn Shelf) {
        for call in &mut self.calls {
            let row = &mut call.open.row;
            let told = if known.is_empty() { None } else { known.get(&(row.call.into(), call.digest)).filter(|told| told.from.is(row)) };
            if let Some(told) = told {
                (row.exit_of, row.masked) = (told.exit_of.clone(), told.masked.clone());
                (row.purpose, row.about) = (told.purpose.map(Purpose::word), told.about.clone());
            } else if let Some(request) = load::request_at(shelf, row, call.at) {
                load::complete(&request, call.at.line, row);
            } else if call.at.span.len() <= load::LONGEST {
                call.digest = UNREAD;
                self.fingerprint = UNREAD;
            }
        }
    }
}
