//! Update for an open page whose session has changed: the current sections, the rows of sections that it shows and that
//! differ, and the parts around them.
//!
//! Numbers of sections belong to a version. A section's key does not: it names the conversation and the section's position
//! in it. Its print, a hash, changes when any row of it looks different.

use super::chips::{self, ChipCounts, ChipSet};
use super::{SessionPageRequest, Window, page, rows};
use crate::render::html::about;
use serde::Serialize;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use tooltrail_model::book::Book;
use tooltrail_model::transcript::{CallEntry, Transcript};

/// State of the page in the browser, as it reports it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageState<'a> {
    /// The sections it shows, as it names them: keys and prints, `key:print,key:print`.
    pub sections: &'a str,
    /// The print of its outline.
    pub outline: &'a str,
}

/// Update to be sent to the page.
#[derive(Debug, Serialize)]
pub struct PageUpdate {
    v: String,
    calls: usize,
    title: String,
    state: String,
    about: String,
    chips: String,
    end: String,
    /// The outline and its print, if it changed.
    outline: Option<(String, String)>,
    sections: Vec<SectionEntry>,
    /// Rows of sections that are shown and have changed.
    rows: BTreeMap<String, String>,
}

/// A section: key, number, rows, counts for chips, height, turn, print, whether it stands on the page itself, marks. A tuple,
/// because a long session sends hundreds of them as JSON arrays.
#[derive(Debug, Serialize)]
struct SectionEntry(String, usize, usize, String, u32, Option<usize>, String, bool, Option<String>);

impl Window {
    /// Update for a page that shows an earlier version of the session.
    pub fn live(&self, book: &dyn Book, at: &SessionPageRequest<'_>, known: &PageState<'_>) -> PageUpdate {
        let transcript = book.transcript();
        let sections: Vec<SectionEntry> = (0..self.len()).map(|section| self.described(transcript, section)).collect();
        // `None` where the page does not show the section: then it fetches the rows when the reader gets there.
        let has = |SectionEntry(key, .., print, _, _): &SectionEntry| {
            known.sections.split(',').filter_map(|one| one.split_once(':')).find(|(own, _)| own == key).map(|(_, old)| old != print)
        };
        // Rendering opens records, so only sections on screen that differ are drawn.
        let changed = sections.iter().filter(|place| has(place) == Some(true));
        let rows = changed
            .map(|SectionEntry(key, section, ..)| {
                (key.clone(), rows::SectionRenderer { window: self, book, at }.section(*section).into_string())
            })
            .collect();
        let outline = page::outline(self, transcript, at).into_string();
        let print = printed(&outline);
        PageUpdate {
            v: format!("{:x}", at.version),
            calls: transcript.calls.len(),
            title: about::title(transcript),
            state: page::state(&transcript.session, at.now).into_string(),
            about: page::about_list(transcript, at).into_string(),
            chips: chips::bar(&self.total, ChipSet::read(at.show)).into_string(),
            end: page::end(transcript, at).into_string(),
            // The outline of a long session is large; its print saves sending it when only rows changed.
            outline: (print != known.outline).then_some((outline, print)),
            sections,
            rows,
        }
    }

    fn described(&self, transcript: &Transcript<'_>, section: usize) -> SectionEntry {
        let rows = self.plan.chunks.get(section).map_or(0, |chunk| chunk.rows.len());
        let counts = self.counts.get(section).map(ChipCounts::code).unwrap_or_default();
        let on_page = self.plan.chunks.get(section).is_some_and(|chunk| chunk.inside.is_none());
        let height = self.height(transcript, section);
        let print = self.print(transcript, section);
        let (key, turn) = (self.key(transcript, section), self.turn_at(transcript, section));
        SectionEntry(key, section, rows, counts, height, turn, print, on_page, self.marks(transcript, section))
    }

    /// The key of a section as written on its placeholder; sections of the main conversation have none there, because the
    /// script counts them.
    pub(super) fn said_key(&self, transcript: &Transcript<'_>, section: usize) -> Option<String> {
        let counted = self.plan.chunks.get(section).is_some_and(|chunk| chunk.thread == Some(0));
        (!counted).then(|| self.key(transcript, section))
    }

    /// Name of a section that stays the same in all versions.
    fn key(&self, transcript: &Transcript<'_>, section: usize) -> String {
        // Calls outside of conversations are always last, so their section number is stable enough.
        let Some(thread) = self.plan.chunks.get(section).and_then(|chunk| chunk.thread) else { return format!("loose-{section}") };
        let place = self.plan.of_thread.get(thread).and_then(|all| all.iter().position(|own| *own == section)).unwrap_or(0);
        if thread == 0 {
            return format!("main-{place}");
        }
        let known = transcript.threads.get(thread);
        let mut hasher = DefaultHasher::new();
        // A subagent's id is stable; a log without ids is identified by where its first record stands.
        match known.and_then(|thread| thread.agent.as_deref()) {
            Some(agent) => agent.hash(&mut hasher),
            None => known.and_then(|thread| thread.entries.first()).map(|entry| entry.spot).hash(&mut hasher),
        }
        format!("{:x}-{place}", hasher.finish())
    }

    /// Hash of everything that is visible in a section without opening its records.
    pub(super) fn print(&self, transcript: &Transcript<'_>, section: usize) -> String {
        let mut hasher = DefaultHasher::new();
        let chunk = self.plan.chunks.get(section);
        let entries = chunk.and_then(|chunk| transcript.threads.get(chunk.thread?)).map_or(&[][..], |thread| &thread.entries);
        for row in chunk.map_or(&[][..], |chunk| &chunk.rows) {
            if let super::PlanRow::Entry { entry, begins, .. } = row {
                begins.hash(&mut hasher);
                // Chips in a heading depend on rows of later sections, so they must be part of the hash.
                begins.and_then(|turn| self.has.get(turn)).and_then(|has| has.words()).hash(&mut hasher);
                if let Some(entry) = entries.get(*entry) {
                    (entry.spot, entry.part, entry.lines, entry.abandoned, entry.turn).hash(&mut hasher);
                }
            }
            if let Some((index, call)) = row.call().and_then(|call| Some((call, transcript.calls.get(call)?))) {
                self.print_call(transcript, index, call, &mut hasher);
            }
        }
        format!("{:x}", hasher.finish())
    }

    fn print_call(&self, transcript: &Transcript<'_>, index: usize, call: &CallEntry<'_>, hasher: &mut DefaultHasher) {
        let row = &call.row;
        (index, call.number, row.status, row.reason, row.duration_ms, row.run_ms, row.exit_code, row.parallel).hash(hasher);
        // Places of records: a result or a hook that arrives later changes the row even if its status stays.
        (&call.result, &call.ends, &call.hooks, &call.progress).hash(hasher);
        row.background.as_ref().map(|task| (format!("{:?}", task.state), task.exit_code)).hash(hasher);
        self.inside.get(index).and_then(|inside| inside.words()).hash(hasher);
        // A subagent's rows are in other sections, but its number of entries is shown on this row.
        for thread in &call.threads {
            transcript.threads.get(*thread).map(|thread| thread.entries.len()).hash(hasher);
        }
    }
}

/// Hash of a text.
fn printed(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:x}", hasher.finish())
}
