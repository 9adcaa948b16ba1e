//! Statements about hooks, calls without a result, and fields of records that say how the agent was set. They stand in the order of the
//! documents, like the cases beside them; they are apart because one log often proves several of them.

use crate::harness::{Case, asks, case, fails, prompt, says, with, words};
use crate::lifecycle::hook;
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    [hooks(), missing_results(), fields()].into_iter().flatten().collect()
}

fn read_log() -> Value {
    asks("t1", "Read", json!({"file_path": "/srv/app/src/gate.rs"}))
}

/// `lifecycle`: hooks.
fn hooks() -> Vec<Case> {
    let blocked = || {
        json!({"type": "attachment", "attachment": {"type": "hook_blocking_error", "hookName": "PreToolUse:Read",
        "hookEvent": "PreToolUse", "toolUseID": "t1", "blockingError": {"blockingError": "Gates stay shut at night", "command": "gate.sh"}}})
    };
    vec![
        case(
            "events of hooks are named in order, with their state",
            vec![read_log(), hook("t1", "PreToolUse", "gatekeeper"), hook("t1", "PostToolUse", "formatter")],
            &["call t1: PreToolUse", "call t1: PostToolUse", "call t1: started"],
        ),
        case(
            "the words of a hook that blocked stand in every output",
            vec![prompt("go"), read_log(), blocked()],
            &["show: Gates stay shut at night", "page: Gates stay shut at night", "md: Gates stay shut at night"],
        ),
        case(
            "so does its reason, where that is all there is",
            vec![prompt("go"), read_log(), {
                let mut line = hook("t1", "PreToolUse", "gate");
                line["data"]["decision"] = json!("block");
                line["data"]["reason"] = json!("Not before sunrise");
                line
            }],
            &["t1.status = blocked", "show: Not before sunrise", "page: Not before sunrise"],
        ),
    ]
}

/// `lifecycle`: missing results.
fn missing_results() -> Vec<Case> {
    let progress = |data: Value| json!({"type": "progress", "parentToolUseID": "t1", "toolUseID": "p1", "data": data});
    let shell = || asks("t1", "Bash", json!({"command": "sleep 900", "timeout": 5000}));
    let denied = json!({"type": "attachment", "attachment": {"type": "hook_permission_decision", "hookName": "PermissionRequest:Read",
        "hookEvent": "PermissionRequest", "toolUseID": "t1", "decision": "deny"}});
    vec![
        case(
            "a tool that ran longer than its limit timed out, by its progress",
            vec![
                prompt("go"),
                shell(),
                progress(json!({"type": "bash_progress", "output": "zzz",
            "fullOutput": "zzz", "elapsedTimeSeconds": 9, "totalLines": 1, "timeoutMs": 5000})),
            ],
            &["t1.status = timed_out", "t1.reason = timeout"],
        ),
        case(
            "what it printed until then is shown",
            vec![
                prompt("go"),
                shell(),
                progress(json!({"type": "bash_progress", "output": "half a dream",
            "fullOutput": "half a dream", "elapsedTimeSeconds": 1, "totalLines": 1, "timeoutMs": 5000})),
            ],
            &["show: half a dream"],
        ),
        case(
            "a server's tool that failed by its progress failed",
            vec![
                prompt("go"),
                asks("t1", "mcp__harbour__boats", json!({})),
                progress(json!({"type": "mcp_progress",
            "status": "failed", "serverName": "harbour", "toolName": "boats", "elapsedTimeMs": 70})),
            ],
            &["t1.status = failed", "t1.reason = mcp_error"],
        ),
        case(
            "a server that did not answer in time timed out",
            vec![asks("t1", "mcp__harbour__boats", json!({})), fails("t1", "MCP error -32001: Request timed out")],
            &["t1.status = timed_out"],
        ),
        case(
            "a permission that was denied leaves no result and is blocked",
            vec![prompt("go"), read_log(), denied],
            &["t1.status = blocked"],
        ),
    ]
}

/// `envelope`: fields that are shown where they matter.
fn fields() -> Vec<Case> {
    let message = |stop: &str| json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": "claude-opus-4-8", "stop_reason": stop, "content": [words("Half a sent")]}});
    vec![
        case("version: the agent's own", vec![with(prompt("go"), "version", json!("9.8.7"))], &["page: 9.8.7"]),
        case(
            "permission_mode: and its changes",
            vec![prompt("go"), json!({"type": "permission-mode", "permissionMode": "plan"}), says(&[words("gone")])],
            &["page: plan"],
        ),
        case("stop_reason: an answer that was cut", vec![prompt("go"), message("max_tokens")], &["show: max_tokens"]),
        case("stop_reason: a refusal", vec![prompt("go"), message("refusal")], &["show: refus"]),
        case(
            "requestId: the request of a message",
            vec![with(asks("t1", "Bash", json!({"command": "ls"})), "requestId", json!("req_77"))],
            &["call t1: req_77"],
        ),
        case(
            "server_tool_use: searches on the service's side",
            vec![json!({"type": "assistant", "requestId": "r1", "message": {"id": "m1", "role": "assistant", "content": [words("found")],
            "usage": {"input_tokens": 1, "output_tokens": 1, "server_tool_use": {"web_search_requests": 3}}}})],
            &["show: 3 web searches"],
        ),
    ]
}
