//! The server on a socket: routes, connections, and the thread on which each page's function runs.

use crate::access::Peer;
use crate::answer::{PageResponse, Trouble, headed};
use crate::app_state::AppState;
use crate::guard::{self, Guard, GuardState};
use crate::pages::{Handler, PAGES};
use crate::patient::PatientStream;
use crate::request::PageRequest;
use crate::work::{self, THREADS};
use crate::{api, assets, frame, stream};
use axum::Router;
use axum::body::Body;
use axum::extract::{Query, RawPathParams, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::Serialize;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tooltrail_formats::error::ErrorChain;
use tooltrail_model::row::VERSION;
use tooltrail_view::line::neutral;
use tracing::{debug, info, warn};

/// Limit on connections.
const CONNECTIONS: usize = 768;
/// Time for a request to arrive or an idle connection to ask again, and the size of a request's head.
const ARRIVES: Duration = Duration::from_secs(60);
const HEAD: usize = 128 * 1024;
/// Time after which a client that does not read its response is given up.
const READS: Duration = Duration::from_secs(60);
/// Pause after the system had no connection to give.
const REST: Duration = Duration::from_millis(200);
/// Path at which `tooltrail open` asks for a one-time code.
pub const CODE_PATH: &str = "/access/code";

/// Serves sets of logs until the process ends: the first at the root, others below their own prefix.
pub fn serve(listener: TcpListener, apps: &[Arc<AppState>], guard: Arc<Guard>, health: &str) -> std::io::Result<()> {
    // One thread is enough for sockets and timers: everything that takes time runs on the blocking threads, whose number is
    // bounded.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build()?;
    listener.set_nonblocking(true)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let router = router(apps, Arc::clone(&guard), health);
        let free = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            // Taken before `accept`, so that a connection over the limit waits in the system's queue and costs nothing here.
            let Ok(place) = Arc::clone(&free).acquire_owned().await else { return Ok(()) };
            match listener.accept().await {
                Ok((stream, client)) => drop(tokio::spawn(connection(stream, client, router.clone(), Arc::clone(&guard), place))),
                // Mostly too many open files. That passes, and ending the server would end all other connections.
                Err(error) => {
                    warn!(%error, "cannot accept a connection; trying again");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    })
}

/// Serves the requests of a connection, until either side ends it.
async fn connection(stream: TcpStream, client: SocketAddr, router: Router, guard: Arc<Guard>, _place: OwnedSemaphorePermit) {
    // Events are small and must not wait until a packet is full.
    let _ = stream.set_nodelay(true);
    // Once per connection, as early as possible: the system forgets whose it is when the client has closed it.
    let peer = peer(&stream, client, guard).await;
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(ARRIVES).max_buf_size(HEAD);
    // Browsers drop connections at any time, so this is not worth a warning.
    if let Err(error) = http.serve_connection(TokioIo::new(PatientStream::new(stream, READS)), service).await {
        debug!(%error, "a connection ended early");
    }
}

/// The user at the other end of a connection.
async fn peer(stream: &TcpStream, client: SocketAddr, guard: Arc<Guard>) -> Peer {
    match stream.local_addr() {
        Ok(server) if guard.looks_up() => work::LOOKUPS.make(move |_| guard.peer(client, server)).await.unwrap_or(Peer::Unknown),
        _ => Peer::Unknown,
    }
}

/// Router of all addresses.
pub fn router(apps: &[Arc<AppState>], guard: Arc<Guard>, health: &str) -> Router {
    let mut router = Router::new();
    for (path, methods) in routes(apps, &guard, health) {
        router = router.route(&path, methods);
    }
    if let Some(first) = apps.first() {
        let app = Arc::clone(first);
        router = router.fallback(move |request: Request| {
            // Unknown paths look like the pages of the first set of logs, which are the user's own.
            let missing = Trouble::Missing(format!("There is no page `{}`.", request.uri().path()));
            std::future::ready(trouble(&app, &missing))
        });
    }
    // Added last, so that both layers wrap every route: logging also sees requests that the guard refuses.
    let state = GuardState { guard, apis: apps.iter().map(|app| api::prefix(app)).collect() };
    router.layer(from_fn_with_state(Arc::new(state), guard::check)).layer(from_fn(log_request))
}

/// Paths of all routes, with `{name}` where a path has a name. Tests ask each of them, so that none is forgotten.
pub fn paths(apps: &[Arc<AppState>], guard: &Arc<Guard>) -> Vec<String> {
    routes(apps, guard, "").into_iter().map(|(path, _)| path).collect()
}

/// All routes: the only list of what is answered here.
fn routes(apps: &[Arc<AppState>], guard: &Arc<Guard>, health: &str) -> Vec<(String, MethodRouter)> {
    let (health, guard) = (health.to_owned(), Arc::clone(guard));
    let health = move || std::future::ready(headed(StatusCode::OK, "application/json", "no-store", Body::from(health.clone())));
    let mut routes = vec![
        ("/healthz".to_owned(), get(health)),
        (CODE_PATH.to_owned(), get(move |request: Request| std::future::ready(code(&guard, &request)))),
        ("/assets/{name}".to_owned(), get(asset)),
    ];
    for app in apps {
        routes.extend(PAGES.iter().map(|(path, handler)| (app.to(path), page(app, *handler))));
        routes.extend(api::routes(app));
        let own = Arc::clone(app);
        let events = get(move |headers: HeaderMap| std::future::ready(stream::events(&own, &headers)));
        routes.push((app.to("/events"), events));
        if !app.setup.root.is_empty() {
            let home = app.to("/");
            let elsewhere = get(move || std::future::ready(PageResponse::Elsewhere(home.clone()).response(StatusCode::OK)));
            routes.push((app.setup.root.to_owned(), elsewhere));
        }
    }
    routes
}

/// Response to a program that opens a browser.
#[derive(Serialize)]
struct CodeResponse {
    v: u32,
    /// A one-time code for the address of the page; null if a browser needs none.
    code: Option<String>,
}

/// Gives a one-time code if a browser needs one. Programs whose browser connects in another way than they do ask with `always=1`.
fn code(guard: &Guard, request: &Request) -> Response {
    let always = request.uri().query() == Some("always=1");
    let peer = request.extensions().get::<Peer>().copied().filter(|_| !always).unwrap_or(Peer::Unknown);
    let body = serde_json::to_vec(&CodeResponse { v: VERSION, code: guard.code(peer) }).unwrap_or_default();
    headed(StatusCode::OK, "application/json", "no-store", Body::from(body))
}

/// Logs a request when its response begins. The query is left out, because it contains the text that a user searches for.
async fn log_request(request: Request, next: Next) -> Response {
    // Cloning the path would be wasted on nearly every run: logging is off unless asked for.
    if !tracing::enabled!(tracing::Level::INFO) {
        return next.run(request).await;
    }
    let (start, method, path) = (Instant::now(), request.method().clone(), request.uri().path().to_owned());
    let response = next.run(request).await;
    info!(%method, path, status = response.status().as_u16(), took = ?start.elapsed(), "served a request");
    response
}

/// Route of a page, whose handler runs on a blocking thread.
fn page(app: &Arc<AppState>, handler: Handler) -> MethodRouter {
    let app = Arc::clone(app);
    get(move |names: RawPathParams, Query(query): Query<Vec<(String, String)>>, request: Request| {
        let app = Arc::clone(&app);
        let names = names.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        // Handlers know paths without the prefix of their set of logs.
        let path = request.uri().path().strip_prefix(app.setup.root).unwrap_or_default().to_owned();
        let request = PageRequest { path, names, query };
        async move {
            let lane = if searches(&request) { &work::SEARCHES } else { &work::PAGES };
            let made = lane.make(move |wanted| match work::until(app.setup.patience, wanted, || handler(&app, &request)) {
                Ok(answer) => answer.response(StatusCode::OK),
                Err(wrong) => trouble(&app, &wrong),
            });
            made.await.unwrap_or_else(|error| {
                let error = neutral(&error.to_string()).into_owned();
                // A panic is reported as plain text: drawing the usual page might panic again.
                let say = format!("Cannot show this page: {error}. `tooltrail show` prints the same in the terminal.\n");
                headed(StatusCode::INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", "no-store", Body::from(say))
            })
        }
    })
}

/// Whether a page may have to read logs: it has a filter, or looks for a text.
fn searches(request: &PageRequest) -> bool {
    let lists = matches!(
        request.path.as_str(),
        "/search" | "/search/counts" | "/sessions" | "/calls" | "/calls/counts" | "/calls.csv" | "/calls.jsonl" | "/failures"
    );
    (lists || request.path.ends_with("/find")) && request.word("q").is_some()
}

fn trouble(app: &AppState, trouble: &Trouble) -> Response {
    if trouble.status() == StatusCode::INTERNAL_SERVER_ERROR {
        warn!(error = %ErrorChain(trouble), "cannot show a page");
    }
    PageResponse::Html(frame::trouble(app, trouble)).response(trouble.status())
}

/// A style sheet or script; its address changes with it.
async fn asset(names: RawPathParams) -> Response {
    let found = names.iter().next().and_then(|(_, name)| assets::find(name));
    match found {
        Some(asset) => headed(StatusCode::OK, asset.kind, "public, max-age=31536000, immutable", Body::from(asset.text)),
        None => headed(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "no-store", Body::from("No such file.\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_with_a_filter_are_searches_and_others_are_not() {
        let request = |path: &str, query: &str| PageRequest {
            path: path.to_owned(),
            query: vec![("q".to_owned(), query.to_owned())],
            ..PageRequest::default()
        };
        for path in
            ["/search", "/search/counts", "/sessions", "/calls", "/calls/counts", "/calls.csv", "/calls.jsonl", "/failures", "/s/3f2a/find"]
        {
            assert!(searches(&request(path, "re:x")), "{path}");
            assert!(!searches(&request(path, " ")), "{path}");
        }
        for path in ["/", "/s/3f2a", "/palette", "/now", "/help", "/c/toolu_1"] {
            assert!(!searches(&request(path, "re:x")), "{path}");
        }
    }
}
