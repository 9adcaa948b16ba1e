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
use tooltrail_model::row::VERSION;
use xxhash_rust::xxh3::xxh3_64;

/// The types of answers.
pub(super) const JSON: &str = "application/json";
pub(super) const LINES: &str = "application/x-ndjson";

/// Writes rows, a line each.
pub(super) type RowWriter = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// What is answered.
pub(super) enum Reply {
    /// One object.
    One(Vec<u8>),
    /// Some rows.
    Page(RowPage),
    /// Rows, however many there are.
    Stream(RowWriter),
    /// Events, for as long as somebody listens.
    Events(Box<dyn FnOnce() -> Response + Send>),
}

/// Some rows, and where to go on.
#[derive(Default)]
pub(super) struct RowPage {
    /// The rows, each with a line feed behind it.
    rows: Vec<u8>,
    /// The cursor, if there are more.
    pub(super) next: Option<String>,
}

impl RowPage {
    /// Adds a row.
    pub(super) fn push(&mut self, row: &impl Serialize) {
        write_row(&mut self.rows, row);
    }
}

/// Adds a row to lines in memory.
pub(super) fn write_row(lines: &mut Vec<u8>, row: &impl Serialize) {
    // Rows are made of texts and numbers; they cannot fail to be written.
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

    /// As a response to a question.
    pub(super) fn response(self, request: &ApiRequest) -> Response {
        match self {
            Reply::One(text) => one(text, request.known.as_deref()),
            Reply::Page(page) => page.response(request),
            Reply::Stream(write) => stream(write, &request.app.writing),
            Reply::Events(begin) => begin(),
        }
    }
}

/// One object, unless the asker has it already.
fn one(text: Vec<u8>, known: Option<&str>) -> Response {
    let tag = format!("\"{:016x}\"", xxh3_64(&text));
    let same = known.is_some_and(|known| {
        known.split(',').any(|one| {
            let one = one.trim();
            one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag
        })
    });
    // It may be kept, and has to be asked about each time.
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
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
        response
    }

    /// The rows in one object, a row a line.
    fn object(self) -> Vec<u8> {
        let mut text = format!("{{\"v\":{VERSION},\"items\":[").into_bytes();
        // No row has a line feed in it.
        for (place, row) in self.rows.split(|byte| *byte == b'\n').filter(|row| !row.is_empty()).enumerate() {
            text.extend_from_slice(if place > 0 { b",\n" } else { b"\n" });
            text.extend_from_slice(row);
        }
        text.extend_from_slice(b"],\"next\":");
        text.extend_from_slice(serde_json::to_string(&self.next).unwrap_or_default().as_bytes());
        text.extend_from_slice(b"}\n");
        text
    }
}

/// Lines that are written, on a thread of their own, while they are sent.
fn stream(write: RowWriter, writing: &Writing) -> Response {
    let Some(turn) = writing.begin() else {
        let say = "Too many answers without an end are being written already. Ask again when one is done, or with `limit`.";
        return ApiError::new(Code::Busy, say).response();
    };
    let (mut pipe, written) = Pipe::new();
    std::thread::spawn(move || {
        pipe::finish(write(&mut pipe).and_then(|()| pipe.end()));
        drop(turn);
    });
    headed(StatusCode::OK, LINES, "no-store", pipe::stream(written))
}
