//! Times in tables: how long ago on a terminal, ISO 8601 in a pipe or file, or as `--time` says.

use crate::cli::LogArgs;
use crate::logs;
use jiff::tz::TimeZone;
use std::io::IsTerminal;
use tooltrail_model::Time;
use tooltrail_view::head::ago;

/// How times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TimeStyle {
    /// How long ago, as in `3 h ago`
    Relative,
    /// Date and time, as in `2026-03-04 10:00:09`
    Local,
    /// Date, time and offset from UTC, as in `2026-03-04T10:00:09+01:00`
    Iso,
}

/// Writes times the way the arguments ask for.
#[derive(Clone, Debug)]
pub(crate) struct TimeWriter {
    style: TimeStyle,
    zone: TimeZone,
    now: Time,
}

impl TimeWriter {
    /// The style that the arguments name, else the one that suits standard output.
    pub(crate) fn new(args: &LogArgs) -> Self {
        let on_terminal = args.config.time.unwrap_or(TimeStyle::Relative);
        let usual = if std::io::stdout().is_terminal() { on_terminal } else { TimeStyle::Iso };
        let zone = if args.utc { TimeZone::UTC } else { TimeZone::system() };
        TimeWriter { style: args.time.unwrap_or(usual), zone, now: logs::asked_at(args) }
    }

    /// A time.
    pub(crate) fn text(&self, time: Time) -> String {
        let zoned = || time.timestamp().to_zoned(self.zone.clone());
        match self.style {
            TimeStyle::Relative => format!("{} ago", ago(time, self.now)),
            TimeStyle::Local => zoned().strftime("%Y-%m-%d %H:%M:%S").to_string(),
            // `Z` and `+00:00` are the same moment; `Z` is what other tools print for UTC.
            TimeStyle::Iso if zoned().offset().is_zero() => zoned().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            TimeStyle::Iso => zoned().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        }
    }

    /// A time, or nothing.
    pub(crate) fn maybe(&self, time: Option<Time>) -> String {
        time.map(|time| self.text(time)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_three_ways() {
        let time: Time = "2026-03-04T09:00:09Z".parse().unwrap();
        let write = |style: TimeStyle, hours: i8| {
            let zone = TimeZone::fixed(jiff::tz::offset(hours));
            TimeWriter { style, zone, now: "2026-03-04T12:00:00Z".parse().unwrap() }.text(time)
        };
        assert_eq!(write(TimeStyle::Relative, 1), "2 h ago");
        assert_eq!(write(TimeStyle::Local, 1), "2026-03-04 10:00:09");
        assert_eq!(
            (write(TimeStyle::Iso, 1).as_str(), write(TimeStyle::Iso, 0).as_str()),
            ("2026-03-04T10:00:09+01:00", "2026-03-04T09:00:09Z")
        );
    }
}
