//! The texts by which OpenCode reports why a call failed.

use tooltrail_model::verdict::Marker;

/// The beginnings of messages of failures, with their markers.
const BEGINNINGS: &[(&str, Marker)] = &[
    ("The user rejected permission to use this specific tool call with the following feedback:", Marker::RejectedWithFeedback),
    ("The user rejected permission", Marker::Rejected),
    ("The user dismissed this question", Marker::Rejected),
    ("The user has specified a rule which prevents you from using this specific tool call", Marker::PermissionRule),
    ("Tool execution aborted", Marker::Interrupted),
    ("Tool execution was interrupted", Marker::Interrupted),
    ("MCP error -32001: Request timed out", Marker::Timeout),
    ("MCP error -32001: Maximum total timeout exceeded", Marker::Timeout),
    ("The arguments provided to the tool are invalid", Marker::InvalidInput),
];

/// Words in the middle of a message that mean the same for any tool: `The bash tool was called with invalid arguments`.
const INSIDE: &[(&str, Marker)] = &[(" tool was called with invalid arguments", Marker::InvalidInput)];

/// The marker in the message of a failure.
pub(super) fn marker(message: &str) -> Option<Marker> {
    let begins = BEGINNINGS.iter().find(|(beginning, _)| message.starts_with(beginning));
    let inside = || INSIDE.iter().find(|(words, _)| message.contains(words));
    begins.or_else(inside).map(|(_, marker)| *marker)
}

/// The words of a person who refused.
pub(super) fn feedback(message: &str) -> Option<&str> {
    let (_, said) = message.split_once(" with the following feedback:")?;
    // A tool's own message may contain the same words.
    Some(said.trim()).filter(|said| !said.is_empty() && marker(message) == Some(Marker::RejectedWithFeedback))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_by_how_they_begin() {
        for (message, expected) in [
            ("The user rejected permission to use this specific tool call.", Some(Marker::Rejected)),
            (
                "The user rejected permission to use this specific tool call with the following feedback: use npm",
                Some(Marker::RejectedWithFeedback),
            ),
            ("The user dismissed this question", Some(Marker::Rejected)),
            (
                "The user has specified a rule which prevents you from using this specific tool call. Here are …",
                Some(Marker::PermissionRule),
            ),
            ("Tool execution aborted", Some(Marker::Interrupted)),
            ("The edit tool was called with invalid arguments: oldString", Some(Marker::InvalidInput)),
            ("File not found: /srv/a", None),
            ("error: Tool execution aborted", None),
        ] {
            assert_eq!(marker(message), expected, "{message}");
        }
        assert_eq!(
            feedback("The user rejected permission to use this specific tool call with the following feedback: use npm"),
            Some("use npm")
        );
        assert_eq!(feedback("no with the following feedback: x"), None);
    }
}
