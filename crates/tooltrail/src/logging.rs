//! The log of the program itself: which events are written to standard error, and how they look there.
//!
//! Libraries emit `tracing` events; this file alone decides what becomes of them. By default that is nothing, and an event costs one
//! comparison. Other packages' events are never written: they may quote commands and texts of sessions, ours have paths and positions.

use anyhow::Context;
use std::io::{self, Write};
use std::str::FromStr;
use tooltrail_view::line::neutral;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

/// Environment variable with the value of `--log`, for processes that are not started by hand.
const VARIABLE: &str = "TOOLTRAIL_LOG";
/// Common beginning of the targets of this program's crates.
const OWN: &str = "tooltrail";
/// The crates that may be named without their common beginning.
const PARTS: [&str; 3] = ["formats", "catalog", "server"];
const LEVELS: &str = "`error`, `warn`, `info`, `debug`, `trace` or `off`";

/// Levels by target, as `--log` spells them: `debug`, or `info,catalog=debug,server=off`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LogFilter(Targets);

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut targets = Targets::new();
        for item in text.split(',').map(str::trim) {
            // A level without a part is for all crates: their targets begin with the same name, and `Targets` matches prefixes.
            let (target, level) = item.rsplit_once('=').unwrap_or((OWN, item));
            targets = targets.with_target(full_name(target)?, self::level(level)?);
        }
        Ok(LogFilter(targets))
    }
}

fn level(text: &str) -> Result<LevelFilter, String> {
    // The library also parses numbers and an empty text; here those are more likely typos.
    let known = text.chars().all(|letter| letter.is_ascii_alphabetic()) && !text.is_empty();
    let level = text.parse().ok().filter(|_| known);
    level.ok_or_else(|| format!("`{}` is not a level; use {LEVELS}, or name a component, as in `info,catalog=debug`", neutral(text)))
}

/// Full target of a part of the program: `catalog::watch` is `tooltrail_catalog::watch`.
fn full_name(target: &str) -> Result<String, String> {
    let (part, module) = target.split_once("::").map_or((target, ""), |(part, module)| (part, module));
    let name = match part.strip_prefix("tooltrail_").unwrap_or(part) {
        name if PARTS.contains(&name) => format!("{OWN}_{name}"),
        OWN => OWN.to_owned(),
        _ => return Err(format!("unknown component `{}`; use `tooltrail`, `{}`", neutral(target), PARTS.join("`, `"))),
    };
    Ok(if module.is_empty() { name } else { format!("{name}::{module}") })
}

/// Installs the log writer, if `--log` or the environment requests it.
pub(crate) fn start(option: Option<&LogFilter>) -> anyhow::Result<()> {
    // The option wins over the environment, as it is the more specific request.
    let filter = match (option, std::env::var(VARIABLE)) {
        (Some(filter), _) => filter.clone(),
        (None, Ok(text)) if !text.trim().is_empty() => {
            text.parse().map_err(anyhow::Error::msg).with_context(|| format!("{VARIABLE} is wrong"))?
        }
        _ => return Ok(()),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(OneLine).with_ansi(false);
    let subscriber = tracing_subscriber::registry().with(lines).with(filter.0);
    tracing::subscriber::set_global_default(subscriber).context("cannot start the log")
}

/// Makes writers of events to standard error.
struct OneLine;

impl<'w> MakeWriter<'w> for OneLine {
    type Writer = LineWriter<io::StderrLock<'w>>;

    fn make_writer(&'w self) -> Self::Writer {
        LineWriter(io::stderr().lock())
    }
}

/// A writer that gets one event at a time, and writes it as one line without control characters: a path may contain any byte.
struct LineWriter<W>(W);

impl<W: Write> Write for LineWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        // `neutral` shows line feeds as signs, so a path cannot look like a second event.
        writeln!(self.0, "{}", neutral(text.trim_end_matches('\n')))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn levels_are_for_all_parts_or_for_one() {
        let filter: LogFilter = "info, catalog=debug,tooltrail_server=off".parse().unwrap();
        let takes = |target: &str, level: Level| filter.0.would_enable(target, &level);
        assert!(takes("tooltrail::logs", Level::INFO) && !takes("tooltrail::logs", Level::DEBUG));
        assert!(takes("tooltrail_formats::scan", Level::INFO) && takes("tooltrail_catalog::watch", Level::DEBUG));
        assert!(!takes("tooltrail_server::server", Level::ERROR));
        // The parser of commands quotes them.
        let all: LogFilter = "trace".parse().unwrap();
        assert!(!all.0.would_enable("brush_parser", &Level::ERROR) && !all.0.would_enable("hyper", &Level::ERROR));
    }

    #[test]
    fn mistakes_are_told_with_what_would_be_right() {
        for (text, words) in [
            ("loud", "`loud` is not a level; use `error`"),
            ("", "`` is not a level"),
            ("3", "`3` is not a level"),
            ("info,catalog=", "`` is not a level"),
            ("brush_parser=trace", "unknown component `brush_parser`; use `tooltrail`, `formats`"),
        ] {
            let error = text.parse::<LogFilter>().unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn an_event_is_one_line_and_has_no_escapes() {
        let mut out = Vec::new();
        LineWriter(&mut out).write_all(b"read /tmp/\x1b[2Ja\nERROR b\n").unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches('\n').count(), 1, "{text:?}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
