//! Opening a source: a file, compressed or not, gives the log as its agent wrote it; a session of a database gives its rows as lines.

use crate::database::{RowLines, part_of};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// How a file that zstd compressed begins.
pub(crate) const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The largest window that a compressed file may ask for, as a power of two: it is allocated at once. Agents write with 8 MB at most.
const WINDOW: u32 = 25;

/// The bytes of a source.
pub(crate) enum Input<R: Read> {
    /// As they lie on the disk.
    Plain(R),
    /// Decompressed on the way.
    Zstd(Box<zstd::stream::read::Decoder<'static, BufReader<R>>>),
    /// Rows of a database, one a line.
    Rows(Box<RowLines>),
}

impl<R: Read> Input<R> {
    /// Wraps what was read from a file, by how the file begins.
    pub(crate) fn of(inner: R, head: &[u8]) -> io::Result<Self> {
        if head != ZSTD {
            return Ok(Input::Plain(inner));
        }
        let mut decoder = zstd::stream::read::Decoder::new(inner)?;
        decoder.window_log_max(WINDOW)?;
        Ok(Input::Zstd(Box::new(decoder)))
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Input::Plain(inner) => inner.read(out),
            Input::Zstd(decoder) => decoder.read(out),
            Input::Rows(rows) => rows.read(out),
        }
    }
}

/// Whether a file is compressed, by how it begins.
pub(crate) fn is_compressed(path: &Path) -> bool {
    let mut head = Vec::with_capacity(ZSTD.len());
    // A file that cannot be opened counts as plain: opening it again reports the error.
    let read = File::open(path).and_then(|file| file.take(ZSTD.len() as u64).read_to_end(&mut head));
    read.is_ok() && head == ZSTD
}

/// Opens the source of an address. `wrap` stands between the file and the decompressing.
pub(crate) fn open<R: Read>(path: &Path, wrap: impl FnOnce(File) -> R) -> io::Result<Input<R>> {
    if let Some((file, session)) = part_of(path) {
        return Ok(Input::Rows(Box::new(RowLines::open(&file, &session)?)));
    }
    let mut file = File::open(path)?;
    let mut head = Vec::with_capacity(ZSTD.len());
    file.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head)?;
    // Rewound rather than chained: `wrap` has to see the whole file, to count its bytes.
    file.seek(SeekFrom::Start(0))?;
    Input::of(wrap(file), &head)
}

/// A reader of a file from a position on, which leaves the file's own cursor alone, so that threads can share the file.
pub(crate) struct ReadAt<'f> {
    pub(crate) file: &'f File,
    pub(crate) place: u64,
}

impl Read for ReadAt<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(self.file, out, self.place)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(self.file, out, self.place)?;
        self.place += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_and_plain_files_read_the_same() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let text = b"{\"a\":1}\n{\"b\":2}\n".repeat(5000);
        let (plain, packed) = (directory.path().join("a.jsonl"), directory.path().join("a.jsonl.zst"));
        std::fs::write(&plain, &text)?;
        std::fs::write(&packed, zstd::encode_all(&text[..], 3)?)?;
        for path in [plain, packed] {
            let mut whole = Vec::new();
            open(&path, |file| file)?.read_to_end(&mut whole)?;
            assert_eq!(whole, text);
        }
        Ok(())
    }

    #[test]
    fn short_and_torn_files_are_no_reason_to_fail_early() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("a.jsonl.zst");
        std::fs::write(&path, b"")?;
        let mut whole = Vec::new();
        open(&path, |file| file)?.read_to_end(&mut whole)?;
        assert!(whole.is_empty());
        let packed = zstd::encode_all(&b"{\"a\":1}\n".repeat(5000)[..], 3)?;
        std::fs::write(&path, &packed[..packed.len() / 2])?;
        assert!(open(&path, |file| file)?.read_to_end(&mut whole).is_err());
        Ok(())
    }
}
