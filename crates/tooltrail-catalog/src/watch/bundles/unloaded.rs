//! Bundles that are unloaded: known from the catalogue, which holds the summaries of their sources until they are needed.
//!
//! A bundle is wholly in memory or wholly not. It is unloaded again after a quiet time, if the catalogue still has all of it.

use super::{Bundles, WatchedBundle};
use crate::watch::catalogue_baseline::{CatalogueBaseline, SourceInfo, read_again};
use crate::watch::fingerprints::RowFingerprints;
use crate::{Map, Set};
use std::sync::Arc;
use tooltrail_model::event::Id;
use tooltrail_model::link::{Linker, Now, Ties};

/// How many bundles stay in memory although they could be unloaded, and the total size of their logs: a summary takes a tenth of its log.
const IDLE: usize = 16;
const IDLE_BYTES: u64 = 128 << 20;

impl WatchedBundle {
    /// Drops its sources. The catalogue has them.
    fn unload(&mut self) {
        (self.linker, self.fingerprints, self.unloaded) = (Arc::default(), None, true);
    }

    /// Whether it can be loaded again and has no signs of life.
    fn may_unload(&self, now: &Now) -> bool {
        let is_alive = || self.fingerprints.as_ref().is_some_and(RowFingerprints::is_alive) || self.may_live(now);
        !self.unloaded && !self.stored.is_empty() && self.paths().all(|path| self.stored.contains_key(path)) && !is_alive()
    }

    /// How large its logs are.
    fn bytes(&self) -> u64 {
        self.stored.values().map(|stored| stored.stamp.size).sum()
    }
}

impl Bundles {
    /// Whether sources were taken from a catalogue, and can be loaded from it again.
    pub(in crate::watch) fn is_seeded(&self) -> bool {
        self.seed.is_some()
    }

    /// Whether a baseline is another state of the catalogue than the one in use.
    pub(in crate::watch) fn is_newer(&self, seed: &CatalogueBaseline) -> bool {
        self.seed.as_ref().is_none_or(|own| own.epoch() != seed.epoch())
    }

    /// Takes sources from the catalogue, all of them unloaded; bundles with a source that has changed since are touched. Returns whether
    /// that succeeded; otherwise nothing has changed.
    pub(in crate::watch) fn seed_from(&mut self, seed: CatalogueBaseline, sources: Vec<(String, SourceInfo)>, changed: &Set<i64>) -> bool {
        let mut numbers: Map<i64, u32> = Map::default();
        let mut of: Map<i64, u32> = Map::default();
        for (_, stored) in &sources {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            of.insert(stored.id, *numbers.entry(stored.bundle).or_insert(next));
        }
        let (mut names, mut leaves) = (Vec::new(), Map::default());
        let ties = seed.ties(&of, |number, ties: Ties| {
            names.extend(ties.names.into_iter().map(|name| (name, number)));
            leaves.extend(ties.leaves.into_iter().map(|leaf| (leaf, number)));
        });
        let mut all: Vec<WatchedBundle> = Vec::new();
        all.resize_with(numbers.len(), || WatchedBundle { unloaded: true, ..WatchedBundle::default() });
        let sessions = seed.sessions(|source, agent, session, place| {
            if let Some(bundle) = of.get(&source).and_then(|number| all.get_mut(*number as usize)) {
                bundle.sessions.insert((agent, session.into()), place);
            }
        });
        names.sort_unstable();
        names.dedup();
        names.shrink_to_fit();
        // A name in two bundles: they were written by a version with other rules for bundles, or damaged.
        let torn = names.array_windows().any(|[(one, _), (other, _)]| one == other);
        if ties.is_none() || sessions.is_none() || torn {
            return false;
        }
        for (path, stored) in sources {
            let number = of.get(&stored.id).copied().unwrap_or_default();
            self.paths.insert(path.as_str().into(), number);
            all.get_mut(number as usize).into_iter().for_each(|bundle| bundle.stored.extend([(path.as_str().into(), stored.clone())]));
        }
        (self.all, self.part_of) = (all, (0..).take(numbers.len()).collect());
        (self.seeded, self.leaves, self.seed, self.unnamed) = (names, leaves, Some(seed), true);
        let touched: Vec<u32> = numbers.iter().filter(|(bundle, _)| changed.contains(bundle)).map(|(_, number)| *number).collect();
        touched.into_iter().for_each(|number| self.touch(number, None));
        true
    }

    /// Changes to a newer baseline. `is_as` says whether a source in memory equals the stored one.
    pub(in crate::watch) fn reseed(&mut self, seed: CatalogueBaseline, is_as: impl Fn(&str, &SourceInfo) -> bool) {
        let Some(stored) = seed.sources() else { return };
        let is_same = |path: &str, own: &SourceInfo| stored.get(path).is_some_and(|new| new.stamp == own.stamp);
        let has_changed =
            |(_, bundle): &(u32, &WatchedBundle)| bundle.unloaded && !bundle.stored.iter().all(|(path, own)| is_same(path, own));
        let changed: Vec<u32> = self.iter().filter(has_changed).map(|(number, _)| number).collect();
        // So many changes mean that the catalogue is being rebuilt. Loading all these bundles would cost too much memory; the old
        // baseline still has them, so this waits until the rebuild is done.
        if changed.len() > IDLE {
            return;
        }
        changed.into_iter().for_each(|number| self.load(number));
        for bundle in &mut self.all {
            // A loaded source counts as stored only if it equals the stored one, or unloading the bundle would change it.
            let new = |path: &str| stored.get(path).filter(|new| bundle.unloaded || is_as(path, new)).map(|new| (path.into(), new.clone()));
            let new = bundle.paths().filter_map(new).collect();
            bundle.stored = new;
        }
        self.seed = Some(seed);
    }

    /// Loads the sources of a bundle, in the state in which they were last looked at.
    pub(in crate::watch) fn load(&mut self, number: u32) {
        self.clock += 1;
        let Some(bundle) = self.all.get_mut(number as usize) else { return };
        bundle.used = self.clock;
        if !std::mem::take(&mut bundle.unloaded) {
            return;
        }
        let mut linker = Linker::default();
        linker.call_sessions(Arc::clone(&self.session_names));
        bundle.stored.retain(|path, stored| {
            let source = self.seed.as_ref().and_then(|seed| seed.source(path, stored));
            let is_whole = source.is_some();
            match source.or_else(|| read_again(path, stored, &self.options)) {
                Some(source) => linker.put(source),
                // Without an entry the next look treats it as a new log, and reads it.
                None => drop(self.paths.remove(path)),
            }
            is_whole
        });
        bundle.linker = Arc::new(linker);
    }

    /// Unloads a bundle if it can be loaded again and has no signs of life.
    pub(in crate::watch) fn unload_if_idle(&mut self, number: u32, now: &Now) {
        if let Some(bundle) = self.all.get_mut(number as usize).filter(|bundle| bundle.may_unload(now)) {
            bundle.unload();
        }
    }

    /// Unloads the bundles that have been idle for longest.
    pub(super) fn unload_idle(&mut self, now: &Now) {
        let mut idle: Vec<&mut WatchedBundle> = self.all.iter_mut().filter(|bundle| bundle.may_unload(now)).collect();
        // The most recently used stay: they are the most likely to be needed again.
        idle.sort_by_key(|bundle| std::cmp::Reverse(bundle.used));
        let mut bytes = 0;
        for (place, bundle) in idle.into_iter().enumerate() {
            bytes += bundle.bytes();
            if place >= IDLE || bytes > IDLE_BYTES {
                bundle.unload();
            }
        }
    }

    /// Whether a bundle that is unloaded may hold any of some records. It is not loaded for that.
    pub(super) fn may_hold(&self, bundle: &WatchedBundle, records: &Set<Id>) -> bool {
        let seed = self.seed.as_ref().filter(|_| bundle.unloaded);
        seed.is_some_and(|seed| bundle.stored.values().any(|stored| seed.may_have(stored, records)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::refresh;
    use crate::store::Catalogue;
    use crate::watch::log_locations::LogLocations;
    use crate::watch::sources::WatchedSources;
    use crate::watch::{WatchOptions, publish};
    use tooltrail_formats::find;
    use tooltrail_formats::scan::{self, Progress};
    use tooltrail_model::Time;

    #[test]
    fn only_so_many_are_awake() {
        let [logs, cache] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let name = |number: usize| format!("{number:04}-session");
        let count = 3 * IDLE;
        for number in 0..count {
            let name = name(number);
            let line = format!("{{\"type\":\"user\",\"uuid\":\"{name}\",\"sessionId\":\"{name}\",\"message\":{{\"content\":\"go\"}}}}\n");
            std::fs::write(logs.path().join(format!("{name}.jsonl")), line).unwrap();
        }
        let paths = vec![logs.path().to_owned()];
        let file = cache.path().join("catalogue.db");
        let mut catalogue = Catalogue::open(&file).unwrap();
        let search = find::in_paths(&paths);
        refresh(&mut catalogue, &search, &scan::Options::default(), Time::UNIX_EPOCH, &Progress::default()).unwrap();
        let mut sources =
            WatchedSources::new(LogLocations::Paths(paths), &WatchOptions { seed: Some(file), ..WatchOptions::default() }, Arc::default());
        let awake = |sources: &WatchedSources| sources.bundles.iter().filter(|(_, bundle)| !bundle.unloaded).count();
        let now = Now::at(Time::UNIX_EPOCH);
        sources.look(None, &now);
        assert_eq!((sources.bundles.iter().count(), awake(&sources)), (count, 0));
        let mut versions = (0..count).map(|number| publish::session_snapshot(&mut sources, &now, "claude", &name(number)).unwrap().version);
        let versions: Set<u64> = versions.by_ref().collect();
        assert_eq!((versions.len(), awake(&sources)), (count, count));
        sources.bundles.unload_idle(&Now::at(search.files[0].written().unwrap()));
        assert_eq!(awake(&sources), count, "they are alive");
        sources.bundles.unload_idle(&now);
        assert_eq!(awake(&sources), IDLE);
        let last = sources.bundles.of_session("claude", &name(count - 1)).and_then(|number| sources.bundles.get(number));
        assert!(!last.unwrap().unloaded, "those that were used last");
        // The old state of a log stays available although the catalogue has a newer one.
        let first = name(0);
        std::fs::write(logs.path().join(format!("{first}.jsonl")), "").unwrap();
        let search = find::in_paths(&[logs.path().to_owned()]);
        refresh(&mut catalogue, &search, &scan::Options::default(), Time::UNIX_EPOCH, &Progress::default()).unwrap();
        sources.reseed();
        assert_eq!(awake(&sources), IDLE + 1);
        let held = publish::session_snapshot(&mut sources, &now, "claude", &first).unwrap();
        assert_eq!(held.linker.sources().next().unwrap().summary.turns.len(), 1);
    }
}
