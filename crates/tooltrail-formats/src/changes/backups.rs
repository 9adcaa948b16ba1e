//! Copies of files that an agent kept before it changed them. Their texts lie beside the logs and are opened by name alone.

use super::{absolute, paths};
use crate::disk::ReadLogs;
use crate::records;
use tooltrail_model::changes::{Did, FileText, How};
use tooltrail_model::link::Linked;
use tooltrail_model::{At, Time};
use tracing::{debug, warn};

/// A copy that an agent kept of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The file, as the log names it.
    pub path: String,
    /// The directory that it lies in, where the log says so.
    pub directory: Option<String>,
    /// The name of the copy; `None` where the file was not there.
    pub name: Option<String>,
    /// When it was made.
    pub time: Option<Time>,
}

/// A copy, and the record that mentions it.
pub(super) struct RecordedBackup {
    pub(super) source: usize,
    pub(super) at: At,
    pub(super) time: Option<Time>,
    pub(super) path: String,
    pub(super) did: Did,
}

/// The most that is read of a copy.
const MOST: u64 = 32 << 20;

/// The copies of files that the logs of a session mention. A log mentions a copy in every later snapshot; it is returned once.
pub(super) fn of(linked: &Linked<'_>, session: usize, disk: &dyn ReadLogs, wanted: impl Fn(&str) -> bool) -> Vec<RecordedBackup> {
    let Some(session) = linked.sessions.get(session) else { return Vec::new() };
    // A list, because a session has few copies and most records are rejected before this is searched.
    let mut seen: Vec<(Option<Time>, Option<String>, String)> = Vec::new();
    let mut kept = Vec::new();
    for &source in &session.sources {
        let Some(log) = linked.sources.get(source) else { continue };
        let input = match disk.log(&log.path) {
            Ok(input) => input,
            Err(error) => {
                warn!(path = ?log.path, %error, "cannot open a log to look for copies of files");
                continue;
            }
        };
        records::each(input, |format, record, typed| {
            // A search for bytes first: parsing every record of a long log would take seconds.
            if !format.may_hold_backups(record.bytes) {
                return;
            }
            for backup in typed.backups() {
                // Some versions name the directory apart, and then the path may be relative to anything.
                let path = match &backup.directory {
                    Some(directory) => absolute(paths::last(&backup.path), Some(directory)),
                    None => absolute(&backup.path, session.directory.as_deref().or(session.project.as_deref())),
                };
                let key = (backup.time, backup.name.clone(), path.clone());
                if !wanted(&path) || seen.contains(&key) {
                    continue;
                }
                seen.push(key);
                // A copy that was deleted says nothing; one that is not UTF-8 cannot be shown as text.
                let text = match &backup.name {
                    None => Some(FileText::Absent),
                    Some(name) => {
                        let copy = disk.backup(&log.path, name, MOST);
                        let copy =
                            copy.inspect_err(|error| debug!(log = ?log.path, copy = ?name, %error, "cannot read the copy of a file"));
                        copy.ok().and_then(whole).map(FileText::text)
                    }
                };
                kept.extend(text.map(|text| RecordedBackup {
                    source,
                    at: record.at,
                    time: backup.time,
                    path,
                    did: Did::Saw(text, How::Backup),
                }));
            }
        });
    }
    kept
}

/// All of a text, if it was read to its end.
fn whole((bytes, size): (Vec<u8>, u64)) -> Option<String> {
    (bytes.len() as u64 == size).then_some(bytes).and_then(|bytes| String::from_utf8(bytes).ok())
}
