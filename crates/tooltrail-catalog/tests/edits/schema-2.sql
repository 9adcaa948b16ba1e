-- The tables of schema 2, as released before a catalogue had two numbers. Held here so that what such a file knows is still carried over.
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
CREATE TABLE tie_rows(source INTEGER PRIMARY KEY, ties BLOB NOT NULL);
CREATE TABLE issue_rows(source INTEGER NOT NULL, line INTEGER NOT NULL, code TEXT NOT NULL, call TEXT, text TEXT NOT NULL);

CREATE TABLE session_rows(
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, session TEXT NOT NULL, short TEXT NOT NULL, title TEXT, project TEXT, directory TEXT,
  branch TEXT, first_us INTEGER, started_at TEXT, last_at TEXT, turns INTEGER NOT NULL, calls INTEGER NOT NULL, by_status TEXT NOT NULL,
  models TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cache_write_5m INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL, cache_read INTEGER NOT NULL,
  open_calls INTEGER NOT NULL, open_question INTEGER NOT NULL, open_plan INTEGER NOT NULL, open_asks INTEGER NOT NULL,
  open_alone INTEGER NOT NULL, ending TEXT, fingerprint INTEGER NOT NULL, newest_us INTEGER, gone INTEGER NOT NULL DEFAULT 0
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
  cwd TEXT, sidechain INTEGER NOT NULL, order_us INTEGER, digest INTEGER NOT NULL
);
CREATE TABLE copy_rows(
  id INTEGER PRIMARY KEY, call TEXT NOT NULL, source INTEGER NOT NULL, line INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
  original_source INTEGER NOT NULL, original_line INTEGER NOT NULL
);
