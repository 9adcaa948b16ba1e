//! The second half of the same document: the other agent's items, pairing, calls without a result, and the formats of single tools.

use crate::harness::{Case, answers, asks, bare, case, fails, pair, produces, prompt, returns, says, tool_result, tool_use, with, words};
use crate::lifecycle::hook;
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    [codex(), codex_spellings(), pairing(), missing(), missing_with_proof(), shells(), subagents(), named_beside()]
        .into_iter()
        .flatten()
        .collect()
}

fn read_log() -> Value {
    asks("t1", "Read", json!({"file_path": "/srv/app/src/gate.rs"}))
}

/// A record of Codex.
fn item(payload: Value) -> Value {
    json!({"type": "response_item", "payload": payload})
}

/// A call of Codex, with its arguments in a text.
fn function(id: &str, name: &str, arguments: Value) -> Value {
    item(json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string()}))
}

/// Its result.
fn function_result(id: &str, result: impl Into<Value>) -> Value {
    item(json!({"type": "function_call_result", "call_id": id, "result": result.into()}))
}

/// The items of Codex.
fn codex() -> Vec<Case> {
    let read = || function("c1", "Read", json!({"file_path": "/src/gate/open.ts"}));
    vec![
        bare(
            "the example of a call is a call of Codex",
            vec![read()],
            &["rows = 1", "c1.agent = codex", "c1.tool = Read", "c1.kind = read", "c1.status = unanswered", "c1.about = /src/gate/open.ts"],
        ),
        bare("arguments are JSON in a text", vec![function("c1", "shell", json!({"command": ["ls", "-l"]}))], &["c1.about = ls -l"]),
        bare(
            "the example of a result is paired by the id of the call",
            vec![read(), function_result("c1", "export const gate = 1;")],
            &[
                "c1.status = answered",
                "c1.result.line = 2",
                "check.paired = 1",
                "check.unknown_records = 0",
                "call c1: export const gate = 1;",
            ],
        ),
        bare(
            "what a hook reads opens no other session here either",
            vec![
                read(),
                json!({"session_id": "elsewhere", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}}),
                function_result("c1", "x"),
            ],
            &["sessions = 1", "session.session = s1", "c1.session = s1", "c1.status = answered"],
        ),
        bare(
            "a result of another call is not",
            vec![read(), function_result("c2", "x")],
            &["c1.status = unanswered", "check.orphan_results = 1"],
        ),
    ]
}

/// Tools of Codex in the spelling of the other agent.
fn codex_spellings() -> Vec<Case> {
    let pair = |name: &str, input: Value, result: &str| vec![function("c1", name, input), function_result("c1", result)];
    vec![
        bare(
            "Read, of several lines",
            pair("Read", json!({"file_path": "/srv/a.rs", "limit": 2}), "fn a() {\n}"),
            &["c1.kind = read", "call c1: fn a() {", "no call c1: other fields"],
        ),
        bare(
            "Edit",
            pair("Edit", json!({"file_path": "/srv/a.rs", "old_string": "one", "new_string": "two"}), "done"),
            &["c1.kind = edit", "call c1: - one", "call c1: + two", "no call c1: other fields"],
        ),
        bare(
            "Write",
            pair("Write", json!({"file_path": "/srv/a.rs", "content": "fn a() {}\n"}), "done"),
            &["c1.kind = write", "c1.about = /srv/a.rs", "call c1: fn a() {}"],
        ),
        bare(
            "Bash",
            pair("Bash", json!({"command": "cargo test", "timeout": 60000, "description": "Run them"}), "3 passed"),
            &[
                "c1.kind = shell",
                "c1.about = cargo test",
                "c1.purpose = test",
                "call c1: $ cargo test",
                "call c1: 3 passed",
                "call c1: description Run them",
            ],
        ),
        bare(
            "Grep",
            pair("Grep", json!({"pattern": "gate", "path": "src"}), "src/a.rs\nsrc/b.rs"),
            &["c1.kind = search", "call c1: 2 files"],
        ),
        bare("Glob", pair("Glob", json!({"pattern": "*.rs"}), "a.rs\nb.rs"), &["c1.kind = search", "call c1: 2 files", "c1.about = *.rs"]),
        bare(
            "WebFetch",
            pair("WebFetch", json!({"url": "https://example.org/", "prompt": "What?"}), "That."),
            &["c1.kind = web_fetch", "call c1: That."],
        ),
        bare("WebSearch", pair("WebSearch", json!({"query": "tides"}), "Twice a day."), &["c1.kind = web_search", "call c1: Twice a day."]),
        bare(
            "Task",
            pair("Task", json!({"prompt": "Count.", "subagent_type": "Explore"}), "Nine."),
            &["c1.kind = subagent", "call c1: Count.", "call c1: Nine."],
        ),
    ]
}

/// Pairing.
fn pairing() -> Vec<Case> {
    vec![
        case(
            "calls are found in messages of the model, and only there",
            vec![json!({"type": "user", "message": {"role": "user", "content": [tool_use("t1", "Bash", json!({"command": "ls"}))]}})],
            &["rows = 0"],
        ),
        case(
            "results are matched by id in later records",
            vec![
                asks("t1", "Bash", json!({"command": "one"})),
                asks("t2", "Bash", json!({"command": "two"})),
                answers("t2", "second"),
                answers("t1", "first"),
            ],
            &["t1.result.line = 4", "t2.result.line = 3", "call t1: first", "call t2: second"],
        ),
        case(
            "several calls may have several results",
            vec![
                says(&[tool_use("t1", "Bash", json!({"command": "one"})), tool_use("t2", "Bash", json!({"command": "two"}))]),
                returns(&[tool_result("t2", "second"), tool_result("t1", "first")]),
            ],
            &["call t1: first", "call t2: second", "t1.parallel = 2"],
        ),
        case(
            "the content of a message of the person may be one text",
            vec![prompt("just words")],
            &["rows = 0", "session.turns = 1", "show: just words"],
        ),
        case(
            "the time of a call is its record's",
            vec![prompt("go"), with(asks("t1", "Bash", json!({"command": "ls"})), "timestamp", json!("2026-03-04T11:22:33.444Z"))],
            &["t1.requested_at = 2026-03-04T11:22:33.444Z"],
        ),
        case(
            "a result of a call that is not there is kept and reported",
            vec![prompt("go"), answers("t9", "lost words")],
            &["rows = 0", "check.orphan_results = 1", "check.issues.0.code = orphan_result", "check.issues.0.call = t9"],
        ),
        case(
            "a result before its call is its result all the same",
            vec![answers("t1", "early"), asks("t1", "Bash", json!({"command": "ls"}))],
            &["t1.status = succeeded", "check.orphan_results = 0"],
        ),
    ]
}

/// Calls without a result.
fn missing() -> Vec<Case> {
    let interrupted = returns(&[words("[Request interrupted by user for tool use]")]);
    let blocked = json!({"type": "attachment", "attachment": {"type": "hook_blocking_error", "hookName": "PreToolUse:Read",
        "hookEvent": "PreToolUse", "toolUseID": "t1", "blockingError": {"blockingError": "Gates stay shut", "command": "gate.sh"}}});
    vec![
        case(
            "a session that was closed leaves a call without a result",
            vec![prompt("go"), read_log()],
            &[
                "t1.status = unanswered",
                "t1.reason = log_ends",
                "t1.result = null",
                "t1.is_error = null",
                "show: The log ends before the result",
                "check.unanswered = 1",
            ],
        ),
        case(
            "a person who stops the tool leaves none",
            vec![prompt("go"), read_log(), interrupted],
            &["t1.status = interrupted", "t1.reason = user"],
        ),
        case(
            "a tool that ran out of time says so in its result",
            vec![asks("t1", "Bash", json!({"command": "sleep 900", "timeout": 1000})), fails("t1", "Command timed out after 1s")],
            &["t1.status = timed_out", "t1.reason = timeout"],
        ),
        case(
            "a hook that blocks leaves none",
            vec![prompt("go"), read_log(), blocked],
            &["t1.status = blocked", "t1.reason = hook", "t1.evidence.line = 3"],
        ),
        case(
            "a hook that blocks by its decision leaves none",
            vec![prompt("go"), read_log(), {
                let mut line = hook("t1", "PreToolUse", "gate");
                line["data"]["decision"] = json!("block");
                line
            }],
            &["t1.status = blocked", "t1.reason = hook"],
        ),
        case(
            "a person who denies permission says so in the result",
            vec![prompt("go"), read_log(), fails("t1", "The user doesn't want to proceed with this tool use. The tool use was rejected.")],
            &["t1.status = rejected", "t1.reason = user"],
        ),
        case(
            "a call is complete only with its result",
            vec![
                prompt("go"),
                says(&[tool_use("t1", "Bash", json!({"command": "a"})), tool_use("t2", "Bash", json!({"command": "b"}))]),
                answers("t1", "done"),
            ],
            &["t1.status = succeeded", "t2.status = unanswered"],
        ),
    ]
}

/// What progress and hooks prove about a call without a result.
fn missing_with_proof() -> Vec<Case> {
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

/// The shell.
fn shells() -> Vec<Case> {
    let request = || {
        says(&[json!({"type": "tool_use", "name": "Bash", "input": {"command": "npm test -- --watch", "timeout": 120000,
        "description": "Watch the tests"}})])
    };
    let printed = |text: &str| returns(&[json!({"type": "tool_result", "content": text})]);
    let with_id = |text: &str| pair("Bash", json!({"command": "npm test"}), text);
    vec![
        case(
            "the example has no id and is a call",
            vec![request()],
            &[
                "#1.kind = shell",
                "#1.about = npm test -- --watch",
                "#1.purpose = test",
                "call #1: description Watch the tests",
                "call #1: timeout 2 m 00 s",
            ],
        ),
        case(
            "its result has none either; one call and one result are a pair",
            vec![request(), printed("ok gate.test.ts\n\nCovered: 85%\n\n[Exit code: 0]")],
            &[
                "#1.status = succeeded",
                "#1.exit_code = 0",
                "#1.result.line = 2",
                "check.paired = 1",
                "check.orphan_results = 0",
                "call #1: Covered: 85%",
            ],
        ),
        case(
            "two calls and one result without ids are not",
            vec![request(), request(), printed("ok")],
            &["check.paired = 0", "check.orphan_results = 1"],
        ),
        case(
            "one call and two results without ids are not",
            vec![request(), printed("ok"), printed("ok")],
            &["check.paired = 0", "check.orphan_results = 2"],
        ),
        case(
            "a result without an id is not that of a call with one",
            vec![asks("t1", "Bash", json!({"command": "ls"})), printed("ok")],
            &["t1.status = unanswered", "check.orphan_results = 1"],
        ),
        case(
            "an exit code at the end of the text is the command's",
            with_id("all good\n\n[Exit code: 0]"),
            &["t1.exit_code = 0", "t1.status = succeeded"],
        ),
        case(
            "a code other than 0 is a failure, without an error flag too",
            with_id("1 failed\n\n[Exit code: 1]"),
            &["t1.exit_code = 1", "t1.status = failed", "t1.reason = exit_code", "call t1: 1 failed"],
        ),
        case(
            "a code of 0 is no failure of the command that an error flag reports",
            vec![asks("t1", "Bash", json!({"command": "ls"})), fails("t1", "odd\n[Exit code: 0]")],
            &["t1.status = failed", "t1.reason = tool_error", "t1.exit_code = null"],
        ),
        case(
            "such words of another tool are text",
            pair("Read", json!({"file_path": "/srv/app/log.txt"}), "1\tit ends so:\n2\t[Exit code: 1]"),
            &["t1.status = succeeded", "t1.exit_code = null"],
        ),
    ]
}

/// Subagents.
fn subagents() -> Vec<Case> {
    let request = || {
        says(&[json!({"type": "tool_use", "name": "Task", "input": {"description": "Count boats",
        "prompt": "Walk the harbour and count.", "subagent_type": "Explore"}})])
    };
    let printed = || returns(&[json!({"type": "tool_result", "content": "## Count\n\n1. Nine boats\n\nagentId: agent-b0a7"})]);
    vec![
        case(
            "the example has no id and is a call",
            vec![request()],
            &["#1.kind = subagent", "call #1: Count boats", "call #1: Walk the harbour"],
        ),
        case(
            "the result is the agent's answer, and its id is no part of it",
            vec![request(), printed()],
            &["#1.status = succeeded", "call #1: Nine boats", "call #1: id b0a7", "no call #1: agentId: agent-b0a7"],
        ),
        case(
            "the id leads to the agent's own log",
            vec![asks("t1", "Task", json!({"prompt": "Count."})), answers("t1", "Nine.\n\nagentId: agent-b0a7")],
            &["t1.child_session = b0a7", "t2.parent_call = t1", "t2.agent_id = b0a7", "session.calls = 2"],
        )
        .file(
            "s1/subagents/agent-b0a7.jsonl",
            vec![json!({"type": "assistant", "uuid": "x1", "sessionId": "s1", "agentId": "b0a7",
            "isSidechain": true, "timestamp": "2026-03-04T10:00:01.500Z", "message": {"role": "assistant", "content": [
                tool_use("t2", "Bash", json!({"command": "ls boats"}))]}})],
        ),
        case(
            "an agent that answered with a structured result as well is shown once",
            vec![
                asks("t1", "Task", json!({"prompt": "Count."})),
                produces(
                    "t1",
                    "Nine boats.",
                    json!({"status": "completed", "agentId": "b0a7", "content": [{"type": "text", "text": "Nine boats."}]}),
                ),
            ],
            &["call t1: Nine boats.", "t1.child_session = b0a7"],
        ),
    ]
}

/// What the one-line form of the document names behind its text: records of the program, hooks of subagents, teams.
fn named_beside() -> Vec<Case> {
    vec![
        case(
            "records of the program, summaries and snapshots of files are known",
            vec![
                prompt("go"),
                json!({"type": "system", "subtype": "informational", "content": "Tide turns at noon"}),
                json!({"type": "summary", "summary": "Boats", "leafUuid": "n1"}),
                json!({"type": "file-history-snapshot", "messageId": "n1", "isSnapshotUpdate": false, "snapshot": {"messageId": "n1",
                    "trackedFileBackups": {}, "timestamp": "2026-03-04T10:00:00.000Z"}}),
            ],
            &["check.unknown_records = 0", "check.records.system = 1", "check.records.file-history-snapshot = 1", "session.title = Boats"],
        ),
        case(
            "hooks at the start and the end of a subagent belong to its call",
            vec![
                asks("t1", "Task", json!({"prompt": "Count."})),
                hook("t1", "SubagentStart", "scout"),
                hook("t1", "SubagentStop", "scout"),
                answers("t1", "Nine."),
            ],
            &["t1.hooks.0.event = SubagentStart", "t1.hooks.1.event = SubagentStop", "t1.status = succeeded"],
        ),
        case(
            "teams and their messages are calls",
            vec![
                asks("t1", "TeamCreate", json!({"team_name": "crew"})),
                answers("t1", "made"),
                asks("t2", "SendMessage", json!({"to": "mate", "message": "row"})),
                answers("t2", "sent"),
            ],
            &["t1.kind = subagent", "t1.about = create team crew", "t2.kind = subagent", "t2.about = to mate: row"],
        ),
    ]
}
