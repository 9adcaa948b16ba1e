//! The scratch directory of one `serve` process: demo logs and catalogues that are of no use once the process has ended.
//!
//! All scratch directories lie in one base directory that belongs to this user alone. A process that is killed leaves its directory
//! behind, so the next one removes it, under two conditions: the directory carries our marker file, and no process holds the marker's
//! lock. A name alone never makes anything ours. What is put into the directory is decided by `commands/serve.rs`.

use crate::private_directory::private_directory;
use anyhow::Context;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tooltrail_model::visible::neutral_path;
use tracing::{debug, warn};

/// The way out where the base directory cannot be used.
const ADVICE: &str = "set TMPDIR to another directory that you can write to";
/// The name of the marker file in each scratch directory.
const MARKER: &str = ".tooltrail-scratch";
/// The marker's content, by which it is told from a file that happens to have its name.
const MARKER_TEXT: &[u8] = b"A scratch directory of tooltrail. It is removed once the process that holds a lock on this file has ended.\n";

/// A directory that lives as long as the process, and is locked as long.
pub(crate) struct ScratchDirectory {
    directory: tempfile::TempDir,
    /// The open marker file: the operating system gives up its lock when the process ends, however it ends.
    marker: File,
}

impl ScratchDirectory {
    /// Creates a directory in this user's base directory, after removing what ended processes have left there.
    pub(crate) fn create() -> anyhow::Result<Self> {
        Self::create_in(&base())
    }

    fn create_in(base: &Path) -> anyhow::Result<Self> {
        private_directory(base, ADVICE)?;
        sweep(base);
        let at = |what| format!("cannot {what} in `{}`; {ADVICE}", neutral_path(base));
        let mut builder = tempfile::Builder::new();
        builder.prefix("serve-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let directory = builder.tempdir_in(base).with_context(|| at("create a directory"))?;
        let marker = mark(directory.path()).with_context(|| at("lock a file"))?;
        Ok(ScratchDirectory { directory, marker })
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Removes the directory before the process exits without running destructors.
    pub(crate) fn remove(&self) {
        // What is left is removed by the next process: the lock ends with this one.
        let _ = remove_marked(self.path(), &self.marker);
    }
}

/// The directory that holds the scratch directories of this user.
fn base() -> PathBuf {
    // The folder for temporary files may be shared, so the user is part of the name.
    #[cfg(unix)]
    let name = format!("tooltrail-{}", rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    let name = "tooltrail";
    std::env::temp_dir().join(name)
}

/// Writes the marker file and locks it.
fn mark(directory: &Path) -> io::Result<File> {
    let draft = directory.join(".new");
    let mut marker = File::options().write(true).create_new(true).open(&draft)?;
    marker.write_all(MARKER_TEXT)?;
    marker.lock()?;
    // The name comes last: a marker that could be seen before it is locked would be taken for one that is left over.
    fs::rename(draft, directory.join(MARKER))?;
    Ok(marker)
}

/// Removes the scratch directories whose processes have ended.
fn sweep(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        // `file_type` does not follow links, so a link to a directory is left alone.
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Some(marker) = abandoned(&entry.path())
        {
            let path = entry.path();
            match remove_marked(&path, &marker) {
                Ok(()) => debug!(?path, "removed the scratch directory of a server that has ended"),
                // The next start tries again.
                Err(error) => warn!(?path, %error, "cannot remove the scratch directory of a server that has ended"),
            }
        }
    }
}

/// The marker of a directory that no process uses any more, locked, so that only one process removes it.
fn abandoned(directory: &Path) -> Option<File> {
    let path = directory.join(MARKER);
    // Opening a pipe of that name would wait for ever.
    fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
    // Some network file systems lock only what is open for writing.
    let mut marker = File::options().read(true).write(true).open(path).ok()?;
    let mut text = Vec::new();
    Read::by_ref(&mut marker).take(MARKER_TEXT.len() as u64 + 1).read_to_end(&mut text).ok()?;
    (text == MARKER_TEXT && marker.try_lock().is_ok()).then_some(marker)
}

/// Removes a directory whose lock the caller holds.
fn remove_marked(directory: &Path, _locked: &File) -> io::Result<()> {
    // The marker goes last, so that a removal that is cut short is finished by the next process.
    for entry in fs::read_dir(directory)?.flatten().filter(|entry| entry.file_name() != MARKER) {
        let is_directory = entry.file_type()?.is_dir();
        if is_directory { fs::remove_dir_all(entry.path())? } else { fs::remove_file(entry.path())? }
    }
    fs::remove_dir_all(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory like one that a killed process leaves: marked, and locked by nobody.
    fn left_over(base: &Path, name: &str) -> PathBuf {
        let directory = base.join(name);
        fs::create_dir_all(directory.join("demo")).unwrap();
        fs::write(directory.join("demo/log.jsonl"), "{}").unwrap();
        drop(mark(&directory).unwrap());
        directory
    }

    #[test]
    fn only_marked_and_unlocked_directories_are_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().join("tooltrail");
        let running = ScratchDirectory::create_in(&base).unwrap();
        let stale = left_over(&base, "serve-stale");
        let stranger = base.join("tooltrail-4194305-stranger");
        fs::create_dir(&stranger).unwrap();
        let pretender = base.join("serve-pretender");
        fs::create_dir(&pretender).unwrap();
        fs::write(pretender.join(MARKER), "somebody else's text").unwrap();
        let outside = left_over(temporary.path(), "tooltrail-4194305-outside");

        let second = ScratchDirectory::create_in(&base).unwrap();
        assert!(!stale.exists(), "nobody holds its lock");
        assert!(running.path().join(MARKER).exists(), "its process runs");
        assert!(stranger.exists(), "it has no marker");
        assert!(pretender.exists(), "the marker is not ours");
        assert!(outside.exists(), "it does not lie in the base directory");

        let path = second.path().to_owned();
        fs::create_dir(path.join("demo")).unwrap();
        second.remove();
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_followed_nor_accepted() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let temporary = tempfile::tempdir().unwrap();
        let (base, elsewhere) = (temporary.path().join("tooltrail"), temporary.path().join("elsewhere"));
        let precious = left_over(&elsewhere, "serve-precious");
        symlink(&elsewhere, &base).unwrap();
        let refused = ScratchDirectory::create_in(&base).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains("symbolic link") && refused.contains("TMPDIR"), "{refused}");
        assert!(precious.exists());

        fs::remove_file(&base).unwrap();
        fs::create_dir(&base).unwrap();
        fs::set_permissions(&base, fs::Permissions::from_mode(0o777)).unwrap();
        let refused = ScratchDirectory::create_in(&base).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains("chmod 700"), "{refused}");

        fs::set_permissions(&base, fs::Permissions::from_mode(0o700)).unwrap();
        symlink(&precious, base.join("serve-link")).unwrap();
        let own = ScratchDirectory::create_in(&base).unwrap();
        assert!(precious.join("demo/log.jsonl").exists(), "a link in the base directory is not followed");
        assert_eq!(fs::metadata(own.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
