//! The search in one log: likely records are decoded and their texts searched. `resolve` finds out later which call or message they
//! belong to.

use super::snippet::snippet;
use super::{Query, TextSearch};
use crate::stop::{Stop, StoppableReader};
use std::cell::OnceCell;
use std::hash::BuildHasher;
use tooltrail_formats::lines::{Buffer, Turns};
use tooltrail_formats::value::Payloads;
use tooltrail_formats::{Format, Record, TypedRecord, records, saved};
use tooltrail_model::content::Content;
use tooltrail_model::filter::texts::{self, Field, RecordText};
use tooltrail_model::transcript::{LoggedResult, Part, Parts};
use tooltrail_model::{At, Time};
use tracing::{debug, warn};

/// A record with a match, with all of its texts: terms may be spread over several, and a term with `not:` must be missing in all.
#[derive(Debug)]
pub(crate) struct RecordTexts {
    pub(super) at: At,
    pub(super) time: Option<Time>,
    /// The session, as the record names it.
    pub(super) session: Option<Box<str>>,
    /// Whether it repeats another record of the log.
    pub(super) echo: bool,
    /// A fingerprint of the record's id or, without one, of its bytes. `None` without an id and a time: then equal records may be
    /// intended, and are no copies.
    pub(super) copy: Option<u64>,
    /// Whether it contains an image.
    pub(super) picture: bool,
    pub(super) pieces: Vec<OwnedTexts>,
}

/// Texts of a record that belong together: to a message, or to a call.
#[derive(Debug)]
pub(super) struct OwnedTexts {
    pub(super) whose: TextOwner,
    pub(super) texts: Vec<SearchedText>,
}

/// The owner of texts in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextOwner {
    /// The message that the record is.
    Message,
    /// The request of a call, by its id.
    Request(Box<str>),
    /// The result of a call, by its id.
    Result(Box<str>),
    /// Another record of how a call ended, by its id.
    End(Box<str>),
    /// The result of a call that the record only repeats.
    Mention(Box<str>),
}

/// A text that was looked through.
#[derive(Debug)]
pub(super) struct SearchedText {
    /// A fingerprint of the text.
    pub(super) print: u64,
    /// Fingerprints of its paragraphs, if it is a message: only messages are repeated in parts.
    pub(super) paragraphs: Vec<u64>,
    pub(super) found: Option<TextMatch>,
}

/// A match in a text.
#[derive(Clone, Debug)]
pub(crate) struct TextMatch {
    pub(crate) field: Field,
    /// The terms it has, a bit for each.
    pub(crate) terms: u64,
    /// Whether the text is output of a tool that the model did not see.
    pub(crate) produced: bool,
    pub(crate) snippet: String,
    pub(crate) matches: Vec<[usize; 2]>,
}

/// A text, and what was found in it.
type TextAndMatch = (RecordText, Option<TextMatch>);

/// Reads one log.
pub(super) struct LogSearcher<'r> {
    search: &'r TextSearch<'r>,
    query: &'r Query,
    path: &'r str,
    /// Makes fingerprints that are the same in the whole search.
    hasher: &'r foldhash::fast::RandomState,
    /// The end of the search.
    stop: Stop,
    /// Whether outputs may have been saved beside the log.
    beside: OnceCell<bool>,
    said: Vec<RecordTexts>,
}

impl<'r> LogSearcher<'r> {
    pub(super) fn new(search: &'r TextSearch<'r>, path: &'r str, hasher: &'r foldhash::fast::RandomState) -> Self {
        LogSearcher { search, query: search.query, path, hasher, stop: Stop::current(), beside: OnceCell::new(), said: Vec::new() }
    }

    /// Searches the log. One that cannot be opened, or not be read to its end, is searched as far as it goes.
    pub(super) fn read(mut self, turns: &Turns, buffer: &mut Buffer) -> Vec<RecordTexts> {
        let input = match self.search.disk.log(self.path) {
            Ok(input) => input,
            Err(error) => {
                warn!(path = ?self.path, %error, "cannot search a log");
                return self.said;
            }
        };
        let filter = self.query.prefilter();
        let (stop, input) = (Stop::current(), StoppableReader::new(input));
        let likely = |line: &[u8]| !stop.is_over() && filter.may_match(line);
        records::each_likely(input, buffer, turns, likely, |format, record, typed| self.record(format, record, typed));
        self.said
    }

    /// Searches some records of the log. A record that is no longer in its place has no match.
    pub(super) fn read_at(mut self, format: &dyn Format, places: &[At]) -> Vec<RecordTexts> {
        for &at in places.iter().filter(|at| at.span.len() <= records::LONGEST as u64) {
            let bytes = self.search.disk.bytes(self.path, at.span);
            let Some(bytes) = bytes.filter(|bytes| self.query.prefilter().may_match(bytes)) else { continue };
            let record = Record { at, bytes: &bytes };
            // The log was rewritten since it was linked, so these bytes are no record any more.
            if let Ok(typed) = format.open(record) {
                self.record(format, record, &*typed);
            }
        }
        self.said
    }

    fn record(&mut self, format: &dyn Format, record: Record<'_>, typed: &dyn TypedRecord) {
        let mut parts = typed.parts(Payloads::default());
        let all = std::mem::take(&mut parts.parts);
        let picture = all.iter().any(|part| matches!(part, Part::Media(Content::Image(_))));
        let mut pieces: Vec<(TextOwner, Vec<TextAndMatch>)> = Vec::new();
        // The results that are parts of this record. Others it only mentions, and must not count as a second result.
        let mut own_results: Vec<String> = Vec::new();
        for part in all {
            let (id, whose): (_, fn(Box<str>) -> TextOwner) = match part {
                Part::Result(id) => (id, TextOwner::Result),
                Part::End(id) => (id, TextOwner::End),
                other => {
                    pieces.push(self.searched(TextOwner::Message, texts::message(other)));
                    continue;
                }
            };
            if let Some(answered) = typed.result(&id, Payloads::default()) {
                pieces.push(self.searched(whose(id.as_str().into()), self.result(format, answered)));
            }
            own_results.push(id);
        }
        for id in &typed.calls() {
            if let Some(asked) = typed.request(id, Payloads::default()) {
                pieces.push(self.searched(TextOwner::Request(id.as_str().into()), texts::input(asked.input)));
            }
            // Texts in a script have escapes of its language; each call has them as they are.
            for inner in typed.inner_calls(id) {
                if let Some(asked) = typed.request(&inner, Payloads::default()) {
                    pieces.push(self.searched(TextOwner::Request(inner.into()), texts::input(asked.input)));
                }
            }
            if let Some(answered) = typed.result(id, Payloads::default()).filter(|_| !own_results.contains(id)) {
                pieces.push(self.searched(TextOwner::Mention(id.as_str().into()), self.result(format, answered)));
            }
        }
        // Fingerprints cost a pass over all texts, so they are made only for records with a match.
        let found = pieces.iter().flat_map(|(_, texts)| texts).any(|(_, found)| found.is_some());
        if found || (picture && self.query.pictures()) {
            let copy = self.copy(&parts, record.bytes);
            let session = parts.session.map(String::into_boxed_str);
            let pieces = pieces.into_iter().map(|(whose, texts)| self.looked(whose, texts)).collect();
            self.said.push(RecordTexts { at: record.at, time: parts.time, session, echo: parts.echo, copy, picture, pieces });
        }
    }

    /// The texts of a result; where the log has only a part of it, with the whole that was saved beside it.
    fn result(&self, format: &dyn Format, answered: LoggedResult) -> Vec<RecordText> {
        // Asked once per log: it means looking into the directory.
        let beside = *self.beside.get_or_init(|| saved::may_be_beside(self.path));
        let saved = if beside { format.saved(&answered) } else { None };
        let whole = saved.and_then(|path| {
            let read = saved::read(self.search.disk, self.path, &path);
            read.inspect_err(|error| debug!(log = ?self.path, %error, "cannot search an output that was saved beside its log")).ok()
        });
        // Decoding a saved output without a match would be wasted, and they may be large.
        let whole = whole.filter(|(bytes, _)| self.query.prefilter().may_match(bytes));
        let mut texts = texts::result(answered);
        texts.extend(whole.map(|(bytes, _)| RecordText::produced(String::from_utf8_lossy(&bytes))));
        texts
    }

    fn searched(&self, whose: TextOwner, texts: Vec<RecordText>) -> (TextOwner, Vec<TextAndMatch>) {
        let search = |text: RecordText| {
            let found = self.find(&text);
            (text, found)
        };
        (whose, texts.into_iter().map(search).collect())
    }

    /// Reduces texts to matches and fingerprints. Only texts that may turn out to be a message need the latter.
    fn looked(&self, whose: TextOwner, texts: Vec<TextAndMatch>) -> OwnedTexts {
        let (said, told) = (whose == TextOwner::Message, matches!(whose, TextOwner::Message | TextOwner::Result(_)));
        let look = |(text, found): TextAndMatch| {
            let pieces = said.then(|| text.text.split("\n\n").map(str::trim).filter(|piece| !piece.is_empty()));
            let paragraphs = pieces.into_iter().flatten().map(|piece| self.hasher.hash_one((text.field, piece))).collect();
            SearchedText { print: if told { self.hasher.hash_one(&text.text) } else { 0 }, paragraphs, found }
        };
        OwnedTexts { whose, texts: texts.into_iter().map(look).collect() }
    }

    fn find(&self, text: &RecordText) -> Option<TextMatch> {
        let (terms, first) = self.query.filter().find(&text.text, &mut || !self.stop.is_over())?;
        let (snippet, matches) = if self.query.shows() { snippet(self.query, &text.text, first) } else { Default::default() };
        Some(TextMatch { field: text.field, terms, produced: text.produced, snippet, matches })
    }

    /// A fingerprint that all copies of a record share besides their texts.
    fn copy(&self, parts: &Parts, bytes: &[u8]) -> Option<u64> {
        match &parts.id {
            Some(id) => Some(self.hasher.hash_one(id)),
            None => parts.time.map(|_| self.hasher.hash_one(bytes)),
        }
    }
}
