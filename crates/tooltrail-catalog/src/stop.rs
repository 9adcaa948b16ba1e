//! An end for work that reads logs: a deadline, or a client that has gone.
//!
//! A search goes through many hands, and any of them may be the one that takes long: reading a log, decoding its records, an expression on
//! a long text, opening a session. So the end is not passed along but belongs to the threads that do the work ([`Stop::current`]), those
//! that help them too. Whoever waits for an answer sets it, and asks afterwards whether it was reached: what was found until then is
//! correct, but not everything.

use std::cell::RefCell;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An end for some work. By default there is none.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<StopState>>);

struct StopState {
    deadline: Option<Instant>,
    is_gone: Box<dyn Fn() -> bool + Send + Sync>,
    reached: AtomicBool,
}

thread_local! {
    static CURRENT: RefCell<Stop> = RefCell::default();
}

impl Stop {
    /// An end after some time, or as soon as nobody waits any more.
    pub fn new(patience: Option<Duration>, is_gone: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let deadline = patience.and_then(|patience| Instant::now().checked_add(patience));
        Stop(Some(Arc::new(StopState { deadline, is_gone: Box::new(is_gone), reached: AtomicBool::new(false) })))
    }

    /// The end of the work that this thread does.
    pub fn current() -> Self {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Does some work that ends with this.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let _before = CurrentGuard(CURRENT.replace(self.clone()));
        work()
    }

    /// Whether the work has to end now. Once it is over it stays so.
    pub fn is_over(&self) -> bool {
        let Some(state) = &self.0 else { return false };
        let over =
            state.reached.load(Ordering::Relaxed) || state.deadline.is_some_and(|deadline| Instant::now() >= deadline) || (state.is_gone)();
        if over {
            state.reached.store(true, Ordering::Relaxed);
        }
        over
    }

    /// Whether some of the work was left because it had to end.
    pub fn is_reached(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.reached.load(Ordering::Relaxed))
    }
}

/// Sets back what was current, also after a panic.
struct CurrentGuard(Stop);

impl Drop for CurrentGuard {
    fn drop(&mut self) {
        CURRENT.set(std::mem::take(&mut self.0));
    }
}

/// A reader that comes to its end when the work has to.
pub struct StoppableReader<R> {
    input: R,
    stop: Stop,
}

impl<R: Read> StoppableReader<R> {
    /// Reads as long as the work of this thread may go on.
    pub fn new(input: R) -> Self {
        StoppableReader { input, stop: Stop::current() }
    }
}

impl<R: Read> Read for StoppableReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_over() { Ok(0) } else { self.input.read(out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_knows_its_end_on_all_of_its_threads_and_nothing_else_does() {
        let gone = Arc::new(AtomicBool::new(false));
        let client = Arc::clone(&gone);
        let stop = Stop::new(None, move || client.load(Ordering::Relaxed));
        let helpers = || crate::each(4, 16, |_| Stop::current().is_over());
        assert_eq!(stop.run(helpers), [false; 16]);
        assert!(!stop.is_reached());
        gone.store(true, Ordering::Relaxed);
        assert_eq!(stop.run(helpers), [true; 16]);
        assert!(stop.is_reached() && !Stop::current().is_over());
        assert!(Stop::new(Some(Duration::ZERO), || false).is_over());
    }

    #[test]
    fn a_reader_ends_with_its_work() {
        let gone = Arc::new(AtomicBool::new(false));
        let client = Arc::clone(&gone);
        let mut endless = Stop::new(None, move || client.load(Ordering::Relaxed)).run(|| StoppableReader::new(io::repeat(b'x')));
        let mut bytes = [0; 8];
        assert_eq!(endless.read(&mut bytes).unwrap(), 8);
        gone.store(true, Ordering::Relaxed);
        assert_eq!(endless.read(&mut bytes).unwrap(), 0);
    }
}
