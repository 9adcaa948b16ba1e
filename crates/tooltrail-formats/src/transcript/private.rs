//! Redaction of the names and paths in rows, which are borrowed from summaries. What is read from records is redacted as it is opened,
//! by `Payloads`.

use crate::value::RedactFn;
use tooltrail_model::row::{CallRow, Place, SessionRow};
use typed_arena::Arena;

/// Redaction of rows, with the arena that keeps the changed texts.
#[derive(Clone, Copy)]
pub struct Private<'a> {
    /// Changes a text.
    pub change: &'a RedactFn<'a>,
    /// Keeps changed texts for as long as rows borrow them.
    pub words: &'a Arena<String>,
}

impl std::fmt::Debug for Private<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Private")
    }
}

impl<'a> Private<'a> {
    /// Changes a text that is borrowed.
    pub(super) fn text(self, text: &mut &'a str) {
        let changed = (self.change)((*text).to_owned());
        // Most texts are unchanged, and the arena only grows.
        if changed != *text {
            *text = self.words.alloc(changed);
        }
    }

    fn maybe(self, text: &mut Option<&'a str>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn place(self, place: &mut Place<'a>) {
        self.text(&mut place.file);
    }

    /// Redacts the row of a call.
    pub(super) fn call(self, row: &mut CallRow<'a>) {
        self.maybe(&mut row.cwd);
        self.place(&mut row.evidence);
        self.place(&mut row.request);
        for place in [&mut row.result, &mut row.copy_of].into_iter().flatten() {
            self.place(place);
        }
        if let Some(background) = &mut row.background {
            self.place(&mut background.evidence);
        }
        for hook in &mut row.hooks {
            self.maybe(&mut hook.name);
            self.maybe(&mut hook.command);
            self.place(&mut hook.evidence);
        }
    }

    /// Redacts the row of a session.
    pub(super) fn session(self, row: &mut SessionRow<'a>) {
        self.maybe(&mut row.title);
        self.maybe(&mut row.project);
        self.maybe(&mut row.branch);
        for file in &mut row.files {
            self.text(file);
        }
    }
}
