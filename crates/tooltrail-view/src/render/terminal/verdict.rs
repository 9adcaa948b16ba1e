//! The verdict on a session: two rows above its digest.
//!
//! ```text
//! Tests ✗ agent says “All tests pass” · output says “41 passed; 1 failed” #3
//! Changed +41 −7 in 4 files   Commit a1b2c3d #4   2 h 10 m
//! ```

use super::TerminalWriter;
use super::paint::{ACCENT, DIM, PLAIN, StyledRow, tone_style};
use super::wrap::Fold;
use crate::head::Tone;
use crate::verdict::{VerdictPart, VerdictStrip};
use std::io;

impl TerminalWriter<'_, '_> {
    /// Writes a verdict.
    pub(super) fn verdict(&mut self, strip: &VerdictStrip) -> io::Result<()> {
        self.page.gap()?;
        for line in [&strip.first, &strip.second] {
            let mut row = StyledRow::default();
            for part in line {
                row.push(PLAIN, if row.is_empty() { "" } else { "   " });
                row.append(styled(part));
            }
            if !row.is_empty() {
                self.page.put(&row, Fold::Words)?;
            }
        }
        Ok(())
    }
}

fn styled(part: &VerdictPart) -> StyledRow {
    // A part without a state of its own is told in the usual colour.
    let style = if part.tone == Tone::Neutral { PLAIN } else { tone_style(part.tone) };
    let mut row = StyledRow::of(DIM, part.label);
    for text in [part.sign, &part.text] {
        row.push(PLAIN, if row.is_empty() || text.is_empty() { "" } else { " " });
        row.push(style, text);
    }
    if let Some(proof) = &part.proof {
        row.push(PLAIN, " ");
        row.push(ACCENT, &proof.name);
    }
    row
}
