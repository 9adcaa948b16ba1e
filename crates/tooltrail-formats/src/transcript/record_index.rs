//! The index of records: everything that a transcript needs to know of each record, and a cache of it, so that only the new records of a
//! log that has grown are read.

use super::echoes;
use super::halves::Half;
use crate::disk::ReadLogs;
use crate::lines::LinePosition;
use crate::value::Payloads;
use crate::{Format, Record, TypedRecord, records};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::{EntryKind, Part, Parts, PermissionMode};
use tooltrail_model::{At, Span, Time};
use tracing::warn;

/// How many of the last bytes are looked at again, to see that a longer log is the same one grown.
const SEAM: u64 = 64;
/// A log that has grown by more than this is read from its beginning.
const MOST: u64 = 16 << 20;

/// A record in the index.
#[derive(Debug)]
pub(super) struct IndexedRecord {
    pub(super) at: At,
    pub(super) time: Option<Time>,
    /// The session, as the record names it.
    pub(super) session: Option<Arc<str>>,
    pub(super) sidechain: bool,
    pub(super) agent: Option<Arc<str>>,
    /// Its own id and that of its predecessor, for a record beside the main conversation that does not name its agent.
    pub(super) chain: Option<(Option<String>, Option<String>)>,
    /// The kind of record that repeats others, if this is a repetition.
    pub(super) echo: Option<&'static str>,
    pub(super) version: Option<Arc<str>>,
    pub(super) permission: Option<Arc<PermissionMode>>,
    /// The message whose early end is the last part.
    pub(super) stopped: Option<u64>,
    /// A hash that identifies the record; `None` where two equal records may both count.
    pub(super) print: Option<u64>,
    pub(super) parts: Vec<IndexedPart>,
}

/// A part of a record in the index.
#[derive(Debug)]
pub(super) struct IndexedPart {
    pub(super) subject: PartSubject,
    /// About how many lines it takes.
    pub(super) lines: u32,
    /// A fingerprint of its text; 0 where it has none.
    pub(super) text: u64,
    /// Fingerprints of its paragraphs.
    pub(super) paragraphs: Vec<u64>,
    /// How it begins, if it is a prompt.
    pub(super) head: String,
    /// The half of a command that it is.
    pub(super) half: Option<Half>,
}

/// The subject of a part: a call, a hook, or itself.
#[derive(Debug)]
pub(super) enum PartSubject {
    Call(String),
    Result(String),
    End(String),
    /// A hook, and the call that it ran for.
    Hook(Option<String>),
    /// Anything else.
    Plain(EntryKind),
}

impl IndexedRecord {
    /// Indexes a record. `head` returns the beginning of a prompt, redacted if asked for.
    pub(super) fn of(record: Record<'_>, typed: &dyn TypedRecord, head: &dyn Fn(&Part) -> String) -> Self {
        // Not redacted: the fingerprints have to be the same in every log, and nothing of the text is kept but the head.
        let parts = typed.parts(Payloads::default());
        let print = print(&parts, record.bytes);
        let named = parts.agent.is_some() || !parts.sidechain;
        IndexedRecord {
            at: record.at,
            time: parts.time,
            session: parts.session.map(Arc::from),
            sidechain: parts.sidechain,
            agent: parts.agent.map(Arc::from),
            chain: (!named).then_some((parts.id, parts.parent)),
            echo: parts.echo.then(|| parts.voice.unwrap_or(echoes::ANY)),
            version: parts.version.map(Arc::from),
            permission: parts.permission.map(Arc::new),
            stopped: parts.stopped,
            print,
            parts: parts.parts.iter().map(|part| IndexedPart::of(part, head)).collect(),
        }
    }

    /// Shares names with the record before, which mostly has the same: a long log would hold thousands of copies.
    pub(super) fn share(&mut self, before: &IndexedRecord) {
        let pairs = [(&mut self.session, &before.session), (&mut self.agent, &before.agent), (&mut self.version, &before.version)];
        for (own, known) in pairs {
            if own == known {
                own.clone_from(known);
            }
        }
    }
}

impl IndexedPart {
    fn of(part: &Part, head: &dyn Fn(&Part) -> String) -> Self {
        IndexedPart {
            subject: PartSubject::of(part),
            lines: lines(part),
            text: fingerprint(part),
            paragraphs: paragraphs(part),
            head: head(part),
            half: Half::of(part),
        }
    }
}

impl PartSubject {
    fn of(part: &Part) -> Self {
        PartSubject::Plain(match part {
            Part::Call(id) => return PartSubject::Call(id.clone()),
            Part::Result(id) => return PartSubject::Result(id.clone()),
            Part::End(id) => return PartSubject::End(id.clone()),
            Part::Hook(hook) => return PartSubject::Hook(hook.call.clone()),
            Part::Prompt { .. } => EntryKind::Prompt,
            Part::Command { .. } => EntryKind::Command,
            Part::Text(_) => EntryKind::Text,
            Part::Thinking(_) => EntryKind::Thinking,
            Part::Media(_) => EntryKind::Media,
            Part::Folded { .. } => EntryKind::Folded,
            Part::Notice { .. } => EntryKind::Notice,
            Part::Boundary { .. } => EntryKind::Boundary,
            Part::Unknown { .. } => EntryKind::Unknown,
        })
    }
}

/// The index of logs that were read before, for sessions that are read again as they grow.
#[derive(Debug, Default)]
pub struct RecordIndexCache {
    logs: Mutex<HashMap<Box<str>, IndexedLog>>,
}

/// A log whose records are indexed up to a mark.
#[derive(Debug, Default)]
struct IndexedLog {
    mark: LinePosition,
    /// The last bytes before the mark.
    seam: Vec<u8>,
    indexed: Vec<IndexedRecord>,
    /// Size and modification time at the time of reading.
    written: (u64, Option<Time>),
    /// The agent that the log was taken for. An unfinished line may have led to a wrong guess.
    agent: &'static str,
}

/// A log that is to be read.
#[derive(Clone, Copy)]
pub(super) struct IndexSource<'l> {
    pub(super) file: &'l str,
    pub(super) format: &'static dyn Format,
    pub(super) disk: &'l dyn ReadLogs,
    /// The known size, and the modification time.
    pub(super) written: (u64, Option<Time>),
    /// The most parts of records that are indexed.
    pub(super) most: usize,
    /// Where reading ends.
    pub(super) end: u64,
    /// Returns the beginning of a prompt, redacted if asked for.
    pub(super) head: &'l dyn Fn(&Part) -> String,
}

impl IndexSource<'_> {
    /// Passes on all its records, and returns the position behind the last finished line. A log that is gone or cannot be opened has none.
    pub(super) fn each_owned(&self, mut take: impl FnMut(IndexedRecord)) -> Option<LinePosition> {
        let input = match self.disk.log(self.file) {
            Ok(input) => input.take(self.end),
            Err(error) => {
                warn!(path = ?self.file, %error, "cannot open a log of the session");
                return None;
            }
        };
        let mut left = self.most;
        let index = |_: &'static dyn Format, record: Record<'_>, typed: &dyn TypedRecord| {
            if left > 0 {
                let mut record = self.index(record, typed);
                record.parts.truncate(left);
                left = left.saturating_sub(record.parts.len().max(1));
                take(record);
            }
        };
        Some(records::each(input, index))
    }

    fn index(&self, record: Record<'_>, typed: &dyn TypedRecord) -> IndexedRecord {
        IndexedRecord::of(record, typed, self.head)
    }
}

fn push(indexed: &mut Vec<IndexedRecord>, mut record: IndexedRecord) {
    if let Some(before) = indexed.last() {
        record.share(before);
    }
    indexed.push(record);
}

impl RecordIndexCache {
    /// Passes on all records of a log, reading only those that are new.
    pub(super) fn each(&self, log: IndexSource<'_>, take: impl FnMut(&IndexedRecord)) {
        // Held while the log is read: two requests for the same session read it once.
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        // Removed first, so that a panic on the way leaves no half-read index.
        let grown = logs.remove(log.file).and_then(|noted| noted.go_on(log));
        let noted = grown.unwrap_or_else(|| IndexedLog::begin(log));
        noted.indexed.iter().for_each(take);
        logs.insert(log.file.into(), noted);
    }
}

impl IndexedLog {
    /// Reads a log from its beginning.
    fn begin(log: IndexSource<'_>) -> Self {
        let mut indexed: Vec<IndexedRecord> = Vec::new();
        match log.each_owned(|record| push(&mut indexed, record)) {
            Some(mark) => IndexedLog::at(mark, indexed, log),
            None => IndexedLog::default(),
        }
    }

    /// Reads the records behind the mark; `None` if this is not the same log grown.
    fn go_on(mut self, log: IndexSource<'_>) -> Option<Self> {
        let start = self.mark.offset.saturating_sub(self.seam.len() as u64);
        let (size, _) = log.written;
        // A new time without growth means that the log was rewritten.
        let over = log.written != self.written && size <= self.written.0;
        let other = over || log.format.agent() != self.agent;
        // A mark at 0 is a document or a log without a finished line: nothing to continue from.
        let new = size.checked_sub(self.mark.offset).filter(|new| self.mark.offset > 0 && *new <= MOST && !other);
        let bytes = log.disk.bytes(log.file, Span { start, end: self.mark.offset + new? })?;
        let new = bytes.strip_prefix(self.seam.as_slice())?;
        // An unfinished line of last time is read again, now perhaps whole.
        self.indexed.truncate(self.indexed.partition_point(|record| record.at.span.start < self.mark.offset));
        let indexed = &mut self.indexed;
        let mark = records::each_after(self.mark, log.format, new, |record, typed| push(indexed, log.index(record, typed)));
        Some(IndexedLog::at(mark, self.indexed, log))
    }

    /// Keeps the position. Without the bytes before it, growth could not be told from rewriting.
    fn at(mark: LinePosition, indexed: Vec<IndexedRecord>, log: IndexSource<'_>) -> Self {
        let seam = log.disk.bytes(log.file, Span { start: mark.offset.saturating_sub(SEAM), end: mark.offset });
        let mark = if seam.is_some() { mark } else { LinePosition::default() };
        IndexedLog { mark, seam: seam.unwrap_or_default(), indexed, written: log.written, agent: log.format.agent() }
    }
}

/// A hash that tells a record from others.
fn print(parts: &Parts, bytes: &[u8]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    match &parts.id {
        // The content counts as well: an id that was used for something else makes no copy.
        Some(id) => {
            id.hash(&mut hasher);
            parts.parts.iter().for_each(|part| part_hash(part, &mut hasher));
        }
        // Without a time, two equal records may be two events.
        None if parts.time.is_none() => return None,
        None => bytes.hash(&mut hasher),
    }
    Some(hasher.finish())
}

/// The text of a part, as far as it has one.
pub(super) fn text(part: &Part) -> &str {
    match part {
        Part::Prompt { text, .. } | Part::Text(text) | Part::Thinking(text) | Part::Folded { text, .. } => text,
        Part::Command { line, .. } => line,
        Part::Notice { title, .. } | Part::Boundary { title, .. } => title,
        _ => "",
    }
}

/// A fingerprint of a part's kind and words; 0 where it has no words.
fn fingerprint(part: &Part) -> u64 {
    let words = text(part).trim();
    if words.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    std::mem::discriminant(part).hash(&mut hasher);
    // The same words from a person and from an agent are two messages.
    matches!(part, Part::Prompt { origin: Origin::Agent, .. }).hash(&mut hasher);
    words.hash(&mut hasher);
    // 0 means "no words".
    hasher.finish().max(1)
}

/// Hashes a part, to compare two records with the same id.
fn part_hash(part: &Part, hasher: &mut DefaultHasher) {
    std::mem::discriminant(part).hash(hasher);
    match part {
        Part::Call(id) | Part::Result(id) | Part::End(id) => id.hash(hasher),
        Part::Unknown { name, .. } => name.hash(hasher),
        Part::Hook(hook) => hook.command.hash(hasher),
        other => text(other).hash(hasher),
    }
}

/// Fingerprints of the paragraphs of a thought, which other records may hold one by one.
fn paragraphs(part: &Part) -> Vec<u64> {
    let Part::Thinking(text) = part else { return Vec::new() };
    text.split("\n\n").filter(|piece| !piece.trim().is_empty()).map(|piece| fingerprint(&Part::Thinking(piece.to_owned()))).collect()
}

/// About how many lines a part takes on a page: none, if it is a thought whose text is withheld.
pub(super) fn lines(part: &Part) -> u32 {
    const COLUMNS: usize = 100;
    if matches!(part, Part::Thinking(text) if text.trim().is_empty()) {
        return 0;
    }
    let lines: usize = text(part).lines().map(|line| line.len() / COLUMNS + 1).sum();
    u32::try_from(lines.max(1)).unwrap_or(u32::MAX)
}
