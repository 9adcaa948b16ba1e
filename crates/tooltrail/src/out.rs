//! Printing: to a terminal with or without colours, or into a pipe that may close.

use anstyle::{AnsiColor, Style};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use tooltrail_formats::error::ErrorChain;
use tooltrail_model::Status;
use tooltrail_view::line::neutral_text;

/// Whether anything was written to standard output.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether anything was written to standard output, so that a command must not begin again.
pub(crate) fn has_printed() -> bool {
    PRINTED.load(Ordering::Relaxed)
}

/// A writer that notes that something was printed.
pub(crate) struct NotedWriter<W>(pub(crate) W);

impl<W: Write> Write for NotedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        PRINTED.fetch_or(!bytes.is_empty(), Ordering::Relaxed);
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Exit status of a command that lists logs: 1 where one of them could not be read.
pub(crate) fn exit(unread: bool) -> ExitCode {
    if unread { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Standard output as it is, for data.
pub(crate) fn data() -> NotedWriter<io::StdoutLock<'static>> {
    NotedWriter(io::stdout().lock())
}

/// Standard output for people, with colours or without.
pub(crate) fn stdout(color: &str) -> impl Write + use<> {
    let stdout = io::stdout().lock();
    let choice = match color {
        "always" => anstream::ColorChoice::Always,
        "never" => anstream::ColorChoice::Never,
        _ => anstream::AutoStream::choice(&stdout),
    };
    // Rust's own standard output flushes at every line, which is slow for tables of thousands of rows.
    io::BufWriter::with_capacity(64 * 1024, NotedWriter(anstream::AutoStream::new(stdout, choice)))
}

/// True if an error means that the reader of the output has closed the pipe.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    // `serde_json` wraps the error of the pipe, so both kinds of causes are looked at.
    let io = error.chain().find_map(|cause| {
        cause.downcast_ref::<io::Error>().map(io::Error::kind).or_else(|| cause.downcast_ref::<serde_json::Error>()?.io_error_kind())
    });
    io == Some(io::ErrorKind::BrokenPipe)
}

/// True if the reader of standard output is gone, on systems that report this without a write.
#[cfg(unix)]
pub(crate) fn is_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    // Some systems report a closed end only if the poll asks for an event; this event never occurs on its own.
    let mut asked = [PollFd::new(&stdout, PollFlags::RDBAND)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let told = poll(&mut asked, Some(&now)).is_ok();
    told && asked.iter().any(|asked| asked.revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL))
}

#[cfg(not(unix))]
pub(crate) fn is_closed() -> bool {
    false
}

/// Prints a problem on standard error. It may quote a log or a file name, so control characters are made harmless.
pub(crate) fn complain(problem: &dyn std::fmt::Display) {
    let red = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
    // If standard error is closed too, there is nowhere left to report to.
    let _ = writeln!(anstream::stderr(), "{red}error{red:#}: {}", neutral_text(&format!("{problem:#}")));
}

/// Prints an error of a library on standard error, with its causes.
pub(crate) fn complain_of(error: &dyn std::error::Error) {
    complain(&ErrorChain(error));
}

/// Prints a remark on standard error, with control characters made harmless.
pub(crate) fn remark(remark: &dyn std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{}", neutral_text(&remark.to_string()));
}

/// Text that is less important.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Text that stands out.
pub(crate) const BOLD: Style = Style::new().bold();

/// Sign and colour of a status.
pub(crate) fn look(status: Status) -> (&'static str, Style) {
    let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
    match status {
        Status::Succeeded => ("✓", color(AnsiColor::Green)),
        Status::Failed => ("✗", color(AnsiColor::Red)),
        Status::Answered => ("•", Style::new()),
        Status::Rejected => ("⊘", color(AnsiColor::Magenta)),
        Status::Blocked => ("⊗", color(AnsiColor::Magenta)),
        Status::Cancelled => ("∅", color(AnsiColor::BrightBlack)),
        Status::Interrupted => ("■", color(AnsiColor::Yellow)),
        Status::TimedOut => ("◷", color(AnsiColor::Yellow)),
        Status::Running => ("●", color(AnsiColor::Cyan)),
        Status::Unanswered => ("?", color(AnsiColor::Yellow)),
    }
}

/// Prints rows as JSON, one object a line.
pub(crate) fn json_lines<T: serde::Serialize>(rows: impl IntoIterator<Item = T>) -> anyhow::Result<()> {
    let mut out = io::BufWriter::with_capacity(256 * 1024, data());
    for row in rows {
        serde_json::to_writer(&mut out, &row)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}
