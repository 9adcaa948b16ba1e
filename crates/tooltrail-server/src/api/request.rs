//! A request to the API, checked against the parameters of its endpoint.

use super::cursor;
use super::error::{ApiError, Code};
use super::reply::{JSON, LINES};
use super::{Endpoint, ROOT};
use crate::app_state::AppState;
use crate::request::encoded;
use crate::snapshot::CatalogueSnapshot;
use crate::stream::last_event;
use crate::work::Cancellation;
use axum::http::header;
use axum::http::request::Parts;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use tooltrail_model::filter::Filter;
use tooltrail_view::line::neutral;
use xxhash_rust::xxh3::xxh3_64;

/// Rows per page: the default and the maximum.
pub(super) const ROWS: usize = 100;
pub(super) const MOST_ROWS: usize = 1000;
/// Longest text of a parameter, in characters.
pub(super) const LONGEST: usize = 4096;

/// A parameter.
pub(super) struct Param {
    /// Its name.
    pub(super) name: &'static str,
    /// Kind of its values.
    pub(super) kind: Kind,
    /// Description for the documentation.
    pub(super) about: &'static str,
    /// Example for the documentation.
    pub(super) example: &'static str,
}

/// Kinds of values.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Any text.
    Text,
    /// Any text; the documentation calls it required.
    Sought,
    /// A number of rows.
    Count,
    /// 0 or 1.
    Flag,
    /// A closed set of words.
    Word(fn() -> Vec<&'static str>),
    /// A cursor from an earlier response.
    Cursor,
}

/// A request, read and checked.
pub(super) struct ApiRequest {
    /// The logs it is about.
    pub(super) app: Arc<AppState>,
    /// Whether rows are wanted as lines.
    pub(super) lines: bool,
    /// Tags of responses that the client has (`If-None-Match`).
    pub(super) known: Option<String>,
    /// Last event that the client received (`Last-Event-ID`).
    heard: Option<String>,
    name: String,
    values: Vec<(&'static str, String)>,
    path: String,
    /// Set when the client no longer waits.
    pub(super) wanted: Cancellation,
}

impl ApiRequest {
    /// Reads a request to an endpoint, or gives the error in it.
    pub(super) fn read(
        endpoint: &'static Endpoint,
        app: Arc<AppState>,
        name: Option<String>,
        query: Vec<(String, String)>,
        parts: &Parts,
    ) -> Result<Self, ApiError> {
        let mut values: Vec<(&'static str, String)> = Vec::new();
        for (key, value) in query {
            // Unknown parameters are errors: a misspelt filter that is ignored would give far too much.
            let Some(param) = endpoint.params.iter().find(|param| param.name == key) else { return Err(unknown(endpoint, &key)) };
            if values.iter().any(|(known, _)| *known == param.name) {
                return Err(ApiError::about(Code::RepeatedParameter, param.name, format!("`{}` is given more than once.", param.name)));
            }
            param.check(&value)?;
            values.push((param.name, value));
        }
        // Endpoints without a name in their path never look at it.
        let name = name.unwrap_or_default();
        if let Some(param) = endpoint.name {
            param.check(&name)?;
        }
        let said = |header| parts.headers.get(header).and_then(|value| value.to_str().ok());
        // The parameter wins over the header, because it is easier to set by hand in an address.
        let accepts = accepts_lines(parts.headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()));
        let format = values.iter().find(|(key, _)| *key == "format").map(|(_, value)| value == "jsonl");
        let lines = format.unwrap_or(accepts && endpoint.params.iter().any(|param| param.name == "format"));
        let known = said(header::IF_NONE_MATCH).map(str::to_owned);
        let heard = last_event(&parts.headers).map(str::to_owned);
        let path = app.to(&format!("{ROOT}{}", endpoint.path));
        Ok(ApiRequest { app, lines, known, heard, name, values, path, wanted: Cancellation::default() })
    }

    /// Value of the name in the path.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A value.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
    }

    /// The event to continue after. The header wins: browsers repeat the address unchanged when they reconnect.
    pub(super) fn since(&self) -> Option<&str> {
        self.heard.as_deref().or_else(|| self.get("since"))
    }

    /// Whether a flag is set.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name) == Some("1")
    }

    /// Number of rows per page; `None` for all of them, as lines.
    pub(super) fn limit(&self) -> Option<usize> {
        let said = self.get("limit").and_then(|limit| limit.parse().ok());
        said.or_else(|| (!self.lines).then_some(ROWS))
    }

    /// The current snapshot. While logs are still being read this is an error, because an incomplete answer would be
    /// wrong.
    pub(super) fn snapshot(&self) -> Result<Arc<CatalogueSnapshot>, ApiError> {
        let snapshot = self.app.snapshot()?;
        if snapshot.read.partial {
            return Err(ApiError::new(Code::StillReading, "The logs are still being read. Try again in a moment."));
        }
        Ok(snapshot)
    }

    /// The filter.
    pub(super) fn filter(&self, snapshot: &CatalogueSnapshot) -> Result<Filter, ApiError> {
        self.app.filter(self.get("q").unwrap_or_default(), snapshot).map_err(|mistake| ApiError::filter(&mistake))
    }

    /// Position to continue after, unless the first page is asked for.
    pub(super) fn after<T: DeserializeOwned>(&self) -> Result<Option<T>, ApiError> {
        let text = self.get("after").filter(|text| !text.is_empty());
        text.map(|text| cursor::open(text, self.mark())).transpose()
    }

    /// Cursor for the next page.
    pub(super) fn next<T: Serialize>(&self, at: &T) -> String {
        cursor::seal(at, self.mark())
    }

    /// The address of the next page.
    pub(super) fn address(&self, next: &str) -> String {
        let others = self.values.iter().filter(|(key, _)| *key != "after").map(|(key, value)| (*key, value.as_str()));
        let pairs: Vec<String> = others.chain([("after", next)]).map(|(key, value)| format!("{key}={}", encoded(value))).collect();
        format!("{}?{}", self.path, pairs.join("&"))
    }

    /// Fingerprint of the request without its position: a cursor is only valid for the same list.
    fn mark(&self) -> u64 {
        let mut said: Vec<String> = vec![self.path.clone()];
        // Page size and format may change between pages.
        let others = self.values.iter().filter(|(key, value)| !matches!(*key, "after" | "limit" | "format") && !value.is_empty());
        said.extend(others.map(|(key, value)| format!("{key}={value}")));
        said.sort_unstable();
        xxh3_64(said.join("\0").as_bytes())
    }
}

impl Param {
    /// Checks a value.
    fn check(&self, value: &str) -> Result<(), ApiError> {
        let wrong = |say: String| Err(ApiError::about(Code::BadValue, self.name, say));
        // Quoted in messages, so it is shortened and made harmless.
        let (name, shown) = (self.name, || neutral(value.get(..value.floor_char_boundary(80)).unwrap_or_default()).into_owned());
        match self.kind {
            Kind::Text | Kind::Sought if value.chars().count() > LONGEST => wrong(format!("`{name}` is longer than {LONGEST} letters.")),
            Kind::Text | Kind::Sought | Kind::Cursor => Ok(()),
            Kind::Flag if matches!(value, "0" | "1") => Ok(()),
            Kind::Flag => wrong(format!("`{name}` is 0 or 1, not `{}`.", shown())),
            Kind::Count => match value.parse::<usize>() {
                // Only the canonical spelling: `+5` and `007` are refused, as JSON does.
                Ok(count) if (1..=MOST_ROWS).contains(&count) && count.to_string() == value => Ok(()),
                _ => wrong(format!("`{name}` is a number from 1 to {MOST_ROWS}, not `{}`.", shown())),
            },
            Kind::Word(words) if words().contains(&value) => Ok(()),
            Kind::Word(words) => wrong(format!("`{name}` is one of {}, not `{}`.", words().join(", "), shown())),
        }
    }
}

/// Whether the `Accept` header prefers lines over one object, and names them at all.
fn accepts_lines<'h>(said: impl Iterator<Item = &'h str>) -> bool {
    let (mut lines, mut one) = (0.0, 0.0);
    for range in said.flat_map(|header| header.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight: f32 = weight.map_or(1.0, |weight| weight.trim().parse().unwrap_or(0.0));
        if kind.eq_ignore_ascii_case(LINES) {
            lines = weight;
        } else if kind.eq_ignore_ascii_case(JSON) {
            one = weight;
        }
    }
    // `*/*` alone is not a wish for lines: browsers and curl send it always.
    lines > 0.0 && lines >= one
}

fn unknown(endpoint: &Endpoint, key: &str) -> ApiError {
    let known: Vec<&str> = endpoint.params.iter().map(|param| param.name).collect();
    let key = key.get(..key.floor_char_boundary(80)).unwrap_or_default();
    let takes = if known.is_empty() { "This path has no parameters.".to_owned() } else { format!("Parameters: {}.", known.join(", ")) };
    ApiError::about(Code::UnknownParameter, key, format!("Unknown parameter `{}`. {takes}", neutral(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sent_to_whoever_takes_them() {
        for (said, lines) in [
            (&["application/x-ndjson"][..], true),
            (&["Application/X-NDJSON; charset=utf-8, */*"], true),
            (&["text/html", "application/x-ndjson"], true),
            (&["application/json, application/x-ndjson"], true),
            (&["application/json, application/x-ndjson;q=0.5"], false),
            (&["application/x-ndjson;q=0, application/json"], false),
            (&["application/x-ndjson;q=nothing"], false),
            (&["*/*"], false),
            (&[], false),
        ] {
            assert_eq!(accepts_lines(said.iter().copied()), lines, "{said:?}");
        }
    }
}
