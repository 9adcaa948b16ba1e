//! A message as a row.

use super::blocks;
use super::text::line;
use crate::messages::{Message, Who};
use maud::{Markup, html};

/// A message. Its label is left out where a heading above it already says whose it is.
pub fn message_row(message: &Message, time: Option<&str>, headed: bool, abandoned: bool) -> Markup {
    let class = match message.who {
        Who::Person => "m-person",
        Who::Agent => "m-agent",
        Who::Model => "m-model",
        Who::Thought => "m-thought",
        Who::Program => "m-program",
        Who::Event => "m-event",
        Who::Trouble => "m-trouble bad",
    };
    let labelled = !headed && !matches!(message.who, Who::Model) && !message.label.is_empty();
    let body = blocks::body(&message.body, &super::rows::placeless);
    html! {
        @if message.folded && !message.body.is_empty() {
            details class={ "row msg fold " (class) @if abandoned { " gone" } } {
                summary title=[time] { span.label { (line(&message.label)) } span.gist { (line(&message.gist)) } }
                div.body { (body) }
            }
        } @else {
            div class={ "row msg " (class) @if abandoned { " gone" } } tabindex="-1" title=[time.filter(|_| !headed)] {
                @if labelled { div.label { (line(&message.label)) } }
                @if message.body.is_empty() { div.gist { (line(&message.gist)) } } @else { (body) }
            }
        }
    }
}
