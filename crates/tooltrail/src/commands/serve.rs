//! `serve`: everything in the browser.
//!
//! The address is the first line that is printed. A server of ours that shows the same logs is used again; a port that somebody else
//! holds is left to them. Who is let in is decided by the server; `server_files` has what is left for other programs of the user.

use crate::cli::{LogArgs, duration};
use crate::filling::FillStep;
use crate::machine::{DemoMachine, NamedLogs};
use crate::scratch::ScratchDirectory;
use crate::server_client::{self, BRIEF, PATIENT, PageAddress, url, visitable};
use crate::server_files::{self, RunningServer, ServerFiles};
use crate::{browser, catalogue, directories, filling, logs, out};
use anyhow::{Context, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::io::{self, IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tooltrail_catalog::store::file_name;
use tooltrail_model::row::VERSION;
use tooltrail_server::{Admission, AppState, Guard, Peer, SEARCH_PATIENCE, Setup, serve};
use tracing::info;

const EXAMPLES: &str = "\
Examples:
  tooltrail                          open the page in the browser
  tooltrail serve --no-open          only print its address
  tooltrail serve --port 9000
  tooltrail serve --root /mnt/backup/home
  tooltrail serve --demo
  tooltrail serve --listen 0.0.0.0   for other machines too; access needs a code or token
  tooltrail open                     open its page again, from another terminal";

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
    /// Port; 0 for any free port [default: 7432, or the next free port]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Listen on this address instead of 127.0.0.1. From other machines, browsers need an address from `tooltrail open --print`,
    /// and programs a token
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// Answer anyone who can reach the server, including other users of this machine
    #[arg(long)]
    no_auth: bool,
    /// How long a search may take, as in `2m`; then the page shows what was found until then [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    search_timeout: Option<Duration>,
    /// Do not open the browser
    #[arg(long)]
    no_open: bool,
    /// Do a part of filling the catalogue and leave, telling how far that is
    #[arg(long, hide = true, value_name = "STEP")]
    fill: Option<FillStep>,
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
    if let Some(step) = own.fill {
        return filling::here(args, step);
    }
    let health = Health { v: VERSION, program: "tooltrail".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), logs: whose(args) };
    let address = own.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let listener = match bind(address, own.port, &health)? {
        Bound::Ours(listener) => listener,
        Bound::Running(address) => {
            say(&url(address), "is already running with the same logs")?;
            if !own.no_open {
                let page = left_by(address).and_then(|server| server_client::page(&server));
                browser::show(&page.unwrap_or_else(|| PageAddress { plain: url(address), code: None }), address.port());
            }
            return Ok(ExitCode::SUCCESS);
        }
    };
    let visited = SocketAddr::new(visitable(address), listener.local_addr()?.port());
    let admission = match address.is_loopback() {
        _ if own.no_auth => Admission::Anybody,
        true => Admission::Owner,
        false => Admission::Credential,
    };
    let guard = Arc::new(Guard::new(visited.port(), admission, own_user())?);
    // After the port is bound: a second start that only opens the running page needs no directory.
    let scratch = ScratchDirectory::create().context("no directory for temporary files")?;
    let apps = apps(args, scratch.path(), own.search_timeout.unwrap_or(SEARCH_PATIENCE))?;
    info!(%address, port = visited.port(), ?admission, scratch = ?scratch.path(), "serving");
    let files = leave(visited, &health.logs, &guard);
    say(&url(visited), "press Ctrl-C to stop")?;
    explain(address, admission, visited, files.as_ref());
    if !own.no_open {
        browser::show(&PageAddress { plain: url(visited), code: guard.code(browser_peer(&guard)) }, visited.port());
    }
    // `exit` runs no destructors, so the directory and the files are removed here.
    ctrlc::set_handler(move || {
        files.iter().for_each(ServerFiles::remove);
        scratch.remove();
        std::process::exit(0)
    })?;
    serve(listener, &apps, guard, &serde_json::to_string(&health)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Leaves what other programs of this user need to reach the server. Without it the page works all the same.
fn leave(visited: SocketAddr, logs: &str, guard: &Guard) -> Option<ServerFiles> {
    let (address, port, pid, token) = (visited.ip(), visited.port(), std::process::id(), guard.token().to_owned());
    let left = ServerFiles::leave(&RunningServer { v: VERSION, address, port, pid, logs: logs.to_owned(), token });
    left.inspect_err(|error| out::remark(&format!("{error:#}; `tooltrail open` will not find this server"))).ok()
}

/// Says who is let in, and with what.
fn explain(address: IpAddr, admission: Admission, visited: SocketAddr, files: Option<&ServerFiles>) {
    match admission {
        Admission::Anybody => out::remark(&format!("--no-auth: anyone who can reach {address} can read every session")),
        Admission::Credential => {
            out::remark(&"on other machines, open an address from `tooltrail open --print`; it works once, within a minute");
            out::remark(&"the connection is not encrypted; `ssh -L` to 127.0.0.1 is safer");
        }
        Admission::Owner => {}
    }
    if let Some(files) = files.filter(|_| admission != Admission::Anybody) {
        out::remark(&format!("programs need a token: curl -H @{} {}api/v1/sessions", files.header().display(), url(visited)));
    }
}

/// The number of the user who runs this process, on systems that show those of connections.
fn own_user() -> Option<u32> {
    #[cfg(target_os = "linux")]
    let user = Some(rustix::process::geteuid().as_raw());
    #[cfg(not(target_os = "linux"))]
    let user = None;
    user
}

/// How a browser on this machine will appear to the server, by a connection of our own.
fn browser_peer(guard: &Guard) -> Peer {
    let own = || -> io::Result<Peer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let server = listener.local_addr()?;
        // Kept until it has been looked up.
        let client = TcpStream::connect(server)?;
        Ok(guard.peer(client.local_addr()?, server))
    };
    if server_client::has_foreign_browser() { Peer::Unknown } else { own().unwrap_or(Peer::Unknown) }
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
fn apps(args: &LogArgs, place: &std::path::Path, patience: Duration) -> anyhow::Result<Vec<Arc<AppState>>> {
    let options = args.stored_options();
    let demo = |root: &'static str| -> anyhow::Result<Arc<AppState>> {
        let machine = DemoMachine::lay(&place.join("demo"), args).context("cannot create the demo")?;
        let setup = Setup {
            root,
            catalogue: place.join("demo.sqlite"),
            place: place.to_owned(),
            options: options.clone(),
            demo: true,
            patience,
            theme: args.config.theme,
        };
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
    let setup =
        Setup { root: "", catalogue, place: place.to_owned(), options: options.clone(), demo: false, patience, theme: args.config.theme };
    Ok(vec![Arc::new(AppState::new(setup, Arc::new(NamedLogs::new(args)))), demo("/demo")?])
}

/// Identifier of the logs that the arguments name, for another process to compare.
pub(crate) fn whose(args: &LogArgs) -> String {
    if args.demo { "demo".to_owned() } else { file_name(&catalogue::whose(args)) }
}

/// Result of binding a port.
enum Bound {
    /// A free port, now bound.
    Ours(TcpListener),
    /// The address of a running server that shows the same logs.
    Running(SocketAddr),
}

fn bind(address: IpAddr, port: Option<u16>, health: &Health) -> anyhow::Result<Bound> {
    let at = |port| TcpListener::bind(SocketAddr::new(address, port));
    // A port that the user names is used or refused, never replaced by another one.
    if let Some(port) = port {
        return match at(port) {
            Ok(listener) => Ok(Bound::Ours(listener)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                bail!("port {port} is in use; choose another, or leave out --port to use the next free port")
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
                    let who = if ours { "a tooltrail server with other logs" } else { "another program" };
                    out::remark(&format!("port {first} is in use by {who}; using {port}"));
                }
                return Ok(Bound::Ours(listener));
            }
            Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
                return Err(error).with_context(|| format!("cannot listen on {address} port {port}"));
            }
            // A server on the loopback interface holds the port too, and would not do.
            Err(_) if !address.is_loopback() => {}
            Err(_) => match ask(SocketAddr::new(address, port)) {
                Some(other) if other == *health => return Ok(Bound::Running(SocketAddr::new(address, port))),
                Some(_) => ours |= port == first,
                None => {}
            },
        }
    }
    bail!("ports {first} to {} are all in use; choose another with --port", first.saturating_add(TRIES - 1))
}

/// The server of this user at an address, if it left its files.
fn left_by(address: SocketAddr) -> Option<RunningServer> {
    server_files::running().unwrap_or_default().into_iter().find(|server| server.socket() == address)
}

/// Health of the server at an address; `None` if it is another program, or the server of another user.
fn ask(address: SocketAddr) -> Option<Health> {
    // Where the system does not tell it who asks, a server of ours answers only with its token. Others must not get that.
    let left = left_by(address);
    let patience = if left.is_some() { PATIENT } else { BRIEF };
    let body = server_client::get(address, "/healthz", left.as_ref().map(|server| server.token.as_str()), patience)?;
    serde_json::from_str(&body).ok()
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
