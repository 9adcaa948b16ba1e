//! Codex's records: an envelope of timestamp, type and payload; before September 2025 the payload alone.

use super::fields::Fields;
use super::items::Emit;
use super::{events, items, patch};
use crate::{Record, Sink, time};
use std::borrow::Cow;
use tooltrail_model::event::{Begin, Boundary, Context, Word, Work};
use tooltrail_model::patch::FilePatch;
use tooltrail_model::{Event, Fact, Scope, Time};
use tooltrail_skim::{Raw, Skim, Torn, Type};

/// The types of records that are known.
const KNOWN: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "security_risk_score",
];

/// A record taken in by one pass.
struct Envelope<'r> {
    time: Option<Time>,
    /// The fields beside the payload.
    outer: Fields<'r>,
    payload: Option<Fields<'r>>,
    depth: usize,
}

impl<'r> Envelope<'r> {
    fn read(bytes: &'r [u8]) -> Result<Self, Torn> {
        let mut skim = Skim::new(bytes);
        if skim.peek() != Some(Type::Object) {
            return Err(Torn { at: skim.position() });
        }
        let mut all = Envelope { time: None, outer: Fields::of(bytes), payload: None, depth: 0 };
        skim.object(|key, value| {
            match key.as_bytes() {
                b"timestamp" => all.time = time::read(value),
                b"payload" if value.peek() == Some(Type::Object) => {
                    let payload = all.payload.insert(Fields::of(bytes));
                    value.object(|key, value| payload.take(key.as_bytes(), value))?;
                }
                key => all.outer.take(key, value)?,
            }
            Ok(())
        })?;
        if !skim.finished() {
            return Err(Torn { at: skim.position() });
        }
        all.depth = skim.deepest();
        Ok(all)
    }

    /// The line that begins a log of the time before there were payloads: it has no type, and names the session.
    fn is_bare_begin(&self) -> bool {
        let outer = &self.outer;
        self.payload.is_none() && !outer.r#type.is_some() && outer.id.is_some() && (outer.instructions.is_some() || outer.git.is_some())
    }

    fn is_bare(&self) -> bool {
        self.payload.is_none() && (self.outer.record_type.is_some() || self.is_bare_begin() || items::is_bare(&self.outer))
    }
}

/// Whether a line is a record of Codex.
pub(super) fn sniff(line: &[u8]) -> bool {
    let Ok(record) = Envelope::read(line) else { return false };
    match &record.payload {
        Some(_) => KNOWN.contains(&&*record.outer.name_of_type()),
        // Others write items alone as well, with fields of their own around them.
        None => record.is_bare() && !record.outer.session_id.is_some() && !has_foreign_keys(line),
    }
}

/// The same for a record with an envelope: the payload of one could pass for a record of the time before.
pub(super) fn sniff_envelope(line: &[u8]) -> bool {
    Envelope::read(line).is_ok_and(|record| record.payload.is_some() && KNOWN.contains(&&*record.outer.name_of_type()))
}

fn has_foreign_keys(line: &[u8]) -> bool {
    let mut foreign = false;
    let _ = Skim::new(line).object(|key, _| {
        foreign |= matches!(key.as_bytes(), b"sessionId" | b"providerData" | b"uuid" | b"parentId" | b"parentUuid");
        Ok(())
    });
    foreign
}

/// What a record changes in files.
pub(super) fn patches(record: &[u8]) -> Vec<FilePatch> {
    if !patch::may_hold(record) {
        return Vec::new();
    }
    let Ok(envelope) = Envelope::read(record) else { return Vec::new() };
    patch::of_record(envelope.payload.as_ref().unwrap_or(&envelope.outer))
}

pub(super) fn decode(record: Record<'_>, out: &mut Sink<'_>) -> Result<usize, Torn> {
    let envelope = Envelope::read(record.bytes)?;
    let name = envelope.outer.text(envelope.outer.r#type).unwrap_or(Cow::Borrowed("?"));
    let item = envelope.payload.as_ref().and_then(events::item);
    let known = match &envelope.payload {
        Some(payload) => is_known(&name, payload, item.as_ref()),
        None => envelope.is_bare(),
    };
    let scope = Scope::default();
    let mut emit = |fact: Fact<'_>| out(Event { at: record.at, time: envelope.time, scope: &scope, fact });
    emit(Fact::Record { name: Cow::Borrowed(&name), known });
    let Some(payload) = &envelope.payload else {
        if envelope.is_bare_begin() {
            begin(&envelope.outer, envelope.time, &mut emit);
        } else {
            items::decode(&envelope.outer, &record, &mut emit);
        }
        return Ok(envelope.depth);
    };
    match &*name {
        "session_meta" => begin(payload, envelope.time, &mut emit),
        "turn_context" => {
            emit(Fact::Work(Work { made: events::made(payload), turn: events::turn(payload), done: false }));
            context(payload, &mut emit);
        }
        "response_item" => items::decode(payload, &record, &mut emit),
        "event_msg" => events::decode(payload, item.as_ref(), &record, &mut emit),
        "compacted" => emit(Fact::Boundary(Boundary::Compaction)),
        "inter_agent_communication" => items::letter(payload, &mut emit),
        _ => {}
    }
    Ok(envelope.depth)
}

/// Whether a record is known, and what it holds. What is not is counted, and shown as it is.
fn is_known(name: &str, payload: &Fields<'_>, item: Option<&Fields<'_>>) -> bool {
    match name {
        "response_item" => items::KNOWN.contains(&&*payload.name_of_type()),
        "event_msg" => events::is_known(payload, item),
        name => KNOWN.contains(&name),
    }
}

/// Whose log this is: `session_meta`, or the first line of an old log.
fn begin(meta: &Fields<'_>, time: Option<Time>, emit: &mut Emit<'_>) {
    if let Some(id) = meta.text(meta.id) {
        let source = meta.inside(meta.source);
        let spawn = source.inside(source.subagent);
        let spawn = spawn.inside(spawn.thread_spawn);
        let parent = meta.text(meta.parent_thread_id).or_else(|| meta.text(spawn.parent_thread_id));
        // An agent that was started without a history of its own names the session it works for.
        let session = || meta.text(meta.session_id).filter(|session| *session != id).or_else(|| meta.text(meta.forked_from_id));
        let parent = parent.or_else(|| source.subagent.there().and_then(|_| session()));
        let path = meta.text(meta.agent_path).or_else(|| meta.text(spawn.agent_path));
        let made = meta.timestamp.is_some().then(|| time::read(&mut meta.skim(meta.timestamp))).flatten();
        emit(Fact::Begin(Begin { id, parent, path, made: made.or(time) }));
    }
    context(meta, emit);
}

fn context(fields: &Fields<'_>, emit: &mut Emit<'_>) {
    let mut branch = None;
    let _ = fields.skim(fields.git).object(|key, value| {
        if key.as_bytes() == b"branch" {
            branch = value.string().map(Raw::decoded_bytes);
        }
        Ok(())
    });
    let word = |place| fields.string(place).map(Raw::decoded_bytes);
    emit(Fact::Context(Context { cwd: word(fields.cwd).map(directory), repository: None, branch, model: word(fields.model) }));
}

/// A directory, which some records write as `file://`.
fn directory(path: Word<'_>) -> Word<'_> {
    match path.strip_prefix(b"file://") {
        Some(path) => Cow::Owned(path.to_vec()),
        None => path,
    }
}
