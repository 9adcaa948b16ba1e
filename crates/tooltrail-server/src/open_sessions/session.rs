//! An open session: its logs, linked, and read when a page needs more than its calls.
//!
//! Books borrow from links, and links from logs. [`OpenSession`] owns all three in self-referencing cells, so it is a
//! value like any other: shared by an [`Arc`], used on any thread, freed after its last user. Borrowed data is reached
//! through [`OpenSession::with`] only.

use super::change_index::ChangeIndex;
use super::{OpenError, SessionKey};
use crate::snapshot::CatalogueSnapshot;
use self_cell::self_cell;
use std::sync::{Arc, OnceLock};
use tooltrail_catalog::library::Library;
use tooltrail_catalog::watch::WatchedSession;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::transcript::{RecordIndexCache, SessionBook};
use tooltrail_model::book::Book;
use tooltrail_model::link::{Linked, LinkedSession, Linker, Now};
use tooltrail_view::render::html::window::Window;

/// Source of a session's logs.
pub enum LogSource {
    /// The catalogue, by their bundle.
    Stored(Arc<CatalogueSnapshot>, i64),
    /// A watcher, which has just looked at them.
    Watched(WatchedSession),
}

impl LogSource {
    /// Loads the logs, with the time that states are relative to.
    fn load(self) -> Result<(Arc<Linker>, Now), OpenError> {
        match self {
            // The snapshot is dropped at the end of this arm: it keeps the catalogue as it was, and an open session may
            // live much longer.
            LogSource::Stored(snapshot, bundle) => {
                let linker = snapshot.library.open(bundle).map_err(OpenError::Catalogue)?;
                Ok((linker, snapshot.now.clone()))
            }
            LogSource::Watched(held) => Ok((held.linker, held.now)),
        }
    }
}

/// Everything that links and books borrow from.
struct SessionLogs {
    linker: Arc<Linker>,
    now: Now,
    disk: Disk,
    notes: Arc<RecordIndexCache>,
}

self_cell! {
    /// The logs and their links.
    struct LinkedLogs {
        owner: SessionLogs,
        #[covariant]
        dependent: Linked,
    }
}

self_cell! {
    /// Logs and links, with everything that was read of them so far.
    struct ReadLogs {
        owner: LinkedLogs,
        // Filled later through a shared reference, so its lifetime cannot be shortened.
        #[not_covariant]
        dependent: SessionReader,
    }
}

/// A session whose logs are linked. Later changes to its logs do not change it.
pub struct OpenSession(ReadLogs);

impl OpenSession {
    /// Opens a version of a session. `notes`: facts about its records from an older version.
    pub(super) fn open(key: &SessionKey, logs: LogSource, notes: Arc<RecordIndexCache>) -> Result<Self, OpenError> {
        let (linker, now) = logs.load()?;
        let logs = LinkedLogs::new(SessionLogs { linker, now, disk: Disk::default(), notes }, |logs| logs.linker.link());
        // Logs are stored in bundles that may contain several sessions, so this one has to be found among them.
        let is_it = |session: &LinkedSession| session.agent == key.agent && *session.id == *key.session;
        let session = logs.borrow_dependent().sessions.iter().position(is_it).ok_or(OpenError::Missing)?;
        Ok(OpenSession(ReadLogs::new(logs, |logs| SessionReader {
            linked: logs.borrow_dependent(),
            session,
            now: &logs.borrow_owner().now,
            disk: &logs.borrow_owner().disk,
            version: key.version,
            notes: &logs.borrow_owner().notes,
            book: OnceLock::new(),
            outline: OnceLock::new(),
            window: OnceLock::new(),
            changes: OnceLock::new(),
        })))
    }

    /// Gives access to the session. Whatever is read meanwhile stays in memory for others.
    pub fn with<T>(&self, read: impl FnOnce(&SessionReader<'_>) -> T) -> T {
        self.0.with_dependent(|_, reader| read(reader))
    }
}

/// A session for its users: links are ready, everything else is read once, when it is first needed.
pub struct SessionReader<'a> {
    /// The logs that the session is linked with.
    pub linked: &'a Linked<'a>,
    /// Its place in `linked.sessions`.
    pub session: usize,
    /// Time at which it was opened.
    pub now: &'a Now,
    /// Access to the files of its logs.
    pub disk: &'a Disk,
    /// Number of its version, which is part of the addresses on its pages.
    pub version: u64,
    notes: &'a RecordIndexCache,
    book: OnceLock<SessionBook<'a>>,
    outline: OnceLock<SessionBook<'a>>,
    window: OnceLock<Window>,
    changes: OnceLock<ChangeIndex>,
}

impl<'a> SessionReader<'a> {
    /// The whole session. Its logs are read for it.
    pub fn book(&self) -> &SessionBook<'a> {
        self.book.get_or_init(|| SessionBook::read_on(self.linked, self.session, self.now, self.disk, self.notes))
    }

    /// The calls without the messages. No log has to be read for that.
    pub fn calls(&self) -> &SessionBook<'a> {
        let outline = || SessionBook::outline(self.linked, &[self.session], self.now, self.disk);
        // Once the whole book is read it serves as well, and the outline need not be made.
        self.book.get().unwrap_or_else(|| self.outline.get_or_init(outline))
    }

    /// The layout of the session's page, by which its parts are found.
    pub fn window(&self) -> &Window {
        self.window.get_or_init(|| Window::new(self.book().transcript()))
    }

    /// The files that it changed.
    pub fn changes(&self) -> &ChangeIndex {
        self.changes.get_or_init(|| ChangeIndex::read(self.book()))
    }
}
