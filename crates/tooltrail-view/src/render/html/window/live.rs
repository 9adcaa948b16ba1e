//! What a page that is open has to learn when its session has changed: which sections there are now, the rows of those that it shows
//! and that are not as they were, and what stands around them.
//!
//! Numbers of sections belong to a version. A section's key does not: it says whose conversation it is part of, and the how manieth part.
//! Its print tells whether any row of it looks otherwise.

use super::chips::{self, Counts, Set};
use super::{At, Window, page, rows};
use crate::render::html::about;
use serde::Serialize;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use tooltrail_model::book::Book;
use tooltrail_model::transcript::{CallEntry, Transcript};

/// What a page knows already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The sections it shows, as it names them: keys and prints, `key:print,key:print`.
    pub sections: &'a str,
    /// The print of its outline.
    pub outline: &'a str,
}

/// What it has to learn.
#[derive(Debug, Serialize)]
pub struct Live {
    v: String,
    calls: usize,
    title: String,
    state: String,
    about: String,
    chips: String,
    end: String,
    /// The outline and its print, where it is not as it was.
    outline: Option<(String, String)>,
    sections: Vec<Place>,
    /// The rows of sections that are shown and not as they were.
    rows: BTreeMap<String, String>,
}

/// A section: key, number, rows, what they have for chips, height, turn, print, whether it stands on the page itself.
#[derive(Debug, Serialize)]
struct Place(String, usize, usize, String, u32, Option<usize>, String, bool);

impl Window {
    /// What a page has to learn that shows the session as it was.
    pub fn live(&self, book: &dyn Book, at: &At<'_>, known: &Known<'_>) -> Live {
        let transcript = book.transcript();
        let sections: Vec<Place> = (0..self.len()).map(|section| self.described(transcript, section)).collect();
        let has = |Place(key, .., print, _): &Place| {
            known.sections.split(',').filter_map(|one| one.split_once(':')).find(|(own, _)| own == key).map(|(_, old)| old != print)
        };
        let changed = sections.iter().filter(|place| has(place) == Some(true));
        let rows = changed
            .map(|Place(key, section, ..)| (key.clone(), rows::Rows { window: self, book, at }.section(*section).into_string()))
            .collect();
        let outline = page::outline(self, transcript, at).into_string();
        let print = printed(&outline);
        Live {
            v: format!("{:x}", at.version),
            calls: transcript.calls.len(),
            title: about::title(transcript),
            state: page::state(&transcript.session, at.now).into_string(),
            about: page::about_list(transcript, at).into_string(),
            chips: chips::bar(&self.total, Set::read(at.show)).into_string(),
            end: page::end(transcript, at).into_string(),
            outline: (print != known.outline).then_some((outline, print)),
            sections,
            rows,
        }
    }

    fn described(&self, transcript: &Transcript<'_>, section: usize) -> Place {
        let rows = self.plan.chunks.get(section).map_or(0, |chunk| chunk.rows.len());
        let counts = self.counts.get(section).map(Counts::code).unwrap_or_default();
        let on_page = self.plan.chunks.get(section).is_some_and(|chunk| chunk.inside.is_none());
        let height = self.height(transcript, section);
        let print = self.print(transcript, section);
        Place(self.key(transcript, section), section, rows, counts, height, self.turn_at(transcript, section), print, on_page)
    }

    /// The key of a section as its place on the page says it: those of the main conversation are counted there.
    pub(super) fn said_key(&self, transcript: &Transcript<'_>, section: usize) -> Option<String> {
        let counted = self.plan.chunks.get(section).is_some_and(|chunk| chunk.thread == Some(0));
        (!counted).then(|| self.key(transcript, section))
    }

    /// What a section is called in all versions.
    fn key(&self, transcript: &Transcript<'_>, section: usize) -> String {
        let Some(thread) = self.plan.chunks.get(section).and_then(|chunk| chunk.thread) else { return format!("loose-{section}") };
        let place = self.plan.of_thread.get(thread).and_then(|all| all.iter().position(|own| *own == section)).unwrap_or(0);
        if thread == 0 {
            return format!("main-{place}");
        }
        let known = transcript.threads.get(thread);
        let mut hasher = DefaultHasher::new();
        match known.and_then(|thread| thread.agent.as_deref()) {
            Some(agent) => agent.hash(&mut hasher),
            None => known.and_then(|thread| thread.entries.first()).map(|entry| entry.spot).hash(&mut hasher),
        }
        format!("{:x}-{place}", hasher.finish())
    }

    /// Tells whether any row of a section looks otherwise than before.
    pub(super) fn print(&self, transcript: &Transcript<'_>, section: usize) -> String {
        let mut hasher = DefaultHasher::new();
        let chunk = self.plan.chunks.get(section);
        let entries = chunk.and_then(|chunk| transcript.threads.get(chunk.thread?)).map_or(&[][..], |thread| &thread.entries);
        for row in chunk.map_or(&[][..], |chunk| &chunk.rows) {
            if let super::Row::Entry { entry, begins, .. } = row {
                begins.hash(&mut hasher);
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
        (&call.result, &call.ends, &call.hooks).hash(hasher);
        row.background.as_ref().map(|task| (format!("{:?}", task.state), task.exit_code)).hash(hasher);
        self.inside.get(index).and_then(|inside| inside.words()).hash(hasher);
        for thread in &call.threads {
            transcript.threads.get(*thread).map(|thread| thread.entries.len()).hash(hasher);
        }
    }
}

/// Tells texts apart.
fn printed(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:x}", hasher.finish())
}
