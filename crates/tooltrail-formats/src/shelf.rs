//! Where logs are read again from: the disk, or whatever the caller has instead.
//!
//! What an agent saved beside a log is opened only inside the log's own directories, by its name alone: a path that a log names is
//! never followed.

use crate::FORMATS;
use crate::open::{is_compressed, open, open_at};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tooltrail_model::Span;

/// Gives the bytes of logs and of what lies beside them.
pub trait Shelf: Sync {
    /// A log, from its beginning.
    fn log(&self, file: &str) -> io::Result<Box<dyn Read + '_>>;

    /// A part of a log; nothing if it is not there any more.
    fn bytes(&self, file: &str, span: Span) -> Option<Vec<u8>>;

    /// A file that was saved beside a log, by its name: its first bytes, and how large it is.
    fn beside(&self, file: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)>;

    /// A copy that the agent kept of a file, by its name: its first bytes, and how large it is.
    fn backup(&self, file: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        let _ = (file, name, limit);
        Err(io::ErrorKind::NotFound.into())
    }
}

/// The directories beside a log in which outputs are saved.
const SAVED: &str = "tool-results";

/// The disk.
#[derive(Debug, Default)]
pub struct Disk {
    /// Logs that are compressed, unpacked once to be read at any place.
    unpacked: Mutex<HashMap<PathBuf, File>>,
}

impl Shelf for Disk {
    fn log(&self, file: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(open(Path::new(file), |file| file)?))
    }

    fn bytes(&self, file: &str, span: Span) -> Option<Vec<u8>> {
        let path = Path::new(file);
        let mut bytes = Vec::with_capacity(usize::try_from(span.len()).ok()?.min(crate::records::LONGEST));
        if is_compressed(path) {
            let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
            if !unpacked.contains_key(path) {
                unpacked.insert(path.to_owned(), unpack(path).ok()?);
            }
            let file = unpacked.get_mut(path)?;
            file.seek(SeekFrom::Start(span.start)).ok()?;
            file.take(span.len()).read_to_end(&mut bytes).ok()?;
        } else {
            open_at(path, span.start).ok()?.take(span.len()).read_to_end(&mut bytes).ok()?;
        }
        (bytes.len() as u64 == span.len()).then_some(bytes)
    }

    fn beside(&self, file: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        named(directories(Path::new(file)), name, limit)
    }

    fn backup(&self, file: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        named(FORMATS.iter().filter_map(|format| format.backup_directory(Path::new(file))), name, limit)
    }
}

/// The file of a name in the first of some directories that has it: its first bytes, and how large it is.
fn named(directories: impl IntoIterator<Item = PathBuf>, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
    let plain = Path::new(name).file_name() == Some(OsStr::new(name));
    if !plain {
        return Err(io::Error::other("it is not beside the log, and nothing else is opened"));
    }
    for directory in directories {
        let path = directory.join(name);
        // Neither the directories nor the file may be a link to somewhere else.
        let real = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
        let is_directory = real(&directory) && directory.parent().is_some_and(real);
        let Some(meta) = fs::symlink_metadata(&path).ok().filter(|meta| is_directory && meta.is_file()) else { continue };
        let mut bytes = Vec::new();
        File::open(&path)?.take(limit).read_to_end(&mut bytes)?;
        return Ok((bytes, meta.len()));
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "it is not beside the log any more"))
}

/// The directories beside a log, and beside the log that it is a subagent of, in which outputs are saved.
fn directories(log: &Path) -> Vec<PathBuf> {
    let own = FORMATS.iter().filter_map(|format| format.side_directory(log));
    let above = log.ancestors().skip(1).take_while(|path| path.file_name().is_some_and(|name| name != "projects")).take(4);
    let above = above.filter(|path| path.with_extension("jsonl").is_file()).map(Path::to_owned);
    own.chain(above).map(|directory| directory.join(SAVED)).collect()
}

fn unpack(path: &Path) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut open(path, |file| file)?, &mut file)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    #[test]
    fn only_what_lies_beside_a_log_is_opened() -> Result<(), Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let log = home.path().join("projects/p/s1.jsonl");
        let saved = home.path().join("projects/p/s1/tool-results");
        fs::create_dir_all(&saved)?;
        fs::write(saved.join("a.txt"), "all of it")?;
        fs::write(home.path().join("other.txt"), "private")?;
        let open = |log: &Path, name: &str| Disk::default().beside(&log.to_string_lossy(), name, 3).ok();
        assert_eq!(open(&log, "a.txt"), Some((b"all".to_vec(), 9)));
        for name in ["../../../other.txt", "b.txt", "", ".", ".."] {
            assert_eq!(open(&log, name), None, "{name}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink(home.path().join("other.txt"), saved.join("link.txt"))?;
            assert_eq!(open(&log, "link.txt"), None);
            // Neither may the session's own directory be a link.
            symlink(home.path().join("projects/p/s1"), home.path().join("projects/p/s2"))?;
            assert_eq!(open(&home.path().join("projects/p/s2.jsonl"), "a.txt"), None);
        }
        Ok(())
    }

    #[test]
    fn only_copies_of_the_logs_own_session_are_opened() -> Result<(), Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let kept = home.path().join("file-history/s1");
        fs::create_dir_all(&kept)?;
        fs::create_dir_all(home.path().join("file-history/s2"))?;
        fs::write(kept.join("9f@v1"), "before")?;
        fs::write(home.path().join("file-history/other"), "private")?;
        let open = |log: &str, name: &str| Disk::default().backup(&home.path().join(log).to_string_lossy(), name, 99).ok();
        assert_eq!(open("projects/p/s1.jsonl", "9f@v1"), Some((b"before".to_vec(), 6)));
        assert_eq!(open("projects/p/s1/subagents/agent-a.jsonl", "9f@v1"), Some((b"before".to_vec(), 6)));
        for (log, name) in
            [("projects/p/s1.jsonl", "../other"), ("projects/p/s2.jsonl", "9f@v1"), ("s1.jsonl", "9f@v1"), ("projects/p/..jsonl", "other")]
        {
            assert_eq!(open(log, name), None, "{log} {name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(home.path().join("file-history/other"), kept.join("link"))?;
            assert_eq!(open("projects/p/s1.jsonl", "link"), None);
        }
        Ok(())
    }
}
