//! The digest under a session's title: labels and facts; the calls that prove them are links.

use super::text::line;
use crate::digest::{DigestFact, DigestRow, FactPart, Proof};
use crate::head::Tone;
use crate::line::neutral;
use maud::{Markup, html};

/// Address of a call of the transcript; `None` where the call is not on the page.
pub(super) type Address<'a> = &'a dyn Fn(usize) -> Option<String>;

/// The views of a session that show all of what a row says in short.
const VIEWS: &[(&str, &str, &str)] = &[("Changes", "/changes", "All changes"), ("Time", "/waterfall", "Waterfall")];

/// A digest; of a session that has a page, if its address is given.
pub(super) fn block(rows: &[DigestRow], address: Address<'_>, page: Option<&str>) -> Markup {
    // An exported page has no other views, so its labels are no links.
    let view = |label: &str| page.zip(VIEWS.iter().find(|(of, ..)| *of == label));
    html! {
        @if !rows.is_empty() {
            dl.digest aria-label="Summary" {
                @for row in rows {
                    div {
                        dt { @match view(row.label) {
                            Some((page, (_, view, about))) => a href={ (page) (view) } title=(about) { (row.label) },
                            None => (row.label),
                        } }
                        @for each in &row.facts { (fact(each, address)) }
                    }
                }
            }
        }
    }
}

fn fact(fact: &DigestFact, address: Address<'_>) -> Markup {
    html! {
        dd.below[fact.below] {
            @if let Some((sign, tone)) = fact.sign { span.sign.(tone_class(tone)) aria-hidden="true" { (sign) } }
            // Words and links alternate within one sentence, so no space is added between pieces.
            span { @for piece in &fact.pieces {
                @match piece { FactPart::Words(words) => { (line(words)) }, FactPart::Call(proof) => { (call(proof, address)) } }
            } }
        }
    }
}

/// A call: a link, if it is on the page.
fn call(proof: &Proof, address: Address<'_>) -> Markup {
    let name = neutral(&proof.name);
    match address(proof.index) {
        Some(address) => html! { a href=(address) title={ "Call " (neutral(&proof.r#ref)) } { (name) } },
        None => html! { span.di { (name) } },
    }
}

pub(super) fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Ok => "t-ok",
        Tone::Error => "t-error",
        Tone::Denied => "t-denied",
        // Stopped and missing share a look; their signs and words differ.
        Tone::Stopped | Tone::Missing => "t-stopped",
        Tone::Running => "t-running",
        Tone::Neutral | Tone::Muted => "t-muted",
    }
}
