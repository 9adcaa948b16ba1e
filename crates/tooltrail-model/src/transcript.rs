//! A session to read: what was said and done, in order, with every result already in its call.
//!
//! A [`Transcript`] is an index: light entries that say where each thing stands. [`Part`] and [`Story`] are such a thing loaded: a
//! message, and a call with its whole life. Views are made from these alone; nobody looks for a result while drawing.

use crate::Time;
use crate::command::CommandLine;
use crate::content::Content;
use crate::detail::Detailed;
use crate::event::{HookOutcome, Origin};
use crate::position::At;
use crate::row::{CallRow, SessionRow};
use crate::usage::Tokens;
use serde::Serialize;
use serde_json::Value;

/// A session, as an index of what there is to read.
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
    /// From when to when hooks ran, of calls and of turns, as far as the log tells.
    pub hooks: Vec<(Time, Time)>,
}

/// A call of a transcript.
#[derive(Clone, Debug)]
pub struct CallEntry<'a> {
    /// What the `calls` command says of it.
    pub row: CallRow<'a>,
    /// Its number in the session.
    pub number: u32,
    /// The record that requests it.
    pub request: Spot,
    /// The record that answers it.
    pub result: Option<Spot>,
    /// Further records that tell how it ended.
    pub ends: Vec<Spot>,
    /// Records of its hooks.
    pub hooks: Vec<Spot>,
    /// From when to when these ran, as far as the log tells.
    pub hooked: Vec<(Time, Time)>,
    /// When it was requested.
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
    /// How its prompt begins.
    pub head: String,
    /// When it began.
    pub time: Option<Time>,
    /// Its entries in the main conversation: the first, and the one after the last.
    pub entries: std::ops::Range<usize>,
    /// The conversation went on as if it had never been.
    pub abandoned: bool,
}

/// A conversation: the main one or a subagent's.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// The subagent; `None` for the main conversation, or one without a name.
    pub agent: Option<String>,
    /// The call that started it, in [`Transcript::calls`].
    pub started_by: Option<usize>,
    /// What was said and done.
    pub entries: Vec<Entry>,
}

/// One thing to read.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The record it stands in.
    pub spot: Spot,
    /// Which part of the record.
    pub part: usize,
    /// When.
    pub time: Option<Time>,
    /// What it is.
    pub what: What,
    /// The turn it belongs to, in [`Transcript::turns`].
    pub turn: Option<usize>,
    /// The conversation went on as if it had never been.
    pub abandoned: bool,
    /// About how many lines it takes to show it whole.
    pub lines: u32,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A call, in [`Transcript::calls`].
    Call(usize),
    /// A person's words, or those of an agent to another.
    Prompt,
    /// A command typed to the agent itself, and what it printed.
    Command,
    /// What the model says.
    Text,
    /// What the model thinks.
    Thinking,
    /// A picture or document.
    Media,
    /// Text that the program put in.
    Folded,
    /// Something that happened.
    Notice,
    /// The history was summed up.
    Boundary,
    /// A hook of the turn.
    Hook,
    /// A record that nobody knows.
    Unknown,
}

/// What a record holds for a reader.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The record's own id, by which copies of it are recognised.
    pub id: Option<String>,
    /// The id of the record that it follows.
    pub parent: Option<String>,
    /// When.
    pub time: Option<Time>,
    /// The session, as the record names it; `None` where the whole log is one session's.
    pub session: Option<String>,
    /// Whether it stands beside the main conversation.
    pub sidechain: bool,
    /// The subagent whose conversation it belongs to.
    pub agent: Option<String>,
    /// It repeats what another record of the log says, and is shown only where none does.
    pub echo: bool,
    /// For an echo: what kind of record it is, where each of that kind says a thing only once. `None` where it may be said again.
    pub voice: Option<&'static str>,
    /// What there is to read, in order.
    pub parts: Vec<Part>,
}

/// One thing to read, loaded.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A person's words, or those of an agent to another.
    Prompt {
        /// Who wrote it.
        origin: Origin,
        /// The words, as Markdown.
        text: String,
    },
    /// A command typed to the agent itself: `/clear`, `!ls`.
    Command {
        /// The command with its arguments.
        line: String,
        /// What it printed.
        output: Option<String>,
    },
    /// What the model says, as Markdown.
    Text(String),
    /// What the model thinks; empty where it is withheld.
    Thinking(String),
    /// A picture or document in a prompt or an answer.
    Media(Content),
    /// A call, by its id.
    Call(String),
    /// The result of a call, by its id: shown with the call, never on its own.
    Result(String),
    /// Another record of how a call ended, by its id.
    End(String),
    /// Text that the program put in: reminders, context, notifications.
    Folded {
        /// What it is.
        label: String,
        /// The text.
        text: String,
    },
    /// Something that happened.
    Notice {
        /// How bad it is.
        level: Level,
        /// In a few words.
        title: String,
        /// The rest.
        text: Option<String>,
    },
    /// The history was summed up.
    Boundary {
        /// In a few words.
        title: String,
        /// Numbers that go with it: name and value.
        facts: Vec<(String, String)>,
    },
    /// A hook that ran for no call.
    Hook(HookStory),
    /// A record that nobody knows.
    Unknown {
        /// What it calls itself.
        name: String,
        /// All of it.
        value: Value,
    },
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// It went wrong.
    Error,
}

/// A hook, told in full.
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
    /// How it ended.
    pub outcome: Option<HookOutcome>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// How long it ran.
    pub duration_ms: Option<u64>,
    /// What it printed, said or added: a name and the text of each.
    pub texts: Vec<(String, String)>,
}

/// What the record of a request says about a call.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The input.
    pub input: Value,
    /// The tokens of its message.
    pub tokens: Option<Tokens>,
    /// The service tier of its message.
    pub tier: Option<String>,
}

/// What the record of a result says about a call.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    /// What the model saw.
    pub seen: Vec<Content>,
    /// What the tool produced, where the log keeps it.
    pub produced: Option<Value>,
    /// What the person said when refusing.
    pub feedback: Option<String>,
}

impl Answered {
    /// Takes in what a further record says about the same result. What is known already stays, so the result's own record goes first.
    pub fn join(&mut self, more: Answered) {
        if self.seen.is_empty() {
            self.seen = more.seen;
        }
        self.feedback = self.feedback.take().or(more.feedback);
        match (&mut self.produced, more.produced) {
            (Some(Value::Object(own)), Some(Value::Object(more))) => {
                more.into_iter().for_each(|(key, value)| {
                    own.entry(key).or_insert(value);
                });
            }
            (own, more) => *own = own.take().or(more),
        }
    }
}

/// A call with its whole life, loaded. It never changes afterwards.
#[derive(Clone, Debug)]
pub struct Story<'a> {
    /// What the `calls` command says of it.
    pub row: CallRow<'a>,
    /// Its number in the session.
    pub number: u32,
    /// What was asked and what came back, in neutral form.
    pub told: Detailed,
    /// The command line that it ran, as it is understood; `None` where it ran none, or one that cannot be read.
    pub command: Option<CommandLine>,
    /// What was asked, as the log has it.
    pub input: Value,
    /// What came back; `None` where nothing did.
    pub answer: Option<Answered>,
    /// Outputs that were saved beside the log.
    pub side: Option<SideFile>,
    /// The hooks that ran for it.
    pub hooks: Vec<HookStory>,
    /// The tokens of its message.
    pub tokens: Option<Tokens>,
    /// The service tier of its message.
    pub tier: Option<String>,
    /// The calls that its subagents made.
    pub nested: Nested,
}

/// The calls that a call's subagents made.
#[derive(Clone, Debug, Default)]
pub struct Nested {
    /// The threads, in [`Transcript::threads`].
    pub threads: Vec<usize>,
    /// How many calls they made, their own subagents' included.
    pub calls: u64,
    /// How many of these failed.
    pub failed: u64,
    /// The same for each of the threads.
    pub each: Vec<Made>,
}

/// How many calls a subagent made, those of its own subagents included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// The calls.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
}

impl Nested {
    /// What one of the threads did.
    pub fn of(&self, thread: usize) -> Made {
        let place = self.threads.iter().position(|own| *own == thread);
        let all = (self.threads == [thread]).then_some(Made { calls: self.calls, failed: self.failed });
        place.and_then(|place| self.each.get(place)).copied().or(all).unwrap_or_default()
    }
}

/// An output that was saved beside the log.
#[derive(Clone, Debug)]
pub struct SideFile {
    /// Where the log says it is.
    pub path: String,
    /// Its text, as far as it was read.
    pub text: Result<String, String>,
    /// How large it is.
    pub bytes: u64,
    /// Not all of it was read.
    pub cut: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_known_already_stays() {
        let answered =
            |seen: &[&str], produced| Answered { seen: seen.iter().map(|text| Content::text(*text)).collect(), produced, feedback: None };
        let mut known = answered(&["seen"], Some(json!({"exit_code": 1})));
        known.join(answered(&["again"], Some(json!({"exit_code": 2, "stderr": "x"}))));
        assert_eq!((known.seen, known.produced), (vec![Content::text("seen")], Some(json!({"exit_code": 1, "stderr": "x"}))));
        let mut nothing = Answered::default();
        nothing.join(answered(&["all"], Some(json!("text"))));
        assert_eq!((nothing.seen, nothing.produced), (vec![Content::text("all")], Some(json!("text"))));
    }
}
