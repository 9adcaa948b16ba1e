//! One call taken apart: its effect on each file it is about.

use super::{absolute, commands};
use tooltrail_model::changes::{Did, FileText, How};
use tooltrail_model::detail::{Detail, Detailed, Read, ReadGot};
use tooltrail_model::row::CallRow;
use tooltrail_model::{Kind, Status};

/// The effect of a call on a file.
pub(super) struct FileEffect {
    /// The file.
    pub(super) path: String,
    /// The kind of effect, with its texts.
    pub(super) did: Did,
}

impl FileEffect {
    /// The files concerned: its own, and the one it is moved to.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.path).chain(self.did.other_path())
    }

    /// Whether the file changed, or may have.
    pub(super) fn changes(&self) -> bool {
        self.did.changes()
    }
}

/// How a patch begins that a request may hold.
const PATCH: &[u8] = b"*** Begin Patch";

/// Whether a call can concern a file: by its kind, or because its request holds a patch.
pub(super) fn may_touch_files(kind: Kind, request: impl FnOnce() -> Option<Vec<u8>>) -> bool {
    // The request is loaded only if the kind does not settle it.
    matches!(kind, Kind::Read | Kind::Write | Kind::Edit | Kind::Shell)
        || request().is_some_and(|bytes| memchr::memmem::find(&bytes, PATCH).is_some())
}

/// The effects of a call on files. A call that failed or never ran has none.
pub(super) fn of(row: &CallRow<'_>, told: Detailed) -> Vec<FileEffect> {
    if let Detail::Shell(shell) = &told.detail {
        return commands::of(row, shell, told.saved.is_some());
    }
    let unclear = match row.status {
        Status::Succeeded => false,
        // Nothing proves that a call in a script ran at all.
        Status::Answered if row.is_inner() || row.unwrapped.is_some() => return doubted(row, told),
        // The log does not say whether it worked.
        Status::Answered => true,
        _ => return Vec::new(),
    };
    named(row, told, unclear)
}

/// The files that a call in a script names, where nothing proves that it worked: their text is not certain any more.
fn doubted(row: &CallRow<'_>, told: Detailed) -> Vec<FileEffect> {
    let named = named(row, told, true).into_iter().filter(FileEffect::changes);
    named.map(|effect| FileEffect { did: Did::Doubted, ..effect }).collect()
}

/// The files that a call names, and what it did to them. `unclear`: whether its outcome is unknown.
fn named(row: &CallRow<'_>, told: Detailed, unclear: bool) -> Vec<FileEffect> {
    let directory = directory(row, &told);
    let place = |path: &str| absolute(path, directory.as_deref());
    let one = |path: String, did: Did| if path.is_empty() { Vec::new() } else { vec![FileEffect { path: place(&path), did }] };
    match told.detail {
        Detail::Read(read) => {
            whole(&read).map(|text| one(read.path.clone(), Did::Saw(FileText::text(text), How::Read))).unwrap_or_default()
        }
        // The rest of the file is not in the log.
        Detail::Write(write) if write.appended => one(write.path, Did::Unclear),
        Detail::Write(write) => one(write.path.clone(), if unclear { Did::Unclear } else { Did::Wrote(write) }),
        // Changed by line or by pattern: the texts are not in the log.
        Detail::Edit(edit) if edit.replacements.is_empty() && edit.hunks.is_empty() && !edit.user_modified => one(edit.path, Did::Unclear),
        Detail::Edit(edit) => one(edit.path.clone(), if unclear { Did::Unclear } else { Did::Edited(edit) }),
        // What becomes of the file's own text is not in the log.
        Detail::Notebook(notebook) => one(notebook.path, Did::Unclear),
        Detail::Patch(patch) => {
            let file = |mut file: tooltrail_model::patch::FilePatch| {
                // Made absolute before replay, which compares paths as texts.
                file.moved_to = file.moved_to.map(|to| place(&to));
                let path = place(&file.path);
                // If the outcome is unknown, the target of a move may have been overwritten as well.
                let moved = file.moved_to.clone().filter(|_| unclear);
                let own = FileEffect { path, did: if unclear { Did::Unclear } else { Did::Patched(file) } };
                std::iter::once(own).chain(moved.map(|path| FileEffect { path, did: Did::Unclear }))
            };
            patch.files.into_iter().filter(|file| !file.path.is_empty()).flat_map(file).collect()
        }
        _ => Vec::new(),
    }
}

/// The files that a request is about, whatever came of it.
pub(super) fn asked(row: &CallRow<'_>, told: Detailed) -> Vec<FileEffect> {
    let directory = directory(row, &told);
    match told.detail {
        // Without a result a read has no text, so only the path counts.
        Detail::Read(read) => vec![FileEffect { path: absolute(&read.path, directory.as_deref()), did: Did::Unclear }],
        _ => of(row, told),
    }
}

/// The text of a file, if a read returned all of it.
fn whole(read: &Read) -> Option<&str> {
    let ReadGot::Text { text, first: 0 | 1, total: Some(total) } = &read.got else { return None };
    // The empty line behind a final line feed is counted, too.
    (text.split('\n').count() as u64 == *total).then_some(text)
}

/// The directory that paths are relative to: the call's, or the one in which a command applies its patch.
fn directory(row: &CallRow<'_>, told: &Detailed) -> Option<String> {
    let own = row.cwd.map(str::to_owned);
    if !matches!(told.detail, Detail::Patch(_)) {
        return own;
    }
    let text = |key: &str| told.rest_input.get(key).and_then(|value| value.as_str());
    let own = match text("workdir") {
        Some(workdir) => Some(absolute(workdir, own.as_deref())),
        None => own,
    };
    // `cd web && apply_patch`: the reader of the patch leaves the words before it in the rest of the input.
    let moved = ["cmd", "command"].into_iter().find_map(text).and_then(|line| line.trim().strip_prefix("cd ")?.trim().strip_suffix("&&"));
    // A directory that a shell would expand or split cannot be known.
    let plain = |word: &&str| !word.is_empty() && !word.contains([' ', '$', '`', '*', '"', '\'', '&', ';', '|']);
    match moved.map(str::trim).filter(plain) {
        Some(inner) => Some(absolute(inner, own.as_deref())),
        None => own,
    }
}
