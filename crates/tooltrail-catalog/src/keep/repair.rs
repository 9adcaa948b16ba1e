//! Repair of damaged copies: made again from their files where these are still there, else from the frames that are whole.
//!
//! Each frame has a checksum of its own and ends behind a line where that is possible, so what is left of a log are whole records. The
//! damaged copy is put aside in `damaged/` first, and never removed.

use super::copy::{Copier, CopyError, check, finish, give_name};
use super::{Keep, KeepError, PATIENCE, choose};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use tooltrail_formats::frames::{self, Frames, Packer, SalvagedFrames, Seal};
use tooltrail_formats::scan::Progress;
use tracing::warn;
use xxhash_rust::xxh3::Xxh3Default;

/// The outcome of repairing a copy.
#[derive(Debug)]
pub enum RepairOutcome {
    /// Its file is still there, and was copied again.
    CopiedAgain,
    /// What could be read of it was kept.
    Salvaged {
        /// How much content was saved.
        bytes: u64,
        /// What was not.
        frames: SalvagedFrames,
    },
    /// Nothing of it could be saved, and it was left as it is.
    Hopeless(io::Error),
}

impl Keep {
    /// Repairs every damaged copy. Returns what was done, by copy; nothing if all are whole.
    pub fn repair(&self, progress: &Progress) -> Result<Vec<(PathBuf, RepairOutcome)>, KeepError> {
        let mut done = Vec::new();
        if !self.directory().exists() {
            return Ok(done);
        }
        let _lock = self.lock(PATIENCE)?;
        let copier = self.copier()?;
        let mut copies = Vec::new();
        let failed = |path: PathBuf, error| KeepError::Directory { path, error };
        let mut unreadable = None;
        choose::walk_all(&self.files(), &mut |path| copies.push(path), &mut |path, error| unreadable = Some(failed(path, error)));
        copies.sort();
        for copy in copies {
            match intact(&copy) {
                Ok(()) => {}
                // What the system does not let be read is not known to be damaged.
                Err(error) if error.raw_os_error().is_some() => unreadable = Some(failed(copy, error)),
                Err(error) => {
                    warn!(path = ?copy, %error, "repairing a kept copy");
                    let outcome = self.repair_copy(&copier, &copy, progress).unwrap_or_else(RepairOutcome::Hopeless);
                    done.push((copy, outcome));
                }
            }
        }
        match unreadable {
            Some(error) if done.is_empty() => Err(error),
            _ => Ok(done),
        }
    }

    fn repair_copy(&self, copier: &Copier, copy: &Path, progress: &Progress) -> io::Result<RepairOutcome> {
        let damaged = self.directory().join("damaged");
        if let Some(original) = self.original(copy).filter(|original| original.is_file()) {
            copier.put_below(copy, &damaged)?;
            return match copier.copy_again(&original, copy, progress) {
                Ok(()) => Ok(RepairOutcome::CopiedAgain),
                Err(CopyError::File(error) | CopyError::Copy(error)) => Err(error),
            };
        }
        let file = File::open(copy)?;
        let mut written = NamedTempFile::new_in(&copier.new)?;
        let mut packer = Packer::new(written.as_file_mut())?;
        let (mut hash, mut bytes) = (Xxh3Default::new(), 0);
        let frames = frames::salvage(&file, |content| {
            hash.update(content);
            bytes += content.len() as u64;
            packer.write(content)
        })?;
        if bytes == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no part of it is intact"));
        }
        // The time of a copy is that of its file, in the seal as well as on the disk.
        let modified = match Frames::load(&file)? {
            Some(end) => end.seal.modified,
            None => frames::nanoseconds(file.metadata()?.modified()?),
        };
        let seal = Seal { length: bytes, checksum: hash.digest128(), modified, raw: false };
        packer.finish(&seal)?;
        finish(written.as_file(), &seal)?;
        copier.put_below(copy, &damaged)?;
        give_name(written, copy)?;
        Ok(RepairOutcome::Salvaged { bytes, frames })
    }

    /// How many damaged copies were put aside by repairs.
    pub fn set_aside(&self) -> u64 {
        let mut count = 0;
        choose::walk(&self.directory().join("damaged"), &mut |_| count += 1);
        count
    }
}

/// Reads a copy to its end; an error if it is damaged or cannot be read.
pub(super) fn intact(copy: &Path) -> io::Result<()> {
    let file = File::open(copy)?;
    let end = Frames::load(&file)?;
    let end = end.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its end is not that of a kept copy"))?;
    check(&file, &end.seal)
}
