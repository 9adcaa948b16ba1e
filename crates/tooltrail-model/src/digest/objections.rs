//! Objections of hooks for the digest: what a hook said against the work where it refused no call.

use super::{Cited, DigestHook};
use crate::book::{Book, Selection};
use crate::position::file_of;
use crate::transcript::HookObjection;

/// Objections of hooks that refused no call.
pub(super) fn of(book: &dyn Book, selection: &Selection) -> Vec<DigestHook> {
    let transcript = book.transcript();
    let selected = transcript.objections.iter().filter(|objection| selection.takes_turn(objection.turn));
    let objections = selected.map(|HookObjection { hook, call, spot, .. }| {
        // A hook at the end of a turn belongs to no call.
        let cited = call.and_then(|index| Some((index, transcript.calls.get(index)?))).map(|(index, entry)| Cited {
            r#ref: entry.row.r#ref.clone(),
            call: entry.row.call.to_owned(),
            number: entry.number,
            index,
            ..Cited::default()
        });
        DigestHook {
            event: hook.event.clone(),
            by: hook.command.clone().or_else(|| hook.name.clone()),
            why: hook.reason.clone(),
            r#ref: cited.as_ref().map(|cited| cited.r#ref.clone()),
            file: book.file(spot.source).map(file_of).unwrap_or_default().to_owned(),
            // A record in a database is no line of a file, so a line number would lead nowhere.
            line: book.row(*spot).is_none().then_some(spot.at.line),
            cited,
        }
    });
    objections.collect()
}
