//! One log read: its likely records decoded, and their texts looked through. Whose a text is, is found out later.

use super::snippet::snippet;
use super::{Query, Search};
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

/// A record in which something was found, with all that it says: what is looked for may be in one part of it, and missing in another.
#[derive(Debug)]
pub(crate) struct Saying {
    pub(super) at: At,
    pub(super) time: Option<Time>,
    /// The session, as the record names it.
    pub(super) session: Option<Box<str>>,
    /// It repeats what another record of the log says.
    pub(super) echo: bool,
    /// The record's own id, or without one its bytes, as a fingerprint. Without a time, everything may be told twice and mean it.
    pub(super) copy: Option<u64>,
    /// Whether there is a picture among what it says.
    pub(super) picture: bool,
    pub(super) pieces: Vec<Piece>,
}

/// What a record says to somebody, or about a call.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) whose: Whose,
    pub(super) texts: Vec<Looked>,
}

/// What a piece belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// What the record itself says.
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
pub(super) struct Looked {
    /// The same for the same words.
    pub(super) print: u64,
    /// The same for each of its paragraphs, where it is said rather than answered: only that is repeated in pieces.
    pub(super) paragraphs: Vec<u64>,
    pub(super) found: Option<Found>,
}

/// What was found in a text.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) field: Field,
    /// The terms it has, a bit for each.
    pub(crate) terms: u64,
    /// It is what a tool produced beside what the model saw.
    pub(crate) produced: bool,
    pub(crate) snippet: String,
    pub(crate) matches: Vec<[usize; 2]>,
}

/// A text, and what was found in it.
type Searched = (RecordText, Option<Found>);

/// Reads one log.
pub(super) struct Reader<'r> {
    search: &'r Search<'r>,
    query: &'r Query,
    path: &'r str,
    /// Makes fingerprints that are the same in the whole search.
    hasher: &'r foldhash::fast::RandomState,
    /// Whether outputs may have been saved beside the log.
    beside: OnceCell<bool>,
    said: Vec<Saying>,
}

impl<'r> Reader<'r> {
    pub(super) fn new(search: &'r Search<'r>, path: &'r str, hasher: &'r foldhash::fast::RandomState) -> Self {
        Reader { search, query: search.query, path, hasher, beside: OnceCell::new(), said: Vec::new() }
    }

    /// Searches the log. One that cannot be opened, or not be read to its end, is searched as far as it goes.
    pub(super) fn read(mut self, turns: &Turns, buffer: &mut Buffer) -> Vec<Saying> {
        let input = match self.search.shelf.log(self.path) {
            Ok(input) => input,
            Err(error) => {
                warn!(path = ?self.path, %error, "cannot search a log");
                return self.said;
            }
        };
        let filter = self.query.prefilter();
        let likely = |line: &[u8]| filter.may_match(line);
        records::each_likely(input, buffer, turns, likely, |format, record, typed| self.record(format, record, typed));
        self.said
    }

    /// Searches some records of the log. What is not where it was has nothing.
    pub(super) fn read_at(mut self, format: &dyn Format, places: &[At]) -> Vec<Saying> {
        for &at in places.iter().filter(|at| at.span.len() <= records::LONGEST as u64) {
            let bytes = self.search.shelf.bytes(self.path, at.span);
            let Some(bytes) = bytes.filter(|bytes| self.query.prefilter().may_match(bytes)) else { continue };
            let record = Record { at, bytes: &bytes };
            // What is no record any more has nothing, either.
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
        let mut pieces: Vec<(Whose, Vec<Searched>)> = Vec::new();
        let mut told: Vec<String> = Vec::new();
        for part in all {
            let (id, whose): (_, fn(Box<str>) -> Whose) = match part {
                Part::Result(id) => (id, Whose::Result),
                Part::End(id) => (id, Whose::End),
                other => {
                    pieces.push(self.searched(Whose::Message, texts::message(other)));
                    continue;
                }
            };
            if let Some(answered) = typed.result(&id, Payloads::default()) {
                pieces.push(self.searched(whose(id.as_str().into()), self.result(format, answered)));
            }
            told.push(id);
        }
        for id in &typed.calls() {
            if let Some(asked) = typed.request(id, Payloads::default()) {
                pieces.push(self.searched(Whose::Request(id.as_str().into()), texts::input(asked.input)));
            }
            if let Some(answered) = typed.result(id, Payloads::default()).filter(|_| !told.contains(id)) {
                pieces.push(self.searched(Whose::Mention(id.as_str().into()), self.result(format, answered)));
            }
        }
        let found = pieces.iter().flat_map(|(_, texts)| texts).any(|(_, found)| found.is_some());
        if found || (picture && self.query.pictures()) {
            let copy = self.copy(&parts, record.bytes);
            let session = parts.session.map(String::into_boxed_str);
            let pieces = pieces.into_iter().map(|(whose, texts)| self.looked(whose, texts)).collect();
            self.said.push(Saying { at: record.at, time: parts.time, session, echo: parts.echo, copy, picture, pieces });
        }
    }

    /// The texts of a result; where the log has only a part of it, with the whole that was saved beside it.
    fn result(&self, format: &dyn Format, answered: LoggedResult) -> Vec<RecordText> {
        let beside = *self.beside.get_or_init(|| saved::may_be_beside(self.path));
        let saved = if beside { format.saved(&answered) } else { None };
        let whole = saved.and_then(|path| {
            let read = saved::read(self.search.shelf, self.path, &path);
            read.inspect_err(|error| debug!(log = ?self.path, %error, "cannot search an output that was saved beside its log")).ok()
        });
        let whole = whole.filter(|(bytes, _)| self.query.prefilter().may_match(bytes));
        let mut texts = texts::result(answered);
        texts.extend(whole.map(|(bytes, _)| RecordText::produced(String::from_utf8_lossy(&bytes))));
        texts
    }

    fn searched(&self, whose: Whose, texts: Vec<RecordText>) -> (Whose, Vec<Searched>) {
        let search = |text: RecordText| {
            let found = self.find(&text);
            (text, found)
        };
        (whose, texts.into_iter().map(search).collect())
    }

    /// What is kept of texts. Fingerprints are needed of what may turn out to be a message.
    fn looked(&self, whose: Whose, texts: Vec<Searched>) -> Piece {
        let (said, told) = (whose == Whose::Message, matches!(whose, Whose::Message | Whose::Result(_)));
        let look = |(text, found): Searched| {
            let pieces = said.then(|| text.text.split("\n\n").map(str::trim).filter(|piece| !piece.is_empty()));
            let paragraphs = pieces.into_iter().flatten().map(|piece| self.hasher.hash_one((text.field, piece))).collect();
            Looked { print: if told { self.hasher.hash_one(&text.text) } else { 0 }, paragraphs, found }
        };
        Piece { whose, texts: texts.into_iter().map(look).collect() }
    }

    fn find(&self, text: &RecordText) -> Option<Found> {
        let (terms, first) = self.query.filter().find(&text.text)?;
        let (snippet, matches) = if self.query.shows() { snippet(self.query, &text.text, first) } else { Default::default() };
        Some(Found { field: text.field, terms, produced: text.produced, snippet, matches })
    }

    /// What all copies of a record share besides their words.
    fn copy(&self, parts: &Parts, bytes: &[u8]) -> Option<u64> {
        match &parts.id {
            Some(id) => Some(self.hasher.hash_one(id)),
            None => parts.time.map(|_| self.hasher.hash_one(bytes)),
        }
    }
}
