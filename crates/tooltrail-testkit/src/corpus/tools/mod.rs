//! The tools that the imagined agent calls: what it asks, what it is told, what the tool kept for itself.

mod delegate;
mod failure;
mod files;
mod remote;
mod search;
mod shell;

pub(super) use failure::{after_rejection, cancelled};

use super::pool::Pool;
use crate::json::quoted;
use crate::rng::Rng;

/// Makes one call of one tool.
type Make = fn(&mut Scene<'_>) -> Call;

/// Every tool with its share of the calls, in parts of a thousand.
const TOOLS: &[(u32, Make)] = &[
    (358, shell::bash),
    (248, files::read),
    (149, files::edit),
    (40, files::write),
    (79, search::grep),
    (30, search::glob),
    (42, delegate::todo),
    (12, delegate::task),
    (10, remote::fetch),
    (29, remote::query),
    (3, remote::screenshot),
];

/// What a tool needs to know of the session that calls it.
pub(super) struct Scene<'s> {
    pub(super) pool: &'s Pool,
    pub(super) rng: &'s mut Rng,
    pub(super) cwd: &'s str,
    /// Results are to be short.
    pub(super) brief: bool,
}

/// One call and its whole fate, before ids and times.
pub(super) struct Call {
    pub(super) name: &'static str,
    /// The input, as JSON.
    pub(super) input: String,
    pub(super) reply: Reply,
    /// The subagent that the call starts.
    pub(super) agent: Option<Agent>,
}

/// What comes back.
pub(super) struct Reply {
    /// The content of the `tool_result` block, as JSON.
    pub(super) content: String,
    /// The `toolUseResult` beside it, as JSON.
    pub(super) structured: String,
    pub(super) is_error: bool,
    /// The `toolDenialKind`, where the agent writes one.
    pub(super) denial: Option<&'static str>,
    pub(super) then: Then,
}

/// What a reply means for the calls beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    GoOn,
    /// The person said no: later calls of the message are refused too and the turn ends.
    Stop,
    /// A shell command failed: the calls that ran beside it are cancelled.
    CancelSiblings,
}

/// A subagent about to be started.
pub(super) struct Agent {
    pub(super) id: String,
    pub(super) prompt: String,
}

/// Draws one call.
pub(super) fn call(scene: &mut Scene<'_>) -> Call {
    let make = scene.rng.weighted(TOOLS);
    let mut call = make(scene);
    if let Some(reply) = failure::instead(scene, &call) {
        call.reply = reply;
        // A subagent that was refused leaves no log.
        call.agent = None;
    }
    call
}

/// The call a subagent makes that its parent's progress records have already told.
pub(super) fn known_read(scene: &mut Scene<'_>, file: usize) -> Call {
    let file = &scene.pool.files[file];
    files::read_of(scene, file)
}

impl Call {
    fn new(name: &'static str, input: String, reply: Reply) -> Self {
        Self { name, input, reply, agent: None }
    }
}

impl Reply {
    fn ok(content: String, structured: String) -> Self {
        Self { content, structured, is_error: false, denial: None, then: Then::GoOn }
    }

    /// An error whose structured side repeats the text after `Error: `.
    fn error(escaped: &str) -> Self {
        Self { is_error: true, ..Self::ok(quoted(escaped), quoted(&format!("Error: {escaped}"))) }
    }

    /// An error found before the tool ran: the model sees it in a tag, the structured side without.
    fn refused(escaped: &str) -> Self {
        Self { is_error: true, ..Self::ok(quoted(&format!("<tool_use_error>{escaped}</tool_use_error>")), quoted(escaped)) }
    }
}
