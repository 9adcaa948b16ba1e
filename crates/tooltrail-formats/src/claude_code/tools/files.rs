//! Files: read, written, changed.

use super::super::content::{decoded, text};
use super::{ToolCall, result_text};
use serde_json::Value;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::detail::{Detail, Edit, Read, ReadGot, Replacement, Write};
use tooltrail_model::patch::Hunk;

/// `Read`: a file is read.
pub(super) fn read(call: &mut ToolCall<'_>) -> Detail {
    let input = &mut call.input;
    let mut read = Read {
        path: input.string("file_path").or_else(|| input.string("notebook_path")).unwrap_or_default(),
        offset: input.number("offset"),
        limit: input.number("limit"),
        pages: input.name("pages"),
        got: ReadGot::Nothing,
    };
    if call.failed || !call.ask.answered {
        return Detail::Read(read);
    }
    read.got = match structured(call) {
        ReadGot::Nothing => spoken(call),
        got => got,
    };
    Detail::Read(read)
}

/// Takes over the fields of `toolUseResult`.
fn structured(call: &mut ToolCall<'_>) -> ReadGot {
    let kind = call.produced.text("type");
    let seen = call.ask.seen;
    let only_words = result_text::only_reminder(&tooltrail_model::content::words(seen)).map(str::to_owned);
    let got = call.produced.within("file", |file| {
        // Repeats the input.
        file.drop(&["filePath"]);
        match kind? {
            "text" => {
                let text = file.string("content")?;
                file.drop(&["numLines"]);
                let (first, total) = (file.number("startLine").unwrap_or(1), file.number("totalLines"));
                // Of an empty file there is only the program's remark about it.
                Some(match only_words.filter(|_| text.is_empty()) {
                    Some(words) => ReadGot::Words(words),
                    None => ReadGot::Text { text, first, total },
                })
            }
            "image" => {
                let data = file.string("base64").filter(|data| !data.is_empty());
                let mut image = Image { media: file.string("type").unwrap_or_default(), data, ..Image::default() };
                image.bytes = file.number("originalSize");
                image.size = file.take("dimensions", size);
                // The log may keep the picture only in the content for the model.
                let shown = images(seen).next();
                image.data = image.data.or_else(|| shown.and_then(|image| image.data.clone()));
                Some(ReadGot::Image(image))
            }
            "notebook" => file.take("cells", super::notebooks::cells).map(ReadGot::Notebook),
            "pdf" | "parts" => {
                let whole = file.take("base64", |data| data.as_str().map(decoded)).map(|bytes| bytes as u64);
                let (bytes, pages) = (file.number("originalSize").or(whole), file.number("count"));
                Some(ReadGot::Pdf { bytes, pages, images: images(seen).cloned().collect() })
            }
            "file_unchanged" => Some(ReadGot::Unchanged),
            _ => None,
        }
    });
    got.flatten().unwrap_or_default()
}

/// Takes over the content for the model, where there is nothing else.
fn spoken(call: &ToolCall<'_>) -> ReadGot {
    if let Some(image) = images(call.ask.seen).next() {
        let several: Vec<Image> = images(call.ask.seen).cloned().collect();
        // Pages are rendered as pictures, so several of them are a document.
        let pdf = call.ask.input.get("pages").is_some() || several.len() > 1;
        return if pdf { ReadGot::Pdf { bytes: None, pages: None, images: several } } else { ReadGot::Image(image.clone()) };
    }
    let pdf = call.ask.seen.iter().find_map(|content| match content {
        Content::Document { bytes, .. } => Some(ReadGot::Pdf { bytes: Some(*bytes), pages: None, images: Vec::new() }),
        _ => None,
    });
    if let Some(pdf) = pdf {
        return pdf;
    }
    let whole = tooltrail_model::content::words(call.ask.seen);
    if let Some(words) = result_text::only_reminder(&whole) {
        return ReadGot::Words(words.to_owned());
    }
    if ["File unchanged since last read", "Wasted call"].iter().any(|beginning| call.seen.starts_with(beginning)) {
        return ReadGot::Unchanged;
    }
    if let Some(cells) = super::notebooks::spoken(&call.seen) {
        return ReadGot::Notebook(cells);
    }
    match numbered(&call.seen) {
        Some((text, first)) => {
            let total = total(call, &text, first);
            ReadGot::Text { text, first, total }
        }
        None if call.seen.is_empty() => ReadGot::Nothing,
        // Programs other than the agent may have written the log, without line numbers.
        None if call.seen.contains('\n') => ReadGot::Text { text: call.seen.clone(), first: 1, total: None },
        None => ReadGot::Words(call.seen.clone()),
    }
}

/// The number of lines of the file, if the model saw all of it: no part was asked for, and neither the number of lines nor the length of
/// one reaches the agent's limits.
fn total(call: &ToolCall<'_>, text: &str, first: u64) -> Option<u64> {
    const MOST: usize = 2000;
    let part = ["offset", "limit"].iter().any(|key| call.ask.input.get(key).is_some());
    let lines = text.split('\n').count();
    let whole = !part && first == 1 && lines < MOST && text.split('\n').all(|line| line.len() < MOST);
    whole.then_some(lines as u64)
}

/// The pictures that the model saw.
fn images(seen: &[Content]) -> impl Iterator<Item = &Image> {
    seen.iter().filter_map(|content| if let Content::Image(image) = content { Some(image) } else { None })
}

/// Width and height, under whichever names.
fn size(value: &Value) -> Option<(u32, u32)> {
    let number = |keys: [&str; 3]| keys.iter().find_map(|key| value.get(key)?.as_u64()).and_then(|number| u32::try_from(number).ok());
    Some((number(["originalWidth", "width", "displayWidth"])?, number(["originalHeight", "height", "displayHeight"])?))
}

/// The lines of a text that `cat -n` numbered, and the first number. A line whose number does not follow belongs to the one before.
fn numbered(text: &str) -> Option<(String, u64)> {
    let mut lines = text.split('\n');
    let (first, line) = number(lines.next()?)?;
    let mut out = String::with_capacity(text.len());
    out.push_str(line);
    let mut next = first.checked_add(1)?;
    for line in lines {
        out.push('\n');
        match number(line) {
            // A line that happens to begin with a number is text; only the number that follows counts.
            Some((number, own)) if number == next => {
                out.push_str(own);
                next = next.saturating_add(1);
            }
            _ => out.push_str(line),
        }
    }
    Some((out, first))
}

/// `     1→text`, or with a tab.
fn number(line: &str) -> Option<(u64, &str)> {
    let rest = line.trim_start_matches(' ');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at_checked(digits)?;
    let text = rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t'))?;
    Some((number.parse().ok()?, text))
}

/// `Write`: a whole file is written.
pub(super) fn write(call: &mut ToolCall<'_>) -> Detail {
    let proposed = call.input.text("content");
    let path = call.input.string("file_path").unwrap_or_default();
    let produced = &mut call.produced;
    // The text that was written, in case the person changed the proposal.
    let written = produced.text("content").or(proposed).unwrap_or_default();
    let new = match produced.text("type") {
        Some(kind) => Some(kind == "create"),
        None if call.failed => None,
        None if call.seen.starts_with("File created successfully") => Some(true),
        None if call.seen.contains("has been updated") => Some(false),
        None => None,
    };
    produced.drop(&["filePath"]);
    Detail::Write(Write {
        path,
        content: written.to_owned(),
        new,
        hunks: produced.take("structuredPatch", hunks).unwrap_or_default(),
        original: produced.string("originalFile"),
        user_modified: produced.flag("userModified"),
        appended: false,
    })
}

/// `Edit` and `MultiEdit`: texts in a file are replaced.
pub(super) fn edit(call: &mut ToolCall<'_>) -> Detail {
    let (input, produced) = (&mut call.input, &mut call.produced);
    let mut replacements = input.take("edits", edits).unwrap_or_default();
    let old = input.string("old_string");
    let new = input.string("new_string");
    let all = input.flag("replace_all");
    // What was applied: the person may have edited the proposal.
    let modified = produced.peek("userModified") == Some(&Value::Bool(true));
    let (old, new) = match (produced.text("oldString"), produced.text("newString")) {
        (Some(old), Some(new)) if modified => (Some(old.to_owned()), Some(new.to_owned())),
        _ => (old, new),
    };
    // A deletion has no new text, an insertion no old one.
    if old.is_some() || new.is_some() {
        replacements.push(Replacement { old: old.unwrap_or_default(), new: new.unwrap_or_default(), all });
    }
    // They repeat the input.
    produced.drop(&["filePath", "oldString", "newString", "replaceAll", "edits"]);
    Detail::Edit(Edit {
        path: input.string("file_path").unwrap_or_default(),
        replacements,
        hunks: produced.take("structuredPatch", hunks).unwrap_or_default(),
        original: produced.string("originalFile").or_else(|| produced.string("originalFileContents")),
        user_modified: produced.flag("userModified"),
    })
}

/// The list of `MultiEdit`.
fn edits(value: &Value) -> Option<Vec<Replacement>> {
    let replacement = |edit: &Value| Replacement {
        old: text(edit, "old_string").unwrap_or_default().to_owned(),
        new: text(edit, "new_string").unwrap_or_default().to_owned(),
        all: edit.get("replace_all").and_then(Value::as_bool).unwrap_or(false),
    };
    Some(value.as_array()?.iter().map(replacement).collect())
}

/// `structuredPatch`: hunks with true line numbers.
pub(super) fn hunks(value: &Value) -> Option<Vec<Hunk>> {
    let start = |hunk: &Value, key: &str| hunk.get(key).and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
    let hunk = |hunk: &Value| {
        let mut read = Hunk { old_start: start(hunk, "oldStart"), new_start: start(hunk, "newStart"), ..Hunk::default() };
        let lines = hunk.get("lines").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        lines.for_each(|line| read.take(line));
        read
    };
    Some(value.as_array()?.iter().map(hunk).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_off_lines() {
        assert_eq!(numbered("     9→a\n    10→\tb\n    11→"), Some(("a\n\tb\n".to_owned(), 9)));
        assert_eq!(numbered("1\ta\n2\tb"), Some(("a\nb".to_owned(), 1)));
        // A line that is broken inside, and one that looks numbered by itself.
        assert_eq!(numbered("     1→a\nrest\n     2→7→x"), Some(("a\nrest\n7→x".to_owned(), 1)));
        assert_eq!(numbered("no numbers"), None);
    }
}
