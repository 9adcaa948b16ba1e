//! The facts of a record for a scan: the session, its messages, calls and their results.

use super::record::{OpenCodeRecord, RecordKind};
use super::{markers, tools};
use crate::{Record, Sink, served};
use std::borrow::Cow;
use tooltrail_model::event::{
    Begin, BlockKind, Boundary, Call, CallResult, Child, Claim, ClaimBy, Context, Echo, MessageBlock, Meta, Notice, Origin, Prompt,
    TitleBy, Usage,
};
use tooltrail_model::usage::Tokens;
use tooltrail_model::verdict::{LoggedOutcome, Marker, ServedWords, Signals};
use tooltrail_model::{Event, Fact, Kind, Scope, Time};
use tooltrail_skim::{Raw, Skim};

/// The types of parts that are known. Those without a meaning for calls are counted.
const KNOWN: &[&str] =
    &["text", "reasoning", "tool", "file", "step-start", "step-finish", "snapshot", "patch", "agent", "subtask", "retry", "compaction"];

/// How much of a prompt is kept.
const HEAD: usize = 400;

/// Emits the events of a record.
pub(super) fn emit(item: &OpenCodeRecord<'_>, out: &mut Sink<'_>) {
    let record = &item.record;
    let scope = Scope::default();
    // The state of a call has a start of its own, which is closer than the part's.
    let time = if item.kind == RecordKind::Part { item.state.times.start.or(item.times.start) } else { item.times.start };
    let mut emit = |fact: Fact<'_>| out(Event { at: record.at, time, scope: &scope, fact });
    let name = item.name.map_or(Cow::Borrowed("?"), Raw::text);
    match item.kind {
        RecordKind::Session => {
            emit(Fact::Record { name: Cow::Borrowed("session"), known: true });
            session(item, time, &mut emit);
        }
        RecordKind::Message => {
            let role = item.role.map_or(Cow::Borrowed("?"), Raw::text);
            let known = matches!(&*role, "user" | "assistant");
            emit(Fact::Record { name: role, known });
            message(item, time, &mut emit);
        }
        RecordKind::Part => {
            let known = KNOWN.contains(&&*name);
            emit(Fact::Record { name: Cow::Borrowed(&name), known });
            part(&name, item, record, &mut emit);
        }
        RecordKind::Unknown => emit(Fact::Record { name, known: false }),
    }
}

fn session(item: &OpenCodeRecord<'_>, made: Option<Time>, emit: &mut dyn FnMut(Fact<'_>)) {
    if let Some(id) = item.id {
        emit(Fact::Begin(Begin { id: id.text(), parent: item.parent.map(Raw::text), path: None, made, own_from: None }));
    }
    emit(Fact::Context(Context { cwd: item.directory.map(Raw::decoded_bytes), ..Context::default() }));
    // A subagent's title is not that of the session it belongs to. An untitled session has a name with its start time, which says nothing.
    let title = item.title.filter(|_| item.parent.is_none()).map(|title| title.head(HEAD));
    if let Some(title) = title.filter(|title| !title.starts_with("New session - ") && !title.starts_with("Child session - ")) {
        emit(Fact::Meta(Meta::Title(TitleBy::Model, title)));
    }
}

fn message(item: &OpenCodeRecord<'_>, time: Option<Time>, emit: &mut dyn FnMut(Fact<'_>)) {
    // The parts that follow may lack times; that of their message stands in.
    time.into_iter().for_each(|time| emit(Fact::Clock(time)));
    if OpenCodeRecord::is(item.role, "user") {
        return;
    }
    let model = item.model.map(Raw::decoded_bytes);
    emit(Fact::Context(Context { cwd: item.directory.map(Raw::decoded_bytes), model: model.clone(), ..Context::default() }));
    // A message without any tokens has no answer, or none yet.
    if let (Some(id), Some(tokens)) = (item.id, item.tokens.filter(|tokens| *tokens != Tokens::default())) {
        emit(Fact::Usage(Usage { message: id.digest(), request: None, model, tokens, server_tools: [0, 0], tier: None, reported: false }));
    }
    match &item.error {
        Some((Some(name), _)) if *name == *"MessageAbortedError" => emit(Fact::Notice(Notice::Interrupt)),
        Some(_) => emit(Fact::Notice(Notice::ApiError)),
        None => {}
    }
}

fn part(name: &str, item: &OpenCodeRecord<'_>, record: &Record<'_>, emit: &mut dyn FnMut(Fact<'_>)) {
    match name {
        "text" if item.is_users() => prompt(item, record, emit),
        "text" => block(item, BlockKind::Text, record, emit),
        "reasoning" => block(item, BlockKind::Thinking, record, emit),
        "tool" => tool(item, record, emit),
        "compaction" => emit(Fact::Boundary(Boundary::Compaction)),
        // A retry is written only after a request failed.
        "retry" => emit(Fact::Notice(Notice::ApiError)),
        _ => {}
    }
}

fn prompt(item: &OpenCodeRecord<'_>, record: &Record<'_>, emit: &mut dyn FnMut(Fact<'_>)) {
    let Some(text) = item.text else { return };
    let origin = if item.synthetic { Origin::Program } else { Origin::Human };
    // Texts of the program are no prompts to be recognised again.
    let digest = if item.synthetic { 0 } else { text.digest() };
    emit(Fact::Prompt(Prompt { origin, head: text.head(HEAD), digest, span: record.at.span, echo: Echo::None }));
}

fn block(item: &OpenCodeRecord<'_>, kind: BlockKind, record: &Record<'_>, emit: &mut dyn FnMut(Fact<'_>)) {
    emit(Fact::Block(MessageBlock { message: item.message.map(Raw::digest), kind, span: record.at.span }));
}

/// A call, and its result once it has one.
fn tool(item: &OpenCodeRecord<'_>, record: &Record<'_>, emit: &mut dyn FnMut(Fact<'_>)) {
    let Some(id) = item.call.or(item.id) else { return };
    let name = item.tool.map_or(Cow::Borrowed("?"), Raw::text);
    let state = &item.state;
    let input = record.bytes.get(state.input.clone()).unwrap_or_default();
    let kind = tools::kind(&name, input);
    let server = tools::server(&name, input);
    emit(Fact::Call(Call {
        id: id.text(),
        // Named after its part then.
        unnamed: item.call.is_none(),
        kind,
        tool: name.clone(),
        server: server.map(|server| Cow::Owned(server.to_owned())),
        input: record.span(state.input.clone()),
        digest: Skim::new(input).digest().unwrap_or(0),
        prompt: (kind == Kind::Subagent).then(|| task(input)).flatten(),
        message: item.message.map(Raw::text),
        message_id: item.message.map(Raw::digest),
        ..Call::default()
    }));
    let child = state.child.filter(|_| kind == Kind::Subagent).map(Raw::text);
    // A running call has no result, but its subagent may be at work already.
    if !state.is_over() {
        if let Some(agent) = child {
            emit(Fact::Claim(Claim { agent, call: id.text(), by: ClaimBy::Result }));
        }
        return;
    }
    let message = state.error.map(|error| error.text());
    let (words, background) = if server.is_some() { served_words(record, item) } else { Default::default() };
    let launched = background.is_some();
    emit(Fact::Result(CallResult {
        call: id.text(),
        time: state.times.end,
        // Either the output or the message of a failure; never both.
        content: record.span(if state.failed() { state.error_place.clone() } else { state.output.clone() }),
        structured: Some(state.metadata.clone()).filter(|place| !place.is_empty()).map(|place| record.span(place)),
        background: background.map(Cow::Owned),
        signals: Signals { served: words, backgrounded: launched, ..signals(item, &name, message.as_deref()) },
        feedback: message.as_deref().and_then(markers::feedback).map(|said| Cow::Owned(said.to_owned())),
        child: child.map(|agent| Child { agent, sure: true, alias: false, detached: false }),
        truncated: state.truncated,
        ..CallResult::default()
    }));
}

/// The statements of a server's tool in the text of a result, and the process that it says was started.
fn served_words(record: &Record<'_>, item: &OpenCodeRecord<'_>) -> (ServedWords, Option<String>) {
    let state = &item.state;
    let output = Skim::new(record.bytes.get(state.output.clone()).unwrap_or_default()).string();
    let said = if state.failed() { state.error } else { output };
    let Some(text) = said.filter(|text| served::tells(text.bytes())) else { return Default::default() };
    let head = text.head(HEAD);
    (served::said(&head, &text.tail(HEAD)), served::task(&head).map(str::to_owned))
}

/// A fingerprint of the task that a subagent is given.
fn task(input: &[u8]) -> Option<u64> {
    let mut prompt = None;
    let _ = Skim::new(input).object(|key, value| {
        if key.as_bytes() == b"prompt" {
            prompt = value.string().map(Raw::digest);
        }
        Ok(())
    });
    prompt
}

/// The signals of how a call ended.
fn signals(item: &OpenCodeRecord<'_>, tool: &str, message: Option<&str>) -> Signals {
    let state = &item.state;
    let marker = match message.and_then(markers::marker) {
        Some(marker) => Some(marker),
        // A call of a tool that does not exist becomes a call of this tool, which always completes.
        None if tool == "invalid" => Some(Marker::UnknownTool),
        // A command that ended by itself has an exit code, and then the limit was not the reason.
        None if state.timeout && state.exit.is_none() => Some(Marker::Timeout),
        None => None,
    };
    // The agent calls a command complete whatever its exit code is.
    let failed = state.failed() || state.exit.is_some_and(|code| code != 0) || marker.is_some();
    Signals {
        outcome: if failed { LoggedOutcome::Error } else { LoggedOutcome::Worked },
        marker,
        interrupted: state.interrupted,
        exit_field: state.exit,
        ..Signals::default()
    }
}
