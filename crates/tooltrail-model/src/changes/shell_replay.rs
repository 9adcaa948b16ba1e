//! The effect of a shell command on the known text of a file, and what the agent saw of it.
//!
//! The words of a command and the agent's own look may both speak of a file: then they have to agree. Where they do not, something else
//! changed the file too, and what was seen counts.

use super::fit::{self, Fitted, Trust};
use super::replay::Done;
use super::{FileOp, FileText, How, ShellChange, Strength};
use crate::Set;
use crate::patch::{FileChange, FilePatch, Hunk, PatchLine};

/// The result of a command for one file.
pub(super) struct ShellResult {
    pub(super) done: Done,
    pub(super) hunks: Vec<Hunk>,
    /// Whether the file changed, or may have.
    pub(super) changes: bool,
    pub(super) strength: Strength,
}

/// Puts a command's change on the known text. `from` is the known text of a file that it copies.
pub(super) fn of(now: &FileText, change: ShellChange, from: FileText) -> ShellResult {
    let strength = change.strength();
    let ShellChange { op, observed, .. } = change;
    let Some(op) = op else {
        let patch = observed.unwrap_or_else(nothing_seen);
        return ShellResult { done: seen(now, &patch), hunks: patch.hunks, changes: true, strength };
    };
    let force = matches!(op, FileOp::Remove { force: true });
    let creates = op == FileOp::Create;
    let moves = matches!(&op, FileOp::Move { .. }) || matches!(&op, FileOp::Patch(patch) if patch.moved_to.is_some());
    // What was seen to go away is the text that arrives.
    let gone = observed.as_ref().filter(|_| moves && !now.is_known()).map(|patch| seen(now, patch).before);
    let (done, own_hunks) = by_words(gone.as_ref().unwrap_or(now), op, from);
    let Some(patch) = observed else {
        // What may already have been so is no change.
        let changes = match (force, creates) {
            (true, _) => now.as_text().is_some(),
            (_, true) => *now == FileText::Absent,
            _ => true,
        };
        return ShellResult { done, hunks: own_hunks, changes, strength };
    };
    let confirmed = if moves { Some(done) } else { confirmed(now, done, &patch) };
    match confirmed {
        Some(done) => ShellResult { done, hunks: patch.hunks, changes: true, strength },
        None => ShellResult { done: seen(now, &patch), hunks: patch.hunks, changes: true, strength: Strength::Observed },
    }
}

/// The effect of a command by its words alone, and its hunks.
fn by_words(now: &FileText, op: FileOp, from: FileText) -> (Done, Vec<Hunk>) {
    let done = |after: FileText, how: How, replayed: bool| Done { before: now.clone(), after, how, replayed, outside: false };
    match op {
        FileOp::Write(text) => (done(FileText::text(text), How::Written, false), Vec::new()),
        FileOp::Append(text) => {
            let lines = text.split_terminator('\n').map(|line| PatchLine::Added(line.to_owned())).collect();
            let hunk = Hunk { lines, new_unended: !text.is_empty() && !text.ends_with('\n'), ..Hunk::default() };
            let after = match now {
                FileText::Text(before) => FileText::text(format!("{before}{text}")),
                FileText::Absent => FileText::text(text),
                FileText::Unknown => FileText::Unknown,
            };
            (done(after, How::Appended, true), vec![hunk])
        }
        FileOp::Patch(patch) => (patched(now, &patch), patch.hunks),
        FileOp::Move { .. } => (done(now.clone(), How::Moved, true), Vec::new()),
        // A file that was missing a moment ago cannot have been copied: its text is somebody else's.
        FileOp::Copy { .. } => (done(if from == FileText::Absent { FileText::Unknown } else { from }, How::Copied, true), Vec::new()),
        FileOp::Remove { force } => {
            // It was there, or it could not have been deleted.
            let outside = !force && *now == FileText::Absent;
            let before = if outside { FileText::Unknown } else { now.clone() };
            (Done { before, outside, ..done(FileText::Absent, How::Deleted, false) }, Vec::new())
        }
        FileOp::Create if *now == FileText::Absent => (done(FileText::text(""), How::Written, true), Vec::new()),
        FileOp::Create => (done(now.clone(), How::Written, true), Vec::new()),
        FileOp::Touch | FileOp::Doubt => (done(FileText::Unknown, How::Edited, true), Vec::new()),
    }
}

/// A patch that a program applied: exactly where its numbers say, or the text is unknown.
fn patched(now: &FileText, patch: &FilePatch) -> Done {
    let done = |before, after, outside| Done { before, after, how: How::Patched, replayed: true, outside };
    match (patch.change, &patch.content) {
        // The program refuses to add a file that is there.
        (FileChange::Add, Some(text)) => {
            Done { replayed: false, ..done(FileText::Absent, FileText::text(&**text), now.as_text().is_some()) }
        }
        (FileChange::Delete, Some(text)) => {
            let before = now.or_same(text);
            let outside = now.is_known() && before != *now;
            Done { how: How::Deleted, replayed: false, ..done(before, FileText::Absent, outside) }
        }
        _ if patch.hunks.is_empty() => done(now.clone(), now.clone(), false),
        _ => match now.as_text().and_then(|text| fit::numbered(text, &patch.hunks, Trust::Bytes)) {
            Some(fitted) => done(now.clone(), FileText::text(fitted.text), false),
            // Programs look for the lines elsewhere, too; then this text may have been another one as well.
            None => done(FileText::Unknown, FileText::Unknown, *now == FileText::Absent),
        },
    }
}

/// The result by a command's words, if what the agent saw agrees with it.
fn confirmed(now: &FileText, done: Done, patch: &FilePatch) -> Option<Done> {
    let Done { after, how, replayed, .. } = done;
    match (&after, patch.change) {
        (FileText::Absent, FileChange::Delete) => {
            let before = seen(now, patch).before;
            Some(Done { outside: now.is_known() && before.is_known() && before != *now, before, after, how, replayed })
        }
        (FileText::Text(text), FileChange::Add)
            if patch.hunks.is_empty() || fitted("", &patch.hunks).is_some_and(|seen| fit::looks_same(&seen.text, text)) =>
        {
            Some(Done { before: FileText::Absent, outside: now.as_text().is_some(), after, how, replayed: false })
        }
        (FileText::Text(text), FileChange::Update) => {
            if patch.hunks.is_empty() {
                return Some(Done { before: now.clone(), outside: false, after, how, replayed });
            }
            let undone = fitted(text, &fit::reversed(&patch.hunks))?;
            let (before, outside) = match now {
                FileText::Text(known) if fit::looks_same(&undone.text, known) => (now.clone(), false),
                _ if undone.exact => (FileText::text(undone.text), now.is_known()),
                _ => (FileText::Unknown, now.is_known()),
            };
            Some(Done { before, after, how, replayed: replayed && !outside, outside })
        }
        _ => None,
    }
}

/// The change as the agent saw it.
fn seen(now: &FileText, patch: &FilePatch) -> Done {
    let done = |before, after, outside| Done { before, after, how: How::Observed, replayed: false, outside };
    let exact = |text: &str, hunks: &[Hunk]| {
        fitted(text, hunks).filter(|fitted| fitted.exact).map_or(FileText::Unknown, |fitted| FileText::text(fitted.text))
    };
    match patch.change {
        _ if patch.hunks.is_empty() && patch.change == FileChange::Delete => done(now.clone(), FileText::Absent, false),
        _ if patch.hunks.is_empty() => {
            let before = if patch.change == FileChange::Add { FileText::Absent } else { now.clone() };
            done(before, FileText::Unknown, false)
        }
        FileChange::Add => done(FileText::Absent, exact("", &patch.hunks), now.as_text().is_some()),
        FileChange::Delete => {
            let before = fitted("", &fit::reversed(&patch.hunks));
            let before = match (before, now) {
                (Some(before), FileText::Text(text)) if fit::looks_same(&before.text, text) => now.clone(),
                (Some(before), _) if before.exact => FileText::text(before.text),
                _ => FileText::Unknown,
            };
            let outside = now.is_known() && before != *now;
            done(before, FileText::Absent, outside)
        }
        FileChange::Update => match now.as_text().map(|text| fitted(text, &patch.hunks)) {
            Some(Some(fitted)) => {
                let after = if fitted.exact { FileText::text(fitted.text) } else { FileText::Unknown };
                Done { replayed: true, ..done(now.clone(), after, false) }
            }
            // The lines are not where they were seen: another text was changed.
            Some(None) => done(FileText::Unknown, FileText::Unknown, true),
            None => done(FileText::Unknown, FileText::Unknown, *now == FileText::Absent),
        },
    }
}

/// The arrival of a moved file, with what the agent saw at its new path.
pub(super) fn arrived(done: Done, patch: &FilePatch) -> Done {
    let seen = seen(&done.before, patch);
    let after = match (&done.after, seen.after) {
        (FileText::Text(text), FileText::Text(other)) if !fit::looks_same(text, &other) => FileText::Text(other),
        (FileText::Unknown, after) => after,
        (known, _) => known.clone(),
    };
    Done { before: if seen.before.is_known() { seen.before } else { done.before }, after, ..done }
}

/// Applies hunks that were made to be shown.
fn fitted(text: &str, hunks: &[Hunk]) -> Option<Fitted> {
    // A tab at the beginning of any line proves that tabs are not shown as spaces.
    let line = |line: &PatchLine| matches!(line, PatchLine::Same(text) | PatchLine::Removed(text) | PatchLine::Added(text) if text.starts_with('\t'));
    let bytes = hunks.iter().flat_map(|hunk| &hunk.lines).any(line);
    let none = Set::default();
    fit::numbered(text, hunks, if bytes { Trust::Bytes } else { Trust::Shown(&none) })
}

/// The agent saw that a file changed, and not how.
fn nothing_seen() -> FilePatch {
    FilePatch { path: String::new(), moved_to: None, change: FileChange::Update, hunks: Vec::new(), content: None }
}

/// A text that was printed, maybe without empty lines around it.
pub(super) fn printed(now: &FileText, text: &str) -> Done {
    let done = |after: FileText, outside| Done { before: after.clone(), after, how: How::Read, replayed: false, outside };
    let bare = |text: &str| text.trim_matches(['\n', '\r', ' ', '\t']).to_owned();
    match now {
        FileText::Text(known) if bare(known) == bare(text) => done(now.clone(), false),
        _ => done(FileText::Unknown, now.is_known()),
    }
}
