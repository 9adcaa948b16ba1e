//! Readers that behave as disks and pipes may: a few bytes at a time, or an error in the middle.

use std::io::{self, Read};

/// Hands out `left` in pieces of at most `most` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'b> {
    /// What is still to come.
    pub left: &'b [u8],
    /// The largest piece.
    pub most: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.most.min(into.len()).min(self.left.len());
        let (piece, rest) = self.left.split_at(count);
        into[..count].copy_from_slice(piece);
        self.left = rest;
        Ok(count)
    }
}

/// Hands out `left`, and then fails for ever.
#[derive(Clone, Copy, Debug)]
pub struct Breaking<'b> {
    /// What is still to come before the error.
    pub left: &'b [u8],
}

impl Read for Breaking<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.left.read(into)? {
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
            let mut reader = Pieces { left: &bytes, most };
            reader.read_to_end(&mut all).unwrap();
            assert_eq!(all, bytes);
        }
        assert_eq!(Pieces { left: &bytes, most: 7 }.read(&mut [0; 50]).unwrap(), 7);
    }

    #[test]
    fn the_broken_reader_gives_what_it_has() {
        let mut all = Vec::new();
        assert!(Breaking { left: b"some" }.read_to_end(&mut all).is_err());
        assert_eq!(all, b"some");
    }
}
