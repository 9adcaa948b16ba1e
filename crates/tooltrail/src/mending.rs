//! `keep repair`: damaged copies repaired, and a report of what was saved and what was lost.

use crate::cli::LogArgs;
use crate::commands::keep::printed;
use crate::{out, progress, table};
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;
use tooltrail_catalog::keep::{Keep, RepairOutcome};
use tooltrail_formats::scan::{Progress, spelled};
use tooltrail_model::row::VERSION;

/// Outcome for one damaged copy, as JSON.
#[derive(Serialize)]
struct RepairRow {
    v: u32,
    file: String,
    outcome: &'static str,
    bytes: Option<u64>,
    lost_parts: Option<u64>,
    lost_bytes: Option<u64>,
}

/// Repairs all damaged copies. Exits 1 if something of them is lost.
pub(crate) fn repair(args: &LogArgs, keep: &Keep) -> anyhow::Result<ExitCode> {
    let progress = Progress::default();
    let repaired = progress::with_bar(0, &progress, || keep.repair(&progress))?;
    let lost = repaired.iter().any(|(_, outcome)| !matches!(outcome, RepairOutcome::CopiedAgain));
    let code = if lost { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if args.json {
        let row = |(path, outcome): &(std::path::PathBuf, RepairOutcome)| {
            let (outcome, salvaged) = match outcome {
                RepairOutcome::CopiedAgain => ("copied_again", None),
                RepairOutcome::Salvaged { bytes, frames } => ("salvaged", Some((*bytes, *frames))),
                RepairOutcome::Hopeless(_) => ("hopeless", None),
            };
            let (bytes, lost_parts) = (salvaged.map(|(bytes, _)| bytes), salvaged.map(|(_, frames)| frames.lost));
            let lost_bytes = salvaged.and_then(|(_, frames)| frames.lost_bytes);
            RepairRow { v: VERSION, file: spelled(path), outcome, bytes, lost_parts, lost_bytes }
        };
        out::json_lines(repaired.iter().map(row))?;
        return Ok(code);
    }
    let mut out = out::stdout(args.color.as_str());
    if repaired.is_empty() {
        writeln!(out, "all copies are intact")?;
    }
    for (path, outcome) in &repaired {
        let told = match outcome {
            RepairOutcome::CopiedAgain => "copied again from its file".to_owned(),
            RepairOutcome::Salvaged { bytes, frames } => {
                let parts = table::counted(frames.lost, "damaged part");
                let lost = frames.lost_bytes.map_or_else(|| parts.clone(), |lost| format!("{} in {parts}", table::bytes(lost)));
                format!(
                    "{} recovered, {lost} lost; the damaged copy is in {}",
                    table::bytes(*bytes),
                    printed(&keep.directory().join("damaged"))
                )
            }
            RepairOutcome::Hopeless(error) => format!("nothing could be recovered: {error}"),
        };
        writeln!(out, "{}: {}", printed(path), table::printable(&told))?;
    }
    out.flush()?;
    Ok(code)
}
