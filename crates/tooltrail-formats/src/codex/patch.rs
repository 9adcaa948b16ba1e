//! `apply_patch`: what a call changes, file by file.
//!
//! The patch is a text between `*** Begin Patch` and `*** End Patch`. It comes as the input of a custom tool, as `{"input":…}`, as
//! `["apply_patch", …]` in a shell's command, or inside a script as a heredoc. It has no line numbers; the `changes` that some logs have
//! besides do. `tools` finds the text or the changes; here they become files and hunks.

use tooltrail_model::patch::{FileChange, FilePatch, Hunk, PatchLine, unified};
use tooltrail_skim::Skim;

/// How a patch begins.
pub(super) const BEGIN: &str = "*** Begin Patch";

/// `{"path":{"type":"update","unified_diff":…,"move_path":…}}`.
pub(super) fn of_changes(mut changes: Skim<'_>) -> Vec<FilePatch> {
    let mut files = Vec::new();
    let _ = changes.object(|key, value| {
        let path = key.text().into_owned();
        let (mut kind, mut content, mut diff, mut moved_to) = (None, None, None, None);
        value.object(|key, value| {
            let text = value.string().map(|text| text.text().into_owned());
            match key.as_bytes() {
                b"type" => kind = text,
                b"content" => content = text,
                b"unified_diff" => diff = text,
                b"move_path" => moved_to = text,
                _ => {}
            }
            Ok(())
        })?;
        let whole = |line: fn(String) -> PatchLine| {
            let lines = content.as_deref().unwrap_or_default().split_terminator('\n').map(|text| line(text.to_owned())).collect();
            vec![Hunk { old_start: Some(1), new_start: Some(1), lines, ..Hunk::default() }]
        };
        let (change, hunks) = match kind.as_deref() {
            Some("add") => (FileChange::Add, whole(PatchLine::Added)),
            Some("delete") => (FileChange::Delete, whole(PatchLine::Removed)),
            _ => (FileChange::Update, unified(diff.as_deref().unwrap_or_default())),
        };
        // The content of an update is not the whole file.
        let content = content.filter(|_| change != FileChange::Update);
        files.push(FilePatch { path, moved_to, change, hunks, content });
        Ok(())
    });
    files
}

/// Reads a patch. Text behind its end is not part of it; a patch that breaks off is read as far as it goes.
pub(crate) fn parse(text: &str) -> Vec<FilePatch> {
    let mut files: Vec<FilePatch> = Vec::new();
    let begun = text.split_terminator('\n').skip_while(|line| line.trim() != BEGIN).skip(1);
    for line in begun {
        let marker = line.strip_prefix("*** ").map(str::trim_end);
        let header = marker.and_then(|marker| {
            let (what, path) = marker.split_once(": ")?;
            let change = match what {
                "Add File" => FileChange::Add,
                "Delete File" => FileChange::Delete,
                "Update File" => FileChange::Update,
                _ => return None,
            };
            Some(FilePatch { path: path.to_owned(), moved_to: None, change, hunks: Vec::new(), content: None })
        });
        match (header, marker) {
            (Some(file), _) => files.push(file),
            (None, Some("End Patch")) => break,
            (None, marker) => {
                // In front of the first file there is at most the environment.
                if let Some(file) = files.last_mut() {
                    take(file, line, marker);
                }
            }
        }
    }
    files
}

/// Takes a line that belongs to a file.
fn take(file: &mut FilePatch, line: &str, marker: Option<&str>) {
    if let Some(path) = marker.and_then(|marker| marker.strip_prefix("Move to: ")) {
        file.moved_to = Some(path.to_owned());
        return;
    }
    if marker == Some("End of File") {
        if let Some(hunk) = file.hunks.last_mut() {
            hunk.at_end = true;
        }
        return;
    }
    if let Some(context) = line.strip_prefix("@@").filter(|_| file.change == FileChange::Update) {
        let context = context.trim();
        // Several lines of context in a row lead to one place.
        if file.hunks.last().is_none_or(|hunk| !hunk.lines.is_empty()) {
            file.hunks.push(Hunk::default());
        }
        if let Some(hunk) = file.hunks.last_mut().filter(|_| !context.is_empty()) {
            hunk.context.push(context.to_owned());
        }
        return;
    }
    if file.hunks.is_empty() {
        // The first place needs no `@@`; a new file has only one, and begins with its first line.
        let start = (file.change == FileChange::Add).then_some(1);
        file.hunks.push(Hunk { new_start: start, ..Hunk::default() });
    }
    if let Some(hunk) = file.hunks.last_mut() {
        hunk.lines.push(PatchLine::parse(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Environment ID: e1\n*** Add File: new.txt\n+one\n+two\n*** Delete File: old.txt\n*** Update File: a.rs\n*** Move to: b.rs\n@@ fn main() {\n@@ if x {\n-old\n+new\n same\n@@\n+end\n*** End of File\n*** End Patch\nnot part of it";

    fn added(text: &str) -> PatchLine {
        PatchLine::Added(text.to_owned())
    }

    #[test]
    fn every_kind_of_change_is_read() {
        let files = parse(PATCH);
        let names: Vec<_> = files.iter().map(|file| (&*file.path, file.change, file.moved_to.as_deref())).collect();
        let expected =
            [("new.txt", FileChange::Add, None), ("old.txt", FileChange::Delete, None), ("a.rs", FileChange::Update, Some("b.rs"))];
        assert_eq!(names, expected);
        assert_eq!(files[0].hunks[0].lines, [added("one"), added("two")]);
        assert!(files[1].hunks.is_empty());
        let [first, second] = &*files[2].hunks else { panic!("{:?}", files[2].hunks) };
        assert_eq!(first.context, ["fn main() {", "if x {"]);
        assert_eq!(first.lines, [PatchLine::Removed("old".into()), added("new"), PatchLine::Same("same".into())]);
        assert_eq!((second.at_end, &*second.lines), (true, &[added("end")][..]));
    }

    #[test]
    fn changes_have_line_numbers() {
        let changes = br#"{"/a":{"type":"update","unified_diff":"@@ -3 +3 @@\n-x\n+y\n","move_path":"/b"},"/c":{"type":"add","content":"1\n2\n"},"/d":{"type":"delete","content":"1\n"}}"#;
        let files = of_changes(Skim::new(changes));
        assert_eq!(files.len(), 3);
        assert_eq!((files[0].moved_to.as_deref(), files[0].hunks[0].old_start), (Some("/b"), Some(3)));
        assert_eq!(files[1].hunks[0].lines, [added("1"), added("2")]);
        assert_eq!(files[2].change, FileChange::Delete);
        assert!(of_changes(Skim::new(b"[1]")).is_empty());
    }

    #[test]
    fn what_is_no_patch_changes_nothing() {
        for text in ["", "*** Begin Patch", "*** Begin Patch\n+x\n@@\n*** End of File\n*** Move to: x", "*** Update File: a\n+x"] {
            assert!(parse(text).is_empty(), "{text}");
        }
        assert_eq!(parse("*** Begin Patch\n*** Update File: a\n-x")[0].hunks[0].lines.len(), 1);
    }
}
