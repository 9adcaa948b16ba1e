//! The server as a process: its address, its port, who is answered, what a second one does.

#![allow(clippy::expect_used)] // helpers of tests, where a panic is the report

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A server, which ends with the test.
struct Server {
    process: Child,
    address: String,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn command(arguments: &[&str], first: u16, home: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env("TOOLTRAIL_PORT", first.to_string()).env("TOOLTRAIL_CACHE", home.join("cache")).env("HOME", home);
    command.env_remove("SSH_CONNECTION").env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.stdin(Stdio::null());
    command
}

fn start(arguments: &[&str], first: u16, home: &std::path::Path) -> Server {
    let mut process = command(arguments, first, home).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program runs");
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("its output is piped")).read_line(&mut line).expect("it prints");
    let address = line.trim().to_owned();
    let port = address.trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok()).expect("an address");
    Server { process, address, port }
}

fn run(arguments: &[&str], first: u16, home: &std::path::Path) -> Output {
    command(arguments, first, home).output().expect("the program runs")
}

/// A port that is free, and some after it most likely too.
fn free() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

/// Status, headers and body of an answer.
fn ask(port: u16, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it answers");
    let (head, body) = said.split_once("\r\n\r\n").expect("headers end");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, head.to_lowercase(), body.to_owned())
}

fn get(port: u16, path: &str, headers: &str) -> (u16, String, String) {
    ask(port, &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{headers}\r\n"))
}

#[test]
fn a_second_one_uses_the_first_and_others_are_left_alone() {
    let home = tempfile::tempdir().expect("a directory");
    let first = free();
    let server = start(&["serve", "--no-open", "--demo"], first, home.path());
    assert_eq!((server.port, server.address.as_str()), (first, format!("http://127.0.0.1:{first}/").as_str()));
    // The same logs: that one is used.
    let second = run(&["serve", "--demo", "--no-open"], first, home.path());
    assert!(second.status.success());
    assert_eq!(String::from_utf8_lossy(&second.stdout), format!("{}\n", server.address));
    // Other logs: the next port.
    let other = start(&["serve", "--no-open"], first, home.path());
    assert!(other.port > first, "{}", other.port);
    // A port that was asked for is not exchanged for another one.
    let taken = run(&["serve", "--demo", "--no-open", "--port", &first.to_string()], first, home.path());
    assert_eq!(taken.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&taken.stderr).contains("is in use"), "{}", String::from_utf8_lossy(&taken.stderr));
}

#[test]
fn a_port_that_somebody_else_holds_is_theirs() {
    let home = tempfile::tempdir().expect("a directory");
    let stranger = TcpListener::bind("127.0.0.1:0").expect("a port");
    let held = stranger.local_addr().expect("an address").port();
    // It says something that is no answer of ours.
    std::thread::spawn(move || stranger.incoming().flatten().for_each(|mut stream| drop(stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{}"))));
    let server = start(&["serve", "--no-open", "--demo"], held, home.path());
    assert!(server.port > held);
    assert_eq!(get(server.port, "/healthz", "").0, 200);
}

#[test]
fn without_a_terminal_nothing_is_served() {
    let home = tempfile::tempdir().expect("a directory");
    let output = run(&["--demo"], free(), home.path());
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("Bash") && !text.contains("http://"), "{text}");
}

#[test]
fn without_a_display_it_says_how_to_get_there() {
    let home = tempfile::tempdir().expect("a directory");
    let first = free();
    let _server = start(&["serve", "--no-open", "--demo"], first, home.path());
    let second = run(&["serve", "--demo"], first, home.path());
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    if cfg!(target_os = "linux") {
        assert!(said.contains(&format!("ssh -L {first}:127.0.0.1:{first}")), "{said}");
    }
}

#[test]
fn strangers_are_refused_and_nothing_can_be_changed() {
    let home = tempfile::tempdir().expect("a directory");
    let server = start(&["serve", "--no-open", "--demo", "--port", "0"], 1, home.path());
    let port = server.port;
    let (status, head, body) = get(port, "/", "");
    assert_eq!(status, 200);
    assert!(
        head.contains("content-security-policy: default-src 'none'") && !head.contains("unsafe") && !head.contains("set-cookie"),
        "{head}"
    );
    assert!(head.contains("x-content-type-options: nosniff") && head.contains("cross-origin-resource-policy: same-origin"), "{head}");
    assert!(body.contains("Demo"), "{body}");
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1.evil.example"] {
        let (status, head, body) = ask(port, &format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        assert_eq!(status, 403, "{host}");
        assert!(!body.contains("Demo") && head.contains("default-src 'none'"), "{body}");
    }
    assert_eq!(get(port, "/", "Origin: https://evil.example\r\n").0, 403);
    assert_eq!(get(port, "/", &format!("Origin: http://127.0.0.1:{port}\r\n")).0, 200);
    assert_eq!(get(port, "/sessions", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n").0, 403);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        let request = format!("{method} / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        assert_eq!(ask(port, &request).0, 405, "{method}");
    }
    for path in ["/../etc/passwd", "/assets/../../Cargo.toml", "/assets/%2e%2e%2fCargo.toml", "/s/%00", "/c/..%2f..%2fetc", "/nothing"] {
        let (status, _, body) = get(port, path, "");
        assert!(status == 404 || status == 400, "{path}: {status}");
        assert!(!body.contains("root:") && !body.contains("[workspace]"), "{path}");
    }
}

#[test]
fn beyond_this_machine_a_token_is_wanted() {
    let home = tempfile::tempdir().expect("a directory");
    let server = start(&["serve", "--no-open", "--demo", "--port", "0", "--listen", "0.0.0.0"], 1, home.path());
    let header = std::fs::read_to_string(home.path().join(format!("cache/servers/{}.header", server.port))).expect("the file is there");
    let token = header.trim().rsplit(' ').next().expect("a token");
    assert!(token.len() >= 32, "{token}");
    assert_eq!(get(server.port, "/", "").0, 401);
    assert_eq!(get(server.port, "/healthz", "").0, 401);
    assert_eq!(get(server.port, "/", &format!("Authorization: Bearer {token}\r\n")).0, 200);
    assert_eq!(get(server.port, "/", "Authorization: Bearer 0\r\n").0, 401);
    assert_eq!(get(server.port, "/", &format!("Origin: http://127.0.0.1:1\r\nAuthorization: Bearer {token}\r\n")).0, 403);
}

/// A server over two sessions of the demo, and the home that they lie in.
fn ledger() -> (tempfile::TempDir, String, Server) {
    let home = tempfile::tempdir().expect("a directory");
    let project = home.path().join(".claude/projects/-srv-ledger");
    std::fs::create_dir_all(&project).expect("a directory");
    let demo = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/projects/-srv-ledger");
    for log in ["6ab3d920-17fe-4d5b-8e02-b9c4f7a10d35.jsonl", "7c10b5e2-4d9f-4a7c-b0e3-91c2a6f8d045.jsonl"] {
        std::fs::copy(demo.join(log), project.join(log)).expect("a log of the demo");
    }
    let root = home.path().to_string_lossy().into_owned();
    let server = start(&["serve", "--no-open", "--port", "0", "--root", &root], free(), home.path());
    (home, root, server)
}

#[test]
fn a_call_is_told_as_the_commands_tell_it() {
    let (home, root, server) = ledger();
    for name in ["6ab3:3", "7c10:1", "7c10:4", "7c10:8", "7c10:12"] {
        for (form, option) in [("json", "--json"), ("jsonl", "--raw")] {
            let (status, _, told) = get(server.port, &format!("/c/{name}.{form}"), "");
            assert_eq!(status, 200, "{name}.{form}");
            let printed = run(&["show", name, option, "--root", &root], 0, home.path()).stdout;
            assert_eq!(told, String::from_utf8_lossy(&printed), "{name} {option}");
        }
    }
}

#[test]
fn calls_as_a_file_are_what_the_command_prints() {
    let (home, root, server) = ledger();
    for query in ["", "status:failed", "kind:shell", "cargo", "project:nowhere"] {
        // In the older version of the protocol a body comes in one piece.
        let request = format!("GET /calls.jsonl?q={query} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port);
        let (status, _, told) = ask(server.port, &request);
        let words: Vec<&str> = ["calls", "--json", "--root", &root].into_iter().chain(query.split_whitespace()).collect();
        let printed = run(&words, 0, home.path()).stdout;
        assert_eq!((status, told.as_str()), (200, &*String::from_utf8_lossy(&printed)), "{query}");
        assert_eq!(told.is_empty(), query == "project:nowhere", "{query}");
    }
}
