//! Connections that are slow on purpose: others are answered meanwhile, however many there are.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // a panic is the report

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Number of slow connections of each kind, below what one process may open.
const SLOW: usize = 150;
/// Rounds in which each of them sends a byte.
const ROUNDS: usize = 12;

/// A server, which ends with the test.
struct SlowlyUsedServer {
    process: Child,
    port: u16,
    _home: tempfile::TempDir,
}

impl Drop for SlowlyUsedServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl SlowlyUsedServer {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tooltrail"));
        command.args(["serve", "--demo", "--no-open", "--no-auth", "--port", "0"]).env_clear().env("HOME", home.path());
        command.env("TMPDIR", home.path()).env("TOOLTRAIL_CACHE", home.path().join("cache"));
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        SlowlyUsedServer { process, port, _home: home }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        // Far more than any answer takes: it only ends a test that would wait forever.
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream
    }

    /// The status line of an answer.
    fn get(&self, path: &str) -> String {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    }
}

#[test]
fn clients_that_send_or_read_slowly_keep_no_one_waiting() {
    let server = SlowlyUsedServer::start();
    assert_eq!(server.get("/"), "HTTP/1.1 200 OK");
    // These send their request byte by byte, and never finish it.
    let mut senders: Vec<TcpStream> = (0..SLOW).map(|_| server.connect()).collect();
    // These ask for page after page on one connection, and read nothing of them: soon no more can be written to them.
    let mut readers: Vec<TcpStream> = (0..SLOW).map(|_| server.connect()).collect();
    let request = format!("GET /help HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port);
    for reader in &mut readers {
        reader.set_nonblocking(true).unwrap();
        // The server takes no more requests while an answer waits, so not all of them are taken.
        let _ = reader.write(request.repeat(50).as_bytes());
    }
    let (over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            // As long as the slow ones go on, others are answered again and again.
            while !over.load(Ordering::Relaxed) {
                for path in ["/", "/calls", "/search?q=error", "/healthz"] {
                    assert_eq!(server.get(path), "HTTP/1.1 200 OK", "{path}");
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let mut bytes = b"GET / HTTP/1.1\r\nX: ".iter().chain(std::iter::repeat(&b'a'));
        for _ in 0..ROUNDS {
            let (byte, before) = (*bytes.next().unwrap(), answered.load(Ordering::Relaxed));
            for sender in &mut senders {
                sender.write_all(&[byte]).unwrap();
            }
            // A round ends when somebody else was answered in it: the test does not go by any clock.
            while answered.load(Ordering::Relaxed) == before {
                assert!(!others.is_finished(), "nobody is answered any more");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(answered.into_inner() >= ROUNDS);
    // The slow ones are still connected: none was answered or turned away.
    for sender in &mut senders {
        sender.set_nonblocking(true).unwrap();
        assert_eq!(sender.read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    }
}
