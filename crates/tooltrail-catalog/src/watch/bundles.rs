//! The sources, by bundle: linked ones together, all others apart. When a source changes, only its bundle is linked again.
//!
//! A bundle whose sources are all current in the catalogue may be unloaded (`unloaded`): only their signs of life and the names of their
//! sessions are in memory. It is loaded when its sources are needed.
//!
//! Bundles are joined when a source turns out to tie them together. They are not split again when it no longer does: a bundle that is
//! too large is slower, but gives the same rows.

mod unloaded;

use super::catalogue_baseline::{CatalogueBaseline, SourceInfo};
use super::fingerprints::RowFingerprints;
use crate::{Map, Set};
use std::sync::Arc;
use tooltrail_formats::scan::Options;
use tooltrail_model::Time;
use tooltrail_model::event::Id;
use tooltrail_model::link::{Linker, Now, SessionKey, SessionNames, SessionPlace, Source, Ties};

/// How many bundles without signs of life keep their fingerprints.
const REMEMBERED: usize = 64;

/// All sources, by bundle.
#[derive(Debug, Default)]
pub(super) struct Bundles {
    all: Vec<WatchedBundle>,
    /// For each bundle the one that it became part of, or itself.
    part_of: Vec<u32>,
    paths: Map<Box<str>, u32>,
    /// Which bundle a name belongs to.
    names: Map<u64, u32>,
    /// Names from the catalogue with their bundles, sorted by name: a sorted list takes far less memory than a map.
    seeded: Vec<(u64, u32)>,
    /// The catalogue that holds the sources of bundles that are unloaded.
    seed: Option<CatalogueBaseline>,
    /// How logs are read.
    options: Options,
    /// Records that a title somewhere is for.
    leaves: Map<Id, u32>,
    session_names: Arc<SessionNames>,
    /// The bundles that have changed and whose differences have to be published.
    touched: Set<u32>,
    /// Whether there are sessions without a short name.
    unnamed: bool,
    clock: u64,
}

/// A bundle.
#[derive(Debug, Default)]
pub(super) struct WatchedBundle {
    /// Its sources. They may be shared with readers, which keep the old state: then they are replaced rather than changed.
    pub(super) linker: Arc<Linker>,
    /// The sources that the catalogue has as they are, by path. Of a bundle that is unloaded those are all.
    stored: Map<Box<str>, SourceInfo>,
    pub(super) unloaded: bool,
    /// The fingerprints of the rows that were last published; `None` if there were none.
    pub(super) fingerprints: Option<RowFingerprints>,
    pub(super) sessions: Map<SessionKey, SessionPlace>,
    /// Whether any of its sources has changed since its rows were last published.
    pub(super) rewritten: bool,
    used: u64,
}

impl WatchedBundle {
    /// When the last thing in it happened.
    pub(super) fn last(&self) -> Option<Time> {
        self.signs().filter_map(|(_, last)| last).max()
    }

    /// Whether something in it may be running.
    pub(super) fn may_live(&self, now: &Now) -> bool {
        self.signs().any(|(modified, last)| now.is_fresh(modified, last)) || self.sessions.keys().any(|(_, id)| now.live.contains_key(id))
    }

    /// The signs of life of its sources: when the file was last written, and the last record.
    fn signs(&self) -> impl Iterator<Item = (Option<Time>, Option<Time>)> {
        let stored = self.stored.values().filter(|_| self.unloaded).map(|stored| (stored.modified, stored.last));
        self.linker.sources().map(|source| (source.modified, source.summary.last)).chain(stored)
    }

    /// Its sources.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.linker.sources().map(|source| &*source.path).chain(self.stored.keys().filter(|_| self.unloaded).map(|path| &**path))
    }
}

impl WatchedBundle {
    /// Its sources without one of them, to be changed. If readers share them they are copied, but not that one: it may be nearly all of
    /// them.
    fn without(&mut self, path: &str, names: &Arc<SessionNames>) -> &mut Linker {
        if Arc::get_mut(&mut self.linker).is_none() {
            let mut linker = Linker::default();
            linker.call_sessions(Arc::clone(names));
            self.linker.sources().filter(|source| *source.path != *path).for_each(|source| linker.put(source.clone()));
            self.linker = Arc::new(linker);
        }
        let linker = Arc::make_mut(&mut self.linker);
        linker.remove(path);
        linker
    }
}

impl Bundles {
    /// No bundles. Logs that have to be read are read like this.
    pub(super) fn new(options: Options) -> Self {
        Bundles { options, ..Bundles::default() }
    }

    /// Adds or replaces a source. `before` is the moment for which rows were last published, if any were.
    pub(super) fn put(&mut self, source: Source, before: Option<&Now>) {
        let ties = Ties::of(&source.summary);
        let mut own = match self.paths.get(&source.path) {
            Some(&known) => self.whole(known),
            None => self.add(),
        };
        self.touch(own, before);
        for name in ties.names {
            match self.named(name) {
                Some(other) => own = self.join(own, other, before),
                None => drop(self.names.insert(name, own)),
            }
        }
        // Titles for records of other logs are rare; without them the set of all records is not needed.
        let nodes: Set<Id> = if self.leaves.is_empty() { Set::default() } else { source.summary.nodes.iter().copied().collect() };
        let wanted: Vec<u32> = self.leaves.iter().filter(|(leaf, _)| nodes.contains(*leaf)).map(|(_, bundle)| *bundle).collect();
        for other in wanted {
            own = self.join(own, other, before);
        }
        // Only new titles: the sources that the others are for have been joined already.
        let new = ties.leaves.iter().copied().filter(|leaf| !self.leaves.contains_key(leaf)).collect();
        for other in self.holders(&new) {
            own = self.join(own, other, before);
        }
        for leaf in ties.leaves {
            let other = self.leaves.get(&leaf).copied().unwrap_or(own);
            own = self.join(own, other, before);
            self.leaves.insert(leaf, own);
        }
        self.paths.insert(source.path.clone(), own);
        if let Some(bundle) = self.all.get_mut(own as usize) {
            bundle.stored.remove(&source.path);
            bundle.without(&source.path, &self.session_names).put(source);
            bundle.rewritten = true;
        }
    }

    /// Removes a source.
    pub(super) fn remove(&mut self, path: &str, before: Option<&Now>) {
        let Some(bundle) = self.paths.remove(path).map(|known| self.whole(known)) else { return };
        self.touch(bundle, before);
        if let Some(bundle) = self.all.get_mut(bundle as usize) {
            bundle.stored.remove(path);
            bundle.without(path, &self.session_names);
            bundle.rewritten = true;
        }
    }

    /// Gives all sessions their current names. A bundle whose session gets another short name or project is touched.
    pub(super) fn name_sessions(&mut self, before: Option<&Now>) {
        let mut new = std::mem::take(&mut self.unnamed);
        for &number in &self.touched {
            let Some(bundle) = self.all.get_mut(number as usize) else { continue };
            let sessions = bundle.linker.places();
            new |= bundle.sessions != sessions;
            bundle.sessions = sessions;
        }
        if !new {
            return;
        }
        let names = Arc::new(SessionNames::among(self.all.iter().flat_map(|bundle| &bundle.sessions)));
        let old = Arc::clone(&self.session_names);
        let is_renamed = |(key, place): (&SessionKey, &SessionPlace)| {
            let short = old.shorts.get(key);
            short.is_some() && (short != names.shorts.get(key) || old.checkouts.project(place) != names.checkouts.project(place))
        };
        let renamed = |bundle: &WatchedBundle| bundle.sessions.iter().any(is_renamed);
        let renamed: Vec<u32> = (0..).zip(&self.all).filter(|(_, bundle)| renamed(bundle)).map(|(number, _)| number).collect();
        // Before the names change: rows that were published had the old ones.
        renamed.into_iter().for_each(|number| self.touch(number, before));
        self.session_names = Arc::clone(&names);
        self.all.iter_mut().for_each(|bundle| Arc::make_mut(&mut bundle.linker).call_sessions(Arc::clone(&names)));
    }

    /// The bundle of a source.
    pub(super) fn of(&self, path: &str) -> Option<u32> {
        self.paths.get(path).copied().map(|known| self.whole(known))
    }

    /// The short name of a session of a bundle, and its project.
    pub(super) fn names_of(&self, number: u32, agent: &str, session: &str) -> (&str, Option<&str>) {
        let mut sessions = self.get(number).into_iter().flat_map(|bundle| &bundle.sessions);
        let Some((key, place)) = sessions.find(|(key, _)| key.0 == agent && *key.1 == *session) else { return ("", None) };
        (self.session_names.shorts.get(key).map_or("", |short| short), self.session_names.checkouts.project(place))
    }

    /// The bundle of a session.
    pub(super) fn of_session(&self, agent: &str, session: &str) -> Option<u32> {
        let is_it = |key: &SessionKey| key.0 == agent && *key.1 == *session;
        self.iter().find(|(_, bundle)| bundle.sessions.keys().any(is_it)).map(|(number, _)| number)
    }

    /// A bundle by its number.
    pub(super) fn get(&self, number: u32) -> Option<&WatchedBundle> {
        self.all.get(number as usize)
    }

    /// A bundle by its number, to be changed.
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut WatchedBundle> {
        self.all.get_mut(number as usize)
    }

    /// All bundles that hold something.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &WatchedBundle)> {
        (0..).zip(&self.all).filter(|(_, bundle)| bundle.paths().next().is_some())
    }

    /// Takes the list of touched bundles.
    pub(super) fn take_touched(&mut self) -> Vec<u32> {
        let mut touched: Vec<u32> = std::mem::take(&mut self.touched).into_iter().collect();
        touched.sort_unstable();
        touched
    }

    /// Marks a bundle as changed, and takes the fingerprints of its rows before they change.
    pub(super) fn touch(&mut self, number: u32, before: Option<&Now>) {
        self.touched.insert(number);
        self.load(number);
        let Some(bundle) = self.all.get_mut(number as usize) else { return };
        // Fingerprints of an earlier moment stay: they are what subscribers know.
        if let (None, Some(before)) = (&bundle.fingerprints, before) {
            bundle.fingerprints = Some(RowFingerprints::of(&bundle.linker.link(), before));
        }
    }

    /// Drops the fingerprints of bundles that have been idle for long.
    pub(super) fn forget(&mut self, now: &Now) {
        self.unload_idle(now);
        let idle = |bundle: &&mut WatchedBundle| bundle.fingerprints.as_ref().is_some_and(|fingerprints| !fingerprints.is_alive());
        let mut held: Vec<&mut WatchedBundle> = self.all.iter_mut().filter(idle).collect();
        held.sort_by_key(|bundle| std::cmp::Reverse(bundle.used));
        held.into_iter().skip(REMEMBERED).for_each(|bundle| bundle.fingerprints = None);
    }

    fn add(&mut self) -> u32 {
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let mut linker = Linker::default();
        linker.call_sessions(Arc::clone(&self.session_names));
        self.all.push(WatchedBundle { linker: Arc::new(linker), ..WatchedBundle::default() });
        self.part_of.push(number);
        number
    }

    /// The bundle that another one is part of.
    fn whole(&self, mut number: u32) -> u32 {
        while let Some(&next) = self.part_of.get(number as usize).filter(|&&next| next != number) {
            number = next;
        }
        number
    }

    /// Joins two bundles.
    fn join(&mut self, one: u32, other: u32, before: Option<&Now>) -> u32 {
        let (one, other) = (self.whole(one), self.whole(other));
        if one == other {
            return one;
        }
        self.touch(one, before);
        self.touch(other, before);
        // The lower number stays, so that the links in `part_of` always lead downwards and `whole` ends.
        let (to, from) = (one.min(other), one.max(other));
        let Some(gone) = self.all.get_mut(from as usize).map(std::mem::take) else { return to };
        // Maps still hold the old number; `whole` follows this link instead of all entries being rewritten.
        if let Some(place) = self.part_of.get_mut(from as usize) {
            *place = to;
        }
        self.touched.remove(&from);
        if let Some(bundle) = self.all.get_mut(to as usize) {
            bundle.sessions.extend(gone.sessions);
            bundle.stored.extend(gone.stored);
            match (&mut bundle.fingerprints, gone.fingerprints) {
                (Some(fingerprints), Some(more)) => fingerprints.join(more),
                (fingerprints, more) => *fingerprints = fingerprints.take().or(more),
            }
            bundle.rewritten |= gone.rewritten;
            let linker = Arc::make_mut(&mut bundle.linker);
            for source in Arc::unwrap_or_clone(gone.linker).into_sources() {
                self.paths.insert(source.path.clone(), to);
                linker.put(source);
            }
        }
        to
    }

    /// The bundle that a name belongs to.
    fn named(&self, name: u64) -> Option<u32> {
        let seeded = || self.seeded.binary_search_by_key(&name, |(name, _)| *name).ok().and_then(|place| self.seeded.get(place));
        self.names.get(&name).copied().or_else(|| seeded().map(|(_, bundle)| *bundle))
    }

    /// The bundles that contain any of some records; of those that are unloaded, those that may.
    fn holders(&self, records: &Set<Id>) -> Vec<u32> {
        if records.is_empty() {
            return Vec::new();
        }
        let has_any = |source: &Source| source.summary.nodes.iter().any(|node| records.contains(node));
        let holds = |(_, bundle): &(u32, &WatchedBundle)| bundle.linker.sources().any(has_any) || self.may_hold(bundle, records);
        self.iter().filter(holds).map(|(number, _)| number).collect()
    }
}
