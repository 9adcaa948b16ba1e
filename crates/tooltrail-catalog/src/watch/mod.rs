//! Watching: what changes in logs, told to whoever subscribes, a moment after an agent wrote it.
//!
//! A [`Watcher`] has a thread (`event_loop`) that is woken by what the system tells of files (`events`), by its own poll, and by subscribers, all
//! through one `inbox`. `log_locations` says where logs are; `sources` holds every source as it was last read, and follows those that grow, so that
//! an append costs the new bytes; `bundles` keeps apart what has nothing to do with each other, so that only the logs which belong
//! together with the changed one are linked again, and what the catalogue knows is not in memory before somebody wants it (`catalogue_baseline`,
//! `bundles::unloaded`); `fingerprints` compares the rows with those before; `publish` tells the difference through
//! one `queue` for each subscriber. `updater` keeps the catalogue's file up with the logs, if that is wanted.
//!
//! Whoever shows a session asks for it here as well ([`Watcher::session`]), so that what is shown and what is told come from the same logs.
//!
//! Rows are those of every command: at any quiet moment, what a subscriber was told is what `calls --json` and `list --json` print.

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
mod updater;

pub use change::{CallNews, ChangeEvent, MessageNews, MessageRole, SessionNews};
pub use log_locations::LogLocations;
pub use queue::{NextChange, Subscriber};

use crate::keep::Keep;
use crate::store::Catalogue;
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
use updater::CatalogueUpdater;

/// Tells what time it is, and which sessions run.
pub type WatchClock = dyn Fn() -> Now + Send + Sync;

/// How to watch.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// How logs are read.
    pub scan: scan::Options,
    /// Whether the system is asked to tell of changes; otherwise there is only the poll.
    pub events: bool,
    /// How often it is looked for changes that nobody told of.
    pub poll: Duration,
    /// How many changes wait for a subscriber that does not take them.
    pub queue: usize,
    /// What is kept of logs that are gone, for those who ask about it.
    pub keep: Option<Keep>,
    /// The file of a catalogue that may know these logs. What it has as it is need not be read; without it everything is.
    pub seed: Option<PathBuf>,
}

impl Default for WatchOptions {
    fn default() -> Self {
        WatchOptions { scan: scan::Options::default(), events: true, poll: Duration::from_secs(2), queue: 4096, keep: None, seed: None }
    }
}

/// What a subscriber wants to know.
#[derive(Clone, Debug, Default)]
pub struct SubscribeOptions {
    /// The calls that it is told of, as they are then. Sessions and messages are told where the session alone decides.
    pub filter: Filter,
    /// How many calls it is told of at the beginning: the last ones, and all that run.
    pub last: usize,
    /// Whether it is told of all sessions whose logs have other bytes, even where no row has changed ([`ChangeEvent::Touched`]).
    pub touched: bool,
}

/// The logs of a session as they are now, with all they are linked with.
#[derive(Clone, Debug)]
pub struct WatchedSession {
    /// The logs, ready to be linked. They stay as they are, whatever is written meanwhile.
    pub linker: Arc<Linker>,
    /// The moment.
    pub now: Now,
    /// Changes whenever anything changes that its rows tell, or any of its logs has other bytes; equal to what the catalogue says of the
    /// same logs ([`crate::store::Listing::version`]).
    pub version: u64,
}

/// Watches logs while somebody is subscribed. Dropping it ends all subscriptions.
#[derive(Debug)]
pub struct Watcher {
    inbox: Arc<Inbox>,
    read: Arc<AtomicU64>,
    queue: usize,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Begins to watch. Nothing is read before somebody subscribes. A catalogue that is given is kept up with the logs.
    pub fn start(locations: LogLocations, options: WatchOptions, clock: Arc<WatchClock>, catalogue: Option<Catalogue>) -> io::Result<Self> {
        let (inbox, read) = (Arc::<Inbox>::default(), Arc::<AtomicU64>::default());
        let queue = options.queue;
        let updater =
            catalogue.and_then(|catalogue| CatalogueUpdater::start(catalogue, locations.clone(), options.scan.clone(), Arc::clone(&clock)));
        let sources = WatchedSources::new(locations, &options, Arc::clone(&read));
        let run = EventLoop::new(sources, Arc::clone(&inbox), options, clock, updater);
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(|| run.run())?;
        Ok(Watcher { inbox, read, queue, thread: Some(thread) })
    }

    /// Asks to be told. The calls that were asked for come first, then [`ChangeEvent::Begun`], then what changes.
    pub fn subscribe(&self, wish: SubscribeOptions) -> Subscriber {
        let (sender, subscriber) = queue::queue(self.queue, Arc::clone(&self.inbox));
        self.inbox.wish(wish, sender);
        subscriber
    }

    /// A session as it is now; what was written meanwhile is looked at first. Nothing if there is no such session, if nobody is subscribed,
    /// or if the watcher has ended.
    pub fn session(&self, agent: &str, session: &str) -> Option<WatchedSession> {
        self.inbox.ask(agent, session).recv().ok()
    }

    /// What ends it from elsewhere, as from a signal.
    pub fn end(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.inbox))
    }

    /// Ends it and waits for that; fails if it had broken down, and its subscribers were told of an end that nobody asked for.
    pub fn finish(mut self) -> io::Result<()> {
        self.inbox.end();
        let ended = self.thread.take().map_or(Ok(()), JoinHandle::join);
        ended.map_err(|panic| io::Error::other(format!("the thread that watches logs broke down: {}", panic_message(&*panic))))
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
    /// Ends it. What subscribers were sent before, they still get.
    pub fn now(&self) {
        self.0.end();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.inbox.end();
        if let Some(thread) = self.thread.take() {
            // Its own panic, if it had one, has been told.
            let _ = thread.join();
        }
    }
}
