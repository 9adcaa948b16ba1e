//! Texts for the model: prompts, also those typed while it was at work, and notifications that travel like prompts.

use super::author::{self, Author, HEAD, TextFlags, author};
use super::facts::FactEmitter;
use super::message::MessageContent;
use super::record::{ClaudeRecord, member};
use super::tasks;
use std::borrow::Cow;
use std::ops::Range;
use tooltrail_model::Fact;
use tooltrail_model::event::{Claim, ClaimBy, Echo, Meta, Origin, Prompt, TaskNews};
use tooltrail_skim::{Raw, Skim};

/// A text of a user record: a prompt, a sign, a notification.
pub(super) fn words<'r>(text: Raw<'r>, span: &Range<usize>, flags: TextFlags, beside_result: bool, emit: &mut FactEmitter<'_, 'r>) {
    let head = text.head(HEAD);
    if head.trim_start().starts_with("<task-notification>") {
        let whole = text.text();
        // A notification is never a prompt, also where it cannot be read.
        if let Some(news) = tasks::notification(&whole) {
            emit_news(news, emit);
        }
        return;
    }
    if head.trim_start().starts_with("<system-reminder>") && head.contains("Background Bash ") {
        let whole = text.text();
        // The reminder may come with a person's words, which are looked at below.
        tasks::reminded(&whole).for_each(|news| emit.fact(Fact::Task(news)));
    }
    let authored = author(text, flags);
    match authored.author {
        Author::Sign(notice) => emit.fact(Fact::Notice(notice)),
        // Reminders travel with results; a prompt does not.
        Author::Words(Origin::Human | Origin::Command) if beside_result => {}
        Author::Words(origin) => {
            let head = match origin {
                // A command is shown as it was typed, without its tags.
                Origin::Command => author::command(authored.own()).map(Cow::Owned),
                _ => None,
            };
            let head = head.unwrap_or_else(|| Cow::Borrowed(beginning(authored.own())));
            emit.fact(Fact::Prompt(Prompt { origin, head, digest: text.digest(), span: emit.span(span), echo: Echo::None }));
        }
    }
}

/// The first characters of a text.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEAD)]
}

fn emit_news(news: TaskNews<'_>, emit: &mut FactEmitter<'_, '_>) {
    if let (Some(agent), Some(call)) = (news.id.clone(), news.call.clone()) {
        emit.fact(Fact::Claim(Claim { agent, call, by: ClaimBy::Notification }));
    }
    emit.fact(Fact::Task(news));
}

/// The first text of a message, and where it stands.
fn first_text<'r>(content: &MessageContent<'r>) -> Option<(Raw<'r>, Range<usize>)> {
    let of_blocks = || content.blocks().find_map(|block| Some((block.text?, block.span.clone())));
    content.text.clone().or_else(of_blocks)
}

/// A prompt that waited while the model was at work, from an attachment or a queue record.
#[derive(Debug, Default)]
pub(super) struct QueuedPrompt<'r> {
    pub(super) content: MessageContent<'r>,
    /// The offset in the record that its spans are counted from.
    base: usize,
    /// Whether a person typed it. Other modes and origins are the program's.
    pub(super) human: bool,
}

impl<'r> QueuedPrompt<'r> {
    /// The prompt of an attachment that is a `queued_command`.
    pub(super) fn attached(record: &ClaudeRecord<'r>) -> Option<Self> {
        let inner = record.attachment.clone()?;
        let mut out = QueuedPrompt { base: inner.start, human: true, ..QueuedPrompt::default() };
        let (mut queued, mut prompt) = (false, false);
        let read = Skim::new(record.slice(&inner)).object(|key, value| {
            match key.as_bytes() {
                b"type" => queued = value.string().is_some_and(|kind| kind == *"queued_command"),
                b"prompt" => {
                    prompt = true;
                    // A repeated key replaces the content instead of adding to it.
                    out.content = MessageContent::default();
                    out.content.read(value)?;
                }
                b"commandMode" => out.human &= value.string().is_none_or(|mode| mode == *"prompt"),
                b"isMeta" => out.human &= value.bool() != Some(true),
                b"origin" => out.human &= member(value, b"kind")?.is_none_or(|kind| kind == *"human"),
                _ => {}
            }
            Ok(())
        });
        (read.is_ok() && queued && prompt).then_some(out)
    }

    /// The prompt that a queue record adds or removes.
    pub(super) fn queued(record: &ClaudeRecord<'r>) -> Option<Self> {
        let span = record.rare()?.content.clone()?;
        let mut out = QueuedPrompt { base: span.start, human: true, ..QueuedPrompt::default() };
        out.content.read(&mut Skim::new(record.slice(&span))).ok()?;
        Some(out)
    }

    /// The flags for its texts.
    pub(super) fn flags(&self) -> TextFlags {
        TextFlags { injected: !self.human, sidechain: false }
    }
}

/// Emits the prompt of an attachment. Other attachments matter only to readers.
pub(super) fn attached<'r>(record: &ClaudeRecord<'r>, emit: &mut FactEmitter<'_, 'r>) {
    if let Some(waiting) = QueuedPrompt::attached(record) {
        queued(&waiting, emit);
    }
}

/// A prompt that was typed while the model was at work, or a notification that travelled the same way.
fn queued<'r>(waiting: &QueuedPrompt<'r>, emit: &mut FactEmitter<'_, 'r>) {
    let Some((text, span)) = first_text(&waiting.content) else { return };
    let whole = text.text();
    // Tasks report their end through the queue as well.
    if let Some(news) = tasks::notification(&whole) {
        return emit_news(news, emit);
    }
    let authored = author(text, waiting.flags());
    if authored.author == Author::Words(Origin::Human) {
        let head = Cow::Borrowed(beginning(authored.own()));
        let span = emit.span(&(waiting.base + span.start..waiting.base + span.end));
        emit.fact(Fact::Prompt(Prompt { origin: Origin::Queued, head, digest: text.digest(), span, echo: Echo::None }));
    }
}

/// Emits the facts of a queue record: a queued prompt may never appear elsewhere.
pub(super) fn queue<'r>(record: &ClaudeRecord<'r>, emit: &mut FactEmitter<'_, 'r>) {
    let absorbed = record.rare_text(|rare| rare.reason).is_some_and(|reason| reason.starts_with("absorbed"));
    match (record.rare_text(|rare| rare.operation).as_deref(), QueuedPrompt::queued(record)) {
        (Some("enqueue"), Some(waiting)) => queued(&waiting, emit),
        // Taken out of the queue to be handed to the model, or taken back by the person.
        (Some("remove"), Some(waiting)) if !absorbed => {
            if let Some((text, _)) = first_text(&waiting.content) {
                emit.fact(Fact::Meta(Meta::Unqueued(text.digest())));
            }
        }
        (Some("popAll"), _) => emit.fact(Fact::Meta(Meta::QueueCleared)),
        _ => {}
    }
}
