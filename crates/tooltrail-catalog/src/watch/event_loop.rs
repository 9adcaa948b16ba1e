//! The watcher's thread: it sleeps until an event, a subscriber or the clock wakes it, looks for changes, and publishes them.
//!
//! Without subscribers it does nothing at all. Otherwise it polls: the directories that logs come into and the logs that were written
//! last, every time; everything, rarely. So changes without an event are found as well.

use super::events::Events;
use super::inbox::{Inbox, InboxContents, SessionRequest};
use super::log_locations::changed;
use super::publish::{self, Subscription};
use super::sources::WatchedSources;
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
/// The shortest time between two looks at everything, and the factor by which the time exceeds the cost of a look.
const SELDOM: Duration = Duration::from_secs(60);
const SHARE: u32 = 2000;
/// After so many polls the watcher changes to the current state of the catalogue, if that was written since.
const RENEW: u32 = 10;

/// Closes the inbox when the thread ends, even by a panic, so that no caller waits for an answer for ever.
struct CloseInboxOnDrop(Arc<Inbox>);

impl Drop for CloseInboxOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The state of the watcher's thread.
pub(super) struct EventLoop {
    pub(super) sources: WatchedSources,
    pub(super) inbox: Arc<Inbox>,
    pub(super) options: WatchOptions,
    pub(super) clock: Arc<WatchClock>,
    subscriptions: Vec<Subscription>,
    events: Option<Events>,
    /// The moment for which rows were last published; `None` if there were none.
    published: Option<Now>,
    directories: Vec<(PathBuf, Option<SystemTime>)>,
    next_poll: Instant,
    next_look: Instant,
    polls: u32,
    rested: Instant,
}

impl EventLoop {
    pub(super) fn new(sources: WatchedSources, inbox: Arc<Inbox>, options: WatchOptions, clock: Arc<WatchClock>) -> Self {
        let now = Instant::now();
        EventLoop {
            sources,
            inbox,
            options,
            clock,
            subscriptions: Vec::new(),
            events: None,
            published: None,
            directories: Vec::new(),
            next_poll: now,
            next_look: now,
            polls: 0,
            rested: now,
        }
    }

    /// Works until the inbox says that it has to end.
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
            // Requests for sessions are dropped with their senders, which tells the callers that there is no answer.
            self.events = None;
            self.sources.reset();
            self.published = None;
            return;
        }
        let now = (self.clock)();
        let asleep = self.subscriptions.is_empty();
        if asleep {
            self.wake(&now);
        } else {
            // A request for a session is also a reason to poll: its answer must include what was just written.
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
            // The caller may no longer wait for the answer.
            publish::session_snapshot(&mut self.sources, &now, &agent, &session).into_iter().for_each(|held| drop(answer.send(held)));
        }
        self.published = Some(now);
    }

    /// Starts again with the first subscriber: changes since the last one left are read, but not published.
    fn wake(&mut self, now: &Now) {
        self.events = if self.options.events { Events::start(Arc::clone(&self.inbox)) } else { None };
        // From now on nothing is missed; what came before is found by looking.
        self.look(now);
        publish::publish(&mut self.sources, now, &[]);
        self.next_poll = Instant::now() + self.options.poll;
    }

    /// Looks at some logs, or everywhere, and publishes the changes.
    fn pass(&mut self, files: impl IntoIterator<Item = PathBuf>, anywhere: bool, poll: bool, now: &Now) {
        let before = self.published.take();
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
        self.published = before;
        if anywhere {
            self.look(now);
        }
        self.polls += u32::from(poll);
        if anywhere || self.polls >= RENEW {
            self.polls = 0;
            self.sources.reseed();
        }
        publish::publish(&mut self.sources, now, &self.subscriptions);
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
        let found = self.sources.look(self.published.as_ref(), now);
        self.next_look = Instant::now() + SELDOM.max((walked + found) * SHARE);
    }

    fn is_look_due(&self) -> bool {
        Instant::now() >= self.next_look
    }

    /// Touches the bundles whose rows have changed by the passing of time alone.
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
