//! Changes as subscribers receive them: owned, and ready to be sent on. A row is included as the bytes that `calls --json` or `list --json`
//! print.

use serde::Serialize;
use serde_json::value::RawValue;
use tooltrail_model::{Reason, Status, Time};

/// A change, or something that existed when the subscription began.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ChangeEvent {
    /// A requested call that existed when the subscription began.
    Here {
        /// The call.
        call: CallNews,
    },
    /// The end of the requested calls; from now on only changes follow.
    Begun {
        /// How many running calls the filter selects.
        running: usize,
    },
    /// A call that is new. It may have ended already.
    Requested {
        /// The call.
        call: CallNews,
    },
    /// A call whose row has changed.
    Updated {
        /// The call as it is now.
        call: CallNews,
        /// Its status before.
        before: Status,
    },
    /// A call that no log contains any more.
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
    /// A new message of a person or the model.
    Message(MessageNews),
    /// A session that is new or whose row has changed.
    Session {
        /// The session.
        session: SessionNews,
    },
    /// A session that no log contains any more.
    Gone {
        /// The agent.
        agent: Box<str>,
        /// The session.
        session: Box<str>,
    },
    /// Logs that a session is linked with have changed, whether or not any row has.
    Touched {
        /// The agent.
        agent: Box<str>,
        /// The session.
        session: Box<str>,
    },
    /// The subscriber was too slow, and this many changes are missing here. It has to load its data again.
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
    /// The subject of the call: the command, the path, the pattern.
    #[serde(skip)]
    pub what: Option<Box<str>>,
    /// Its status.
    #[serde(skip)]
    pub status: Status,
    /// The reason for the status.
    #[serde(skip)]
    pub reason: Option<Reason>,
    /// The exit code.
    #[serde(skip)]
    pub exit_code: Option<i64>,
    /// Whether the exit code 0 may hide a failed test or build, whose own exit code was not recorded.
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
    /// Its state.
    #[serde(skip)]
    pub state: &'static str,
}

/// A new message, by its place in the logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageNews {
    /// The agent.
    pub agent: Box<str>,
    /// The session.
    pub session: Box<str>,
    /// The author.
    pub by: MessageRole,
    /// The log.
    pub file: Box<str>,
    /// The line; `None` in a database.
    pub line: Option<u64>,
    /// The row, in a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Box<str>>,
    /// When, as in the rows.
    pub at: Option<String>,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// A person, or a program on their behalf.
    Asker,
    /// The model.
    Model,
}
