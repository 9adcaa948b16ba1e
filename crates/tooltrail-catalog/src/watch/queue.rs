//! The queue of a subscriber, of limited length. A subscriber that is too slow learns that changes are missing.

use super::change::ChangeEvent;
use super::inbox::Inbox;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The next event for a subscriber.
#[derive(Clone, Debug)]
pub enum NextChange {
    /// A change.
    Change(Arc<ChangeEvent>),
    /// No change within the given time.
    Quiet,
    /// The watcher has ended; there will be no more.
    Ended,
}

/// Receives changes, in order. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscriber {
    queue: Arc<ChangeQueue>,
    inbox: Arc<Inbox>,
}

/// The watcher's end.
#[derive(Debug)]
pub(super) struct ChangeSender(Arc<ChangeQueue>);

#[derive(Debug)]
struct ChangeQueue {
    state: Mutex<QueueContents>,
    wake: Condvar,
    limit: usize,
}

#[derive(Debug, Default)]
struct QueueContents {
    changes: VecDeque<Arc<ChangeEvent>>,
    /// How many changes did not fit since the last one in the queue.
    missing: u64,
    ended: bool,
    left: bool,
}

/// A queue for so many changes.
pub(super) fn queue(limit: usize, inbox: Arc<Inbox>) -> (ChangeSender, Subscriber) {
    // A queue without space would report every change as missing.
    let queue = Arc::new(ChangeQueue { state: Mutex::default(), wake: Condvar::new(), limit: limit.max(1) });
    (ChangeSender(Arc::clone(&queue)), Subscriber { queue, inbox })
}

impl ChangeQueue {
    fn state(&self) -> MutexGuard<'_, QueueContents> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeSender {
    /// Queues a change, if there is space. Once a change is missing, none is added until the subscriber has been notified of that.
    pub(super) fn send(&self, change: &Arc<ChangeEvent>) {
        let mut state = self.0.state();
        // Never a change after a gap without the gap before it: the subscriber would build on a state it has not seen.
        if state.missing > 0 || state.changes.len() >= self.0.limit {
            state.missing += 1;
        } else {
            state.changes.push_back(Arc::clone(change));
        }
        drop(state);
        self.0.wake.notify_one();
    }

    /// Whether the subscriber has left.
    pub(super) fn is_left(&self) -> bool {
        self.0.state().left
    }
}

impl Drop for ChangeSender {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.wake.notify_one();
    }
}

impl Subscriber {
    /// The next change, after waiting up to `patience` for it.
    pub fn next_within(&self, patience: Duration) -> NextChange {
        let until = Instant::now() + patience;
        let mut state = self.queue.state();
        loop {
            if let Some(change) = state.changes.pop_front() {
                return NextChange::Change(change);
            }
            // The gap comes after the changes that were queued before it.
            if state.missing > 0 {
                let missing = std::mem::take(&mut state.missing);
                return NextChange::Change(Arc::new(ChangeEvent::Lagged { missing }));
            }
            // Last, so that everything sent before the end is still received.
            if state.ended {
                return NextChange::Ended;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return NextChange::Quiet;
            }
            state = self.queue.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.queue.state().left = true;
        // The watcher sleeps without subscribers, so it has to notice that this one has left.
        self.inbox.ring();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(running: usize) -> Arc<ChangeEvent> {
        Arc::new(ChangeEvent::Begun { running })
    }

    fn take(subscriber: &Subscriber) -> Option<String> {
        match subscriber.next_within(Duration::ZERO) {
            NextChange::Change(change) => serde_json::to_string(&*change).ok(),
            NextChange::Quiet | NextChange::Ended => None,
        }
    }

    #[test]
    fn a_slow_subscriber_is_told_what_is_missing() {
        let (sender, subscriber) = queue(2, Arc::default());
        (0..5).for_each(|number| sender.send(&begun(number)));
        assert_eq!(take(&subscriber).as_deref(), Some(r#"{"change":"begun","running":0}"#));
        // There is space again, but something is missing before it.
        sender.send(&begun(5));
        assert_eq!(take(&subscriber).as_deref(), Some(r#"{"change":"begun","running":1}"#));
        assert_eq!(take(&subscriber).as_deref(), Some(r#"{"change":"lagged","missing":4}"#));
        assert_eq!(take(&subscriber), None);
        sender.send(&begun(6));
        assert_eq!(take(&subscriber).as_deref(), Some(r#"{"change":"begun","running":6}"#));
    }

    #[test]
    fn both_ends_know_when_the_other_is_gone() {
        let (sender, subscriber) = queue(2, Arc::default());
        assert!(!sender.is_left());
        sender.send(&begun(1));
        drop(sender);
        assert!(take(&subscriber).is_some(), "what was sent is still taken");
        assert!(matches!(subscriber.next_within(Duration::from_secs(60)), NextChange::Ended));
        let (sender, subscriber) = queue(2, Arc::default());
        drop(subscriber);
        assert!(sender.is_left());
    }
}
