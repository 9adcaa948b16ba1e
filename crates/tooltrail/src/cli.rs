//! The command line: global options, the list of commands, and arguments that several commands share.
//!
//! Doc comments of arguments and commands are the texts of `--help`.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

const ABOUT: &str = "Every tool call your coding agents made: what was asked, what ran, what came back, and what never did";

const EXAMPLES: &str = "\
Examples:
  tooltrail                      everything on this machine, in the browser
  tooltrail --demo               the same for a few invented sessions
  tooltrail open                 open that page again while it runs
  tooltrail stats                totals of all logs
  tooltrail calls                the newest tool calls, with their outcome
  tooltrail calls --json         every call, one JSON object a line
  tooltrail calls status:failed since:7d
  tooltrail show last            the newest session, failures open
  tooltrail show 3f2a:41         one call in full, with its whole life
  tooltrail export last -o session.html
  tooltrail file src/main.rs     every version of a file that the logs hold
  tooltrail search \"connection refused\"
  tooltrail list                 sessions, newest last
  tooltrail tail                 follow what runs now
  tooltrail board                which sessions run, and which one needs you
  tooltrail keep on              keep logs that agents will delete
  tooltrail verify               did the tests pass after the last edit?
  tooltrail check session.jsonl  is this log whole?
  tooltrail secrets              which secrets the logs hold, and where
  tooltrail stats --root /mnt/backup/home";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "tooltrail", version, about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) logs: LogArgs,
    /// Write what the program does to standard error: `error`, `warn`, `info`, `debug`, `trace`, or by part, as in `info,catalog=debug`
    /// (docs/troubleshooting.md) [default: TOOLTRAIL_LOG, else off]
    #[arg(long, value_name = "LEVEL", global = true, hide_short_help = true)]
    pub(crate) log: Option<crate::logging::LogFilter>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Which logs to read, and how to print.
#[derive(Clone, Debug, Args)]
pub(crate) struct LogArgs {
    /// Print JSON: one object a line, stable and documented
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Read the logs of a directory laid out like a home directory (repeatable)
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Read a few invented sessions instead of logs
    #[arg(long, global = true, conflicts_with = "root")]
    pub(crate) demo: bool,
    /// Read the logs themselves, and neither ask nor make a catalogue of them (docs/catalogue.md)
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_cache: bool,
    /// How many threads read [default: all cores]
    #[arg(long, value_name = "N", global = true, hide_short_help = true)]
    pub(crate) threads: Option<usize>,
    /// The longest line that is decoded, in megabytes
    #[arg(long, value_name = "MB", global = true, default_value_t = 32, hide_short_help = true)]
    pub(crate) max_line: usize,
    /// How long after its last record a session counts as alive, as in `15m` or `2h`; `0s` for never
    #[arg(long, value_name = "TIME", global = true, default_value = "15m", value_parser = duration, hide_short_help = true)]
    pub(crate) alive: std::time::Duration,
    // Relative times, ages and states depend on it, so scripts and tests can fix it.
    /// Pretend it is this time, as in `2026-03-04T10:00:00Z`
    #[arg(long, value_name = "TIME", global = true, hide_short_help = true)]
    pub(crate) now: Option<tooltrail_model::Time>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", value_parser = ["auto", "always", "never"], hide_short_help = true)]
    pub(crate) color: String,
}

/// A length of time, as in `15m`.
pub(crate) fn duration(text: &str) -> Result<std::time::Duration, String> {
    // A signed duration parses `-15m`, so that it gets a message of its own below.
    let span: jiff::SignedDuration = text.parse().map_err(|_| format!("`{text}` is no duration; write `15m`, `2h` or `30s`"))?;
    std::time::Duration::try_from(span).map_err(|_| "a duration cannot be negative".to_owned())
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show everything in the browser (the default)
    Serve(crate::commands::serve::ServeArgs),
    /// Open the page of the running server in the browser
    Open(crate::commands::open::OpenArgs),
    /// Show a session, or one call in full
    Show(crate::commands::show::ShowArgs),
    /// List tool calls with their outcome, time and evidence
    Calls(crate::commands::calls::CallsArgs),
    /// Check whether logs are whole; exits 1 if something is wrong
    Check(crate::commands::check::CheckArgs),
    /// Write a session to a file that can be shared: HTML, Markdown, text for a pull request, JSON, or a patch
    Export(crate::commands::export::ExportArgs),
    /// List the versions of a file that the logs hold, and get one of them back
    File(crate::commands::file::FileArgs),
    /// Check the catalogue of all sessions, or make it anew
    Index(crate::commands::index::IndexArgs),
    /// Keep logs that agents will delete, and get them back
    Keep(crate::commands::keep::KeepArgs),
    /// List sessions
    #[command(visible_alias = "ls")]
    List(crate::commands::list::ListArgs),
    /// Print the command that resumes a session in its agent
    Resume(crate::commands::resume::ResumeArgs),
    /// Find text in all sessions; exits 1 if there is none
    Search(crate::commands::search::SearchArgs),
    /// List the secrets in logs, never their values; exits 1 if there are any
    Secrets(crate::commands::secrets::SecretsArgs),
    /// Ask the catalogue of all sessions and calls in SQL
    Sql(crate::commands::sql::SqlArgs),
    /// Totals: calls by tool and status, tokens by model
    Stats(crate::commands::stats::StatsArgs),
    /// Follow calls as they are requested and as they end
    Tail(crate::commands::tail::TailArgs),
    /// Check whether a session's tests, build and lint passed after its last edit; exits 1 if not
    Verify(crate::commands::verify::VerifyArgs),
    /// Show the sessions that run, live: which one needs you, and what the others do
    Board(crate::commands::board::BoardArgs),
    /// Print a completion script for a shell
    Completions(crate::commands::completions::CompletionsArgs),
}

/// Log files or directories named on the command line.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PathArgs {
    /// Log files, or directories to search for them; without any, the agents' own places
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// Reads the command line, or prints help and leaves.
pub(crate) fn parse() -> Cli {
    Cli::parse()
}
