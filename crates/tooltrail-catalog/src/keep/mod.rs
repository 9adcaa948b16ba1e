//! The keep: copies of logs, made before their agents delete them.
//!
//! A keep is a private directory that belongs to one set of places:
//!
//! ```text
//! files/…     the copies, each at its file's own path (formats::mirror), in frames (formats::frames)
//! older/N/…   what copies held before their file was truncated or replaced
//! damaged/N/… damaged copies that were repaired, as they were
//! new/        copies that are being written
//! state.json  whether logs are kept automatically, and when they were kept last
//! lock        held by the process that keeps
//! ```
//!
//! There is no list of what is kept: the path and the seal of every copy say what it is a copy of. A copy is written beside,
//! checked, and then given its name, so a process that is killed leaves copies that are whole. Nothing here is ever changed or removed but
//! by a newer copy of the same file, and what that does not contain is put aside first.
//!
//! [`choose`](self) selects files, [`copy`](self) makes a copy, [`restore`](Keep::restore) writes it back, [`status`](Keep::status) takes
//! stock.

mod choose;
mod copy;
mod repair;
mod restore;
mod state;
mod status;

pub use choose::{SOON, belongings};
pub use repair::RepairOutcome;
pub use restore::{RestoreOptions, RestoreOutcome};
pub use state::KeepState;
pub use status::{DoomedLog, KeepStatus};

use copy::{Copier, CopyError, CopyOutcome};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tooltrail_formats::find::{self, FoundSource, Search};
use tooltrail_formats::mirror;
use tooltrail_formats::retention::Retention;
use tooltrail_formats::scan::Progress;
use tooltrail_model::Time;
use tooltrail_model::filter::Keeping;
use tooltrail_model::visible::neutral_path;
use tracing::{debug, warn};

/// How long a process waits for another one that keeps.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a command that is about something else may be held up. What is left is for the next one.
const SPARE: Duration = Duration::from_millis(200);

/// An error of a keep.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// Something in it cannot be read or written.
    #[error("cannot use `{}`; choose another place with TOOLTRAIL_DATA", neutral_path(path))]
    Directory {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// Whether logs are kept automatically cannot be told.
    #[error(
        "cannot tell whether logs are kept: `{}` cannot be read; `tooltrail keep on` or `keep off` writes it again",
        neutral_path(path)
    )]
    State {
        /// The file that says so.
        path: PathBuf,
        /// Why it cannot be read.
        #[source]
        error: io::Error,
    },
    /// Another process is at work for very long.
    #[error("another tooltrail process is copying logs to `{}`; try again later", neutral_path(path))]
    Busy {
        /// The keep.
        path: PathBuf,
    },
}

/// A file that could not be kept. The others were.
#[derive(Debug, thiserror::Error)]
pub enum Unkept {
    /// The file cannot be read.
    #[error("cannot keep `{}`: it cannot be read", neutral_path(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// Its copy cannot be written.
    #[error("cannot keep `{}`: its copy cannot be written to `{}`", neutral_path(path), neutral_path(keep))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The keep.
        keep: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// Nothing can be written to the keep, so nothing more was tried.
    #[error(
        "nothing more can be kept in `{}`, and what is kept is whole; make space there, or choose another place with TOOLTRAIL_DATA, then \
         run `tooltrail keep now`",
        neutral_path(keep)
    )]
    Full {
        /// The keep.
        keep: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}

impl Unkept {
    /// The file that was not kept, or the keep itself.
    pub fn path(&self) -> &Path {
        match self {
            Unkept::Unreadable { path, .. } | Unkept::Unwritable { path, .. } => path,
            Unkept::Full { keep, .. } => keep,
        }
    }
}

/// A keep.
#[derive(Clone, Debug)]
pub struct Keep {
    directory: PathBuf,
}

/// The result of copying files.
#[derive(Debug, Default)]
pub struct KeepOutcome {
    /// Files that were kept for the first time.
    pub new: usize,
    /// Files that had grown.
    pub grown: usize,
    /// Files that had been truncated or replaced; what was kept of them before is still there.
    pub replaced: usize,
    /// How many bytes of logs were copied.
    pub bytes: u64,
    /// Files that could not be kept, by path.
    pub problems: Vec<Unkept>,
}

impl KeepOutcome {
    /// How many files were copied.
    pub fn copied(&self) -> usize {
        self.new + self.grown + self.replaced
    }

    fn add(&mut self, path: &Path, made: Result<CopyOutcome, CopyError>, keep: &Path) {
        match &made {
            Ok(CopyOutcome::Nothing) => {}
            Ok(made) => debug!(?path, ?made, "kept a copy"),
            Err(CopyError::File(error) | CopyError::Copy(error)) => warn!(?path, %error, "cannot keep a copy"),
        }
        match made {
            Ok(CopyOutcome::Nothing) => {}
            Ok(CopyOutcome::New(bytes)) => (self.new, self.bytes) = (self.new + 1, self.bytes + bytes),
            Ok(CopyOutcome::Grown(bytes)) => (self.grown, self.bytes) = (self.grown + 1, self.bytes + bytes),
            Ok(CopyOutcome::Replaced(bytes)) => (self.replaced, self.bytes) = (self.replaced + 1, self.bytes + bytes),
            // Agents delete files while we look at them, which is no problem to report.
            Err(CopyError::File(error)) if error.kind() == io::ErrorKind::NotFound && !path.exists() => {}
            Err(CopyError::File(error)) => self.problems.push(Unkept::Unreadable { path: path.to_owned(), error }),
            // Several threads may meet the full disk; it is reported once.
            Err(CopyError::Copy(error)) if is_final(&error) && self.is_over() => {}
            Err(CopyError::Copy(error)) if is_final(&error) => self.problems.push(Unkept::Full { keep: keep.to_owned(), error }),
            Err(CopyError::Copy(error)) => {
                self.problems.push(Unkept::Unwritable { path: path.to_owned(), keep: keep.to_owned(), error });
            }
        }
    }

    /// Whether nothing more can be kept.
    fn is_over(&self) -> bool {
        self.problems.iter().any(|problem| matches!(problem, Unkept::Full { .. }))
    }
}

impl Keep {
    /// The keep of some directories below a data directory; none are the agents' own places. Keeps of different directories never mix.
    pub fn of(data: &Path, roots: &[PathBuf]) -> Self {
        let mut key = Vec::new();
        for root in roots {
            // The same spelling as for copies, so that different spellings of a directory find the same keep.
            let root = mirror::place(Path::new(""), root).unwrap_or_else(|| root.clone());
            key.extend_from_slice(root.as_os_str().as_encoded_bytes());
            key.push(0);
        }
        let name = if roots.is_empty() { "own".to_owned() } else { format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&key)) };
        Keep { directory: data.join("keep").join(name) }
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory of the copies, for [`tooltrail_formats::Places`].
    pub fn files(&self) -> PathBuf {
        self.directory.join("files")
    }

    /// Switches automatic keeping on or off.
    pub fn switch(&self, on: bool) -> Result<(), KeepError> {
        // Switching off what was never on must not create directories.
        if !on && !self.directory.exists() {
            return Ok(());
        }
        let _lock = self.lock(PATIENCE)?;
        // What was said before need not be readable to say something else.
        self.write_state(&KeepState { on, ..self.state().unwrap_or_default() })
    }

    /// Copies every log whose copy is not current, with all files that belong to it.
    pub fn now(&self, search: &Search, threads: usize, now: Time, progress: &Progress) -> Result<KeepOutcome, KeepError> {
        let _lock = self.lock(PATIENCE)?;
        let copier = self.copier()?;
        let outcome = Mutex::new(KeepOutcome::default());
        // Group after group: a log must not be copied before the files that belong to it are.
        for files in choose::all(search, &self.files()) {
            let next = AtomicUsize::new(0);
            let work = || {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if outcome.lock().unwrap_or_else(PoisonError::into_inner).is_over() {
                        return;
                    }
                    let made = copier.keep(path, progress);
                    progress.sources.fetch_add(1, Ordering::Relaxed);
                    outcome.lock().unwrap_or_else(PoisonError::into_inner).add(path, made, &self.directory);
                }
            };
            std::thread::scope(|scope| {
                // Twice as many threads as cores: each waits for the disk about as long as it computes.
                for _ in 1..(2 * threads).clamp(1, files.len().max(1)) {
                    scope.spawn(work);
                }
                work();
            });
        }
        let mut outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.note(&outcome, now)?;
        outcome.problems.sort_by(|a, b| a.path().cmp(b.path()));
        Ok(outcome)
    }

    /// Keeps the logs that are due, if automatic keeping is on, for a moment at most. Does nothing while another process keeps logs.
    pub fn after_refresh(&self, search: &Search, retention: &Retention, now: Time) -> Result<KeepOutcome, KeepError> {
        let start = Instant::now();
        let state = self.state()?;
        if !state.on {
            return Ok(KeepOutcome::default());
        }
        // Decided before locking: in most runs there is nothing to do, and no file should be touched then.
        let due = choose::due(search, retention, now, &self.files());
        if due.is_empty() {
            self.note_check(&state, now)?;
            return Ok(KeepOutcome::default());
        }
        let _lock = match self.lock(Duration::ZERO) {
            Err(KeepError::Busy { .. }) => return Ok(KeepOutcome::default()),
            lock => lock?,
        };
        let copier = self.copier()?;
        let mut outcome = KeepOutcome::default();
        for log in due {
            // The log last: once its copy is current, it is not looked at again, and neither are the files that belong to it.
            for path in belongings(&log).into_iter().chain([log]) {
                if !outcome.is_over() {
                    outcome.add(&path, copier.keep(&path, &Progress::default()), &self.directory);
                }
            }
            // Checked after a whole log, so that even a slow disk makes progress with every command.
            if start.elapsed() > SPARE || outcome.is_over() {
                break;
            }
        }
        self.note(&outcome, now)?;
        Ok(outcome)
    }

    /// Removes everything that is kept.
    pub fn delete(&self) -> Result<(), KeepError> {
        if !self.directory.exists() {
            return Ok(());
        }
        let lock = self.lock(PATIENCE)?;
        // The state first: if this is interrupted, nothing is kept automatically any more.
        for name in ["state.json", "new", "older", "damaged", "files"] {
            let path = self.directory.join(name);
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(KeepError::Directory { path, error }),
                _ => {}
            }
        }
        drop(lock);
        // The file of the lock stays: a process that waits has this file open, and a new one of the same name would be another lock.
        Ok(())
    }

    /// Whether the logs of a session are kept, and whether they are gone, by their files.
    pub fn keeping<'f>(&self, files: impl IntoIterator<Item = &'f str>) -> Keeping {
        let (kept, mut keeping) = (self.files(), Keeping { kept: true, gone: true });
        let mut any = false;
        for file in files.into_iter().map(Path::new) {
            any = true;
            if !file.starts_with(&kept) {
                keeping.gone = false;
                keeping.kept &= is_kept(&kept, file);
            }
        }
        // A session without files would otherwise count as kept and gone at once.
        if any { keeping } else { Keeping::default() }
    }

    fn copier(&self) -> Result<Copier, KeepError> {
        let failed = |path: &Path, error| KeepError::Directory { path: path.to_owned(), error };
        let new = self.directory.join("new");
        // We hold the lock, so files here were left by a process that was killed.
        if new.exists() {
            fs::remove_dir_all(&new).map_err(|error| failed(&new, error))?;
        }
        make_private(&new).map_err(|error| failed(&new, error))?;
        Ok(Copier { files: self.files(), older: self.directory.join("older"), new })
    }

    /// Waits until no other process keeps. The lock ends with the process, however that ends.
    fn lock(&self, patience: Duration) -> Result<File, KeepError> {
        let failed = |error| KeepError::Directory { path: self.directory.clone(), error };
        make_private(&self.directory).map_err(failed)?;
        let file = private().create(true).append(true).open(self.directory.join("lock")).map_err(failed)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if start.elapsed() < patience => std::thread::sleep(Duration::from_millis(20)),
                Err(TryLockError::WouldBlock) => return Err(KeepError::Busy { path: self.directory.clone() }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}

/// Whether the copy of a source is that of the version that was found.
fn is_source_kept(kept: &Path, found: &FoundSource) -> bool {
    let copy = mirror::place(kept, &found.path).and_then(|copy| fs::symlink_metadata(copy).ok());
    copy.is_some_and(|copy| choose::is_same(copy.modified().ok(), found.size, found.modified))
}

/// Whether the copy of a source is current.
fn is_kept(kept: &Path, path: &Path) -> bool {
    let copy = mirror::place(kept, path).and_then(|copy| fs::symlink_metadata(copy).ok());
    match (copy, fs::symlink_metadata(path)) {
        (Some(copy), Ok(file)) => choose::is_same(copy.modified().ok(), file.len(), file.modified().ok()),
        // No file of this path: it may be the address of a session in a database, which only a search finds.
        (Some(_), Err(_)) => find::at(path).iter().any(|found| found.path == path && is_source_kept(kept, found)),
        (None, _) => false,
    }
}

/// Whether writing any other file would fail too.
fn is_final(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
}

/// Makes a directory that only its owner can look into: what was said in sessions is private.
fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Has the names in a file's directory written to the disk.
fn sync_directory(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(directory) = file.parent() {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// How files are opened that only their owner may read.
fn private() -> fs::OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use tooltrail_formats::error::ErrorChain;

    #[test]
    fn a_full_disk_is_told_once_and_ends_it() {
        let mut outcome = KeepOutcome::default();
        let (log, keep) = (Path::new("/logs/a.jsonl"), Path::new("/data/keep"));
        outcome.add(log, Err(CopyError::Copy(io::ErrorKind::PermissionDenied.into())), keep);
        assert!(!outcome.is_over());
        for _ in 0..3 {
            outcome.add(log, Err(CopyError::Copy(io::ErrorKind::StorageFull.into())), keep);
        }
        assert!(outcome.is_over());
        let told: Vec<String> = outcome.problems.iter().map(|problem| ErrorChain(problem).to_string()).collect();
        let [denied, full] = told.as_slice() else { panic!("{told:?}") };
        assert!(denied.starts_with("cannot keep `/logs/a.jsonl`: its copy cannot be written to `/data/keep`: "), "{denied}");
        assert!(
            full.starts_with("nothing more can be kept in `/data/keep`, ")
                && full.contains("TOOLTRAIL_DATA")
                && full.ends_with(": no storage space"),
            "{full}"
        );
    }
}
