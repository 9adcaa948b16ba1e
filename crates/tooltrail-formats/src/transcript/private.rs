//! What is taken out of a transcript before anybody sees it: out of the names and paths in rows, which are borrowed, and out of
//! everything that was taken from records. Records themselves are read as they are, so that whatever is told by an id, a marker or a
//! tag is the same with and without.

use crate::joined;
use crate::value::{self, Change};
use tooltrail_model::content::{Content, Image};
use tooltrail_model::row::{CallRow, Place, SessionRow};
use tooltrail_model::transcript::{Answered, HookStory, Part};
use typed_arena::Arena;

/// How texts are changed, and where those that rows borrow are kept.
#[derive(Clone, Copy)]
pub struct Private<'a> {
    /// Changes a text.
    pub change: &'a Change<'a>,
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

    /// Takes out of a call's row what should not be seen.
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

    /// The same for a session's row.
    pub(super) fn session(self, row: &mut SessionRow<'a>) {
        self.maybe(&mut row.title);
        self.maybe(&mut row.project);
        self.maybe(&mut row.branch);
        for file in &mut row.files {
            self.text(file);
        }
    }
}

/// Changes a text.
fn word(text: &mut String, change: &Change<'_>) {
    *text = change(std::mem::take(text));
}

fn words<'t>(texts: impl IntoIterator<Item = &'t mut String>, change: &Change<'_>) {
    texts.into_iter().for_each(|text| word(text, change));
}

/// Takes out of a message what should not be seen.
pub(super) fn part(part: &mut Part, change: &Change<'_>) {
    match part {
        Part::Prompt { text, .. } | Part::Text(text) | Part::Thinking(text) => word(text, change),
        Part::Command { line, output } => words(std::iter::once(line).chain(output), change),
        Part::Media(content) => self::content(content, change),
        Part::Call(_) | Part::Result(_) | Part::End(_) => {}
        Part::Folded { label, text } => words([label, text], change),
        Part::Notice { title, text, .. } => words(std::iter::once(title).chain(text), change),
        Part::Boundary { title, facts } => words(std::iter::once(title).chain(facts.iter_mut().map(|(_, fact)| fact)), change),
        Part::Hook(hook) => self::hook(hook, change),
        Part::Unknown { value, .. } => value::change(value, change),
    }
}

/// The same for a piece of a message or a result.
fn content(content: &mut Content, change: &Change<'_>) {
    match content {
        Content::Text { text } => word(text, change),
        Content::Image(Image { data, source, .. }) => words(data.iter_mut().chain(source), change),
        Content::Document { title, text, .. } => words(title.iter_mut().chain(text), change),
        Content::Tool { .. } => {}
        Content::Other { value } => value::change(value, change),
    }
}

/// The same for a hook.
pub(super) fn hook(hook: &mut HookStory, change: &Change<'_>) {
    words(hook.name.iter_mut().chain(&mut hook.command), change);
    words(hook.texts.iter_mut().map(|(_, text)| text), change);
}

/// The same for what came back of a call.
pub(super) fn answer(answer: &mut Answered, change: &Change<'_>) {
    answer.seen.iter_mut().for_each(|seen| content(seen, change));
    // One text may come in several pieces.
    let texts = answer.seen.iter_mut().filter_map(|seen| match seen {
        Content::Text { text } => Some(text),
        _ => None,
    });
    joined::again(texts.collect(), change);
    answer.produced.iter_mut().for_each(|produced| value::change(produced, change));
    words(&mut answer.feedback, change);
}
