//! The verdict on a session, as one paragraph of two lines.
//!
//! ```text
//! **Tests ✗** agent says “All tests pass” · output says “41 passed; 1 failed” `6ab3:3`\
//! **Changed** +41 −7 in 4 files · **Commit** a1b2c3d `6ab3:4` · 2 h 10 m
//! ```

use super::Doc;
use super::text::{code, inert};
use crate::verdict::{VerdictPart, VerdictStrip};
use std::io;

impl Doc<'_> {
    /// Writes a verdict.
    pub(super) fn verdict(&mut self, strip: &VerdictStrip) -> io::Result<()> {
        self.gap()?;
        let line = |parts: &[VerdictPart]| parts.iter().map(written).collect::<Vec<_>>().join(" · ");
        let lines: Vec<String> =
            [&strip.first, &strip.second].into_iter().filter(|parts| !parts.is_empty()).map(|parts| line(parts)).collect();
        // A backslash ends a line within a paragraph, whichever forge shows it.
        self.lines(&lines.join("\\\n"))?;
        self.gap()
    }
}

fn written(part: &VerdictPart) -> String {
    let label = [part.label, part.sign].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
    let label = if label.is_empty() { label } else { format!("**{label}** ") };
    let proof = part.proof.as_ref().map(|proof| format!(" {}", code(&proof.r#ref))).unwrap_or_default();
    format!("{label}{}{proof}", inert(&part.text))
}
