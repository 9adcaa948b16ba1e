//! The texts by which Codex reports what happened to a call. They are matched by their beginning, where there is no exit code.

use std::borrow::Cow;
use tooltrail_model::event::{Hook, HookOutcome, HookStage};
use tooltrail_model::verdict::Marker;

/// The meaning of a text: an error of a known kind, an error, or success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Known(Marker),
    Error,
    Worked,
}

use Meaning::{Error, Known, Worked};

/// Texts that begin an answer, in the order they are tried.
const BEGINNINGS: &[(&str, Meaning)] = &[
    ("aborted by user", Known(Marker::Interrupted)),
    ("command timed out after ", Known(Marker::Timeout)),
    ("exec command rejected by user", Known(Marker::Rejected)),
    ("patch rejected by user", Known(Marker::Rejected)),
    ("rejected by user approval settings", Known(Marker::PermissionRule)),
    ("rejected by user", Known(Marker::Rejected)),
    ("rejected by configuration", Known(Marker::PermissionRule)),
    ("patch rejected:", Known(Marker::PermissionRule)),
    ("approval required by policy", Known(Marker::PermissionRule)),
    ("automatic approval review denied", Known(Marker::AutoMode)),
    ("This action was rejected due to unacceptable risk", Known(Marker::AutoMode)),
    ("user rejected MCP tool call", Known(Marker::Rejected)),
    ("user cancelled MCP tool call", Known(Marker::Rejected)),
    ("failed in sandbox ", Known(Marker::Sandbox)),
    ("sandbox denied exec error", Known(Marker::Sandbox)),
    ("Command denied by sandbox: ", Known(Marker::Sandbox)),
    ("Command blocked by PreToolUse hook:", Known(Marker::Hook)),
    ("Tool call blocked by PreToolUse hook:", Known(Marker::Hook)),
    ("failed to parse function arguments", Known(Marker::InvalidInput)),
    ("unsupported call:", Known(Marker::UnknownTool)),
    ("unsupported custom tool call:", Known(Marker::UnknownTool)),
    ("apply_patch verification failed", Known(Marker::Precondition)),
    ("execution error:", Error),
    ("exec_command failed", Error),
    ("write_stdin failed", Error),
    ("collab spawn failed: ", Error),
    ("collab tool failed: ", Error),
    ("collab manager unavailable", Error),
    ("Agent depth limit reached.", Error),
    ("Script completed", Worked),
    ("Script failed", Error),
    ("Script error:", Error),
    ("Script terminated", Known(Marker::Stopped)),
    ("Plan updated", Worked),
];

/// The meaning of an answer, from its decoded beginning.
pub(super) fn of(head: &str) -> Option<Meaning> {
    let text = head.trim_start();
    let Some(&(_, meaning)) = BEGINNINGS.iter().find(|(beginning, _)| text.starts_with(beginning)) else {
        // The error of an MCP server may come as Rust would print it.
        let quoted = text.strip_prefix("err: \"").and_then(refusal).map(Known);
        return quoted.or_else(|| is_forbidden(text).then_some(Known(Marker::PermissionRule)));
    };
    if meaning == Error && denial(text).is_some() {
        return Some(Known(Marker::Sandbox));
    }
    // A refusal may be wrapped into the words of a failure.
    if meaning == Error
        && let Some((_, inner)) = failure(text).split_once("Rejected(")
    {
        let inner = inner.trim_start_matches(['\\', '"']);
        // The question was never answered.
        let otherwise = if inner.starts_with("approval request ") { Marker::NotGranted } else { Marker::PermissionRule };
        return Some(Known(refusal(inner).unwrap_or(otherwise)));
    }
    Some(meaning)
}

/// The marker of a refusal, from its reason. It names a person only where the text does.
pub(super) fn refusal(reason: &str) -> Option<Marker> {
    match of(reason)? {
        Known(
            marker @ (Marker::Rejected | Marker::PermissionRule | Marker::AutoMode | Marker::Hook | Marker::Sandbox | Marker::NotGranted),
        ) => Some(marker),
        _ => None,
    }
}

/// Whether a rule forbids a command: "`rm -rf x` rejected: policy forbids commands starting with `rm`". A rule may have words of its own;
/// those are recognised only inside the words of a failure.
fn is_forbidden(text: &str) -> bool {
    let reason = text.strip_prefix('`').and_then(|text| text.split_once("` rejected: ")).map(|(_, reason)| reason);
    let by_policy = reason.is_some_and(|reason| ["policy forbids ", "blocked by policy"].iter().any(|start| reason.starts_with(start)));
    by_policy || (text.starts_with("approval policy is ") && text.contains("; reject command"))
}

/// What failed in "exec_command failed for `rm x`: CreateProcess { … }", without the command, which may contain any words itself.
pub(super) fn failure(text: &str) -> &str {
    let starts = ["`: CreateProcess {", "`: SandboxDenied {"];
    let at = if text.starts_with("exec_command failed for `") { starts.iter().filter_map(|start| text.find(start)).min() } else { None };
    at.map_or(text, |at| &text[at + 3..])
}

/// The words of a sandbox in `SandboxDenied { message: "…", output: ExecToolCallOutput { exit_code: 1, … } }`, still escaped, and what follows them.
fn denial(text: &str) -> Option<(&str, &str)> {
    let words = failure(text);
    let words = words.strip_prefix("exec_command failed: ").or_else(|| words.strip_prefix("write_stdin failed: ")).unwrap_or(words);
    let words = words.strip_prefix("SandboxDenied { message: \"")?;
    // The message ends at the first quote that no backslash stands before; cut off, it has no end.
    let mut escaped = false;
    let end = words.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    Some(end.map_or((words, ""), |end| (&words[..end], &words[end..])))
}

/// The message of a sandbox that denied a command, as it was before it was printed in quotes.
pub(super) fn denied(text: &str) -> Option<String> {
    let (words, _) = denial(text)?;
    // Rust prints a text nearly as JSON spells it; what is not JSON stays as it is.
    let plain = tooltrail_skim::Skim::new(format!("\"{words}\"").as_bytes()).string().map(|words| words.text().into_owned());
    Some(plain.unwrap_or_else(|| words.to_owned()))
}

/// The exit code in the words of a sandbox: `sandbox denied exec error, exit code: 1, stdout: …`.
pub(super) fn sandbox_exit(head: &str) -> Option<i64> {
    let newer = denial(head.trim_start()).and_then(|(_, rest)| rest.split_once("output: ExecToolCallOutput { exit_code: "));
    let (_, rest) = newer.or_else(|| head.split_once("sandbox denied exec error, exit code: "))?;
    number(rest)
}

/// The seconds in `aborted by user after 3.2s`, in milliseconds.
pub(super) fn aborted_after(head: &str) -> Option<u64> {
    let rest = head.trim_start().strip_prefix("aborted by user after ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    millis(&rest[..end])
}

/// The hook that refused a call, with its words.
pub(super) fn hook<'r>(head: &str) -> Option<Hook<'r>> {
    let (_, rest) = head.split_once(" blocked by PreToolUse hook:").filter(|(before, _)| matches!(*before, "Command" | "Tool call"))?;
    // From the end: the reason may contain such words.
    let end = [". Command: ", ". Tool: "].iter().filter_map(|mark| rest.rfind(mark)).max().unwrap_or(rest.len());
    Some(Hook {
        event: Some(Cow::Borrowed("PreToolUse")),
        stage: HookStage::Before,
        outcome: Some(HookOutcome::Blocked),
        allows: Some(false),
        reason: Some(Cow::Owned(rest[..end].trim().to_owned())),
        ..Hook::default()
    })
}

/// A whole number at the start of a text.
pub(super) fn number(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let end = text.char_indices().find(|&(at, c)| !(c.is_ascii_digit() || (at == 0 && c == '-'))).map_or(text.len(), |(at, _)| at);
    text[..end].parse().ok()
}

/// Seconds, as text, in milliseconds.
pub(super) fn millis(seconds: &str) -> Option<u64> {
    let seconds: f64 = seconds.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_mean_what_they_begin_with() {
        let table = [
            ("aborted by user after 3.2s", Some(Known(Marker::Interrupted))),
            ("command timed out after 10000 milliseconds\npartial", Some(Known(Marker::Timeout))),
            ("exec command rejected by user", Some(Known(Marker::Rejected))),
            ("patch rejected: writing outside of the project; rejected by user approval settings", Some(Known(Marker::PermissionRule))),
            ("execution error: Rejected(\"rejected by user\")", Some(Known(Marker::Rejected))),
            (
                "exec_command failed for `x`: CreateProcess { message: \"Rejected(\\\"rejected by configuration\\\")\" }",
                Some(Known(Marker::PermissionRule)),
            ),
            ("execution error: No such file or directory (os error 2)", Some(Error)),
            (
                "exec_command failed for `x`: CreateProcess { message: \"Rejected(\\\"approval required by policy, but AskForApproval is set to Never\\\")\" }",
                Some(Known(Marker::PermissionRule)),
            ),
            ("approval required by policy, but AskForApproval is set to Never", Some(Known(Marker::PermissionRule))),
            (
                "execution error: Rejected(\"`rm -rf x` rejected: policy forbids commands starting with `rm`\")",
                Some(Known(Marker::PermissionRule)),
            ),
            ("`rm -rf x` rejected: policy forbids commands starting with `rm`", Some(Known(Marker::PermissionRule))),
            ("`rm -rf x` rejected: blocked by policy", Some(Known(Marker::PermissionRule))),
            ("`git push` rejected: the remote is ahead", None),
            ("execution error: Rejected(\"`git push` rejected: ask the team first\")", Some(Known(Marker::PermissionRule))),
            (
                "approval policy is Never; reject command — you should not ask for escalated permissions if the approval policy is Never",
                Some(Known(Marker::PermissionRule)),
            ),
            ("This action was rejected due to unacceptable risk.\nReason: it uploads", Some(Known(Marker::AutoMode))),
            ("execution error: Rejected(\"This action was rejected due to unacceptable risk.\")", Some(Known(Marker::AutoMode))),
            ("execution error: Rejected(\"approval request aborted\")", Some(Known(Marker::NotGranted))),
            ("user rejected MCP tool call", Some(Known(Marker::Rejected))),
            ("err: \"user rejected MCP tool call\"", Some(Known(Marker::Rejected))),
            ("automatic approval review denied the action: risky", Some(Known(Marker::AutoMode))),
            ("failed in sandbox MacosSeatbelt with execution error: sandbox denied exec error, exit code: 1", Some(Known(Marker::Sandbox))),
            ("unsupported call: fly", Some(Known(Marker::UnknownTool))),
            ("Plan updated", Some(Worked)),
            ("the file says: aborted by user", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(of(text), expected, "{text}");
        }
        assert_eq!(sandbox_exit("failed in sandbox X with execution error: sandbox denied exec error, exit code: 2, stdout: "), Some(2));
        assert_eq!(aborted_after("aborted by user after 3.2s"), Some(3200));
    }

    #[test]
    fn denials_and_lost_agents_mean_what_they_say() {
        let table = [
            (
                "exec_command failed for `make test`: SandboxDenied { message: \"cannot lock \\\"a\\\"\", output: ExecToolCallOutput { exit_code: 2, stdout: StreamOutput { text: \"\" } } }",
                Some(Known(Marker::Sandbox)),
            ),
            ("exec_command failed: SandboxDenied { message: \"EACCES\" }", Some(Known(Marker::Sandbox))),
            ("exec_command failed for `rg 'Rejected('`: SandboxDenied { message: \"no\" }", Some(Known(Marker::Sandbox))),
            ("exec_command failed for `echo SandboxDenied { message`: CreateProcess { message: \"no such file\" }", Some(Error)),
            ("Command denied by sandbox: no network", Some(Known(Marker::Sandbox))),
            ("collab spawn failed: agent thread limit reached", Some(Error)),
            ("collab tool failed: no thread with id", Some(Error)),
        ];
        for (text, expected) in table {
            assert_eq!(of(text), expected, "{text}");
        }
        let denial = "exec_command failed for `x`: SandboxDenied { message: \"a \\\"b\\\"\\nc\", output: ExecToolCallOutput { exit_code: 101, stdout: x";
        assert_eq!(sandbox_exit(denial), Some(101));
        assert_eq!(denied(denial).as_deref(), Some("a \"b\"\nc"));
        assert_eq!(denied("exec_command failed: SandboxDenied { message: \"cut o").as_deref(), Some("cut o"));
    }

    #[test]
    fn a_hooks_words_are_kept() {
        let hook = hook("Command blocked by PreToolUse hook: no. never. Command: rm -rf x").and_then(|hook| hook.reason);
        assert_eq!(hook.as_deref(), Some("no. never"));
        assert!(super::hook("he said: Command blocked by PreToolUse hook: x").is_none());
    }
}
