//! A message as a row.

use super::blocks;
use super::text::line;
use crate::messages::{Message, Who};
use maud::{Markup, html};

/// Where a message stands.
#[derive(Default)]
pub(super) struct Around<'a> {
    /// What links lead to.
    pub(super) id: Option<&'a str>,
    /// When it was said.
    pub(super) time: Option<&'a str>,
    /// A heading above it says whose it is.
    pub(super) headed: bool,
    /// The conversation went on as if it had never been.
    pub(super) abandoned: bool,
    /// Where the rest of it is fetched from.
    pub(super) rest: Option<&'a str>,
}

/// A message. Its label is left out where a heading above it already says whose it is.
pub fn message_row(message: &Message, time: Option<&str>, headed: bool, abandoned: bool) -> Markup {
    let body = blocks::body(&message.body, &super::rows::placeless);
    drawn(message, &Around { time, headed, abandoned, ..Around::default() }, &body)
}

/// A message whose body is made.
pub(super) fn drawn(message: &Message, around: &Around<'_>, body: &Markup) -> Markup {
    let class = match message.who {
        Who::Person => "m-person",
        Who::Agent => "m-agent",
        Who::Model => "m-model",
        Who::Thought => "m-thought",
        Who::Program => "m-program",
        Who::Event => "m-event",
        Who::Trouble => "m-trouble bad",
    };
    let Around { id, time, headed, abandoned, rest } = *around;
    let labelled = !headed && !matches!(message.who, Who::Model) && !message.label.is_empty();
    html! {
        @if message.folded && !message.body.is_empty() {
            details class={ "row msg fold " (class) @if abandoned { " gone" } } id=[id] data-body=[rest] {
                summary title=[time] { span.label { (line(&message.label)) } span.gist { (line(&message.gist)) } }
                div.body { (body) }
            }
        } @else {
            div class={ "row msg " (class) @if abandoned { " gone" } } id=[id] data-body=[rest] tabindex="-1" title=[time.filter(|_| !headed)] {
                @if labelled { div.label { (line(&message.label)) } }
                @if message.body.is_empty() { div.gist { (line(&message.gist)) } }
                @else if rest.is_some() { div.body { (body) } }
                @else { (body) }
            }
        }
    }
}
