//! The owners of matches: the call or message that each matching text belongs to. For this the logs of a bundle must be linked.

use super::group::{CallIndex, LogGroup, RecordRole};
use super::read::{OwnedTexts, RecordTexts, SearchedText, TextMatch, TextOwner};
use super::{BundleTexts, Query};
use crate::{Map, Set};
use std::hash::{BuildHasher, Hash, Hasher};
use tooltrail_model::Time;
use tooltrail_model::filter::texts::Field;
use tooltrail_model::link::Linked;
use tooltrail_model::transcript::Spot;

/// A match with its place in the logs.
#[derive(Debug)]
pub(crate) struct LocatedMatch {
    pub(crate) spot: Spot,
    pub(crate) time: Option<Time>,
    /// For a result without a call: the call it names.
    pub(crate) names: Option<Box<str>>,
    pub(crate) found: TextMatch,
}

/// A message that has some of the terms.
#[derive(Debug)]
pub(crate) struct MatchedMessage {
    /// The session it belongs to, in `Linked::sessions`.
    pub(crate) session: usize,
    pub(crate) spot: Spot,
    pub(crate) time: Option<Time>,
    /// Whether it contains an image.
    pub(crate) picture: bool,
    pub(crate) finds: Vec<LocatedMatch>,
    /// A fingerprint that all copies of the record share.
    copy: Option<u64>,
    /// Whether it repeats another record of the log.
    echo: bool,
    /// Fingerprints of its paragraphs.
    paragraphs: Vec<u64>,
}

impl MatchedMessage {
    /// The terms it has, a bit for each.
    pub(crate) fn terms(&self) -> u64 {
        terms(&self.finds)
    }
}

/// The terms that some texts have together, a bit for each.
pub(crate) fn terms(finds: &[LocatedMatch]) -> u64 {
    finds.iter().fold(0, |terms, find| terms | find.found.terms)
}

/// The calls and messages of a group that have some of the terms.
#[derive(Debug, Default)]
pub(crate) struct MatchedUnits {
    /// The matches of each call, by its index in `Linked::calls`. Copies are not among them.
    pub(crate) calls: Map<usize, Vec<LocatedMatch>>,
    /// The messages with matches, copies and echoes included.
    pub(crate) messages: Vec<MatchedMessage>,
}

/// Assigns the matches in the logs of a group to calls and messages.
pub(crate) fn resolve(linked: &Linked<'_>, group: &LogGroup, query: &Query, said: BundleTexts) -> MatchedUnits {
    let mut units = MatchedUnits::default();
    for (&source, said) in group.sources.iter().zip(said) {
        // A file that no format recognised has no calls or sessions that a text could belong to.
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

/// The matches of a call that count: those in output that the model did not see only for terms that nothing else of the call has, and
/// only in the requested fields.
fn counted(query: &Query, mut finds: Vec<LocatedMatch>) -> Vec<LocatedMatch> {
    // What the model saw comes first, so that the same text in a saved output counts only if it adds a term.
    finds.sort_by_key(|find| (find.found.produced, find.found.field == Field::Result, find.spot));
    let mut terms = 0;
    finds.retain_mut(|find| {
        let new = find.found.terms & !terms;
        terms |= find.found.terms;
        if find.found.produced {
            // Only for these: a term that the model saw elsewhere does not count here too.
            find.found.terms = new;
        }
        find.found.terms != 0
    });
    // Fields are selected last: a term in an unrequested field still makes the saved output redundant.
    finds.retain(|find| query.wants(find.found.field));
    finds
}

/// Resolves the matches of one log.
struct Resolver<'r, 'a> {
    linked: &'r Linked<'a>,
    group: &'r LogGroup,
    query: &'r Query,
    index: &'r CallIndex,
    source: usize,
    /// The sessions that the log's own names for them mean.
    sessions: Map<Box<str>, Option<usize>>,
    units: &'r mut MatchedUnits,
}

impl Resolver<'_, '_> {
    fn take(&mut self, saying: RecordTexts) {
        let spot = Spot { source: self.source, at: saying.at };
        let mut said: Vec<(Option<Box<str>>, SearchedText)> = Vec::new();
        for OwnedTexts { whose, texts } in saying.pieces {
            let (id, own) = match &whose {
                TextOwner::Message => {
                    said.extend(texts.into_iter().map(|text| (None, text)));
                    continue;
                }
                TextOwner::Request(id) => (id, self.own(RecordRole::Request, id, spot)),
                TextOwner::Result(id) | TextOwner::End(id) | TextOwner::Mention(id) => (id, self.own(RecordRole::Result, id, spot)),
            };
            let other = match &whose {
                TextOwner::Result(id) => self.other_result(id, spot),
                TextOwner::End(id) => self.ended(id, spot).map_or(StrayResult::Known, StrayResult::Of),
                _ => StrayResult::Known,
            };
            match (own, other) {
                (Some(call), _) => self.of_call(call, texts, spot, saying.time, false),
                (None, StrayResult::Of(call)) => self.of_call(call, texts, spot, saying.time, matches!(whose, TextOwner::End(_))),
                // The log of the call is missing. The text is still searchable, as a message that names the call.
                (None, StrayResult::WithoutCall) => said.extend(texts.into_iter().map(|text| (Some(id.clone()), text))),
                (None, StrayResult::Known) => {}
            }
        }
        let paragraphs = said.iter().flat_map(|(_, text)| text.paragraphs.iter().copied()).collect();
        // The texts are part of the fingerprint, so that records with the same id but other texts all count.
        let copy = saying.copy.map(|copy| {
            let mut hasher = foldhash::fast::FixedState::default().build_hasher();
            copy.hash(&mut hasher);
            said.iter().for_each(|(_, text)| text.print.hash(&mut hasher));
            hasher.finish()
        });
        let find =
            |(names, text): (Option<Box<str>>, SearchedText)| Some(LocatedMatch { spot, time: saying.time, names, found: text.found? });
        let finds: Vec<LocatedMatch> = said.into_iter().filter_map(find).filter(|find| self.query.wants(find.found.field)).collect();
        // The texts were the call's, or in fields that are not requested.
        if finds.is_empty() && !(saying.picture && self.query.pictures()) {
            return;
        }
        let Some(session) = self.session(saying.session.as_deref()) else { return };
        let (time, picture, echo) = (saying.time, saying.picture, saying.echo);
        self.units.messages.push(MatchedMessage { session, spot, time, picture, finds, copy, echo, paragraphs });
    }

    fn of_call(&mut self, call: usize, texts: Vec<SearchedText>, spot: Spot, time: Option<Time>, produced: bool) {
        let finds = texts.into_iter().filter_map(|text| text.found).map(|found| {
            let found = TextMatch { produced: produced || found.produced, ..found };
            LocatedMatch { spot, time, names: None, found }
        });
        self.units.calls.entry(call).or_default().extend(finds);
    }

    /// The call of an id that has its request or result in this record. A record without an id is known by its line; the call may have
    /// got its id from another one.
    fn own(&self, role: RecordRole, id: &str, spot: Spot) -> Option<usize> {
        let here = || self.index.at(self.linked, self.source, spot.at).filter(|&(own, _)| own == role).map(|(_, call)| call);
        let named = here().find(|&call| self.linked.id(self.linked.calls[call].id) == id);
        named.or_else(|| here().next().filter(|_| id == format!("line-{}", spot.at.line)))
    }

    /// The owner of a result that is not the one linked with its call.
    fn other_result(&self, id: &str, spot: Spot) -> StrayResult {
        let Some(number) = self.index.named(self.linked, self.source, id) else { return StrayResult::WithoutCall };
        let call = &self.linked.calls[number];
        match self.linked.result_spot(call) {
            _ if call.copy_of.is_some() => StrayResult::Known,
            Some((source, at)) if source == spot.source && at != spot.at => StrayResult::Of(number),
            _ => StrayResult::Known,
        }
    }

    /// The call whose end a record reports, if that is not the call's linked result.
    fn ended(&self, id: &str, spot: Spot) -> Option<usize> {
        let number = self.index.named(self.linked, self.source, id)?;
        let call = &self.linked.calls[number];
        let own = self.linked.result_spot(call) == Some((spot.source, spot.at));
        (call.copy_of.is_none() && !own).then_some(number)
    }

    /// The session that a record belongs to; those of some agents leave it to the log to say.
    fn session(&mut self, name: Option<&str>) -> Option<usize> {
        // Nearly all records of a log name the same session, and finding it takes a scan of all sessions.
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

/// The owner of a result that no call is linked with.
enum StrayResult {
    /// No call is known that it answers.
    WithoutCall,
    /// A further result of a call.
    Of(usize),
    /// The result is found elsewhere: with its call, or as the original of this copy.
    Known,
}

/// Removes messages that only repeat others in the list, in the order of the logs: of copies, the one in the log that began first stays.
pub(crate) fn without_repeats(group: &LogGroup, mut messages: Vec<MatchedMessage>) -> Vec<MatchedMessage> {
    let rank: Map<usize, usize> = group.sources.iter().enumerate().map(|(rank, &source)| (source, rank)).collect();
    messages.sort_by_key(|message| (rank.get(&message.spot.source).copied(), message.spot.at));
    let mut once: Vec<MatchedMessage> = Vec::with_capacity(messages.len());
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

/// Removes messages that only repeat other records of the same log. Text that occurs in such echoes alone counts once.
fn without_echoes(messages: Vec<MatchedMessage>) -> Vec<MatchedMessage> {
    if messages.iter().all(|message| !message.echo) {
        return messages;
    }
    // First all paragraphs of real messages, wherever they stand: an echo may come before the record that it repeats.
    let mut told: Set<u64> = messages.iter().filter(|message| !message.echo).flat_map(|message| message.paragraphs.clone()).collect();
    let mut new = |message: &MatchedMessage| {
        let new = !message.echo || message.paragraphs.iter().any(|piece| !told.contains(piece));
        told.extend(message.paragraphs.iter().copied());
        new
    };
    messages.into_iter().filter(|message| new(message)).collect()
}
