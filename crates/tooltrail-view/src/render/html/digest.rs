//! What a session amounts to, under its title: labels and facts; the calls that prove them are links.

use super::page::encoded;
use super::plan::Plan;
use super::text::line;
use crate::digest::{Fact, Piece, Proof, Row};
use crate::head::Tone;
use crate::line::neutral;
use maud::{Markup, html};

/// A digest.
pub(super) fn block(rows: &[Row], plan: &Plan) -> Markup {
    html! {
        @if !rows.is_empty() {
            dl.digest aria-label="What the session amounts to" {
                @for row in rows {
                    div {
                        dt { (row.label) }
                        @for each in &row.facts { (fact(each, plan)) }
                    }
                }
            }
        }
    }
}

fn fact(fact: &Fact, plan: &Plan) -> Markup {
    html! {
        dd.below[fact.below] {
            @if let Some((sign, tone)) = fact.sign { span.sign.(tone_class(tone)) aria-hidden="true" { (sign) } }
            span { @for piece in &fact.pieces {
                @match piece { Piece::Words(words) => { (line(words)) }, Piece::Call(proof) => { (call(proof, plan)) } }
            } }
        }
    }
}

/// A call: a link, if it is on the page.
fn call(proof: &Proof, plan: &Plan) -> Markup {
    let name = neutral(&proof.name);
    match plan.anchors.get(proof.index).filter(|_| plan.placed.get(proof.index) == Some(&true)) {
        Some(anchor) => html! { a href={ "#" (encoded(anchor)) } title={ "Call " (neutral(&proof.r#ref)) } { (name) } },
        None => html! { span.di { (name) } },
    }
}

fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Ok => "t-ok",
        Tone::Error => "t-error",
        Tone::Denied => "t-denied",
        Tone::Stopped | Tone::Missing => "t-stopped",
        Tone::Running => "t-running",
        Tone::Neutral | Tone::Muted => "t-muted",
    }
}
