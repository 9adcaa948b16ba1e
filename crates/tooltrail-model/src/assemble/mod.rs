//! Layer 1: the events of one source become its [`Summary`].
//!
//! An assembler is pure and incremental: it can return a summary at any time and then continue. Its memory grows with the
//! number of calls and records, never with their payload. Pairing is in `calls`, the conversation's tree in `chain`.

mod amount;
mod begin;
mod calls;
mod chain;
mod ends;
mod hooks;
mod meter;
mod nameless;
mod polls;
mod proof;
mod responses;
mod scripts;
mod stamps;
mod statements;
mod talk;

use crate::event::{BlockKind, Boundary, Broken, Claim, Context, Event, Fact, Id, Meta, Node, Notice, TitleBy, Word};
use crate::issue::{Issue, IssueCode};
use crate::position::At;
use crate::summary::{AgentRecord, ClaimRecord, Ended, Ending, SessionRecord, Summary};
use crate::text::Name;
use crate::usage::UsageSnapshot;
use crate::{Map, Time};
use std::borrow::Cow;
use std::hash::BuildHasher;

/// Facts about a source that are known before its first record.
#[derive(Clone, Debug, Default)]
pub struct SourceOrigin {
    /// The agent that wrote it; `None` for a file that is no agent's log.
    pub agent: Option<&'static str>,
    /// The session, where no record names one: usually the file's name.
    pub session: String,
    /// The subagent whose log this is, by the file's name.
    pub subagent: Option<String>,
    /// The workflow it is a member of, by the directory's name.
    pub group: Option<String>,
}

/// Collects the events of one source.
#[derive(Clone, Debug)]
pub struct Assembler {
    out: Summary,
    /// The session of records that name none: the last one named, at first the one that the file is named after.
    fallback: Name,
    unnamed_session: Option<Name>,
    subagent: Option<Name>,
    group: Option<Name>,
    /// The record being read.
    here: Here,
    cwd: Option<Name>,
    model: Option<Name>,
    /// Tools that wait for the person's approval.
    approval: Option<crate::event::Approval>,
    /// The last timestamp; a record without one is placed by its position in the file.
    time: Option<Time>,
    /// Time of records that have none of their own, where the log gives one for several.
    clock: Option<Time>,
    /// First and last time of records before any session was named.
    unnamed: (Option<Time>, Option<Time>),
    /// The first types of records, with their numbers: nearly all records of a log are of these.
    types: Vec<(Box<str>, u64)>,
    sessions: Map<Name, usize>,
    last_session: Option<(Name, usize)>,
    agents: Map<AgentKey, u32>,
    usage: Map<(u64, Option<u64>, bool, bool), usize>,
    calls: calls::CallTable,
    chain: chain::Chain,
    talk: talk::Talk,
    owner: begin::LogOwner,
    ends: Vec<ends::EndedCall>,
    scripts: scripts::ScriptTable,
    /// The last reading of the meter.
    meter: Option<crate::usage::Tokens>,
    responses: responses::Responses,
    torn_tail: Option<At>,
    /// Whether the model was set to work and is not yet done.
    at_work: bool,
    /// The turn that it was last set to work on, where it has a name.
    turn: Option<Id>,
    /// The first message while it was at work, as long as the model has not gone on.
    steered: Option<At>,
    /// Whether a record says that the history of this session is elsewhere.
    stub: bool,
    /// How much is kept, and how much may be.
    amount: amount::KeptAmount,
}

/// The record being read.
#[derive(Clone, Copy, Debug)]
struct Here {
    at: At,
    time: Option<Time>,
    session: Name,
    agent: Option<Name>,
    sidechain: bool,
    within: Option<u32>,
    node: Option<Id>,
    /// The record that this one is a copy of, else the record itself.
    original: Option<Id>,
}

/// One subagent of a source: by name, or by the root of an unnamed side conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AgentKey {
    Named(Name, Name),
    Inline(u64),
}

/// A conversation inside a source: the main one, or one of its subagents'.
type ThreadIndex = Option<u32>;

impl Assembler {
    /// An assembler for a source of which nothing has been read.
    pub fn new(origin: SourceOrigin) -> Self {
        let mut out = Summary { agent: origin.agent, ..Summary::default() };
        let fallback = out.names.of(&origin.session);
        let subagent = origin.subagent.as_deref().map(|id| out.names.of(id));
        let group = origin.group.as_deref().map(|id| out.names.of(id));
        Assembler {
            out,
            fallback,
            unnamed_session: Some(fallback),
            subagent,
            group,
            here: Here {
                at: At::default(),
                time: None,
                session: fallback,
                agent: None,
                sidechain: false,
                within: None,
                node: None,
                original: None,
            },
            cwd: None,
            model: None,
            approval: None,
            time: None,
            clock: None,
            unnamed: (None, None),
            types: Vec::new(),
            sessions: Map::default(),
            last_session: None,
            agents: Map::default(),
            usage: Map::default(),
            calls: calls::CallTable::default(),
            chain: chain::Chain::default(),
            talk: talk::Talk::default(),
            owner: begin::LogOwner::default(),
            ends: Vec::new(),
            scripts: scripts::ScriptTable::default(),
            meter: None,
            responses: responses::Responses::default(),
            torn_tail: None,
            at_work: false,
            turn: None,
            steered: None,
            stub: false,
            amount: amount::KeptAmount::default(),
        }
    }

    /// Reserves memory for what a source of this size usually contains. Unused memory is released in the end.
    pub fn expect(&mut self, bytes: u64) {
        // Rough bytes of log per entry; the limit keeps a large file alone from reserving much.
        let space = |each: u64| usize::try_from(bytes / each).unwrap_or(usize::MAX).min(1 << 16);
        self.out.calls.reserve(space(8_000));
        self.out.usage.reserve(space(9_000));
        self.usage.reserve(space(9_000));
        self.calls.expect(space(8_000));
        self.chain.expect(space(3_000));
    }

    /// Sets the origin once it is known what the source is. Only lines have been counted so far.
    pub fn recognised(&mut self, origin: SourceOrigin) {
        self.out.agent = origin.agent;
        self.fallback = self.out.names.of(&origin.session);
        self.unnamed_session = Some(self.fallback);
        self.subagent = origin.subagent.as_deref().map(|id| self.out.names.of(id));
        self.group = origin.group.as_deref().map(|id| self.out.names.of(id));
    }

    /// Takes the next event. Events of one record begin with [`Fact::Record`] or [`Fact::Broken`].
    pub fn push(&mut self, mut event: Event<'_>) {
        if self.is_full() {
            // What follows would be kept, too; the reader stops at the end of this record.
            return;
        }
        // By reference where the fact is large or frequent: moving it out would copy it.
        match event.fact {
            Fact::Record { ref name, known } => self.record(&event, name, known),
            Fact::Begin(ref begin) => self.begin(begin),
            Fact::Work(work) => self.work(work),
            Fact::Context(ref context) => self.context(context),
            Fact::Clock(time) => self.clock = Some(time),
            Fact::Node(ref node) => self.node(node),
            Fact::Prompt(ref prompt) => self.prompt(prompt),
            Fact::Block(block) => {
                self.owner.answered();
                self.goes_on();
                self.spoke(block.message);
                self.ends_with(match (block.message, block.kind) {
                    (None, _) => Ending::Told,
                    // While the log says that the model is at work, a text is not yet its last word.
                    (Some(_), BlockKind::Text) if !self.at_work => Ending::Spoke,
                    (Some(_), _) => Ending::Busy,
                });
            }
            Fact::Usage(ref usage) => self.usage(usage),
            Fact::Meter(meter) => self.meter(&meter),
            Fact::Response(usage) => self.response(&usage),
            Fact::SummarisedBy(response) => self.responses.summarised(response),
            Fact::Call(ref mut call) => self.call(call),
            Fact::Result(ref mut result) => self.result(result),
            Fact::End(end) => self.end(*end),
            Fact::Hook(hook) => self.hook(&hook),
            Fact::Task(news) => self.task(news),
            Fact::Restated(news) => self.restated(news, event.at),
            Fact::SeenInPart(call) => self.seen_in_part(&call),
            Fact::Progress(progress) => self.progress(&progress),
            Fact::Refusal(refusal) => self.refusal(&refusal),
            Fact::Claim(claim) => self.claim(&claim),
            Fact::Boundary(boundary) => self.out.shape.compactions += u32::from(boundary == Boundary::Compaction),
            Fact::Retract(ids) => {
                // Counted as the log says; the records themselves may be in another file.
                self.out.shape.retracted += u32::try_from(ids.len()).unwrap_or(u32::MAX);
                self.chain.retract(ids);
            }
            Fact::Rollback(turns) => self.rollback(turns),
            Fact::Meta(meta) => self.meta(&meta),
            Fact::Notice(notice) => self.notice(notice),
            Fact::Broken(broken) => self.broken(event.at, &broken),
            Fact::Damaged(call) => self.damaged(&call, event.at),
            Fact::Private => self.out.tally.private += event.at.span.len(),
        }
    }

    fn claim(&mut self, claim: &Claim<'_>) {
        self.count(claim.agent.len() + claim.call.len());
        let (agent, call) = (claim.agent.as_ref().into(), claim.call.as_ref().into());
        self.out.claims.push(ClaimRecord { session: self.here.session, agent, call, by: claim.by });
    }

    /// Counts a line of whitespace.
    pub fn blank(&mut self) {
        self.count(0);
        self.out.tally.lines += 1;
        self.out.tally.blank += 1;
    }

    /// Names the row of the next record, for a source that is a part of a database.
    pub fn row(&mut self, row: &str) {
        self.out.rows.push(row);
    }

    /// Sets the number of bytes read so far.
    pub fn read(&mut self, bytes: u64) {
        self.out.tally.bytes = bytes;
    }

    /// Notes a problem that is not tied to a call.
    pub fn issue(&mut self, code: IssueCode, line: u64, text: impl Into<String>) {
        self.out.issues.push(Issue { code, line, row: None, call: None, text: text.into() });
    }

    /// Summary of what was read so far.
    pub fn summary(&self) -> Summary {
        // Finishing ends the reading, and more records may follow.
        self.clone().finish()
    }

    /// The final summary.
    pub fn finish(mut self) -> Summary {
        self.out.tally.records.extend(std::mem::take(&mut self.types));
        // A log belongs to a session even if no record names one.
        if self.out.agent.is_some() && self.out.sessions.is_empty() && !self.out.tally.records.is_empty() {
            self.session(self.fallback);
        }
        // Records that name no session belong to the one named after the file.
        let (first, last) = self.unnamed;
        if let Some(record) = self.out.sessions.iter_mut().find(|record| Some(record.session) == self.unnamed_session) {
            record.first = [record.first, first].into_iter().flatten().min();
            record.last = record.last.max(last);
        }
        // The order matters: ends may become calls, calls need their turns, and abandonment needs both.
        self.settle_talk();
        self.settle_responses();
        self.settle_ends();
        self.settle_calls();
        self.settle_stamps();
        self.settle_chain();
        self.settle_stub();
        // Last, because the calls of a script share what is known of it.
        self.settle_scripts();
        self.out.settle();
        self.out
    }

    fn record(&mut self, event: &Event<'_>, name: &str, known: bool) {
        self.count(0);
        // Nested and recovered records share a line; a line counts once.
        if event.at.line != self.here.at.line || self.here.at.line == 0 {
            self.out.tally.lines += 1;
            self.count_type(name);
            self.out.tally.unknown_records += u64::from(!known);
        }
        // A record follows, so the damaged line before it was not the end of the file.
        self.torn_tail = None;
        let scope = event.scope;
        let session = self.renamed(&scope.session, Some(self.fallback)).unwrap_or(self.fallback);
        self.fallback = session;
        let agent = self.renamed(&scope.agent, self.here.agent);
        // Everything in a subagent's log belongs to the subagent, even where its records do not say so.
        let agent = agent.or(self.subagent);
        let sidechain = scope.sidechain || self.subagent.is_some();
        let time = event.time.or(self.clock);
        let own = self.owner.record(event.time, scope.ordinal);
        if !own.is_empty() {
            self.take_prompts(own);
        }
        // History that was handed to a subagent is not its own work.
        let (agent, sidechain) = if self.owner.is_inherited() { (None, false) } else { (agent, sidechain) };
        self.here = Here { at: event.at, time, session, agent, sidechain, within: None, node: None, original: None };
        self.out.end = event.at;
        if let Some(time) = event.time {
            self.out.first = Some(self.out.first.map_or(time, |first| first.min(time)));
            self.out.last = Some(self.out.last.map_or(time, |last| last.max(time)));
        }
        self.time = event.time.or(self.time);
        let named = scope.session.is_some() || !self.out.sessions.is_empty();
        // Until a session is named, times are collected for the one named after the file.
        let times = if named { None } else { Some(&mut self.unnamed) };
        let (first, last) = match times {
            Some((first, last)) => (first, last),
            None => {
                let record = self.session(session);
                (&mut record.first, &mut record.last)
            }
        };
        *first = [*first, event.time].into_iter().flatten().min();
        *last = (*last).max(event.time);
        if let Some(agent) = agent {
            self.here.within = Some(self.agent(AgentKey::Named(session, agent)));
        }
    }

    fn count_type(&mut self, name: &str) {
        /// More types than this are rare, and searching them one by one would be slow.
        const FEW: usize = 8;
        if let Some((_, count)) = self.types.iter_mut().find(|(known, _)| **known == *name) {
            *count += 1;
        } else if self.types.len() < FEW {
            self.types.push((name.into(), 1));
        } else if let Some(count) = self.out.tally.records.get_mut(name) {
            *count += 1;
        } else {
            self.count_new_type(name);
            self.out.tally.records.insert(name.into(), 1);
        }
    }

    /// Something at hand lasted until a time that is later than its record's own.
    fn lasts_until(&mut self, time: Time) {
        self.out.last = self.out.last.max(Some(time));
        let record = self.session(self.here.session);
        record.last = record.last.max(Some(time));
    }

    /// The name for a text that is probably the same as before.
    fn renamed(&mut self, word: &Option<Word<'_>>, before: Option<Name>) -> Option<Name> {
        let word = word.as_deref().filter(|word| !word.is_empty())?;
        let same = before.filter(|&before| self.out.names.is(before, word));
        Some(same.unwrap_or_else(|| self.out.names.of(&String::from_utf8_lossy(word))))
    }

    fn session(&mut self, session: Name) -> &mut SessionRecord {
        let index = self.session_at(session);
        &mut self.out.sessions[index]
    }

    fn session_at(&mut self, session: Name) -> usize {
        // Nearly all records belong to the session of the record before.
        if let Some((last, index)) = self.last_session
            && last == session
        {
            return index;
        }
        let index = *self.sessions.entry(session).or_insert_with(|| {
            self.out.sessions.push(SessionRecord {
                session,
                first: None,
                last: None,
                start: None,
                cwd: None,
                project: None,
                repository: None,
                stand_in: false,
                branch: None,
                title: None,
                records: 0,
                ending: None,
                continued_in: None,
                beside: false,
            });
            self.out.sessions.len() - 1
        });
        self.last_session = Some((session, index));
        index
    }

    fn agent(&mut self, key: AgentKey) -> u32 {
        let here = self.here;
        *self.agents.entry(key).or_insert_with(|| {
            let agent = match key {
                AgentKey::Named(_, agent) => Some(agent),
                AgentKey::Inline(_) => None,
            };
            self.out.agents.push(AgentRecord {
                agent,
                group: self.group,
                path: None,
                whole: false,
                session: here.session,
                prompt: None,
                time: here.time,
            });
            u32::try_from(self.out.agents.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn context(&mut self, context: &Context<'_>) {
        let session = self.session_at(self.here.session);
        let known = &self.out.sessions[session];
        let known_branch = known.branch;
        let cwd = self.renamed(&context.cwd, self.cwd);
        let branch = self.renamed(&context.branch, known_branch);
        self.model = self.renamed(&context.model, self.model).or(self.model);
        self.cwd = cwd.or(self.cwd);
        self.approval = context.approval.or(self.approval);
        // A copied record describes the conversation it was copied from.
        if self.here.sidechain || self.owner.is_copy() {
            return;
        }
        // The first directory counts: later records may come from below it.
        if cwd.is_some() && self.out.sessions[session].cwd.is_none() {
            let place = context.place();
            let project = self.renamed(&place.project, None).or(cwd);
            let repository = self.renamed(&place.repository.map(Cow::Owned), None);
            let record = &mut self.out.sessions[session];
            (record.cwd, record.repository, record.stand_in) = (project, repository, place.stand_in);
        }
        let record = &mut self.out.sessions[session];
        record.start = record.start.or(cwd);
        record.branch = branch.or(record.branch);
    }

    fn node(&mut self, node: &Node) {
        let (id, parent) = (node.id, node.parent);
        self.here.node = Some(id);
        self.here.original = node.copy_of.or(Some(id));
        self.session(self.here.session).records += 1;
        // A side conversation without a name is identified by its first record.
        if self.here.sidechain && self.here.agent.is_none() {
            let root = self.chain.root_of(id, parent);
            self.here.within = Some(self.agent(AgentKey::Inline(root)));
        }
        self.chain.add(id, parent, node, &self.here);
    }

    fn usage(&mut self, usage: &crate::event::Usage<'_>) {
        let (message, request) = (usage.message, usage.request);
        let tokens = self.sane(usage.tokens).unwrap_or_default();
        let snapshot = UsageSnapshot {
            message,
            request,
            sidechain: self.here.sidechain,
            session: Some(self.here.session),
            model: self.renamed(&usage.model, self.out.usage.last().and_then(|last| last.model)),
            time: self.here.time,
            line: self.here.at.line,
            tokens,
            server_tools: usage.server_tools,
            tier: self.renamed(&usage.tier, self.out.usage.last().and_then(|last| last.tier)),
            reported: usage.reported,
        };
        // Several records repeat the usage of one message; the best of them counts.
        match self.usage.entry((message, request, self.here.sidechain, usage.reported)) {
            std::collections::hash_map::Entry::Occupied(entry) => {
                let best = &mut self.out.usage[*entry.get()];
                if snapshot.beats(best) {
                    *best = snapshot;
                }
            }
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(self.out.usage.len());
                self.out.usage.push(snapshot);
            }
        }
    }

    fn meta(&mut self, meta: &Meta<'_>) {
        match meta {
            Meta::Title(by, text) => self.title(self.here.session, *by, text),
            Meta::SessionTitle { session, by, title } => {
                let names = &self.out.names;
                let own = self.out.sessions.iter().map(|record| record.session).find(|name| names.text(*name) == session);
                if let Some(own) = own {
                    self.title(own, *by, title);
                }
            }
            Meta::Summary { leaf, title } => {
                let title = self.out.names.of(title);
                self.out.leaf_titles.push((*leaf, title));
            }
            Meta::Project(path) => {
                let path = self.out.names.of(path);
                self.session(self.here.session).project = Some(path);
            }
            Meta::QueueCleared => self.talk.clear_queue(),
            Meta::Unqueued(prompt) => self.talk.unqueue(*prompt),
            Meta::Delivered(prompt) => self.talk.deliver(*prompt),
            Meta::ContinuedIn(session) => self.continued_in(session),
            Meta::Archived => self.ends_with(Ending::Archived),
            Meta::Beside => self.session(self.here.session).beside = true,
            Meta::Stub => self.stub = true,
            Meta::Skill(skill) => self.runs_skill(*skill),
        }
    }

    fn title(&mut self, session: Name, by: TitleBy, text: &str) {
        let record = self.session(session);
        // Of two titles with the same weight the last one counts, except for prompts, where the first does.
        let wins = record.title.is_none_or(|(have, _)| if by <= TitleBy::Prompt { by > have } else { by >= have });
        let text = if wins { crate::text::headline(text, 120) } else { String::new() };
        // A title without a visible character does not replace another one.
        if !text.is_empty() {
            let name = self.out.names.of(&text);
            self.session(session).title = Some((by, name));
        }
    }

    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::Interrupt => {
                self.owner.answered();
                self.sequel(crate::verdict::Sequel::Interrupted, None);
                self.at_work = false;
                self.ends_with(Ending::Interrupted);
            }
            Notice::Handover => self.handover(),
            Notice::TurnOver => self.turn_over(),
            Notice::CommandRan => self.talk.command_ran(),
            Notice::ApiError => {
                self.sequel(crate::verdict::Sequel::ApiError, None);
                self.ends_with(Ending::ApiError);
            }
        }
    }

    /// Notes that the main conversation ends with this, unless more follows.
    fn ends_with(&mut self, ending: Ending) {
        if self.here.sidechain || self.owner.is_copy() {
            return;
        }
        let ended = Ended { what: ending, time: self.here.time, line: self.here.at.line };
        let before = &mut self.session(self.here.session).ending;
        // A failure of the service is also reported in the model's own words.
        if before.is_none_or(|before| before.what != Ending::ApiError || before.line != ended.line) {
            *before = Some(ended);
        }
    }

    fn broken(&mut self, at: At, broken: &Broken) {
        self.count(0);
        self.out.tally.lines += 1;
        self.out.tally.unparsed += 1;
        self.here.at = at;
        self.out.end = at;
        // Only the last line of a file may be torn by a write in progress.
        self.torn_tail = (broken.why == IssueCode::TornTail).then_some(at);
        let text = match broken.why {
            IssueCode::TornTail => "the last line breaks off".to_owned(),
            IssueCode::GluedRecords => match broken.recovered {
                1 => "a broken and a whole record on one line; the whole one was read".to_owned(),
                n => format!("{n} records on one line; all were read"),
            },
            IssueCode::OversizedLine => format!("a line of {} bytes; counted, not read", at.span.len()),
            IssueCode::NulLine => "a line of NUL bytes".to_owned(),
            _ => "no JSON object".to_owned(),
        };
        self.issue(broken.why, at.line, text);
    }
}

/// Hash of an id that is the same in every process, so that summaries of different runs can be compared.
pub(crate) fn hash(id: &str) -> u64 {
    foldhash::quality::FixedState::with_seed(0x746f_6f6c).hash_one(id)
}
