//! The changes of a session: which calls touched which files, and the replay of one file at a time.
//!
//! Calls are opened twice: once to see which files they are about, and again when a file is replayed, so that only the texts of one file
//! are in memory at a time. Files that a patch moved into each other are one group, because the text of one follows from the other's.

use super::effects::{self, FileEffect};
use super::moments;
use crate::transcript::SessionBook;
use std::collections::HashMap;
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::changes::net::{FileNet, net};
use tooltrail_model::changes::{Deed, Step, replay};

/// Which files a session changed, and how.
pub struct SessionChanges<'b, 'a> {
    book: &'b SessionBook<'a>,
    groups: ChangeGroups,
}

impl std::fmt::Debug for SessionChanges<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionChanges").field("groups", &self.groups).finish_non_exhaustive()
    }
}

/// Files of a session whose texts follow from each other, group by group, with the calls that concern them. No text is kept, so a page
/// can hold them for as long as its session is open.
#[derive(Debug, Default)]
pub struct ChangeGroups(Vec<FileGroup>);

/// Files whose texts follow from each other; mostly one.
#[derive(Debug, Default)]
struct FileGroup {
    paths: Vec<String>,
    /// The calls that concern them: the position in order of time, and the index of the call.
    calls: Vec<(usize, usize)>,
    /// The first call that changes one, in order of time.
    first: Option<usize>,
}

impl ChangeGroups {
    /// Finds out which calls concern which files.
    pub fn read(book: &SessionBook<'_>) -> Self {
        let calls = &book.transcript().calls;
        // Looked at in the log, without opening the call: most calls concern no file.
        let which = calls.iter().enumerate().filter(|(_, call)| effects::may_touch_files(call.row.kind, || book.raw(call.request).ok()));
        let which: Vec<usize> = which.map(|(index, _)| index).collect();
        let mut groups = FileGroups::default();
        for (order, (_, index)) in moments(calls, which).into_iter().enumerate() {
            for told in effects_of(book, index) {
                groups.add(&told, index, order);
            }
        }
        ChangeGroups(groups.end())
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps of one group, each with the index of its call in `Transcript::calls`. Its calls are opened for it.
    pub fn steps(&self, book: &SessionBook<'_>, group: usize) -> Vec<Step> {
        let Some(group) = self.0.get(group) else { return Vec::new() };
        let deeds = group.calls.iter().flat_map(|&(_, by)| {
            // A patch of many files is opened for each of its groups; keeping all texts in memory would cost more.
            let own = effects_of(book, by).into_iter().filter(|told| told.paths().any(|path| group.paths.iter().any(|own| own == path)));
            own.map(move |told| Deed { by, path: told.path, did: told.did }).collect::<Vec<_>>()
        });
        replay(deeds)
    }
}

impl<'b, 'a> SessionChanges<'b, 'a> {
    /// Finds out which calls concern which files.
    pub fn read(book: &'b SessionBook<'a>) -> Self {
        SessionChanges { book, groups: ChangeGroups::read(book) }
    }

    /// The net changes of the selected calls, a group of files at a time: mostly one file, several where files were moved.
    pub fn nets(&self, takes: impl Fn(usize) -> bool) -> impl Iterator<Item = Vec<FileNet>> {
        self.steps().map(move |steps| net(&steps, &takes)).filter(|files| !files.is_empty())
    }

    /// The steps of each group of files, each with the index of its call in `Transcript::calls`.
    pub fn steps(&self) -> impl Iterator<Item = Vec<Step>> {
        (0..self.groups.len()).map(|group| self.groups.steps(self.book, group))
    }
}

/// The effects of a call on files.
pub(super) fn effects_of(book: &dyn Book, index: usize) -> Vec<FileEffect> {
    match book.call(index) {
        Loaded::Call(story) => effects::of(&story.row, story.told),
        _ => Vec::new(),
    }
}

/// Groups while they are collected.
#[derive(Default)]
struct FileGroups {
    groups: Vec<FileGroup>,
    of: HashMap<String, usize>,
}

impl FileGroups {
    fn add(&mut self, told: &FileEffect, call: usize, order: usize) {
        let mut place: Option<usize> = None;
        for path in told.paths() {
            let own = *self.of.entry(path.to_owned()).or_insert_with(|| {
                self.groups.push(FileGroup { paths: vec![path.to_owned()], ..FileGroup::default() });
                self.groups.len() - 1
            });
            // A call that mentions paths of two groups, such as a move, merges them.
            place = Some(place.map_or(own, |place| self.join(place, own)));
        }
        if let Some(group) = place.and_then(|place| self.groups.get_mut(place)) {
            group.calls.push((order, call));
            if told.changes() {
                group.first = group.first.or(Some(order));
            }
        }
    }

    /// Makes one group of two.
    fn join(&mut self, one: usize, other: usize) -> usize {
        if one == other {
            return one;
        }
        // An empty group stays behind, so that the places of the others do not shift; `end` drops it.
        let Some(moved) = self.groups.get_mut(other).map(std::mem::take) else { return one };
        self.of.extend(moved.paths.iter().map(|path| (path.clone(), one)));
        if let Some(group) = self.groups.get_mut(one) {
            group.paths.extend(moved.paths);
            group.calls.extend(moved.calls);
            group.first = [group.first, moved.first].into_iter().flatten().min();
        }
        one
    }

    /// The groups in which something changed, by the first change.
    fn end(mut self) -> Vec<FileGroup> {
        // Files that were only read are no changes.
        self.groups.retain(|group| group.first.is_some());
        for group in &mut self.groups {
            group.calls.sort_unstable();
            group.calls.dedup();
        }
        self.groups.sort_by_key(|group| group.first);
        self.groups
    }
}
