//! File system events: the fast way to learn of changes, but never the only one.
//!
//! Events may be lost, late, or dropped because there are too many. So they only say where to look; the poll looks anyway.

use super::inbox::Inbox;
use super::log_locations::WatchRoot;
use notify::event::{CreateKind, ModifyKind, RemoveKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tooltrail_formats::find;
use tracing::warn;

/// The directories that are watched by file system events.
#[derive(Debug)]
pub(super) struct Events {
    watcher: RecommendedWatcher,
    /// The watched directories, each with the identity it had when it was registered.
    watched: Vec<(WatchRoot, u64)>,
}

impl Events {
    /// Begins with no directory; `None` if the system provides no events.
    pub(super) fn start(inbox: Arc<Inbox>) -> Option<Self> {
        let take = move |event: notify::Result<Event>| match event {
            Ok(event) if event.need_rescan() => inbox.anywhere(),
            Ok(event) => sort(&inbox, event),
            Err(error) => {
                warn!(%error, "events of the file system were lost; looking everywhere");
                inbox.anywhere();
            }
        };
        let watcher = notify::recommended_watcher(take);
        let watcher = watcher.inspect_err(|error| warn!(%error, "the system reports no changes; polling instead")).ok()?;
        Some(Events { watcher, watched: Vec::new() })
    }

    /// Watches these directories, those that are there. One that cannot be watched is polled like all others.
    pub(super) fn watch(&mut self, roots: &[WatchRoot]) {
        for root in roots {
            let known = self.watched.iter().position(|(known, _)| known == root);
            // A directory may be deleted and made again, which ends its events. Its identity shows that, on systems that have one.
            let here = fs::metadata(&root.path).ok().filter(fs::Metadata::is_dir).map(|meta| place(&meta));
            match (known, here) {
                (Some(known), Some(here)) if self.watched.get(known).is_some_and(|(_, place)| *place == here) => {}
                (known, here) => {
                    if let Some(known) = known {
                        self.watched.swap_remove(known);
                        // It is gone, or another one; the system may have noticed by itself.
                        let _ = self.watcher.unwatch(&root.path);
                    }
                    let mode = if root.deep { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
                    let Some(here) = here else { continue };
                    match self.watcher.watch(&root.path, mode) {
                        Ok(()) => self.watched.push((root.clone(), here)),
                        Err(error) => warn!(path = ?root.path, %error, "cannot watch a directory; polling it instead"),
                    }
                }
            }
        }
    }
}

/// The identity of a directory, to recognise one that was replaced.
fn place(meta: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        meta.dev().rotate_left(48) ^ meta.ino()
    }
    #[cfg(not(unix))]
    {
        find::identity(meta)
    }
}

/// Puts an event into the inbox. Most are ignored: a file was opened, or another file beside a log was written.
fn sort(inbox: &Inbox, event: Event) {
    match event.kind {
        EventKind::Access(_) => {}
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any | ModifyKind::Other) => {
            let (logs, others): (Vec<_>, Vec<_>) = event.paths.into_iter().partition(|path| find::concerns_log(path));
            if !logs.is_empty() {
                inbox.written(logs);
            }
            if others.iter().any(|path| is_json(path)) {
                inbox.anywhere();
            }
        }
        // A whole tree of logs may have come or gone with it, and not each file has its own event.
        EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder) | EventKind::Modify(ModifyKind::Name(_)) => {
            inbox.anywhere()
        }
        EventKind::Modify(ModifyKind::Metadata(_)) => {}
        // Not all systems say whether it was a directory, so a path without an extension may be one.
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Any | EventKind::Other => {
            if event.paths.iter().any(|path| find::concerns_log(path) || is_json(path) || path.extension().is_none()) {
                inbox.anywhere();
            }
        }
    }
}

/// Whether a file may be one of those beside a log that say more about it.
fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}
