//! Sort and count keys of calls: a few figures of each, read session by session and not kept.
//!
//! A row of a call is large, and there may be hundreds of thousands of them. Choosing, sorting and counting needs only these keys; rows are
//! read for the calls that are shown.

use super::column::{maybe_text, optional, text, word};
use super::conditions::Conditions;
use super::{Catalogue, CatalogueError, ListedCall, SessionListing, schema};
use crate::Map;
use crate::queries::ColumnTest;
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use std::sync::Arc;
use tooltrail_model::command::Purpose;
use tooltrail_model::link::Pulse;
use tooltrail_model::row::CallNumber;
use tooltrail_model::{Kind, Status, Time};

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

    /// The call, in its session.
    pub fn listed(&self, session: usize) -> ListedCall {
        let took = self.figure(Figure::Took).and_then(|took| u64::try_from(took).ok());
        ListedCall { session, id: self.id, number: self.number, order: self.figure(Figure::Order), took }
    }
}

/// Reads the keys of calls, and knows the names in them.
pub struct KeyReader {
    /// The tools, as logs name them.
    tools: NameTable,
    /// The models. The first is the empty name, for calls without a model.
    models: NameTable,
}

impl Default for KeyReader {
    fn default() -> Self {
        let mut models = NameTable::default();
        models.number("");
        KeyReader { tools: NameTable::default(), models }
    }
}

impl KeyReader {
    /// The keys of a session's calls, by request.
    pub fn read(&mut self, catalogue: &Catalogue, listing: &SessionListing, session: usize) -> Result<Vec<CallKey>, CatalogueError> {
        self.read_where(catalogue, listing, session, &[])
    }

    /// The keys of a session's calls that meet tests of their stored columns.
    pub(crate) fn read_where(
        &mut self,
        catalogue: &Catalogue,
        listing: &SessionListing,
        session: usize,
        tests: &[ColumnTest],
    ) -> Result<Vec<CallKey>, CatalogueError> {
        let Some(head) = listing.sessions.get(session) else { return Ok(Vec::new()) };
        let Conditions { sql, values } = Conditions::of(tests);
        let range = [head.id << schema::SHIFT, (head.id + 1) << schema::SHIFT].map(Value::Integer);
        let mut keys = catalogue.query(|connection| {
            let columns = FIGURES.join(", ");
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns}, id, number, tool, kind, status, open, model, purpose, requested_at IS NOT NULL, inner_number, unwrapped
                 FROM call_rows WHERE id >= ? AND id < ?{sql} ORDER BY id"
            ))?;
            let mut rows = statement.query(params_from_iter(range.into_iter().chain(values)))?;
            let mut keys = Vec::new();
            while let Some(row) = rows.next()? {
                keys.push(self.key(row)?);
            }
            Ok(keys)
        })?;
        // The stored status of a call without a result holds for a session that has ended. In a live one the call may be running,
        // so its status is settled as for its row.
        if head.pulse != Pulse::default() {
            for (key, _) in keys.iter_mut().filter(|(_, open)| *open) {
                listing.one_call(catalogue, key.listed(session), |_, row, _| key.status = row.status)?;
            }
        }
        Ok(keys.into_iter().map(|(key, _)| key).collect())
    }

    /// A key, and whether its call may still run.
    fn key(&mut self, row: &Row<'_>) -> rusqlite::Result<(CallKey, bool)> {
        const FIRST: usize = FIGURES.len();
        let mut figures = [NONE; FIGURES.len()];
        for (column, figure) in figures.iter_mut().enumerate() {
            *figure = row.get::<_, Option<i64>>(column)?.unwrap_or(NONE);
        }
        let open = optional(row, FIRST + 5, super::write::chance_of)?.is_some();
        let key = CallKey {
            figures,
            id: row.get(FIRST)?,
            number: CallNumber { call: row.get(FIRST + 1)?, inner: row.get(FIRST + 9)? },
            tool: self.tools.number(text(row, FIRST + 2)?),
            kind: word(row, FIRST + 3, Kind::of_word)?,
            status: word(row, FIRST + 4, Status::of_word)?,
            unwrapped: maybe_text(row, FIRST + 10)?.map(|tool| self.tools.number(tool)),
            model: self.models.number(maybe_text(row, FIRST + 6)?.unwrap_or_default()),
            purpose: optional(row, FIRST + 7, Purpose::of_word)?,
            timed: row.get(FIRST + 8)?,
        };
        Ok((key, open))
    }

    /// A call's tool, by its number among [`KeyReader::tools`].
    pub fn tool(&self, key: &CallKey) -> usize {
        key.tool as usize
    }

    /// The inner tool of a call, where a script is its one call, by its number among [`KeyReader::tools`].
    pub fn unwrapped(&self, key: &CallKey) -> Option<usize> {
        key.unwrapped.map(|tool| tool as usize)
    }

    /// The model that requested a call.
    pub(crate) fn model(&self, key: &CallKey) -> Option<&str> {
        self.models.known.get(key.model as usize).map(|name| &**name).filter(|name| !name.is_empty())
    }

    /// The tools of the calls read so far, as logs name them.
    pub fn tools(&self) -> &[Arc<str>] {
        &self.tools.known
    }
}

/// Names, numbered in the order of their first use.
#[derive(Default)]
struct NameTable {
    known: Vec<Arc<str>>,
    numbers: Map<Arc<str>, u32>,
}

impl NameTable {
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
