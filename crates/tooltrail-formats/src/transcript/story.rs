//! One call, loaded: its request, its result, its ends and its hooks, combined once.

use super::SessionBook;
use crate::error::ReadError;
use crate::{DetailRequest, Format, Record, TypedRecord, changes, load, saved};
use serde_json::Value;
use tooltrail_model::Status;
use tooltrail_model::content::Content;
use tooltrail_model::detail::Detailed;
use tooltrail_model::event::InputFrom;
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::{
    CallEntry, CallTally, EntryKind, HookStory, LoggedRequest, LoggedResult, SideFile, Spot, Story, SubagentCalls, Transcript,
};

/// The records of a call, each read once, however much each says about the call.
type Records<'r> = Vec<(Spot, Box<dyn TypedRecord + 'r>)>;

pub(super) fn load<'b>(book: &'b SessionBook<'_>, index: usize) -> Result<Story<'b>, ReadError> {
    let entry = book.transcript.calls.get(index).ok_or(ReadError::Changed)?;
    let mut bytes: Vec<(Spot, &'static dyn Format, Vec<u8>)> = Vec::new();
    for spot in book.spots_of_call(index) {
        // A record may be both request and result: those that are logged once the call is over.
        if bytes.iter().any(|(known, ..)| *known == spot) {
            continue;
        }
        match book.record(spot) {
            Ok((format, read)) => bytes.push((spot, format, read)),
            // Without its request there is no call; without other records it is shown as far as possible, and the disk has logged why.
            Err(error) if spot == entry.request => return Err(error),
            Err(_) => {}
        }
    }
    let open = bytes.iter().map(|(spot, format, bytes)| Some((*spot, format.open(Record { at: spot.at, bytes }).ok()?)));
    let records: Records<'_> = open.flatten().collect();
    let &(_, format, _) = bytes.iter().find(|(spot, ..)| *spot == entry.request).ok_or(ReadError::Changed)?;
    let request = at(&records, entry.request).ok_or(ReadError::Changed)?;
    let mut asked = request.request(entry.row.call, book.payloads).unwrap_or_default();
    book.payloads.message(&mut asked);
    let hooks = hooks(book, &records, entry);
    let (asked, requested) = replaced(&entry.row, &hooks, asked);
    let mut answer = answer(book, &records, entry);
    if let (Some(program), Some(answer)) = (&asked.program, &mut answer) {
        let number = entry.number.inner.max(1) as usize;
        match format.printed_by(program, number, &answer.seen) {
            Some(own) => answer.seen = own,
            // What several calls printed together is shown with their script.
            None if entry.row.is_inner() => answer.seen.clear(),
            None => {}
        }
    }
    let mut told = self::detail_of(format, &entry.row, &asked, answer.as_ref());
    changes::fill(&entry.row, &mut told);
    let side = told.saved.as_ref().map(|saved| side(book, entry, &saved.path, saved.bytes));
    let mut row: CallRow<'b> = entry.row.clone();
    // A title comes from the request alone, so that it stays the same when the result arrives.
    row.about = self::detail_of(format, &row, &asked, None).detail.about(&asked.input, row.cwd).map(|title| title.text());
    // Views and digests ask about the command repeatedly; it is parsed once, here.
    let command = load::annotate(&mut row, &told.detail);
    Ok(Story {
        number: entry.number,
        hooks,
        progress: entry.progress.and_then(|spot| at(&records, spot)).and_then(|record| record.progress(book.payloads)),
        nested: nested(&book.transcript, entry),
        polls: book.polls(index),
        told,
        command,
        side,
        answer,
        input: asked.input,
        program: asked.program,
        requested,
        tokens: asked.tokens,
        tier: asked.tier,
        message: asked.message,
        row,
    })
}

/// The request with the input that ran, and the requested input where that is another one. The dialog leaves no input of its own in the
/// log: what was applied stands in the result.
fn replaced(row: &CallRow<'_>, hooks: &[HookStory], mut asked: LoggedRequest) -> (LoggedRequest, Option<Value>) {
    let by_hook = hooks.iter().rev().find_map(|hook| hook.input.as_deref().cloned()).filter(|_| row.replacement.is_some());
    let requested = match by_hook {
        Some(input) => Some(std::mem::replace(&mut asked.input, input)),
        None => (row.input_from == InputFrom::User).then(|| asked.input.clone()),
    };
    (asked, requested)
}

/// The record at a spot, if it is still there.
fn at<'r>(records: &'r Records<'_>, spot: Spot) -> Option<&'r dyn TypedRecord> {
    records.iter().find(|(known, _)| *known == spot).map(|(_, record)| &**record)
}

/// The result of a call, combined from all records that have a part of it.
fn answer(book: &SessionBook<'_>, records: &Records<'_>, entry: &CallEntry<'_>) -> Option<LoggedResult> {
    let mut whole: Option<LoggedResult> = None;
    // The result first: it is what the model saw, and ends only add to it.
    for &spot in entry.result.iter().chain(&entry.ends) {
        let Some(found) = at(records, spot).and_then(|record| told(entry, record, book)) else { continue };
        match &mut whole {
            Some(held) => held.join(found),
            None => whole = Some(found),
        }
    }
    whole
}

/// What a record says about the result of a call: by its id, or by that of a record of its own.
fn told(entry: &CallEntry<'_>, record: &dyn TypedRecord, book: &SessionBook<'_>) -> Option<LoggedResult> {
    let named = record.result(entry.row.call, book.payloads);
    named.or_else(|| record.result(entry.row.alias?, book.payloads))
}

fn detail_of(format: &dyn Format, row: &CallRow<'_>, asked: &LoggedRequest, answer: Option<&LoggedResult>) -> Detailed {
    let seen: &[Content] = answer.map(|answer| &*answer.seen).unwrap_or_default();
    format.detail(&DetailRequest {
        tool: row.ran(),
        server: row.server,
        kind: row.kind,
        status: row.status,
        input: &asked.input,
        seen,
        produced: answer.and_then(|answer| answer.produced.as_ref()),
        answered: answer.is_some(),
    })
}

fn hooks(book: &SessionBook<'_>, records: &Records<'_>, entry: &CallEntry<'_>) -> Vec<HookStory> {
    let mut spots = entry.hooks.clone();
    // In the order of the log: records that say more about a known run were noted after all runs.
    spots.sort_unstable();
    spots.dedup();
    let told = spots.iter().filter_map(|spot| at(records, *spot)).flat_map(|record| record.hooks(book.payloads));
    // A record may report hooks of several calls.
    let own = told.filter(|hook| hook.call.as_deref().is_none_or(|call| call == entry.row.call));
    own.fold(Vec::new(), |mut runs, hook| {
        add(&mut runs, hook);
        runs
    })
}

/// Adds a hook to those of a call: as a new run, or as the end of a run that is known to have started.
fn add(runs: &mut Vec<HookStory>, new: HookStory) {
    let starts = |run: &HookStory| run.outcome.is_none() && run.texts.is_empty();
    let same = |run: &&mut HookStory| {
        let named = run.event == new.event && (run.name == new.name || run.name.is_none() || new.name.is_none());
        let command = run.command == new.command || run.command.is_none() || new.command.is_none();
        // Of two starts, one has to be the input that the other hook got, which names no hook.
        let another = starts(&new) && run.name.is_some() && new.name.is_some();
        named && command && starts(run) && !another
    };
    match runs.iter_mut().find(same) {
        Some(run) => *run = HookStory { name: new.name.or(run.name.take()), command: new.command.or(run.command.take()), ..new },
        None => runs.push(new),
    }
}

/// An output that was saved beside the log.
fn side(book: &SessionBook<'_>, entry: &CallEntry<'_>, path: &str, said: Option<u64>) -> SideFile {
    let spot = entry.result.unwrap_or(entry.request);
    let log = book.linked.sources.get(spot.source).map_or("", |source| &*source.path);
    match saved::read(book.disk, log, path) {
        Ok((bytes, total)) => {
            let text = book.payloads.decoded(String::from_utf8_lossy(&bytes).into_owned());
            SideFile { path: path.to_owned(), cut: bytes.len() as u64 != total, bytes: total, text: Ok(text) }
        }
        Err(error) => SideFile { path: path.to_owned(), cut: false, bytes: said.unwrap_or(0), text: Err(error.to_string()) },
    }
}

/// The calls of a call's subagents, and of theirs.
fn nested(transcript: &Transcript<'_>, entry: &CallEntry<'_>) -> SubagentCalls {
    let mut seen = vec![false; if entry.threads.is_empty() { 0 } else { transcript.threads.len() }];
    // Shared over all threads: agents that name each other as their parents would be counted without end.
    let each: Vec<CallTally> = entry.threads.iter().map(|&thread| made(transcript, thread, &mut seen)).collect();
    let (calls, failed) = each.iter().fold((0, 0), |(calls, failed), made| (calls + made.calls, failed + made.failed));
    SubagentCalls { threads: entry.threads.clone(), calls, failed, each }
}

/// The calls of a thread, and of those that they started. A thread that was counted already counts nothing.
fn made(transcript: &Transcript<'_>, thread: usize, seen: &mut [bool]) -> CallTally {
    let mut made = CallTally::default();
    let mut open = vec![thread];
    while let Some(thread) = open.pop() {
        let Some(seen) = seen.get_mut(thread).filter(|seen| !**seen) else { continue };
        *seen = true;
        let calls = transcript.threads[thread].entries.iter().filter_map(|entry| match entry.what {
            EntryKind::Call(index) => transcript.calls.get(index),
            _ => None,
        });
        for call in calls {
            made.calls += 1;
            made.failed += u64::from(call.row.status == Status::Failed);
            open.extend(&call.threads);
        }
    }
    made
}
