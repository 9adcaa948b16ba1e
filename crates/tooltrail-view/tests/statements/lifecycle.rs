//! The life of a call, from the request to what the model makes of the result. The document exists twice, as a page and as one line; both
//! say the same, so each case holds for both.

use crate::harness::{Case, answers, asks, bare, case, fails, pair, prompt, returns, says, tool_result, tool_use, with, words};
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    [overview(), invocation(), tool_names(), asking_tools(), hooks(), hooks_shown(), results(), flags(), processing(), parallel()]
        .into_iter()
        .flatten()
        .collect()
}

/// A hook that a progress record reports.
pub(crate) fn hook(call: &str, event: &str, name: &str) -> Value {
    json!({"type": "progress", "data": {"type": "hook_progress", "hookEvent": event, "hookName": name, "status": "running"},
        "parentToolUseID": call, "toolUseID": call})
}

fn read_log() -> Value {
    asks("t1", "Read", json!({"file_path": "/srv/app/src/gate.rs"}))
}

/// The six steps.
fn overview() -> Vec<Case> {
    vec![
        case(
            "a message of the model requests a call",
            vec![prompt("go"), read_log()],
            &["rows = 1", "t1.request.line = 2", "t1.requested_at = 2026-03-04T10:00:02.000Z"],
        ),
        case(
            "hooks before and after a tool are optional: there are none",
            pair("Read", json!({"file_path": "/srv/app/a.rs"}), "1\tfn a() {}"),
            &["t1.hooks = []", "t1.status = succeeded"],
        ),
        case(
            "a hook before the tool belongs to the call",
            vec![read_log(), hook("t1", "PreToolUse", "gatekeeper"), answers("t1", "1\tx")],
            &["t1.hooks.0.event = PreToolUse", "t1.hooks.0.evidence.line = 2", "t1.status = succeeded"],
        ),
        case(
            "a tool that has not answered yet is at work",
            vec![prompt("go"), read_log()],
            &["t1.status = running", "t1.reason = awaiting_result", "show: No result yet"],
        )
        .live(),
        case(
            "a hook after the tool belongs to the call, behind the one before it",
            vec![read_log(), hook("t1", "PreToolUse", "gatekeeper"), hook("t1", "PostToolUse", "formatter"), answers("t1", "1\tx")],
            &["t1.hooks.0.event = PreToolUse", "t1.hooks.1.event = PostToolUse", "t1.hooks.1.name = formatter"],
        ),
        case(
            "the result stands in a user record",
            vec![read_log(), answers("t1", "1\tfn gate() {}")],
            &["t1.result.line = 2", "t1.completed_at = 2026-03-04T10:00:02.000Z", "t1.duration_ms = 1000", "session.turns = 0"],
        ),
        case(
            "the model goes on after the result",
            vec![prompt("go"), read_log(), answers("t1", "1\tx"), says(&[words("The gate is open.")])],
            &["show: The gate is open.", "t1.status = succeeded", "session.turns = 1"],
        ),
    ]
}

/// The request.
fn invocation() -> Vec<Case> {
    let example = json!({"type": "assistant", "message": {"role": "assistant", "content": [
        words("Let me open the gate's source."), tool_use("toolu_01Gate", "Read", json!({"file_path": "/src/gate/open.ts", "limit": 120}))],
        "stop_reason": null}, "uuid": "m-1"});
    vec![
        bare(
            "the example: words and a call, with a stop reason that is null and no session, time or message id",
            vec![example],
            &[
                "rows = 1",
                "toolu_01Gate.tool = Read",
                "toolu_01Gate.kind = read",
                "toolu_01Gate.requested_at = null",
                "toolu_01Gate.session = s1",
                "toolu_01Gate.status = unanswered",
                "toolu_01Gate.reason = log_ends",
                "show: Let me open the gate's source.",
                "show: open.ts",
                "check.unparsed = 0",
                "check.unknown_records = 0",
            ],
        ),
        case(
            "the type of a block tells a call from other blocks",
            vec![says(&[json!({"type": "tool_used", "id": "x", "name": "Read"})])],
            &["rows = 0"],
        ),
        case("the id is the call's own", vec![asks("toolu_01XyZ", "Bash", json!({"command": "ls"}))], &["#1.call = toolu_01XyZ"]),
        case("ids of another form are ids as well", pair("Bash", json!({"command": "ls"}), "a"), &["t1.status = succeeded"]),
        case(
            "a call needs an id; without one it is named after its line",
            vec![prompt("go"), says(&[json!({"type": "tool_use", "name": "Bash", "input": {"command": "ls"}})])],
            &["#1.call = line-2", "#1.tool = Bash"],
        ),
        case(
            "the name is the tool's, exactly as logged",
            vec![asks("t1", "NeverHeardOf", json!({"depth": 3}))],
            &["t1.tool = NeverHeardOf", "t1.kind = other", "show: NeverHeardOf"],
        ),
        case(
            "the input holds the parameters",
            vec![asks("t1", "NeverHeardOf", json!({"depth": 3, "mode": "slow"}))],
            &["t1.input_bytes = 25", "call t1: depth 3", "call t1: mode slow"],
        ),
        case(
            "an input may be empty",
            vec![asks("t1", "NeverHeardOf", json!({})), answers("t1", "done")],
            &["t1.status = succeeded", "t1.input_bytes = 2"],
        ),
    ]
}

/// The common tools, with the fields of their inputs.
fn tool_names() -> Vec<Case> {
    vec![
        case(
            "Read reads a file: path, offset, limit",
            pair("Read", json!({"file_path": "/srv/app/a.rs", "offset": 41, "limit": 1}), "41\tlet x = 1;"),
            &["t1.kind = read", "t1.about = a.rs", "call t1: 41 let x = 1;"],
        ),
        case(
            "Edit edits a file: path, old and new text",
            vec![
                asks("t1", "Edit", json!({"file_path": "/srv/app/a.rs", "old_string": "let age = 1;", "new_string": "let age = 2;"})),
                answers("t1", "ok"),
            ],
            &["t1.kind = edit", "t1.about = a.rs", "call t1: let age = 1;", "call t1: let age = 2;", "changes = /srv/app/a.rs"],
        ),
        case(
            "Write creates a file: path, content",
            vec![asks("t1", "Write", json!({"file_path": "/srv/app/new.rs", "content": "fn fresh() {}\n"})), answers("t1", "ok")],
            &["t1.kind = write", "t1.about = new.rs", "call t1: fn fresh() {}", "changes = /srv/app/new.rs"],
        ),
        case(
            "Bash runs a command: command, timeout",
            vec![asks("t1", "Bash", json!({"command": "make all", "timeout": 90000})), answers("t1", "built")],
            &["t1.kind = shell", "t1.about = make all", "call t1: make all", "call t1: timeout 1 m 30 s", "t1.purpose = build"],
        ),
        case(
            "Glob finds files: pattern, path",
            vec![asks("t1", "Glob", json!({"pattern": "**/*.rs", "path": "/srv/app/src"}))],
            &["t1.kind = search", "t1.about = **/*.rs in src"],
        ),
        case(
            "Grep searches content: pattern, path, type",
            vec![asks("t1", "Grep", json!({"pattern": "fn main", "path": "/srv/app/src", "type": "rust"}))],
            &["t1.kind = search", "call t1: fn main", "call t1: rust", "call t1: src"],
        ),
    ]
}

/// The common tools that ask somebody else.
fn asking_tools() -> Vec<Case> {
    let question = json!({"questions": [{"question": "Which shade?", "header": "Shade", "multiSelect": false,
        "options": [{"label": "Teal", "description": "calm"}, {"label": "Ochre", "description": "warm"}]}]});
    vec![
        case(
            "WebFetch fetches a page: address, prompt",
            vec![asks("t1", "WebFetch", json!({"url": "https://example.org/tides", "prompt": "When is high tide?"}))],
            &["t1.kind = web_fetch", "t1.about = https://example.org/tides", "call t1: When is high tide?"],
        ),
        case(
            "WebSearch searches the web: query",
            vec![asks("t1", "WebSearch", json!({"query": "tide tables"}))],
            &["t1.kind = web_search", "call t1: tide tables"],
        ),
        case(
            "Task starts a subagent: prompt, type",
            vec![asks("t1", "Task", json!({"prompt": "Count the boats.", "subagent_type": "Explore"})), answers("t1", "Nine.")],
            &["t1.kind = subagent", "call t1: Count the boats.", "call t1: Explore", "call t1: Nine."],
        ),
        case(
            "AskUserQuestion asks the person: questions",
            vec![asks("t1", "AskUserQuestion", question)],
            &["t1.kind = question", "call t1: Which shade?", "call t1: Ochre"],
        ),
    ]
}

/// Hooks: their input, their progress, their decision.
fn hooks() -> Vec<Case> {
    let stdin = |event: &str| {
        json!({"session_id": "elsewhere", "transcript_path": "/home/ada/.logs/elsewhere.jsonl", "cwd": "/srv/other",
            "permission_mode": "default", "hook_event_name": event, "tool_name": "Read", "tool_input": {"file_path": "/srv/app/a.rs"}})
    };
    let decision = json!({"decision": "allow", "reason": "Reading is fine", "additionalContext": "Touched an hour ago"});
    vec![
        bare(
            "what a hook reads is no record of the conversation, and opens no other session",
            {
                let mut lines = vec![with(prompt("go"), "sessionId", json!("s1")), with(read_log(), "sessionId", json!("s1"))];
                lines.push(stdin("PreToolUse"));
                lines.push(with(answers("t1", "1\tx"), "sessionId", json!("s1")));
                lines
            },
            &["sessions = 1", "session.session = s1", "rows = 1", "t1.session = s1", "check.unknown_records = 1", "check.lines = 4"],
        ),
        bare(
            "nor does it change the session of the records behind it, which name none",
            vec![prompt("go"), read_log(), stdin("PreToolUse"), answers("t1", "1\tx"), stdin("PostToolUse"), prompt("on")],
            &["sessions = 1", "session.session = s1", "t1.status = succeeded", "t1.cwd = null", "session.project = null"],
        ),
        bare(
            "nor where it is the first line",
            vec![stdin("SessionStart"), prompt("go"), read_log(), answers("t1", "1\tx")],
            &["sessions = 1", "session.session = s1", "t1.session = s1"],
        ),
        case(
            "a hook's progress names event and hook, and its call twice",
            vec![read_log(), hook("t1", "PreToolUse", "security_gate")],
            &[
                "t1.hooks.0.event = PreToolUse",
                "t1.hooks.0.name = security_gate",
                "t1.hooks.0.outcome = unknown",
                "check.unknown_records = 0",
            ],
        ),
        case(
            "one of the two ids is enough",
            vec![read_log(), {
                let mut line = hook("t1", "PreToolUse", "security_gate");
                line.as_object_mut().unwrap().remove("parentToolUseID");
                line
            }],
            &["t1.hooks.0.name = security_gate"],
        ),
        case(
            "a decision in the progress of a hook is kept, with its words",
            vec![
                read_log(),
                {
                    let mut line = hook("t1", "PreToolUse", "gate");
                    for (key, value) in decision.as_object().unwrap() {
                        line["data"][key] = value.clone();
                    }
                    line
                },
                answers("t1", "1\tx"),
            ],
            &["t1.hooks.0.outcome = ok", "call t1: Reading is fine", "call t1: Touched an hour ago"],
        ),
        case(
            "a decision that a hook printed is kept, with its words",
            vec![
                read_log(),
                json!({"type": "attachment", "attachment":
            {"type": "hook_success", "hookName": "PreToolUse:Read", "hookEvent": "PreToolUse", "toolUseID": "t1", "command": "gate.sh",
                "exitCode": 0, "durationMs": 12, "stdout": decision.to_string(), "stderr": "", "content": ""}}),
                answers("t1", "1\tx"),
            ],
            &["t1.hooks.0.outcome = ok", "t1.hooks.0.command = gate.sh", "t1.status = succeeded", "call t1: Reading is fine"],
        ),
        bare(
            "a decision that stands in the log alone is kept as an unknown record",
            vec![prompt("go"), decision.clone()],
            &["check.unknown_records = 1", "sessions = 1"],
        ),
    ]
}

/// What outputs show of hooks.
fn hooks_shown() -> Vec<Case> {
    let blocked = || {
        json!({"type": "attachment", "attachment": {"type": "hook_blocking_error", "hookName": "PreToolUse:Read",
        "hookEvent": "PreToolUse", "toolUseID": "t1", "blockingError": {"blockingError": "Gates stay shut at night", "command": "gate.sh"}}})
    };
    vec![
        case(
            "permission_mode: and its changes",
            vec![prompt("go"), json!({"type": "permission-mode", "permissionMode": "plan"}), says(&[words("gone")])],
            &["page: plan"],
        ),
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

/// The result.
fn results() -> Vec<Case> {
    let example = json!({"type": "user", "message": {"role": "user", "content": [tool_result("t1",
        "1\texport function open(key: string) {\n2\t  return keys.has(key);\n...")]}, "uuid": "m-2", "parentUuid": "m-1"});
    vec![
        bare(
            "the example: numbered lines of a file, in a record that follows the request's",
            vec![with(read_log(), "uuid", json!("m-1")), example],
            &[
                "t1.status = succeeded",
                "t1.result.line = 2",
                "t1.is_error = false",
                "show: export function open(key: string) {",
                "show: return keys.has(key);",
                "check.paired = 1",
                "check.orphan_results = 0",
            ],
        ),
        case(
            "the type of a block tells a result from other blocks",
            vec![read_log(), returns(&[json!({"type": "tool_response", "tool_use_id": "t1", "content": "x"})])],
            &["t1.status = unanswered", "check.paired = 0"],
        ),
        case(
            "the id of a result is its call's",
            vec![read_log(), answers("t2", "1\tx")],
            &["t1.status = unanswered", "check.orphan_results = 1"],
        ),
        case(
            "the content is the tool's output",
            vec![asks("t1", "NeverHeardOf", json!({})), answers("t1", "forty-two boats")],
            &["call t1: forty-two boats", "t1.result_bytes = 17"],
        ),
        case(
            "a result with an error flag failed",
            vec![read_log(), fails("t1", "Error: File not found: /srv/app/src/gate.rs")],
            &["t1.status = failed", "t1.is_error = true", "show: File not found: /srv/app/src/gate.rs"],
        ),
        bare(
            "the example of an error, in a log without times",
            vec![read_log(), fails("t1", "Error: File not found: /src/gate.ts")],
            &["t1.status = failed", "t1.duration_ms = null", "page: File not found: /src/gate.ts", "md: File not found: /src/gate.ts"],
        ),
    ]
}

/// The error flag in every spelling.
fn flags() -> Vec<Case> {
    let flagged = |flag: Value| {
        let mut block = tool_result("t1", "nothing there");
        block["is_error"] = flag;
        vec![asks("t1", "Bash", json!({"command": "cat a"})), returns(&[block])]
    };
    vec![
        case("the flag is optional, and missing means no error", flagged(Value::Null), &["t1.status = succeeded", "t1.is_error = false"]),
        case("the flag may be false", flagged(json!(false)), &["t1.status = succeeded", "t1.is_error = false"]),
        case("the flag may be true", flagged(json!(true)), &["t1.status = failed", "t1.is_error = true"]),
        case("the flag may be 1", flagged(json!(1)), &["t1.status = failed", "t1.is_error = true"]),
        case("the flag may be 0", flagged(json!(0)), &["t1.status = succeeded", "t1.is_error = false"]),
        case("the flag may be a text that says true", flagged(json!("true")), &["t1.status = failed", "t1.is_error = true"]),
        case("whatever its case", flagged(json!("True")), &["t1.status = failed", "t1.is_error = true"]),
        case("the flag may be a text that says false", flagged(json!("false")), &["t1.status = succeeded", "t1.is_error = false"]),
    ]
}

/// What the model makes of a result.
fn processing() -> Vec<Case> {
    let example = json!({"type": "assistant", "message": {"content": [
        {"type": "thinking", "thinking": "The gate works. Is the bridge next?"}, words("The gate is fine. Now the bridge."),
        tool_use("t2", "Read", json!({"file_path": "/srv/app/src/bridge.rs"}))]}, "uuid": "m-3", "parentUuid": "m-2"});
    vec![
        bare(
            "the example: thoughts, words and the next call, all in one message without a role",
            vec![
                with(read_log(), "uuid", json!("m-1")),
                with(with(answers("t1", "1\tx"), "uuid", json!("m-2")), "parentUuid", json!("m-1")),
                example,
            ],
            &[
                "rows = 2",
                "t1.status = succeeded",
                "t2.status = unanswered",
                "t2.request.line = 3",
                "show: Is the bridge next?",
                "show: Now the bridge.",
            ],
        ),
        case(
            "a message of the model after a call without a result means that there will be none",
            vec![read_log(), says(&[words("Never mind.")])],
            &["t1.status = unanswered", "t1.reason = conversation_moved_on", "t1.evidence.line = 2"],
        ),
    ]
}

/// Several calls at once.
fn parallel() -> Vec<Case> {
    let three = || {
        json!({"type": "assistant", "message": {"content": [tool_use("a", "Grep", json!({"pattern": "TODO"})),
            tool_use("b", "Grep", json!({"pattern": "HACK"})), tool_use("c", "Glob", json!({"pattern": "**/*.spec.ts"}))]}})
    };
    let results = || {
        json!({"type": "user", "message": {"content": [tool_result("a", "Found 15 TODOs"), tool_result("b", "Found 3 HACKs"),
            tool_result("c", "spec/gate.spec.ts\nspec/bridge.spec.ts")]}})
    };
    vec![
        bare(
            "several calls of one message are parallel, without ids of messages or records",
            vec![three()],
            &["rows = 3", "a.parallel = 3", "c.parallel = 3", "a.message = null"],
        ),
        bare("they stand in one bracket", vec![three(), results()], &["show: ┌ ", "show: └ ", "page: 3 in parallel"]),
        case("so do they with ids of records", vec![three(), results()], &["a.parallel = 3", "show: ┌ ", "show: └ "]),
        case(
            "calls of two messages do not",
            vec![asks("a", "Bash", json!({"command": "ls"})), asks("b", "Bash", json!({"command": "pwd"}))],
            &["a.parallel = 1", "no show: ┌ "],
        ),
        bare(
            "their results come in one record",
            vec![three(), results()],
            &[
                "a.status = succeeded",
                "b.status = succeeded",
                "c.status = succeeded",
                "a.result.line = 2",
                "c.result.line = 2",
                "check.paired = 3",
            ],
        ),
        bare(
            "a sentence about what was found is a text, and no file of that name",
            vec![three(), results()],
            &["call a: Found 15 TODOs", "no call a: 1 file", "call b: Found 3 HACKs", "no call b: 1 file"],
        ),
        bare("names of files are files", vec![three(), results()], &["call c: gate.spec.ts", "call c: 2 files"]),
    ]
}
