//! State shared by all handlers of a set of logs. Pages and the API reach snapshots, open sessions and live changes through it.

use crate::answer::Trouble;
use crate::changed::ChangedFilesCache;
use crate::details;
use crate::filter_cache::FilterCache;
use crate::fresh::{RefreshProgress, SnapshotSource};
use crate::hub::Hub;
use crate::machine::Machine;
use crate::open_sessions::{LogSource, OpenError, OpenSession, OpenSessions, SessionKey};
use crate::pages::home::KnownProblems;
use crate::pipe::Writing;
use crate::snapshot::CatalogueSnapshot;
use crate::tested::Tests;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tooltrail_catalog::watch;
use tooltrail_formats::FORMATS;
use tooltrail_formats::scan::Options;
use tooltrail_model::filter::{self, Filter, Mistake, Setting, Spelling};
use tooltrail_view::line::neutral;

/// Configuration of a set of logs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Prefix of every address: empty, or `/demo`.
    pub root: &'static str,
    /// The catalogue's file.
    pub catalogue: PathBuf,
    /// Directory for temporary files that are deleted with the server.
    pub place: PathBuf,
    /// Options for reading logs.
    pub options: Options,
    /// Whether the logs are invented, which every page says.
    pub demo: bool,
    /// How long a search may take. Then what was found until then is shown.
    pub patience: Duration,
    /// The theme of pages for which the user has chosen none.
    pub theme: DefaultTheme,
}

/// A theme of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultTheme {
    /// That of the system.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl DefaultTheme {
    /// Its word in pages and in the configuration.
    pub fn word(self) -> &'static str {
        match self {
            DefaultTheme::Auto => "auto",
            DefaultTheme::Light => "light",
            DefaultTheme::Dark => "dark",
        }
    }

    /// The theme with this word.
    pub fn of_word(word: &str) -> Option<Self> {
        [DefaultTheme::Auto, DefaultTheme::Light, DefaultTheme::Dark].into_iter().find(|theme| theme.word() == word)
    }
}

/// How long a search may take unless the user says otherwise.
pub const SEARCH_PATIENCE: Duration = Duration::from_secs(30);

/// A set of logs that is shown as pages, with the caches that its handlers share.
pub struct AppState {
    /// Configuration.
    pub setup: Setup,
    /// The machine.
    pub machine: Arc<dyn Machine>,
    /// Known test results of sessions.
    pub(crate) tested: Tests,
    /// The problems of a day, for the home page.
    pub(crate) problems_of_day: KnownProblems,
    /// Results of recent filters.
    pub(crate) filter_cache: FilterCache,
    /// Files changed by the session that the palette last showed.
    pub(crate) changed: ChangedFilesCache,
    /// Limit on the number of files that are written while they are sent.
    pub(crate) writing: Writing,
    open_sessions: OpenSessions,
    fresh: Arc<SnapshotSource>,
    hub: Arc<Hub>,
}

impl AppState {
    /// Starts to read the logs.
    pub fn new(setup: Setup, machine: Arc<dyn Machine>) -> Self {
        // Reading starts at once, so that the first page finds it under way.
        let fresh = SnapshotSource::start(Arc::clone(&machine), &setup);
        details::start(&fresh, Arc::clone(&machine), setup.options.threads);
        let options = watch::WatchOptions {
            scan: setup.options.clone(),
            keep: machine.keep(),
            // The watcher starts from the catalogue and need not read all logs again.
            seed: Some(setup.catalogue.clone()),
            ..watch::WatchOptions::default()
        };
        let hub = Hub::new(Arc::clone(&machine), options, Arc::clone(&fresh));
        let (tested, problems_of_day, filter_cache, changed, writing, open_sessions) = Default::default();
        AppState { setup, machine, tested, problems_of_day, filter_cache, changed, writing, open_sessions, fresh, hub }
    }

    /// An address of these pages: `to("/sessions")`. Every link goes through here, since a server may show several sets of logs.
    pub fn to(&self, path: &str) -> String {
        format!("{}{path}", self.setup.root)
    }

    /// A snapshot of the catalogue, as fresh as it can be without a long wait.
    pub fn snapshot(&self) -> Result<Arc<CatalogueSnapshot>, Trouble> {
        self.fresh.snapshot().ok_or_else(|| match self.fresh.problem() {
            Some(problem) => Trouble::Broken(problem),
            None => Trouble::Later("The logs are still being read. Try again in a moment.".to_owned()),
        })
    }

    /// The latest snapshot, without a look at whether anything has changed.
    pub(crate) fn latest_snapshot(&self) -> Option<Arc<CatalogueSnapshot>> {
        self.fresh.latest_snapshot()
    }

    /// Whether something has changed that a snapshot does not have yet: it is worth asking again in a moment.
    pub(crate) fn is_old(&self, snapshot: &CatalogueSnapshot) -> bool {
        self.fresh.is_old(snapshot)
    }

    /// Whether anything can change here.
    pub(crate) fn is_live(&self) -> bool {
        self.machine.ground().is_some()
    }

    /// Source of live changes.
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Reason why pages may show old data: the last comparison with the logs failed.
    pub(crate) fn problem(&self) -> Option<String> {
        self.fresh.problem()
    }

    /// Progress of the current reading.
    pub(crate) fn work(&self) -> Option<Arc<RefreshProgress>> {
        self.fresh.work()
    }

    /// The place of a session in a snapshot's listing: by its id, or a beginning of it that no other has.
    pub fn session(&self, snapshot: &CatalogueSnapshot, name: &str) -> Result<usize, Trouble> {
        let rows = snapshot.rows();
        match snapshot.listing.sessions_named(&rows, name).as_slice() {
            [place] => Ok(*place),
            [] => Err(Trouble::Missing(format!("No session `{}`.", neutral(name)))),
            several => Err(Trouble::Missing(format!("`{}` matches {} sessions.", neutral(name), several.len()))),
        }
    }

    /// The session that has a call of an id, by its place in a snapshot's listing.
    pub fn session_of_call(&self, snapshot: &CatalogueSnapshot, call: &str) -> Result<Option<usize>, Trouble> {
        let rows = snapshot.rows();
        let catalogue = snapshot.library.catalogue();
        // Open sessions first, because they are in memory: a request for a call mostly comes from the page of its own session.
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

    /// Opens a session by its place in a snapshot's listing, unless it is open already.
    pub fn open_session(&self, snapshot: &Arc<CatalogueSnapshot>, place: usize) -> Result<Arc<OpenSession>, Trouble> {
        let (key, logs) = self.version(snapshot, place)?;
        Ok(self.open_sessions.open(key, logs)?)
    }

    /// A session that is open in a version. Neither the catalogue nor logs are read.
    pub(crate) fn session_in_version(&self, session: &str, version: u64) -> Option<Arc<OpenSession>> {
        self.open_sessions.find(session, version)
    }

    /// Writes a download about a session on a thread of its own.
    pub fn download(
        &self,
        snapshot: &Arc<CatalogueSnapshot>,
        place: usize,
        write: impl FnOnce(&OpenSession) + Send + 'static,
    ) -> Result<(), Trouble> {
        let (key, logs) = self.version(snapshot, place)?;
        Ok(self.open_sessions.download(&key, logs, write)?)
    }

    /// The version of a session, and the source of its logs: the watcher, which has its current state, else the
    /// catalogue.
    fn version(&self, snapshot: &Arc<CatalogueSnapshot>, place: usize) -> Result<(SessionKey, LogSource), OpenError> {
        let rows = snapshot.rows();
        let row = rows.get(place).ok_or(OpenError::Gone)?;
        if let Some(held) = self.hub.session(row.agent, row.session) {
            return Ok((SessionKey::new(row, held.version), LogSource::Watched(held)));
        }
        // The watcher does not know the session, so its logs are deleted, though the snapshot is too old to say so. A session
        // that is already marked as gone may still have kept copies.
        if self.hub.is_watching() && !snapshot.listing.is_gone(place) {
            return Err(OpenError::Gone);
        }
        let bundle = snapshot.listing.bundle(place).ok_or(OpenError::Gone)?;
        Ok((SessionKey::new(row, snapshot.listing.version(place)), LogSource::Stored(Arc::clone(snapshot), bundle)))
    }

    /// Reads a filter as the command line does.
    pub fn filter(&self, query: &str, snapshot: &CatalogueSnapshot) -> Result<Filter, Mistake> {
        let (here, home) = (self.machine.here(), self.machine.home());
        let agents: Vec<&str> = FORMATS.iter().map(|format| format.agent()).collect();
        let setting = Setting {
            here: here.as_deref(),
            home: home.as_deref(),
            now: snapshot.now.time,
            zone: jiff::tz::TimeZone::system(),
            agents: &agents,
            words: Spelling::default(),
            apart: false,
        };
        filter::parse(query, &setting)
    }

    /// Number of worker threads.
    pub fn threads(&self) -> usize {
        self.setup.options.threads
    }
}

impl Drop for AppState {
    fn drop(&mut self) {
        // Its thread holds a reference of its own and would wait for requests forever.
        self.fresh.stop();
    }
}
