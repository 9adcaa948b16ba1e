//! Prompts and answers, turn by turn.

use super::super::text::inert;
use super::{ANSWERS, PROMPTS};
use crate::cut::short;
use crate::head::counted;
use crate::render::{walk, words};
use crate::{Book, Loaded, Selection};
use std::collections::BTreeSet;
use tooltrail_model::transcript::{EntryKind, Part};

/// The most bytes of a prompt or an answer that are looked at.
const READ: usize = 8_000;

/// A turn with its prompt, its last answer and its calls.
#[derive(Default)]
pub(super) struct TurnSummary {
    turn: usize,
    prompt: String,
    answer: String,
    calls: u64,
    bad: u64,
    abandoned: bool,
}

/// Turns of the selection, in order.
pub(super) fn turns(book: &dyn Book, selection: &Selection) -> Vec<TurnSummary> {
    let transcript = book.transcript();
    let mut turns: Vec<TurnSummary> = transcript
        .turns
        .iter()
        .enumerate()
        // The head of a turn stands in for its prompt until that is loaded, and stays if it cannot be.
        .map(|(turn, told)| TurnSummary { turn, prompt: words(&told.head), abandoned: told.abandoned, ..TurnSummary::default() })
        .collect();
    let mut last = vec![None; turns.len()];
    let mut heard = BTreeSet::new();
    for entry in transcript.threads.first().map_or(&[][..], |thread| &thread.entries) {
        // Only the main conversation: a subagent's texts are part of a call.
        let Some(turn) = entry.turn.filter(|turn| *turn < turns.len() && selection.takes(entry)) else { continue };
        match entry.what {
            // Only the first prompt of a turn; others were typed while the agent worked.
            EntryKind::Prompt | EntryKind::Command if heard.insert(turn) => {
                let said = spoken(&book.open(entry));
                turns.get_mut(turn).filter(|_| !said.is_empty()).into_iter().for_each(|asked| asked.prompt.clone_from(&said));
            }
            // Remembered and not opened yet: only the last text of a turn is its answer.
            EntryKind::Text => last.get_mut(turn).into_iter().for_each(|last| *last = Some(entry)),
            _ => {}
        }
    }
    for (asked, entry) in turns.iter_mut().zip(last) {
        asked.answer = entry.map(|entry| spoken(&book.open(entry))).unwrap_or_default();
    }
    // A call in a script is a part of the script's.
    for call in transcript.calls.iter().filter(|call| !call.row.is_inner()) {
        if let Some(asked) = call.turn.and_then(|turn| turns.get_mut(turn)) {
            asked.calls += 1;
            asked.bad += u64::from(walk::is_bad(call.row.status));
        }
    }
    // After counting, because indexes into `turns` must match the transcript until here.
    turns.retain(|asked| selection.takes_turn(Some(asked.turn)));
    turns
}

/// Text of a prompt or an answer as plain words.
fn spoken(loaded: &Loaded<'_>) -> String {
    let text = match loaded {
        Loaded::Part(Part::Prompt { text, .. } | Part::Text(text)) => text,
        Loaded::Part(Part::Command { line, .. }) => line,
        _ => return String::new(),
    };
    let longest = PROMPTS[0].max(ANSWERS[0]);
    // Cut before parsing: a prompt may be megabytes long, and only its beginning is shown.
    short(&words(&text[..text.floor_char_boundary(READ)]), longest)
}

/// A turn as an item of a list.
pub(super) fn asked(turn: &TurnSummary, prompt: usize, answer: usize) -> String {
    let abandoned = if turn.abandoned { " *(abandoned)*" } else { "" };
    let said = Some(short(&turn.prompt, prompt)).filter(|said| !said.is_empty()).unwrap_or_else(|| "…".to_owned());
    let mut text = format!("{}. {}{abandoned}\n", turn.turn + 1, inert(&said));
    if answer > 0 && !turn.answer.is_empty() {
        text += &format!("   - Answer: {}\n", inert(&short(&turn.answer, answer)));
    }
    if turn.calls > 0 {
        let bad = if turn.bad > 0 { format!(", {}", counted(turn.bad, "problem")) } else { String::new() };
        text += &format!("   - {}{bad}\n", counted(turn.calls, "call"));
    }
    text
}
