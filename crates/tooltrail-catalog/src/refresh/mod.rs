//! A refresh: the catalogue made equal to what the logs say now.
//!
//! Sources with an unchanged file are not opened; if that is all of them, nothing else happens. Otherwise the changed ones are read, the
//! newest first; the summaries of the other sources in their bundles are taken from the catalogue and linked with them, and the sessions
//! that differ are written, in one transaction. A process that finds that another one has written meanwhile begins again with what it has
//! read.
//!
//! Very many logs are read in several steps, so that the newest are available first, and so that memory does not grow with what there is:
//! a step links the bundles of what it has read, writes them and lets go of them. Other processes see a new catalogue after the first few
//! steps: until then nothing has to be written twice.

mod gather;
mod plan;

use crate::rows::{Linkage, RequestFactsCache};
use crate::store::{Catalogue, CatalogueError, CatalogueWriter, NewSource, SourceIds, is_damaged, read};
use crate::{Map, Set};
use gather::{AffectedBundles, GatheredSources};
use plan::RefreshPlan;
pub use plan::is_much;
pub(crate) use plan::stamp;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find::{LimitedLog, Problem, Search};
use tooltrail_formats::scan::{Options, Progress, spelled};
use tooltrail_model::Time;
use tracing::{debug, info, warn};

/// How much is read before anything is written, and then again.
const STEP: u64 = 256 << 20;
/// How much is read before other processes see a new catalogue.
const DRAFT: u64 = 1 << 30;

/// The result of a refresh.
#[derive(Debug, Default)]
pub struct RefreshOutcome {
    /// Sources that were read.
    pub read: usize,
    /// Sources whose files no longer exist.
    pub lost: usize,
    /// Sessions that were written.
    pub sessions: usize,
    /// Sources that could not be read.
    pub problems: Vec<Problem>,
    /// Sources in the catalogue that were read up to a limit, now or before.
    pub limited: Vec<LimitedLog>,
}

/// Makes the catalogue equal to the logs that were found. A catalogue that turns out to be damaged is rebuilt.
pub fn refresh(
    catalogue: &mut Catalogue,
    search: &Search,
    options: &Options,
    now: Time,
    progress: &Progress,
) -> Result<RefreshOutcome, CatalogueError> {
    refresh_with(catalogue, search, options, now, progress, STEP, &|| false)
}

/// The same, with so many bytes of logs in a step, and at least one log. The outcome is the same whatever their number.
pub fn refresh_in_steps(
    catalogue: &mut Catalogue,
    search: &Search,
    options: &Options,
    now: Time,
    progress: &Progress,
    step: u64,
) -> Result<RefreshOutcome, CatalogueError> {
    refresh_with(catalogue, search, options, now, progress, step, &|| false)
}

/// Makes the catalogue equal to the logs that were found, as [`refresh`] does. Where reading takes much memory ([`is_much`]), `elsewhere` is
/// asked first to do it in another process; it gives whether that was done.
pub fn refresh_elsewhere(
    catalogue: &mut Catalogue,
    search: &Search,
    options: &Options,
    now: Time,
    progress: &Progress,
    elsewhere: &dyn Fn() -> bool,
) -> Result<RefreshOutcome, CatalogueError> {
    refresh_with(catalogue, search, options, now, progress, STEP, elsewhere)
}

fn refresh_with(
    catalogue: &mut Catalogue,
    search: &Search,
    options: &Options,
    now: Time,
    progress: &Progress,
    step: u64,
    elsewhere: &dyn Fn() -> bool,
) -> Result<RefreshOutcome, CatalogueError> {
    let start = Instant::now();
    let run = |catalogue: &mut Catalogue| Refresh { step, ..Refresh::new(search, options, now, progress) }.run(catalogue, elsewhere);
    let mut outcome = match run(catalogue) {
        Err(RefreshError::Store(error)) if is_damaged(&error) => {
            warn!(path = ?catalogue.path(), %error, "the index is damaged and is rebuilt");
            catalogue.start_over(&error)?;
            run(catalogue)
        }
        outcome => outcome,
    }
    .map_err(|error| match error {
        RefreshError::Store(error) => catalogue.failed(error),
        RefreshError::Catalogue(error) => error,
    })?;
    outcome.limited = catalogue.query(read::limited)?;
    let RefreshOutcome { read, lost, sessions, problems, limited: _ } = &outcome;
    info!(path = ?catalogue.path(), read, lost, sessions, failed = problems.len(), took = ?start.elapsed(), "refreshed the index");
    Ok(outcome)
}

/// The reason why a refresh failed.
enum RefreshError {
    Store(rusqlite::Error),
    Catalogue(CatalogueError),
}

impl From<rusqlite::Error> for RefreshError {
    fn from(error: rusqlite::Error) -> Self {
        RefreshError::Store(error)
    }
}

impl From<CatalogueError> for RefreshError {
    fn from(error: CatalogueError) -> Self {
        RefreshError::Catalogue(error)
    }
}

/// A refresh under way.
struct Refresh<'a> {
    search: &'a Search,
    options: &'a Options,
    now: Time,
    progress: &'a Progress,
    held: GatheredSources,
    /// Sources that could not be read, and whether each may still exist.
    failed: Map<String, bool>,
    /// Sources that were read and stored.
    done: Set<String>,
    /// How much is read in a step, and how much there was in those that a new catalogue has.
    step: u64,
    drafted: u64,
    outcome: RefreshOutcome,
}

impl<'a> Refresh<'a> {
    fn new(search: &'a Search, options: &'a Options, now: Time, progress: &'a Progress) -> Self {
        Refresh {
            search,
            options,
            now,
            progress,
            held: GatheredSources::default(),
            failed: Map::default(),
            done: Set::default(),
            step: STEP,
            drafted: 0,
            outcome: RefreshOutcome::default(),
        }
    }

    fn run(mut self, catalogue: &mut Catalogue, elsewhere: &dyn Fn() -> bool) -> Result<RefreshOutcome, RefreshError> {
        let mut asked = false;
        loop {
            let mut plan = RefreshPlan::make(&catalogue.connection, self.search, self.now, &self.failed, &self.done)?;
            if plan.is_empty() {
                if catalogue.has_carried() {
                    // There is nothing to read, but what was carried over needs a file with a name.
                    if let Some(writer) = CatalogueWriter::begin(&mut catalogue.connection, plan.epoch)? {
                        writer.commit()?;
                    }
                    catalogue.publish()?;
                }
                return Ok(self.outcome);
            }
            // Once: what is left after that is read here.
            if !std::mem::replace(&mut asked, true) && plan.is_much() && elsewhere() {
                self.outcome.read += plan.read.len();
                continue;
            }
            let all = plan.cut(self.step);
            let joined = match self.held.gather(&catalogue.connection, &mut plan, self.options, self.progress)? {
                Ok(joined) => joined,
                Err(problems) => {
                    // The plan is made again without what cannot be read; what is known of it stays, unless it does not exist.
                    self.failed.extend(problems.iter().map(|problem| (spelled(&problem.path), plan::may_exist(problem))));
                    self.outcome.problems.extend(problems);
                    continue;
                }
            };
            // Much may be in memory before the step is read to its end.
            let all = all && !self.held.left;
            if self.write(catalogue, &plan, &joined)? {
                self.drafted = self.drafted.saturating_add(plan.bytes());
                if !all && catalogue.is_new() && self.drafted < DRAFT {
                    self.held = GatheredSources::default();
                    continue;
                }
                match catalogue.publish()? {
                    true if all => break,
                    // Let go before the next step is read: what that is linked with comes from the catalogue.
                    true => self.held = GatheredSources::default(),
                    // What is stored now is what another process has read.
                    false => self.done.clear(),
                }
            }
        }
        // Freeing all summaries takes time that the caller need not wait for. Without a thread it happens here.
        let held = self.held;
        let _ = std::thread::Builder::new().spawn(move || drop(held));
        Ok(self.outcome)
    }

    /// Links the changed sources with their bundles and writes the sessions that differ; returns `false` if another process wrote first.
    fn write(&mut self, catalogue: &mut Catalogue, plan: &RefreshPlan<'_>, joined: &AffectedBundles) -> rusqlite::Result<bool> {
        let facts = known(&catalogue.connection, plan)?;
        // Facts are read before the transaction begins, to hold the write lock for as short as possible.
        let Some(writer) = CatalogueWriter::begin(&mut catalogue.connection, plan.epoch)? else { return Ok(false) };
        let sessions = read::sessions(writer.connection())?;
        let mut before = Set::default();
        for source in &joined.stored {
            read::sessions_of(writer.connection(), *source, &mut before)?;
        }
        // Sources are stored as they are, so that needs no linking.
        let (linked, stored) = std::thread::scope(|scope| {
            let linking = scope.spawn(|| self.held.linker.link_on(self.options.threads));
            let stored = self.put_sources(&writer, plan);
            (linking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), stored)
        });
        debug!(sources = linked.sources.len(), sessions = linked.sessions.len(), "linked logs");
        let (ids, bundles) = stored?;
        let linkage = Linkage::new(&linked, &bundles);
        let written = write_sessions(&writer, &linkage, &sessions, &ids, &facts, self.options.threads)?;
        for session in &linked.sessions {
            if let Some(stored) = sessions.get(&read::session_key(session.agent, &session.id)) {
                before.remove(&stored.id);
                // Its rows may be the same, and still a log that it is linked with says something else now.
                writer.clear_details(stored.id)?;
            }
        }
        // Sessions that the changed sources described before, and that no linked source describes now.
        for gone in before {
            writer.lose_session(gone)?;
        }
        for bundle in &joined.bundles {
            writer.clear_stray_usage(*bundle)?;
        }
        for (bundle, usage) in &linkage.stray_usage {
            writer.put_stray_usage(ids.of(*bundle), usage)?;
        }
        writer.name_sessions()?;
        writer.tidy()?;
        writer.commit()?;
        self.outcome.read += plan.read.len();
        self.done.extend(plan.read.iter().cloned());
        self.outcome.lost += plan.lost.len();
        self.outcome.sessions += written;
        Ok(true)
    }

    /// Stores the sources that were read, and removes those that are lost. Returns the ids of all linked sources, and for each the first
    /// source of its bundle.
    fn put_sources(&self, writer: &CatalogueWriter<'_>, plan: &RefreshPlan<'_>) -> rusqlite::Result<(SourceIds<'_>, Vec<usize>)> {
        let mut ids = SourceIds { by_place: Vec::new(), by_path: Map::default() };
        for source in self.held.linker.sources() {
            let known = plan.known.get(&*source.path);
            let fresh = plan.present.get(&*source.path).filter(|_| plan.read.contains(&*source.path));
            let id = match (fresh, known) {
                (None, Some(known)) => known.id,
                // Cannot happen: a linked source was either read or taken from the catalogue. 0 is no source's id.
                (None, None) => 0,
                (Some(&(_, stamp)), _) => writer.put_source(&NewSource {
                    path: &source.path,
                    stamp: self.held.stamp(&source.path, stamp),
                    modified: source.modified,
                    scanned: self.now,
                    summary: &source.summary,
                    packed: self.held.packed(&source.path),
                    ties: self.held.ties(&source.path),
                })?,
            };
            ids.by_place.push(id);
            ids.by_path.insert(&source.path, id);
        }
        let bundles = self.held.bundles();
        for (place, &first) in bundles.iter().enumerate() {
            writer.put_bundle(ids.of(place), ids.of(first))?;
        }
        for lost in &plan.lost {
            writer.lose_source(*lost)?;
        }
        Ok((ids, bundles))
    }
}

/// The facts of requests in the sessions that are about to be written, so that their logs need not be read for them again.
fn known(connection: &rusqlite::Connection, plan: &RefreshPlan<'_>) -> rusqlite::Result<RequestFactsCache> {
    let mut known = RequestFactsCache::default();
    let read = plan.read.iter().filter_map(|path| plan.known.get(path)).map(|source| source.id);
    for source in read.chain(plan.lost.iter().copied()) {
        read::request_facts(connection, source, &mut known)?;
    }
    Ok(known)
}

/// Writes the sessions whose stored rows are outdated. Rows are made on all threads and written by this one.
fn write_sessions(
    writer: &CatalogueWriter<'_>,
    linkage: &Linkage<'_>,
    stored: &Map<String, read::SessionInfo>,
    ids: &SourceIds<'_>,
    facts: &RequestFactsCache,
    threads: usize,
) -> rusqlite::Result<usize> {
    let next = AtomicUsize::new(0);
    let disk = Disk::default();
    let known = |session: &crate::rows::StoredSession<'_>| {
        let row = &session.open.row;
        stored.get(&read::session_key(row.agent, row.session)).copied()
    };
    // Bounded, so that rows do not pile up in memory while the disk is slow.
    let (send, receive) = mpsc::sync_channel(2 * threads);
    let make = |send: mpsc::SyncSender<_>| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(mut session) = linkage.session(index) else { return };
            if known(&session).is_some_and(|known| !known.gone && known.fingerprint == session.fingerprint) {
                continue;
            }
            session.complete(facts, &disk);
            if send.send((index, session)).is_err() {
                // The receiver is gone because writing failed.
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let send = send.clone();
            scope.spawn(|| make(send));
        }
        drop(send);
        let mut written = 0;
        // The receiver is consumed: if writing fails it is dropped, and the threads that make rows stop.
        for (index, mut session) in receive {
            let mut row = writer.put_session(known(&session).map(|known| known.id), &session, ids)?;
            while linkage.more(index, &mut session) {
                session.complete(facts, &disk);
                row = writer.put_calls(row, &session, ids)?;
            }
            written += 1;
        }
        Ok(written)
    })
}
