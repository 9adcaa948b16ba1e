//! The pager: output for a terminal goes through `$PAGER`, or `less`.

use crate::cli::LogArgs;
use crate::out::{self, DIM};
use std::io::{self, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Output of a command for people: rows, and notes about them. On a terminal both go through the pager. Elsewhere rows go to standard
/// output and notes to standard error, so that a program that reads rows gets nothing else.
pub(crate) struct PagedOutput {
    /// `None` once it is closed.
    out: Option<Box<dyn Write>>,
    pager: Option<Child>,
    is_terminal: bool,
}

impl PagedOutput {
    /// Opens the output that the arguments ask for.
    pub(crate) fn open(args: &LogArgs) -> Self {
        let color = args.color.as_str();
        let is_terminal = io::stdout().is_terminal();
        let (out, pager): (Box<dyn Write>, _) = match PagerOutput::open(args, !args.no_pager && !args.json) {
            PagerOutput::Pager(mut child) => match child.stdin.take() {
                Some(input) => (Box::new(colored(input, color)), Some(child)),
                None => (Box::new(out::stdout(color)), Some(child)),
            },
            PagerOutput::Plain(out) => (out, None),
        };
        PagedOutput { out: Some(out), pager, is_terminal }
    }

    /// Whether people see it at once, so that long tables are cut to the newest rows.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// A remark that is not a row.
    pub(crate) fn note(&mut self, note: &dyn std::fmt::Display) -> io::Result<()> {
        match self.is_terminal {
            true => writeln!(self, "{DIM}{note}{DIM:#}"),
            false => {
                // The rows first, where both go to the same place.
                self.flush()?;
                out::remark(note);
                Ok(())
            }
        }
    }
}

impl Write for PagedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(bytes.len()), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.flush())
    }
}

/// Waits until the reader is done.
impl Drop for PagedOutput {
    fn drop(&mut self) {
        // The pager waits for the end of its input, so the pipe has to be closed before waiting for the pager. What could not be written
        // was reported by the `flush` of the command.
        drop(self.out.take());
        if let Some(pager) = &mut self.pager {
            let _ = pager.wait();
        }
    }
}

/// Number of rows in a table: as asked for, else `usual` on a terminal, and all of them (0) for programs.
pub(crate) fn row_limit(args: &LogArgs, asked: Option<usize>, usual: usize) -> usize {
    asked.unwrap_or(if args.json || !io::stdout().is_terminal() { 0 } else { usual })
}

/// The pipe to a pager, with colours if they are wanted.
fn colored(input: ChildStdin, color: &str) -> anstream::AutoStream<Box<dyn Write>> {
    let wanted = match color {
        "never" => anstream::ColorChoice::Never,
        "always" => anstream::ColorChoice::Always,
        // The pipe to the pager is no terminal, but the pager passes colours on; so standard output decides.
        _ => match anstream::AutoStream::choice(&io::stdout()) {
            anstream::ColorChoice::Never => anstream::ColorChoice::Never,
            _ => anstream::ColorChoice::AlwaysAnsi,
        },
    };
    anstream::AutoStream::new(Box::new(io::BufWriter::with_capacity(64 * 1024, out::NotedWriter(input))), wanted)
}

/// Destination of a long text.
pub(crate) enum PagerOutput {
    /// A pager.
    Pager(Child),
    /// Standard output.
    Plain(Box<dyn Write>),
}

impl PagerOutput {
    /// Opens the pager, if standard output is a terminal and there is one: that of the configuration file, or `PAGER`. It may hold arguments;
    /// an empty one or `cat` means none.
    pub(crate) fn open(args: &LogArgs, wanted: bool) -> Self {
        let plain = || PagerOutput::Plain(Box::new(crate::out::stdout(&args.color)));
        if !wanted || !io::stdout().is_terminal() {
            return plain();
        }
        let usual = || std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
        let pager = args.config.pager.clone().filter(|pager| !pager.is_empty()).unwrap_or_else(usual);
        let mut words = pager.split_whitespace();
        let Some(program) = words.next().filter(|program| *program != "cat") else { return plain() };
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            // Colours as they are, no pager for what fits, and the text stays on the screen.
            command.env("LESS", "RFX");
        }
        // A pager that cannot be started is no reason to show nothing.
        command.spawn().map_or_else(|_| plain(), PagerOutput::Pager)
    }

    /// Writes, and waits until the reader is done.
    pub(crate) fn write(self, color: &str, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
        match self {
            PagerOutput::Plain(mut out) => {
                write(&mut out)?;
                Ok(out.flush()?)
            }
            PagerOutput::Pager(mut child) => {
                let Some(input) = child.stdin.take() else { return Ok(()) };
                let mut out = colored(input, color);
                let written = write(&mut out).and_then(|()| Ok(out.flush()?));
                // The pager waits for the end of its input, so the pipe has to be closed before waiting for the pager.
                drop(out);
                child.wait()?;
                written
            }
        }
    }
}
