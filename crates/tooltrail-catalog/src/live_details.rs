//! Details of sessions that may be live. They are stored nowhere, because what they say may change while the logs stay the same; but a
//! failure stays one, so the failures of such sessions are kept in memory, by the version of the session.

use crate::Map;
use crate::details::derive_one;
use crate::library::StoredLibrary;
use crate::store::details::{CallDetails, CommandTally, SessionDetails};
use crate::store::{CatalogueError, SessionListing};
use std::sync::{Arc, Mutex, PoisonError};
use tooltrail_model::row::CallNumber;

/// The most sessions that are kept. More are hardly ever live at once, and all are forgotten then.
const KEPT: usize = 64;

/// What is kept of a session that may be live.
#[derive(Debug, Default)]
pub(crate) struct LiveSession {
    /// Its failures and error lines, by the numbers of the calls.
    pub(crate) calls: Map<CallNumber, CallDetails>,
    /// Its commands.
    pub(crate) commands: Vec<CommandTally>,
}

/// Sessions with their versions, by agent and id.
type KnownSessions = Map<(String, String), (u64, Arc<LiveSession>)>;

/// The details of live sessions that are in memory. Copies share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveDetails(Arc<Mutex<KnownSessions>>);

impl LiveDetails {
    fn find(&self, key: &(String, String), version: u64) -> Option<Arc<LiveSession>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Another version has other records: a failure in it may be resolved by now.
        known.get(key).filter(|(known, _)| *known == version).map(|(_, session)| Arc::clone(session))
    }

    fn put(&self, key: (String, String), version: u64, session: &Arc<LiveSession>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // All of them at once: they can be read again from their logs, so their use need not be tracked.
        if known.len() >= KEPT && !known.contains_key(&key) {
            known.clear();
        }
        known.insert(key, (version, Arc::clone(session)));
    }
}

impl StoredLibrary {
    /// Uses what another library of the same logs has in memory of live sessions, and adds to it.
    pub fn share_memory(&mut self, other: &StoredLibrary) {
        self.live = other.live.clone();
    }

    /// The details of a session that may be live, if they are in memory.
    pub(crate) fn known_live(&self, listing: &SessionListing, session: usize) -> Option<Arc<LiveSession>> {
        let rows = listing.rows_of(&[session]);
        let row = rows.first()?;
        self.live.find(&(row.agent.to_owned(), row.session.to_owned()), listing.version(session))
    }

    /// The details of a session that may be live. Reading them opens its logs, unless they are in memory.
    pub(crate) fn live(&self, listing: &SessionListing, session: usize) -> Result<Option<Arc<LiveSession>>, CatalogueError> {
        if let Some(known) = self.known_live(listing, session) {
            return Ok(Some(known));
        }
        let Some(details) = derive_one(self, listing, session)? else { return Ok(None) };
        let SessionDetails { calls, commands, .. } = details;
        // Only failures are asked for; a long session has thousands of other calls, which would fill the memory.
        let told = calls.into_iter().filter(|call| call.failure.is_some() || call.error.is_some());
        let made = Arc::new(LiveSession { calls: told.map(|call| (call.number, call)).collect(), commands });
        if let Some(row) = listing.rows_of(&[session]).first() {
            self.live.put((row.agent.to_owned(), row.session.to_owned()), listing.version(session), &made);
        }
        Ok(Some(made))
    }
}
