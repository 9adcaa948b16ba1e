//! Records that tell how a call ended: end events, and the completed items of paginated logs. They speak of calls that are logged
//! as items as well, except where a script made the call; then they are all there is.

use super::fields::{Fields, Place};
use super::items::{self, Emit, build};
use super::{markers, tools};
use crate::Record;
use std::borrow::Cow;
use tooltrail_model::Fact;
use tooltrail_model::event::{CallResult, Claim, ClaimBy, End, TaskState};
use tooltrail_model::verdict::{Marker, Said, Signals};
use tooltrail_skim::{Raw, Skim};

/// How much of the reason of a refusal is looked at.
const REASON: usize = 1024;

/// Emits the end of a call; says whether the record is one.
pub(super) fn decode(kind: &str, end: &Fields<'_>, record: &Record<'_>, emit: &mut Emit<'_>) -> bool {
    match kind {
        "exec_command_end" | "CommandExecution" => command(kind, end, record, emit),
        "patch_apply_end" | "FileChange" => {
            let signals = end.bool(end.success).map_or_else(|| items::status(end), said);
            let declined = items::status(end);
            let signals = if declined.marker.is_some() { declined } else { signals };
            give(kind, end, end.changes, end.changes, signals, record, emit);
        }
        "mcp_tool_call_end" => mcp(end, &end.inside(end.invocation), record, emit),
        "McpToolCall" => mcp(end, end, record, emit),
        "dynamic_tool_call_response" | "DynamicToolCall" => {
            let signals = end.bool(end.success).map_or_else(|| items::status(end), said);
            let Some(tool) = end.text(end.tool) else { return true };
            let tool = tools::full_name(end.text(end.namespace), tool);
            finish(tool, end, end.arguments, end.content, signals, record, emit);
        }
        "web_search_end" | "WebSearch" => {
            let input = if end.action.is_some() { end.action } else { end.query };
            give(kind, end, input, Place::default(), items::status(end), record, emit);
        }
        "image_generation_end" | "ImageGeneration" => give(kind, end, end.revised_prompt, end.result, items::status(end), record, emit),
        "view_image_tool_call" | "ImageView" => give(kind, end, end.path, Place::default(), Signals::default(), record, emit),
        "CollabAgentToolCall" => {
            let Some(tool) = end.text(end.tool) else { return true };
            collab(&tool, end, record, emit);
        }
        _ if kind.starts_with("collab_") && kind.ends_with("_end") => collab(kind, end, record, emit),
        "sub_agent_activity" | "SubAgentActivity" => activity(end, emit),
        _ => return false,
    }
    true
}

fn said(worked: bool) -> Signals {
    Signals { outcome: if worked { Said::Worked } else { Said::Error }, ..Signals::default() }
}

fn command(kind: &str, end: &Fields<'_>, record: &Record<'_>, emit: &mut Emit<'_>) {
    // What the person ran by hand is no call of the model.
    if end.text(end.source).is_some_and(|source| source == "user_shell" || source == "userShell") {
        return;
    }
    let mut signals = items::status(end);
    if signals.marker.is_some() {
        // A rule may have declined it as well; the output says why.
        let said = end.string(end.aggregated_output).map(|text| text.head(REASON));
        signals.marker = said.and_then(|text| markers::refusal(&text)).or(signals.marker);
    }
    let code = end.int(end.exit_code).filter(|_| signals.marker.is_none());
    if let Some(code) = code {
        signals = Signals { exit_field: Some(code), ..said(code == 0) };
    }
    give(kind, end, end.command, end.aggregated_output, signals, record, emit);
}

/// `result` is `{"Ok":{"isError":false,…}}` or `{"Err":"…"}` in events; items have a status and an error.
fn mcp(end: &Fields<'_>, asked: &Fields<'_>, record: &Record<'_>, emit: &mut Emit<'_>) {
    let (Some(server), Some(tool)) = (end.text(asked.server), end.text(asked.tool)) else { return };
    let mut signals = items::status(end);
    let mut error = |is: bool, said: Option<Raw<'_>>| {
        signals.outcome = if is { Said::Error } else { Said::Worked };
        let refused = said.and_then(|text| markers::refusal(&text.head(REASON)));
        signals.marker = is.then_some(refused.unwrap_or(Marker::Mcp));
    };
    let flag = |value: &mut Skim<'_>| {
        let mut found = None;
        value.object(|key, value| {
            if matches!(key.as_bytes(), b"isError" | b"is_error") {
                found = value.bool().or(found);
            }
            Ok(())
        })?;
        Ok(found.unwrap_or(false))
    };
    let _ = end.skim(end.result).object(|key, value| {
        match key.as_bytes() {
            b"Ok" => error(flag(value)?, None),
            b"Err" => error(true, value.string()),
            b"isError" | b"is_error" if value.bool() == Some(true) => error(true, None),
            _ => {}
        }
        Ok(())
    });
    if end.error.is_some() && !end.raw(end.error).starts_with(b"null") {
        error(true, end.string(end.error).or_else(|| end.inside(end.error).message()));
    }
    let tool = Cow::Owned(format!("mcp__{server}__{tool}"));
    finish(tool, end, asked.arguments, end.result, signals, record, emit);
}

/// The tools that start and steer other agents.
fn collab(kind: &str, end: &Fields<'_>, record: &Record<'_>, emit: &mut Emit<'_>) {
    let id = items::id(end, record);
    let tool = tools::of_end(kind).map_or_else(|| Cow::Owned(kind.to_owned()), Cow::Borrowed);
    let child = end.text(end.new_thread_id).or_else(|| {
        let list = if end.receiver_thread_ids.is_some() { end.receiver_thread_ids } else { end.receiver_thread_ids_camel };
        let mut first = None;
        let _ = end.skim(list).array(|item| {
            first = first.take().or(item.string().map(|id| id.text()));
            Ok(())
        });
        first
    });
    if let Some(child) = child.filter(|_| tool == "spawn_agent") {
        emit(Fact::Claim(Claim { agent: child, call: id, by: ClaimBy::Progress }));
    }
    // The status of an event is the other agent's, that of an item the call's own.
    let signals = if kind.starts_with("collab_") { Signals::default() } else { items::status(end) };
    finish(tool, end, end.prompt, Place::default(), signals, record, emit);
}

/// An agent was started by the call that the event is named after, or stopped.
fn activity(end: &Fields<'_>, emit: &mut Emit<'_>) {
    let call = end.text(end.event_id).or_else(|| end.text(end.id));
    match (end.text(end.kind).as_deref(), call, end.text(end.agent_thread_id)) {
        (Some("started"), Some(call), Some(agent)) => emit(Fact::Claim(Claim { agent, call, by: ClaimBy::Progress })),
        // The call that started it may have either name for it.
        (Some("interrupted"), _, agent) => {
            for id in [agent, end.text(end.agent_path)].into_iter().flatten() {
                emit(Fact::Task(items::news(id, TaskState::Stopped)));
            }
        }
        _ => {}
    }
}

/// The end of a call whose tool the kind of record tells.
fn give(kind: &str, end: &Fields<'_>, input: Place, content: Place, signals: Signals, record: &Record<'_>, emit: &mut Emit<'_>) {
    let tool = tools::of_end(kind).map_or_else(|| Cow::Owned(kind.to_owned()), Cow::Borrowed);
    finish(tool, end, input, content, signals, record, emit);
}

fn finish(tool: Cow<'_, str>, end: &Fields<'_>, input: Place, content: Place, signals: Signals, record: &Record<'_>, emit: &mut Emit<'_>) {
    let id = items::id(end, record);
    let result = CallResult {
        time: None,
        call: id.clone(),
        content: record.span(content.range()),
        structured: None,
        node: None,
        signals,
        run_ms: run_ms(end),
        feedback: None,
        background: None,
        child: None,
        hook: None,
        synthetic: false,
        sole: false,
        truncated: false,
        nested: None,
    };
    let call = build(end, id, tool, input, record);
    emit(Fact::End(End { call, result }));
}

/// A duration as `{"secs":1,"nanos":5}`, or a number of milliseconds.
fn run_ms(end: &Fields<'_>) -> Option<u64> {
    let (mut secs, mut nanos) = (None, 0);
    let _ = end.skim(end.duration).object(|key, value| {
        match key.as_bytes() {
            b"secs" => secs = value.uint(),
            b"nanos" => nanos = value.uint().unwrap_or(0),
            _ => {}
        }
        Ok(())
    });
    let whole = secs.map(|secs| secs.saturating_mul(1000).saturating_add(nanos / 1_000_000));
    let number = |place: Place| end.int(place).and_then(|ms| u64::try_from(ms).ok());
    whole.or_else(|| number(end.duration_ms)).or_else(|| number(end.duration_ms_camel))
}
