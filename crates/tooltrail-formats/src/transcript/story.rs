//! One call, loaded: what its request, its result, its ends and its hooks say, put together once.

use super::{SessionBook, private};
use crate::{Ask, Format, Opened, load, saved, value};
use tooltrail_model::Status;
use tooltrail_model::content::Content;
use tooltrail_model::detail::Detailed;
use tooltrail_model::row::CallRow;
use tooltrail_model::transcript::{Answered, Asked, CallEntry, HookStory, Made, Nested, SideFile, Spot, Story, Transcript, What};

pub(super) fn load<'b>(book: &'b SessionBook<'_>, index: usize) -> Option<Story<'b>> {
    let entry = book.transcript.calls.get(index)?;
    let id = entry.row.call;
    let (format, value) = book.record(entry.request)?;
    let request = Opened { line: entry.request.at.line, value: &value };
    let mut asked = format.asked(request, id).unwrap_or_default();
    let mut answer = answer(book, format, entry);
    if let Some(change) = book.change {
        value::change(&mut asked.input, change);
        answer.iter_mut().for_each(|answer| private::answer(answer, change));
    }
    let told = told(format, &entry.row, &asked, answer.as_ref());
    let side = told.saved.as_ref().map(|saved| side(book, entry, &saved.path, saved.bytes));
    let mut row: CallRow<'b> = entry.row.clone();
    // Views and digests ask about the command again and again; it is parsed once, here.
    let command = load::annotate(&mut row, &told.detail);
    Some(Story {
        number: entry.number,
        hooks: hooks(book, format, entry),
        nested: nested(&book.transcript, entry),
        told,
        command,
        side,
        answer,
        input: asked.input,
        tokens: asked.tokens,
        tier: asked.tier,
        row,
    })
}

/// What all records that tell of the result say together.
fn answer(book: &SessionBook<'_>, format: &dyn Format, entry: &CallEntry<'_>) -> Option<Answered> {
    let mut whole: Option<Answered> = None;
    for &spot in entry.result.iter().chain(&entry.ends) {
        let Some((_, value)) = book.record(spot) else { continue };
        let Some(found) = format.answered(Opened { line: spot.at.line, value: &value }, entry.row.call) else { continue };
        match &mut whole {
            Some(held) => held.join(found),
            None => whole = Some(found),
        }
    }
    whole
}

fn told(format: &dyn Format, row: &CallRow<'_>, asked: &Asked, answer: Option<&Answered>) -> Detailed {
    let seen: &[Content] = answer.map(|answer| &*answer.seen).unwrap_or_default();
    format.detail(&Ask {
        tool: row.tool,
        server: row.server,
        kind: row.kind,
        status: row.status,
        input: &asked.input,
        seen,
        produced: answer.and_then(|answer| answer.produced.as_ref()),
        answered: answer.is_some(),
    })
}

fn hooks(book: &SessionBook<'_>, format: &dyn Format, entry: &CallEntry<'_>) -> Vec<HookStory> {
    let told = |spot: &Spot| {
        let (_, value) = book.record(*spot)?;
        let hooks = format.hooks(Opened { line: spot.at.line, value: &value });
        Some(hooks.into_iter().filter(|hook| hook.call.as_deref().is_none_or(|call| call == entry.row.call)).collect::<Vec<_>>())
    };
    let mut hooks: Vec<HookStory> = entry.hooks.iter().filter_map(told).flatten().collect();
    if let Some(change) = book.change {
        hooks.iter_mut().for_each(|hook| private::hook(hook, change));
    }
    hooks
}

/// An output that was saved beside the log.
fn side(book: &SessionBook<'_>, entry: &CallEntry<'_>, path: &str, said: Option<u64>) -> SideFile {
    let spot = entry.result.unwrap_or(entry.request);
    let log = book.linked.sources.get(spot.source).map_or("", |source| &*source.path);
    match saved::read(book.shelf, log, path) {
        Ok((bytes, total)) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let text = if let Some(change) = book.change { change(text) } else { text };
            SideFile { path: path.to_owned(), cut: bytes.len() as u64 != total, bytes: total, text: Ok(text) }
        }
        Err(error) => SideFile { path: path.to_owned(), cut: false, bytes: said.unwrap_or(0), text: Err(error.to_string()) },
    }
}

/// The calls of a call's subagents, and of theirs.
fn nested(transcript: &Transcript<'_>, entry: &CallEntry<'_>) -> Nested {
    let mut seen = vec![false; if entry.threads.is_empty() { 0 } else { transcript.threads.len() }];
    let each: Vec<Made> = entry.threads.iter().map(|&thread| made(transcript, thread, &mut seen)).collect();
    let (calls, failed) = each.iter().fold((0, 0), |(calls, failed), made| (calls + made.calls, failed + made.failed));
    Nested { threads: entry.threads.clone(), calls, failed, each }
}

/// The calls of a thread, and of those that they started. A thread that was counted already counts nothing.
fn made(transcript: &Transcript<'_>, thread: usize, seen: &mut [bool]) -> Made {
    let mut made = Made::default();
    let mut open = vec![thread];
    while let Some(thread) = open.pop() {
        let Some(seen) = seen.get_mut(thread).filter(|seen| !**seen) else { continue };
        *seen = true;
        let calls = transcript.threads[thread].entries.iter().filter_map(|entry| match entry.what {
            What::Call(index) => transcript.calls.get(index),
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
