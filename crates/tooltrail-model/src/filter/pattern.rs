//! Texts that are looked for: words, phrases and regular expressions, in any language; in whatever case unless told otherwise.

use regex::{Regex, RegexBuilder};

/// The largest regular expression, compiled. A query may come from a stranger.
const LARGEST: usize = 4 << 20;

/// A text that is looked for.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    literal: bool,
    cased: bool,
    regex: Regex,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// It is a regular expression, where `^` and `$` are the ends of lines, as in grep.
    pub regex: bool,
    /// Upper and lower case count.
    pub cased: bool,
}

impl Pattern {
    /// A word, a phrase or a regular expression.
    pub(super) fn new(source: &str, spelling: Spelling) -> Result<Self, regex::Error> {
        let Spelling { regex, cased } = spelling;
        let expression = if regex { source.to_owned() } else { regex::escape(source) };
        Ok(Pattern { source: source.to_owned(), literal: !regex, cased, regex: compile_as(&expression, cased)? })
    }

    /// A text that is taken as it is written, in whatever case.
    pub fn literal(text: &str) -> Result<Self, regex::Error> {
        Pattern::new(text, Spelling::default())
    }

    /// The text or the regular expression, as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it is a text rather than a regular expression.
    pub fn is_literal(&self) -> bool {
        self.literal
    }

    /// Whether upper and lower case count.
    pub fn is_cased(&self) -> bool {
        self.cased
    }

    /// The regular expression that finds it, as it would be written; case is beside it.
    pub fn expression(&self) -> &str {
        self.regex.as_str()
    }

    /// What finds it.
    pub fn regex(&self) -> &Regex {
        &self.regex
    }
}

/// Two patterns are the same if they are written the same way.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        (self.literal, self.cased, &self.source) == (other.literal, other.cased, &other.source)
    }
}

/// A regular expression that looks past case, and is not too large.
pub(super) fn compile(source: &str) -> Result<Regex, regex::Error> {
    compile_as(source, false)
}

fn compile_as(source: &str, cased: bool) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).case_insensitive(!cased).multi_line(true).size_limit(LARGEST).build()
}
