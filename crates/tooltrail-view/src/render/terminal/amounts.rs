//! The digest of a session: labels in a column, facts beside them, the calls that prove them by their numbers.
//!
//! ```text
//! Proof    ! #37 cargo test: the success came from tail -5, its own was not
//!            recorded · 2 edits since
//! ```

use super::TerminalWriter;
use super::paint::{ACCENT, DIM, PLAIN, StyledRow, tone_style};
use super::wrap::Fold;
use crate::digest::{self, DigestFact, FactPart, Proof};
use std::io;

/// Columns between the longest label and the facts.
const GAP: usize = 2;

impl TerminalWriter<'_, '_> {
    /// Writes a digest.
    pub(super) fn digest(&mut self, rows: &[digest::DigestRow]) -> io::Result<()> {
        self.page.gap()?;
        // As wide as the longest label that is shown: most sessions have only short ones.
        let column = rows.iter().map(|row| row.label.len()).max().unwrap_or(0) + GAP;
        for row in rows {
            let mut label = row.label;
            for fact in &row.facts {
                // Only the first fact of a row shows the label.
                self.fact(column, std::mem::take(&mut label), fact)?;
            }
        }
        // Numbers such as `#37` are not references for commands, so one example shows how to open a call.
        let facts = rows.iter().flat_map(|row| &row.facts);
        let calls =
            facts.flat_map(|fact| &fact.pieces).filter_map(|piece| if let FactPart::Call(proof) = piece { Some(proof) } else { None });
        match calls.into_iter().next() {
            Some(proof) => self.page.put(&opened(column, proof), Fold::Words),
            None => Ok(()),
        }
    }

    fn fact(&mut self, column: usize, label: &str, fact: &DigestFact) -> io::Result<()> {
        let mut lead = StyledRow::of(DIM, label);
        lead.pad(column);
        let mut next = StyledRow::default();
        next.pad(column);
        if let Some((sign, tone)) = fact.sign {
            lead.push(tone_style(tone), &format!("{sign} "));
        // Aligned with the text of the fact above, behind its sign.
        } else if fact.below {
            lead.push(PLAIN, "  ");
        }
        next.pad(lead.columns());
        let mut row = StyledRow::default();
        for piece in &fact.pieces {
            match piece {
                FactPart::Words(line) => row.push_line(PLAIN, line),
                FactPart::Call(proof) => row.push(ACCENT, &proof.name),
            }
        }
        self.page.hang(&lead, &next, &row, Fold::Words)
    }
}

/// Hint how a call is opened.
fn opened(column: usize, proof: &Proof) -> StyledRow {
    let mut row = StyledRow::default();
    row.pad(column);
    row.push(DIM, &format!("{} in full: ", proof.name));
    row.push(ACCENT, &format!("tooltrail show {}", proof.r#ref));
    row
}

#[cfg(test)]
mod tests {
    use super::super::TerminalOptions;
    use super::*;
    use crate::Book;
    use crate::digest::sample::{digest, usual};

    fn shown(width: usize) -> String {
        let (book, options, mut out) = (usual(), TerminalOptions { width, ..TerminalOptions::default() }, Vec::new());
        let rows = digest::rows(&digest(""), book.transcript());
        assert!(TerminalWriter::new(&book, &options, &mut out).digest(&rows).is_ok());
        uncoloured(&String::from_utf8_lossy(&out))
    }

    /// The text without colours.
    fn uncoloured(text: &str) -> String {
        // Removes everything from an escape to its `m`; no other escapes are written without links.
        let pieces = text.split('\u{1b}').enumerate();
        pieces.map(|(place, piece)| if place == 0 { piece } else { piece.split_once('m').map_or("", |(_, rest)| rest) }).collect()
    }

    #[test]
    fn facts_stand_in_a_column() {
        let text = format!("{}\n{}\n{}", shown(60), shown(80), shown(140));
        insta::with_settings!({ snapshot_path => "../../../tests/snapshots", omit_expression => true }, { insta::assert_snapshot!("digest", text) });
    }
}
