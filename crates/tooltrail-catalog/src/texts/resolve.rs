//! Whose each text is that was found: a call's, or a message's. For this the logs that belong together must be linked.

use super::group::{Group, Index, Role};
use super::read::{Found, Looked, Piece, Saying, Whose};
use super::{Query, Sayings};
use crate::{Map, Set};
use std::hash::{BuildHasher, Hash, Hasher};
use tooltrail_model::Time;
use tooltrail_model::filter::texts::Field;
use tooltrail_model::link::Linked;
use tooltrail_model::transcript::Spot;

/// A text that has some of the terms, and where it stands.
#[derive(Debug)]
pub(crate) struct Find {
    pub(crate) spot: Spot,
    pub(crate) time: Option<Time>,
    /// For a result without a call: the call it names.
    pub(crate) names: Option<Box<str>>,
    pub(crate) found: Found,
}

/// A message that has some of the terms.
#[derive(Debug)]
pub(crate) struct Message {
    /// The session it belongs to, in `Linked::sessions`.
    pub(crate) session: usize,
    pub(crate) spot: Spot,
    pub(crate) time: Option<Time>,
    /// Whether there is a picture in it.
    pub(crate) picture: bool,
    pub(crate) finds: Vec<Find>,
    /// The same for all copies of the record.
    copy: Option<u64>,
    /// It repeats what another record of the log says.
    echo: bool,
    /// Fingerprints of what it says, a paragraph each.
    paragraphs: Vec<u64>,
}

impl Message {
    /// The terms it has, a bit for each.
    pub(crate) fn terms(&self) -> u64 {
        terms(&self.finds)
    }
}

/// The terms that some texts have together, a bit for each.
pub(crate) fn terms(finds: &[Find]) -> u64 {
    finds.iter().fold(0, |terms, find| terms | find.found.terms)
}

/// The calls and messages of a group that have some of the terms.
#[derive(Debug, Default)]
pub(crate) struct Units {
    /// What was found of each call, by its place in `Linked::calls`. No copies are among them.
    pub(crate) calls: Map<usize, Vec<Find>>,
    /// What was found in messages; copies and echoes too.
    pub(crate) messages: Vec<Message>,
}

/// Finds out whose the texts are that were found in the logs of a group.
pub(crate) fn resolve(linked: &Linked<'_>, group: &Group, query: &Query, said: Sayings) -> Units {
    let mut units = Units::default();
    for (&source, said) in group.sources.iter().zip(said) {
        if said.is_empty() || linked.sources[source].summary.agent.is_none() {
            continue;
        }
        let mut resolver =
            Resolver { linked, group, query, index: group.index(linked), source, sessions: Map::default(), units: &mut units };
        said.into_iter().for_each(|saying| resolver.take(saying));
    }
    let finds = std::mem::take(&mut units.calls);
    units.calls = finds.into_iter().map(|(call, finds)| (call, counted(query, finds))).filter(|(_, finds)| !finds.is_empty()).collect();
    units
}

/// The finds of a call that count: what the tool produced only for terms that nothing else of the call has, and only fields that are
/// asked for.
fn counted(query: &Query, mut finds: Vec<Find>) -> Vec<Find> {
    finds.sort_by_key(|find| (find.found.produced, find.found.field == Field::Result, find.spot));
    let mut terms = 0;
    finds.retain(|find| {
        let counts = !find.found.produced || find.found.terms & !terms != 0;
        terms |= find.found.terms;
        counts
    });
    finds.retain(|find| query.wants(find.found.field));
    finds
}

/// Resolves what one log says.
struct Resolver<'r, 'a> {
    linked: &'r Linked<'a>,
    group: &'r Group,
    query: &'r Query,
    index: &'r Index,
    source: usize,
    /// The sessions that the log's own names for them mean.
    sessions: Map<Box<str>, Option<usize>>,
    units: &'r mut Units,
}

impl Resolver<'_, '_> {
    fn take(&mut self, saying: Saying) {
        let spot = Spot { source: self.source, at: saying.at };
        let mut said: Vec<(Option<Box<str>>, Looked)> = Vec::new();
        for Piece { whose, texts } in saying.pieces {
            let (id, own) = match &whose {
                Whose::Message => {
                    said.extend(texts.into_iter().map(|text| (None, text)));
                    continue;
                }
                Whose::Request(id) => (id, self.own(Role::Request, id, spot)),
                Whose::Result(id) | Whose::End(id) | Whose::Mention(id) => (id, self.own(Role::Result, id, spot)),
            };
            let other = match &whose {
                Whose::Result(id) => self.other_result(id, spot),
                Whose::End(id) => self.ended(id, spot).map_or(Other::Known, Other::Of),
                _ => Other::Known,
            };
            match (own, other) {
                (Some(call), _) => self.of_call(call, texts, spot, saying.time, false),
                (None, Other::Of(call)) => self.of_call(call, texts, spot, saying.time, matches!(whose, Whose::End(_))),
                (None, Other::Nobodys) => said.extend(texts.into_iter().map(|text| (Some(id.clone()), text))),
                (None, Other::Known) => {}
            }
        }
        let paragraphs = said.iter().flat_map(|(_, text)| text.paragraphs.iter().copied()).collect();
        let copy = saying.copy.map(|copy| {
            let mut hasher = foldhash::fast::FixedState::default().build_hasher();
            copy.hash(&mut hasher);
            said.iter().for_each(|(_, text)| text.print.hash(&mut hasher));
            hasher.finish()
        });
        let find = |(names, text): (Option<Box<str>>, Looked)| Some(Find { spot, time: saying.time, names, found: text.found? });
        let finds: Vec<Find> = said.into_iter().filter_map(find).filter(|find| self.query.wants(find.found.field)).collect();
        if finds.is_empty() && !(saying.picture && self.query.pictures()) {
            return;
        }
        let Some(session) = self.session(saying.session.as_deref()) else { return };
        let (time, picture, echo) = (saying.time, saying.picture, saying.echo);
        self.units.messages.push(Message { session, spot, time, picture, finds, copy, echo, paragraphs });
    }

    fn of_call(&mut self, call: usize, texts: Vec<Looked>, spot: Spot, time: Option<Time>, produced: bool) {
        let finds = texts.into_iter().filter_map(|text| text.found).map(|found| {
            let found = Found { produced: produced || found.produced, ..found };
            Find { spot, time, names: None, found }
        });
        self.units.calls.entry(call).or_default().extend(finds);
    }

    /// The call of an id that has its request or result in this record. A record without an id is known by its line; the call may have
    /// got its id from another one.
    fn own(&self, role: Role, id: &str, spot: Spot) -> Option<usize> {
        let here = || self.index.at(self.linked, self.source, spot.at).filter(|&(own, _)| own == role).map(|(_, call)| call);
        let named = here().find(|&call| self.linked.id(self.linked.calls[call].id) == id);
        named.or_else(|| here().next().filter(|_| id == format!("line-{}", spot.at.line)))
    }

    /// Whose a result is that is not where its call has its own.
    fn other_result(&self, id: &str, spot: Spot) -> Other {
        let Some(number) = self.index.named(self.linked, self.source, id) else { return Other::Nobodys };
        let call = &self.linked.calls[number];
        match self.linked.result_spot(call) {
            _ if call.copy_of.is_some() => Other::Known,
            Some((source, at)) if source == spot.source && at != spot.at => Other::Of(number),
            _ => Other::Known,
        }
    }

    /// The call whose end a record tells, if that is not already one of the call's own records.
    fn ended(&self, id: &str, spot: Spot) -> Option<usize> {
        let number = self.index.named(self.linked, self.source, id)?;
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
        self.sessions.insert(name.unwrap_or_default().into(), found);
        found
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

/// Leaves out messages that only repeat others of those that are here, in the order of the logs: of copies the one in the log that began
/// first is kept.
pub(crate) fn told_once(group: &Group, mut messages: Vec<Message>) -> Vec<Message> {
    let rank: Map<usize, usize> = group.sources.iter().enumerate().map(|(rank, &source)| (source, rank)).collect();
    messages.sort_by_key(|message| (rank.get(&message.spot.source).copied(), message.spot.at));
    let mut once: Vec<Message> = Vec::with_capacity(messages.len());
    let mut rest = messages.into_iter().peekable();
    while let Some(first) = rest.next() {
        let source = first.spot.source;
        let mut log = vec![first];
        while let Some(message) = rest.next_if(|message| message.spot.source == source) {
            log.push(message);
        }
        once.extend(without_echoes(log));
    }
    let mut seen: Set<u64> = Set::default();
    once.retain(|message| message.copy.is_none_or(|copy| seen.insert(copy)));
    once
}

/// Leaves out what only repeats other records of the same log; what is only told by such records counts once.
fn without_echoes(messages: Vec<Message>) -> Vec<Message> {
    if messages.iter().all(|message| !message.echo) {
        return messages;
    }
    let mut told: Set<u64> = messages.iter().filter(|message| !message.echo).flat_map(|message| message.paragraphs.clone()).collect();
    let mut new = |message: &Message| {
        let new = !message.echo || message.paragraphs.iter().any(|piece| !told.contains(piece));
        told.extend(message.paragraphs.iter().copied());
        new
    };
    messages.into_iter().filter(|message| new(message)).collect()
}
