//! The watcher's thread: it sleeps until an event, a subscriber or the clock wakes it, looks where it must, and tells what changed.
//!
//! With nobody to tell it does nothing at all. Otherwise it polls: the directories that logs come into and the logs that were written
//! last, every time; everything, seldom. So whatever the system's events leave out is found as well.

use super::events::Events;
use super::inbox::{Inbox, InboxContents, SessionRequest};
use super::log_locations::changed;
use super::publish::{self, Subscription};
use super::sources::WatchedSources;
use super::updater::CatalogueUpdater;
use super::{WatchClock, WatchOptions};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tooltrail_model::link::Now;
use tracing::debug;

/// How many directories are polled every time: near a root, and anywhere, those that changed last.
const NEAR: usize = 128;
const ANYWHERE: usize = 64;
/// How many logs are polled every time.
const LOGS: usize = 48;
/// How often everything is looked at: not more often than this, and the more it costs the less often.
const SELDOM: Duration = Duration::from_secs(60);
const SHARE: u32 = 2000;
/// After so many polls it is asked whether the catalogue has been written: what it was need not be kept for the watcher any longer then.
const RENEW: u32 = 10;

/// Lets go of whoever waits for a watcher that is gone, also for one that broke down.
struct CloseInboxOnDrop(Arc<Inbox>);

impl Drop for CloseInboxOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A watcher at work.
pub(super) struct EventLoop {
    pub(super) sources: WatchedSources,
    pub(super) inbox: Arc<Inbox>,
    pub(super) options: WatchOptions,
    pub(super) clock: Arc<WatchClock>,
    pub(super) updater: Option<CatalogueUpdater>,
    subscriptions: Vec<Subscription>,
    events: Option<Events>,
    /// The moment of which rows were told; nothing while nobody has been told anything.
    told: Option<Now>,
    directories: Vec<(PathBuf, Option<SystemTime>)>,
    next_poll: Instant,
    next_look: Instant,
    polls: u32,
    rested: Instant,
}

impl EventLoop {
    pub(super) fn new(
        sources: WatchedSources,
        inbox: Arc<Inbox>,
        options: WatchOptions,
        clock: Arc<WatchClock>,
        updater: Option<CatalogueUpdater>,
    ) -> Self {
        let now = Instant::now();
        EventLoop {
            sources,
            inbox,
            options,
            clock,
            updater,
            subscriptions: Vec::new(),
            events: None,
            told: None,
            directories: Vec::new(),
            next_poll: now,
            next_look: now,
            polls: 0,
            rested: now,
        }
    }

    /// Works until it is told to end.
    pub(super) fn run(mut self) {
        let _closing = CloseInboxOnDrop(Arc::clone(&self.inbox));
        loop {
            let until = (!self.subscriptions.is_empty()).then_some(self.next_poll);
            let post = self.inbox.wait(until, self.rested);
            if post.ended {
                return;
            }
            self.subscriptions.retain(|subscription| !subscription.is_left());
            let start = Instant::now();
            let (files, anywhere, asks) = (post.files.len(), post.anywhere, post.asks.len());
            self.work(post);
            debug!(files, anywhere, asks, subscribers = self.subscriptions.len(), took = ?start.elapsed(), "the watcher woke");
            // However much is written, the watcher takes no more than half of a processor.
            self.rested = Instant::now() + start.elapsed();
        }
    }

    fn work(&mut self, post: InboxContents) {
        if self.subscriptions.is_empty() && post.wishes.is_empty() {
            // Those who ask about a session learn by their answer being dropped that there is none.
            self.events = None;
            self.sources.reset();
            self.told = None;
            return;
        }
        let now = (self.clock)();
        let asleep = self.subscriptions.is_empty();
        if asleep {
            self.wake(&now);
        } else {
            // Whoever asks for a session has it polled for.
            let poll = Instant::now() >= self.next_poll || !post.asks.is_empty();
            let anywhere = post.anywhere || poll && self.is_look_due();
            let asked = post.asks.iter().flat_map(|ask| self.sources.files_of(&ask.agent, &ask.session));
            let files: BTreeSet<PathBuf> = asked.chain(post.files).collect();
            self.pass(files, anywhere, poll, &now);
        }
        for (wish, sender) in post.wishes {
            let last = wish.last;
            let subscription = Subscription::new(wish, sender);
            publish::send_initial(&mut self.sources, &now, &subscription, last);
            self.subscriptions.push(subscription);
        }
        for SessionRequest { agent, session, answer } in post.asks {
            // Whoever asked may have gone.
            publish::session_snapshot(&mut self.sources, &now, &agent, &session).into_iter().for_each(|held| drop(answer.send(held)));
        }
        self.told = Some(now);
    }

    /// Somebody wants to know again: what happened meanwhile is taken in, and nobody is told.
    fn wake(&mut self, now: &Now) {
        self.events = if self.options.events { Events::start(Arc::clone(&self.inbox)) } else { None };
        // From now on nothing is missed; what came before is found by looking.
        self.look(now);
        publish::publish(&mut self.sources, now, &[]);
        self.next_poll = Instant::now() + self.options.poll;
    }

    /// Looks at some logs, or everywhere, and tells what changed.
    fn pass(&mut self, files: impl IntoIterator<Item = PathBuf>, anywhere: bool, poll: bool, now: &Now) {
        let before = self.told.take();
        let mut anywhere = self.sources.check(files, before.as_ref()) || anywhere;
        if poll {
            self.next_poll = Instant::now() + self.options.poll;
            let newest = self.sources.newest(LOGS);
            anywhere |= self.sources.check(newest, before.as_ref());
            anywhere |= self.directories.iter().any(|(path, then)| changed(path) != *then);
            if let Some(before) = &before {
                self.age(before, now);
            }
        }
        self.told = before;
        if anywhere {
            self.look(now);
        }
        self.polls += u32::from(poll);
        if anywhere || self.polls >= RENEW {
            self.polls = 0;
            self.sources.reseed();
        }
        if publish::publish(&mut self.sources, now, &self.subscriptions)
            && let Some(updater) = &self.updater
        {
            updater.changed();
        }
    }

    /// Looks at everything.
    fn look(&mut self, now: &Now) {
        if let Some(events) = &mut self.events {
            events.watch(&self.sources.locations().roots());
        }
        let start = Instant::now();
        // Directories first: what comes into one meanwhile changes it once more.
        self.directories = directories(&self.sources);
        let walked = start.elapsed();
        let found = self.sources.look(self.told.as_ref(), now);
        self.next_look = Instant::now() + SELDOM.max((walked + found) * SHARE);
    }

    fn is_look_due(&self) -> bool {
        Instant::now() >= self.next_look
    }

    /// Touches the bundles in which time alone has changed something.
    fn age(&mut self, before: &Now, now: &Now) {
        let listed = before.live != now.live;
        let bundles = &mut self.sources.bundles;
        let stale = |(number, bundle): (u32, &super::bundles::WatchedBundle)| {
            let stale = match &bundle.fingerprints {
                Some(fingerprints) => fingerprints.is_stale(now),
                None => listed && bundle.may_live(now) != bundle.may_live(before),
            };
            stale.then_some(number)
        };
        let stale: Vec<u32> = bundles.iter().filter_map(stale).collect();
        stale.into_iter().for_each(|number| bundles.touch(number, Some(before)));
    }
}

/// The directories that are polled every time.
fn directories(sources: &WatchedSources) -> Vec<(PathBuf, Option<SystemTime>)> {
    let all = sources.locations().directories();
    let (mut near, mut far): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, directory)| directory.depth <= 1);
    // The roots always, whether or not they are there.
    near.sort_by_key(|(_, directory)| (directory.depth, Reverse(directory.changed)));
    far.extend(near.split_off(near.len().min(NEAR)));
    far.sort_by_key(|(_, directory)| Reverse(directory.changed));
    far.truncate(ANYWHERE);
    near.into_iter().chain(far).map(|(path, directory)| (path, directory.changed)).collect()
}
