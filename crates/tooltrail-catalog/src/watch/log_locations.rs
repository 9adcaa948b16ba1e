//! The locations of watched logs: the agents' own places or given paths, and the directories in them.

use crate::Map;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tooltrail_formats::find::{self, Search};
use tooltrail_formats::{FORMATS, Places};

/// The locations of watched logs.
#[derive(Clone, Debug)]
pub enum LogLocations {
    /// In the agents' own places.
    Places(Vec<Places>),
    /// Some files, and directories to any depth.
    Paths(Vec<PathBuf>),
}

/// A directory in which logs may appear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WatchRoot {
    pub(super) path: PathBuf,
    /// Whether also into those below it.
    pub(super) deep: bool,
}

impl LogLocations {
    /// The logs that are there now, as every command finds them.
    pub(super) fn search(&self) -> Search {
        match self {
            LogLocations::Places(places) => find::in_places(places).limit(find::MAX_LOGS),
            LogLocations::Paths(paths) => find::in_paths(paths).limit(find::MAX_LOGS),
        }
    }

    /// The directories to look at, whether or not they are there.
    pub(super) fn roots(&self) -> Vec<WatchRoot> {
        let mut roots: Vec<WatchRoot> = match self {
            LogLocations::Places(places) => {
                let of =
                    |places| FORMATS.iter().flat_map(move |format| format.roots(places).into_iter().map(|path| (path, format.is_deep())));
                places.iter().flat_map(of).map(|(path, deep)| WatchRoot { path, deep }).collect()
            }
            LogLocations::Paths(paths) => paths.iter().flat_map(|path| beside(path)).collect(),
        };
        roots.sort_by(|a, b| a.path.cmp(&b.path));
        roots.dedup();
        roots
    }

    /// The directories that are there, with their times.
    pub(super) fn directories(&self) -> Map<PathBuf, PolledDirectory> {
        let mut found = Map::default();
        for root in self.roots() {
            let mut open = vec![(root.path, 0)];
            while let Some((path, depth)) = open.pop() {
                let changed = changed(&path);
                if root.deep && changed.is_some() {
                    let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                    // Links are not followed: they may lead back here, or into large trees without logs.
                    let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
                    open.extend(below.filter(|path| !find::is_foreign(path)).map(|path| (path, depth + 1)));
                }
                // Missing directories are listed too, so that the poll sees when they are created.
                found.insert(path, PolledDirectory { changed, depth });
            }
        }
        found
    }
}

/// A directory, as it was when it was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct PolledDirectory {
    /// When an entry was last added or removed; `None` if it does not exist.
    pub(super) changed: Option<SystemTime>,
    /// How far below a root it is.
    pub(super) depth: u32,
}

/// When an entry was last added to a directory or removed.
pub(super) fn changed(directory: &Path) -> Option<SystemTime> {
    fs::metadata(directory).ok().filter(fs::Metadata::is_dir)?.modified().ok()
}

/// The directories to watch for a given path: a directory and all below it, or the directory of a file and those that belong to the file.
fn beside(path: &Path) -> Vec<WatchRoot> {
    if path.is_dir() {
        return vec![WatchRoot { path: path.to_owned(), deep: true }];
    }
    // A relative file name has an empty parent, which cannot be watched.
    let parent = path.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let own = FORMATS.iter().filter_map(|format| format.side_directory(path)).map(|path| WatchRoot { path, deep: true });
    parent.map(|parent| WatchRoot { path: parent.to_owned(), deep: false }).into_iter().chain(own).collect()
}
