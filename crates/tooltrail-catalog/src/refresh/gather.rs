//! The summaries that have to be linked: changed sources are read, and the summaries of the other sources in their bundles are taken
//! from the catalogue. All others stay where they are.

use super::plan::RefreshPlan;
use crate::store::{FileStamp, pack, read, unpack};
use crate::{Map, Set, in_parallel};
use rusqlite::Connection;
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::find::{FoundSource, Problem};
use tooltrail_formats::scan::{self, Options, Progress, ScanOutcome, spelled};
use tooltrail_model::event::Id;
use tooltrail_model::link::{Linker, Source, Ties, bundles};
use tracing::warn;

/// The sources in memory, with the stamps that their files had when they were read.
#[derive(Default)]
pub(super) struct GatheredSources {
    pub(super) linker: Linker,
    ties: Map<Box<str>, Ties>,
    stamps: Map<String, FileStamp>,
    /// The packed summaries of sources that were read.
    packed: Map<Box<str>, Vec<u8>>,
    /// Sources of which only a part could be read.
    incomplete: Set<String>,
    /// Whether sources of the plan were left for the next one, because much is in memory.
    pub(super) left: bool,
}

/// So much is kept of the sources that are read in one go, about: what agents write into a gigabyte takes less.
const KEPT: usize = 96 << 20;

/// The bundles that changed sources belong to, before or now.
#[derive(Default)]
pub(super) struct AffectedBundles {
    /// The stored bundles that have to be written again.
    pub(super) bundles: Set<i64>,
    /// The stored sources of these bundles, by their numbers.
    pub(super) stored: Vec<i64>,
    /// The paths of all sources that have to be linked.
    paths: Set<String>,
}

/// A source that is stored: its packed summary, and what is known of it.
struct StoredSummary<'p> {
    path: &'p str,
    known: &'p read::SourceInfo,
    packed: Vec<u8>,
}

impl GatheredSources {
    /// Brings everything that a plan needs into memory, and nothing else. Returns the problems instead, if a source could not be read.
    pub(super) fn gather(
        &mut self,
        connection: &Connection,
        plan: &mut RefreshPlan<'_>,
        options: &Options,
        progress: &Progress,
    ) -> rusqlite::Result<Result<AffectedBundles, Vec<Problem>>> {
        loop {
            let problems = self.read(plan, options, progress);
            if !problems.is_empty() {
                return Ok(Err(problems));
            }
            let (joined, mut spoiled) = self.join(connection, plan)?;
            spoiled.extend(self.take_stored(connection, plan, &joined, options.threads)?);
            if spoiled.is_empty() {
                // An earlier round or plan may have brought in sources that this one does not need.
                self.linker.retain(|source| joined.paths.contains(&*source.path));
                self.stamps.retain(|path, _| joined.paths.contains(path));
                self.ties.retain(|path, _| joined.paths.contains(&**path));
                self.packed.retain(|path, _| joined.paths.contains(&**path));
                return Ok(Ok(joined));
            }
            // Damaged sources become part of the plan. Each round reads at least one more, so this ends.
            plan.read.extend(spoiled);
        }
    }

    /// The packed summary of a source that was read; empty is as good as damaged.
    pub(super) fn packed(&self, path: &str) -> &[u8] {
        self.packed.get(path).map_or(&[], Vec::as_slice)
    }

    /// The stamp to store for a source that was read. One that was read only in part has a time that no file has, so that it is read again.
    pub(super) fn stamp(&self, path: &str, stamp: FileStamp) -> FileStamp {
        if self.incomplete.contains(path) { FileStamp { mtime_ns: 0, ..stamp } } else { stamp }
    }

    /// The ties that join a source to others.
    pub(super) fn ties(&self, path: &str) -> &Ties {
        const NONE: &Ties = &Ties { names: Vec::new(), leaves: Vec::new() };
        self.ties.get(path).unwrap_or(NONE)
    }

    /// For each source, by path, the first one of its bundle.
    pub(super) fn bundles(&self) -> Vec<usize> {
        bundles(self.linker.sources().map(|source| (self.ties(&source.path), source.summary.nodes.as_slice())))
    }

    /// Reads the sources that a plan wants read.
    fn read(&mut self, plan: &mut RefreshPlan<'_>, options: &Options, progress: &Progress) -> Vec<Problem> {
        let changed = plan.read.iter().filter_map(|path| Some((path, plan.present.get(path)?)));
        // After another process was quicker the plan is made again: a source that is already read must not be read twice. One
        // that was only taken from the catalogue has no packed summary here, and counts as unread.
        let is_read = |path: &str, stamp| self.packed.contains_key(path) && self.stamps.get(path) == Some(stamp);
        let changed: Vec<_> = changed.filter(|(path, (_, stamp))| !is_read(path, stamp)).collect();
        let files: Vec<FoundSource> = changed.iter().map(|(_, (found, _))| (*found).clone()).collect();
        let ScanOutcome { linker, problems, incomplete, left } = scan::scan_some(&files, options, progress, KEPT);
        self.incomplete.extend(incomplete);
        let scanned: Vec<Source> = linker.into_sources().collect();
        let pack = |source: &Source| (pack(&source.summary).unwrap_or_default(), Ties::of(&source.summary));
        let packed = in_parallel(options.threads, &scanned, pack);
        for (source, (packed, ties)) in scanned.into_iter().zip(packed) {
            self.packed.insert(source.path.clone(), packed);
            self.put(source, ties);
        }
        for (path, (_, stamp)) in changed {
            self.stamps.insert(path.clone(), *stamp);
        }
        self.left |= !left.is_empty();
        for source in &left {
            plan.read.remove(&spelled(&source.path));
        }
        problems
    }

    fn put(&mut self, source: Source, ties: Ties) {
        self.ties.insert(source.path.clone(), ties);
        self.linker.put(source);
    }

    /// Finds the bundles that the changed sources were in, and those that they have a tie to now. Returns also the paths of sources whose
    /// stored ties are damaged.
    fn join(&self, connection: &Connection, plan: &RefreshPlan<'_>) -> rusqlite::Result<(AffectedBundles, Set<String>)> {
        let mut joined = AffectedBundles { paths: plan.read.clone(), ..AffectedBundles::default() };
        let mut spoiled = Set::default();
        let lost: Set<i64> = plan.lost.iter().copied().collect();
        // The sources whose stored summaries are still valid.
        let mut same: Map<i64, (&String, &read::SourceInfo)> = Map::default();
        for (path, known) in plan.known.iter().filter(|(_, known)| !known.gone) {
            if plan.read.contains(path) || lost.contains(&known.id) {
                joined.bundles.insert(known.bundle);
                joined.stored.push(known.id);
            } else if plan.present.contains_key(path) || plan.unreadable.contains(path) {
                same.insert(known.id, (path, known));
            }
        }
        if same.is_empty() {
            return Ok((joined, spoiled));
        }
        let changed = ChangedTies::of(self, plan, &self.old_leaves(connection, plan)?);
        let mut seen = 0;
        read::ties(connection, |id, ties| {
            let Some((path, known)) = same.get(&id) else { return };
            seen += 1;
            match ties {
                Some(ties) if changed.touch(&ties) => drop(joined.bundles.insert(known.bundle)),
                Some(_) => {}
                None => {
                    warn!(?path, "stored ties are damaged; reading the log again");
                    spoiled.insert((*path).clone());
                }
            }
        })?;
        if !changed.titled.is_empty() {
            // A new title may be for a record of any log that did not change.
            read::sources_with(connection, &changed.titled, |id| {
                joined.bundles.extend(same.get(&id).map(|(_, known)| known.bundle));
            })?;
        }
        if seen < same.len() {
            // Rows of ties are missing, so something else has changed the file. Without them bundles cannot be trusted.
            spoiled.extend(same.values().map(|(path, _)| (*path).clone()));
        }
        for (path, known) in same.values().filter(|(_, known)| joined.bundles.contains(&known.bundle)) {
            joined.paths.insert((*path).clone());
            joined.stored.push(known.id);
        }
        Ok((joined, spoiled))
    }

    /// The records of other sources that changed sources had titles for before: those sources are in their bundles already.
    fn old_leaves(&self, connection: &Connection, plan: &RefreshPlan<'_>) -> rusqlite::Result<Set<(i64, Id)>> {
        let mut leaves = Set::default();
        // A source that is new had no titles before; those for records of other logs are rare, and reading all ties is not free.
        if plan.read.iter().any(|path| plan.known.contains_key(path) && !self.ties(path).leaves.is_empty()) {
            read::ties(connection, |id, ties| leaves.extend(ties.into_iter().flat_map(|ties| ties.leaves).map(|leaf| (id, leaf))))?;
        }
        Ok(leaves)
    }

    /// Takes the summaries of sources that did not change but have to be linked. Returns the paths of those that are damaged.
    fn take_stored(
        &mut self,
        connection: &Connection,
        plan: &RefreshPlan<'_>,
        joined: &AffectedBundles,
        threads: usize,
    ) -> rusqlite::Result<Set<String>> {
        let mut stored = Vec::new();
        let mut spoiled = Set::default();
        for path in joined.paths.iter().filter(|path| !plan.read.contains(*path)) {
            let Some(known) = plan.known.get(path).filter(|known| self.stamps.get(path) != Some(&known.stamp)) else { continue };
            match read::summary(connection, known.id)? {
                Some(packed) => stored.push(StoredSummary { path, known, packed }),
                None => drop(spoiled.insert(path.clone())),
            }
        }
        let unpacked = in_parallel(threads, &stored, |stored| {
            let unpacked = unpack(&stored.packed, stored.known.agent.as_deref());
            let unpacked =
                unpacked.inspect_err(|error| warn!(path = ?stored.path, error = %ErrorChain(error), "a stored summary is damaged"));
            unpacked.ok().map(|summary| (Ties::of(&summary), summary))
        });
        for (stored, unpacked) in stored.iter().zip(unpacked) {
            let Some((ties, summary)) = unpacked else {
                spoiled.insert(stored.path.to_owned());
                continue;
            };
            self.put(Source { path: stored.path.into(), modified: stored.known.modified, summary }, ties);
            self.packed.remove(stored.path);
            self.stamps.insert(stored.path.to_owned(), stored.known.stamp);
        }
        Ok(spoiled)
    }
}

/// The names that changed sources have ties by.
struct ChangedTies {
    names: Set<u64>,
    /// A bit for each of them, and by chance for a few others: nearly all stored names are recognised by it as none of them, without a look
    /// into the set.
    sieve: Vec<u64>,
    nodes: Set<Id>,
    /// The records that a changed source has a new title for, which any other source may hold.
    titled: Set<Id>,
}

impl ChangedTies {
    fn of(held: &GatheredSources, plan: &RefreshPlan<'_>, old_leaves: &Set<(i64, Id)>) -> Self {
        let sources = || held.linker.sources().filter(|source| plan.read.contains(&*source.path));
        let ties = || sources().map(|source| held.ties(&source.path));
        let nodes: Set<Id> = sources().flat_map(|source| source.summary.nodes.iter().copied()).collect();
        let is_new = |path: &str, leaf: Id| plan.known.get(path).is_none_or(|known| !old_leaves.contains(&(known.id, leaf)));
        let leaves = sources().flat_map(|source| held.ties(&source.path).leaves.iter().map(|leaf| (&*source.path, *leaf)));
        let titled = leaves.filter(|(path, leaf)| is_new(path, *leaf)).map(|(_, leaf)| leaf).collect();
        let names: Set<u64> = ties().flat_map(|ties| ties.names.iter().copied()).collect();
        let mut sieve = vec![0; names.len() / 4 + 1];
        for &name in &names {
            let (word, bit) = place_in(&sieve, name);
            sieve.get_mut(word).into_iter().for_each(|word| *word |= bit);
        }
        ChangedTies { names, sieve, nodes, titled }
    }

    fn has(&self, name: u64) -> bool {
        let (word, bit) = place_in(&self.sieve, name);
        self.sieve.get(word).is_some_and(|word| word & bit != 0) && self.names.contains(&name)
    }

    /// Whether a source that did not change is tied to a changed one, but for records that this has new titles for.
    fn touch(&self, ties: &Ties) -> bool {
        ties.names.iter().any(|name| self.has(*name))
            || ties.leaves.iter().any(|leaf| self.nodes.contains(leaf) || self.titled.contains(leaf))
    }
}

/// The word and the bit of a name in a sieve.
fn place_in(sieve: &[u64], name: u64) -> (usize, u64) {
    // Names are fingerprints: scaled to an index, which is cheaper than a division, and by their lowest bits, which scaling leaves out.
    (((u128::from(name) * sieve.len() as u128) >> 64) as usize, 1 << (name & 63))
}
