//! Net changes: what a selection of steps, such as those of a session or a turn, changed in each file.
//!
//! A file's changes are one [`NetPart::Net`], from the text before the first of them to the text after the last, unless
//! something else changed it in between, or a text is unknown.

use super::{FileText, Moved, Step, Strength, unified};
use crate::patch::{Hunk, PatchLine};
use serde::{Deserialize, Serialize};

/// Net change to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNet {
    /// The file.
    pub path: String,
    /// The file that it was before.
    pub moved_from: Option<String>,
    /// The file that it became.
    pub moved_to: Option<String>,
    /// Parts of the change, in order.
    pub parts: Vec<NetPart>,
    /// Strength of the evidence for each call that changed it, in order.
    pub evidence: Vec<(usize, Strength)>,
}

/// Part of a net change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetPart {
    /// Changes whose first and last text are known.
    Net {
        /// The text before the first of them.
        before: FileText,
        /// The text after the last.
        after: FileText,
        /// The calls that made them; see `Deed::by`.
        by: Vec<usize>,
    },
    /// A change from outside of the selection.
    Outside {
        /// The text before.
        before: FileText,
        /// The text after.
        after: FileText,
        /// Others that are known to have changed it; empty if it happened outside of the logs.
        by: Vec<usize>,
        /// The last call before it.
        last: usize,
        /// The next call after it.
        next: usize,
    },
    /// A change whose text is not completely known.
    Pieces {
        /// The known hunks.
        hunks: Vec<Hunk>,
        /// The text after it, where only the one before is missing.
        after: FileText,
        /// Whether all of it is that the file moved, here or away, and no file is known to have been at the new path.
        moved: bool,
        /// The call that made it.
        by: usize,
    },
}

impl FileNet {
    /// All calls whose changes are in it, in order.
    pub fn by(&self) -> Vec<usize> {
        let mut all: Vec<usize> = Vec::new();
        let own = self.parts.iter().flat_map(|part| match part {
            NetPart::Net { by, .. } => by.as_slice(),
            NetPart::Pieces { by, .. } => std::slice::from_ref(by),
            NetPart::Outside { .. } => &[],
        });
        for &by in own {
            // A call may have changed the file in several parts.
            if !all.contains(&by) {
                all.push(by);
            }
        }
        all
    }

    /// The weakest evidence for any of its changes.
    pub fn strength(&self) -> Option<Strength> {
        self.evidence.iter().map(|(_, strength)| *strength).max()
    }

    /// Whether the file ended as it began, as far as all of it is known.
    pub fn is_back(&self) -> bool {
        let known = self.parts.iter().all(|part| matches!(part, NetPart::Net { .. }));
        known && self.ends().is_some_and(|(before, after)| before == after)
    }

    /// The first and the last text, where both are known.
    pub fn ends(&self) -> Option<(&FileText, &FileText)> {
        match (self.parts.first()?, self.parts.last()?) {
            (NetPart::Net { before, .. }, NetPart::Net { after, .. }) => Some((before, after)),
            _ => None,
        }
    }
}

/// A listed file, with a rename as one entry.
#[derive(Clone, Copy, Debug)]
pub enum ListedFile<'f> {
    /// A file.
    File(&'f FileNet),
    /// A file that was moved without any other change to the old name: the text before, and the text after. Both are
    /// known, or neither is.
    Renamed {
        /// Under its old name.
        old: &'f FileNet,
        /// Under its new one.
        new: &'f FileNet,
        /// The text before.
        before: &'f FileText,
        /// The text after.
        after: &'f FileText,
    },
}

impl<'f> ListedFile<'f> {
    /// The path that it is known by afterwards.
    pub fn path(self) -> &'f str {
        match self {
            ListedFile::File(file) => &file.path,
            ListedFile::Renamed { new, .. } => &new.path,
        }
    }

    /// Added and removed lines, without changes from outside. Hunks whose place is unknown count too.
    pub fn lines(self) -> (u64, u64) {
        let text = |known: &'f FileText| known.as_text().unwrap_or_default();
        let between = |before, after| count_lines(&unified::hunks(text(before), text(after)));
        let part = |part: &'f NetPart| match part {
            NetPart::Net { before, after, .. } => between(before, after),
            NetPart::Pieces { hunks, .. } => count_lines(hunks),
            NetPart::Outside { .. } => (0, 0),
        };
        match self {
            ListedFile::File(file) => file.parts.iter().map(part).fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1)),
            ListedFile::Renamed { before, after, .. } => between(before, after),
        }
    }

    /// Whether its diff is incomplete: it changed from outside, or the logs do not have all of its text.
    pub fn has_gap(self) -> bool {
        match self {
            ListedFile::File(file) => file.parts.iter().any(|part| !matches!(part, NetPart::Net { .. })),
            // All that a move leaves open is whether a file was at the new path.
            ListedFile::Renamed { .. } => false,
        }
    }

    /// Whether some of its lines came or went without the logs saying how many.
    fn has_unknown_lines(self) -> bool {
        let unknown = |part: &NetPart| matches!(part, NetPart::Pieces { hunks, moved: false, .. } if hunks.is_empty());
        matches!(self, ListedFile::File(file) if file.parts.iter().any(unknown))
    }
}

/// Added and removed lines of hunks.
pub fn count_lines(hunks: &[Hunk]) -> (u64, u64) {
    hunks.iter().flat_map(|hunk| &hunk.lines).fold((0, 0), |(added, removed), line| match line {
        PatchLine::Added(_) => (added + 1, removed),
        PatchLine::Removed(_) => (added, removed + 1),
        PatchLine::Same(_) => (added, removed),
    })
}

/// The size of one file's net change, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSize {
    /// The file, by its last name.
    pub path: String,
    /// Added and removed lines, as far as the logs have them.
    pub lines: (u64, u64),
    /// Whether there may be more lines than that.
    pub unknown: bool,
    /// Whether its diff is incomplete.
    pub gap: bool,
}

/// The size of the net change of several files: the one number that pages, digests and verdicts show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetSize {
    /// Number of changed files; a renamed file is one.
    pub files: u64,
    /// Added lines.
    pub added: u64,
    /// Removed lines.
    pub removed: u64,
    /// Number of files whose diff is incomplete.
    pub incomplete: u64,
}

impl NetSize {
    /// The sum of some files.
    pub fn of(files: &[FileSize]) -> Self {
        files.iter().fold(NetSize::default(), |sum, file| NetSize {
            files: sum.files + 1,
            added: sum.added + file.lines.0,
            removed: sum.removed + file.lines.1,
            incomplete: sum.incomplete + u64::from(file.gap),
        })
    }
}

/// The sizes of net changes, in the order in which their files are listed.
pub fn sizes(files: &[FileNet]) -> Vec<FileSize> {
    let size = |file: ListedFile<'_>| FileSize {
        path: file.path().to_owned(),
        lines: file.lines(),
        unknown: file.has_unknown_lines(),
        gap: file.has_gap(),
    };
    listed(files).into_iter().map(size).collect()
}

/// Files as they are listed: two names of one file become one entry.
pub fn listed(files: &[FileNet]) -> Vec<ListedFile<'_>> {
    let other = |path: &Option<String>| files.iter().find(|file| path.as_ref() == Some(&file.path));
    let mut out = Vec::with_capacity(files.len());
    for file in files {
        match (other(&file.moved_to), other(&file.moved_from)) {
            (Some(new), None) => out.push(renamed(file, new).unwrap_or(ListedFile::File(file))),
            // Listed under its old name already.
            (None, Some(old)) if renamed(old, file).is_some() => {}
            // Also a file that was moved here and then moved on.
            _ => out.push(ListedFile::File(file)),
        }
    }
    out
}

fn renamed<'f>(old: &'f FileNet, new: &'f FileNet) -> Option<ListedFile<'f>> {
    let paired = old.moved_to.as_ref() == Some(&new.path) && new.moved_from.as_ref() == Some(&old.path);
    let once = old.moved_from.is_none() && new.moved_to.is_none();
    // Otherwise there is more to show than the move.
    let (before, after) = (left(old)?, arrived(new)?);
    // A text known under one name only is no rename: its diff would need the other.
    let alike = before.is_known() == after.is_known();
    (paired && once && alike).then_some(ListedFile::Renamed { old, new, before, after })
}

/// The text with which a file left its old name, if it did nothing else under it.
fn left(old: &FileNet) -> Option<&FileText> {
    match &*old.parts {
        [NetPart::Net { before: before @ FileText::Text(_), after: FileText::Absent, .. }] => Some(before),
        [NetPart::Pieces { after: FileText::Absent, moved: true, .. }] => Some(&FileText::Unknown),
        _ => None,
    }
}

/// The last text of a file under its new name, if it began there with the move and all later changes follow from it.
fn arrived(new: &FileNet) -> Option<&FileText> {
    match &*new.parts {
        [NetPart::Net { before: FileText::Absent, after: after @ FileText::Text(_), .. }] => Some(after),
        [NetPart::Pieces { after, moved: true, .. }] if *after != FileText::Absent => Some(after),
        [NetPart::Pieces { after: there, moved: true, .. }, NetPart::Net { before, after: after @ FileText::Text(_), .. }]
            if there == before =>
        {
            Some(after)
        }
        _ => None,
    }
}

/// Sums up the steps that `takes` selects, file by file, in the order of their first change.
pub fn net(steps: &[Step], takes: impl Fn(usize) -> bool) -> Vec<FileNet> {
    let mut files: Vec<Summing<'_>> = Vec::new();
    for step in steps {
        let taken = step.changes && takes(step.by);
        let place = files.iter().position(|file| file.path == step.path);
        match place.and_then(|place| files.get_mut(place)) {
            Some(file) => file.take(step, taken),
            // Steps before the first selected one do not matter: its text before has their effect.
            None if taken => files.push(Summing::begin(step)),
            None => {}
        }
    }
    files.into_iter().map(Summing::end).collect()
}

/// A file that is being summed up.
struct Summing<'s> {
    path: &'s str,
    parts: Vec<NetPart>,
    evidence: Vec<(usize, Strength)>,
    moved_from: Option<String>,
    moved_to: Option<String>,
    /// The last selected step.
    last: &'s Step,
    /// Steps since then that were not selected.
    others: Vec<usize>,
    /// Whether the file changed since then from outside.
    outside: bool,
}

impl<'s> Summing<'s> {
    fn begin(step: &'s Step) -> Self {
        let (moved_from, moved_to) = (None, None);
        let (parts, evidence, others) = (Vec::new(), Vec::new(), Vec::new());
        let mut file = Summing { path: &step.path, parts, evidence, moved_from, moved_to, last: step, others, outside: false };
        file.add(step, false);
        file
    }

    fn take(&mut self, step: &'s Step, taken: bool) {
        self.outside |= step.outside;
        if !taken {
            // A step that only saw the file changed nothing, but may have revealed a change from outside.
            self.others.extend(step.changes.then_some(step.by));
            return;
        }
        let (before, after) = (&self.last.after, &step.before);
        // Equal texts follow even if something happened in between: it was undone.
        let follows = before.is_known() && before == after;
        let by = std::mem::take(&mut self.others);
        let known = before.is_known() && after.is_known();
        // Two unknown texts are no evidence of a change from outside.
        if !follows && (self.outside || !by.is_empty() || known) {
            let (before, after) = (before.clone(), after.clone());
            self.parts.push(NetPart::Outside { before, after, by, last: self.last.by, next: step.by });
        }
        self.add(step, follows);
        self.outside = false;
    }

    /// Adds a step. `follows` says whether it starts from where the last one ended.
    fn add(&mut self, step: &'s Step, follows: bool) {
        if !self.evidence.contains(&(step.by, step.strength)) {
            self.evidence.push((step.by, step.strength));
        }
        match &step.moved {
            Some(Moved::From(path)) => self.moved_from = Some(path.clone()),
            Some(Moved::To(path)) => self.moved_to = Some(path.clone()),
            None => {}
        }
        match self.parts.last_mut() {
            // An unknown text cannot be part of a net change, so the step stands alone.
            _ if !step.before.is_known() || !step.after.is_known() => {
                // A file that is known to be replaced is more than a move: no rename would put it there.
                let moved = step.moved.is_some() && step.hunks.is_empty() && step.before.as_text().is_none();
                self.parts.push(NetPart::Pieces { hunks: step.hunks.clone(), after: step.after.clone(), moved, by: step.by });
            }
            Some(NetPart::Net { after, by, .. }) if follows => {
                *after = step.after.clone();
                by.push(step.by);
            }
            _ => self.parts.push(NetPart::Net { before: step.before.clone(), after: step.after.clone(), by: vec![step.by] }),
        }
        self.last = step;
    }

    fn end(self) -> FileNet {
        FileNet {
            path: self.path.to_owned(),
            moved_from: self.moved_from,
            moved_to: self.moved_to,
            parts: self.parts,
            evidence: self.evidence,
        }
    }
}
