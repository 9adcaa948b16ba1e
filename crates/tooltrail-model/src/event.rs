//! Events: the normalised facts a format decodes from a record, before anything is assembled.
//!
//! A fact borrows from the record it was decoded from; large values are spans of the source, not copies. Decoding one record
//! never needs another one: what carries over (directory, model) is itself a fact, [`Fact::Context`].

use crate::position::{At, Span};
use crate::status::words;
use crate::usage::Tokens;
use crate::verdict::Signals;
use crate::{Kind, Time};
use std::borrow::Cow;

/// A text of a record: borrowed where the record spells it plainly.
pub type Text<'r> = Cow<'r, str>;

/// A text of a record that is nearly always the one of the record before: decoded, but not checked to be UTF-8 until it is new.
pub type Word<'r> = Cow<'r, [u8]>;

/// The fingerprint of an id that only has to be recognised, never shown. The same for every spelling of the id.
pub type Id = u64;

/// One fact, with its place in the source.
#[derive(Clone, Debug)]
pub struct Event<'r> {
    /// The record it was decoded from.
    pub at: At,
    /// The record's own timestamp.
    pub time: Option<Time>,
    /// Whose conversation it belongs to.
    pub scope: &'r Scope<'r>,
    /// The fact.
    pub fact: Fact<'r>,
}

/// Whose conversation a record belongs to.
#[derive(Clone, Debug, Default)]
pub struct Scope<'r> {
    /// The session, as the record names it.
    pub session: Option<Word<'r>>,
    /// The subagent, as the record names it.
    pub agent: Option<Word<'r>>,
    /// Whether the record stands beside the main conversation.
    pub sidechain: bool,
}

/// What a record says. A fact lives for one call of the sink, so the size of the largest does not matter.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "facts are handed on, not kept")]
pub enum Fact<'r> {
    /// Comes first for each record: what the agent calls it, and whether that name is known.
    Record {
        /// The record's type, `?` where it names none.
        name: Text<'r>,
        /// Whether the format knows this type.
        known: bool,
    },
    /// Whose log this is, or whose log it repeats from here on.
    Begin(Begin<'r>),
    /// The model was set to work.
    Work(Work),
    /// What holds from here on.
    Context(Context<'r>),
    /// The time of the records that follow and have none of their own, such as the parts of a message.
    Clock(Time),
    /// The record's place in the tree of the conversation.
    Node(Node),
    /// Something said to the model that begins or belongs to a turn.
    Prompt(Prompt<'r>),
    /// A block of a message.
    Block(Block),
    /// Tokens of a request.
    Usage(Usage<'r>),
    /// Tokens as a meter shows them: it runs on, and may be read twice.
    Meter(Meter),
    /// A request to a tool.
    Call(Call<'r>),
    /// A tool's result.
    Result(CallResult<'r>),
    /// How a call ended, told beside its result or in its place.
    End(End<'r>),
    /// A hook that ran.
    Hook(Hook<'r>),
    /// News of a background task.
    Task(TaskNews<'r>),
    /// A sign of work on a call.
    Progress(Progress<'r>),
    /// Who started which subagent.
    Claim(Claim<'r>),
    /// A cut in the conversation.
    Boundary(Boundary),
    /// Records that were taken back: hidden, still paid for.
    Retract(Vec<Id>),
    /// The last so many turns were taken back: hidden, still paid for.
    Rollback(u32),
    /// Something about the session as a whole.
    Meta(Meta<'r>),
    /// Something that happened to the conversation.
    Notice(Notice),
    /// A line that is no record.
    Broken(Broken),
    /// A damaged line that seems to hold the result of a call.
    Damaged(Text<'r>),
}

/// A log says whose it is. The first one counts; with the same id again the log goes on after a pause; with another id a copy
/// of that log begins.
#[derive(Clone, Debug)]
pub struct Begin<'r> {
    /// The conversation.
    pub id: Text<'r>,
    /// The conversation that started this one as its subagent.
    pub parent: Option<Text<'r>>,
    /// Another name that this subagent goes by in its parent's log.
    pub path: Option<Text<'r>>,
    /// When the conversation was made, which copies do not change.
    pub made: Option<Time>,
}

/// The model was set to work on a turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// When that was, by something that copies do not change.
    pub made: Option<Time>,
    /// The turn, where it has a name.
    pub turn: Option<Id>,
    /// The work is done: what is open now stays open.
    pub done: bool,
}

/// Token totals at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// All tokens of the conversation so far.
    pub total: Option<Tokens>,
    /// Those of the last request.
    pub last: Option<Tokens>,
}

/// How a call ended. The call may have been requested in another record, before or after this one, or nowhere else.
#[derive(Clone, Debug)]
pub struct End<'r> {
    /// The call, as far as this record tells.
    pub call: Call<'r>,
    /// How it ended.
    pub result: CallResult<'r>,
}

/// What holds for the records that follow.
#[derive(Clone, Debug, Default)]
pub struct Context<'r> {
    /// The working directory.
    pub cwd: Option<Word<'r>>,
    /// The repository that the directory is a worktree of.
    pub repository: Option<Word<'r>>,
    /// The branch of its repository.
    pub branch: Option<Word<'r>>,
    /// The model, where it is not said per message.
    pub model: Option<Word<'r>>,
}

/// A record's place in the tree of the conversation.
#[derive(Clone, Debug)]
pub struct Node {
    /// The record's id.
    pub id: Id,
    /// The record it follows.
    pub parent: Option<Id>,
    /// The record that it is a copy of, where it says so.
    pub copy_of: Option<Id>,
    /// Whose words they are.
    pub role: Role,
    /// Put in by the program, not shown to the person.
    pub hidden: bool,
}

/// Who speaks in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person, or a tool answering.
    User,
    /// The model.
    Assistant,
    /// The program.
    Other,
}

/// Where a text that reaches the model as the user's comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A person wrote it.
    Human,
    /// A person typed a command of the agent; it begins a turn only if the model answers.
    Command,
    /// A person wrote it while the model was at work; it may appear again once it is handed over.
    Queued,
    /// A subagent's task, written by another agent.
    Agent,
    /// The program put it in: reminders, summaries, notifications.
    Program,
}

/// Something said to the model.
#[derive(Clone, Debug)]
pub struct Prompt<'r> {
    /// Who wrote it.
    pub origin: Origin,
    /// How it begins.
    pub head: Text<'r>,
    /// A fingerprint of the whole text, to recognise a task in a subagent's first words.
    pub digest: u64,
    /// The whole text.
    pub span: Span,
    /// Whether the log tells each prompt twice.
    pub echo: Echo,
}

/// For a log that tells each prompt twice, which of the two this is. They follow each other, in either order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Echo {
    /// Told once.
    #[default]
    None,
    /// As the model got it.
    Sent,
    /// As the person saw it.
    Shown,
}

/// A block of a message that is neither call nor result.
#[derive(Clone, Debug)]
pub struct Block {
    /// The API message it belongs to.
    pub message: Option<Id>,
    /// What it is.
    pub kind: BlockKind,
    /// Its text or data.
    pub span: Span,
}

/// What a block of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Prose.
    Text,
    /// The model's thinking; its text may be withheld.
    Thinking,
    /// An image.
    Image,
    /// A document.
    Document,
    /// Anything else, kept as it is.
    Other,
}

/// Tokens of a request, as one record tells them.
#[derive(Clone, Debug)]
pub struct Usage<'r> {
    /// The API message.
    pub message: Id,
    /// The request.
    pub request: Option<Id>,
    /// The model; `None` where the record names none.
    pub model: Option<Word<'r>>,
    /// The numbers.
    pub tokens: Tokens,
    /// Searches and fetches on the service's side.
    pub server_tools: [u32; 2],
    /// The service tier.
    pub tier: Option<Word<'r>>,
}

/// A request to a tool.
#[derive(Clone, Debug)]
pub struct Call<'r> {
    /// The call's id.
    pub id: Text<'r>,
    /// The log has no id for it; this one means something only in its session.
    pub unnamed: bool,
    /// The tool, exactly as logged.
    pub tool: Text<'r>,
    /// The MCP server, where the tool belongs to one.
    pub server: Option<Text<'r>>,
    /// Its family.
    pub kind: Kind,
    /// The raw JSON of its input.
    pub input: Span,
    /// A fingerprint of the input that does not depend on its spelling.
    pub digest: u64,
    /// A fingerprint of the task given to a subagent.
    pub prompt: Option<u64>,
    /// The background task it asks about or stops.
    pub task: Option<Text<'r>>,
    /// The API message it is part of.
    pub message: Option<Text<'r>>,
    /// The same to recognise it by.
    pub message_id: Option<Id>,
    /// Whether the record names its request.
    pub has_request: bool,
    /// The model that asked.
    pub model: Option<Text<'r>>,
    /// The record it stands in.
    pub node: Option<Id>,
    /// Set where the call is told of in another agent's record of progress.
    pub nested: Option<Nested<'r>>,
}

/// A call or result of a subagent that is told of in its parent's log.
#[derive(Clone, Debug)]
pub struct Nested<'r> {
    /// The subagent.
    pub agent: Option<Text<'r>>,
    /// The call that started it.
    pub parent: Option<Text<'r>>,
}

/// A tool's result.
#[derive(Clone, Debug)]
pub struct CallResult<'r> {
    /// The call it answers.
    pub call: Text<'r>,
    /// When it came, where the record tells that apart from its own time; such a record may make the call as well.
    pub time: Option<Time>,
    /// What the model saw: the raw JSON value.
    pub content: Span,
    /// What the tool produced, where the log keeps it.
    pub structured: Option<Span>,
    /// The record of the call, where this record names it.
    pub node: Option<Id>,
    /// Everything that tells how it ended.
    pub signals: Signals,
    /// The run time that the tool itself reported.
    pub run_ms: Option<u64>,
    /// What the person said when refusing.
    pub feedback: Option<Text<'r>>,
    /// The background task this call was turned into.
    pub background: Option<Text<'r>>,
    /// The subagent it started, and how sure that is.
    pub child: Option<Child<'r>>,
    /// A hook that the result's text tells of.
    pub hook: Option<Hook<'r>>,
    /// Written by the program in place of a real result.
    pub synthetic: bool,
    /// The same record makes the call: when it was made is not known.
    pub sole: bool,
    /// Part of what the tool produced was left out.
    pub truncated: bool,
    /// Set where the result is told of in another agent's record of progress.
    pub nested: Option<Nested<'r>>,
}

/// The subagent that a result names.
#[derive(Clone, Debug)]
pub struct Child<'r> {
    /// Its id.
    pub agent: Text<'r>,
    /// Whether a field says so, rather than the text.
    pub sure: bool,
    /// Whether this is another name than the one its own log has for it.
    pub alias: bool,
    /// Whether it goes on by itself after the call was answered.
    pub detached: bool,
}

/// A hook that ran.
#[derive(Clone, Debug, Default)]
pub struct Hook<'r> {
    /// The call it ran for; an id that matches no call leaves the hook with its turn.
    pub call: Option<Text<'r>>,
    /// The event it was registered for.
    pub event: Option<Text<'r>>,
    /// When it runs, seen from the call.
    pub stage: HookStage,
    /// Its name.
    pub name: Option<Text<'r>>,
    /// The command it ran.
    pub command: Option<Text<'r>>,
    /// How it ended; `None` where the record does not say.
    pub outcome: Option<HookOutcome>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// How long it ran.
    pub duration_ms: Option<u64>,
    /// A word for its state, as the agent spells it.
    pub status: Option<Text<'r>>,
    /// What it decided.
    pub decision: Option<Text<'r>>,
    /// Whether that allows the call or refuses it.
    pub allows: Option<bool>,
    /// Why.
    pub reason: Option<Text<'r>>,
    /// What it added for the model to read.
    pub context: Option<Text<'r>>,
    /// What it printed.
    pub output: Option<Span>,
}

/// When a hook runs, seen from the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum HookStage {
    /// Before the tool, which it can refuse.
    Before,
    /// When somebody has to allow the tool.
    Permission,
    /// After the tool.
    After,
    /// It has nothing to do with a call.
    #[default]
    Other,
}

words! {
    /// How a hook ended.
    HookOutcome {
        /// It ran and did not object.
        Ok => "ok",
        /// It refused.
        Blocked => "blocked",
        /// It did not work; the tool ran all the same.
        Failed => "failed",
        /// It was stopped, or ran out of time.
        Cancelled => "cancelled",
        /// The log does not say.
        Unknown => "unknown",
    }
}

/// A sign of work on a call.
#[derive(Clone, Debug)]
pub struct Progress<'r> {
    /// The call.
    pub call: Text<'r>,
    /// How long it had run when it ended; `None` while it goes on.
    pub run_ms: Option<u64>,
}

/// News of a background task: a notification, a poll, or a stop.
#[derive(Clone, Debug)]
pub struct TaskNews<'r> {
    /// The task.
    pub id: Option<Text<'r>>,
    /// The call that started it, where the news says so.
    pub call: Option<Text<'r>>,
    /// The call that asked for the news; it counts only if that call's tool is one that asks about tasks.
    pub poll: Option<Text<'r>>,
    /// Its state.
    pub state: TaskState,
    /// Its exit code.
    pub exit_code: Option<i64>,
}

words! {
    /// The state of a background task.
    TaskState {
        /// At work.
        Running => "running",
        /// Ended by itself.
        Completed => "completed",
        /// Ended in failure.
        Failed => "failed",
        /// Killed.
        Killed => "killed",
        /// Stopped on request.
        Stopped => "stopped",
        /// The log does not say.
        Unknown => "unknown",
    }
}

/// Evidence that a call started a subagent, other than its own result.
#[derive(Clone, Debug)]
pub struct Claim<'r> {
    /// The subagent.
    pub agent: Text<'r>,
    /// The call.
    pub call: Text<'r>,
    /// How good the evidence is.
    pub by: ClaimBy,
}

/// Where a claim comes from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum ClaimBy {
    /// The call's structured result names the agent.
    Result,
    /// A file beside the agent's log names the call.
    Sidecar,
    /// A record of the agent's progress names both.
    Progress,
    /// A notification of its end names both.
    Notification,
    /// The agent's log lies in the directory that the call names.
    Directory,
    /// The agent's first words are the call's prompt.
    Prompt,
    /// The text of the call's answer ends in the agent's id.
    Answer,
}

/// A cut in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The history was summed up and starts anew.
    Compaction,
    /// Old results were taken out of the model's view.
    MicroCompaction,
}

/// Something about the session as a whole. Where a thing is said twice, the last one counts.
#[derive(Clone, Debug)]
pub enum Meta<'r> {
    /// A title, and how much weight it has.
    Title(TitleBy, Text<'r>),
    /// A title for the conversation that ends in a given record, which may be in another source.
    Summary {
        /// The record.
        leaf: Id,
        /// The title.
        title: Text<'r>,
    },
    /// The directory the session really belongs to: a worktree's repository, a new place.
    Project(Text<'r>),
    /// Prompts that were waiting were taken back.
    QueueCleared,
    /// One of them was, by the fingerprint of its text.
    Unqueued(u64),
}

/// Where a title comes from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum TitleBy {
    /// The first command that was typed.
    Command,
    /// The first prompt.
    Prompt,
    /// A summary.
    Summary,
    /// The model.
    Model,
    /// The agent's name.
    Agent,
    /// The person.
    Person,
}

/// Something that happened to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The person stopped the model or a tool.
    Interrupt,
    /// The session was handed over to another process.
    Handover,
    /// The model's service failed.
    ApiError,
    /// The turn that the record follows is over.
    TurnOver,
}

/// A line that is no record.
#[derive(Clone, Debug)]
pub struct Broken {
    /// What is wrong with it.
    pub why: crate::issue::IssueCode,
    /// How many whole records were read from it all the same.
    pub recovered: u32,
}
