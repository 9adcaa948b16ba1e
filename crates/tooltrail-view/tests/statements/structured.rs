//! Results twice: what the model saw, and `toolUseResult`, the structured companion of tools of every kind.

use crate::harness::{
    Case, answers, asks, bare, broke, case, fails, made, pair, produces, prompt, returns, says, tool_result, tool_use, with,
};
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    [
        lifecycle(),
        linking(),
        general(),
        bash(),
        bash_codes(),
        read(),
        write(),
        edit(),
        todos(),
        task(),
        task_output(),
        glob(),
        grep(),
        web_search(),
        web_fetch(),
        mcp(),
        hunks(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// One pixel.
pub(crate) const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn shell(result: &str, produced: Value) -> Vec<Value> {
    made("Bash", json!({"command": "make boat"}), result, produced)
}

fn lifecycle() -> Vec<Case> {
    let request =
        json!({"type": "assistant", "message": {"role": "assistant", "content": [tool_use("t1", "Bash", json!({"command": "ls"}))]}});
    let mut block = tool_result("t1", "…");
    block["is_error"] = json!(false);
    let result = json!({"type": "user", "message": {"role": "user", "content": [block]}});
    vec![
        bare("the example of a request", vec![request.clone()], &["t1.tool = Bash", "t1.about = ls", "t1.status = unanswered"]),
        bare(
            "a record may hold several requests",
            vec![says(&[tool_use("t1", "Bash", json!({})), tool_use("t2", "Read", json!({}))])],
            &["rows = 2", "t2.parallel = 2"],
        ),
        bare("the example of a result", vec![request, result], &["t1.status = succeeded", "t1.is_error = false", "call t1: …"]),
        case(
            "the structured companion has what the text lacks: exit codes",
            shell("built", json!({"stdout": "built", "stderr": "", "exitCode": 0})),
            &["t1.exit_code = 0", "t1.status = succeeded"],
        ),
        case(
            "names of files",
            made(
                "Glob",
                json!({"pattern": "*"}),
                "Two of them",
                json!({"filenames": ["/srv/app/one.rs", "/srv/app/two.rs"], "numFiles": 2}),
            ),
            &["call t1: one.rs", "call t1: two.rs"],
        ),
        case(
            "hunks of a patch",
            made(
                "Edit",
                json!({"file_path": "/srv/app/a.rs", "old_string": "b", "new_string": "c"}),
                "updated",
                json!({
            "filePath": "/srv/app/a.rs", "structuredPatch": [{"oldStart": 71, "oldLines": 1, "newStart": 71, "newLines": 1, "lines": ["-b", "+c"]}]}),
            ),
            &["call t1: 71"],
        ),
        case(
            "the text need not be parsed: both are kept, and shown where they differ",
            shell(
                "short",
                json!({"stdout":
            "first line of the long output that only the program saw\nsecond line of it, of which the model saw nothing at all\n", "stderr": ""}),
            ),
            &["call t1: second line of it", "call t1: what the model saw", "call t1: short", "model saw t1 = Differs"],
        ),
    ]
}

fn linking() -> Vec<Case> {
    vec![
        case(
            "the id of a request is unique; used again, it is another call",
            vec![
                asks("t1", "Bash", json!({"command": "one"})),
                answers("t1", "1"),
                asks("t1", "Read", json!({"file_path": "/srv/app/b"})),
                answers("t1", "1\t2"),
            ],
            &["rows = 2", "check.issues.0.code = reused_id"],
        ),
        case(
            "a result refers to the request's id",
            pair("Bash", json!({"command": "ls"}), "a"),
            &["t1.status = succeeded", "check.paired = 1"],
        ),
        case(
            "by the id, the result gets its tool",
            vec![
                asks("t1", "Read", json!({"file_path": "/srv/app/a.rs"})),
                asks("t2", "Bash", json!({"command": "ls"})),
                returns(&[tool_result("t2", "a.rs"), tool_result("t1", "1\tfn a() {}")]),
            ],
            &["t1.kind = read", "call t1: fn a() {}", "call t2: $ ls"],
        ),
        case(
            "a result whose request is in no record has no tool",
            vec![prompt("go"), answers("gone", "x")],
            &["rows = 0", "check.orphan_results = 1"],
        ),
    ]
}

fn general() -> Vec<Case> {
    vec![
        case(
            "it may be an object",
            shell("x", json!({"stdout": "only the object has this", "stderr": ""})),
            &["call t1: only the object has this"],
        ),
        case(
            "it may be a list",
            made("mcp__harbour__boats", json!({}), "", json!([{"type": "text", "text": "nine boats"}])),
            &["call t1: nine boats"],
        ),
        case(
            "it may be a text",
            broke("Bash", json!({"command": "x"}), "Exit code 3\nno boat", json!("Error: Exit code 3\nno boat")),
            &["t1.exit_code = 3", "call t1: no boat"],
        ),
        case(
            "it may be null",
            made("Bash", json!({"command": "ls"}), "a.rs", Value::Null),
            &["t1.status = succeeded", "call t1: a.rs", "model saw t1 = OnlySeen"],
        ),
        case(
            "it may be missing",
            pair("Bash", json!({"command": "ls"}), "a.rs"),
            &["t1.status = succeeded", "call t1: a.rs", "model saw t1 = OnlySeen"],
        ),
        case(
            "some have a type",
            made(
                "Read",
                json!({"file_path": "/srv/app/a"}),
                "1\tx",
                json!({"type": "text", "file": {"filePath": "/srv/app/a",
            "content": "typed", "numLines": 1, "startLine": 1, "totalLines": 1}}),
            ),
            &["call t1: typed"],
        ),
        case("others have none", shell("bare", json!({"stdout": "bare", "stderr": ""})), &["call t1: bare"]),
        case(
            "a text that begins with Error: is a failure, without a flag",
            made("Write", json!({"file_path": "/srv/app/a.rs", "content": "fn a() {}"}), "no room left", json!("Error: no room left")),
            &["t1.status = failed", "t1.reason = tool_error", "t1.is_error = false", "changes =", "call t1: no room left"],
        ),
        case(
            "of every tool",
            made("mcp__harbour__boats", json!({}), "", json!("Error: the harbour is closed")),
            &["t1.status = failed", "t1.reason = mcp_error", "call t1: the harbour is closed"],
        ),
        case(
            "it says which failure",
            made(
                "Edit",
                json!({"file_path": "/srv/app/a.rs", "old_string": "a", "new_string": "b"}),
                "",
                json!("Error: File has not been read yet. Read it first before writing to it."),
            ),
            &["t1.status = failed", "t1.reason = precondition", "changes ="],
        ),
        case(
            "other texts are no failures",
            made("mcp__harbour__boats", json!({}), "", json!("Errors: none")),
            &["t1.status = succeeded", "call t1: Errors: none"],
        ),
        case(
            "nor is such a text that only the model saw",
            pair("Bash", json!({"command": "cat log"}), "Error: was fixed"),
            &["t1.status = succeeded"],
        ),
    ]
}

fn bash() -> Vec<Case> {
    let result = |stdout: &str, stderr: &str| json!({"stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false});
    vec![
        case(
            "the most common shape",
            shell("built\nwarned", result("built", "warned")),
            &["t1.status = succeeded", "call t1: built", "call t1: stderr", "call t1: warned"],
        ),
        case("stdout may be empty", shell("", result("", "")), &["t1.status = succeeded", "call t1: no output"]),
        case(
            "interrupted means that it was stopped",
            shell("half", json!({"stdout": "half", "stderr": "", "interrupted": true, "isImage": false})),
            &["t1.status = interrupted", "call t1: half"],
        ),
        case(
            "isImage means that it printed a picture",
            shell(
                "",
                json!({"stdout": format!("data:image/png;base64,{PIXEL}"), "stderr": "",
            "interrupted": false, "isImage": true}),
            ),
            &["call t1: image/png", "no call t1: iVBORw0KGgo", "page: <img"],
        ),
        case(
            "a remark on the exit code is shown",
            shell(
                "",
                json!({"stdout": "", "stderr": "", "interrupted": false,
            "returnCodeInterpretation": "Some harbours could not be entered"}),
            ),
            &["t1.status = succeeded", "call t1: Some harbours could not be entered"],
        ),
        case(
            "a task in the background is named, and has a state of its own",
            shell(
                "Command running in background with ID: b7",
                json!({"stdout": "", "stderr": "",
            "interrupted": false, "backgroundTaskId": "b7"}),
            ),
            &["t1.status = succeeded", "t1.background.id = b7", "t1.background.state = unknown", "call t1: b7"],
        ),
        case(
            "an error may be a text with the exit code, beside a flag",
            broke("Bash", json!({"command": "make boat"}), "Exit code 1\nno wood", json!("Error: Exit code 1\nno wood")),
            &["t1.status = failed", "t1.reason = exit_code", "t1.exit_code = 1", "call t1: no wood"],
        ),
        case(
            "or without one",
            made("Bash", json!({"command": "make boat"}), "no wood", json!("Error: Exit code 1\nno wood")),
            &["t1.status = failed", "t1.reason = exit_code", "t1.exit_code = 1", "call t1: no wood"],
        ),
        case(
            "the flag alone is enough",
            vec![asks("t1", "Bash", json!({"command": "make boat"})), fails("t1", "no wood")],
            &["t1.status = failed", "t1.reason = tool_error", "t1.exit_code = null"],
        ),
    ]
}

/// Exit codes and status agree.
fn bash_codes() -> Vec<Case> {
    let coded = |code: i64| json!({"stdout": "out", "stderr": "", "interrupted": false, "exitCode": code});
    vec![
        case(
            "an exit code in the result that is not 0 is a failure",
            shell("out", coded(2)),
            &["t1.status = failed", "t1.reason = exit_code", "t1.exit_code = 2", "call t1: out"],
        ),
        case(
            "unless a remark says that it is none",
            shell("out", with(coded(1), "returnCodeInterpretation", json!("No matches found"))),
            &["t1.status = succeeded", "t1.exit_code = 1", "call t1: No matches found"],
        ),
        case(
            "so with the code in the text",
            shell("out\n[Exit code: 1]", json!({"stdout": "out", "stderr": "", "returnCodeInterpretation": "No matches found"})),
            &["t1.status = succeeded", "t1.exit_code = 1"],
        ),
        case(
            "a flag beside a remark is still an error",
            broke("Bash", json!({"command": "make boat"}), "out", with(coded(1), "returnCodeInterpretation", json!("Odd"))),
            &["t1.status = failed", "t1.reason = exit_code"],
        ),
        case("an exit code of 0 in the result is a success", shell("out", coded(0)), &["t1.status = succeeded", "t1.exit_code = 0"]),
        case(
            "a command that was stopped stays so whatever its code",
            shell("out", with(coded(130), "interrupted", json!(true))),
            &["t1.status = interrupted"],
        ),
        case(
            "a command in the background stays started whatever its code",
            shell("", with(coded(1), "backgroundTaskId", json!("b7"))),
            &["t1.status = succeeded", "t1.exit_code = null"],
        ),
        case(
            "where two codes are stated, the field counts",
            shell("out\n[Exit code: 0]", coded(4)),
            &["t1.status = failed", "t1.exit_code = 4"],
        ),
        case(
            "the code of a task that was asked about is the task's, not the call's",
            made(
                "TaskOutput",
                json!({"task_id": "b7"}),
                "x",
                json!({"retrieval_status": "success",
            "task": {"task_id": "b7", "task_type": "local_bash", "status": "failed", "output": "sank", "exitCode": 9}}),
            ),
            &["t1.status = succeeded", "call t1: sank", "call t1: 9"],
        ),
    ]
}

fn read() -> Vec<Case> {
    let input = || json!({"file_path": "/srv/app/boat.rs"});
    let text = json!({"type": "text", "file": {"filePath": "/srv/app/boat.rs", "content": "fn row() {}\nfn sail() {}", "startLine": 31, "numLines": 2, "totalLines": 900}});
    let image = |data: &str| json!({"type": "image", "file": {"type": "image/png", "base64": data, "originalSize": 123_456, "dimensions": {"width": 800, "height": 600}}});
    vec![
        case(
            "a text with its first line and the lines of the file",
            made("Read", input(), "    31→fn row() {}\n    32→fn sail() {}", text),
            &["call t1: fn sail() {}", "call t1: 31", "call t1: 900", "model saw t1 = Same"],
        ),
        case(
            "a picture with its size",
            made(
                "Read",
                input(),
                json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]),
                image(PIXEL),
            ),
            &["call t1: image/png", "call t1: 800×600", "page: <img"],
        ),
        case("a picture without its data is still one", made("Read", input(), "", image("")), &["call t1: image/png", "call t1: 800×600"]),
        case(
            "an error may be a text",
            made("Read", input(), "gone", json!("Error: the file is gone")),
            &["t1.status = failed", "call t1: gone"],
        ),
        case(
            "an error may be a text beside a flag",
            broke("Read", input(), "<tool_use_error>File does not exist.</tool_use_error>", json!("Error: File does not exist.")),
            &["t1.status = failed", "t1.reason = precondition", "call t1: File does not exist."],
        ),
    ]
}

fn write() -> Vec<Case> {
    let input = || json!({"file_path": "/srv/app/boat.rs", "content": "fn sail() {}\n"});
    let patch =
        json!([{"oldStart": 10, "oldLines": 3, "newStart": 10, "newLines": 4, "lines": [" ", "-fn row() {}", "+fn sail() {}", " "]}]);
    vec![
        case(
            "a file that was made has no text before",
            made(
                "Write",
                input(),
                "made",
                json!({"type": "create", "filePath": "/srv/app/boat.rs",
            "content": "fn sail() {}\n", "originalFile": null, "structuredPatch": []}),
            ),
            &["call t1: new", "call t1: fn sail() {}", "changes = /srv/app/boat.rs"],
        ),
        case(
            "a file that was updated has one, and hunks",
            made(
                "Write",
                input(),
                "updated",
                json!({"type": "update", "filePath": "/srv/app/boat.rs",
            "content": "fn sail() {}\n", "originalFile": "fn row() {}\n", "structuredPatch": patch}),
            ),
            &["call t1: - fn row() {}", "call t1: + fn sail() {}", "changes = /srv/app/boat.rs"],
        ),
        case(
            "an error may be a text, and then nothing was written",
            made("Write", input(), "the disk is full", json!("Error: the disk is full")),
            &["t1.status = failed", "changes =", "call t1: the disk is full"],
        ),
        case(
            "other texts are what the tool said",
            made("Write", input(), "written", json!("written to the harbour")),
            &["t1.status = succeeded", "changes = /srv/app/boat.rs"],
        ),
    ]
}

fn edit() -> Vec<Case> {
    let input = |all: bool| json!({"file_path": "/srv/app/boat.rs", "old_string": "row", "new_string": "sail", "replace_all": all});
    let result = |all: bool, changed: bool| {
        json!({"filePath": "/srv/app/boat.rs", "oldString": "row", "newString": "sail", "replaceAll": all, "userModified": changed,
            "originalFile": "fn row() {}\n", "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-fn row() {}", "+fn sail() {}"]}]})
    };
    vec![
        case(
            "old and new text, the file before, hunks",
            made("Edit", input(false), "updated", result(false, false)),
            &[
                "call t1: - fn row() {}",
                "call t1: + fn sail() {}",
                "no call t1: all occurrences",
                "no call t1: other fields",
                "changes = /srv/app/boat.rs",
            ],
        ),
        case("replaceAll: every occurrence", made("Edit", input(true), "updated", result(true, false)), &["call t1: all"]),
        case(
            "userModified: the file was changed in between",
            made("Edit", input(false), "updated", result(false, true)),
            &["call t1: changed"],
        ),
    ]
}

fn todos() -> Vec<Case> {
    let item = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": format!("Doing: {content}")});
    let new = json!([item("caulk the hull", "completed"), item("step the mast", "in_progress"), item("paint her name", "pending")]);
    vec![
        case(
            "the old and the new list",
            made("TodoWrite", json!({"todos": new}), "noted", json!({"oldTodos": [item("caulk the hull", "pending")], "newTodos": new})),
            &["t1.kind = todo", "call t1: caulk the hull", "call t1: paint her name", "call t1: 1 of 3 done"],
        ),
        case(
            "an item is pending, in progress or completed",
            made("TodoWrite", json!({"todos": new}), "noted", json!({"oldTodos": [], "newTodos": new})),
            &["call t1: ☑ caulk the hull", "call t1: ▸ step the mast", "call t1: ☐ paint her name"],
        ),
        case(
            "the active form is understood, and not shown beside the text that it repeats",
            made("TodoWrite", json!({"todos": new}), "noted", json!({"oldTodos": [], "newTodos": new})),
            &["no call t1: activeForm", "no call t1: other fields"],
        ),
    ]
}

fn task() -> Vec<Case> {
    let input = || json!({"description": "Count boats", "prompt": "Count them.", "subagent_type": "Explore"});
    let launched = json!({"status": "async_launched", "prompt": "Count them.", "agentId": "b0a7", "isAsync": true, "description": "Count boats", "outputFile": "/tmp/b0a7.out"});
    vec![
        case(
            "status, prompt, agent, description and the file of the output",
            made("Task", input(), "Async agent launched successfully.\nagentId: b0a7", launched),
            &[
                "t1.status = succeeded",
                "t1.background.id = b0a7",
                "t1.child_session = b0a7",
                "call t1: Count them.",
                "call t1: background",
                "call t1: /tmp/b0a7.out",
            ],
        ),
        case(
            "an agent that is done says how long, how much and how often",
            made(
                "Task",
                input(),
                "Nine boats.",
                json!({"status": "completed", "agentId": "b0a7", "isAsync": false,
            "content": [{"type": "text", "text": "Nine boats."}], "totalDurationMs": 61_000, "totalTokens": 41_200, "totalToolUseCount": 12,
            "usage": {"input_tokens": 7, "output_tokens": 9}}),
            ),
            &["t1.run_ms = 61000", "call t1: 12 calls", "call t1: 41k tokens", "call t1: \"input_tokens\": 7", "call t1: Nine boats."],
        ),
        case(
            "the answer is shown where the structured result has none",
            made(
                "Task",
                input(),
                "Nine boats, all blue.",
                json!({"status": "completed", "prompt": "Count them.",
            "agentId": "b0a7", "description": "Count boats"}),
            ),
            &["call t1: Nine boats, all blue.", "page: Nine boats, all blue.", "md: Nine boats, all blue."],
        ),
        case(
            "whatever the status",
            made("Task", input(), "Nine boats, all blue.", json!({"status": "done", "agentId": "b0a7"})),
            &["call t1: Nine boats, all blue.", "call t1: state done"],
        ),
        case(
            "and without what the program puts behind it",
            made(
                "Task",
                input(),
                "Nine boats.\nagentId: b0a7 (use SendMessage to go on)\n<usage>total_tokens: 900\ntool_uses: 3</usage>",
                json!({"status": "completed", "agentId": "b0a7"}),
            ),
            &["call t1: Nine boats.", "no call t1: SendMessage", "call t1: 900 tokens"],
        ),
        case(
            "a launched agent has not answered yet",
            made(
                "Task",
                input(),
                "Async agent launched successfully.\nagentId: b0a7",
                json!({"status": "async_launched", "agentId": "b0a7", "isAsync": true}),
            ),
            &["no call t1: launched successfully"],
        ),
    ]
}

fn task_output() -> Vec<Case> {
    let task = |task: Value| {
        made(
            "TaskOutput",
            json!({"task_id": "b7", "block": true}),
            "<retrieval_status>success</retrieval_status>",
            json!({"retrieval_status": "success", "task": task}),
        )
    };
    vec![
        case(
            "a wrapper around a command: type, state, description, output, exit code",
            task(json!({"task_id": "b7", "task_type": "local_bash", "status": "completed",
            "description": "make boat", "output": "hull done", "exitCode": 0})),
            &["t1.kind = task", "call t1: make boat", "call t1: hull done", "call t1: completed"],
        ),
        case(
            "around an agent: prompt and result",
            task(json!({"task_id": "b7", "task_type": "local_agent", "status": "completed", "description": "Count boats",
            "prompt": "Count them.", "result": "Nine boats.", "output": "Nine boats."})),
            &["call t1: Count them.", "call t1: Nine boats."],
        ),
        case(
            "one that is not done",
            made(
                "TaskOutput",
                json!({"task_id": "b7"}),
                "x",
                json!({"retrieval_status": "not_ready", "task": {"task_id": "b7",
            "task_type": "local_bash", "status": "running", "output": ""}}),
            ),
            &["call t1: running", "call t1: not ready"],
        ),
        case(
            "its state is that of the call that started it",
            vec![
                asks("t1", "Bash", json!({"command": "make boat", "run_in_background": true})),
                produces("t1", "Command running in background with ID: b7", json!({"stdout": "", "stderr": "", "backgroundTaskId": "b7"})),
                asks("t2", "TaskOutput", json!({"task_id": "b7"})),
                produces(
                    "t2",
                    "x",
                    json!({"retrieval_status": "success", "task": {"task_id": "b7", "task_type": "local_bash", "status": "failed", "output": "sank", "exitCode": 9}}),
                ),
            ],
            &["t1.background.state = failed", "t1.background.exit_code = 9", "t1.status = succeeded", "t2.status = succeeded"],
        ),
    ]
}

fn glob() -> Vec<Case> {
    let found = |truncated: bool| {
        made(
            "Glob",
            json!({"pattern": "*.rs"}),
            "a.rs",
            json!({"filenames": ["/srv/app/a.rs", "/srv/app/b.rs"], "numFiles": 12, "durationMs": 4.2, "truncated": truncated}),
        )
    };
    vec![
        case(
            "names, their number, and how long it took",
            found(false),
            &["call t1: a.rs", "call t1: b.rs", "call t1: 12 files", "t1.run_ms = 4"],
        ),
        case("a list that was cut says so", found(true), &["call t1: only some"]),
    ]
}

fn grep() -> Vec<Case> {
    let grep = |mode: &str, produced: Value| made("Grep", json!({"pattern": "boat", "output_mode": mode}), "x", produced);
    vec![
        case(
            "by files: their names and number",
            grep("files_with_matches", json!({"mode": "files_with_matches", "numFiles": 3, "filenames": ["/srv/app/a.rs"]})),
            &["call t1: a.rs", "call t1: 3 files"],
        ),
        case(
            "by lines: the text and how many",
            grep(
                "content",
                json!({"mode": "content", "numFiles": 0, "filenames": [], "content": "a.rs:3:boat one\nb.rs:4:boat two", "numLines": 120}),
            ),
            &["call t1: boat one", "call t1: boat two", "call t1: 120 lines"],
        ),
        case(
            "numFiles is the number of files, where the lines do not show it",
            grep(
                "content",
                json!({"mode": "content", "numFiles": 3, "filenames": ["a.rs"], "content": "a.rs:3:boat one", "numLines": 120}),
            ),
            &["call t1: 3 files", "call t1: 120 lines"],
        ),
        case(
            "by counts",
            grep("count", json!({"mode": "count", "numFiles": 2, "filenames": [], "content": "a.rs:3\nb.rs:4", "numMatches": 7})),
            &["call t1: 7 matches", "call t1: 2 files"],
        ),
        case(
            "the example: every field at once",
            grep(
                "content",
                json!({"mode": "content", "numFiles": 3, "filenames": ["a.rs"], "numLines": 120, "content": "a.rs:3:boat one", "appliedLimit": 200}),
            ),
            &["call t1: 3 files", "call t1: 120 lines", "call t1: boat one", "call t1: 200"],
        ),
        case(
            "a limit that was applied is shown",
            grep(
                "content",
                json!({"mode": "content", "numFiles": 0, "filenames": [], "content": "a.rs:3:boat", "numLines": 1, "appliedLimit": 200}),
            ),
            &["call t1: 200", "call t1: only some"],
        ),
    ]
}

fn web_search() -> Vec<Case> {
    let search = |results: Value| {
        made("WebSearch", json!({"query": "tides"}), "x", json!({"query": "tides", "results": results, "durationSeconds": 1.23}))
    };
    let page = || json!({"title": "Tide tables", "url": "https://example.org/tides"});
    let links = &["call t1: Tide tables", "call t1: 1 result", "call t1: example.org"];
    vec![
        case(
            "pages below a call of the service, and words",
            search(json!([{"tool_use_id": "srv1", "content": [page()]}, "High at noon."])),
            &[links, &["call t1: High at noon."][..]].concat(),
        ),
        case("pages in the list itself", search(json!([page()])), links),
        case("pages in lists", search(json!([[page()]])), links),
        case("addresses alone", search(json!(["https://example.org/tides"])), &["call t1: 1 result", "call t1: https://example.org/tides"]),
        case("words alone", search(json!(["High at noon."])), &["call t1: High at noon."]),
        case(
            "objects of another shape are shown as they are",
            search(json!([{"heading": "Tide tables", "where": "harbour office"}])),
            &["call t1: Tide tables", "call t1: harbour office"],
        ),
        case("an object of lists", search(json!({"web": [page()]})), links),
        case("an empty list found nothing", search(json!([])), &["call t1: No matches."]),
        case("the search took its time", search(json!([page()])), &["t1.run_ms = 1230"]),
    ]
}

fn web_fetch() -> Vec<Case> {
    vec![
        case(
            "address, code, its words, bytes, time, and the answer",
            made(
                "WebFetch",
                json!({"url": "https://example.org/", "prompt": "When?"}),
                "At noon.",
                json!({"url": "https://example.org/",
            "code": 200, "codeText": "OK", "bytes": 12_345, "durationMs": 350, "result": "At noon."}),
            ),
            &["t1.run_ms = 350", "call t1: 200 OK", "call t1: 12", "call t1: At noon.", "model saw t1 = Same"],
        ),
        case(
            "another code is shown as well",
            made(
                "WebFetch",
                json!({"url": "https://example.org/"}),
                "Gone",
                json!({"url": "https://example.org/", "code": 404, "codeText": "Not Found",
            "bytes": 0, "durationMs": 5, "result": "Gone"}),
            ),
            &["call t1: 404 Not Found"],
        ),
    ]
}

fn mcp() -> Vec<Case> {
    let boats = |seen: Value, produced: Value| made("mcp__harbour__list-boats", json!({"quay": 3}), seen, produced);
    let blocks = || json!([{"type": "text", "text": "Nine boats lie at the quay."}]);
    let objects = || json!([{"name": "Ada", "length": 12, "colour": "a deep and rather old-fashioned blue"}, {"name": "Bob", "length": 9, "colour": "green, with a stripe of white"}]);
    vec![
        case(
            "server and tool are in the name",
            boats(json!("x"), json!(null)),
            &["t1.server = harbour", "t1.kind = mcp", "t1.tool = mcp__harbour__list-boats", "call t1: list-boats"],
        ),
        case("a list of messages", boats(blocks(), blocks()), &["call t1: Nine boats lie at the quay.", "model saw t1 = Same"]),
        case(
            "a list of objects is what the tool produced, where the model saw nothing",
            boats(json!(""), objects()),
            &["call t1: Ada", "call t1: green", "no call t1: The result is empty"],
        ),
        case(
            "or only a word about it",
            boats(json!("2 boats"), objects()),
            &["call t1: 2 boats", "call t1: Ada", "call t1: green", "model saw t1 = Differs"],
        ),
        case(
            "a list of objects that the model saw as JSON is the same",
            boats(json!(objects().to_string()), objects()),
            &["call t1: Ada", "model saw t1 = Same"],
        ),
        case(
            "short objects are compared as well",
            boats(json!("found"), json!([{"id": 7}, {"id": 8}])),
            &["call t1: 7", "call t1: 8", "model saw t1 = Differs"],
        ),
        case(
            "an error may be a text",
            boats(json!("the harbour is closed"), json!("Error: the harbour is closed")),
            &["t1.status = failed", "t1.reason = mcp_error", "call t1: the harbour is closed"],
        ),
        case(
            "or a text beside a flag",
            broke("mcp__harbour__list-boats", json!({}), "MCP error -32603: fog", json!("Error: MCP error -32603: fog")),
            &["t1.status = failed", "t1.reason = mcp_error", "call t1: fog"],
        ),
    ]
}

fn hunks() -> Vec<Case> {
    let edit = |hunks: Value| {
        made(
            "Edit",
            json!({"file_path": "/srv/app/boat.rs", "old_string": "row", "new_string": "sail"}),
            "updated",
            json!({"filePath": "/srv/app/boat.rs", "structuredPatch": hunks}),
        )
    };
    let hunk = json!({"oldStart": 6, "oldLines": 2, "newStart": 8, "newLines": 2, "lines": [" let wind = 3;", "-row();", "+sail();"]});
    vec![
        case(
            "a list of hunks",
            edit(json!([hunk, {"oldStart": 90, "oldLines": 1, "newStart": 92, "newLines": 1, "lines": ["-stop();", "+moor();"]}])),
            &["call t1: - row();", "call t1: + moor();"],
        ),
        case("where it stood, and where it stands", edit(json!([hunk])), &["call t1: 7 - row();", "call t1: 9 + sail();"]),
        case(
            "a space is context, a minus a line that went, a plus one that came",
            edit(json!([hunk])),
            &["call t1: let wind = 3;", "call t1: - row();", "call t1: + sail();", "call t1: +1 −1"],
        ),
    ]
}
