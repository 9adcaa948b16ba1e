//! Every type of record, dispatched. To teach the program a new type, add its name to [`KNOWN`] and, if it says something
//! about calls or the session, an arm to [`decode`].

use super::envelope::Envelope;
use super::message::Block;
use super::talk::{self, HEAD};
use super::{calls, hooks, progress};
use crate::{Record, Sink};
use std::borrow::Cow;
use tooltrail_model::event::{
    Block as BlockFact, BlockKind, Boundary, Context, Echo, Meta, Node, Notice, Origin, Prompt, Role, TitleBy, Usage,
};
use tooltrail_model::{Event, Fact, Scope, Span, Time};
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

pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// The type of a record, and whether it is known.
fn kind(spelled: Option<Raw<'_>>) -> (Cow<'_, str>, bool) {
    let Some(spelled) = spelled else { return (Cow::Borrowed("?"), false) };
    match KNOWN.iter().find(|name| spelled == ***name) {
        Some(known) => (Cow::Borrowed(known), true),
        None => (spelled.text(), false),
    }
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

    pub(super) fn span(&self, inner: &std::ops::Range<usize>) -> Span {
        self.record.span(inner.start + self.base..inner.end + self.base)
    }

    pub(super) fn slice(&self, inner: &std::ops::Range<usize>) -> &'r [u8] {
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
    let (kind, known) = kind(envelope.kind);
    let mut emit = Emit { record: &record, time: envelope.time, base: 0, scope: &scope, out };
    emit.fact(Fact::Record { name: Cow::Borrowed(&kind), known });
    context(&envelope, &mut emit);
    node(&envelope, &kind, &mut emit);
    match &*kind {
        "user" => user(&envelope, &mut emit),
        "assistant" => assistant(&envelope, &mut emit),
        "progress" => progress::decode(&envelope, &mut emit),
        "attachment" => match hooks::read(&envelope, &record) {
            Some(hook) => emit.fact(Fact::Hook(hook)),
            None => talk::attached(&envelope, &mut emit),
        },
        "system" => system(&envelope, &mut emit),
        "queue-operation" => talk::queue(&mut emit),
        "summary" | "ai-title" | "custom-title" | "agent-name" => title(&mut emit),
        "worktree-state" | "relocated" => place(&mut emit),
        _ => {}
    }
    Ok(envelope.depth)
}

fn context(envelope: &Envelope<'_>, emit: &mut Emit<'_, '_>) {
    if envelope.cwd.is_none() && envelope.branch.is_none() {
        return;
    }
    let cwd = envelope.cwd.map(Raw::decoded_bytes);
    // A worktree that the agent made belongs to the repository it was made in.
    let repository = cwd.as_deref().and_then(repository).map(|path| Cow::Owned(path.to_vec()));
    emit.fact(Fact::Context(Context { cwd, repository, branch: envelope.branch.map(Raw::decoded_bytes), model: None }));
}

/// The repository of a worktree that the agent made inside it.
fn repository(cwd: &[u8]) -> Option<&[u8]> {
    // Nearly no directory has a hidden part, so looking for a dot is quicker than looking for the whole mark.
    let mut dots = memchr::memchr_iter(b'.', cwd);
    let at = dots.find(|&at| {
        let made = cwd[at..].starts_with(b".claude/worktrees/") || cwd[at..].starts_with(b".claude\\worktrees\\");
        made && matches!(cwd[..at].last(), Some(b'/' | b'\\'))
    })?;
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
    let only = content.blocks().filter(|block| block.is_result()).count() == 1;
    for block in content.blocks() {
        // The structured companion belongs to one result; with several, nobody can say to which.
        let structured = envelope.structured.as_ref().filter(|_| only);
        let node = envelope.source_node.or(envelope.parent);
        if let Some(result) = calls::result(block, &envelope.message, structured, envelope.denial, envelope.feedback, node, emit) {
            results += 1;
            calls::emit_result(result, structured, emit);
        }
    }
    if let Some((text, span)) = &content.text {
        talk::words(*text, span, envelope, results > 0, emit);
    }
    // A prompt may be nothing but a picture.
    let shown = |block: &Block<'_>| block.kind.is_some_and(|kind| kind == *"image" || kind == *"document");
    let wordless = results == 0 && content.text.is_none() && content.blocks().all(|block| block.text.is_none());
    if let Some(block) = content.blocks().find(|block| shown(block)).filter(|_| wordless && !talk::injected(envelope)) {
        let origin = if envelope.sidechain { Origin::Agent } else { Origin::Human };
        let span = emit.span(&block.span);
        emit.fact(Fact::Prompt(Prompt { origin, head: Cow::Borrowed(""), digest: emit.record.at.line, span, echo: Echo::None }));
    }
    for block in content.blocks().filter(|block| block.tool_use_id.is_none() && !block.is_result()) {
        match (block.text, block.kind.map(Raw::text).as_deref()) {
            (Some(text), _) => talk::words(text, &block.span, envelope, results > 0, emit),
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

fn assistant<'r>(envelope: &Envelope<'r>, emit: &mut Emit<'_, 'r>) {
    let message = &envelope.message;
    if envelope.api_error {
        emit.fact(Fact::Notice(Notice::ApiError));
    }
    let id = message.id.or(envelope.uuid);
    let speaks = Some(id.map_or_else(|| emit.record.at.line, Raw::digest));
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
        // An advisor is another model that was asked within the message: a request of its own.
        for (number, (model, tokens)) in (1..).zip(&usage.advisors) {
            emit.fact(Fact::Usage(Usage {
                message: id.digest().rotate_left(number),
                request: envelope.request.map(Raw::digest),
                model: Some(model.decoded_bytes()),
                tokens: *tokens,
                server_tools: [0; 2],
                tier: None,
            }));
        }
    }
    if let Some((_, span)) = &message.content.text {
        emit.fact(Fact::Block(BlockFact { message: speaks, kind: BlockKind::Text, span: emit.span(span) }));
    }
    for block in message.content.blocks() {
        if let Some(mut call) = calls::call(block, message, envelope.request, envelope.uuid, emit) {
            call.message_id = speaks;
            emit.fact(Fact::Call(call));
        } else if let Some((result, _)) = calls::result(block, message, None, None, None, envelope.uuid, emit) {
            emit.fact(Fact::Result(result));
        } else {
            let kind = match block.kind.map(Raw::text).as_deref() {
                Some("text") | None => BlockKind::Text,
                Some("thinking" | "redacted_thinking") => BlockKind::Thinking,
                Some("image") => BlockKind::Image,
                Some("document") => BlockKind::Document,
                Some(_) => BlockKind::Other,
            };
            emit.fact(Fact::Block(BlockFact { message: speaks, kind, span: emit.span(&block.span) }));
        }
    }
}

fn system<'r>(envelope: &Envelope<'r>, emit: &mut Emit<'_, 'r>) {
    let (mut subtype, mut content) = (None, None);
    let (mut attempt, mut attempts) = (None, None);
    let mut retracted = Vec::new();
    let _ = Skim::new(emit.record.bytes).object(|key, value| {
        match key.as_bytes() {
            b"subtype" => subtype = value.string().map(Raw::text),
            b"content" => content = value.string(),
            b"retryAttempt" => attempt = value.uint(),
            b"maxRetries" => attempts = value.uint(),
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
        // What will be tried again has not failed yet; the model is still at work.
        Some("api_error") if attempt.zip(attempts).is_some_and(|(attempt, attempts)| attempt < attempts) => {}
        Some("api_error") => emit.fact(Fact::Notice(Notice::ApiError)),
        Some("turn_duration") => emit.fact(Fact::Notice(Notice::TurnOver)),
        Some("stop_hook_summary") => {
            emit.fact(Fact::Notice(Notice::TurnOver));
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
