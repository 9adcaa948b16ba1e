//! Replies in place of a result: refusals, blocks, cancellations and errors, in the agent's own words.
//!
//! The texts are markers that a reader has to recognise, so they are spelled as the agent spells them.

use super::{PlannedCall, Then, ToolReply, ToolScene};
use crate::corpus::pool::BREAK;
use crate::json::quoted;

const NO: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).";
const WAIT: &str = "STOP what you are doing and wait for the user to tell you how to proceed.";

/// Reasons why an edit is refused.
const PRECONDITIONS: &[&str] = &[
    "File has not been read yet. Read it first before writing to it.",
    "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.",
    "String to replace not found in file.",
    "Found 3 matches of the string to replace, but replace_all is false.",
];

/// Reply of a call that does not get its result; `None` for the many that do.
pub(super) fn instead(scene: &mut ToolScene<'_>, call: &PlannedCall) -> Option<ToolReply> {
    let name = call.name;
    // Per mille, as measured in real logs; a tool's own failures come first.
    let drawn = scene.rng.below(1000);
    let own = match (name, drawn) {
        ("Read", 0..=34) => ToolReply::refused("File does not exist."),
        ("Edit" | "Write", 0..=39) => ToolReply::refused(scene.rng.pick(PRECONDITIONS)),
        ("mcp__warehouse__query", 0..=29) => ToolReply::error("MCP error -32603: the table is locked"),
        ("Bash", 0..=3) => {
            denied(format!("Permission to use Bash with command {} has been denied.", scene.pool.words.word(scene.rng)), "permission-rule")
        }
        // A hook's refusal has no denial kind; only its text gives it away.
        ("Bash", 4..=5) => ToolReply::error("PreToolUse:Bash hook error: [guard.sh]: not outside the project"),
        (_, 980..=982) => rejected(scene),
        (_, 983) => denied(format!("Claude requested permissions to use {name}, but you haven't granted it yet."), "permission-rule"),
        (_, 984) => denied(
            "Permission for this action was denied by the Claude Code auto mode classifier. Reason: it reaches outside the project"
                .to_owned(),
            "automode-blocked",
        ),
        (_, 985) => ToolReply::refused("InputValidationError: the required parameter `path` is missing"),
        (_, 986) => ToolReply::refused(&format!("Error: No such tool available: {name}")),
        _ => return None,
    };
    Some(own)
}

/// Reply of every call that follows a refused one in its message.
pub(in crate::corpus) fn after_rejection() -> ToolReply {
    stopped(format!("The user doesn't want to take this action right now. {WAIT}"))
}

/// Reply of a call whose sibling failed.
pub(in crate::corpus) fn cancelled() -> ToolReply {
    ToolReply::refused("Cancelled: parallel tool call Bash(make -j2 …) errored")
}

fn rejected(scene: &mut ToolScene<'_>) -> ToolReply {
    if scene.rng.chance(0.5) {
        return stopped(format!("{NO} {WAIT}"));
    }
    let wish = scene.pool.phrase(scene.rng);
    stopped(format!("{NO} To tell you how to proceed, the user said:{BREAK}{wish}"))
}

fn stopped(text: String) -> ToolReply {
    ToolReply { structured: quoted("User rejected tool use"), then: Then::Stop, ..denied(text, "user-rejected") }
}

fn denied(text: String, kind: &'static str) -> ToolReply {
    ToolReply { denial: Some(kind), ..ToolReply::error(&text) }
}
