//! The command line: global options, the list of commands, and arguments that several commands share.
//!
//! Doc comments of arguments and commands are the texts of `--help`.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use tooltrail_formats::find::MAX_LOGS;
use tooltrail_formats::scan::{MAX_KEPT, MAX_LOG, Options};

const ABOUT: &str = "Every tool call your coding agents made: its input, its output, its outcome, and the log line that proves it";

const EXAMPLES: &str = "\
Examples:
  tooltrail                      all sessions on this machine, in the browser
  tooltrail --demo               the same with a few sample sessions
  tooltrail open                 open the page of the running server again
  tooltrail stats                totals of all logs
  tooltrail calls                the newest tool calls, with their outcome
  tooltrail calls --json         every call, one JSON object per line
  tooltrail calls status:failed since:7d
  tooltrail show                 the newest session of this directory's project, with failures expanded
  tooltrail show 3f2a:41         one call in full, with its timeline
  tooltrail export last -o session.html
  tooltrail file src/main.rs     every version of a file found in the logs
  tooltrail search \"connection refused\"
  tooltrail failures --since 7d  failed calls of all sessions, grouped by their message
  tooltrail list                 sessions, newest last
  tooltrail tail                 follow calls as they happen
  tooltrail board                running sessions, those that need you first
  tooltrail keep on              keep copies of logs before agents delete them
  tooltrail verify               check that tests passed after the last edit
  tooltrail check session.jsonl  check a log for damage
  tooltrail secrets              list the secrets in logs, without their values
  tooltrail stats --root /mnt/backup/home";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "tooltrail", version, about = ABOUT, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) logs: LogArgs,
    /// Log to standard error: `error`, `warn`, `info`, `debug`, `trace`, or by component, as in `info,catalog=debug`
    /// (docs/troubleshooting.md) [default: TOOLTRAIL_LOG, else off]
    #[arg(long, value_name = "LEVEL", global = true, hide_short_help = true)]
    pub(crate) log: Option<crate::logging::LogFilter>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Which logs to read, and how to print.
#[derive(Clone, Debug, Args)]
pub(crate) struct LogArgs {
    /// Print JSON, one object per line (docs/json.md)
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Read logs from a directory laid out like a home directory (repeatable)
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) root: Vec<PathBuf>,
    /// Use a few sample sessions instead of your logs
    #[arg(long, global = true, conflicts_with = "root")]
    pub(crate) demo: bool,
    /// Read the logs directly, without using or updating the index (docs/catalogue.md)
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_cache: bool,
    /// Number of threads that read logs [default: all cores]
    #[arg(long, value_name = "N", global = true, hide_short_help = true)]
    pub(crate) threads: Option<usize>,
    /// Longest line to decode, in megabytes
    #[arg(long, value_name = "MB", global = true, default_value_t = 32, hide_short_help = true)]
    pub(crate) max_line: usize,
    /// Maximum size read of a single log, uncompressed, in megabytes (docs/check.md)
    #[arg(long, value_name = "MB", global = true, default_value_t = MAX_LOG >> 20, hide_short_help = true)]
    pub(crate) max_log: u64,
    /// Maximum memory kept for a single log while it is read, in megabytes (docs/check.md)
    #[arg(long, value_name = "MB", global = true, default_value_t = MAX_KEPT >> 20, hide_short_help = true)]
    pub(crate) max_kept: usize,
    /// Maximum number of logs to read, newest first
    #[arg(long, value_name = "N", global = true, default_value_t = MAX_LOGS, hide_short_help = true)]
    pub(crate) max_logs: usize,
    /// How long a session counts as running after its last record, as in `15m` or `2h`; `0s` for never
    #[arg(long, value_name = "TIME", global = true, default_value = "15m", value_parser = duration, hide_short_help = true)]
    pub(crate) alive: std::time::Duration,
    // Relative times, ages and states depend on it, so scripts and tests can fix it.
    /// Use this as the current time, as in `2026-03-04T10:00:00Z`
    #[arg(long, value_name = "TIME", global = true, hide_short_help = true)]
    pub(crate) now: Option<tooltrail_model::Time>,
    /// How tables write times [default: relative on a terminal, iso in a pipe or file]
    #[arg(long, value_name = "HOW", global = true, value_enum, hide_short_help = true)]
    pub(crate) time: Option<crate::times::TimeStyle>,
    /// Write times in UTC instead of the local time zone
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) utc: bool,
    /// Print at once, without a pager
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_pager: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", value_parser = ["auto", "always", "never"], hide_short_help = true)]
    pub(crate) color: String,
    /// The configuration file.
    #[arg(skip)]
    pub(crate) config: std::sync::Arc<crate::config::Config>,
    /// Whether `root` comes from the configuration file.
    #[arg(skip)]
    pub(crate) is_root_configured: bool,
}

impl LogArgs {
    /// How to read logs.
    pub(crate) fn options(&self, check_utf8: bool) -> Options {
        let mut options = Options {
            max_line: self.max_line.saturating_mul(1 << 20),
            max_log: self.max_log.saturating_mul(1 << 20),
            max_kept: self.max_kept.saturating_mul(1 << 20),
            check_utf8,
            ..Options::default()
        };
        options.threads = self.threads.unwrap_or(options.threads).max(1);
        options
    }

    /// Refuses paths beside another choice of logs on the command line. Roots of the configuration file give way to paths.
    pub(crate) fn refuse_both(&self, paths: &[PathBuf]) -> anyhow::Result<()> {
        let is_root_named = !self.root.is_empty() && !self.is_root_configured;
        if !paths.is_empty() && (self.demo || is_root_named) {
            anyhow::bail!("give either paths or `{}`, not both", if self.demo { "--demo" } else { "--root" });
        }
        Ok(())
    }

    /// How to read logs for the catalogue: later commands read the stored rows, so limits of this command must not affect them.
    pub(crate) fn stored_options(&self) -> Options {
        Options { threads: self.options(false).threads, ..Options::default() }
    }

    /// Whether stored rows are those that reading the logs would give.
    pub(crate) fn reads_as_stored(&self) -> bool {
        let limits = |options: &Options| (options.max_line, options.max_log, options.max_kept);
        self.max_logs == MAX_LOGS && limits(&self.options(false)) == limits(&Options::default())
    }
}

/// A length of time, as in `15m`.
pub(crate) fn duration(text: &str) -> Result<std::time::Duration, String> {
    // A signed duration parses `-15m`, so that it gets a message of its own below.
    let span: jiff::SignedDuration = text.parse().map_err(|_| format!("`{text}` is not a duration; write `15m`, `2h` or `30s`"))?;
    std::time::Duration::try_from(span).map_err(|_| "a duration cannot be negative".to_owned())
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show all sessions in the browser (default)
    Serve(crate::commands::serve::ServeArgs),
    /// Open the page of the running server in the browser
    Open(crate::commands::open::OpenArgs),
    /// Show a session, or a single call in full
    Show(crate::commands::show::ShowArgs),
    /// List tool calls with outcome, duration and evidence
    Calls(crate::commands::calls::CallsArgs),
    /// Check logs for damage; exits 1 if there are issues
    Check(crate::commands::check::CheckArgs),
    /// Export a session to share it: HTML, Markdown, a pull request description, JSON, or a patch
    Export(crate::commands::export::ExportArgs),
    /// Show failed calls grouped by their message, and what came next
    Failures(crate::commands::failures::FailuresArgs),
    /// List every version of a file found in the logs, or restore a version
    File(crate::commands::file::FileArgs),
    /// Check or rebuild the index of sessions and calls
    Index(crate::commands::index::IndexArgs),
    /// Keep copies of logs that agents delete, and restore them
    Keep(crate::commands::keep::KeepArgs),
    /// List sessions
    #[command(visible_alias = "ls")]
    List(crate::commands::list::ListArgs),
    /// Print the command that resumes a session in its agent
    Resume(crate::commands::resume::ResumeArgs),
    /// Search text in all sessions; exits 1 if nothing is found
    Search(crate::commands::search::SearchArgs),
    /// List secrets in logs, without their values; exits 1 if there are any
    Secrets(crate::commands::secrets::SecretsArgs),
    /// Query the index with SQL
    Sql(crate::commands::sql::SqlArgs),
    /// Show totals: calls by tool and status, tokens by model
    Stats(crate::commands::stats::StatsArgs),
    /// Follow calls as they start and end
    Tail(crate::commands::tail::TailArgs),
    /// Check whether a session's tests, build and lint passed after its last edit; exits 1 if not
    Verify(crate::commands::verify::VerifyArgs),
    /// Show running sessions live: which ones need you, and what the others are doing
    Board(crate::commands::board::BoardArgs),
    /// Print the configuration, or write a configuration file to edit
    Config(crate::commands::config::ConfigArgs),
    /// Print a shell completion script
    Completions(crate::commands::completions::CompletionsArgs),
    /// Write the manual pages
    Man(crate::commands::man::ManArgs),
    /// Print help for a command, or about `filters`, `refs` or `json`
    Help(crate::commands::help::HelpArgs),
    // Completion scripts ask it for what only the index knows.
    /// Print completions of the last word
    #[command(name = "__complete", hide = true)]
    CompletionWords(crate::completion_words::CompletionWordsArgs),
}

impl Command {
    /// Whether it works with a configuration file that cannot be used: it helps to mend it, or reads it itself.
    pub(crate) fn needs_no_config(&self) -> bool {
        matches!(
            self,
            Command::Config(_)
                | Command::Completions(_)
                | Command::CompletionWords(_)
                | Command::Man(_)
                | Command::Help(_)
                | Command::Verify(_)
        )
    }
}

/// Log files or directories named on the command line.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PathArgs {
    /// Log files, or directories to search [default: where agents write their logs]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// Reads the command line, in which the first word may be an alias, or prints help and leaves.
pub(crate) fn parse(config: &crate::config::Config) -> Cli {
    Cli::parse_from(crate::config::expanded(std::env::args_os(), config))
}
