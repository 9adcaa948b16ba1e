//! A cache of the files that a session changed. The palette asks for them again with every letter that the user types.

use std::sync::{Arc, Mutex, PoisonError};

/// A file that a session changed, and the id of the call that did it last.
pub(crate) type File = (String, String);

/// The files of the session that was looked up last. Finding them takes a while in a long session.
#[derive(Default)]
pub(crate) struct ChangedFilesCache {
    held: Mutex<Option<CachedFiles>>,
}

struct CachedFiles {
    session: String,
    version: u64,
    files: Arc<[File]>,
}

impl ChangedFilesCache {
    /// The files of a session in a version, found unless they are cached.
    pub(crate) fn of(&self, session: &str, version: u64, find: impl FnOnce() -> Vec<File>) -> Arc<[File]> {
        let held = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = held().as_ref().filter(|held| held.version == version && held.session == session) {
            return Arc::clone(&held.files);
        }
        // Found without the lock: two requests may do it twice, but none waits for another session.
        let files: Arc<[File]> = find().into();
        *held() = Some(CachedFiles { session: session.to_owned(), version, files: Arc::clone(&files) });
        files
    }
}
