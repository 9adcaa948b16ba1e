//! The texts by which Claude Code reports what happened to a call. They are matched by their beginning, on error results only.

use tooltrail_model::verdict::Marker;

/// Texts that begin an error result, in the order they are tried. A `<tool_use_error>` around them has been taken off.
const BEGINNINGS: &[(&str, Marker)] = &[
    ("The user doesn't want to take this action right now", Marker::AfterRejection),
    ("The user doesn't want to proceed with this tool use", Marker::Rejected),
    ("[Request interrupted by user", Marker::Interrupted),
    ("Interrupted by user", Marker::Interrupted),
    ("Request was aborted", Marker::Interrupted),
    ("Claude requested permissions to", Marker::NotGranted),
    ("Permission for this tool use was denied", Marker::NotGranted),
    ("This Bash command contains multiple operations", Marker::NotGranted),
    ("This command requires approval", Marker::NotGranted),
    ("Permission for this action was denied by the Claude Code auto mode", Marker::AutoMode),
    ("File is in a directory that is denied by your permission settings", Marker::PermissionRule),
    ("PreToolUse:", Marker::Hook),
    ("Hook PreToolUse", Marker::Hook),
    ("Sibling tool call errored", Marker::SiblingFailed),
    ("Cancelled: parallel tool call", Marker::SiblingFailed),
    ("Streaming fallback", Marker::StreamDiscarded),
    ("InputValidationError", Marker::InvalidInput),
    ("No such tool available", Marker::UnknownTool),
    ("File has not been read yet", Marker::Precondition),
    ("File has been modified since read", Marker::Precondition),
    ("File has been unexpectedly modified", Marker::Precondition),
    ("String to replace not found", Marker::Precondition),
    ("No changes to make", Marker::Precondition),
    ("File does not exist", Marker::Precondition),
    ("Path does not exist", Marker::Precondition),
    ("Directory does not exist", Marker::Precondition),
    ("Blocked:", Marker::Precondition),
    ("Unknown skill", Marker::Precondition),
    ("MCP error -32001: Request timed out", Marker::Timeout),
    ("MCP error -32001: Maximum total timeout exceeded", Marker::Timeout),
    ("MCP error", Marker::Mcp),
    ("Command timed out after", Marker::Timeout),
    ("Request timed out", Marker::Timeout),
    ("timeout of ", Marker::Timeout),
    // The limit of the searching tools.
    ("Ripgrep search timed out after", Marker::Timeout),
    // A session or an agent with a worktree of its own may not touch the shared checkout.
    ("This session is isolated in the worktree", Marker::Sandbox),
    ("This agent is isolated in the worktree", Marker::Sandbox),
    ("The working-directory isolation context for this agent was lost", Marker::Sandbox),
];

/// The marker in the text of an error result, from its decoded beginning.
pub(super) fn of(head: &str) -> Option<Marker> {
    let text = bare(head);
    if let Some(&(_, marker)) = BEGINNINGS.iter().find(|(beginning, _)| text.starts_with(beginning)) {
        return Some(match marker {
            // The same beginning with and without words of the person; only those make it feedback.
            Marker::Rejected if feedback(text).is_some() => Marker::RejectedWithFeedback,
            marker => marker,
        });
    }
    if text.starts_with("Permission to use ") && text.contains("has been denied") {
        return Some(Marker::PermissionRule);
    }
    if text.starts_with("Found ") && text.contains("matches of the string to replace") {
        return Some(Marker::Precondition);
    }
    // The program keeps commands inside the project's directories; nothing ran.
    // A command that ran may print the same words; its exit code stands in front.
    if text.contains("was blocked. For security") && !text.starts_with("Exit code") {
        return Some(Marker::PermissionRule);
    }
    // Only in the first line: a file that was read may contain them.
    let first = text.lines().next().unwrap_or("");
    if ["exceeds maximum allowed tokens", "exceeds maximum allowed size"].iter().any(|limit| first.contains(limit)) {
        return Some(Marker::TooLarge);
    }
    let (_, rest) = exit_code(text)?;
    rest.trim_start().starts_with("Command timed out after").then_some(Marker::Timeout)
}

/// Whether a text is the program's report that the model's service failed: `API Error: 529 …`, `API Error (Connection error.)`.
pub(super) fn service_failed(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix("API Error");
    // A model may well write about API errors.
    rest.is_some_and(|rest| rest.starts_with(": ") || rest.starts_with(" ("))
}

/// The text without white space, `<tool_use_error>` and `Error:` in front.
fn bare(text: &str) -> &str {
    let text = text.trim_start();
    let text = text.strip_prefix("<tool_use_error>").unwrap_or(text).trim_start();
    text.strip_prefix("Error: ").unwrap_or(text)
}

/// The beginnings of a person's words on refusing.
const REASONS: &[&str] = &["the user said:", "The user provided the following reason for the rejection:"];

/// The words of a person who refused.
pub(super) fn feedback(text: &str) -> Option<&str> {
    // The earliest: the person's own words may contain another one.
    let at = REASONS.iter().filter_map(|reason| Some(text.find(reason)? + reason.len())).min()?;
    let said = &text[at..];
    // The note behind is the program's, for the model.
    let said = said.split("\n\nNote: The user's next message may contain").next().unwrap_or(said).trim();
    (!said.is_empty()).then_some(said)
}

/// The code in `Exit code N` at the start of a text, and the rest.
pub(super) fn exit_code(text: &str) -> Option<(i64, &str)> {
    let rest = bare(text).strip_prefix("Exit code ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

/// The code in `[Exit code: N]` at the end of a text.
pub(super) fn exit_tail(tail: &str) -> Option<i64> {
    // From the end: the output in front may contain such brackets.
    let rest = tail.trim_end().strip_suffix(']')?;
    let at = rest.rfind("[Exit code: ")?;
    rest[at + "[Exit code: ".len()..].trim().parse().ok()
}

/// Whether the last line of a text says that the person stopped it.
pub(super) fn interrupted_tail(tail: &str) -> bool {
    tail.trim_end().rsplit('\n').next().is_some_and(super::author::is_interrupt)
}

/// The hook, its command and its words in `PreToolUse:Bash hook error: [guard.sh]: no`.
pub(super) fn hook_error(head: &str) -> Option<(&str, Option<&str>, &str)> {
    let text = bare(head);
    let (name, rest) = text.split_once(" hook error: ")?;
    if !name.starts_with("PreToolUse") || name.contains(char::is_whitespace) {
        return None;
    }
    match rest.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
        Some((command, words)) => Some((name, Some(command), words)),
        None => Some((name, None, rest)),
    }
}

/// The agent named at the end of a subagent's answer: `agentId: a0123 (use …)`.
pub(super) fn answer_agent(tail: &str) -> Option<&str> {
    if tail.is_empty() {
        return None;
    }
    let at = tail.rfind("agentId:")?;
    let rest = tail[at + "agentId:".len()..].trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
    // The id may be written like the agent's file: `agent-<id>`.
    let id = rest[..end].strip_prefix("agent-").unwrap_or(&rest[..end]);
    (!id.is_empty()).then_some(id)
}

/// The background task that a shell's or an agent's result text announces.
pub(super) fn background(head: &str) -> Option<&str> {
    if head.is_empty() {
        return None;
    }
    let text = head.trim_start();
    let after = |mark: &str| text.find(mark).map(|at| &text[at + mark.len()..]);
    let rest = if text.starts_with("Command running in background") || text.starts_with("Command was manually backgrounded") {
        after("with ID: ")
    } else if text.starts_with("Command was moved to the background") || text.starts_with("Command did not complete within its") {
        after("(ID: ")
    } else if text.starts_with("Async agent launched successfully") {
        after("agentId: ")
    } else {
        None
    }?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_recognised_by_how_they_begin() {
        let table = [
            ("<tool_use_error>Error: No such tool available: X</tool_use_error>", Some(Marker::UnknownTool)),
            ("Exit code 143\nCommand timed out after 2m 0.0s", Some(Marker::Timeout)),
            ("Exit code 1\nCommand timed out is a word in the output", None),
            ("The user doesn't want to proceed with this tool use. … the user said:\nuse rg", Some(Marker::RejectedWithFeedback)),
            ("Permission to use Bash with command rm has been denied.", Some(Marker::PermissionRule)),
            ("File content (31000 tokens) exceeds maximum allowed tokens (25000).", Some(Marker::TooLarge)),
            ("Found 3 matches of the string to replace, but replace_all is false.", Some(Marker::Precondition)),
            ("the log says: The user doesn't want to proceed", None),
            ("MCP error -32001: Request timed out", Some(Marker::Timeout)),
            // Servers use this number for errors of their own.
            ("MCP error -32001: Unauthorized", Some(Marker::Mcp)),
            (
                "The user doesn't want to proceed with this tool use. The user provided the following reason for the rejection:  use a copy",
                Some(Marker::RejectedWithFeedback),
            ),
            (
                "<tool_use_error>cd in '/srv' was blocked. For security, Claude Code may only change …</tool_use_error>",
                Some(Marker::PermissionRule),
            ),
            ("Exit code 1\ncd in '/srv' was blocked. For security, no", None),
            ("This session is isolated in the worktree /srv/app/.claude/worktrees/x. Edit the worktree copy", Some(Marker::Sandbox)),
            ("Ripgrep search timed out after 20 seconds. Try a more specific path or pattern.", Some(Marker::Timeout)),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn the_words_of_a_person_are_kept_and_failures_of_the_service_known() {
        assert_eq!(feedback("x The user provided the following reason for the rejection:  use a copy\n"), Some("use a copy"));
        assert_eq!(feedback("x the user said:\nno\n\nNote: The user's next message may contain a correction."), Some("no"));
        assert_eq!(feedback("The user provided the following reason for the rejection: "), None);
        assert!(service_failed("API Error: 529 overloaded"));
        assert!(service_failed("\nAPI Error (Connection error.)"));
        assert!(!service_failed("API Error handling is in src/retry.rs"));
    }

    #[test]
    fn codes_tails_and_ids_are_read() {
        assert_eq!(exit_code("Exit code 101\nerror"), Some((101, "\nerror")));
        assert_eq!(exit_code("Exit code one"), None);
        assert_eq!(exit_tail("ok\n\n[Exit code: 3]\n"), Some(3));
        assert_eq!(exit_tail("[Exit code: 3] and more"), None);
        assert!(interrupted_tail("Exit code 137\n[Request interrupted by user for tool use]\n"));
        assert!(interrupted_tail("half\r\n[Request interrupted by user]"));
        assert!(!interrupted_tail("grep found [Request interrupted by user]"));
        assert!(!interrupted_tail("[Request interrupted by user]\nand more"));
        assert_eq!(hook_error("PreToolUse:Bash hook error: [guard.sh]: no rm"), Some(("PreToolUse:Bash", Some("guard.sh"), "no rm")));
        assert_eq!(answer_agent("found it\n\nagentId: agent-abc123"), Some("abc123"));
        assert_eq!(answer_agent("agentId: a01 (use SendMessage to go on)"), Some("a01"));
        assert_eq!(background("Command running in background with ID: bx1. Output"), Some("bx1"));
        assert_eq!(background("Command did not complete within its 120s timeout and was moved to the background (ID: by2)."), Some("by2"));
        assert_eq!(background("ID: bx1"), None);
    }
}
