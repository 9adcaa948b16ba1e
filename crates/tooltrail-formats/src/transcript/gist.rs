//! The gist of a record: what the index of a transcript needs to know of it. And notes: the gists of logs that were read before, so that
//! of a log which has grown only the new records are read.

use super::echoes;
use super::halves::Half;
use crate::lines::Mark;
use crate::shelf::Shelf;
use crate::value::Payloads;
use crate::{Format, Record, TypedRecord, records};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use tooltrail_model::event::Origin;
use tooltrail_model::transcript::{EntryKind, Part, Parts};
use tooltrail_model::{At, Span, Time};
use tracing::warn;

/// How many of the last bytes are looked at again, to see that a longer log is the same one grown.
const SEAM: u64 = 64;
/// A log that has grown by more than this is read from its beginning.
const MOST: u64 = 16 << 20;

/// A record, as far as the index needs it.
#[derive(Debug)]
pub(super) struct Gist {
    pub(super) at: At,
    pub(super) time: Option<Time>,
    /// The session, as the record names it.
    pub(super) session: Option<Arc<str>>,
    pub(super) sidechain: bool,
    pub(super) agent: Option<Arc<str>>,
    /// Its own id and that of the record it follows, where it stands beside the main conversation and does not say in which.
    pub(super) chain: Option<(Option<String>, Option<String>)>,
    /// It repeats another record, and which kind of record does so.
    pub(super) echo: Option<&'static str>,
    /// Tells it from other records; nothing where it may be told twice and mean it.
    pub(super) print: Option<u64>,
    pub(super) pieces: Vec<Piece>,
}

/// A part of a record.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) says: Says,
    /// About how many lines it takes.
    pub(super) lines: u32,
    /// A fingerprint of its text; 0 where it has none.
    pub(super) text: u64,
    /// Those of its paragraphs.
    pub(super) paragraphs: Vec<u64>,
    /// How it begins, if it is a prompt.
    pub(super) head: String,
    /// Which part of a command it tells.
    pub(super) half: Option<Half>,
}

/// What a part is about.
#[derive(Debug)]
pub(super) enum Says {
    Call(String),
    Result(String),
    End(String),
    /// A hook, and the call that it ran for.
    Hook(Option<String>),
    /// Anything that stands for itself.
    Plain(EntryKind),
}

impl Gist {
    /// The gist of a record. `head` says how a prompt begins, as it may be seen.
    pub(super) fn of(record: Record<'_>, typed: &dyn TypedRecord, head: &dyn Fn(&Part) -> String, before: Option<&Gist>) -> Self {
        let parts = typed.parts(Payloads::default());
        let print = print(&parts, record.bytes);
        let named = parts.agent.is_some() || !parts.sidechain;
        Gist {
            at: record.at,
            time: parts.time,
            session: shared(parts.session, before.and_then(|gist| gist.session.as_ref())),
            sidechain: parts.sidechain,
            agent: shared(parts.agent, before.and_then(|gist| gist.agent.as_ref())),
            chain: (!named).then_some((parts.id, parts.parent)),
            echo: parts.echo.then(|| parts.voice.unwrap_or(echoes::ANY)),
            print,
            pieces: parts.parts.iter().map(|part| Piece::of(part, head)).collect(),
        }
    }
}

impl Piece {
    fn of(part: &Part, head: &dyn Fn(&Part) -> String) -> Self {
        Piece {
            says: Says::of(part),
            lines: lines(part),
            text: fingerprint(part),
            paragraphs: paragraphs(part),
            head: head(part),
            half: Half::of(part),
        }
    }
}

impl Says {
    fn of(part: &Part) -> Self {
        Says::Plain(match part {
            Part::Call(id) => return Says::Call(id.clone()),
            Part::Result(id) => return Says::Result(id.clone()),
            Part::End(id) => return Says::End(id.clone()),
            Part::Hook(hook) => return Says::Hook(hook.call.clone()),
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

/// Records that follow each other mostly name the same session: one copy of it will do.
fn shared(name: Option<String>, before: Option<&Arc<str>>) -> Option<Arc<str>> {
    let name = name?;
    Some(before.filter(|before| ***before == *name).map_or_else(|| Arc::from(name.as_str()), Arc::clone))
}

/// What was read of logs before, for those who read them again as they grow.
#[derive(Debug, Default)]
pub struct Notes {
    logs: Mutex<HashMap<Box<str>, Noted>>,
}

/// A log of which the records up to a mark have been read.
#[derive(Debug, Default)]
struct Noted {
    mark: Mark,
    /// What stands before the mark.
    seam: Vec<u8>,
    gists: Vec<Gist>,
    /// How many bytes there were, and when they were written.
    written: (u64, Option<Time>),
    /// The agent whose log it was taken for. By a line that was not finished it may have been taken for another one's.
    agent: &'static str,
}

/// A log that is to be read.
#[derive(Clone, Copy)]
pub(super) struct Log<'l> {
    pub(super) file: &'l str,
    pub(super) format: &'static dyn Format,
    pub(super) shelf: &'l dyn Shelf,
    /// How many bytes of it are known, and when they were written.
    pub(super) written: (u64, Option<Time>),
    /// How a prompt begins, as it may be seen.
    pub(super) head: &'l dyn Fn(&Part) -> String,
}

impl Log<'_> {
    /// Gives all its records. A log that is gone or closed to us has none.
    pub(super) fn each(&self, mut take: impl FnMut(&Gist)) {
        match self.shelf.log(self.file) {
            Ok(input) => drop(records::each(input, |_, record, typed| take(&self.gist(record, typed, None)))),
            Err(error) => warn!(path = ?self.file, %error, "cannot open a log of the session"),
        }
    }

    fn gist(&self, record: Record<'_>, typed: &dyn TypedRecord, before: Option<&Gist>) -> Gist {
        Gist::of(record, typed, self.head, before)
    }
}

impl Notes {
    /// Gives all records of a log, of which only those are read that have come since the last time.
    pub(super) fn each(&self, log: Log<'_>, take: impl FnMut(&Gist)) {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        let grown = logs.remove(log.file).and_then(|noted| noted.go_on(log));
        let noted = grown.unwrap_or_else(|| Noted::begin(log));
        noted.gists.iter().for_each(take);
        logs.insert(log.file.into(), noted);
    }
}

impl Noted {
    /// Reads a log from its beginning.
    fn begin(log: Log<'_>) -> Self {
        let input = match log.shelf.log(log.file) {
            Ok(input) => input,
            Err(error) => {
                warn!(path = ?log.file, %error, "cannot open a log of the session");
                return Noted::default();
            }
        };
        let mut gists = Vec::new();
        let mark = records::each(input, |_, record, typed| gists.push(log.gist(record, typed, gists.last())));
        Noted::at(mark, gists, log)
    }

    /// Reads what has come behind the mark; nothing if this is not the same log grown.
    fn go_on(mut self, log: Log<'_>) -> Option<Self> {
        let start = self.mark.offset.saturating_sub(self.seam.len() as u64);
        let (size, _) = log.written;
        // Written again and no longer than before is written over.
        let over = log.written != self.written && size <= self.written.0;
        let other = over || log.format.agent() != self.agent;
        let new = size.checked_sub(self.mark.offset).filter(|new| self.mark.offset > 0 && *new <= MOST && !other);
        let bytes = log.shelf.bytes(log.file, Span { start, end: self.mark.offset + new? })?;
        let new = bytes.strip_prefix(self.seam.as_slice())?;
        // A line that was not finished then is read again.
        self.gists.truncate(self.gists.partition_point(|gist| gist.at.span.start < self.mark.offset));
        let gists = &mut self.gists;
        let mark = records::each_after(self.mark, log.format, new, |record, typed| gists.push(log.gist(record, typed, gists.last())));
        Some(Noted::at(mark, self.gists, log))
    }

    /// Rests at a mark. Without what stands before it nobody can tell whether the log has only grown.
    fn at(mark: Mark, gists: Vec<Gist>, log: Log<'_>) -> Self {
        let seam = log.shelf.bytes(log.file, Span { start: mark.offset.saturating_sub(SEAM), end: mark.offset });
        let mark = if seam.is_some() { mark } else { Mark::default() };
        Noted { mark, seam: seam.unwrap_or_default(), gists, written: log.written, agent: log.format.agent() }
    }
}

/// Tells a record from others.
fn print(parts: &Parts, bytes: &[u8]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    match &parts.id {
        // An id that was used for something else does not make this a copy.
        Some(id) => {
            id.hash(&mut hasher);
            parts.parts.iter().for_each(|part| part_hash(part, &mut hasher));
        }
        // Without times everything may be told twice and mean it.
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

/// Tells parts of the same kind with the same words apart from others; 0 for what has no words.
fn fingerprint(part: &Part) -> u64 {
    let words = text(part).trim();
    if words.is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    std::mem::discriminant(part).hash(&mut hasher);
    // A person may say what an agent has said.
    matches!(part, Part::Prompt { origin: Origin::Agent, .. }).hash(&mut hasher);
    words.hash(&mut hasher);
    hasher.finish().max(1)
}

/// Tells whether two records with one id say the same.
fn part_hash(part: &Part, hasher: &mut DefaultHasher) {
    std::mem::discriminant(part).hash(hasher);
    match part {
        Part::Call(id) | Part::Result(id) | Part::End(id) => id.hash(hasher),
        Part::Unknown { name, .. } => name.hash(hasher),
        Part::Hook(hook) => hook.command.hash(hasher),
        other => text(other).hash(hasher),
    }
}

/// The same for each paragraph, where a part may be told in pieces.
fn paragraphs(part: &Part) -> Vec<u64> {
    let Part::Thinking(text) = part else { return Vec::new() };
    text.split("\n\n").filter(|piece| !piece.trim().is_empty()).map(|piece| fingerprint(&Part::Thinking(piece.to_owned()))).collect()
}

/// About how many lines a part takes on a page.
pub(super) fn lines(part: &Part) -> u32 {
    const COLUMNS: usize = 100;
    let lines: usize = text(part).lines().map(|line| line.len() / COLUMNS + 1).sum();
    u32::try_from(lines.max(1)).unwrap_or(u32::MAX)
}
