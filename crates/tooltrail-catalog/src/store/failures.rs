//! Stored failures of all sessions, and what is stored of sessions as a whole: read without opening any log.

use super::column::{json, maybe_text, optional, spelled_time, text, word};
use super::conditions::Conditions;
use super::details::{CommandTally, DetailStore};
use super::schema;
use crate::Map;
use crate::queries::ColumnTest;
use rusqlite::params_from_iter;
use rusqlite::types::Value;
use tooltrail_model::digest::FollowUp;
use tooltrail_model::row::CallNumber;
use tooltrail_model::{Status, Time};

/// A failed call, as it is stored.
pub(crate) struct FailedCall<'r> {
    pub(crate) id: i64,
    pub(crate) number: CallNumber,
    pub(crate) tool: &'r str,
    pub(crate) status: Status,
    pub(crate) time: Option<Time>,
    /// When it was made, or where it stands in its log.
    pub(crate) order: Option<i64>,
    pub(crate) group: &'r str,
    pub(crate) error: Option<&'r str>,
    pub(crate) follow_up: FollowUp,
}

/// A minute in which calls were made, as JSON spells it: `2026-03-04T10:00`.
pub(crate) struct BusyMinute<'r> {
    pub(crate) minute: &'r str,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
}

impl DetailStore {
    /// Passes on the failed calls whose details are stored and that meet tests of their columns, by session: its number in the file, the
    /// logs of the details, and the call.
    pub(crate) fn each_failure(&self, tests: &[ColumnTest], mut take: impl FnMut(i64, i64, FailedCall<'_>)) {
        let Conditions { sql, values } = Conditions::of(tests);
        self.ask(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT d.session, d.logs, c.id, c.number, c.inner_number, c.tool, c.kind, c.status, c.requested_at, c.order_us, x.failure,
                   x.error, x.follow_up
                 FROM content_rows x JOIN call_rows c ON c.id = x.id JOIN detail_rows d ON d.session = x.id >> ?
                 WHERE x.failure IS NOT NULL{sql} ORDER BY x.id"
            ))?;
            let shift = Value::Integer(schema::SHIFT.into());
            let mut rows = statement.query(params_from_iter(std::iter::once(shift).chain(values)))?;
            while let Some(row) = rows.next()? {
                let call = FailedCall {
                    id: row.get(2)?,
                    number: CallNumber { call: row.get(3)?, inner: row.get(4)? },
                    tool: text(row, 5)?,

                    status: word(row, 7, Status::of_word)?,
                    time: spelled_time(row, 8)?,
                    order: row.get(9)?,
                    group: text(row, 10)?,
                    error: maybe_text(row, 11)?,
                    // Sessions that were taken over from an older file have none.
                    follow_up: optional(row, 12, FollowUp::of_word)?.unwrap_or(FollowUp::MovedOn),
                };
                take(row.get(0)?, row.get(1)?, call);
            }
            Ok(Some(()))
        });
    }

    /// The sessions whose details are stored, by their numbers in the file, with the logs that the details were made from.
    pub(crate) fn stored(&self) -> Map<i64, i64> {
        let asked = self.ask(|connection| {
            let mut statement = connection.prepare_cached("SELECT session, logs FROM detail_rows")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>().map(Some)
        });
        asked.unwrap_or_default()
    }

    /// Passes on the commands of all sessions whose details are stored, with the numbers of the sessions and the logs of the details.
    pub(crate) fn each_tally(&self, mut take: impl FnMut(i64, i64, Vec<CommandTally>)) {
        self.ask(|connection| {
            let mut statement = connection.prepare_cached("SELECT session, logs, commands FROM detail_rows WHERE commands IS NOT NULL")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                take(row.get(0)?, row.get(1)?, json(row, 2)?);
            }
            Ok(Some(()))
        });
    }

    /// Passes on the minutes in which a session made calls, from a second on; a call in the text of a script counts only if it failed.
    pub(crate) fn each_minute(&self, session: i64, since: &str, mut take: impl FnMut(BusyMinute<'_>)) {
        self.ask(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT substr(c.requested_at, 1, 16), sum(c.inner_number = 0), sum(x.failure IS NOT NULL)
                 FROM call_rows c LEFT JOIN content_rows x ON x.id = c.id
                 WHERE c.id >= ?1 << ?3 AND c.id < (?1 + 1) << ?3 AND c.requested_at >= ?2 GROUP BY 1",
            )?;
            let mut rows = statement.query(rusqlite::params![session, since, schema::SHIFT])?;
            while let Some(row) = rows.next()? {
                take(BusyMinute { minute: text(row, 0)?, calls: super::column::count(row, 1)?, failed: super::column::count(row, 2)? });
            }
            Ok(Some(()))
        });
    }

    /// The error line of a call, by its session and its own number in the file.
    pub(crate) fn error(&self, session: super::details::DetailKey, call: i64) -> Option<String> {
        self.ask(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT x.error FROM content_rows x JOIN detail_rows d ON d.session = ?1
                 WHERE x.id = ?3 AND (?2 IS NULL OR d.logs = ?2) AND x.error IS NOT NULL",
            )?;
            let mut rows = statement.query(rusqlite::params![session.session, session.logs, call])?;
            rows.next()?.map(|row| row.get(0)).transpose()
        })
    }
}
