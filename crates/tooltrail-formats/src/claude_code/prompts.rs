//! Texts for the model: prompts, also those typed while it was at work, and notifications that travel like prompts.

use super::author::{Author, HEAD, TextFlags, author};
use super::commands;
use super::facts::FactEmitter;
use super::message::MessageContent;
use super::record::{ClaudeRecord, member};
use super::tasks::{self, BegunTask};
use std::borrow::Cow;
use std::ops::Range;
use tooltrail_model::Fact;
use tooltrail_model::event::{Claim, ClaimBy, Echo, Meta, Notice, Origin, Prompt, TaskNews};
use tooltrail_skim::{Raw, Skim};

/// A text of a user record: a prompt, a sign, a notification.
pub(super) fn words<'r>(text: Raw<'r>, span: &Range<usize>, flags: TextFlags, beside_result: bool, emit: &mut FactEmitter<'_, 'r>) {
    let head = text.head(HEAD);
    if tasks::is_notification(&head) {
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
        Author::Words(Origin::Human | Origin::Command | Origin::Local) if beside_result => {}
        Author::Words(origin) => {
            if commands::is_output(authored.own()) {
                emit.fact(Fact::Notice(Notice::CommandRan));
            }
            let head = match origin {
                // A command is shown as it was typed, without its tags.
                Origin::Command | Origin::Local => commands::read(authored.own()).map(|command| Cow::Owned(command.line)),
                _ => None,
            };
            let head = head.unwrap_or_else(|| Cow::Borrowed(beginning(named_after(authored.own()))));
            emit.fact(Fact::Prompt(Prompt { origin, head, digest: text.digest(), span: emit.span(span), echo: Echo::None }));
        }
    }
}

/// The words of a prompt that a session is named after. The program writes the first line of a prompt that hands over a plan.
fn named_after(own: &str) -> &str {
    let plan = own.strip_prefix("Implement the following plan:").map(|plan| plan.trim_start_matches(['#', ' ', '\n', '\r']));
    plan.filter(|plan| !plan.is_empty()).unwrap_or(own)
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

    /// What it is, where it is no prompt.
    pub(super) fn item(&self) -> Option<QueuedItem> {
        first_text(&self.content).and_then(|(text, _)| QueuedItem::of(&text.text()))
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

/// The content of a queue record that is no prompt; `None` for words and for notifications.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum QueuedItem {
    /// A task of the program that begins, and the call that it belongs to.
    Task(BegunTask),
    /// A slash command, as typed. It gets a record of its own when it runs.
    Command(String),
}

impl QueuedItem {
    pub(super) fn of(text: &str) -> Option<Self> {
        let task = tasks::begun(text).map(QueuedItem::Task);
        task.or_else(|| commands::is_typed(text).then(|| QueuedItem::Command(text.trim().to_owned())))
    }
}

/// Emits the facts of a queue record: a queued prompt may never appear elsewhere.
pub(super) fn queue<'r>(record: &ClaudeRecord<'r>, emit: &mut FactEmitter<'_, 'r>) {
    let waiting = QueuedPrompt::queued(record);
    let text = waiting.as_ref().and_then(|waiting| first_text(&waiting.content)).map(|(text, _)| text);
    match record.rare_text(|rare| rare.operation).as_deref() {
        Some("enqueue") => match waiting.as_ref().and_then(QueuedPrompt::item) {
            Some(QueuedItem::Task(BegunTask { id, call: Some(call) })) => {
                emit.fact(Fact::Claim(Claim { agent: id.into(), call: call.into(), by: ClaimBy::Notification }));
            }
            Some(_) => {}
            None => waiting.iter().for_each(|waiting| queued(waiting, emit)),
        },
        Some("remove") if !is_handed_over(record) => {
            text.into_iter().for_each(|text| emit.fact(Fact::Meta(Meta::Unqueued(text.digest()))));
        }
        Some("remove" | "absorb") => emit.fact(Fact::Meta(Meta::Delivered(text.map(Raw::digest)))),
        // The person took all of them back to edit them.
        Some("popAll") => emit.fact(Fact::Meta(Meta::QueueCleared)),
        _ => {}
    }
}

/// Whether a prompt was removed from the queue because the model or an agent got it. Before 2.1.246 no reason is given for that.
fn is_handed_over(record: &ClaudeRecord<'_>) -> bool {
    let reason = record.rare_text(|rare| rare.reason);
    reason.is_none_or(|reason| ["absorbed", "delivered"].iter().any(|word| reason.starts_with(word)))
}
