//! Limits: how much of a body is made, and the remark on omitted content.

use serde::Serialize;

/// Limits of a body.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most lines of a block.
    pub lines: usize,
    /// The most bytes of a block.
    pub bytes: usize,
    /// Number of first lines kept of cut output; the others are its last.
    pub head: usize,
    /// Whether code is highlighted.
    pub highlight: bool,
}

impl Limits {
    /// Limits of a page before the reader asks for more.
    pub const PAGE: Limits = Limits { lines: 200, bytes: 200 * 1024, head: 20, highlight: true };
    /// Limits of complete content: as much as a browser or a terminal can take.
    pub const WHOLE: Limits = Limits { lines: 200_000, bytes: 32 << 20, head: 100_000, highlight: true };
}

/// Remark on omitted content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Elided {
    /// Amount that is shown.
    pub shown: u64,
    /// Amount in total.
    pub total: u64,
    /// Unit of both.
    pub unit: ElidedUnit,
    /// Whether the log has the rest.
    pub kept: bool,
}

/// Unit of an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ElidedUnit {
    /// Lines.
    Lines,
    /// Bytes.
    Bytes,
    /// Entries of a list.
    Items,
}

impl Elided {
    /// In words: `20 of 300 lines`.
    pub fn words(&self) -> String {
        format!("{} of {} {}", crate::head::count(self.shown), crate::head::count(self.total), self.unit())
    }

    /// The missing amount in words: `280 of 300 lines not shown`.
    pub fn missing(&self) -> String {
        // A log may report a total that is smaller than what it contains.
        let missing = self.total.saturating_sub(self.shown);
        format!("{} of {} {} not shown", crate::head::count(missing), crate::head::count(self.total), self.unit())
    }

    fn unit(&self) -> &'static str {
        match self.unit {
            ElidedUnit::Lines => "lines",
            ElidedUnit::Bytes => "bytes",
            ElidedUnit::Items => "entries",
        }
    }
}
