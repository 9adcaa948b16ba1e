//! Logs that hold many sessions: their records are indexed once for all of them, and found by session.
//!
//! An agent writes a session or a few into a log. A hostile log names tens of thousands; reading it again for each of them would take hours.

use super::reading::{ConversationKey, SourceReading};
use super::record_index::{IndexSource, IndexedRecord};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tooltrail_model::Time;
use tooltrail_model::link::{Linked, Source};
use tooltrail_model::summary::Summary;

/// A log with fewer sessions is read for each of them.
const FROM: usize = 8;
/// A log with more sessions is no agent's.
const MANY: usize = 100;
/// The most records that are held, of all logs together.
const HELD: usize = 100_000;
/// The most records that are shown of a session with a log that no agent wrote, and of all sessions of such a log together.
const MOST: usize = 50_000;
const MOST_TOGETHER: usize = 20_000_000;
/// Each session shows as many, if its log has them.
const LEAST: usize = 1000;

/// Whether a log is no agent's: it was read up to a limit, or has more sessions than any. An entry takes far more memory than what is kept
/// of its record, so only some are shown.
pub(super) fn is_endless(summary: &Summary) -> bool {
    summary.limit().is_some() || summary.sessions.len() > MANY
}

/// The most records that are shown of a session with this log.
pub(super) fn most_shown(summary: &Summary) -> usize {
    let each = MOST_TOGETHER / summary.sessions.len().max(1);
    if is_endless(summary) { each.clamp(LEAST, MOST) } else { usize::MAX }
}

/// The most records of a log that are looked at.
pub(super) fn most_indexed(summary: &Summary) -> usize {
    if is_endless(summary) { HELD } else { usize::MAX }
}

/// Where the records of a log end. What follows a limit was not scanned, so nothing is known of it.
pub(super) fn end(summary: &Summary) -> u64 {
    if summary.limit().is_some() { summary.tally.bytes } else { u64::MAX }
}

/// Records of logs with many sessions, for books of these sessions that are made one after the other.
pub struct SharedRecords<'a> {
    pub(super) linked: &'a Linked<'a>,
    logs: Mutex<HeldLogs>,
}

/// Logs by the numbers of their sources, and how many records they have.
#[derive(Default)]
struct HeldLogs {
    logs: HashMap<usize, Arc<SharedLog>>,
    records: usize,
}

impl<'a> SharedRecords<'a> {
    /// Records of linked logs, of which none is read yet.
    pub fn new(linked: &'a Linked<'a>) -> Self {
        SharedRecords { linked, logs: Mutex::default() }
    }

    /// The records of a source, read with `log` unless they are held; `None` for one that is better read again for each session.
    pub(super) fn log(&self, source: usize, log: IndexSource<'_>) -> Option<Arc<SharedLog>> {
        let entry = self.linked.sources.get(source)?;
        let summary = &entry.summary;
        let lines = usize::try_from(summary.tally.lines).unwrap_or(usize::MAX).min(log.most);
        if summary.sessions.len() < FROM || lines > HELD {
            return None;
        }
        let mut held = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held.logs.get(&source) {
            return Some(Arc::clone(known));
        }
        let read = Arc::new(SharedLog::read(self.linked, source, entry, log));
        if held.records + read.records.len() > HELD {
            *held = HeldLogs::default();
        }
        held.records += read.records.len();
        held.logs.insert(source, Arc::clone(&read));
        Some(read)
    }
}

/// A log whose records are indexed, with what its summary says of each of its sessions.
pub(super) struct SharedLog {
    /// Its records, each with the conversation it belongs to and the latest time up to it.
    pub(super) records: Vec<(IndexedRecord, ConversationKey, Option<Time>)>,
    /// The records of each session.
    pub(super) places: BySession,
    /// Hooks of its summary by session, and usage with tools of the service.
    pub(super) hooks: BySession,
    pub(super) usage: BySession,
    /// The subagent whose log it is, and the lines at which turns begin.
    pub(super) whole: Option<String>,
    pub(super) turns: HashMap<u64, bool>,
}

impl SharedLog {
    fn read(linked: &Linked<'_>, source: usize, entry: &Source, log: IndexSource<'_>) -> Self {
        let summary = &entry.summary;
        let mut reading = SourceReading::of(source, summary);
        let (mut records, mut places) = (Vec::new(), BySession::default());
        log.each_owned(|record| {
            reading.latest = reading.latest.max(record.time);
            let side = reading.side(&record);
            // A name that is no session's stands in the records of all.
            places.add(record.session.as_deref().and_then(|name| linked.session_named(source, name)), records.len());
            records.push((record, side, reading.latest));
        });
        let named = |name| linked.session_named(source, summary.names.text(name));
        let (mut hooks, mut usage) = (BySession::default(), BySession::default());
        summary.hooks.iter().enumerate().for_each(|(place, hook)| hooks.add(named(hook.session), place));
        let with_tools = summary.usage.iter().enumerate().filter(|(_, usage)| usage.server_tools != [0; 2]);
        with_tools.for_each(|(place, own)| usage.add(own.session.and_then(named), place));
        SharedLog { records, places, hooks, usage, whole: reading.whole, turns: reading.turns }
    }
}

/// Places in a list, by session.
#[derive(Default)]
pub(super) struct BySession {
    own: HashMap<usize, Vec<u32>>,
    /// Those that belong to every session.
    common: Vec<u32>,
}

impl BySession {
    fn add(&mut self, session: Option<usize>, place: usize) {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        match session {
            Some(session) => self.own.entry(session).or_default().push(place),
            None => self.common.push(place),
        }
    }

    /// The places of some sessions, in order.
    pub(super) fn of(&self, sessions: &[usize]) -> Vec<usize> {
        let own = sessions.iter().filter_map(|session| self.own.get(session)).flatten();
        let mut places: Vec<usize> = own.chain(&self.common).map(|&place| place as usize).collect();
        places.sort_unstable();
        places
    }
}
