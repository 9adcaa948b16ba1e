//! Every type of record, dispatched. To teach the program a new type, add its name to [`KNOWN`] and, if it says something
//! about calls or the session, an arm to [`decode`].

use super::envelope::Envelope;
use super::message::{Block, Message};
use super::outcome::{Outcome, Poll, Structured};
use super::prompt::{self, Said};
use super::{hooks, markers, progress, tasks, tools};
use crate::{Record, Sink};
use std::borrow::Cow;
use tooltrail_model::event::{
    Block as BlockFact, BlockKind, Boundary, Call, CallResult, Claim, ClaimBy, Context, Hook, HookOutcome, HookStage, Meta, Node, Notice,
    Origin, Prompt, Role, TaskNews, Text, TitleBy, Usage,
};
use tooltrail_model::verdict::Said as Outcomes;
use tooltrail_model::{Event, Fact, Kind, Scope, Span, Time};
use tooltrail_skim::{Raw, Skim, Torn};

/// The types of records that are known. Others are kept and counted as unknown.
const KNOWN: &[&str] = &[
    "user",
    "assistant",
    "system",
    "progress",
    "attachment",
    "summary",
    "ai-title",
    "custom-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "tag",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "bridge-session",
    "queue-operation",
    "file-history-snapshot",
    "file-history-delta",
    "cost-state",
    "worktree-state",
    "relocated",
    "frame-link",
    "content-replacement",
    "fork-context-ref",
    "atis-latch",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "continued-in",
    "ended-by-model",
    "history-suppression",
    "attribution-snapshot",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "task-summary",
];

/// How much of a prompt is decoded for titles.
const HEAD: usize = 400;

pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// Hands out the facts of one record.
pub(super) struct Emit<'e, 'r> {
    pub(super) record: &'e Record<'r>,
    pub(super) time: Option<Time>,
    /// The offset in the record of what is being read, where that is a record inside it.
    pub(super) base: usize,
    scope: &'e Scope<'r>,
    out: &'e mut Sink<'e>,
}

impl<'r> Emit<'_, 'r> {
    pub(super) fn fact(&mut self, fact: Fact<'_>) {
        (self.out)(Event { at: self.record.at, time: self.time, scope: self.scope, fact });
    }

    fn span(&self, inner: &std::ops::Range<usize>) -> Span {
        self.record.span(inner.start + self.base..inner.end + self.base)
    }

    fn slice(&self, inner: &std::ops::Range<usize>) -> &'r [u8] {
        self.record.bytes.get(inner.start + self.base..inner.end + self.base).unwrap_or_default()
    }
}

pub(super) fn decode(record: Record<'_>, out: &mut Sink<'_>) -> Result<usize, Torn> {
    let mut envelope = Envelope::default();
    envelope.read(record.bytes)?;
    let scope = Scope {
        session: envelope.session.map(Raw::decoded_bytes),
        agent: envelope.agent.map(Raw::decoded_bytes),
        sidechain: envelope.sidechain,
    };
    let kind = envelope.kind.map(Raw::text).unwrap_or(Cow::Borrowed("?"));
    let mut emit = Emit { record: &record, time: envelope.time, base: 0, scope: &scope, out: &mut |event| out(event) };
    emit.fact(Fact::Record { name: Cow::Borrowed(&kind), known: is_known(&kind) });
    context(&envelope, &mut emit);
    node(&envelope, &kind, &mut emit);
    match &*kind {
        "user" => user(&envelope, &mut emit),
        "assistant" => assistant(&envelope, &mut emit),
        "progress" => progress::decode(&envelope, &mut emit),
        "attachment" => attachment(&envelope, &mut emit),
        "system" => system(&envelope, &mut emit),
        "queue-operation" => queue(&envelope, &mut emit),
        "summary" | "ai-title" | "custom-title" | "agent-name" => title(&mut emit),
        "worktree-state" | "relocated" => place(&mut emit),
        _ => {}
    }
    Ok(envelope.depth)
}

fn context(envelope: &Envelope<'_>, emit: &mut Emit<'_, '_>) {
    if envelope.cwd.is_none() && envelope.branch.is_none() && envelope.version.is_none() {
        return;
    }
    let cwd = envelope.cwd.map(Raw::decoded_bytes);
    // A worktree that the agent made belongs to the repository it was made in.
    let repository = cwd.as_deref().and_then(repository).map(|path| String::from_utf8_lossy(path).into_owned());
    emit.fact(Fact::Context(Context {
        cwd,
        branch: envelope.branch.map(Raw::decoded_bytes),
        version: envelope.version.map(Raw::decoded_bytes),
        model: None,
    }));
    if let Some(repository) = repository {
        emit.fact(Fact::Meta(Meta::Project(Cow::Owned(repository))));
    }
}

/// The repository of a worktree that the agent made inside it.
fn repository(cwd: &[u8]) -> Option<&[u8]> {
    // Nearly no directory has a hidden part, so looking for a dot is quicker than looking for the whole mark.
    let mut dots = memchr::memchr_iter(b'.', cwd);
    let at = dots.find(|&at| cwd[at..].starts_with(b".claude/worktrees/") && cwd[..at].ends_with(b"/"))?;
    Some(&cwd[..at - 1])
}

fn node(envelope: &Envelope<'_>, kind: &str, emit: &mut Emit<'_, '_>) {
    let role = match kind {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "attachment" | "progress" => Role::Other,
        // Other records may carry an id, but it is not a place in the conversation.
        _ => return,
    };
    let Some(id) = envelope.uuid else { return };
    let hidden = envelope.meta || envelope.team;
    emit.fact(Fact::Node(Node {
        id: id.digest(),
        parent: envelope.parent.map(Raw::digest),
        copy_of: envelope.forked_from.map(Raw::digest),
        role,
        hidden,
    }));
    if !envelope.supersedes.is_empty() {
        emit.fact(Fact::Retract(envelope.supersedes.iter().map(|id| id.digest()).collect()));
    }
}

fn user<'r>(envelope: &Envelope<'r>, emit: &mut Emit<'_, 'r>) {
    let content = &envelope.message.content;
    let mut results = 0;
    let only = content.blocks().filter(|block| block.tool_use_id.is_some()).count() == 1;
    for block in content.blocks() {
        // The structured companion belongs to one result; with several, nobody can say to which.
        let structured = envelope.structured.as_ref().filter(|_| only);
        let node = envelope.source_node.or(envelope.parent);
        if let Some(result) = result(block, structured, envelope.denial, envelope.feedback, node, emit) {
            results += 1;
            emit_result(result, structured, emit);
        }
    }
    if let Some((text, span)) = &content.text {
        words(*text, span, envelope, results > 0, emit);
    }
    for block in content.blocks().filter(|block| block.tool_use_id.is_none()) {
        match (block.text, block.kind.map(Raw::text).as_deref()) {
            (Some(text), _) => words(text, &block.span, envelope, results > 0, emit),
            (None, Some("image")) => {
                emit.fact(Fact::Block(BlockFact { message: None, kind: BlockKind::Image, span: emit.span(&block.span) }))
            }
            (None, Some("document")) => {
                emit.fact(Fact::Block(BlockFact { message: None, kind: BlockKind::Document, span: emit.span(&block.span) }))
            }
            _ => {}
        }
    }
}

/// A result, and what else its record says: news of a task, a workflow's directory.
fn emit_result<'r>((result, poll): (CallResult<'r>, Option<Poll<'r>>), structured: Option<&Structured<'r>>, emit: &mut Emit<'_, 'r>) {
    let call = result.call.clone();
    emit.fact(Fact::Result(result));
    if let Some(agent) = structured.and_then(Structured::workflow) {
        emit.fact(Fact::Claim(Claim { agent, call: call.clone(), by: ClaimBy::Directory }));
    }
    if let Some(poll) = poll {
        emit.fact(Fact::Task(TaskNews { id: poll.id, call: None, poll: Some(call), state: poll.state, exit_code: poll.exit_code }));
    }
}

/// A text of a user record: a prompt, a sign, a notification.
fn words<'r>(text: Raw<'r>, span: &std::ops::Range<usize>, envelope: &Envelope<'r>, beside_result: bool, emit: &mut Emit<'_, 'r>) {
    let head = text.head(HEAD);
    if head.trim_start().starts_with("<task-notification>") {
        let whole = text.text();
        if let Some(news) = tasks::notification(&whole) {
            emit_news(news, emit);
        }
        return;
    }
    let foreign = envelope.origin.is_some_and(|origin| origin != *"human");
    let injected = envelope.meta || envelope.compact_summary || envelope.transcript_only || foreign || envelope.team;
    // A message that begins with an aside may have the person's words far behind it.
    let whole = if head.trim_start().starts_with('<') && !injected { text.text() } else { head };
    let (said, own) = prompt::classify(&whole, prompt::Flags { injected, sidechain: envelope.sidechain });
    match said {
        Said::Sign(notice) => emit.fact(Fact::Notice(notice)),
        // Reminders travel with results; a prompt does not.
        Said::Words(Origin::Human | Origin::Command) if beside_result => {}
        Said::Words(origin) => {
            let head = match origin {
                Origin::Command => prompt::command(own).map(Cow::Owned),
                _ => None,
            };
            let head = head.unwrap_or_else(|| Cow::Borrowed(beginning(own)));
            emit.fact(Fact::Prompt(Prompt { origin, head, digest: text.digest(), span: emit.span(span) }));
        }
    }
}

/// The first characters of a text.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEAD)]
}

fn emit_news(news: TaskNews<'_>, emit: &mut Emit<'_, '_>) {
    if let (Some(agent), Some(call)) = (news.id.clone(), news.call.clone()) {
        emit.fact(Fact::Claim(Claim { agent, call, by: ClaimBy::Notification }));
    }
    emit.fact(Fact::Task(news));
}

fn assistant<'r>(envelope: &Envelope<'r>, emit: &mut Emit<'_, 'r>) {
    let message = &envelope.message;
    if envelope.api_error {
        emit.fact(Fact::Notice(Notice::ApiError));
    }
    let id = message.id.or(envelope.uuid);
    if let (Some(usage), Some(id)) = (&message.usage, id)
        && message.model.is_none_or(|model| model != *"<synthetic>")
    {
        emit.fact(Fact::Usage(Usage {
            message: id.digest(),
            request: envelope.request.map(Raw::digest),
            model: message.model.map(Raw::decoded_bytes),
            tokens: usage.tokens,
            server_tools: usage.server_tools,
            tier: usage.tier.map(Raw::decoded_bytes),
        }));
    }
    if let Some((_, span)) = &message.content.text {
        emit.fact(Fact::Block(BlockFact { message: id.map(Raw::digest), kind: BlockKind::Text, span: emit.span(span) }));
    }
    for block in message.content.blocks() {
        if let Some(call) = call(block, message, envelope.request, envelope.uuid, emit) {
            emit.fact(Fact::Call(call));
        } else if let Some((result, _)) = result(block, None, None, None, envelope.uuid, emit) {
            emit.fact(Fact::Result(result));
        } else {
            let kind = match block.kind.map(Raw::text).as_deref() {
                Some("text") | None => BlockKind::Text,
                Some("thinking" | "redacted_thinking") => BlockKind::Thinking,
                Some("image") => BlockKind::Image,
                Some("document") => BlockKind::Document,
                Some(_) => BlockKind::Other,
            };
            emit.fact(Fact::Block(BlockFact { message: id.map(Raw::digest), kind, span: emit.span(&block.span) }));
        }
    }
}

/// A call, if the block is one: `tool_use`, or one of the API-side kinds.
pub(super) fn call<'r>(
    block: &Block<'r>,
    message: &Message<'r>,
    request: Option<Raw<'r>>,
    node: Option<Raw<'r>>,
    emit: &Emit<'_, 'r>,
) -> Option<Call<'r>> {
    let kind = block.kind?.text();
    if !(kind == "tool_use" || kind.ends_with("_tool_use")) {
        return None;
    }
    let id = block.id?;
    let tool = block.name.map_or_else(|| kind.clone(), Raw::text);
    let family = if kind == "mcp_tool_use" { Kind::Mcp } else { tools::kind(&tool) };
    let (input, digest) = block.input.clone().unwrap_or_default();
    let bytes = emit.slice(&input);
    let (mut prompt, mut task) = (None, None);
    if matches!(family, Kind::Subagent | Kind::Task) {
        let _ = Skim::new(bytes).object(|key, value| {
            match key.as_bytes() {
                b"prompt" => prompt = value.string().map(Raw::digest),
                b"bash_id" | b"shell_id" | b"task_id" | b"taskId" | b"agentId" => task = value.string().map(Raw::text),
                _ => {}
            }
            Ok(())
        });
    }
    let server = block.server.map(Raw::text).or_else(|| tools::server(&tool).map(|server| Text::Owned(server.to_owned())));
    Some(Call {
        id: id.text(),
        server,
        kind: family,
        tool,
        input: emit.span(&input),
        digest,
        prompt: prompt.filter(|_| family == Kind::Subagent),
        task,
        message: message.id.map(Raw::text),
        message_id: message.id.map(Raw::digest),
        has_request: request.is_some(),
        model: message.real_model().map(Raw::text),
        node: node.map(Raw::digest),
        nested: None,
    })
}

/// A result, if the block is one. API-side results stand in the assistant's own message.
pub(super) fn result<'r>(
    block: &Block<'r>,
    structured: Option<&Structured<'r>>,
    denial: Option<Raw<'r>>,
    feedback: Option<Raw<'r>>,
    node: Option<Raw<'r>>,
    emit: &Emit<'_, 'r>,
) -> Option<(CallResult<'r>, Option<Poll<'r>>)> {
    let call = block.tool_use_id?;
    let kind = block.kind.map(Raw::text);
    if !kind.as_deref().is_some_and(|kind| kind == "tool_result" || kind.ends_with("_tool_result")) {
        return None;
    }
    let outcome = Outcome::of(block, structured, denial);
    let error = outcome.signals.outcome == Outcomes::Error;
    let said = || markers::feedback(&outcome.head).map(|text| Text::Owned(text.to_owned()));
    let poll = outcome.poll(structured);
    let result = CallResult {
        call: call.text(),
        content: block.result.span.as_ref().map(|span| emit.span(span)).unwrap_or_default(),
        structured: structured.map(|structured| emit.span(&structured.span)),
        node: node.map(Raw::digest),
        run_ms: outcome.run_ms,
        feedback: feedback.map(Raw::text).or_else(|| error.then(said).flatten()),
        background: outcome.background(structured),
        child: outcome.child(structured),
        hook: error.then(|| hook_in_text(&outcome.head)).flatten(),
        synthetic: outcome.synthetic(),
        signals: outcome.signals,
        nested: None,
    };
    Some((result, poll))
}

fn hook_in_text<'r>(head: &str) -> Option<Hook<'r>> {
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

fn attachment<'r>(envelope: &Envelope<'r>, emit: &mut Emit<'_, 'r>) {
    if let Some(hook) = hooks::read(envelope, emit.record) {
        return emit.fact(Fact::Hook(hook));
    }
    let Some(inner) = envelope.inner.clone() else { return };
    let (mut kind, mut prompt, mut human) = (None, None, true);
    let read = Skim::new(emit.slice(&inner)).object(|key, value| {
        match key.as_bytes() {
            b"type" => kind = value.string(),
            b"prompt" => {
                value.peek();
                let start = value.position();
                prompt = value.string().map(|text| (text, inner.start + start..inner.start + value.position()));
                if prompt.is_none() {
                    value.array(|item| {
                        let start = item.position();
                        item.object(|key, value| {
                            if key.as_bytes() == b"text" && prompt.is_none() {
                                prompt = value.string().map(|text| (text, inner.start + start..inner.start + value.position()));
                            }
                            Ok(())
                        })
                    })?;
                }
            }
            b"commandMode" => human &= value.string().is_some_and(|mode| mode == *"prompt"),
            b"origin" => value.object(|key, value| {
                if key.as_bytes() == b"kind" {
                    human &= value.string().is_some_and(|kind| kind == *"human");
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    });
    if read.is_err() || kind.is_none_or(|kind| kind != *"queued_command") {
        return;
    }
    if let Some((text, span)) = prompt {
        queued(text, &span, human, emit);
    }
}

/// A prompt that was typed while the model was at work, or a notification that travelled the same way.
fn queued<'r>(text: Raw<'r>, span: &std::ops::Range<usize>, human: bool, emit: &mut Emit<'_, 'r>) {
    let whole = text.text();
    if let Some(news) = tasks::notification(&whole) {
        return emit_news(news, emit);
    }
    let (said, own) = prompt::classify(&whole, prompt::Flags { injected: !human, sidechain: false });
    if said == Said::Words(Origin::Human) {
        let head = Cow::Borrowed(beginning(own));
        emit.fact(Fact::Prompt(Prompt { origin: Origin::Queued, head, digest: text.digest(), span: emit.span(span) }));
    }
}

fn queue<'r>(_: &Envelope<'r>, emit: &mut Emit<'_, 'r>) {
    let (mut operation, mut content) = (None, None);
    let _ = Skim::new(emit.record.bytes).object(|key, value| {
        match key.as_bytes() {
            b"operation" => operation = value.string().map(Raw::text),
            b"content" => {
                value.peek();
                let start = value.position();
                content = value.string().map(|text| (text, start..value.position()));
                if content.is_none() {
                    value.array(|item| {
                        let start = item.position();
                        item.object(|key, value| {
                            if key.as_bytes() == b"text" && content.is_none() {
                                content = value.string().map(|text| (text, start..value.position()));
                            }
                            Ok(())
                        })
                    })?;
                }
            }
            _ => {}
        }
        Ok(())
    });
    match (operation.as_deref(), content) {
        (Some("enqueue"), Some((text, span))) => queued(text, &span, true, emit),
        (Some("popAll"), _) => emit.fact(Fact::Meta(Meta::QueueCleared)),
        _ => {}
    }
}

fn system<'r>(envelope: &Envelope<'r>, emit: &mut Emit<'_, 'r>) {
    let (mut subtype, mut content) = (None, None);
    let mut retracted = Vec::new();
    let _ = Skim::new(emit.record.bytes).object(|key, value| {
        match key.as_bytes() {
            b"subtype" => subtype = value.string().map(Raw::text),
            b"content" => content = value.string(),
            b"retractedMessageUuids" => value.array(|id| {
                retracted.extend(id.string().map(Raw::digest));
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    });
    if !retracted.is_empty() {
        emit.fact(Fact::Retract(retracted));
    }
    match subtype.as_deref() {
        Some("compact_boundary") => emit.fact(Fact::Boundary(Boundary::Compaction)),
        Some("microcompact_boundary") => emit.fact(Fact::Boundary(Boundary::MicroCompaction)),
        Some("api_error") => emit.fact(Fact::Notice(Notice::ApiError)),
        Some("stop_hook_summary") => {
            for hook in hooks::summary(emit.record, envelope.tool_use) {
                emit.fact(Fact::Hook(hook));
            }
        }
        None => {
            let text = content.map(|content| content.head(4000)).unwrap_or_default();
            if let Some(hook) = hooks::in_words(&text, envelope.tool_use) {
                emit.fact(Fact::Hook(hook));
            }
        }
        Some(_) => {}
    }
}

fn title(emit: &mut Emit<'_, '_>) {
    let mut leaf = None;
    let mut title = None;
    let _ = Skim::new(emit.record.bytes).object(|key, value| {
        match key.as_bytes() {
            b"leafUuid" => leaf = value.string().map(Raw::digest),
            b"summary" => title = value.string().map(|text| (TitleBy::Summary, text.head(HEAD))),
            b"aiTitle" => title = value.string().map(|text| (TitleBy::Model, text.head(HEAD))),
            b"agentName" => title = value.string().map(|text| (TitleBy::Agent, text.head(HEAD))),
            b"customTitle" => title = value.string().map(|text| (TitleBy::Person, text.head(HEAD))),
            _ => {}
        }
        Ok(())
    });
    match (title, leaf) {
        (Some((TitleBy::Summary, title)), Some(leaf)) => emit.fact(Fact::Meta(Meta::Summary { leaf, title })),
        (Some((by, title)), _) => emit.fact(Fact::Meta(Meta::Title(by, title))),
        (None, _) => {}
    }
}

fn place(emit: &mut Emit<'_, '_>) {
    let mut path = None;
    let _ = Skim::new(emit.record.bytes).object(|key, value| {
        match key.as_bytes() {
            b"relocatedCwd" => path = value.string().map(Raw::text),
            b"worktreeSession" => value.object(|key, value| {
                if key.as_bytes() == b"originalCwd" {
                    path = value.string().map(Raw::text);
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    });
    if let Some(path) = path {
        emit.fact(Fact::Meta(Meta::Project(path)));
    }
}
