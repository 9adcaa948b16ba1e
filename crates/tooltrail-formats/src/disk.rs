//! The store from which logs are read again: the disk, or a replacement that the caller provides.
//!
//! Files saved beside a log are opened only inside the log's own directories and by their name alone: a path that a log names is never
//! followed.

use crate::FORMATS;
use crate::database::{self, part_of};
use crate::error::{ErrorChain, ReadError};
use crate::find::place;
use crate::frames::Frames;
use crate::open::{Input, ReadAt, ZSTD, is_compressed, open};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tooltrail_model::Span;
use tracing::{debug, warn};

/// Gives the bytes of logs and of what lies beside them.
pub trait ReadLogs: Sync {
    /// A log, from its beginning.
    fn log(&self, file: &str) -> io::Result<Box<dyn Read + '_>>;

    /// A part of a log; nothing if it is not there any more.
    fn bytes(&self, file: &str, span: Span) -> Option<Vec<u8>>;

    /// A part of a record. A store that has the record at hand need not read it again.
    fn bytes_within(&self, file: &str, record: Span, part: Span) -> Option<Vec<u8>> {
        let _ = record;
        self.bytes(file, part)
    }

    /// A part of a log, or the reason why it cannot be read, for callers that show it.
    fn read_span(&self, file: &str, span: Span) -> Result<Vec<u8>, ReadError> {
        self.bytes(file, span).ok_or(ReadError::Changed)
    }

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

/// How many logs are kept open to be read again.
const OPEN: usize = 16;

/// How many that had to be unpacked: more, because that takes longer.
const UNPACKED: usize = 64;
/// So much of a compressed log is unpacked at once: nearly every log is shorter.
const UNPACKED_AT_ONCE: u64 = 64 << 20;
/// How long a check of the path counts: thousands of calls of one log are read in a row, and each check costs as much as a read.
const LOOK: Duration = Duration::from_millis(1);
/// How many frames of a kept log are held: a request and its result may stand in two.
const WARM: usize = 2;

/// The disk, as it is: a log that grows stays open, one that was replaced is opened again.
#[derive(Debug, Default)]
pub struct Disk {
    /// Logs that were read lately, the latest last: calls of one log follow each other. Those that an agent compressed are unpacked once,
    /// to be read at any place, and stay.
    held: Mutex<Vec<CachedLog>>,
    /// How many bytes were decompressed to read parts of kept logs.
    unpacked: AtomicU64,
}

/// A log that is open.
#[derive(Debug)]
struct CachedLog {
    path: PathBuf,
    /// When the path was last checked.
    looked: Instant,
    mark: FileIdentity,
    log: Arc<OpenedLog>,
    unpacked: bool,
}

impl CachedLog {
    /// Whether the path still leads to this log. A plain file may grow; one that was unpacked, or that has a table of frames, is a
    /// different log once it was written to.
    fn is_still_there(&mut self) -> bool {
        let now = Instant::now();
        if now.duration_since(self.looked) < LOOK {
            return true;
        }
        self.looked = now;
        let as_it_lies = matches!(*self.log, OpenedLog::Plain(_)) && !self.unpacked;
        FileIdentity::of(&self.path).is_ok_and(|mark| if as_it_lies { self.mark.place == mark.place } else { self.mark == mark })
    }
}

/// The identity of a file, to notice when its path leads to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    place: (u64, u64),
    size: u64,
    modified: Option<SystemTime>,
}

impl FileIdentity {
    fn of(path: &Path) -> io::Result<Self> {
        if let Some((file, _)) = part_of(path) {
            // The device gives way to the database's number: any write to it can change any session.
            let (meta, number) = database::mark(&file)?;
            return Ok(FileIdentity { place: (place(&meta).1, number), size: meta.len(), modified: meta.modified().ok() });
        }
        let meta = fs::metadata(path)?;
        Ok(FileIdentity { place: place(&meta), size: meta.len(), modified: meta.modified().ok() })
    }
}

/// A log that can be read at any place.
#[derive(Debug)]
enum OpenedLog {
    /// Its bytes as they are.
    Plain(File),
    /// The content of a compressed one, as far as it was needed until now: the length of that is known, the length of all of it is not.
    Unpacked { packed: File, content: File, length: Mutex<u64> },
    /// A kept one, with the frames that were read lately, the latest last.
    Kept { file: File, frames: Frames, warm: Mutex<Vec<(usize, Arc<[u8]>)>> },
}

impl OpenedLog {
    /// Opens a log; gives whether it had to be unpacked.
    fn open(path: &Path) -> io::Result<(Self, bool)> {
        // The session of a database is read out once, like what is compressed, to be read at any place afterwards.
        if part_of(path).is_some() {
            return Ok((OpenedLog::Plain(unpack(path)?), true));
        }
        if !is_compressed(path) {
            return Ok((OpenedLog::Plain(File::open(path)?), false));
        }
        let file = File::open(path)?;
        match Frames::read(&file).filter(|frames| !frames.seal.raw) {
            Some(frames) => Ok((OpenedLog::Kept { file, frames, warm: Mutex::default() }, false)),
            None => Ok((OpenedLog::Unpacked { packed: file, content: tempfile::tempfile()?, length: Mutex::default() }, true)),
        }
    }

    /// A part of it, and how much was decompressed for that.
    fn part(&self, span: Span, unpacked: &AtomicU64) -> Result<Vec<u8>, ReadError> {
        match self {
            OpenedLog::Plain(file) => part_of_file(file, span),
            OpenedLog::Unpacked { packed, content, length } => {
                let mut length = length.lock().unwrap_or_else(PoisonError::into_inner);
                if *length < span.end {
                    *length = unpack_up_to(span.end, packed, content, *length).map_err(ReadError::File)?;
                }
                drop(length);
                part_of_file(content, span)
            }
            OpenedLog::Kept { file, frames, warm } => frames.part(span, |index| {
                let held = || warm.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((_, content)) = held().iter().find(|(known, _)| *known == index) {
                    return Ok(Arc::clone(content));
                }
                // Decompressed without the lock, so that other threads can read other frames.
                let content: Arc<[u8]> = frames.frame(file, index)?.into();
                unpacked.fetch_add(content.len() as u64, Ordering::Relaxed);
                let mut held = held();
                if held.len() >= WARM {
                    held.remove(0);
                }
                held.push((index, Arc::clone(&content)));
                Ok(content)
            }),
        }
    }
}

/// A part of a file.
fn part_of_file(file: &File, span: Span) -> Result<Vec<u8>, ReadError> {
    // The span may come from a stale index; its length is no reason to allocate more than the longest record.
    let size = usize::try_from(span.len()).map_or(crate::records::LONGEST, |size| size.min(crate::records::LONGEST));
    let mut bytes = Vec::with_capacity(size);
    ReadAt { file, place: span.start }.take(span.len()).read_to_end(&mut bytes).map_err(ReadError::File)?;
    // A log that became shorter was rewritten.
    (bytes.len() as u64 == span.len()).then_some(bytes).ok_or(ReadError::Changed)
}

/// Unpacks more of a compressed log, of which so much was unpacked before, and returns how much is unpacked now. A log of a megabyte may
/// unpack to a hundred gigabytes of which nothing is ever needed, so no more is unpacked than that; a decompressor that waits for more would
/// take up to 32 MB of memory, so each time begins at the beginning and at least doubles what is there.
fn unpack_up_to(end: u64, packed: &File, mut content: &File, before: u64) -> io::Result<u64> {
    let target = end.max(before.saturating_mul(2)).max(UNPACKED_AT_ONCE);
    let mut input = Input::of(ReadAt { file: packed, place: 0 }, &ZSTD)?;
    io::copy(&mut input.by_ref().take(before), &mut io::sink())?;
    content.seek(SeekFrom::Start(before))?;
    let more = io::copy(&mut input.take(target.saturating_sub(before)), &mut content)?;
    Ok(before + more)
}

impl Disk {
    /// How many bytes were decompressed to read parts of kept logs.
    pub fn unpacked(&self) -> u64 {
        self.unpacked.load(Ordering::Relaxed)
    }

    /// A log to read at any place.
    fn hold(&self, path: &Path) -> io::Result<Arc<OpenedLog>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // As bytes: paths come from the same list, and comparing them by component costs as much as a read.
        if let Some(at) = held.iter().rposition(|log| log.path.as_os_str() == path.as_os_str()) {
            // The latest last. Calls of one log follow each other, so it mostly is.
            held[at..].rotate_left(1);
            if let Some(own) = held.last_mut()
                && own.is_still_there()
            {
                return Ok(Arc::clone(&own.log));
            }
            held.pop();
        }
        // The identity is taken before opening: if the file is replaced in between, it is opened once more the next time.
        let (looked, mark) = (Instant::now(), FileIdentity::of(path)?);
        let (log, unpacked) = OpenedLog::open(path)?;
        let log = Arc::new(log);
        let limit = if unpacked { UNPACKED } else { OPEN };
        // Unpacked logs have their own limit, or a few compressed sessions would push out all plain ones.
        if held.iter().filter(|log| log.unpacked == unpacked).count() >= limit
            && let Some(oldest) = held.iter().position(|log| log.unpacked == unpacked)
        {
            held.remove(oldest);
        }
        held.push(CachedLog { path: path.to_owned(), looked, mark, log: Arc::clone(&log), unpacked });
        Ok(log)
    }
}

impl ReadLogs for Disk {
    fn log(&self, file: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(open(Path::new(file), |file| file)?))
    }

    fn bytes(&self, file: &str, span: Span) -> Option<Vec<u8>> {
        self.read_span(file, span).ok()
    }

    fn read_span(&self, file: &str, span: Span) -> Result<Vec<u8>, ReadError> {
        let read = self.hold(Path::new(file)).map_err(ReadError::File).and_then(|log| log.part(span, &self.unpacked));
        match &read {
            Err(ReadError::File(error)) if error.kind() != io::ErrorKind::NotFound => {
                warn!(path = ?file, start = span.start, error = %error, "cannot read a record again");
            }
            // Agents delete and rewrite their logs, so these are no surprise, and there may be one for each call.
            Err(error) => debug!(path = ?file, start = span.start, error = %ErrorChain(error), "a record is not there any more"),
            Ok(_) => {}
        }
        read
    }

    fn beside(&self, file: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        named(directories(Path::new(file)), name, limit)
    }

    fn backup(&self, file: &str, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        named(FORMATS.iter().filter_map(|format| format.backup_directory(Path::new(file))), name, limit)
    }
}

/// The file of this name in the first directory that has it: its first bytes, and its size.
fn named(directories: impl IntoIterator<Item = PathBuf>, name: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
    // Anything that is not a bare file name could lead out of the directory.
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
        return first_bytes(&path, &meta, limit);
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "it is not beside the log any more"))
}

/// The first bytes of a file, and how large it is. Of a kept copy, those of the file that it is a copy of.
pub(crate) fn first_bytes(path: &Path, meta: &fs::Metadata, limit: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    let Some(frames) = Frames::read(&file) else {
        file.take(limit).read_to_end(&mut bytes)?;
        return Ok((bytes, meta.len()));
    };
    let length = frames.seal.length;
    frames.content(file).take(limit).read_to_end(&mut bytes)?;
    Ok((bytes, length))
}

/// The directories beside a log, and beside the log that it is a subagent of, in which outputs are saved.
fn directories(log: &Path) -> Vec<PathBuf> {
    let own = FORMATS.iter().filter_map(|format| format.side_directory(log));
    // A subagent's log lies up to four directories below its session's; above `projects` there are no sessions.
    let above = log.ancestors().skip(1).take_while(|path| path.file_name().is_some_and(|name| name != "projects")).take(4);
    let above = above.filter(|path| path.with_extension("jsonl").is_file()).map(Path::to_owned);
    own.chain(above).map(|directory| directory.join(SAVED)).collect()
}

/// The records of a source that is no file of its own, in a file without a name, and when they were last written; nothing for a file.
pub fn read_out(address: &Path) -> io::Result<Option<(File, SystemTime)>> {
    if part_of(address).is_none() {
        return Ok(None);
    }
    // Asked for before the rows are read: a write in between is copied the next time.
    let modified = database::session(address)?.modified.unwrap_or(SystemTime::UNIX_EPOCH);
    Ok(Some((unpack(address)?, modified)))
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
    use std::io::Write;

    #[test]
    fn logs_are_read_at_any_place_however_many_there_are() -> Result<(), Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let disk = Disk::default();
        let path = |index: usize| home.path().join(format!("{index}.jsonl")).to_string_lossy().into_owned();
        for index in 0..3 * OPEN {
            let text = format!("{{\"log\":{index:03}}}\n");
            // Every third one is compressed.
            fs::write(path(index), if index % 3 == 0 { zstd::encode_all(text.as_bytes(), 1)? } else { text.into_bytes() })?;
        }
        let part = |index: usize, start, end| disk.bytes(&path(index), Span { start, end });
        for index in (0..3 * OPEN).chain((0..3 * OPEN).rev()) {
            assert_eq!(part(index, 7, 10), Some(format!("{index:03}").into_bytes()));
        }
        assert_eq!(part(1, 7, 100), None);
        assert_eq!(part(3 * OPEN, 0, 1), None);
        let held = disk.held.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(held.iter().filter(|log| !log.unpacked).count(), OPEN);
        Ok(())
    }

    #[test]
    fn a_compressed_log_is_unpacked_as_far_as_it_is_needed() -> Result<(), Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let path = home.path().join("a.jsonl.zst");
        let mut encoder = zstd::Encoder::new(File::create(&path)?, 1)?;
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..200 {
            encoder.write_all(&piece)?;
        }
        encoder.write_all(b"the end")?;
        encoder.finish()?;
        let disk = Disk::default();
        let part = |start, end| disk.bytes(&path.to_string_lossy(), Span { start, end });
        let unpacked = || match disk.hold(&path).as_deref() {
            Ok(OpenedLog::Unpacked { content, .. }) => content.metadata().map_or(0, |meta| meta.len()),
            _ => 0,
        };
        assert_eq!(part(1000, 1003), Some(b"xxx".to_vec()));
        assert_eq!(unpacked(), UNPACKED_AT_ONCE);
        let (last, end) = (200 << 20, (200 << 20) + 7);
        assert_eq!(part(last, end), Some(b"the end".to_vec()));
        assert_eq!(unpacked(), end);
        assert_eq!(part(last, end + 1), None);
        assert_eq!(part(UNPACKED_AT_ONCE - 1, UNPACKED_AT_ONCE + 1), Some(b"xx".to_vec()), "no seam is seen");
        Ok(())
    }

    #[test]
    fn a_log_that_grows_stays_open_and_a_replaced_one_is_opened_again() -> Result<(), Box<dyn Error>> {
        let home = tempfile::tempdir()?;
        let (plain, packed) = (home.path().join("a.jsonl"), home.path().join("b.jsonl.zst"));
        let disk = Disk::default();
        let part = |path: &Path, end| {
            std::thread::sleep(2 * LOOK);
            disk.bytes(&path.to_string_lossy(), Span { start: 0, end })
        };
        let opened = |path: &Path| disk.hold(path).map(|log| Arc::as_ptr(&log));
        fs::write(&plain, "one")?;
        assert_eq!(part(&plain, 3), Some(b"one".to_vec()));
        let first = opened(&plain)?;
        fs::write(&plain, "one and two")?;
        assert_eq!(part(&plain, 11), Some(b"one and two".to_vec()));
        assert_eq!(opened(&plain)?, first, "it is the same file");
        // Replaced by a file of the same size.
        fs::write(home.path().join("new"), "two and one")?;
        fs::rename(home.path().join("new"), &plain)?;
        assert_eq!(part(&plain, 11), Some(b"two and one".to_vec()));
        fs::remove_file(&plain)?;
        assert_eq!(part(&plain, 3), None);
        // What was unpacked is another log when anything is written to it.
        fs::write(&packed, zstd::encode_all(&b"before"[..], 1)?)?;
        assert_eq!(part(&packed, 6), Some(b"before".to_vec()));
        let first = opened(&packed)?;
        assert_eq!(opened(&packed)?, first);
        fs::write(&packed, zstd::encode_all(&b"after it"[..], 1)?)?;
        assert_eq!(part(&packed, 8), Some(b"after it".to_vec()));
        Ok(())
    }

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
