//! Result of layer 1 for a source: everything that the linker and the rows need, without payload.

use crate::event::{Approval, ClaimBy, HookOutcome, HookStage, Id, TaskState, TitleBy};
use crate::issue::{Issue, IssueCode};
use crate::position::{At, RowKeys, Span};
use crate::text::{Name, Names};
use crate::usage::UsageSnapshot;
use crate::verdict::{Sequel, Signals, may_refuse};
use crate::{Kind, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One assembled source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// The agent that wrote it; `None` for a file that is no agent's log.
    ///
    /// Stored beside a summary, not in it: the list of agents is kept elsewhere.
    #[serde(skip)]
    pub agent: Option<&'static str>,
    /// Names that repeat in this source.
    pub names: Names,
    /// Counts of its lines.
    pub tally: Tally,
    /// The calls requested here, in order.
    pub calls: Vec<CallRecord>,
    /// Calls of subagents that are only reported here.
    pub nested: Vec<CallRecord>,
    /// Calls in the texts of scripts, those of one script after the other.
    pub inner: Vec<CallRecord>,
    /// Results whose call is not here.
    pub orphans: Vec<Orphan>,
    /// News of background tasks.
    pub tasks: Vec<TaskRecord>,
    /// Evidence of the calls that started subagents.
    pub claims: Vec<ClaimRecord>,
    /// Subagents whose conversation is here.
    pub agents: Vec<AgentRecord>,
    /// The best snapshot of each request.
    pub usage: Vec<UsageSnapshot>,
    /// The sessions whose records are here.
    pub sessions: Vec<SessionRecord>,
    /// The turns of the main conversation.
    pub turns: Vec<TurnRecord>,
    /// Hooks that belong to no call.
    pub hooks: Vec<LooseHook>,
    /// Titles for conversations that end in a given record, possibly in another source.
    pub leaf_titles: Vec<(u64, Name)>,
    /// The ids of all records of the conversation, in order.
    pub nodes: Vec<Id>,
    /// Where in `nodes` the records of each session begin, in order. A resumed session's file begins with records of another one.
    pub node_sessions: Vec<(u32, Name)>,
    /// Lines of records that were retracted or replaced, in order.
    pub retracted: Vec<u64>,
    /// The shape of the conversation.
    pub shape: Shape,
    /// Problems of the source, beyond its calls.
    #[serde(with = "crate::issue::whole")]
    pub issues: Vec<Issue>,
    /// The earliest timestamp.
    pub first: Option<Time>,
    /// The latest timestamp.
    pub last: Option<Time>,
    /// The last record.
    pub end: At,
    /// The rows of its records, for a source that is a part of a database.
    pub rows: RowKeys,
}

impl Summary {
    /// Why the rest of the source was not read, if it holds more than a limit allows.
    pub fn limit(&self) -> Option<&str> {
        self.issues.iter().find(|issue| issue.code == IssueCode::LogLimit).map(|issue| issue.text.as_str())
    }

    /// Releases memory that was only needed while reading.
    pub(crate) fn settle(&mut self) {
        self.names.settle();
        for call in self.calls.iter_mut().chain(&mut self.nested) {
            call.hooks.shrink_to_fit();
        }
        self.calls.shrink_to_fit();
        self.nested.shrink_to_fit();
        self.inner.shrink_to_fit();
        self.tasks.shrink_to_fit();
        self.claims.shrink_to_fit();
        self.usage.shrink_to_fit();
        self.turns.shrink_to_fit();
        self.hooks.shrink_to_fit();
        self.nodes.shrink_to_fit();
        self.node_sessions.shrink_to_fit();
    }
}

/// Counts of a source's lines: `lines` = `blank` + all `records` + `unparsed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Bytes read.
    pub bytes: u64,
    /// Lines, including a last one without a line feed.
    pub lines: u64,
    /// Lines of spaces, tabs and carriage returns only.
    pub blank: u64,
    /// Lines that are not exactly one JSON object.
    pub unparsed: u64,
    /// Bytes of records that repeat requests to the model's service.
    pub private: u64,
    /// Records of a type the format does not know.
    pub unknown_records: u64,
    /// Records by type.
    pub records: BTreeMap<Box<str>, u64>,
}

/// A tool call as one source records it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallRecord {
    /// Its id.
    pub id: Name,
    /// Hash of its id.
    pub key: u64,
    /// Whether the log has no id for it; the generated one is only valid in its session.
    pub unnamed: bool,
    /// The tool, as logged.
    pub tool: Name,
    /// The MCP server.
    pub server: Option<Name>,
    /// Kind of tool.
    pub kind: Kind,
    /// The record that requests it.
    pub at: At,
    /// Time of the request.
    pub time: Option<Time>,
    /// Time of the request, or of its neighbours in the file if it has none.
    pub order: Option<Time>,
    /// The session.
    pub session: Name,
    /// The subagent that made it.
    pub agent: Option<Name>,
    /// Whether it stands beside the main conversation.
    pub sidechain: bool,
    /// The subagent of this source, in `Summary::agents`.
    pub within: Option<u32>,
    /// The turn, in `Summary::turns`.
    pub turn: Option<u32>,
    /// The working directory.
    pub cwd: Option<Name>,
    /// The model.
    pub model: Option<Name>,
    /// The API message's id.
    pub message: Option<Name>,
    /// Whether the record names its request.
    pub has_request: bool,
    /// Tools that waited for the person's approval when it was made, where the log says so.
    pub approval: Option<Approval>,
    /// Number of calls in its message.
    pub parallel: u32,
    /// Fingerprint of the input.
    pub digest: u64,
    /// Span of the raw input, within that of the record.
    pub input: Span,
    /// The result.
    pub result: Option<ResultRecord>,
    /// Hooks that ran for it.
    pub hooks: Vec<HookRecord>,
    /// The event after it that explains a missing result.
    pub sequel: Option<Box<Sequel>>,
    /// Whether the conversation at its end no longer contains it.
    pub abandoned: bool,
    /// Fields that few calls have.
    pub(crate) rare: Option<Box<Rare>>,
}

/// Fields that few calls have, boxed because there are so many calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Rare {
    /// Fingerprint of the task given to a subagent.
    pub prompt: Option<u64>,
    /// The task it asks about.
    pub task: Option<Box<str>>,
    /// The call that became this task, by its id, where that is proved.
    pub polls: Option<Box<str>>,
    /// Further results for the same call.
    pub others: Vec<ResultRecord>,
    /// Separate records of its end.
    pub ends: Vec<At>,
    /// Run time according to progress records.
    pub progress_ms: Option<u64>,
    /// The last progress record of a call without a result.
    pub progress: Option<At>,
    /// A record that proves how a call without a result ended.
    pub proof: Option<Sequel>,
    /// Starting call of the subagent that made it, for calls that are only reported; or the script that made it.
    pub parent: Option<Box<str>>,
    /// The calls of its script, for a call that runs one.
    pub script: Option<Box<ScriptRecord>>,
    /// Its place in a script, for a call in the text of one.
    pub inner: Option<InnerRecord>,
    /// The record that proves the outcome, where that is not the result.
    pub evidence: Option<At>,
    /// Another id of it: that of the record of its own that a call in a script has.
    pub alias: Option<Box<str>>,
}

/// The calls of a script.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ScriptRecord {
    /// The tool of its one call, where that stands in straight-line code.
    pub alone: Option<Name>,
    /// Its calls in [`Summary::inner`], where there is no such one.
    pub calls: std::ops::Range<u32>,
    /// Whether these are all calls that it can make.
    pub complete: bool,
    /// The number of the call that it failed by.
    pub failed_by: Option<u32>,
}

/// The place of a call in a script.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct InnerRecord {
    /// The script, in [`Summary::calls`].
    pub script: u32,
    /// Its number in the script, counted from 1.
    pub number: u32,
    /// Whether a record of its own tells its time and its result.
    pub told: bool,
}

impl CallRecord {
    /// Whether this may be the same request as another of its source, logged with another part of its input: a message is logged again
    /// while it streams in. A call that was answered by itself is another one.
    pub(crate) fn streams_into(&self, other: &CallRecord) -> bool {
        let same = self.message.is_some() && self.message == other.message && self.tool == other.tool;
        same && self.at.line != other.at.line && (self.result.is_none() || other.result.is_none())
    }

    /// Fields that few calls have.
    pub fn rare(&self) -> &Rare {
        // A shared empty value saves an allocation for nearly every call.
        static NONE: Rare = Rare {
            prompt: None,
            task: None,
            polls: None,
            others: Vec::new(),
            ends: Vec::new(),
            progress_ms: None,
            progress: None,
            proof: None,
            parent: None,
            script: None,
            inner: None,
            evidence: None,
            alias: None,
        };
        self.rare.as_deref().unwrap_or(&NONE)
    }

    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}

/// A tool's result as one source records it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultRecord {
    /// The record.
    pub at: At,
    /// Time of the result.
    pub time: Option<Time>,
    /// Signals of the outcome.
    pub signals: Signals,
    /// Length of the raw content.
    pub bytes: u64,
    /// Run time that the tool reported.
    pub run_ms: Option<u64>,
    /// Whether the person gave a reason.
    pub feedback: bool,
    /// The background task.
    pub background: Option<Box<str>>,
    /// The subagent that the result names.
    pub child: Option<Box<ChildRecord>>,
    /// Whether the agent wrote it in place of a real result.
    pub synthetic: bool,
    /// Whether the record states a time of the result, so that its own time is that of the request even where it makes the call as well.
    pub timed: bool,
    /// Whether the same record makes the call, so that the time of the request is unknown.
    pub sole: bool,
    /// Whether part of the tool's output was left out.
    pub truncated: bool,
    /// Whether the person edited the input before it ran.
    pub input_edited: bool,
    /// Whether the session was handed over right after.
    pub handover: bool,
    /// Whether its time is that of a later copy of the history, and not that of its end.
    pub rewritten: bool,
}

/// The subagent that a result names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildRecord {
    /// Its id, or another name for it.
    pub agent: Box<str>,
    /// Whether a field says so.
    pub sure: bool,
    /// Whether this differs from the name in its own log.
    pub alias: bool,
    /// Whether it goes on after the call was answered.
    pub detached: bool,
}

/// A result without its call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Orphan {
    /// The call's id.
    pub call: Box<str>,
    /// Its session.
    pub session: Name,
    /// The result.
    pub result: ResultRecord,
}

/// A hook that ran.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HookRecord {
    /// The most informative record about it.
    pub at: At,
    /// Time.
    pub time: Option<Time>,
    /// Its event.
    pub event: Option<Name>,
    /// Stage of the call at which it runs.
    pub stage: HookStage,
    /// Its name.
    pub name: Option<Name>,
    /// Its command.
    pub command: Option<Name>,
    /// Outcome.
    pub outcome: Option<HookOutcome>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Duration.
    pub duration_ms: Option<u64>,
    /// Word for its state.
    pub status: Option<Name>,
    /// Decision.
    pub decision: Option<Name>,
    /// Whether that allows or refuses the call.
    pub allows: Option<bool>,
    /// Reason.
    pub reason: Option<Box<str>>,
    /// Text that it added for the model.
    pub context: Option<Box<str>>,
    /// Length of its output.
    pub output_bytes: u64,
    /// The record whose output replaces the input of the call. Boxed because few hooks do that.
    pub replacement: Option<Box<At>>,
}

impl HookRecord {
    /// The record with the input that replaced that of the call, unless the hook refused the call.
    pub fn replaced_input(&self) -> Option<At> {
        // At a later stage the tool has already run with the input that it had.
        let applies = matches!(self.stage, HookStage::Before | HookStage::Permission) && self.outcome != Some(HookOutcome::Blocked);
        self.replacement.as_deref().copied().filter(|_| applies)
    }

    /// Whether the hook can prevent a call from running.
    pub fn may_refuse(&self) -> bool {
        may_refuse(self.stage, self.event.is_some())
    }
}

/// A hook that belongs to a turn or to the session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LooseHook {
    /// The session.
    pub session: Name,
    /// The turn it ran in, in `Summary::turns`.
    pub turn: Option<u32>,
    /// The hook.
    pub hook: HookRecord,
}

/// News of a background task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TaskRecord {
    /// The session.
    pub session: Name,
    /// The task.
    pub id: Option<Box<str>>,
    /// The call that started it.
    pub call: Option<Box<str>>,
    /// Its state.
    pub state: TaskState,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// The record.
    pub at: At,
    /// Time.
    pub time: Option<Time>,
    /// Whether the record may be a copy from another log, with a time of its own.
    pub copied: bool,
}

/// Evidence that a call started a subagent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClaimRecord {
    /// The session.
    pub session: Name,
    /// The subagent.
    pub agent: Box<str>,
    /// The call.
    pub call: Box<str>,
    /// Quality of the evidence.
    pub by: ClaimBy,
}

/// A subagent whose conversation is in this source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentRecord {
    /// Its id; `None` for an inline conversation without a name.
    pub agent: Option<Name>,
    /// The workflow it is a member of.
    pub group: Option<Name>,
    /// Another name of it.
    pub path: Option<Name>,
    /// Whether the source is this agent's log and nothing else; then `session` may itself be the name of a subagent.
    pub whole: bool,
    /// The session that started it.
    pub session: Name,
    /// Fingerprint of its first prompt.
    pub prompt: Option<u64>,
    /// Its first record's time.
    pub time: Option<Time>,
}

/// Statements of a source about a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The session.
    pub session: Name,
    /// Its first timestamp here.
    pub first: Option<Time>,
    /// Its last timestamp here.
    pub last: Option<Time>,
    /// The directory that the main conversation began in.
    pub start: Option<Name>,
    /// The first working directory of the main conversation, or the repository that it is a worktree of.
    pub cwd: Option<Name>,
    /// The project it really belongs to.
    pub project: Option<Name>,
    /// A name that the checkout in `cwd` shares with worktrees elsewhere.
    pub repository: Option<Name>,
    /// Whether `cwd` only stands in for a checkout that lies elsewhere.
    pub stand_in: bool,
    /// The last branch.
    pub branch: Option<Name>,
    /// The title with the most weight.
    pub title: Option<(TitleBy, Name)>,
    /// Records that are part of the conversation.
    pub records: u64,
    /// The last event of the main conversation.
    pub ending: Option<Ended>,
    /// The session in which it goes on.
    pub continued_in: Option<Name>,
    /// Whether the source only describes the session and is no log of it.
    pub beside: bool,
}

/// The last event of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Kind of event.
    pub what: Ending,
    /// Time.
    pub time: Option<Time>,
    /// Line of the record.
    pub line: u64,
}

/// Last event of a conversation, which shows who has to act next.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The model got a prompt or a result.
    Told,
    /// The model is in the middle of its answer.
    Busy,
    /// The model wrote a text, and nothing follows.
    Spoke,
    /// The person stopped it.
    Interrupted,
    /// The model's service failed.
    ApiError,
    /// The conversation goes on in another session.
    Continued,
    /// The person put the session away.
    Archived,
}

/// A turn of the main conversation.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// The prompt's record.
    pub at: At,
    /// Time of the prompt.
    pub time: Option<Time>,
    /// The session.
    pub session: Name,
    /// The record.
    pub node: Option<Id>,
    /// The record that it is a copy of, else the record itself: identifies copies.
    pub original: Option<Id>,
    /// Whether the conversation at its end no longer contains it.
    pub abandoned: bool,
}

/// The shape of the conversation's tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// The last record of the conversation at its end.
    pub leaf: Option<At>,
    /// Parts without a parent in this source: starts, cuts, history that is elsewhere.
    pub segments: u32,
    /// Prompts that replaced an earlier one.
    pub branches: u32,
    /// Number of times the history was summarised.
    pub compactions: u32,
    /// Records that were retracted.
    pub retracted: u32,
}
