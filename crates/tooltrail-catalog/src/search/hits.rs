//! The hits of a search in order, and their totals.

use crate::Map;
use crate::matching::Matches;
use crate::texts::group::LogGroup;
use crate::texts::resolve::LocatedMatch;
use serde::Serialize;
use std::sync::Arc;
use tooltrail_model::link::Linked;
use tooltrail_model::row::{CallNumber, VERSION};
use tooltrail_model::transcript::Spot;
use tooltrail_model::{At, Time};

/// A text that was found. The fields that are serialised are a contract: docs/search.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "docs/search.md says what each field means")]
pub struct Hit {
    pub v: u32,
    pub agent: &'static str,
    pub session: String,
    pub r#ref: String,
    pub call: Option<String>,
    pub field: &'static str,
    pub file: String,
    pub line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    #[serde(serialize_with = "tooltrail_model::row::time_as_text")]
    pub at: Option<Time>,
    pub snippet: String,
    pub matches: Vec<[usize; 2]>,
    /// The number of the record, whether or not that is a line.
    #[serde(skip)]
    pub record: u64,
    /// The call or message that has it.
    #[serde(skip)]
    pub unit: HitOwner,
    /// The session it is in.
    #[serde(skip)]
    pub about: Arc<HitSession>,
}

/// The properties of a session that are shown with its hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitSession {
    /// Its short name.
    pub short: Box<str>,
    /// Its title.
    pub title: Option<Box<str>>,
    /// The directory it belongs to.
    pub project: Option<Box<str>>,
    /// Its last sign of life.
    pub last: Option<Time>,
}

/// A call or a message: the unit in which all terms must occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HitOwner {
    /// A call, by its number in the session.
    Call(CallNumber),
    /// A message, which is one record. Its source is numbered among those of its bundle.
    Message(Spot),
}

/// How much was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HitTotals {
    /// Texts.
    pub hits: u64,
    /// Calls that have them.
    pub calls: u64,
    /// Messages that have them.
    pub messages: u64,
    /// Sessions that have these.
    pub sessions: u64,
}

impl HitTotals {
    /// Counts the hits of one bundle: all hits of a call, a message or a session are in it.
    pub(super) fn add(&mut self, hits: &[Hit]) {
        self.hits += hits.len() as u64;
        // Hits of one call, message or session follow each other, so comparing neighbours is enough.
        let mut last: Option<&Hit> = None;
        for hit in hits {
            let same_session = last.is_some_and(|last| Arc::ptr_eq(&last.about, &hit.about));
            self.sessions += u64::from(!same_session);
            if !same_session || last.is_none_or(|last| last.unit != hit.unit) {
                match hit.unit {
                    HitOwner::Call(_) => self.calls += 1,
                    HitOwner::Message(_) => self.messages += 1,
                }
            }
            last = Some(hit);
        }
    }
}

/// The sort key of a hit within its bundle: session, time, log, record.
type HitOrder = (usize, Option<Time>, usize, At);

/// Makes hits of matches, in order: the newest session first, each session in the order of time.
pub(super) fn hits(linked: &Linked<'_>, group: &LogGroup, taken: Matches) -> Vec<Hit> {
    let places = |all: &[usize]| all.iter().enumerate().map(|(place, &number)| (number, place)).collect::<Map<usize, usize>>();
    let (ranks, sessions) = (places(&group.sources), places(&group.sessions));
    // Hits are sorted by the order of the group, not by the numbers that logs and sessions have among all that are linked.
    let rank = |source: usize| ranks.get(&source).copied().unwrap_or(usize::MAX);
    let place = |session: usize| sessions.get(&session).copied().unwrap_or(usize::MAX);
    let mut told: Vec<(HitOrder, UnitWithHits, Vec<LocatedMatch>)> = Vec::new();
    for (index, finds) in taken.calls {
        let call = &linked.calls[index];
        let record = linked.record(call.id);
        let order = (place(call.session), record.time, rank(call.id.source()), record.at);
        told.push((order, UnitWithHits { session: call.session, call: Some(index), unit: HitOwner::Call(call.number) }, finds));
    }
    for message in taken.messages {
        let order = (place(message.session), message.time, rank(message.spot.source), message.spot.at);
        told.push((order, UnitWithHits { session: message.session, call: None, unit: HitOwner::Message(message.spot) }, message.finds));
    }
    // One record may request several calls, which the unit tells apart.
    told.sort_by_key(|(order, told, _)| (*order, told.unit));
    let mut teller = HitBuilder { linked, sessions: Map::default() };
    told.into_iter().flat_map(|(_, told, finds)| finds.into_iter().map(|find| teller.hit(&told, find)).collect::<Vec<_>>()).collect()
}

/// A call or message with hits.
struct UnitWithHits {
    session: usize,
    /// The call, in `Linked::calls`.
    call: Option<usize>,
    unit: HitOwner,
}

/// Builds hits; the part that hits of a session share is built once.
struct HitBuilder<'t, 'a> {
    linked: &'t Linked<'a>,
    sessions: Map<usize, Arc<HitSession>>,
}

impl HitBuilder<'_, '_> {
    fn hit(&mut self, told: &UnitWithHits, find: LocatedMatch) -> Hit {
        let linked = self.linked;
        let own = &linked.sessions[told.session];
        let about = self.sessions.entry(told.session).or_insert_with(|| {
            Arc::new(HitSession { short: own.short.clone(), title: own.title.clone(), project: own.project.clone(), last: own.last })
        });
        let (r#ref, call) = match (told.unit, told.call) {
            (HitOwner::Call(number), Some(index)) => {
                (format!("{}:{number}", own.short), Some(linked.id(linked.calls[index].id).to_owned()))
            }
            // A result without a call is listed as a message, but still names the call that it answers.
            _ => (own.short.to_string(), find.names.map(String::from)),
        };
        let place = linked.place(find.spot.source, find.spot.at);
        Hit {
            v: VERSION,
            agent: own.agent,
            session: own.id.to_string(),
            r#ref,
            call,
            field: find.found.field.word(),
            file: place.path().to_owned(),
            line: place.row.is_none().then_some(place.line),
            row: place.row.map(str::to_owned),
            record: place.line,
            at: find.time,
            snippet: find.found.snippet,
            matches: find.found.matches,
            unit: told.unit,
            about: Arc::clone(about),
        }
    }
}
