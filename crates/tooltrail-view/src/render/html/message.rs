//! A message as a row.

use super::blocks;
use super::text::line;
use crate::messages::{MessageAuthor, MessageView};
use maud::{Markup, html};

/// Position and presentation of a message's row.
#[derive(Default)]
pub(super) struct MessageFrame<'a> {
    /// Anchor that links lead to.
    pub(super) id: Option<&'a str>,
    /// Time of the message.
    pub(super) time: Option<&'a str>,
    /// A heading above it says whose it is.
    pub(super) headed: bool,
    /// The conversation went on as if it had never been.
    pub(super) abandoned: bool,
    /// Address that the rest of the message is fetched from.
    pub(super) rest: Option<&'a str>,
    /// The line that stands for it, if it is part of a run that is folded.
    pub(super) quiet: Option<&'a str>,
}

/// A message. Its label is left out where a heading above it already says whose it is.
pub fn message_row(message: &MessageView, time: Option<&str>, headed: bool, abandoned: bool) -> Markup {
    let body = blocks::body(&message.body, &super::rows::placeless);
    drawn(message, &MessageFrame { time, headed, abandoned, ..MessageFrame::default() }, &body)
}

/// A message whose body is made.
pub(super) fn drawn(message: &MessageView, around: &MessageFrame<'_>, body: &Markup) -> Markup {
    let class = match message.who {
        MessageAuthor::Person => "m-person",
        MessageAuthor::Agent => "m-agent",
        MessageAuthor::Model => "m-model",
        MessageAuthor::Thought => "m-thought",
        MessageAuthor::Program => "m-program",
        MessageAuthor::Event => "m-event",
        MessageAuthor::Trouble => "m-trouble bad",
    };
    let MessageFrame { id, time, headed, abandoned, rest, quiet } = *around;
    // The model's own text is the default voice of a transcript and needs no label.
    let labelled = !headed && !matches!(message.who, MessageAuthor::Model) && !message.label.is_empty();
    html! {
        // Without a body there is nothing to unfold, so the row is a plain block.
        @if message.folded && !message.body.is_empty() {
            details class={ "row msg fold " (class) @if abandoned { " gone" } @if quiet.is_some() { " q" } } id=[id] data-body=[rest] data-q=[quiet] {
                summary title=[time] { span.label { (line(&message.label)) } span.gist { (line(&message.gist)) } }
                div.body { (body) }
            }
        } @else {
            div class={ "row msg " (class) @if abandoned { " gone" } @if quiet.is_some() { " q" } } data-q=[quiet] id=[id] data-body=[rest] tabindex="-1" title=[time.filter(|_| !headed)] {
                @if labelled { div.label { (line(&message.label)) } }
                @if message.body.is_empty() { div.gist { (line(&message.gist)) } }
                // The script replaces `.body` when the rest arrives; a complete message needs no such wrapper.
                @else if rest.is_some() { div.body { (body) } }
                @else { (body) }
            }
        }
    }
}
