//! A site over some logs, asked through its router without a socket.

use crate::support::{NOW, WAITING, open_guard, time};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tooltrail_catalog::watch::LogLocations;
use tooltrail_formats::Places;
use tooltrail_formats::find::{self, Search};
use tooltrail_formats::scan::Options;
use tooltrail_model::link::{Live, Now};
use tooltrail_server::{AppState, Machine, Setup};
use tower_service::Service;

/// Where logs are.
pub(crate) enum Logs {
    /// Below a home directory.
    Home(PathBuf),
    /// The same, and it is watched.
    Live(PathBuf),
    /// Wherever these are.
    Paths(Vec<PathBuf>),
    /// Nobody can tell yet.
    Later,
}

impl Machine for Logs {
    fn search(&self) -> Search {
        match self {
            Logs::Home(home) | Logs::Live(home) => find::in_places(&[Places { home: Some(home.clone()), ..Places::default() }]),
            Logs::Paths(paths) => find::in_paths(paths),
            Logs::Later => loop {
                std::thread::sleep(Duration::from_secs(1));
            },
        }
    }

    fn ground(&self) -> Option<LogLocations> {
        match self {
            Logs::Live(home) => Some(LogLocations::Places(vec![Places { home: Some(home.clone()), ..Places::default() }])),
            _ => None,
        }
    }

    fn now(&self) -> Now {
        let mut now = Now::at(time(NOW));
        now.live.insert(WAITING.into(), Live::Waiting);
        now
    }
}

/// What was answered.
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) took: Duration,
}

impl Said {
    /// The answer as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The answer as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The rows of an answer in lines.
    pub(crate) fn rows(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).expect("a row a line")).collect()
    }

    /// A header.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().expect("letters")).unwrap_or_default()
    }
}

/// A site that is asked.
pub(crate) struct Api {
    _place: tempfile::TempDir,
    router: Router,
    runtime: tokio::runtime::Runtime,
    /// What its addresses begin with.
    root: &'static str,
}

impl Api {
    /// A site over some logs, once they are read.
    pub(crate) fn over(logs: Logs) -> Self {
        Api::at("", logs).ready()
    }

    /// The demo.
    pub(crate) fn demo() -> (Self, tempfile::TempDir) {
        let home = tempfile::tempdir().expect("a directory");
        crate::support::demo(home.path());
        (Api::over(Logs::Home(home.path().to_owned())), home)
    }

    /// The invented logs of the formats' tests.
    pub(crate) fn fixtures() -> Self {
        let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tooltrail-formats/tests");
        Api::over(Logs::Paths(vec![tests.join("fixtures"), tests.join("tools")]))
    }

    /// A site whose addresses begin with something.
    pub(crate) fn at(root: &'static str, logs: Logs) -> Self {
        let (place, app) = app(root, logs);
        let router = tooltrail_server::server::router(&[app], open_guard(), "{}");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Api { _place: place, router, runtime, root }
    }

    /// The same, once the logs are read.
    pub(crate) fn ready(self) -> Self {
        let start = Instant::now();
        while self.ask("/api/v1/sessions?limit=1").status == 503 {
            assert!(start.elapsed() < Duration::from_secs(60), "the logs are never read");
            std::thread::sleep(Duration::from_millis(20));
        }
        self
    }

    /// Asks for an address.
    pub(crate) fn ask(&self, address: &str) -> Said {
        self.send("GET", address, &[])
    }

    /// An answer that is there, as JSON.
    pub(crate) fn get(&self, address: &str) -> Value {
        let said = self.ask(address);
        assert_eq!(said.status, 200, "{address}: {}", said.text());
        said.json()
    }

    /// What is wrong with a question: its status and what is said.
    pub(crate) fn fault(&self, address: &str) -> (u16, Value) {
        let said = self.ask(address);
        (said.status, said.json()["error"].clone())
    }

    /// Sends a request.
    pub(crate) fn send(&self, method: &str, address: &str, headers: &[(&str, &str)]) -> Said {
        let mut request = Request::builder().method(method).uri(format!("{}{address}", self.root));
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "localhost");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        let start = Instant::now();
        let (status, headers, body) = self.runtime.block_on(async {
            let response = self.router.clone().call(request).await.expect("it cannot fail");
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            (status, headers, to_bytes(response.into_body(), usize::MAX).await.expect("it comes to an end").to_vec())
        });
        Said { status, headers, body, took: start.elapsed() }
    }
}

/// A site over some logs, and where it keeps what it needs.
pub(crate) fn app(root: &'static str, logs: Logs) -> (tempfile::TempDir, Arc<AppState>) {
    let place = tempfile::tempdir().expect("a directory");
    let setup = Setup {
        root,
        catalogue: place.path().join("catalogue.sqlite"),
        place: place.path().to_owned(),
        options: Options::default(),
        demo: false,
        patience: tooltrail_server::SEARCH_PATIENCE,
        theme: Default::default(),
    };
    (place, Arc::new(AppState::new(setup, Arc::new(logs))))
}
