//! The state that all handlers share: some logs, shown as pages. Whatever pages need goes through here.

use crate::answer::Trouble;
use crate::changed::Changed;
use crate::filter_cache::FilterCache;
use crate::fresh::{Fresh, Work};
use crate::hub::Hub;
use crate::machine::Machine;
use crate::pipe::Writing;
use crate::rooms::{From, Key, Room, Rooms, Shut};
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
    pub(crate) changed: Arc<Changed>,
    /// What is being written while it is sent.
    pub(crate) writing: Writing,
    rooms: Rooms,
    fresh: Arc<Fresh>,
    hub: Arc<Hub>,
}

impl AppState {
    /// Begins to read.
    pub fn new(setup: Setup, machine: Arc<dyn Machine>) -> Self {
        let fresh = Fresh::start(Arc::clone(&machine), &setup);
        let options = watch::Options {
            scan: setup.options.clone(),
            keep: machine.keep(),
            seed: Some(setup.catalogue.clone()),
            ..watch::Options::default()
        };
        let hub = Hub::new(Arc::clone(&machine), options, Arc::clone(&fresh));
        let (tested, filter_cache, changed, writing, rooms) = Default::default();
        AppState { setup, machine, tested, filter_cache, changed, writing, rooms, fresh, hub }
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
        for (agent, session) in self.rooms.open() {
            let place = rows.iter().position(|row| row.agent == agent && row.session == session);
            if let Some(place) = place
                && catalogue.has_call(&snapshot.listing, place, call)?
            {
                return Ok(Some(place));
            }
        }
        Ok(catalogue.session_of_call(&snapshot.listing, call)?)
    }

    /// Asks something about a session, by its place in a moment's listing. It is opened if it is not.
    pub fn ask<T: Send + 'static>(
        &self,
        snapshot: &Arc<Snapshot>,
        place: usize,
        question: impl FnOnce(&Room<'_>) -> T + Send + 'static,
    ) -> Result<T, Trouble> {
        let (key, from) = self.opening(snapshot, place)?;
        self.rooms.ask(key, from, question).map_err(shut)
    }

    /// Has something done about a session that takes long, without waiting for it.
    pub fn apart(&self, snapshot: &Arc<Snapshot>, place: usize, work: impl FnOnce(&Room<'_>) + Send + 'static) -> Result<(), Trouble> {
        let (key, from) = self.opening(snapshot, place)?;
        self.rooms.apart(key, from, work).map_err(shut)
    }

    /// Asks something about a session in one of its versions, if that is open; gives the question back if not. Nothing is looked at.
    pub(crate) fn ask_open<T, Q>(&self, session: &str, version: u64, question: Q) -> Result<Result<T, Trouble>, Q>
    where
        T: Send + 'static,
        Q: FnOnce(&Room<'_>) -> T + Send + 'static,
    {
        self.rooms.ask_open(session, version, question).map(|answer| answer.map_err(shut))
    }

    /// How a session is opened: as it is at this moment where it is watched, else as the catalogue knows it.
    fn opening(&self, snapshot: &Arc<Snapshot>, place: usize) -> Result<(Key, From), Trouble> {
        let gone = || shut(Shut::Gone);
        let rows = snapshot.rows();
        let row = rows.get(place).ok_or_else(gone)?;
        if let Some(held) = self.hub.session(row.agent, row.session) {
            return Ok((Key::new(row, held.version), From::Watched(held)));
        }
        // What nobody sees any more is gone, though the snapshot is too old to know it. Of what is gone a copy may be kept.
        if self.hub.is_watching() && !snapshot.listing.is_gone(place) {
            return Err(gone());
        }
        let bundle = snapshot.listing.bundle(place).ok_or_else(gone)?;
        Ok((Key::new(row, snapshot.listing.version(place)), From::Stored(Arc::clone(snapshot), bundle)))
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

fn shut(why: Shut) -> Trouble {
    match why {
        Shut::Gone => Trouble::Missing("The logs of this session are gone: its agent has deleted them.".to_owned()),
        Shut::Busy => Trouble::Later("Too much is being written already. Ask again when that is done.".to_owned()),
        Shut::Broken => Trouble::Broken(
            "This could not be made of the session's logs. Load the page again; if that does not help, `tooltrail check` says what is wrong with them."
                .to_owned(),
        ),
    }
}

impl Drop for AppState {
    fn drop(&mut self) {
        self.fresh.stop();
    }
}
