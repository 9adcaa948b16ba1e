//! The state that all handlers share: some logs, shown as pages. Whatever pages need goes through here.

use crate::answer::Trouble;
use crate::changed::Changed;
use crate::filter_cache::FilterCache;
use crate::fresh::{Fresh, Work};
use crate::hub::Hub;
use crate::machine::Machine;
use crate::open_sessions::{LogSource, OpenError, OpenSession, OpenSessions, SessionKey};
use crate::pipe::Writing;
use crate::snapshot::Snapshot;
use crate::tested::Tests;
use std::path::PathBuf;
use std::sync::Arc;
use tooltrail_catalog::watch;
use tooltrail_formats::FORMATS;
use tooltrail_formats::scan::Options;
use tooltrail_model::filter::{self, Filter, Mistake, Setting, Spelling};
use tooltrail_view::line::neutral;

/// How the pages of some logs are set up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What every address of it begins with: nothing, or `/demo`.
    pub root: &'static str,
    /// The catalogue's file.
    pub catalogue: PathBuf,
    /// Where files may be made that go with the server.
    pub place: PathBuf,
    /// How logs are read.
    pub options: Options,
    /// Whether the logs are invented, which every page says.
    pub demo: bool,
}

/// Some logs, shown as pages.
pub struct AppState {
    /// How it is set up.
    pub setup: Setup,
    /// The machine.
    pub machine: Arc<dyn Machine>,
    /// How tests went.
    pub(crate) tested: Tests,
    /// What filters took of all calls.
    pub(crate) filter_cache: FilterCache,
    /// What a session changed.
    pub(crate) changed: Changed,
    /// What is being written while it is sent.
    pub(crate) writing: Writing,
    open_sessions: OpenSessions,
    fresh: Arc<Fresh>,
    hub: Arc<Hub>,
}

impl AppState {
    /// Begins to read.
    pub fn new(setup: Setup, machine: Arc<dyn Machine>) -> Self {
        let fresh = Fresh::start(Arc::clone(&machine), &setup);
        let options = watch::WatchOptions {
            scan: setup.options.clone(),
            keep: machine.keep(),
            seed: Some(setup.catalogue.clone()),
            ..watch::WatchOptions::default()
        };
        let hub = Hub::new(Arc::clone(&machine), options, Arc::clone(&fresh));
        let (tested, filter_cache, changed, writing, open_sessions) = Default::default();
        AppState { setup, machine, tested, filter_cache, changed, writing, open_sessions, fresh, hub }
    }

    /// An address of these pages: `to("/sessions")`. Every link goes through here, since a server may show several sets of logs.
    pub fn to(&self, path: &str) -> String {
        format!("{}{path}", self.setup.root)
    }

    /// What is known now, as fresh as it can be without waiting for long.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, Trouble> {
        self.fresh.snapshot().ok_or_else(|| match self.fresh.problem() {
            Some(problem) => Trouble::Broken(problem),
            None => Trouble::Later("The logs are still being read. Ask again in a moment.".to_owned()),
        })
    }

    /// What was known last, without looking whether anything has changed.
    pub(crate) fn latest_snapshot(&self) -> Option<Arc<Snapshot>> {
        self.fresh.latest_snapshot()
    }

    /// Whether something has changed that a snapshot does not have yet: it is worth asking again in a moment.
    pub(crate) fn is_old(&self, snapshot: &Snapshot) -> bool {
        self.fresh.is_old(snapshot)
    }

    /// Whether anything can change here.
    pub(crate) fn is_live(&self) -> bool {
        self.machine.ground().is_some()
    }

    /// What changes, for those who listen.
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Why what is shown may be old: the last comparison with the logs failed.
    pub(crate) fn problem(&self) -> Option<String> {
        self.fresh.problem()
    }

    /// How far reading is, while it goes on.
    pub(crate) fn work(&self) -> Option<Arc<Work>> {
        self.fresh.work()
    }

    /// The place of a session in a snapshot's listing: by its id, or a beginning of it that no other has.
    pub fn session(&self, snapshot: &Snapshot, name: &str) -> Result<usize, Trouble> {
        let rows = snapshot.rows();
        match snapshot.listing.sessions_named(&rows, name).as_slice() {
            [place] => Ok(*place),
            [] => Err(Trouble::Missing(format!("There is no session `{}`.", neutral(name)))),
            several => Err(Trouble::Missing(format!("`{}` could be any of {} sessions.", neutral(name), several.len()))),
        }
    }

    /// The session that has a call of an id, by its place in a snapshot's listing. Sessions that are open are asked first: who looks at a
    /// call has mostly come from one beside it.
    pub fn session_of_call(&self, snapshot: &Snapshot, call: &str) -> Result<Option<usize>, Trouble> {
        let rows = snapshot.rows();
        let catalogue = snapshot.library.catalogue();
        for (agent, session) in self.open_sessions.names() {
            let place = rows.iter().position(|row| row.agent == agent && row.session == session);
            if let Some(place) = place
                && catalogue.has_call(&snapshot.listing, place, call)?
            {
                return Ok(Some(place));
            }
        }
        Ok(catalogue.session_of_call(&snapshot.listing, call)?)
    }

    /// A session by its place in a snapshot's listing, opened unless it is.
    pub fn open_session(&self, snapshot: &Arc<Snapshot>, place: usize) -> Result<Arc<OpenSession>, Trouble> {
        let (key, logs) = self.version(snapshot, place)?;
        Ok(self.open_sessions.open(key, logs)?)
    }

    /// A session that is open in one of its versions. Nothing is looked at.
    pub(crate) fn session_in_version(&self, session: &str, version: u64) -> Option<Arc<OpenSession>> {
        self.open_sessions.find(session, version)
    }

    /// Writes something about a session that takes long, without waiting for it.
    pub fn download(
        &self,
        snapshot: &Arc<Snapshot>,
        place: usize,
        write: impl FnOnce(&OpenSession) + Send + 'static,
    ) -> Result<(), Trouble> {
        let (key, logs) = self.version(snapshot, place)?;
        Ok(self.open_sessions.download(&key, logs, write)?)
    }

    /// The version of a session, and where its logs are: as it is at this moment where it is watched, else as the catalogue knows it.
    fn version(&self, snapshot: &Arc<Snapshot>, place: usize) -> Result<(SessionKey, LogSource), OpenError> {
        let rows = snapshot.rows();
        let row = rows.get(place).ok_or(OpenError::Gone)?;
        if let Some(held) = self.hub.session(row.agent, row.session) {
            return Ok((SessionKey::new(row, held.version), LogSource::Watched(held)));
        }
        // What nobody sees any more is gone, though the snapshot is too old to know it. Of what is gone a copy may be kept.
        if self.hub.is_watching() && !snapshot.listing.is_gone(place) {
            return Err(OpenError::Gone);
        }
        let bundle = snapshot.listing.bundle(place).ok_or(OpenError::Gone)?;
        Ok((SessionKey::new(row, snapshot.listing.version(place)), LogSource::Stored(Arc::clone(snapshot), bundle)))
    }

    /// Reads a filter as the command line does.
    pub fn filter(&self, query: &str, snapshot: &Snapshot) -> Result<Filter, Mistake> {
        let (here, home) = (self.machine.here(), self.machine.home());
        let agents: Vec<&str> = FORMATS.iter().map(|format| format.agent()).collect();
        let setting = Setting {
            here: here.as_deref(),
            home: home.as_deref(),
            now: snapshot.now.time,
            zone: jiff::tz::TimeZone::system(),
            agents: &agents,
            words: Spelling::default(),
        };
        filter::parse(query, &setting)
    }

    /// How many threads there are to work on.
    pub fn threads(&self) -> usize {
        self.setup.options.threads
    }
}

impl Drop for AppState {
    fn drop(&mut self) {
        self.fresh.stop();
    }
}
