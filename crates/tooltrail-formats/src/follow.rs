//! One source, read as it grows.
//!
//! A scan reads a log whole; a [`Follower`] keeps the reader of that scan alive and, when the log has grown, hands it the new bytes
//! alone. The outcome equals a fresh scan of the same bytes. A last line without a line feed counts, as in a scan, but it may
//! be half written: it is taken in by a copy of the reader and read again the next time.
//!
//! A log is read from its beginning again if it may not just have grown: it is another file, it is not longer than before, or the last
//! bytes that were read are not where they were. So is a log too short to be recognised, and one that does not grow by lines: compressed,
//! a single document, or a session of a database.

use crate::database::{self, part_of};
use crate::find::{FoundSource, identity, place, read_small};
use crate::lines::{Buffer, HEAD, LinePosition, Lines, LogLine, Turns};
use crate::open::{Input, open};
use crate::scan::{LogReader, Options, SIDECAR, limited, sniff, spelled};
use crate::{FORMATS, Format};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tooltrail_model::Time;
use tooltrail_model::link::Source;
use tooltrail_skim::Skim;

/// How many of the last bytes are looked at again, to see that a longer log is the same one grown.
pub const SEAM: usize = 64;

/// A stamp that changes when a source does: its file, or a small file beside it that is read with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceStamp {
    written: FileVersion,
    beside: u64,
}

impl SourceStamp {
    /// The stamp of a file that was found.
    pub fn of(found: &FoundSource) -> Self {
        // All formats are asked, because which of them wrote the log is not known before it is read.
        let sidecars = FORMATS.iter().filter(|_| !found.alone).flat_map(|format| format.sidecars(&found.path));
        // Rotated, so that two files that swap their stamps do not cancel out.
        let beside = sidecars.fold(0, |all: u64, path| all.rotate_left(7) ^ stamp_beside(&path).unwrap_or(0));
        SourceStamp { written: FileVersion { size: found.size, modified: found.modified, identity: found.identity }, beside }
    }
}

/// Size, time and identity of a file at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion {
    size: u64,
    modified: Option<SystemTime>,
    identity: u64,
}

impl FileVersion {
    fn of(meta: &Metadata) -> Self {
        FileVersion { size: meta.len(), modified: meta.modified().ok(), identity: identity(meta) }
    }
}

/// Listens to the lines that were taken in. Each is passed once, and only when it is whole.
pub type LineListener<'h> = dyn FnMut(&'static dyn Format, LogLine<'_>) + 'h;

/// The outcome of one look at a source.
#[derive(Debug)]
pub struct Followed {
    /// The source, as a scan gives it.
    pub source: Source,
    /// Whether it was read from its beginning.
    pub whole: bool,
}

/// Reads one source as it grows.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    options: Options,
    held: Option<LogCursor>,
    beside: Vec<FollowedSidecar>,
    bytes: u64,
}

/// A reader that has taken in all whole lines of a file.
#[derive(Debug)]
struct LogCursor {
    reader: LogReader,
    mark: LinePosition,
    /// The last bytes before the mark.
    seam: Vec<u8>,
    place: (u64, u64),
    written: FileVersion,
}

/// A small file beside the log.
#[derive(Debug)]
struct FollowedSidecar {
    path: PathBuf,
    stamp: Option<u64>,
    bytes: Option<Vec<u8>>,
}

/// A reader that has taken in everything, the unfinished line too, with the number of bytes.
struct CompleteRead {
    reader: LogReader,
    bytes: u64,
    /// Whether the next look has to start from the beginning.
    torn: bool,
    /// Whether the rest was left because of a limit.
    limited: bool,
}

impl Follower {
    /// A follower at the beginning of a source.
    pub fn new(path: &Path, options: &Options) -> Self {
        Follower { path: path.to_owned(), options: options.clone(), held: None, beside: Vec::new(), bytes: 0 }
    }

    /// The number of bytes of the log read so far, over all looks.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads what is new, and returns the source as it is now.
    pub fn follow(&mut self, buffer: &mut Buffer, heard: &mut LineListener<'_>) -> io::Result<Followed> {
        if part_of(&self.path).is_some() {
            return self.read_rows(buffer, heard);
        }
        let file = File::open(&self.path)?;
        let meta = file.metadata()?;
        let written = FileVersion::of(&meta);
        let grown = match self.held.take() {
            // Only a file beside the log changed, so the log need not be read.
            Some(held) if held.written == written && held.mark.offset == written.size => Some((CompleteRead::again(&held), held)),
            Some(held) if held.written == written || held.may_have_grown(&meta) => self.go_on(file, held, written, buffer, heard)?,
            _ => None,
        };
        // Taken out above: if an error returns early, the next look starts from the beginning rather than from a wrong state.
        let whole = grown.is_none();
        let (taken, held, modified) = match grown {
            Some((taken, held)) => (taken, Some(held), meta.modified().ok()),
            None => self.begin(buffer, heard)?,
        };
        self.held = held.filter(|_| !taken.torn);
        let mut reader = taken.reader;
        // Only this copy of the reader takes in the sidecars: they change without the log, and the state that is kept must not hold an old
        // one.
        self.look_beside(&mut reader);
        let summary = reader.finish(taken.bytes);
        let modified = modified.and_then(|time| jiff::Timestamp::try_from(time).ok()).map(Time::from);
        Ok(Followed { source: Source { path: spelled(&self.path).into(), modified, summary }, whole })
    }

    /// Reads the session of a database. Any of its rows may have been written anew, so it is read whole each time.
    fn read_rows(&mut self, buffer: &mut Buffer, heard: &mut LineListener<'_>) -> io::Result<Followed> {
        // Read first: a write in between then changes the identity, and the next look notices it.
        let part = FoundSource::from(database::session(&self.path)?);
        let turns = Turns::default();
        let mut lines = Lines::new(limited(open(&self.path, |file| file)?, &self.options), buffer, &turns, self.options.max_line);
        let (reader, _) = LogReader::begin(&self.path, lines.peek(), &self.options);
        let written = FileVersion { size: part.size, modified: part.modified, identity: part.identity };
        // Discarded after this read, so place and mark do not matter.
        let mut held = LogCursor { reader, mark: LinePosition::default(), seam: Vec::new(), place: (0, 0), written };
        let taken = held.take(&mut lines, heard);
        self.bytes += taken.bytes;
        let summary = taken.reader.finish(taken.bytes);
        Ok(Followed { source: Source { path: spelled(&self.path).into(), modified: part.written(), summary }, whole: true })
    }

    /// Reads the bytes behind the mark; nothing if this is not the same log grown.
    fn go_on(
        &mut self,
        mut file: File,
        mut held: LogCursor,
        written: FileVersion,
        buffer: &mut Buffer,
        heard: &mut LineListener<'_>,
    ) -> io::Result<Option<(CompleteRead, LogCursor)>> {
        file.seek(SeekFrom::Start(held.mark.offset.saturating_sub(held.seam.len() as u64)))?;
        let mut seam = Vec::with_capacity(SEAM);
        self.bytes += file.by_ref().take(held.seam.len() as u64).read_to_end(&mut seam)? as u64;
        // Rewritten rather than grown: an agent that compacts its log changes the bytes in front of the mark.
        if seam != held.seam {
            return Ok(None);
        }
        let before = held.mark.offset;
        let turns = Turns::default();
        // Limited to the size seen before: bytes written meanwhile belong to the next look.
        let mut lines = Lines::after(
            held.mark,
            file.take(written.size.min(self.options.max_log.saturating_add(1)).saturating_sub(before)),
            buffer,
            &turns,
            self.options.max_line,
        );
        let taken = held.take(&mut lines, heard);
        self.bytes += taken.bytes - before;
        held.written = written;
        // Fewer bytes than the metadata promised: the file was truncated while it was read.
        let torn = taken.torn || (taken.bytes != written.size && !taken.limited);
        Ok(Some((CompleteRead { torn, ..taken }, held)))
    }

    /// Reads the log from its beginning.
    fn begin(
        &mut self,
        buffer: &mut Buffer,
        heard: &mut LineListener<'_>,
    ) -> io::Result<(CompleteRead, Option<LogCursor>, Option<SystemTime>)> {
        let mut seen = Err(io::ErrorKind::NotFound.into());
        let input = open(&self.path, |file| {
            seen = file.metadata();
            // No more than the size at opening, so that the number of bytes read is known exactly.
            let size = seen.as_ref().map_or(0, Metadata::len);
            file.take(size)
        })?;
        let meta = seen?;
        let (written, modified) = (FileVersion::of(&meta), meta.modified().ok());
        let compressed = matches!(input, Input::Zstd(_));
        let turns = Turns::default();
        let mut lines = Lines::new(limited(input, &self.options), buffer, &turns, self.options.max_line);
        let head = lines.peek();
        let settled = !compressed && is_settled(head);
        let (mut reader, document) = LogReader::begin(&self.path, head, &self.options);
        // A document has no lines to go on from, so no state is kept.
        if document {
            reader.whole(&mut lines, &self.options);
            let bytes = lines.bytes();
            self.bytes += bytes;
            return Ok((CompleteRead { reader, bytes, torn: true, limited: false }, None, modified));
        }
        let mut held = LogCursor { reader, mark: LinePosition::default(), seam: Vec::new(), place: place(&meta), written };
        let taken = held.take(&mut lines, heard);
        // Of a compressed file the bytes on disk count, which is what was read.
        self.bytes += if compressed { written.size } else { taken.bytes };
        let torn = taken.torn || !settled || (taken.bytes != written.size && !taken.limited);
        Ok((CompleteRead { torn, ..taken }, Some(held), modified))
    }

    /// Takes what the small files beside the log say, which are read if they are not as they were.
    fn look_beside(&mut self, reader: &mut LogReader) {
        let paths = reader.format().map(|format| format.sidecars(&self.path)).unwrap_or_default();
        // A log that is recognised late may have other sidecars than before.
        self.beside.retain(|beside| paths.contains(&beside.path));
        for path in paths {
            let stamp = stamp_beside(&path);
            let known = self.beside.iter().position(|beside| beside.path == path && beside.stamp == stamp);
            let index = known.unwrap_or_else(|| {
                self.beside.retain(|beside| beside.path != path);
                let bytes = stamp.and_then(|_| read_small(&path, SIDECAR));
                self.beside.push(FollowedSidecar { path, stamp, bytes });
                self.beside.len() - 1
            });
            if let Some((path, bytes)) = self.beside.get(index).and_then(|beside| Some((&beside.path, beside.bytes.as_ref()?))) {
                reader.sidecar(path, bytes);
            }
        }
        reader.title(&self.path);
    }
}

impl LogCursor {
    /// Takes in the whole lines that follow.
    fn take(&mut self, lines: &mut Lines<'_, impl Read>, heard: &mut LineListener<'_>) -> CompleteRead {
        let mut last = None;
        let mut torn = false;
        let limited = loop {
            let line = lines.next_line();
            let reached = line.as_ref().ok().and_then(Option::as_ref).and_then(|line| self.reader.limit_before(line));
            if let Some(reached) = reached {
                // Only a copy says so: the next look finds out by itself whether there is still more.
                last.get_or_insert_with(|| self.reader.clone()).stopped(&reached);
                break Some(reached);
            }
            match line {
                Ok(Some(line)) if line.ended => {
                    self.reader.line(line);
                    self.mark = LinePosition { offset: line.start + line.length + 1, lines: line.number };
                    self.remember(line);
                    if let Some(format) = self.reader.format() {
                        heard(format, line);
                    }
                }
                Ok(Some(line)) => {
                    // Only a copy takes in the unfinished line: the next look reads it again, whole.
                    let mut reader = self.reader.clone();
                    reader.line(line);
                    last = Some(reader);
                }
                Ok(None) => break None,
                Err(error) => {
                    // A reading error is reported with what was read so far; the state is not trusted for the next look.
                    last.get_or_insert_with(|| self.reader.clone()).failed(&error);
                    torn = true;
                    break None;
                }
            }
        };
        let bytes = limited.map_or_else(|| lines.bytes(), |reached| reached.start);
        CompleteRead { reader: last.unwrap_or_else(|| self.reader.clone()), bytes, torn, limited: limited.is_some() }
    }

    /// Whether this may be the same file with more in it.
    fn may_have_grown(&self, meta: &Metadata) -> bool {
        self.place == place(meta) && self.written.size < meta.len()
    }

    /// Remembers how a line ends.
    fn remember(&mut self, line: LogLine<'_>) {
        // Only the beginning of an oversized line is in memory, so its end cannot be compared.
        let bytes = if line.oversized() { &[] } else { line.bytes };
        self.seam.clear();
        self.seam.extend_from_slice(&bytes[bytes.len().saturating_sub(SEAM - 1)..]);
        self.seam.push(b'\n');
    }
}

impl CompleteRead {
    /// The state as it was at the last look, without reading anything.
    fn again(held: &LogCursor) -> Self {
        CompleteRead { reader: held.reader.clone(), bytes: held.mark.offset, torn: false, limited: false }
    }
}

/// Whether the beginning alone settles what a log is: a whole line shows which agent wrote it, and that it consists of lines.
fn is_settled(head: &[u8]) -> bool {
    let whole = memchr::memrchr(b'\n', head).and_then(|end| head.get(..end)).unwrap_or_default();
    let first = whole.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    head.len() >= HEAD || (Skim::new(first).object(|_, _| Ok(())).is_ok() && sniff(whole).is_some())
}

/// A stamp of a small file; `None` if it does not exist.
fn stamp_beside(path: &Path) -> Option<u64> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some(identity(&meta) ^ meta.len().rotate_left(32))
}
