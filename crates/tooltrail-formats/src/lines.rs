//! Lines of any length, in bounded memory.
//!
//! A thread keeps one buffer of about a megabyte. A longer line makes it grow, one thread at a time; a line over the limit is
//! read past and only counted, with its beginning kept to see what it was.

use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much is read at once: little enough to stay in the processor's cache until it is looked at.
const CHUNK: usize = 128 * 1024;
/// How much of the beginning is shown to tell what a source is.
pub(crate) const HEAD: usize = 256 * 1024;
/// The size up to which a buffer grows without waiting for its turn.
const SPACE: usize = 1024 * 1024;
/// How much of an oversized line is kept.
const KEPT: usize = 64 * 1024;

/// Makes long lines take turns: only the thread that holds this may grow its buffer.
#[derive(Debug, Default)]
pub struct Turns(Mutex<()>);

/// A buffer that outlives the sources it is used for.
#[derive(Debug, Default)]
pub struct Buffer(Vec<u8>);

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine<'b> {
    /// Its number, counted from 1.
    pub number: u64,
    /// The offset of its first byte.
    pub start: u64,
    /// Its length without the line feed.
    pub length: u64,
    /// Its bytes without the line feed; only the beginning if it is oversized.
    pub bytes: &'b [u8],
    /// Whether a line feed ends it.
    pub ended: bool,
}

impl LogLine<'_> {
    /// Whether it is longer than the limit.
    pub fn oversized(&self) -> bool {
        self.bytes.len() as u64 != self.length
    }
}

/// A place between two lines of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinePosition {
    /// How many bytes stand before it.
    pub offset: u64,
    /// How many lines.
    pub lines: u64,
}

/// Reads lines from anything.
#[derive(Debug)]
pub struct Lines<'b, R> {
    input: R,
    buffer: &'b mut Vec<u8>,
    turns: &'b Turns,
    turn: Option<MutexGuard<'b, ()>>,
    limit: usize,
    /// The part of the buffer that holds unread bytes.
    head: usize,
    tail: usize,
    /// The offset in the input of the byte at `head`.
    offset: u64,
    number: u64,
    at_end: bool,
    /// A reading error, reported once everything before it has been handed out.
    error: Option<io::Error>,
}

impl<'b, R: Read> Lines<'b, R> {
    /// Lines of `input`; those over `limit` bytes are not kept.
    pub fn new(input: R, buffer: &'b mut Buffer, turns: &'b Turns, limit: usize) -> Self {
        Lines::after(LinePosition::default(), input, buffer, turns, limit)
    }

    /// The lines after a place that was reached before; `input` begins there.
    pub fn after(mark: LinePosition, input: R, buffer: &'b mut Buffer, turns: &'b Turns, limit: usize) -> Self {
        if buffer.0.is_empty() {
            // The system hands out zeroed memory, and short logs never touch most of it.
            buffer.0 = vec![0; SPACE];
        } else if buffer.0.len() < SPACE {
            buffer.0.resize(SPACE, 0);
        }
        Lines {
            input,
            buffer: &mut buffer.0,
            turns,
            turn: None,
            // The beginning of an oversized line is kept in the buffer, so the limit cannot be below it.
            limit: limit.max(KEPT),
            head: 0,
            tail: 0,
            offset: mark.offset,
            number: mark.lines,
            at_end: false,
            error: None,
        }
    }

    /// How many bytes have been taken from the input, with those before its beginning.
    pub fn bytes(&self) -> u64 {
        self.offset + (self.tail - self.head) as u64
    }

    /// The beginning of the input, without consuming it.
    pub fn peek(&mut self) -> &[u8] {
        while self.tail < HEAD && !self.at_end {
            self.fill();
        }
        &self.buffer[self.head..self.tail]
    }

    /// All of the input, without consuming it; nothing if it is longer than the limit.
    pub fn whole(&mut self) -> Option<&[u8]> {
        while !self.at_end && self.tail - self.head <= self.limit {
            self.fill();
        }
        (self.tail - self.head <= self.limit).then(|| &self.buffer[self.head..self.tail])
    }

    /// The next line.
    pub fn next_line(&mut self) -> io::Result<Option<LogLine<'_>>> {
        self.give_back();
        // Bytes searched once are not searched again when the buffer grows, or a long line would cost its length squared.
        let mut searched = 0;
        loop {
            let held = &self.buffer[self.head..self.tail];
            if let Some(at) = memchr::memchr(b'\n', &held[searched..]) {
                return Ok(Some(self.take(searched + at, true)));
            }
            searched = held.len();
            if self.at_end {
                // The last line of a log that is being written has no line feed; it counts as a line.
                if searched > 0 {
                    return Ok(Some(self.take(searched, false)));
                }
                return self.error.take().map_or(Ok(None), Err);
            }
            if searched > self.limit {
                return Ok(Some(self.oversized()));
            }
            self.fill();
        }
    }

    fn take(&mut self, length: usize, ended: bool) -> LogLine<'_> {
        let (first, start) = (self.head, self.offset);
        self.number += 1;
        self.head += length + usize::from(ended);
        self.offset += (length + usize::from(ended)) as u64;
        // The limit does not depend on how much of the line happens to be held.
        let kept = if length > self.limit { KEPT } else { length };
        LogLine { number: self.number, start, length: length as u64, bytes: &self.buffer[first..first + kept], ended }
    }

    /// Reads past the line at hand, keeping its beginning.
    fn oversized(&mut self) -> LogLine<'_> {
        let kept = self.buffer[self.head..self.head + KEPT].to_vec();
        let start = self.offset;
        let mut length = (self.tail - self.head) as u64;
        let mut ended = false;
        // The buffer is reused for the rest of the line, however long that is; only the copy of the beginning survives.
        (self.head, self.tail) = (0, 0);
        while !ended && !self.at_end {
            self.fill();
            let end = memchr::memchr(b'\n', &self.buffer[..self.tail]);
            ended = end.is_some();
            let part = end.unwrap_or(self.tail);
            length += part as u64;
            if ended {
                self.head = part + 1;
            } else {
                self.tail = 0;
            }
        }
        self.offset = start + length + u64::from(ended);
        self.number += 1;
        // The rest of the buffer holds the lines that follow, so the beginning goes in front of them.
        let rest = self.tail - self.head;
        let mut merged = kept;
        merged.extend_from_slice(&self.buffer[self.head..self.tail]);
        // Space for a chunk has to stay, because `fill` reads behind the tail.
        if self.buffer.len() < merged.len() + CHUNK {
            self.buffer.resize(merged.len() + CHUNK, 0);
        }
        self.buffer[..merged.len()].copy_from_slice(&merged);
        self.head = KEPT;
        self.tail = KEPT + rest;
        LogLine { number: self.number, start, length, bytes: &self.buffer[..KEPT], ended }
    }

    /// Shrinks a buffer that a long line made grow, and lets the next one have its turn.
    fn give_back(&mut self) {
        // Only once the lines in memory fit again: what is buffered must not be lost.
        if self.turn.is_some() && self.tail - self.head <= SPACE {
            self.buffer.copy_within(self.head..self.tail, 0);
            self.tail -= self.head;
            self.head = 0;
            self.buffer.truncate(SPACE.max(self.tail));
            // Without this the capacity would stay, and one long line per thread would hold memory to the end of the scan.
            self.buffer.shrink_to_fit();
            self.turn = None;
        }
    }

    /// Reads more, moving or growing what is held as needed.
    fn fill(&mut self) {
        // A short rest goes to the front as well, so that the same memory is filled again and again: it is in the cache.
        if self.buffer.len() - self.tail < CHUNK || self.tail - self.head < CHUNK / 4 {
            if self.head > 0 {
                self.buffer.copy_within(self.head..self.tail, 0);
                self.tail -= self.head;
                self.head = 0;
            }
            if self.buffer.len() - self.tail < CHUNK {
                // Blocks until no other thread holds a long line, so that the largest lines of all files never share the memory.
                if self.turn.is_none() {
                    self.turn = Some(self.turns.0.lock().unwrap_or_else(PoisonError::into_inner));
                }
                // Doubled, so that a line of n bytes is moved about log n times, but never far beyond the limit.
                let more = (self.buffer.len() * 2).min(self.limit.saturating_add(2 * CHUNK)).max(self.tail + CHUNK);
                self.buffer.reserve_exact(more - self.buffer.len());
                self.buffer.resize(more, 0);
            }
        }
        loop {
            let end = self.buffer.len().min(self.tail + CHUNK);
            match self.input.read(&mut self.buffer[self.tail..end]) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.tail += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Bytes read before the error are handed out first.
                Err(error) => {
                    self.at_end = true;
                    self.error = Some(error);
                }
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a text in pieces of a given size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(out.len()).min(self.0.len());
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(text: &[u8], piece: usize, limit: usize) -> Vec<(u64, u64, u64, usize, bool)> {
        let (mut buffer, turns) = (Buffer::default(), Turns::default());
        let mut lines = Lines::new(Pieces(text, piece), &mut buffer, &turns, limit);
        let mut out = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            if !line.oversized() {
                assert_eq!(line.bytes, &text[line.start as usize..(line.start + line.length) as usize]);
            }
            out.push((line.number, line.start, line.length, line.bytes.len(), line.ended));
        }
        assert_eq!(lines.bytes(), text.len() as u64);
        out
    }

    #[test]
    fn lines_do_not_depend_on_how_the_bytes_arrive() {
        let mut text = b"one\n\n\r\nthree".to_vec();
        text.extend(vec![b'x'; 3 * SPACE]);
        text.extend(b"\nfour\n");
        text.extend(vec![b'y'; SPACE]);
        let whole = all(&text, usize::MAX, 32 << 20);
        for piece in [1000, 4096, CHUNK, CHUNK + 1, SPACE * 2] {
            assert_eq!(all(&text, piece, 32 << 20), whole);
        }
        assert_eq!(whole.len(), 6);
        assert!(!whole[5].4);
        assert!(all(b"", 10, 100).is_empty());
    }

    #[test]
    fn oversized_lines_are_counted_not_kept() {
        let mut text = b"before\n".to_vec();
        text.extend(vec![b'x'; 4 << 20]);
        text.extend(b"\nafter\nlast");
        for piece in [70_000, CHUNK, 5 << 20] {
            let lines = all(&text, piece, 1 << 20);
            assert_eq!(lines[1], (2, 7, 4 << 20, KEPT, true));
            assert_eq!(lines[2].2, 5);
            assert_eq!(lines[3], (4, 7 + (4 << 20) + 7, 4, 4, false));
        }
    }
}
