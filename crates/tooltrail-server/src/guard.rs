//! Access control: requests from this machine, made by our own pages.
//!
//! A foreign page can make a browser send requests here, and with DNS rebinding (changing the address behind its own
//! name) even read the responses. So the requested host name must be one of this machine, and requests made by foreign
//! pages are refused. Beyond this machine a token is required as well, as a password that browsers ask for themselves;
//! there are no cookies.

use crate::answer::headed;
use crate::api;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::net::IpAddr;
use std::sync::Arc;

/// Conditions that a request must meet.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Token that requests must have when other machines may connect.
    pub token: Option<String>,
}

/// Security headers of every response. Nothing may be loaded from elsewhere or embedded elsewhere.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// State of the middleware: the guard, and the paths on which errors are JSON.
pub(crate) struct GuardState {
    /// The guard.
    pub(crate) guard: Guard,
    /// Prefixes of API paths.
    pub(crate) apis: Vec<String>,
}

/// Lets a request pass, or says why not.
pub(crate) async fn check(State(state): State<Arc<GuardState>>, request: Request, next: Next) -> Response {
    let is_api = || state.apis.iter().any(|api| request.uri().path().starts_with(api.as_str()));
    let mut response = match state.guard.refusal(request.method(), request.headers()) {
        None => next.run(request).await,
        Some(refusal) if refusal.status() == StatusCode::METHOD_NOT_ALLOWED && is_api() => api::refused_method(),
        Some(refusal) => refusal,
    };
    // Also on refusals: they are shown by browsers too.
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

impl Guard {
    /// Refusal of a request, or `None` if it is let in.
    fn refusal(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        // Nothing here changes anything, so other methods can only be mistakes or attacks.
        if method != Method::GET && method != Method::HEAD {
            return Some(refused(StatusCode::METHOD_NOT_ALLOWED, "Nothing can be changed here: only GET is answered."));
        }
        let Some(host) = text(headers, header::HOST) else {
            return Some(refused(StatusCode::BAD_REQUEST, "The request does not say which host it is for."));
        };
        // Against DNS rebinding. With a token any name is allowed: the attacker's page does not have it.
        if self.token.is_none() && !is_loopback(host) {
            let say = "This name is not one of this machine's own. Ask for http://127.0.0.1 or http://localhost instead.";
            return Some(refused(StatusCode::FORBIDDEN, say));
        }
        // Before the token: browsers send a remembered password along with requests that foreign pages make.
        if is_foreign(headers, host) {
            return Some(refused(StatusCode::FORBIDDEN, "Pages of others may not ask here."));
        }
        if self.token.as_deref().is_some_and(|token| !is_known(headers, token)) {
            let mut response =
                refused(StatusCode::UNAUTHORIZED, "The token that was printed at the start is wanted here, as the password.");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"tooltrail\", charset=\"UTF-8\""));
            return Some(response);
        }
        None
    }
}

fn refused(status: StatusCode, why: &'static str) -> Response {
    headed(status, "text/plain; charset=utf-8", "no-store", Body::from(format!("{why}\n")))
}

/// A header that must occur exactly once and be readable. Two `Host` headers could be read differently by a proxy.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok();
    first.filter(|_| all.next().is_none())
}

/// Whether a host, with or without a port, is a loopback address or `localhost`. No other machine can have these names.
fn is_loopback(host: &str) -> bool {
    let name = without_port(host);
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // IPv6 addresses contain colons, so a port is only recognised behind the closing bracket.
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) => name,
        _ => host,
    }
}

/// Whether a foreign page made the request. Following a link to here is allowed.
fn is_foreign(headers: &HeaderMap, host: &str) -> bool {
    // `null` and unreadable origins count as foreign. Old browsers send `Origin` but not the `Sec-Fetch` headers, so it
    // is checked first.
    if headers.contains_key(header::ORIGIN) {
        let origin = text(headers, header::ORIGIN);
        let ours = |origin: &str| origin.split_once("://").is_some_and(|(scheme, rest)| matches!(scheme, "http" | "https") && rest == host);
        return !origin.is_some_and(ours);
    }
    let said = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // Embedding a page in a frame is navigation too, but not with the destination `document`.
    let follows = said("sec-fetch-mode") == "navigate" && matches!(said("sec-fetch-dest"), "document" | "");
    matches!(said("sec-fetch-site"), "cross-site" | "same-site") && !follows
}

/// Whether a request has the token.
fn is_known(headers: &HeaderMap, token: &str) -> bool {
    let Some(said) = text(headers, header::AUTHORIZATION) else { return false };
    let given = match said.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim().to_owned(),
        Some((scheme, pair)) if scheme.eq_ignore_ascii_case("basic") => {
            let pair = STANDARD.decode(pair.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
            pair.split_once(':').map(|(_, password)| password.to_owned()).unwrap_or_default()
        }
        _ => return false,
    };
    same(given.as_bytes(), token.as_bytes())
}

/// Compares in constant time, so that the duration does not reveal how much of a guessed token is right.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(guard: &Guard, method: Method, headers: &[(&str, &str)]) -> Option<u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        guard.refusal(&method, &map).map(|response| response.status().as_u16())
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let guard = Guard::default();
        for host in ["127.0.0.1", "127.0.0.1:7432", "127.8.9.1:1", "localhost", "LocalHost:99", "[::1]", "[::1]:7432"] {
            assert_eq!(status(&guard, Method::GET, &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "evil.example:7432", "192.168.0.1", "localhost.evil.example", "127.0.0.1.evil.example", "", "0.0.0.0"]
        {
            assert_eq!(status(&guard, Method::GET, &[("host", host)]), Some(403), "{host}");
        }
        assert_eq!(status(&guard, Method::GET, &[]), Some(400));
        assert_eq!(status(&guard, Method::GET, &[("host", "localhost"), ("host", "evil.example")]), Some(400));
        assert_eq!(status(&guard, Method::POST, &[("host", "localhost")]), Some(405));
    }

    #[test]
    fn pages_of_others_are_refused() {
        let guard = Guard::default();
        let from = |headers: &[(&str, &str)]| status(&guard, Method::GET, &[&[("host", "127.0.0.1:7432")], headers].concat());
        assert_eq!(from(&[("origin", "http://127.0.0.1:7432")]), None);
        for origin in ["http://evil.example", "null", "http://127.0.0.1:7433", "http://127.0.0.1", "file://", "http://localhost:7432"] {
            assert_eq!(from(&[("origin", origin)]), Some(403), "{origin}");
        }
        assert_eq!(from(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]), None);
        let frame = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
        assert_eq!(from(&frame), Some(403));
        assert_eq!(from(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]), Some(403));
        assert_eq!(from(&[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")]), Some(403));
        assert_eq!(from(&[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")]), None);
    }

    #[test]
    fn beyond_this_machine_a_token_is_wanted() {
        let guard = Guard { token: Some("s3cret".into()) };
        let with = |value: &str| status(&guard, Method::GET, &[("host", "box.lan:7432"), ("authorization", value)]);
        assert_eq!(status(&guard, Method::GET, &[("host", "box.lan")]), Some(401));
        assert_eq!(status(&guard, Method::GET, &[("host", "127.0.0.1")]), Some(401));
        assert_eq!(with("Bearer s3cret"), None);
        assert_eq!(with(&format!("Basic {}", STANDARD.encode("me:s3cret"))), None);
        for wrong in ["Bearer s3cre", "Bearer s3crets", "Basic !!", "Digest s3cret", "s3cret", ""] {
            assert_eq!(with(wrong), Some(401), "{wrong}");
        }
    }
}
