//! What a session amounts to: labels in a column, facts beside them, the calls that prove them by their numbers.
//!
//! ```text
//! Proof    ! #37 cargo test: exit 0 is that of tail -5, its own was not
//!            recorded · 2 edits since
//! ```

use super::Show;
use super::paint::{ACCENT, DIM, PLAIN, Row, tone_style};
use super::wrap::Fold;
use crate::digest::{self, Fact, Piece, Proof};
use std::io;

/// Where facts begin.
const COLUMN: usize = 9;

impl Show<'_, '_> {
    /// Writes a digest.
    pub(super) fn digest(&mut self, rows: &[digest::Row]) -> io::Result<()> {
        self.page.gap()?;
        for row in rows {
            let mut label = row.label;
            for fact in &row.facts {
                self.fact(std::mem::take(&mut label), fact)?;
            }
        }
        // Numbers are short; this is what one does with them.
        let facts = rows.iter().flat_map(|row| &row.facts);
        let calls = facts.flat_map(|fact| &fact.pieces).filter_map(|piece| if let Piece::Call(proof) = piece { Some(proof) } else { None });
        match calls.into_iter().next() {
            Some(proof) => self.page.put(&opened(proof), Fold::Words),
            None => Ok(()),
        }
    }

    fn fact(&mut self, label: &str, fact: &Fact) -> io::Result<()> {
        let mut lead = Row::of(DIM, label);
        lead.pad(COLUMN);
        let mut next = Row::default();
        next.pad(COLUMN);
        if let Some((sign, tone)) = fact.sign {
            lead.push(tone_style(tone), &format!("{sign} "));
        } else if fact.below {
            lead.push(PLAIN, "  ");
        }
        next.pad(lead.columns());
        let mut row = Row::default();
        for piece in &fact.pieces {
            match piece {
                Piece::Words(line) => row.push_line(PLAIN, line),
                Piece::Call(proof) => row.push(ACCENT, &proof.name),
            }
        }
        self.page.hang(&lead, &next, &row, Fold::Words)
    }
}

/// How a call is opened.
fn opened(proof: &Proof) -> Row {
    let mut row = Row::default();
    row.pad(COLUMN);
    row.push(DIM, &format!("{} in full: ", proof.name));
    row.push(ACCENT, &format!("tooltrail show {}", proof.r#ref));
    row
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::Book;
    use crate::digest::sample::{digest, usual};

    fn shown(width: usize) -> String {
        let (book, options, mut out) = (usual(), Options { width, ..Options::default() }, Vec::new());
        let rows = digest::rows(&digest(""), book.transcript());
        assert!(Show::new(&book, &options, &mut out).digest(&rows).is_ok());
        uncoloured(&String::from_utf8_lossy(&out))
    }

    /// The text without colours.
    fn uncoloured(text: &str) -> String {
        let pieces = text.split('\u{1b}').enumerate();
        pieces.map(|(place, piece)| if place == 0 { piece } else { piece.split_once('m').map_or("", |(_, rest)| rest) }).collect()
    }

    #[test]
    fn facts_stand_in_a_column() {
        let text = format!("{}\n{}\n{}", shown(60), shown(80), shown(140));
        insta::with_settings!({ snapshot_path => "../../../tests/snapshots", omit_expression => true }, { insta::assert_snapshot!("digest", text) });
    }
}
