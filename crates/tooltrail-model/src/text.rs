//! The texts of one source in one string: names that repeat (tools, models, directories, sessions) once, and ids.

use crate::Map;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::ops::Range;

/// A name of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name(NonZeroU32);

/// The names of one source, in the order they were first seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Names {
    /// All texts, one after another: a string for each would take twice the memory.
    all: String,
    /// Start of each text, and the end of the last.
    marks: Vec<usize>,
    #[serde(skip)]
    index: Map<Box<str>, Name>,
}

impl Default for Names {
    fn default() -> Self {
        Names { all: String::new(), marks: vec![0], index: Map::default() }
    }
}

impl Names {
    /// The name for a text, new or known.
    pub fn of(&mut self, text: &str) -> Name {
        if let Some(&name) = self.index.get(text) {
            return name;
        }
        let name = self.add(text);
        self.index.insert(text.into(), name);
        name
    }

    /// A name for a text that is not expected again.
    pub fn add(&mut self, text: &str) -> Name {
        self.all.push_str(text);
        // Counted from 1, so that an optional name takes no extra memory.
        let name = Name(u32::try_from(self.marks.len()).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX));
        self.marks.push(self.all.len());
        name
    }

    /// The text of a name of this source.
    pub fn text(&self, name: Name) -> &str {
        self.all.get(self.range(name)).unwrap_or_default()
    }

    /// Whether a name's text is these bytes.
    pub fn is(&self, name: Name, bytes: &[u8]) -> bool {
        self.all.as_bytes().get(self.range(name)) == Some(bytes)
    }

    fn range(&self, name: Name) -> Range<usize> {
        let index = name.0.get() as usize;
        match self.marks.get(index - 1..=index) {
            Some(&[start, end]) => start..end,
            // A name of another source reads as an empty text, and must not crash.
            _ => 0..0,
        }
    }

    /// The text of a name that may be missing.
    pub fn opt(&self, name: Option<Name>) -> Option<&str> {
        name.map(|name| self.text(name))
    }

    /// About how many bytes the names take.
    pub(crate) fn kept(&self) -> usize {
        // The index has every text that may be asked for again a second time.
        2 * self.all.len() + 48 * self.marks.len()
    }

    /// Drops the index, once a source has been read.
    pub fn settle(&mut self) {
        // The index holds every text a second time, and is needed only while names are given.
        self.index = Map::default();
        self.all.shrink_to_fit();
        self.marks.shrink_to_fit();
    }
}

/// The first line of a text without control characters, cut to `limit` characters, for a title.
pub fn headline(text: &str, limit: usize) -> String {
    let plain = without_escapes(text);
    let line = plain.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    let spaced = line.chars().map(|c| if c == '\t' { ' ' } else { c });
    // One more than the limit, to see whether something was cut.
    let mut out: String = spaced.filter(|c| !c.is_control()).take(limit + 1).collect();
    if out.chars().count() > limit {
        out = out.chars().take(limit.saturating_sub(1)).collect();
        out.push('…');
    }
    out
}

/// A text without terminal escape sequences.
pub fn without_escapes(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        rest = match tail.strip_prefix('[') {
            // Parameters end at the first character from `@` to `~`.
            Some(parameters) => parameters.find(|c| ('@'..='~').contains(&c)).map_or("", |end| &parameters[end + 1..]),
            // Of other sequences only the escape character itself is dropped.
            None => tail,
        };
    }
    out.push_str(rest);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headlines_are_one_plain_line() {
        assert_eq!(headline("\n  \u{1b}[1;31mred\u{1b}[0m\ttext \u{7}\nsecond", 40), "red text ");
        assert_eq!(headline("a long line", 6), "a lon…");
        assert_eq!(without_escapes("no escapes"), "no escapes");
        assert_eq!(without_escapes("cut \u{1b}[31"), "cut ");
    }
}
