//! Fills the catalogue in a separate process, so that the memory this takes is returned to the system when the process ends.

use crate::catalogue;
use crate::cli::LogArgs;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tooltrail_formats::scan::Progress;
use tracing::warn;

/// Interval between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);

/// Starts a process that fills the catalogue, and waits for it; false if the process failed. `told` gets the bytes read so far.
pub(crate) fn elsewhere(args: &LogArgs, told: &dyn Fn(u64)) -> io::Result<bool> {
    // Only options that change which logs are read, or how fast. The current time is not passed on: it does not affect stored rows.
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").arg("--fill");
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

/// Fills the catalogue in this process, and prints the number of bytes read so far, line by line.
pub(crate) fn here(args: &LogArgs) -> anyhow::Result<ExitCode> {
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
