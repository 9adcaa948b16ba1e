//! Redaction of the names and paths in rows, which are borrowed from summaries. What is read from records is redacted as it is opened,
//! by `Payloads`.

use crate::value::RedactFn;
use tooltrail_model::row::{CallRow, Place, SessionRow};
use tooltrail_model::transcript::Transcript;
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
        // Names of tools and models come from servers and settings, where people put what they like.
        self.text(&mut row.session);
        self.text(&mut row.tool);
        for name in
            [&mut row.server, &mut row.unwrapped, &mut row.model, &mut row.message, &mut row.agent_id, &mut row.child_session, &mut row.cwd]
        {
            self.maybe(name);
        }
        self.place(&mut row.evidence);
        self.place(&mut row.request);
        for place in [&mut row.result, &mut row.copy_of].into_iter().flatten() {
            self.place(place);
        }
        if let Some(background) = &mut row.background {
            self.maybe(&mut background.id);
            self.place(&mut background.evidence);
        }
        for hook in &mut row.hooks {
            self.maybe(&mut hook.event);
            self.maybe(&mut hook.name);
            self.maybe(&mut hook.command);
            self.place(&mut hook.evidence);
        }
    }

    /// Redacts the row of a session.
    fn session(self, row: &mut SessionRow<'a>) {
        self.text(&mut row.session);
        self.maybe(&mut row.title);
        self.maybe(&mut row.project);
        self.maybe(&mut row.branch);
        for text in row.files.iter_mut().chain(&mut row.models) {
            self.text(text);
        }
    }

    /// Redacts a text that is owned.
    pub(super) fn own(self, text: &mut String) {
        *text = (self.change)(std::mem::take(text));
    }

    /// Redacts what a transcript says beside its rows: names of subagents, versions, modes.
    pub(super) fn transcript(self, transcript: &mut Transcript<'a>) {
        self.session(&mut transcript.session);
        let agents = transcript.threads.iter_mut().filter_map(|thread| thread.agent.as_mut());
        let settings = &mut transcript.settings;
        let modes = settings.permissions.iter_mut().map(|change| &mut change.mode.words);
        agents.chain(&mut settings.versions).chain(modes).chain(&mut transcript.copied_from).for_each(|text| self.own(text));
    }
}
