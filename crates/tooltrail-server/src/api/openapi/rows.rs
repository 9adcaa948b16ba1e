//! Schemas of rows: sessions, calls, hits, totals, events. docs/json.md describes them in prose.

use super::schema::{
    Schemas, count, integer, list, map, maybe, named, object, one_of, or_row, pair, some_of, text, time, version, with_example, yes_no,
};
use serde_json::{Value, json};
use tooltrail_formats::FORMATS;
use tooltrail_model::command::Purpose;
use tooltrail_model::digest::FollowUp;
use tooltrail_model::event::{HookOutcome, InputFrom, TaskState};
use tooltrail_model::filter::texts::Field;
use tooltrail_model::link::{By, State, StateReason};
use tooltrail_model::row::CallRowOrigin;
use tooltrail_model::{Kind, Reason, Status};

/// Adds the schemas of all rows and of the objects in them.
pub(super) fn add(schemas: &mut Schemas) {
    let place = object("A record of a log.", [("file", text("The file.")), ("line", count("The line, counted from 1."))]);
    schemas.add("Place", or_row(place));
    schemas.add("Tokens", tokens());
    schemas.add("ByStatus", by_status());
    schemas.add("Session", session());
    schemas.add("Background", background());
    schemas.add("Hook", hook());
    schemas.add("InnerCalls", inner_calls());
    schemas.add("Call", call());
    schemas.add("Hit", hit());
    schemas.add("Failure", failure());
    schemas.add("ToolStats", tool_stats());
    schemas.add("ModelUsage", model_usage());
    schemas.add("Stats", stats());
    schemas.add("Group", group());
    events(schemas);
}

/// Data of events that are neither calls nor sessions.
fn events(schemas: &mut Schemas) {
    // Closures, because a JSON value is moved into each schema that uses it.
    let (session, call) = (|| text("The session."), || text("The call's id."));
    // Both `begun` and `missed` say everything with their name.
    schemas.add("Nothing", object("No data.", [("v", version())]));
    let message = object(
        "A new message.",
        [
            ("v", version()),
            ("agent", agent()),
            ("session", session()),
            ("by", one_of("The author: you or another agent (`asker`), or the model.", ["asker", "model"])),
            ("file", text("The log.")),
            ("line", count("The line of the record in it.")),
            ("at", maybe(time("When."))),
        ],
    );
    schemas.add("Message", or_row(message));
    let again = count("How many calls of the session had this id before it: nearly always none.");
    let lost = [("v", version()), ("agent", agent()), ("session", session()), ("call", call()), ("again", again)];
    schemas.add("Lost", object("A call that is no longer in any log.", lost));
    schemas.add("Gone", object("A session that is no longer in any log.", [("v", version()), ("agent", agent()), ("session", session())]));
}

/// The agents.
fn agent() -> Value {
    // From the list of formats, so that a new agent needs no change here.
    one_of("The agent.", FORMATS.iter().map(|format| format.agent()))
}

fn tokens() -> Value {
    object(
        "Tokens. `input` does not include `cache_read`.",
        [
            ("input", count("Fresh input.")),
            ("output", count("Output, thinking included.")),
            ("cache_write_5m", count("Input written to the five-minute cache.")),
            ("cache_write_1h", count("Input written to the one-hour cache.")),
            ("cache_read", count("Input read from the cache.")),
        ],
    )
}

fn by_status() -> Value {
    // Only statuses that occur are present, so no field is required.
    let fields = Status::ALL.iter().map(|status| (status.word(), count("Number of calls.")));
    some_of("Number of calls by status; only statuses that occur.", fields)
}

fn session() -> Value {
    let schema = object(
        "A session.",
        [
            ("v", version()),
            ("agent", agent()),
            ("session", text("Its id.")),
            ("title", maybe(text("Its title."))),
            ("project", maybe(text("Its project directory; worktrees belong to their repository."))),
            ("branch", maybe(text("The branch."))),
            ("started_at", maybe(time("Its first record."))),
            ("last_at", maybe(time("Its last one."))),
            ("state", maybe(one_of("Its state.", State::ALL.iter().map(|state| state.word())))),
            ("state_reason", maybe(one_of("Reason for the state.", StateReason::ALL.iter().map(|reason| reason.word())))),
            ("turns", count("How many turns it has.")),
            ("calls", count("How many calls it made, subagents included.")),
            ("by_status", named("ByStatus")),
            ("models", list(text("A model."))),
            ("usage", named("Tokens")),
            ("files", list(text("A log of it."))),
            ("inner_calls", count("How many calls stand in the texts of its scripts; they are not among `calls`.")),
        ],
    );
    let example = json!({"v":1,"agent":"claude","session":"3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13","title":"Fix the flaky retry test","project":"/srv/orbit","branch":"main","started_at":"2026-03-02T09:12:05.113Z","last_at":"2026-03-02T09:31:40.002Z","state":"ended","state_reason":"quiet","turns":3,"calls":14,"by_status":{"succeeded":12,"failed":2},"models":["claude-opus-4-8"],"usage":{"input":42,"output":9120,"cache_write_5m":0,"cache_write_1h":51200,"cache_read":401233},"files":["/home/me/.claude/projects/-srv-orbit/3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13.jsonl"],"inner_calls":0});
    with_example(schema, example)
}

fn background() -> Value {
    object(
        "A task that went on in the background.",
        [
            ("id", maybe(text("Its id."))),
            ("state", one_of("Its state.", TaskState::ALL.iter().map(|state| state.word()))),
            ("exit_code", maybe(integer("Its exit code."))),
            ("ended_at", maybe(time("When it ended."))),
            ("evidence", named("Place")),
        ],
    )
}

fn hook() -> Value {
    object(
        "A hook that ran for a call.",
        [
            ("event", maybe(text("Its event, as in `PreToolUse`."))),
            ("name", maybe(text("Its name."))),
            ("command", maybe(text("Its command."))),
            ("outcome", one_of("Its outcome.", HookOutcome::ALL.iter().map(|outcome| outcome.word()))),
            ("exit_code", maybe(integer("Its exit code."))),
            ("duration_ms", maybe(count("Its duration."))),
            ("evidence", named("Place")),
        ],
    )
}

fn inner_calls() -> Value {
    object(
        "The calls in the text of a script that makes several.",
        [
            ("calls", count("Number of calls.")),
            ("succeeded", count("Number of calls that provably succeeded.")),
            ("failed", count("Number of calls that provably failed.")),
            ("unknown", count("Number of other calls.")),
            ("complete", yes_no("Whether these are all calls of the script.")),
        ],
    )
}

fn call() -> Value {
    let schema = object(
        "A tool call.",
        [
            ("v", version()),
            ("agent", agent()),
            ("session", text("The session; the parent's for a subagent's call.")),
            ("agent_id", maybe(text("The subagent that made it."))),
            ("ref", text("The shortest name: session and number of the call in it.")),
            ("call", text("Its id.")),
            ("tool", text("The tool, exactly as logged.")),
            ("server", maybe(text("Its MCP server."))),
            ("kind", one_of("Its family, across agents.", Kind::ALL.iter().map(|kind| kind.word()))),
            ("status", one_of("Its status.", Status::ALL.iter().map(|status| status.word()))),
            ("reason", maybe(one_of("The reason.", Reason::ALL.iter().map(|reason| reason.word())))),
            ("evidence", named("Place")),
            ("requested_at", maybe(time("The time of the request."))),
            ("completed_at", maybe(time("The time of the result."))),
            // Null where either time is missing, which is normal for running calls and for logs without times.
            ("duration_ms", maybe(count("The time between them, waiting for permission included."))),
            ("run_ms", maybe(count("The run time that the tool itself reported."))),
            ("exit_code", maybe(integer("The exit code, where the log gives one."))),
            ("exit_of", maybe(text("Of a shell call: the simple command whose exit code that was."))),
            ("masked", list(text("A simple command without a recorded outcome."))),
            ("purpose", maybe(one_of("Purpose of the command.", Purpose::ALL.iter().map(|purpose| purpose.word())))),
            ("is_error", maybe(yes_no("The result's flag; null without a result."))),
            ("input_bytes", count("Length of the input in the log.")),
            ("result_bytes", maybe(count("Length of the result in the log."))),
            ("model", maybe(text("The model."))),
            ("message", maybe(text("The API message."))),
            ("parallel", count("Number of calls in that message.")),
            ("parent_call", maybe(text("The call that started the subagent that made this one."))),
            ("child_session", maybe(text("The log that this call started."))),
            ("background", maybe(named("Background"))),
            ("hooks", list(named("Hook"))),
            ("request", named("Place")),
            ("result", maybe(named("Place"))),
            ("cwd", maybe(text("The directory."))),
            ("sidechain", yes_no("Whether it is outside the main conversation.")),
            ("copy_of", maybe(named("Place"))),
            ("about", maybe(text("The command, path, pattern, query or prompt in a line of at most 200 characters."))),
            ("unwrapped", maybe(text("The inner tool, where a script is its one call."))),
            ("inner", maybe(named("InnerCalls"))),
            (
                "origin",
                one_of(
                    "Origin of the row: a record of the log, or the text of a script.",
                    CallRowOrigin::ALL.iter().map(|origin| origin.word()),
                ),
            ),
            ("input_from", one_of("Origin of the input that ran.", InputFrom::ALL.iter().map(|from| from.word()))),
        ],
    );
    // Invented paths and ids; the example has all fields, as tests check it against the schema.
    let log = "/home/me/.claude/projects/-srv-app/3f2a.jsonl";
    let example = json!({"v":1,"agent":"claude","session":"3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13","agent_id":null,"ref":"3f2a:41","call":"toolu_x1","tool":"Bash","server":null,"kind":"shell","status":"failed","reason":"exit_code","evidence":{"file":log,"line":42},"requested_at":"2026-03-04T10:00:03.000Z","completed_at":"2026-03-04T10:00:09.000Z","duration_ms":6000,"run_ms":null,"exit_code":101,"exit_of":null,"masked":[],"purpose":"test","is_error":true,"input_bytes":57,"result_bytes":2040,"model":"claude-opus-4-8","message":"msg_1","parallel":1,"parent_call":null,"child_session":null,"background":null,"hooks":[],"request":{"file":log,"line":40},"result":{"file":log,"line":42},"cwd":"/srv/app","sidechain":false,"copy_of":null,"about":"cargo test","unwrapped":null,"inner":null,"origin":"log","input_from":"request"});
    with_example(schema, example)
}

fn hit() -> Value {
    let schema = or_row(object(
        "A text that matches a query.",
        [
            ("v", version()),
            ("agent", agent()),
            ("session", text("The session.")),
            ("ref", text("The call; for a message, its session.")),
            ("call", maybe(text("The call's id; null for a message."))),
            ("field", one_of("The field.", Field::ALL.iter().map(|field| field.word()))),
            ("file", text("The log.")),
            ("line", count("The line of the record in it.")),
            ("at", maybe(time("The time, if the record has one."))),
            ("snippet", text("The text around the first match.")),
            ("matches", list(pair("A match in the snippet: from a character up to another, not including it."))),
        ],
    ));
    let example = json!({"v":1,"agent":"claude","session":"3f2a91c4-6b1e-4c0e-9a51-0d8f2e7b4c13","ref":"3f2a:41","call":"toolu_x1","field":"result","file":"/home/me/.claude/projects/-srv-app/3f2a.jsonl","line":42,"at":"2026-03-04T10:00:09.000Z","snippet":"error: connection refused\n","matches":[[7,25]]});
    with_example(schema, example)
}

fn failure() -> Value {
    let follow_ups = FollowUp::ALL.iter().map(|follow_up| (follow_up.word(), count("Number of calls.")));
    let schema = object(
        "Failures with the same message.",
        [
            ("v", version()),
            ("failure", text("The message, with paths, numbers, hashes and quoted names folded.")),
            ("calls", count("Number of calls.")),
            ("sessions", count("Number of sessions.")),
            ("by_status", named("ByStatus")),
            ("by_tool", map("By the name of the tool.", count("Number of calls."))),
            ("by_day", map("By local day; calls without a time are left out.", count("Number of calls."))),
            ("by_follow_up", some_of("Number of calls by what followed in their session; only what occurs.", follow_ups)),
            ("unresolved", count("Number of calls that no later success resolved.")),
            ("first_at", maybe(time("The time of the first one."))),
            ("last_at", maybe(time("The time of the last one."))),
            ("example", text("The reference of the last one.")),
            ("error", maybe(text("The error line of the last one."))),
        ],
    );
    let example = json!({"v":1,"failure":"error: address already in use :<n>","calls":7,"sessions":3,"by_status":{"failed":7},"by_tool":{"Bash":7},"by_day":{"2026-03-04":7},"by_follow_up":{"resolved":5,"moved_on":2},"unresolved":2,"first_at":"2026-03-04T09:00:00.000Z","last_at":"2026-03-04T11:30:00.000Z","example":"3f2a:41","error":"error: address already in use :3000"});
    with_example(schema, example)
}

fn tool_stats() -> Value {
    object(
        "The totals of a tool.",
        [
            ("calls", count("Calls.")),
            ("by_status", named("ByStatus")),
            ("p50_ms", maybe(count("Median duration."))),
            ("p95_ms", maybe(count("95th percentile of the duration."))),
        ],
    )
}

fn model_usage() -> Value {
    // The same object as `Tokens` with one more field, so it is derived from it and cannot drift apart.
    let mut schema = tokens();
    schema["description"] = "The totals of a model.".into();
    schema["properties"]["messages"] = count("Requests.");
    if let Some(required) = schema["required"].as_array_mut() {
        required.push("messages".into());
    }
    schema
}

fn stats() -> Value {
    object(
        "Totals of everything that matches a filter.",
        [
            ("v", version()),
            ("sources", count("Logs.")),
            ("bytes", count("Their bytes.")),
            ("lines", count("Their lines.")),
            // Damaged and cut-off lines are counted, not reported as errors: logs of killed agents often end in one.
            ("unparsed", count("Lines that are not records.")),
            ("sessions", count("Sessions.")),
            ("turns", count("Turns.")),
            ("calls", count("Calls.")),
            ("by_status", named("ByStatus")),
            // Names of tools and models are open sets, so these are maps and not objects.
            ("by_tool", map("By the name of the tool.", named("ToolStats"))),
            ("usage", map("By the name of the model.", named("ModelUsage"))),
            ("inner_calls", count("Calls in the texts of scripts; they are not among `calls`.")),
        ],
    )
}

fn group() -> Value {
    let schema = object(
        "The totals of a group.",
        [
            ("v", version()),
            ("by", one_of("The attribute of the groups.", By::ALL.iter().map(|by| by.word()))),
            ("key", maybe(text("The project, day, week, model or tool; null if there is none."))),
            ("sessions", count("Sessions with a part in this group.")),
            // A turn may use several models and tools, so it cannot be counted towards one of them.
            ("turns", maybe(count("Turns; null by model and by tool."))),
            ("calls", count("Calls.")),
            ("by_status", named("ByStatus")),
            ("took_ms", count("The sum of the calls' durations.")),
            ("p50_ms", maybe(count("Median duration."))),
            ("p95_ms", maybe(count("95th percentile of the duration."))),
            ("usage", maybe(named("ModelUsage"))),
        ],
    );
    let example = json!({"v":1,"by":"day","key":"2026-03-04","sessions":2,"turns":3,"calls":19,"by_status":{"succeeded":15,"failed":4},"took_ms":61240,"p50_ms":700,"p95_ms":12011,"usage":{"messages":9,"input":120,"output":4200,"cache_write_5m":0,"cache_write_1h":9000,"cache_read":81000}});
    with_example(schema, example)
}
