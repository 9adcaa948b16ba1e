//! The hub: what changes in the logs, told to all pages and programs that follow, by one watcher.
//!
//! The watcher is there while somebody follows and for a moment after that; at rest there is none. Who wants the same is told by the same
//! [`Feed`].

use crate::feed::{Feed, Follower};
use crate::fresh::Fresh;
use crate::machine::Machine;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tooltrail_catalog::watch::{LogLocations, NextChange, SubscribeOptions, Subscriber, WatchOptions, WatchedSession, Watcher};
use tracing::warn;

/// How many feeds there are, and how many follow them, at most.
const FEEDS: usize = 16;
const FOLLOWERS: usize = 256;
/// How long a feed stays when nobody follows: a page that is loaded anew comes back at once.
const STAYS: Duration = Duration::from_secs(30);
/// How often it is looked whether anybody still does.
const LOOK: Duration = Duration::from_secs(2);

/// Tells everybody what changes.
pub(crate) struct Hub {
    machine: Arc<dyn Machine>,
    options: WatchOptions,
    fresh: Arc<Fresh>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    watcher: Option<Arc<Watcher>>,
    feeds: Vec<Arc<Feed>>,
}

impl Hub {
    /// A hub that nobody follows.
    pub(crate) fn new(machine: Arc<dyn Machine>, options: WatchOptions, fresh: Arc<Fresh>) -> Arc<Self> {
        Arc::new(Hub { machine, options, fresh, state: Mutex::default() })
    }

    /// Follows what is wished for, behind the change of a name if that is still known. Wishes that are written the same are the same.
    /// Nothing if too many follow already.
    pub(crate) fn follow(self: &Arc<Self>, written: &str, wish: SubscribeOptions, since: Option<&str>) -> Option<Follower> {
        let mut state = self.state();
        if state.feeds.iter().map(|feed| feed.followers()).sum::<usize>() >= FOLLOWERS {
            return None;
        }
        if let Some(feed) = state.feeds.iter().find(|feed| feed.is(written, wish.touched)) {
            return Some(feed.follow(since));
        }
        // Pages have one feed, and that is never too many.
        if state.feeds.len() >= FEEDS && !wish.touched {
            let idle = state.feeds.iter().position(|feed| feed.followers() == 0)?;
            state.feeds.swap_remove(idle).close();
        }
        let feed = Arc::new(Feed::new(written, wish.touched));
        let follower = feed.follow(since);
        match self.machine.ground() {
            // Where nothing can change there is nothing to keep.
            None => feed.begin(),
            Some(ground) => {
                state.feeds.push(Arc::clone(&feed));
                let hub = Arc::downgrade(self);
                std::thread::spawn(move || run(&hub, &feed, ground, wish));
            }
        }
        Some(follower)
    }

    /// A session as it is at this moment; nothing while nobody follows.
    pub(crate) fn session(&self, agent: &str, session: &str) -> Option<WatchedSession> {
        let watcher = self.state().watcher.clone()?;
        watcher.session(agent, session)
    }

    /// Whether logs are watched, and sessions known as they are.
    pub(crate) fn is_watching(&self) -> bool {
        self.state().watcher.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the watcher, which is started if there is none; nothing if the system has no thread for it.
    fn subscribe(&self, ground: LogLocations, wish: SubscribeOptions) -> Option<Subscriber> {
        // What the catalogue has need not be read once more. Whatever comes meanwhile, who follows looks when this has begun.
        self.fresh.wait_until_read();
        let mut state = self.state();
        if state.watcher.is_none() {
            let clock = Arc::clone(&self.machine);
            let watcher = Watcher::start(ground, self.options.clone(), Arc::new(move || clock.now()), None);
            let watcher = watcher.inspect_err(|error| warn!(%error, "cannot watch logs; pages do not update by themselves")).ok()?;
            state.watcher = Some(Arc::new(watcher));
        }
        state.watcher.as_ref().map(|watcher| watcher.subscribe(wish))
    }

    /// Ends a feed, and the watcher with the last one.
    fn end(&self, feed: &Arc<Feed>) {
        let mut state = self.state();
        state.feeds.retain(|other| !Arc::ptr_eq(other, feed));
        let watcher = if state.feeds.is_empty() { state.watcher.take() } else { None };
        drop(state);
        feed.end();
        drop(watcher);
    }
}

/// Fills a feed as long as somebody follows it.
fn run(hub: &Weak<Hub>, feed: &Arc<Feed>, ground: LogLocations, wish: SubscribeOptions) {
    let subscriber = hub.upgrade().and_then(|hub| hub.subscribe(ground, wish));
    let mut heard = Instant::now();
    while let (Some(hub), Some(subscriber)) = (hub.upgrade(), &subscriber) {
        match subscriber.next_within(LOOK) {
            NextChange::Change(change) => {
                hub.fresh.expire();
                feed.put(change);
            }
            NextChange::Quiet => {}
            NextChange::Ended => break,
        }
        // Nobody can come to it while this is decided.
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
