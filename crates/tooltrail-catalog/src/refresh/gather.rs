//! The summaries of all sources: those that changed are read, the others are taken from the catalogue.

use super::plan::Plan;
use crate::store::{Stamp, pack, read, unpack};
use crate::{Map, Set};
use rusqlite::Connection;
use std::panic::resume_unwind;
use tooltrail_formats::find::{Found, Problem};
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::link::{Linker, Source};

/// The sources in memory, and what their files were when they were read.
#[derive(Default)]
pub(super) struct Held {
    pub(super) linker: Linker,
    stamps: Map<String, Stamp>,
    /// The packed summaries of sources that were read.
    packed: Map<Box<str>, Vec<u8>>,
}

/// A source that is stored: its packed summary, and what is known of it.
struct Stored<'p> {
    path: &'p str,
    known: &'p read::SourceInfo,
    packed: Vec<u8>,
}

impl Held {
    /// Takes in everything that a plan needs. Gives what could not be read.
    pub(super) fn gather(
        &mut self,
        connection: &Connection,
        plan: &mut Plan<'_>,
        options: &Options,
        progress: &Progress,
    ) -> rusqlite::Result<Vec<Problem>> {
        self.forget(plan);
        let spoiled = self.take_stored(connection, plan, options.threads)?;
        plan.read.extend(spoiled);
        let changed = plan.read.iter().filter_map(|path| Some((path, plan.present.get(path)?)));
        let changed: Vec<_> = changed.filter(|(path, (_, stamp))| self.stamps.get(*path) != Some(stamp)).collect();
        let files: Vec<Found> = changed.iter().map(|(_, (found, _))| (*found).clone()).collect();
        let (scanned, problems) = scan::scan(&files, options, progress);
        let scanned: Vec<Source> = scanned.into_sources().collect();
        let packed = in_parallel(options.threads, &scanned, |source| pack(&source.summary).unwrap_or_default());
        for (source, packed) in scanned.into_iter().zip(packed) {
            self.packed.insert(source.path.clone(), packed);
            self.linker.put(source);
        }
        for (path, (_, stamp)) in changed {
            self.stamps.insert(path.clone(), *stamp);
        }
        Ok(problems)
    }

    /// The packed summary of a source that was read; empty is as good as damaged.
    pub(super) fn packed(&self, path: &str) -> &[u8] {
        self.packed.get(path).map_or(&[], Vec::as_slice)
    }

    /// Drops what is not there any more.
    fn forget(&mut self, plan: &Plan<'_>) {
        let gone: Vec<String> = self.stamps.keys().filter(|path| !plan.present.contains_key(*path)).cloned().collect();
        for path in gone {
            self.linker.remove(&path);
            self.stamps.remove(&path);
        }
    }

    /// Takes the summaries of sources that did not change. Gives the paths of those that were damaged.
    fn take_stored(&mut self, connection: &Connection, plan: &Plan<'_>, threads: usize) -> rusqlite::Result<Set<String>> {
        let mut stored = Vec::new();
        let mut spoiled = Set::default();
        for (path, known) in plan.known.iter().filter(|(_, known)| !known.gone) {
            let wanted = plan.present.contains_key(path) && !plan.read.contains(path);
            if !wanted || self.stamps.get(path) == Some(&known.stamp) {
                continue;
            }
            match read::summary(connection, known.id)? {
                Some(packed) => stored.push(Stored { path, known, packed }),
                None => drop(spoiled.insert(path.clone())),
            }
        }
        let unpacked = in_parallel(threads, &stored, |stored| unpack(&stored.packed, stored.known.agent.as_deref()));
        for (stored, summary) in stored.iter().zip(unpacked) {
            let Some(summary) = summary else {
                spoiled.insert(stored.path.to_owned());
                continue;
            };
            self.linker.put(Source { path: stored.path.into(), modified: stored.known.modified, summary });
            self.stamps.insert(stored.path.to_owned(), stored.known.stamp);
        }
        Ok(spoiled)
    }
}

/// Does the same to all items, on some threads. The outcomes are in order.
fn in_parallel<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let share = items.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let runs: Vec<_> = items.chunks(share).map(|run| scope.spawn(|| run.iter().map(&work).collect::<Vec<R>>())).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
