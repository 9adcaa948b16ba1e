//! Sort and count keys of calls: a few figures of each, kept in memory for as long as their sessions do not change.
//!
//! A row of a call is large, and there may be hundreds of thousands of them. Sorting and counting all of them needs only
//! these keys; rows are read for the calls that are shown.

use super::column::{maybe_text, optional, text, word};
use super::{Catalogue, CatalogueError, ListedCall, SessionListing, schema};
use crate::Map;
use rusqlite::params;
use std::sync::Arc;
use tooltrail_model::command::Purpose;
use tooltrail_model::link::Pulse;
use tooltrail_model::row::CallNumber;
use tooltrail_model::{Kind, Status, Time};
use xxhash_rust::xxh3::xxh3_64;

/// A figure that a call may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// When it was made, or where it stands in its log.
    Order,
    /// How long it took, in milliseconds.
    Took,
    /// How long it ran, as its tool says.
    Ran,
    /// Its exit code.
    Exit,
    /// The bytes of its input.
    Input,
    /// The bytes of its result.
    Result,
}

/// The columns of the figures, in their order.
const FIGURES: [&str; 6] = ["order_us", "duration_ms", "run_ms", "exit_code", "input_bytes", "result_bytes"];
/// Stands for an absent figure. No time and no size has this value, and the figures take half the memory of options.
const NONE: i64 = i64::MIN;

/// The figures and properties by which a call is counted and sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallKey {
    id: i64,
    figures: [i64; FIGURES.len()],
    number: CallNumber,
    tool: u32,
    /// The inner tool, where a script is its one call.
    unwrapped: Option<u32>,
    model: u32,
    /// Whether its order is the time of its request.
    timed: bool,
    /// The purpose of its command.
    pub purpose: Option<Purpose>,
    /// The family of its tool.
    pub kind: Kind,
    /// Its status.
    pub status: Status,
}

impl CallKey {
    /// A figure of it, where there is one.
    pub fn figure(&self, figure: Figure) -> Option<i64> {
        let place = match figure {
            Figure::Order => 0,
            Figure::Took => 1,
            Figure::Ran => 2,
            Figure::Exit => 3,
            Figure::Input => 4,
            Figure::Result => 5,
        };
        self.figures.get(place).copied().filter(|number| *number != NONE)
    }

    /// The time of its request.
    pub fn requested(&self) -> Option<Time> {
        self.figure(Figure::Order).filter(|_| self.timed).and_then(Time::from_microsecond)
    }

    pub(crate) fn listed(&self, session: usize) -> ListedCall {
        let took = self.figure(Figure::Took).and_then(|took| u64::try_from(took).ok());
        ListedCall { session, id: self.id, number: self.number, order: self.figure(Figure::Order), took }
    }
}

/// The keys of all calls of a listing.
#[derive(Default)]
pub struct CallKeys {
    /// By session, in the order of [`SessionListing::rows`].
    sessions: Vec<SessionKeys>,
    /// The tools, as logs name them.
    tools: Vec<Arc<str>>,
    /// The models. The first is the empty name, for calls without a model.
    models: Vec<Arc<str>>,
}

/// The keys of a session's calls, by id, with the version of the session that they were read from.
struct SessionKeys {
    id: i64,
    session: Box<str>,
    version: u64,
    gone: bool,
    keys: Arc<[CallKey]>,
}

impl CallKeys {
    /// The keys of a listing. Those of sessions that have not changed are taken from an earlier listing of the same catalogue.
    pub fn read(catalogue: &Catalogue, listing: &SessionListing, before: Option<&CallKeys>) -> Result<Self, CatalogueError> {
        let known: Map<i64, &SessionKeys> = before.map(|keys| keys.sessions.iter().map(|own| (own.id, own)).collect()).unwrap_or_default();
        // Numbers of earlier keys stay valid, because names are only ever added.
        let mut tools = NameTable::new(before.map(|keys| keys.tools.as_slice()).unwrap_or_default());
        let mut models = NameTable::new(before.map(|keys| keys.models.as_slice()).unwrap_or_default());
        models.number("");
        let mut sessions = Vec::with_capacity(listing.sessions.len());
        for (place, head) in listing.sessions.iter().enumerate() {
            let version = listing.version(place);
            let keys =
                // A file that was made anew may give an old id to another session, so the id alone proves nothing.
                match known.get(&head.id).filter(|own| own.version == version && own.gone == head.gone && *own.session == *head.session) {
                    Some(own) => Arc::clone(&own.keys),
                    None => own_keys(catalogue, listing, place, &mut tools, &mut models)?,
                };
            sessions.push(SessionKeys { id: head.id, session: head.session.as_str().into(), version, gone: head.gone, keys });
        }
        Ok(CallKeys { sessions, tools: tools.known, models: models.known })
    }

    /// A number that changes whenever a call may have changed or moved.
    pub fn version(&self) -> u64 {
        let bytes: Vec<u8> = self.sessions.iter().flat_map(|own| [own.id.to_le_bytes(), own.version.to_le_bytes()]).flatten().collect();
        xxh3_64(&bytes)
    }

    /// The calls of all sessions that are there, in the order in which calls are listed.
    pub fn all(&self) -> Vec<ListedCall> {
        let there = self.sessions.iter().enumerate().filter(|(_, own)| !own.gone);
        there.flat_map(|(session, own)| own.keys.iter().map(move |key| key.listed(session))).collect()
    }

    /// The keys of a session's calls, by request.
    pub(crate) fn of_session(&self, session: usize) -> &[CallKey] {
        self.sessions.get(session).map(|own| &*own.keys).unwrap_or_default()
    }

    /// The key of a call.
    pub fn of(&self, call: ListedCall) -> Option<&CallKey> {
        let keys = &self.sessions.get(call.session)?.keys;
        keys.get(keys.binary_search_by_key(&call.id, |key| key.id).ok()?)
    }

    /// A call's tool, by its number among [`CallKeys::tools`].
    pub fn tool(&self, key: &CallKey) -> usize {
        key.tool as usize
    }

    /// The inner tool of a call, where a script is its one call.
    pub fn unwrapped(&self, key: &CallKey) -> Option<&str> {
        self.tools.get(key.unwrapped? as usize).map(|name| &**name)
    }

    /// Whether a call stands in the text of a script.
    pub fn is_inner(&self, key: &CallKey) -> bool {
        key.number.inner > 0
    }

    /// The model that requested a call.
    pub(crate) fn model(&self, key: &CallKey) -> Option<&str> {
        self.models.get(key.model as usize).map(|name| &**name).filter(|name| !name.is_empty())
    }

    /// The tools, as logs name them. Some may belong to calls that no longer exist.
    pub fn tools(&self) -> &[Arc<str>] {
        &self.tools
    }
}

/// Reads the keys of a session's calls.
fn own_keys(
    catalogue: &Catalogue,
    listing: &SessionListing,
    place: usize,
    tools: &mut NameTable,
    models: &mut NameTable,
) -> Result<Arc<[CallKey]>, CatalogueError> {
    const FIRST: usize = FIGURES.len();
    let Some(head) = listing.sessions.get(place) else { return Ok(Arc::default()) };
    let mut keys = catalogue.query(|connection| {
        // Sorted by id, so that `CallKeys::of` can use a binary search.
        let columns = FIGURES.join(", ");
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {columns}, id, number, tool, kind, status, open, model, purpose, requested_at IS NOT NULL, inner_number, unwrapped
             FROM call_rows WHERE id >= ?1 AND id < ?2 ORDER BY id"
        ))?;
        let mut rows = statement.query(params![head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT])?;
        let mut keys = Vec::new();
        while let Some(row) = rows.next()? {
            let mut figures = [NONE; FIGURES.len()];
            for (column, figure) in figures.iter_mut().enumerate() {
                *figure = row.get::<_, Option<i64>>(column)?.unwrap_or(NONE);
            }
            let open = optional(row, FIRST + 5, super::write::chance_of)?.is_some();
            let key = CallKey {
                figures,
                id: row.get(FIRST)?,
                number: CallNumber { call: row.get(FIRST + 1)?, inner: row.get(FIRST + 9)? },
                tool: tools.number(text(row, FIRST + 2)?),
                kind: word(row, FIRST + 3, Kind::of_word)?,
                status: word(row, FIRST + 4, Status::of_word)?,
                unwrapped: maybe_text(row, FIRST + 10)?.map(|tool| tools.number(tool)),
                model: models.number(maybe_text(row, FIRST + 6)?.unwrap_or_default()),
                purpose: optional(row, FIRST + 7, Purpose::of_word)?,
                timed: row.get(FIRST + 8)?,
            };
            keys.push((key, open));
        }
        Ok(keys)
    })?;
    // The stored status of a call without a result holds for a session that has ended. In a live one the call may be running,
    // so its status is settled as for its row.
    if head.pulse != Pulse::default() {
        for (key, _) in keys.iter_mut().filter(|(_, open)| *open) {
            listing.one_call(catalogue, key.listed(place), |_, row, _| key.status = row.status)?;
        }
    }
    Ok(keys.into_iter().map(|(key, _)| key).collect())
}

/// Names, numbered in the order of their first use.
struct NameTable {
    known: Vec<Arc<str>>,
    numbers: Map<Arc<str>, u32>,
}

impl NameTable {
    fn new(known: &[Arc<str>]) -> Self {
        NameTable { known: known.to_vec(), numbers: known.iter().cloned().zip(0..).collect() }
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let (name, number): (Arc<str>, u32) = (name.into(), u32::try_from(self.known.len()).unwrap_or(u32::MAX));
        self.known.push(Arc::clone(&name));
        self.numbers.insert(name, number);
        number
    }
}
