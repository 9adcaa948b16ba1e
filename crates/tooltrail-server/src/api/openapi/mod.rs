//! The OpenAPI document, made from [`ENDPOINTS`]. `rows` and `entry` describe the objects, with the helpers of
//! `schema`; closed sets of words come from the model's own lists. tests/api checks every response against it.

mod entry;
mod rows;
mod schema;

use super::error::{ApiError, Code};
use super::reply::{JSON, LINES, Reply};
use super::request::{ApiRequest, Kind, LONGEST, MOST_ROWS, Param, ROWS};
use super::{ENDPOINTS, Endpoint, Gives, ROOT};
use schema::{Schemas, any_of, list, maybe, named, object, one_of, text, version};
use serde_json::{Map, Value, json};

const ABOUT: &str = "Every tool call that coding agents made on this machine: what was asked, what ran, what came back, and what never did. \
Read-only: GET and HEAD. The objects are those that the commands print with `--json`. Fields may be added within a version, never changed \
or removed. On Linux the user who started the server asks without anything. Elsewhere, and from other machines, a token is wanted, as \
`Authorization: Bearer TOKEN`; `tooltrail serve` prints the path of a file with this header.";

/// The media type of event streams. `x-events` gives the schema of the data of each kind of event, which OpenAPI 3.1
/// cannot express.
const EVENTS: &str = "text/event-stream";

/// `/openapi.json`.
pub(super) fn document(request: &ApiRequest) -> Result<Reply, ApiError> {
    let paths: Map<String, Value> =
        ENDPOINTS.iter().map(|endpoint| (endpoint.path.to_owned(), json!({ "get": operation(endpoint) }))).collect();
    let mut schemas = Schemas::default();
    rows::add(&mut schemas);
    entry::add(&mut schemas);
    schemas.add("Error", error());
    Ok(Reply::one(&json!({
        "openapi": "3.1.0",
        "info": { "title": "tooltrail", "version": "1", "description": ABOUT, "license": { "name": "MIT OR Apache-2.0" } },
        "servers": [{ "url": request.app.to(ROOT) }],
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas.0,
            "responses": { "Error": { "description": "What is wrong with the question.", "content": { JSON: { "schema": named("Error") } } } },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer", "description": "The token in the file that `tooltrail serve` names at the start, where the system does not tell who asks." } },
        },
    })))
}

/// The operation of a path: its parameters and responses.
fn operation(endpoint: &Endpoint) -> Value {
    let in_path = endpoint.name.iter().map(|param| parameter(param, "path"));
    let parameters: Vec<Value> = in_path.chain(endpoint.params.iter().map(|param| parameter(param, "query"))).collect();
    // Generators turn the id into a function name, so it may only have letters and underscores.
    let id: String = endpoint.path.chars().filter(|letter| letter.is_ascii_alphabetic() || *letter == '/').collect();
    json!({
        "operationId": id.trim_matches('/').replace('/', "_"),
        "summary": endpoint.title,
        "description": endpoint.about,
        "parameters": parameters,
        "responses": responses(endpoint),
    })
}

fn parameter(param: &Param, place: &str) -> Value {
    let schema = match param.kind {
        Kind::Text | Kind::Sought => json!({ "type": "string", "maxLength": LONGEST }),
        Kind::Cursor => json!({ "type": "string" }),
        Kind::Count => json!({ "type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": ROWS }),
        Kind::Flag => json!({ "type": "integer", "enum": [0, 1], "default": 0 }),
        Kind::Word(words) => json!({ "type": "string", "enum": words() }),
    };
    // OpenAPI demands that parameters in the path are required.
    let required = place == "path" || matches!(param.kind, Kind::Sought);
    let mut parameter = json!({ "name": param.name, "in": place, "required": required, "description": param.about, "schema": schema });
    if !param.example.is_empty() {
        // Examples must have the type of their schema; in the table of endpoints they are all texts.
        let number = param.example.parse::<u64>().ok().filter(|_| matches!(param.kind, Kind::Count | Kind::Flag));
        parameter["example"] = number.map_or_else(|| param.example.into(), Value::from);
    }
    parameter
}

fn responses(endpoint: &Endpoint) -> Value {
    let content = |schema: Value| json!({ JSON: { "schema": schema } });
    let with_lines = |schema: Value, row: &str| json!({ JSON: { "schema": schema }, LINES: { "schema": named(row) } });
    // `kept`: whether the response has a tag, so that 304 is possible. Pages and streams have none.
    let (content, kept) = match endpoint.gives {
        Gives::One(one) => (content(named(one)), true),
        Gives::Either(one, other) => (content(any_of([named(one), named(other)])), true),
        Gives::Rows(row) => (with_lines(page(row), row), false),
        Gives::OneOrRows(one, row) => {
            (json!({ JSON: { "schema": any_of([named(one), page(row)]) }, LINES: { "schema": any_of([named(one), named(row)]) } }), true)
        }
        Gives::Events(kinds) => {
            let kinds: Map<String, Value> = kinds.iter().map(|(kind, data)| ((*kind).to_owned(), named(data))).collect();
            (json!({ EVENTS: { "schema": { "type": "string" }, "x-events": kinds } }), false)
        }
        Gives::Document => (content(json!({ "type": "object" })), true),
    };
    let mut responses = json!({ "200": { "description": endpoint.title, "content": content } });
    if kept {
        responses["304"] = json!({ "description": "It is as it was: `If-None-Match` has its `ETag`." });
    }
    // Errors do not depend on the endpoint, and several codes share a status.
    let mut statuses: Vec<u16> = Code::ALL.iter().map(|code| code.status().as_u16()).collect();
    statuses.sort_unstable();
    statuses.dedup();
    for status in statuses {
        responses[status.to_string()] = json!({ "$ref": "#/components/responses/Error" });
    }
    responses
}

/// A page of rows.
fn page(row: &str) -> Value {
    let next = maybe(text("Give it as `after` for the next page; null where this is the last one."));
    let mut page = object("A page of rows.", [("v", version()), ("items", list(named(row))), ("next", next)]);
    let why = "Only there, and false, where the time for a search ran out: these are the rows that were found until then.";
    page["properties"]["complete"] = json!({ "type": "boolean", "description": why });
    page
}

fn error() -> Value {
    let candidate = object("A session that could be meant.", [("session", text("Its id.")), ("title", maybe(text("Its title.")))]);
    let error = object(
        "What is wrong.",
        [
            ("code", one_of("What is wrong, for programs.", Code::ALL.iter().map(|code| code.word()))),
            ("message", text("The same for people.")),
            ("parameter", maybe(text("The parameter that it is about."))),
            ("at", maybe(schema::pair("Where in that parameter: from a character up to another, not including it."))),
            ("suggestion", maybe(text("What was probably meant: the whole value of the parameter."))),
            ("candidates", list(candidate)),
        ],
    );
    let example = json!({"v":1,"error":{"code":"bad_filter","message":"Unknown filter `stauts:`.","parameter":"q","at":[0,7],"suggestion":"status:failed","candidates":[]}});
    schema::with_example(object("A question that cannot be answered.", [("v", version()), ("error", error)]), example)
}
