//! `file-history-snapshot` and `file-history-delta`: the copies that Claude Code keeps of files before it changes them, so that a person
//! can go back. They lie in `file-history/<session>/` of the configuration directory; a copy without a name says that the file was not
//! there.

use super::Opened;
use super::content::text;
use crate::changes::Backup;
use serde_json::Value;

/// Whether a record may tell of copies.
pub(super) fn may_hold(record: &[u8]) -> bool {
    memchr::memmem::find(record, b"\"backupFileName\"").is_some() && memchr::memmem::find(record, b"\"file-history-").is_some()
}

/// The copies that a record tells of.
pub(super) fn of(record: Opened<'_>) -> Vec<Backup> {
    let value = record.value;
    match text(value, "type") {
        Some("file-history-delta") => {
            let path = text(value, "trackingPath");
            path.zip(value.get("backup")).and_then(|(path, backup)| one(path, backup)).into_iter().collect()
        }
        Some("file-history-snapshot") => {
            let all = value.get("snapshot").and_then(|snapshot| snapshot.get("trackedFileBackups")).and_then(Value::as_object);
            all.into_iter().flatten().filter_map(|(path, backup)| one(path, backup)).collect()
        }
        _ => Vec::new(),
    }
}

fn one(path: &str, backup: &Value) -> Option<Backup> {
    let name = match backup.get("backupFileName")? {
        Value::Null => None,
        Value::String(name) => Some(name.clone()),
        _ => return None,
    };
    let time = text(backup, "backupTime").and_then(|time| time.parse().ok());
    Some(Backup { path: path.to_owned(), directory: text(backup, "realParentDir").map(str::to_owned), name, time })
}
