//! OpenCode's database: which tables hold sessions, and in which order their rows are records.
//!
//! The data of a row lacks the fields that are columns, so these are put in front of it, spelled as in an export. A part also carries the
//! role of its message, which an export shows only by the order of its records.

use crate::Queries;

/// The tables whose rows are records.
pub(super) const TABLES: [&str; 3] = ["session", "message", "part"];

/// How the database is read.
pub(super) static QUERIES: Queries = Queries {
    tables: &TABLES,
    // Lengths and times come before the data in a row, so that the data itself is not read for this.
    sessions: "
SELECT s.id, coalesce(m.bytes, 0) + coalesce(p.bytes, 0), max(s.time_updated, coalesce(m.last, 0), coalesce(p.last, 0)),
  s.title, s.directory, s.parent_id, m.count, p.count, s.time_updated, m.last, p.last
FROM session s
LEFT JOIN (SELECT session_id, count(*) AS count, max(time_updated) AS last, sum(octet_length(data)) AS bytes FROM message GROUP BY 1) m
  ON m.session_id = s.id
LEFT JOIN (SELECT session_id, count(*) AS count, max(time_updated) AS last, sum(octet_length(data)) AS bytes FROM part GROUP BY 1) p
  ON p.session_id = s.id",
    // Each message before its parts. A part whose message is gone is placed by its own time.
    records: "
SELECT kind, id FROM (
  SELECT 'session' AS kind, id, -1 AS time, '' AS message, '' AS part FROM session WHERE id = ?1
  UNION ALL SELECT 'message', id, time_created, id, '' FROM message WHERE session_id = ?1
  UNION ALL SELECT 'part', p.id, coalesce(m.time_created, p.time_created), p.message_id, p.id
    FROM part p LEFT JOIN message m ON m.id = p.message_id WHERE p.session_id = ?1
) ORDER BY time, message, part",
    rows: &[
        (
            "session",
            "SELECT json_object('id', id, 'parentID', parent_id, 'projectID', project_id, 'slug', slug, 'directory', directory, 'title',
  title, 'version', version, 'time', json_object('created', time_created, 'updated', time_updated)) AS head, '{}' AS data
FROM session WHERE id = ?1",
        ),
        ("message", "SELECT json_object('id', id, 'sessionID', session_id) AS head, data FROM message WHERE id = ?1"),
        (
            "part",
            "SELECT json_object('id', p.id, 'sessionID', p.session_id, 'messageID', p.message_id, 'timeCreated', p.time_created,
  'role', iif(json_valid(m.data), m.data ->> '$.role', NULL)) AS head, p.data
FROM part p LEFT JOIN message m ON m.id = p.message_id WHERE p.id = ?1",
        ),
    ],
};
