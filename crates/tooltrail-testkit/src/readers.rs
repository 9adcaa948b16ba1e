//! Readers that behave as disks and pipes may: a few bytes at a time, or an error in the middle.

use std::io::{self, Read};

/// Returns `left` in parts of at most `most` bytes.
#[derive(Clone, Copy, Debug)]
pub struct ChunkedReader<'b> {
    /// Bytes that are still to come.
    pub left: &'b [u8],
    /// Largest part.
    pub most: usize,
}

impl Read for ChunkedReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Short reads are legal, and readers that expect full buffers break on them.
        let count = self.most.min(into.len()).min(self.left.len());
        let (piece, rest) = self.left.split_at(count);
        into[..count].copy_from_slice(piece);
        self.left = rest;
        Ok(count)
    }
}

/// Returns `left`, then fails for ever.
#[derive(Clone, Copy, Debug)]
pub struct Breaking<'b> {
    /// Bytes that are still to come before the error.
    pub left: &'b [u8],
}

impl Read for Breaking<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.left.read(into)? {
            // An error where a reader would otherwise see the end of the file.
            0 => Err(io::Error::other("the disk is gone")),
            count => Ok(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up() {
        let bytes: Vec<u8> = (0..100).collect();
        for most in [1, 7, 100, 1000] {
            let mut all = Vec::new();
            let mut reader = ChunkedReader { left: &bytes, most };
            reader.read_to_end(&mut all).unwrap();
            assert_eq!(all, bytes);
        }
        assert_eq!(ChunkedReader { left: &bytes, most: 7 }.read(&mut [0; 50]).unwrap(), 7);
    }

    #[test]
    fn the_broken_reader_gives_what_it_has() {
        let mut all = Vec::new();
        assert!(Breaking { left: b"some" }.read_to_end(&mut all).is_err());
        assert_eq!(all, b"some");
    }
}
