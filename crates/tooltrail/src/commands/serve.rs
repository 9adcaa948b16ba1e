//! `serve`: everything in the browser.
//!
//! The address is the first line that is printed. A server of ours that shows the same logs is used again; a port that somebody else
//! holds is left to them.

use crate::cli::LogArgs;
use crate::machine::{DemoMachine, NamedLogs};
use crate::scratch::ScratchDirectory;
use crate::{catalogue, directories, filling, logs, out};
use anyhow::{Context, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::io::{self, IsTerminal, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tooltrail_catalog::store::file_name;
use tooltrail_formats::scan::Options;
use tooltrail_model::row::VERSION;
use tooltrail_server::{AppState, Guard, Setup, serve};
use tracing::{info, warn};

const EXAMPLES: &str = "\
Examples:
  tooltrail                          open the page in the browser
  tooltrail serve --no-open          only print its address
  tooltrail serve --port 9000
  tooltrail serve --root /mnt/backup/home
  tooltrail serve --demo
  tooltrail serve --listen 0.0.0.0   for other machines too; a token is wanted then";

/// Default port.
const PORT: u16 = 7432;
/// Environment variable with another default port.
const PORT_VARIABLE: &str = "TOOLTRAIL_PORT";
/// Number of ports that are tried, from the default on.
const TRIES: u16 = 20;

/// Arguments of `serve`.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The port; 0 for any that is free [default: 7432, or the next one that is]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Listen on this address instead of 127.0.0.1; beyond this machine whoever asks needs the token that is printed
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// Do not open the browser
    #[arg(long)]
    no_open: bool,
    /// Fill the catalogue and leave, telling how far that is
    #[arg(long, hide = true)]
    fill: bool,
}

/// Response of `/healthz`, by which a second process recognises a running server.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Health {
    v: u32,
    program: String,
    version: String,
    /// Identifier of the logs that it shows.
    logs: String,
}

/// Starts the server if standard output is a terminal; otherwise prints an overview.
pub(crate) fn or_overview(args: &LogArgs) -> anyhow::Result<ExitCode> {
    if args.json || !io::stdout().is_terminal() {
        return super::stats::overview(args);
    }
    run(args, &ServeArgs::default())
}

pub(crate) fn run(args: &LogArgs, own: &ServeArgs) -> anyhow::Result<ExitCode> {
    // A wrong `--root` is reported here; later on, a missing directory only means that its logs are gone.
    logs::places(args)?;
    #[cfg(target_os = "linux")]
    with_lean_memory();
    if own.fill {
        return filling::here(args);
    }
    let health = Health { v: VERSION, program: "tooltrail".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), logs: whose(args) };
    let address = own.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let listener = match bind(address, own.port, &health)? {
        Bound::Ours(listener) => listener,
        Bound::Running(port) => {
            let url = url(address, port);
            say(&url, "is already running, and shows the same logs")?;
            show(&url, port, own.no_open);
            return Ok(ExitCode::SUCCESS);
        }
    };
    let port = listener.local_addr()?.port();
    // A loopback address can only be reached from this machine; on any other address a token protects the sessions.
    let token = if address.is_loopback() { None } else { Some(token()?) };
    let url = url(address, port);
    // After the port is bound: a second start that only opens the running page needs no directory.
    let scratch = ScratchDirectory::create().context("no place for temporary files")?;
    let apps = apps(args, scratch.path())?;
    info!(%address, port, scratch = ?scratch.path(), "serving");
    say(&url, "Ctrl-C ends it")?;
    if let Some(token) = &token {
        out::remark(&format!("everybody who can reach {address} can read every session with this token, as the password: {token}"));
        out::remark(&"nothing is encrypted on the way; `ssh -L` to 127.0.0.1 is safer");
    }
    show(&url, port, own.no_open || token.is_some());
    // `exit` runs no destructors, so the directory is removed here.
    ctrlc::set_handler(move || {
        scratch.remove();
        std::process::exit(0)
    })?;
    serve(listener, &apps, Guard { token }, &serde_json::to_string(&health)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Settings that make the C library's allocator return freed memory: few arenas, separate mappings for large blocks, early trimming.
#[cfg(target_os = "linux")]
const LEAN: [(&str, &str); 3] = [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "262144"), ("MALLOC_TRIM_THRESHOLD_", "1048576")];

/// Replaces this process by a new run of the program with the allocator settings of [`LEAN`], which are only read at the start. Open
/// sessions live in threads, and each arena keeps the memory that was freed in it: without the settings, a long session that grows
/// leaves twice as much behind as it needs. If the user has set any of them, or the restart fails, this process goes on unchanged.
#[cfg(target_os = "linux")]
fn with_lean_memory() {
    use std::os::unix::process::CommandExt;
    // Also true in the restarted process, which is what ends the recursion.
    if LEAN.iter().any(|(name, _)| std::env::var_os(name).is_some()) {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        // `exec` returns only if it failed.
        let _ = std::process::Command::new(program).args(std::env::args_os().skip(1)).envs(LEAN).exec();
    }
}

/// The sites: the logs of the arguments at `/`, and the demo at `/demo` for users without logs.
fn apps(args: &LogArgs, place: &std::path::Path) -> anyhow::Result<Vec<Arc<AppState>>> {
    let options = Options { max_line: Options::default().max_line, ..logs::options(args, false) };
    let demo = |root: &'static str| -> anyhow::Result<Arc<AppState>> {
        let machine = DemoMachine::lay(&place.join("demo"), args).context("cannot lay out the demo")?;
        let setup = Setup { root, catalogue: place.join("demo.sqlite"), place: place.to_owned(), options: options.clone(), demo: true };
        Ok(Arc::new(AppState::new(setup, Arc::new(machine))))
    };
    if args.demo {
        return Ok(vec![demo("")?]);
    }
    // The server always works on a catalogue; without a cache it is a temporary one.
    let catalogue = match args.no_cache {
        true => place.join("logs.sqlite"),
        false => directories::cache()?.join(file_name(&catalogue::whose(args))),
    };
    let setup = Setup { root: "", catalogue, place: place.to_owned(), options: options.clone(), demo: false };
    Ok(vec![Arc::new(AppState::new(setup, Arc::new(NamedLogs::new(args)))), demo("/demo")?])
}

/// Identifier of the logs that the arguments name, for another process to compare.
fn whose(args: &LogArgs) -> String {
    if args.demo { "demo".to_owned() } else { file_name(&catalogue::whose(args)) }
}

/// Result of binding a port.
enum Bound {
    /// A free port, now bound.
    Ours(TcpListener),
    /// The port of a running server that shows the same logs.
    Running(u16),
}

fn bind(address: IpAddr, port: Option<u16>, health: &Health) -> anyhow::Result<Bound> {
    let at = |port| TcpListener::bind(SocketAddr::new(address, port));
    // A port that the user names is used or refused, never replaced by another one.
    if let Some(port) = port {
        return match at(port) {
            Ok(listener) => Ok(Bound::Ours(listener)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                bail!("port {port} is taken; leave out --port for the next one that is free, or name another")
            }
            Err(error) => Err(error).with_context(|| format!("cannot listen on {address} port {port}")),
        };
    }
    let first = std::env::var(PORT_VARIABLE).ok().and_then(|port| port.trim().parse().ok()).unwrap_or(PORT);
    let mut ours = false;
    for port in first..first.saturating_add(TRIES) {
        match at(port) {
            Ok(listener) => {
                if port != first {
                    let who = if ours { "a tooltrail that shows other logs" } else { "another program" };
                    out::remark(&format!("port {first} is taken by {who}, so this is on {port}"));
                }
                return Ok(Bound::Ours(listener));
            }
            Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
                return Err(error).with_context(|| format!("cannot listen on {address} port {port}"));
            }
            // Beyond this machine a server wants its token before it answers, so it cannot be recognised.
            Err(_) if !address.is_loopback() => {}
            Err(_) => match ask(address, port) {
                Some(other) if other == *health => return Ok(Bound::Running(port)),
                Some(_) => ours |= port == first,
                None => {}
            },
        }
    }
    bail!("ports {first} to {} are all taken; name another with --port", first.saturating_add(TRIES - 1))
}

/// Health of the server on a port; `None` if it is another program.
fn ask(address: IpAddr, port: u16) -> Option<Health> {
    const PATIENCE: Duration = Duration::from_millis(500);
    let mut stream = TcpStream::connect_timeout(&SocketAddr::new(address, port), PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    write!(stream, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").ok()?;
    let mut said = Vec::new();
    // It may be any program, so its response is limited in size; an error in the middle of it does not matter if the rest parses.
    let _ = stream.take(4096).read_to_end(&mut said);
    let said = String::from_utf8(said).ok()?;
    serde_json::from_str(said.split_once("\r\n\r\n")?.1).ok()
}

/// Prints the address alone on the first line of standard output, where scripts read it; the remark is for people.
fn say(url: &str, remark: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{url}")?;
    out.flush()?;
    if io::stdout().is_terminal() {
        out::remark(&remark);
    }
    Ok(())
}

fn url(address: IpAddr, port: u16) -> String {
    // 0.0.0.0 can be listened on, but not visited.
    let address = if address.is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address };
    format!("http://{}/", SocketAddr::new(address, port))
}

/// Opens the browser; over SSH or without a display, prints how to reach the page instead.
fn show(url: &str, port: u16, quiet: bool) {
    if quiet {
        return;
    }
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    // A browser started here would open on the remote machine, out of the user's sight.
    if set("SSH_CONNECTION") || set("SSH_TTY") {
        return out::remark(&format!("on the machine that you sit at: ssh -L {port}:127.0.0.1:{port} <this machine>, then open {url}"));
    }
    let display = cfg!(windows) || cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY") || set("WSL_DISTRO_NAME");
    if !display {
        return out::remark(&format!(
            "no display here; from another machine: ssh -L {port}:127.0.0.1:{port} <this machine>, then open {url}"
        ));
    }
    if let Err(error) = open::that_detached(url) {
        warn!(%error, "cannot open a browser");
        out::remark(&"no browser could be opened; open the address yourself");
    }
}

/// A random token of 128 bits.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
