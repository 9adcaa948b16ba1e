//! The tools that the simulated agent calls: inputs, results for the model, structured results.

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
type Make = fn(&mut ToolScene<'_>) -> PlannedCall;

/// Every tool with its share of the calls, per mille.
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

/// State of the session that a tool needs for a call.
pub(super) struct ToolScene<'s> {
    pub(super) pool: &'s Pool,
    pub(super) rng: &'s mut Rng,
    pub(super) cwd: &'s str,
    /// Whether results are short.
    pub(super) brief: bool,
}

/// One call with its result, before ids and times.
pub(super) struct PlannedCall {
    pub(super) name: &'static str,
    /// The input, as JSON.
    pub(super) input: String,
    pub(super) reply: ToolReply,
    /// The subagent that the call starts.
    pub(super) agent: Option<SubagentStart>,
}

/// Result of a call.
pub(super) struct ToolReply {
    /// The content of the `tool_result` block, as JSON.
    pub(super) content: String,
    /// The `toolUseResult` beside it, as JSON.
    pub(super) structured: String,
    pub(super) is_error: bool,
    /// The `toolDenialKind`, where the agent writes one.
    pub(super) denial: Option<&'static str>,
    pub(super) then: Then,
}

/// Effect of a reply on the calls beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    GoOn,
    /// The person said no: later calls of the message are refused too and the turn ends.
    Stop,
    /// A shell command failed: the calls that ran beside it are cancelled.
    CancelSiblings,
}

/// A subagent about to be started.
pub(super) struct SubagentStart {
    pub(super) id: String,
    pub(super) prompt: String,
}

/// Draws one call.
pub(super) fn call(scene: &mut ToolScene<'_>) -> PlannedCall {
    // The call is drawn before its failure, so that refused calls have the usual inputs.
    let make = scene.rng.weighted(TOOLS);
    let mut call = make(scene);
    if let Some(reply) = failure::instead(scene, &call) {
        call.reply = reply;
        // A refused subagent leaves no log.
        call.agent = None;
    }
    call
}

/// A subagent's call that its parent's progress records have already reported.
pub(super) fn known_read(scene: &mut ToolScene<'_>, file: usize) -> PlannedCall {
    let file = &scene.pool.files[file];
    files::read_of(scene, file)
}

impl PlannedCall {
    fn new(name: &'static str, input: String, reply: ToolReply) -> Self {
        Self { name, input, reply, agent: None }
    }
}

impl ToolReply {
    fn ok(content: String, structured: String) -> Self {
        Self { content, structured, is_error: false, denial: None, then: Then::GoOn }
    }

    /// An error whose structured side repeats the text after `Error: `.
    fn error(escaped: &str) -> Self {
        // Instead of an object, the structured side of an error is a string.
        Self { is_error: true, ..Self::ok(quoted(escaped), quoted(&format!("Error: {escaped}"))) }
    }

    /// An error found before the tool ran: the model sees it in a tag, the structured side without.
    fn refused(escaped: &str) -> Self {
        Self { is_error: true, ..Self::ok(quoted(&format!("<tool_use_error>{escaped}</tool_use_error>")), quoted(escaped)) }
    }
}
