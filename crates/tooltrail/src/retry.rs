//! A second attempt at a command that the catalogue failed: with a repaired one, or without any.

use crate::cli::{Cli, Command};
use crate::{commands, out};
use std::process::ExitCode;
use tooltrail_catalog::store::CatalogueError;

/// Runs a command again if a query of the catalogue made it fail, and if it has printed nothing yet. Otherwise returns the error.
pub(crate) fn after(error: anyhow::Error, mut cli: Cli) -> anyhow::Result<ExitCode> {
    let Some(failed) = error.chain().find_map(|cause| cause.downcast_ref::<CatalogueError>()) else { return Err(error) };
    let repair = failed.heal();
    if out::has_printed() {
        // A second attempt would print everything twice.
        if let Some(repair) = repair {
            out::remark(&format!("{repair}; run the command once more"));
        }
        return Err(error);
    }
    if let Some(repair) = repair {
        out::remark(&repair);
    } else if cli.logs.no_cache || needs_catalogue(cli.command.as_ref()) {
        return Err(error);
    } else {
        out::remark(&format!("{error:#}; reading the logs instead (--no-cache always does)"));
        cli.logs.no_cache = true;
    }
    commands::run(&cli)
}

/// Whether a command can do nothing without a catalogue, or does not depend on one.
fn needs_catalogue(command: Option<&Command>) -> bool {
    matches!(command, None | Some(Command::Sql(_) | Command::Index(_) | Command::Serve(_) | Command::Keep(_)))
}
