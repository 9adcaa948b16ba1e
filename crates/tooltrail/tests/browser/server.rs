//! A server of ours for the length of a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The program at work.
pub(crate) struct Server {
    process: Child,
    /// Its address, without a slash at the end.
    pub(crate) address: String,
    /// Where it keeps its catalogue.
    place: tempfile::TempDir,
    arguments: Vec<String>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// Starts it on the demo.
    pub(crate) fn demo() -> Self {
        Server::start(&["--demo"])
    }

    /// Starts it on a directory laid out like a home.
    pub(crate) fn of(home: &Path) -> Self {
        Server::start(&["--root", &home.to_string_lossy()])
    }

    /// Starts it on the demo for other machines too, so that a browser needs a code.
    pub(crate) fn listening() -> Self {
        Server::start(&["--demo", "--listen", "0.0.0.0"])
    }

    /// The address that `tooltrail open` gives.
    pub(crate) fn open(&self) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        let output = command.args(["open", "--print"]).env("TOOLTRAIL_CACHE", self.place.path()).output().expect("the program runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("an address").trim().to_owned()
    }

    fn start(arguments: &[&str]) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let (process, address) = run(&arguments, "0", place.path());
        Server { process, address, place, arguments }
    }

    /// Ends it as a crash would.
    pub(crate) fn stop(&mut self) {
        self.process.kill().expect("it is killed");
        self.process.wait().expect("it ends");
    }

    /// Starts it once more, at the same address.
    pub(crate) fn again(&mut self) {
        let port = self.address.rsplit(':').next().expect("a port").to_owned();
        (self.process, self.address) = run(&self.arguments, &port, self.place.path());
    }

    /// The address of a page.
    pub(crate) fn to(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// What it answers to a path, without a browser.
    pub(crate) fn get(&self, path: &str) -> String {
        let host = self.address.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).expect("the server listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it takes a request");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        body.to_owned()
    }
}

/// Starts the program at a port, and waits until it says where it is.
fn run(arguments: &Vec<String>, port: &str, place: &Path) -> (Child, String) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_tooltrail"))
        .args(["serve", "--no-open", "--port", port])
        .args(arguments)
        .env("TOOLTRAIL_CACHE", place)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("its output is piped")).read_line(&mut line).expect("it says where it is");
    (process, line.trim().trim_end_matches('/').to_owned())
}
