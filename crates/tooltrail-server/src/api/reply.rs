//! Replies: one object, a page of rows, or rows that are written while they are sent.

use super::error::{ApiError, Code};
use super::request::ApiRequest;
use crate::answer::headed;
use crate::pipe::{self, Pipe, Writing};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
use std::io::{self, Write};
use tooltrail_catalog::stop::Stop;
use tooltrail_model::row::VERSION;
use xxhash_rust::xxh3::xxh3_64;

/// Media types of replies.
pub(super) const JSON: &str = "application/json";
pub(super) const LINES: &str = "application/x-ndjson";

/// Writes rows, a line each.
pub(super) type RowWriter = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// A reply.
pub(super) enum Reply {
    /// One object.
    One(Vec<u8>),
    /// Some rows.
    Page(RowPage),
    /// All rows, as a stream.
    Stream(RowWriter),
    /// A stream of events, which starts when the response is made.
    Events(Box<dyn FnOnce() -> Response + Send>),
}

/// A page of rows with the cursor of the next.
#[derive(Default)]
pub(super) struct RowPage {
    /// The rows, each with a line feed behind it.
    rows: Vec<u8>,
    /// The cursor, if there are more.
    pub(super) next: Option<String>,
    /// Whether the time ran out before everything was looked through.
    incomplete: bool,
}

impl RowPage {
    /// This page, as one that has only what was found in time.
    pub(super) fn incomplete(self) -> Self {
        RowPage { incomplete: true, ..self }
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: &impl Serialize) {
        write_row(&mut self.rows, row);
    }
}

/// Adds a row to lines in memory.
pub(super) fn write_row(lines: &mut Vec<u8>, row: &impl Serialize) {
    // Serialising texts and numbers into memory cannot fail.
    let _ = serde_json::to_writer(&mut *lines, row);
    lines.push(b'\n');
}

impl Reply {
    /// One object.
    pub(super) fn one(object: &impl Serialize) -> Self {
        let mut text = Vec::new();
        write_row(&mut text, object);
        Reply::One(text)
    }

    /// HTTP response.
    pub(super) fn response(self, request: &ApiRequest) -> Response {
        match self {
            Reply::One(text) => one(text, request.known.as_deref()),
            Reply::Page(page) => page.response(request),
            Reply::Stream(write) => stream(write, &request.app.writing),
            Reply::Events(begin) => begin(),
        }
    }
}

/// One object, or 304 if the client has it.
fn one(text: Vec<u8>, known: Option<&str>) -> Response {
    let tag = format!("\"{:016x}\"", xxh3_64(&text));
    let same = known.is_some_and(|known| {
        known.split(',').any(|one| {
            let one = one.trim();
            // Weak tags are compared like strong ones, as HTTP demands for this header.
            one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag
        })
    });
    // `no-cache` allows keeping it, but the client must ask whether it is still the same.
    let mut response = match same {
        true => headed(StatusCode::NOT_MODIFIED, JSON, "no-cache", Body::empty()),
        false => headed(StatusCode::OK, JSON, "no-cache", Body::from(text)),
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

impl RowPage {
    fn response(self, request: &ApiRequest) -> Response {
        let link = self.next.as_ref().map(|next| format!("<{}>; rel=\"next\"", request.address(next)));
        let mut response = match request.lines {
            true => headed(StatusCode::OK, LINES, "no-store", Body::from(self.rows)),
            false => headed(StatusCode::OK, JSON, "no-store", Body::from(self.object())),
        };
        if let Some(link) = link.and_then(|link| HeaderValue::from_str(&link).ok()) {
            response.headers_mut().insert(header::LINK, link);
        }
        // The same address gives lines or an object, depending on `Accept`.
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
        response
    }

    /// The rows in one object, a row a line.
    fn object(self) -> Vec<u8> {
        let mut text = format!("{{\"v\":{VERSION},\"items\":[").into_bytes();
        // JSON escapes line feeds, so each line of the buffer is one row.
        for (place, row) in self.rows.split(|byte| *byte == b'\n').filter(|row| !row.is_empty()).enumerate() {
            text.extend_from_slice(if place > 0 { b",\n" } else { b"\n" });
            text.extend_from_slice(row);
        }
        text.extend_from_slice(b"],\"next\":");
        text.extend_from_slice(serde_json::to_string(&self.next).unwrap_or_default().as_bytes());
        text.extend_from_slice(if self.incomplete { b",\"complete\":false}\n" } else { b"}\n" });
        text
    }
}

/// Lines that a thread of their own writes while they are sent.
fn stream(write: RowWriter, writing: &Writing) -> Response {
    let Some(turn) = writing.begin() else {
        let say = "Too many responses without a limit are being written. Try again later, or use `limit`.";
        return ApiError::new(Code::Busy, say).response();
    };
    let (mut pipe, written) = Pipe::new();
    // A search may find nothing for long, and would not notice by writing that the client has gone.
    let stop = Stop::new(None, pipe.is_closed());
    // Not one of the few threads for answers: a slow client may take minutes.
    std::thread::spawn(move || {
        pipe::finish(stop.run(|| write(&mut pipe)).and_then(|()| pipe.end()));
        drop(turn);
    });
    headed(StatusCode::OK, LINES, "no-store", pipe::stream(written))
}
