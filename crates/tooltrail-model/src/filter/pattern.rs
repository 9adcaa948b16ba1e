//! Texts that are looked for: words, phrases and regular expressions, all without regard to case, in any language.

use regex::{Regex, RegexBuilder};

/// The largest regular expression, compiled. A query may come from a stranger.
const LARGEST: usize = 4 << 20;

/// A text that is looked for.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    literal: bool,
    regex: Regex,
}

impl Pattern {
    /// A word or phrase: the text itself.
    pub(super) fn literal(text: &str) -> Result<Self, regex::Error> {
        let regex = compile(&regex::escape(text))?;
        Ok(Pattern { source: text.to_owned(), literal: true, regex })
    }

    /// A regular expression. `^` and `$` are the ends of lines, as in grep.
    pub(super) fn regular(source: &str) -> Result<Self, regex::Error> {
        let regex = compile(source)?;
        Ok(Pattern { source: source.to_owned(), literal: false, regex })
    }

    /// The text or the regular expression, as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it is a text rather than a regular expression.
    pub fn is_literal(&self) -> bool {
        self.literal
    }

    /// What finds it.
    pub fn regex(&self) -> &Regex {
        &self.regex
    }
}

/// Two patterns are the same if they are written the same way.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        (self.literal, &self.source) == (other.literal, &other.source)
    }
}

/// A regular expression that looks past case, and is not too large.
pub(super) fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).case_insensitive(true).multi_line(true).size_limit(LARGEST).build()
}
