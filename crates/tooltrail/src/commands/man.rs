//! `man`: the manual pages, made of the same definitions as `--help`.

use crate::cli::Cli;
use crate::out;
use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tooltrail man ~/.local/share/man/man1    write a page for the program and for each command
  tooltrail man | man -l -                 read the page of the program
  man tooltrail-calls                      then read that of a command";

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// The directory to write them to; without it, the page of the program is printed
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub(crate) fn run(own: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut root = Cli::command();
    root.build();
    let Some(directory) = &own.directory else {
        let mut page = Vec::new();
        Man::new(root).render(&mut page)?;
        out::data().write_all(&page)?;
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make `{}`", directory.display()))?;
    let mut written = 0;
    let commands = root.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    for command in std::iter::once(root.clone()).chain(commands) {
        // clap names a subcommand by its own word; the page is found by the name of both.
        let name =
            if command.get_name() == root.get_name() { root.get_name().to_owned() } else { format!("tooltrail-{}", command.get_name()) };
        let path = directory.join(format!("{name}.1"));
        let mut page = Vec::new();
        Man::new(command.display_name(&name)).title(name.to_uppercase()).render(&mut page)?;
        std::fs::write(&path, page).with_context(|| format!("cannot write `{}`", path.display()))?;
        written += 1;
    }
    out::remark(&format!("wrote {} to {}", crate::table::counted(written, "page"), directory.display()));
    Ok(ExitCode::SUCCESS)
}
