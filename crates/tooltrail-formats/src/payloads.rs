//! Payloads: the large values of records (inputs, results, texts, unknown records) on their way to a reader.
//!
//! A format finds out from the record as the log has it what a payload is, and hands on what a reader sees through [`Payloads`] alone,
//! which is where texts are redacted. So no marker, tag or id is missed because of a redaction, and no text gets past it.

use crate::joined;
use crate::value::{self, RedactFn};
use serde_json::Value;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::transcript::{HookStory, LoggedRequest, LoggedResult, Part};
use tooltrail_skim::Raw;

/// Bytes of a text that a title may be made of. Longer than any title, since the first line may come late.
const BEGINNING: usize = 4096;

/// The only way from payloads of records to values and texts: as the log has them, or redacted.
#[derive(Clone, Copy, Default)]
pub struct Payloads<'c> {
    change: Option<&'c RedactFn<'c>>,
    /// About the most bytes of each text in a value; all of them where `None`.
    most: Option<usize>,
}

impl<'c> Payloads<'c> {
    /// Payloads whose texts are changed as they are opened.
    pub fn changed(change: &'c RedactFn<'c>) -> Self {
        Payloads { change: Some(change), most: None }
    }

    /// Payloads of which a title is made: the beginning of each text is enough, and the rest is not even decoded.
    pub(crate) fn beginnings() -> Self {
        Payloads { change: None, most: Some(BEGINNING) }
    }

    /// A payload as a value.
    pub fn value(&self, bytes: &[u8]) -> Value {
        let mut value = match self.most {
            Some(most) => value::read_beginnings(bytes, most),
            None => value::read(bytes),
        };
        self.tree(&mut value);
        value
    }

    /// A text of the record.
    pub fn text(&self, text: Raw<'_>) -> String {
        self.decoded(text.text().into_owned())
    }

    /// A text that is decoded already: part of a string, or put together from several.
    pub fn decoded(&self, text: String) -> String {
        match self.change {
            Some(change) => change(text),
            None => text,
        }
    }

    /// Redacts the pieces of a result together, after each was redacted alone: a secret may be spread over several.
    pub(crate) fn together(&self, seen: &mut [Content]) {
        let Some(change) = self.change else { return };
        let texts = seen.iter_mut().filter_map(|content| match content {
            Content::Text { text } => Some(text),
            _ => None,
        });
        joined::again(texts.collect(), change);
    }

    fn each<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        texts.into_iter().for_each(|text| *text = self.decoded(std::mem::take(text)));
    }

    fn redact(&self, content: &mut Content) {
        match content {
            Content::Text { text } => self.each([text]),
            Content::Image(Image { media, data, source, .. }) => self.each(std::iter::once(media).chain(data).chain(source)),
            Content::Document { title, media, text, .. } => self.each(title.iter_mut().chain(media).chain(text)),
            Content::Tool { name } => self.each([name]),
            Content::Other { value } => self.tree(value),
        }
    }

    /// Redacts a value that was read as the log has it.
    pub(crate) fn tree(&self, value: &mut Value) {
        if let Some(change) = self.change {
            value::change(value, change);
        }
    }

    /// Redacts a part that was made of the record as the log has it.
    pub(crate) fn part(&self, part: &mut Part) {
        match part {
            Part::Prompt { text, .. } | Part::Text(text) | Part::Thinking(text) => self.each([text]),
            Part::Command { line, output } => self.each(std::iter::once(line).chain(output)),
            Part::Media(content) => self.redact(content),
            // Ids, not texts.
            Part::Call(_) | Part::Result(_) | Part::End(_) => {}
            Part::Folded { label, text } => self.each([label, text]),
            Part::Notice { title, text, .. } => self.each(std::iter::once(title).chain(text)),
            Part::Boundary { title, facts } => {
                self.each(std::iter::once(title).chain(facts.iter_mut().flat_map(|(name, fact)| [name, fact])))
            }
            Part::Hook(hook) => self.hook(hook),
            Part::Unknown { name, value } => {
                self.each([name]);
                self.tree(value);
            }
        }
    }

    /// Redacts what is said about the message of a request. Its input was redacted as it was opened.
    pub(crate) fn message(&self, asked: &mut LoggedRequest) {
        self.each(asked.tier.iter_mut().chain(&mut asked.message.request).chain(&mut asked.message.stopped));
    }

    /// Redacts a hook that was made of the record as the log has it.
    pub(crate) fn hook(&self, hook: &mut HookStory) {
        self.each(hook.event.iter_mut().chain(&mut hook.name).chain(&mut hook.command).chain(&mut hook.reason));
        self.each(hook.texts.iter_mut().flat_map(|(name, text)| [name, text]));
        hook.input.iter_mut().for_each(|input| self.tree(input));
    }

    /// Redacts a result that was made of the record as the log has it.
    pub(crate) fn answer(&self, answer: &mut LoggedResult) {
        answer.seen.iter_mut().for_each(|content| self.redact(content));
        // After each piece alone, because joining changes the texts only where a secret crosses pieces.
        self.together(&mut answer.seen);
        answer.produced.iter_mut().for_each(|produced| self.tree(produced));
        self.each(&mut answer.feedback);
    }
}

/// An agent's word for a state or a cause, with blanks: `rate_limit` becomes `rate limit`. Anything else stays as the log has it: a secret in
/// other letters would not be recognised afterwards.
pub(crate) fn spaced(word: &str) -> String {
    let plain = word.len() <= 64 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if plain { word.replace('_', " ") } else { word.to_owned() }
}

impl std::fmt::Debug for Payloads<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Payloads").field("changed", &self.change.is_some()).finish()
    }
}
