//! What a walk saw in directories. Most logs have no small files beside them, and asking the system for each of these files
//! takes longer than to remember what was listed.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The directories of a walk, and what they contain. Paths are spelled as the walk met them.
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

    /// Adds a directory or a file.
    pub(crate) fn other(&mut self, path: &Path, is_directory: bool) {
        // Other files of a person are not remembered: only JSON says something about a log.
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

    #[test]
    fn a_log_with_something_beside_it_is_not_alone() {
        let place = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{}\n").unwrap();
        };
        let agents = "p/5e/subagents";
        write("p/5e.jsonl");
        write("p/6f.jsonl");
        write("p/6f/custom-title.json");
        write(&format!("{agents}/agent-a1.jsonl"));
        write(&format!("{agents}/agent-b2.jsonl"));
        write(&format!("{agents}/agent-b2.meta.json"));
        // A journal has the name of a log.
        write(&format!("{agents}/workflows/wf_1/agent-c3.jsonl"));
        write(&format!("{agents}/workflows/wf_1/journal.jsonl"));
        write(&format!("{agents}/workflows/wf_2/agent-d4.jsonl"));
        let found = crate::find::in_paths(&[place.path().to_owned()]);
        let alone = |name: &str| found.files.iter().find(|found| found.path.ends_with(name)).map(|found| found.alone);
        let all = ["5e.jsonl", "6f.jsonl", "agent-a1.jsonl", "agent-b2.jsonl", "agent-c3.jsonl", "agent-d4.jsonl"].map(alone);
        assert_eq!(all, [true, false, true, false, false, true].map(Some));
    }
}
