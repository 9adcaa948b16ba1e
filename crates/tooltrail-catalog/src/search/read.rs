//! One log searched: its likely records decoded, and their texts looked through.

use super::group::{Group, Index, Role};
use super::query::Query;
use super::snippet::snippet;
use super::{Shelves, Takes};
use crate::Map;
use std::hash::{BuildHasher, Hash, Hasher};
use tooltrail_formats::lines::Buffer;
use tooltrail_formats::texts::{self, Field, Text};
use tooltrail_formats::{Format, Opened, Record, records, value};
use tooltrail_model::Time;
use tooltrail_model::link::Linked;
use tooltrail_model::transcript::{Part, Parts, Spot};

/// A text that has some of the terms.
#[derive(Debug)]
pub(super) struct Find {
    pub(super) field: Field,
    pub(super) spot: Spot,
    pub(super) time: Option<Time>,
    /// The terms it has, a bit for each.
    pub(super) terms: u64,
    /// It is what a tool produced beside what the model saw.
    pub(super) produced: bool,
    /// For a result without a call: the call it names.
    pub(super) names: Option<String>,
    pub(super) snippet: String,
    pub(super) matches: Vec<[usize; 2]>,
}

/// A message that has all of the terms.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) session: usize,
    pub(super) spot: Spot,
    pub(super) time: Option<Time>,
    /// The same for all copies of the record.
    pub(super) copy: Option<u64>,
    /// It repeats what another record of the log says.
    pub(super) echo: bool,
    /// Fingerprints of what it says, a paragraph each.
    pub(super) paragraphs: Vec<u64>,
    pub(super) finds: Vec<Find>,
}

/// What was found in one log.
#[derive(Debug, Default)]
pub(super) struct Finds {
    pub(super) messages: Vec<Message>,
    /// Finds of calls, each with the call in `Linked::calls`.
    pub(super) calls: Vec<(usize, Find)>,
}

/// Reads one log.
pub(super) struct Reader<'r, 'a> {
    pub(super) linked: &'r Linked<'a>,
    pub(super) query: &'r Query,
    pub(super) takes: &'r dyn Takes,
    pub(super) group: &'r Group,
    pub(super) source: usize,
    /// Makes fingerprints that are the same in the whole search.
    pub(super) hasher: &'r foldhash::fast::RandomState,
    /// The sessions that the log's own names for them mean.
    sessions: Map<String, Option<usize>>,
    found: Finds,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(super) fn new(
        linked: &'r Linked<'a>,
        query: &'r Query,
        takes: &'r dyn Takes,
        group: &'r Group,
        source: usize,
        hasher: &'r foldhash::fast::RandomState,
    ) -> Self {
        Reader { linked, query, takes, group, source, hasher, sessions: Map::default(), found: Finds::default() }
    }

    /// Searches the log. One that cannot be opened, or not be read to its end, is searched as far as it goes.
    pub(super) fn read(mut self, shelves: &Shelves<'_>, buffer: &mut Buffer) -> Finds {
        let entry = self.linked.sources[self.source];
        let (true, Ok(input)) = (entry.summary.agent.is_some(), shelves.shelf.log(&entry.path)) else { return self.found };
        let filter = &self.query.prefilter;
        records::each_likely(input, buffer, &shelves.turns, |line| filter.may_match(line), |format, record| self.record(format, record));
        self.found
    }

    fn record(&mut self, format: &dyn Format, record: Record<'_>) {
        let value = value::read(record.bytes);
        let opened = Opened { line: record.at.line, value: &value };
        let spot = Spot { source: self.source, at: record.at };
        let parts = format.parts(opened);
        let index = self.group.index(self.linked);
        for (role, call) in index.at(self.linked, self.source, record.at) {
            let id = self.linked.id(self.linked.calls[call].id);
            let texts = match role {
                Role::Request => format.asked(opened, id).map(|asked| texts::input(asked.input)),
                Role::Result => format.answered(opened, id).map(texts::result),
            };
            self.of_call(call, texts.unwrap_or_default(), spot, parts.time);
        }
        self.message(format, opened, parts, spot, record.bytes, index);
    }

    fn of_call(&mut self, call: usize, texts: Vec<Text>, spot: Spot, time: Option<Time>) {
        if !self.takes.call(&self.linked.calls[call]) {
            return;
        }
        let finds: Vec<Find> = texts.into_iter().filter_map(|text| self.find(&text, spot, time)).collect();
        self.found.calls.extend(finds.into_iter().map(|find| (call, find)));
    }

    fn find(&self, text: &Text, spot: Spot, time: Option<Time>) -> Option<Find> {
        let (terms, first) = self.query.find(&text.text)?;
        let (snippet, matches) = snippet(self.query, &text.text, first);
        Some(Find { field: text.field, spot, time, terms, produced: text.produced, names: None, snippet, matches })
    }

    /// What a record says besides what it says about the calls that stand in it.
    fn message(&mut self, format: &dyn Format, opened: Opened<'_>, mut parts: Parts, spot: Spot, bytes: &[u8], index: &Index) {
        let mut said: Vec<(Text, Option<String>)> = Vec::new();
        for part in std::mem::take(&mut parts.parts) {
            match part {
                Part::Result(id) => match self.other_result(&id, spot, index) {
                    Other::Nobodys => {
                        let texts = format.answered(opened, &id).map(texts::result).unwrap_or_default();
                        said.extend(texts.into_iter().map(|text| (text, Some(id.clone()))));
                    }
                    Other::Of(call) => {
                        self.of_call(call, format.answered(opened, &id).map(texts::result).unwrap_or_default(), spot, parts.time)
                    }
                    Other::Known => {}
                },
                Part::End(id) => {
                    if let Some(call) = self.ended(&id, spot, index) {
                        let texts = format.answered(opened, &id).map(texts::result).unwrap_or_default();
                        let produced = texts.into_iter().map(|text| Text { produced: true, ..text }).collect();
                        self.of_call(call, produced, spot, parts.time);
                    }
                }
                part => said.extend(texts::message(part).into_iter().map(|text| (text, None))),
            }
        }
        let finds: Vec<Find> = said
            .iter()
            .filter(|(text, _)| self.query.wants(text.field))
            .filter_map(|(text, names)| Some(Find { names: names.clone(), ..self.find(text, spot, parts.time)? }))
            .collect();
        if finds.iter().fold(0, |terms, find| terms | find.terms) != self.query.all() {
            return;
        }
        let Some(session) = self.session(parts.session.as_deref()).filter(|&session| self.takes.message(session)) else { return };
        let said: Vec<&Text> = said.iter().map(|(text, _)| text).collect();
        let copy = self.copy(&parts, &said, bytes);
        let paragraphs = said.iter().flat_map(|text| self.paragraphs(text)).collect();
        self.found.messages.push(Message { session, spot, time: parts.time, copy, echo: parts.echo, paragraphs, finds });
    }

    /// Whose a result is that is not where its call has its own.
    fn other_result(&self, id: &str, spot: Spot, index: &Index) -> Other {
        let Some(number) = index.named(self.linked, self.source, id) else { return Other::Nobodys };
        let call = &self.linked.calls[number];
        match self.linked.result_spot(call) {
            _ if call.copy_of.is_some() => Other::Known,
            Some((source, at)) if source == spot.source && at != spot.at => Other::Of(number),
            _ => Other::Known,
        }
    }

    /// The call whose end a record tells, if that is not already one of the call's own records.
    fn ended(&self, id: &str, spot: Spot, index: &Index) -> Option<usize> {
        let number = index.named(self.linked, self.source, id)?;
        let call = &self.linked.calls[number];
        let own = self.linked.result_spot(call) == Some((spot.source, spot.at));
        (call.copy_of.is_none() && !own).then_some(number)
    }

    /// The session that a record belongs to; those of some agents leave it to the log to say.
    fn session(&mut self, name: Option<&str>) -> Option<usize> {
        if let Some(&known) = self.sessions.get(name.unwrap_or_default()) {
            return known;
        }
        let own = |number: &&usize| self.linked.sessions[**number].sources.contains(&self.source);
        let is_it = |number: &&usize| name.is_none_or(|name| *self.linked.sessions[**number].id == *name);
        let among = || self.group.sessions.iter().filter(own);
        let found = among().find(is_it).copied();
        let found = found.or_else(|| self.linked.session_named(self.source, name?)).or_else(|| among().next().copied());
        self.sessions.insert(name.unwrap_or_default().to_owned(), found);
        found
    }

    /// What all copies of a record share: its id and words, or without an id its bytes. Without a time, everything may be told twice
    /// and mean it.
    fn copy(&self, parts: &Parts, said: &[&Text], bytes: &[u8]) -> Option<u64> {
        match &parts.id {
            Some(id) => {
                let mut hasher = self.hasher.build_hasher();
                id.hash(&mut hasher);
                said.iter().for_each(|text| text.text.hash(&mut hasher));
                Some(hasher.finish())
            }
            None => parts.time.map(|_| self.hasher.hash_one(bytes)),
        }
    }

    fn paragraphs<'t>(&self, text: &'t Text) -> impl Iterator<Item = u64> + use<'t, 'r, 'a> {
        let (hasher, field) = (self.hasher, text.field);
        text.text.split("\n\n").map(str::trim).filter(|piece| !piece.is_empty()).map(move |piece| hasher.hash_one((field, piece)))
    }
}

/// Whose a result is that stands apart.
enum Other {
    /// No call is known that it answers.
    Nobodys,
    /// A further result of a call.
    Of(usize),
    /// It is found elsewhere: with its call, or as what it is a copy of.
    Known,
}
