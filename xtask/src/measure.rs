//! Runs a program once and measures its time and peak memory.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Interval of looking at memory. The system keeps the peak itself, so only the last moments can be missed.
const LOOK: Duration = Duration::from_millis(2);

/// One run of a program.
#[derive(Clone, Debug)]
pub(crate) struct ProgramRun {
    pub(crate) seconds: f64,
    /// Peak resident memory in bytes; `None` where the system does not provide it.
    pub(crate) peak: Option<u64>,
    pub(crate) stdout: String,
}

/// Runs `command`, which may end with one of `codes`; with `keep` its output is returned, otherwise discarded.
pub(crate) fn run(command: &mut Command, codes: &[i32], keep: bool) -> Result<ProgramRun, String> {
    let shown = format!("{command:?}");
    let start = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(if keep { Stdio::piped() } else { Stdio::null() })
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("can't start {shown}: {error}"))?;
    let pid = child.id();
    let ended = AtomicBool::new(false);
    let (output, seconds, peak) = thread::scope(|scope| {
        // A thread of its own, because waiting for the output blocks.
        let watch = scope.spawn(|| {
            let mut peak = None;
            while !ended.load(Ordering::Relaxed) {
                peak = peak.max(peak_now(pid));
                thread::sleep(LOOK);
            }
            peak
        });
        let output = child.wait_with_output();
        // Before the watcher is joined, whose last sleep is not part of the run.
        let seconds = start.elapsed().as_secs_f64();
        ended.store(true, Ordering::Relaxed);
        (output, seconds, watch.join().unwrap_or(None))
    });
    let output = output.map_err(|error| format!("lost {shown}: {error}"))?;
    if !output.status.code().is_some_and(|code| codes.contains(&code)) {
        let said = String::from_utf8_lossy(&output.stderr);
        // The first line is usually the cause; the rest is context that would flood the report.
        let said = said.lines().next().unwrap_or("nothing on stderr");
        return Err(format!("{shown} ended with {} and said: {said}", output.status));
    }
    Ok(ProgramRun { seconds, peak, stdout: String::from_utf8_lossy(&output.stdout).into_owned() })
}

/// Peak memory of the process or, if larger, of one that it started: a program may be behind a small launcher.
fn peak_now(pid: u32) -> Option<u64> {
    let own = peak_in(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?);
    let started = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = started.split_whitespace().filter_map(|word| word.parse().ok());
    children.map(peak_now).fold(own, Option::max)
}

/// The high-water mark in the text of `/proc/PID/status`.
fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The better of two runs: the shorter time, but the larger memory.
pub(crate) fn best(first: &ProgramRun, second: &ProgramRun) -> ProgramRun {
    let shorter = if first.seconds <= second.seconds { first } else { second };
    ProgramRun { peak: first.peak.max(second.peak), ..shorter.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(seconds: f64, peak: Option<u64>) -> ProgramRun {
        ProgramRun { seconds, peak, stdout: String::new() }
    }

    #[test]
    fn reads_the_high_water_mark() {
        assert_eq!(peak_in("Name:\tx\nVmHWM:\t   12 kB\nVmRSS:\t 9 kB\n"), Some(12 * 1024));
        assert_eq!(peak_in("Name:\tx\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn the_best_run_has_the_least_time_and_the_most_memory() {
        let run = best(&took(2.0, Some(7)), &took(1.0, Some(5)));
        assert_eq!((run.seconds, run.peak), (1.0, Some(7)));
    }

    #[cfg(unix)]
    #[test]
    fn failures_say_what_the_program_said() {
        let error = run(Command::new("sh").args(["-c", "echo no such log >&2; exit 3"]), &[0], false).unwrap_err();
        assert!(error.contains("no such log"), "{error}");
        let run = run(Command::new("sh").args(["-c", "echo out; exit 1"]), &[0, 1], true).unwrap();
        assert_eq!(run.stdout, "out\n");
    }
}
