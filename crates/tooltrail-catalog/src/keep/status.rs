//! The status of a keep: its copies, and the logs that will be deleted and have none.

use super::choose::{SOON, micros};
use super::copy::check;
use super::{Keep, choose, is_kept, is_source_kept};
use crate::Set;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tooltrail_formats::FORMATS;
use tooltrail_formats::find::{FoundSource, Search, is_log_name};
use tooltrail_formats::frames::{Frames, Seal};
use tooltrail_formats::retention::Retention;
use tooltrail_model::Time;
use tracing::warn;

/// The contents of a keep in numbers, and the logs that are missing in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeepStatus {
    /// How many logs.
    pub logs: u64,
    /// How many files, logs and what belongs to them.
    pub files: u64,
    /// How many logs whose original is gone.
    pub gone: u64,
    /// How many copies have content that exists nowhere else: the file is gone, or is shorter now.
    pub only: u64,
    /// How many of them are logs.
    pub only_logs: u64,
    /// How many bytes the files had.
    pub bytes: u64,
    /// How many bytes the copies have.
    pub kept_bytes: u64,
    /// How many older contents of files, and their bytes.
    pub older: u64,
    /// Their bytes.
    pub older_bytes: u64,
    /// Copies that are damaged, older ones among them.
    pub damaged: Vec<PathBuf>,
    /// Copies and directories of them that cannot be read, so that nothing is known about them.
    pub unreadable: Vec<PathBuf>,
    /// How many damaged copies were put aside by repairs.
    pub set_aside: u64,
    /// Logs that are not kept as they are now.
    pub unkept: u64,
    /// Those of them that are about to be deleted, the first one first.
    pub doomed: Vec<DoomedLog>,
}

/// A log that is about to be deleted and not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoomedLog {
    /// The log.
    pub file: PathBuf,
    /// When it will be deleted, or could have been.
    pub deleted_at: Time,
}

impl Keep {
    /// Takes stock of the keep. With `verify`, every copy is read to its end.
    pub fn status(&self, search: &Search, retention: &Retention, now: Time, verify: bool) -> KeepStatus {
        let mut status = KeepStatus::default();
        let kept = self.files();
        // A search returns a copy only where the log itself is gone.
        let gone: Set<&Path> = search.files.iter().map(|found| found.path.as_path()).filter(|path| path.starts_with(&kept)).collect();
        status.gone = gone.len() as u64;
        // Copies whose log still exists, perhaps compressed or in another place, where its own path would not find it.
        let there: Set<&Path> = search.kept.iter().map(|kept| kept.copy.path.as_path()).filter(|path| !gone.contains(path)).collect();
        let (mut copies, mut older) = (Vec::new(), Vec::new());
        for (directory, found) in [(&kept, &mut copies), (&self.directory().join("older"), &mut older)] {
            choose::walk_all(directory, &mut |path| found.push(path), &mut |path, error| {
                warn!(?path, %error, "cannot look for kept copies");
                status.unreadable.push(path);
            });
            found.sort();
        }
        for path in copies {
            let is_log = u64::from(is_log_name(&path));
            let Some(seal) = status.examine(&path, verify) else {
                // Some of it may be saved, and may be nowhere else.
                let only = u64::from(!there.contains(path.as_path()) && !self.original(&path).is_some_and(|original| original.exists()));
                (status.only, status.only_logs) = (status.only + only, status.only_logs + only * is_log);
                continue;
            };
            let only = match self.original(&path).and_then(|original| fs::symlink_metadata(original).ok()) {
                // Comparing sizes is cheap, and logs only grow; a rewritten file of the same size is the rare exception.
                Some(original) => u64::from(original.len() < seal.length),
                None => u64::from(!there.contains(path.as_path())),
            };
            (status.only, status.only_logs) = (status.only + only, status.only_logs + only * is_log);
            (status.files, status.logs) = (status.files + 1, status.logs + is_log);
            status.bytes += seal.length;
            status.kept_bytes += size(&path);
        }
        for path in older {
            (status.older, status.older_bytes) = (status.older + 1, status.older_bytes + size(&path));
            if verify {
                status.examine(&path, verify);
            }
        }
        status.set_aside = self.set_aside();
        let is_unkept = |found: &&FoundSource| !found.path.starts_with(&kept) && !is_source_kept(&kept, found);
        let unkept: Vec<&Path> = search.files.iter().filter(is_unkept).map(|found| found.path.as_path()).collect();
        status.unkept = unkept.len() as u64;
        // The logs of subagents are deleted with their session, so listing them too would repeat the warning.
        let doomed = on_their_own(unkept).into_iter().filter_map(|path| Some((deleted_at(retention, path)?, path)));
        let soon = doomed.filter(|(time, _)| now.micros_until(*time) <= micros(SOON));
        status.doomed = soon.map(|(deleted_at, path)| DoomedLog { file: path.to_owned(), deleted_at }).collect();
        status.doomed.sort_by(|a, b| (a.deleted_at, &a.file).cmp(&(b.deleted_at, &b.file)));
        status
    }

    /// The time at which the first log of a session is deleted that is not kept; `None` if all are kept, or none is ever deleted.
    pub fn lost_at<'f>(&self, retention: &Retention, files: impl IntoIterator<Item = &'f str>) -> Option<Time> {
        let kept = self.files();
        let own = files.into_iter().map(Path::new).filter(|path| !path.starts_with(&kept)).collect();
        let own = on_their_own(own).into_iter();
        own.filter_map(|path| Some((deleted_at(retention, path)?, path)))
            .filter(|(_, path)| !is_kept(&kept, path))
            .map(|(time, _)| time)
            .min()
    }
}

impl KeepStatus {
    /// The seal of a copy; nothing if it is damaged or cannot be read, which is noted.
    fn examine(&mut self, path: &Path, verify: bool) -> Option<Seal> {
        let seal = sealed(path, verify);
        if let Err(error) = &seal {
            warn!(?path, %error, "a kept copy is damaged or cannot be read");
            // An error of the system says nothing about the copy.
            let list = if error.raw_os_error().is_some() { &mut self.unreadable } else { &mut self.damaged };
            list.push(path.to_owned());
        }
        seal.ok()
    }
}

/// The seal at the end of a copy; with `verify`, after reading and checking all of its content.
fn sealed(path: &Path, verify: bool) -> io::Result<Seal> {
    let file = File::open(path)?;
    let end = Frames::load(&file)?.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its end is not that of a kept copy"))?;
    if verify {
        check(&file, &end.seal)?;
    }
    Ok(end.seal)
}

fn size(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |meta| meta.len())
}

/// When a log is deleted, by when it was last written.
fn deleted_at(retention: &Retention, path: &Path) -> Option<Time> {
    let written = fs::symlink_metadata(path).ok()?.modified().ok()?;
    let micros = tooltrail_formats::frames::nanoseconds(written) / 1000;
    retention.deleted_at(path, Time::from_microsecond(i64::try_from(micros).ok()?)?)
}

/// The logs that lie in no other's own directory: those that do are deleted with the other one.
fn on_their_own(logs: Vec<&Path>) -> Vec<&Path> {
    let sides: Set<PathBuf> = logs.iter().flat_map(|log| FORMATS.iter().filter_map(|format| format.side_directory(log))).collect();
    logs.into_iter().filter(|log| !log.ancestors().skip(1).any(|above| sides.contains(above))).collect()
}
