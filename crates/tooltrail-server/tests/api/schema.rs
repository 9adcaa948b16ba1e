//! The OpenAPI document is true: every answer over the invented logs, the demo and real logs is what it says, and nothing more.

use crate::asking::{Api, Logs};
use crate::fits::misfit;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The document.
pub(crate) fn document(api: &Api) -> Value {
    api.get("/api/v1/openapi.json")
}

/// Fails unless a value is what the document says of a name.
fn is(document: &Value, name: &str, value: &Value) {
    let schema = serde_json::json!({ "$ref": format!("#/components/schemas/{name}") });
    if let Some(why) = misfit(document, &schema, value) {
        panic!("{why}\nin {value}");
    }
}

/// The rows of an address, all of which fit.
fn rows(api: &Api, document: &Value, address: &str, name: &str) -> Vec<Value> {
    let said = api.ask(address);
    assert_eq!(said.status, 200, "{address}: {}", said.text());
    let rows = said.rows();
    rows.iter().for_each(|row| is(document, name, row));
    rows
}

/// Asks for everything, each `step`th call in full.
fn everything(api: &Api, step: usize) -> Vec<Value> {
    let document = document(api);
    let sessions = rows(api, &document, "/api/v1/sessions?format=jsonl", "Session");
    let calls = rows(api, &document, "/api/v1/calls?format=jsonl", "Call");
    let copies = rows(api, &document, "/api/v1/calls?format=jsonl&copies=1", "Call");
    assert!(copies.len() >= calls.len() && !sessions.is_empty());
    for query in ["the", "error", "re:[a-z]+", "%22%20%22"] {
        rows(api, &document, &format!("/api/v1/search?format=jsonl&q={query}"), "Hit");
    }
    let failures = rows(api, &document, "/api/v1/failures?format=jsonl", "Failure");
    let unresolved = rows(api, &document, "/api/v1/failures?format=jsonl&unresolved=1", "Failure");
    let sum = |rows: &[Value], field: &str| rows.iter().filter_map(|row| row[field].as_u64()).sum::<u64>();
    assert!(!failures.is_empty() && sum(&failures, "unresolved") == sum(&unresolved, "calls"));
    is(&document, "Stats", &api.get("/api/v1/stats"));
    for by in ["project", "day", "week", "month", "model", "tool", "agent", "branch", "session", "command"] {
        rows(api, &document, &format!("/api/v1/stats?format=jsonl&by={by}"), "Group");
    }
    for session in &sessions {
        let own = api.get(&format!("/api/v1/sessions/{}", encoded(session["session"].as_str().expect("an id"))));
        is(&document, "Session", &own);
    }
    for call in calls.iter().step_by(step) {
        let whose = encoded(call["session"].as_str().expect("an id"));
        let number = call["ref"].as_str().and_then(|name| name.rsplit_once(':')).expect("a number").1;
        // Ids of sessions need not be their own beginning alone.
        let said = api.ask(&format!("/api/v1/calls/{whose}:{number}?full=1"));
        match said.status {
            200 => is(&document, "Entry", &said.json()),
            404 => is(&document, "Error", &said.json()),
            other => panic!("{other}: {}", said.text()),
        }
    }
    calls
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() || byte == b'-' { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[test]
fn every_answer_over_the_invented_logs_fits() {
    let calls = everything(&Api::fixtures(), 1);
    // They show nearly all that there is, or this test would say little.
    for (field, least) in [("status", 9), ("reason", 20), ("kind", 16)] {
        let words: BTreeSet<String> = calls.iter().map(|call| call[field].to_string()).collect();
        assert!(words.len() >= least, "{field}: {words:?}");
    }
}

#[test]
fn every_answer_over_the_demo_fits() {
    let (api, _home) = Api::demo();
    let calls = everything(&api, 1);
    assert!(calls.iter().any(|call| call["status"] == "running"));
}

#[test]
fn every_answer_over_real_logs_fits() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !root.is_dir() {
        println!("no real logs at {}: nothing asked", root.display());
        return;
    }
    let calls = everything(&Api::over(Logs::Paths(vec![root])), 9);
    assert!(calls.len() > 1000);
}

#[test]
fn the_document_describes_itself_well() {
    let (api, _home) = Api::demo();
    let document = document(&api);
    assert_eq!(document["openapi"], "3.1.0");
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    for (name, schema) in schemas {
        for example in schema["examples"].as_array().into_iter().flatten() {
            is(&document, name, example);
        }
    }
    // What is named is there, and what is there is named.
    let mut named = BTreeSet::new();
    references(&document, &mut named);
    for pointer in &named {
        assert!(document.pointer(pointer.strip_prefix('#').expect("here")).is_some(), "{pointer}");
    }
    for name in schemas.keys() {
        assert!(named.contains(&format!("#/components/schemas/{name}")), "nothing names {name}");
    }
    // Objects say of each field what it means, and have no others.
    closed(&document["components"]["schemas"]);
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        let operation = &item["get"];
        assert!(ids.insert(operation["operationId"].to_string()), "{path}");
        assert!(
            operation["summary"].is_string() && operation["description"].is_string() && operation["responses"]["200"].is_object(),
            "{path}"
        );
        let names = operation["parameters"].as_array().expect("parameters").iter().filter(|param| param["in"] == "path").count();
        assert_eq!(names, path.matches('{').count(), "{path}");
    }
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

fn closed(value: &Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("type").is_some_and(|kind| kind == "object") {
                assert!(fields.contains_key("additionalProperties") && fields.contains_key("description"), "{value}");
            }
            // Fields of schemas may be called anything; examples are no schemas.
            fields.iter().filter(|(name, _)| *name != "examples").for_each(|(_, value)| closed(value));
        }
        Value::Array(items) => items.iter().for_each(closed),
        _ => {}
    }
}
