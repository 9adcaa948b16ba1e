//! Finds the path to something on the page: which sections have to be loaded, and which calls opened between them.

use super::super::plan::{PlanRow, ThreadHome};
use super::Window;
use serde::Serialize;
use std::ops::ControlFlow;
use tooltrail_model::transcript::{Entry, Transcript};

/// A row: a call or a message.
#[derive(Clone, Copy, Debug)]
pub enum FoundRow<'t> {
    /// A call, by its place in `Transcript::calls`.
    Call(usize),
    /// A message.
    Message(&'t Entry),
}

/// One step of a path: a section, and the call in it that holds the next section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathStep {
    /// The section.
    pub rows: usize,
    /// Anchor of the call.
    pub call: Option<String>,
}

impl Window {
    /// Path to the target of a link: a call, a turn, a message, a conversation.
    pub fn way(&self, transcript: &Transcript<'_>, anchor: &str) -> Option<Vec<PathStep>> {
        self.way_to(self.section_of(transcript, anchor)?)
    }

    /// Path to a section.
    pub fn way_to(&self, section: usize) -> Option<Vec<PathStep>> {
        let mut way = vec![PathStep { rows: section, call: None }];
        let mut chunk = self.plan.chunks.get(section)?;
        // Ends, because the plan limits how deep conversations are nested.
        while let Some(call) = chunk.inside {
            let (section, _) = self.places.get(call).copied().flatten()?;
            way.push(PathStep { rows: section, call: self.plan.anchors.get(call).cloned() });
            chunk = self.plan.chunks.get(section)?;
        }
        // Collected from the inside out; the page opens them from the outside in.
        way.reverse();
        Some(way)
    }

    /// Visits all rows in the order of the page, those of subagents after the call that started them, with section, row,
    /// and the call or message. `take` may end it.
    pub fn walk<'t>(
        &self,
        transcript: &'t Transcript<'_>,
        take: &mut dyn FnMut(usize, usize, FoundRow<'t>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.plan.roots().into_iter().try_for_each(|root| self.walk_in(transcript, root, take))
    }

    fn walk_in<'t>(
        &self,
        transcript: &'t Transcript<'_>,
        section: usize,
        take: &mut dyn FnMut(usize, usize, FoundRow<'t>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(chunk) = self.plan.chunks.get(section) else { return ControlFlow::Continue(()) };
        let entries = chunk.thread.and_then(|thread| transcript.threads.get(thread)).map_or(&[][..], |thread| &thread.entries);
        for (place, row) in chunk.rows.iter().enumerate() {
            let Some(call) = row.call() else {
                if let PlanRow::Entry { entry, .. } = row
                    && let Some(entry) = entries.get(*entry)
                {
                    take(section, place, FoundRow::Message(entry))?;
                }
                continue;
            };
            take(section, place, FoundRow::Call(call))?;
            // Only in its home, so that a thread claimed by two calls is visited once.
            for &thread in transcript.calls.get(call).map_or(&[][..], |call| &call.threads) {
                let here = self.plan.homes.get(thread) == Some(&ThreadHome::Call(call));
                let sections = self.plan.of_thread.get(thread).filter(|_| here).map_or(&[][..], |sections| sections);
                sections.iter().try_for_each(|&section| self.walk_in(transcript, section, take))?;
            }
        }
        ControlFlow::Continue(())
    }

    fn section_of(&self, transcript: &Transcript<'_>, anchor: &str) -> Option<usize> {
        // Ids first: an id may look like any of the names below.
        if let Some(call) = self.plan.anchors.iter().position(|known| known == anchor) {
            return self.places.get(call).copied().flatten().map(|(section, _)| section);
        }
        if let Some(turn) = anchor.strip_prefix("turn-") {
            return self.section_of_turn(turn.parse::<usize>().ok()?.checked_sub(1)?);
        }
        if let Some(thread) = anchor.strip_prefix("thread-") {
            return self.plan.of_thread.get(thread.parse::<usize>().ok()?)?.first().copied();
        }
        self.section_of_message(transcript, anchor)
    }

    fn section_of_message(&self, transcript: &Transcript<'_>, anchor: &str) -> Option<usize> {
        // `m<thread>-<line>-<part>`, as written by [`message`].
        let thread = anchor.strip_prefix('m')?.split('-').next()?.parse::<usize>().ok()?;
        let entries = &transcript.threads.get(thread)?.entries;
        let is_it = |row: &PlanRow| matches!(row, PlanRow::Entry { entry, call: None, .. } if entries.get(*entry).is_some_and(|entry| message(thread, entry) == anchor));
        self.plan
            .of_thread
            .get(thread)?
            .iter()
            .copied()
            .find(|&chunk| self.plan.chunks.get(chunk).is_some_and(|chunk| chunk.rows.iter().any(is_it)))
    }
}

/// Anchor of a message. It names the line of its record, which stays the same when a log grows.
pub(super) fn message(thread: usize, entry: &Entry) -> String {
    format!("m{thread}-{}-{}", entry.spot.at.line, entry.part)
}
