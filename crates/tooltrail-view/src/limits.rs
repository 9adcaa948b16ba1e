//! Limits: how much of a body is made, and how what was left out is told.

use serde::Serialize;

/// How much of a body is made.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most lines of a block.
    pub lines: usize,
    /// The most bytes of a block.
    pub bytes: usize,
    /// Of output that is cut, how many of the lines are its first ones; the others are its last.
    pub head: usize,
    /// Whether code is highlighted.
    pub highlight: bool,
}

impl Limits {
    /// What a page shows before anybody asks for more.
    pub const PAGE: Limits = Limits { lines: 200, bytes: 200 * 1024, head: 20, highlight: true };
    /// Everything, within what a browser or a terminal can bear.
    pub const WHOLE: Limits = Limits { lines: 200_000, bytes: 32 << 20, head: 100_000, highlight: true };
}

/// Something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Elided {
    /// How much is shown.
    pub shown: u64,
    /// How much there is.
    pub total: u64,
    /// Of what.
    pub unit: Unit,
    /// The rest is in the log, and not only said to have been somewhere.
    pub kept: bool,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
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

    /// What is missing, in words: `280 of 300 lines not shown`.
    pub fn missing(&self) -> String {
        let missing = self.total.saturating_sub(self.shown);
        format!("{} of {} {} not shown", crate::head::count(missing), crate::head::count(self.total), self.unit())
    }

    fn unit(&self) -> &'static str {
        match self.unit {
            Unit::Lines => "lines",
            Unit::Bytes => "bytes",
            Unit::Items => "entries",
        }
    }
}
