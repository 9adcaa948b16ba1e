//! Details of sessions: what follows from the content of their records, made once and stored beside their rows.
//!
//! [`derive`](fn@derive) is the one function that makes them: it opens each call of a session once, for the digest, for filters and for
//! failures. [`StoredLibrary::fill`] makes those that are missing, the newest first; it may be stopped at any time, and what it has
//! stored stays. A session that may be live has none, because its outcome depends on the time.

use crate::library::{Library, StoredLibrary};
use crate::store::details::{CallContent, CallDetails, CommandTally, DetailKey, RequestDetails, SessionDetails};
use crate::store::{CatalogueError, ListedCall, SessionListing, read};
use crate::{Map, Set, each};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tooltrail_formats::disk::ReadLogs;
use tooltrail_formats::error::ErrorChain;
use tooltrail_formats::transcript::{SessionBook, SharedRecords};
use tooltrail_model::book::{Book, Loaded, Selection};
use tooltrail_model::changes::net::FileSize;
use tooltrail_model::command::CommandLine;
use tooltrail_model::content::words;
use tooltrail_model::digest::{self, Digest, FollowUp};
use tooltrail_model::failure_group::{error_line, failure_group};
use tooltrail_model::failure_hint::failure_hint;
use tooltrail_model::filter::content;
use tooltrail_model::link::{Linked, LinkedRequest, Now};
use tooltrail_model::row::{CallNumber, SessionRow};
use tooltrail_model::transcript::{CallEntry, Entry, Spot, Story, Transcript};
use tooltrail_model::{Map as ModelMap, Status, Time};
use tracing::{debug, warn};

/// Details that were made and not stored yet are stored together once they are of so many sessions.
const BATCH: usize = 64;

/// Making the details of more sessions than this takes much memory, and of a session whose logs have more lines and calls.
const MANY: usize = 2000;
const LARGE: i64 = 100_000;

/// The most lines at the end of an output that are looked at for one with any text.
const LAST_LINES: usize = 1000;

/// The moment at which no session is live: details are those of sessions that have ended.
fn ended() -> Now {
    Now { time: Time::UNIX_EPOCH, patience: Duration::ZERO, live: ModelMap::default() }
}

/// A book that notes the content of each call as it is opened, so that no call is opened twice.
struct NotingBook<'b, 'a> {
    book: &'b SessionBook<'a>,
    noted: Mutex<Vec<Option<CallDetails>>>,
    /// The name of the command that each call ran.
    labels: Mutex<Map<usize, String>>,
}

impl NotingBook<'_, '_> {
    /// The details of a call, which is opened for them unless it was before.
    fn details(&self, index: usize) -> Option<CallDetails> {
        let is_noted = || self.noted.lock().unwrap_or_else(PoisonError::into_inner).get(index).is_some_and(Option::is_some);
        if !is_noted() {
            self.call(index);
        }
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).get_mut(index).and_then(Option::take)
    }
}

impl Book for NotingBook<'_, '_> {
    fn transcript(&self) -> &Transcript<'_> {
        self.book.transcript()
    }

    fn open(&self, entry: &Entry) -> Loaded<'_> {
        self.book.open(entry)
    }

    fn call(&self, index: usize) -> Loaded<'_> {
        let loaded = self.book.call(index);
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        // A digest may open a call more than once; its details are the same each time.
        if let Some(place) = noted.get_mut(index).filter(|place| place.is_none()) {
            *place = self.book.transcript().calls.get(index).map(|call| CallDetails { number: call.number, ..of_call(&loaded) });
            let label = if let Loaded::Call(story) = &loaded { story.command.as_ref().and_then(CommandLine::label) } else { None };
            self.labels.lock().unwrap_or_else(PoisonError::into_inner).extend(label.map(|label| (index, label)));
        }
        drop(noted);
        loaded
    }

    fn file(&self, source: usize) -> Option<&str> {
        self.book.file(source)
    }

    fn printed_by(&self, wait: &Story<'_>, program: &str) -> Option<String> {
        self.book.printed_by(wait, program)
    }

    fn net_sizes(&self, selection: &Selection) -> Option<Vec<FileSize>> {
        self.book.net_sizes(selection)
    }

    fn row(&self, spot: Spot) -> Option<&str> {
        self.book.row(spot)
    }
}

/// The details of an opened call.
fn of_call(loaded: &Loaded<'_>) -> CallDetails {
    let Loaded::Call(story) = loaded else { return CallDetails::default() };
    let mut files = Vec::new();
    content::files(loaded, &mut |path| files.push(path.to_owned()));
    let command = content::command(loaded).map(str::to_owned);
    let facts = CallContent { known: true, files, has_image: content::has_image(loaded), command };
    let told = digest::explanation(story).and_then(|text| error_line(&text));
    // The exit code alone says that something failed, which the status says too, and not what.
    let error = told.clone().filter(|line| !is_exit_code(line)).or_else(|| printed_error(story)).or(told);
    let failed = matches!(story.row.status, Status::Failed | Status::TimedOut | Status::Blocked | Status::Rejected);
    // Whether that is a failure is known with the whole session.
    let failure = failed.then(|| group(story, error.as_deref()));
    CallDetails { facts, error, failure, ..CallDetails::default() }
}

/// Whether a message says no more than an exit code.
fn is_exit_code(line: &str) -> bool {
    let words = line.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.').trim_end().to_ascii_lowercase();
    matches!(words.as_str(), "exit code" | "process exited with code" | "command failed with exit code" | "exited with code")
}

/// The error line of a command that failed without a message of the agent: the line of its output that names a failure, else the last one.
fn printed_error(story: &Story<'_>) -> Option<String> {
    if !matches!(story.row.status, Status::Failed | Status::TimedOut) || digest::is_negative_answer(story) {
        return None;
    }
    let output: Vec<String> =
        words(&story.answer.as_ref()?.seen).lines().filter(|line| !is_exit_code(line.trim())).map(str::to_owned).collect();
    let output = output.join("\n");
    // Commands say why they end at their end; what stands before is what they did.
    let last = || output.lines().rev().take(LAST_LINES).find(|line| !line.trim().is_empty()).map(str::to_owned);
    failure_hint(&output).or_else(last).and_then(|line| error_line(&line))
}

/// The group of a failure: by what it says, or else by how the call ended.
fn group(story: &Story<'_>, error: Option<&str>) -> String {
    let silent = || match (story.row.reason, story.row.exit_code) {
        (_, Some(code)) => format!("exit code {code}, without a message"),
        (Some(reason), None) => format!("{} ({})", story.row.status.word(), reason.word()).replace('_', " "),
        (None, None) => story.row.status.word().replace('_', " "),
    };
    error.map(failure_group).filter(|group| !group.is_empty()).unwrap_or_else(silent)
}

/// Requests and turns of linked logs, by session.
pub(crate) struct RequestIndex<'a> {
    requests: Map<usize, Vec<LinkedRequest<'a>>>,
    /// The times of the turns of each session, in order.
    turns: Map<usize, Vec<Time>>,
}

impl<'a> RequestIndex<'a> {
    /// The requests and turns of linked logs.
    pub(crate) fn of(linked: &Linked<'a>) -> Self {
        let (mut requests, mut turns): (Map<usize, Vec<LinkedRequest<'a>>>, Map<usize, Vec<Time>>) = Default::default();
        for request in linked.requests() {
            if let Some(session) = request.session {
                requests.entry(session).or_default().push(request);
            }
        }
        for turn in linked.turns() {
            turns.entry(turn.session).or_default().extend(turn.record.time);
        }
        RequestIndex { requests, turns }
    }

    /// The requests of a session by time, each with its turn.
    fn of_session(&self, linked: &Linked<'_>, session: usize) -> Vec<RequestDetails> {
        let turns = self.turns.get(&session).map(Vec::as_slice).unwrap_or_default();
        let mut own: Vec<&LinkedRequest<'_>> = self.requests.get(&session).into_iter().flatten().collect();
        let path = |source: usize| linked.sources.get(source).map(|source| &source.path);
        // Of one moment by file and line, so that the same logs always give the same details.
        own.sort_by_key(|request| (request.time, path(request.source), request.line));
        let text = |text: Option<&str>| text.map(str::to_owned);
        let details = own.into_iter().map(|request| RequestDetails {
            time: request.time,
            // A turn is what follows a prompt, also where subagents make the requests.
            turn: request.time.map(|time| turns.partition_point(|turn| *turn <= time) as u64).filter(|turn| *turn > 0),
            agent_id: text(request.agent_id),
            sidechain: request.sidechain,
            model: text(request.model),
            tier: text(request.tier),
            tokens: request.tokens,
        });
        details.collect()
    }
}

/// Linked logs whose sessions' details are made one after the other.
pub(crate) struct DetailSource<'a> {
    linked: &'a Linked<'a>,
    records: SharedRecords<'a>,
    requests: RequestIndex<'a>,
}

impl<'a> DetailSource<'a> {
    /// Linked logs, of which nothing is read yet.
    pub(crate) fn of(linked: &'a Linked<'a>) -> Self {
        DetailSource { linked, records: SharedRecords::new(linked), requests: RequestIndex::of(linked) }
    }
}

/// The details of a session of linked logs.
pub(crate) fn derive(source: &DetailSource<'_>, session: usize, disk: &dyn ReadLogs) -> SessionDetails {
    let now = ended();
    let book = SessionBook::read_shared(&source.records, session, &now, disk);
    let calls = &book.transcript().calls;
    let noting = NotingBook { book: &book, noted: Mutex::new(vec![None; calls.len()]), labels: Mutex::default() };
    let (digest, follow_ups) = digest::with_follow_ups(&noting);
    let follow_ups: Map<CallNumber, FollowUp> = follow_ups.into_iter().collect();
    // A copy has no row: it is told where its original is.
    let own = (0..calls.len()).filter(|&index| calls.get(index).is_some_and(|call| call.row.copy_of.is_none()));
    let mut details: Vec<CallDetails> = own.filter_map(|index| noting.details(index)).collect();
    for call in &mut details {
        call.follow_up = follow_ups.get(&call.number).copied().filter(|_| call.failure.is_some());
        // No failure: a negative answer, or a script that is told by a call in it, whose error would stand there twice.
        if call.follow_up.is_none() && call.failure.take().is_some() {
            call.error = None;
        }
    }
    let commands = tallies(calls, &noting.labels.into_inner().unwrap_or_else(PoisonError::into_inner), &details);
    SessionDetails { digest: digest.to_stored(), calls: details, commands, requests: source.requests.of_session(source.linked, session) }
}

/// Counts the commands of a session by name: how often each was started, and how often it failed or ran out of time.
fn tallies(calls: &[CallEntry<'_>], labels: &Map<usize, String>, details: &[CallDetails]) -> Vec<CommandTally> {
    let failures: Set<CallNumber> = details.iter().filter(|call| call.failure.is_some()).map(|call| call.number).collect();
    let mut tallies: BTreeMap<&str, CommandTally> = BTreeMap::new();
    for (index, call) in calls.iter().enumerate().filter(|(_, call)| call.row.copy_of.is_none()) {
        // A refused command never ran, so it must not lower the share of runs that failed.
        let refused = matches!(call.row.status, Status::Rejected | Status::Blocked | Status::Cancelled);
        let Some(label) = labels.get(&index).filter(|_| !refused) else { continue };
        let tally = tallies.entry(label).or_insert_with(|| CommandTally { label: label.clone(), ..CommandTally::default() });
        tally.runs += 1;
        if failures.contains(&call.number) {
            tally.failed += 1;
            // Subagents run beside each other, so the last failure in the list need not be the latest one.
            if tally.last.is_none() || call.row.requested_at >= tally.at {
                (tally.last, tally.at) = (Some((call.number.call, call.number.inner)), call.row.requested_at);
            }
        }
    }
    tallies.into_values().collect()
}

/// The details of one session, whether or not they may be stored; `None` for one whose logs are gone.
pub(crate) fn derive_one(
    library: &StoredLibrary,
    listing: &SessionListing,
    session: usize,
) -> Result<Option<SessionDetails>, CatalogueError> {
    let rows = listing.rows_of(&[session]);
    let (Some(bundle), Some(row)) = (listing.bundle(session), rows.first()) else { return Ok(None) };
    let linker = library.open(bundle)?;
    let linked = linker.link();
    // A bundle is linked on its own, so the place in the listing says nothing here.
    let place = linked.sessions.iter().position(|linked| linked.agent == row.agent && *linked.id == *row.session);
    Ok(place.map(|place| derive(&DetailSource::of(&linked), place, library.disk())))
}

impl StoredLibrary {
    /// The digest of a session, as it is stored; `None` where it is not, or where the session may be live. [`StoredLibrary::fill`] makes it.
    /// Its calls have no places in a transcript.
    pub fn digest(&self, listing: &SessionListing, row: &SessionRow<'_>, session: usize) -> Option<Digest> {
        let text = self.details.digest(listing.detail_key(session)?)?;
        let digest = Digest::of_stored(&text, row.short)?;
        // What is stored is the digest of an ended session; the state depends on the moment of asking.
        Some(Digest { state: row.state, state_reason: row.state_reason, ..digest })
    }

    /// The first line of what went wrong with a call, as far as it is known without opening logs.
    pub fn error(&self, listing: &SessionListing, call: ListedCall) -> Option<String> {
        match listing.detail_key(call.session) {
            Some(key) => self.details.error(key, call.id),
            None => self.known_live(listing, call.session)?.calls.get(&call.number)?.error.clone(),
        }
    }

    /// Whether the digest of a session is stored.
    pub fn has_digest(&self, listing: &SessionListing, session: usize) -> bool {
        listing.detail_key(session).is_some_and(|key| self.details.has(key))
    }

    /// Whether the details of a session are missing, and can be made.
    pub fn is_pending(&self, listing: &SessionListing, session: usize) -> bool {
        let key = listing.detail_key(session).filter(|_| listing.bundle(session).is_some());
        key.is_some_and(|key| !self.details.has(key))
    }

    /// The sessions among some whose details are missing, and can be made.
    pub fn pending(&self, listing: &SessionListing, sessions: &[usize]) -> Vec<usize> {
        if sessions.len() <= BATCH {
            return sessions.iter().copied().filter(|session| self.is_pending(listing, *session)).collect();
        }
        // One question for all of them: tens of thousands would take seconds.
        let stored = self.details.all();
        let is_pending = |session: &usize| {
            let key = listing.detail_key(*session).filter(|_| listing.bundle(*session).is_some());
            key.is_some_and(|key| !key.is_among(&stored))
        };
        sessions.iter().copied().filter(is_pending).collect()
    }

    /// Whether making the details of some sessions takes much memory: they are many, or their logs have very many lines or calls.
    pub fn is_much(&self, listing: &SessionListing, sessions: &[usize]) -> Result<bool, CatalogueError> {
        if sessions.is_empty() || sessions.len() > MANY {
            return Ok(!sessions.is_empty());
        }
        for &session in sessions {
            if self.is_large(listing, session)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the logs that a session is linked with have very many lines or calls, so that opening it takes seconds.
    pub fn is_large(&self, listing: &SessionListing, session: usize) -> Result<bool, CatalogueError> {
        let large = match self.large.get() {
            Some(known) => known,
            None => {
                let read = self.catalogue().query(|connection| read::large_bundles(connection, LARGE))?;
                self.large.get_or_init(|| read)
            }
        };
        Ok(listing.bundle(session).is_some_and(|bundle| large.contains(&bundle)))
    }

    /// Makes and stores the details that are missing of some sessions, in their order, until `go_on` returns `false`. Returns how many
    /// sessions were done. Details that cannot be stored are made again when they are needed.
    pub fn fill(
        &self,
        listing: &SessionListing,
        sessions: &[usize],
        threads: usize,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<usize, CatalogueError> {
        // By bundle, because linking one is not free; in the order of the first session of each.
        let mut bundles: Vec<(i64, Vec<usize>)> = Vec::new();
        let mut places: Map<i64, usize> = Map::default();
        for session in self.pending(listing, sessions) {
            let Some(bundle) = listing.bundle(session) else { continue };
            let place = *places.entry(bundle).or_insert_with(|| {
                bundles.push((bundle, Vec::new()));
                bundles.len() - 1
            });
            bundles[place].1.push(session);
        }
        let made = Mutex::new(Vec::new());
        let done = each(threads, bundles.len(), |index| {
            let (bundle, own) = &bundles[index];
            if !go_on() {
                return Ok(0);
            }
            // Another thread or process may have made some of them meanwhile.
            let own = self.pending(listing, own);
            let mut count = 0;
            self.derive_bundle(listing, *bundle, &own, |details| {
                count += 1;
                let mut waiting = made.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.push(details);
                let batch = if waiting.len() >= BATCH { std::mem::take(&mut *waiting) } else { Vec::new() };
                // Other threads go on while these are written.
                drop(waiting);
                self.store(&batch);
                // A bundle may have tens of thousands of sessions.
                go_on()
            })?;
            Ok(count)
        });
        // Also after a stop or an error: what was made need not be made again.
        self.store(&made.into_inner().unwrap_or_else(PoisonError::into_inner));
        done.into_iter().sum()
    }

    fn store(&self, details: &[(DetailKey, SessionDetails)]) {
        if !details.is_empty() && !self.details.put(details) {
            debug!(sessions = details.len(), "details could not be stored");
        }
    }

    /// Makes the details of sessions of a bundle, and passes them on one by one until `take` returns `false`.
    fn derive_bundle(
        &self,
        listing: &SessionListing,
        bundle: i64,
        sessions: &[usize],
        mut take: impl FnMut((DetailKey, SessionDetails)) -> bool,
    ) -> Result<(), CatalogueError> {
        if sessions.is_empty() {
            return Ok(());
        }
        let linker = self.open(bundle).inspect_err(|error| warn!(error = %ErrorChain(error), bundle, "cannot open logs for details"))?;
        let linked = linker.link();
        let source = DetailSource::of(&linked);
        for (&session, row) in sessions.iter().zip(&listing.rows_of(sessions)) {
            let place = linked.session_with_id(row.agent, row.session).zip(listing.detail_key(session));
            if let Some((place, key)) = place
                && !take((key, derive(&source, place, self.disk())))
            {
                break;
            }
        }
        Ok(())
    }
}
