//! Giving back what was kept: the same bytes, with the same time, at the same place or another.

use super::copy::each_chunk;
use super::{Keep, choose, make_private};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::NamedTempFile;
use tooltrail_formats::frames::{Frames, Seal};
use tooltrail_formats::mirror;
use xxhash_rust::xxh3::Xxh3Default;

/// What became of a file that was to be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// It was written.
    Written,
    /// It is there already.
    Same,
    /// Another file is there, and was left alone.
    Differs,
}

/// How files are given back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restoring {
    /// Whether other files may be replaced.
    pub force: bool,
    /// Whether the files count as written now. Otherwise they have the time they had, and an agent may delete them again.
    pub touch: bool,
}

impl Keep {
    /// Every copy.
    pub fn copies(&self) -> Vec<PathBuf> {
        let mut copies = Vec::new();
        choose::walk(&self.files(), &mut |path| copies.push(path));
        copies.sort();
        copies
    }

    /// The copy of a file, if there is one. A copy is its own, an older one too.
    pub fn copy_of(&self, file: &Path) -> Option<PathBuf> {
        let place = if self.original(file).is_some() { file.to_owned() } else { mirror::place(&self.files(), file)? };
        fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_file()).then_some(place)
    }

    /// The file of which something is the copy.
    pub fn original(&self, copy: &Path) -> Option<PathBuf> {
        mirror::original(&self.files(), copy).or_else(|| {
            let older = self.directory().join("older");
            let number = copy.strip_prefix(&older).ok()?.components().next()?;
            mirror::original(&older.join(number), copy)
        })
    }

    /// Gives back what a copy holds. It is checked before it gets its name.
    pub fn restore(&self, copy: &Path, target: &Path, how: Restoring) -> io::Result<Returned> {
        let file = File::open(copy)?;
        let end = Frames::read(&file).ok_or_else(damaged)?;
        if fs::symlink_metadata(target).is_ok() {
            if holds(target, &end.seal)? {
                if how.touch {
                    File::options().write(true).open(target)?.set_modified(SystemTime::now())?;
                }
                return Ok(Returned::Same);
            }
            if !how.force {
                return Ok(Returned::Differs);
            }
        }
        let directory = target.parent().ok_or(io::ErrorKind::InvalidFilename)?;
        make_private(directory)?;
        let mut written = NamedTempFile::new_in(directory)?;
        let (seal, mut hash) = (end.seal, Xxh3Default::new());
        each_chunk::<io::Error>(&mut end.content(file), u64::MAX, |bytes| {
            hash.update(bytes);
            written.write_all(bytes)
        })?;
        if hash.digest128() != seal.checksum {
            return Err(damaged());
        }
        let time = if how.touch { Some(SystemTime::now()) } else { seal.modified() };
        if let Some(time) = time {
            written.as_file().set_modified(time)?;
        }
        written.as_file().sync_all()?;
        let named = if how.force { written.persist(target) } else { written.persist_noclobber(target) };
        match named {
            Ok(_) => Ok(Returned::Written),
            // Somebody else was quicker.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(Returned::Differs),
            Err(error) => Err(error.error),
        }
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the kept copy is damaged; nothing was written")
}

/// Whether a file holds what was sealed.
fn holds(path: &Path, seal: &Seal) -> io::Result<bool> {
    let meta = fs::symlink_metadata(path)?;
    if !meta.is_file() || meta.len() != seal.length {
        return Ok(false);
    }
    let mut hash = Xxh3Default::new();
    each_chunk::<io::Error>(&mut File::open(path)?, u64::MAX, |bytes| {
        hash.update(bytes);
        Ok(())
    })?;
    Ok(hash.digest128() == seal.checksum)
}
