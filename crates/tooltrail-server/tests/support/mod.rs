//! A site over logs that a test lays out, served on a socket.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tooltrail_catalog::watch::LogLocations;
use tooltrail_formats::Places;
use tooltrail_formats::find::{Search, in_places};
use tooltrail_formats::scan::Options;
use tooltrail_model::Time;
use tooltrail_model::link::{Live, Now};
use tooltrail_model::row::SessionRow;
use tooltrail_server::{Admission, AppState, Guard, LogRetention, Machine, Setup, serve};

/// The moment at which everything is asked.
pub(crate) const NOW: &str = "2026-03-04T12:00:30Z";
/// The session of the demo that waits.
pub(crate) const WAITING: &str = "d3a0c1de-5f42-4e19-b7a8-2c6e90d4f1b3";
/// The one that is at work.
pub(crate) const WORKING: &str = "91f7c26a-0e5d-4b38-8c94-7ad1e3b052fc";

/// A machine whose logs lie in a directory, at a moment that does not pass.
struct Laid {
    home: PathBuf,
    /// A session that is about to be deleted.
    doomed: Option<&'static str>,
    /// Whether its logs are watched.
    live: bool,
}

struct Doom(&'static str);

impl LogRetention for Doom {
    fn note(&self, session: &SessionRow<'_>) -> Option<String> {
        (session.session == self.0).then(|| "gone in 3 days".to_owned())
    }

    fn advice(&self, sessions: u64) -> String {
        format!("{sessions} will go; `keep` them")
    }
}

impl Machine for Laid {
    fn search(&self) -> Search {
        in_places(&[Places { home: Some(self.home.clone()), ..Places::default() }])
    }

    fn now(&self) -> Now {
        let mut now = Now::at(time(NOW));
        now.live.insert(WAITING.into(), Live::Waiting);
        now
    }

    fn ground(&self) -> Option<LogLocations> {
        self.live.then(|| LogLocations::Places(vec![Places { home: Some(self.home.clone()), ..Places::default() }]))
    }

    fn fates(&self) -> Option<Box<dyn LogRetention>> {
        self.doomed.map(|session| Box::new(Doom(session)) as Box<dyn LogRetention>)
    }

    fn home_in_logs(&self) -> Option<String> {
        Some("/home/me".to_owned())
    }
}

/// A server over some logs.
pub(crate) struct World {
    place: tempfile::TempDir,
    port: u16,
    root: &'static str,
}

/// A time.
pub(crate) fn time(text: &str) -> Time {
    text.parse().expect("a time")
}

/// A guard that lets everybody in: who is let in is the matter of tests/access.rs.
pub(crate) fn open_guard() -> Arc<Guard> {
    Arc::new(Guard::new(0, Admission::Anybody, None).expect("random numbers"))
}

impl World {
    /// A server over what `lay` puts into a home directory.
    pub(crate) fn new(lay: impl FnOnce(&Path)) -> Self {
        World::with(lay, "", None)
    }

    /// A machine with logs in a home directory that does not change.
    #[allow(dead_code)] // not all tests make their own pages
    pub(crate) fn machine(home: PathBuf) -> Arc<dyn Machine> {
        Arc::new(Laid { home, doomed: None, live: false })
    }

    /// A server over the demo.
    pub(crate) fn demo() -> Self {
        World::new(demo)
    }

    /// A server whose addresses begin with something, and whose agent deletes a session.
    pub(crate) fn with(lay: impl FnOnce(&Path), root: &'static str, doomed: Option<&'static str>) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let home = place.path().join("home");
        fs::create_dir_all(&home).expect("a home");
        lay(&home);
        let setup = Setup {
            root,
            catalogue: place.path().join("catalogue.sqlite"),
            place: place.path().to_owned(),
            options: Options::default(),
            demo: !root.is_empty(),
            patience: tooltrail_server::SEARCH_PATIENCE,
            theme: Default::default(),
        };
        let app = Arc::new(AppState::new(setup, Arc::new(Laid { home, doomed, live: root.is_empty() })));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || serve(listener, &[app], open_guard(), "{}"));
        World { place, port, root }
    }

    /// The home directory.
    pub(crate) fn home(&self) -> PathBuf {
        self.place.path().join("home")
    }

    /// A page: status and text.
    pub(crate) fn ask(&self, path: &str) -> (u16, String) {
        let (status, _, body) = self.answer(path);
        (status, body)
    }

    /// An answer: status, headers, and text.
    pub(crate) fn answer(&self, path: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        let request = format!("GET {}{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", self.root);
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("it answers");
        let (head, body) = said.split_once("\r\n\r\n").expect("headers end");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, head.to_owned(), body.to_owned())
    }

    /// A stream of events, from the one that is named; the lines of it as they come.
    #[allow(dead_code)] // not all tests listen
    pub(crate) fn events(&self, path: &str, since: Option<&str>) -> impl Iterator<Item = String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        let since = since.map(|name| format!("Last-Event-ID: {name}\r\n")).unwrap_or_default();
        let request = format!("GET {}{path} HTTP/1.1\r\nHost: localhost\r\n{since}\r\n", self.root);
        stream.write_all(request.as_bytes()).expect("it reads");
        BufReader::new(stream).lines().map(|line| line.expect("it goes on"))
    }

    /// A page that is there.
    pub(crate) fn page(&self, path: &str) -> String {
        let (status, body) = self.ask(path);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }
}

/// Lays out the demo.
pub(crate) fn demo(home: &Path) {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tooltrail/src/demo");
    copy(&demo.join("projects"), &home.join(".claude/projects"));
    copy(&demo.join("codex/sessions"), &home.join(".codex/sessions"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("the demo is there").map(|entry| entry.expect("an entry").path()) {
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &target);
            continue;
        }
        fs::copy(&entry, &target).expect("it is copied");
        let at = if entry.to_string_lossy().contains(WORKING) { "2026-03-04T12:00:10Z" } else { "2026-03-01T00:00:00Z" };
        fs::File::options().append(true).open(&target).and_then(|file| file.set_modified(time(at).timestamp().into())).expect("its time");
    }
}

/// A session of one prompt and one command, which failed or not.
pub(crate) struct Small<'a> {
    /// Its id.
    pub(crate) id: &'a str,
    /// The prompt, which becomes its title.
    pub(crate) prompt: &'a str,
    /// The directory.
    pub(crate) cwd: &'a str,
    /// The command.
    pub(crate) command: &'a str,
    /// When.
    pub(crate) at: &'a str,
    /// Whether the command failed.
    pub(crate) fails: bool,
}

impl Small<'_> {
    /// Writes its log.
    pub(crate) fn lay(&self, home: &Path) {
        let folder = home.join(".claude/projects/-p");
        fs::create_dir_all(&folder).expect("a directory");
        let id = self.id;
        let shared = |uuid: &str, parent: Option<&str>| serde_json::json!({ "uuid": format!("{id}-{uuid}"), "parentUuid": parent.map(|parent| format!("{id}-{parent}")), "sessionId": id, "cwd": self.cwd, "gitBranch": "main", "timestamp": self.at });
        let line = |mut shared: serde_json::Value, kind: &str, message: serde_json::Value| {
            shared["type"] = kind.into();
            shared["message"] = message;
            shared.to_string()
        };
        let call = format!("toolu_{id}");
        let content = if self.fails { "Exit code 1\nno such needle" } else { "found the needle" };
        let lines = [
            line(shared("1", None), "user", serde_json::json!({ "role": "user", "content": self.prompt })),
            line(
                shared("2", Some("1")),
                "assistant",
                serde_json::json!({ "role": "assistant", "model": "claude-opus-4-8", "id": format!("msg_{id}"), "content": [{ "type": "tool_use", "id": call, "name": "Bash", "input": { "command": self.command } }] }),
            ),
            line(
                shared("3", Some("2")),
                "user",
                serde_json::json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": call, "is_error": self.fails, "content": content }] }),
            ),
        ];
        let file = folder.join(format!("{id}.jsonl"));
        fs::write(&file, lines.join("\n") + "\n").expect("a log");
        let written = time(self.at).timestamp().into();
        fs::File::options().append(true).open(&file).and_then(|file| file.set_modified(written)).expect("its time");
    }
}
