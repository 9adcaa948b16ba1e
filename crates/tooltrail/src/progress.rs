//! A progress bar for work that takes longer than half a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tooltrail_formats::scan::Progress;

/// Runs `work` while a bar shows how far `progress` is, if standard error is a terminal.
pub(crate) fn with_bar<T>(total: u64, progress: &Progress, work: impl FnOnce() -> T) -> T {
    // In a pipe or a log file a bar would be noise.
    if !std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let bar = scope.spawn(|| show(total, progress, &done));
        let result = work();
        done.store(true, Ordering::Release);
        // The scope joins the thread: without this, short work would wait for its sleep to end.
        bar.thread().unpark();
        result
    })
}

fn show(total: u64, progress: &Progress, done: &AtomicBool) {
    // Most commands are done by then, and a bar that flashes up would only disturb.
    std::thread::park_timeout(Duration::from_millis(500));
    if done.load(Ordering::Acquire) {
        return;
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("reading logs {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta} left") {
        bar.set_style(style);
    }
    while !done.load(Ordering::Acquire) {
        bar.set_position(progress.bytes.load(Ordering::Relaxed));
        std::thread::park_timeout(Duration::from_millis(50));
    }
    // Cleared, because the output of the command follows.
    bar.finish_and_clear();
}
