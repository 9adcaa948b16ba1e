//! Positions in a log. Every fact has one, because every answer must be provable.

use serde::{Deserialize, Serialize};

/// Byte offsets in the logical (uncompressed) source, end exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl Span {
    /// Number of bytes.
    pub fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A record of a source: its number (for line files the line, counted from 1) and its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct At {
    /// Number of the record, counted from 1. Zero stands for a file beside the source.
    pub line: u64,
    /// The record's bytes.
    pub span: Span,
}
