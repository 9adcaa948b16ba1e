//! The pager: output for a terminal goes through `$PAGER`, or `less`.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// Destination of a long text.
pub(crate) enum PagerOutput {
    /// A pager.
    Pager(Child),
    /// Standard output.
    Plain(Box<dyn Write>),
}

impl PagerOutput {
    /// Opens the pager, if standard output is a terminal and there is one. `PAGER` may hold arguments; an empty one or `cat` means
    /// none.
    pub(crate) fn open(color: &str, wanted: bool) -> Self {
        let plain = || PagerOutput::Plain(Box::new(crate::out::stdout(color)));
        if !wanted || !io::stdout().is_terminal() {
            return plain();
        }
        let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
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
                let wanted = match color {
                    "never" => anstream::ColorChoice::Never,
                    "always" => anstream::ColorChoice::Always,
                    // The pipe to the pager is no terminal, but the pager passes colours on; so standard output decides.
                    _ => match anstream::AutoStream::choice(&io::stdout()) {
                        anstream::ColorChoice::Never => anstream::ColorChoice::Never,
                        _ => anstream::ColorChoice::AlwaysAnsi,
                    },
                };
                let input: Box<dyn Write> = Box::new(io::BufWriter::with_capacity(64 * 1024, crate::out::NotedWriter(input)));
                let mut out = anstream::AutoStream::new(input, wanted);
                let written = write(&mut out).and_then(|()| Ok(out.flush()?));
                // The pager waits for the end of its input, so the pipe has to be closed before waiting for the pager.
                drop(out);
                child.wait()?;
                written
            }
        }
    }
}
