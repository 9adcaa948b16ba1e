//! Progress records (about 2.1.0 to 2.1.8x): hooks that begin, signs of work, and whole messages of subagents.

use super::calls;
use super::envelope::Envelope;
use super::message::Message;
use super::records::Emit;
use crate::time;
use std::borrow::Cow;
use tooltrail_model::Fact;
use tooltrail_model::event::{Claim, ClaimBy, Nested, Progress};
use tooltrail_skim::{Raw, Skim};

pub(super) fn decode<'r>(envelope: &Envelope<'r>, emit: &mut Emit<'_, 'r>) {
    let Some(inner) = envelope.inner.clone() else { return };
    let record = *emit.record;
    let mut kind = None;
    let mut agent = None;
    let (mut status, mut elapsed) = (None, None);
    let mut nested: Option<Inner<'r>> = None;
    let read = Skim::new(&record.bytes[inner.clone()]).object(|key, value| {
        match key.as_bytes() {
            b"type" => kind = value.string().map(Raw::text),
            b"agentId" => agent = value.string().map(Raw::text),
            b"status" => status = value.string(),
            b"elapsedTimeMs" => elapsed = value.float().filter(|ms| *ms >= 0.0).map(|ms| ms as u64),
            b"message" => nested = Some(Inner::read(value)?),
            _ => {}
        }
        Ok(())
    });
    if read.is_err() {
        return;
    }
    let parent = envelope.parent_tool_use.or(envelope.tool_use).map(Raw::text);
    match kind.as_deref() {
        Some("hook_progress") => {
            if let Some(hook) = super::hooks::read(envelope, &record) {
                emit.fact(Fact::Hook(hook));
            }
        }
        Some("agent_progress") => {
            if let (Some(agent), Some(call)) = (agent.clone(), parent.clone()) {
                emit.fact(Fact::Claim(Claim { agent, call, by: ClaimBy::Progress }));
            }
            if let Some(nested) = nested {
                subagent(&nested, inner.start, agent, parent, emit);
            }
        }
        Some("mcp_progress") => {
            let ended = status.is_some_and(|status| matches!(&*status.text(), "completed" | "failed"));
            if let Some(call) = parent {
                emit.fact(Fact::Progress(Progress { call, run_ms: elapsed.filter(|_| ended) }));
            }
        }
        _ => {
            if let Some(call) = parent {
                emit.fact(Fact::Progress(Progress { call, run_ms: None }));
            }
        }
    }
}

/// A subagent's record inside its parent's.
#[derive(Default)]
struct Inner<'r> {
    assistant: bool,
    message: Message<'r>,
    time: Option<tooltrail_model::Time>,
    request: Option<Raw<'r>>,
}

impl<'r> Inner<'r> {
    fn read(value: &mut Skim<'r>) -> Result<Self, tooltrail_skim::Torn> {
        let mut out = Inner::default();
        value.object(|key, value| {
            match key.as_bytes() {
                b"type" => out.assistant = value.string().is_some_and(|kind| kind == *"assistant"),
                b"message" => out.message.read(value)?,
                b"timestamp" => out.time = time::read(value),
                b"requestId" => out.request = value.string(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(out)
    }
}

/// The calls and results of a subagent, told of in its parent's log. They count only where its own log is missing.
fn subagent<'r>(inner: &Inner<'r>, base: usize, agent: Option<Cow<'r, str>>, parent: Option<Cow<'r, str>>, emit: &mut Emit<'_, 'r>) {
    let nested = Nested { agent, parent };
    let outer = emit.time;
    emit.time = inner.time.or(outer);
    emit.base = base;
    for block in inner.message.content.blocks() {
        if inner.assistant
            && let Some(mut call) = calls::call(block, &inner.message, inner.request, None, emit)
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
