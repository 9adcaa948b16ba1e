//! The life of a call, from the request to what the model makes of the result. The document exists twice, as a page and as one line; both
//! say the same, so each case holds for both.

use crate::harness::{Case, answers, asks, bare, case, fails, pair, produces, prompt, returns, says, tool_result, tool_use, with, words};
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    [
        overview(),
        invocation(),
        tool_names(),
        asking_tools(),
        hooks(),
        results(),
        flags(),
        processing(),
        parallel(),
        codex(),
        codex_spellings(),
        pairing(),
        missing(),
        shells(),
        subagents(),
    ]
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
