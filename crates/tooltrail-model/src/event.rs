//! Events: the normalised facts that a format decodes from a record, before anything is assembled.
//!
//! A fact borrows from the record it was decoded from; large values are spans of the source, not copies. Decoding one
//! record never needs another: values that carry over (directory, model) are facts themselves, [`Fact::Context`].

use crate::position::{At, Span};
use crate::script::{Script, ScriptEnd};
use crate::status::words;
use crate::usage::Tokens;
use crate::verdict::{Denial, ProgressSigns, Signals};
use crate::{Kind, Time};
use std::borrow::Cow;

/// A text of a record: borrowed where the record spells it plainly.
pub type Text<'r> = Cow<'r, str>;

/// A text of a record that is nearly always that of the record before: decoded, but not checked to be UTF-8 until it is
/// new.
pub type Word<'r> = Cow<'r, [u8]>;

/// Fingerprint of an id that only has to be recognised, never shown. Equal for every spelling of the id.
pub type Id = u64;

/// One fact, with its place in the source.
#[derive(Clone, Debug)]
pub struct Event<'r> {
    /// The record it was decoded from.
    pub at: At,
    /// The record's own timestamp. A record has one, which is taken from [`Fact::Record`] and holds for all of its facts; so a call with a
    /// start of its own has to be a record of its own.
    pub time: Option<Time>,
    /// Conversation it belongs to.
    pub scope: &'r Scope<'r>,
    /// The fact.
    pub fact: Fact<'r>,
}

/// Conversation of a record.
#[derive(Clone, Debug, Default)]
pub struct Scope<'r> {
    /// The session, as the record names it.
    pub session: Option<Word<'r>>,
    /// The subagent, as the record names it.
    pub agent: Option<Word<'r>>,
    /// Whether the record stands beside the main conversation.
    pub sidechain: bool,
    /// Number of the record in its conversation, where the log counts its records.
    pub ordinal: Option<u64>,
}

/// One fact of a record. It lives for one call of the sink, but is moved on the way there, so large facts that are rare are boxed.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "facts are handed on, not kept")]
pub enum Fact<'r> {
    /// First fact of each record: its type, and whether the type is known.
    Record {
        /// Type of the record, `?` where it names none.
        name: Text<'r>,
        /// Whether the format knows this type.
        known: bool,
    },
    /// Owner of this log, or the log that it repeats from here on.
    Begin(Begin<'r>),
    /// The model was set to work.
    Work(Work),
    /// Settings that hold from here on.
    Context(Context<'r>),
    /// The time of the records that follow and have none of their own, such as the parts of a message.
    Clock(Time),
    /// The record's place in the tree of the conversation.
    Node(Node),
    /// A text for the model that begins or belongs to a turn.
    Prompt(Prompt<'r>),
    /// A block of a message.
    Block(MessageBlock),
    /// Tokens of a request.
    Usage(Usage<'r>),
    /// Tokens as running totals, which may be read twice.
    Meter(Meter),
    /// Tokens of one response of the model, beside the running totals or instead of them.
    Response(ResponseUsage<'r>),
    /// A request to a tool.
    Call(Call<'r>),
    /// A tool's result.
    Result(CallResult<'r>),
    /// End of a call, recorded beside its result or instead of it.
    End(Box<End<'r>>),
    /// A hook that ran.
    Hook(Box<Hook<'r>>),
    /// News of a background task.
    Task(TaskNews<'r>),
    /// The state of a background task, stated again: it may report an end, never a new beginning.
    Restated(TaskNews<'r>),
    /// The call whose result the model saw only in part.
    SeenInPart(Text<'r>),
    /// A sign of work on a call.
    Progress(CallProgress<'r>),
    /// A refusal of a call, beside its result or instead of it.
    Refusal(Refusal<'r>),
    /// The call that started a subagent.
    Claim(Claim<'r>),
    /// A cut in the conversation.
    Boundary(Boundary),
    /// The response that summarised the history, as in [`ResponseUsage::response`].
    SummarisedBy(Id),
    /// Retracted records: hidden, but still paid for.
    Retract(Vec<Id>),
    /// Retraction of the last so many turns: hidden, but still paid for.
    Rollback(u32),
    /// A fact about the session as a whole.
    Meta(Meta<'r>),
    /// An event of the conversation.
    Notice(Notice),
    /// A line that is no record.
    Broken(Broken),
    /// A damaged line that seems to hold the result of a call.
    Damaged(Text<'r>),
    /// The record repeats a request to the model's service: nothing of it is shown, and sizes leave it out.
    Private,
}

/// The owner of a log. The first one counts; the same id again means that the log continues after a pause; another id means
/// that a copy of that log begins.
#[derive(Clone, Debug)]
pub struct Begin<'r> {
    /// The conversation.
    pub id: Text<'r>,
    /// The conversation that started this one as its subagent.
    pub parent: Option<Text<'r>>,
    /// Another name of this subagent in its parent's log.
    pub path: Option<Text<'r>>,
    /// Creation time of the conversation, which copies do not change.
    pub made: Option<Time>,
    /// Number of the first record that is its own; records with lower numbers are the history of the conversation that started it.
    pub own_from: Option<u64>,
}

/// The model starts to work on a turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Time by a clock that copies do not change.
    pub made: Option<Time>,
    /// The turn, where it has a name.
    pub turn: Option<Id>,
    /// Whether the work is done: calls without a result stay so.
    pub done: bool,
}

/// Token totals at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// All tokens of the conversation so far.
    pub total: Option<Tokens>,
    /// Tokens of the last request.
    pub last: Option<Tokens>,
}

/// Tokens of one response. The running totals report most responses as well, so these numbers are never added to theirs.
#[derive(Clone, Debug)]
pub struct ResponseUsage<'r> {
    /// The conversation that asked for it; `None` for that of the record.
    pub thread: Option<Id>,
    /// The response, which is unique in its conversation.
    pub response: Id,
    /// The model; `None` where the record names none.
    pub model: Option<Word<'r>>,
    /// The numbers.
    pub tokens: Tokens,
}

/// End of a call. The call may have been requested in another record, before or after this one, or nowhere else.
#[derive(Clone, Debug)]
pub struct End<'r> {
    /// The call, as far as this record describes it.
    pub call: Call<'r>,
    /// Its result.
    pub result: CallResult<'r>,
    /// Whether a program made the call.
    pub by_script: bool,
    /// Fingerprint of the command that ran, or of the files that were changed.
    pub subject: Option<u64>,
}

/// Settings for the records that follow.
#[derive(Clone, Debug, Default)]
pub struct Context<'r> {
    /// The working directory.
    pub cwd: Option<Word<'r>>,
    /// How to tell whether the directory is a worktree.
    pub worktree: Option<WorktreeTest<'r>>,
    /// The branch of its repository.
    pub branch: Option<Word<'r>>,
    /// Model, where messages do not name it.
    pub model: Option<Word<'r>>,
    /// Tools that wait for the person's approval.
    pub approval: Option<Approval>,
}

impl Context<'_> {
    /// The place of the directory among worktrees and checkouts.
    pub fn place(&self) -> DirectoryPlace<'_> {
        let test = self.cwd.as_deref().zip(self.worktree.as_ref());
        test.map_or_else(DirectoryPlace::default, |(directory, test)| (test.place)(directory, test.address.as_deref()))
    }
}

/// Tells whether a directory is a worktree. Nearly every record names the directory, and one answer is needed for a session, so it is worked
/// out on demand.
#[derive(Clone, Debug)]
pub struct WorktreeTest<'r> {
    /// The place of a directory; the second text is the repository's address.
    pub place: for<'p> fn(&'p [u8], Option<&[u8]>) -> DirectoryPlace<'p>,
    /// The repository's address, where the log has it.
    pub address: Option<Word<'r>>,
}

/// The place of a directory among worktrees and checkouts.
#[derive(Clone, Debug, Default)]
pub struct DirectoryPlace<'p> {
    /// The repository that it is a worktree of.
    pub project: Option<Word<'p>>,
    /// A name that the checkout of a repository shares with its worktrees elsewhere.
    pub repository: Option<Vec<u8>>,
    /// Whether `project` only stands in for the checkout, because nothing says where that lies.
    pub stand_in: bool,
}

/// Tools that wait for the person's approval before they run, by the agent's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Approval {
    /// Any tool that can do harm.
    Any,
    /// Any but those that edit files.
    AnyButEdits,
    /// None: they run, or they are refused without a question.
    None,
}

impl Approval {
    /// Whether a kind of tool may have to wait.
    pub fn may_wait(self, kind: Kind) -> bool {
        match self {
            Approval::Any => asks(kind),
            Approval::AnyButEdits => asks(kind) && !matches!(kind, Kind::Edit | Kind::Write),
            Approval::None => false,
        }
    }
}

/// Whether a kind of tool can do harm, so that agents ask before it runs.
fn asks(kind: Kind) -> bool {
    // A kind too many only marks a duration as one that may include waiting; a kind too few would pass off waiting as work.
    matches!(
        kind,
        Kind::Shell | Kind::Script | Kind::Edit | Kind::Write | Kind::WebFetch | Kind::WebSearch | Kind::Mcp | Kind::Skill | Kind::Other
    )
}

/// A record's place in the tree of the conversation.
#[derive(Clone, Debug)]
pub struct Node {
    /// The record's id.
    pub id: Id,
    /// The record it follows.
    pub parent: Option<Id>,
    /// Record that it is a copy of, where it says so.
    pub copy_of: Option<Id>,
    /// Speaker.
    pub role: Role,
    /// Whether it was injected by the agent and not shown to the person.
    pub hidden: bool,
}

/// Speaker of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person, or the result of a tool.
    User,
    /// The model.
    Assistant,
    /// The agent program.
    Other,
}

/// Origin of a text that reaches the model as the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A person wrote it.
    Human,
    /// A command of the agent typed by a person; it begins a turn only if the model answers.
    Command,
    /// A command that the agent runs itself. It begins no turn, and nothing is named after it.
    Local,
    /// Written by a person while the model was at work; it may appear again once it is delivered.
    Queued,
    /// A subagent's task, written by another agent.
    Agent,
    /// Injected by the agent: reminders, summaries, notifications.
    Program,
}

/// A text for the model.
#[derive(Clone, Debug)]
pub struct Prompt<'r> {
    /// Author.
    pub origin: Origin,
    /// Beginning of the text.
    pub head: Text<'r>,
    /// Fingerprint of the whole text, to recognise a task in a subagent's first prompt.
    pub digest: u64,
    /// The whole text.
    pub span: Span,
    /// Form of the prompt, where the log records each prompt twice.
    pub echo: Echo,
}

/// Form of a prompt in a log that records each prompt twice. The two follow each other, in either order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Echo {
    /// Recorded once.
    #[default]
    None,
    /// As the model got it.
    Sent,
    /// As the person saw it.
    Shown,
}

/// A block of a message that is neither call nor result.
#[derive(Clone, Debug)]
pub struct MessageBlock {
    /// The API message it belongs to.
    pub message: Option<Id>,
    /// Kind of block.
    pub kind: BlockKind,
    /// Its text or data.
    pub span: Span,
}

/// Kind of a message's block.
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

/// Tokens of a request, as one record has them.
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
    /// Whether another agent's log only reports it; the message's own log has it as well, unless that is gone.
    pub reported: bool,
}

/// A request to a tool.
#[derive(Clone, Debug, Default)]
pub struct Call<'r> {
    /// The call's id.
    pub id: Text<'r>,
    /// Whether the log has no id for it; this one is only valid in its session.
    pub unnamed: bool,
    /// The tool, exactly as logged.
    pub tool: Text<'r>,
    /// The MCP server, where the tool belongs to one.
    pub server: Option<Text<'r>>,
    /// Kind of tool.
    pub kind: Kind,
    /// The raw JSON of its input.
    pub input: Span,
    /// Fingerprint of the input, independent of its spelling.
    pub digest: u64,
    /// Fingerprint of the task given to a subagent.
    pub prompt: Option<u64>,
    /// The background task it asks about or stops.
    pub task: Option<Text<'r>>,
    /// The API message it is part of.
    pub message: Option<Text<'r>>,
    /// Fingerprint of that message's id.
    pub message_id: Option<Id>,
    /// Whether the record names its request.
    pub has_request: bool,
    /// Model that made the call.
    pub model: Option<Text<'r>>,
    /// The record it stands in.
    pub node: Option<Id>,
    /// Set where the call is reported in another agent's progress record.
    pub nested: Option<Nested<'r>>,
    /// The program that it runs, where that calls tools.
    pub script: Option<Box<CallScript>>,
}

/// A program that a call runs, and the meaning of the tools that it calls.
#[derive(Clone, Debug, Default)]
pub struct CallScript {
    /// The program.
    pub script: Script,
    /// The tools, one for each of its calls.
    pub tools: Vec<ScriptTool>,
}

impl CallScript {
    /// The tool of its one call, where the program is nothing but that call.
    pub fn alone(&self) -> Option<&ScriptTool> {
        match (&*self.script.calls, &*self.tools) {
            // A call that may be repeated, or that others may stand beside, stays a call in a script.
            ([call], [tool]) if self.script.complete && call.once => Some(tool),
            _ => None,
        }
    }
}

/// A tool that a program calls.
#[derive(Clone, Debug, Default)]
pub struct ScriptTool {
    /// Its name, as it would be logged.
    pub tool: String,
    /// The MCP server, where the tool belongs to one.
    pub server: Option<String>,
    /// Kind of tool.
    pub kind: Kind,
    /// Whether it returns an object with an exit code, and fails only if it could not run at all.
    pub exits: bool,
    /// The background task that it asks about.
    pub task: Option<String>,
    /// Fingerprint of its argument.
    pub digest: u64,
    /// Fingerprint of its command, or of the files that it changes, as [`End::subject`].
    pub subject: Option<u64>,
}

/// Output of a program that calls tools, as one record has it.
#[derive(Clone, Debug, Default)]
pub struct ScriptOutput {
    /// The texts that it printed, in order.
    pub texts: Vec<String>,
    /// The name under which it goes on, until that is over.
    pub cell: Option<String>,
    /// How it ended; `None` while it goes on.
    pub end: Option<ScriptEnd>,
    /// Whether part of the texts was left out.
    pub truncated: bool,
}

/// A subagent's call or result that its parent's log reports.
#[derive(Clone, Debug)]
pub struct Nested<'r> {
    /// The subagent.
    pub agent: Option<Text<'r>>,
    /// The call that started it.
    pub parent: Option<Text<'r>>,
}

/// A tool's result.
#[derive(Clone, Debug, Default)]
pub struct CallResult<'r> {
    /// The call it answers.
    pub call: Text<'r>,
    /// Whether the log does not name the call; this name is the result's own.
    pub unnamed: bool,
    /// Time of the result, where the record states it apart from its own time; such a record may make the call as well.
    pub time: Option<Time>,
    /// Content that the model saw: the raw JSON value.
    pub content: Span,
    /// Output of the tool, where the log contains it.
    pub structured: Option<Span>,
    /// The record of the call, where this record names it.
    pub node: Option<Id>,
    /// Signals of the outcome.
    pub signals: Signals,
    /// Run time reported by the tool itself.
    pub run_ms: Option<u64>,
    /// Words of the person when refusing.
    pub feedback: Option<Text<'r>>,
    /// Background task that this call became.
    pub background: Option<Text<'r>>,
    /// Subagent that it started, and how certain that is.
    pub child: Option<Child<'r>>,
    /// Hook that the result's text mentions; few results have one, and facts are moved often.
    pub hook: Option<Box<Hook<'r>>>,
    /// Whether the agent wrote it in place of a real result.
    pub synthetic: bool,
    /// Whether the same record makes the call, so that the time of the request is unknown.
    pub sole: bool,
    /// Whether part of the tool's output was left out.
    pub truncated: bool,
    /// Whether the person edited the input before it ran.
    pub input_edited: bool,
    /// Set where the result is reported in another agent's progress record.
    pub nested: Option<Nested<'r>>,
    /// What a program printed that calls tools.
    pub output: Option<Box<ScriptOutput>>,
}

/// The subagent that a result names.
#[derive(Clone, Debug)]
pub struct Child<'r> {
    /// Its id.
    pub agent: Text<'r>,
    /// Whether a field says so, rather than the text.
    pub sure: bool,
    /// Whether this differs from the name in its own log.
    pub alias: bool,
    /// Whether it goes on after the call was answered.
    pub detached: bool,
}

/// A hook that ran.
#[derive(Clone, Debug, Default)]
pub struct Hook<'r> {
    /// The call it ran for; an id that matches no call leaves the hook with its turn.
    pub call: Option<Text<'r>>,
    /// The event it was registered for.
    pub event: Option<Text<'r>>,
    /// Stage of the call at which it runs.
    pub stage: HookStage,
    /// Its name.
    pub name: Option<Text<'r>>,
    /// The command it ran.
    pub command: Option<Text<'r>>,
    /// Outcome; `None` where the record does not say.
    pub outcome: Option<HookOutcome>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Duration.
    pub duration_ms: Option<u64>,
    /// Word for its state, in the agent's spelling.
    pub status: Option<Text<'r>>,
    /// Decision.
    pub decision: Option<Text<'r>>,
    /// Whether that allows or refuses the call.
    pub allows: Option<bool>,
    /// Reason.
    pub reason: Option<Text<'r>>,
    /// Text that it added for the model.
    pub context: Option<Text<'r>>,
    /// Output.
    pub output: Option<Span>,
    /// Whether the output replaces the input of the call.
    pub replaces: bool,
}

/// Stage of a call at which a hook runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum HookStage {
    /// Before the tool, which it can refuse.
    Before,
    /// At the request for permission.
    Permission,
    /// After the tool.
    After,
    /// Not related to a call.
    #[default]
    Other,
}

words! {
    /// Origin of the input that a call ran with.
    InputFrom {
        /// The model's request, unchanged.
        Request => "request",
        /// A hook, which replaced the input.
        Hook => "hook",
        /// The person, who edited the input in the dialog.
        User => "user",
    }
}

words! {
    /// Outcome of a hook.
    HookOutcome {
        /// Ran and did not object.
        Ok => "ok",
        /// Refused the call.
        Blocked => "blocked",
        /// Failed itself; the tool ran all the same.
        Failed => "failed",
        /// Stopped, or timed out.
        Cancelled => "cancelled",
        /// The log does not say.
        Unknown => "unknown",
    }
}

/// A sign of work on a call.
#[derive(Clone, Debug)]
pub struct CallProgress<'r> {
    /// The call.
    pub call: Text<'r>,
    /// Run time when it ended; `None` while it goes on.
    pub run_ms: Option<u64>,
    /// Signs that it will get no result.
    pub signs: ProgressSigns,
}

/// A refusal of a call, in a record that is not its result.
#[derive(Clone, Debug)]
pub struct Refusal<'r> {
    /// The call, where the record names it.
    pub call: Option<Text<'r>>,
    /// The record of the call, where this record names it.
    pub node: Option<Id>,
    /// Refuser.
    pub denial: Denial,
}

/// News of a background task: a notification, a poll, or a stop.
#[derive(Clone, Debug)]
pub struct TaskNews<'r> {
    /// The task.
    pub id: Option<Text<'r>>,
    /// The call that started it, where the news says so.
    pub call: Option<Text<'r>>,
    /// Call that asked for the news; it counts only if that call's tool asks about tasks.
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
    /// Quality of the evidence.
    pub by: ClaimBy,
}

/// Source of a claim, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum ClaimBy {
    /// The call's structured result names the agent.
    Result,
    /// A file beside the agent's log names the call.
    Sidecar,
    /// A record of the agent's progress names both.
    Progress,
    /// A notification of its start or its end names both.
    Notification,
    /// The agent's log lies in the directory that the call names.
    Directory,
    /// The agent's first prompt equals the call's prompt.
    Prompt,
    /// The text of the call's result ends in the agent's id.
    Answer,
}

/// A cut in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The history was summarised and starts anew.
    Compaction,
    /// Old results were removed from the model's context.
    MicroCompaction,
}

/// A fact about the session as a whole. Where a fact is repeated, the last one counts.
#[derive(Clone, Debug)]
pub enum Meta<'r> {
    /// Title, and its weight.
    Title(TitleBy, Text<'r>),
    /// Title of a session by its name. It says nothing about other sessions of the source, such as that of a subagent's parent.
    SessionTitle {
        /// The session.
        session: Text<'r>,
        /// Weight.
        by: TitleBy,
        /// The title.
        title: Text<'r>,
    },
    /// A title for the conversation that ends in a given record, which may be in another source.
    Summary {
        /// The record.
        leaf: Id,
        /// The title.
        title: Text<'r>,
    },
    /// The directory that the session really belongs to: a worktree's repository, a new place.
    Project(Text<'r>),
    /// The person took all waiting prompts back.
    QueueCleared,
    /// One of them was dropped, by the fingerprint of its text.
    Unqueued(u64),
    /// One of them was handed to the model or to an agent: the one with this fingerprint, or the oldest.
    Delivered(Option<u64>),
    /// The session goes on in another one.
    ContinuedIn(Text<'r>),
    /// The person put the session away.
    Archived,
    /// The source describes the session and is no log of it.
    Beside,
    /// The source stands for a session whose history is elsewhere. If it says nothing else, there is no session.
    Stub,
    /// The subagent of this source runs the skill with this fingerprint.
    Skill(Id),
}

/// Source of a title, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum TitleBy {
    /// The name of the first command that the model got.
    Command,
    /// The first words of the person.
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

/// An event of the conversation.
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
    /// The agent ran the last command itself: it was no prompt.
    CommandRan,
}

/// A line that is no record.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Problem with it.
    pub why: crate::issue::IssueCode,
    /// Number of whole records that were read from it all the same.
    pub recovered: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_that_can_do_harm_wait_and_only_if_the_agent_asks() {
        for (approval, kind, waits) in [
            (Approval::Any, Kind::Shell, true),
            (Approval::Any, Kind::Edit, true),
            (Approval::Any, Kind::Mcp, true),
            (Approval::Any, Kind::Read, false),
            (Approval::Any, Kind::Todo, false),
            (Approval::AnyButEdits, Kind::Edit, false),
            (Approval::AnyButEdits, Kind::Write, false),
            (Approval::AnyButEdits, Kind::Shell, true),
            (Approval::None, Kind::Shell, false),
        ] {
            assert_eq!(approval.may_wait(kind), waits, "{approval:?} {kind:?}");
        }
    }
}
