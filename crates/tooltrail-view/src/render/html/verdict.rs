//! The verdict on a session at the head of its page: a strip of two lines, each part a link to what proves it.

use super::about::PageClock;
use super::digest::{Address, tone_class};
use crate::line::neutral;
use crate::verdict::{VerdictPart, VerdictStrip, tone};
use maud::{Markup, html};
use tooltrail_model::session_verdict::VerdictColor;

/// A strip; of a session that has other views, if the address of its page is given.
pub(super) fn strip(strip: &VerdictStrip, address: Address<'_>, page: Option<&str>, clock: PageClock<'_>) -> Markup {
    let color = tone_class(tone(strip.state));
    html! {
        section.verdict-strip.(color) aria-label=(spoken(strip.state)) {
            @for line in [&strip.first, &strip.second] {
                @if !line.is_empty() { p { @for each in line { (part(each, address, page, clock)) " " } } }
            }
        }
    }
}

/// The colour in words, for readers who do not see it.
fn spoken(state: VerdictColor) -> &'static str {
    match state {
        VerdictColor::Red => "Verdict: failed",
        VerdictColor::Amber => "Verdict: not proved",
        VerdictColor::Green => "Verdict: passed",
        VerdictColor::Grey => "Verdict: nothing to judge",
    }
}

fn part(part: &VerdictPart, address: Address<'_>, page: Option<&str>, clock: PageClock<'_>) -> Markup {
    let call = part.proof.as_ref().and_then(|proof| address(proof.index));
    let view = || Some(format!("{}{}", page?, part.view?));
    let time = part.at.map(|time| clock.said(time));
    let proof = part.proof.as_ref().map(|proof| proof.r#ref.clone());
    // A time or a reference alone is better than nothing, so each of them may be missing.
    let title: Vec<String> = [part.command.clone(), time, proof].into_iter().flatten().map(|text| neutral(&text).into_owned()).collect();
    let title = Some(title.join(" · ")).filter(|title| !title.is_empty());
    // Text of a log stays text: maud escapes it, `neutral` shows control characters.
    let words = html! {
        @if !part.label.is_empty() { span.di { (part.label) } " " }
        @if !part.sign.is_empty() { span.sign aria-hidden="true" { (part.sign) } " " }
        span.words { (neutral(&part.text)) }
    };
    let class = format!("part {}", tone_class(part.tone));
    html! {
        @match call.or_else(view) {
            Some(address) => a class=(class) href=(address) title=[title] { (words) },
            None => span class=(class) title=[title] { (words) },
        }
    }
}
