//! The facts of a scan: every type of record, dispatched. To teach the program a new type, add its name to [`KNOWN`] and, if it says
//! something about calls or the session, an arm to [`facts`].

use super::author::HEAD;
use super::message::BlockFamily;
use super::record::ClaudeRecord;
use super::{attached, calls, desktop, hooks, outcome, progress, prompts, usage};
use crate::{Record, Sink, worktrees};
use std::borrow::Cow;
use tooltrail_model::event::{
    Approval, BlockKind, Boundary, Context, Echo, Hook, Id, MessageBlock as BlockFact, Meta, Node, Notice, Origin, Prompt, Refusal, Role,
    TitleBy, WorktreeTest,
};
use tooltrail_model::{Event, Fact, Scope, Span, Time};
use tooltrail_skim::Raw;

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
    "isolation-latch",
    "dev-mods",
    "memory-mode",
    "observer-ref",
    "speculation-accept",
    "marble-origami-reset",
    "session-id",
    "api-request-shape",
    "api-request-blob",
    "api-request",
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

/// The fingerprints of a record's ids, which several of its facts have.
#[derive(Clone, Copy, Debug)]
struct RecordIds {
    own: Option<Id>,
    parent: Option<Id>,
}

/// Hands out the facts of one record.
pub(super) struct FactEmitter<'e, 'r> {
    pub(super) record: &'e Record<'r>,
    pub(super) time: Option<Time>,
    /// The offset in the record of what is being read, where that is a record inside it.
    pub(super) base: usize,
    ids: RecordIds,
    scope: &'e Scope<'r>,
    out: &'e mut Sink<'e>,
}

impl<'r> FactEmitter<'_, 'r> {
    pub(super) fn fact(&mut self, fact: Fact<'_>) {
        (self.out)(Event { at: self.record.at, time: self.time, scope: self.scope, fact });
    }

    pub(super) fn span(&self, inner: &std::ops::Range<usize>) -> Span {
        // Spans of a nested record are counted from its own start; the source needs them from the file's.
        self.record.span(inner.start + self.base..inner.end + self.base)
    }

    /// The record's number.
    pub(super) fn line(&self) -> u64 {
        self.record.at.line
    }

    pub(super) fn slice(&self, inner: &std::ops::Range<usize>) -> &'r [u8] {
        self.record.bytes.get(inner.start + self.base..inner.end + self.base).unwrap_or_default()
    }
}

/// Emits the facts of a record.
pub(super) fn facts(record: &ClaudeRecord<'_>, out: &mut Sink<'_>) {
    if desktop::facts(record, out) {
        return;
    }
    // Records of the main conversation may name an agent that was at work beside it.
    let agent = record.agent.filter(|_| !record.main).map(Raw::decoded_bytes);
    let scope = Scope { session: record.session.map(Raw::decoded_bytes), agent, sidechain: record.sidechain, ordinal: None };
    let (kind, known) = kind(record.kind);
    let ids = RecordIds { own: record.uuid.map(Raw::digest), parent: record.parent.map(Raw::digest) };
    let mut emit = FactEmitter { record: &record.record, time: record.time, base: 0, ids, scope: &scope, out };
    // First of all facts: the assembler counts records by it.
    emit.fact(Fact::Record { name: Cow::Borrowed(&kind), known });
    if record.hook_input().is_some() {
        return hook(hooks::input(record), &mut emit);
    }
    // The directory before the calls of the record, which take it over.
    context(record, &mut emit);
    node(record, &kind, &mut emit);
    match &*kind {
        "user" => user(record, &mut emit),
        "assistant" => assistant(record, &mut emit),
        "progress" => progress::facts(record, &mut emit),
        "attachment" if attached::facts(record, &mut emit) => {}
        "attachment" => match hooks::read(record) {
            Some(told) => hook(Some(told), &mut emit),
            None => prompts::attached(record, &mut emit),
        },
        "system" => system(record, &mut emit),
        "queue-operation" => prompts::queue(record, &mut emit),
        "summary" | "ai-title" | "custom-title" | "agent-name" => title(record, &mut emit),
        "worktree-state" | "relocated" => place(record, &mut emit),
        "continued-in" => {
            if let Some(session) = record.rare_text(|rare| rare.continued_in) {
                emit.fact(Fact::Meta(Meta::ContinuedIn(session)));
            }
        }
        "history-suppression" if record.rare_text(|rare| rare.cause).is_some_and(|cause| cause == "fork_inherit") => {
            emit.fact(Fact::Meta(Meta::Stub));
        }
        "api-request-shape" | "api-request-blob" | "api-request" => emit.fact(Fact::Private),
        _ => {}
    }
}

/// Emits a hook, and the refusal that made it run.
fn hook<'r>(hook: Option<Hook<'r>>, emit: &mut FactEmitter<'_, 'r>) {
    let Some(hook) = hook else { return };
    let refusal = hooks::refusal(&hook);
    emit.fact(Fact::Hook(Box::new(hook)));
    if let Some(refusal) = refusal {
        emit.fact(Fact::Refusal(refusal));
    }
}

fn context(record: &ClaudeRecord<'_>, emit: &mut FactEmitter<'_, '_>) {
    let approval = record.rare().and_then(|rare| rare.permission_mode).map(approval);
    if record.cwd.is_none() && record.branch.is_none() && approval.is_none() {
        return;
    }
    let cwd = record.cwd.map(Raw::decoded_bytes);
    let worktree = Some(WorktreeTest { place: worktrees::place, address: None });
    emit.fact(Fact::Context(Context { cwd, worktree, branch: record.branch.map(Raw::decoded_bytes), model: None, approval }));
}

/// Tools that wait for approval in a permission mode.
fn approval(mode: Raw<'_>) -> Approval {
    match &*mode.text() {
        "acceptEdits" => Approval::AnyButEdits,
        // Without a question a call runs, or it is refused.
        "bypassPermissions" | "dontAsk" => Approval::None,
        _ => Approval::Any,
    }
}

fn node(record: &ClaudeRecord<'_>, kind: &str, emit: &mut FactEmitter<'_, '_>) {
    let role = match kind {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "attachment" | "progress" => Role::Other,
        // Other records may carry an id, but are no place in the conversation.
        _ => return,
    };
    let Some(id) = emit.ids.own else { return };
    let hidden = record.meta || record.team;
    emit.fact(Fact::Node(Node { id, parent: emit.ids.parent, copy_of: record.forked_from.map(Raw::digest), role, hidden }));
    if !record.supersedes.is_empty() {
        emit.fact(Fact::Retract(record.supersedes.iter().map(|id| id.digest()).collect()));
    }
}

/// The record that a user record follows, or whose call it answers.
fn source(record: &ClaudeRecord<'_>, ids: RecordIds) -> Option<Id> {
    // Nearly always the same, and comparing them is quicker than another fingerprint.
    record.source_node.filter(|node| record.parent != Some(*node)).map(Raw::digest).or(ids.parent)
}

fn user<'r>(record: &ClaudeRecord<'r>, emit: &mut FactEmitter<'_, 'r>) {
    let content = &record.message.content;
    let results = content.results();
    let source = source(record, emit.ids);
    // Results before texts: a text beside a result is a reminder, which depends on there being one.
    for block in content.blocks() {
        // The structured companion belongs to one result; with several in a record, it is not clear to which.
        let structured = record.structured.as_ref().filter(|_| results == 1);
        if let Some(result) = calls::result(block, &record.message, structured, record.denial, record.feedback, source, emit) {
            calls::emit_result(result, structured, emit);
        }
    }
    // A refusal without a result.
    if let Some(denial) = record.denial.filter(|_| results == 0).and_then(|kind| outcome::denial_kind(&kind.text())) {
        let call = record.rare_text(|rare| rare.source_tool_use).or(record.tool_use.map(Raw::text));
        emit.fact(Fact::Refusal(Refusal { call, node: source, denial }));
    }
    // Before the texts: they say that the person stopped it, which the flag knows better.
    if record.rare().is_some_and(|rare| rare.shutdown) {
        emit.fact(Fact::Notice(Notice::Handover));
    }
    let speaker = record.speaker();
    if let Some((text, span)) = &content.text {
        prompts::words(*text, span, speaker.flags, results > 0, emit);
    }
    // A prompt may be nothing but a picture.
    if let Some(block) = content.wordless_media().filter(|_| !speaker.flags.injected) {
        let origin = if record.sidechain { Origin::Agent } else { Origin::Human };
        let span = emit.span(&block.span);
        emit.fact(Fact::Prompt(Prompt { origin, head: Cow::Borrowed(""), digest: emit.line(), span, echo: Echo::None }));
    }
    for block in content.blocks().filter(|block| block.tool_use_id.is_none() && !block.is_result()) {
        let span = emit.span(&block.span);
        let media = |kind| Fact::Block(BlockFact { message: None, kind, span });
        match (block.text, block.family) {
            (Some(text), _) => prompts::words(text, &block.span, speaker.flags, results > 0, emit),
            (None, BlockFamily::Image) => emit.fact(media(BlockKind::Image)),
            (None, BlockFamily::Document) => emit.fact(media(BlockKind::Document)),
            _ => {}
        }
    }
}

fn assistant<'r>(record: &ClaudeRecord<'r>, emit: &mut FactEmitter<'_, 'r>) {
    let message = &record.message;
    if record.api_error {
        emit.fact(Fact::Notice(Notice::ApiError));
    }
    let id = message.id.map(Raw::digest).or(emit.ids.own);
    // A message without an id is known by its line, so that its blocks still belong together.
    let speaks = Some(id.unwrap_or_else(|| emit.line()));
    usage::own(record, id, emit);
    if let Some((_, span)) = &message.content.text {
        emit.fact(Fact::Block(BlockFact { message: speaks, kind: BlockKind::Text, span: emit.span(span) }));
    }
    for block in message.content.blocks() {
        if let Some(call) = calls::call(block, message, speaks, record.request, emit.ids.own, emit) {
            emit.fact(Fact::Call(call));
        } else if let Some((result, _)) = calls::result(block, message, None, None, None, emit.ids.own, emit) {
            emit.fact(Fact::Result(result));
        } else {
            let kind = match block.family {
                BlockFamily::Text => BlockKind::Text,
                BlockFamily::Thinking => BlockKind::Thinking,
                BlockFamily::Image => BlockKind::Image,
                BlockFamily::Document => BlockKind::Document,
                BlockFamily::Call | BlockFamily::Result | BlockFamily::Other => BlockKind::Other,
            };
            emit.fact(Fact::Block(BlockFact { message: speaks, kind, span: emit.span(&block.span) }));
        }
    }
}

fn system<'r>(record: &ClaudeRecord<'r>, emit: &mut FactEmitter<'_, 'r>) {
    let rare = record.rare();
    let retracted = rare.map(|rare| rare.retracted.as_slice()).unwrap_or_default();
    if !retracted.is_empty() {
        emit.fact(Fact::Retract(retracted.iter().map(|id| id.digest()).collect()));
    }
    let retries = rare.and_then(|rare| rare.retry_attempt.zip(rare.max_retries));
    match record.rare_text(|rare| rare.subtype).as_deref() {
        Some("compact_boundary") => emit.fact(Fact::Boundary(Boundary::Compaction)),
        Some("microcompact_boundary") => emit.fact(Fact::Boundary(Boundary::MicroCompaction)),
        // An error that will be retried is no failure yet; the model is still at work.
        Some("api_error") if retries.is_some_and(|(attempt, attempts)| attempt < attempts) => {}
        // A refusal of the service ends the turn like a failure.
        Some("api_error" | "api_refusal") => emit.fact(Fact::Notice(Notice::ApiError)),
        Some("turn_duration") => emit.fact(Fact::Notice(Notice::TurnOver)),
        Some("stop_hook_summary") => {
            emit.fact(Fact::Notice(Notice::TurnOver));
            for hook in hooks::summary(record) {
                emit.fact(Fact::Hook(Box::new(hook)));
            }
        }
        Some("permission_denied") => {
            let denial = outcome::denied_by(record.rare_text(|rare| rare.denied_by).as_deref().unwrap_or_default());
            emit.fact(Fact::Refusal(Refusal { call: record.tool_use.map(Raw::text), node: None, denial }));
        }
        None => {
            // Bounded: only the sentence about a hook is needed, and it comes first.
            let text = record.content_text().map(|content| content.head(4000)).unwrap_or_default();
            if let Some(hook) = hooks::in_words(&text, record.tool_use) {
                emit.fact(Fact::Hook(Box::new(hook)));
            }
        }
        Some(_) => {}
    }
}

fn title(record: &ClaudeRecord<'_>, emit: &mut FactEmitter<'_, '_>) {
    let Some((by, title)) = record.rare().and_then(|rare| rare.title) else { return };
    let leaf = record.rare().and_then(|rare| rare.leaf).map(Raw::digest);
    let title = title.head(HEAD);
    emit.fact(Fact::Meta(match (by, leaf) {
        // A summary names the leaf of the conversation it is about, which may be in another file.
        (TitleBy::Summary, Some(leaf)) => Meta::Summary { leaf, title },
        (by, _) => Meta::Title(by, title),
    }));
}

fn place(record: &ClaudeRecord<'_>, emit: &mut FactEmitter<'_, '_>) {
    if let Some(path) = record.rare_text(|rare| rare.project) {
        emit.fact(Fact::Meta(Meta::Project(path)));
    }
}
