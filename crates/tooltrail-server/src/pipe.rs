//! What is written while it is sent: files to save, rows for programs, events.

use axum::body::{Body, Bytes};
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, error::TrySendError};
use tracing::{debug, warn};

/// Something that is written while it is sent.
pub struct PipeReader {
    pieces: mpsc::Receiver<Bytes>,
    /// Whether what has been written is all there is to it.
    ended: Arc<AtomicBool>,
}

impl PipeReader {
    /// What may end at any time.
    pub(crate) fn endless(pieces: mpsc::Receiver<Bytes>) -> Self {
        PipeReader { pieces, ended: Arc::new(AtomicBool::new(true)) }
    }
}

/// Where a file is written that is sent meanwhile. Whoever reads it is told that it is broken off, unless it is ended.
pub struct Pipe {
    send: mpsc::Sender<Bytes>,
    held: Vec<u8>,
    ended: Arc<AtomicBool>,
}

/// How much is sent at a time.
const PIECE: usize = 64 * 1024;
/// How much is written at once.
const AT_ONCE: usize = 8;
/// How long it is waited for somebody who takes nothing.
const PATIENCE: Duration = Duration::from_secs(60);

impl Pipe {
    /// A pipe, and its other end.
    pub fn new() -> (Self, PipeReader) {
        let (send, pieces) = mpsc::channel(8);
        let ended = Arc::new(AtomicBool::new(false));
        (Pipe { send, held: Vec::with_capacity(PIECE), ended: Arc::clone(&ended) }, PipeReader { pieces, ended })
    }

    /// That was all of it.
    pub fn end(mut self) -> io::Result<()> {
        self.flush()?;
        self.ended.store(true, Ordering::Release);
        Ok(())
    }
}

/// Logs how writing ended. Whoever reads sees that the file is broken off; why, only the log can say.
pub(crate) fn finish(written: io::Result<()>) {
    match written {
        Ok(()) => {}
        // Whoever wanted it has gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => debug!("nobody reads a download any more"),
        Err(error) => warn!(%error, "a download is broken off"),
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
        let mut piece = Bytes::from(std::mem::replace(&mut self.held, Vec::with_capacity(PIECE)));
        let start = Instant::now();
        loop {
            match self.send.try_send(piece) {
                Ok(()) => return Ok(()),
                // Whoever wanted it has gone.
                Err(TrySendError::Closed(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
                // Or takes nothing any more.
                Err(TrySendError::Full(_)) if start.elapsed() > PATIENCE => return Err(io::ErrorKind::TimedOut.into()),
                Err(TrySendError::Full(back)) => piece = back,
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What a pipe brings, as the body of a response.
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
            None if self.0.ended.load(Ordering::Acquire) => None,
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
        })
    }
}

/// How much is written at once while it is sent.
#[derive(Clone, Default)]
pub(crate) struct Writing(Arc<AtomicUsize>);

/// One of the few that may be written at once.
pub(crate) struct WritePermit(Writing);

impl Writing {
    /// Begins with one, unless there are too many.
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
