//! Threads on which pages and API answers are made, a few at once. Work whose client is gone is not begun, and long work can
//! check whether its client still waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tooltrail_catalog::stop::Stop;
use tooltrail_formats::error::panic_message;

/// Limits on work at once: pages, answers to programs, which must not keep a person waiting, searches, which no page must wait for, and
/// looks at who connects, which must not wait for any of them.
const PAGES_AT_ONCE: usize = 12;
const ANSWERS_AT_ONCE: usize = 6;
const SEARCHES_AT_ONCE: usize = 4;
const LOOKUPS_AT_ONCE: usize = 2;
/// Threads needed for all of them.
pub(crate) const THREADS: usize = PAGES_AT_ONCE + ANSWERS_AT_ONCE + SEARCHES_AT_ONCE + LOOKUPS_AT_ONCE;

/// Queue of pages.
pub(crate) static PAGES: Lane = Lane(Semaphore::const_new(PAGES_AT_ONCE));
/// Queue of answers to programs.
pub(crate) static ANSWERS: Lane = Lane(Semaphore::const_new(ANSWERS_AT_ONCE));
/// Queue of pages and answers that may have to read logs, because they have a filter.
pub(crate) static SEARCHES: Lane = Lane(Semaphore::const_new(SEARCHES_AT_ONCE));
/// Queue of connections whose user is looked up.
pub(crate) static LOOKUPS: Lane = Lane(Semaphore::const_new(LOOKUPS_AT_ONCE));

/// A queue for work of one kind.
pub(crate) struct Lane(Semaphore);

/// Reason why work gave no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkError {
    /// The server ends.
    #[error("the server is stopping")]
    Ended,
    /// A panic: a fault of ours, not of the client.
    #[error("an internal error: {0}")]
    Panicked(String),
}

/// A flag that is set when the client no longer waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Whether the client is gone.
    pub(crate) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does a search, which ends after some time or when its client is gone. [`Stop::is_reached`] tells afterwards.
pub(crate) fn until<T>(patience: Duration, wanted: &Cancellation, work: impl FnOnce() -> T) -> T {
    let wanted = wanted.clone();
    Stop::new(Some(patience), move || wanted.is_over()).run(work)
}

/// Sets the flag when it is dropped, which happens when a connection is lost.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl Lane {
    /// Runs work on a blocking thread as soon as the queue has space.
    pub(crate) async fn make<T: Send + 'static>(
        &'static self,
        make: impl FnOnce(&Cancellation) -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let turn = self.0.acquire().await.map_err(|_| WorkError::Ended)?;
        // Lives in this future, not in the work: the server drops the future when the connection ends.
        let waiting = CancelOnDrop(Cancellation::default());
        let wanted = waiting.0.clone();
        let made = tokio::task::spawn_blocking(move || {
            // Held by the work itself: it occupies its thread until it ends, even if the client has gone.
            let _turn = turn;
            make(&wanted)
        });
        made.await.map_err(|error| match error.try_into_panic() {
            Ok(panic) => {
                let said = panic_message(&*panic).to_owned();
                tracing::error!(error = %said, "a page or an answer could not be made");
                WorkError::Panicked(said)
            }
            Err(_) => WorkError::Ended,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    static LANE: Lane = Lane(Semaphore::const_new(1));

    #[test]
    fn no_page_and_no_answer_waits_for_searches() {
        // As many threads as the server has: were they too few for all lanes, pages would wait for a thread.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build().unwrap();
        runtime.block_on(async {
            let (release, released) = mpsc::channel::<()>();
            let released = Arc::new(std::sync::Mutex::new(released));
            let search = |released: &Arc<std::sync::Mutex<mpsc::Receiver<()>>>| {
                let released = Arc::clone(released);
                // Ends when the sender is dropped, and not before.
                tokio::spawn(SEARCHES.make(move |_| {
                    let _ = released.lock().unwrap().recv();
                }))
            };
            let searches: Vec<_> = (0..SEARCHES_AT_ONCE + 3).map(|_| search(&released)).collect();
            for number in 0..3 * PAGES_AT_ONCE {
                assert_eq!(PAGES.make(move |_| number).await.ok(), Some(number));
                assert_eq!(ANSWERS.make(move |_| number).await.ok(), Some(number));
            }
            assert!(searches.iter().all(|search| !search.is_finished()));
            drop(release);
            for search in searches {
                search.await.unwrap().unwrap();
            }
        });
    }

    #[test]
    fn a_search_ends_with_its_time_or_its_client() {
        let wanted = Cancellation::default();
        assert!(until(Duration::ZERO, &wanted, || Stop::current().is_over()));
        let patience = Duration::from_secs(3600);
        assert!(!until(patience, &wanted, || Stop::current().is_over()));
        wanted.0.store(true, Ordering::Relaxed);
        assert!(until(patience, &wanted, || Stop::current().is_over()));
    }

    #[test]
    fn what_nobody_waits_for_is_told_so_or_not_begun() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let ((begin, begun), (end, ended)) = (mpsc::channel(), mpsc::channel());
            let first = tokio::spawn(LANE.make(move |wanted| {
                begin.send(()).unwrap();
                while !wanted.is_over() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                end.send(()).unwrap();
            }));
            let (say, said) = mpsc::channel();
            while begun.try_recv().is_err() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let second = tokio::spawn(LANE.make(move |_| say.send(()).unwrap()));
            tokio::time::sleep(Duration::from_millis(5)).await;
            // The second is dropped while it still waits for its turn, so it must never begin; the first already runs and has to
            // notice.
            // Aborting a task drops its future, as the server does when a connection is lost.
            second.abort();
            let _ = second.await;
            first.abort();
            let _ = first.await;
            ended.recv_timeout(Duration::from_secs(20)).unwrap();
            assert_eq!(LANE.make(|_| 3).await.ok(), Some(3));
            let broken = LANE.make(|_| std::panic::resume_unwind(Box::new("no such luck"))).await;
            assert_eq!(broken.err().map(|error: WorkError| error.to_string()).as_deref(), Some("an internal error: no such luck"));
            assert!(said.try_recv().is_err(), "it was begun");
        });
    }
}
