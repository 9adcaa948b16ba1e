//! Applying a filter to linked logs: the calls, messages and sessions that it selects, each opened only if the filter needs it.
//!
//! The language and its one evaluator are `model::filter`. `subjects` adapts calls, messages and sessions to the
//! evaluator. For a filter with texts, `texts` first finds the calls and messages that contain them; `judge` decides on these, for
//! searches too, so that a filter selects the same everywhere. `stored` filters a catalogue, whose rows decide most of it; `key_filter`
//! and `by_content` avoid reading rows.

mod by_content;
mod judge;
pub(crate) mod key_filter;
pub mod stored;
mod subjects;

pub(crate) use judge::{Matches, judge};

use crate::keep::Keep;
use crate::stop::Stop;
use crate::texts::group::{self, LogGroup};
use crate::texts::resolve::{self, MatchedUnits};
use crate::texts::single_call;
use crate::texts::{self, Query};
use crate::{Map, each};
use std::ops::ControlFlow;
use subjects::{CallSubject, LazySession};
use tooltrail_formats::disk::ReadLogs;
use tooltrail_model::filter::{Filter, Has, Keeping, Test};
use tooltrail_model::link::{CallId, Linked, LinkedCall, Now};
use tooltrail_model::row::SessionRow;

/// The logs to filter, and the means to open them.
#[derive(Clone, Copy)]
pub struct MatchContext<'a> {
    /// The logs.
    pub linked: &'a Linked<'a>,
    /// The reader for their records.
    pub disk: &'a dyn ReadLogs,
    /// The moment of asking.
    pub now: &'a Now,
    /// How many threads there are to work on.
    pub threads: usize,
    /// The copies of logs that are gone, if any are kept.
    pub keep: Option<&'a Keep>,
}

/// Whether the logs of a session are kept or gone. Looked up only if the filter has a term about it, because it touches the disk.
pub(crate) fn keeping(keep: Option<&Keep>, filter: &Filter, session: &SessionRow<'_>) -> Keeping {
    keep.filter(|_| filter.asks_keeping()).map(|keep| keep.keeping(session.files.iter().copied())).unwrap_or_default()
}

/// The unit in which all terms of a filter must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchScope {
    /// In one call or one message.
    Call,
    /// Anywhere in one session, each term in its own place.
    Session,
}

/// The calls that a filter selects, in the order in which calls are listed.
pub fn calls<'l>(context: &MatchContext<'l>, filter: &Filter, copies: bool) -> Vec<&'l LinkedCall> {
    let linked = context.linked;
    let wanted = |call: &&LinkedCall| copies || call.copy_of.is_none();
    if filter.is_empty() {
        return linked.calls.iter().filter(wanted).collect();
    }
    let stop = Stop::current();
    let taken_of = |session: usize, texts: &Map<CallId, u64>| {
        if stop.is_over() {
            return Vec::new();
        }
        let own = linked.calls_of(session).iter().filter(wanted);
        let lazy_session = LazySession::new(*context, session, filter);
        own.filter(|call| filter.takes(&CallSubject::new(&lazy_session, call, copies, texts_of(texts, call)))).collect::<Vec<_>>()
    };
    if !filter.asks_texts() {
        let sessions: Vec<usize> = linked.calls.chunk_by(|one, next| one.session == next.session).map(|own| own[0].session).collect();
        // Without texts no log has to be searched; a call is opened only where its row leaves a term open.
        let taken = each(context.threads, sessions.len(), |index| taken_of(sessions[index], &Map::default()));
        return taken.into_iter().flatten().collect();
    }
    // Rows first: the logs of sessions that the other terms exclude need not be searched.
    let likely = each(context.threads, linked.sessions.len(), |session| {
        let lazy_session = LazySession::new(*context, session, filter);
        let own = linked.calls_of(session).iter().filter(wanted);
        own.into_iter().any(|call| CallSubject::new(&lazy_session, call, copies, 0).may_be_taken())
    });
    let query = Query::unseen(filter.clone());
    let mut taken: Vec<(usize, Vec<&LinkedCall>)> = Vec::new();
    searched(
        context,
        &query,
        |session| likely[session],
        |group, units| {
            let texts = units.calls.iter().map(|(&call, finds)| (linked.calls[call].id, resolve::terms(finds))).collect();
            let sessions = group.sessions.iter().filter(|&&session| likely[session]);
            sessions.map(|&session| (session, taken_of(session, &texts))).collect::<Vec<_>>()
        },
    )
    .into_iter()
    .for_each(|group| taken.extend(group));
    // Groups interleave the sessions, and callers expect the order of the listing.
    taken.sort_unstable_by_key(|(session, _)| *session);
    taken.into_iter().flat_map(|(_, calls)| calls).collect()
}

/// Whether a filter without texts selects one call.
pub(crate) fn takes(context: &MatchContext<'_>, filter: &Filter, call: &LinkedCall) -> bool {
    filter.takes(&CallSubject::new(&LazySession::new(*context, call.session, filter), call, false, 0))
}

/// Whether a query with texts selects one call. Only the call's own records are read, not the logs. `group` holds all of the logs.
pub(crate) fn takes_text(context: &MatchContext<'_>, group: &LogGroup, query: &Query, call: &LinkedCall) -> bool {
    let (filter, MatchContext { linked, disk, .. }) = (query.filter(), *context);
    let lazy_session = LazySession::new(*context, call.session, filter);
    // Rows may exclude the call without reading its records.
    CallSubject::new(&lazy_session, call, false, 0).may_be_taken() && {
        let texts = single_call::terms(&texts::TextSearch { query, disk, threads: 1 }, linked, group, call);
        filter.takes(&CallSubject::new(&lazy_session, call, false, texts))
    }
}

/// Whether a filter with texts may select any call or message, as far as rows can decide.
pub(crate) fn may_take(context: &MatchContext<'_>, filter: &Filter) -> bool {
    (0..context.linked.sessions.len()).any(|session| LazySession::new(*context, session, filter).may_have_one())
}

/// The texts that a call contains, a bit for each; of a copy, those of its original.
fn texts_of(texts: &Map<CallId, u64>, call: &LinkedCall) -> u64 {
    texts.get(&call.copy_of.unwrap_or(call.id)).copied().unwrap_or(0)
}

/// The sessions that a filter selects, in the order in which sessions are listed: those with a call that it selects, with a message that
/// contains the texts, or that meet all terms themselves.
pub fn sessions(context: &MatchContext<'_>, filter: &Filter, scope: MatchScope) -> Vec<usize> {
    let count = context.linked.sessions.len();
    if filter.is_empty() {
        return (0..count).collect();
    }
    if !filter.asks_texts() {
        let stop = Stop::current();
        let taken = each(context.threads, count, |session| {
            if stop.is_over() {
                return false;
            }
            let lazy_session = LazySession::new(*context, session, filter);
            match scope {
                MatchScope::Call => lazy_session.has_one(),
                MatchScope::Session => lazy_session.has_all(&Map::default(), &[]),
            }
        });
        return (0..count).filter(|&session| taken[session]).collect();
    }
    if scope == MatchScope::Call && filter.patterns().next().is_none() {
        // Only calls can be taken for what they do not have: a message is taken for a text in it.
        let mut taken: Vec<usize> =
            calls(context, filter, false).iter().map(|call| call.session).filter(|&session| session < count).collect();
        taken.dedup();
        return taken;
    }
    let likely =
        each(context.threads, count, |session| scope == MatchScope::Session || LazySession::new(*context, session, filter).may_have_one());
    // Images have no text, so a term about them has to be checked in messages without a match too.
    let is_image = |test: &Test| matches!(test, Test::Has(all) if all.contains(&Has::Image));
    let pictures = scope == MatchScope::Session && filter.terms().iter().any(|term| term.test.each().iter().any(is_image));
    let query = Query::unseen(filter.clone());
    let query = match scope {
        MatchScope::Session if pictures => query.with_pictures(),
        // Each term may hold in another place of the session, so a lead would miss texts.
        MatchScope::Session => query.with_each(),
        MatchScope::Call => query,
    };
    let taken = searched(
        context,
        &query,
        |session| likely[session],
        |group, units| match scope {
            MatchScope::Call => {
                let taken = judge(context, &query, group, units);
                let of_calls = taken.calls.iter().map(|(call, _)| context.linked.calls[*call].session);
                of_calls.chain(taken.messages.iter().map(|message| message.session)).collect()
            }
            MatchScope::Session => with_all(context, filter, group, &units),
        },
    );
    let mut taken: Vec<usize> = taken.into_iter().flatten().collect();
    taken.sort_unstable();
    taken.dedup();
    taken
}

/// The sessions of a group in which every term holds somewhere.
fn with_all(context: &MatchContext<'_>, filter: &Filter, group: &LogGroup, units: &MatchedUnits) -> Vec<usize> {
    let texts = units.calls.iter().map(|(&call, finds)| (context.linked.calls[call].id, resolve::terms(finds))).collect();
    let holds = |session: &usize| {
        let messages: Vec<_> = units.messages.iter().filter(|message| message.session == *session).collect();
        LazySession::new(*context, *session, filter).has_all(&texts, &messages)
    };
    group.sessions.iter().copied().filter(holds).collect()
}

/// Searches every group of logs that contains a wanted session, and calls `ask` with the matches in each.
fn searched<T: Send>(
    context: &MatchContext<'_>,
    query: &Query,
    wanted: impl Fn(usize) -> bool,
    ask: impl Fn(&LogGroup, MatchedUnits) -> T + Sync,
) -> Vec<T> {
    let linked = context.linked;
    let groups = group::groups(linked, wanted);
    let files: Vec<Vec<&str>> =
        groups.iter().map(|group| group.sources.iter().map(|&source| &*linked.sources[source].path).collect()).collect();
    let search = texts::TextSearch { query, disk: context.disk, threads: context.threads };
    let mut answers = Vec::new();
    let settle = |number: usize, said| ask(&groups[number], resolve::resolve(linked, &groups[number], query, said));
    texts::each_bundle(&search, &files, settle, |_, answer| {
        answers.push(answer);
        ControlFlow::Continue(())
    });
    answers
}
