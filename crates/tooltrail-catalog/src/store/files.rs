//! The files in the cache directory: the names of catalogues, and the removal of unused ones.
//!
//! The number of the schema is part of a name, so that two versions of the program can be used in turns: neither opens the other's file.
//!
//! Unused files are removed whenever a catalogue is opened. The modification time of a file says when it was last used. It is set when the
//! file is opened: reading does not change it, and writes may stay in the log beside it for long.

use super::error::is_damaged;
use super::{Catalogue, schema};
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(60 * 60);
/// How long a file is left that a process may be filling for the first time. It writes all the while.
const FILLING: Duration = HOUR;
/// How long a catalogue of an older schema is left: two versions of the program may be used in turns.
const OLDER_SCHEMA: Duration = Duration::from_secs(24 * 60 * 60);
/// How long an unused catalogue of some directories is left.
const UNASKED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The file name of the catalogue of some directories; without any, of the agents' own places. Catalogues of different directories never mix.
pub fn file_name(roots: &[PathBuf]) -> String {
    if roots.is_empty() {
        return format!("catalogue-{}.db", schema::VERSION);
    }
    let mut key = Vec::new();
    for root in roots {
        let real = fs::canonicalize(root).unwrap_or_else(|_| root.clone());
        // Rows name files as the directory was named: the same one under another name has other rows.
        for path in [&real, root] {
            key.extend_from_slice(path.as_os_str().as_encoded_bytes());
            key.push(0);
        }
    }
    format!("catalogue-{}-{:016x}.db", schema::VERSION, xxhash_rust::xxh3::xxh3_64(&key))
}

/// How long an unused file of this name is left; `None` for a file that is never removed: the catalogue of the agents' own places, which
/// alone knows sessions that are gone, and files that are not catalogues.
fn patience(name: &str) -> Option<Duration> {
    let rest = name.strip_prefix("catalogue-")?;
    if let Some((_, process)) = rest.strip_suffix(".new").or_else(|| rest.strip_suffix(".rebuild")).and_then(|rest| rest.split_once(".db."))
    {
        return process.parse::<u32>().is_ok().then_some(FILLING);
    }
    let rest = rest.strip_suffix(".db")?;
    let (version, roots) = rest.split_once('-').map_or((rest, None), |(version, roots)| (version, Some(roots)));
    if roots.is_some_and(|roots| u64::from_str_radix(roots, 16).is_err()) {
        return None;
    }
    match (version.parse::<u32>().ok()?, roots) {
        (older, _) if older < schema::VERSION => Some(OLDER_SCHEMA),
        // A newer version may come back to what it knows.
        (_, None) => None,
        (_, Some(_)) => Some(UNASKED),
    }
}

/// The catalogues of older schemas that a catalogue comes after, the newest first.
pub(super) fn predecessors(path: &Path) -> Vec<PathBuf> {
    let rest = path.file_name().and_then(|name| name.to_str()?.strip_prefix(&format!("catalogue-{}", schema::VERSION)));
    let Some(rest) = rest.filter(|rest| rest.starts_with(['.', '-'])) else { return Vec::new() };
    (schema::OLDEST..schema::VERSION).rev().map(|older| path.with_file_name(format!("catalogue-{older}{rest}"))).collect()
}

/// A path with something behind its name.
pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

impl Catalogue {
    /// Removes unused files beside this one.
    pub(super) fn sweep(&mut self) {
        let own = self.path.clone();
        let predecessors = predecessors(&own);
        sweep(&own, &mut |older| match predecessors.iter().any(|path| path == older) {
            // A version that was used since may have learned of more sessions.
            true => self.draft.is_none() && self.absorb(older),
            false => true,
        });
    }
}

/// Removes unused files beside a catalogue. `is_spare` is asked about each of an older schema, before it is removed.
fn sweep(own: &Path, is_spare: &mut dyn FnMut(&Path) -> bool) {
    // Before there is a file of ours, an older one may be all that knows of sessions that are gone.
    let ours = own.exists();
    for entry in own.parent().and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten().flatten() {
        let Some(patience) = entry.file_name().to_str().and_then(patience) else { continue };
        let path = entry.path();
        if path == own || !is_older(&path, patience) {
            continue;
        }
        let is_own = patience == OLDER_SCHEMA && predecessors(own).contains(&path);
        if patience == OLDER_SCHEMA && (!ours || !is_spare(&path)) {
            continue;
        }
        let is_draft = path.extension().is_some_and(|ending| ending == "new" || ending == "rebuild");
        match claim(&path) {
            // No process can begin to use it while it is claimed, and one that began before has set its time, so the age
            // is checked once more.
            Ok(held) if is_older(&path, patience) && (is_own || is_draft || !is_sole(&held)) => remove(&path),
            // A draft that is no database was never more than a beginning. About any other file, an error says nothing.
            Err(error) if is_draft && is_damaged(&error) && is_older(&path, patience) => remove(&path),
            _ => {}
        }
    }
}

/// Whether a catalogue alone knows sessions: their logs are gone.
fn is_sole(connection: &Connection) -> bool {
    match connection.query_row("SELECT EXISTS(SELECT 1 FROM session_rows WHERE gone)", [], |row| row.get(0)) {
        Ok(any) => any,
        // Nothing is in a file without tables. Any other error leaves the question open.
        Err(_) => !matches!(schema::schema_number(connection), Ok(0)),
    }
}

/// Whether a file was last used longer ago. A file of the future is as new as can be.
fn is_older(path: &Path, age: Duration) -> bool {
    // A link would be followed to something else.
    let meta = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
    meta.and_then(|meta| meta.modified().ok()).and_then(|time| time.elapsed().ok()).is_some_and(|passed| passed > age)
}

/// Locks a catalogue for this connection alone. Fails while any process has it open.
fn claim(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
    connection.execute_batch("BEGIN EXCLUSIVE")?;
    Ok(connection)
}

/// Marks a catalogue as used now. Its file is not opened for that: closing it again would let go of the locks that this process has
/// on it elsewhere.
#[cfg(unix)]
pub(super) fn touch(path: &Path) {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat};
    let at = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    // Where that is not possible, the catalogue is made again some day.
    let _ = utimensat(CWD, path, &Timestamps { last_access: at(UTIME_OMIT), last_modification: at(UTIME_NOW) }, AtFlags::empty());
}

/// Marks a catalogue as used now.
#[cfg(not(unix))]
pub(super) fn touch(path: &Path) {
    let file = fs::File::options().append(true).open(path);
    // Where that is not possible, the catalogue is made again some day.
    let _ = file.and_then(|file| file.set_modified(std::time::SystemTime::now()));
}

/// The endings of the files that SQLite keeps beside a database.
pub(super) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Removes a catalogue, with what SQLite keeps beside it.
pub(super) fn remove(path: &Path) {
    for ending in [""].iter().chain(&BESIDE) {
        // What cannot be removed shows when the file is opened again.
        let _ = fs::remove_file(with_ending(path, ending));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    const DAY: Duration = OLDER_SCHEMA;

    /// Gives a file the time that it would have if it had not been used since.
    fn aged(path: &Path, age: Duration) {
        fs::File::options().append(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    #[test]
    fn what_nobody_uses_is_removed_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let (own, version) = (home.path().join(file_name(&[])), schema::VERSION);
        let (older, newer, roots) = (version - 1, version + 1, "0123456789abcdef");
        drop(fs::File::create(home.path().join("catalogue-0.db")));
        for (name, age, stays) in [
            (format!("catalogue-{older}.db"), DAY + HOUR, false),
            (format!("catalogue-{older}.db"), DAY - HOUR, true),
            ("catalogue-1.db".to_owned(), DAY + HOUR, false),
            (format!("catalogue-{older}-{roots}.db"), DAY + HOUR, false),
            (format!("catalogue-{newer}.db"), 99 * DAY, true),
            (format!("catalogue-{newer}-{roots}.db"), 29 * DAY, true),
            (format!("catalogue-{newer}-{roots}.db"), 31 * DAY, false),
            (format!("catalogue-{version}.db.old"), 99 * DAY, true),
            (format!("catalogue-{version}.db.{newer}.newer"), 99 * DAY, true),
            (format!("catalogue-{version}-{roots}.db"), 29 * DAY, true),
            (format!("catalogue-{version}-{roots}.db"), 31 * DAY, false),
            (format!("catalogue-{version}.db.77.new"), 2 * HOUR, false),
            (format!("catalogue-{version}-{roots}.db.77.new"), 2 * HOUR, false),
            (format!("catalogue-{version}.db.77.new"), HOUR / 2, true),
            (format!("catalogue-{version}.db"), 99 * DAY, true),
            (format!("catalogue-{version}-mine.db"), 99 * DAY, true),
            ("catalogue-mine.db".to_owned(), 99 * DAY, true),
            ("keep-1.db".to_owned(), 99 * DAY, true),
        ] {
            let path = home.path().join(&name);
            // One is no database, one is a catalogue that was in use when its process was killed.
            fs::write(&path, "").unwrap();
            fs::write(home.path().join(format!("{name}-wal")), "").unwrap();
            aged(&path, age);
            sweep(&home.path().join("catalogue-0.db"), &mut |_| true);
            assert_eq!(path.exists(), stays, "{name} after {age:?}");
            assert_eq!(home.path().join(format!("{name}-wal")).exists(), stays, "{name}-wal");
            let _ = fs::remove_file(path);
        }
        // The one that is opened is not swept away.
        drop(Catalogue::open(&own).unwrap());
    }

    #[test]
    fn a_catalogue_in_use_stays_and_opening_one_is_using_it() {
        let home = tempfile::tempdir().unwrap();
        let (own, other) = (home.path().join("catalogue-9.db"), home.path().join("catalogue-9-0123456789abcdef.db"));
        let publish = |path: &Path| Catalogue::open(path).unwrap().publish().unwrap();
        publish(&other);
        aged(&other, 99 * DAY);
        let used = Catalogue::open(&other).unwrap();
        assert!(!is_older(&other, HOUR), "opened now");
        for written in [false, true] {
            if written {
                used.connection.execute_batch("UPDATE meta SET value = value + 1").unwrap();
            }
            aged(&other, 99 * DAY);
            sweep(&own, &mut |_| true);
            assert!(other.exists(), "another process has it");
        }
        used.connection.execute_batch("SELECT * FROM meta").unwrap();
        drop(used);
        aged(&other, 99 * DAY);
        sweep(&own, &mut |_| true);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing of it is left");
    }
}
