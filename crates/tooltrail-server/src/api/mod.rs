//! The HTTP API below `/api/v1`: what the commands print with `--json`, for other programs. Read-only; docs/api.md has examples.
//!
//! [`ENDPOINTS`] is the only list of endpoints: the router is made from it, `request` checks parameters against it, and
//! `openapi` describes it, so they always agree. An endpoint is a function from a request to a reply or an error; each
//! runs on a blocking thread.

mod calls;
mod cursor;
mod error;
mod events;
mod named;
mod openapi;
mod reply;
mod request;
mod search;
mod sessions;
mod stats;
mod turn;

use crate::app_state::AppState;
use crate::work;
use axum::extract::{FromRequestParts, Query, RawPathParams, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, any, get};
use error::{ApiError, Code};
pub(crate) use error::{refused_access, refused_method};
use reply::Reply;
use request::{ApiRequest, Kind, Param};
use std::sync::Arc;

/// Prefix of every path of this version.
const ROOT: &str = "/api/v1";

/// An endpoint.
struct Endpoint {
    /// The path below [`ROOT`].
    path: &'static str,
    /// Title for the documentation.
    title: &'static str,
    /// Description for the documentation.
    about: &'static str,
    /// The name in its path, if it has one.
    name: Option<&'static Param>,
    /// Parameters of the query.
    params: &'static [&'static Param],
    /// Kind of response.
    gives: Gives,
    /// Handler.
    answer: fn(&ApiRequest) -> Result<Reply, ApiError>,
}

/// Kinds of responses, by the names of schemas.
enum Gives {
    /// One object.
    One(&'static str),
    /// One object or another, as a parameter says.
    Either(&'static str, &'static str),
    /// Rows, a page at a time or as lines.
    Rows(&'static str),
    /// One object, or rows if a parameter is given.
    OneOrRows(&'static str, &'static str),
    /// A stream of live changes: kinds of events, each with its data.
    Events(&'static [(&'static str, &'static str)]),
    /// The OpenAPI document.
    Document,
}

// Parameters are constants, because several endpoints share them and the documentation shows them alike.
const QUERY: Param = Param {
    name: "q",
    kind: Kind::Text,
    about: "A filter, in the language of the commands and pages (docs/filter.md). Nothing takes everything.",
    example: "status:failed since:7d",
};
const TEXT: Param = Param {
    name: "q",
    kind: Kind::Sought,
    about: "What to look for: a word, a \"phrase\" or re:PATTERN, beside terms of the filter language that narrow it down.",
    example: "panicked since:30d",
};
const LIMIT: Param =
    Param { name: "limit", kind: Kind::Count, about: "How many rows a page has. Lines without a limit go on to the end.", example: "10" };
const AFTER: Param = Param {
    name: "after",
    kind: Kind::Cursor,
    about: "Where to go on: the `next` of the page before, with the same other parameters.",
    example: "",
};
const FORMAT: Param = Param {
    name: "format",
    kind: Kind::Word(|| vec!["json", "jsonl"]),
    about: "`jsonl` gives a row a line, as the command prints them; so does `Accept: application/x-ndjson`.",
    example: "jsonl",
};
const COPIES: Param = Param {
    name: "copies",
    kind: Kind::Flag,
    about: "1 gives every copy of a call a row of its own, which says only what its own file says.",
    example: "1",
};
const FULL: Param =
    Param { name: "full", kind: Kind::Flag, about: "1 gives the call with its input, its result and how it is shown.", example: "1" };
const BY: Param = Param {
    name: "by",
    // A function, not a list: constants cannot collect the words of an enum.
    kind: Kind::Word(|| tooltrail_model::link::By::ALL.iter().map(|by| by.word()).collect()),
    about: "Groups totals: a row for each project, day, week, month, model, tool, agent, branch, session or command.",
    example: "tool",
};
const FIELD: Param = Param {
    name: "field",
    kind: Kind::Word(|| tooltrail_model::filter::texts::Field::ALL.iter().map(|field| field.word()).collect()),
    about: "Only texts of this kind.",
    example: "result",
};
const SINCE: Param = Param {
    name: "since",
    kind: Kind::Cursor,
    about: "The `id` of the last event that was heard, to go on behind it. `Last-Event-ID` says the same, and counts first.",
    example: "",
};
const SESSION: Param = Param {
    name: "id",
    kind: Kind::Text,
    about: "A session: its id, a beginning of it that no other has, or `last`, the newest of all (`last:all` too).",
    example: "last",
};
const CALL: Param = Param {
    name: "id",
    kind: Kind::Text,
    about: "A call: its id, its session and number as in `3f2a:41`, `last:failed`, or the file and line of a record of it as in `evidence`.",
    example: "last:failed",
};

/// All endpoints.
const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/sessions",
        title: "Sessions",
        about: "The sessions that a filter takes, by their start: the rows of `tooltrail list --json`.",
        name: None,
        params: &[&QUERY, &LIMIT, &AFTER, &FORMAT],
        gives: Gives::Rows("Session"),
        answer: sessions::list,
    },
    Endpoint {
        path: "/sessions/{id}",
        title: "One session",
        about: "The row of one session.",
        name: Some(&SESSION),
        params: &[],
        gives: Gives::One("Session"),
        answer: sessions::one,
    },
    Endpoint {
        path: "/calls",
        title: "Tool calls",
        about: "The calls that a filter takes, by the start of their session, then by request: the rows of `tooltrail calls --json`.",
        name: None,
        params: &[&QUERY, &LIMIT, &AFTER, &COPIES, &FORMAT],
        gives: Gives::Rows("Call"),
        answer: calls::list,
    },
    Endpoint {
        path: "/calls/{id}",
        title: "One tool call",
        about: "The row of one call, or all that is known of it: what `tooltrail show REF --json` prints.",
        name: Some(&CALL),
        params: &[&FULL],
        gives: Gives::Either("Call", "Entry"),
        answer: calls::one,
    },
    Endpoint {
        path: "/search",
        title: "Text in sessions",
        about: "The texts in which a query is found, the newest sessions first: the rows of `tooltrail search --json`.",
        name: None,
        params: &[&TEXT, &FIELD, &LIMIT, &AFTER, &FORMAT],
        gives: Gives::Rows("Hit"),
        answer: search::list,
    },
    Endpoint {
        path: "/stats",
        title: "Totals",
        about: "Totals of what a filter takes: the object of `tooltrail stats --json`, or with `by` a row for each group.",
        name: None,
        params: &[&QUERY, &BY, &FORMAT],
        gives: Gives::OneOrRows("Stats", "Group"),
        answer: stats::totals,
    },
    Endpoint {
        path: "/events",
        title: "What changes",
        about: "Calls, sessions and messages as they come and change, as server-sent events, until nobody listens. A stream begins with `begun`, \
or with `missed` if it cannot go on where it was: then ask again for what you know.",
        name: None,
        params: &[&QUERY, &SINCE],
        gives: Gives::Events(&[
            ("begun", "Nothing"),
            ("missed", "Nothing"),
            ("requested", "Call"),
            ("updated", "Call"),
            ("session", "Session"),
            ("message", "Message"),
            ("lost", "Lost"),
            ("gone", "Gone"),
        ]),
        answer: events::follow,
    },
    Endpoint {
        path: "/openapi.json",
        title: "This document",
        about: "What can be asked here, as OpenAPI 3.1.",
        name: None,
        params: &[],
        gives: Gives::Document,
        answer: openapi::document,
    },
];

/// All endpoints, by their paths.
pub(crate) fn routes(app: &Arc<AppState>) -> impl Iterator<Item = (String, MethodRouter)> {
    let endpoints = ENDPOINTS.iter().map(|endpoint| (app.to(&format!("{ROOT}{}", endpoint.path)), route(app, endpoint)));
    // Unknown paths below `/api` get JSON errors, not the HTML page of other unknown paths.
    endpoints.chain(["/api", "/api/", "/api/{*rest}"].into_iter().map(|path| (app.to(path), any(missing))))
}

/// The prefix of all paths of the API.
pub(crate) fn prefix(app: &AppState) -> String {
    app.to("/api/")
}

fn route(app: &Arc<AppState>, endpoint: &'static Endpoint) -> MethodRouter {
    let app = Arc::clone(app);
    get(move |request: Request| answer(Arc::clone(&app), endpoint, request))
}

/// Reads a request, runs its handler on a blocking thread, and gives the response.
async fn answer(app: Arc<AppState>, endpoint: &'static Endpoint, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    // Extracted by hand, because axum's own rejections are plain text.
    let name = match RawPathParams::from_request_parts(&mut parts, &()).await {
        Ok(names) => names.iter().next().map(|(_, name)| name.to_owned()),
        Err(_) => return ApiError::about(Code::BadValue, "id", "This name is no text in UTF-8.").response(),
    };
    // The decoder replaces invalid UTF-8 silently, so `is_text` looks at the bytes first: a wrong filter must not pass
    // for another one.
    let query = Query::try_from_uri(&parts.uri).ok().filter(|_| is_text(parts.uri.query().unwrap_or_default()));
    let Some(Query(query)) = query else {
        return ApiError::new(Code::BadValue, "What stands behind the question mark is no text in UTF-8.").response();
    };
    let mut request = match ApiRequest::read(endpoint, app, name, query, &parts) {
        Ok(request) => request,
        Err(error) => return error.response(),
    };
    let made = work::ANSWERS.make(move |wanted| {
        // Long handlers stop when the client is gone.
        request.wanted = wanted.clone();
        match (endpoint.answer)(&request) {
            Ok(reply) => reply.response(&request),
            Err(error) => error.response(),
        }
    });
    made.await.unwrap_or_else(|error| {
        let error = tooltrail_view::line::neutral(&error.to_string()).into_owned();
        let say = format!("This could not be answered: {error}. `tooltrail check` says whether something is wrong with the logs.");
        ApiError::new(Code::Broken, say).response()
    })
}

/// Whether a query is valid UTF-8 after percent-decoding.
fn is_text(query: &str) -> bool {
    let mut pieces = query.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        // A `%` without two hexadecimal digits stands for itself, as in the decoder.
        let code = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.extend(code);
        bytes.extend_from_slice(piece.get(if code.is_some() { 2 } else { 0 }..).unwrap_or_default().as_bytes());
    }
    std::str::from_utf8(&bytes).is_ok()
}

/// Response for unknown paths.
async fn missing(request: Request) -> Response {
    let path = tooltrail_view::line::neutral(request.uri().path()).into_owned();
    ApiError::new(Code::NotFound, format!("There is nothing at `{path}`. `{ROOT}/openapi.json` lists what can be asked.")).response()
}
