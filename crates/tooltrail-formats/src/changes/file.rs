//! One file in all logs: every call that concerns it, across sessions and agents, and every text it had.
//!
//! Requests are searched for the file's name as bytes first; only the sessions that name it are opened.

use super::effects::{self, FileEffect};
use super::paths::{ends_with, last};
use super::{Moment, absolute, backups, moments, session};
use crate::disk::ReadLogs;
use crate::format_of;
use crate::load::{self, InputRecords};
use crate::transcript::SessionBook;
use std::collections::{BTreeMap, BTreeSet};
use tooltrail_model::book::Book;
use tooltrail_model::changes::{Deed, Step, replay};
use tooltrail_model::link::{Linked, LinkedCall, Now};
use tooltrail_model::row::{CallNumber, CallRow};
use tooltrail_model::{Kind, Status, Time};

/// The outcome of looking up a file by a path or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileLookup {
    /// No log mentions it.
    Nothing,
    /// The file.
    One(String),
    /// Several files are called so.
    Several(Vec<String>),
}

/// The evidence of a step: a call, or a copy that the agent kept.
#[derive(Clone, Debug)]
pub struct ChangeEvidence {
    /// The session, in `Linked::sessions`.
    pub session: usize,
    /// The call's number in the session; `None` for a copy that the agent kept.
    pub number: Option<CallNumber>,
    /// The call's id.
    pub call: Option<String>,
    /// The short name of the call, or of the session.
    pub cited: String,
    /// When.
    pub time: Option<Time>,
    /// The log that has the record.
    pub file: String,
    /// The number of the record; for a file of lines the line.
    pub line: u64,
    /// The row, where the record is one of a database.
    pub row: Option<String>,
}

/// Everything that the logs contain about a file.
#[derive(Debug)]
pub struct FileHistory {
    /// The file.
    pub path: String,
    /// The steps in order of time; each refers to [`FileHistory::evidence`].
    pub steps: Vec<Step>,
    /// The evidence of the steps.
    pub evidence: Vec<ChangeEvidence>,
}

/// The file that a path means: that very file, seen from a directory, or the only one whose path ends so.
pub fn find(linked: &Linked<'_>, now: &Now, disk: &dyn ReadLogs, path: &str, directory: Option<&str>) -> FileLookup {
    let exact = absolute(path, directory);
    let wanted = absolute(path, None);
    let mut found: BTreeSet<String> = BTreeSet::new();
    for (call, row) in candidates(linked, now, disk, &[&wanted]) {
        found.extend(asked(linked, disk, call, &row).into_iter().filter(|path| *path == exact || ends_with(path, &wanted)));
    }
    // An exact match wins, also where other paths end in the same names.
    if found.contains(&exact) {
        return FileLookup::One(exact);
    }
    let mut found: Vec<String> = found.into_iter().collect();
    match found.len() {
        0 => FileLookup::Nothing,
        1 => found.pop().map_or(FileLookup::Nothing, FileLookup::One),
        _ => FileLookup::Several(found),
    }
}

/// The history of a file, by its path as the logs name it.
pub fn history(linked: &Linked<'_>, now: &Now, disk: &dyn ReadLogs, path: &str) -> FileHistory {
    // Moves first: the text before a move is recorded under the old path.
    let paths = kin(linked, now, disk, path);
    let names: Vec<&str> = paths.iter().map(|path| &**path).collect();
    let mut calls: BTreeMap<usize, BTreeSet<CallNumber>> = BTreeMap::new();
    for (call, _) in candidates(linked, now, disk, &names) {
        calls.entry(call.session).or_default().insert(call.number);
    }
    let mut effects: Vec<(Moment, ChangeEvidence, FileEffect)> = Vec::new();
    for (session, numbers) in calls {
        let is_ours = |path: &str| paths.contains(path);
        effects.extend(of_session(linked, now, disk, session, &numbers, &is_ours));
        effects.extend(kept(linked, disk, session, &is_ours));
    }
    // Sessions overlap in time, so the effects of all of them are sorted before they are replayed.
    effects.sort_by_key(|(moment, ..)| *moment);
    let mut evidence: Vec<ChangeEvidence> = Vec::with_capacity(effects.len());
    let deeds = effects.into_iter().map(|(_, own, effect)| {
        evidence.push(own);
        Deed { by: evidence.len() - 1, path: effect.path, did: effect.did }
    });
    let mut steps = replay(deeds.collect::<Vec<_>>());
    // The replay needed the steps of the other paths; the reader asked for one.
    steps.retain(|step| step.path == path);
    FileHistory { path: path.to_owned(), steps, evidence }
}

/// The file and all paths that it was moved from or to.
fn kin(linked: &Linked<'_>, now: &Now, disk: &dyn ReadLogs, path: &str) -> BTreeSet<String> {
    // A bound for hostile logs, which could chain moves endlessly.
    const ROUNDS: usize = 8;
    let mut paths = BTreeSet::from([path.to_owned()]);
    for _ in 0..ROUNDS {
        let before = paths.len();
        let names: Vec<String> = paths.iter().cloned().collect();
        let names: Vec<&str> = names.iter().map(|path| &**path).collect();
        for (call, row) in candidates(linked, now, disk, &names) {
            for told in requested_effects(linked, disk, call, &row) {
                if told.paths().any(|path| paths.contains(path)) {
                    paths.extend(told.paths().map(str::to_owned));
                }
            }
        }
        if paths.len() == before {
            break;
        }
    }
    paths
}

/// The calls whose requests mention one of these files.
fn candidates<'l>(linked: &'l Linked<'_>, now: &Now, disk: &dyn ReadLogs, paths: &[&str]) -> Vec<(&'l LinkedCall, CallRow<'l>)> {
    let names: Vec<&str> = paths.iter().map(|path| last(path)).collect();
    // A name that JSON may escape in several ways cannot be searched for as bytes, so every request counts.
    let plain = names
        .iter()
        .all(|name| name.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'/' | b'<' | b'>' | b'&')));
    let finders: Vec<_> = names.iter().map(|name| memchr::memmem::Finder::new(name.as_bytes())).collect();
    let names_one = |bytes: &[u8]| !plain || finders.iter().any(|finder| finder.find(bytes).is_some());
    let tells = |call: &&LinkedCall| {
        let record = linked.record(call.id);
        let path = linked.sources.get(call.id.source()).map_or("", |source| &*source.path);
        // One read for both tests: the bytes are searched for the name, then for a patch.
        let replaced = record.hooks.iter().any(|hook| hook.replaced_input().is_some());
        let bytes = disk.bytes(path, record.at.span).filter(|bytes| replaced || names_one(bytes));
        call.session < linked.sessions.len()
            && (bytes.is_some_and(|bytes| effects::may_touch_files(record.kind, || Some(bytes)))
                || (record.kind == Kind::Shell && observed(linked, disk, call).is_some_and(|bytes| names_one(&bytes))))
    };
    // A copy of a call in a resumed session is the same change, not a second one.
    let calls = linked.calls.iter().filter(|call| call.copy_of.is_none()).filter(tells);
    calls.map(|call| (call, linked.call_row(call, now, false))).collect()
}

/// The result of a command, if it may name files that the agent saw change.
fn observed(linked: &Linked<'_>, disk: &dyn ReadLogs, call: &LinkedCall) -> Option<Vec<u8>> {
    let (source, at) = linked.result_spot(call)?;
    let log = linked.sources.get(source)?;
    let format = log.summary.agent.and_then(format_of)?;
    disk.bytes(&log.path, at.span).filter(|bytes| format.may_hold_observed(bytes))
}

/// The files that a request is about.
fn asked(linked: &Linked<'_>, disk: &dyn ReadLogs, call: &LinkedCall, row: &CallRow<'_>) -> Vec<String> {
    requested_effects(linked, disk, call, row).iter().flat_map(|told| told.paths().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The files that the request of a call is about, without its result.
fn requested_effects(linked: &Linked<'_>, disk: &dyn ReadLogs, call: &LinkedCall, row: &CallRow<'_>) -> Vec<FileEffect> {
    let read = || {
        let at = linked.record(call.id).at;
        let replacement = row.replacement.and_then(|at| disk.bytes(row.request.file, at.span));
        let request = &disk.bytes(row.request.file, at.span)?;
        let result = if row.kind == Kind::Shell { observed(linked, disk, call) } else { None };
        let records = InputRecords { request, line: at.line, replacement: replacement.as_deref() };
        let told = load::asked_with(records, row, result.as_deref())?;
        Some(effects::asked(row, told))
    };
    // A call that failed changed nothing, so its request need not be read.
    if matches!(row.status, Status::Succeeded | Status::Answered) { read().unwrap_or_default() } else { Vec::new() }
}

/// The effects of some calls of a session on some files.
fn of_session<'l>(
    linked: &'l Linked<'l>,
    now: &'l Now,
    disk: &'l dyn ReadLogs,
    session: usize,
    numbers: &BTreeSet<CallNumber>,
    is_ours: &dyn Fn(&str) -> bool,
) -> Vec<(Moment, ChangeEvidence, FileEffect)> {
    // Not redacted: the texts have to fit together in the replay. The result is redacted afterwards.
    let book = SessionBook::read(linked, &[session], now, disk, None);
    let calls = &book.transcript().calls;
    let which = calls.iter().enumerate().filter(|(_, call)| numbers.contains(&call.number)).map(|(index, _)| index);
    let mut all = Vec::new();
    for (moment, index) in moments(calls, which.collect::<Vec<_>>()) {
        let Some(call) = calls.get(index) else { continue };
        for told in session::effects_of(&book, index).into_iter().filter(|told| told.paths().any(is_ours)) {
            let evidence = ChangeEvidence {
                session,
                number: Some(call.number),
                call: Some(call.row.call.to_owned()),
                cited: call.row.r#ref.clone(),
                time: call.row.completed_at.or(call.time),
                file: call.row.evidence.file.to_owned(),
                line: call.row.evidence.line,
                row: call.row.evidence.row.map(str::to_owned),
            };
            all.push((moment, evidence, told));
        }
    }
    all
}

/// The copies that the agent of a session kept.
fn kept(
    linked: &Linked<'_>,
    disk: &dyn ReadLogs,
    session: usize,
    is_ours: &dyn Fn(&str) -> bool,
) -> Vec<(Moment, ChangeEvidence, FileEffect)> {
    let short = linked.sessions.get(session).map_or("", |session| &*session.short);
    let evidence = |kept: &backups::RecordedBackup| ChangeEvidence {
        session,
        number: None,
        call: None,
        cited: short.to_owned(),
        time: kept.time,
        file: linked.sources.get(kept.source).map(|source| source.path.to_string()).unwrap_or_default(),
        line: kept.at.line,
        row: None,
    };
    let all = backups::of(linked, session, disk, is_ours).into_iter();
    all.map(|kept| {
        // A copy without a time sorts first: it shows the file before anything that is known.
        let moment = (kept.time.unwrap_or(Time::UNIX_EPOCH), kept.source, kept.at.line);
        (moment, evidence(&kept), FileEffect { path: kept.path, did: kept.did })
    })
    .collect()
}
