//! The replay: statements in order of time become steps, each with the text before and after. Only this file decides what
//! is known.
//!
//! A statement of the whole text settles it, whatever was known before. A statement of a change is applied to the known
//! text, if it fits; where it does not, the file changed from outside, and its text is unknown until a statement gives it
//! again.

use super::fit::{self, Trust};
use super::shell_replay::{self, ShellResult};
use super::{Deed, Did, FileOp, FileText, How, Moved, ShellChange, Step};
use crate::detail::{Edit, Write};
use crate::patch::{FileChange, FilePatch, PatchLine};
use crate::{Map, Set};

/// Replays statements in the given order. Files that were moved to each other's names belong into one replay.
pub fn replay(deeds: impl IntoIterator<Item = Deed>) -> Vec<Step> {
    let mut replay = Replay::default();
    for deed in deeds {
        replay.take(deed);
    }
    replay.steps
}

#[derive(Default)]
struct Replay {
    /// Current knowledge of each file.
    now: Map<String, FileText>,
    steps: Vec<Step>,
}

/// Effect of a statement on one file.
#[derive(Clone)]
pub(super) struct Done {
    pub(super) before: FileText,
    pub(super) after: FileText,
    pub(super) how: How,
    pub(super) replayed: bool,
    pub(super) outside: bool,
}

impl Replay {
    fn take(&mut self, deed: Deed) {
        let now = self.now.get(&deed.path).cloned().unwrap_or_default();
        let Deed { by, path, did } = deed;
        let blank = Step {
            by,
            path: path.clone(),
            before: FileText::Unknown,
            after: FileText::Unknown,
            how: How::Edited,
            replayed: false,
            changes: true,
            outside: false,
            hunks: Vec::new(),
            moved: None,
            strength: did.strength(),
        };
        match did {
            Did::Saw(text, how) => {
                let outside = now.is_known() && now != text;
                self.put(blank, Done { before: text.clone(), after: text, how, replayed: false, outside }, |step| step.changes = false);
            }
            Did::Wrote(write) => {
                let done = wrote(&now, &write);
                self.put(blank, done, |step| step.hunks = write.hunks);
            }
            Did::Edited(edit) => {
                let done = edited(&now, &edit);
                self.put(blank, done, |step| step.hunks = pieces(edit));
            }
            Did::Unclear => {
                self.put(blank, Done { before: now, after: FileText::Unknown, how: How::Edited, replayed: true, outside: false }, |_| {})
            }
            Did::Patched(patch) => self.patched(blank, &now, patch),
            Did::Ran(change) => self.ran(blank, &now, *change),
            Did::Doubted => {
                let done = Done { before: now, after: FileText::Unknown, how: How::Edited, replayed: true, outside: false };
                self.put(blank, done, |step| step.changes = false);
            }
            Did::Printed(text) => self.put(blank, shell_replay::printed(&now, &text), |step| step.changes = false),
        }
    }

    fn put(&mut self, blank: Step, done: Done, more: impl FnOnce(&mut Step)) {
        let Done { before, after, how, replayed, outside } = done;
        self.now.insert(blank.path.clone(), after.clone());
        let mut step = Step { before, after, how, replayed, outside, ..blank };
        more(&mut step);
        self.steps.push(step);
    }

    /// A change by a command: of one file, or of the two names of a file that is moved.
    fn ran(&mut self, blank: Step, now: &FileText, change: ShellChange) {
        let counts = change.counts;
        let moves_onto_nothing = matches!(change.op, Some(FileOp::Patch(_)));
        let arrival = change.arrival.clone();
        let to = match &change.op {
            Some(FileOp::Move { to }) => Some(to.clone()),
            Some(FileOp::Patch(patch)) => patch.moved_to.clone(),
            _ => None,
        };
        let from = if let Some(FileOp::Copy { from }) = &change.op { self.now.get(from).cloned() } else { None };
        let ShellResult { done, hunks, changes, strength } = shell_replay::of(now, change, from.unwrap_or_default());
        let blank = Step { strength, ..blank };
        let Some(to) = to.filter(|to| *to != blank.path) else {
            return self.put(blank, done, |step| (step.hunks, step.changes) = (hunks, counts && changes));
        };
        // `mv` may move a file onto another one, so that an unknown text stays unknown; a patch may not.
        let there = self.now.get(&to).cloned().unwrap_or_default();
        let before = if moves_onto_nothing { FileText::Absent } else { there };
        let arrives = Done { before, after: done.after.clone(), how: How::Moved, replayed: true, outside: false };
        let arrives = arrival.map_or(arrives.clone(), |patch| shell_replay::arrived(arrives, &patch));
        let (from, other) = (blank.path.clone(), Step { path: to.clone(), ..blank.clone() });
        let leaves = Done { after: FileText::Absent, how: How::Moved, replayed: false, ..done };
        self.put(blank, leaves, |step| (step.moved, step.changes) = (Some(Moved::To(to)), counts));
        self.put(other, arrives, |step| (step.hunks, step.moved, step.changes) = (hunks, Some(Moved::From(from)), counts));
    }

    fn patched(&mut self, blank: Step, now: &FileText, patch: FilePatch) {
        let done = match patch.change {
            FileChange::Add => added(now, &patch),
            FileChange::Delete => deleted(now, &patch),
            FileChange::Update => updated(now, &patch),
        };
        let Some(to) = patch.moved_to.filter(|to| *to != blank.path) else {
            self.put(blank, done, |step| step.hunks = patch.hunks);
            return;
        };
        let there = self.now.get(&to).cloned().unwrap_or_default();
        // A move onto a file whose text is unknown counts as a new file.
        let before = if there.is_known() { there } else { FileText::Absent };
        let arrives = Done { before, after: done.after, how: How::Moved, replayed: done.replayed, outside: false };
        let (from, other) = (blank.path.clone(), Step { path: to.clone(), ..blank.clone() });
        let leaves = Done { after: FileText::Absent, how: How::Moved, replayed: false, ..done };
        // A change on the way is shown at the destination.
        self.put(blank, leaves, |step| step.moved = Some(Moved::To(to)));
        self.put(other, arrives, |step| (step.hunks, step.moved) = (patch.hunks, Some(Moved::From(from))));
    }
}

/// Whether a certain text differs from what was known.
fn differs(now: &FileText, sure: &FileText) -> bool {
    now.is_known() && now != sure
}

fn wrote(now: &FileText, write: &Write) -> Done {
    let after = FileText::text(&*write.content);
    let done = |before: FileText, outside| Done { before, after: after.clone(), how: How::Written, replayed: false, outside };
    // From the best evidence to the weakest: the text before, that the file was new, hunks, nothing.
    match (&write.original, write.new) {
        (Some(original), _) => {
            let before = now.or_same(original);
            let outside = differs(now, &before);
            done(before, outside)
        }
        (None, Some(true)) => done(FileText::Absent, differs(now, &FileText::Absent)),
        (None, said) => {
            // The hunks give the text before, where they can be trusted to the byte.
            let hunks = fit::reversed(&write.hunks);
            let undone = if hunks.is_empty() { None } else { fit::numbered(&write.content, &hunks, Trust::Shown(&Set::default())) };
            match (undone, now) {
                // Shown hunks lose tabs; the known text has them.
                (Some(undone), FileText::Text(text)) if fit::looks_same(&undone.text, text) => done(now.clone(), false),
                (Some(undone), _) if undone.exact => done(FileText::text(undone.text), now.is_known()),
                (Some(_), _) => done(FileText::Unknown, now.is_known()),
                // The log says that the file existed.
                (None, FileText::Absent) if said == Some(false) => done(FileText::Unknown, true),
                (None, _) => done(now.clone(), false),
            }
        }
    }
}

fn edited(now: &FileText, edit: &Edit) -> Done {
    // An edit without an old text, on a file that was empty or missing, creates it.
    if let ([only], None | Some("")) = (&*edit.replacements, edit.original.as_deref())
        && only.old.is_empty()
        && !edit.user_modified
    {
        return filled(now, &only.new);
    }
    let base = match (&edit.original, now) {
        (Some(original), _) => original,
        (None, FileText::Text(text)) => &**text,
        (None, _) => {
            return Done {
                before: FileText::Unknown,
                after: FileText::Unknown,
                how: How::Edited,
                replayed: true,
                outside: *now == FileText::Absent,
            };
        }
    };
    let sure = edit.original.is_some();
    let after = change(base, edit, sure);
    // The known text is not the one that was changed.
    let told = now.or_same(base);
    let outside = if sure { differs(now, &told) } else { after.is_none() };
    let before = if sure || !outside { told } else { FileText::Unknown };
    let after = after.flatten().map_or(FileText::Unknown, FileText::text);
    Done { before, after, how: How::Edited, replayed: !sure, outside }
}

/// An edit that replaces nothing creates a new file, or fills an empty one.
fn filled(now: &FileText, text: &str) -> Done {
    let outside = now.as_text().is_some_and(|text| !text.is_empty());
    let before = if now.as_text() == Some("") { now.clone() } else { FileText::Absent };
    Done { before, after: FileText::text(text), how: How::Edited, replayed: false, outside }
}

/// Result of an edit on a text: `None` where it cannot have been made on it, `Some(None)` where the result cannot be
/// determined. `sure` says whether the log itself confirms that this was the text.
fn change(base: &str, edit: &Edit, sure: bool) -> Option<Option<String>> {
    let proposed: Set<&str> = edit.replacements.iter().flat_map(|one| one.new.split('\n')).collect();
    let fitted = (!edit.hunks.is_empty()).then(|| fit::numbered(base, &edit.hunks, Trust::Shown(&proposed)));
    let replaced = if edit.user_modified { None } else { fit::replaced(base, &edit.replacements) };
    match (replaced, fitted) {
        // Both agree; the replacement has the tabs.
        (Some((plain, swallowed)), Some(Some(fitted))) => {
            let both = [plain, swallowed];
            let found = [fit::same_but_tabs, fit::looks_same].iter().find_map(|same| both.iter().find(|text| same(text, &fitted.text)));
            Some(found.cloned().or(fitted.exact.then_some(fitted.text)))
        }
        (Some((plain, swallowed)), None) => Some((plain == swallowed).then_some(plain)),
        // The text is the right one, so the hunks are wrong.
        (Some((plain, swallowed)), Some(None)) if sure => Some((plain == swallowed).then_some(plain)),
        // The person had the last word, or the agent found the text in another spelling.
        (None, Some(Some(fitted))) => Some(fitted.exact.then_some(fitted.text)),
        (None, Some(None) | None) if sure => Some(None),
        (None, None) if edit.user_modified => Some(None),
        (_, Some(None)) | (None, None) => None,
    }
}

/// Hunks of an edit, for where whole texts are missing.
fn pieces(edit: Edit) -> Vec<crate::patch::Hunk> {
    if !edit.hunks.is_empty() || edit.user_modified {
        return edit.hunks;
    }
    let hunk = |one: &crate::detail::Replacement| {
        let removed = one.old.split_terminator('\n').map(|line| PatchLine::Removed(line.to_owned()));
        let added = one.new.split_terminator('\n').map(|line| PatchLine::Added(line.to_owned()));
        crate::patch::Hunk { lines: removed.chain(added).collect(), ..crate::patch::Hunk::default() }
    };
    edit.replacements.iter().map(hunk).collect()
}

fn added(now: &FileText, patch: &FilePatch) -> Done {
    // A patch may put a new file over another one.
    let before = if now.is_known() { now.clone() } else { FileText::Absent };
    let lines = patch.hunks.iter().flat_map(|hunk| &hunk.lines);
    let written = || {
        let lines = lines.map(|line| if let PatchLine::Added(text) = line { Some(format!("{text}\n")) } else { None });
        lines.collect::<Option<String>>()
    };
    let after = patch.content.clone().or_else(written).map_or(FileText::Unknown, FileText::text);
    Done { before, after, how: How::Patched, replayed: false, outside: false }
}

fn deleted(now: &FileText, patch: &FilePatch) -> Done {
    let (before, outside) = match &patch.content {
        Some(text) => {
            let before = now.or_same(text);
            let outside = differs(now, &before);
            (before, outside)
        }
        // The file existed, or it could not have been deleted.
        None if *now == FileText::Absent => (FileText::Unknown, true),
        None => (now.clone(), false),
    };
    Done { before, after: FileText::Absent, how: How::Deleted, replayed: false, outside }
}

fn updated(now: &FileText, patch: &FilePatch) -> Done {
    let done = |before, after, outside| Done { before, after, how: How::Patched, replayed: true, outside };
    let FileText::Text(text) = now else {
        return done(FileText::Unknown, FileText::Unknown, *now == FileText::Absent);
    };
    // Only its name changes.
    if patch.hunks.is_empty() {
        return done(now.clone(), now.clone(), false);
    }
    let numbered = patch.hunks.iter().all(|hunk| hunk.old_start.is_some());
    let after = match numbered {
        true => fit::numbered(text, &patch.hunks, Trust::Bytes).map(|fitted| fitted.text),
        false => fit::sought(text, &patch.hunks),
    };
    match after {
        Some(after) => done(now.clone(), FileText::text(after), false),
        // The program that applied it ignores spaces and signs: the result is unknown, but this was the text.
        None if !numbered && fit::may_fit(text, &patch.hunks) => done(now.clone(), FileText::Unknown, false),
        None => done(FileText::Unknown, FileText::Unknown, true),
    }
}

#[cfg(test)]
mod tests;
