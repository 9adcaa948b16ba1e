//! The browser: opens the page, or says how to reach it where no browser can be opened.

use crate::directories::variable;
use crate::out;
use crate::server_client::PageAddress;
use tracing::warn;

/// Opens the browser; over SSH or without a display, prints how to reach the page instead.
pub(crate) fn show(page: &PageAddress, port: u16) {
    let url = page.full();
    let set = |name: &str| variable(name).is_some();
    let soon = if page.code.is_some() { " within a minute, once" } else { "" };
    let forward = format!("ssh -L {port}:127.0.0.1:{port} <this machine>, then open {url}{soon}");
    // A browser started here would open on the remote machine, out of the user's sight.
    if set("SSH_CONNECTION") || set("SSH_TTY") {
        return out::remark(&format!("on your local machine: {forward}"));
    }
    let display = cfg!(windows) || cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY") || set("WSL_DISTRO_NAME");
    if !display {
        return out::remark(&format!("no display; from another machine: {forward}"));
    }
    if let Err(error) = open::that_detached(&url) {
        warn!(%error, "cannot open a browser");
        out::remark(&format!("could not open a browser; open {url}{soon}"));
    }
}
