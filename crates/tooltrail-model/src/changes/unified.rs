//! Patches: changes as `git apply` and `patch -p1` accept them, made from whole texts, so that they reproduce the text
//! after to the byte.
//!
//! Changes without whole texts stand in comments, which both programs ignore.

use super::FileText;
use super::net::{FileNet, ListedFile, NetPart, listed};
pub use super::patch_path::{left_out, relative};
use crate::patch::{Hunk, PatchLine};
use crate::visible::is_active;
use similar::{ChangeTag, DiffOp, DiffTag, TextDiff};
use std::fmt::Write;

/// Lines around a change.
const CONTEXT: usize = 3;

/// Names for files and calls in a patch.
pub struct PatchNames<'n> {
    /// The path that a file has in the patch: relative, with slashes.
    pub path: &'n dyn Fn(&str) -> String,
    /// Why a patch must not name a file; `None` where it may.
    pub left_out: &'n dyn Fn(&str) -> Option<&'static str>,
    /// Citation of a call.
    pub call: &'n dyn Fn(usize) -> String,
    /// The record that proves a call's outcome.
    pub place: &'n dyn Fn(usize) -> Option<CallPlace>,
    /// Name of the whole that is not outside: `the logs`, `this session`.
    pub whole: &'n str,
}

/// The record that proves the outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPlace {
    /// The log.
    pub file: String,
    /// The line; `None` for a row of a database.
    pub line: Option<u64>,
    /// The row, by table and key.
    pub row: Option<String>,
}

impl std::fmt::Debug for PatchNames<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Names")
    }
}

/// Changes between two texts, with line numbers. Only line feeds end lines.
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    // The default algorithm gives up on the shortest answer before it takes too long, and needs no clock for it.
    let diff = TextDiff::configure().diff_slices(&old, &new);
    let hunk = |ops: Vec<DiffOp>| {
        let number = |index: usize| u32::try_from(index + 1).ok();
        let (first, second) = ops.first().map(|op| (op.old_range().start, op.new_range().start)).unwrap_or_default();
        let mut hunk = Hunk { old_start: number(first), new_start: number(second), ..Hunk::default() };
        for change in ops.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = change.value();
            let text = line.strip_suffix('\n').unwrap_or(line).to_owned();
            let unended = !line.ends_with('\n');
            hunk.old_unended |= unended && change.tag() != ChangeTag::Insert;
            hunk.new_unended |= unended && change.tag() != ChangeTag::Delete;
            hunk.lines.push(match change.tag() {
                ChangeTag::Equal => PatchLine::Same(text),
                ChangeTag::Delete => PatchLine::Removed(text),
                ChangeTag::Insert => PatchLine::Added(text),
            });
        }
        hunk
    };
    // A group without a change would be a hunk that does nothing.
    let groups = diff.grouped_ops(CONTEXT).into_iter().filter(|ops| ops.iter().any(|op| op.tag() != DiffTag::Equal));
    groups.map(hunk).collect()
}

/// Writes the changes of files as one patch.
pub fn patch(files: &[FileNet], names: &PatchNames<'_>) -> String {
    let mut out = String::new();
    for listed in listed(files) {
        match listed {
            // A rename from or to a place that has to be left out is a deletion or a new file at the other one.
            ListedFile::Renamed { old, new, .. } if [old, new].iter().any(|file| (names.left_out)(&file.path).is_some()) => {
                [old, new].into_iter().for_each(|file| one(&mut out, file, names));
            }
            ListedFile::Renamed { old, new, before, after } => {
                cite(&mut out, old.by().iter().chain(&new.by()), names);
                diff(&mut out, before, after, &(names.path)(&old.path), &(names.path)(&new.path));
            }
            ListedFile::File(file) => one(&mut out, file, names),
        }
    }
    out
}

/// One file: a diff for each part whose texts are known, and comments about the others.
fn one(out: &mut String, file: &FileNet, names: &PatchNames<'_>) {
    if let Some(why) = (names.left_out)(&file.path) {
        let _ = writeln!(out, "# {}: {why}, so it is not in this patch", quoted(&file.path));
        return;
    }
    let path = (names.path)(&file.path);
    let mut diffs: Vec<(&FileText, &FileText)> = Vec::new();
    let mut comments: Vec<String> = vec![evidence(file, &path, names)];
    for part in &file.parts {
        if let NetPart::Net { before, after, .. } = part {
            // Whatever lies between two known texts belongs to the patch, or it would not apply.
            if let Some(&(_, last)) = diffs.last().filter(|(_, last)| *last != before) {
                diffs.push((last, before));
                comments.push(String::new());
            }
            diffs.push((before, after));
            comments.push(String::new());
        }
        // Comments on a part stand before its diff.
        let place = comments.len().saturating_sub(if matches!(part, NetPart::Net { .. }) { 2 } else { 1 });
        if let Some(comment) = comments.get_mut(place) {
            say(comment, part, &path, names);
        }
    }
    // A file that is created or deleted in between becomes one diff: `git apply` deletes before it writes, whatever the
    // order.
    let absent = |place: usize| {
        diffs.get(place).is_some_and(|(before, after)| (place > 0 && **before == FileText::Absent) || **after == FileText::Absent)
    };
    if let (Some((first, _)), Some((_, last))) = (diffs.first().copied(), diffs.last().copied())
        && diffs.len() > 1
        && (0..diffs.len()).any(absent)
    {
        out.push_str(&comments.concat());
        return diff(out, first, last, &path, &path);
    }
    for (place, comment) in comments.iter().enumerate() {
        out.push_str(comment);
        if let Some((before, after)) = diffs.get(place) {
            diff(out, before, after, &path, &path);
        }
    }
}

/// Comments about changes for which there is weaker evidence than an edit or a text in the log.
fn evidence(file: &FileNet, path: &str, names: &PatchNames<'_>) -> String {
    let mut out = String::new();
    for (by, strength) in &file.evidence {
        if let Some(words) = strength.label() {
            let _ = writeln!(out, "# {}: {} {words}", quoted(path), (names.call)(*by));
        }
    }
    out
}

/// Writes the comments on a part.
fn say(out: &mut String, part: &NetPart, path: &str, names: &PatchNames<'_>) {
    let path = quoted(path);
    let _ = match part {
        NetPart::Net { before, after, by } => {
            cite(out, by.iter(), names);
            if before != after { Ok(()) } else { writeln!(out, "# {path}: changed and changed back") }
        }
        NetPart::Outside { by, last, next, .. } => {
            let (last, next) = ((names.call)(*last), (names.call)(*next));
            let others: Vec<String> = by.iter().map(|by| (names.call)(*by)).collect();
            match others.is_empty() {
                true => writeln!(out, "# {path}: changed outside {} between {last} and {next}", names.whole),
                false => writeln!(out, "# {path}: changed by others between {last} and {next}: {}", others.join(" ")),
            }
        }
        NetPart::Pieces { hunks, after, moved, by } => {
            let _ = writeln!(out, "# {path}: {} {}", (names.call)(*by), missing(after, *moved));
            pieces(hunks).split_terminator('\n').try_for_each(|line| writeln!(out, "#   {line}"))
        }
    };
}

/// Words for a call's change to a file whose texts are not all in the logs. `moved` says whether it moved the file, here or away.
pub fn missing(after: &FileText, moved: bool) -> &'static str {
    match (after, moved) {
        (FileText::Unknown, false) => "changed it; the logs do not have all of its text",
        (FileText::Absent, false) => "deleted it; the logs do not have the text before",
        (FileText::Text(_), false) => "wrote all of it; the logs do not have the text before",
        (FileText::Unknown, true) => "moved it here; the logs do not have its text",
        (FileText::Absent, true) => "moved it away; the logs do not have its text",
        (FileText::Text(_), true) => "moved it here; the logs do not say whether it replaced a file",
    }
}

/// Hunks as a text.
pub fn pieces(hunks: &[Hunk]) -> String {
    let mut out = String::new();
    hunks.iter().for_each(|hunk| body(&mut out, hunk));
    out
}

/// Writes the calls that a diff belongs to.
fn cite<'b>(out: &mut String, by: impl Iterator<Item = &'b usize>, names: &PatchNames<'_>) {
    let mut calls: Vec<String> = Vec::new();
    for by in by {
        let call = (names.call)(*by);
        // The two names of a moved file share the call that moved it.
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    let _ = writeln!(out, "# by {}", calls.join(" "));
}

/// Writes one diff. Equal texts under the same name give none, and two unknown ones under two names a mere rename.
pub fn diff(out: &mut String, before: &FileText, after: &FileText, old: &str, new: &str) {
    if (before == after && old == new) || before.is_known() != after.is_known() {
        return;
    }
    let _ = writeln!(out, "diff --git {} {}", quoted(&format!("a/{old}")), quoted(&format!("b/{new}")));
    match (before, after) {
        // The logs do not have the mode; an ordinary file is the likeliest.
        (FileText::Absent, _) => out.push_str("new file mode 100644\n"),
        (_, FileText::Absent) => out.push_str("deleted file mode 100644\n"),
        _ if old != new => {
            // Git says so where it has nothing to compare.
            out.push_str(if before == after { "similarity index 100%\n" } else { "" });
            let _ = writeln!(out, "rename from {}\nrename to {}", quoted(old), quoted(new));
        }
        _ => {}
    }
    let hunks = hunks(before.as_text().unwrap_or_default(), after.as_text().unwrap_or_default());
    // An empty file or a mere rename has no hunks, and git then writes no `---` and `+++` either.
    if hunks.is_empty() {
        return;
    }
    let side = |known: &FileText, side: &str, path: &str| match known {
        FileText::Absent => "/dev/null".to_owned(),
        // A tab ends a name that contains spaces.
        _ => format!("{}{}", quoted(&format!("{side}/{path}")), if path.contains(' ') { "\t" } else { "" }),
    };
    let _ = writeln!(out, "--- {}\n+++ {}", side(before, "a", old), side(after, "b", new));
    hunks.iter().for_each(|hunk| body(out, hunk));
}

/// One hunk with its head.
fn body(out: &mut String, hunk: &Hunk) {
    let count = |skip: fn(&PatchLine) -> bool| hunk.lines.iter().filter(|line| !skip(line)).count();
    let olds = count(|line| matches!(line, PatchLine::Added(_)));
    let news = count(|line| matches!(line, PatchLine::Removed(_)));
    // A side without lines has the number of the line before it.
    let range = |start: Option<u32>, count: usize| match (start, count) {
        (None, _) => String::new(),
        (Some(start), 0) => format!("{},0", start.saturating_sub(1)),
        (Some(start), 1) => start.to_string(),
        (Some(start), count) => format!("{start},{count}"),
    };
    let _ = match hunk.old_start {
        Some(_) => writeln!(out, "@@ -{} +{} @@", range(hunk.old_start, olds), range(hunk.new_start, news)),
        // Without line numbers it is a hunk to read, not to apply.
        None => writeln!(out, "@@"),
    };
    let place = |skip: fn(&PatchLine) -> bool| hunk.lines.iter().rposition(|line| !skip(line));
    let last_old = place(|line| matches!(line, PatchLine::Added(_))).filter(|_| hunk.old_unended);
    let last_new = place(|line| matches!(line, PatchLine::Removed(_))).filter(|_| hunk.new_unended);
    for (index, line) in hunk.lines.iter().enumerate() {
        let _ = match line {
            PatchLine::Same(text) => writeln!(out, " {text}"),
            PatchLine::Removed(text) => writeln!(out, "-{text}"),
            PatchLine::Added(text) => writeln!(out, "+{text}"),
        };
        // Git marks the last line of each side that is not ended.
        if Some(index) == last_old || Some(index) == last_new {
            out.push_str("\\ No newline at end of file\n");
        }
    }
}

/// A name as git writes it: in quotes where it contains characters that would end it or act.
pub fn quoted(name: &str) -> String {
    let odd = |letter: char| is_active(letter) || matches!(letter, '"' | '\\');
    if !name.contains(odd) {
        return name.to_owned();
    }
    let mut out = String::from("\"");
    for letter in name.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            letter if is_active(letter) => {
                // Git writes other control characters as octal bytes, and reads any byte that is written so.
                letter.to_string().bytes().for_each(|byte| {
                    let _ = write!(out, "\\{byte:03o}");
                });
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Path of a file for display: relative to a directory where it is inside, otherwise as it is.
pub fn shown<'p>(path: &'p str, directory: Option<&str>) -> &'p str {
    inside(path, directory).unwrap_or(path)
}

/// The rest of a path inside of a directory.
fn inside<'p>(path: &'p str, directory: Option<&str>) -> Option<&'p str> {
    let splits = splits(path, directory);
    let directory = directory?.trim_end_matches(splits);
    let rest = path.strip_prefix(directory)?.strip_prefix(splits)?;
    (!directory.is_empty() && !rest.is_empty()).then_some(rest)
}

/// Separators of a path. Elsewhere than on Windows a backslash is an ordinary character.
pub(super) fn splits(path: &str, directory: Option<&str>) -> fn(char) -> bool {
    let windows = is_windows(path) || directory.is_some_and(is_windows);
    if windows { |letter| matches!(letter, '/' | '\\') } else { |letter| letter == '/' }
}

/// Whether this is a Windows path: `C:\`, `\\server`, or their rest where a home directory is `~`.
pub fn is_windows(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    (drive && matches!(bytes.get(2), Some(b'\\' | b'/'))) || path.starts_with("\\\\") || path.starts_with("~\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(before: &FileText, after: &FileText, old: &str, new: &str) -> String {
        let mut out = String::new();
        diff(&mut out, before, after, old, new);
        out
    }

    #[test]
    fn diffs_are_those_of_git() {
        let (old, new) = (FileText::text("a\nb\nc\n"), FileText::text("a\nB\nc"));
        let expected = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n";
        assert_eq!(written(&old, &new, "x", "x"), expected);
        let created = "diff --git a/a b b/a b\nnew file mode 100644\n--- /dev/null\n+++ b/a b\t\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(written(&FileText::Absent, &FileText::text("x\n"), "a b", "a b"), created);
        assert_eq!(written(&FileText::text(""), &FileText::Absent, "x", "x"), "diff --git a/x b/x\ndeleted file mode 100644\n");
        let renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n";
        assert_eq!(written(&old, &old, "x", "y"), renamed);
        assert_eq!(written(&FileText::Unknown, &FileText::Unknown, "x", "y"), renamed);
        assert_eq!(written(&FileText::Unknown, &old, "x", "y") + &written(&old, &FileText::Unknown, "x", "y"), "");
        assert_eq!(written(&old, &old, "x", "x") + &written(&FileText::Unknown, &old, "x", "x"), "");
    }

    #[test]
    fn names_cannot_end_a_line() {
        assert_eq!(quoted("a b/é"), "a b/é");
        assert_eq!(quoted("a\n\"b\u{1b}"), "\"a\\n\\\"b\\033\"");
    }

    #[test]
    fn paths_outside_are_shown_whole() {
        assert_eq!(shown("/srv/app/a.rs", Some("/srv/app/")), "a.rs");
        assert_eq!(shown("/etc/passwd", Some("/srv/app")), "/etc/passwd");
        assert_eq!(shown("/srv/apple", Some("/srv/app")), "/srv/apple");
        assert_eq!((shown("C:\\w\\a", Some("C:\\w")), shown("a", None)), ("a", "a"));
    }
}
