//! Commands in two records: the line that was typed, and its output. They are shown as one.

use super::build::{PartPlace, PendingEntry};
use std::collections::HashMap;
use tooltrail_model::transcript::{EntryKind, Part};

/// The half of a command that a record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The command line.
    Line,
    /// The output.
    Output,
    /// Neither: an empty output, or a command without a name.
    Nothing,
}

impl Half {
    /// The half that a part is; `None` for a whole command and for anything else.
    pub(super) fn of(part: &Part) -> Option<Self> {
        let Part::Command { line, output } = part else { return None };
        let printed = output.as_deref().map(|output| !output.trim().is_empty());
        match (line.is_empty(), printed) {
            (false, None) => Some(Half::Line),
            (false, Some(_)) => None,
            (true, Some(true)) => Some(Half::Output),
            (true, _) => Some(Half::Nothing),
        }
    }
}

/// Joins each output to the command before it. Halves without words are dropped.
pub(super) fn joined(entries: Vec<PendingEntry>, outputs: &mut HashMap<PartPlace, PartPlace>) -> Vec<PendingEntry> {
    let mut out: Vec<PendingEntry> = Vec::with_capacity(entries.len());
    for found in entries {
        match found.half {
            Some(Half::Nothing) => {
                // It still ends the command, so that a later output is not attributed to it.
                waiting(&mut out).into_iter().for_each(|command| command.half = None);
                continue;
            }
            Some(Half::Output) => {
                if let Some(command) = waiting(&mut out) {
                    command.half = None;
                    command.entry.lines = command.entry.lines.saturating_add(found.entry.lines);
                    outputs.insert((command.entry.spot, command.entry.part), (found.entry.spot, found.entry.part));
                    continue;
                }
            }
            _ => {}
        }
        out.push(found);
    }
    out
}

/// The command that waits for its output. Only what the program puts in may stand between the two.
fn waiting(entries: &mut [PendingEntry]) -> Option<&mut PendingEntry> {
    const NEAR: usize = 16;
    let between = |found: &&mut PendingEntry| matches!(found.entry.what, EntryKind::Folded | EntryKind::Notice | EntryKind::Hook);
    // Bounded: an output far behind its command belongs to something else.
    entries.iter_mut().rev().take(NEAR).find(|found| !between(found)).filter(|found| found.half == Some(Half::Line))
}
