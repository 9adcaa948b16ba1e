//! Files: read, written, changed, moved, deleted. What a server says in front of a text or behind it is no part of the file.

use super::ServedCall;
use serde_json::{Map, Value};
use tooltrail_model::detail::{Detail, Edit, Patch, Read, ReadGot, Replacement, Write};
use tooltrail_model::patch::{FileChange, FilePatch, unified};

/// Names of the field that has the file.
pub(super) const PATH: &[&str] =
    &["path", "file_path", "abs_path", "filePath", "filepath", "file", "filename", "relative_path", "pathInProject", "absolute_path"];

/// Names of the field that has the whole text.
pub(super) const CONTENT: &[&str] = &["content", "contents", "text", "file_text"];

/// Names of the fields that say what is replaced.
pub(super) const PIECE: &[&str] = &["edits", "old_string", "old_str", "oldText", "old_text", "oldString", "old_content"];

/// Names of the old and the new text of a replacement.
const OLD: &[&str] = &["old_string", "old_str", "oldText", "old_text", "oldString", "old_content"];
const NEW: &[&str] = &["new_string", "new_str", "newText", "new_text", "newString", "new_content"];

/// Flags by which all occurrences are replaced.
const ALL: &[&str] = &["replace_all", "replaceAll"];

/// Names of the two ends of a move.
pub(super) const SOURCE: &[&str] = &["source", "source_path", "old_path", "from", "oldPath"];
pub(super) const TARGET: &[&str] = &["destination", "destination_path", "new_path", "to", "newPath"];

/// A file that is read.
pub(super) fn read(call: &mut ServedCall<'_>) -> Detail {
    let path = call.text(PATH).unwrap_or_default();
    // One server counts lines from 0, and says which it gave.
    let counted = call.peek("length").is_some();
    let offset = call.number(&["offset", "start_line", "line_start"]).map(|line| if counted { line.saturating_add(1) } else { line });
    let limit = call.number(&["limit", "length", "head"]);
    let got = call.told().map_or(ReadGot::Nothing, |text| text_of(&text, offset));
    Detail::Read(Read { path, offset, limit, pages: None, got })
}

/// The text that a server gave, without its remarks.
fn text_of(text: &str, offset: Option<u64>) -> ReadGot {
    // `[Reading 146 lines from start (total: 146 lines, 0 remaining)]`
    if let Some((head, rest)) = text.strip_prefix("[Reading ").and_then(|rest| rest.split_once("]\n\n")) {
        let total = head.split_once("(total: ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        let first = if head.contains(" from start ") { Some(1) } else { number_behind(head, " from line ").map(|line| line + 1) };
        // Lines at the end of a file have no number.
        if let Some(first) = first {
            return ReadGot::Text { text: rest.to_owned(), first, total };
        }
    }
    let text = match text.rsplit_once("\n\n<file-read-info>") {
        Some((own, note)) if note.trim_end().ends_with("</file-read-info>") => own,
        _ => text,
    };
    match text.contains('\n') {
        true => ReadGot::Text { text: text.to_owned(), first: offset.unwrap_or(1).max(1), total: None },
        false => ReadGot::Words(text.to_owned()),
    }
}

fn number_behind(text: &str, mark: &str) -> Option<u64> {
    text.split_once(mark)?.1.split(' ').next()?.parse().ok()
}

/// A whole file that is written, or a text that is added to one.
pub(super) fn write(call: &mut ServedCall<'_>) -> Detail {
    let mode = call.text(&["mode"]);
    let appended = mode.as_deref() == Some("append") || call.flag(&["append"]);
    written(call, appended)
}

/// A text that is added to a file.
pub(super) fn append(call: &mut ServedCall<'_>) -> Detail {
    written(call, true)
}

fn written(call: &mut ServedCall<'_>, appended: bool) -> Detail {
    let (path, content) = (call.text(PATH).unwrap_or_default(), call.text(CONTENT).unwrap_or_default());
    Detail::Write(Write { path, content, appended, ..Write::default() })
}

/// Texts that are replaced. Most servers answer with a unified diff.
pub(super) fn edit(call: &mut ServedCall<'_>) -> Detail {
    let path = call.text(PATH).unwrap_or_default();
    // More than one expected replacement means all of them.
    let all = call.flag(ALL) || call.number(&["expected_replacements"]).is_some_and(|count| count > 1);
    let one = match (call.text(OLD), call.text(NEW)) {
        (None, None) => None,
        (old, new) => Some(Replacement { old: old.unwrap_or_default(), new: new.unwrap_or_default(), all }),
    };
    let several = call.objects(&["edits"]).unwrap_or_default();
    let replacements: Vec<Replacement> = several.iter().map(replacement).chain(one).collect();
    let hunks = call.told().map(|text| unified(diff(&text))).unwrap_or_default();
    Detail::Edit(Edit { path, replacements, hunks, ..Edit::default() })
}

fn replacement(edit: &Map<String, Value>) -> Replacement {
    let text = |names: &[&str]| names.iter().find_map(|name| edit.get(*name)?.as_str()).unwrap_or_default().to_owned();
    let all = ALL.iter().any(|name| edit.get(*name) == Some(&Value::Bool(true)));
    Replacement { old: text(OLD), new: text(NEW), all }
}

/// The unified diff in an answer, without the fence around it; nothing where the answer is no diff.
fn diff(text: &str) -> &str {
    let text = text.trim_end();
    // The fence is as long as the text needs.
    let ticks = text.len() - text.trim_start_matches('`').len();
    let fenced = (ticks >= 3).then(|| text[ticks..].strip_prefix("diff\n")?.strip_suffix(&text[..ticks])).flatten();
    let own = fenced.unwrap_or(text);
    let named = own.starts_with("Index: ") || own.starts_with("--- ");
    if named && own.contains("\n@@ ") { own } else { "" }
}

/// A change whose texts the log does not have.
pub(super) fn touch(call: &mut ServedCall<'_>) -> Detail {
    let own = |file: &Map<String, Value>| PATH.iter().find_map(|name| file.get(*name)?.as_str()).map(str::to_owned);
    let files: Vec<String> = match call.text(PATH) {
        Some(path) => vec![path],
        None => call.objects(&["files"]).unwrap_or_default().iter().filter_map(own).collect(),
    };
    match <[String; 1]>::try_from(files) {
        Ok([path]) => Detail::Edit(Edit { path, ..Edit::default() }),
        // Several files in one call have no form of their own; the input says which.
        Err(_) => Detail::Other,
    }
}

/// A file that is moved.
pub(super) fn rename(call: &mut ServedCall<'_>) -> Detail {
    let (path, moved_to) = (call.text(SOURCE).unwrap_or_default(), call.text(TARGET));
    patch(call, FilePatch { path, moved_to, change: FileChange::Update, hunks: Vec::new(), content: None })
}

/// A file that is deleted.
pub(super) fn delete(call: &mut ServedCall<'_>) -> Detail {
    let path = call.text(PATH).unwrap_or_default();
    patch(call, FilePatch { path, moved_to: None, change: FileChange::Delete, hunks: Vec::new(), content: None })
}

fn patch(call: &ServedCall<'_>, file: FilePatch) -> Detail {
    Detail::Patch(Patch { files: vec![file], unread: None, output: call.told().map(|text| text.into_owned()) })
}
