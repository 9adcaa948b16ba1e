//! Marks of a section for the map beside the scroll bar: where prompts, problems and subagents are, as short text that the script draws.

use super::super::call::bad;
use super::super::plan::PlanRow;
use super::Window;
use std::fmt::Write;
use tooltrail_model::transcript::{EntryKind, Transcript};

/// A session with more rows than this has no marks, so that its page stays small.
const ROWS: usize = 20_000;

impl Window {
    /// The marks of a section that stands on the page itself, as `p0f12s40`: prompts, problems, subagents, places where the history was
    /// summarised, each with its row.
    pub(super) fn marks(&self, transcript: &Transcript<'_>, section: usize) -> Option<String> {
        let chunk = self.plan.chunks.get(section).filter(|chunk| chunk.inside.is_none())?;
        let entries = chunk.thread.and_then(|thread| transcript.threads.get(thread)).map_or(&[][..], |thread| &thread.entries);
        let rows: usize = self.plan.chunks.iter().map(|chunk| chunk.rows.len()).sum();
        // The script takes the counts of chips instead.
        if rows > ROWS {
            return None;
        }
        let mut marks = String::new();
        for (at, row) in chunk.rows.iter().enumerate() {
            let call = row.call().and_then(|index| Some((index, transcript.calls.get(index)?)));
            let inside = call.and_then(|(index, _)| self.inside.get(index)).is_some_and(|inside| !inside.is_empty());
            let what = if let PlanRow::Entry { entry, .. } = row { entries.get(*entry).map(|entry| entry.what) } else { None };
            // A row has one mark; a problem comes first, because readers look for it.
            let mark = match (what, call) {
                (_, Some((_, call))) if bad(call.row.status) || inside => 'f',
                (_, Some((_, call))) if !call.threads.is_empty() => 's',
                (Some(EntryKind::Prompt), _) if chunk.thread == Some(0) => 'p',
                (Some(EntryKind::Boundary), _) => 'c',
                _ => continue,
            };
            _ = write!(marks, "{mark}{at}");
        }
        (!marks.is_empty()).then_some(marks)
    }
}
