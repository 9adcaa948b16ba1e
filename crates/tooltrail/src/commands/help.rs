//! `help`: help for a command, and topics that are more than one command's: filters, REFs and JSON.
//!
//! A topic is the text of `docs/` itself, built into the program, so that the two cannot differ.

use crate::cli::{Cli, LogArgs};
use crate::pager::PagedOutput;
use anyhow::bail;
use clap::{Args, CommandFactory};
use std::io::Write;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tooltrail help calls      the options of a command
  tooltrail help filters    the filter language
  tooltrail help refs       names of sessions and calls
  tooltrail help json       the fields of --json";

/// The topics: name and text.
const TOPICS: &[(&str, &str)] = &[
    ("filters", include_str!("../../../../docs/filter.md")),
    ("refs", include_str!("../../../../docs/refs.md")),
    ("json", include_str!("../../../../docs/json.md")),
];

/// Arguments of `help`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HelpArgs {
    /// A command, or one of `filters`, `refs`, `json`
    #[arg(value_name = "COMMAND or TOPIC")]
    names: Vec<String>,
}

pub(crate) fn run(args: &LogArgs, own: &HelpArgs) -> anyhow::Result<ExitCode> {
    if let [name] = own.names.as_slice()
        && let Some((_, text)) = TOPICS.iter().find(|(topic, _)| topic == name || topic.strip_suffix('s') == Some(name))
    {
        let mut out = PagedOutput::open(args);
        out.write_all(text.as_bytes())?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut root = Cli::command();
    root.build();
    let mut command = &mut root;
    for name in &own.names {
        let Some(next) = command.find_subcommand_mut(name) else {
            let topics: Vec<&str> = TOPICS.iter().map(|(topic, _)| *topic).collect();
            bail!("no command or topic `{name}`; `tooltrail --help` lists commands, topics are {}", topics.join(", "));
        };
        command = next;
    }
    let text = command.render_long_help();
    let mut out = PagedOutput::open(args);
    write!(out, "{}", text.ansi())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
