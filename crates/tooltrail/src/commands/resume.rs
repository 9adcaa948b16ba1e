//! `resume`: prints the command that resumes a session in its agent. Nothing is run.

use crate::cli::LogArgs;
use crate::logs;
use crate::out;
use crate::picker;
use crate::refs::Target;
use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use tooltrail_formats::FORMATS;
use tooltrail_model::row::VERSION;
use tooltrail_view::line::neutral;
use tooltrail_view::resume;

const EXAMPLES: &str = "\
Examples:
  tooltrail resume                 how to resume the newest session
  tooltrail resume 3f2a            the session whose id starts with 3f2a
  tooltrail resume 3f2a:41         the session of a call
  eval \"$(tooltrail resume 3f2a)\"  resume it";

/// Arguments of `resume`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ResumeArgs {
    /// A session: its id or a prefix of it, `last` (the newest of this directory's project), a file, or any of its calls
    #[arg(value_name = "REF", default_value = "last")]
    wanted: String,
    /// Choose the session from a list
    #[arg(short = 'i', long)]
    pick: bool,
}

/// Command that resumes a session, as JSON.
#[derive(Debug, Serialize)]
struct ResumeRow<'a> {
    v: u32,
    agent: &'a str,
    session: &'a str,
    directory: Option<&'a str>,
    command: &'a [String],
}

pub(crate) fn run(args: &LogArgs, own: &ResumeArgs) -> anyhow::Result<ExitCode> {
    let Some(wanted) = picker::reference(args, &own.wanted, own.pick)? else { return Ok(ExitCode::from(130)) };
    let logs = logs::open_for(args, &wanted)?;
    logs.require_any()?;
    let linked = logs.link();
    let index = match wanted.find(&linked, &logs.now)? {
        // A file may contain several sessions; the main one is first.
        Target::Sessions(sessions) => sessions.first().copied(),
        Target::Call(session, _) => Some(session),
    };
    let session = index.and_then(|index| linked.sessions.get(index)).context("no session found")?;
    // The id comes from a log, and users pass the printed line to `eval`; an id with spaces or quotes could run anything.
    if !resume::is_plain(&session.id) {
        bail!("`{}` is not a valid session id; the log may have been edited", neutral(&session.id));
    }
    // An agent looks for a session where it wrote it, and knows nothing of copies.
    let row = index.and_then(|index| linked.session_row(index, &logs.now));
    if let (Some(keep), Some(row)) = (logs.keep(), row)
        && row.files.iter().all(|file| keep.original(Path::new(file)).is_some_and(|original| !original.exists()))
    {
        let short = neutral(&session.short);
        bail!("the agent deleted the logs of session `{short}`; `tooltrail keep restore {short} --touch` restores them, then resume it");
    }
    let format = FORMATS.iter().find(|format| format.agent() == session.agent);
    let Some(command) = format.and_then(|format| format.resume(&session.id)) else {
        bail!("sessions of {} cannot be resumed from a command line", session.agent);
    };
    let directory = session.directory.as_deref();
    let mut out = out::stdout(args.color.as_str());
    if args.json {
        let row = ResumeRow { v: VERSION, agent: session.agent, session: &session.id, directory, command: &command };
        out::json_lines([row])?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{}", resume::line(&command, directory))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
