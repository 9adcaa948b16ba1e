//! `completions`: prints a completion script for a shell.

use crate::cli::Cli;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tooltrail completions bash > ~/.local/share/bash-completion/completions/tooltrail
  tooltrail completions zsh > ~/.zfunc/_tooltrail
  tooltrail completions fish > ~/.config/fish/completions/tooltrail.fish";

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    // Into memory first: `generate` panics if it cannot write, as into a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tooltrail", &mut script);
    std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
    Ok(ExitCode::SUCCESS)
}
