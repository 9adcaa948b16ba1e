//! Records of how a call ended: end events, and the completed items of paginated logs. Their calls are logged as items as well, except
//! where a script made the call; then they are all there is.

use super::content::texts;
use super::facts::FactSink;
use super::fields::{FieldSpan, PayloadFields};
use super::items::{self, build};
use super::record::{CodexRecord, RecordClass};
use super::{extension, markers, script, tools};
use crate::served;
use std::borrow::Cow;
use tooltrail_model::Fact;
use tooltrail_model::event::{CallResult, Claim, ClaimBy, End, TaskState};
use tooltrail_model::verdict::{LoggedOutcome, Marker, ServedWords, Signals};
use tooltrail_skim::{Raw, Skim};

/// How much of the reason of a refusal is looked at.
const REASON: usize = 1024;

/// The tool of the call whose end a record reports; `None` if it reports no end. A call without the name of its tool is no call, nor is a
/// command that the person ran by hand.
pub(super) fn tool<'r>(record: &CodexRecord<'r>) -> Option<Cow<'r, str>> {
    if !matches!(record.class, RecordClass::Event | RecordClass::Completed) || record.is_by_hand() {
        return None;
    }
    let end = record.body();
    match &*record.kind {
        "mcp_tool_call_end" => mcp_tool(&end.inside(end.invocation)),
        "McpToolCall" => mcp_tool(end),
        "dynamic_tool_call_response" | "DynamicToolCall" => Some(tools::full_name(end.text(end.namespace), end.text(end.tool)?)),
        "CollabAgentToolCall" => {
            let tool = end.text(end.tool)?;
            Some(tools::of_end(&tool).map_or(tool, Cow::Borrowed))
        }
        kind if kind.starts_with("collab_") && kind.ends_with("_end") => {
            Some(tools::of_end(kind).map_or_else(|| Cow::Owned(kind.to_owned()), Cow::Borrowed))
        }
        // The names of tools in `CollabAgentToolCall` are no kinds of records.
        kind if is_kind(kind) => tools::of_end(kind).map(Cow::Borrowed),
        _ if record.is_extension() => Some(record.kind.clone()),
        _ => None,
    }
}

/// The kinds of records that end the call of one tool.
fn is_kind(kind: &str) -> bool {
    matches!(kind, "exec_command_end" | "CommandExecution" | "patch_apply_end" | "FileChange" | "web_search_end" | "WebSearch")
        || matches!(kind, "image_generation_end" | "ImageGeneration" | "view_image_tool_call" | "ImageView")
}

fn mcp_tool<'r>(request: &PayloadFields<'r>) -> Option<Cow<'r, str>> {
    let (server, tool) = (request.text(request.server)?, request.text(request.tool)?);
    Some(Cow::Owned(format!("mcp__{server}__{tool}")))
}

/// Emits the end of a call.
pub(super) fn decode(record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let end = record.body();
    // Not an end, but it says which call started an agent, or that the agent was stopped.
    let Some(tool) = tool(record) else {
        if matches!(&*record.kind, "sub_agent_activity" | "SubAgentActivity") {
            activity(end, emit);
        }
        return;
    };
    let by_success = || end.bool(end.success).map_or_else(|| items::status(end), said);
    let none = FieldSpan::default();
    let (input, content, signals) = match &*record.kind {
        "exec_command_end" | "CommandExecution" => (end.command, end.aggregated_output, command(end)),
        "patch_apply_end" | "FileChange" => {
            let declined = items::status(end);
            // A refusal is in the status; otherwise the flag says more.
            (end.changes, end.changes, if declined.marker.is_some() { declined } else { by_success() })
        }
        "mcp_tool_call_end" => (end.inside(end.invocation).arguments, end.result, mcp(end)),
        "McpToolCall" => (end.arguments, end.result, mcp(end)),
        "dynamic_tool_call_response" | "DynamicToolCall" => (end.arguments, end.content, by_success()),
        "web_search_end" | "WebSearch" => (if end.action.is_some() { end.action } else { end.query }, none, items::status(end)),
        "image_generation_end" | "ImageGeneration" => (end.revised_prompt, end.result, items::status(end)),
        "view_image_tool_call" | "ImageView" => (end.path, none, Signals::default()),
        kind if record.is_extension() => (extension::input(kind, end), extension::content(kind, end), extension::signals(kind, end)),
        kind => {
            claim(&tool, record, emit);
            // The status of an event is the other agent's, that of an item the call's own.
            (end.prompt, none, if kind.starts_with("collab_") { Signals::default() } else { items::status(end) })
        }
    };
    finish(tool, input, content, signals, record, emit);
}

fn said(worked: bool) -> Signals {
    Signals { outcome: if worked { LoggedOutcome::Worked } else { LoggedOutcome::Error }, ..Signals::default() }
}

fn command(end: &PayloadFields<'_>) -> Signals {
    let mut signals = items::status(end);
    if signals.marker.is_some() {
        // A rule may have declined it as well; the output has the reason.
        let said = end.string(end.aggregated_output).map(|text| text.head(REASON));
        signals.marker = said.and_then(|text| markers::refusal(&text)).or(signals.marker);
    }
    // A command that was refused has no exit code of its own.
    let code = end.int(end.exit_code).filter(|_| signals.marker.is_none());
    code.map_or(signals, |code| Signals { exit_field: Some(code), ..said(code == 0) })
}

/// `result` is `{"Ok":{"isError":false,…}}` or `{"Err":"…"}` in events; items have a status and an error.
fn mcp(end: &PayloadFields<'_>) -> Signals {
    let mut signals = items::status(end);
    let mut error = |is: bool, said: Option<Raw<'_>>| {
        signals.outcome = if is { LoggedOutcome::Error } else { LoggedOutcome::Worked };
        // A refusal arrives as an error of the server.
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
    signals.served = result_words(end).unwrap_or_default();
    // Completed items have the error beside the result.
    if end.some(end.error).is_some() {
        error(true, end.string(end.error).or_else(|| end.inside(end.error).message()));
    }
    signals
}

/// The statements of a server's tool in the content of its result.
fn result_words(end: &PayloadFields<'_>) -> Option<ServedWords> {
    let mut words = None;
    let mut read = |value: &mut Skim<'_>| {
        let span = value.skip()?;
        let texts = texts(value.slice(span));
        if let (Some(first), Some(last)) = (texts.first(), texts.last())
            && (served::tells(first.bytes()) || served::tells(last.bytes()))
        {
            words = Some(served::said(&first.head(REASON), &last.tail(REASON)));
        }
        Ok(())
    };
    let _ = end.skim(end.result).object(|key, value| match key.as_bytes() {
        b"Ok" => value.object(|key, value| if key.as_bytes() == b"content" { read(value) } else { Ok(()) }),
        b"content" => read(value),
        _ => Ok(()),
    });
    words
}

/// The agent that a call has started, by the record of its end.
fn claim(tool: &str, record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let end = record.body();
    let child = end.text(end.new_thread_id).or_else(|| {
        let list = if end.receiver_thread_ids.is_some() { end.receiver_thread_ids } else { end.receiver_thread_ids_camel };
        let mut first = None;
        let _ = end.skim(list).array(|item| {
            first = first.take().or(item.string().map(|id| id.text()));
            Ok(())
        });
        first
    });
    // Other calls name agents as well, without starting them.
    if let Some(child) = child.filter(|_| tool == "spawn_agent") {
        emit(Fact::Claim(Claim { agent: child, call: record.call_id(), by: ClaimBy::Progress }));
    }
}

/// Emits that an agent was started by the call that the event is named after, or stopped.
fn activity(end: &PayloadFields<'_>, emit: &mut FactSink<'_>) {
    let call = end.text(end.event_id).or_else(|| end.text(end.id));
    match (end.text(end.kind).as_deref(), call, end.text(end.agent_thread_id)) {
        (Some("started"), Some(call), Some(agent)) => emit(Fact::Claim(Claim { agent, call, by: ClaimBy::Progress })),
        // The call that started it may know the agent by either name.
        (Some("interrupted"), _, agent) => {
            for id in [agent, end.text(end.agent_path)].into_iter().flatten() {
                emit(Fact::Task(items::news(id, TaskState::Stopped)));
            }
        }
        _ => {}
    }
}

fn finish(tool: Cow<'_, str>, input: FieldSpan, content: FieldSpan, signals: Signals, record: &CodexRecord<'_>, emit: &mut FactSink<'_>) {
    let call = build(record, tool, input);
    let result = CallResult {
        time: None,
        call: call.id.clone(),
        unnamed: false,
        content: record.span(content),
        structured: None,
        node: None,
        signals,
        run_ms: extension::run_ms(record).filter(|_| record.is_extension()).or_else(|| run_ms(record.body())),
        feedback: None,
        background: None,
        child: None,
        hook: None,
        synthetic: false,
        sole: false,
        truncated: false,
        input_edited: false,
        nested: None,
        output: None,
    };
    let subject = script::subject_of_end(record);
    emit(Fact::End(Box::new(End { by_script: script::is_inner(&call.id), call, result, subject })));
}

/// A duration as `{"secs":1,"nanos":5}`, or a number of milliseconds.
fn run_ms(end: &PayloadFields<'_>) -> Option<u64> {
    let (mut secs, mut nanos) = (None, 0);
    let _ = end.skim(end.duration).object(|key, value| {
        match key.as_bytes() {
            b"secs" => secs = value.uint(),
            b"nanos" => nanos = value.uint().unwrap_or(0),
            _ => {}
        }
        Ok(())
    });
    // Saturating: the numbers come from the log.
    let whole = secs.map(|secs| secs.saturating_mul(1000).saturating_add(nanos / 1_000_000));
    let number = |place: FieldSpan| end.int(place).and_then(|ms| u64::try_from(ms).ok());
    whole.or_else(|| number(end.duration_ms)).or_else(|| number(end.duration_ms_camel))
}
