//! A feed: what changes, as somebody wished, for all who wished the same. The last changes are kept with their numbers, so that whoever was
//! cut off goes on where it was. Numbers belong to a feed: behind another one's, or when too much has happened meanwhile, a follower is
//! told that it has missed something and has to look for itself.

use crate::open_sessions::RUN;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tooltrail_catalog::watch::ChangeEvent;

/// How many changes a feed keeps.
const KEPT: usize = 4096;

/// What changes, as it was wished for.
pub(crate) struct Feed {
    /// The wish as it was written, and whether it is also about what only has other bytes.
    wish: (String, bool),
    /// Tells it from feeds before it, and from those of other runs.
    run: u64,
    kept: Mutex<Kept>,
    /// The number of the last change.
    told: watch::Sender<u64>,
}

#[derive(Default)]
struct Kept {
    changes: VecDeque<(u64, Arc<ChangeEvent>)>,
    last: u64,
    followers: usize,
    /// Changes are told from now on; before that, what is written may be taken for what was there.
    begun: bool,
    over: bool,
}

/// Somebody who follows. Dropping it ends that.
pub(crate) struct Follower {
    feed: Arc<Feed>,
    /// The number of the last change that it was told.
    last: u64,
    /// What it is told first.
    first: Option<Told>,
    wake: watch::Receiver<u64>,
}

/// What a follower is told.
pub(crate) enum Told {
    /// It has just begun.
    Begun,
    /// It goes on, but not where it was.
    Missed,
    /// These changes, in order, with their numbers.
    Changes(Vec<(u64, Arc<ChangeEvent>)>),
    /// There will be no more.
    Over,
}

/// Makes each feed another one.
static FEED: AtomicU64 = AtomicU64::new(0);

impl Feed {
    /// A feed that nothing has been told to.
    pub(crate) fn new(written: &str, touched: bool) -> Self {
        let run = RUN.rotate_left(8) ^ FEED.fetch_add(1, Ordering::Relaxed);
        Feed { wish: (written.to_owned(), touched), run, kept: Mutex::default(), told: watch::Sender::new(0) }
    }

    /// Whether it is what is wished for, and goes on.
    pub(crate) fn is(&self, written: &str, touched: bool) -> bool {
        self.wish.0 == written && self.wish.1 == touched && !self.kept().over
    }

    /// Whether nobody comes to it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.kept().over
    }

    /// How many follow.
    pub(crate) fn followers(&self) -> usize {
        self.kept().followers
    }

    /// Follows it, behind the change of a name if that is still known.
    pub(crate) fn follow(self: &Arc<Self>, since: Option<&str>) -> Follower {
        Follower::new(self, since)
    }

    /// From now on changes are told.
    pub(crate) fn begin(&self) {
        self.kept().begun = true;
        self.told.send_modify(|_| {});
    }

    /// Nobody comes to it any more.
    pub(crate) fn close(&self) {
        self.kept().over = true;
    }

    /// There will be no more, which all who follow are told.
    pub(crate) fn end(&self) {
        self.close();
        self.told.send_modify(|_| {});
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a change.
    pub(crate) fn put(&self, change: Arc<ChangeEvent>) {
        let mut kept = self.kept();
        match *change {
            ChangeEvent::Here { .. } => return,
            ChangeEvent::Begun { .. } => {
                drop(kept);
                return self.begin();
            }
            ChangeEvent::Lagged { .. } => {
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
    fn behind(&self, last: u64) -> Option<Vec<(u64, Arc<ChangeEvent>)>> {
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
    pub(crate) async fn next(&mut self) -> Told {
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
    pub(crate) fn name(&self, number: u64) -> String {
        format!("{:x}.{number}", self.feed.run)
    }

    /// The number of the last change that was told.
    pub(crate) fn last(&self) -> u64 {
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
