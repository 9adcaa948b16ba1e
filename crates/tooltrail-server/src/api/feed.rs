//! Feeds: what changes, as a filter takes it, for all who follow with the same filter. The last changes are kept with their numbers, so that
//! whoever was cut off goes on where it was.
//!
//! The hub's watcher decides what a filter takes, of each change as it is then; a feed has a thread that listens to it while somebody
//! follows and for a moment after that.

use crate::hub::Hub;
use crate::rooms::RUN;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tooltrail_catalog::watch::{Change, Next, Subscriber, Wish};
use tooltrail_model::filter::Filter;

/// How many changes a feed keeps.
const KEPT: usize = 1024;
/// How many feeds there are, and how many follow them, at most.
const FEEDS: usize = 16;
const FOLLOWERS: usize = 64;
/// How long a feed stays when nobody follows.
const STAYS: Duration = Duration::from_secs(30);
/// How long it is waited for the watcher to begin.
const BEGINS: Duration = Duration::from_secs(60);
/// How often it is looked whether anybody still does.
const LOOK: Duration = Duration::from_secs(2);

/// All feeds of a site.
#[derive(Clone, Default)]
pub(crate) struct Feeds(Arc<Mutex<Vec<Arc<Feed>>>>);

/// What changes, as a filter takes it.
struct Feed {
    /// The filter as it was written.
    query: String,
    /// Tells it from feeds before it, and from those of other runs.
    run: u64,
    kept: Mutex<Kept>,
    /// The number of the last change.
    told: watch::Sender<u64>,
}

#[derive(Default)]
struct Kept {
    changes: VecDeque<(u64, Arc<Change>)>,
    last: u64,
    followers: usize,
    /// Changes are told from now on; before that, what is written may be taken for what was there.
    begun: bool,
    over: bool,
}

/// Somebody who follows. Dropping it ends that.
pub(super) struct Follower {
    feed: Arc<Feed>,
    /// The number of the last change that it was told.
    last: u64,
    /// What it is told first.
    first: Option<Told>,
    wake: watch::Receiver<u64>,
}

/// What a follower is told.
pub(super) enum Told {
    /// It has just begun.
    Begun,
    /// It goes on, but not where it was.
    Missed,
    /// These changes, in order, with their numbers.
    Changes(Vec<(u64, Arc<Change>)>),
    /// There will be no more.
    Over,
}

/// Makes each feed another one.
static FEED: AtomicU64 = AtomicU64::new(0);

impl Feeds {
    /// Follows what a filter takes, behind the change of a name if that is still known; where nothing is live, nothing will come. Gives
    /// nothing if too many follow already.
    pub(super) fn follow(&self, hub: &Arc<Hub>, query: &str, filter: Filter, since: Option<&str>, live: bool) -> Option<Follower> {
        let mut feeds = self.feeds();
        if feeds.iter().map(|feed| feed.kept().followers).sum::<usize>() >= FOLLOWERS {
            return None;
        }
        if let Some(feed) = feeds.iter().find(|feed| feed.query == query && !feed.kept().over) {
            return Some(Follower::new(feed, since));
        }
        if feeds.len() >= FEEDS {
            return None;
        }
        let run = RUN.rotate_left(8) ^ FEED.fetch_add(1, Ordering::Relaxed);
        let feed = Arc::new(Feed { query: query.to_owned(), run, kept: Mutex::default(), told: watch::Sender::new(0) });
        let follower = Follower::new(&feed, since);
        if !live {
            feed.kept().begun = true;
            return Some(follower);
        }
        feeds.push(Arc::clone(&feed));
        let (feeds, hub) = (self.clone(), Arc::clone(hub));
        std::thread::spawn(move || {
            // Somebody has to listen for as long as the feed is there, or nobody watches.
            let listener = hub.listen(None);
            let subscriber = subscribe(&hub, &filter);
            drop(hub);
            feeds.pump(&feed, subscriber.as_ref());
            drop(listener);
        });
        Some(follower)
    }

    /// Takes in what a subscriber is told, as long as somebody follows.
    fn pump(&self, feed: &Arc<Feed>, subscriber: Option<&Subscriber>) {
        let mut heard = Instant::now();
        loop {
            let over = match subscriber.map_or(Next::Ended, |subscriber| subscriber.next_within(LOOK)) {
                Next::Change(change) => {
                    feed.put(change);
                    false
                }
                Next::Quiet => false,
                Next::Ended => true,
            };
            // Nobody can come to it while this is decided.
            let mut feeds = self.feeds();
            let mut kept = feed.kept();
            if kept.followers > 0 {
                heard = Instant::now();
            }
            if over || heard.elapsed() > STAYS {
                kept.over = true;
                let last = kept.last;
                drop(kept);
                feeds.retain(|other| !Arc::ptr_eq(other, feed));
                feed.told.send_replace(last);
                return;
            }
        }
    }

    fn feeds(&self) -> MutexGuard<'_, Vec<Arc<Feed>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the watcher, which may still have to begin: the logs are read first.
fn subscribe(hub: &Arc<Hub>, filter: &Filter) -> Option<Subscriber> {
    let start = Instant::now();
    loop {
        let subscriber = hub.subscribe(Wish { filter: filter.clone(), ..Wish::default() });
        if subscriber.is_some() || start.elapsed() > BEGINS {
            return subscriber;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Feed {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a change.
    fn put(&self, change: Arc<Change>) {
        let mut kept = self.kept();
        match *change {
            Change::Here { .. } | Change::Touched { .. } => return,
            Change::Begun { .. } => kept.begun = true,
            Change::Lagged { .. } => {
                // Whoever follows has missed something as well.
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
        self.told.send_replace(number);
    }

    /// The number of a change by its name.
    fn number(&self, name: &str) -> Option<u64> {
        let (run, number) = name.split_once('.')?;
        (u64::from_str_radix(run, 16) == Ok(self.run)).then_some(number.parse().ok())?
    }
}

impl Kept {
    /// What comes behind a change; nothing if something of it is not there any more.
    fn behind(&self, last: u64) -> Option<Vec<(u64, Arc<Change>)>> {
        let first = self.changes.front().map_or(self.last + 1, |(number, _)| *number);
        let whole = last <= self.last && last + 1 >= first;
        whole.then(|| self.changes.iter().filter(|(number, _)| *number > last).cloned().collect())
    }
}

impl Follower {
    fn new(feed: &Arc<Feed>, since: Option<&str>) -> Self {
        let wake = feed.told.subscribe();
        let mut kept = feed.kept();
        kept.followers += 1;
        let known = since.and_then(|name| feed.number(name)).filter(|number| kept.behind(*number).is_some());
        let first = match (since, known) {
            (_, Some(_)) => None,
            (None, None) => Some(Told::Begun),
            (Some(_), None) => Some(Told::Missed),
        };
        Follower { feed: Arc::clone(feed), last: known.unwrap_or(kept.last), first, wake }
    }

    /// What there is to be told; waits for it.
    pub(super) async fn next(&mut self) -> Told {
        loop {
            self.wake.borrow_and_update();
            if let Some(told) = self.take() {
                return told;
            }
            // The feed is held here, so its end of this is there.
            let _ = self.wake.changed().await;
        }
    }

    /// What a change is called, to go on from.
    pub(super) fn name(&self, number: u64) -> String {
        format!("{:x}.{number}", self.feed.run)
    }

    /// The number of the last change that was told.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    fn take(&mut self) -> Option<Told> {
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
            None => Some(Told::Missed),
            Some(changes) if changes.is_empty() => kept.over.then_some(Told::Over),
            Some(changes) => Some(Told::Changes(changes)),
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut kept = self.feed.kept();
        kept.followers = kept.followers.saturating_sub(1);
    }
}
