//! All watched sources: their state when they were last read, and the means to read more of those that grow.

use super::bundles::Bundles;
use super::catalogue_baseline::CatalogueBaseline;
use super::change::MessageRole;
use super::log_locations::LogLocations;
use super::recent_records::RecentRecords;
use crate::keep::Keep;
use crate::refresh::stamp;
use crate::store::FileStamp;
use crate::{Map, Set};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use tooltrail_formats::find::{self, FoundSource};
use tooltrail_formats::follow::Follower;
use tooltrail_formats::lines::{Buffer, LogLine};
use tooltrail_formats::scan::{self, Options, Progress, spelled};
use tooltrail_formats::{Format, Record};
use tooltrail_model::event::BlockKind;
use tooltrail_model::link::{Now, Source};
use tooltrail_model::{At, Fact, Span, Time};
use tracing::{trace, warn};

/// How many logs are followed. One that changes after it was dropped is read whole, once.
const LIVE: usize = 32;
/// How much is noted at most of the lines of one look.
const NOTED: usize = 4 << 20;

/// All sources.
#[derive(Debug)]
pub(super) struct WatchedSources {
    locations: LogLocations,
    options: Options,
    known: Map<PathBuf, KnownSource>,
    pub(super) bundles: Bundles,
    pub(super) recent_records: RecentRecords,
    /// The copies of logs that are gone, if any are kept.
    pub(super) keep: Option<Keep>,
    /// A catalogue that may know the logs.
    seed: Option<PathBuf>,
    /// The followers, those used last at the end.
    live: Vec<(PathBuf, Follower)>,
    buffer: Buffer,
    read: Arc<AtomicU64>,
    /// Messages that were written since they were last taken.
    new_messages: Vec<NewMessage>,
}

/// A source as the watcher knows it.
#[derive(Clone, Copy, Debug)]
struct KnownSource {
    /// Its stamp when it was read; `None` for one that could not be read, so that it is tried again.
    stamp: Option<FileStamp>,
    /// How many of its bytes have been published.
    size: u64,
    written: Option<SystemTime>,
}

impl KnownSource {
    /// A source that is read in the state in which it was found.
    fn of(found: &FoundSource) -> Self {
        KnownSource { stamp: Some(stamp(found)), size: found.size, written: found.modified }
    }

    fn is_as(&self, found: &FoundSource) -> bool {
        self.stamp == Some(stamp(found))
    }
}

/// A message that was written while the log was watched.
#[derive(Clone, Debug)]
pub(super) struct NewMessage {
    pub(super) file: Box<str>,
    pub(super) line: u64,
    pub(super) time: Option<Time>,
    /// The session, if the record names it.
    pub(super) session: Option<Box<str>>,
    pub(super) by: MessageRole,
}

/// The messages and requests in the new lines of a log.
#[derive(Default)]
struct NewLines {
    new_messages: Vec<(u64, NewMessage)>,
    requests: Vec<(u64, Vec<u8>)>,
    bytes: usize,
}

impl WatchedSources {
    /// An empty set of sources. The bytes that are read from logs are added to a counter.
    pub(super) fn new(locations: LogLocations, options: &super::WatchOptions, read: Arc<AtomicU64>) -> Self {
        let super::WatchOptions { scan, keep, seed, .. } = options;
        let usual = Options::default();
        let is_usual = (scan.max_line, scan.check_utf8) == (usual.max_line, usual.check_utf8);
        WatchedSources {
            locations,
            options: scan.clone(),
            known: Map::default(),
            bundles: Bundles::new(scan.clone()),
            recent_records: RecentRecords::new(Arc::clone(&read)),
            keep: keep.clone(),
            // The catalogue was filled with the default options; with others its summaries would differ from a scan.
            seed: seed.clone().filter(|_| is_usual),
            live: Vec::new(),
            buffer: Buffer::default(),
            read,
            new_messages: Vec::new(),
        }
    }

    /// The locations of the logs.
    pub(super) fn locations(&self) -> &LogLocations {
        &self.locations
    }

    /// Looks at all sources, and reads those that have changed. `before` is the moment for which rows were last published, if any were.
    /// Returns how long it took to find the changes.
    pub(super) fn look(&mut self, before: Option<&Now>, now: &Now) -> Duration {
        let start = Instant::now();
        let search = self.locations.search();
        let first = self.known.is_empty();
        if first {
            self.seed_from_catalogue(&search.files);
        }
        let mut changed = Vec::new();
        let mut here: Set<&Path> = Set::default();
        for found in &search.files {
            here.insert(&found.path);
            if self.known.get(&found.path).is_none_or(|known| !known.is_as(found)) || self.bundles.of(&spelled(&found.path)).is_none() {
                changed.push(found.clone());
            }
        }
        // Without the reading: this decides how often to look, and reading happens only when something has changed.
        let took = start.elapsed();
        let gone: Vec<PathBuf> = self.known.keys().filter(|path| !here.contains(path.as_path())).cloned().collect();
        for path in gone {
            self.remove(&path, before);
        }
        // On the first look every log is new, and only those that were written recently are likely to grow.
        let alive = |found: &FoundSource| !first || now.is_fresh(found.written(), None);
        changed.sort_by_key(|found| std::cmp::Reverse(found.modified));
        let (grows, rest): (Vec<_>, Vec<_>) = changed.into_iter().partition(alive);
        let (follow, more) = grows.split_at(grows.len().min(LIVE));
        self.scan(&[more, &rest].concat(), before);
        // The newest last, so that they are the last to be dropped.
        follow.iter().rev().for_each(|found| self.follow(found, before));
        self.bundles.name_sessions(before);
        took
    }

    /// Takes the sources from the catalogue that have not changed since it was written.
    fn seed_from_catalogue(&mut self, files: &[FoundSource]) {
        let Some(seed) = self.seed.as_deref().and_then(CatalogueBaseline::open) else { return };
        let Some(mut stored) = seed.sources() else { return };
        let (mut known, mut sources) = (Vec::new(), Vec::new());
        for found in files {
            let own = KnownSource::of(found);
            let path = spelled(&found.path);
            if stored.get(&path).is_some_and(|stored| own.stamp == Some(stored.stamp))
                && let Some(stored) = stored.remove(&path)
            {
                sources.push((path, stored));
                known.push((found.path.clone(), own));
            }
        }
        // Those that remain have changed or are gone, so their bundles have to be linked again.
        let changed = stored.values().map(|stored| stored.bundle).collect();
        if self.bundles.seed_from(seed, sources, &changed) {
            self.known.extend(known);
        }
    }

    /// Changes to the current state of the catalogue, if it was written since. SQLite has to keep old pages for as long as they are read.
    pub(super) fn reseed(&mut self) {
        let Some(seed) = self.seed.as_deref().and_then(CatalogueBaseline::open).filter(|seed| self.bundles.is_newer(seed)) else { return };
        let WatchedSources { bundles, known, .. } = self;
        bundles.reseed(seed, |path, stored| known.get(Path::new(path)).is_some_and(|known| known.stamp == Some(stored.stamp)));
    }

    /// Drops everything, if it can be taken from the catalogue again. Called when the last subscriber has left.
    pub(super) fn reset(&mut self) {
        // Without a catalogue everything would have to be read again for the next subscriber.
        if !self.bundles.is_seeded() {
            return;
        }
        self.known.clear();
        self.live.clear();
        self.new_messages.clear();
        self.bundles = Bundles::new(self.options.clone());
        self.recent_records = RecentRecords::new(Arc::clone(&self.read));
    }

    /// Looks at some logs. Returns whether one of them is unknown or no longer exists: then everything has to be looked at.
    pub(super) fn check(&mut self, files: impl IntoIterator<Item = PathBuf>, before: Option<&Now>) -> bool {
        let mut unknown = false;
        // One file may be many sources, as a database is, and one look at it covers all of them.
        let files: BTreeSet<PathBuf> = files.into_iter().map(|path| find::file_of(&path)).collect();
        for path in files {
            let sources = find::at(&path);
            unknown |= sources.is_empty();
            for found in sources {
                match self.known.get(&found.path) {
                    Some(known) if known.is_as(&found) => {}
                    Some(_) => self.follow(&found, before),
                    None => unknown = true,
                }
            }
        }
        self.bundles.name_sessions(before);
        unknown
    }

    /// The logs that were written to last.
    pub(super) fn newest(&self, count: usize) -> Vec<PathBuf> {
        let mut all: Vec<_> = self.known.iter().map(|(path, known)| (known.written, path)).collect();
        let count = count.min(all.len());
        if count < all.len() {
            // Only the newest are needed, in any order; sorting tens of thousands of logs at every poll would be wasted.
            all.select_nth_unstable_by(count, |a, b| b.cmp(a));
        }
        all.into_iter().take(count).map(|(_, path)| path.clone()).collect()
    }

    /// The logs that a session is linked with.
    pub(super) fn files_of(&self, agent: &str, session: &str) -> Vec<PathBuf> {
        let bundle = self.bundles.of_session(agent, session).and_then(|number| self.bundles.get(number));
        let paths = bundle.into_iter().flat_map(|bundle| bundle.paths()).map(PathBuf::from);
        // A path that is not UTF-8 is spelled differently here, and is left to the poll.
        paths.filter(|path| self.known.contains_key(path)).collect()
    }

    /// The stamp that a log had when it was read, by its spelled path.
    pub(super) fn stamp(&self, path: &str) -> Option<FileStamp> {
        let known = self.known.get(Path::new(path));
        // A path that is not UTF-8 is spelled differently, so all have to be compared.
        let odd = || self.known.iter().find(|(own, _)| spelled(own) == *path).map(|(_, known)| known);
        known.or_else(odd).and_then(|known| known.stamp)
    }

    /// Takes the messages that are new since the last time.
    pub(super) fn take_new_messages(&mut self) -> Vec<NewMessage> {
        std::mem::take(&mut self.new_messages)
    }

    /// Reads what is new in a log.
    fn follow(&mut self, found: &FoundSource, before: Option<&Now>) {
        let file = spelled(&found.path);
        let place = self.live.iter().position(|(path, _)| *path == found.path);
        let mut entry = match place {
            Some(place) => self.live.remove(place),
            None => (found.path.clone(), Follower::new(&found.path, &self.options)),
        };
        let mut notes = NewLines::default();
        let bytes = entry.1.bytes();
        // Before rows were published for the first time, no message counts as new.
        let taken = entry.1.follow(&mut self.buffer, &mut |format, line| {
            if before.is_some() {
                notes.take(&file, format, line);
            }
        });
        self.read.fetch_add(entry.1.bytes() - bytes, Ordering::Relaxed);
        let published = self.note(found);
        let followed = match taken {
            Ok(followed) => followed,
            Err(error) => {
                warn!(path = ?found.path, %error, "cannot follow a log");
                return self.mark_unreadable(&found.path, published, before);
            }
        };
        trace!(path = ?found.path, bytes = entry.1.bytes() - bytes, whole = followed.whole, "followed a log");
        if followed.whole {
            self.recent_records.forget(&file);
            // By the bytes that were read: the size of a source that is no plain file counts something else.
            self.known.entry(found.path.clone()).and_modify(|known| known.size = followed.source.summary.tally.bytes);
        }
        // In a log that was read again from its start, only messages behind its old end are new.
        let new = if followed.whole { published } else { 0 };
        self.new_messages.extend(notes.new_messages.into_iter().filter(|(start, _)| *start >= new).map(|(_, message)| message));
        notes.requests.iter().for_each(|(start, bytes)| self.recent_records.hold(&file, *start, bytes));
        self.bundles.put(followed.source, before);
        self.live.push(entry);
        if self.live.len() > LIVE {
            self.live.remove(0);
        }
    }

    /// Reads logs whole, on all threads.
    fn scan(&mut self, files: &[FoundSource], before: Option<&Now>) {
        if files.is_empty() {
            return;
        }
        let progress = Progress::default();
        let (linker, problems) = scan::scan(files, &self.options, &progress);
        self.read.fetch_add(progress.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        for found in files {
            // A follower of a log that was read whole would continue at an old place.
            self.live.retain(|(path, _)| *path != found.path);
            self.recent_records.forget(&spelled(&found.path));
            self.note(found);
        }
        linker.into_sources().for_each(|source: Source| self.bundles.put(source, before));
        for problem in &problems {
            // These bytes count as published: messages in a log that becomes readable later are not new.
            let published = self.known.get(&problem.path).map_or(0, |known| known.size);
            self.mark_unreadable(&problem.path, published, before);
        }
    }

    /// Notes that a log has been read in the state in which it was found. Returns how much of it was published before.
    fn note(&mut self, found: &FoundSource) -> u64 {
        self.known.insert(found.path.clone(), KnownSource::of(found)).map_or(0, |known| known.size)
    }

    /// Removes the content of a log that cannot be read, until it can be. `published` is how much of it was published before.
    fn mark_unreadable(&mut self, path: &Path, published: u64, before: Option<&Now>) {
        if let Some(known) = self.known.get_mut(path) {
            (known.stamp, known.size) = (None, published);
        }
        let file = spelled(path);
        self.recent_records.forget(&file);
        self.bundles.remove(&file, before);
    }

    fn remove(&mut self, path: &Path, before: Option<&Now>) {
        self.known.remove(path);
        self.live.retain(|(live, _)| live != path);
        let file = spelled(path);
        self.recent_records.forget(&file);
        self.bundles.remove(&file, before);
    }
}

impl NewLines {
    /// Notes the message in a line, and keeps the line if it requests a call.
    fn take(&mut self, file: &str, format: &dyn Format, line: LogLine<'_>) {
        // Notes only save reading: without them a request is read from the disk when it is needed.
        if line.oversized() || self.bytes > NOTED {
            return;
        }
        let at = At { line: line.number, span: Span { start: line.start, end: line.start + line.length } };
        let (mut by, mut calls, mut time, mut session) = (None, false, None, None);
        // A line that cannot be decoded has nothing to note; the scan itself reports it.
        let _ = format.decode(Record { at, bytes: line.bytes }, &mut |event| match &event.fact {
            Fact::Record { .. } => {
                time = event.time;
                session = event.scope.session.as_deref().map(|name| Box::from(&*String::from_utf8_lossy(name)));
            }
            Fact::Prompt(_) => by = Some(MessageRole::Asker),
            Fact::Block(block) if block.message.is_some() && block.kind == BlockKind::Text => by = Some(MessageRole::Model),
            Fact::Call(_) => calls = true,
            _ => {}
        });
        if let Some(by) = by {
            self.bytes += file.len();
            self.new_messages.push((line.start, NewMessage { file: file.into(), line: line.number, time, session, by }));
        }
        if calls {
            self.bytes += line.bytes.len();
            self.requests.push((line.start, line.bytes.to_vec()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(path: &Path) -> Option<FoundSource> {
        find::at(path).into_iter().next()
    }

    #[test]
    fn a_log_that_could_not_be_read_is_tried_again() {
        let place = tempfile::tempdir().unwrap();
        // The log itself must stay as it is, so its directory is what goes and comes back.
        let [logs, away] = ["logs", "away"].map(|name| place.path().join(name));
        let path = logs.join("s1.jsonl");
        std::fs::create_dir(&logs).unwrap();
        std::fs::write(&path, "{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"s1\",\"message\":{\"content\":\"go\"}}\n").unwrap();
        let mut world =
            WatchedSources::new(LogLocations::Paths(vec![logs.clone()]), &crate::watch::WatchOptions::default(), Arc::default());
        let (now, found) = (Now::at(Time::UNIX_EPOCH), stat(&path).unwrap());
        let is_there = |world: &mut WatchedSources| world.bundles.of(&spelled(&path)).is_some();
        for by_scan in [true, false] {
            std::fs::rename(&logs, &away).unwrap();
            if by_scan {
                world.scan(std::slice::from_ref(&found), None)
            } else {
                world.follow(&found, None)
            }
            assert!(!is_there(&mut world));
            std::fs::rename(&away, &logs).unwrap();
            assert_eq!(stat(&path).map(|found| stamp(&found)), Some(stamp(&found)), "it is as it was");
            match by_scan {
                true => drop(world.look(None, &now)),
                false => assert!(!world.check([path.clone()], None), "it is known"),
            }
            assert!(is_there(&mut world));
        }
    }
}
