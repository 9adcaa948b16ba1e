//! What a walk saw in directories besides logs. Most logs have no small files beside them, and asking the system for each of these files
//! takes longer than to remember what was listed.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The directories of a walk, and what they contain besides logs. Paths are spelled as the walk met them.
#[derive(Debug, Default)]
pub struct Listing {
    /// Directories that were listed to the end.
    whole: HashSet<OsString>,
    /// Directories, and files that may belong to a log.
    others: HashSet<OsString>,
}

impl Listing {
    /// Adds a directory that was listed to its end.
    pub(crate) fn whole(&mut self, directory: PathBuf) {
        self.whole.insert(directory.into_os_string());
    }

    /// Adds a directory, or a file that is no log.
    pub(crate) fn other(&mut self, path: &Path, is_directory: bool) {
        // A person's files are not remembered: only JSON says something about a log.
        if is_directory || path.extension().is_some_and(|end| end == "json" || end == "jsonl") {
            self.others.insert(path.as_os_str().to_owned());
        }
    }

    /// Whether it is certain that there was nothing at a path, which names a directory or JSON.
    pub(crate) fn lacks(&self, path: &Path) -> bool {
        let listed = |directory: &Path| self.whole.contains(directory.as_os_str());
        let seen = |path: &OsStr| self.others.contains(path);
        let Some(directory) = path.parent() else { return false };
        match listed(directory) {
            true => !seen(path.as_os_str()),
            false => directory.parent().is_some_and(listed) && !seen(directory.as_os_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_certain_about_what_was_not_listed() {
        let mut listing = Listing::default();
        listing.whole("/logs".into());
        listing.other(Path::new("/logs/a"), true);
        listing.other(Path::new("/logs/b.meta.json"), false);
        assert!(!listing.lacks(Path::new("/logs/b.meta.json")));
        assert!(listing.lacks(Path::new("/logs/c.meta.json")));
        // Its directory is there, but was not listed.
        assert!(!listing.lacks(Path::new("/logs/a/custom-title.json")));
        // Its directory is not there.
        assert!(listing.lacks(Path::new("/logs/d/custom-title.json")));
        assert!(!listing.lacks(Path::new("/other/d.meta.json")));
        listing.whole("/logs/a".into());
        assert!(listing.lacks(Path::new("/logs/a/custom-title.json")));
    }
}
