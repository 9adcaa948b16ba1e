//! The command line. Each command is a file in `commands/`; shared code is beside this file.
//!
//! Only this crate looks at the environment, the clock and the terminal, and only this crate prints.

mod browser;
mod catalogue;
mod changes;
mod cli;
mod commands;
mod completion_words;
mod config;
mod demo;
mod directories;
mod filling;
mod filters;
mod keeping;
mod logging;
mod logs;
mod machine;
mod mending;
mod out;
mod output_file;
mod pager;
mod picker;
mod private_directory;
mod progress;
mod refs;
mod restoring;
mod retry;
mod running;
mod scheduling;
mod scratch;
mod screen;
mod server_client;
mod server_files;
mod sql_functions;
mod table;
mod times;
mod verdict_cells;

use std::process::ExitCode;

fn main() -> ExitCode {
    let config = config::Config::read();
    let mut cli = cli::parse(config.as_ref().unwrap_or(&config::Config::default()));
    let configured = match config {
        Ok(config) => {
            config.apply(&mut cli.logs);
            Ok(())
        }
        Err(error) if cli.command.as_ref().is_some_and(cli::Command::needs_no_config) => {
            tracing::debug!(error = %format_args!("{error:#}"), "the configuration is not used");
            Ok(())
        }
        Err(error) => Err(error),
    };
    let started = configured.and_then(|()| logging::start(cli.log.as_ref()));
    let outcome = started.and_then(|()| commands::run(&cli)).or_else(|error| retry::after(error, cli));
    match outcome {
        Ok(code) => code,
        // A closed pipe is not a failure: `head` or a pager has read enough.
        Err(error) if out::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            out::complain(&error);
            ExitCode::from(2)
        }
    }
}
