//! Turns measurements into tables and inserts them between the markers of a Markdown file.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::measure::ProgramRun;

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";
const INTRODUCTION: &str = "\
# Performance

`cargo xtask bench` measures how long tooltrail takes to read logs, and how much memory it needs. It uses generated logs with the mix
and the line lengths of real logs. The logs are in the page cache; runs are interleaved, and the table has the best run of each command. The floor
is the minimum that any reader has to do: read every byte and find the line ends.

";

/// One row of a table.
pub(crate) struct ReportRow {
    pub(crate) name: String,
    /// The command as typed, with `DIR` or `FILE` for the place.
    pub(crate) command: String,
    /// Bytes that were read.
    pub(crate) bytes: u64,
    /// The run, or why there is none: not installed, failed.
    pub(crate) run: Result<ProgramRun, String>,
}

/// Times that the rows are compared with, in seconds.
#[derive(Default)]
pub(crate) struct Against {
    pub(crate) floor: Option<f64>,
    pub(crate) peer: Option<f64>,
}

/// The table that compares times, each row with its own floor.
pub(crate) fn times(rows: &[(ReportRow, Against)]) -> String {
    let mut table = String::from(
        "| what | command | seconds | GB/s | time against the floor | time against ccusage | peak memory |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for (row, against) in rows {
        // Ratios compare across machines better than seconds do.
        let ratio = |run: &ProgramRun, other: Option<f64>| other.map_or("–".to_owned(), |other| format!("{:.2}×", run.seconds / other));
        let cells = match &row.run {
            Ok(run) => format!(
                "{:.3} | {:.2} | {} | {} | {}",
                run.seconds,
                row.bytes as f64 / run.seconds / 1e9,
                ratio(run, against.floor),
                ratio(run, against.peer),
                memory(run.peak)
            ),
            Err(why) => format!("{why} | – | – | – | –"),
        };
        table += &format!("| {} | `{}` | {cells} |\n", row.name, row.command);
    }
    table
}

/// The table of hostile inputs: time and memory alone.
pub(crate) fn hostile(rows: &[ReportRow]) -> String {
    let mut table = String::from("| input | command | seconds | peak memory |\n|---|---|---|---|\n");
    for row in rows {
        let cells = match &row.run {
            Ok(run) => format!("{:.3} | {}", run.seconds, memory(run.peak)),
            Err(why) => format!("{why} | –"),
        };
        table += &format!("| {} | `{}` | {cells} |\n", row.name, row.command);
    }
    table
}

fn memory(peak: Option<u64>) -> String {
    peak.map_or("–".to_owned(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6))
}

/// Writes `tables` into the file, which begins with an introduction if it does not exist yet.
pub(crate) fn write(file: &Path, tables: &str) -> Result<(), String> {
    let old = fs::read_to_string(file).unwrap_or_else(|_| INTRODUCTION.to_owned());
    if let Some(directory) = file.parent() {
        // A failure shows when the file is written.
        let _ = fs::create_dir_all(directory);
    }
    fs::write(file, spliced(&old, tables)).map_err(|error| format!("can't write `{}`: {error}; give another `--report`", file.display()))
}

/// `text` with `tables` between its markers; without markers they are appended.
fn spliced(text: &str, tables: &str) -> String {
    let block = format!("{BEGIN}\n{}\n{END}", tables.trim_end());
    // Both markers must be there: with only one, replacing could swallow the rest of the file.
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    match parts {
        Some((before, after)) => format!("{before}{block}{after}"),
        None => format!("{}\n\n{block}\n", text.trim_end()),
    }
}

/// The processor and its cores, for the head of the tables.
pub(crate) fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    // The model name is in every entry of `/proc/cpuinfo`; the first is enough.
    let model = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or("unknown processor", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores")
}

/// Today as `2026-03-04`, in UTC.
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

// By hand, because xtask uses the standard library only.
fn date(mut day: u64) -> String {
    let mut year = 1970;
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_replace_what_stood_between_the_markers() {
        let text = format!("intro\n{BEGIN}\nold\n{END}\nrest\n");
        assert_eq!(spliced(&text, "new\n"), format!("intro\n{BEGIN}\nnew\n{END}\nrest\n"));
        assert_eq!(spliced(&spliced(&text, "a"), "new"), spliced(&text, "new"));
        assert_eq!(spliced("intro\n", "new"), format!("intro\n\n{BEGIN}\nnew\n{END}\n"));
    }

    #[test]
    fn days_are_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_516), "2026-03-04");
        assert_eq!(date(20_818), "2026-12-31");
    }

    #[test]
    fn rows_show_ratios_or_why_not() {
        let row = |run| ReportRow { name: "a".to_owned(), command: "b DIR".to_owned(), bytes: 1_000_000_000, run };
        let run = ProgramRun { seconds: 0.5, peak: Some(12_000_000), stdout: String::new() };
        let against = Against { floor: Some(0.25), peer: Some(1.0) };
        let table = times(&[(row(Ok(run)), against), (row(Err("not installed".to_owned())), Against::default())]);
        assert!(table.contains("| a | `b DIR` | 0.500 | 2.00 | 2.00× | 0.50× | 12 MB |"), "{table}");
        assert!(table.contains("| a | `b DIR` | not installed | – "), "{table}");
    }
}
