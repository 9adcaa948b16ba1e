//! The message of a failure or refusal, without the words around it for the model.

use super::CodexCall;
use crate::codex::markers::{self, Meaning};
use serde_json::Value;
use tooltrail_model::Status;

/// The message, where the call did not succeed and something gives the reason. A command's own output is no message.
pub(super) fn read(call: &CodexCall<'_>) -> Option<String> {
    if matches!(call.ask.status, Status::Succeeded | Status::Answered | Status::Running | Status::Unanswered) {
        return None;
    }
    let (body, ended) = (call.header.body, call.header.exit_code.is_some() || call.produced.has("exit_code"));
    // The whole text first: some markers stand in the lines that `header` takes off.
    let meant = markers::of(call.said).map(|_| call.said).or_else(|| markers::of(body).map(|_| body));
    match meant {
        Some(text) if markers::of(text) != Some(Meaning::Worked) => Some(plain(text, body)),
        // The output of a command that ended is shown as output.
        _ if ended => None,
        _ => other(call, body),
    }
}

/// The message of a tool without a convention: its error, its stderr, or all of its answer.
fn other(call: &CodexCall<'_>, body: &str) -> Option<String> {
    let given = GIVEN.iter().find_map(|name| message(call.produced.peek(name)?));
    let stderr = call.produced.peek("stderr").and_then(|text| text.as_str());
    let text = given.or(stderr.filter(|text| !text.trim().is_empty())).unwrap_or(body).trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Fields of an end that give the reason of a failure.
const GIVEN: &[&str] = &["error", "failure"];

/// Takes a message out of the field that it is from: other fields are shown as they are, and it is shown already.
pub(super) fn drop_given(call: &mut CodexCall<'_>) {
    let Some(error) = call.error.as_deref() else { return };
    for name in GIVEN {
        if call.produced.peek(name).and_then(message).map(str::trim) != Some(error) {
            continue;
        }
        let mut given = call.produced.take(name).unwrap_or_default();
        if let Some(fields) = given.as_object_mut() {
            fields.retain(|name, value| name != "message" && !value.is_null());
            if !fields.is_empty() {
                call.produced.put(name, given);
            }
        }
    }
}

/// The message of an error: the error itself, or a field of it.
fn message(error: &Value) -> Option<&str> {
    error.as_str().or_else(|| error.get("message")?.as_str())
}

/// A message without its wrapping.
fn plain(text: &str, body: &str) -> String {
    let text = text.trim();
    if let Some(reason) = markers::hook(text).and_then(|hook| hook.reason) {
        return reason.into_owned();
    }
    if let Some(message) = markers::denied(text) {
        return message.trim_end().to_owned();
    }
    if let Some((_, inner)) = markers::failure(text).split_once("Rejected(") {
        let inner = inner.trim_start_matches(['\\', '"']);
        let end = inner.find(['"', '\\']).unwrap_or(inner.len());
        return inner[..end].to_owned();
    }
    if text.starts_with("command timed out after ") {
        return text.lines().next().unwrap_or_default().to_owned();
    }
    if let Some((before, _)) = text.split_once(", exit code: ").filter(|_| text.contains("sandbox denied exec error")) {
        return before.to_owned();
    }
    // A script reports its failure in the lines in front, and the reason behind them.
    let script = text.starts_with("Script ") && !text.starts_with("Script error:");
    let text = match body.trim() {
        "" if script => text.lines().next().unwrap_or_default(),
        body if script => body,
        _ => text,
    };
    let text = text.strip_prefix("Script error:").or_else(|| text.strip_prefix("execution error:")).unwrap_or(text);
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_their_wrapping() {
        let table = [
            ("execution error: Rejected(\"rejected by user\")", "rejected by user"),
            ("exec_command failed for `x`: CreateProcess { message: \"Rejected(\\\"no\\\")\" }", "no"),
            ("Command blocked by PreToolUse hook: not today. Command: make", "not today"),
            ("command timed out after 10 milliseconds\npartial", "command timed out after 10 milliseconds"),
            ("patch rejected by user", "patch rejected by user"),
            ("Script error:\nSyntaxError", "SyntaxError"),
            ("exec_command failed for `x`: SandboxDenied { message: \"read-only\\n\", output: x }", "read-only"),
            (
                "failed in sandbox X with execution error: sandbox denied exec error, exit code: 1, stdout: , stderr: no",
                "failed in sandbox X with execution error: sandbox denied exec error",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(plain(text, text), expected);
        }
    }
}
