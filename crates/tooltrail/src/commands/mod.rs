//! The commands, one file each. To add one: a file here, a line in `COMMANDS`, a variant in `cli::Command`.

pub(crate) mod board;
pub(crate) mod calls;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod export;
pub(crate) mod failures;
pub(crate) mod file;
pub(crate) mod help;
pub(crate) mod index;
pub(crate) mod keep;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod open;
pub(crate) mod resume;
pub(crate) mod search;
pub(crate) mod secrets;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod tail;
pub(crate) mod verify;

use crate::cli::{Cli, Command};
use std::process::ExitCode;

/// The names of all commands, as `--help` lists them.
#[cfg(test)]
const COMMANDS: &[&str] = &[
    "serve",
    "open",
    "show",
    "calls",
    "check",
    "export",
    "failures",
    "file",
    "index",
    "keep",
    "list",
    "resume",
    "search",
    "secrets",
    "sql",
    "stats",
    "tail",
    "verify",
    "board",
    "config",
    "completions",
    "man",
    "help",
];

/// Runs the command of the command line.
pub(crate) fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    match &cli.command {
        None => serve::or_overview(&cli.logs),
        Some(Command::Calls(args)) => calls::run(&cli.logs, args),
        Some(Command::Check(args)) => check::run(&cli.logs, args),
        Some(Command::Export(args)) => export::run(&cli.logs, args),
        Some(Command::Failures(args)) => failures::run(&cli.logs, args),
        Some(Command::File(args)) => file::run(&cli.logs, args),
        Some(Command::Index(args)) => index::run(&cli.logs, args),
        Some(Command::Show(args)) => show::run(&cli.logs, args),
        Some(Command::Keep(args)) => keep::run(&cli.logs, args),
        Some(Command::List(args)) => list::run(&cli.logs, args),
        Some(Command::Open(args)) => open::run(&cli.logs, args),
        Some(Command::Resume(args)) => resume::run(&cli.logs, args),
        Some(Command::Search(args)) => search::run(&cli.logs, args),
        Some(Command::Secrets(args)) => secrets::run(&cli.logs, args),
        Some(Command::Serve(args)) => serve::run(&cli.logs, args),
        Some(Command::Sql(args)) => sql::run(&cli.logs, args),
        Some(Command::Stats(args)) => stats::run(&cli.logs, args),
        Some(Command::Tail(args)) => tail::run(&cli.logs, args),
        Some(Command::Verify(args)) => verify::run(&cli.logs, args),
        Some(Command::Board(args)) => board::run(&cli.logs, args),
        Some(Command::Config(args)) => config::run(args),
        Some(Command::Completions(args)) => completions::run(args),
        Some(Command::Man(args)) => man::run(args),
        Some(Command::Help(args)) => help::run(&cli.logs, args),
        Some(Command::CompletionWords(args)) => crate::completion_words::run(&cli.logs, args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_offered_and_has_examples() {
        let mut cli = Cli::command();
        cli.build();
        // Hidden commands are for scripts of ours.
        let ours = || cli.get_subcommands().filter(|command| !command.is_hide_set());
        assert_eq!(ours().map(clap::Command::get_name).collect::<Vec<_>>(), COMMANDS);
        for command in ours() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:"), "`{}` has no examples", command.get_name());
        }
        cli.debug_assert();
    }
}
