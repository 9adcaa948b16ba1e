//! Fills the catalogue in a separate process, so that the memory this takes is returned to the system when the process ends.

use crate::catalogue;
use crate::cli::LogArgs;
use std::cmp::Reverse;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tooltrail_formats::scan::Progress;
use tracing::warn;

/// Interval between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);

/// A part of filling the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FillStep {
    /// The rows of all logs.
    Logs,
    /// The details of sessions.
    Details,
}

impl FillStep {
    /// Its name on the command line.
    fn word(self) -> &'static str {
        match self {
            FillStep::Logs => "logs",
            FillStep::Details => "details",
        }
    }
}

/// Starts a process that fills the catalogue, and waits for it; false if the process failed. `told` gets the bytes read so far.
pub(crate) fn elsewhere(args: &LogArgs, step: FillStep, told: &dyn Fn(u64)) -> io::Result<bool> {
    // Only options that change which logs are read, or how fast. The current time is not passed on: it does not affect stored rows.
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").arg("--fill").arg(step.word());
    for root in &args.root {
        command.arg("--root").arg(root);
    }
    if let Some(threads) = args.threads {
        command.arg("--threads").arg(threads.to_string());
    }
    // Its errors are not shown: if it fails, the caller fills the catalogue itself and reports the same errors.
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    if let Some(output) = process.stdout.take() {
        // Ends when the process closes its output, so the wait below is short. Lines that are no number are ignored.
        BufReader::new(output).lines().map_while(Result::ok).filter_map(|line| line.parse().ok()).for_each(told);
    }
    let status = process.wait()?;
    if !status.success() {
        warn!(%status, "the process that builds the index failed; building it here");
    }
    Ok(status.success())
}

/// Does a part of filling the catalogue in this process.
pub(crate) fn here(args: &LogArgs, step: FillStep) -> anyhow::Result<ExitCode> {
    match step {
        FillStep::Logs => logs(args),
        FillStep::Details => details(args),
    }
}

/// Makes the details of sessions that are missing, those of the newest first.
fn details(args: &LogArgs) -> anyhow::Result<ExitCode> {
    let ready = catalogue::ready(args)?;
    let listing = ready.list()?;
    let rows = listing.rows();
    let mut sessions: Vec<usize> = (0..rows.len()).collect();
    sessions.sort_by_key(|&session| Reverse(rows.get(session).and_then(|row| row.last_at)));
    // Half of the threads: the server answers requests at the same time. Nobody needs the rest once the server has ended.
    let threads = ready.threads.div_ceil(2).max(1);
    let server = parent();
    ready.library.fill(&listing, &sessions, threads, &|| parent() == server)?;
    Ok(ExitCode::SUCCESS)
}

/// The process that started this one, on systems where an end of it shows in that.
fn parent() -> Option<u32> {
    #[cfg(unix)]
    let parent = Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    let parent = None;
    parent
}

/// Fills the catalogue, and prints the number of bytes read so far, line by line.
fn logs(args: &LogArgs) -> anyhow::Result<ExitCode> {
    let (progress, over) = (Progress::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                // A closed pipe is ignored: the catalogue is worth finishing even if the parent process is gone.
                let _ = writeln!(io::stdout(), "{}", progress.bytes.load(Ordering::Relaxed));
                std::thread::sleep(REPORT);
            }
        });
        let filled = catalogue::ready_with(args, &progress);
        // Also after an error, or the scope would wait for the reporting thread forever.
        over.store(true, Ordering::Relaxed);
        filled.map(|_| ExitCode::SUCCESS)
    })
}
