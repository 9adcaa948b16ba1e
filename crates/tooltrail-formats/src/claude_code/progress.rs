//! Progress records (about 2.1.0 to 2.1.8x): hooks that begin, signs of work, and whole messages of subagents.

use super::facts::FactEmitter;
use super::message::ClaudeMessage;
use super::record::ClaudeRecord;
use super::{calls, usage};
use crate::time;
use std::borrow::Cow;
use tooltrail_model::event::{CallProgress, Claim, ClaimBy, Nested};
use tooltrail_model::verdict::ProgressSigns;
use tooltrail_model::{Fact, Time};
use tooltrail_skim::{Raw, Skim, Torn};

/// The `data` of a progress record.
#[derive(Debug, Default)]
pub(super) struct ProgressData<'r> {
    kind: Option<Raw<'r>>,
    agent: Option<Raw<'r>>,
    status: Option<Raw<'r>>,
    pub(super) elapsed: Option<u64>,
    /// The time limit of a command, in milliseconds.
    pub(super) limit: Option<u64>,
    pub(super) nested: Option<NestedRecord<'r>>,
}

/// A subagent's record inside its parent's.
#[derive(Debug, Default)]
pub(super) struct NestedRecord<'r> {
    /// The offset in the record that its spans are counted from.
    pub(super) base: usize,
    /// Whether the model speaks: only then are its blocks requests.
    pub(super) assistant: bool,
    pub(super) message: ClaudeMessage<'r>,
    time: Option<Time>,
    pub(super) request: Option<Raw<'r>>,
    uuid: Option<Raw<'r>>,
}

impl<'r> ProgressData<'r> {
    /// Reads the data of a record that has some.
    pub(super) fn read(record: &ClaudeRecord<'r>) -> Option<Self> {
        let data = record.data.clone()?;
        let mut out = ProgressData::default();
        let read = Skim::new(record.slice(&data)).object(|key, value| {
            match key.as_bytes() {
                b"type" => out.kind = value.string(),
                b"agentId" => out.agent = value.string(),
                b"status" => out.status = value.string(),
                b"elapsedTimeMs" => out.elapsed = millis(value.float(), 1.0),
                b"elapsedTimeSeconds" => out.elapsed = millis(value.float(), 1000.0),
                b"timeoutMs" => out.limit = millis(value.float(), 1.0),
                b"message" => {
                    // `data.start`: spans inside are counted from there.
                    let nested = out.nested.insert(NestedRecord { base: data.start, ..NestedRecord::default() });
                    value.object(|key, value| nested.field(key.as_bytes(), value))?;
                }
                _ => {}
            }
            Ok(())
        });
        read.ok().map(|()| out)
    }
}

impl<'r> NestedRecord<'r> {
    fn field(&mut self, key: &[u8], value: &mut Skim<'r>) -> Result<(), Torn> {
        match key {
            b"type" => self.assistant = value.string().is_some_and(|kind| kind == *"assistant"),
            b"message" => self.message.read(value)?,
            b"timestamp" => self.time = time::read(value),
            b"requestId" => self.request = value.string(),
            b"uuid" => self.uuid = value.string(),
            _ => {}
        }
        Ok(())
    }
}

/// Emits the facts of a progress record.
pub(super) fn facts<'r>(record: &ClaudeRecord<'r>, emit: &mut FactEmitter<'_, 'r>) {
    let Some(data) = ProgressData::read(record) else { return };
    let agent = data.agent.map(Raw::text);
    let parent = record.parent_tool_use.or(record.tool_use).map(Raw::text);
    match data.kind.map(Raw::text).as_deref() {
        // Such a record marks the start of a hook; older logs have no other.
        Some("hook_progress") => {
            if let Some(hook) = super::hooks::read(record) {
                emit.fact(Fact::Hook(Box::new(hook)));
            }
        }
        Some("agent_progress") => {
            // The claim ties the agent to its call, also where the record carries no message.
            if let (Some(agent), Some(call)) = (agent.clone(), parent.clone()) {
                emit.fact(Fact::Claim(Claim { agent, call, by: ClaimBy::Progress }));
            }
            if let Some(nested) = data.nested {
                subagent(&nested, agent, parent, emit);
            }
        }
        kind => {
            // Only the last progress of a call to a server has its whole duration.
            let status = data.status.filter(|_| kind == Some("mcp_progress")).map(Raw::text);
            let ended = matches!(status.as_deref(), Some("completed" | "failed"));
            let signs = ProgressSigns { elapsed_ms: data.elapsed, limit_ms: data.limit, failed: status.as_deref() == Some("failed") };
            if let Some(call) = parent {
                emit.fact(Fact::Progress(CallProgress { call, run_ms: data.elapsed.filter(|_| ended), signs }));
            }
        }
    }
}

/// A time in milliseconds.
fn millis(number: Option<f64>, factor: f64) -> Option<u64> {
    number.filter(|number| *number >= 0.0).map(|number| (number * factor) as u64)
}

/// Emits the calls and results of a subagent that its parent's log reports. They count only where its own log is missing.
fn subagent<'r>(inner: &NestedRecord<'r>, agent: Option<Cow<'r, str>>, parent: Option<Cow<'r, str>>, emit: &mut FactEmitter<'_, 'r>) {
    let nested = Nested { agent, parent };
    let outer = emit.time;
    // Time and base are the inner record's while its blocks are read, and are reset behind the loop.
    emit.time = inner.time.or(outer);
    emit.base = inner.base;
    if inner.assistant {
        usage::reported(&inner.message, inner.uuid, inner.request, emit);
    }
    let message = inner.message.id.map(Raw::digest);
    for block in inner.message.content.blocks() {
        if inner.assistant
            && let Some(mut call) = calls::call(block, &inner.message, message, inner.request, None, emit)
        {
            call.nested = Some(nested.clone());
            emit.fact(Fact::Call(call));
        }
        if let Some((mut result, _)) = calls::result(block, &inner.message, None, None, None, None, emit) {
            result.nested = Some(nested.clone());
            emit.fact(Fact::Result(result));
        }
    }
    emit.base = 0;
    emit.time = outer;
}
