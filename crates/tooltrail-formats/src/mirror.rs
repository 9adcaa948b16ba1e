//! The place of a copy among kept files: the file's own path, below the directory in which copies are kept.
//!
//! So a kept log has its own name and lies beside kept copies of its sidecars, and is read like any other log.
//! `/home/ada/.claude/projects/p/s.jsonl` is kept as `KEPT/home/ada/.claude/projects/p/s.jsonl`.

use crate::database::part_of;
use std::path::{Component, Path, PathBuf};

/// How the copy of a session of a database ends.
const LINES: &str = ".jsonl";

/// The path at which the copy of a file or directory is kept; `None` for paths that have no place there.
pub fn place(kept: &Path, original: &Path) -> Option<PathBuf> {
    let mut place = kept.to_owned();
    let mut depth = 0_usize;
    for component in std::path::absolute(original).ok()?.components() {
        match component {
            Component::Prefix(prefix) => {
                // `C:` and its longer spelling; a place on the network has none.
                use std::path::Prefix::{Disk, VerbatimDisk};
                let (Disk(letter) | VerbatimDisk(letter)) = prefix.kind() else { return None };
                place.push(char::from(letter).to_ascii_uppercase().to_string());
            }
            Component::RootDir | Component::CurDir => {}
            // Never above the directory of copies, however many `..` a path begins with.
            Component::ParentDir if depth == 0 => {}
            Component::ParentDir => {
                place.pop();
                depth -= 1;
            }
            Component::Normal(name) => {
                place.push(name);
                depth += 1;
            }
        }
    }
    // The records of a session of a database are kept as the lines that they are read as.
    if part_of(original).is_some() {
        place.as_mut_os_string().push(LINES);
    }
    Some(place)
}

/// The source of a kept copy, by the path that the copy has below the directory of copies.
pub(crate) fn source(path: &Path) -> PathBuf {
    let part = path.to_str().and_then(|path| path.strip_suffix(LINES)).map(Path::new);
    part.filter(|part| part_of(part).is_some()).unwrap_or(path).to_owned()
}

/// The original of a kept copy; `None` for a path that is no copy.
pub fn original(kept: &Path, copy: &Path) -> Option<PathBuf> {
    let path = copy.strip_prefix(kept).ok()?;
    // Only paths that `place` could have produced; anything else is no copy.
    let plain = path.components().all(|component| matches!(component, Component::Normal(_)));
    if !plain || path.as_os_str().is_empty() {
        return None;
    }
    if cfg!(windows) {
        // The first directory is the drive's letter; see `place`.
        let mut parts = path.components();
        let drive = parts.next()?.as_os_str().to_string_lossy().into_owned();
        return Some(source(&Path::new(&format!("{drive}:\\")).join(parts.as_path())));
    }
    Some(source(&Path::new("/").join(path)))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_of_a_session_of_a_database_is_a_file_of_lines() {
        let kept = Path::new("/data/keep/files");
        let address = Path::new("/home/ada/opencode.db#session=ses_1");
        let copy = place(kept, address).unwrap_or_default();
        assert_eq!(copy, Path::new("/data/keep/files/home/ada/opencode.db#session=ses_1.jsonl"));
        assert_eq!(original(kept, &copy).as_deref(), Some(address));
    }

    #[test]
    fn a_copy_lies_where_the_original_does_and_tells_it() {
        let kept = Path::new("/data/keep/files");
        let of = |path: &str| place(kept, Path::new(path));
        assert_eq!(of("/home/ada/a.jsonl"), Some("/data/keep/files/home/ada/a.jsonl".into()));
        assert_eq!(of("/home/./ada/../bob/a.jsonl"), Some("/data/keep/files/home/bob/a.jsonl".into()));
        // Nothing leads out of the directory.
        assert_eq!(of("/../../etc/passwd"), Some("/data/keep/files/etc/passwd".into()));
        let copy = of("/home/ada/a.jsonl").unwrap_or_default();
        assert_eq!(original(kept, &copy), Some("/home/ada/a.jsonl".into()));
        for other in ["/data/keep/files", "/data/keep", "/home/ada/a.jsonl", "/data/keep/files/../../x"] {
            assert_eq!(original(kept, Path::new(other)), None, "{other}");
        }
    }
}
