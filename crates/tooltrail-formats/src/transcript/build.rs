//! Building a transcript: the records of all logs of a session in one pass, each thing to read as a light entry in its place.
//!
//! A session may be spread over several files (resumed, backed up, with subagents). A record that is in two of them is shown once; a
//! conversation beside the main one becomes a thread of the call that started it.

use super::reading::{ConversationKey, OpenTurns, RecordContext, SourceReading};
use super::record_index::{IndexSource, IndexedRecord, PartSubject, RecordIndexCache, text};
use super::settings::{SettingsReader, TurnPlaces};
use super::shared_records::{SharedLog, SharedRecords, end, is_endless, most_indexed, most_shown};
use super::{Private, echoes, format_of, halves};
use crate::disk::ReadLogs;
use halves::Half;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use tooltrail_model::event::HookOutcome;
use tooltrail_model::link::{Linked, LinkedCall, Now};
use tooltrail_model::row::CallNumber;
use tooltrail_model::summary::{HookRecord, LooseHook, Summary};
use tooltrail_model::transcript::{CallEntry, Entry, EntryKind, HookObjection, HookStory, Part, Spot, Thread, Transcript, Turn};
use tooltrail_model::usage::UsageSnapshot;
use tooltrail_model::{Status, Time};

/// The most calls that are shown of a session with a log that no agent wrote.
const MOST_CALLS: usize = 20_000;

/// The longest beginning of a prompt that is kept as the name of its turn.
const HEAD: usize = 200;

/// A transcript, with the lookup tables of its reader.
pub(super) struct BuiltTranscript<'a> {
    pub(super) transcript: Transcript<'a>,
    /// The files of its sources.
    pub(super) files: HashMap<usize, &'a str>,
    /// Commands whose output is in a record of its own.
    pub(super) outputs: HashMap<PartPlace, PartPlace>,
}

/// A part of a record.
pub(super) type PartPlace = (Spot, usize);

pub(super) fn transcript<'a>(
    linked: &'a Linked<'a>,
    sessions: &[usize],
    now: &'a Now,
    disk: &dyn ReadLogs,
    private: Option<Private<'a>>,
    records: RecordsFrom<'_, 'a>,
) -> BuiltTranscript<'a> {
    let mut builder = Builder::new(linked, sessions, now, private);
    for source in builder.sources() {
        builder.read(source, disk, records);
    }
    builder.finish(now, private)
}

/// Where the records of logs are taken from.
#[derive(Clone, Copy)]
pub(super) enum RecordsFrom<'n, 'a> {
    /// The logs alone.
    Logs,
    /// An index of what was read before, and what was written since.
    Cache(&'n RecordIndexCache),
    /// What was read for other sessions of the same logs.
    Shared(&'n SharedRecords<'a>),
}

/// The calls alone, without the conversation around them: for callers that only count.
pub(super) fn outline<'a>(linked: &'a Linked<'a>, sessions: &[usize], now: &'a Now) -> BuiltTranscript<'a> {
    Builder::new(linked, sessions, now, None).finish(now, None)
}

/// An entry on its way to its place.
#[derive(Debug)]
pub(super) struct PendingEntry {
    pub(super) entry: Entry,
    /// Its time, or that of the records around it.
    pub(super) order: Option<Time>,
    /// A fingerprint of its text, to recognise repetitions; 0 where it has no text.
    pub(super) text: u64,
    /// Fingerprints of its paragraphs: some logs split into several records what another one has in a single record.
    pub(super) paragraphs: Vec<u64>,
    /// The kind of record that repeats others, if this is a repetition.
    pub(super) echo: Option<&'static str>,
    /// How it begins.
    pub(super) head: String,
    /// A turn begins here; `Some(true)` for one that was abandoned.
    pub(super) begins: Option<bool>,
    /// The half of a command that it is.
    pub(super) half: Option<Half>,
}

struct Builder<'a, 's> {
    linked: &'a Linked<'a>,
    sessions: &'s [usize],
    /// The same, to be asked.
    own: HashSet<usize>,
    calls: Vec<CallEntry<'a>>,
    /// Calls by the source, line and id of their request.
    requests: HashMap<(usize, u64, &'a str), usize>,
    /// Calls by source and line alone: the record of a request may have no id for it.
    lines: HashMap<(usize, u64), usize>,
    /// The calls by id.
    by_id: HashMap<&'a str, usize>,
    /// Calls that have an entry.
    placed: HashSet<usize>,
    /// The results that belong to a call.
    results: HashSet<Spot>,
    /// Records seen so far, by a hash of their id or content.
    seen: HashSet<u64>,
    threads: HashMap<ConversationKey, Vec<PendingEntry>>,
    order: Vec<ConversationKey>,
    private: Option<Private<'a>>,
    /// Names of sessions, and whether they mean one of these.
    ours: HashMap<(usize, Arc<str>), bool>,
    settings: SettingsReader,
    /// The logs that are shared with other sessions.
    shared: HashMap<usize, Arc<SharedLog>>,
    /// How many parts of records were taken, and the most that are.
    taken: usize,
    most: usize,
}

impl<'a, 's> Builder<'a, 's> {
    fn new(linked: &'a Linked<'a>, sessions: &'s [usize], now: &'a Now, private: Option<Private<'a>>) -> Self {
        let mut builder = Builder {
            linked,
            sessions,
            own: sessions.iter().copied().collect(),
            calls: Vec::new(),
            requests: HashMap::new(),
            lines: HashMap::new(),
            by_id: HashMap::new(),
            placed: HashSet::new(),
            results: HashSet::new(),
            seen: HashSet::new(),
            threads: HashMap::new(),
            order: vec![ConversationKey::Main],
            private,
            ours: HashMap::new(),
            settings: SettingsReader::default(),
            shared: HashMap::new(),
            taken: 0,
            most: usize::MAX,
        };
        let mut numbers: HashMap<(usize, CallNumber), usize> = HashMap::new();
        // The original of a call first, so that its copies in the same session point at it.
        let mut own: Vec<&LinkedCall> = sessions.iter().flat_map(|&session| linked.calls_of(session)).collect();
        own.sort_by_key(|call| call.copy_of.is_some());
        let summaries: Vec<&Summary> = builder.sources().into_iter().map(|source| &linked.sources[source].summary).collect();
        builder.most = summaries.iter().map(|summary| most_shown(summary)).min().unwrap_or(usize::MAX);
        if summaries.iter().any(|summary| is_endless(summary)) {
            own.truncate(MOST_CALLS);
        }
        for call in own {
            // A call and its copies have one number, and become one entry.
            let index = *numbers.entry((call.session, call.number)).or_insert_with(|| builder.add(call, now));
            let record = linked.record(call.id);
            builder.requests.insert((call.id.source(), record.at.line, linked.id(call.id)), index);
            if !call.id.is_inner() {
                builder.lines.insert((call.id.source(), record.at.line), index);
            }
            // Ids are unique within an agent, but a damaged log may reuse one: the first keeps it.
            builder.by_id.entry(linked.id(call.id)).or_insert(index);
            builder.results.extend(builder.calls[index].result);
        }
        builder
    }

    fn add(&mut self, call: &LinkedCall, now: &'a Now) -> usize {
        let record = self.linked.record(call.id);
        let mut row = self.linked.call_row(call, now, false);
        if let Some(private) = self.private {
            private.call(&mut row);
        }
        let spot = |source: usize, at| Spot { source, at };
        self.calls.push(CallEntry {
            number: call.number,
            request: spot(call.id.source(), record.at),
            result: self.linked.result_spot(call).map(|(source, at)| spot(source, at)),
            ends: record.rare().ends.iter().map(|&at| spot(call.id.source(), at)).collect(),
            // Hooks from sidecars or texts have no line of their own to be opened.
            hooks: record.hooks.iter().filter(|hook| hook.at.line > 0).map(|hook| spot(call.id.source(), hook.at)).collect(),
            progress: record.rare().progress.filter(|_| row.result.is_none()).map(|at| spot(call.id.source(), at)),
            hooked: record.hooks.iter().filter_map(ran).collect(),
            time: record.time,
            threads: Vec::new(),
            turn: None,
            row,
        });
        self.calls.len() - 1
    }

    /// The sources of the sessions, the oldest first.
    fn sources(&self) -> Vec<usize> {
        let mut sources: Vec<usize> = self
            .sessions
            .iter()
            .filter_map(|&session| self.linked.sessions.get(session))
            .flat_map(|session| session.sources.clone())
            .collect();
        sources.sort_by_key(|&source| {
            // Sources without times come last, in the order of their paths, so that the result is stable.
            let entry = self.linked.sources[source];
            (entry.summary.first.unwrap_or(Time::MAX), &entry.path)
        });
        sources.dedup();
        sources
    }

    fn read(&mut self, source: usize, disk: &dyn ReadLogs, records: RecordsFrom<'_, 'a>) {
        let entry = self.linked.sources[source];
        let Some(format) = entry.summary.agent.and_then(format_of) else { return };
        let private = self.private;
        let head = |part: &Part| head(part, private);
        let log = IndexSource {
            file: &entry.path,
            format,
            disk,
            written: (entry.summary.tally.bytes, entry.modified),
            most: most_indexed(&entry.summary),
            end: end(&entry.summary),
            head: &head,
        };
        if let RecordsFrom::Shared(shared) = records
            && let Some(shared) = shared.log(source, log)
        {
            let mut begins = OpenTurns { all: &shared.turns, seen: HashSet::new() };
            for (record, side, latest) in shared.places.of(self.sessions).into_iter().filter_map(|place| shared.records.get(place)) {
                let spot = Spot { source, at: record.at };
                self.take(record, spot, RecordContext { side: side.clone(), latest: *latest, begins: &mut begins });
            }
            self.leftovers(source, &shared.whole);
            self.shared.insert(source, shared);
            return;
        }
        let mut reading = SourceReading::of(source, &entry.summary);
        let turns = std::mem::take(&mut reading.turns);
        let mut begins = OpenTurns { all: &turns, seen: HashSet::new() };
        let mut take = |record: &IndexedRecord| {
            reading.latest = reading.latest.max(record.time);
            // Also for records that are dropped: those that follow them need their place in the chain.
            let side = reading.side(record);
            let spot = Spot { source, at: record.at };
            self.take(record, spot, RecordContext { side, latest: reading.latest, begins: &mut begins });
        };
        match records {
            RecordsFrom::Cache(cache) => cache.each(log, take),
            RecordsFrom::Logs | RecordsFrom::Shared(_) => drop(log.each_owned(|record| take(&record))),
        }
        self.leftovers(source, &reading.whole);
    }

    /// Takes in a record.
    fn take(&mut self, record: &IndexedRecord, spot: Spot, context: RecordContext<'_, '_>) {
        let RecordContext { side, latest, begins } = context;
        if self.taken >= self.most || !self.belongs(spot.source, record) || !record.print.is_none_or(|print| self.seen.insert(print)) {
            return;
        }
        self.taken += record.parts.len().max(1);
        if side == ConversationKey::Main {
            self.settings.take(record, spot);
        }
        let abandoned = self.linked.sources[spot.source].summary.retracted.binary_search(&record.at.line).is_ok();
        // A turn of a subagent is no turn of the session.
        let mut begins = begins.take(record.at.line).filter(|_| side == ConversationKey::Main);
        for (part, indexed) in record.parts.iter().enumerate() {
            let Some(what) = self.what(&indexed.subject, spot) else { continue };
            let starts = matches!(what, EntryKind::Prompt | EntryKind::Command | EntryKind::Media);
            let entry = Entry { spot, part, time: record.time, what, turn: None, abandoned, lines: indexed.lines };
            let found = PendingEntry {
                entry,
                order: latest,
                text: indexed.text,
                paragraphs: indexed.paragraphs.clone(),
                echo: record.echo,
                head: indexed.head.clone(),
                // The first thing to read begins the turn; what follows in the record belongs to it.
                begins: if starts { begins.take() } else { None },
                half: indexed.half,
            };
            self.put(side.clone(), found);
        }
        // Some versions repeat with each block of a message why it ended; the last one stands.
        if let Some(before) = record.stopped.and_then(|message| self.settings.stops.insert(message, spot))
            && let Some(entries) = self.threads.get_mut(&side)
        {
            entries.retain(|found| found.entry.spot != before || found.entry.what != EntryKind::Notice);
        }
    }

    fn put(&mut self, side: ConversationKey, found: PendingEntry) {
        if side != ConversationKey::Main && !self.threads.contains_key(&side) {
            self.order.push(side.clone());
        }
        self.threads.entry(side).or_default().push(found);
    }

    /// Whether a record belongs to one of these sessions. A log of a single session does not say so in each record.
    fn belongs(&mut self, source: usize, record: &IndexedRecord) -> bool {
        let Some(session) = &record.session else { return true };
        // Cached: the lookup compares names, and a log has thousands of records with the same one.
        if let Some(&ours) = self.ours.get(&(source, Arc::clone(session))) {
            return ours;
        }
        let ours = self.is_ours(source, session);
        self.ours.insert((source, Arc::clone(session)), ours);
        ours
    }

    fn is_ours(&self, source: usize, session: &str) -> bool {
        self.linked.session_named(source, session).is_none_or(|session| self.own.contains(&session))
    }

    /// The time spans in which hooks ran: those of calls, and those of turns.
    fn hook_times(&self) -> Vec<(Time, Time)> {
        let own = self.sessions.iter().flat_map(|&session| self.linked.calls_of(session)).filter(|call| call.copy_of.is_none());
        let of_calls = own.flat_map(|call| &self.linked.record(call.id).hooks).filter_map(ran);
        let of_turns = self.sources().into_iter().flat_map(|source| self.own_hooks(source)).filter_map(|loose| ran(&loose.hook));
        of_calls.chain(of_turns).collect()
    }

    /// The hooks of a source that ran in these sessions, but for no call.
    fn own_hooks(&self, source: usize) -> Vec<&'a LooseHook> {
        let summary = &self.linked.sources[source].summary;
        match self.shared.get(&source) {
            Some(shared) => shared.hooks.of(self.sessions).into_iter().filter_map(|place| summary.hooks.get(place)).collect(),
            None => summary.hooks.iter().filter(|loose| self.is_ours(source, summary.names.text(loose.session))).collect(),
        }
    }

    /// The usage of a source with tools of the model's service, as far as it belongs to these sessions.
    fn own_usage(&self, source: usize) -> Vec<&'a UsageSnapshot> {
        let summary = &self.linked.sources[source].summary;
        if let Some(shared) = self.shared.get(&source) {
            return shared.usage.of(self.sessions).into_iter().filter_map(|place| summary.usage.get(place)).collect();
        }
        let own = summary.usage.iter().filter(|usage| usage.server_tools != [0; 2]);
        own.filter(|usage| usage.session.is_none_or(|session| self.is_ours(source, summary.names.text(session)))).collect()
    }

    /// The kind of entry for a part; `None` where it is shown elsewhere.
    fn what(&mut self, subject: &PartSubject, spot: Spot) -> Option<EntryKind> {
        match subject {
            PartSubject::Call(id) => Some(EntryKind::Call(self.place_call(id, spot)?)),
            // A call that only its end reports stands where that record is.
            PartSubject::End(id) => match self.requests.get(&(spot.source, spot.at.line, &**id)) {
                Some(&index) => Some(EntryKind::Call(self.place(index)?)),
                None => {
                    let call = self.by_id.get(&**id).map(|&index| &mut self.calls[index]);
                    if let Some(call) = call.filter(|call| !call.ends.contains(&spot)) {
                        call.ends.push(spot);
                    }
                    None
                }
            },
            // A result is shown with its call; only one without a place there gets an entry.
            PartSubject::Result(id) => self.is_loose(id, spot).then_some(EntryKind::Folded),
            PartSubject::Hook(call) => {
                let call = call.as_deref().and_then(|id| self.by_id.get(id)).copied();
                let Some(call) = call.and_then(|index| self.calls.get_mut(index)) else { return Some(EntryKind::Hook) };
                if !call.hooks.contains(&spot) {
                    call.hooks.push(spot);
                }
                None
            }
            PartSubject::Plain(what) => Some(*what),
        }
    }

    /// Whether a result belongs to no call that is shown, or to one whose result is another of the same log.
    fn is_loose(&self, id: &str, spot: Spot) -> bool {
        let Some(&index) = self.by_id.get(id) else {
            // A result without an id belongs to the call without one that has it.
            let unnamed = id == format!("line-{}", spot.at.line);
            let taken = |call: &CallEntry<'_>| call.result == Some(spot) && call.row.call.starts_with("line-");
            return !(unnamed && self.results.contains(&spot) && self.calls.iter().any(taken));
        };
        let own = self.calls[index].result.filter(|own| own.source == spot.source);
        own.is_some() && !self.results.contains(&spot)
    }

    fn place_call(&mut self, id: &str, spot: Spot) -> Option<usize> {
        let line = spot.at.line;
        let named = self.requests.get(&(spot.source, line, id));
        let unnamed = || self.lines.get(&(spot.source, line)).filter(|_| id == format!("line-{line}"));
        let index = *named.or_else(unnamed)?;
        self.place(index)
    }

    fn place(&mut self, index: usize) -> Option<usize> {
        self.placed.insert(index).then_some(index)
    }

    /// Adds entries for calls of a source that no part of a record stands for: those that only another agent's records report.
    fn leftovers(&mut self, source: usize, whole: &Option<String>) {
        for index in 0..self.calls.len() {
            let call = &self.calls[index];
            if call.request.source != source || self.placed.contains(&index) {
                continue;
            }
            let side = match (call.row.agent_id, whole) {
                // The calls of a script are a conversation beside it.
                _ if call.row.is_inner() => ConversationKey::Script(call.row.parent_call.unwrap_or_default().to_owned()),
                (Some(agent), _) => ConversationKey::Agent(agent.to_owned()),
                (None, Some(agent)) => ConversationKey::Agent(agent.clone()),
                (None, None) if call.row.sidechain => ConversationKey::Inline(source, call.row.parent_call.unwrap_or_default().to_owned()),
                (None, None) => ConversationKey::Main,
            };
            let (spot, time) = (call.request, call.time);
            let entry = Entry { spot, part: 0, time, what: EntryKind::Call(index), turn: None, abandoned: false, lines: 1 };
            self.placed.insert(index);
            let found = PendingEntry {
                entry,
                order: time,
                text: 0,
                paragraphs: Vec::new(),
                echo: None,
                head: String::new(),
                begins: None,
                half: None,
            };
            self.put(side, found);
        }
    }

    fn finish(mut self, now: &'a Now, private: Option<Private<'a>>) -> BuiltTranscript<'a> {
        let files = self.files();
        let mut outputs = HashMap::new();
        let mut found: Vec<(ConversationKey, Vec<PendingEntry>)> = Vec::new();
        for side in std::mem::take(&mut self.order) {
            let mut entries = self.threads.remove(&side).unwrap_or_default();
            // Files of one conversation follow each other; within a file its own order counts.
            entries.sort_by_key(|found| found.order);
            found.push((side, halves::joined(echoes::left_out(entries), &mut outputs)));
        }
        // A subagent's log on its own is the conversation that was asked for.
        // Its main thread, which comes first, is empty then.
        if found.len() == 2 && found[0].1.is_empty() {
            found.remove(0);
        }
        let turns = turns(&mut found[0].1);
        let mut threads: Vec<Thread> = Vec::new();
        for (number, (side, entries)) in found.into_iter().enumerate() {
            let agent = match side {
                ConversationKey::Agent(agent) => Some(agent).filter(|agent| !agent.is_empty()),
                _ => None,
            };
            let mut entries: Vec<Entry> = entries.into_iter().map(|found| found.entry).collect();
            // Thread 0 is the main conversation, which no call started.
            let started_by = if number == 0 { None } else { self.starter(agent.as_deref(), &entries) };
            if let Some(call) = started_by.and_then(|index| self.calls.get_mut(index)) {
                call.threads.push(number);
            }
            for entry in &mut entries {
                if let EntryKind::Call(index) = entry.what {
                    self.calls[index].turn = entry.turn;
                }
            }
            threads.push(Thread { agent, started_by, entries });
        }
        // Only now: threads are in the order in which they appeared, not in the order in which they were started.
        inherit_turns(&mut threads, &mut self.calls);
        let first = self.sessions.first().and_then(|&session| self.linked.session_row(session, now));
        let session = first.unwrap_or_default();
        let hooks = self.hook_times();
        let places = TurnPlaces::new(&turns, &threads);
        let settings = std::mem::take(&mut self.settings).finish(&places, self.server_tools());
        let objections = self.objections(&places);
        let copied_from = self.calls.iter().find_map(|call| call.row.copy_of).and_then(|place| session_of(session.agent, place.file));
        let mut transcript = Transcript { session, calls: self.calls, turns, threads, hooks, copied_from, settings, objections };
        if let Some(private) = private {
            private.transcript(&mut transcript);
        }
        BuiltTranscript { transcript, files, outputs }
    }

    /// Objections of hooks that refused no call.
    fn objections(&self, places: &TurnPlaces) -> Vec<HookObjection> {
        let linked = self.linked;
        let mut found: Vec<HookObjection> = Vec::new();
        let mut add = |source: usize, hook: &HookRecord, call: Option<usize>| {
            if hook.outcome != Some(HookOutcome::Blocked) {
                return;
            }
            let names = &linked.sources[source].summary.names;
            let own =
                |text: Option<&str>| text.map(|text| self.private.map_or_else(|| text.to_owned(), |own| (own.change)(text.to_owned())));
            let (event, name, command) = (own(names.opt(hook.event)), own(names.opt(hook.name)), own(names.opt(hook.command)));
            let story =
                HookStory { event, name, command, outcome: hook.outcome, reason: own(hook.reason.as_deref()), ..HookStory::default() };
            let spot = Spot { source, at: hook.at };
            let turn = call.and_then(|call| self.calls[call].turn).or_else(|| places.turn(spot));
            found.push(HookObjection { hook: story, call, spot, turn });
        };
        for call in self.sessions.iter().flat_map(|&session| linked.calls_of(session)).filter(|call| call.copy_of.is_none()) {
            let (source, record) = (call.id.source(), linked.record(call.id));
            let index = self.requests.get(&(source, record.at.line, linked.id(call.id))).copied();
            // A refusal of the call itself is its status.
            let refused = index.is_none_or(|index| self.calls[index].row.status == Status::Blocked);
            record.hooks.iter().filter(|_| !refused).for_each(|hook| add(source, hook, index));
        }
        for source in self.sources() {
            self.own_hooks(source).into_iter().for_each(|loose| add(source, &loose.hook, None));
        }
        found.sort_by_key(|objection| objection.spot);
        // A log that was copied reports them again, and so does the summary of a turn.
        let mut known = HashSet::new();
        found.retain(|objection| {
            known.insert((objection.call, objection.turn, objection.hook.event.clone(), objection.hook.reason.clone()))
        });
        found
    }

    /// The searches and fetches of the model's service, those of each message once.
    fn server_tools(&self) -> [u64; 2] {
        let mut messages: HashMap<u64, [u32; 2]> = HashMap::new();
        for source in self.sources() {
            for usage in self.own_usage(source) {
                let known = messages.entry(usage.message).or_default();
                *known = [known[0].max(usage.server_tools[0]), known[1].max(usage.server_tools[1])];
            }
        }
        messages.values().fold([0, 0], |sum, tools| [sum[0] + u64::from(tools[0]), sum[1] + u64::from(tools[1])])
    }

    /// The files of the sources, redacted if asked for.
    fn files(&self) -> HashMap<usize, &'a str> {
        let seen = |source: usize| {
            let mut path: &'a str = &self.linked.sources[source].path;
            if let Some(private) = self.private {
                private.text(&mut path);
            }
            (source, path)
        };
        self.sources().into_iter().map(seen).collect()
    }

    /// The call that started a thread: the one that names its agent, otherwise the one that its calls name as their parent.
    fn starter(&self, agent: Option<&str>, entries: &[Entry]) -> Option<usize> {
        let named = agent.and_then(|agent| self.calls.iter().position(|call| call.row.child_session == Some(agent)));
        let by_call = || {
            entries.iter().find_map(|entry| match entry.what {
                EntryKind::Call(index) => self.by_id.get(self.calls[index].row.parent_call?).copied(),
                _ => None,
            })
        };
        named.or_else(by_call)
    }
}

/// The time span in which a hook ran; its record is written when it is done.
fn ran(hook: &HookRecord) -> Option<(Time, Time)> {
    let end = hook.time?;
    let start = end.as_millisecond().checked_sub(i64::try_from(hook.duration_ms?).ok()?)?;
    Some((Time::from_millisecond(start)?, end))
}

/// The beginning of a prompt, redacted if asked for. Redaction comes before the cut: half a secret is not recognised by a redactor, but may
/// be enough for an attacker.
fn head(part: &Part, private: Option<Private<'_>>) -> String {
    if !matches!(part, Part::Prompt { .. } | Part::Command { .. }) {
        return String::new();
    }
    let whole = text(part).to_owned();
    let whole = if let Some(private) = private { (private.change)(whole) } else { whole };
    let line = whole.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line[..line.floor_char_boundary(HEAD)].to_owned()
}

/// The turns of the main conversation; every entry learns to which it belongs.
fn turns(entries: &mut [PendingEntry]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (at, found) in entries.iter_mut().enumerate() {
        if let Some(abandoned) = found.begins {
            // What comes before the first prompt belongs to the first turn.
            // Records in front of the first prompt (settings, summaries) would otherwise belong to no turn.
            let start = if turns.is_empty() { 0 } else { at };
            let head = if found.head.is_empty() { "(an image)".to_owned() } else { found.head.clone() };
            turns.push(Turn { head, time: found.entry.time, entries: start..at, begins: at, abandoned });
        }
        if let Some(turn) = turns.last_mut() {
            turn.entries.end = at + 1;
            found.entry.abandoned |= turn.abandoned;
        }
        found.entry.turn = turns.len().checked_sub(1);
    }
    for found in entries.iter_mut().take_while(|found| found.entry.turn.is_none()) {
        found.entry.turn = (!turns.is_empty()).then_some(0);
    }
    turns
}

/// The session whose log a file is, by the file's name. Paths of other systems have other separators.
fn session_of(agent: &str, file: &str) -> Option<String> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    Some(format_of(agent)?.origin(Path::new(name)).session)
}

/// Assigns the entries of a subagent to the turn of the call that started it.
fn inherit_turns(threads: &mut [Thread], calls: &mut [CallEntry<'_>]) {
    // A subagent may have been started by another one that comes later; each round settles one level.
    for _ in 0..threads.len().min(8) {
        for thread in threads.iter_mut().skip(1) {
            let Some(turn) = thread.started_by.and_then(|index| calls.get(index)).and_then(|call| call.turn) else { continue };
            for entry in &mut thread.entries {
                entry.turn = Some(turn);
                if let EntryKind::Call(index) = entry.what {
                    calls[index].turn = Some(turn);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::session_of;

    #[test]
    fn a_session_is_known_by_its_log() {
        for (agent, file, session) in [
            ("claude", "/h/.claude/projects/-p/3f2a91c4-6b1e.jsonl", Some("3f2a91c4-6b1e")),
            ("codex", "/h/.codex/sessions/2026/07/02/rollout-2026-07-02T09-00-00-019cb4dd-5728.jsonl", Some("019cb4dd-5728")),
            ("codex", "C:\\h\\rollout-2026-07-02T09-00-00-019cb4dd-5728.jsonl.zst", Some("019cb4dd-5728")),
            ("nobody", "3f2a.jsonl", None),
        ] {
            assert_eq!(session_of(agent, file).as_deref(), session, "{file}");
        }
    }
}
