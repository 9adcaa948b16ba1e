//! Restoring kept files: the same bytes, with the same time, in the same place or another.
//!
//! What is there is never lost by it: a file that only grew stays, and another one stays too, under another name if it has to make space.

use super::copy::each_chunk;
use super::{Keep, choose, make_private};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::NamedTempFile;
use tooltrail_formats::frames::{Frames, Seal};
use tooltrail_formats::mirror;
use tooltrail_model::position::split_address;
use xxhash_rust::xxh3::Xxh3Default;

/// The outcome of restoring a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreOutcome {
    /// The file was written.
    Written,
    /// The file was written, and the one in its place was renamed to this.
    Replaced(PathBuf),
    /// The file exists already.
    Same,
    /// The file exists already and has grown since. Nothing is missing, so it was left alone.
    Grown,
    /// Another file is in its place, and was left alone.
    Differs,
}

/// How files are given back.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestoreOptions {
    /// Whether files that differ have to make space.
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

    /// The file that something is a copy of.
    pub fn original(&self, copy: &Path) -> Option<PathBuf> {
        mirror::original(&self.files(), copy).or_else(|| {
            let older = self.directory().join("older");
            let number = copy.strip_prefix(&older).ok()?.components().next()?;
            mirror::original(&older.join(number), copy)
        })
    }

    /// Restores a file from its copy. The content is checked before the file gets its name.
    pub fn restore(&self, copy: &Path, target: &Path, how: RestoreOptions) -> io::Result<RestoreOutcome> {
        // The records of a session can be read where they are kept; a database is not written to.
        if target.to_str().is_some_and(|target| split_address(target).1.is_some()) {
            return Err(io::Error::other("it was a session in a database, which tooltrail never changes; read the kept copy instead"));
        }
        let file = File::open(copy)?;
        let end = Frames::read(&file).ok_or_else(damaged)?;
        let there = fs::symlink_metadata(target).is_ok();
        if there {
            if let Some(returned) = holds(target, &end.seal)? {
                if how.touch {
                    File::options().write(true).open(target)?.set_modified(SystemTime::now())?;
                }
                return Ok(returned);
            }
            if !how.force {
                return Ok(RestoreOutcome::Differs);
            }
        }
        let directory = target.parent().ok_or(io::ErrorKind::InvalidFilename)?;
        make_private(directory)?;
        // In the target's own directory, because a rename works only within one file system.
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
        // Only after the new content is checked and on the disk: until then the old file stays untouched.
        let aside = if there { Some(put_aside(target)?) } else { None };
        let named = if there { written.persist(target) } else { written.persist_noclobber(target) };
        match named {
            Ok(_) => Ok(aside.map_or(RestoreOutcome::Written, RestoreOutcome::Replaced)),
            // Another process has written the file meanwhile.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(RestoreOutcome::Differs),
            Err(error) => Err(error.error),
        }
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the kept copy is damaged; nothing was written")
}

/// Gives a file another name beside it, one that no log has. It keeps its own too, where that is possible, until another file takes that:
/// so what is added to it meanwhile is not lost either.
fn put_aside(path: &Path) -> io::Result<PathBuf> {
    for number in 1_u32.. {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".before-restore-{number}"));
        let aside = PathBuf::from(name);
        if fs::symlink_metadata(&aside).is_err() {
            fs::hard_link(path, &aside).or_else(|_| fs::rename(path, &aside))?;
            return Ok(aside);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Whether a file holds what was sealed, or begins with it.
fn holds(path: &Path, seal: &Seal) -> io::Result<Option<RestoreOutcome>> {
    let meta = fs::symlink_metadata(path)?;
    // A shorter file lacks something, so its content need not be read.
    if !meta.is_file() || meta.len() < seal.length {
        return Ok(None);
    }
    let mut hash = Xxh3Default::new();
    each_chunk::<io::Error>(&mut File::open(path)?, seal.length, |bytes| {
        hash.update(bytes);
        Ok(())
    })?;
    let same = hash.digest128() == seal.checksum;
    Ok(same.then_some(if meta.len() == seal.length { RestoreOutcome::Same } else { RestoreOutcome::Grown }))
}
