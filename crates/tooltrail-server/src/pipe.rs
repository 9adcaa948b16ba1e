//! Bodies that are written while they are sent: downloads, rows for programs, events.

use axum::body::{Body, Bytes};
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, error::TrySendError};
use tracing::{debug, warn};

/// The receiving end of a pipe, which becomes the body of a response.
pub struct PipeReader {
    pieces: mpsc::Receiver<Bytes>,
    /// Whether the writer has finished. Without that the end of the pieces is an error.
    ended: Arc<AtomicBool>,
}

impl PipeReader {
    /// A stream without a defined end, such as events.
    pub(crate) fn endless(pieces: mpsc::Receiver<Bytes>) -> Self {
        PipeReader { pieces, ended: Arc::new(AtomicBool::new(true)) }
    }
}

/// The writing end of a pipe. The client sees an error, not a short file, if it is dropped without [`Pipe::end`].
pub struct Pipe {
    send: mpsc::Sender<Bytes>,
    held: Vec<u8>,
    ended: Arc<AtomicBool>,
}

/// Size of a piece.
const PIECE: usize = 64 * 1024;
/// Number of bodies that may be written at once.
const AT_ONCE: usize = 8;
/// Longest wait for a client that reads nothing.
const PATIENCE: Duration = Duration::from_secs(60);

impl Pipe {
    /// A pipe, and its other end.
    pub fn new() -> (Self, PipeReader) {
        // A few pieces keep the writer busy while the client reads, and bound the memory that a slow client takes.
        let (send, pieces) = mpsc::channel(8);
        let ended = Arc::new(AtomicBool::new(false));
        (Pipe { send, held: Vec::with_capacity(PIECE), ended: Arc::clone(&ended) }, PipeReader { pieces, ended })
    }

    /// Tells whether the client has gone.
    pub(crate) fn is_closed(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let send = self.send.downgrade();
        move || send.upgrade().is_none_or(|send| send.is_closed())
    }

    /// Marks the body as complete.
    pub fn end(mut self) -> io::Result<()> {
        self.flush()?;
        // Only after the last piece is in the channel: the reader looks at the flag when the channel is empty.
        self.ended.store(true, Ordering::Release);
        Ok(())
    }
}

/// Logs how writing ended. The client only sees that the body breaks off; the reason is in the log.
pub(crate) fn finish(written: io::Result<()>) {
    match written {
        Ok(()) => {}
        // The client has closed the connection, as browsers do when a download is cancelled.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => debug!("the client closed a download"),
        Err(error) => warn!(%error, "a download failed"),
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Polled, not blocking on the channel: a blocking send could wait forever for a client that keeps its connection but
        // reads nothing.
        let mut piece = Bytes::from(std::mem::replace(&mut self.held, Vec::with_capacity(PIECE)));
        let start = Instant::now();
        loop {
            match self.send.try_send(piece) {
                Ok(()) => return Ok(()),
                // The client is gone.
                Err(TrySendError::Closed(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
                // The client is there, but has read nothing for too long.
                Err(TrySendError::Full(_)) if start.elapsed() > PATIENCE => return Err(io::ErrorKind::TimedOut.into()),
                Err(TrySendError::Full(back)) => piece = back,
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A body that streams what the pipe brings.
pub(crate) fn stream(written: PipeReader) -> Body {
    Body::new(Stream(written))
}

struct Stream(PipeReader);

impl http_body::Body for Stream {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        let piece = ready!(self.0.pieces.poll_recv(context));
        Poll::Ready(match piece {
            Some(piece) => Some(Ok(http_body::Frame::data(piece))),
            // An error makes the server break off the transfer, so that a client cannot take half a file for all of it.
            None if self.0.ended.load(Ordering::Acquire) => None,
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
        })
    }
}

/// Counter of the bodies that are being written.
#[derive(Clone, Default)]
pub(crate) struct Writing(Arc<AtomicUsize>);

/// Permission to write a body, until it is dropped.
pub(crate) struct WritePermit(Writing);

impl Writing {
    /// Permission to write one more body, unless too many are being written.
    pub(crate) fn begin(&self) -> Option<WritePermit> {
        let begun = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count < AT_ONCE).then_some(count + 1));
        begun.is_ok().then(|| WritePermit(self.clone()))
    }
}

impl Drop for WritePermit {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_few_are_written_at_once() {
        let writing = Writing::default();
        let mut turns: Vec<WritePermit> = (0..AT_ONCE).filter_map(|_| writing.begin()).collect();
        assert_eq!((turns.len(), writing.begin().is_none()), (AT_ONCE, true));
        turns.pop();
        assert!(writing.begin().is_some());
    }

    #[test]
    fn what_is_broken_off_does_not_pass_for_all_of_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for ends in [true, false] {
            let (mut pipe, written) = Pipe::new();
            pipe.write_all(b"a beginning").unwrap();
            pipe.flush().unwrap();
            if ends {
                pipe.end().unwrap();
            } else {
                drop(pipe);
            }
            let read = runtime.block_on(axum::body::to_bytes(stream(written), usize::MAX));
            assert_eq!(read.ok().as_deref(), ends.then_some(&b"a beginning"[..]));
        }
    }
}
