//! Scripts: calls that stand in the text of a program, and what its output and records of their own prove about them.
//!
//! A program is kept until it ends; of its calls only conclusions stay. They become rows when everything was read.

use super::proof::{InnerProof, Proof};
use super::{Assembler, ThreadIndex};
use crate::event::{CallScript, ScriptOutput, ScriptTool, TaskState};
use crate::position::{At, Span};
use crate::script::ScriptEnd;
use crate::summary::{CallRecord, InnerRecord, ResultRecord, ScriptRecord, TaskRecord};
use crate::text::Name;
use crate::verdict::{self, LoggedOutcome, Signals};
use crate::{Kind, Map, Set, Status, Time};
use std::sync::Arc;

/// Number of programs that are kept at once while they run. More is no agent's; of the others the calls are known, and nothing more.
const RUNNING: usize = 64;

/// The scripts of a source.
#[derive(Clone, Debug, Default)]
pub(super) struct ScriptTable {
    all: Vec<ScriptState>,
    /// By the index of the call that runs it.
    by_call: Map<usize, usize>,
    /// Scripts that go on, by conversation and the name under which they do.
    pub(super) cells: Map<(ThreadIndex, Box<str>), usize>,
    /// Scripts that have not ended, in their order.
    running: Vec<usize>,
}

/// What is known of a script.
#[derive(Clone, Debug)]
struct ScriptState {
    /// The call that runs it, in `Summary::calls`.
    call: usize,
    within: ThreadIndex,
    /// Whether it is nothing but one call.
    alone: bool,
    complete: bool,
    calls: Vec<InnerState>,
    /// The end of a call that is not in its text and failed.
    stray: Option<Signals>,
    end: Option<ScriptEnd>,
    /// The record that says so.
    ended: At,
    /// The name under which it went on.
    cell: Option<Box<str>>,
    /// The program, until it ends.
    program: Option<Running>,
}

/// A program that has not ended.
#[derive(Clone, Debug)]
struct Running {
    tools: Arc<Vec<ScriptTool>>,
    proof: Proof,
}

/// What is known of a call in a script.
#[derive(Clone, Debug)]
struct InnerState {
    tool: Name,
    server: Option<Name>,
    kind: Kind,
    digest: u64,
    bytes: u64,
    /// The background task that it asks about.
    task: Option<Box<str>>,
    /// The call that became this task, by its id.
    polls: Option<Box<str>>,
    /// What is proved of it.
    known: InnerProof,
    /// The record that proves it.
    proof: Option<At>,
    /// The record of its own that it has.
    item: Option<Box<ItemEnd>>,
}

/// The end of a call in a script, by a record of its own.
#[derive(Clone, Debug)]
struct ItemEnd {
    id: Box<str>,
    at: At,
    time: Option<Time>,
    signals: Signals,
    run_ms: Option<u64>,
    bytes: u64,
}

/// The place of a call that a script made, as a record of its own tells it.
pub(super) enum ScriptedEnd {
    /// It is in the script's text.
    Known,
    /// It is not in the text of this script.
    New(Box<str>),
    /// There is no script that runs.
    None,
}

impl ScriptState {
    fn signals(inner: &InnerState) -> Signals {
        // A record of its own may tell its time and nothing else.
        let told = inner.item.as_ref().map(|item| item.signals).filter(|told| told.outcome != LoggedOutcome::Nothing || is_refusal(told));
        let mut signals = told.unwrap_or_else(|| inner.known.signals());
        // Asking about a task does not make the call that task.
        signals.backgrounded &= inner.task.is_none();
        signals
    }
}

impl Assembler {
    /// Makes the record of a call that runs a script: one with a single call is that call.
    pub(super) fn scripted(&mut self, record: &mut CallRecord, script: &CallScript) -> bool {
        record.kind = Kind::Script;
        if let Some(tool) = script.alone() {
            record.kind = tool.kind;
            record.server = tool.server.as_deref().map(|server| self.out.names.of(server));
            record.rare_mut().task = tool.task.as_deref().map(Into::into);
            record.rare_mut().polls = tool.task.as_deref().and_then(|task| self.polled(record.within, task));
        }
        let one = script.alone().map(|tool| self.out.names.of(&tool.tool));
        record.rare_mut().script = Some(Box::new(ScriptRecord { alone: one, complete: script.script.complete, ..ScriptRecord::default() }));
        one.is_some()
    }

    /// Begins to follow a script.
    pub(super) fn script_begins(&mut self, call: usize, alone: bool, script: Option<Box<CallScript>>) {
        let Some(script) = script else { return };
        let polled = |tool: &ScriptTool| self.polled(self.here.within, tool.task.as_deref()?);
        let polled: Vec<_> = script.tools.iter().map(polled).collect();
        let names = &mut self.out.names;
        let calls = script.script.calls.iter().zip(&script.tools).zip(polled).map(|((call, tool), polls)| InnerState {
            tool: names.of(&tool.tool),
            server: tool.server.as_deref().map(|server| names.of(server)),
            kind: tool.kind,
            digest: tool.digest,
            bytes: call.span.len() as u64,
            task: tool.task.as_deref().map(Into::into),
            polls,
            known: InnerProof::default(),
            proof: None,
            item: None,
        });
        let calls = calls.collect();
        let CallScript { script, tools } = *script;
        let index = self.scripts.all.len();
        self.scripts.all.push(ScriptState {
            call,
            within: self.here.within,
            alone,
            complete: script.complete,
            calls,
            stray: None,
            end: None,
            ended: At::default(),
            cell: None,
            program: Some(Running { proof: Proof::new(script, &tools), tools: Arc::new(tools) }),
        });
        self.scripts.by_call.insert(call, index);
        self.scripts.running.push(index);
        // The oldest goes, because records of calls are matched with the latest scripts first.
        if self.scripts.running.len() > RUNNING {
            self.scripts.drop_program(0);
        }
    }

    /// Takes what a script printed: in the result of its own call, or in that of a call that waited for it.
    pub(super) fn script_printed(&mut self, call: usize, output: ScriptOutput) {
        let within = self.out.calls[call].within;
        let waited = || {
            let cell = self.out.calls[call].rare().task.clone()?;
            self.scripts.cells.get(&(within, cell)).copied()
        };
        let Some(index) = self.scripts.by_call.get(&call).copied().or_else(waited) else { return };
        if let Some(cell) = &output.cell {
            self.scripts.cells.insert((within, cell.as_str().into()), index);
        }
        let state = &mut self.scripts.all[index];
        let Some(program) = &mut state.program else { return };
        state.cell = output.cell.as_deref().map(Into::into).or(state.cell.take());
        program.proof.printed(self.here.at, &output);
        let mut news = Vec::new();
        for (number, (inner, (known, proof))) in state.calls.iter_mut().zip(program.proof.calls()).enumerate() {
            // Only where something new is proved: otherwise the call keeps the record that proved it first.
            if known != inner.known && known.is_some() {
                (inner.known, inner.proof) = (known, proof);
                news.push(number);
            }
        }
        (state.end, state.ended) = (output.end, self.here.at);
        if output.end.is_some()
            && let Some(place) = self.scripts.running.iter().position(|running| *running == index)
        {
            // Nothing more can be printed, and programs are large.
            self.scripts.drop_program(place);
        }
        news.into_iter().for_each(|number| self.inner_news(index, number));
    }

    /// Notes what a call in a script says about background tasks: that it became one, or how one ended.
    fn inner_news(&mut self, script: usize, number: usize) {
        let state = &self.scripts.all[script];
        let (within, alone, call) = (state.within, state.alone, state.call);
        let (known, asked) = (state.calls[number].known.clone(), state.calls[number].task.clone());
        // A script that is nothing but one call has no row for it: the task belongs to the call that runs the script.
        let own = if alone { self.out.calls[call].id } else { self.inner_name(call, number) };
        let ended = known.exit_code;
        let (task, call) = match (asked, known.session) {
            // It asks about a task: its answer is news of that, under the name that the task goes on with.
            (Some(task), session) if ended.is_some() || known.goes_on || session.is_some() => {
                let call = self.calls.of_task(within, &task);
                (task, call)
            }
            (None, Some(session)) if ended.is_none() => {
                self.goes_on_as(within, &session, own, false);
                (session, Some(own))
            }
            _ => return,
        };
        let state = match ended {
            Some(0) => TaskState::Completed,
            Some(_) => TaskState::Failed,
            None => TaskState::Running,
        };
        self.out.tasks.push(TaskRecord {
            session: self.here.session,
            id: Some(task),
            call: call.map(|call| self.out.names.text(call).into()),
            state,
            exit_code: ended,
            at: self.here.at,
            time: self.here.time,
            copied: self.owner.may_be_copy(),
        });
    }

    /// The id of a call in a script.
    fn inner_name(&mut self, call: usize, number: usize) -> Name {
        // The log names only the script. A number makes an id that is the same whenever the log is read again.
        let id = format!("{}/{}", self.out.names.text(self.out.calls[call].id), number + 1);
        self.out.names.of(&id)
    }

    /// Finds the call in a script that a record of its own ends: by its tool, and by its subject where both are known; else the first that
    /// has none.
    pub(super) fn made_by_script(&mut self, call: &CallRecord, result: &ResultRecord, subject: Option<u64>) -> ScriptedEnd {
        let scripts = &mut self.scripts;
        let here = |index: &&usize| scripts.all[**index].within == call.within;
        // A script that began later is more likely, and looked at first.
        let open: Vec<usize> = scripts.running.iter().rev().filter(here).copied().collect();
        let Some(&latest) = open.first() else { return ScriptedEnd::None };
        let fits = |index: usize, by_subject: bool| {
            let state = &scripts.all[index];
            let tools = state.program.as_ref().map(|program| &*program.tools)?;
            let place = state.calls.iter().zip(tools).position(|(inner, tool)| {
                let subjects = if by_subject {
                    tool.subject.is_some() && tool.subject == subject
                } else {
                    tool.subject.is_none() || subject.is_none()
                };
                inner.item.is_none() && inner.kind == call.kind && subjects
            });
            place.map(|place| (index, place))
        };
        // All scripts by subject first: a vague match in a later script must not win over a certain one.
        let found = open.iter().find_map(|&index| fits(index, true)).or_else(|| open.iter().find_map(|&index| fits(index, false)));
        let Some((index, place)) = found else {
            let state = &mut scripts.all[latest];
            let status = verdict::with_result(call.kind, &result.signals, verdict::Circumstances::default()).status;
            // The program made this call in a way that its text hides, and its failure still is one of the script.
            if status == Status::Failed {
                state.stray.get_or_insert(result.signals);
            }
            let script = self.out.calls[state.call].id;
            return ScriptedEnd::New(self.out.names.text(script).into());
        };
        let item = ItemEnd {
            id: self.out.names.text(call.id).into(),
            at: result.at,
            time: result.time,
            signals: result.signals,
            run_ms: result.run_ms,
            bytes: result.bytes,
        };
        scripts.all[index].calls[place].item = Some(Box::new(item));
        ScriptedEnd::Known
    }

    /// Gives scripts their outcome, and their calls records.
    pub(super) fn settle_scripts(&mut self) {
        let scripts = std::mem::take(&mut self.scripts.all);
        self.forget_cells(&scripts);
        for state in scripts {
            if state.alone { self.settle_alone(&state) } else { self.settle_several(&state) }
        }
    }

    /// Takes from calls that are the only ones of their scripts what is true of the script alone: that it went on, and ended.
    fn forget_cells(&mut self, scripts: &[ScriptState]) {
        let over = |state: &&ScriptState| state.alone && matches!(state.end, Some(ScriptEnd::Completed | ScriptEnd::Failed));
        let mut cells: Set<(&str, &str)> = Set::default();
        for state in scripts.iter().filter(over) {
            let Some(cell) = state.cell.as_deref() else { continue };
            let call = &mut self.out.calls[state.call];
            cells.insert((self.out.names.text(call.id), cell));
            if let Some(result) = &mut call.result {
                result.background = None;
            }
        }
        let of_cell = |news: &TaskRecord| cells.contains(&(news.call.as_deref()?, news.id.as_deref()?)).then_some(());
        self.out.tasks.retain(|news| of_cell(news).is_none());
    }

    /// Gives a call that is the only one of its script the outcome of that one.
    fn settle_alone(&mut self, state: &ScriptState) {
        let Some(inner) = state.calls.first() else { return };
        let signals = ScriptState::signals(inner);
        let call = &mut self.out.calls[state.call];
        let (proof, item) = (inner.proof, inner.item.as_deref());
        if let Some(item) = item {
            call.rare_mut().alias = Some(item.id.clone());
            call.rare_mut().ends.push(item.at);
        }
        let Some(result) = &mut call.result else { return };
        if let Some(session) = inner.known.session.clone().filter(|_| inner.task.is_none()) {
            result.background = Some(session);
        }
        result.run_ms = item.and_then(|item| item.run_ms).or(result.run_ms);
        let Some(ended) = script_signals(&result.signals, state, signals) else { return };
        result.signals = ended;
        let evidence = item.map(|item| item.at).or(proof).or_else(|| state.end.map(|_| state.ended)).filter(|at| *at != result.at);
        if let Some(evidence) = evidence {
            call.rare_mut().evidence = Some(evidence);
        }
    }

    fn settle_several(&mut self, state: &ScriptState) {
        let first = u32::try_from(self.out.inner.len()).unwrap_or(u32::MAX);
        let mut failed_by = None;
        let mut all = true;
        let mut failed = state.stray;
        let mut proof = None;
        for (number, inner) in state.calls.iter().enumerate() {
            let id = self.inner_name(state.call, number);
            let record = self.inner_record(state, inner, id, number);
            let status = record
                .result
                .as_ref()
                .map(|result| verdict::with_result(record.kind, &result.signals, verdict::Circumstances::default()).status);
            // The first failure is named as the cause, since later ones may only follow from it.
            if status == Some(Status::Failed) && failed_by.is_none() {
                failed_by = u32::try_from(number + 1).ok();
                failed = record.result.as_ref().map(|result| result.signals);
                proof = record.rare().evidence;
            }
            all &= status == Some(Status::Succeeded);
            self.out.inner.push(record);
        }
        let last = u32::try_from(self.out.inner.len()).unwrap_or(u32::MAX);
        let call = &mut self.out.calls[state.call];
        if let Some(script) = &mut call.rare_mut().script {
            script.calls = first..last;
            script.failed_by = failed_by;
        }
        let proof = proof.or_else(|| state.end.map(|_| state.ended));
        let Some(result) = &mut call.result else { return };
        let calls = verdict::script(state.complete && all, failed);
        let Some(ended) = script_signals(&result.signals, state, calls) else { return };
        result.signals = ended;
        if let Some(proof) = proof.filter(|proof| *proof != result.at) {
            call.rare_mut().evidence = Some(proof);
        }
    }

    /// The record of a call in a script.
    fn inner_record(&self, state: &ScriptState, inner: &InnerState, id: Name, number: usize) -> CallRecord {
        let script = &self.out.calls[state.call];
        let item = inner.item.as_deref();
        let result = script.result.as_ref().map(|result| ResultRecord {
            // Unless a record of its own says when it ended, the time of the script would be wrong for it.
            time: item.and_then(|item| item.time),
            // What refused or stopped the script did so to its calls.
            signals: if item.is_none() && is_refusal(&result.signals) { result.signals } else { ScriptState::signals(inner) },
            bytes: item.map_or(0, |item| item.bytes),
            run_ms: item.and_then(|item| item.run_ms),
            background: inner.known.session.clone().filter(|_| inner.task.is_none()),
            child: None,
            ..result.clone()
        });
        let mut record = CallRecord {
            id,
            key: super::hash(self.out.names.text(id)),
            tool: inner.tool,
            server: inner.server,
            kind: inner.kind,
            digest: inner.digest,
            input: Span { start: script.input.start, end: script.input.start + inner.bytes },
            hooks: Vec::new(),
            rare: None,
            result,
            ..script.clone()
        };
        let rare = record.rare_mut();
        rare.parent = Some(self.out.names.text(script.id).into());
        (rare.task, rare.polls) = (inner.task.clone(), inner.polls.clone());
        rare.inner = Some(InnerRecord {
            script: u32::try_from(state.call).unwrap_or(u32::MAX),
            number: u32::try_from(number + 1).unwrap_or(u32::MAX),
            told: item.is_some(),
        });
        rare.evidence = item.map(|item| item.at).or(inner.proof);
        if let Some(item) = item {
            rare.alias = Some(item.id.clone());
            rare.ends.push(item.at);
        }
        record
    }
}

impl ScriptTable {
    /// Forgets a program, by its place among those that run.
    fn drop_program(&mut self, place: usize) {
        let index = self.running.remove(place);
        self.all[index].program = None;
    }
}

/// Whether something kept a script from running to its end.
fn is_refusal(signals: &Signals) -> bool {
    signals.denial.is_some() || signals.marker.is_some() || signals.interrupted
}

/// The outcome of a script by those of its calls; `None` where its result says something else.
fn script_signals(result: &Signals, state: &ScriptState, calls: Signals) -> Option<Signals> {
    let goes_on = state.end.is_none();
    // A script that was refused or stopped has its reason in its own result, whatever its calls did before.
    if is_refusal(result) && state.end != Some(ScriptEnd::Completed) {
        return None;
    }
    match state.end {
        Some(ScriptEnd::Completed) => Some(calls),
        // It threw, and perhaps for another reason than its calls.
        Some(ScriptEnd::Failed) => Some(Signals { outcome: LoggedOutcome::Error, backgrounded: false, ..calls }),
        Some(ScriptEnd::Terminated) | None if calls.outcome == LoggedOutcome::Error => Some(calls),
        Some(ScriptEnd::Terminated) => None,
        None if goes_on && result.backgrounded => Some(Signals { outcome: LoggedOutcome::Nothing, backgrounded: true, ..calls }),
        None => None,
    }
}
