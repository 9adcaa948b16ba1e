//! The schema of the catalogue: tables that only this crate writes, and the views for SQL queries. docs/catalogue.md explains the views.
//!
//! A row of a call or a turn is numbered by its session and its place there, so a session's rows lie together and are replaced together.
//!
//! The details of a session (`detail_rows`, `content_rows`, `request_rows`) follow from the content of its records. They are made later than
//! its rows, so they are not there for a while: `details` says when they count.
//!
//! A file has two numbers: that of its schema, and the fingerprint of the readers that made its rows. A file with other numbers is not
//! thrown away, because it may know sessions whose logs are gone: `carry` takes these over.

use rusqlite::{Connection, OptionalExtension};

/// The number of the schema: tables, their columns and what these mean. Raise it with every change of them; `carry` takes over what an
/// older one knows alone. A new column has to be nullable or have a default, and goes to the end of its table.
pub(crate) const VERSION: u32 = 7;

/// The first schema whose rows can be carried over.
pub(crate) const OLDEST: u32 = 2;

/// The fingerprint of the readers that made the rows (`build.rs`). Rows of other readers are derived again from the logs.
pub(crate) fn readers() -> i64 {
    env!("TOOLTRAIL_READERS").parse::<u64>().unwrap_or_default().cast_signed()
}

/// The relation of a catalogue's file to this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provenance {
    /// Nothing is in it yet.
    Empty,
    /// Its schema and its readers are ours.
    Current,
    /// Its schema is an older one, or its rows are those of other readers.
    Outdated,
    /// Its schema is a newer one, which this program does not know.
    Newer(u32),
}

/// The relation of an open file to this program.
pub(crate) fn provenance(connection: &Connection) -> rusqlite::Result<Provenance> {
    let schema = schema_number(connection)?;
    Ok(match schema {
        0 => Provenance::Empty,
        VERSION => {
            let question = "SELECT value FROM meta WHERE key = 'readers'";
            let made_by: Option<i64> = connection.query_row(question, [], |row| row.get(0)).optional()?;
            if made_by == Some(readers()) { Provenance::Current } else { Provenance::Outdated }
        }
        // A newer program may have stored what this one cannot read, so its file must not be replaced or used.
        newer if newer > VERSION => Provenance::Newer(newer),
        _ => Provenance::Outdated,
    })
}

/// The number of the schema of an open file; 0 where nothing is in it.
pub(crate) fn schema_number(connection: &Connection) -> rusqlite::Result<u32> {
    let stored: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    // Up to schema 2 the number stood in the upper half, above 16 bits of a fingerprint.
    Ok(if stored > u32::from(u16::MAX) { stored >> 16 } else { stored })
}

/// Makes the tables and views in an empty file.
pub(crate) fn make(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.execute("INSERT INTO meta VALUES ('readers', ?1)", [readers()])?;
    connection.execute_batch(VIEWS)?;
    connection.execute_batch(&timed_views(false))?;
    // Last: `provenance` goes by this number, so a file must not have it before everything else is there.
    connection.pragma_update(None, "user_version", VERSION)
}

/// How far the number of a session is shifted in the number of a row that belongs to it.
pub(crate) const SHIFT: u32 = 32;

/// The tables.
pub(crate) const TABLES: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('epoch', 0);

CREATE TABLE source_rows(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, agent TEXT,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, identity INTEGER NOT NULL, generation INTEGER NOT NULL, scanned_at TEXT NOT NULL,
  gone INTEGER NOT NULL DEFAULT 0, bundle INTEGER NOT NULL DEFAULT 0, modified_us INTEGER, first_us INTEGER, last_us INTEGER,
  bytes INTEGER, lines INTEGER, blank INTEGER, unparsed INTEGER, unknown_records INTEGER, calls INTEGER, orphan_results INTEGER
);
CREATE UNIQUE INDEX source_paths ON source_rows(path);
CREATE TABLE summary_rows(source INTEGER PRIMARY KEY, summary BLOB NOT NULL);
CREATE TABLE row_key_rows(source INTEGER PRIMARY KEY, keys BLOB NOT NULL);
CREATE TABLE tie_rows(source INTEGER PRIMARY KEY, ties BLOB NOT NULL);
CREATE TABLE node_rows(source INTEGER PRIMARY KEY, nodes BLOB NOT NULL);
CREATE TABLE issue_rows(source INTEGER NOT NULL, line INTEGER NOT NULL, code TEXT NOT NULL, call TEXT, text TEXT NOT NULL);

CREATE TABLE session_rows(
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, session TEXT NOT NULL, short TEXT NOT NULL, title TEXT, project TEXT, directory TEXT,
  branch TEXT, first_us INTEGER, started_at TEXT, last_at TEXT, turns INTEGER NOT NULL, calls INTEGER NOT NULL, by_status TEXT NOT NULL,
  models TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cache_write_5m INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL, cache_read INTEGER NOT NULL,
  open_calls INTEGER NOT NULL, open_question INTEGER NOT NULL, open_plan INTEGER NOT NULL, open_asks INTEGER NOT NULL,
  open_alone INTEGER NOT NULL, ending TEXT, fingerprint INTEGER NOT NULL, newest_us INTEGER, gone INTEGER NOT NULL DEFAULT 0,
  repository TEXT, stand_in TEXT, inner_calls INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX session_names ON session_rows(session, agent);
CREATE TABLE session_source_rows(session INTEGER NOT NULL, source INTEGER NOT NULL, PRIMARY KEY(session, source)) WITHOUT ROWID;
CREATE TABLE usage_rows(
  session INTEGER NOT NULL, model TEXT, messages INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
  cache_write_5m INTEGER NOT NULL, cache_write_1h INTEGER NOT NULL, cache_read INTEGER NOT NULL
);
CREATE TABLE turn_rows(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, line INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, at TEXT,
  abandoned INTEGER NOT NULL
);
CREATE TABLE call_rows(
  id INTEGER PRIMARY KEY, number INTEGER NOT NULL, source INTEGER NOT NULL, agent_id TEXT, call TEXT NOT NULL, tool TEXT NOT NULL,
  server TEXT, kind TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, open TEXT,
  evidence_source INTEGER NOT NULL, evidence_line INTEGER NOT NULL, requested_at TEXT, completed_at TEXT,
  duration_ms INTEGER, run_ms INTEGER, exit_code INTEGER, exit_of TEXT, masked TEXT, purpose TEXT, is_error INTEGER,
  input_bytes INTEGER NOT NULL, result_bytes INTEGER, model TEXT, message TEXT, parallel INTEGER NOT NULL, parent_call TEXT,
  child_session TEXT, background TEXT, background_open INTEGER NOT NULL, hooks TEXT,
  request_line INTEGER NOT NULL, request_start INTEGER NOT NULL, request_end INTEGER NOT NULL,
  result_source INTEGER, result_line INTEGER, result_start INTEGER, result_end INTEGER,
  cwd TEXT, sidechain INTEGER NOT NULL, order_us INTEGER, digest INTEGER NOT NULL, about TEXT,
  inner_number INTEGER NOT NULL DEFAULT 0, unwrapped TEXT, inner_calls TEXT, origin TEXT NOT NULL DEFAULT 'log',
  input_from TEXT NOT NULL DEFAULT 'request', alias TEXT,
  replacement_line INTEGER, replacement_start INTEGER, replacement_end INTEGER, command TEXT, path TEXT
);
CREATE TABLE copy_rows(
  id INTEGER PRIMARY KEY, call TEXT NOT NULL, source INTEGER NOT NULL, line INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
  original_source INTEGER NOT NULL, original_line INTEGER NOT NULL
);

CREATE TABLE detail_rows(session INTEGER PRIMARY KEY, logs INTEGER NOT NULL, digest TEXT NOT NULL, commands TEXT);
CREATE TABLE content_rows(
  id INTEGER PRIMARY KEY, known INTEGER NOT NULL, error TEXT, failure TEXT, files TEXT, image INTEGER NOT NULL, command TEXT,
  follow_up TEXT
);
CREATE TABLE request_rows(
  id INTEGER PRIMARY KEY, at TEXT, turn INTEGER, agent_id TEXT, sidechain INTEGER NOT NULL, model TEXT, tier TEXT,
  input INTEGER NOT NULL, output INTEGER NOT NULL, cache_write_5m INTEGER NOT NULL, cache_write_1h INTEGER NOT NULL,
  cache_read INTEGER NOT NULL
);
";

/// The indexes, made when the first rows are in: sorting once is quicker than finding a place for each. Calls have none: they are found
/// through their session, and an index over all of them takes as long as a tenth of a first filling.
pub(crate) const INDEXES: &str = "
CREATE INDEX issue_sources ON issue_rows(source);
CREATE INDEX usage_sessions ON usage_rows(session);
CREATE INDEX session_sources_back ON session_source_rows(source);
";

/// The views that need no time. What depends on it, `sessions` and `calls`, is made by [`timed_views`].
pub(crate) const VIEWS: &str = "
CREATE VIEW sources AS
  SELECT id, path AS file, agent, size, mtime_ns, generation, scanned_at, gone, bytes, lines, blank, unparsed, unknown_records, calls,
    orphan_results FROM source_rows;
CREATE VIEW turns AS
  SELECT s.agent, s.session, row_number() OVER (PARTITION BY t.id >> 32 ORDER BY t.id) AS turn, t.at, f.path AS file, t.line,
    t.start AS byte_start, t.end AS byte_end, t.abandoned
  FROM turn_rows t JOIN session_rows s ON s.id = t.id >> 32 JOIN source_rows f ON f.id = t.source WHERE NOT s.gone;
CREATE VIEW usage AS
  SELECT s.agent, s.session, s.project, s.started_at, u.model, u.messages, u.input, u.output, u.cache_write_5m, u.cache_write_1h,
    u.cache_read
  FROM usage_rows u LEFT JOIN session_rows s ON s.id = u.session WHERE s.gone IS NOT 1;
CREATE VIEW copies AS
  SELECT s.agent, s.session, c.call, f.path AS file, c.line, c.start AS byte_start, c.end AS byte_end, o.path AS original_file,
    c.original_line
  FROM copy_rows c JOIN session_rows s ON s.id = c.id >> 32 JOIN source_rows f ON f.id = c.source
    JOIN source_rows o ON o.id = c.original_source WHERE NOT s.gone;
CREATE VIEW requests AS
  SELECT s.agent, s.session, s.project, q.at, q.turn, q.agent_id, q.sidechain, q.model, q.tier, q.input, q.output, q.cache_write_5m,
    q.cache_write_1h, q.cache_read
  FROM request_rows q JOIN session_rows s ON s.id = q.id >> 32 WHERE NOT s.gone;
CREATE VIEW digests AS
  SELECT s.agent, s.session, s.short, json_extract(d.digest, '$.digest') AS digest
  FROM detail_rows d JOIN session_rows s ON s.id = d.session WHERE NOT s.gone;
CREATE VIEW issues AS
  SELECT f.path AS file, i.line, i.code, i.call, i.text FROM issue_rows i JOIN source_rows f ON f.id = i.source
  UNION ALL
  SELECT f.path, c.request_line, 'unanswered_call', c.call, 'no result for ' || c.tool || ': ' || c.status || ' (' || c.reason || ')'
  FROM call_rows c JOIN session_rows s ON s.id = c.id >> 32 JOIN source_rows f ON f.id = c.source
  WHERE c.status = 'unanswered' AND NOT s.gone;
";

/// The views `sessions` and `calls`. Those in the file show every session as ended, because a file cannot know the time; `temporary` ones
/// look into two tables that were filled for this moment.
pub(crate) fn timed_views(temporary: bool) -> String {
    let (create, now) = if temporary { ("CREATE TEMP VIEW", true) } else { ("CREATE VIEW", false) };
    // Rows exist in the temporary tables only where the moment changes something, so the stored value is the default.
    let pick = |settled: &str, stored: &str| if now { format!("coalesce({settled}, {stored})") } else { stored.to_owned() };
    // A LEFT JOIN for the same reason: without a temporary row the stored one must remain.
    let joins = |table: &str, row: &str| if now { format!("LEFT JOIN temp.{table} n ON n.id = {row}") } else { String::new() };
    format!(
        "{create} sessions AS
  SELECT s.agent, s.session, s.short, s.title, s.project, s.branch, s.started_at, s.last_at, {state} AS state, {why} AS state_reason,
    s.turns, s.calls, {by_status} AS by_status, s.models, s.input, s.output, s.cache_write_5m, s.cache_write_1h, s.cache_read,
    (SELECT json_group_array(path) FROM (SELECT f.path FROM main.session_source_rows l JOIN main.source_rows f ON f.id = l.source
      WHERE l.session = s.id ORDER BY f.path)) AS files, s.gone, s.inner_calls
  FROM main.session_rows s {session_now};
{create} calls AS
  SELECT s.agent, s.session, c.agent_id, s.short || ':' || c.number || CASE WHEN c.inner_number > 0 THEN '.' || c.inner_number ELSE '' END AS ref, c.call, c.tool, c.server, c.kind, {status} AS status,
    {reason} AS reason, e.path AS evidence_file, c.evidence_line, c.requested_at, c.completed_at, c.duration_ms, c.run_ms, c.exit_code,
    c.exit_of, coalesce(c.masked, '[]') AS masked, c.purpose, c.is_error, c.input_bytes, c.result_bytes, c.model, c.message, c.parallel,
    c.parent_call, c.child_session, {background} AS background, coalesce(c.hooks, '[]') AS hooks,
    q.path AS request_file, c.request_line, c.request_start, c.request_end,
    r.path AS result_file, c.result_line, c.result_start, c.result_end, c.cwd, c.sidechain, s.project, s.branch,
    c.about, c.unwrapped, c.inner_calls AS \"inner\", c.origin, c.input_from,
    c.command, c.path, x.error, x.failure, x.follow_up
  FROM main.call_rows c JOIN main.session_rows s ON s.id = c.id >> 32 JOIN main.source_rows q ON q.id = c.source
    JOIN main.source_rows e ON e.id = c.evidence_source LEFT JOIN main.source_rows r ON r.id = c.result_source
    LEFT JOIN main.content_rows x ON x.id = c.id {call_now}
  WHERE NOT s.gone;
",
        state = pick("n.state", "'ended'"),
        why = pick("n.state_reason", "'quiet'"),
        by_status = pick("n.by_status", "s.by_status"),
        session_now = joins("now_sessions", "s.id"),
        status = pick("n.status", "c.status"),
        // A call that is at work always has a reason.
        reason = pick("n.reason", "c.reason"),
        background = pick("n.background", "c.background"),
        call_now = joins("now_calls", "c.id"),
    )
}

/// The tables behind the temporary views: what is otherwise than stored at this moment.
pub(crate) const NOW: &str = "
CREATE TEMP TABLE now_sessions(id INTEGER PRIMARY KEY, state TEXT, state_reason TEXT, by_status TEXT);
CREATE TEMP TABLE now_calls(id INTEGER PRIMARY KEY, status TEXT, reason TEXT, background TEXT);
";
