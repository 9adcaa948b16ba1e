//! Files of independent zstd frames with a table of them at the end: the form in which logs are kept.
//!
//! The layout is zstd's seekable format, which other tools read too: frames of about a megabyte, cut at line ends where that is
//! possible, then a table of their sizes in a frame that a decompressor skips. In front of the table stands a seal of ours, skipped as
//! well: how long the content is, when it was written, and a checksum of all of it. So any zstd tool gives the content back, and one
//! call is read by decompressing the frame it stands in.
//!
//! What is compressed already is kept as it is, with a seal behind it and no table.
//!
//! A file follows from its content alone: written in one go or in several, it has the same bytes.

use crate::error::ReadError;
use crate::open::{ReadAt, ZSTD};
use std::fs::File;
use std::io::{self, Read, Write};
use std::time::{Duration, SystemTime};
use tooltrail_model::Span;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

/// The most that a frame holds.
pub const FRAME: usize = 1 << 20;
/// How hard frames are compressed.
const LEVEL: i32 = 3;
/// How a table begins, as zstd's seekable format has it, and how it ends.
const TABLE: u32 = 0x184D_2A5E;
const TABLE_END: u32 = 0x8F92_EAB1;
/// The size of the part behind the entries of a table: their number, a byte of flags, the magic number.
const FOOT: usize = 9;
/// More frames than this are no log: they would hold a terabyte.
const MOST: u64 = 1 << 20;
/// How a seal begins: a frame that decompressors skip, and a word that is in no other.
const SEAL: u32 = 0x184D_2A57;
const WORD: [u8; 16] = *b"tooltrail kept 1";
/// The size of a seal, with the eight bytes that make it a frame.
const SEAL_SIZE: usize = 8 + WORD.len() + 1 + 8 + 16 + 16;

/// The length, checksum and time of kept content, by which damage is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// How long it is.
    pub length: u64,
    /// A checksum of all of it. The algorithm is chosen by the catalog, which writes and checks copies.
    pub checksum: u128,
    /// When it was written, in nanoseconds since 1970.
    pub modified: i128,
    /// Whether the content is stored as it is, because it was compressed already.
    pub raw: bool,
}

impl Seal {
    /// When the content was written.
    pub fn modified(&self) -> Option<SystemTime> {
        // Nanoseconds of the year 2554 and later do not fit; such a time is dropped rather than wrapped.
        let span = Duration::from_nanos(u64::try_from(self.modified.unsigned_abs()).ok()?);
        if self.modified < 0 { SystemTime::UNIX_EPOCH.checked_sub(span) } else { SystemTime::UNIX_EPOCH.checked_add(span) }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = skipped(SEAL, SEAL_SIZE - 8);
        bytes.extend(WORD);
        bytes.push(u8::from(self.raw));
        bytes.extend(self.length.to_le_bytes());
        bytes.extend(self.checksum.to_le_bytes());
        bytes.extend(self.modified.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(skipped(SEAL, SEAL_SIZE - 8).as_slice())?.strip_prefix(&WORD)?;
        let (&raw, rest) = rest.split_first()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (checksum, rest) = rest.split_first_chunk()?;
        let modified = rest.try_into().ok()?;
        Some(Seal {
            length: u64::from_le_bytes(*length),
            checksum: u128::from_le_bytes(*checksum),
            modified: i128::from_le_bytes(modified),
            raw: raw == 1,
        })
    }
}

/// Nanoseconds since 1970, as seals have them.
pub fn nanoseconds(time: SystemTime) -> i128 {
    let count = |span: Duration| i128::try_from(span.as_nanos()).unwrap_or(i128::MAX);
    time.duration_since(SystemTime::UNIX_EPOCH).map_or_else(|before| -count(before.duration()), count)
}

/// The beginning of a frame that decompressors skip.
fn skipped(magic: u32, size: usize) -> Vec<u8> {
    let mut bytes = magic.to_le_bytes().to_vec();
    bytes.extend(u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
    bytes
}

/// One frame: where it lies in the file, and which part of the content it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    at: u64,
    packed: u32,
    start: u64,
    length: u32,
}

impl Frame {
    fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }
}

/// The table at the end of a kept file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frames {
    /// The seal of the content.
    pub seal: Seal,
    frames: Vec<Frame>,
}

impl Frames {
    /// Reads the end of a file; nothing if it is no kept one, or cannot be read.
    pub fn read(file: &File) -> Option<Self> {
        Self::load(file).ok().flatten()
    }

    /// Reads the end of a file; nothing if it is no kept one. That it cannot be read is an error, and says nothing about what it is.
    pub fn load(file: &File) -> io::Result<Option<Self>> {
        let size = file.metadata()?.len();
        let mut failed = None;
        let frames = Self::parse(size, |place, length| {
            part(file, place, length).unwrap_or_else(|error| {
                failed = Some(error);
                None
            })
        });
        failed.map_or(Ok(frames), Err)
    }

    fn parse(size: u64, mut part: impl FnMut(u64, usize) -> Option<Vec<u8>>) -> Option<Self> {
        // The file is read from its end: the table's size is known only from the number of entries in its last bytes.
        let foot = part(size.checked_sub(FOOT as u64)?, FOOT)?;
        let (count, foot) = foot.split_first_chunk()?;
        let (&flags, end) = foot.split_first()?;
        // No table: content that was compressed already and has a seal alone, or not our file.
        if end != TABLE_END.to_le_bytes() {
            let seal = Seal::parse(&part(size.checked_sub(SEAL_SIZE as u64)?, SEAL_SIZE)?)?;
            let whole = seal.raw && seal.length.checked_add(SEAL_SIZE as u64) == Some(size);
            return whole.then_some(Frames { seal, frames: Vec::new() });
        }
        let count = u64::from(u32::from_le_bytes(*count));
        // Flags announce checksums per frame, which we never write.
        if count > MOST || flags != 0 {
            return None;
        }
        let size_of_table = usize::try_from(count * 8).ok()? + FOOT;
        let start = size.checked_sub(8 + size_of_table as u64)?;
        // Bounded by `MOST`: at most eight megabytes, whatever the file claims.
        let table = part(start, 8 + size_of_table)?;
        let entries = table.strip_prefix(skipped(TABLE, size_of_table).as_slice())?.get(..size_of_table - FOOT)?;
        let sealed = start.checked_sub(SEAL_SIZE as u64)?;
        let seal = Seal::parse(&part(sealed, SEAL_SIZE)?)?;
        let frames = entries_of(entries)?;
        // Frames and content have to fill the file exactly. A gap means a torn or foreign file.
        let (packed, length) = frames.last().map_or((0, 0), |last| (last.at + u64::from(last.packed), last.end()));
        (packed == sealed && length == seal.length && !seal.raw).then_some(Frames { seal, frames })
    }

    /// How much of the content is in frames to which nothing is added when the content grows: all but the last.
    pub fn full(&self) -> u64 {
        self.full_frames().last().map_or(0, Frame::end)
    }

    fn full_frames(&self) -> &[Frame] {
        self.frames.split_last().map_or(&[], |(_, full)| full)
    }

    /// The frames that hold a part of the content.
    fn of(&self, span: Span) -> std::ops::Range<usize> {
        let first = self.frames.partition_point(|frame| frame.end() <= span.start);
        let last = self.frames.partition_point(|frame| frame.start < span.end);
        first..last.max(first)
    }

    /// Decompresses a frame.
    fn unpack(&self, file: &File, index: usize) -> io::Result<Vec<u8>> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "a frame of the kept copy is damaged");
        let frame = self.frames.get(index).ok_or_else(wrong)?;
        let packed = part(file, frame.at, frame.packed as usize)?.ok_or_else(wrong)?;
        // The capacity is the promised length, so a frame that unpacks to more fails instead of filling memory.
        let content = Decompressor::new()?.decompress(&packed, frame.length as usize)?;
        (content.len() == frame.length as usize).then_some(content).ok_or_else(wrong)
    }

    /// A part of the content. `load` gives what a frame holds, by its number; nothing if the content does not reach so far.
    pub(crate) fn part<B: AsRef<[u8]>>(&self, span: Span, mut load: impl FnMut(usize) -> io::Result<B>) -> Result<Vec<u8>, ReadError> {
        // The span may come from a stale position, so its length is no reason to allocate more than a frame.
        let mut bytes = Vec::with_capacity(usize::try_from(span.len()).map_or(FRAME, |size| size.min(FRAME)));
        for index in self.of(span) {
            let frame = self.frames.get(index).ok_or(ReadError::Changed)?;
            let content = load(index).map_err(ReadError::File)?;
            let place = |offset: u64| usize::try_from(offset.clamp(frame.start, frame.end()) - frame.start).unwrap_or(usize::MAX);
            let part = content.as_ref().get(place(span.start)..place(span.end));
            bytes.extend_from_slice(part.ok_or(ReadError::Changed)?);
        }
        (bytes.len() as u64 == span.len()).then_some(bytes).ok_or(ReadError::Changed)
    }

    /// A reader of all content, from the file that this table is the end of.
    pub fn content(self, file: File) -> FrameReader {
        FrameReader { file, frames: self, next: 0, held: Vec::new(), taken: 0 }
    }

    /// Decompresses a frame, for callers that cache frames.
    pub(crate) fn frame(&self, file: &File, index: usize) -> io::Result<Vec<u8>> {
        self.unpack(file, index)
    }
}

fn entries_of(entries: &[u8]) -> Option<Vec<Frame>> {
    let (mut at, mut start) = (0_u64, 0_u64);
    let mut frames = Vec::with_capacity(entries.len() / 8);
    for entry in entries.chunks_exact(8) {
        let (packed, length) = entry.split_at(4);
        let (packed, length) = (u32::from_le_bytes(packed.try_into().ok()?), u32::from_le_bytes(length.try_into().ok()?));
        // We never write larger frames, and a table from elsewhere is not trusted with allocations.
        if length as usize > FRAME || packed as usize > 2 * FRAME {
            return None;
        }
        frames.push(Frame { at, packed, start, length });
        at += u64::from(packed);
        start += u64::from(length);
    }
    Some(frames)
}

/// A part of a file; nothing if it is not there.
fn part(file: &File, place: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(length);
    ReadAt { file, place }.take(length as u64).read_to_end(&mut bytes)?;
    Ok((bytes.len() == length).then_some(bytes))
}

/// What was saved from a damaged file of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SalvagedFrames {
    /// Frames that are whole.
    pub frames: u64,
    /// Damaged places.
    pub lost: u64,
    /// How much content they held; unknown where the table is damaged, too.
    pub lost_bytes: Option<u64>,
}

/// Passes on the content of all whole frames of a damaged file, in order. Every frame has a checksum, so what is whole is known.
pub fn salvage(file: &File, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<SalvagedFrames> {
    let mut salvaged = SalvagedFrames::default();
    if let Some(table) = Frames::load(file)? {
        let mut lost_bytes = 0;
        for (index, frame) in table.frames.iter().enumerate() {
            match table.unpack(file, index) {
                Ok(content) => {
                    take(&content)?;
                    salvaged.frames += 1;
                }
                Err(error) if error.raw_os_error().is_some() => return Err(error),
                Err(_) => (salvaged.lost, lost_bytes) = (salvaged.lost + 1, lost_bytes + u64::from(frame.length)),
            }
        }
        salvaged.lost_bytes = Some(lost_bytes);
        return Ok(salvaged);
    }
    // Without the table, frames are looked for by how they begin.
    let (mut place, mut damaged) = (0, false);
    loop {
        let mut bytes = Vec::new();
        ReadAt { file, place }.take(2 * FRAME as u64).read_to_end(&mut bytes)?;
        if bytes.is_empty() || bytes.starts_with(&SEAL.to_le_bytes()) {
            salvaged.lost += u64::from(damaged || bytes.is_empty());
            return Ok(salvaged);
        }
        match whole_frame(&bytes) {
            Some((size, content)) => {
                salvaged.lost += u64::from(damaged);
                (damaged, place) = (false, place + size as u64);
                take(&content)?;
                salvaged.frames += 1;
            }
            None => {
                let next = bytes.get(1..).and_then(|rest| memchr::memmem::find(rest, &ZSTD));
                // The beginning of a frame may be cut by the end of what was read.
                (damaged, place) = (true, place + next.map_or_else(|| bytes.len().saturating_sub(3).max(1), |at| at + 1) as u64);
            }
        }
    }
}

/// The frame at the beginning of some bytes, if it is whole: its size and its content.
fn whole_frame(bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
    let size = zstd::zstd_safe::find_frame_compressed_size(bytes.starts_with(&ZSTD).then_some(bytes)?).ok()?;
    let content = Decompressor::new().ok()?.decompress(bytes.get(..size)?, FRAME).ok()?;
    Some((size, content))
}

/// The content of a kept file, from its beginning.
#[derive(Debug)]
pub struct FrameReader {
    file: File,
    frames: Frames,
    /// The frame that comes next.
    next: usize,
    held: Vec<u8>,
    /// The bytes handed out: of the current frame, or for raw content of all.
    taken: u64,
}

impl Read for FrameReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.frames.seal.raw {
            let left = self.frames.seal.length - self.taken;
            let count = ReadAt { file: &self.file, place: self.taken }.take(left).read(out)?;
            self.taken += count as u64;
            return Ok(count);
        }
        // A loop, because a frame may be empty: content without any bytes has one.
        while self.taken == self.held.len() as u64 {
            if self.next == self.frames.frames.len() {
                return Ok(0);
            }
            self.held = self.frames.unpack(&self.file, self.next)?;
            (self.next, self.taken) = (self.next + 1, 0);
        }
        // `taken` never exceeds the frame, which is in memory; the fallback only avoids a cast that could panic.
        let mut rest = self.held.get(usize::try_from(self.taken).unwrap_or(usize::MAX)..).unwrap_or_default();
        let count = rest.read(out)?;
        self.taken += count as u64;
        Ok(count)
    }
}

/// Whether content is compressed already, by how it begins.
pub fn is_packed(head: &[u8]) -> bool {
    head.starts_with(&ZSTD)
}

/// Writes a file of frames.
#[expect(missing_debug_implementations, reason = "the compressor has none")]
pub struct Packer<W> {
    out: W,
    frames: Vec<Frame>,
    /// Content that is not in a frame yet.
    pending: Vec<u8>,
    compressor: Compressor<'static>,
}

impl<W: Write> Packer<W> {
    /// Begins a file.
    pub fn new(out: W) -> io::Result<Self> {
        let mut compressor = Compressor::new(LEVEL)?;
        // A checksum per frame lets any zstd tool notice damage, without knowing our seal.
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Packer { out, frames: Vec::new(), pending: Vec::new(), compressor })
    }

    /// Begins a file with the full frames of another. Content has to be written from [`Frames::full`] on.
    pub fn resume(&mut self, file: &File, end: &Frames) -> io::Result<()> {
        let full = end.full_frames();
        let packed = full.last().map_or(0, |last| last.at + u64::from(last.packed));
        // Full frames are copied compressed. The last one is not, because it has to be filled up for the file to be the same as one written
        // at once.
        let copied = io::copy(&mut ReadAt { file, place: 0 }.take(packed), &mut self.out)?;
        if copied != packed {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.frames = full.to_vec();
        Ok(())
    }

    /// Adds content.
    pub fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (taken, rest) = bytes.split_at(bytes.len().min(FRAME - self.pending.len()));
            self.pending.extend_from_slice(taken);
            bytes = rest;
            if self.pending.len() == FRAME {
                // Cut behind the last line, so that a record is read from a single frame. A line longer than a frame is split.
                let cut = memchr::memrchr(b'\n', &self.pending).map_or(FRAME, |at| at + 1);
                self.frame(cut)?;
            }
        }
        Ok(())
    }

    /// Writes a frame of what is pending.
    fn frame(&mut self, cut: usize) -> io::Result<()> {
        let too_long = |_| io::Error::other("a frame is too long");
        let packed = self.compressor.compress(self.pending.get(..cut).unwrap_or_default())?;
        let (at, start) = self.frames.last().map_or((0, 0), |last| (last.at + u64::from(last.packed), last.end()));
        self.out.write_all(&packed)?;
        let (packed, length) = (u32::try_from(packed.len()).map_err(too_long)?, u32::try_from(cut).map_err(too_long)?);
        self.frames.push(Frame { at, packed, start, length });
        self.pending.drain(..cut);
        Ok(())
    }

    /// Writes the last frame, the seal and the table.
    pub fn finish(mut self, seal: &Seal) -> io::Result<W> {
        // Empty content gets a frame as well: a file has to begin like a compressed one.
        if !self.pending.is_empty() || self.frames.is_empty() {
            self.frame(self.pending.len())?;
        }
        self.out.write_all(&seal.bytes())?;
        let mut table = skipped(TABLE, self.frames.len() * 8 + FOOT);
        for frame in &self.frames {
            table.extend(frame.packed.to_le_bytes());
            table.extend(frame.length.to_le_bytes());
        }
        table.extend(u32::try_from(self.frames.len()).unwrap_or(u32::MAX).to_le_bytes());
        table.push(0);
        table.extend(TABLE_END.to_le_bytes());
        self.out.write_all(&table)?;
        Ok(self.out)
    }
}

/// Seals content that was compressed already.
pub fn seal_raw(out: &mut impl Write, seal: &Seal) -> io::Result<()> {
    out.write_all(&seal.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;
    use std::io::Seek;

    type Outcome = Result<(), Box<dyn Error>>;

    fn seal(content: &[u8]) -> Seal {
        Seal { length: content.len() as u64, checksum: 7, modified: -3, raw: false }
    }

    fn packed(content: &[u8]) -> io::Result<File> {
        let mut packer = Packer::new(tempfile::tempfile()?)?;
        content.chunks(77_777).try_for_each(|piece| packer.write(piece))?;
        packer.finish(&seal(content))
    }

    fn bytes(file: &File) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        ReadAt { file, place: 0 }.read_to_end(&mut all)?;
        Ok(all)
    }

    /// Lines of many lengths, one of them longer than a frame.
    fn content() -> Vec<u8> {
        let mut text = Vec::new();
        for line in 0..20_000_usize {
            let length = if line == 9_000 { 5 * FRAME / 2 } else { line % 300 };
            text.extend(format!("{line} ").into_bytes());
            text.extend((0..length).map(|at| b'a' + u8::try_from((at * 7 + line) % 26).unwrap_or(0)));
            text.push(b'\n');
        }
        text
    }

    #[test]
    fn any_part_is_read_from_the_frames_that_hold_it() -> Outcome {
        let content = content();
        let file = packed(&content)?;
        let frames = Frames::read(&file).ok_or("no frames")?;
        assert_eq!(frames.seal, seal(&content));
        let ends: Vec<u64> = frames.frames.iter().map(Frame::end).collect();
        for (start, length) in [(0, 10), (0, 0), (FRAME - 5, 10), (3_000_000, 2_000_000), (content.len() - 4, 4), (content.len(), 0)] {
            let span = Span { start: start as u64, end: (start + length) as u64 };
            let mut loaded = 0;
            let part = frames.part(span, |index| {
                loaded += 1;
                frames.frame(&file, index)
            });
            assert_eq!(part?, &content[start..start + length]);
            let crossed = ends.iter().filter(|&&end| end > span.start && end < span.end).count();
            assert!(loaded <= crossed + 1, "{loaded} frames for {span:?}");
        }
        let beyond = Span { start: content.len() as u64 - 1, end: content.len() as u64 + 1 };
        assert!(matches!(frames.part(beyond, |index| frames.frame(&file, index)), Err(ReadError::Changed)));
        // All lines that fit into a frame are in one.
        assert!(ends.iter().filter(|&&end| content[usize::try_from(end).unwrap_or(0) - 1] != b'\n').count() <= 3);
        Ok(())
    }

    #[test]
    fn the_content_comes_back_here_and_from_any_other_tool() -> Outcome {
        for content in [content(), Vec::new(), b"one".to_vec()] {
            let mut file = packed(&content)?;
            let mut whole = Vec::new();
            Frames::read(&file).ok_or("no frames")?.content(file.try_clone()?).read_to_end(&mut whole)?;
            assert!(whole == content);
            file.rewind()?;
            assert!(zstd::decode_all(&file)? == content);
        }
        Ok(())
    }

    #[test]
    fn a_file_that_grew_is_the_file_that_was_written_at_once() -> Outcome {
        let content = content();
        let whole = bytes(&packed(&content)?)?;
        for cut in [0, 1, FRAME - 1, FRAME, FRAME + 1, 2_000_000, content.len()] {
            let old = packed(&content[..cut])?;
            let mut packer = Packer::new(tempfile::tempfile()?)?;
            let end = Frames::read(&old).ok_or("no frames")?;
            packer.resume(&old, &end)?;
            packer.write(&content[usize::try_from(end.full())?..])?;
            assert!(bytes(&packer.finish(&seal(&content))?)? == whole, "{cut}");
        }
        Ok(())
    }

    #[test]
    fn what_is_no_kept_file_or_a_torn_one_is_told() -> Outcome {
        let whole = bytes(&packed(&content())?)?;
        let read = |bytes: &[u8]| -> io::Result<Option<Frames>> {
            let mut file = tempfile::tempfile()?;
            file.write_all(bytes)?;
            Ok(Frames::read(&file))
        };
        assert!(read(&whole)?.is_some());
        for cut in [0, 1, 8, 9, 50, 100, whole.len() / 2, whole.len() - 1] {
            assert_eq!(read(&whole[..cut])?, None, "{cut}");
        }
        let mut longer = whole.clone();
        longer.insert(0, 0);
        assert_eq!(read(&longer)?, None);
        // A table that promises too much.
        for at in whole.len() - 60..whole.len() {
            let mut changed = whole.clone();
            changed[at] = 0xff;
            if let Some(frames) = read(&changed)? {
                assert_eq!(frames.seal.length, seal(&content()).length);
            }
        }
        Ok(())
    }

    #[test]
    fn what_was_compressed_already_is_given_back_as_it_was() -> Outcome {
        let raw = zstd::encode_all(&b"{\"a\":1}\n".repeat(100)[..], 1)?;
        assert!(is_packed(&raw));
        let seal = Seal { raw: true, ..seal(&raw) };
        let mut file = tempfile::tempfile()?;
        file.write_all(&raw)?;
        seal_raw(&mut file, &seal)?;
        let frames = Frames::read(&file).ok_or("no seal")?;
        assert_eq!(frames.seal, seal);
        let mut whole = Vec::new();
        frames.content(file.try_clone()?).read_to_end(&mut whole)?;
        assert_eq!(whole, raw);
        file.rewind()?;
        assert_eq!(zstd::decode_all(&file)?, b"{\"a\":1}\n".repeat(100));
        Ok(())
    }

    #[test]
    fn times_before_and_after_1970_come_back() {
        for time in [SystemTime::UNIX_EPOCH - Duration::new(5, 7), SystemTime::UNIX_EPOCH + Duration::new(1_900_000_000, 123_456_789)] {
            let seal = Seal { modified: nanoseconds(time), ..seal(b"") };
            assert_eq!(Seal::parse(&seal.bytes()).and_then(|seal| seal.modified()), Some(time));
        }
    }
}
