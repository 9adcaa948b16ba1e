//! A connection whose client has to read: one that takes nothing for too long is closed, so that it holds neither memory nor a place.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A connection that gives up when nothing can be written to it for some time.
pub(crate) struct PatientStream<S> {
    inner: S,
    patience: Duration,
    /// Running while the client has to read before more can be written.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> PatientStream<S> {
    /// Gives up after so long without any byte written.
    pub(crate) fn new(inner: S, patience: Duration) -> Self {
        PatientStream { inner, patience, waiting: None }
    }

    /// Passes on the outcome of writing, and measures how long there is none.
    fn timed<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        // Polled, so that this task is woken when the time is over as well.
        let over = waiting.as_mut().poll(context).is_ready() || waiting.deadline() <= Instant::now();
        if over { Poll::Ready(Err(io::ErrorKind::TimedOut.into())) } else { Poll::Pending }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PatientStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PatientStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.timed(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        self.timed(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::task::Waker;

    /// Takes so many bytes, then none.
    struct Full(usize);

    impl AsyncWrite for Full {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let count = bytes.len().min(self.0);
            self.0 -= count;
            if count > 0 { Poll::Ready(Ok(count)) } else { Poll::Pending }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn a_client_that_reads_nothing_is_given_up() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut stream = PatientStream::new(Full(3), Duration::from_millis(10));
            let written = poll_fn(|context| Pin::new(&mut stream).poll_write(context, b"abc")).await;
            assert_eq!(written.unwrap(), 3);
            let stuck = poll_fn(|context| Pin::new(&mut stream).poll_write(context, b"d")).await;
            assert_eq!(stuck.unwrap_err().kind(), io::ErrorKind::TimedOut);
            // One that has time left is waited for.
            let mut slow = PatientStream::new(Full(0), Duration::from_secs(3600));
            assert!(Pin::new(&mut slow).poll_write(&mut Context::from_waker(Waker::noop()), b"x").is_pending());
        });
    }
}
