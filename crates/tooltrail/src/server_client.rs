//! Requests to a running server of this user: whether it is there, and the address at which its page opens.

use crate::directories::variable;
use crate::server_files::RunningServer;
use serde::Deserialize;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;
use tooltrail_server::server::CODE_PATH;

/// Longest wait for a program that may be any.
pub(crate) const BRIEF: Duration = Duration::from_millis(500);
/// Longest wait for a server that is known to run: it may be busy.
pub(crate) const PATIENT: Duration = Duration::from_secs(10);
/// The largest answer that is read.
const MOST: u64 = 4096;

/// Address of the page, for a browser.
pub(crate) struct PageAddress {
    /// The address alone.
    pub(crate) plain: String,
    /// A one-time code, where the browser needs one.
    pub(crate) code: Option<String>,
}

impl PageAddress {
    /// The address with its code.
    pub(crate) fn full(&self) -> String {
        self.code.as_ref().map_or_else(|| self.plain.clone(), |code| format!("{}?code={code}", self.plain))
    }
}

/// An address of a server that can be visited.
pub(crate) fn visitable(address: IpAddr) -> IpAddr {
    // 0.0.0.0 can be listened on, but not visited.
    if address.is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address }
}

/// The address of the page of a server.
pub(crate) fn url(address: SocketAddr) -> String {
    format!("http://{address}/")
}

/// Whether the browser of this machine connects in another way than its programs: in the Linux subsystem of Windows, a process of
/// root passes its connections on.
pub(crate) fn has_foreign_browser() -> bool {
    variable("WSL_DISTRO_NAME").is_some()
}

/// The address at which the page of a running server opens; `None` if it does not answer.
pub(crate) fn page(server: &RunningServer) -> Option<PageAddress> {
    #[derive(Deserialize)]
    struct CodeAnswer {
        code: Option<String>,
    }
    let query = if has_foreign_browser() { "?always=1" } else { "" };
    let body = get(server.socket(), &format!("{CODE_PATH}{query}"), Some(&server.token), PATIENT)?;
    let answer: CodeAnswer = serde_json::from_str(&body).ok()?;
    // A code goes into an address, so nothing but a code of ours is taken.
    let code = answer.code.filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
    Some(PageAddress { plain: url(server.socket()), code })
}

/// The body of an answer that is there.
pub(crate) fn get(address: SocketAddr, path: &str, token: Option<&str>, patience: Duration) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, patience).ok()?;
    stream.set_read_timeout(Some(patience)).ok()?;
    stream.set_write_timeout(Some(patience)).ok()?;
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{token}Connection: close\r\n\r\n").ok()?;
    let mut said = Vec::new();
    // It may be any program, so its response is limited in size; an error in the middle of it does not matter if the rest parses.
    let _ = stream.take(MOST).read_to_end(&mut said);
    let said = String::from_utf8(said).ok()?;
    let (head, body) = said.split_once("\r\n\r\n")?;
    (head.split(' ').nth(1) == Some("200")).then(|| body.to_owned())
}
