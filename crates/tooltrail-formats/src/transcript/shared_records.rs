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
/// The most that are shown of any session: more fit into no log that is read to its end, unless its records have thousands of parts.
const MOST_OF_ANY: usize = 400_000;
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
    if is_endless(summary) { each.clamp(LEAST, MOST) } else { MOST_OF_ANY }
}

/// The most parts of records of a log that are looked at.
pub(super) fn most_indexed(summary: &Summary) -> usize {
    if is_endless(summary) { HELD } else { MOST_OF_ANY }
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
        // A log that alone exceeds what may be held would be dropped again as soon as another is read.
        if summary.sessions.len() < FROM || lines > HELD {
            return None;
        }
        // Locked while the log is read: others that need it wait instead of reading it once more.
        let mut held = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held.logs.get(&source) {
            return Some(Arc::clone(known));
        }
        let read = Arc::new(SharedLog::read(self.linked, source, entry, log));
        // Books of one log are made one after the other, so older logs are hardly needed again.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use crate::find;
    use crate::reads::take;
    use crate::scan::{Options, Progress, scan};
    use crate::transcript::SessionBook;
    use std::error::Error;
    use tooltrail_model::Now;
    use tooltrail_model::book::Book;
    use tooltrail_model::link::Linker;

    /// Records of many sessions in turn: a prompt, a call with its hook and result, a sidechain, and one record that names no session.
    fn records(sessions: usize, name: &str) -> Vec<String> {
        let at = |second: usize| format!("2026-03-04T10:{:02}:{:02}.000Z", second / 60 % 60, second % 60);
        let kinds: [&dyn Fn(usize) -> String; 6] = [
            &|s| {
                format!(
                    r#"{{"type":"user","uuid":"{name}-p{s}","timestamp":"{}","sessionId":"{name}-{s}","message":{{"content":"go {s}"}}}}"#,
                    at(s)
                )
            },
            &|s| {
                format!(
                    r#"{{"type":"assistant","uuid":"{name}-c{s}","parentUuid":"{name}-p{s}","timestamp":"{}","sessionId":"{name}-{s}","message":{{"id":"{name}-m{s}","usage":{{"input_tokens":1,"server_tool_use":{{"web_search_requests":2}}}},"content":[{{"type":"tool_use","id":"{name}-t{s}","name":"Bash","input":{{"command":"ls {s}"}}}}]}}}}"#,
                    at(s + 1)
                )
            },
            &|s| {
                format!(
                    r#"{{"type":"attachment","uuid":"{name}-h{s}","parentUuid":"{name}-c{s}","timestamp":"{}","sessionId":"{name}-{s}","attachment":{{"type":"hook_success","hookName":"Stop","hookEvent":"Stop","command":"guard {s}","exitCode":0,"stdout":"","stderr":""}}}}"#,
                    at(s + 2)
                )
            },
            &|s| {
                format!(
                    r#"{{"type":"user","uuid":"{name}-s{s}","isSidechain":true,"timestamp":"{}","sessionId":"{name}-{s}","message":{{"content":"aside {s}"}}}}"#,
                    at(s + 2)
                )
            },
            &|s| {
                format!(
                    r#"{{"type":"assistant","uuid":"{name}-a{s}","parentUuid":"{name}-s{s}","isSidechain":true,"timestamp":"{}","sessionId":"{name}-{s}","message":{{"id":"{name}-n{s}","content":[{{"type":"text","text":"answer {s}"}}]}}}}"#,
                    at(s + 3)
                )
            },
            &|s| {
                format!(
                    r#"{{"type":"user","uuid":"{name}-r{s}","parentUuid":"{name}-c{s}","timestamp":"{}","sessionId":"{name}-{s}","message":{{"content":[{{"type":"tool_result","tool_use_id":"{name}-t{s}","content":"done {s}"}}]}}}}"#,
                    at(s + 4)
                )
            },
        ];
        let mut lines: Vec<String> = kinds.iter().flat_map(|kind| (0..sessions).map(kind)).collect();
        lines.push(format!(r#"{{"type":"summary","summary":"Of all {name}","leafUuid":"{name}-r0"}}"#));
        lines
    }

    fn scanned(lines: &[String]) -> Result<(tempfile::TempDir, Linker), Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let path = home.path().join("many.jsonl");
        std::fs::write(&path, lines.join("\n") + "\n")?;
        let (linker, problems) = scan(&find::in_paths(std::slice::from_ref(&path)).files, &Options::default(), &Progress::default());
        assert!(problems.is_empty());
        Ok((home, linker))
    }

    #[test]
    fn a_log_of_many_sessions_is_read_once_for_all_of_them() -> Result<(), Box<dyn Error>> {
        // More sessions than any agent writes, too: they are the same as far as they are shown.
        for (sessions, name) in [(FROM, "shared-few"), (MANY + 20, "shared-many")] {
            let lines = records(sessions, name);
            let (_home, linker) = scanned(&lines)?;
            let (linked, disk, now) = (linker.link(), Disk::default(), Now::at("2026-03-05T10:00:00Z".parse()?));
            assert_eq!(linked.sessions.len(), sessions);
            let read = || lines.iter().map(|line| take(line.as_bytes())).collect::<Vec<_>>();
            read();
            let shared = SharedRecords::new(&linked);
            let together: Vec<_> = (0..sessions).map(|session| SessionBook::read_shared(&shared, session, &now, &disk)).collect();
            assert_eq!(read(), vec![1; lines.len()], "{name}");
            for (session, book) in together.iter().enumerate() {
                let alone = SessionBook::read(&linked, &[session], &now, &disk, None);
                assert_eq!(format!("{:?}", book.transcript()), format!("{:?}", alone.transcript()), "{name} {session}");
                assert_eq!(format!("{:?}", book.outputs), format!("{:?}", alone.outputs));
                assert!(book.transcript().threads.iter().map(|thread| thread.entries.len()).sum::<usize>() >= 4);
                assert_eq!(book.transcript().settings.server_tools, [2, 0]);
            }
            assert_eq!(read(), vec![sessions; lines.len()], "{name} one by one");
        }
        Ok(())
    }

    #[test]
    fn a_session_of_a_log_that_no_agent_wrote_shows_only_so_much() -> Result<(), Box<dyn Error>> {
        // What no session is named in belongs to each: without a limit, the work would be their product.
        let say = |n: usize| format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"common {n}"}}]}}}}"#);
        let mut lines = records(MOST_TOGETHER / MOST + 50, "shared-most");
        lines.extend((0..MOST + 10).map(say));
        let (_home, linker) = scanned(&lines)?;
        let (linked, disk, now) = (linker.link(), Disk::default(), Now::at("2026-03-05T10:00:00Z".parse()?));
        let most = most_shown(&linked.sources[0].summary);
        assert!((LEAST..MOST).contains(&most), "{most}");
        let shared = SharedRecords::new(&linked);
        let entries = |book: &SessionBook<'_>| book.transcript().threads.iter().map(|thread| thread.entries.len()).sum::<usize>();
        let book = SessionBook::read_shared(&shared, 0, &now, &disk);
        // A result has no entry of its own, and a log of an agent shows all.
        assert!(entries(&book) > most - 10 && entries(&book) <= most, "{} of {most}", entries(&book));
        assert_eq!(entries(&SessionBook::read(&linked, &[0], &now, &disk, None)), entries(&book));
        assert_eq!(most_shown(&Summary::default()), MOST_OF_ANY);
        Ok(())
    }
}
