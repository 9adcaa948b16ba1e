//! Redaction of changes. The replay works on the original texts, or edits would not fit together; its result is redacted here, whole texts
//! at a time.

use crate::joined;
use crate::value::RedactFn;
use tooltrail_model::changes::FileText;
use tooltrail_model::changes::net::{FileNet, NetPart};
use tooltrail_model::patch::{Hunk, PatchLine};

/// Redacts changes.
pub fn private(files: &mut [FileNet], change: &RedactFn<'_>) {
    for file in files {
        for path in std::iter::once(&mut file.path).chain(&mut file.moved_from).chain(&mut file.moved_to) {
            *path = change(std::mem::take(path));
        }
        file.parts.iter_mut().for_each(|each| part(each, change));
    }
}

fn part(part: &mut NetPart, change: &RedactFn<'_>) {
    match part {
        NetPart::Net { before, after, .. } | NetPart::Outside { before, after, .. } => {
            [before, after].into_iter().for_each(|known| self::known(known, change));
        }
        NetPart::Pieces { hunks, after, .. } => {
            known(after, change);
            // As one text: a secret may go over several lines of a hunk.
            joined::change(hunks.iter_mut().flat_map(texts).collect(), change);
        }
    }
}

/// The texts of a hunk, in order.
fn texts(hunk: &mut Hunk) -> impl Iterator<Item = &mut String> {
    let lines = hunk.lines.iter_mut().map(|line| {
        let (PatchLine::Same(text) | PatchLine::Removed(text) | PatchLine::Added(text)) = line;
        text
    });
    hunk.context.iter_mut().chain(lines)
}

fn known(known: &mut FileText, change: &RedactFn<'_>) {
    if let FileText::Text(text) = known {
        *known = FileText::text(change(text.to_string()));
    }
}
