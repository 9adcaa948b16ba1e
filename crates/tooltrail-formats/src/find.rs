//! Finding logs: in the agents' own places, or wherever the user points.

use crate::{FORMATS, Places, Registered};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tooltrail_model::Time;

/// A file that may be a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path, as the user gave it or absolute.
    pub path: PathBuf,
    /// Its size.
    pub size: u64,
    /// When it was last written.
    pub modified: Option<SystemTime>,
    /// What tells a file that was replaced, or written to and given its old time, from the one that was there; zero if nothing does.
    pub identity: u64,
}

impl Found {
    /// When it was last written, as the model has it.
    pub fn written(&self) -> Option<Time> {
        self.modified.and_then(|time| jiff::Timestamp::try_from(time).ok()).map(Time::from)
    }
}

/// What was found, and what could not be looked at.
#[derive(Debug, Default)]
pub struct Search {
    /// Files that may be logs, by path, each once.
    pub files: Vec<Found>,
    /// Directories and files that could not be read.
    pub problems: Vec<Problem>,
    /// The directories that were looked into.
    pub looked: Vec<PathBuf>,
}

/// Something that could not be read. The rest was.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`: {error}", path.display())]
pub struct Problem {
    /// What.
    pub path: PathBuf,
    /// Why.
    pub error: std::io::Error,
}

/// Looks into the agents' own places.
pub fn in_places(places: &[Places]) -> Search {
    let mut search = Search::default();
    for places in places {
        for format in FORMATS {
            for root in format.roots(places) {
                if root.is_dir() {
                    search.walk(&root);
                }
                if !search.looked.contains(&root) {
                    search.looked.push(root);
                }
            }
        }
    }
    search.tidy()
}

/// Looks at paths that the user named: files, and directories to any depth.
pub fn in_paths(paths: &[PathBuf]) -> Search {
    let mut search = Search::default();
    for path in paths {
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => search.walk(path),
            Ok(_) if is_secret(path) => {
                let error = std::io::Error::other("it holds keys and is never opened");
                search.problems.push(Problem { path: path.clone(), error });
            }
            Ok(meta) => {
                search.file(path.clone(), &meta);
                // A log brings what lies beside it: its subagents.
                for side in FORMATS.iter().filter_map(|format| format.side_directory(path)) {
                    if fs::symlink_metadata(&side).is_ok_and(|meta| meta.is_dir()) {
                        search.walk(&side);
                    }
                }
            }
            Err(error) => search.problems.push(Problem { path: path.clone(), error }),
        }
        search.looked.push(path.clone());
    }
    // One path may reach into another, or spell the same file in another way.
    if paths.len() > 1 {
        let mut seen = BTreeSet::new();
        search.files.retain(|found| fs::canonicalize(&found.path).map_or(true, |real| seen.insert(real)));
    }
    search.tidy()
}

impl Search {
    fn tidy(mut self) -> Self {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.files.dedup_by(|a, b| a.path == b.path);
        self.drop_twins();
        self
    }

    /// Keeps one of several forms of the same log.
    fn drop_twins(&mut self) {
        let twin = |path: &Path| FORMATS.iter().find_map(|format| format.twin(path));
        let mut best: BTreeMap<PathBuf, u8> = BTreeMap::new();
        for (key, rank) in self.files.iter().filter_map(|found| twin(&found.path)) {
            let held = best.entry(key).or_insert(rank);
            *held = rank.min(*held);
        }
        self.files.retain(|found| twin(&found.path).is_none_or(|(key, rank)| best.get(&key) == Some(&rank)));
    }

    fn file(&mut self, path: PathBuf, meta: &fs::Metadata) {
        if meta.is_file() {
            self.files.push(Found { path, size: meta.len(), modified: meta.modified().ok(), identity: identity(meta) });
        }
    }

    /// Walks a directory, hidden ones too. Links are not followed.
    fn walk(&mut self, root: &Path) {
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            let entries = match fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) => {
                    self.problems.push(Problem { path: directory, error });
                    continue;
                }
            };
            for entry in entries.flatten() {
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => open.push(path),
                    Ok(kind) if kind.is_file() && is_log_name(&path) => match entry.metadata() {
                        Ok(meta) => self.file(path, &meta),
                        Err(error) => self.problems.push(Problem { path, error }),
                    },
                    _ => {}
                }
            }
        }
    }
}

/// A number for a file's place on the disk and the last change of anything about it.
pub fn identity(meta: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let parts = [meta.dev(), meta.ino(), meta.ctime().cast_unsigned(), meta.ctime_nsec().cast_unsigned()];
        // Mixed, because the parts are small numbers that differ little.
        parts.into_iter().fold(1, |all: u64, part| (all ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
    }
    #[cfg(not(unix))]
    {
        let since = meta.created().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Whether a file in a directory may be a log, by its name.
fn is_log_name(path: &Path) -> bool {
    let Some(name) = path.file_name().map(std::ffi::OsStr::to_string_lossy) else { return false };
    name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") || FORMATS.iter().any(|format| format.is_log_name(&name))
}

/// Files that lie beside logs and hold an agent's keys.
fn is_secret(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "auth.json")
}

/// The sessions that agents list as running.
pub fn registered(places: &[Places]) -> Vec<Registered> {
    let mut files = BTreeSet::new();
    let mut found = Vec::new();
    for places in places {
        for format in FORMATS {
            for path in format.registry(places) {
                if files.insert(path.clone()) {
                    found.extend(read_small(&path, 64 * 1024).and_then(|bytes| format.registered(&bytes)));
                }
            }
        }
    }
    found
}

/// The bytes of a small ordinary file; nothing if it is large, no file, or not there.
pub fn read_small(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let meta = fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > limit {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
