//! A feed of changes that a wish selects, shared by all followers with that wish. The last changes are kept with their numbers,
//! so that a follower that was cut off continues where it was. Numbers belong to one feed: with a number of another feed, or
//! after too many changes, a follower hears that it has missed something and has to look for itself.

use crate::open_sessions::RUN;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tooltrail_catalog::watch::ChangeEvent;

/// Number of changes that a feed keeps.
const KEPT: usize = 4096;

/// Changes that a wish selects.
pub(crate) struct Feed {
    /// Text of the wish, and whether changed bytes alone count too.
    wish: (String, bool),
    /// Number of this feed, different from those of earlier feeds and of other runs.
    run: u64,
    kept: Mutex<FeedHistory>,
    /// The number of the last change.
    told: watch::Sender<u64>,
}

#[derive(Default)]
struct FeedHistory {
    changes: VecDeque<(u64, Arc<ChangeEvent>)>,
    last: u64,
    followers: usize,
    /// Whether the watcher has started. Before that, a change could already be part of what a follower has seen.
    begun: bool,
    over: bool,
}

/// A follower of a feed, until it is dropped.
pub(crate) struct FeedFollower {
    feed: Arc<Feed>,
    /// Number of the last change that it received.
    last: u64,
    /// Its first update, unless it continues an earlier one.
    first: Option<FeedUpdate>,
    wake: watch::Receiver<u64>,
}

/// An update for a follower.
pub(crate) enum FeedUpdate {
    /// The feed begins here.
    Begun,
    /// The feed goes on, with a gap before it.
    Missed,
    /// These changes, in order, with their numbers.
    Changes(Vec<(u64, Arc<ChangeEvent>)>),
    /// There will be no more.
    Over,
}

/// Counter of feeds.
static FEED: AtomicU64 = AtomicU64::new(0);

impl Feed {
    /// A feed without changes.
    pub(crate) fn new(written: &str, touched: bool) -> Self {
        let run = RUN.rotate_left(8) ^ FEED.fetch_add(1, Ordering::Relaxed);
        Feed { wish: (written.to_owned(), touched), run, kept: Mutex::default(), told: watch::Sender::new(0) }
    }

    /// Whether it is the feed of a wish, and open.
    pub(crate) fn is(&self, written: &str, touched: bool) -> bool {
        self.wish.0 == written && self.wish.1 == touched && !self.kept().over
    }

    /// Whether it takes no more followers.
    pub(crate) fn is_over(&self) -> bool {
        self.kept().over
    }

    /// Number of followers.
    pub(crate) fn followers(&self) -> usize {
        self.kept().followers
    }

    /// Follows it, after a named change if that is still known.
    pub(crate) fn follow(self: &Arc<Self>, since: Option<&str>) -> FeedFollower {
        FeedFollower::new(self, since)
    }

    /// Starts the feed.
    pub(crate) fn begin(&self) {
        self.kept().begun = true;
        self.told.send_modify(|_| {});
    }

    /// Closes it to new followers.
    pub(crate) fn close(&self) {
        self.kept().over = true;
    }

    /// Ends it, and wakes all followers to say so.
    pub(crate) fn end(&self) {
        self.close();
        self.told.send_modify(|_| {});
    }

    fn kept(&self) -> MutexGuard<'_, FeedHistory> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a change.
    pub(crate) fn put(&self, change: Arc<ChangeEvent>) {
        let mut kept = self.kept();
        match *change {
            // Part of the state at the start, which followers ask for themselves.
            ChangeEvent::Here { .. } => return,
            ChangeEvent::Begun { .. } => {
                drop(kept);
                return self.begin();
            }
            ChangeEvent::Lagged { .. } => {
                // The watcher itself lost changes, so the kept ones have a gap: with an empty list every follower sees that it
                // missed something.
                kept.last += 1;
                kept.changes.clear();
            }
            _ => {
                kept.last += 1;
                let number = kept.last;
                kept.changes.push_back((number, change));
                if kept.changes.len() > KEPT {
                    kept.changes.pop_front();
                }
            }
        }
        let number = kept.last;
        drop(kept);
        // After the lock is released: followers wake up and take it at once.
        self.told.send_replace(number);
    }

    /// The number of a change by its name.
    fn number(&self, name: &str) -> Option<u64> {
        let (run, number) = name.split_once('.')?;
        (u64::from_str_radix(run, 16) == Ok(self.run)).then_some(number.parse().ok())?
    }
}

impl FeedHistory {
    /// Changes after a number; `None` if some of them are not kept any more.
    fn behind(&self, last: u64) -> Option<Vec<(u64, Arc<ChangeEvent>)>> {
        let first = self.changes.front().map_or(self.last + 1, |(number, _)| *number);
        let whole = last <= self.last && last + 1 >= first;
        whole.then(|| self.changes.iter().filter(|(number, _)| *number > last).cloned().collect())
    }
}

impl FeedFollower {
    fn new(feed: &Arc<Feed>, since: Option<&str>) -> Self {
        let wake = feed.told.subscribe();
        let mut kept = feed.kept();
        kept.followers += 1;
        let known = since.and_then(|name| feed.number(name)).filter(|number| kept.behind(*number).is_some());
        let first = match (since, known) {
            (_, Some(_)) => None,
            (None, None) => Some(FeedUpdate::Begun),
            (Some(_), None) => Some(FeedUpdate::Missed),
        };
        FeedFollower { feed: Arc::clone(feed), last: known.unwrap_or(kept.last), first, wake }
    }

    /// The next update; waits for it.
    pub(crate) async fn next(&mut self) -> FeedUpdate {
        loop {
            // Marked as seen before the look, so that a change between the look and the wait wakes it again.
            self.wake.borrow_and_update();
            if let Some(told) = self.take() {
                return told;
            }
            // Cannot fail: the follower holds the feed, and with it the sender.
            let _ = self.wake.changed().await;
        }
    }

    /// Name of a change, to continue after it.
    pub(crate) fn name(&self, number: u64) -> String {
        format!("{:x}.{number}", self.feed.run)
    }

    /// Number of the last change that was received.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    fn take(&mut self) -> Option<FeedUpdate> {
        let kept = self.feed.kept();
        if !kept.begun && !kept.over {
            return None;
        }
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let behind = kept.behind(self.last);
        self.last = kept.last;
        match behind {
            None => Some(FeedUpdate::Missed),
            Some(changes) if changes.is_empty() => kept.over.then_some(FeedUpdate::Over),
            Some(changes) => Some(FeedUpdate::Changes(changes)),
        }
    }
}

impl Drop for FeedFollower {
    fn drop(&mut self) {
        let mut kept = self.feed.kept();
        kept.followers = kept.followers.saturating_sub(1);
    }
}
