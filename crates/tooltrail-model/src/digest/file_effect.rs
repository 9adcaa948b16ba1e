//! The effect of one call on files: which files an edit, a write or a patch changed, and how many lines it added and removed.
//!
//! Tools that name their files say it themselves; the files of a shell command were found when the call was opened. Commands that may have
//! changed more are listed separately by `fold`.

use crate::changes::net::count_lines;
use crate::changes::{ChangedPath, Strength};
use crate::detail::{Detail, Detailed, Edit, Write};
use crate::patch::{FileChange, FilePatch};

/// Changed files with their added and removed lines.
pub(super) fn changes(told: &Detailed, cwd: Option<&str>) -> Vec<ChangedPath> {
    let change = |path: &str, lines: Option<(u64, u64)>, strength: Strength| {
        let found = (!path.is_empty()).then(|| absolute(path, cwd));
        found.map(|path| ChangedPath { path, lines, strength, only_known: false })
    };
    match &told.detail {
        Detail::Write(write) => change(&write.path, written(write), Strength::Written).into_iter().collect(),
        Detail::Edit(edit) => change(&edit.path, edited(edit), Strength::Edited).into_iter().collect(),
        Detail::Notebook(notebook) => change(&notebook.path, None, Strength::Edited).into_iter().collect(),
        Detail::Patch(patch) => patch.files.iter().map(patched).filter_map(|(path, lines)| change(path, lines, Strength::Edited)).collect(),
        Detail::Shell(shell) => shell.changed.clone(),
        _ => Vec::new(),
    }
}

/// An absolute path. A relative one stays relative where the working directory is unknown.
fn absolute(path: &str, cwd: Option<&str>) -> String {
    // Logs come from other machines too: `C:\\…` is absolute even where this program runs on Unix.
    let rooted = path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':');
    match cwd.filter(|_| !rooted) {
        Some(cwd) => format!("{}/{}", cwd.trim_end_matches('/'), path.trim_start_matches("./")),
        None => path.to_owned(),
    }
}

/// Path and line counts of a patched file. A moved file goes by its new name, under which later calls know it.
fn patched(file: &FilePatch) -> (&str, Option<(u64, u64)>) {
    // A patch may delete a file without repeating its lines, so no hunks does not mean no removed lines.
    let lines = (file.change != FileChange::Delete || !file.hunks.is_empty()).then(|| count_lines(&file.hunks));
    (file.moved_to.as_deref().unwrap_or(&file.path), lines)
}

fn written(write: &Write) -> Option<(u64, u64)> {
    match (write.new, write.hunks.is_empty()) {
        (Some(true), _) => Some((write.content.lines().count() as u64, 0)),
        (_, false) => Some(count_lines(&write.hunks)),
        // Without hunks the counts are known only if the write changed nothing.
        (_, true) => write.original.as_deref().filter(|original| *original == write.content).map(|_| (0, 0)),
    }
}

fn edited(edit: &Edit) -> Option<(u64, u64)> {
    if !edit.hunks.is_empty() {
        return Some(count_lines(&edit.hunks));
    }
    // Changed by line or by pattern.
    if edit.replacements.is_empty() {
        return None;
    }
    // A replacement of all occurrences may have hit any number of them, and the person may have edited the proposal.
    let exact = !edit.user_modified && edit.replacements.iter().all(|replacement| !replacement.all);
    exact.then(|| {
        let pairs = edit.replacements.iter().map(|replacement| between(&replacement.old, &replacement.new));
        pairs.fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1))
    })
}

/// Added and removed lines between two texts, without their common beginning and end.
fn between(old: &str, new: &str) -> (u64, u64) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    // The end is compared only after the beginning is cut off: in `a a` → `a` no line may count for both.
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    ((new.len() - end) as u64, (old.len() - end) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_are_not_counted() {
        assert_eq!(between("a\nb\nc", "a\nx\ny\nc"), (2, 1));
        assert_eq!(between("a", "a"), (0, 0));
        assert_eq!(between("", "a\nb"), (2, 0));
        assert_eq!(between("a\na", "a"), (0, 1));
    }

    #[test]
    fn paths_are_told_from_the_root() {
        assert_eq!(absolute("src/a.rs", Some("/srv/app/")), "/srv/app/src/a.rs");
        assert_eq!(absolute("./a.rs", Some("/srv")), "/srv/a.rs");
        assert_eq!(absolute("/etc/a", Some("/srv")), "/etc/a");
        assert_eq!(absolute("C:\\a", Some("/srv")), "C:\\a");
        assert_eq!(absolute("a", None), "a");
    }
}
