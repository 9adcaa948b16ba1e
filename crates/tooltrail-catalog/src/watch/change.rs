//! What subscribers are told: owned, and ready to be sent on. A row is in it as the bytes that `calls --json` or `list --json` print.

use serde::Serialize;
use serde_json::value::RawValue;
use tooltrail_model::{Reason, Status, Time};

/// Something that changed, or that was there when the subscription began.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ChangeEvent {
    /// A call that was there when the subscription began, and was asked for.
    Here {
        /// The call.
        call: CallNews,
    },
    /// All calls that were asked for have been told; from now on it is changes.
    Begun {
        /// How many calls are running that the filter takes.
        running: usize,
    },
    /// A call that is new. It may have ended already.
    Requested {
        /// The call.
        call: CallNews,
    },
    /// A call of which something is not as it was.
    Updated {
        /// The call as it is now.
        call: CallNews,
        /// What had become of it before.
        before: Status,
    },
    /// A call that is in no log any more.
    Lost {
        /// The agent.
        agent: Box<str>,
        /// The session.
        session: Box<str>,
        /// The call's id.
        call: Box<str>,
        /// How many calls of the session had this id before it.
        again: u32,
    },
    /// Somebody said something: a person, or the model.
    Message(MessageNews),
    /// A session that is new, or of which something is not as it was.
    Session {
        /// The session.
        session: SessionNews,
    },
    /// A session that is in no log any more.
    Gone {
        /// The agent.
        agent: Box<str>,
        /// The session.
        session: Box<str>,
    },
    /// Logs that a session is linked with have other bytes than before, whether or not any row has changed.
    Touched {
        /// The agent.
        agent: Box<str>,
        /// The session.
        session: Box<str>,
    },
    /// The subscriber was too slow: so many changes are missing here. What it knows, it has to ask for again.
    Lagged {
        /// How many.
        missing: u64,
    },
}

/// A call as it is now.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct CallNews {
    /// The object that `calls --json` prints.
    pub row: Box<RawValue>,
    /// The agent.
    #[serde(skip)]
    pub agent: Box<str>,
    /// The session.
    #[serde(skip)]
    pub session: Box<str>,
    /// The shortest name of the session.
    #[serde(skip)]
    pub short: Box<str>,
    /// The directory that the session belongs to.
    #[serde(skip)]
    pub project: Option<Box<str>>,
    /// The call's id.
    #[serde(skip)]
    pub call: Box<str>,
    /// How many calls of the session had this id before it: nearly always none.
    #[serde(skip)]
    pub again: u32,
    /// The tool.
    #[serde(skip)]
    pub tool: Box<str>,
    /// Whether a subagent made it.
    #[serde(skip)]
    pub sidechain: bool,
    /// What it is about: the command, the path, the pattern.
    #[serde(skip)]
    pub what: Option<Box<str>>,
    /// What became of it.
    #[serde(skip)]
    pub status: Status,
    /// Why.
    #[serde(skip)]
    pub reason: Option<Reason>,
    /// The exit code.
    #[serde(skip)]
    pub exit_code: Option<i64>,
    /// Whether it succeeded, but not the test or build in it that nobody recorded.
    #[serde(skip)]
    pub unsure: bool,
    /// When it was requested.
    #[serde(skip)]
    pub requested: Option<Time>,
    /// When its result came.
    #[serde(skip)]
    pub completed: Option<Time>,
    /// How long that took.
    #[serde(skip)]
    pub duration_ms: Option<u64>,
}

/// A session as it is now.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct SessionNews {
    /// The object that `list --json` prints.
    pub row: Box<RawValue>,
    /// The agent.
    #[serde(skip)]
    pub agent: Box<str>,
    /// The session.
    #[serde(skip)]
    pub session: Box<str>,
    /// The shortest name of the session.
    #[serde(skip)]
    pub short: Box<str>,
    /// What it is doing.
    #[serde(skip)]
    pub state: &'static str,
}

/// A message, by where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageNews {
    /// The agent.
    pub agent: Box<str>,
    /// The session.
    pub session: Box<str>,
    /// Who said it.
    pub by: MessageRole,
    /// The log.
    pub file: Box<str>,
    /// The line; nothing in a database.
    pub line: Option<u64>,
    /// The row, in a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Box<str>>,
    /// When, as in the rows.
    pub at: Option<String>,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// Somebody who asks: a person, or a program in their name.
    Asker,
    /// The model.
    Model,
}
