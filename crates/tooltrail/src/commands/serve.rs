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

/// The port, unless told otherwise.
const PORT: u16 = 7432;
/// What tells otherwise, for who wants another one always.
const PORT_VARIABLE: &str = "TOOLTRAIL_PORT";
/// How many ports after it are tried.
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

/// What a server says about itself, so that a second one knows it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Health {
    v: u32,
    program: String,
    version: String,
    /// Which logs it shows.
    logs: String,
}

/// The page, if somebody sits at a terminal; otherwise what there is, in a few lines.
pub(crate) fn or_overview(args: &LogArgs) -> anyhow::Result<ExitCode> {
    if args.json || !io::stdout().is_terminal() {
        return super::stats::overview(args);
    }
    run(args, &ServeArgs::default())
}

pub(crate) fn run(args: &LogArgs, own: &ServeArgs) -> anyhow::Result<ExitCode> {
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
    let token = if address.is_loopback() { None } else { Some(token()?) };
    let url = url(address, port);
    let scratch = ScratchDirectory::create().context("no place for temporary files")?;
    let apps = apps(args, scratch.path())?;
    info!(%address, port, scratch = ?scratch.path(), "serving");
    say(&url, "Ctrl-C ends it")?;
    if let Some(token) = &token {
        out::remark(&format!("everybody who can reach {address} can read every session with this token, as the password: {token}"));
        out::remark(&"nothing is encrypted on the way; `ssh -L` to 127.0.0.1 is safer");
    }
    show(&url, port, own.no_open || token.is_some());
    ctrlc::set_handler(move || {
        scratch.remove();
        std::process::exit(0)
    })?;
    serve(listener, &apps, Guard { token }, &serde_json::to_string(&health)?)?;
    Ok(ExitCode::SUCCESS)
}

/// How the C library's allocator is told to give back what is freed: few arenas, large pieces by themselves, the end of the heap at once.
#[cfg(target_os = "linux")]
const LEAN: [(&str, &str); 3] = [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "262144"), ("MALLOC_TRIM_THRESHOLD_", "1048576")];

/// Starts this program once more in its own place, with an allocator that gives memory back. Open sessions live in threads, and by itself
/// each arena keeps what was freed in it: a long session that grows would leave twice as much behind as it needs. The allocator can only
/// be told before the program starts. Where that is not possible, or somebody has told it something else, it goes on as it is.
#[cfg(target_os = "linux")]
fn with_lean_memory() {
    use std::os::unix::process::CommandExt;
    if LEAN.iter().any(|(name, _)| std::env::var_os(name).is_some()) {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        // It comes back only if it failed.
        let _ = std::process::Command::new(program).args(std::env::args_os().skip(1)).envs(LEAN).exec();
    }
}

/// The sites: the logs that were asked for, and beside them the demo, for those who have none.
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
    let catalogue = match args.no_cache {
        true => place.join("logs.sqlite"),
        false => directories::cache()?.join(file_name(&catalogue::whose(args))),
    };
    let setup = Setup { root: "", catalogue, place: place.to_owned(), options: options.clone(), demo: false };
    Ok(vec![Arc::new(AppState::new(setup, Arc::new(NamedLogs::new(args)))), demo("/demo")?])
}

/// Which logs the arguments name, for another process to compare.
fn whose(args: &LogArgs) -> String {
    if args.demo { "demo".to_owned() } else { file_name(&catalogue::whose(args)) }
}

/// What became of the wish for a port.
enum Bound {
    /// It is free, and ours now.
    Ours(TcpListener),
    /// A server of ours is there already.
    Running(u16),
}

fn bind(address: IpAddr, port: Option<u16>, health: &Health) -> anyhow::Result<Bound> {
    let at = |port| TcpListener::bind(SocketAddr::new(address, port));
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

/// What a server says about itself, if it is one of ours.
fn ask(address: IpAddr, port: u16) -> Option<Health> {
    const PATIENCE: Duration = Duration::from_millis(500);
    let mut stream = TcpStream::connect_timeout(&SocketAddr::new(address, port), PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    write!(stream, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").ok()?;
    let mut said = Vec::new();
    // Whoever it is, it does not get to talk for ever.
    let _ = stream.take(4096).read_to_end(&mut said);
    let said = String::from_utf8(said).ok()?;
    serde_json::from_str(said.split_once("\r\n\r\n")?.1).ok()
}

/// The first line that is printed is the address, whoever reads it.
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
    let address = if address.is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address };
    format!("http://{}/", SocketAddr::new(address, port))
}

/// Opens the browser, where there is one to be seen.
fn show(url: &str, port: u16, quiet: bool) {
    if quiet {
        return;
    }
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
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

/// A word that nobody guesses.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
