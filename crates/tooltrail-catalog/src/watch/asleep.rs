//! Bundles that are asleep: known by what the catalogue says of their sources, which are unpacked when somebody wants them.
//!
//! A bundle is wholly in memory or wholly not. It goes back to sleep when it has been quiet, if the catalogue still has all of it.

use super::bundles::{Bundle, Bundles};
use super::seed::{Seed, Stored, read_again};
use crate::{Map, Set};
use std::sync::Arc;
use tooltrail_model::link::{Linker, Now, Source};

/// How many bundles stay in memory that could be asleep, and how large their logs are together: what is kept of one is a tenth of it.
const IDLE: usize = 16;
const IDLE_BYTES: u64 = 128 << 20;

impl Bundle {
    /// Lets go of its sources. The catalogue has them.
    fn sleep(&mut self) {
        (self.linker, self.prints, self.asleep) = (Arc::default(), None, true);
    }

    /// Whether it can be woken again, and nothing in it is alive.
    fn may_sleep(&self, now: &Now) -> bool {
        let is_alive = || self.prints.as_ref().is_some_and(|prints| prints.is_alive()) || self.may_live(now);
        !self.asleep && !self.stored.is_empty() && self.paths().all(|path| self.stored.contains_key(path)) && !is_alive()
    }

    /// How large its logs are.
    fn bytes(&self) -> u64 {
        self.stored.values().map(|stored| stored.stamp.size).sum()
    }
}

impl Bundles {
    /// Takes sources from the catalogue, all of them asleep; but bundles of which something is not as it was stored are touched. Gives
    /// whether it worked out; otherwise nothing has happened.
    pub(super) fn sow(&mut self, seed: Seed, sources: Vec<(String, Stored)>, changed: &Set<i64>) -> bool {
        let mut numbers: Map<i64, u32> = Map::default();
        let mut of: Map<i64, u32> = Map::default();
        for (_, stored) in &sources {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            of.insert(stored.id, *numbers.entry(stored.bundle).or_insert(next));
        }
        let (mut names, mut leaves) = (Vec::new(), Map::default());
        let take = |number, ties: tooltrail_model::link::Ties| {
            names.extend(ties.names.into_iter().map(|name| (name, number)));
            leaves.extend(ties.leaves.into_iter().map(|leaf| (leaf, number)));
        };
        let (Some(()), Some(sessions)) = (seed.ties(&of, take), seed.sessions()) else { return false };
        names.sort_unstable();
        names.dedup();
        names.shrink_to_fit();
        // A name in two bundles: whoever wrote that had another idea of what belongs together.
        if names.array_windows().any(|[(one, _), (other, _)]| one == other) {
            return false;
        }
        self.all.resize_with(numbers.len(), || Bundle { asleep: true, ..Bundle::default() });
        self.part_of = (0..).take(numbers.len()).collect();
        for (path, stored) in sources {
            let number = of.get(&stored.id).copied().unwrap_or_default();
            self.paths.insert(path.as_str().into(), number);
            self.get_mut(number).into_iter().for_each(|bundle| bundle.stored.extend([(path.as_str().into(), stored.clone())]));
        }
        for (source, session) in sessions {
            let bundle = of.get(&source).and_then(|number| self.get_mut(*number));
            bundle.into_iter().for_each(|bundle| bundle.sessions.extend([session.clone()]));
        }
        (self.seeded, self.leaves, self.seed, self.unnamed) = (names, leaves, Some(seed), true);
        let touched: Vec<u32> = numbers.iter().filter(|(bundle, _)| changed.contains(bundle)).map(|(_, number)| *number).collect();
        touched.into_iter().for_each(|number| self.touch(number, None));
        true
    }

    /// Goes over to the catalogue as it is now. `is_as` tells whether a source in memory is as it is stored there.
    pub(super) fn resow(&mut self, seed: Seed, is_as: impl Fn(&str, &Stored) -> bool) {
        let Some(stored) = seed.sources() else { return };
        let is_same = |(path, own): (&Box<str>, &Stored)| stored.get(&**path).is_some_and(|new| new.stamp == own.stamp);
        let has_changed = |(_, bundle): &(u32, &Bundle)| bundle.asleep && !bundle.stored.iter().all(is_same);
        let changed: Vec<u32> = self.iter().filter(has_changed).map(|(number, _)| number).collect();
        // Somebody is making it anew; what is asleep stays where it is until that is done.
        if changed.len() > IDLE {
            return;
        }
        changed.into_iter().for_each(|number| self.wake(number));
        for bundle in &mut self.all {
            let new = |path: &str| stored.get(path).filter(|new| bundle.asleep || is_as(path, new)).map(|new| (path.into(), new.clone()));
            let new = bundle.paths().filter_map(new).collect();
            bundle.stored = new;
        }
        self.seed = Some(seed);
    }

    /// Brings the sources of a bundle into memory, as they were when they were last looked at.
    pub(super) fn wake(&mut self, number: u32) {
        self.clock += 1;
        let Some(bundle) = self.all.get_mut(number as usize) else { return };
        bundle.used = self.clock;
        if !std::mem::take(&mut bundle.asleep) {
            return;
        }
        let mut linker = Linker::default();
        linker.call_sessions(Arc::clone(&self.shorts));
        bundle.stored.retain(|path, stored| {
            let source = self.seed.as_ref().and_then(|seed| seed.source(path, stored));
            let is_whole = source.is_some();
            match source.or_else(|| read_again(path, stored, &self.options)) {
                Some(source) => linker.put(source),
                // Whoever looks for it does not find it here, and reads it.
                None => drop(self.paths.remove(path)),
            }
            is_whole
        });
        bundle.linker = Arc::new(linker);
    }

    /// Puts a bundle to sleep if it can be woken again, and nothing in it is alive.
    pub(super) fn lull(&mut self, number: u32, now: &Now) {
        if let Some(bundle) = self.all.get_mut(number as usize).filter(|bundle| bundle.may_sleep(now)) {
            bundle.sleep();
        }
    }

    /// Puts bundles to sleep in which nothing has happened for long.
    pub(super) fn rest(&mut self, now: &Now) {
        let mut idle: Vec<&mut Bundle> = self.all.iter_mut().filter(|bundle| bundle.may_sleep(now)).collect();
        idle.sort_by_key(|bundle| std::cmp::Reverse(bundle.used));
        let mut bytes = 0;
        for (place, bundle) in idle.into_iter().enumerate() {
            bytes += bundle.bytes();
            if place >= IDLE || bytes > IDLE_BYTES {
                bundle.sleep();
            }
        }
    }

    /// The sources of a bundle that is asleep, one after the other.
    pub(super) fn sleepers<'s>(&'s self, bundle: &'s Bundle) -> impl Iterator<Item = Source> + 's {
        let stored = bundle.stored.iter().filter(|_| bundle.asleep);
        stored.filter_map(|(path, stored)| {
            let source = self.seed.as_ref().and_then(|seed| seed.source(path, stored));
            source.or_else(|| read_again(path, stored, &self.options))
        })
    }
}
