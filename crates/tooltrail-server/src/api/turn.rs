//! Turns: what links everything takes memory as everything does, so it is done one at a time, and few wait for it.

use super::error::{ApiError, Code};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many wait at most, and for how long. Each of them keeps one of the few threads that make answers.
const WAIT: usize = 4;
const PATIENCE: Duration = Duration::from_secs(20);

/// Answers that are made at once.
pub(super) static MADE: LinkQueue = LinkQueue::new();
/// Answers that are made for as long as somebody reads them: they must not keep the others waiting.
pub(super) static STREAMED: LinkQueue = LinkQueue::new();

/// One turn after the other.
pub(super) struct LinkQueue {
    state: Mutex<LinkQueueState>,
    free: Condvar,
}

#[derive(Default)]
struct LinkQueueState {
    taken: bool,
    waiting: usize,
}

/// A turn, until it is dropped.
pub(super) struct LinkPermit<'t>(&'t LinkQueue);

impl LinkQueue {
    const fn new() -> Self {
        LinkQueue { state: Mutex::new(LinkQueueState { taken: false, waiting: 0 }), free: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, LinkQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn, unless too many do.
    pub(super) fn take(&self) -> Result<LinkPermit<'_>, ApiError> {
        self.take_within(PATIENCE).ok_or_else(|| {
            ApiError::new(
                Code::Busy,
                "Others ask for something that takes all logs, which is found for one at a time. Ask again in a moment.",
            )
        })
    }

    fn take_within(&self, patience: Duration) -> Option<LinkPermit<'_>> {
        let mut state = self.state();
        if state.taken && state.waiting >= WAIT {
            return None;
        }
        state.waiting += 1;
        let waited = self.free.wait_timeout_while(state, patience, |state| state.taken);
        let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
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
