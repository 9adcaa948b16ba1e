//! Calls and results as blocks of messages, in the main conversation and in records of progress alike.

use super::facts::FactEmitter;
use super::markers;
use super::message::{ClaudeMessage, ContentBlock};
use super::outcome::{Poll, ResultOutcome, StructuredResult};
use super::tools::names;
use tooltrail_model::event::{Call, CallResult, Claim, ClaimBy, Hook, HookOutcome, HookStage, Id, TaskNews, Text};
use tooltrail_model::{Fact, Kind};
use tooltrail_skim::{Raw, Skim};

/// A call, if the block is one: `tool_use`, or one of the API-side kinds. `message_id` joins the calls of a message, also where that has no id
/// of its own.
pub(super) fn call<'r>(
    block: &ContentBlock<'r>,
    message: &ClaudeMessage<'r>,
    message_id: Option<Id>,
    request: Option<Raw<'r>>,
    node: Option<Id>,
    emit: &FactEmitter<'_, 'r>,
) -> Option<Call<'r>> {
    let id = message.call_id(block, emit.line())?;
    let kind = block.kind?;
    let plain = kind == *"tool_use";
    // Tools on the service's side may have no name; the kind of their block says which tool it was.
    let tool = block.name.unwrap_or(kind).text();
    let (input, digest) = block.input.clone().unwrap_or_default();
    let bytes = emit.slice(&input);
    // An MCP server may name a tool like a built-in one; the kind of the block tells them apart.
    let family = if !plain && kind == *"mcp_tool_use" { Kind::Mcp } else { names::kind(&tool, bytes) };
    let (mut prompt, mut task) = (None, None);
    // Only for these kinds: the input of a `Write` may be a megabyte.
    if matches!(family, Kind::Subagent | Kind::Task | Kind::Skill) {
        // An input that breaks off keeps what was read before.
        let _ = Skim::new(bytes).object(|key, value| {
            match key.as_bytes() {
                b"prompt" if family == Kind::Subagent => prompt = value.string().map(Raw::digest),
                // An agent that runs a skill is known by the skill's name.
                b"skill" | b"command" if family == Kind::Skill => prompt = value.string().map(Raw::digest),
                b"bash_id" | b"shell_id" | b"task_id" | b"taskId" | b"agentId" => task = value.string().map(Raw::text),
                // Processes of a server have a number, or a name under a key that other tools use for anything.
                b"pid" | b"id" if tool.starts_with("mcp__") => {
                    let number = value.int().map(|id| Text::Owned(id.to_string()));
                    task = number.or_else(|| value.string().map(Raw::text)).or(task.take());
                }
                _ => {}
            }
            Ok(())
        });
    }
    let server = block.server.map(Raw::text).or_else(|| names::server(&tool).map(|server| Text::Owned(server.to_owned())));
    Some(Call {
        unnamed: block.id.is_none(),
        id,
        server,
        kind: family,
        tool,
        input: emit.span(&input),
        digest,
        prompt,
        task,
        message: message.id.map(Raw::text),
        message_id,
        has_request: request.is_some(),
        model: message.real_model().map(Raw::text),
        node,
        nested: None,
        script: None,
    })
}

/// A result, if the block is one. API-side results stand in the assistant's own message.
pub(super) fn result<'r>(
    block: &ContentBlock<'r>,
    message: &ClaudeMessage<'r>,
    structured: Option<&StructuredResult<'r>>,
    denial: Option<Raw<'r>>,
    feedback: Option<Raw<'r>>,
    node: Option<Id>,
    emit: &FactEmitter<'_, 'r>,
) -> Option<(CallResult<'r>, Option<Poll<'r>>)> {
    let call = message.result_id(block, emit.line())?;
    let mut outcome = ResultOutcome::of(block, structured, denial);
    // Refusals and hooks are recognised on errors only: an ordinary output may quote their texts.
    let error = outcome.signals.says_error();
    let said = || markers::feedback(&outcome.head).map(|text| Text::Owned(text.to_owned()));
    let poll = outcome.poll(structured);
    let result = CallResult {
        time: None,
        unnamed: block.tool_use_id.is_none(),
        call,
        content: block.result.span.as_ref().map(|span| emit.span(span)).unwrap_or_default(),
        structured: structured.map(|structured| emit.span(&structured.span)),
        node,
        run_ms: outcome.run_ms,
        feedback: error.then(|| feedback.map(Raw::text).or_else(said)).flatten(),
        background: outcome.background.take(),
        child: outcome.child(structured),
        hook: error.then(|| hook_in_text(&outcome.head)).flatten().map(Box::new),
        synthetic: outcome.synthetic(),
        sole: false,
        truncated: false,
        input_edited: structured.is_some_and(|structured| structured.user_modified),
        signals: outcome.signals,
        nested: None,
        output: None,
    };
    Some((result, poll))
}

/// The hook that refused a call, where the text of the result names it.
pub(super) fn hook_in_text<'r>(head: &str) -> Option<Hook<'r>> {
    let (name, command, words) = markers::hook_error(head)?;
    let owned = |text: &str| Text::Owned(text.to_owned());
    Some(Hook {
        event: Some("PreToolUse".into()),
        stage: HookStage::Before,
        name: Some(owned(name)),
        command: command.map(owned),
        outcome: Some(HookOutcome::Blocked),
        reason: Some(owned(words)),
        ..Hook::default()
    })
}

/// Emits a result, and the other facts of its record: news of a task, a workflow's directory.
pub(super) fn emit_result<'r>(
    (result, poll): (CallResult<'r>, Option<Poll<'r>>),
    structured: Option<&StructuredResult<'r>>,
    emit: &mut FactEmitter<'_, 'r>,
) {
    let call = result.call.clone();
    emit.fact(Fact::Result(result));
    if let Some(agent) = structured.and_then(StructuredResult::workflow) {
        emit.fact(Fact::Claim(Claim { agent, call: call.clone(), by: ClaimBy::Directory }));
    }
    // After the result, so that the task is known when its state arrives.
    if let Some(poll) = poll {
        emit.fact(Fact::Task(TaskNews { id: poll.id, call: None, poll: Some(call), state: poll.state, exit_code: poll.exit_code }));
    }
}
