//! The watcher's reader for records: recent requests are still in memory, everything else is read from the disk.
//!
//! When a call ends, its row needs the command of its request, a record that was often read only a moment ago.

use crate::Map;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_model::Span;

/// How many records are kept, how large one may be, and all together.
const MOST: usize = 512;
const LARGEST: usize = 128 * 1024;
const ALL: usize = 4 << 20;

/// A record by its log and its first byte.
type RecordKey = (Box<str>, u64);

/// Recent records in memory, and the disk for all others.
#[derive(Debug, Default)]
pub(super) struct RecentRecords {
    held: Map<RecordKey, Vec<u8>>,
    order: VecDeque<RecordKey>,
    bytes: usize,
    disk: Disk,
    read: Arc<AtomicU64>,
}

impl RecentRecords {
    /// An empty cache that adds the bytes it reads from the disk to a counter.
    pub(super) fn new(read: Arc<AtomicU64>) -> Self {
        RecentRecords { read, ..RecentRecords::default() }
    }

    /// Keeps a record in memory.
    pub(super) fn hold(&mut self, file: &str, start: u64, bytes: &[u8]) {
        // One large record would push out hundreds of others.
        if bytes.len() > LARGEST {
            return;
        }
        let spot = (Box::from(file), start);
        self.bytes += bytes.len();
        match self.held.insert(spot.clone(), bytes.to_vec()) {
            // Replaced, as when a last line was read before it was complete. It keeps its place in the order.
            Some(before) => self.bytes -= before.len(),
            None => self.order.push_back(spot),
        }
        // The oldest first: nearly all calls end soon after their request.
        while self.order.len() > MOST || self.bytes > ALL {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.held.remove(&oldest).map_or(0, |bytes| bytes.len());
        }
    }

    /// Forgets the records of a log that was replaced or rewritten.
    pub(super) fn forget(&mut self, file: &str) {
        let RecentRecords { held, bytes, order, .. } = self;
        order.retain(|spot| &*spot.0 != file);
        held.retain(|spot, record| {
            let kept = &*spot.0 != file;
            *bytes -= if kept { 0 } else { record.len() };
            kept
        });
    }

    /// Closes the logs that were opened: the next time another file may have the same path.
    pub(super) fn tidy(&mut self) {
        self.disk = Disk::default();
    }
}

impl ReadLogs for RecentRecords {
    fn log(&self, file: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(ByteCounter { input: self.disk.log(file)?, read: &self.read }))
    }

    fn bytes(&self, file: &str, span: Span) -> Option<Vec<u8>> {
        self.bytes_within(file, span, span)
    }

    fn bytes_within(&self, file: &str, record: Span, part: Span) -> Option<Vec<u8>> {
        // Of another length, it is not the record that was asked for.
        let held = self.held.get(&(Box::from(file), record.start)).filter(|bytes| bytes.len() as u64 == record.len());
        let within = |offset: u64| usize::try_from(offset.checked_sub(record.start)?).ok();
        if let Some(bytes) = held.and_then(|bytes| bytes.get(within(part.start)?..within(part.end)?)) {
            return Some(bytes.to_vec());
        }
        let bytes = self.disk.bytes(file, part)?;
        self.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Some(bytes)
    }

    fn beside(&self, file: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        self.disk.beside(file, name, limit)
    }

    fn backup(&self, file: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        self.disk.backup(file, name, limit)
    }
}

/// Counts the bytes that are read.
struct ByteCounter<'c, R> {
    input: R,
    read: &'c AtomicU64,
}

impl<R: Read> Read for ByteCounter<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(out)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_much_is_at_hand() {
        let mut records = RecentRecords::default();
        for number in 0..3 * MOST as u64 {
            records.hold("a", number, &[7; 100]);
            records.hold("a", number, &[8; 90]);
        }
        assert_eq!((records.held.len(), records.order.len(), records.bytes), (MOST, MOST, 90 * MOST));
        let last = 3 * MOST as u64 - 1;
        assert_eq!(records.bytes("a", Span { start: last, end: last + 90 }), Some(vec![8; 90]));
        assert_eq!(records.bytes("a", Span { start: last, end: last + 80 }), None, "another record");
        let record = Span { start: last, end: last + 90 };
        assert_eq!(records.bytes_within("a", record, Span { start: last + 5, end: last + 12 }), Some(vec![8; 7]));
        assert_eq!(records.bytes_within("a", record, Span { start: last + 5, end: last + 91 }), None, "more than the record");
        records.hold("b", 0, &[1; LARGEST + 1]);
        records.hold("b", 1, &[1; LARGEST]);
        assert_eq!(records.held.len(), MOST);
        records.forget("a");
        assert_eq!((records.held.len(), records.order.len(), records.bytes), (1, 1, LARGEST));
        (0..100).for_each(|number| records.hold("b", number, &[1; LARGEST]));
        assert!(records.bytes <= ALL && records.held.len() == records.order.len());
    }
}
