//! Catalogues that were set aside: renamed beside themselves, never deleted at once, because they may be all that knows of sessions whose
//! logs are gone.
//!
//! One of an older schema or of other readers becomes `NAME.old` until a new one has taken its sessions over. A damaged one gets a name
//! with a time stamp, as does an `.old` one that could not be read. Of these the newest few are kept.

use super::files::{BESIDE, remove, with_ending};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The ending of a damaged catalogue.
pub(super) const DAMAGED: &str = "damaged";
/// The ending of one of an older schema or of other readers.
pub(super) const OLD: &str = "old";
/// How many files with a time stamp are kept of a catalogue.
const KEPT: usize = 3;

/// The name that a catalogue of an older schema or of other readers has until a new one has taken its place.
pub(super) fn old(path: &Path) -> PathBuf {
    with_ending(path, &format!(".{OLD}"))
}

/// Renames a catalogue to a name with a time stamp, and removes the oldest of those if there are many.
pub(super) fn set_aside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    stamp(path, path, ending)
}

/// Gives the `.old` file of a catalogue a name with a time stamp: its own is needed for another one, or nothing can be read from it.
pub(super) fn stamp_old(path: &Path) -> io::Result<PathBuf> {
    stamp(&old(path), path, OLD)
}

fn stamp(from: &Path, path: &Path, ending: &str) -> io::Result<PathBuf> {
    let to = with_ending(path, &format!(".{}.{ending}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ")));
    // Two within a millisecond: the next attempt has another name.
    if fs::symlink_metadata(&to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    rename(from, &to)?;
    let mut stamped = stamped(path);
    let spare = stamped.len().saturating_sub(KEPT);
    stamped.drain(..spare).for_each(|oldest| remove(&oldest));
    Ok(to)
}

/// The files with a time stamp that were set aside of a catalogue, the oldest first.
pub(super) fn stamped(path: &Path) -> Vec<PathBuf> {
    let Some((directory, name)) = path.parent().zip(path.file_name().and_then(|name| name.to_str())) else { return Vec::new() };
    let is_ours = |found: &str| {
        let rest = found.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        let stamp = rest.and_then(|rest| rest.strip_suffix(DAMAGED).or_else(|| rest.strip_suffix(OLD)));
        stamp.is_some_and(|stamp| stamp.ends_with('.') && stamp.starts_with(|first: char| first.is_ascii_digit()))
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(is_ours)).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Renames a catalogue, with what SQLite keeps beside it. Nothing must have the new name.
pub(super) fn rename(path: &Path, to: &Path) -> io::Result<()> {
    // What is beside it goes first: beside a new file, the log of another one would be taken for its own.
    for (done, ending) in BESIDE.iter().enumerate() {
        match fs::rename(with_ending(path, ending), with_ending(to, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                back(path, to, BESIDE.get(..done).unwrap_or_default());
                return Err(error);
            }
            _ => {}
        }
    }
    fs::rename(path, to).inspect_err(|_| back(path, to, &BESIDE))
}

/// Gives files beside a catalogue their names back, after it could not be renamed.
fn back(path: &Path, to: &Path, endings: &[&str]) {
    for ending in endings {
        // If this fails too, the file lacks what was written last: the next refresh reads that again.
        let _ = fs::rename(with_ending(to, ending), with_ending(path, ending));
    }
}
