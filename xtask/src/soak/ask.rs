//! Queries a catalogue through the program itself, and checks whether it is sound.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace::built;

/// Everything that the views contain, except row numbers and times of reading.
const QUERIES: &[&str] = &[
    "SELECT * FROM calls",
    "SELECT * FROM sessions WHERE NOT gone",
    "SELECT * FROM turns",
    "SELECT * FROM usage",
    "SELECT * FROM copies",
    "SELECT * FROM issues WHERE file IN (SELECT file FROM sources WHERE NOT gone)",
    "SELECT file, agent, size, bytes, lines, blank, unparsed, unknown_records, calls, orphan_results FROM sources WHERE NOT gone",
];

/// The program, run on the logs of a home, with its catalogue in a directory.
pub(super) fn program(home: &Path, cache: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(built("debug", "tooltrail"));
    // Whether a session is alive depends on the time; long after all logs, none is.
    command.args(arguments).args(["--now", "2040-01-01T00:00:00Z"]).env_clear().current_dir(home);
    command.env("HOME", home).env("TOOLTRAIL_CACHE", cache).env("TOOLTRAIL_DATA", home.join("data"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Output of a query. The program must not complain.
fn said(home: &Path, cache: &Path, sql: &str) -> Result<String, String> {
    let mut command = program(home, cache, &["sql", "--json", sql]);
    let output = command.stdout(Stdio::piped()).output().map_err(|error| format!("can't start {command:?}: {error}"))?;
    if !output.status.success() || !output.stderr.is_empty() {
        return Err(format!("`{sql}` ended with {} and said: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("`{sql}`: {error}"))
}

/// Everything that a catalogue contains, refreshed.
pub(super) fn everything(home: &Path, cache: &Path) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for query in QUERIES {
        let answer = said(home, cache, query)?;
        let mut lines: Vec<String> = answer.lines().map(|line| format!("{query}: {line}")).collect();
        // Sorted, because the order of rows is not promised.
        lines.sort();
        all.append(&mut lines);
    }
    Ok(all)
}

/// Whether the catalogue that was left behind is sound. It is refreshed before it is checked, which repairs nothing: a
/// damaged catalogue is thrown away and made anew, and then another file is in its place.
pub(super) fn is_sound(home: &Path, cache: &Path) -> Result<(), String> {
    // Held open, so that a new file cannot get the same number.
    let left: Vec<(PathBuf, File)> =
        files(cache, ".db").into_iter().filter_map(|path| Some((path.clone(), File::open(path).ok()?))).collect();
    let checked = said(home, cache, "SELECT integrity_check AS said FROM pragma_integrity_check")?;
    if checked.trim() != "{\"said\":\"ok\"}" {
        return Err(format!("it is not sound: {checked}"));
    }
    match left.iter().find(|(path, file)| !is_same(path, file)) {
        Some((path, _)) => Err(format!("`{}` was thrown away: it could not be opened, or was damaged", path.display())),
        None => Ok(()),
    }
}

/// The files of a directory whose names end like this.
pub(super) fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    all.filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}

/// Whether a path still leads to the file that was opened there.
#[cfg(unix)]
fn is_same(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |meta: &fs::Metadata| (meta.dev(), meta.ino());
    matches!((fs::metadata(path), file.metadata()), (Ok(now), Ok(then)) if number(&now) == number(&then))
}

/// Without file numbers, existence has to do.
#[cfg(not(unix))]
fn is_same(path: &Path, _: &File) -> bool {
    path.exists()
}
