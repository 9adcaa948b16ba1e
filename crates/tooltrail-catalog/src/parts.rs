//! Logs that are linked one part after the other: some bundles at a time, so that memory does not grow with what there is.
//!
//! Sums over all logs need nothing else, because no bundle has anything to do with another. The logs come from the catalogue, or from a scan
//! ([`ScannedParts`]), which keeps the summaries of all but the first ones packed.

use crate::library::StoredLibrary;
use crate::store::{CatalogueError, Packed, SummaryError, pack, read, unpack};
use crate::{Map, in_parallel};
use std::sync::{Arc, Mutex, PoisonError};
use tooltrail_formats::find::{FoundSource, LimitedLog, Problem};
use tooltrail_formats::scan::{self, Options, Progress};
use tooltrail_model::Time;
use tooltrail_model::event::Id;
use tooltrail_model::link::{Linked, Linker, SessionKey, SessionNames, SessionPlace, Source, Ties, bundles};

/// How many bytes of packed summaries are unpacked at once.
const PART: i64 = 16 << 20;

impl StoredLibrary {
    /// Passes on all logs, linked one part after the other on so many threads.
    pub fn each_part(&self, threads: usize, take: impl FnMut(&Linked<'_>)) -> Result<(), CatalogueError> {
        self.each_part_of(PART, threads, take)
    }

    /// The same, in parts of so many bytes of packed summaries, and at least one bundle.
    pub fn each_part_of(&self, size: i64, threads: usize, mut take: impl FnMut(&Linked<'_>)) -> Result<(), CatalogueError> {
        let sizes = self.catalogue().query(read::bundle_sizes)?;
        for (first, last) in ranges(&sizes, size) {
            let (path, sources) = {
                let catalogue = self.catalogue();
                (catalogue.path().to_owned(), catalogue.query(|connection| read::packed_between(connection, first, last))?)
            };
            let mut linker = Linker::default();
            for (unpacked, packed) in in_parallel(threads, &sources, Packed::unpack).into_iter().zip(&sources) {
                linker.put(unpacked.map_err(|error| CatalogueError::Damaged { path: path.clone(), log: packed.path.clone(), error })?);
            }
            // Otherwise the packed summaries would stay in memory while their part is linked.
            drop(sources);
            linker.call_sessions(self.session_names()?);
            take(&linker.link_on(threads));
        }
        Ok(())
    }
}

/// Neighbouring bundles in ranges of about a size, by their first and last number.
fn ranges(sizes: &[(i64, i64)], size: i64) -> Vec<(i64, i64)> {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    let mut space = 0;
    for &(bundle, own) in sizes {
        match ranges.last_mut() {
            Some((_, last)) if space >= own => {
                *last = bundle;
                space -= own;
            }
            _ => {
                ranges.push((bundle, bundle));
                space = size.saturating_sub(own);
            }
        }
    }
    ranges
}

/// How many bytes of logs are linked at once. Of more than four times as many, only the summaries of so many stay unpacked.
const UNPACKED: u64 = 256 << 20;

/// Logs that have just been read.
pub struct ScannedParts {
    logs: Vec<ScannedLog>,
    bytes: u64,
    /// How many bytes of logs are linked at once, and at least one bundle.
    part: u64,
    /// Logs that could not be read.
    pub problems: Vec<Problem>,
    /// Logs that were read up to a limit, by path.
    pub limited: Vec<LimitedLog>,
    /// The first summary that could not be packed or unpacked; it is missing.
    pub failed: Option<(Box<str>, SummaryError)>,
}

/// A log, with what joins it to others.
struct ScannedLog {
    path: Box<str>,
    /// Its ties and the ids of its records, where it may have to be linked apart from others.
    joins: Option<(Ties, Box<[Id]>)>,
    bytes: u64,
    content: Content,
}

/// The summary of a log.
enum Content {
    /// As it was read.
    Read(Box<Source>),
    /// Packed, with the agent and the time of the file.
    Packed(Vec<u8>, Option<&'static str>, Option<Time>),
    /// Passed on already.
    Taken,
}

impl ScannedParts {
    /// Reads files.
    pub fn scan(files: &[FoundSource], options: &Options, progress: &Progress) -> Self {
        let parts = Mutex::new(ScannedParts::new(UNPACKED));
        let lock = || parts.lock().unwrap_or_else(PoisonError::into_inner);
        // Packing takes time, and saves nothing that matters where there is little.
        let total = files.iter().fold(0, |total: u64, found| total.saturating_add(found.size));
        let space = if total <= 4 * UNPACKED { 4 * UNPACKED } else { UNPACKED };
        let outcome = scan::scan_each(files, options, progress, &|source: Source| {
            let bytes = source.summary.tally.bytes;
            let is_first = {
                let mut parts = lock();
                parts.bytes = parts.bytes.saturating_add(bytes);
                parts.bytes <= space
            };
            // Outside the lock: other threads go on meanwhile.
            let limited = LimitedLog::of(&source.path, &source.summary);
            let log = ScannedLog::new(source, is_first);
            let mut parts = lock();
            parts.limited.extend(limited);
            match log {
                Ok(log) => parts.logs.push(log),
                Err(failed) => drop(parts.failed.get_or_insert(failed)),
            }
        });
        let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        parts.problems = outcome.problems;
        // Threads finish in any order; what is linked has to be the same each time.
        parts.logs.sort_by(|one, other| one.path.cmp(&other.path));
        parts.limited.sort_by(|one, other| one.path.cmp(&other.path));
        parts
    }

    /// Logs that were read elsewhere, all of them linked at once.
    pub fn of(linker: Linker) -> Self {
        ScannedParts::new(UNPACKED).with(linker, |_| true)
    }

    /// Logs that were read elsewhere, linked in parts of so many bytes of logs; all but every third is packed.
    pub fn packed(linker: Linker, part: u64) -> Self {
        ScannedParts::new(part).with(linker, |place| place % 3 == 0)
    }

    fn new(part: u64) -> Self {
        ScannedParts { logs: Vec::new(), bytes: 0, part, problems: Vec::new(), limited: Vec::new(), failed: None }
    }

    fn with(mut self, linker: Linker, unpacked: impl Fn(usize) -> bool) -> Self {
        for (place, source) in linker.into_sources().enumerate() {
            match ScannedLog::new(source, unpacked(place)) {
                Ok(log) => self.logs.push(log),
                Err(failed) => drop(self.failed.get_or_insert(failed)),
            }
        }
        self
    }

    /// Passes on all logs, linked one part after the other on so many threads. `named` says whether the names of sessions and the checkouts
    /// of worktrees have to be those among all logs; without it they are those of their part.
    pub fn each_part(mut self, threads: usize, named: bool, mut take: impl FnMut(&Linked<'_>)) -> Result<(), (Box<str>, SummaryError)> {
        // Sums that lack a log would be wrong and look right.
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        let parts = self.parts();
        // A single part has all logs, so its own names are those among all.
        let names = if named && parts.len() > 1 { Some(Arc::new(self.names(&parts, threads)?)) } else { None };
        for part in &parts {
            let mut linker = self.linker(part, threads, true)?;
            if let Some(names) = &names {
                linker.call_sessions(Arc::clone(names));
            }
            take(&linker.link_on(threads));
        }
        Ok(())
    }

    /// Whole bundles in parts of about the same size, by the places of their logs.
    fn parts(&mut self) -> Vec<Vec<usize>> {
        if self.logs.iter().all(|log| matches!(log.content, Content::Read(_))) {
            // Few enough to be linked at once.
            return vec![(0..self.logs.len()).collect()];
        }
        self.logs.iter_mut().for_each(ScannedLog::join);
        let joins = self.logs.iter().filter_map(|log| log.joins.as_ref());
        let mut of_bundle: Map<usize, Vec<usize>> = Map::default();
        for (place, bundle) in bundles(joins.map(|(ties, nodes)| (ties, &**nodes))).into_iter().enumerate() {
            of_bundle.entry(bundle).or_default().push(place);
        }
        let mut bundles: Vec<Vec<usize>> = of_bundle.into_values().collect();
        // The map has no order; parts have to be the same each time.
        bundles.sort_unstable();
        let (mut parts, mut space): (Vec<Vec<usize>>, u64) = (Vec::new(), 0);
        for bundle in bundles {
            let size = bundle.iter().filter_map(|&place| self.logs.get(place)).map(|log| log.bytes).sum();
            match parts.last_mut() {
                Some(part) if space >= size => {
                    part.extend(bundle);
                    space -= size;
                }
                _ => {
                    parts.push(bundle);
                    space = self.part.saturating_sub(size);
                }
            }
        }
        parts
    }

    /// The names of sessions among all logs.
    fn names(&mut self, parts: &[Vec<usize>], threads: usize) -> Result<SessionNames, (Box<str>, SummaryError)> {
        let mut places: Map<SessionKey, SessionPlace> = Map::default();
        for part in parts {
            let linker = self.linker(part, threads, false)?;
            places.extend(linker.places());
            // What was never packed is needed once more.
            let by_path: Map<Box<str>, usize> =
                part.iter().filter_map(|&place| Some((self.logs.get(place)?.path.clone(), place))).collect();
            for source in linker.into_sources() {
                let log = by_path.get(&source.path).and_then(|&place| self.logs.get_mut(place));
                if let Some(log) = log.filter(|log| matches!(log.content, Content::Taken)) {
                    log.content = Content::Read(Box::new(source));
                }
            }
        }
        Ok(SessionNames::among(places.iter()))
    }

    /// The logs of a part. `last` says whether they are not needed again.
    fn linker(&mut self, part: &[usize], threads: usize, last: bool) -> Result<Linker, (Box<str>, SummaryError)> {
        let mut linker = Linker::default();
        let mut packed = Vec::new();
        for &place in part {
            let Some(log) = self.logs.get_mut(place) else { continue };
            match std::mem::replace(&mut log.content, Content::Taken) {
                Content::Read(source) => linker.put(*source),
                Content::Packed(bytes, agent, modified) => packed.push((place, bytes, agent, modified)),
                Content::Taken => {}
            }
        }
        let unpacked = in_parallel(threads, &packed, |(_, bytes, agent, _)| unpack(bytes, *agent));
        for (summary, (place, bytes, agent, modified)) in unpacked.into_iter().zip(packed) {
            let Some(log) = self.logs.get_mut(place) else { continue };
            let summary = summary.map_err(|error| (log.path.clone(), error))?;
            linker.put(Source { path: log.path.clone(), modified, summary });
            if !last {
                log.content = Content::Packed(bytes, agent, modified);
            }
        }
        Ok(linker)
    }
}

impl ScannedLog {
    fn new(source: Source, unpacked: bool) -> Result<Self, (Box<str>, SummaryError)> {
        let (path, bytes) = (source.path.clone(), source.summary.tally.bytes);
        if unpacked {
            return Ok(ScannedLog { path, joins: None, bytes, content: Content::Read(Box::new(source)) });
        }
        let mut packed = pack(&source.summary).map_err(|error| (path.clone(), error))?;
        // It is kept until its part is linked, and the buffer may be much larger than what it holds.
        packed.shrink_to_fit();
        let content = Content::Packed(packed, source.summary.agent, source.modified);
        Ok(ScannedLog { path, joins: Some(joins(&source)), bytes, content })
    }

    fn join(&mut self) {
        match &self.content {
            Content::Read(source) if self.joins.is_none() => self.joins = Some(joins(source)),
            // Every other log has them; without them the places would be those of other logs.
            _ => drop(self.joins.get_or_insert_default()),
        }
    }
}

fn joins(source: &Source) -> (Ties, Box<[Id]>) {
    (Ties::of(&source.summary), source.summary.nodes.as_slice().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_range_as_far_as_they_fit() {
        assert_eq!(ranges(&[], 10), []);
        assert_eq!(ranges(&[(1, 4), (3, 6), (4, 1), (9, 50), (12, 1)], 10), [(1, 3), (4, 4), (9, 9), (12, 12)]);
    }
}
