//! On a socket: each page's function is called on a thread of its own, with what was asked.

use crate::answer::{PageResponse, Trouble, headed};
use crate::app_state::AppState;
use crate::guard::{self, Guard, GuardState};
use crate::pages::{Handler, PAGES};
use crate::request::PageRequest;
use crate::work::{self, THREADS};
use crate::{api, assets, frame, stream};
use axum::Router;
use axum::body::Body;
use axum::extract::{Query, RawPathParams, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tooltrail_formats::error::ErrorChain;
use tooltrail_view::line::neutral;
use tracing::{debug, info, warn};

/// How many connections there are at most.
const CONNECTIONS: usize = 768;
/// How long a request may take to arrive, or an idle connection to ask again, and how much may stand before its body.
const ARRIVES: Duration = Duration::from_secs(60);
const HEAD: usize = 128 * 1024;
/// How long it is waited after the system had no connection to give.
const REST: Duration = Duration::from_millis(200);

/// Serves sites until the process ends: the first at the root, others below theirs.
pub fn serve(listener: TcpListener, apps: &[Arc<AppState>], guard: Guard, health: &str) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build()?;
    listener.set_nonblocking(true)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let router = router(apps, guard, health);
        let free = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            // Whoever comes while there are too many waits until one has gone.
            let Ok(place) = Arc::clone(&free).acquire_owned().await else { return Ok(()) };
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(connection(stream, router.clone(), place))),
                // There may be no room for it, which passes.
                Err(error) => {
                    warn!(%error, "cannot accept a connection; trying again");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    })
}

/// Answers what is asked through a connection, until either side ends it.
async fn connection(stream: TcpStream, router: Router, _place: OwnedSemaphorePermit) {
    // Small pieces, such as events, are sent at once.
    let _ = stream.set_nodelay(true);
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(ARRIVES).max_buf_size(HEAD);
    // Browsers end connections as they like, so this is no warning.
    if let Err(error) = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await {
        debug!(%error, "a connection ended early");
    }
}

/// All addresses.
pub fn router(apps: &[Arc<AppState>], guard: Guard, health: &str) -> Router {
    let health = health.to_owned();
    let mut router = Router::new().route(
        "/healthz",
        get(move || std::future::ready(headed(StatusCode::OK, "application/json", "no-store", Body::from(health.clone())))),
    );
    for app in apps {
        for (path, handler) in PAGES {
            router = router.route(&app.to(path), page(app, *handler));
        }
        router = api::routes(router, app);
        let own = Arc::clone(app);
        router = router.route(&app.to("/events"), get(move |headers: HeaderMap| std::future::ready(stream::events(&own, &headers))));
        if !app.setup.root.is_empty() {
            let home = app.to("/");
            router = router
                .route(app.setup.root, get(move || std::future::ready(PageResponse::Elsewhere(home.clone()).response(StatusCode::OK))));
        }
    }
    if let Some(first) = apps.first() {
        let app = Arc::clone(first);
        router = router.fallback(move |request: Request| {
            let missing = Trouble::Missing(format!("There is no page `{}` here.", request.uri().path()));
            std::future::ready(trouble(&app, &missing))
        });
    }
    let door = GuardState { guard, apis: apps.iter().map(|app| api::prefix(app)).collect() };
    router.route("/assets/{name}", get(asset)).layer(from_fn_with_state(Arc::new(door), guard::check)).layer(from_fn(log_request))
}

/// Logs a request when its answer begins. The query is left out: it holds what somebody searches for.
async fn log_request(request: Request, next: Next) -> Response {
    if !tracing::enabled!(tracing::Level::INFO) {
        return next.run(request).await;
    }
    let (start, method, path) = (Instant::now(), request.method().clone(), request.uri().path().to_owned());
    let response = next.run(request).await;
    info!(%method, path, status = response.status().as_u16(), took = ?start.elapsed(), "served a request");
    response
}

/// A page, made on a thread where it may take its time.
fn page(app: &Arc<AppState>, handler: Handler) -> axum::routing::MethodRouter {
    let app = Arc::clone(app);
    get(move |names: RawPathParams, Query(query): Query<Vec<(String, String)>>, request: Request| {
        let app = Arc::clone(&app);
        let names = names.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let path = request.uri().path().strip_prefix(app.setup.root).unwrap_or_default().to_owned();
        let request = PageRequest { path, names, query };
        async move {
            let made = work::PAGES.make(move |_| match handler(&app, &request) {
                Ok(answer) => answer.response(StatusCode::OK),
                Err(wrong) => trouble(&app, &wrong),
            });
            made.await.unwrap_or_else(|error| {
                let error = neutral(&error.to_string()).into_owned();
                let say = format!("This page could not be made: {error}. What it shows can still be seen with `tooltrail show`.\n");
                headed(StatusCode::INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", "no-store", Body::from(say))
            })
        }
    })
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
        None => headed(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "no-store", Body::from("There is no such file.\n")),
    }
}
