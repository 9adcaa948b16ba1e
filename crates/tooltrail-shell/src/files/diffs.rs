//! Unified diffs of several files, as `git apply` and `patch` read them.

use tooltrail_model::patch::{FileChange, FilePatch, Hunk, PatchLine, unified};

/// A patch of several files, taken apart; `None` where it has something that is not understood.
pub(super) fn files(text: &str, strip: usize) -> Option<Vec<FilePatch>> {
    let mut lines = text.split_inclusive('\n').peekable();
    let mut files = Vec::new();
    let mut entry: Option<DiffEntry> = None;
    while let Some(line) = lines.next() {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = bare.strip_suffix('\r').unwrap_or(bare);
        if bare.starts_with("diff --git ") {
            files.extend(finished(entry.replace(DiffEntry { git: true, ..DiffEntry::default() }), strip)?);
        } else if let (Some(old), Some(new)) = (bare.strip_prefix("--- "), lines.peek().and_then(|next| next.strip_prefix("+++ "))) {
            // Without a line of git's, this is where the next file begins.
            if entry.as_ref().is_none_or(|entry| !entry.git || entry.old.is_some()) {
                files.extend(finished(entry.take(), strip)?);
            }
            let entry = entry.get_or_insert_with(DiffEntry::default);
            (entry.old, entry.new) = (Some(file_name(old)?), Some(file_name(new)?));
            lines.next();
        } else if bare.starts_with("@@ ") {
            let body = hunk(line, &mut lines)?;
            entry.as_mut()?.hunks.extend(unified(&body));
        } else if let Some(entry) = entry.as_mut().filter(|entry| entry.git && entry.hunks.is_empty()) {
            entry.head(bare)?;
        }
    }
    files.extend(finished(entry, strip)?);
    (!files.is_empty()).then_some(files)
}

/// One file of a patch while it is read.
#[derive(Debug, Default)]
struct DiffEntry {
    git: bool,
    old: Option<String>,
    new: Option<String>,
    from: Option<String>,
    to: Option<String>,
    added: bool,
    deleted: bool,
    hunks: Vec<Hunk>,
}

impl DiffEntry {
    /// Takes a line between the head of a file and its hunks; `None` where the file cannot be known.
    fn head(&mut self, line: &str) -> Option<()> {
        if let Some(from) = line.strip_prefix("rename from ") {
            self.from = Some(file_name(from)?);
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.to = Some(file_name(to)?);
        } else if line.starts_with("new file mode") {
            self.added = true;
        } else if line.starts_with("deleted file mode") {
            self.deleted = true;
        } else if line.starts_with("copy ") || line.contains("binary patch") || line.starts_with("Binary ") {
            return None;
        }
        Some(())
    }
}

/// The lines of a hunk with its head: as many as the head says, for they may look like anything.
fn hunk<'t>(head: &str, lines: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>) -> Option<String> {
    let mut ranges = head.split_whitespace().skip(1);
    let mut count = |sign: char| {
        let range = ranges.next()?.strip_prefix(sign)?;
        range.split_once(',').map_or(Some(1), |(_, count)| count.parse::<usize>().ok())
    };
    let (mut old, mut new) = (count('-')?, count('+')?);
    let mut body = head.to_owned();
    while old > 0 || new > 0 || lines.peek().is_some_and(|line| line.starts_with('\\')) {
        let line = lines.next()?;
        match line.as_bytes().first()? {
            b'-' => old = old.checked_sub(1)?,
            b'+' => new = new.checked_sub(1)?,
            b'\\' => {}
            // Some writers leave out the space of an empty line.
            b' ' | b'\n' => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
            _ => return None,
        }
        body.push_str(line);
    }
    Some(body)
}

/// The change that an entry stands for; `Some(None)` for no entry.
fn finished(entry: Option<DiffEntry>, strip: usize) -> Option<Option<FilePatch>> {
    let Some(entry) = entry else { return Some(None) };
    let own = |name: &Option<String>| name.as_deref().filter(|name| *name != "/dev/null").map(|name| stripped(name, strip));
    let (old, new) = (own(&entry.old), own(&entry.new));
    let patch = |path: String, change, content| FilePatch { path, moved_to: None, change, hunks: entry.hunks.clone(), content };
    if let (Some(from), Some(to)) = (&entry.from, &entry.to) {
        let patch = patch(from.clone(), FileChange::Update, None);
        return Some(Some(FilePatch { moved_to: Some(to.clone()), ..patch }));
    }
    Some(Some(match (old, new) {
        (None, Some(Some(path))) => patch(path, FileChange::Add, Some(side(&entry.hunks, true)?)),
        (Some(Some(path)), None) => patch(path, FileChange::Delete, Some(side(&entry.hunks, false)?)),
        (Some(Some(old)), Some(Some(new))) if old == new && !entry.added && !entry.deleted => patch(old, FileChange::Update, None),
        // Names that differ, or a change of the mode alone.
        _ => return None,
    }))
}

/// All of an added or deleted text, from hunks that have no other lines.
fn side(hunks: &[Hunk], new: bool) -> Option<String> {
    let mut out = String::new();
    for hunk in hunks {
        for line in &hunk.lines {
            let ((PatchLine::Added(text), true) | (PatchLine::Removed(text), false)) = (line, new) else { return None };
            out.push_str(text);
            out.push('\n');
        }
        if if new { hunk.new_unended } else { hunk.old_unended } {
            out.pop();
        }
    }
    Some(out)
}

/// The name of a file behind `---`, without the time that may follow a tab; `None` for one in quotes.
fn file_name(text: &str) -> Option<String> {
    let name = text.split('\t').next().unwrap_or(text).trim_end_matches(['\r', '\n']);
    (!name.is_empty() && !name.starts_with('"')).then(|| name.to_owned())
}

/// A name without its first directories.
fn stripped(name: &str, strip: usize) -> Option<String> {
    let mut rest = name;
    for _ in 0..strip {
        rest = rest.split_once('/')?.1;
    }
    (!rest.is_empty()).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_a_patch_is_one_change() {
        let patch = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n--- b\n+++ c\n\
                     diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n\
                     --- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n\
                     diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n";
        let files = files(patch, 1).unwrap_or_default();
        let found: Vec<_> =
            files.iter().map(|file| (file.path.as_str(), file.change, file.content.as_deref(), file.moved_to.as_deref())).collect();
        let expected = [
            ("x", FileChange::Update, None, None),
            ("n", FileChange::Add, Some("new"), None),
            ("o", FileChange::Delete, Some("old\n"), None),
            ("p", FileChange::Update, None, Some("q")),
        ];
        assert_eq!(found, expected);
        assert_eq!(files[0].hunks[0].lines.len(), 3);
    }

    #[test]
    fn what_is_not_understood_is_no_patch() {
        for text in ["", "words", "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n+b\n"] {
            assert_eq!(files(text, 1), None, "{text}");
        }
        assert_eq!(files("--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", 1), None);
        assert!(files("--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", 0).is_some());
    }
}
