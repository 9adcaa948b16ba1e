//! Names that repeat (tools, models, directories, sessions), kept once per source.

use crate::Map;

/// A name of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

/// The names of one source, in the order they were first seen.
#[derive(Clone, Debug, Default)]
pub struct Names {
    all: Vec<Box<str>>,
    index: Map<Box<str>, Name>,
}

impl Names {
    /// The name for a text, new or known.
    pub fn of(&mut self, text: &str) -> Name {
        if let Some(&name) = self.index.get(text) {
            return name;
        }
        let name = Name(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(text.into());
        self.index.insert(text.into(), name);
        name
    }

    /// The text of a name of this source.
    pub fn text(&self, name: Name) -> &str {
        self.all.get(name.0 as usize).map_or("", |text| text)
    }

    /// The text of a name that may be missing.
    pub fn opt(&self, name: Option<Name>) -> Option<&str> {
        name.map(|name| self.text(name))
    }

    /// The same names without the index, once a source has been read.
    pub fn settle(&mut self) {
        self.index = Map::default();
        self.all.shrink_to_fit();
    }
}

/// The first line of a text with control characters taken out, cut to `limit` characters: fit for a title.
pub fn headline(text: &str, limit: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    let mut out: String = line.chars().filter(|c| !c.is_control()).take(limit + 1).collect();
    if out.chars().count() > limit {
        out = out.chars().take(limit.saturating_sub(1)).collect();
        out.push('…');
    }
    out
}
