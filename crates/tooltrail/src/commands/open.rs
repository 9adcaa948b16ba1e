//! `open`: opens the page of a server that runs already, with a one-time code where the browser needs one.

use super::serve;
use crate::cli::LogArgs;
use crate::server_client::{self, url};
use crate::server_files::{self, RunningServer};
use crate::{browser, out};
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use tooltrail_model::row::VERSION;

const EXAMPLES: &str = "\
Examples:
  tooltrail open                 open the page of the running server
  tooltrail open --print         print an address that works once, within a minute
  tooltrail open --port 9000     the server on this port
  tooltrail open --demo          the server that shows the demo";

/// Arguments of `open`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct OpenArgs {
    /// Print the address instead of opening the browser
    #[arg(long)]
    print: bool,
    /// Port of the server [default: the server that shows the same logs, or the newest]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
}

/// Address of a server's page, as `--json` prints it.
#[derive(Serialize)]
struct OpenAddress {
    v: u32,
    address: String,
    port: u16,
    pid: u32,
}

pub(crate) fn run(args: &LogArgs, own: &OpenArgs) -> anyhow::Result<ExitCode> {
    let server = choose(server_files::running()?, args, own)?;
    let (port, pid) = (server.port, server.pid);
    let page = server_client::page(&server)
        .with_context(|| format!("the server on port {port} does not respond; stop process {pid}, then run `tooltrail serve`"))?;
    let mut stdout = io::stdout().lock();
    if args.json {
        writeln!(stdout, "{}", serde_json::to_string(&OpenAddress { v: VERSION, address: page.full(), port, pid })?)?;
    } else if own.print {
        writeln!(stdout, "{}", page.full())?;
        if page.code.is_some() && stdout.is_terminal() {
            out::remark(&"this address works once, within a minute");
        }
    } else {
        writeln!(stdout, "{}", url(server.socket()))?;
        stdout.flush()?;
        browser::show(&page, port);
    }
    Ok(ExitCode::SUCCESS)
}

/// The server that is meant: by its port and the logs that the arguments name, else the one with the same logs, else the newest.
fn choose(servers: Vec<RunningServer>, args: &LogArgs, own: &OpenArgs) -> anyhow::Result<RunningServer> {
    if servers.is_empty() {
        bail!("no server is running; start it with `tooltrail` or `tooltrail serve`");
    }
    let logs = serve::whose(args);
    let are_named = args.demo || !args.root.is_empty();
    let fits = |server: &&RunningServer| own.port.is_none_or(|port| server.port == port) && (!are_named || server.logs == logs);
    let fitting = || servers.iter().filter(fits);
    let chosen = fitting().find(|server| server.logs == logs).or_else(|| fitting().next());
    chosen.cloned().with_context(|| {
        let running: Vec<String> = servers.iter().map(|server| url(server.socket())).collect();
        format!("no running server matches these arguments; running: {}; start another with `tooltrail serve`", running.join(", "))
    })
}
