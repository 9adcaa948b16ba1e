//! A session to read: messages and calls in order, with every result already in its call.
//!
//! A [`Transcript`] is an index: light entries with the position of each thing. [`Part`] and [`Story`] are loaded: a
//! message, and a call with everything that belongs to it. Views are made from these alone; no result is looked for while
//! drawing.

use crate::Time;
use crate::command::CommandLine;
use crate::content::Content;
use crate::detail::Detailed;
use crate::event::{HookOutcome, Id, Origin};
use crate::position::At;
use crate::row::{CallNumber, CallRow, SessionRow};
use crate::usage::Tokens;
use serde::Serialize;
use serde_json::Value;

/// A session as an index.
#[derive(Clone, Debug)]
pub struct Transcript<'a> {
    /// The session.
    pub session: SessionRow<'a>,
    /// Its calls, by number.
    pub calls: Vec<CallEntry<'a>>,
    /// Its turns, in order.
    pub turns: Vec<Turn>,
    /// The main conversation, then those of subagents.
    pub threads: Vec<Thread>,
    /// Start and end of hooks, of calls and of turns, as far as the log says.
    pub hooks: Vec<(Time, Time)>,
    /// The session that its first copied call was made in, as the name of that log says.
    pub copied_from: Option<String>,
    /// Settings of the agent while it ran.
    pub settings: SessionSettings,
    /// Objections of hooks that refused no call, in the order of the log.
    pub objections: Vec<HookObjection>,
}

/// An objection of a hook that refused no call: to a result, to a prompt, or to the end of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookObjection {
    /// The hook, with its reason and without other texts.
    pub hook: HookStory,
    /// The call that it ran for, in [`Transcript::calls`].
    pub call: Option<usize>,
    /// The record.
    pub spot: Spot,
    /// The turn, in [`Transcript::turns`].
    pub turn: Option<usize>,
}

/// Settings of the agent during a session, as far as the log states them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSettings {
    /// Versions of the agent, in order.
    pub versions: Vec<String>,
    /// Permission modes, in order: the first one, and every change.
    pub permissions: Vec<PermissionChange>,
    /// Searches and fetches that the model's service made itself.
    pub server_tools: [u64; 2],
}

/// The permission mode from a point of a session on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionChange {
    /// The mode.
    pub mode: PermissionMode,
    /// Turn in which it was first seen, in [`Transcript::turns`]; `None` before the first prompt.
    pub turn: Option<usize>,
}

/// What an agent may do without asking, in the agent's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PermissionMode {
    /// The mode: `accept edits`.
    pub words: String,
    /// Whether the agent starts with it unless told otherwise.
    pub usual: bool,
}

/// A call of a transcript.
#[derive(Clone, Debug)]
pub struct CallEntry<'a> {
    /// Its row, as in the `calls` command.
    pub row: CallRow<'a>,
    /// Its number in the session.
    pub number: CallNumber,
    /// The record that requests it.
    pub request: Spot,
    /// The record with its result.
    pub result: Option<Spot>,
    /// Further records of its end.
    pub ends: Vec<Spot>,
    /// Records of its hooks.
    pub hooks: Vec<Spot>,
    /// The last progress record of a call without a result.
    pub progress: Option<Spot>,
    /// Start and end of the hooks, as far as the log says.
    pub hooked: Vec<(Time, Time)>,
    /// Time of the request.
    pub time: Option<Time>,
    /// The threads that it started, in [`Transcript::threads`].
    pub threads: Vec<usize>,
    /// The turn it belongs to, in [`Transcript::turns`].
    pub turn: Option<usize>,
}

/// A record of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// The source, in `Linked::sources`.
    pub source: usize,
    /// The record.
    pub at: At,
}

/// A turn: a prompt and everything up to the next one.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// Beginning of its prompt.
    pub head: String,
    /// Time of its beginning.
    pub time: Option<Time>,
    /// Its entries in the main conversation: the first, and the one after the last.
    pub entries: std::ops::Range<usize>,
    /// The entry that begins it. In the first turn others may come before.
    pub begins: usize,
    /// Whether the conversation went on as if it had never been.
    pub abandoned: bool,
}

/// A conversation: the main one or a subagent's.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// The subagent; `None` for the main conversation, or one without a name.
    pub agent: Option<String>,
    /// The call that started it, in [`Transcript::calls`].
    pub started_by: Option<usize>,
    /// Messages and calls.
    pub entries: Vec<Entry>,
}

/// One entry of the index.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The record it stands in.
    pub spot: Spot,
    /// Index of the part within the record.
    pub part: usize,
    /// Time.
    pub time: Option<Time>,
    /// Kind of entry.
    pub what: EntryKind,
    /// The turn it belongs to, in [`Transcript::turns`].
    pub turn: Option<usize>,
    /// Whether the conversation went on as if it had never been.
    pub abandoned: bool,
    /// Estimated number of lines when shown completely; 0 for a thought whose text is withheld.
    pub lines: u32,
}

/// Kind of entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A call, in [`Transcript::calls`].
    Call(usize),
    /// A prompt of a person, or of an agent to another.
    Prompt,
    /// A command typed to the agent itself, and its output.
    Command,
    /// A text of the model.
    Text,
    /// A thought of the model.
    Thinking,
    /// A picture or document.
    Media,
    /// A text that the agent injected.
    Folded,
    /// An event.
    Notice,
    /// The history was summarised.
    Boundary,
    /// A hook of the turn.
    Hook,
    /// A record of unknown type.
    Unknown,
}

/// Readable content of a record.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The record's own id, by which copies of it are recognised.
    pub id: Option<String>,
    /// The id of the record that it follows.
    pub parent: Option<String>,
    /// Time.
    pub time: Option<Time>,
    /// The session, as the record names it; `None` where the whole log is one session's.
    pub session: Option<String>,
    /// Whether it stands beside the main conversation.
    pub sidechain: bool,
    /// The subagent whose conversation it belongs to.
    pub agent: Option<String>,
    /// Whether it repeats another record of the log, and is shown only where no other exists.
    pub echo: bool,
    /// The version of the agent that wrote it.
    pub version: Option<String>,
    /// The permission mode, where the record states it.
    pub permission: Option<PermissionMode>,
    /// The message whose early end is the last part, where several records may state that of one message.
    pub stopped: Option<Id>,
    /// Type of an echo, where records of that type say a thing only once. `None` where it may be repeated.
    pub voice: Option<&'static str>,
    /// Content, in order.
    pub parts: Vec<Part>,
}

/// One loaded message, or a reference to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A prompt of a person, or of an agent to another.
    Prompt {
        /// Author.
        origin: Origin,
        /// The words, as Markdown.
        text: String,
    },
    /// A command typed to the agent itself: `/clear`, `!ls`.
    Command {
        /// The command with its arguments.
        line: String,
        /// Output.
        output: Option<String>,
    },
    /// A text of the model, as Markdown.
    Text(String),
    /// A thought of the model; empty where it is withheld.
    Thinking(String),
    /// A picture or document in a prompt or an answer.
    Media(Content),
    /// A call, by its id.
    Call(String),
    /// The result of a call, by its id: shown with the call, never alone.
    Result(String),
    /// Another record of a call's end, by its id.
    End(String),
    /// A text that the agent injected: reminders, context, notifications.
    Folded {
        /// Name of the text.
        label: String,
        /// The text.
        text: String,
    },
    /// An event.
    Notice {
        /// Severity.
        level: Level,
        /// Short description.
        title: String,
        /// The rest.
        text: Option<String>,
    },
    /// The history was summarised.
    Boundary {
        /// Short description.
        title: String,
        /// Numbers: name and value.
        facts: Vec<(String, String)>,
    },
    /// A hook that ran for no call.
    Hook(HookStory),
    /// A record of unknown type.
    Unknown {
        /// Its type.
        name: String,
        /// The whole record.
        value: Value,
    },
}

/// Severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Information.
    Info,
    /// Warning.
    Warning,
    /// Error.
    Error,
}

/// A hook with its texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookStory {
    /// The call it ran for.
    pub call: Option<String>,
    /// The event it was registered for.
    pub event: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// The command it ran.
    pub command: Option<String>,
    /// Outcome.
    pub outcome: Option<HookOutcome>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Duration.
    pub duration_ms: Option<u64>,
    /// The words with which it refused or failed.
    pub reason: Option<String>,
    /// Its texts: name and content of each.
    pub texts: Vec<(String, String)>,
    /// The input with which it replaced that of the call.
    pub input: Option<Box<Value>>,
}

/// State of a call when its last progress was recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgressStory {
    /// Output so far.
    pub output: Option<String>,
    /// Activity in a few words, where there is no output to show: `10 search results`.
    pub note: Option<String>,
    /// Time since the call began.
    pub elapsed_ms: Option<u64>,
    /// Time that the call may take.
    pub limit_ms: Option<u64>,
}

/// Content of the record that requests a call.
#[derive(Clone, Debug, Default)]
pub struct LoggedRequest {
    /// The input.
    pub input: Value,
    /// The program that it stands in, for a call in a script.
    pub program: Option<String>,
    /// The tokens of its message.
    pub tokens: Option<Tokens>,
    /// The service tier of its message.
    pub tier: Option<String>,
    /// Further facts about its message.
    pub message: MessageFacts,
}

/// Facts about the message that requests a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageFacts {
    /// The service's id of the request that the message answers.
    pub request: Option<String>,
    /// Why the message ended early, in a few words.
    pub stopped: Option<String>,
    /// Searches and fetches that the service made for the message.
    pub server_tools: [u32; 2],
    /// Whether the service ran the call itself.
    pub by_service: bool,
}

/// Content of the record with a call's result.
#[derive(Clone, Debug, Default)]
pub struct LoggedResult {
    /// Content that the model saw.
    pub seen: Vec<Content>,
    /// Output of the tool, where the log contains it.
    pub produced: Option<Value>,
    /// Words of the person when refusing.
    pub feedback: Option<String>,
}

impl LoggedResult {
    /// Adds a further record about the same result. Known values stay, so the result's own record goes first.
    pub fn join(&mut self, more: LoggedResult) {
        if self.seen.is_empty() {
            self.seen = more.seen;
        }
        self.feedback = self.feedback.take().or(more.feedback);
        match (&mut self.produced, more.produced) {
            // Two records may each have a part of the output: one the exit code, another the streams.
            (Some(Value::Object(own)), Some(Value::Object(more))) => {
                more.into_iter().for_each(|(key, value)| {
                    own.entry(key).or_insert(value);
                });
            }
            (own, more) => *own = own.take().or(more),
        }
    }
}

/// A loaded call with everything that belongs to it. It never changes afterwards.
#[derive(Clone, Debug)]
pub struct Story<'a> {
    /// Its row, as in the `calls` command.
    pub row: CallRow<'a>,
    /// Its number in the session.
    pub number: CallNumber,
    /// Input and result in neutral form.
    pub told: Detailed,
    /// Command line that it ran, parsed; `None` where it ran none, or one that cannot be read.
    pub command: Option<CommandLine>,
    /// Input that it ran with.
    pub input: Value,
    /// The program that it stands in, for a call in a script.
    pub program: Option<String>,
    /// Input as the model requested it, where a hook or the person replaced it.
    pub requested: Option<Value>,
    /// Result; `None` where there is none.
    pub answer: Option<LoggedResult>,
    /// Outputs that were saved beside the log.
    pub side: Option<SideFile>,
    /// The hooks that ran for it, in order.
    pub hooks: Vec<HookStory>,
    /// State of a call without a result at its last progress.
    pub progress: Option<ProgressStory>,
    /// The tokens of its message.
    pub tokens: Option<Tokens>,
    /// The service tier of its message.
    pub tier: Option<String>,
    /// Further facts about its message.
    pub message: MessageFacts,
    /// The calls that its subagents made.
    pub nested: SubagentCalls,
    /// The command that it asks about, and the calls that asked about it.
    pub polls: CallPolls,
}

/// Calls that ask about another one, which goes on in the background.
#[derive(Clone, Debug, Default)]
pub struct CallPolls {
    /// The call that this one asks about.
    pub of: Option<CallNumber>,
    /// The calls that asked about this one, in order.
    pub later: Vec<CallNumber>,
}

/// The calls that a call's subagents made.
#[derive(Clone, Debug, Default)]
pub struct SubagentCalls {
    /// The threads, in [`Transcript::threads`].
    pub threads: Vec<usize>,
    /// Number of calls, including those of their own subagents.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
    /// Numbers for each of the threads.
    pub each: Vec<CallTally>,
}

/// Number of calls of a subagent, including those of its own subagents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTally {
    /// The calls.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
}

impl SubagentCalls {
    /// Numbers of one thread.
    pub fn of(&self, thread: usize) -> CallTally {
        let place = self.threads.iter().position(|own| *own == thread);
        // With a single thread the totals are its own.
        let all = (self.threads == [thread]).then_some(CallTally { calls: self.calls, failed: self.failed });
        place.and_then(|place| self.each.get(place)).copied().or(all).unwrap_or_default()
    }
}

/// An output that was saved beside the log.
#[derive(Clone, Debug)]
pub struct SideFile {
    /// Path according to the log.
    pub path: String,
    /// Its text, as far as it was read.
    pub text: Result<String, String>,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether only a part was read.
    pub cut: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_known_already_stays() {
        let answered = |seen: &[&str], produced| LoggedResult {
            seen: seen.iter().map(|text| Content::text(*text)).collect(),
            produced,
            feedback: None,
        };
        let mut known = answered(&["seen"], Some(json!({"exit_code": 1})));
        known.join(answered(&["again"], Some(json!({"exit_code": 2, "stderr": "x"}))));
        assert_eq!((known.seen, known.produced), (vec![Content::text("seen")], Some(json!({"exit_code": 1, "stderr": "x"}))));
        let mut nothing = LoggedResult::default();
        nothing.join(answered(&["all"], Some(json!("text"))));
        assert_eq!((nothing.seen, nothing.produced), (vec![Content::text("all")], Some(json!("text"))));
    }
}
