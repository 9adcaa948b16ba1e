//! What layer 1 leaves of a source: everything the linker and the rows need, and no payload.

use crate::event::{ClaimBy, HookOutcome, HookStage, Id, TaskState, TitleBy};
use crate::issue::Issue;
use crate::position::{At, RowKeys};
use crate::text::{Name, Names};
use crate::usage::Snapshot;
use crate::verdict::{Sequel, Signals};
use crate::{Kind, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One source, assembled.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// The agent that wrote it; `None` for a file that is no agent's log.
    ///
    /// Whoever stores a summary keeps this beside it: which agents there are is known elsewhere.
    #[serde(skip)]
    pub agent: Option<&'static str>,
    /// Names that repeat in this source.
    pub names: Names,
    /// How its lines add up.
    pub tally: Tally,
    /// The calls requested here, in order.
    pub calls: Vec<CallRecord>,
    /// Calls of subagents that are only told of here.
    pub nested: Vec<CallRecord>,
    /// Results whose call is not here.
    pub orphans: Vec<Orphan>,
    /// News of background tasks.
    pub tasks: Vec<TaskRecord>,
    /// Evidence of who started which subagent.
    pub claims: Vec<ClaimRecord>,
    /// Subagents whose conversation is here.
    pub agents: Vec<AgentRecord>,
    /// The best snapshot of each request.
    pub usage: Vec<Snapshot>,
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
    /// The lines of records that were taken back, or that another record replaced, in order.
    pub retracted: Vec<u64>,
    /// The shape of the conversation.
    pub shape: Shape,
    /// What is wrong with the source, beyond its calls.
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
    /// Gives back the room that was only needed while reading.
    pub(crate) fn settle(&mut self) {
        self.names.settle();
        for call in self.calls.iter_mut().chain(&mut self.nested) {
            call.hooks.shrink_to_fit();
        }
        self.calls.shrink_to_fit();
        self.nested.shrink_to_fit();
        self.tasks.shrink_to_fit();
        self.claims.shrink_to_fit();
        self.usage.shrink_to_fit();
        self.turns.shrink_to_fit();
        self.hooks.shrink_to_fit();
        self.nodes.shrink_to_fit();
    }
}

/// How a source's lines add up: `lines` = `blank` + all `records` + `unparsed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Bytes read.
    pub bytes: u64,
    /// Lines, the last one also without a line feed.
    pub lines: u64,
    /// Lines of spaces, tabs and carriage returns only.
    pub blank: u64,
    /// Lines that are no JSON object, or more than one.
    pub unparsed: u64,
    /// Records of a type the format does not know.
    pub unknown_records: u64,
    /// Records by type.
    pub records: BTreeMap<Box<str>, u64>,
}

/// A tool call as one source tells it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallRecord {
    /// Its id.
    pub id: Name,
    /// Hash of its id.
    pub key: u64,
    /// The log has no id for it; the one it was given means something only in its session.
    pub unnamed: bool,
    /// The tool, as logged.
    pub tool: Name,
    /// The MCP server.
    pub server: Option<Name>,
    /// Its family.
    pub kind: Kind,
    /// The record that requests it.
    pub at: At,
    /// When.
    pub time: Option<Time>,
    /// The same, or where the record stands in the file if it has no time.
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
    /// How many calls its message makes.
    pub parallel: u32,
    /// Fingerprint of the input.
    pub digest: u64,
    /// Length of the raw input.
    pub input_bytes: u64,
    /// The result.
    pub result: Option<ResultRecord>,
    /// Hooks that ran for it.
    pub hooks: Vec<HookRecord>,
    /// What came after it, where that says something about a missing result.
    pub sequel: Option<Box<Sequel>>,
    /// Whether the conversation as it stands at the end contains it no more.
    pub abandoned: bool,
    /// What only few calls have.
    pub(crate) rare: Option<Box<Rare>>,
}

/// What only few calls have, kept apart because there are so many calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Rare {
    /// Fingerprint of the task given to a subagent.
    pub prompt: Option<u64>,
    /// The task it asks about.
    pub task: Option<Box<str>>,
    /// Further results for the same call.
    pub others: Vec<ResultRecord>,
    /// Records of their own that tell how it ended.
    pub ends: Vec<At>,
    /// The run time that records of progress tell.
    pub progress_ms: Option<u64>,
    /// The call that started the subagent that made it, for calls that are only told of.
    pub parent: Option<Box<str>>,
}

impl CallRecord {
    /// What only few calls have.
    pub fn rare(&self) -> &Rare {
        static NONE: Rare = Rare { prompt: None, task: None, others: Vec::new(), ends: Vec::new(), progress_ms: None, parent: None };
        self.rare.as_deref().unwrap_or(&NONE)
    }

    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}

/// A tool's result as one source tells it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultRecord {
    /// The record.
    pub at: At,
    /// When.
    pub time: Option<Time>,
    /// Everything that tells how the call ended.
    pub signals: Signals,
    /// Length of the raw content.
    pub bytes: u64,
    /// The run time that the tool reported.
    pub run_ms: Option<u64>,
    /// Whether the person said why.
    pub feedback: bool,
    /// The background task.
    pub background: Option<Box<str>>,
    /// The subagent that the result names.
    pub child: Option<Box<ChildRecord>>,
    /// Written by the program in place of a real result.
    pub synthetic: bool,
    /// The record gives the result a time of its own, so it tells when the call was made even where it makes the call as well.
    pub timed: bool,
    /// The same record makes the call: when it was made is not known.
    pub sole: bool,
    /// Part of what the tool produced was left out.
    pub truncated: bool,
    /// The session was handed over right after.
    pub handover: bool,
}

/// The subagent that a result names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildRecord {
    /// Its id, or another name for it.
    pub agent: Box<str>,
    /// Whether a field says so.
    pub sure: bool,
    /// Whether this is another name than the one its own log has for it.
    pub alias: bool,
    /// Whether it goes on by itself after the call was answered.
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
    /// The record that tells most about it.
    pub at: At,
    /// When.
    pub time: Option<Time>,
    /// Its event.
    pub event: Option<Name>,
    /// When it runs, seen from the call.
    pub stage: HookStage,
    /// Its name.
    pub name: Option<Name>,
    /// Its command.
    pub command: Option<Name>,
    /// How it ended.
    pub outcome: Option<HookOutcome>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// How long it ran.
    pub duration_ms: Option<u64>,
    /// A word for its state.
    pub status: Option<Name>,
    /// What it decided.
    pub decision: Option<Name>,
    /// Whether that allows the call or refuses it.
    pub allows: Option<bool>,
    /// Why.
    pub reason: Option<Box<str>>,
    /// What it added for the model.
    pub context: Option<Box<str>>,
    /// Length of what it printed.
    pub output_bytes: u64,
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
    /// When.
    pub time: Option<Time>,
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
    /// How good the evidence is.
    pub by: ClaimBy,
}

/// A subagent whose conversation is in this source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentRecord {
    /// Its id; `None` for one that stands inline without a name.
    pub agent: Option<Name>,
    /// The workflow it is a member of.
    pub group: Option<Name>,
    /// Another name that it goes by.
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

/// What a source says about a session.
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
    /// Where it really belongs.
    pub project: Option<Name>,
    /// The last branch.
    pub branch: Option<Name>,
    /// The weightiest title.
    pub title: Option<(TitleBy, Name)>,
    /// Records that are part of the conversation.
    pub records: u64,
    /// The last thing that happened in the main conversation.
    pub ending: Option<Ended>,
}

/// The last thing that happened in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// What.
    pub what: Ending,
    /// When.
    pub time: Option<Time>,
    /// The line that tells it.
    pub line: u64,
}

/// What may happen last in a conversation: it tells who has to go on.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// Somebody said something to the model, or a tool answered it.
    Told,
    /// The model is in the middle of its answer.
    Busy,
    /// The model said something, and nothing follows.
    Spoke,
    /// The person stopped it.
    Interrupted,
    /// The model's service failed.
    ApiError,
}

/// A turn of the main conversation.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// The prompt's record.
    pub at: At,
    /// When.
    pub time: Option<Time>,
    /// The session.
    pub session: Name,
    /// The record.
    pub node: Option<Id>,
    /// The record that it is a copy of, else the record itself: by this copies are recognised.
    pub original: Option<Id>,
    /// Whether the conversation as it stands at the end still contains it.
    pub abandoned: bool,
}

/// The shape of the conversation's tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// The last record of the conversation as it stands.
    pub leaf: Option<At>,
    /// Pieces that hang on nothing in this source: starts, cuts, history that is elsewhere.
    pub segments: u32,
    /// Prompts that replaced an earlier one.
    pub branches: u32,
    /// Times the history was summed up.
    pub compactions: u32,
    /// Records that were taken back.
    pub retracted: u32,
}
