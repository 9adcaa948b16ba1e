//! The digest of a session, as a list.
//!
//! ```text
//! - **Proof:** ! `3f2a:37` cargo test: the success came from tail -5; its own exit code is unknown · 2 edits since
//!   - hint: the output says “test result: FAILED”
//! ```

use super::Doc;
use super::text::{code, inert};
use crate::digest::{DigestFact, DigestRow, FactPart};
use crate::line::{Class, Line, TextRun};
use std::io;

impl Doc<'_> {
    /// Writes a digest.
    pub(super) fn digest(&mut self, rows: &[DigestRow]) -> io::Result<()> {
        self.gap()?;
        for row in rows {
            // Facts of equal rank stand in one list; a fact with others below it stands beside its label.
            let (first, rest) = match row.facts.as_slice() {
                [first, rest @ ..] if rest.iter().all(|fact| fact.below) => (Some(first), rest),
                all => (None, all),
            };
            let label = format!("- **{}:** {}", row.label, first.map(words).unwrap_or_default());
            self.line(&label)?;
            for fact in rest {
                let indent = if first.is_none() && fact.below { "    " } else { "  " };
                self.line(&format!("{indent}- {}", words(fact)))?;
            }
        }
        self.gap()
    }
}

/// A fact on one line.
pub(super) fn words(fact: &DigestFact) -> String {
    let sign = fact.sign.map(|(sign, _)| format!("{sign} ")).unwrap_or_default();
    let piece = |piece: &FactPart| match piece {
        FactPart::Words(words) => line(words),
        FactPart::Call(proof) => code(&proof.r#ref),
    };
    sign + &fact.pieces.iter().map(piece).collect::<String>()
}

/// A line; commands, hashes and paths in it are code.
pub(super) fn line(line: &Line) -> String {
    let run = |run: &TextRun| match run.class {
        // Classes that mark commands and paths; everything else is prose and is made inert.
        Class::Strong | Class::Path => padded(run.text()),
        _ => inert(run.text()),
    };
    line.runs().iter().map(run).collect()
}

/// Words as code, with leading and trailing spaces outside: inside they would be lost.
fn padded(text: &str) -> String {
    let (start, end) = (text.trim_start(), text.trim_end());
    format!("{}{}{}", &text[..text.len() - start.len()], code(text), &text[end.len()..])
}
