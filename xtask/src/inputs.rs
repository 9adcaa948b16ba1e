//! The logs that the bench reads, made once by the testkit and kept in the target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::{program, say, target};

/// Seed of the corpus: figures of different days must refer to the same bytes.
pub(crate) const SEED: &str = "2";

/// The testkit with some arguments.
pub(crate) fn testkit(arguments: &[&str]) -> Command {
    let mut command = Command::new(program("tooltrail-testkit"));
    command.args(arguments);
    command
}

/// The corpus of a size. Delete it after a change of the generator to have it made again.
pub(crate) fn corpus(size: &str) -> Result<PathBuf, String> {
    // The size names a directory that may be removed, so it must not lead anywhere else.
    let plain = size.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    if !plain || !size.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("`--size {size}`: write it like `1G` or `100M`"));
    }
    let directory = target().join("bench").join(size);
    make(&directory, |home| testkit(&["gen", "--size", size, "--seed", SEED, "--out"]).arg(home).status())?;
    Ok(directory)
}

/// A log with one line of 2 GB.
pub(crate) fn huge_line() -> Result<PathBuf, String> {
    let directory = target().join("bench").join("huge-line");
    let file = directory.join("log.jsonl");
    make(&directory, |_| testkit(&["big-line", "--size", "2G", "--out"]).arg(&file).status())?;
    Ok(file)
}

/// A log of 20 results of 20 MB.
pub(crate) fn big_results() -> Result<PathBuf, String> {
    let directory = target().join("bench").join("big-results");
    let file = directory.join("log.jsonl");
    make(&directory, |_| testkit(&["big-results", "--count", "20", "--each", "20M", "--out"]).arg(&file).status())?;
    Ok(file)
}

/// Fills `directory` with `build`, unless it is already complete.
fn make(directory: &Path, build: impl FnOnce(&Path) -> std::io::Result<std::process::ExitStatus>) -> Result<(), String> {
    // Written last, so that leftovers of an interrupted run are not measured.
    let whole = directory.join("whole");
    if whole.exists() {
        return Ok(());
    }
    say(&format!("making {}", directory.display()));
    // Leftovers are removed, so that they do not count as input.
    let _ = fs::remove_dir_all(directory);
    let made = fs::create_dir_all(directory).and_then(|()| build(directory));
    match made {
        Ok(status) if status.success() => fs::write(&whole, "").map_err(|error| format!("can't write `{}`: {error}", whole.display())),
        Ok(status) => Err(format!("the testkit ended with {status}; its message is above")),
        Err(error) => Err(format!("can't make `{}`: {error}; is there space on the disk?", directory.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::corpus;

    #[test]
    fn a_size_leads_nowhere_else() {
        for size in ["..", "../1G", "/", "", "1G/../..", "G"] {
            assert!(corpus(size).is_err(), "{size}");
        }
    }
}
