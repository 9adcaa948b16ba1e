//! Access control: requests of the server's owner, made by our own pages.
//!
//! A foreign page can make a browser send requests here, and with DNS rebinding (changing the address behind its own
//! name) even read the responses. So the requested host name must be one of this machine, and requests made by foreign
//! pages are refused. Other users of this machine can connect too, and other machines where the address allows it: `access`
//! knows who is at the other end of a connection, and everybody whose user is not known has to send a credential. Browsers
//! exchange a one-time code for a cookie, programs send a token.

use crate::access::{Access, Admission, Peer};
use crate::answer::headed;
use crate::api;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, html};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// Conditions that a request must meet, with the secrets of this server.
#[derive(Debug)]
pub struct Guard {
    access: Access,
    /// Name of the cookie. Browsers send cookies to every port of a host, so it has the port in it.
    cookie_name: String,
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
    pub(crate) guard: Arc<Guard>,
    /// Prefixes of API paths.
    pub(crate) apis: Vec<String>,
}

/// Lets a request pass, or says why not.
pub(crate) async fn check(State(state): State<Arc<GuardState>>, request: Request, next: Next) -> Response {
    // Without a connection no user is known, and a credential is needed.
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer::Unknown);
    let is_api = state.apis.iter().any(|api| request.uri().path().starts_with(api.as_str()));
    let mut response = match state.guard.entry(request.method(), request.uri(), request.headers(), peer) {
        Entry::Open => next.run(request).await,
        Entry::Welcome(cookie) => welcome(cookie),
        Entry::Closed(refusal) => refusal.response(is_api),
    };
    // Also on refusals: they are shown by browsers too.
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// Decision about a request.
#[derive(Debug, PartialEq, Eq)]
enum Entry {
    /// It is answered.
    Open,
    /// Its code was valid, or needless: the browser goes on to the page, with a cookie if it needs one.
    Welcome(Option<String>),
    /// It is refused.
    Closed(Refusal),
}

/// Reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Method,
    NoHost,
    Host,
    Foreign,
    /// It comes from another user of this machine.
    OtherUser,
    /// It has no credential, or a wrong one.
    NoCredential,
    /// Its code has been used, or has expired.
    OldCode,
}

impl Refusal {
    fn status(self) -> StatusCode {
        match self {
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::NoHost => StatusCode::BAD_REQUEST,
            Refusal::Host | Refusal::Foreign => StatusCode::FORBIDDEN,
            Refusal::OtherUser | Refusal::NoCredential | Refusal::OldCode => StatusCode::UNAUTHORIZED,
        }
    }

    fn message(self) -> &'static str {
        match self {
            Refusal::Method => "The server is read-only and answers GET requests only.",
            Refusal::NoHost => "The request has no Host header.",
            Refusal::Host => "The Host header does not name this machine. Use http://127.0.0.1 or http://localhost.",
            Refusal::Foreign => "Cross-origin requests are refused.",
            Refusal::OtherUser => {
                "This server belongs to another user of this machine. Run `tooltrail` to start your own, and `tooltrail open` to open it again."
            }
            Refusal::NoCredential => {
                "This server answers only the user who started it. Run `tooltrail open` to open it in the browser; \
                 programs send the header in the file that `tooltrail serve` names."
            }
            Refusal::OldCode => "This address has been used, or is older than a minute. Run `tooltrail open` to open a new one.",
        }
    }

    fn response(self, is_api: bool) -> Response {
        let (status, message) = (self.status(), self.message());
        let mut response = match status {
            StatusCode::METHOD_NOT_ALLOWED if is_api => api::refused_method(),
            StatusCode::UNAUTHORIZED if is_api => api::refused_access(message),
            StatusCode::UNAUTHORIZED => page(status, message),
            _ => headed(status, "text/plain; charset=utf-8", "no-store", Body::from(format!("{message}\n"))),
        };
        if status == StatusCode::UNAUTHORIZED {
            // HTTP demands a challenge. Not `Basic`: browsers would ask for a password before they show the page.
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tooltrail\""));
        }
        response
    }
}

/// A page without style sheet or script: those are refused as well.
fn page(status: StatusCode, message: &str) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "tooltrail" } }
            body { h1 { "tooltrail" } p { (message) } }
        }
    };
    headed(status, "text/html; charset=utf-8", "no-store", Body::from(page.into_string()))
}

/// Leads a browser on to the page, out of the address with the code.
fn welcome(cookie: Option<String>) -> Response {
    // Not a redirect: a browser that came here by a link of another site would follow it without the new cookie.
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "tooltrail" } meta http-equiv="refresh" content="0; url=/"; }
            body { p { a href="/" { "tooltrail" } } }
        }
    };
    let mut response = headed(StatusCode::OK, "text/html; charset=utf-8", "no-store", Body::from(page.into_string()));
    // Digits and a name of our own are always valid in a header.
    if let Some(value) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

impl Guard {
    /// A guard with new secrets, for a server on a port. `owner` is the user number of this process, where the system shows those of
    /// connections. Fails if the system has no random numbers.
    pub fn new(port: u16, admission: Admission, owner: Option<u32>) -> std::io::Result<Self> {
        let access = Access::new(admission, owner).map_err(|error| std::io::Error::other(format!("no random numbers: {error}")))?;
        Ok(Guard { access, cookie_name: format!("tooltrail-{port}") })
    }

    /// Token for programs, which they send as `Authorization: Bearer`.
    pub fn token(&self) -> &str {
        self.access.token.reveal()
    }

    /// A new code for the address of the page, `/?code=…`, if a browser needs one that connects as `peer` does.
    pub fn code(&self, peer: Peer) -> Option<String> {
        let knows = self.access.admission == Admission::Anybody || (self.access.admission == Admission::Owner && peer == Peer::Owner);
        // Without random numbers the server could not have started.
        if knows { None } else { self.access.codes.issue(Instant::now()).ok() }
    }

    /// The user at the other end of a connection. This reads files of the system, so it belongs on a thread that may wait.
    pub fn peer(&self, client: SocketAddr, server: SocketAddr) -> Peer {
        self.access.peer(client, server)
    }

    /// Whether users of connections are looked up at all.
    pub(crate) fn looks_up(&self) -> bool {
        self.access.looks_up()
    }

    /// Decides about a request.
    fn entry(&self, method: &Method, uri: &Uri, headers: &HeaderMap, peer: Peer) -> Entry {
        // Nothing here changes anything, so other methods can only be mistakes or attacks.
        if method != Method::GET && method != Method::HEAD {
            return Entry::Closed(Refusal::Method);
        }
        let Some(host) = text(headers, header::HOST) else { return Entry::Closed(Refusal::NoHost) };
        if !self.is_own_name(host) {
            return Entry::Closed(Refusal::Host);
        }
        // Before credentials: browsers send a cookie or a remembered password along with requests that foreign pages make.
        if is_foreign(headers, host) {
            return Entry::Closed(Refusal::Foreign);
        }
        let known = match (self.access.admission, peer) {
            (Admission::Anybody, _) | (Admission::Owner, Peer::Owner) => true,
            // Whatever it has: a credential in the hands of another user is a stolen one.
            (Admission::Owner, Peer::Other) => return Entry::Closed(Refusal::OtherUser),
            _ => false,
        };
        let has_credential = || self.has_cookie(headers) || self.has_token(headers);
        match code(method, uri) {
            Some(code) => match self.access.codes.redeem(code, Instant::now()) {
                valid if known || (!valid && has_credential()) => Entry::Welcome(None),
                true => Entry::Welcome(Some(self.cookie())),
                false => Entry::Closed(Refusal::OldCode),
            },
            None if known || has_credential() => Entry::Open,
            None => Entry::Closed(Refusal::NoCredential),
        }
    }

    /// Whether a request is for this machine by a name that only it can have, which is what DNS rebinding cannot fake.
    fn is_own_name(&self, host: &str) -> bool {
        match self.access.admission {
            Admission::Owner => is_loopback(host),
            // Any name: cookies belong to a name, so the attacker's page has none.
            Admission::Credential => true,
            // Rebinding needs a name, so an address is safe. Other machines ask by it.
            Admission::Anybody => is_loopback(host) || address(host).is_some(),
        }
    }

    /// The cookie, as a response sets it.
    fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name, self.access.cookie.reveal())
    }

    /// Whether a request has the cookie. Another server of this host may have set one of the same name, so any of them counts.
    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie_name && self.access.cookie.is(value))
    }

    /// Whether a request has the token, also as the password of any user name.
    fn has_token(&self, headers: &HeaderMap) -> bool {
        let Some(said) = text(headers, header::AUTHORIZATION) else { return false };
        match said.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => self.access.token.is(token.trim()),
            Some((scheme, pair)) if scheme.eq_ignore_ascii_case("basic") => {
                let pair = STANDARD.decode(pair.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
                pair.split_once(':').is_some_and(|(_, password)| self.access.token.is(password))
            }
            _ => false,
        }
    }
}

/// The code in the address that a browser opens. Only a GET uses it up: a HEAD is no browser that opens a page.
fn code<'a>(method: &Method, uri: &'a Uri) -> Option<&'a str> {
    let query = uri.query().filter(|_| method == Method::GET && uri.path() == "/")?;
    query.split('&').find_map(|pair| pair.strip_prefix("code="))
}

/// A header that must occur exactly once and be readable. Two `Host` headers could be read differently by a proxy.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok();
    first.filter(|_| all.next().is_none())
}

/// Whether a host, with or without a port, is a loopback address or `localhost`. No other machine can have these names.
fn is_loopback(host: &str) -> bool {
    without_port(host).eq_ignore_ascii_case("localhost") || address(host).is_some_and(|address| address.is_loopback())
}

/// The address that a host is, with or without a port.
fn address(host: &str) -> Option<IpAddr> {
    without_port(host).trim_start_matches('[').trim_end_matches(']').parse().ok()
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

#[cfg(test)]
mod tests;
