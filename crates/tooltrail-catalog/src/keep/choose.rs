//! The choice of files to keep: logs and the files that belong to them. And of the moment, where copies are made without a request.
//!
//! A log that is being written to is not copied again and again: it has to be quiet, the longer the larger it is, because a copy costs
//! reading all of it. Unless it is about to be deleted: then nothing is waited for.

use crate::Map;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tooltrail_formats::FORMATS;
use tooltrail_formats::find::{FoundSource, Search};
use tooltrail_formats::retention::Retention;
use tooltrail_model::Time;
use tracing::warn;

/// A log is about to be deleted when it has no longer than this.
pub const SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long a log has to be quiet, for each of so many bytes that it has begun.
const QUIET: Duration = Duration::from_secs(60);
const QUIET_FOR: u64 = 16 << 20;

/// The files beside a log that belong to it: logs of its subagents, saved outputs, copies of files it changed. Works for a kept copy as
/// well as in an agent's own directory.
pub fn belongings(log: &Path) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    for format in FORMATS {
        found.extend(format.sidecars(log).into_iter().filter(|path| is(path, fs::Metadata::is_file)));
        for directory in format.side_directory(log).into_iter().chain(format.backup_directory(log)) {
            if is(&directory, fs::Metadata::is_dir) {
                walk(&directory, &mut |path| found.extend([path]));
            }
        }
    }
    // A format's directory may be the one that the log itself lies in.
    found.remove(log);
    found.into_iter().collect()
}

/// Whether something is what is expected, and no link to it.
fn is(path: &Path, what: fn(&fs::Metadata) -> bool) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| what(&meta))
}

/// All ordinary files below a directory. Links are not followed; what cannot be looked into is passed over.
pub(super) fn walk(directory: &Path, take: &mut dyn FnMut(PathBuf)) {
    walk_all(directory, take, &mut |path, error| warn!(?path, %error, "cannot look into a directory"));
}

/// All ordinary files below a directory like [`walk`], and the directories that cannot be looked into.
pub(super) fn walk_all(directory: &Path, take: &mut dyn FnMut(PathBuf), failed: &mut dyn FnMut(PathBuf, io::Error)) {
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            // Nothing is kept yet, or nothing any more.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                failed(directory, error);
                continue;
            }
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok((path, kind)) if kind.is_dir() => open.push(path),
                Ok((path, kind)) if kind.is_file() => take(path),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => failed(directory.clone(), error),
            }
        }
    }
}

/// The logs that are in their own place.
fn logs<'s>(search: &'s Search, kept: &Path) -> impl Iterator<Item = &'s FoundSource> {
    search.files.iter().filter(move |found| !found.path.starts_with(kept))
}

/// All files to keep, in the order in which they have to be copied: files that belong to logs, then the logs among those, then the other
/// logs. A log whose copy is current is not looked at again, so the files that belong to it have to be copied before it. Within each
/// group the largest come first, so that no thread is left alone with a large file at the end.
pub(super) fn all(search: &Search, kept: &Path) -> [Vec<PathBuf>; 3] {
    let mut sizes: Map<PathBuf, u64> = logs(search, kept).map(|found| (found.path.clone(), found.size)).collect();
    let belonging: BTreeSet<PathBuf> = logs(search, kept).flat_map(|found| belongings(&found.path)).collect();
    let (mut beside, mut parts) = (Vec::new(), Vec::new());
    for path in belonging {
        // Removed from the map, so that the log of a subagent is not copied twice.
        match sizes.remove(&path) {
            Some(size) => parts.push((path, size)),
            None => beside.push((path, 0)),
        }
    }
    [beside, parts, sizes.into_iter().collect()].map(|mut files| {
        files.sort_by(|(a, a_size), (b, b_size)| b_size.cmp(a_size).then_with(|| a.cmp(b)));
        files.into_iter().map(|(path, _)| path).collect()
    })
}

/// The logs to copy now without a request, the most urgent first.
pub(super) fn due(search: &Search, retention: &Retention, now: Time, kept: &Path) -> Vec<PathBuf> {
    let copies: Map<&OsStr, Option<SystemTime>> = search.kept.iter().map(|kept| (kept.original.as_os_str(), kept.copy.modified)).collect();
    let mut due = Vec::new();
    for found in logs(search, kept) {
        let same = copies.get(found.path.as_os_str()).is_some_and(|copy| is_same(*copy, found.size, found.modified));
        // Without a time it cannot be said when a log will be deleted, nor whether it is still being written to.
        let Some(written) = found.written().filter(|_| !same) else { continue };
        let deleted = retention.deleted_at(&found.path, written).unwrap_or(Time::MAX);
        let quiet = QUIET.saturating_mul(u32::try_from(1 + found.size / QUIET_FOR).unwrap_or(u32::MAX));
        if written.micros_until(now) >= micros(quiet) || now.micros_until(deleted) <= micros(SOON) {
            due.push((deleted, &found.path));
        }
    }
    // By the time of deletion: there may be time for only a few of them.
    due.sort();
    due.into_iter().map(|(_, path)| path.clone()).collect()
}

/// Whether a copy is current, which its modification time shows. An emptied file has nothing to keep, so any copy will do.
pub(super) fn is_same(copy: Option<SystemTime>, size: u64, written: Option<SystemTime>) -> bool {
    copy.is_some() && (size == 0 || copy == written)
}

/// A span of time as the model counts it.
pub(super) fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
