//! The way to something on the page: which sections have to be brought, and which calls opened between them.

use super::super::plan::{Home, Row};
use super::Window;
use serde::Serialize;
use std::ops::ControlFlow;
use tooltrail_model::transcript::{Entry, Transcript};

/// What a row is.
#[derive(Clone, Copy, Debug)]
pub enum Found<'t> {
    /// A call, by its place in `Transcript::calls`.
    Call(usize),
    /// A message.
    Message(&'t Entry),
}

/// A step: a section, and the call in it that holds the next one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The section.
    pub rows: usize,
    /// What links to the call lead to.
    pub call: Option<String>,
}

impl Window {
    /// The way to what a link leads to: a call, a turn, a message, a conversation.
    pub fn way(&self, transcript: &Transcript<'_>, anchor: &str) -> Option<Vec<Step>> {
        self.way_to(self.section_of(transcript, anchor)?)
    }

    /// The way to a section.
    pub fn way_to(&self, section: usize) -> Option<Vec<Step>> {
        let mut way = vec![Step { rows: section, call: None }];
        let mut chunk = self.plan.chunks.get(section)?;
        // Conversations stand in conversations only so deep.
        while let Some(call) = chunk.inside {
            let (section, _) = self.places.get(call).copied().flatten()?;
            way.push(Step { rows: section, call: self.plan.anchors.get(call).cloned() });
            chunk = self.plan.chunks.get(section)?;
        }
        way.reverse();
        Some(way)
    }

    /// Goes through all rows in the order of the page, those of subagents where their call stands: section, row, and the call or message
    /// that it is. `take` may end it.
    pub fn walk<'t>(
        &self,
        transcript: &'t Transcript<'_>,
        take: &mut dyn FnMut(usize, usize, Found<'t>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.plan.roots().into_iter().try_for_each(|root| self.walk_in(transcript, root, take))
    }

    fn walk_in<'t>(
        &self,
        transcript: &'t Transcript<'_>,
        section: usize,
        take: &mut dyn FnMut(usize, usize, Found<'t>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(chunk) = self.plan.chunks.get(section) else { return ControlFlow::Continue(()) };
        let entries = chunk.thread.and_then(|thread| transcript.threads.get(thread)).map_or(&[][..], |thread| &thread.entries);
        for (place, row) in chunk.rows.iter().enumerate() {
            let Some(call) = row.call() else {
                if let Row::Entry { entry, .. } = row
                    && let Some(entry) = entries.get(*entry)
                {
                    take(section, place, Found::Message(entry))?;
                }
                continue;
            };
            take(section, place, Found::Call(call))?;
            for &thread in transcript.calls.get(call).map_or(&[][..], |call| &call.threads) {
                let here = self.plan.homes.get(thread) == Some(&Home::Call(call));
                let sections = self.plan.of_thread.get(thread).filter(|_| here).map_or(&[][..], |sections| sections);
                sections.iter().try_for_each(|&section| self.walk_in(transcript, section, take))?;
            }
        }
        ControlFlow::Continue(())
    }

    fn section_of(&self, transcript: &Transcript<'_>, anchor: &str) -> Option<usize> {
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
        let thread = anchor.strip_prefix('m')?.split('-').next()?.parse::<usize>().ok()?;
        let entries = &transcript.threads.get(thread)?.entries;
        let is_it = |row: &Row| matches!(row, Row::Entry { entry, call: None, .. } if entries.get(*entry).is_some_and(|entry| message(thread, entry) == anchor));
        self.plan
            .of_thread
            .get(thread)?
            .iter()
            .copied()
            .find(|&chunk| self.plan.chunks.get(chunk).is_some_and(|chunk| chunk.rows.iter().any(is_it)))
    }
}

/// What links to a message lead to: the line of its record stays what it is when a log grows.
pub(super) fn message(thread: usize, entry: &Entry) -> String {
    format!("m{thread}-{}-{}", entry.spot.at.line, entry.part)
}
