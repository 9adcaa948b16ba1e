//! Filling the catalogue in a process of its own, which takes the memory that it needs with it when it ends.

use crate::catalogue;
use crate::cli::LogArgs;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tooltrail_formats::scan::Progress;
use tracing::warn;

/// How often it is told how far it is.
const TOLD: Duration = Duration::from_millis(100);

/// Starts a process that fills the catalogue, and waits for it. Whether it did.
pub(crate) fn elsewhere(args: &LogArgs, told: &dyn Fn(u64)) -> io::Result<bool> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").arg("--fill");
    for root in &args.root {
        command.arg("--root").arg(root);
    }
    if let Some(threads) = args.threads {
        command.arg("--threads").arg(threads.to_string());
    }
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    if let Some(output) = process.stdout.take() {
        BufReader::new(output).lines().map_while(Result::ok).filter_map(|line| line.parse().ok()).for_each(told);
    }
    let status = process.wait()?;
    if !status.success() {
        warn!(%status, "the process that fills the catalogue failed; filling it here");
    }
    Ok(status.success())
}

/// Fills the catalogue here, and says on the way how many bytes were read.
pub(crate) fn here(args: &LogArgs) -> anyhow::Result<ExitCode> {
    let (progress, over) = (Progress::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                // If nobody listens any more, it is still worth finishing.
                let _ = writeln!(io::stdout(), "{}", progress.bytes.load(Ordering::Relaxed));
                std::thread::sleep(TOLD);
            }
        });
        let filled = catalogue::ready_with(args, &progress);
        over.store(true, Ordering::Relaxed);
        filled.map(|_| ExitCode::SUCCESS)
    })
}
