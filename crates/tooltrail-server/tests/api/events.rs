//! The stream of events, read from a socket while logs grow: what comes, as what, for whom, and where it goes on after a break.

use crate::asking::{Api, Logs, app};
use crate::fits::misfit;
use crate::pages::{append, lay};
use crate::schema::document;
use crate::support::open_guard;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tooltrail_server::serve;

/// An event.
#[derive(Debug)]
struct Event {
    kind: String,
    id: String,
    data: Value,
}

/// A server over logs that grow.
struct Server {
    home: tempfile::TempDir,
    _place: tempfile::TempDir,
    port: u16,
}

/// Somebody who listens.
struct Stream(BufReader<TcpStream>);

impl Server {
    fn new(live: bool) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        ["aa", "bb"].iter().enumerate().for_each(|(place, id)| lay(home.path(), id, 8 + place));
        let path: PathBuf = home.path().to_owned();
        let (place, app) = app("", if live { Logs::Live(path) } else { Logs::Home(path) });
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || serve(listener, &[app], open_guard(), "{}"));
        Server { home, _place: place, port }
    }

    /// Listens from now on, or behind an event.
    fn listen(&self, query: &str, heard: Option<&str>) -> Stream {
        let start = Instant::now();
        loop {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
            let heard = heard.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
            write!(stream, "GET /api/v1/events{query} HTTP/1.1\r\nHost: localhost\r\n{heard}\r\n").expect("it reads");
            let mut stream = Stream(BufReader::new(stream));
            let head = stream.head();
            if head.starts_with("HTTP/1.1 200") {
                assert!(head.to_lowercase().contains("content-type: text/event-stream"), "{head}");
                return stream;
            }
            assert!(head.starts_with("HTTP/1.1 503") && start.elapsed() < Duration::from_secs(20), "{head}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Stream {
    fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.0.read_line(&mut head).expect("a line") > 0, "it ends: {head}");
        }
        head
    }

    /// The next event. What stands between events, and how pieces are sent, does not matter.
    fn next(&mut self) -> Event {
        let (mut kind, mut id) = (String::new(), String::new());
        let start = Instant::now();
        loop {
            // A sign of life comes now and then, and is no event.
            assert!(start.elapsed() < Duration::from_secs(20), "no event comes");
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("an event comes in time") > 0, "it ends");
            let line = line.trim_end();
            match line.split_once(": ") {
                Some(("event", value)) => value.clone_into(&mut kind),
                Some(("id", value)) => value.clone_into(&mut id),
                Some(("data", value)) => return Event { kind, id, data: serde_json::from_str(value).expect("JSON") },
                _ => {}
            }
        }
    }

    /// The next event of a kind.
    fn until(&mut self, kind: &str) -> Event {
        loop {
            let event = self.next();
            if event.kind == kind {
                return event;
            }
        }
    }
}

#[test]
fn what_is_written_is_told_in_time_as_the_commands_print_it() {
    let server = Server::new(true);
    let mut stream = server.listen("", None);
    assert_eq!(stream.next().kind, "begun");
    let start = Instant::now();
    append(server.home.path(), "aa", 10);
    let event = stream.until("requested");
    let took = start.elapsed();
    println!("told after {took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(event.data["call"], "toolu_aa_10");
    let session = stream.until("session");
    let api = Api::over(Logs::Home(server.home.path().to_owned()));
    let document = document(&api);
    let kinds = &document["paths"]["/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["x-events"];
    for event in [&event, &session] {
        assert_eq!(misfit(&document, &kinds[&event.kind], &event.data), None, "{event:?}");
    }
    // The same bytes as a row; a call that was told before its end is told again.
    let row = api.get("/api/v1/calls/toolu_aa_10");
    assert!(event.data == row || stream.until("updated").data == row);
    assert_eq!(session.data["session"], api.get("/api/v1/sessions/aa")["session"]);
}

#[test]
fn a_filter_takes_what_it_takes_everywhere() {
    let server = Server::new(true);
    let mut stream = server.listen("?q=session:bb", None);
    assert_eq!(stream.next().kind, "begun");
    append(server.home.path(), "aa", 10);
    append(server.home.path(), "bb", 20);
    let event = stream.until("requested");
    assert_eq!(event.data["call"], "toolu_bb_20");
    let mut texts = server.listen("?q=%22needle%2031%22", None);
    assert_eq!(texts.next().kind, "begun");
    append(server.home.path(), "aa", 30);
    append(server.home.path(), "aa", 31);
    assert_eq!(texts.until("requested").data["call"], "toolu_aa_31");
}

#[test]
fn a_broken_connection_goes_on_where_it_was() {
    let server = Server::new(true);
    let mut stream = server.listen("", None);
    assert_eq!(stream.next().kind, "begun");
    append(server.home.path(), "aa", 10);
    let heard = stream.until("requested");
    drop(stream);
    // Nobody listens, and things happen.
    append(server.home.path(), "bb", 20);
    append(server.home.path(), "bb", 21);
    std::thread::sleep(Duration::from_millis(500));
    for again in ["header", "parameter"] {
        let mut stream = match again {
            "header" => server.listen("", Some(&heard.id)),
            _ => server.listen(&format!("?since={}", heard.id), None),
        };
        let mut calls = Vec::new();
        while calls.last().is_none_or(|call| call != "toolu_bb_21") {
            let event = stream.next();
            assert!(event.kind != "begun" && event.kind != "missed", "{again}: {event:?}");
            if event.kind == "requested" {
                calls.push(event.data["call"].as_str().expect("an id").to_owned());
            }
        }
        assert_eq!(calls, ["toolu_bb_20", "toolu_bb_21"], "{again}");
    }
    // What another run called something, or another filter, leads nowhere, and that is said.
    for (query, id) in [("", "1234.7"), ("", "nonsense"), ("?q=session:bb", heard.id.as_str()), ("", "ffffffffffffffffffffff.1")] {
        assert_eq!(server.listen(query, Some(id)).next().kind, "missed", "{query} {id}");
    }
}

#[test]
fn where_nothing_changes_a_stream_begins_and_waits() {
    let server = Server::new(false);
    let mut stream = server.listen("", None);
    assert_eq!(stream.next().kind, "begun");
    append(server.home.path(), "aa", 10);
    stream.0.get_ref().set_read_timeout(Some(Duration::from_millis(500))).expect("a limit");
    let mut line = String::new();
    while let Ok(read) = stream.0.read_line(&mut line) {
        assert!(read > 0, "it goes on");
    }
    assert!(!line.contains("event:"), "{line}");
}

#[test]
fn what_is_wrong_is_said_before_a_stream_begins() {
    let (api, _home) = Api::demo();
    for (query, code) in [("q=stauts:x", "bad_filter"), ("limit=1", "unknown_parameter"), ("q=a&q=b", "repeated_parameter")] {
        let (status, error) = api.fault(&format!("/api/v1/events?{query}"));
        assert_eq!((status, error["code"].as_str()), (400, Some(code)), "{query}");
    }
}
