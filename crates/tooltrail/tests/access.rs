//! Who may ask a server, as a process: its user, other users of the machine, programs with the token, browsers with a code.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

/// A server, which ends with the test.
struct Server {
    process: Child,
    port: u16,
    home: tempfile::TempDir,
    stderr: BufReader<ChildStderr>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
    command.args(arguments).env_clear().env("HOME", home).env("TMPDIR", home).env("TOOLTRAIL_CACHE", home.join("cache"));
    command.current_dir(home).stdin(Stdio::null());
    command
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        Server::start_in(home, arguments)
    }

    fn start_in(home: tempfile::TempDir, arguments: &[&str]) -> Self {
        let arguments = [&["serve", "--demo", "--no-open", "--port", "0"], arguments].concat();
        let mut process = command(home.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("it prints");
        let port = line.trim().trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok()).expect("an address");
        let stderr = BufReader::new(process.stderr.take().expect("piped"));
        Server { process, port, home, stderr }
    }

    /// Lines of standard error up to the one with some words.
    fn says(&mut self, words: &str) -> String {
        let mut said = String::new();
        while !said.contains(words) {
            assert!(self.stderr.read_line(&mut said).expect("a line") > 0, "it never says {words}: {said}");
        }
        said
    }

    fn file(&self, ending: &str) -> PathBuf {
        self.home.path().join(format!("cache/servers/{}.{ending}", self.port))
    }

    /// The header for programs.
    fn header(&self) -> String {
        std::fs::read_to_string(self.file("header")).expect("the file is there")
    }

    /// Status, headers and body of an answer to this user.
    fn get(&self, path: &str, headers: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        stream.write_all(request(self.port, path, headers).as_bytes()).expect("it reads");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("it answers");
        parts(&said)
    }

    /// `tooltrail open --print`.
    fn open(&self) -> String {
        let output = command(self.home.path(), &["open", "--print"]).output().expect("the program runs");
        assert!(output.status.success(), "{}", error(&output));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }
}

fn request(port: u16, path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{}\r\n", headers.replace('\n', "\r\n"))
}

fn parts(said: &str) -> (u16, String, String) {
    let (head, body) = said.split_once("\r\n\r\n").unwrap_or_else(|| panic!("headers end: {said}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, head.to_owned(), body.to_owned())
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The path of an address, and the code in it if there is one.
fn code(address: &str) -> Option<&str> {
    address.split_once("/?code=").map(|(_, code)| code)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Number of a user who is not the one who runs the tests.
const NOBODY: u32 = 65534;

/// What another user of this machine is answered.
fn ask_as_another(port: u16, path: &str, headers: &str) -> (u16, String, String) {
    parts(&answer_to_another(port, path, headers, false))
}

/// The bytes that another user is answered, who closes its own direction of the connection at once if `half` is set.
fn answer_to_another(port: u16, path: &str, headers: &str, half: bool) -> String {
    // Python can close one direction of a connection; shells cannot. It imports all it needs while it may still read its files.
    let program = "
import encodings.idna, os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
stream = socket.socket()
stream.settimeout(30)
stream.connect(('127.0.0.1', int(sys.argv[1])))
if sys.argv[3] == 'half': stream.sendall(sys.argv[2].encode()); stream.shutdown(socket.SHUT_WR)
else: stream.sendall(sys.argv[2].encode())
while data := stream.recv(65536): sys.stdout.buffer.write(data)
";
    let how = if half { "half" } else { "whole" };
    let mut python = Command::new("python3");
    python.args(["-c", program, &port.to_string(), &request(port, path, headers), how]).current_dir("/");
    let output = python.stdin(Stdio::null()).output().expect("python3 runs");
    assert!(output.status.success(), "{}", error(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// Whether this test can become another user; says why if not.
fn can_be_another() -> bool {
    let python = || Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    let missing = match () {
        () if !cfg!(target_os = "linux") => "the system does not show users of connections",
        () if !is_root() => "only root can become another user",
        () if !python() => "there is no python3",
        () => return true,
    };
    println!("skipped: {missing}");
    false
}

#[test]
fn another_user_of_the_machine_is_refused_whatever_it_has() {
    if !can_be_another() {
        return;
    }
    let server = Server::start(&[]);
    let header = server.header();
    for path in ["/", "/sessions", "/healthz", "/events", "/access/code", "/api/v1/sessions", "/nothing"] {
        // The stream has no end that could be read.
        assert!(path == "/events" || server.get(path, "").0 != 401, "its own user: {path}");
        for headers in ["", header.as_str(), "Cookie: tooltrail-7432=0\n"] {
            let (status, head, body) = ask_as_another(server.port, path, headers);
            assert_eq!(status, 401, "{path}: {body}");
            assert!(body.contains("`tooltrail open`") && !body.contains("Demo") && !head.contains("set-cookie"), "{path}: {body}");
        }
    }
    // Closing one direction hides no user. The server may also take it for the end.
    for _ in 0..10 {
        let said = answer_to_another(server.port, "/help", &header, true);
        assert!(said.is_empty() || (parts(&said).0 == 401 && said.contains("another user")), "{said}");
    }
}

#[test]
fn files_of_a_server_are_closed_to_other_users() {
    if !can_be_another() {
        return;
    }
    let server = Server::start(&[]);
    std::fs::set_permissions(server.home.path(), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    for ending in ["header", "json", "lock"] {
        let mut cat = Command::new("cat");
        let output = cat.arg(server.file(ending)).uid(NOBODY).gid(NOBODY).current_dir("/").output().expect("cat runs");
        assert!(!output.status.success() && output.stdout.is_empty(), "{ending}");
    }
}

#[test]
fn root_asks_another_users_server_with_its_token() {
    if !can_be_another() {
        return;
    }
    // The program itself may lie where only root can read.
    let place = tempfile::tempdir().expect("a directory");
    let program = place.path().join("tooltrail");
    std::fs::copy(env!("CARGO_BIN_EXE_tooltrail"), &program).expect("it is copied");
    let home = place.path().join("home");
    std::fs::create_dir(&home).expect("a directory");
    for path in [place.path(), program.as_path(), home.as_path()] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    // Not the number that stands for unknown users: a server of that one cannot tell them apart.
    let user = 12345;
    std::os::unix::fs::chown(&home, Some(user), Some(user)).expect("root may");
    let mut command = Command::new(&program);
    command.args(["serve", "--demo", "--no-open", "--port", "0"]).env_clear().env("HOME", &home).env("TMPDIR", &home);
    command.env("TOOLTRAIL_CACHE", home.join("cache")).current_dir(&home).uid(user).gid(user);
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("it prints");
    let port = line.trim().trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok()).expect("an address");
    let stderr = BufReader::new(process.stderr.take().expect("piped"));
    // The home of this value is another one; its requests are root's.
    let server = Server { process, port, home: tempfile::tempdir().expect("a directory"), stderr };
    let (status, _, body) = server.get("/", "");
    assert!(status == 401 && body.contains("only the user who started it"), "{status} {body}");
    let header = std::fs::read_to_string(home.join(format!("cache/servers/{port}.header"))).expect("root can read it");
    assert_eq!(server.get("/help", &header).0, 200);
    // A third user is refused with it.
    let (status, _, body) = ask_as_another(port, "/help", &header);
    assert!(status == 401 && body.contains("another user"), "{status} {body}");
}

#[test]
fn programs_send_the_header_of_the_file() {
    let mut server = Server::start(&["--listen", "0.0.0.0"]);
    let said = server.says("curl -H @");
    let path = said.lines().find_map(|line| line.split_once("curl -H @")?.1.split(' ').next()).expect("a path");
    assert_eq!(Path::new(path), server.file("header"));
    let header = server.header();
    assert!(header.starts_with("Authorization: Bearer ") && header.ends_with('\n') && header.trim().len() == 22 + 64, "{header}");
    assert!(!said.contains(&header[22..86]), "the token is in the file alone: {said}");
    for ending in ["header", "json", "lock"] {
        let mode = std::fs::metadata(server.file(ending)).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{ending}");
    }
    for wrong in ["", "Authorization: Bearer 0\n", "Cookie: tooltrail-0=0\n"] {
        for path in ["/", "/healthz", "/api/v1/sessions"] {
            assert_eq!(server.get(path, wrong).0, 401, "{path} {wrong}");
        }
    }
    assert_eq!(server.get("/healthz", &header).0, 200);
    // The files end with the server, also when it is asked to end.
    let (pid, files) = (server.process.id(), ["header", "json", "lock"].map(|ending| server.file(ending)));
    assert!(Command::new("kill").arg(pid.to_string()).status().expect("kill runs").success());
    assert!(server.process.wait().expect("it ends").success());
    assert!(files.iter().all(|file| !file.exists()));
}

#[test]
fn a_browser_exchanges_the_code_of_open_for_a_cookie() {
    let server = Server::start(&["--listen", "0.0.0.0"]);
    let (first, second) = (server.open(), server.open());
    let first = code(&first).expect("a code");
    assert!(first.len() == 64 && code(&second).is_some_and(|second| second != first));
    let (status, head, body) = server.get(&format!("/?code={first}"), "");
    assert!(status == 200 && body.contains("url=/") && !body.contains(first), "{status} {body}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    let (pair, flags) = cookie.split_once("; ").expect("flags");
    assert!(pair.starts_with(&format!("tooltrail-{}=", server.port)), "{pair}");
    assert_eq!(flags, "Path=/; HttpOnly; SameSite=Strict");
    assert_eq!(server.get("/help", &format!("Cookie: {pair}\n")).0, 200);
    // Once: neither again, nor without the cookie.
    let (status, _, body) = server.get(&format!("/?code={first}"), "");
    assert!(status == 401 && body.contains("has been used"), "{status} {body}");
    assert_eq!(server.get("/help", "").0, 401);
}

#[test]
fn open_finds_the_server_and_says_what_to_do_without_one() {
    let home = tempfile::tempdir().expect("a directory");
    let none = command(home.path(), &["open", "--print"]).output().expect("the program runs");
    assert_eq!(none.status.code(), Some(2));
    assert!(none.stdout.is_empty() && error(&none).contains("no server is running; start it with `tooltrail`"), "{}", error(&none));

    let mut server = Server::start_in(home, &[]);
    let plain = format!("http://127.0.0.1:{}/", server.port);
    let opened = server.open();
    if cfg!(target_os = "linux") {
        assert_eq!(opened, plain, "its own user needs no code");
    } else {
        assert!(opened.starts_with(&format!("{plain}?code=")), "{opened}");
    }
    let port = server.port.to_string();
    let run = |arguments: &[&str]| command(server.home.path(), arguments).output().expect("the program runs");
    assert!(run(&["open", "--print", "--port", &port, "--demo"]).status.success());
    let json: serde_json::Value = serde_json::from_slice(&run(&["open", "--json"]).stdout).expect("an object");
    assert_eq!((json["port"].as_u64(), json["pid"].as_u64()), (Some(server.port.into()), Some(server.process.id().into())));
    assert!(json["address"].as_str().is_some_and(|address| address.starts_with(&plain)), "{json}");
    let other = run(&["open", "--print", "--port", "1"]);
    assert!(other.status.code() == Some(2) && error(&other).contains(&plain), "{}", error(&other));
    let root = server.home.path().to_string_lossy().into_owned();
    assert_eq!(run(&["open", "--print", "--root", &root]).status.code(), Some(2), "a server of other logs is not meant");
    // A server that was killed is not there, though its files are.
    server.process.kill().expect("it is killed");
    server.process.wait().expect("it ends");
    assert!(server.file("json").exists());
    let gone = command(server.home.path(), &["open", "--print"]).output().expect("the program runs");
    assert!(gone.status.code() == Some(2) && error(&gone).contains("no server is running"), "{}", error(&gone));
}

#[test]
fn without_authentication_everybody_is_answered_and_that_is_said() {
    let mut server = Server::start(&["--no-auth"]);
    assert!(server.says("--no-auth").contains("anyone who can reach 127.0.0.1 can read every session"));
    assert_eq!(code(&server.open()), None);
    if can_be_another() {
        assert_eq!(ask_as_another(server.port, "/help", "").0, 200);
    }
    // Names and pages of others are refused all the same.
    assert_eq!(server.get("/help", "Origin: http://evil.example\n").0, 403);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).expect("it listens");
    stream.write_all(b"GET /help HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it answers");
    assert_eq!(parts(&said).0, 403);
}
