//! The fields of records, messages, content blocks and tokens.

use crate::harness::{Case, answers, asks, bare, case, made, pair, prompt, returns, says, tool_result, tool_use, with, words};
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    [records(), optional_fields(), messages(), blocks(), tokens()].into_iter().flatten().collect()
}

fn records() -> Vec<Case> {
    let side = |line: Value| with(with(line, "isSidechain", json!(true)), "agentId", json!("b0a7"));
    vec![
        case(
            "parentUuid: null begins a conversation, another one follows a record",
            vec![prompt("go"), asks("t1", "Bash", json!({"command": "ls"})), answers("t1", "a")],
            &["t1.status = succeeded", "session.turns = 1"],
        ),
        case("isSidechain: false is the main conversation", pair("Bash", json!({"command": "ls"}), "a"), &["t1.sidechain = false"]),
        case(
            "isSidechain: true is a subagent's",
            vec![prompt("go"), side(prompt("Count.")), side(asks("t1", "Bash", json!({"command": "ls"})))],
            &["t1.sidechain = true", "t1.agent_id = b0a7", "session.turns = 1"],
        ),
        case(
            "userType: external is a person's entry",
            vec![with(prompt("go"), "userType", json!("external"))],
            &["session.turns = 1", "session.title = go"],
        ),
        case(
            "cwd: the directory of the entry",
            vec![with(asks("t1", "Bash", json!({"command": "ls"})), "cwd", json!("/srv/quay"))],
            &["t1.cwd = /srv/quay", "session.project = /srv/quay"],
        ),
        case("sessionId: the conversation", pair("Bash", json!({"command": "ls"}), "a"), &["t1.session = s1", "session.session = s1"]),
        bare(
            "two of them in one file are two sessions",
            vec![
                with(asks("t1", "Bash", json!({"command": "ls"})), "sessionId", json!("s1")),
                with(asks("t2", "Bash", json!({"command": "ls"})), "sessionId", json!("s2")),
            ],
            &["sessions = 2", "t1.session = s1", "t2.session = s2"],
        ),
        case("version: the agent's own", vec![with(prompt("go"), "version", json!("9.8.7"))], &["page: 9.8.7"]),
        case("gitBranch: the branch", vec![with(prompt("go"), "gitBranch", json!("harbour"))], &["session.branch = harbour"]),
        case(
            "type: user and assistant",
            vec![prompt("go"), says(&[words("gone")])],
            &["check.records.user = 1", "check.records.assistant = 1", "check.unknown_records = 0"],
        ),
        case(
            "another type is counted as unknown and kept",
            vec![prompt("go"), json!({"type": "tide", "height": 3})],
            &["check.records.tide = 1", "check.unknown_records = 1", "check.unparsed = 0"],
        ),
        case(
            "message: the payload; without one there is nothing to show",
            vec![prompt("go"), json!({"type": "assistant"})],
            &["check.records.assistant = 1", "session.turns = 1"],
        ),
        case(
            "uuid: the entry; a repeated one is shown once",
            vec![with(prompt("twice told"), "uuid", json!("same")), with(prompt("twice told"), "uuid", json!("same"))],
            &["session.turns = 1"],
        ),
        case(
            "timestamp: ISO 8601",
            vec![
                with(asks("t1", "Bash", json!({"command": "ls"})), "timestamp", json!("2026-03-04T10:00:07.123Z")),
                with(answers("t1", "a"), "timestamp", json!("2026-03-04T12:00:08.500+02:00")),
            ],
            &[
                "t1.requested_at = 2026-03-04T10:00:07.123Z",
                "t1.completed_at = 2026-03-04T10:00:08.500Z",
                "t1.duration_ms = 1377",
                "session.started_at = 2026-03-04T10:00:07.123Z",
            ],
        ),
    ]
}

fn optional_fields() -> Vec<Case> {
    vec![
        case(
            "requestId: the request of a message",
            vec![with(asks("t1", "Bash", json!({"command": "ls"})), "requestId", json!("req_77"))],
            &["call t1: req_77"],
        ),
        case(
            "requestId: two requests under one message id are counted apart",
            {
                let usage = |request: &str| {
                    with(
                        json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": "claude-opus-4-8", "content": [],
                "usage": {"input_tokens": 5, "output_tokens": 7}}}),
                        "requestId",
                        json!(request),
                    )
                };
                vec![usage("r1"), usage("r1"), usage("r2")]
            },
            &["session.usage.output = 14"],
        ),
        case(
            "toolUseResult: a text",
            made("Zeppelin", json!({}), "", json!("landed softly")),
            &["t1.status = succeeded", "call t1: landed softly"],
        ),
        case(
            "toolUseResult: an object",
            made("Zeppelin", json!({}), "", json!({"crew": "landed softly"})),
            &["t1.status = succeeded", "call t1: landed softly"],
        ),
        case(
            "isApiErrorMessage: an error of the service, not words of the model",
            vec![
                prompt("go"),
                asks("t1", "Bash", json!({"command": "ls"})),
                with(says(&[words("API Error: 529 overloaded")]), "isApiErrorMessage", json!(true)),
            ],
            &["t1.status = unanswered", "t1.reason = api_error", "show: 529 overloaded"],
        ),
    ]
}

fn messages() -> Vec<Case> {
    let message = |fields: Value| {
        let mut message = json!({"role": "assistant", "content": [tool_use("t1", "Bash", json!({"command": "ls"}))]});
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({"type": "assistant", "message": message})
    };
    let ended = |reason: &str| {
        let text = json!([words("Half a sent")]);
        json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": "claude-opus-4-8", "stop_reason": reason, "content": text}})
    };
    vec![
        case("role: user and assistant", vec![prompt("go"), says(&[words("gone")])], &["session.turns = 1", "show: gone"]),
        case(
            "content: a plain text of the model",
            vec![json!({"type": "assistant", "message": {"role": "assistant", "content": "plain words"}})],
            &["show: plain words"],
        ),
        case("content: a plain text of the person", vec![prompt("plain words")], &["show: plain words"]),
        case("content: a list", vec![returns(&[words("listed words")])], &["show: listed words", "session.turns = 1"]),
        case("id: the message", vec![message(json!({"id": "msg_7"}))], &["t1.message = msg_7"]),
        case(
            "id: calls of one message in several records are parallel",
            vec![
                json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [tool_use("t1", "Bash", json!({"command": "a"}))]}}),
                json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [tool_use("t2", "Bash", json!({"command": "b"}))]}}),
            ],
            &["t1.parallel = 2", "show: ┌ "],
        ),
        case("type: message", vec![message(json!({"type": "message"}))], &["rows = 1"]),
        case(
            "model: the model",
            vec![message(json!({"model": "claude-opus-4-8"}))],
            &["t1.model = claude-opus-4-8", "session.models = [\"claude-opus-4-8\"]"],
        ),
        case(
            "stop_reason: tool_use is how a message with calls ends",
            vec![message(json!({"stop_reason": "tool_use"})), answers("t1", "a")],
            &["t1.status = succeeded"],
        ),
        case("stop_reason: an answer that was cut", vec![prompt("go"), ended("max_tokens")], &["show: max_tokens"]),
        case("stop_reason: a refusal", vec![prompt("go"), ended("refusal")], &["show: refus"]),
        case("stop_reason: null says nothing", vec![message(json!({"stop_reason": null})), answers("t1", "a")], &["t1.status = succeeded"]),
        case(
            "stop_sequence: null or a text",
            vec![message(json!({"stop_sequence": "END"})), answers("t1", "a")],
            &["t1.status = succeeded", "check.unknown_records = 0"],
        ),
        case(
            "usage: the tokens of the request",
            vec![message(json!({"id": "m1", "usage": {"input_tokens": 3, "output_tokens": 5}}))],
            &["session.usage.input = 3", "call t1: 3 in, 5 out"],
        ),
    ]
}

fn blocks() -> Vec<Case> {
    vec![
        case("text: words", vec![says(&[words("fair wind")])], &["show: fair wind"]),
        case(
            "tool_use: id, name and input",
            vec![asks("t1", "Zeppelin", json!({"height": 300}))],
            &["t1.call = t1", "t1.tool = Zeppelin", "call t1: height 300"],
        ),
        case(
            "the input's schema is the tool's",
            vec![asks("t1", "Zeppelin", json!({"crew": [{"name": "Ada"}], "deep": {"er": true}}))],
            &["call t1: Ada", "call t1: \"er\": true"],
        ),
        case("tool_result: the id of its call", pair("Zeppelin", json!({}), "landed"), &["t1.result.line = 2"]),
        case("content: a text", pair("Zeppelin", json!({}), "landed"), &["call t1: landed"]),
        case("content: an object", pair("Zeppelin", json!({}), json!({"landed": "softly"})), &["call t1: softly"]),
        case(
            "content: a list of texts",
            pair("Zeppelin", json!({}), json!([{"type": "text", "text": "landed"}, {"type": "text", "text": "softly"}])),
            &["call t1: landed", "call t1: softly"],
        ),
        case(
            "is_error: the tool reported an error",
            vec![asks("t1", "Zeppelin", json!({})), returns(&[with(tool_result("t1", "crashed"), "is_error", json!(true))])],
            &["t1.status = failed", "t1.is_error = true"],
        ),
        case(
            "a block of an unknown type is kept",
            vec![prompt("go"), says(&[json!({"type": "semaphore", "flags": "red over white"})])],
            &["page: red over white"],
        ),
    ]
}

fn tokens() -> Vec<Case> {
    let used = |usage: Value| {
        vec![json!({"type": "assistant", "requestId": "r1", "message": {"id": "m1", "role": "assistant", "model": "claude-opus-4-8",
        "content": [tool_use("t1", "Bash", json!({"command": "ls"}))], "usage": usage}})]
    };
    vec![
        case(
            "input_tokens and output_tokens",
            used(json!({"input_tokens": 11, "output_tokens": 13})),
            &["session.usage.input = 11", "session.usage.output = 13"],
        ),
        case(
            "cache_creation_input_tokens, without its parts",
            used(json!({"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 17})),
            &["session.usage.cache_write_5m = 17", "session.usage.cache_write_1h = 0"],
        ),
        case(
            "cache_read_input_tokens",
            used(json!({"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 19})),
            &["session.usage.cache_read = 19"],
        ),
        case(
            "service_tier: the standard one is not worth a word",
            used(json!({"input_tokens": 1, "output_tokens": 1, "service_tier": "standard"})),
            &["no call t1: standard"],
        ),
        case(
            "service_tier: another one is shown",
            used(json!({"input_tokens": 1, "output_tokens": 1, "service_tier": "priority"})),
            &["call t1: service tier priority"],
        ),
        case(
            "service_tier: may be null",
            used(json!({"input_tokens": 1, "output_tokens": 1, "service_tier": null})),
            &["session.usage.input = 1", "no call t1: service tier"],
        ),
        case(
            "cache_creation: the two lifetimes",
            used(json!({"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 30,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}})),
            &["session.usage.cache_write_5m = 10", "session.usage.cache_write_1h = 20"],
        ),
        case(
            "usage is counted once for a message in several records",
            {
                let mut lines = used(json!({"input_tokens": 2, "output_tokens": 3}));
                lines.extend(used(json!({"input_tokens": 2, "output_tokens": 3})));
                lines
            },
            &["session.usage.input = 2", "session.usage.output = 3"],
        ),
        case(
            "server_tool_use: searches on the service's side",
            used(json!({"input_tokens": 1, "output_tokens": 1, "server_tool_use": {"web_search_requests": 3}})),
            &["show: 3 web searches"],
        ),
    ]
}
