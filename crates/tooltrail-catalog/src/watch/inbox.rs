//! The inbox of the watcher's thread: written files, new and leaving subscribers, requests for sessions, and the end. Bursts of events
//! are taken together.

use super::queue::ChangeSender;
use super::{SubscribeOptions, WatchedSession};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long it must be quiet after an event.
const QUIET: Duration = Duration::from_millis(4);
/// How long an event waits at most.
const LONGEST: Duration = Duration::from_millis(40);
/// With more files than this, everything is looked at instead.
const MANY: usize = 1000;

/// Everything that waits for the watcher.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    post: Mutex<InboxContents>,
    wake: Condvar,
}

/// Everything that has come in since the watcher last looked.
#[derive(Debug, Default)]
pub(super) struct InboxContents {
    /// Logs that were written to.
    pub(super) files: BTreeSet<PathBuf>,
    /// Something may have come or gone anywhere.
    pub(super) anywhere: bool,
    /// New subscribers.
    pub(super) wishes: Vec<(SubscribeOptions, ChangeSender)>,
    /// Requests for the current state of sessions.
    pub(super) asks: Vec<SessionRequest>,
    /// The watcher is to end.
    pub(super) ended: bool,
    /// The watcher has ended, and reads the inbox no more.
    closed: bool,
    /// A subscriber may have left.
    rung: bool,
    /// When the first event came, and how many there were.
    since: Option<Instant>,
    events: u64,
}

/// A request for the current state of a session.
#[derive(Debug)]
pub(super) struct SessionRequest {
    pub(super) agent: Box<str>,
    pub(super) session: Box<str>,
    /// The channel for the answer. It is dropped if there is none.
    pub(super) answer: mpsc::Sender<WatchedSession>,
}

impl InboxContents {
    fn is_urgent(&self) -> bool {
        self.rung || self.ended || !self.wishes.is_empty() || !self.asks.is_empty()
    }
}

impl Inbox {
    fn post(&self) -> MutexGuard<'_, InboxContents> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, change: impl FnOnce(&mut InboxContents)) {
        let mut post = self.post();
        change(&mut post);
        // After the watcher has ended nothing is taken out any more. Dropping the senders ends the wait at the
        // other ends.
        if post.closed {
            *post = InboxContents { closed: true, ..InboxContents::default() };
        }
        drop(post);
        self.wake.notify_one();
    }

    /// Marks the watcher as gone. Everything that waits for it, now or later, is dropped.
    pub(super) fn close(&self) {
        self.put(|post| post.closed = true);
    }

    /// Reports files that were written to.
    pub(super) fn written(&self, files: impl IntoIterator<Item = PathBuf>) {
        self.event(|post| {
            post.files.extend(files);
            // Beyond this many, one look at everything is cheaper than a look at each, and the set must not grow without limit.
            if post.files.len() > MANY {
                post.files.clear();
                post.anywhere = true;
            }
        });
    }

    /// Reports that files may have appeared or disappeared anywhere.
    pub(super) fn anywhere(&self) {
        self.event(|post| post.anywhere = true);
    }

    fn event(&self, change: impl FnOnce(&mut InboxContents)) {
        self.put(|post| {
            change(post);
            post.events += 1;
            post.since.get_or_insert_with(Instant::now);
        });
    }

    /// Adds a subscriber.
    pub(super) fn wish(&self, wish: SubscribeOptions, sender: ChangeSender) {
        self.put(|post| post.wishes.push((wish, sender)));
    }

    /// Requests the current state of a session.
    pub(super) fn ask(&self, agent: &str, session: &str) -> Receiver<WatchedSession> {
        let (answer, receiver) = mpsc::channel();
        self.put(|post| post.asks.push(SessionRequest { agent: agent.into(), session: session.into(), answer }));
        receiver
    }

    /// Reports that a subscriber may have left.
    pub(super) fn ring(&self) {
        self.put(|post| post.rung = true);
    }

    /// Asks the watcher to end.
    pub(super) fn end(&self) {
        self.put(|post| post.ended = true);
    }

    /// Waits until something comes in, at most until `until`. Events are returned once it is quiet, and not before `rested`.
    pub(super) fn wait(&self, until: Option<Instant>, rested: Instant) -> InboxContents {
        let mut post = self.post();
        while !post.is_urgent() && until.is_none_or(|until| Instant::now() < until) {
            let quiet_at = post.since.map(|since| {
                // An agent that writes all the time must not delay its changes for ever, so quiet is awaited only up to a limit.
                let latest = (since + LONGEST).max(rested);
                (Instant::now() + QUIET).max(rested).min(latest)
            });
            let events = post.events;
            let next = [until, quiet_at].into_iter().flatten().min();
            post = self.sleep(post, next);
            // The condition variable may wake early or for other reasons; only an unchanged number of events means that it was
            // quiet.
            let waited = quiet_at.is_some_and(|quiet_at| Instant::now() >= quiet_at);
            if waited && (post.events == events || post.since.is_some_and(|since| since.elapsed() >= LONGEST)) {
                break;
            }
        }
        std::mem::take(&mut *post)
    }

    fn sleep<'p>(&'p self, post: MutexGuard<'p, InboxContents>, until: Option<Instant>) -> MutexGuard<'p, InboxContents> {
        match until {
            None => self.wake.wait(post).unwrap_or_else(PoisonError::into_inner),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                self.wake.wait_timeout(post, left).unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_burst_is_taken_at_once() {
        let inbox = Arc::new(Inbox::default());
        let writer = {
            let inbox = Arc::clone(&inbox);
            std::thread::spawn(move || (0..20).for_each(|number| inbox.written([PathBuf::from(format!("{number}"))])))
        };
        let mut files = BTreeSet::new();
        let mut passes = 0;
        while files.len() < 20 {
            files.extend(inbox.wait(None, Instant::now()).files);
            passes += 1;
        }
        assert!(passes < 20, "{passes} passes");
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }

    #[test]
    fn what_is_urgent_is_taken_without_waiting() {
        let inbox = Inbox::default();
        inbox.ring();
        inbox.end();
        assert!(inbox.wait(None, Instant::now() + Duration::from_secs(60)).ended);
        assert!(inbox.wait(Some(Instant::now()), Instant::now()).files.is_empty());
    }

    #[test]
    fn nobody_waits_for_a_watcher_that_is_gone() {
        let inbox = Inbox::default();
        let before = inbox.ask("claude", "s1");
        inbox.close();
        let after = inbox.ask("claude", "s1");
        assert!(before.recv().is_err() && after.recv().is_err());
    }

    #[test]
    fn too_many_files_are_anywhere() {
        let inbox = Inbox::default();
        inbox.written((0..=MANY).map(|number| PathBuf::from(format!("{number}"))));
        let post = inbox.wait(None, Instant::now());
        assert!(post.anywhere && post.files.is_empty());
    }
}
