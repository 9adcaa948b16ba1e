//! Who is let in, on every path that the router has: other users never, unknown ones with a credential, the owner always.

#![allow(clippy::expect_used)] // helpers of tests, where a panic is the report

#[allow(dead_code)] // the socket of the other tests
mod support;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use std::sync::Arc;
use support::{WAITING, World};
use tooltrail_formats::scan::Options;
use tooltrail_server::server::{paths, router};
use tooltrail_server::{Admission, AppState, Guard, Peer, Setup};
use tower_service::Service;

/// Words of the demo's logs, of which a refusal must have none.
const OF_LOGS: [&str; 4] = ["srv", "currency", "claude", "Bash"];

/// The demo's pages, at the root and below `/demo`.
struct Site {
    _place: tempfile::TempDir,
    guard: Arc<Guard>,
    router: Router,
    paths: Vec<String>,
    runtime: tokio::runtime::Runtime,
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Site {
    fn new(admission: Admission) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let home = place.path().join("home");
        support::demo(&home);
        let app = |root: &'static str| {
            let catalogue = place.path().join(format!("catalogue{}.sqlite", root.len()));
            let setup = Setup {
                root,
                catalogue,
                place: place.path().to_owned(),
                options: Options::default(),
                demo: true,
                patience: tooltrail_server::SEARCH_PATIENCE,
                theme: Default::default(),
            };
            Arc::new(AppState::new(setup, World::machine(home.clone())))
        };
        let apps = [app(""), app("/demo")];
        let guard = Arc::new(Guard::new(7432, admission, Some(1000)).expect("random numbers"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Site { _place: place, router: router(&apps, Arc::clone(&guard), "{}"), paths: paths(&apps, &guard), guard, runtime }
    }

    /// An answer to a user; the body is read where the request is refused, since some are streams without end.
    fn ask(&self, method: &str, path: &str, peer: Option<Peer>, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:7432");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).expect("a request");
        if let Some(peer) = peer {
            request.extensions_mut().insert(peer);
        }
        self.runtime.block_on(async {
            let response = self.router.clone().call(request).await.expect("it cannot fail");
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let body = if status == 200 { Vec::new() } else { to_bytes(response.into_body(), 1 << 20).await.expect("it ends").to_vec() };
            Answer { status, headers, body: String::from_utf8(body).expect("text") }
        })
    }

    /// Every path of the router, with something for each name, and some that it does not have.
    fn addresses(&self) -> Vec<String> {
        let mut addresses: Vec<String> = self.paths.iter().map(|path| filled(path)).collect();
        // Real things, so that a refusal that came too late would show them.
        addresses
            .extend(["/api/v1/calls/last:failed?full=1", "/c/6ab3:3.json", "/calls.jsonl?q=", "/search?q=currency"].map(str::to_owned));
        addresses.extend(["/nothing", "/api/nothing", "/demo/api/v1/nothing", "/?code=0", "/s//x", "/%2e%2e/"].map(str::to_owned));
        addresses
    }

    fn cookie(&self) -> String {
        let code = self.guard.code(Peer::Unknown).expect("one is needed");
        let answer = self.ask("GET", &format!("/?code={code}"), Some(Peer::Unknown), &[]);
        assert_eq!(answer.status, 200);
        let cookie = answer.headers.get("set-cookie").expect("a cookie").to_str().expect("letters");
        cookie.split(';').next().unwrap_or_default().to_owned()
    }
}

/// An address with something for each name in a path.
fn filled(path: &str) -> String {
    let part = |part: &str| match part {
        "{session}" | "{id}" => WAITING.to_owned(),
        "{file}" => "export.html".to_owned(),
        "{call}" => "6ab3:3".to_owned(),
        name if name.starts_with('{') => "1".to_owned(),
        plain => plain.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// The answer is a refusal that says what to do, and nothing else.
fn is_refused(answer: &Answer, method: &str, address: &str) {
    let Answer { status, headers, body } = answer;
    let what = format!("{method} {address}");
    assert_eq!(*status, 401, "{what}: {body}");
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    assert_eq!(header("cache-control"), "no-store", "{what}");
    assert!(header("content-security-policy").starts_with("default-src 'none'"), "{what}");
    assert!(header("www-authenticate").starts_with("Bearer") && !headers.contains_key("set-cookie"), "{what}: {headers:?}");
    assert!(OF_LOGS.iter().all(|word| !body.contains(word)), "{what}: {body}");
    let kind = if address.contains("/api/") { "application/json" } else { "text/html" };
    assert!(header("content-type").starts_with(kind), "{what}: {headers:?}");
    if method == "HEAD" {
        return;
    }
    if address.contains("/api/") {
        let error: serde_json::Value = serde_json::from_str(body).expect("JSON");
        assert_eq!((&error["v"], &error["error"]["code"]), (&1.into(), &"unauthorized".into()), "{what}");
    } else {
        assert!(body.starts_with("<!DOCTYPE html>"), "{what}: {body}");
        assert!(!body.contains("src=") && !body.contains("href="), "{what}: nothing is loaded");
    }
    assert!(body.contains("`tooltrail open`"), "{what}: {body}");
}

#[test]
fn only_the_owner_gets_anything_anywhere() {
    let site = Site::new(Admission::Owner);
    let (cookie, token) = (site.cookie(), format!("Bearer {}", site.guard.token()));
    let addresses = site.addresses();
    assert!(addresses.len() > 90, "only {} addresses", addresses.len());
    for address in &addresses {
        for method in ["GET", "HEAD"] {
            for credential in [("accept", "*/*"), ("cookie", cookie.as_str()), ("authorization", token.as_str())] {
                is_refused(&site.ask(method, address, Some(Peer::Other), &[credential]), method, address);
            }
            for peer in [Some(Peer::Unknown), None] {
                for wrong in [("accept", "*/*"), ("cookie", "tooltrail-7432=0"), ("authorization", "Bearer 0")] {
                    is_refused(&site.ask(method, address, peer, &[wrong]), method, address);
                }
            }
        }
    }
}

#[test]
fn the_owner_and_credentials_are_let_in_everywhere() {
    let site = Site::new(Admission::Owner);
    let (cookie, token) = (site.cookie(), format!("Bearer {}", site.guard.token()));
    for address in site.addresses() {
        let statuses = [
            site.ask("GET", &address, Some(Peer::Owner), &[]).status,
            site.ask("GET", &address, Some(Peer::Unknown), &[("cookie", &cookie)]).status,
            site.ask("GET", &address, Some(Peer::Unknown), &[("authorization", &token)]).status,
        ];
        assert!(!statuses.contains(&401), "{address}: {statuses:?}");
    }
}

#[test]
fn beyond_this_machine_the_user_does_not_matter() {
    let site = Site::new(Admission::Credential);
    let cookie = site.cookie();
    for address in site.addresses() {
        for peer in [Peer::Owner, Peer::Other, Peer::Unknown] {
            is_refused(&site.ask("GET", &address, Some(peer), &[]), "GET", &address);
        }
    }
    for peer in [Peer::Owner, Peer::Other, Peer::Unknown] {
        assert_eq!(site.ask("GET", "/help", Some(peer), &[("cookie", &cookie)]).status, 200);
    }
}

#[test]
fn a_code_is_given_to_those_who_need_one() {
    let site = Site::new(Admission::Owner);
    let token = format!("Bearer {}", site.guard.token());
    let code = |query: &str, peer: Peer| {
        let request = |headers: &[(&str, &str)]| {
            let mut request = Request::builder().uri(format!("/access/code{query}")).header("host", "127.0.0.1:7432");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let mut request = request.body(Body::empty()).expect("a request");
            request.extensions_mut().insert(peer);
            request
        };
        let body = site.runtime.block_on(async {
            let response = site.router.clone().call(request(&[("authorization", &token)])).await.expect("it cannot fail");
            to_bytes(response.into_body(), 1 << 20).await.expect("it ends")
        });
        let said: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        said["code"].as_str().map(str::to_owned)
    };
    assert_eq!(code("", Peer::Owner), None);
    for code in [code("", Peer::Unknown), code("?always=1", Peer::Owner)] {
        let address = format!("/?code={}", code.expect("a code"));
        let answer = site.ask("GET", &address, Some(Peer::Unknown), &[]);
        let cookie = answer.headers.get("set-cookie").expect("a cookie").to_str().expect("letters").to_owned();
        assert!(cookie.starts_with("tooltrail-7432=") && cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        is_refused(&site.ask("GET", &address, Some(Peer::Unknown), &[]), "GET", &address);
    }
}
