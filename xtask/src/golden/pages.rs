//! The pages whose bytes are compared, as a server gives them.

use super::cases::{ComparedLogs, ids};
use super::{GoldenRun, NOW};
use crate::pictures::Server;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Most sessions and calls to request. The exports cover the rest.
const SESSIONS: usize = 60;
const CALLS: usize = 200;

/// A server that shows the logs.
pub(crate) struct Site {
    server: Server,
}

impl Site {
    pub(crate) fn start(run: &GoldenRun<'_>, logs: &ComparedLogs) -> Result<Self, String> {
        let arguments = logs.arguments.iter().map(String::as_str).chain(["--now", NOW]);
        let server = Server::start(run.program, arguments, &run.cache)?;
        Ok(Site { server })
    }

    /// The body of a page.
    pub(crate) fn get(&self, path: &str) -> Result<Vec<u8>, String> {
        let host = self.server.address.trim_start_matches("http://");
        let asked = || -> std::io::Result<Vec<u8>> {
            let mut stream = TcpStream::connect(host)?;
            // HTTP/1.0, so that the body ends with the connection and comes in one piece.
            write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n")?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer)?;
            Ok(answer)
        };
        let answer = asked().map_err(|error| format!("GET {path}: {error}"))?;
        let body = answer.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| at + 4);
        // Each server has a port of its own, which pages repeat in links.
        Ok(String::from_utf8_lossy(&answer[body..]).replace(host, "HOST").into_bytes())
    }
}

/// The pages to ask for.
pub(crate) fn paths(run: &GoldenRun<'_>, logs: &ComparedLogs) -> Result<Vec<String>, String> {
    let lists = [
        "/",
        "/sessions",
        "/calls",
        "/calls?q=status%3Afailed",
        "/search?q=error",
        "/help",
        "/api/v1/sessions",
        "/api/v1/calls",
        "/api/v1/stats",
    ];
    let sessions = ids(run, logs, "list --json", "session")?;
    let calls = ids(run, logs, "calls --json", "call")?;
    let of_session = |session: &String| ["", "/changes", "/waterfall"].map(|page| format!("/s/{session}{page}"));
    let of_sessions = sessions.iter().take(SESSIONS).flat_map(of_session);
    // Spread over all of them, so that every kind of call has a chance.
    let step = calls.len().div_ceil(CALLS).max(1);
    let of_calls = calls.iter().step_by(step).map(|call| format!("/c/{call}"));
    Ok(lists.map(str::to_owned).into_iter().chain(of_sessions).chain(of_calls).collect())
}
