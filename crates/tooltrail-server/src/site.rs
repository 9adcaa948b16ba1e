//! A site: some logs, shown as pages. What pages ask for goes through here.

use crate::answer::Trouble;
use crate::changed::Changed;
use crate::fresh::{Fresh, Work};
use crate::hub::Hub;
use crate::keyed::Keyed;
use crate::machine::Machine;
use crate::moment::Moment;
use crate::pipe::Writing;
use crate::rooms::{From, Key, Room, Rooms, Shut};
use crate::tested::Tests;
use std::path::PathBuf;
use std::sync::Arc;
use tooltrail_catalog::watch;
use tooltrail_formats::FORMATS;
use tooltrail_formats::scan::Options;
use tooltrail_model::filter::{self, Filter, Mistake, Setting, Spelling};
use tooltrail_view::line::neutral;

/// How a site is set up.
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
pub struct Site {
    /// How it is set up.
    pub setup: Setup,
    /// The machine.
    pub machine: Arc<dyn Machine>,
    /// How tests went.
    pub(crate) tested: Tests,
    /// What filters took of all calls.
    pub(crate) keyed: Keyed,
    /// What a session changed.
    pub(crate) changed: Arc<Changed>,
    /// What is being written while it is sent.
    pub(crate) writing: Writing,
    rooms: Rooms,
    fresh: Arc<Fresh>,
    hub: Arc<Hub>,
}

impl Site {
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
        let (tested, keyed, changed, writing, rooms) = Default::default();
        Site { setup, machine, tested, keyed, changed, writing, rooms, fresh, hub }
    }

    /// An address of this site: `to("/sessions")`. Every link goes through here, since a site need not be the only one of its server.
    pub fn to(&self, path: &str) -> String {
        format!("{}{path}", self.setup.root)
    }

    /// What is known now, as fresh as it can be without waiting for long.
    pub fn moment(&self) -> Result<Arc<Moment>, Trouble> {
        self.fresh.moment().ok_or_else(|| match self.fresh.problem() {
            Some(problem) => Trouble::Broken(problem),
            None => Trouble::Later("The logs are still being read. Ask again in a moment.".to_owned()),
        })
    }

    /// What was known last, without looking whether anything has changed.
    pub(crate) fn moment_as_it_is(&self) -> Option<Arc<Moment>> {
        self.fresh.moment_as_it_is()
    }

    /// Whether something has changed that what is shown does not have yet: it is worth asking again in a moment.
    pub(crate) fn is_old(&self) -> bool {
        self.fresh.is_old()
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

    /// The place of a session in a moment's listing: by its id, or a beginning of it that no other has.
    pub fn session(&self, moment: &Moment, name: &str) -> Result<usize, Trouble> {
        let rows = moment.rows();
        match moment.listing.sessions_named(&rows, name).as_slice() {
            [place] => Ok(*place),
            [] => Err(Trouble::Missing(format!("There is no session `{}`.", neutral(name)))),
            several => Err(Trouble::Missing(format!("`{}` could be any of {} sessions.", neutral(name), several.len()))),
        }
    }

    /// The session that has a call of an id, by its place in a moment's listing. Sessions that are open are asked first: who looks at a
    /// call has mostly come from one beside it.
    pub fn session_of_call(&self, moment: &Moment, call: &str) -> Result<Option<usize>, Trouble> {
        let rows = moment.rows();
        let catalogue = moment.library.catalogue();
        for (agent, session) in self.rooms.open() {
            let place = rows.iter().position(|row| row.agent == agent && row.session == session);
            if let Some(place) = place
                && catalogue.has_call(&moment.listing, place, call)?
            {
                return Ok(Some(place));
            }
        }
        Ok(catalogue.session_of_call(&moment.listing, call)?)
    }

    /// Asks something about a session, by its place in a moment's listing. It is opened if it is not.
    pub fn ask<T: Send + 'static>(
        &self,
        moment: &Arc<Moment>,
        place: usize,
        question: impl FnOnce(&Room<'_>) -> T + Send + 'static,
    ) -> Result<T, Trouble> {
        let (key, from) = self.opening(moment, place)?;
        self.rooms.ask(key, from, question).map_err(shut)
    }

    /// Has something done about a session that takes long, without waiting for it.
    pub fn apart(&self, moment: &Arc<Moment>, place: usize, work: impl FnOnce(&Room<'_>) + Send + 'static) -> Result<(), Trouble> {
        let (key, from) = self.opening(moment, place)?;
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
    fn opening(&self, moment: &Arc<Moment>, place: usize) -> Result<(Key, From), Trouble> {
        let gone = || shut(Shut::Gone);
        let rows = moment.rows();
        let row = rows.get(place).ok_or_else(gone)?;
        if let Some(held) = self.hub.session(row.agent, row.session) {
            return Ok((Key::new(row, held.version), From::Watched(held)));
        }
        // What nobody sees any more is gone, though the moment is too old to know it. Of what is gone a copy may be kept.
        if self.hub.is_watching() && !moment.listing.is_gone(place) {
            return Err(gone());
        }
        let bundle = moment.listing.bundle(place).ok_or_else(gone)?;
        Ok((Key::new(row, moment.listing.version(place)), From::Stored(Arc::clone(moment), bundle)))
    }

    /// Reads a filter as the command line does.
    pub fn filter(&self, query: &str, moment: &Moment) -> Result<Filter, Mistake> {
        let (here, home) = (self.machine.here(), self.machine.home());
        let agents: Vec<&str> = FORMATS.iter().map(|format| format.agent()).collect();
        let setting = Setting {
            here: here.as_deref(),
            home: home.as_deref(),
            now: moment.now.time,
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

impl Drop for Site {
    fn drop(&mut self) {
        self.fresh.stop();
    }
}
