//! The outline: a line for each turn of a session.

use super::call::bad;
use crate::cut::short;
use crate::head::counted;
use crate::line::neutral;
use maud::{Markup, html};
use tooltrail_model::transcript::{Transcript, Turn};

/// A turn with the number of its calls and of its problems.
pub(super) struct TurnOutline<'a> {
    /// Its place in `Transcript::turns`.
    pub(super) index: usize,
    turn: &'a Turn,
    calls: u64,
    wrong: u64,
}

/// The turns of a session.
pub(super) fn turns<'a>(transcript: &'a Transcript<'_>) -> Vec<TurnOutline<'a>> {
    let told = |(index, turn)| TurnOutline { index, turn, calls: 0, wrong: 0 };
    let mut turns: Vec<TurnOutline<'_>> = transcript.turns.iter().enumerate().map(told).collect();
    // A script counts once, as in the session's totals.
    for call in transcript.calls.iter().filter(|call| !call.row.is_inner()) {
        if let Some(turn) = call.turn.and_then(|turn| turns.get_mut(turn)) {
            turn.calls += 1;
            turn.wrong += u64::from(bad(call.row.status));
        }
    }
    turns
}

/// A turn as a line that leads to it, with so many letters of its prompt.
pub(super) fn item(told: &TurnOutline<'_>, address: &str, letters: usize) -> Markup {
    let turn = told.turn;
    html! {
        li.gone[turn.abandoned] {
            a href=(address) {
                span.n { (told.index + 1) }
                // A turn may begin with a picture or a command, which leaves no text for the outline.
                span.p { @if turn.head.trim().is_empty() { "…" } @else { (neutral(&short(&turn.head, letters))) } }
                span.c {
                    @if told.calls > 0 { (counted(told.calls, "call")) }
                    @if told.wrong > 0 { span.no { (counted(told.wrong, "problem")) } }
                    @if turn.abandoned { span.tag { "abandoned" } }
                }
            }
        }
    }
}
