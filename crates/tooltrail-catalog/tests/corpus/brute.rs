//! The slow way to search, to hold the fast one to: every record decoded by serde_json, every text looked at, nothing skipped.

use crate::support::Term;
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use tooltrail_formats::disk::{Disk, ReadLogs};
use tooltrail_formats::value::Payloads;
use tooltrail_formats::{FORMATS, Format, Record, records, saved, value};
use tooltrail_model::filter::texts::{self, Field, RecordText};
use tooltrail_model::link::Linked;
use tooltrail_model::transcript::{LoggedResult, Part};
use tooltrail_model::{At, Time};

/// What was found: a call by its REF, a message by file and line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Thing {
    Call(String),
    Message(String, u64, u64),
}

/// All texts of all logs, decoded.
#[derive(Default)]
pub(crate) struct Decoded {
    pub(crate) calls: Vec<(Thing, Vec<RecordText>)>,
    pub(crate) messages: Vec<Message>,
}

/// A message: a record that says something.
pub(crate) struct Message {
    pub(crate) thing: Thing,
    pub(crate) texts: Vec<RecordText>,
    source: usize,
    /// Where it stands among its copies.
    age: (Time, usize, At),
    copy: Option<String>,
    echo: bool,
}

/// A record as serde_json reads and writes it; where it refuses one, as the program does.
fn parse(bytes: &[u8]) -> Vec<u8> {
    serde_json::to_vec(&serde_json::from_slice(bytes).unwrap_or_else(|_| value::read(bytes))).unwrap()
}

impl Decoded {
    pub(crate) fn read(linked: &Linked<'_>) -> Self {
        let mut out = Decoded::default();
        let disk = Disk::default();
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (number, call) in linked.calls.iter().enumerate().filter(|(_, call)| call.copy_of.is_none()) {
            places.insert(number, out.calls.len());
            out.calls.push((Thing::Call(format!("{}:{}", linked.sessions[call.session].short, call.number)), Vec::new()));
            let id = linked.id(call.id);
            let format = format_of(linked, call.id.source());
            let open = |source: usize, at: At| disk.bytes(&linked.sources[source].path, at.span).unwrap_or_default();
            let at = linked.record(call.id).at;
            let request = parse(&open(call.id.source(), at));
            let own = &mut out.calls.last_mut().unwrap().1;
            own.extend(
                format
                    .open(Record { at, bytes: &request })
                    .ok()
                    .and_then(|record| record.request(id, Payloads::default()))
                    .map(|asked| texts::input(asked.input))
                    .unwrap_or_default(),
            );
            // What a script printed is the result of the script.
            if let Some((source, at)) = linked.result_spot(call).filter(|_| !call.id.is_inner()) {
                let answer = parse(&open(source, at));
                let answer = format.open(Record { at, bytes: &answer }).unwrap().result(id, Payloads::default());
                own.extend(answer.map(|answer| result(format, &linked.sources[source].path, &disk, answer)).unwrap_or_default());
            }
        }
        for source in 0..linked.sources.len() {
            out.log(linked, source, &disk, &places);
        }
        out
    }

    /// The texts of each call and message.
    pub(crate) fn units(&self) -> Vec<Vec<&str>> {
        let all = self.calls.iter().map(|(_, texts)| texts).chain(self.messages.iter().map(|message| &message.texts));
        all.map(|texts| texts.iter().map(|text| &*text.text).collect::<Vec<_>>()).filter(|texts| !texts.is_empty()).collect()
    }

    /// All texts.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.units().into_iter().flatten().collect()
    }

    /// Everything that a log says besides the requests and results of calls.
    fn log(&mut self, linked: &Linked<'_>, source: usize, disk: &Disk, places: &HashMap<usize, usize>) {
        let entry = linked.sources[source];
        if entry.summary.agent.is_none() {
            return;
        }
        let format = format_of(linked, source);
        let input = disk.log(&entry.path).unwrap();
        records::each(input, |_, record, _| {
            let bytes = parse(record.bytes);
            let typed = format.open(Record { at: record.at, bytes: &bytes }).unwrap();
            let parts = typed.parts(Payloads::default());
            let mut said: Vec<RecordText> = Vec::new();
            for part in parts.parts {
                let (id, end) = match part {
                    Part::Result(id) => (id, false),
                    Part::End(id) => (id, true),
                    other => {
                        said.extend(texts::message(other));
                        continue;
                    }
                };
                let answer =
                    || typed.result(&id, Payloads::default()).map(|answer| result(format, &entry.path, disk, answer)).unwrap_or_default();
                let Some(number) = named(linked, source, &id) else {
                    if !end {
                        said.extend(answer());
                    }
                    continue;
                };
                let call = &linked.calls[number];
                let spot = linked.result_spot(call);
                if call.copy_of.is_some() || spot == Some((source, record.at)) {
                    continue;
                }
                let own = &mut self.calls[places[&number]].1;
                if end {
                    own.extend(answer().into_iter().map(|text| RecordText { produced: true, ..text }));
                } else if spot.is_some_and(|(place, _)| place == source) {
                    own.extend(answer());
                }
            }
            if said.is_empty() {
                return;
            }
            let words: Vec<&str> = said.iter().map(|text| &*text.text).collect();
            let copy = match (&parts.id, parts.time) {
                (Some(id), _) => Some(format!("{id}\0{}", words.join("\0"))),
                (None, Some(_)) => Some(String::from_utf8_lossy(record.bytes).into_owned()),
                (None, None) => None,
            };
            self.messages.push(Message {
                thing: Thing::Message(tooltrail_model::position::file_of(&entry.path).to_owned(), record.at.line, record.at.span.start),
                texts: said,
                source,
                age: (entry.summary.first.unwrap_or(Time::MAX), source, record.at),
                copy,
                echo: parts.echo,
            });
        });
    }

    /// The calls and messages that have all terms.
    pub(crate) fn search(&self, terms: &[Term], fields: &[Field]) -> BTreeSet<Thing> {
        let terms: Vec<Regex> = terms.iter().map(|term| term.compiled().unwrap()).collect();
        let wants = |field: Field| fields.is_empty() || fields.contains(&field) || (field == Field::Path && fields.contains(&Field::Input));
        let mut found: BTreeSet<Thing> = BTreeSet::new();
        for (thing, texts) in &self.calls {
            let has =
                |term: &Regex, produced: bool| texts.iter().filter(|text| text.produced == produced).any(|text| term.is_match(&text.text));
            let has_here = |term: &Regex, produced: bool| {
                let here = texts.iter().filter(|text| text.produced == produced && wants(text.field));
                here.into_iter().any(|text| term.is_match(&text.text))
            };
            // What the tool produced counts where nothing else of the call has it.
            if terms.iter().all(|term| has_here(term, false) || (!has(term, false) && has_here(term, true))) {
                found.insert(thing.clone());
            }
        }
        let hits = |message: &&Message| {
            let here: Vec<&RecordText> = message.texts.iter().filter(|text| wants(text.field)).collect();
            terms.iter().all(|term| here.iter().any(|text| term.is_match(&text.text)))
        };
        let hits: Vec<&Message> = self.messages.iter().filter(hits).collect();
        found.extend(told_once(&hits));
        found
    }
}

/// Messages without those that repeat another of their log, and without copies.
fn told_once(hits: &[&Message]) -> Vec<Thing> {
    let pieces = |message: &Message| -> Vec<(usize, Field, String)> {
        let split = |text: &RecordText| {
            text.text.split("\n\n").map(|piece| (message.source, text.field, piece.trim().to_owned())).collect::<Vec<_>>()
        };
        message.texts.iter().flat_map(split).filter(|(_, _, piece)| !piece.is_empty()).collect()
    };
    let mut told: HashSet<(usize, Field, String)> =
        hits.iter().filter(|message| !message.echo).flat_map(|message| pieces(message)).collect();
    let mut kept: Vec<&Message> = Vec::new();
    for message in hits {
        if !message.echo || pieces(message).iter().any(|piece| !told.contains(piece)) {
            kept.push(message);
        }
        told.extend(pieces(message));
    }
    kept.sort_by_key(|message| message.age);
    let mut seen: HashSet<&str> = HashSet::new();
    kept.retain(|message| message.copy.as_deref().is_none_or(|copy| seen.insert(copy)));
    kept.into_iter().map(|message| message.thing.clone()).collect()
}

/// The texts of a result, with the whole of it where that was saved beside the log.
fn result(format: &dyn Format, log: &str, disk: &Disk, answered: LoggedResult) -> Vec<RecordText> {
    let whole = format.saved(&answered).and_then(|path| saved::read(disk, log, &path).ok());
    let whole = whole.map(|(bytes, _)| RecordText::produced(String::from_utf8_lossy(&bytes)));
    texts::result(answered).into_iter().chain(whole).collect()
}

fn format_of(linked: &Linked<'_>, source: usize) -> &'static dyn Format {
    let agent = linked.sources[source].summary.agent;
    *FORMATS.iter().find(|format| Some(format.agent()) == agent).unwrap()
}

/// The call of an id: one of the same log, else the original of any.
fn named(linked: &Linked<'_>, source: usize, id: &str) -> Option<usize> {
    let all = || {
        let calls = linked.calls.iter().enumerate();
        calls.filter(|(_, call)| {
            let known = linked.id(call.id) == id || linked.record(call.id).rare().alias.as_deref() == Some(id);
            known && linked.sources[call.id.source()].summary.agent == linked.sources[source].summary.agent
        })
    };
    let own = all().find(|(_, call)| call.id.source() == source);
    own.or_else(|| all().find(|(_, call)| call.copy_of.is_none())).or_else(|| all().next()).map(|(number, _)| number)
}

/// What Claude Code's calls ask for and are answered, taken from the lines without any code of the program: the call's id and a text.
pub(crate) fn plain(linked: &Linked<'_>) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for source in linked.sources.iter().filter(|source| source.summary.agent == Some("claude")) {
        let text = std::fs::read(&*source.path).unwrap();
        for line in text.split(|&byte| byte == b'\n') {
            let record: Value = serde_json::from_slice(line).unwrap_or_default();
            for block in record.pointer("/message/content").and_then(Value::as_array).into_iter().flatten() {
                match block["type"].as_str() {
                    Some("tool_use") => {
                        strings(&block["input"], &mut |text| out.push((block["id"].as_str().unwrap_or_default().to_owned(), text)))
                    }
                    Some("tool_result") => {
                        let own = [&block["content"]]
                            .into_iter()
                            .chain(block["content"].as_array().into_iter().flatten().map(|inner| &inner["text"]));
                        let texts = own.filter_map(Value::as_str).filter(|text| !text.starts_with("[{"));
                        out.extend(texts.map(|text| (block["tool_use_id"].as_str().unwrap_or_default().to_owned(), text.to_owned())));
                    }
                    _ => {}
                }
            }
        }
    }
    out
}

fn strings(value: &Value, take: &mut dyn FnMut(String)) {
    match value {
        Value::String(text) => take(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, take)),
        Value::Object(fields) => fields.values().for_each(|item| strings(item, take)),
        _ => {}
    }
}
