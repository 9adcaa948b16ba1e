//! One file, copied: anew, or with what was added to it since.
//!
//! The file is read through and its checksum compared with the seal of the copy, because a file that was replaced by a longer one does
//! not look different from one that grew. Only what was added is compressed; the frames before are taken over as they are. The new
//! copy is read once more before it takes the place of the old one.

use super::{make_private, private, sync_directory};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tempfile::NamedTempFile;
use tooltrail_formats::frames::{self, Frames, Packer, Seal};
use tooltrail_formats::scan::Progress;
use tooltrail_formats::{disk, find, mirror};
use xxhash_rust::xxh3::Xxh3Default;

/// How much is read at once.
const CHUNK: usize = 256 * 1024;
/// Clocks of files are coarse: what is written within this time of another change may not change the time again.
const TICK: Duration = Duration::from_millis(20);

/// The outcome of copying a file, with the number of new bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyOutcome {
    /// The copy was current already.
    Nothing,
    /// There was no copy before.
    New(u64),
    /// The file had grown.
    Grown(u64),
    /// The file does not begin with the content of the old copy, which was put aside.
    Replaced(u64),
}

/// The reason why a file was not copied. An I/O error converts to a failed read unless it is mapped to something else.
#[derive(Debug)]
pub(super) enum CopyError {
    /// The file cannot be read.
    File(io::Error),
    /// Its copy cannot be written.
    Copy(io::Error),
}

impl From<io::Error> for CopyError {
    fn from(error: io::Error) -> Self {
        CopyError::File(error)
    }
}

/// Copies files into a keep.
#[derive(Debug)]
pub(super) struct Copier {
    pub(super) files: PathBuf,
    pub(super) older: PathBuf,
    pub(super) new: PathBuf,
}

/// A copy that is there.
struct OldCopy {
    file: File,
    end: Frames,
}

impl Copier {
    /// Copies a file in its current state.
    pub(super) fn keep(&self, original: &Path, progress: &Progress) -> Result<CopyOutcome, CopyError> {
        let place = mirror::place(&self.files, original).ok_or_else(|| io::Error::other("a file at such a place cannot be kept"))?;
        // A copy has the time of its file, so an unchanged file costs two calls and is not opened.
        let times = (written(original)?, time(&place).ok());
        if times.1.is_some_and(|copied| copied == times.0) {
            return Ok(CopyOutcome::Nothing);
        }
        let mut source = Original::open(original)?;
        let Some(old) = old_copy(&place).map_err(CopyError::Copy)? else {
            // Something that is no copy of ours, or a damaged one, is put aside as well.
            if fs::symlink_metadata(&place).is_ok() {
                self.put_aside(&place).map_err(CopyError::Copy)?;
            }
            self.write(&mut source, None, &place, progress)?;
            return Ok(CopyOutcome::New(source.length));
        };
        let known = old.end.seal;
        // An emptied file must not replace a copy that has content.
        if source.length == 0 && known.length > 0 {
            return Ok(CopyOutcome::Nothing);
        }
        // The clock of the keep's disk may be coarser than that of the file's.
        if known.length == source.length && known.modified == source.modified {
            return Ok(CopyOutcome::Nothing);
        }
        if let Some(hash) = source.goes_on(&old.end)? {
            // What is taken over from the copy may be damaged on the disk. As long as the file is there, it is made anew then.
            match self.write(&mut source, Some((&old, hash)), &place, progress) {
                Err(CopyError::Copy(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    self.write(&mut source, None, &place, progress)?
                }
                written => written?,
            }
            let added = source.length - known.length;
            return Ok(if added == 0 { CopyOutcome::Nothing } else { CopyOutcome::Grown(added) });
        }
        let written = self.prepare(&mut source, None, progress)?;
        self.put_aside(&place).map_err(CopyError::Copy)?;
        give_name(written, &place).map_err(CopyError::Copy)?;
        Ok(CopyOutcome::Replaced(source.length))
    }

    /// Copies a file in the place of a damaged copy.
    pub(super) fn copy_again(&self, original: &Path, place: &Path, progress: &Progress) -> Result<(), CopyError> {
        self.write(&mut Original::open(original)?, None, place, progress)
    }

    fn write(
        &self,
        source: &mut Original,
        old: Option<(&OldCopy, Xxh3Default)>,
        place: &Path,
        progress: &Progress,
    ) -> Result<(), CopyError> {
        give_name(self.prepare(source, old, progress)?, place).map_err(CopyError::Copy)
    }

    /// Writes a copy and checks it; it has no name yet.
    fn prepare(
        &self,
        source: &mut Original,
        old: Option<(&OldCopy, Xxh3Default)>,
        progress: &Progress,
    ) -> Result<NamedTempFile, CopyError> {
        let mut written = NamedTempFile::new_in(&self.new).map_err(CopyError::Copy)?;
        let seal = match source.is_packed()? {
            // A file that is already compressed would only grow.
            true => source.copy_raw(written.as_file_mut(), progress)?,
            false => source.pack(written.as_file_mut(), old, progress)?,
        };
        finish(written.as_file(), &seal).map_err(CopyError::Copy)?;
        Ok(written)
    }

    /// Saves the content of a copy under another name. The copy itself stays in its place until a new one replaces it.
    fn put_aside(&self, place: &Path) -> io::Result<()> {
        self.put_below(place, &self.older)
    }

    /// Saves the content of a copy below a directory.
    pub(super) fn put_below(&self, place: &Path, below: &Path) -> io::Result<()> {
        let path = place.strip_prefix(&self.files).map_err(io::Error::other)?;
        for number in 1_u32.. {
            let aside = below.join(number.to_string()).join(path);
            if let Some(directory) = aside.parent() {
                make_private(directory)?;
            }
            // A process that was killed at this point has put the same copy aside already.
            if aside.exists() {
                if sealed(&aside).is_some() && sealed(&aside) == sealed(place) {
                    return Ok(());
                }
                continue;
            }
            // A link rather than a rename: there is a valid copy in place at every moment.
            return fs::hard_link(place, &aside).or_else(|_| copy_aside(place, &aside));
        }
        Ok(())
    }
}

/// The copy at a place; nothing if there is none, or something else. An error is not taken for that: then the copy would be put aside.
fn old_copy(place: &Path) -> io::Result<Option<OldCopy>> {
    match File::open(place) {
        Ok(file) => Ok(Frames::load(&file)?.map(|end| OldCopy { file, end })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Checks what was written, and gives it the time of its file.
pub(super) fn finish(written: &File, seal: &Seal) -> io::Result<()> {
    check(written, seal)?;
    if let Some(modified) = seal.modified() {
        written.set_modified(modified)?;
    }
    written.sync_all()
}

/// Puts a copy aside by copying it, on file systems without hard links.
fn copy_aside(place: &Path, aside: &Path) -> io::Result<()> {
    let mut name = OsString::from(aside);
    // Under a temporary name first, so that a killed process leaves no half copy under the final one.
    name.push(".new");
    let draft = PathBuf::from(name);
    let mut out = private().write(true).create(true).truncate(true).open(&draft)?;
    io::copy(&mut File::open(place)?, &mut out)?;
    out.set_modified(time(place)?)?;
    out.sync_all()?;
    fs::rename(&draft, aside)
}

fn sealed(path: &Path) -> Option<Seal> {
    Some(Frames::read(&File::open(path).ok()?)?.seal)
}

/// When a source was last written.
fn written(original: &Path) -> io::Result<std::time::SystemTime> {
    // What is kept with a log may have any name, that of a database too; only an address is more than its file.
    if fs::symlink_metadata(original).is_ok() {
        return time(original);
    }
    let found = find::at(original).into_iter().find(|found| found.path == original);
    found.and_then(|found| found.modified).ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn time(path: &Path) -> io::Result<std::time::SystemTime> {
    fs::symlink_metadata(path)?.modified()
}

pub(super) fn give_name(written: NamedTempFile, place: &Path) -> io::Result<()> {
    if let Some(directory) = place.parent() {
        make_private(directory)?;
    }
    written.persist(place).map(drop).map_err(|error| error.error)?;
    sync_directory(place)
}

/// Reads what was written, to the last byte.
pub(super) fn check(file: &File, seal: &Seal) -> io::Result<()> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the copy is not what was copied");
    let end = Frames::load(file)?.filter(|end| end.seal == *seal).ok_or_else(damaged)?;
    let mut hash = Xxh3Default::new();
    let mut content = end.content(file.try_clone()?);
    let damaged_by = |error: io::Error| io::Error::new(io::ErrorKind::InvalidData, format!("the copy is not what was copied: {error}"));
    each_chunk::<io::Error>(&mut content, u64::MAX, |bytes| {
        hash.update(bytes);
        Ok(())
    })
    // What the system does not let be read is not known to be damaged.
    .map_err(|error| if error.raw_os_error().is_some() { error } else { damaged_by(error) })?;
    (hash.digest128() == seal.checksum).then_some(()).ok_or_else(damaged)
}

/// Passes on up to `most` bytes in pieces; returns how many there were.
pub(super) fn each_chunk<E: From<io::Error>>(
    input: &mut impl Read,
    most: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut chunk = vec![0; CHUNK];
    let mut input = input.take(most);
    let mut total = 0;
    loop {
        let count = match input.read(&mut chunk) {
            Ok(0) => return Ok(total),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        take(chunk.get(..count).unwrap_or_default())?;
        total += count as u64;
    }
}

/// A file that is copied: as much of it as there was when it was opened. What is added meanwhile is for the next time.
struct Original {
    file: File,
    length: u64,
    modified: i128,
}

impl Original {
    fn open(path: &Path) -> io::Result<Self> {
        // Its records as they are read, for a source that is no file.
        if let Some((file, modified)) = disk::read_out(path)? {
            return Ok(Original { length: file.metadata()?.len(), modified: frames::nanoseconds(modified), file });
        }
        let file = File::open(path)?;
        let mut meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::other("it is no ordinary file"));
        }
        // What is written from here on has to show in the time.
        if meta.modified()?.elapsed().is_ok_and(|age| age < TICK) {
            std::thread::sleep(TICK);
            meta = file.metadata()?;
        }
        Ok(Original { length: meta.len(), modified: frames::nanoseconds(meta.modified()?), file })
    }

    fn is_packed(&mut self) -> io::Result<bool> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut head = Vec::new();
        (&self.file).take(4).read_to_end(&mut head)?;
        Ok(frames::is_packed(&head))
    }

    /// If the file begins with the content of its copy: the checksum of the part that is taken over from the copy, to continue from.
    fn goes_on(&mut self, known: &Frames) -> io::Result<Option<Xxh3Default>> {
        if known.seal.length > self.length || self.is_packed()? != known.seal.raw {
            return Ok(None);
        }
        self.file.seek(SeekFrom::Start(0))?;
        let mut taken_over = Xxh3Default::new();
        each_chunk::<io::Error>(&mut self.file, known.full(), |bytes| {
            taken_over.update(bytes);
            Ok(())
        })?;
        // Only full frames are taken over; the last, partial one is packed again. So two checksums are needed: one to go on
        // from, one to compare.
        let mut whole = taken_over.clone();
        each_chunk::<io::Error>(&mut self.file, known.seal.length - known.full(), |bytes| {
            whole.update(bytes);
            Ok(())
        })?;
        Ok((whole.digest128() == known.seal.checksum).then_some(taken_over))
    }

    /// Writes it in frames, after those of an older copy.
    fn pack(&mut self, out: &mut File, old: Option<(&OldCopy, Xxh3Default)>, progress: &Progress) -> Result<Seal, CopyError> {
        let mut packer = Packer::new(BufWriter::with_capacity(CHUNK, out)).map_err(CopyError::Copy)?;
        let (mut hash, mut from) = (Xxh3Default::new(), 0);
        if let Some((old, taken_over)) = old {
            packer.resume(&old.file, &old.end).map_err(CopyError::Copy)?;
            (hash, from) = (taken_over, old.end.full());
        }
        self.file.seek(SeekFrom::Start(from))?;
        let read = each_chunk(&mut self.file, self.length - from, |bytes| {
            progress.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            hash.update(bytes);
            packer.write(bytes).map_err(CopyError::Copy)
        })?;
        let seal = self.seal(from + read, hash.digest128(), false)?;
        packer.finish(&seal).and_then(|mut out| out.flush()).map_err(CopyError::Copy)?;
        Ok(seal)
    }

    /// Copies the bytes unchanged.
    fn copy_raw(&mut self, out: &mut File, progress: &Progress) -> Result<Seal, CopyError> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut hash = Xxh3Default::new();
        let read = each_chunk(&mut self.file, self.length, |bytes| {
            progress.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            hash.update(bytes);
            out.write_all(bytes).map_err(CopyError::Copy)
        })?;
        let seal = self.seal(read, hash.digest128(), true)?;
        frames::seal_raw(out, &seal).map_err(CopyError::Copy)?;
        Ok(seal)
    }

    fn seal(&self, read: u64, checksum: u128, raw: bool) -> io::Result<Seal> {
        if read != self.length {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it got shorter while it was read; it will be kept next time"));
        }
        Ok(Seal { length: self.length, checksum, modified: self.modified, raw })
    }
}
