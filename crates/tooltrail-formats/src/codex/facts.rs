//! The facts of a record, for a scan. The facts of each class of records are in `items` (the conversation), `events` (beside it) and `ends`
//! (ends of calls); here they are dispatched, and the records that set the scene are read.

use super::fields::PayloadFields;
use super::record::{CodexRecord, RecordClass};
use super::{events, items, usage};
use crate::{Sink, time, worktrees};
use std::borrow::Cow;
use tooltrail_model::event::{Approval, Begin, Boundary, Context, Word, Work, WorktreeTest};
use tooltrail_model::{Event, Fact, Scope};
use tooltrail_skim::Raw;

/// Takes the facts of a record.
pub(super) type FactSink<'e> = dyn FnMut(Fact<'_>) + 'e;

/// Emits the facts of a record.
pub(super) fn emit(record: &CodexRecord<'_>, out: &mut Sink<'_>) {
    let outer = record.outer();
    // Only logs that are read in pages count their records.
    let scope = Scope { ordinal: outer.int(outer.ordinal).and_then(|number| u64::try_from(number).ok()), ..Scope::default() };
    let mut emit = |fact: Fact<'_>| out(Event { at: record.at, time: record.time, scope: &scope, fact });
    // A record without a type is counted under a name of its own.
    let name = if record.name.is_empty() { "?" } else { &record.name };
    emit(Fact::Record { name: Cow::Borrowed(name), known: record.is_known() });
    match record.class {
        RecordClass::Session => begin(record, &mut emit),
        RecordClass::Context => {
            let body = record.body();
            emit(Fact::Work(Work { made: events::made(body), turn: events::turn(body), done: false }));
            context(body, &mut emit);
        }
        RecordClass::Item => items::decode(record, &mut emit),
        RecordClass::Event => events::decode(record, &mut emit),
        RecordClass::Completed => events::completed(record, &mut emit),
        RecordClass::Compacted => {
            emit(Fact::Boundary(Boundary::Compaction));
            usage::summarised(record, &mut emit);
        }
        RecordClass::Usage => usage::response(record, &mut emit),
        RecordClass::Letter => items::letter(record.body(), &mut emit),
        RecordClass::Silent | RecordClass::Unknown => {}
    }
}

/// Emits the beginning of a session: `session_meta`, or the first line of an old log.
fn begin(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let meta = record.body();
    if let Some(id) = meta.text(meta.id) {
        let source = meta.inside(meta.source);
        let spawn = source.inside(source.subagent);
        let spawn = spawn.inside(spawn.thread_spawn);
        let parent = meta.text(meta.parent_thread_id).or_else(|| meta.text(spawn.parent_thread_id));
        // An agent without a history of its own names the session it works for.
        let session = || meta.text(meta.session_id).filter(|session| *session != id).or_else(|| meta.text(meta.forked_from_id));
        // Only for a subagent: a fork names a session as well, without belonging to it.
        let parent = parent.or_else(|| source.subagent.there().and_then(|_| session()));
        let path = meta.text(meta.agent_path).or_else(|| meta.text(spawn.agent_path));
        // A copy of the record keeps the session's own time, not that of the envelope.
        let made = meta.timestamp.is_some().then(|| time::read(&mut meta.skim(meta.timestamp))).flatten();
        let own_from = meta.int(meta.subagent_history_start_ordinal).and_then(|number| u64::try_from(number).ok());
        emit(Fact::Begin(Begin { id, parent, path, made: made.or(record.time), own_from }));
    }
    context(meta, emit);
}

fn context(fields: &PayloadFields<'_>, emit: &mut FactSink<'_>) {
    let (mut branch, mut address) = (None, None);
    let _ = fields.skim(fields.git).object(|key, value| {
        match key.as_bytes() {
            b"branch" => branch = value.string().map(Raw::decoded_bytes),
            b"repository_url" => address = value.string().map(Raw::decoded_bytes),
            _ => {}
        }
        Ok(())
    });
    let word = |place| fields.string(place).map(Raw::decoded_bytes);
    let cwd = word(fields.cwd).map(directory);
    let worktree = Some(WorktreeTest { place: worktrees::place, address });
    // A policy that is an object asks in some cases.
    let approval = fields.approval_policy.is_some().then(|| match fields.string(fields.approval_policy) {
        Some(policy) if policy == *"never" => Approval::None,
        _ => Approval::Any,
    });
    emit(Fact::Context(Context { cwd, worktree, branch, model: word(fields.model), approval }));
}

/// A directory, which some records write as `file://`.
fn directory(path: Word<'_>) -> Word<'_> {
    match path.strip_prefix(b"file://") {
        Some(path) => Cow::Owned(path.to_vec()),
        None => path,
    }
}
