//! Queues for work that links all logs. It takes much memory, so it is done one at a time, and few requests wait for
//! it.

use super::error::{ApiError, Code};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Limits on waiting requests and on their wait. Each of them occupies one of the few threads for answers.
const WAIT: usize = 4;
const PATIENCE: Duration = Duration::from_secs(20);

/// Queue of answers that are made in memory.
pub(super) static MADE: LinkQueue = LinkQueue::new();
/// Queue of answers that are written while the client reads: slow clients must not keep the others waiting.
pub(super) static STREAMED: LinkQueue = LinkQueue::new();

/// A queue that lets one request through at a time.
pub(super) struct LinkQueue {
    state: Mutex<LinkQueueState>,
    free: Condvar,
}

#[derive(Default)]
struct LinkQueueState {
    taken: bool,
    waiting: usize,
}

/// Permission to link all logs, until it is dropped.
pub(super) struct LinkPermit<'t>(&'t LinkQueue);

impl LinkQueue {
    const fn new() -> Self {
        LinkQueue { state: Mutex::new(LinkQueueState { taken: false, waiting: 0 }), free: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, LinkQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for permission, unless too many do.
    pub(super) fn take(&self) -> Result<LinkPermit<'_>, ApiError> {
        self.take_within(PATIENCE)
            .ok_or_else(|| ApiError::new(Code::Busy, "The server is busy with another request that reads all logs. Try again in a moment."))
    }

    fn take_within(&self, patience: Duration) -> Option<LinkPermit<'_>> {
        let mut state = self.state();
        // Refused at once instead of after the wait: the client can then decide for itself.
        if state.taken && state.waiting >= WAIT {
            return None;
        }
        state.waiting += 1;
        let waited = self.free.wait_timeout_while(state, patience, |state| state.taken);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        // Counted out first, also after a timeout: the number must not grow.
        if waited.timed_out() {
            return None;
        }
        state.taken = true;
        Some(LinkPermit(self))
    }
}

impl Drop for LinkPermit<'_> {
    fn drop(&mut self) {
        self.0.state().taken = false;
        // After the lock is released, so that the woken thread can go on at once.
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_after_the_other_and_few_wait() {
        let turns = LinkQueue::new();
        let turn = turns.take().ok();
        assert!(turn.is_some() && turns.take_within(Duration::from_millis(1)).is_none());
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..WAIT).map(|_| scope.spawn(|| turns.take().is_ok())).collect();
            while turns.state().waiting < WAIT {
                std::thread::yield_now();
            }
            let start = std::time::Instant::now();
            assert!(turns.take().is_err() && start.elapsed() < PATIENCE, "one too many is told at once");
            drop(turn);
            assert!(waiting.into_iter().all(|waiting| waiting.join().is_ok_and(|taken| taken)));
        });
        assert!(turns.take().is_ok());
    }
}
