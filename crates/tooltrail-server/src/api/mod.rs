//! The HTTP API below `/api/v1`: what the commands print with `--json`, for other programs. Read-only; docs/api.md has examples.
//!
//! [`ENDPOINTS`] is the only list of endpoints: the router is made from it, `request` checks parameters against it, and
//! `openapi` describes it, so they always agree. An endpoint is a function from a request to a reply or an error; each
//! runs on a blocking thread.

mod calls;
mod cursor;
mod error;
mod events;
mod failures;
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
use tooltrail_catalog::stop::Stop;

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
    about: "A filter, as in the commands and pages (docs/filter.md). Without it, everything.",
    example: "status:failed since:7d",
};
const TEXT: Param = Param {
    name: "q",
    kind: Kind::Sought,
    about: "The search: a word, a \"phrase\" or re:PATTERN, and optional filter terms.",
    example: "panicked since:30d",
};
const LIMIT: Param = Param {
    name: "limit",
    kind: Kind::Count,
    about: "Number of rows per page. Without a limit, JSON lines contain all rows.",
    example: "10",
};
const AFTER: Param = Param {
    name: "after",
    kind: Kind::Cursor,
    about: "The `next` of the previous page, with the other parameters unchanged.",
    example: "",
};
const FORMAT: Param = Param {
    name: "format",
    kind: Kind::Word(|| vec!["json", "jsonl"]),
    about: "`jsonl` returns a row per line, as the command prints them; so does `Accept: application/x-ndjson`.",
    example: "jsonl",
};
const COPIES: Param =
    Param { name: "copies", kind: Kind::Flag, about: "1 lists every copy of a call, each as its own file records it.", example: "1" };
const FULL: Param =
    Param { name: "full", kind: Kind::Flag, about: "1 includes the input, the result and the view of the call.", example: "1" };
const BY: Param = Param {
    name: "by",
    // A function, not a list: constants cannot collect the words of an enum.
    kind: Kind::Word(|| tooltrail_model::link::By::ALL.iter().map(|by| by.word()).collect()),
    about: "Group totals by project, day, week, month, model, tool, agent, branch, session or command: a row for each.",
    example: "tool",
};
const UNRESOLVED: Param =
    Param { name: "unresolved", kind: Kind::Flag, about: "1 counts only failures that no later success resolved.", example: "1" };
const FIELD: Param = Param {
    name: "field",
    kind: Kind::Word(|| tooltrail_model::filter::texts::Field::ALL.iter().map(|field| field.word()).collect()),
    about: "Only this field.",
    example: "result",
};
const SINCE: Param = Param {
    name: "since",
    kind: Kind::Cursor,
    about: "The `id` of the last received event, to continue after it. The header `Last-Event-ID` takes precedence.",
    example: "",
};
const SESSION: Param = Param {
    name: "id",
    kind: Kind::Text,
    about: "A session: its id, a unique prefix of it, or `last`, the newest of all (`last:all` too).",
    example: "last",
};
const CALL: Param = Param {
    name: "id",
    kind: Kind::Text,
    about: "A call: its id, its session and number as in `3f2a:41`, `last:failed`, or a file and line as in `evidence`.",
    example: "last:failed",
};

/// All endpoints.
const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/sessions",
        title: "Sessions",
        about: "Sessions that match a filter, sorted by start: the rows of `tooltrail list --json`.",
        name: None,
        params: &[&QUERY, &LIMIT, &AFTER, &FORMAT],
        gives: Gives::Rows("Session"),
        answer: sessions::list,
    },
    Endpoint {
        path: "/sessions/{id}",
        title: "A session",
        about: "The row of a session.",
        name: Some(&SESSION),
        params: &[],
        gives: Gives::One("Session"),
        answer: sessions::one,
    },
    Endpoint {
        path: "/calls",
        title: "Tool calls",
        about: "Calls that match a filter, sorted by the start of their session, then by request: the rows of `tooltrail calls --json`.",
        name: None,
        params: &[&QUERY, &LIMIT, &AFTER, &COPIES, &FORMAT],
        gives: Gives::Rows("Call"),
        answer: calls::list,
    },
    Endpoint {
        path: "/calls/{id}",
        title: "A tool call",
        about: "The row of a call, or all its details as in `tooltrail show REF --json`.",
        name: Some(&CALL),
        params: &[&FULL],
        gives: Gives::Either("Call", "Entry"),
        answer: calls::one,
    },
    Endpoint {
        path: "/search",
        title: "Text in sessions",
        about: "Texts that match a query, newest sessions first: the rows of `tooltrail search --json`.",
        name: None,
        params: &[&TEXT, &FIELD, &LIMIT, &AFTER, &FORMAT],
        gives: Gives::Rows("Hit"),
        answer: search::list,
    },
    Endpoint {
        path: "/failures",
        title: "Failures by message",
        about: "Calls that match a filter and failed, timed out, or were blocked or rejected, grouped by their message, the most frequent first: \
the rows of `tooltrail failures --json` (docs/failures.md).",
        name: None,
        params: &[&QUERY, &UNRESOLVED, &LIMIT, &AFTER, &FORMAT],
        gives: Gives::Rows("Failure"),
        answer: failures::list,
    },
    Endpoint {
        path: "/stats",
        title: "Totals",
        about: "Totals of what matches a filter: the object of `tooltrail stats --json`, or with `by` a row for each group.",
        name: None,
        params: &[&QUERY, &BY, &FORMAT],
        gives: Gives::OneOrRows("Stats", "Group"),
        answer: stats::totals,
    },
    Endpoint {
        path: "/events",
        title: "Changes",
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
        about: "This API as an OpenAPI 3.1 document.",
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
        Err(_) => return ApiError::about(Code::BadValue, "id", "The name is not valid UTF-8.").response(),
    };
    // The decoder replaces invalid UTF-8 silently, so `is_text` looks at the bytes first: a wrong filter must not pass
    // for another one.
    let query = Query::try_from_uri(&parts.uri).ok().filter(|_| is_text(parts.uri.query().unwrap_or_default()));
    let Some(Query(query)) = query else {
        return ApiError::new(Code::BadValue, "The query string is not valid UTF-8.").response();
    };
    let mut request = match ApiRequest::read(endpoint, app, name, query, &parts) {
        Ok(request) => request,
        Err(error) => return error.response(),
    };
    let searches = request.get("q").is_some_and(|query| !query.trim().is_empty());
    let lane = if searches { &work::SEARCHES } else { &work::ANSWERS };
    let made = lane.make(move |wanted| {
        // Long handlers stop when the client is gone.
        request.wanted = wanted.clone();
        let patience = request.app.setup.patience;
        match work::until(patience, wanted, || answer_in_time(endpoint, &request)) {
            Ok(reply) => reply.response(&request),
            Err(error) => error.response(),
        }
    });
    made.await.unwrap_or_else(|error| {
        let error = tooltrail_view::line::neutral(&error.to_string()).into_owned();
        let say = format!("Internal error: {error}. Run `tooltrail check` to check the logs.");
        ApiError::new(Code::Broken, say).response()
    })
}

/// The reply to a request. One that ran out of time is a page that says so, or an error where it would pass for all of it.
fn answer_in_time(endpoint: &Endpoint, request: &ApiRequest) -> Result<Reply, ApiError> {
    let reply = (endpoint.answer)(request)?;
    if !Stop::current().is_reached() {
        return Ok(reply);
    }
    match reply {
        Reply::Page(page) if !request.lines && endpoint.path != "/stats" => Ok(Reply::Page(page.incomplete())),
        _ => {
            let say = format!(
                "This took more than {} s and was stopped. Narrow it down, as with since:7d or project:api, or start the server with another --search-timeout.",
                request.app.setup.patience.as_secs()
            );
            Err(ApiError::new(Code::TimedOut, say))
        }
    }
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
    ApiError::new(Code::NotFound, format!("No such path `{path}`. `{ROOT}/openapi.json` lists all paths.")).response()
}
