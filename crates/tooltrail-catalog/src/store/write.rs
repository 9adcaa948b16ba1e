//! Writing: sources and sessions replaced in one transaction.

use super::column::place;
use super::{details, pack_nodes, pack_ties, schema};
use crate::Map;
use crate::rows::{StoredCall, StoredCopy, StoredSession, UNREAD, UsageByModel};
use rusqlite::{Connection, Statement, ToSql, Transaction, TransactionBehavior, params};
use std::borrow::Cow;
use tooltrail_model::Time;
use tooltrail_model::link::{Chance, Checkouts, LinkedTurn, SessionPlace, Ties, shorten};
use tooltrail_model::summary::{Ending, Summary};

/// The metadata of a file by which a changed one is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    pub(crate) size: u64,
    pub(crate) mtime_ns: i64,
    pub(crate) identity: u64,
}

/// A source to be stored.
pub(crate) struct NewSource<'a> {
    pub(crate) path: &'a str,
    pub(crate) stamp: FileStamp,
    pub(crate) modified: Option<Time>,
    pub(crate) scanned: Time,
    pub(crate) summary: &'a Summary,
    pub(crate) packed: &'a [u8],
    pub(crate) ties: &'a Ties,
}

/// One transaction that writes.
pub(crate) struct CatalogueWriter<'c> {
    transaction: Transaction<'c>,
}

impl<'c> CatalogueWriter<'c> {
    /// Begins to write, unless another process has written since `epoch`.
    pub(crate) fn begin(connection: &'c mut Connection, epoch: i64) -> rusqlite::Result<Option<Self>> {
        // The write lock is taken at once, so that no other process can write between the check of the epoch and the first
        // row.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = super::read::epoch(&transaction)?;
        Ok((found == epoch).then_some(CatalogueWriter { transaction }))
    }

    /// The file as this transaction sees it.
    pub(crate) fn connection(&self) -> &Connection {
        &self.transaction
    }

    /// Writes everything, and makes the indexes if they are not there yet.
    pub(crate) fn commit(self) -> rusqlite::Result<()> {
        // Other processes see by this number that their plans are out of date.
        self.transaction.execute("UPDATE meta SET value = value + 1 WHERE key = 'epoch'", [])?;
        // A new file gets its indexes after its first rows: sorting once is faster than maintaining them.
        let indexed: bool =
            self.transaction.query_row("SELECT count(*) > 0 FROM sqlite_master WHERE name = 'usage_sessions'", [], |row| row.get(0))?;
        if !indexed {
            self.transaction.execute_batch(schema::INDEXES)?;
        }
        self.transaction.commit()
    }

    /// Stores a source in place of its old row; returns its id.
    pub(crate) fn put_source(&self, source: &NewSource<'_>) -> rusqlite::Result<i64> {
        let NewSource { path, stamp, modified, scanned, summary, packed, ties } = source;
        // An upsert rather than a replacement: the id of a source must stay, because rows of sessions refer to it.
        let tally = &summary.tally;
        let id: i64 = self
            .transaction
            .prepare_cached(
                "INSERT INTO source_rows(path, agent, size, mtime_ns, identity, generation, scanned_at, gone, modified_us, first_us, last_us,
                   bytes, lines, blank, unparsed, unknown_records, calls, orphan_results)
                 VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, 0, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
                 ON CONFLICT(path) DO UPDATE SET agent = ?2, size = ?3, mtime_ns = ?4, identity = ?5, generation = generation + 1,
                   scanned_at = ?6, gone = 0, modified_us = ?7, first_us = ?8, last_us = ?9, bytes = ?10, lines = ?11, blank = ?12,
                   unparsed = ?13, unknown_records = ?14, calls = ?15, orphan_results = ?16
                 RETURNING id",
            )?
            .query_row(
                params![
                    path,
                    summary.agent,
                    whole(stamp.size),
                    stamp.mtime_ns,
                    stamp.identity.cast_signed(),
                    scanned.to_string(),
                    micros(*modified),
                    micros(summary.first),
                    micros(summary.last),
                    whole(tally.bytes),
                    whole(tally.lines),
                    whole(tally.blank),
                    whole(tally.unparsed),
                    whole(tally.unknown_records),
                    whole(summary.calls.len() as u64),
                    whole(summary.orphans.len() as u64),
                ],
                |row| row.get(0),
            )?;
        self.run("INSERT OR REPLACE INTO summary_rows VALUES (?1, ?2)", params![id, packed])?;
        self.run("INSERT OR REPLACE INTO tie_rows VALUES (?1, ?2)", params![id, pack_ties(ties)])?;
        self.run("INSERT OR REPLACE INTO node_rows VALUES (?1, ?2)", params![id, pack_nodes(&summary.nodes)])?;
        // The source may have had keys before and have none now, so an insert alone would leave old ones.
        self.run("DELETE FROM row_key_rows WHERE source = ?1", params![id])?;
        // Only the records of a database have keys.
        if !summary.rows.is_empty() {
            self.run("INSERT INTO row_key_rows VALUES (?1, ?2)", params![id, postcard::to_stdvec(&summary.rows).unwrap_or_default()])?;
        }
        self.run("DELETE FROM issue_rows WHERE source = ?1", params![id])?;
        for issue in &summary.issues {
            self.run(
                "INSERT INTO issue_rows VALUES (?1, ?2, ?3, ?4, ?5)",
                params![id, whole(issue.line), issue.code.word(), issue.call, issue.text],
            )?;
        }
        Ok(id)
    }

    /// Marks a source as gone. The rows of its sessions stay.
    pub(crate) fn lose_source(&self, id: i64) -> rusqlite::Result<()> {
        self.run("UPDATE source_rows SET gone = 1, bundle = 0 WHERE id = ?1", params![id])?;
        self.run("DELETE FROM summary_rows WHERE source = ?1", params![id])?;
        self.run("DELETE FROM tie_rows WHERE source = ?1", params![id])?;
        self.run("DELETE FROM node_rows WHERE source = ?1", params![id])?;
        self.run("DELETE FROM issue_rows WHERE source = ?1", params![id])
    }

    /// Marks a session as gone: no source describes it any more.
    pub(crate) fn lose_session(&self, id: i64) -> rusqlite::Result<()> {
        self.run("UPDATE session_rows SET gone = 1 WHERE id = ?1", params![id])
    }

    /// Deletes sources that are gone and that no session refers to.
    pub(crate) fn tidy(&self) -> rusqlite::Result<()> {
        self.run("DELETE FROM source_rows WHERE gone AND id NOT IN (SELECT source FROM session_source_rows)", [])?;
        self.run("DELETE FROM row_key_rows WHERE source NOT IN (SELECT id FROM source_rows)", [])
    }

    /// Stores the bundle that a source belongs to.
    pub(crate) fn put_bundle(&self, source: i64, bundle: i64) -> rusqlite::Result<()> {
        self.run("UPDATE source_rows SET bundle = ?2 WHERE id = ?1 AND bundle <> ?2", params![source, bundle])
    }

    /// Stores the usage of a bundle that belongs to no session. Such rows have the negative id of the bundle in place of a session's id.
    pub(crate) fn put_stray_usage(&self, bundle: i64, usage: &[UsageByModel<'_>]) -> rusqlite::Result<()> {
        self.put_usage(-bundle, usage)
    }

    /// Deletes the usage of a bundle that belongs to no session.
    pub(crate) fn clear_stray_usage(&self, bundle: i64) -> rusqlite::Result<()> {
        self.run("DELETE FROM usage_rows WHERE session = ?1", params![-bundle])
    }

    /// Gives all sessions the names that depend on the others.
    pub(crate) fn name_sessions(&self) -> rusqlite::Result<()> {
        self.shorten_sessions()?;
        self.place_sessions()
    }

    /// Gives sessions in worktrees the project of their repository's checkout. Those that are gone keep theirs, and show no checkout.
    fn place_sessions(&self) -> rusqlite::Result<()> {
        let all: Vec<(i64, Option<String>, SessionPlace)> = self
            .transaction
            .prepare_cached("SELECT id, project, stand_in, repository FROM session_rows WHERE NOT gone AND repository IS NOT NULL")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, place(row, 1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let checkouts = Checkouts::of(all.iter().map(|(.., place)| place));
        for (id, stored, place) in &all {
            let project = checkouts.project(place);
            if stored.as_deref() != project {
                self.run("UPDATE session_rows SET project = ?2 WHERE id = ?1", params![id, project])?;
            }
        }
        Ok(())
    }

    /// Gives all sessions their short names. Existing sessions are named as if there were no others; the name of one that is gone must not
    /// fit an existing one.
    fn shorten_sessions(&self) -> rusqlite::Result<()> {
        let all: Vec<(i64, String, String, bool)> = self
            .transaction
            .prepare_cached("SELECT id, session, short, gone FROM session_rows")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let ids = |gone: bool| all.iter().filter(|session| gone || !session.3).map(|session| session.1.as_str()).collect::<Vec<_>>();
        // Two sets of names: with sessions that are gone among them, the names of existing ones would be longer than those of
        // a fresh scan.
        let mut there = shorten(&ids(false)).into_iter();
        for ((id, _, short, gone), among_all) in all.iter().zip(shorten(&ids(true))) {
            let name = if *gone { among_all } else { there.next().unwrap_or(among_all) };
            // Most names stay; an update for each would rewrite all sessions at every refresh.
            if **short != *name {
                self.run("UPDATE session_rows SET short = ?2 WHERE id = ?1", params![id, name])?;
            }
        }
        Ok(())
    }

    /// Stores a session in place of its old rows. `ids` has the id of each source in the file.
    pub(crate) fn put_session(&self, known: Option<i64>, session: &StoredSession<'_>, ids: &SourceIds<'_>) -> rusqlite::Result<i64> {
        if let Some(id) = known {
            self.clear(id)?;
        }
        let id = self.put_session_row(known, session)?;
        for &source in session.sources {
            self.run("INSERT OR IGNORE INTO session_source_rows VALUES (?1, ?2)", params![id, ids.of(source)])?;
        }
        self.put_usage(id, session.usage)?;
        let base = id << schema::SHIFT;
        for (place, turn) in (base..).zip(session.turns) {
            self.put_turn(place, turn, ids)?;
        }
        for (place, copy) in (base..).zip(&session.copies) {
            self.put_copy(place, copy, ids)?;
        }
        self.put_calls(base, session, ids)
    }

    /// Stores the calls that a session has now, from a row on. Returns the row behind them.
    pub(crate) fn put_calls(&self, mut next: i64, session: &StoredSession<'_>, ids: &SourceIds<'_>) -> rusqlite::Result<i64> {
        // Prepared once for all calls: looking it up in the cache for each would add a tenth to the time of the rest.
        let mut insert = self.transaction.prepare_cached(PUT_CALL)?;
        for call in &session.calls {
            put_call(&mut insert, next, call, ids)?;
            next += 1;
        }
        if session.fingerprint == UNREAD {
            self.run("UPDATE session_rows SET fingerprint = ?2 WHERE id = ?1", params![next >> schema::SHIFT, UNREAD.cast_signed()])?;
            // No file has this time, so the next refresh reads these sources again although their files have not changed.
            for &source in session.sources {
                self.run("UPDATE source_rows SET mtime_ns = -2 WHERE id = ?1", params![ids.of(source)])?;
            }
        }
        Ok(next)
    }

    /// Removes everything that belongs to a session, but not the session.
    fn clear(&self, id: i64) -> rusqlite::Result<()> {
        // Row ids begin with the id of the session, so its rows are one range and need no index.
        let (first, next) = (id << schema::SHIFT, (id + 1) << schema::SHIFT);
        self.run("DELETE FROM call_rows WHERE id >= ?1 AND id < ?2", params![first, next])?;
        self.run("DELETE FROM copy_rows WHERE id >= ?1 AND id < ?2", params![first, next])?;
        self.run("DELETE FROM turn_rows WHERE id >= ?1 AND id < ?2", params![first, next])?;
        self.run("DELETE FROM usage_rows WHERE session = ?1", params![id])?;
        self.run("DELETE FROM session_source_rows WHERE session = ?1", params![id])?;
        self.clear_details(id)
    }

    /// Removes what follows from the content of a session: one of the logs that it is linked with has changed.
    pub(crate) fn clear_details(&self, id: i64) -> rusqlite::Result<()> {
        details::clear(&self.transaction, id)
    }

    fn put_session_row(&self, known: Option<i64>, session: &StoredSession<'_>) -> rusqlite::Result<i64> {
        let row = &session.open.row;
        let open = &session.open.calls;
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO session_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                   ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, 0, ?29, ?30, ?31) RETURNING id",
            )?
            .query_row(
                params![
                    known,
                    row.agent,
                    row.session,
                    row.short,
                    row.title,
                    row.project,
                    session.directory,
                    row.branch,
                    micros(session.first),
                    as_text(row.started_at),
                    as_text(row.last_at),
                    whole(row.turns),
                    whole(row.calls),
                    json(&row.by_status),
                    json(&row.models),
                    whole(row.usage.input),
                    whole(row.usage.output),
                    whole(row.usage.cache_write_5m),
                    whole(row.usage.cache_write_1h),
                    whole(row.usage.cache_read),
                    whole(open.count),
                    open.question,
                    open.plan,
                    open.asks,
                    open.alone,
                    session.open.ending.map(|ending| spelled(ENDINGS, &ending)),
                    session.fingerprint.cast_signed(),
                    micros(session.newest),
                    session.place.repository,
                    session.place.project.as_ref().filter(|_| session.place.stand_in),
                    whole(row.inner_calls),
                ],
                |row| row.get(0),
            )
    }

    fn put_usage(&self, session: i64, usage: &[UsageByModel<'_>]) -> rusqlite::Result<()> {
        for (model, sum) in usage {
            let tokens = &sum.tokens;
            self.run(
                "INSERT INTO usage_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    session,
                    model,
                    whole(sum.messages),
                    whole(tokens.input),
                    whole(tokens.output),
                    whole(tokens.cache_write_5m),
                    whole(tokens.cache_write_1h),
                    whole(tokens.cache_read)
                ],
            )?;
        }
        Ok(())
    }

    fn put_turn(&self, id: i64, turn: &LinkedTurn<'_>, ids: &SourceIds<'_>) -> rusqlite::Result<()> {
        let (at, time) = (turn.record.at, turn.record.time.map(|time| time.to_string()));
        let (start, end) = (whole(at.span.start), whole(at.span.end));
        self.run(
            "INSERT INTO turn_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![id, ids.of(turn.source), whole(at.line), start, end, time, turn.record.abandoned],
        )
    }

    fn put_copy(&self, id: i64, copy: &StoredCopy<'_>, ids: &SourceIds<'_>) -> rusqlite::Result<()> {
        let at = copy.at;
        let (start, end) = (whole(at.span.start), whole(at.span.end));
        self.run(
            "INSERT INTO copy_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                id,
                copy.call,
                ids.of(copy.source),
                whole(at.line),
                start,
                end,
                ids.of(copy.original_source),
                whole(copy.original.line)
            ],
        )
    }

    fn run(&self, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<()> {
        self.transaction.prepare_cached(sql)?.execute(values).map(drop)
    }
}

const PUT_CALL: &str =
    "INSERT INTO call_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
               ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?44, ?45, ?46,
               ?47, ?48, ?49, ?50, ?51, ?52, ?53, ?54, ?55)";

/// Stores a call.
fn put_call(insert: &mut Statement<'_>, id: i64, call: &StoredCall<'_>, ids: &SourceIds<'_>) -> rusqlite::Result<()> {
    // In two parts, in the order of the columns.
    let next = bind_outcome(insert, id, call, ids)?;
    bind_places(insert, next, call, ids)?;
    insert.raw_execute().map(drop)
}

/// Binds what a call was and how it ended, and returns the place of the next parameter.
fn bind_outcome(insert: &mut Statement<'_>, id: i64, call: &StoredCall<'_>, ids: &SourceIds<'_>) -> rusqlite::Result<usize> {
    let row = &call.open.row;
    let values = params![
        id,
        call.number.call,
        ids.of(call.source),
        row.agent_id,
        row.call,
        row.tool,
        row.server,
        row.kind.word(),
        row.status.word(),
        row.reason.map(|reason| reason.word()),
        call.open.chance.map(|chance| spelled(CHANCES, &chance)),
        evidence_source(call, ids),
        whole(row.evidence.line),
        as_text(row.requested_at),
        as_text(row.completed_at),
        row.duration_ms.map(whole),
        row.run_ms.map(whole),
        row.exit_code,
        row.exit_of,
        // Empty lists are NULL in the file, since nearly all calls have none; the views turn NULL into `[]`.
        (!row.masked.is_empty()).then(|| json(&row.masked)),
        row.purpose,
        row.is_error,
        whole(row.input_bytes),
        row.result_bytes.map(whole),
        row.model,
        row.message,
        row.parallel,
        row.parent_call,
        row.child_session,
        row.background.as_ref().map(json),
        call.open.background,
        (!row.hooks.is_empty()).then(|| json(&row.hooks)),
    ];
    bind(insert, 1, values)
}

/// Binds where a call stands, and what only few calls have.
fn bind_places(insert: &mut Statement<'_>, next: usize, call: &StoredCall<'_>, ids: &SourceIds<'_>) -> rusqlite::Result<()> {
    let row = &call.open.row;
    let result = call.result.map(|(source, at)| (ids.of(source), at));
    let values = params![
        whole(call.at.line),
        whole(call.at.span.start),
        whole(call.at.span.end),
        result.map(|(source, _)| source),
        result.map(|(_, at)| whole(at.line)),
        result.map(|(_, at)| whole(at.span.start)),
        result.map(|(_, at)| whole(at.span.end)),
        row.cwd,
        row.sidechain,
        micros(call.order),
        call.digest.cast_signed(),
        row.about,
        call.number.inner,
        row.unwrapped,
        row.inner.as_ref().map(json),
        row.origin.word(),
        row.input_from.word(),
        row.alias,
        row.replacement.map(|at| whole(at.line)),
        row.replacement.map(|at| whole(at.span.start)),
        row.replacement.map(|at| whole(at.span.end)),
        row.command.as_deref().map(clipped),
        row.path.as_deref().map(clipped),
    ];
    bind(insert, next, values).map(drop)
}

/// A command or path as it is stored: cut where it is very long, with a mark by which that shows ([`is_cut`]).
fn clipped(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default()))
}

/// The longest command or path that is stored whole, in bytes.
const LONGEST: usize = 8 * 1024;

/// Whether a stored command or path is only the beginning of one. The cut may fall up to three bytes before the limit.
pub(crate) fn is_cut(stored: &str) -> bool {
    stored.len() > LONGEST - 4 && stored.ends_with('…')
}

/// Binds values to the parameters from a place on, and returns the place behind them.
fn bind(insert: &mut Statement<'_>, next: usize, values: &[&dyn ToSql]) -> rusqlite::Result<usize> {
    for (place, value) in (next..).zip(values) {
        insert.raw_bind_parameter(place, value)?;
    }
    Ok(next + values.len())
}

/// The id of the source that has the evidence: nearly always that of the request or of the result.
fn evidence_source(call: &StoredCall<'_>, ids: &SourceIds<'_>) -> i64 {
    let row = &call.open.row;
    let own = match &row.result {
        // Pointers are compared, because the rows of one source share its path.
        _ if std::ptr::eq(row.evidence.file, row.request.file) => Some(ids.of(call.source)),
        Some(place) if std::ptr::eq(row.evidence.file, place.file) => call.result.map(|(source, _)| ids.of(source)),
        _ => None,
    };
    own.unwrap_or_else(|| ids.of_path(row.evidence.file))
}

/// The ids of the sources in the file.
pub(crate) struct SourceIds<'a> {
    /// By their place among the linked sources.
    pub(crate) by_place: Vec<i64>,
    /// By path.
    pub(crate) by_path: Map<&'a str, i64>,
}

impl SourceIds<'_> {
    /// The id of a source by its place among the linked sources.
    pub(crate) fn of(&self, place: usize) -> i64 {
        self.by_place.get(place).copied().unwrap_or_default()
    }

    fn of_path(&self, path: &str) -> i64 {
        self.by_path.get(path).copied().unwrap_or_default()
    }
}

/// A time as JSON output spells it, for SQL queries.
fn as_text(time: Option<Time>) -> Option<String> {
    time.map(|time| time.to_string())
}

/// A count as a signed integer, the only kind in SQLite. Larger ones do not occur, and become the largest.
pub(super) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn micros(time: Option<Time>) -> Option<i64> {
    time.map(Time::as_microsecond)
}

fn json(value: &impl serde::Serialize) -> String {
    // Rows are made of texts and numbers; they cannot fail to be written.
    serde_json::to_string(value).unwrap_or_default()
}

/// How a chance is spelled in the file.
const CHANCES: &[(Chance, &str)] = &[(Chance::Works, "works"), (Chance::Alone, "alone"), (Chance::Asks, "asks")];

/// How the end of a conversation is spelled in the file.
const ENDINGS: &[(Ending, &str)] = &[
    (Ending::Told, "told"),
    (Ending::Busy, "busy"),
    (Ending::Spoke, "spoke"),
    (Ending::Interrupted, "interrupted"),
    (Ending::ApiError, "api_error"),
    (Ending::Continued, "continued"),
    (Ending::Archived, "archived"),
];

fn spelled<T: PartialEq>(list: &[(T, &'static str)], value: &T) -> &'static str {
    list.iter().find(|(known, _)| known == value).map_or("", |(_, word)| word)
}

/// The chance of a word.
pub(super) fn chance_of(word: &str) -> Option<Chance> {
    CHANCES.iter().find(|(_, known)| *known == word).map(|(chance, _)| *chance)
}

/// The end of a word.
pub(super) fn ending_of(word: &str) -> Option<Ending> {
    ENDINGS.iter().find(|(_, known)| *known == word).map(|(ending, _)| *ending)
}
