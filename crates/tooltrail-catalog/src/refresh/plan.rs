//! The plan of a refresh: which sources are new or changed, and which no longer exist.

use crate::store::{FileStamp, read};
use crate::{Map, Set};
use rusqlite::Connection;
use std::fs;
use std::io::ErrorKind;
use std::time::SystemTime;
use tooltrail_formats::FORMATS;
use tooltrail_formats::find::{self, FoundSource, Problem, Search};
use tooltrail_formats::scan::{may_unpack, spelled};
use tooltrail_model::Time;
use xxhash_rust::xxh3::xxh3_64;

/// The most sources that are read before anything is written.
const MOST: usize = 16 * 1024;

/// Reading more bytes or more sources than this takes memory that a process for a long time should not have taken.
const MUCH: u64 = 256 << 20;
const MANY: usize = 2000;

/// Whether reading some sources may take much memory: they are large, or many, or unpack to nobody knows how much.
pub fn is_much<'f>(sources: impl Iterator<Item = &'f FoundSource> + Clone) -> bool {
    let bytes: u64 = sources.clone().map(|source| source.size).sum();
    bytes > MUCH || sources.clone().count() > MANY || sources.clone().any(may_unpack)
}

/// The work of a refresh.
pub(super) struct RefreshPlan<'a> {
    /// How often the catalogue had been written when the plan was made.
    pub(super) epoch: i64,
    /// The sources in the catalogue, by path.
    pub(super) known: Map<String, read::SourceInfo>,
    /// The sources on the disk, by path, with the stamps to store for them.
    pub(super) present: Map<String, (&'a FoundSource, FileStamp)>,
    /// The paths of the sources that have to be read.
    pub(super) read: Set<String>,
    /// The paths of stored sources that cannot be read now: what is known of them stays.
    pub(super) unreadable: Set<String>,
    /// The ids of stored sources that no longer exist.
    pub(super) lost: Vec<i64>,
}

impl<'a> RefreshPlan<'a> {
    /// Compares the sources on the disk with those in the catalogue. `failed` could not be read, with whether each may still exist; `done` was read a moment ago.
    pub(super) fn make(
        connection: &Connection,
        search: &'a Search,
        now: Time,
        failed: &Map<String, bool>,
        done: &Set<String>,
    ) -> rusqlite::Result<Self> {
        // One transaction, so that the epoch is that of exactly these sources.
        let transaction = connection.unchecked_transaction()?;
        let (epoch, known) = (read::epoch(&transaction)?, read::sources(&transaction)?);
        drop(transaction);
        let mut plan =
            RefreshPlan { epoch, known, present: Map::default(), read: Set::default(), unreadable: Set::default(), lost: Vec::new() };
        for found in &search.files {
            let path = spelled(&found.path);
            if failed.contains_key(&path) {
                continue;
            }
            let stamp = stamp(found);
            let known = plan.known.get(&path).filter(|known| !known.gone);
            if !done.contains(&path) && known.is_none_or(|known| known.stamp != stamp) {
                plan.read.insert(path.clone());
            }
            // A time of 0 never equals a real one, so the next refresh reads such a file again.
            plan.present.insert(path, (found, if is_recent(found, now) { FileStamp { mtime_ns: 0, ..stamp } } else { stamp }));
        }
        let missing = || plan.known.iter().filter(|(path, known)| !known.gone && !plan.present.contains_key(*path));
        let hidden = |path: &str| failed.get(path).copied().unwrap_or_else(|| search.problems.iter().any(|problem| hides(problem, path)));
        plan.unreadable = missing().map(|(path, _)| path).filter(|path| hidden(path)).cloned().collect();
        plan.lost = missing().filter(|(path, _)| !plan.unreadable.contains(*path)).map(|(_, known)| known.id).collect();
        Ok(plan)
    }

    /// Whether reading takes much memory.
    pub(super) fn is_much(&self) -> bool {
        is_much(self.read.iter().filter_map(|path| self.present.get(path)).map(|(found, _)| *found))
    }

    /// Whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        self.read.is_empty() && self.lost.is_empty()
    }

    /// The size of the sources that have to be read.
    pub(super) fn bytes(&self) -> u64 {
        self.read.iter().filter_map(|path| self.present.get(path)).map(|(found, _)| found.size).sum()
    }

    /// Reduces the plan to what fits into one step, the newest sources first. Returns whether nothing was left out.
    pub(super) fn cut(&mut self, bytes: u64) -> bool {
        if self.read.len() <= MOST && self.bytes() <= bytes {
            return true;
        }
        let mut files: Vec<_> = self.read.drain().collect();
        files.sort_by_key(|path| self.present.get(path).map(|(found, _)| std::cmp::Reverse(found.modified)));
        let mut before = 0;
        for path in files {
            // Checked before a file is added, so that a step has at least one file, however large it is.
            if before > bytes || self.read.len() == MOST {
                break;
            }
            before += self.present.get(&path).map_or(0, |(found, _)| found.size);
            self.read.insert(path);
        }
        false
    }
}

/// Whether a source may still exist that was not found: it, or a directory above it, cannot be read.
fn hides(problem: &Problem, path: &str) -> bool {
    let above = spelled(&problem.path);
    let below = path.strip_prefix(above.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\', '#']));
    below && may_exist(problem)
}

/// Whether something that could not be read may exist all the same.
pub(super) fn may_exist(problem: &Problem) -> bool {
    // A directory in its place, or a file in the place of a directory above it, is proof as good as nothing at all.
    !matches!(problem.error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::NotADirectory)
}

/// The stamp by which an unchanged source is recognised: of its file, and of the small files beside it that are read with it.
pub(crate) fn stamp(found: &FoundSource) -> FileStamp {
    let since = found.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let mtime_ns = since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(-1);
    let mut parts = found.identity.to_le_bytes().to_vec();
    // A change of a sidecar changes what the source says, although the log itself stays the same.
    for path in FORMATS.iter().filter(|_| !found.alone).flat_map(|format| format.sidecars(&found.path)) {
        if let Ok(meta) = fs::symlink_metadata(&path) {
            parts.extend(find::identity(&meta).to_le_bytes());
            parts.extend(meta.len().to_le_bytes());
        }
    }
    FileStamp { size: found.size, mtime_ns, identity: xxh3_64(&parts) }
}

/// Whether a file was written so short a time ago that it could be written again without its time changing. It is read once more then.
fn is_recent(found: &FoundSource, now: Time) -> bool {
    // Clocks of files are coarse; and they run on while the files are listed.
    const BEFORE: i64 = 100_000;
    const AFTER: i64 = 10_000_000;
    found.written().is_some_and(|written| (-AFTER..BEFORE).contains(&written.micros_until(now)))
}
