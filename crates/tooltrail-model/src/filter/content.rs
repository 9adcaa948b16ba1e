//! What can be looked for in a call or message that has been opened: its texts, its command, its files, its pictures.

use crate::book::Loaded;
use crate::content::Content;
use crate::detail::{Detail, ReadGot};
use crate::status::words;
use crate::transcript::{Part, Story};
use serde_json::Value;

words! {
    /// Where a text stands.
    Field {
        /// What a person said.
        Prompt => "prompt",
        /// What the model said, and what the agent's program put in.
        Text => "text",
        /// What the model thought.
        Thinking => "thinking",
        /// What a call asked for.
        Input => "input",
        /// What came back.
        Result => "result",
        /// A file that a call is about.
        Path => "path",
    }
}

/// Gives `each` the texts in which words are looked for, with the field that each stands in. What is told twice may come twice.
pub fn texts(loaded: &Loaded<'_>, each: &mut dyn FnMut(Field, &str)) {
    match loaded {
        Loaded::Call(story) => of_call(story, each),
        Loaded::Part(part) => of_part(part, each),
        Loaded::Gone(_) => {}
    }
}

fn of_call(story: &Story<'_>, each: &mut dyn FnMut(Field, &str)) {
    paths(&story.told.detail, &mut |path| each(Field::Path, path));
    strings(&story.input, &mut |text| each(Field::Input, text));
    let Some(answer) = &story.answer else { return };
    for content in &answer.seen {
        of_content(content, Field::Result, each);
    }
    if let Some(produced) = &answer.produced {
        strings(produced, &mut |text| each(Field::Result, text));
    }
    answer.feedback.iter().for_each(|text| each(Field::Result, text));
    if let Some(Ok(text)) = story.side.as_ref().map(|side| &side.text) {
        each(Field::Result, text);
    }
}

fn of_part(part: &Part, each: &mut dyn FnMut(Field, &str)) {
    match part {
        Part::Prompt { text, .. } => each(Field::Prompt, text),
        Part::Command { line, output } => {
            each(Field::Prompt, line);
            output.iter().for_each(|text| each(Field::Text, text));
        }
        Part::Text(text) | Part::Folded { text, .. } => each(Field::Text, text),
        Part::Thinking(text) => each(Field::Thinking, text),
        Part::Media(content) => of_content(content, Field::Prompt, each),
        Part::Notice { title, text, .. } => {
            each(Field::Text, title);
            text.iter().for_each(|text| each(Field::Text, text));
        }
        Part::Boundary { title, .. } => each(Field::Text, title),
        Part::Hook(hook) => hook.texts.iter().for_each(|(_, text)| each(Field::Text, text)),
        Part::Unknown { value, .. } => strings(value, &mut |text| each(Field::Text, text)),
        Part::Call(_) | Part::Result(_) | Part::End(_) => {}
    }
}

fn of_content(content: &Content, field: Field, each: &mut dyn FnMut(Field, &str)) {
    match content {
        Content::Text { text } => each(field, text),
        Content::Document { title, text, .. } => title.iter().chain(text).for_each(|text| each(field, text)),
        Content::Tool { name } => each(field, name),
        Content::Other { value } => strings(value, &mut |text| each(field, text)),
        Content::Image(_) => {}
    }
}

/// The texts in a value, however deep: not by calling itself, since a log may nest without end.
fn strings(value: &Value, each: &mut dyn FnMut(&str)) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            // Pictures are no text, and large.
            Value::String(text) if is_media(text) => {}
            Value::String(text) => each(text),
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(fields) => open.extend(fields.values().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Whether a text is bytes written as letters: long, and without any space.
fn is_media(text: &str) -> bool {
    text.len() > 4096 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b':' | b';' | b','))
}

/// The command line of a call that runs one.
pub fn command<'l>(loaded: &'l Loaded<'_>) -> Option<&'l str> {
    match loaded {
        Loaded::Call(story) => match &story.told.detail {
            Detail::Shell(shell) => Some(&shell.command),
            _ => None,
        },
        _ => None,
    }
}

/// Gives `each` the files that a call is about: what it reads, writes, changes, looks at, or searches in.
pub fn files(loaded: &Loaded<'_>, each: &mut dyn FnMut(&str)) {
    if let Loaded::Call(story) = loaded {
        paths(&story.told.detail, each);
    }
}

fn paths(detail: &Detail, each: &mut dyn FnMut(&str)) {
    let mut some = |path: &str| {
        if !path.is_empty() {
            each(path);
        }
    };
    match detail {
        Detail::Read(read) => some(&read.path),
        Detail::Write(write) => some(&write.path),
        Detail::Edit(edit) => some(&edit.path),
        Detail::Notebook(notebook) => some(&notebook.path),
        Detail::Patch(patch) => {
            for file in &patch.files {
                some(&file.path);
                file.moved_to.iter().for_each(|path| some(path));
            }
        }
        Detail::List(list) => some(&list.path),
        Detail::Glob(glob) => glob.path.iter().for_each(|path| some(path)),
        Detail::Grep(grep) => grep.path.iter().for_each(|path| some(path)),
        Detail::Lsp(lsp) => lsp.path.iter().for_each(|path| some(path)),
        Detail::Picture(picture) => picture.path.iter().for_each(|path| some(path)),
        _ => {}
    }
}

/// Whether there is a picture in it.
pub fn has_image(loaded: &Loaded<'_>) -> bool {
    let is_image = |content: &Content| matches!(content, Content::Image(_));
    match loaded {
        Loaded::Call(story) => {
            let seen = story.answer.as_ref().is_some_and(|answer| answer.seen.iter().any(is_image));
            seen || match &story.told.detail {
                Detail::Read(read) => match &read.got {
                    ReadGot::Image(_) => true,
                    ReadGot::Pdf { images, .. } => !images.is_empty(),
                    ReadGot::Notebook(cells) => cells.iter().any(|cell| !cell.images.is_empty()),
                    _ => false,
                },
                Detail::Shell(shell) => shell.image.is_some(),
                Detail::Picture(picture) => picture.image.is_some(),
                _ => false,
            }
        }
        Loaded::Part(Part::Media(content)) => is_image(content),
        _ => false,
    }
}
