//! `file-history-snapshot` and `file-history-delta`: copies of files that Claude Code keeps before it changes them, so that a person can go
//! back. They lie in `file-history/<session>/` of the configuration directory; a copy without a name means that the file did not exist.

use super::content::text;
use super::record::ClaudeRecord;
use crate::changes::Backup;
use crate::value;
use serde_json::Value;

/// Whether a record may mention copies.
pub(super) fn may_hold(record: &[u8]) -> bool {
    // Both are needed: the words of a prompt or a result may hold one of them.
    memchr::memmem::find(record, b"\"backupFileName\"").is_some() && memchr::memmem::find(record, b"\"file-history-").is_some()
}

/// The copies that a record mentions.
pub(super) fn of(record: &ClaudeRecord<'_>) -> Vec<Backup> {
    let Some(span) = record.rare().and_then(|rare| rare.backups.clone()) else { return Vec::new() };
    let told = value::read(record.slice(&span));
    match record.kind.map(|kind| kind.text()).as_deref() {
        Some("file-history-delta") => {
            let path = record.rare_text(|rare| rare.tracking_path);
            path.and_then(|path| one(&path, &told)).into_iter().collect()
        }
        Some("file-history-snapshot") => {
            let all = told.get("trackedFileBackups").and_then(Value::as_object);
            all.into_iter().flatten().filter_map(|(path, backup)| one(path, backup)).collect()
        }
        _ => Vec::new(),
    }
}

fn one(path: &str, backup: &Value) -> Option<Backup> {
    let name = match backup.get("backupFileName")? {
        // `null` says that the file did not exist, which is known; anything else unknown says nothing.
        Value::Null => None,
        Value::String(name) => Some(name.clone()),
        _ => return None,
    };
    let time = text(backup, "backupTime").and_then(|time| time.parse().ok());
    Some(Backup { path: path.to_owned(), directory: text(backup, "realParentDir").map(str::to_owned), name, time })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;
    use serde_json::json;
    use tooltrail_model::At;

    fn told(record: &Value) -> Vec<Backup> {
        let bytes = record.to_string().into_bytes();
        of(&ClaudeRecord::read(Record { at: At::default(), bytes: &bytes }).unwrap())
    }

    #[test]
    fn both_records_tell_of_copies() {
        let backup = json!({"backupFileName": "9f@v1", "version": 1, "backupTime": "2026-03-04T10:00:00.000Z"});
        let snapshot =
            json!({"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": {"src/a.rs": backup, "b": {"backupFileName": 7}}}});
        let gone = json!({"backupFileName": null, "realParentDir": "/srv/app/src"});
        let delta = json!({"type": "file-history-delta", "trackingPath": "src/a.rs", "backup": gone});
        let read = |value: &Value| {
            assert!(may_hold(value.to_string().as_bytes()));
            told(value)
        };
        let expected =
            Backup { path: "src/a.rs".into(), directory: None, name: Some("9f@v1".into()), time: "2026-03-04T10:00:00Z".parse().ok() };
        assert_eq!(read(&snapshot), std::slice::from_ref(&expected));
        let gone = Backup { directory: Some("/srv/app/src".into()), name: None, time: None, ..expected };
        assert_eq!(read(&delta), [gone]);
        assert!(told(&json!({"type": "user"})).is_empty());
    }
}
