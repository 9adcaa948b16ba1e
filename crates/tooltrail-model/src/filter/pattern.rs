//! Text patterns: words, phrases and regular expressions, in any language; case is ignored unless requested.

use regex::{Regex, RegexBuilder};

/// The largest compiled regular expression. A query may come from an untrusted URL.
const LARGEST: usize = 4 << 20;

/// A text to search for.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    literal: bool,
    cased: bool,
    regex: Regex,
}

/// Interpretation of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// Whether it is a regular expression, where `^` and `$` match at lines, as in grep.
    pub regex: bool,
    /// Whether case matters.
    pub cased: bool,
}

impl Pattern {
    /// A word, a phrase or a regular expression.
    pub(super) fn new(source: &str, spelling: Spelling) -> Result<Self, regex::Error> {
        let Spelling { regex, cased } = spelling;
        let expression = if regex { source.to_owned() } else { regex::escape(source) };
        Ok(Pattern { source: source.to_owned(), literal: !regex, cased, regex: compile_as(&expression, cased)? })
    }

    /// A literal text that ignores case.
    pub fn literal(text: &str) -> Result<Self, regex::Error> {
        Pattern::new(text, Spelling::default())
    }

    /// The text or the regular expression, as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it is a text rather than a regular expression.
    pub fn is_literal(&self) -> bool {
        self.literal
    }

    /// Whether case matters.
    pub fn is_cased(&self) -> bool {
        self.cased
    }

    /// The regular expression that finds it; case is separate.
    pub fn expression(&self) -> &str {
        self.regex.as_str()
    }

    /// The compiled regular expression.
    pub fn regex(&self) -> &Regex {
        &self.regex
    }
}

/// Two patterns are equal if they are written the same way.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        (self.literal, self.cased, &self.source) == (other.literal, other.cased, &other.source)
    }
}

/// A regular expression that ignores case, with a size limit.
pub(super) fn compile(source: &str) -> Result<Regex, regex::Error> {
    compile_as(source, false)
}

fn compile_as(source: &str, cased: bool) -> Result<Regex, regex::Error> {
    // The regex engine runs in linear time, so size is the only thing to limit.
    RegexBuilder::new(source).case_insensitive(!cased).multi_line(true).size_limit(LARGEST).build()
}
