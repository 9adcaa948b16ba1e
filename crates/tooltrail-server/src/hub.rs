//! The hub: one watcher, whose changes go to all pages and programs that follow them.
//!
//! The watcher exists while there are followers and for a moment after that; at rest there is none. Followers with the same wish
//! share a [`Feed`].

use crate::feed::{Feed, FeedFollower};
use crate::fresh::SnapshotSource;
use crate::machine::Machine;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tooltrail_catalog::watch::{LogLocations, NextChange, SubscribeOptions, Subscriber, WatchOptions, WatchedSession, Watcher};
use tracing::warn;

/// Limits on feeds and on all followers together.
const FEEDS: usize = 16;
const FOLLOWERS: usize = 256;
/// Time for which a feed stays without followers: a page that is reloaded comes back at once.
const STAYS: Duration = Duration::from_secs(30);
/// Interval of the check for followers.
const LOOK: Duration = Duration::from_secs(2);

/// Distributes changes to followers.
pub(crate) struct Hub {
    machine: Arc<dyn Machine>,
    options: WatchOptions,
    fresh: Arc<SnapshotSource>,
    state: Mutex<HubState>,
}

#[derive(Default)]
struct HubState {
    watcher: Option<Arc<Watcher>>,
    feeds: Vec<Arc<Feed>>,
}

impl Hub {
    /// A hub without followers.
    pub(crate) fn new(machine: Arc<dyn Machine>, options: WatchOptions, fresh: Arc<SnapshotSource>) -> Arc<Self> {
        Arc::new(Hub { machine, options, fresh, state: Mutex::default() })
    }

    /// Follows the changes that a wish selects, after a named change if that is still known. Wishes with the same text share a
    /// feed. `None` if there are too many followers.
    pub(crate) fn follow(self: &Arc<Self>, written: &str, wish: SubscribeOptions, since: Option<&str>) -> Option<FeedFollower> {
        let mut state = self.state();
        if state.feeds.iter().map(|feed| feed.followers()).sum::<usize>() >= FOLLOWERS {
            return None;
        }
        if let Some(feed) = state.feeds.iter().find(|feed| feed.is(written, wish.touched)) {
            return Some(feed.follow(since));
        }
        // All pages share a single feed, so it is exempt from the limit.
        if state.feeds.len() >= FEEDS && !wish.touched {
            let idle = state.feeds.iter().position(|feed| feed.followers() == 0)?;
            state.feeds.swap_remove(idle).close();
        }
        let feed = Arc::new(Feed::new(written, wish.touched));
        // Before the feed is filled, so that the follower misses nothing.
        let follower = feed.follow(since);
        match self.machine.ground() {
            // Logs that do not change need neither a watcher nor a list of feeds.
            None => feed.begin(),
            Some(ground) => {
                state.feeds.push(Arc::clone(&feed));
                let hub = Arc::downgrade(self);
                std::thread::spawn(move || run(&hub, &feed, ground, wish));
            }
        }
        Some(follower)
    }

    /// A session as the watcher sees it now; `None` without followers.
    pub(crate) fn session(&self, agent: &str, session: &str) -> Option<WatchedSession> {
        let watcher = self.state().watcher.clone()?;
        watcher.session(agent, session)
    }

    /// Whether logs are watched.
    pub(crate) fn is_watching(&self) -> bool {
        self.state().watcher.is_some()
    }

    fn state(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to the watcher, which is started if there is none; `None` if the system has no thread for it.
    fn subscribe(&self, ground: LogLocations, wish: SubscribeOptions) -> Option<Subscriber> {
        // The watcher starts from the catalogue, so that has to be filled first. Nothing is lost meanwhile: followers look at
        // everything once when their feed begins.
        self.fresh.wait_until_read();
        let mut state = self.state();
        if state.watcher.is_none() {
            let clock = Arc::clone(&self.machine);
            let watcher = Watcher::start(ground, self.options.clone(), Arc::new(move || clock.now()));
            let watcher = watcher.inspect_err(|error| warn!(%error, "cannot watch logs; pages do not update by themselves")).ok()?;
            state.watcher = Some(Arc::new(watcher));
        }
        state.watcher.as_ref().map(|watcher| watcher.subscribe(wish))
    }

    /// Ends a feed, and the watcher with the last one.
    fn end(&self, feed: &Arc<Feed>) {
        let mut state = self.state();
        state.feeds.retain(|other| !Arc::ptr_eq(other, feed));
        // Taken out under the lock but dropped after it: ending the watcher waits for its thread.
        let watcher = if state.feeds.is_empty() { state.watcher.take() } else { None };
        drop(state);
        feed.end();
        drop(watcher);
    }
}

/// Fills a feed while it has followers.
fn run(hub: &Weak<Hub>, feed: &Arc<Feed>, ground: LogLocations, wish: SubscribeOptions) {
    // The hub is held weakly: this thread must not keep the server's state alive after the end.
    let subscriber = hub.upgrade().and_then(|hub| hub.subscribe(ground, wish));
    let mut heard = Instant::now();
    while let (Some(hub), Some(subscriber)) = (hub.upgrade(), &subscriber) {
        match subscriber.next_within(LOOK) {
            NextChange::Change(change) => {
                // First the snapshot, then the news: a page that hears of a change must not be given the old snapshot.
                hub.fresh.expire();
                feed.put(change);
            }
            NextChange::Quiet => {}
            NextChange::Ended => break,
        }
        // The lock keeps new followers out until it is decided whether the feed ends.
        let state = hub.state();
        if feed.is_over() {
            break;
        } else if feed.followers() > 0 {
            heard = Instant::now();
        } else if heard.elapsed() > STAYS {
            feed.close();
            break;
        }
        drop(state);
    }
    match hub.upgrade() {
        Some(hub) => hub.end(feed),
        None => feed.end(),
    }
}
