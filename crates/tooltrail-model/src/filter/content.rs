//! Questions about an opened call or message: its command, its files, its pictures. `texts` has its texts.

use crate::book::Loaded;
use crate::content::Content;
use crate::detail::{Detail, ReadGot};
use crate::transcript::Part;

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

/// Passes to `each` the files that a call is about: read, written, changed, viewed, or searched.
pub fn files(loaded: &Loaded<'_>, each: &mut dyn FnMut(&str)) {
    if let Loaded::Call(story) = loaded {
        paths(&story.told.detail, each);
    }
}

/// Passes to `each` the files that a call in neutral form is about.
pub fn paths(detail: &Detail, each: &mut dyn FnMut(&str)) {
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
                // Both names of a moved file count: the person may know either.
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

/// Whether it contains a picture.
pub fn has_image(loaded: &Loaded<'_>) -> bool {
    let is_image = |content: &Content| matches!(content, Content::Image(_));
    match loaded {
        // The picture may be part of what the model saw, or only of what the tool produced.
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
