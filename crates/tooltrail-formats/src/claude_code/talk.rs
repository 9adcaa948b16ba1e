//! What is said to the model: prompts, also those typed while it was at work, and notifications that travel like prompts.

use super::envelope::Envelope;
use super::prompt::{self, Said};
use super::records::Emit;
use super::tasks;
use std::borrow::Cow;
use std::ops::Range;
use tooltrail_model::Fact;
use tooltrail_model::event::{Claim, ClaimBy, Echo, Meta, Origin, Prompt, TaskNews};
use tooltrail_skim::{Raw, Skim, Torn};

/// How much of a prompt is decoded for titles.
pub(super) const HEAD: usize = 400;

/// A text of a user record: a prompt, a sign, a notification.
pub(super) fn words<'r>(text: Raw<'r>, span: &Range<usize>, envelope: &Envelope<'r>, beside_result: bool, emit: &mut Emit<'_, 'r>) {
    let head = text.head(HEAD);
    if head.trim_start().starts_with("<task-notification>") {
        let whole = text.text();
        if let Some(news) = tasks::notification(&whole) {
            emit_news(news, emit);
        }
        return;
    }
    if head.trim_start().starts_with("<system-reminder>") && head.contains("Background Bash ") {
        let whole = text.text();
        tasks::reminded(&whole).for_each(|news| emit.fact(Fact::Task(news)));
    }
    let injected = injected(envelope);
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
            emit.fact(Fact::Prompt(Prompt { origin, head, digest: text.digest(), span: emit.span(span), echo: Echo::None }));
        }
    }
}

/// Whether the flags of a record say that the program wrote its text.
pub(super) fn injected(envelope: &Envelope<'_>) -> bool {
    let foreign = envelope.origin.is_some_and(|origin| origin != *"human");
    envelope.meta || envelope.compact_summary || envelope.transcript_only || foreign || envelope.team
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

/// A text, or the first text of a list of blocks, and where it stands.
fn text_of<'r>(value: &mut Skim<'r>) -> Result<Option<(Raw<'r>, Range<usize>)>, Torn> {
    value.peek();
    let start = value.position();
    let mut found = value.string().map(|text| (text, start..value.position()));
    if found.is_none() {
        value.array(|item| {
            let start = item.position();
            item.object(|key, value| {
                if key.as_bytes() == b"text" && found.is_none() {
                    found = value.string().map(|text| (text, start..value.position()));
                }
                Ok(())
            })
        })?;
    }
    Ok(found)
}

/// An attachment that carries a prompt: `queued_command`. Others say nothing that is needed here.
pub(super) fn attached<'r>(envelope: &Envelope<'r>, emit: &mut Emit<'_, 'r>) {
    let Some(inner) = envelope.inner.clone() else { return };
    let (mut kind, mut prompt, mut human) = (None, None, true);
    let read = Skim::new(emit.slice(&inner)).object(|key, value| {
        match key.as_bytes() {
            b"type" => kind = value.string(),
            b"prompt" => prompt = text_of(value)?,
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
        queued(text, &(inner.start + span.start..inner.start + span.end), human, emit);
    }
}

/// A prompt that was typed while the model was at work, or a notification that travelled the same way.
fn queued<'r>(text: Raw<'r>, span: &Range<usize>, human: bool, emit: &mut Emit<'_, 'r>) {
    let whole = text.text();
    if let Some(news) = tasks::notification(&whole) {
        return emit_news(news, emit);
    }
    let (said, own) = prompt::classify(&whole, prompt::Flags { injected: !human, sidechain: false });
    if said == Said::Words(Origin::Human) {
        let head = Cow::Borrowed(beginning(own));
        emit.fact(Fact::Prompt(Prompt { origin: Origin::Queued, head, digest: text.digest(), span: emit.span(span), echo: Echo::None }));
    }
}

/// A record of the queue: what is put in may never appear elsewhere.
pub(super) fn queue(emit: &mut Emit<'_, '_>) {
    let (mut operation, mut content, mut absorbed) = (None, None, false);
    let _ = Skim::new(emit.record.bytes).object(|key, value| {
        match key.as_bytes() {
            b"operation" => operation = value.string().map(Raw::text),
            b"content" => content = text_of(value)?,
            b"reason" => absorbed = value.string().is_some_and(|reason| reason.text().starts_with("absorbed")),
            _ => {}
        }
        Ok(())
    });
    match (operation.as_deref(), content) {
        (Some("enqueue"), Some((text, span))) => queued(text, &span, true, emit),
        // Taken out of the queue to be handed to the model, or taken back by the person.
        (Some("remove"), Some((text, _))) if !absorbed => emit.fact(Fact::Meta(Meta::Unqueued(text.digest()))),
        (Some("popAll"), _) => emit.fact(Fact::Meta(Meta::QueueCleared)),
        _ => {}
    }
}
