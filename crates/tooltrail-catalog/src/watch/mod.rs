//! Watching: changes in logs, sent to subscribers a moment after an agent wrote them.
//!
//! A [`Watcher`] has a thread (`event_loop`) that is woken by file system events (`events`), by its own poll, and by subscribers, all
//! through one `inbox`. `log_locations` says where logs are; `sources` holds every source as it was last read and follows those that grow,
//! so that an append costs only the new bytes; `bundles` separates unrelated logs, so that only those linked with the changed one are
//! linked again. Logs that the catalogue describes are not loaded before they are needed (`catalogue_baseline`, `bundles::unloaded`).
//! `fingerprints` compares rows with those before, `recent_records` keeps the latest requests at hand, and `publish` sends the differences
//! through one `queue` for each subscriber.
//!
//! Pages that show a session get it here as well ([`Watcher::session`]), so that what they show and what they are sent come from the same
//! logs.
//!
//! Rows are those of every command: at any quiet moment, what a subscriber has received equals what `calls --json` and `list --json` print.

mod bundles;
mod catalogue_baseline;
mod change;
mod event_loop;
mod events;
mod fingerprints;
mod inbox;
mod log_locations;
mod publish;
mod queue;
mod recent_records;
mod sources;

pub use change::{CallNews, ChangeEvent, MessageNews, MessageRole, SessionNews};
pub use log_locations::LogLocations;
pub use queue::{NextChange, Subscriber};

use crate::keep::Keep;
use event_loop::EventLoop;
use inbox::Inbox;
use sources::WatchedSources;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tooltrail_formats::error::panic_message;
use tooltrail_formats::scan;
use tooltrail_model::filter::Filter;
use tooltrail_model::link::{Linker, Now};

/// Returns the current time, and which sessions are running.
pub type WatchClock = dyn Fn() -> Now + Send + Sync;

/// How to watch.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// How logs are read.
    pub scan: scan::Options,
    /// Whether file system events are used; otherwise there is only the poll.
    pub events: bool,
    /// How often the watcher polls for changes that no event reported.
    pub poll: Duration,
    /// How many changes are queued for a slow subscriber.
    pub queue: usize,
    /// The copies of logs that are gone, for filters with a term about them.
    pub keep: Option<Keep>,
    /// The file of a catalogue that may describe these logs. Logs that are unchanged there need not be read; without it all are.
    pub seed: Option<PathBuf>,
}

impl Default for WatchOptions {
    fn default() -> Self {
        WatchOptions { scan: scan::Options::default(), events: true, poll: Duration::from_secs(2), queue: 4096, keep: None, seed: None }
    }
}

/// The changes that a subscriber wants.
#[derive(Clone, Debug, Default)]
pub struct SubscribeOptions {
    /// Selects the calls to report, by their state at the time. Sessions and messages are reported where the session alone decides.
    pub filter: Filter,
    /// How many calls to send at the beginning: the last ones, and all that are running.
    pub last: usize,
    /// Whether to report all sessions whose logs have changed, even where no row has ([`ChangeEvent::Touched`]).
    pub touched: bool,
}

/// The current logs of a session, with all logs that they are linked with.
#[derive(Clone, Debug)]
pub struct WatchedSession {
    /// The logs, ready to be linked. They stay as they are, whatever is written meanwhile.
    pub linker: Arc<Linker>,
    /// The moment.
    pub now: Now,
    /// A number that changes with every row of the session and with every byte of its logs; equal to the version that the catalogue has for
    /// the same logs ([`crate::store::SessionListing::version`]).
    pub version: u64,
}

/// Watches logs while there are subscribers. Dropping it ends all subscriptions.
#[derive(Debug)]
pub struct Watcher {
    inbox: Arc<Inbox>,
    read: Arc<AtomicU64>,
    queue: usize,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Begins to watch. Nothing is read before there is a subscriber.
    pub fn start(locations: LogLocations, options: WatchOptions, clock: Arc<WatchClock>) -> io::Result<Self> {
        let (inbox, read) = (Arc::<Inbox>::default(), Arc::<AtomicU64>::default());
        // `options` moves to the thread, but subscribers are made here.
        let queue = options.queue;
        let sources = WatchedSources::new(locations, &options, Arc::clone(&read));
        let run = EventLoop::new(sources, Arc::clone(&inbox), options, clock);
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(|| run.run())?;
        Ok(Watcher { inbox, read, queue, thread: Some(thread) })
    }

    /// Subscribes to changes. The requested calls come first, then [`ChangeEvent::Begun`], then changes.
    pub fn subscribe(&self, wish: SubscribeOptions) -> Subscriber {
        let (sender, subscriber) = queue::queue(self.queue, Arc::clone(&self.inbox));
        self.inbox.wish(wish, sender);
        subscriber
    }

    /// The current state of a session, after reading what was written to its logs meanwhile. `None` if there is no such session, if there
    /// is no subscriber, or if the watcher has ended.
    pub fn session(&self, agent: &str, session: &str) -> Option<WatchedSession> {
        // The watcher drops the sender where it has no answer, which ends the wait.
        self.inbox.ask(agent, session).recv().ok()
    }

    /// A handle that ends the watcher from elsewhere, such as a signal handler.
    pub fn end(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.inbox))
    }

    /// Ends the watcher and waits for its thread; fails if that had panicked, in which case its subscribers saw an unexpected end.
    pub fn finish(mut self) -> io::Result<()> {
        self.inbox.end();
        let ended = self.thread.take().map_or(Ok(()), JoinHandle::join);
        ended.map_err(|panic| io::Error::other(format!("the watcher thread failed: {}", panic_message(&*panic))))
    }

    /// How many bytes of logs were read so far.
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

/// Ends a watcher, and with it all subscriptions.
#[derive(Clone, Debug)]
pub struct StopHandle(Arc<Inbox>);

impl StopHandle {
    /// Ends the watcher. Subscribers still receive what was sent to them before.
    pub fn now(&self) {
        self.0.end();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.inbox.end();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed, and a destructor cannot return it.
            let _ = thread.join();
        }
    }
}
