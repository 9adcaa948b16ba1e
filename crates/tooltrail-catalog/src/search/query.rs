//! What is looked for: terms, each a text or a regular expression, and the fields to find them in.

use super::prefilter::Prefilter;
use regex::{Regex, RegexBuilder};
use tooltrail_formats::texts::Field;

/// What is wrong with a query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing to look for.
    #[error("nothing to look for; give a word, a \"phrase\" or a regular expression")]
    Empty,
    /// More terms than are told apart.
    #[error("more than {MOST} terms; leave some out")]
    TooMany,
    /// A regular expression that cannot be used.
    #[error("`{pattern}` is no regular expression: {why}")]
    Pattern {
        /// The expression.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
}

/// How many terms a query may have: each has a bit.
const MOST: usize = 64;

/// One thing to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The text or the expression.
    pub text: String,
    /// It is a regular expression.
    pub regex: bool,
    /// Upper and lower case count.
    pub case: bool,
}

impl Term {
    /// A text, in whatever case.
    pub fn text(text: impl Into<String>) -> Self {
        Term { text: text.into(), regex: false, case: false }
    }

    /// A regular expression, in whatever case. `^` and `$` stand for the beginning and end of a line, `\s` for line feeds too.
    pub fn regex(pattern: impl Into<String>) -> Self {
        Term { text: pattern.into(), regex: true, case: false }
    }

    /// The same where upper and lower case count.
    pub fn cased(self, case: bool) -> Self {
        Term { case, ..self }
    }

    /// The expression that finds it.
    pub(super) fn pattern(&self) -> String {
        if self.regex { self.text.clone() } else { regex::escape(&self.text) }
    }
}

/// A query that can be run. All terms must be found in one call, or in one message.
#[derive(Debug)]
pub struct Query {
    pub(super) terms: Vec<Regex>,
    pub(super) fields: Vec<Field>,
    pub(super) prefilter: Prefilter,
}

impl Query {
    /// Makes a query of some terms, to be found in some fields; in any, where none is named.
    pub fn new(terms: &[Term], fields: &[Field]) -> Result<Self, Error> {
        if terms.iter().all(|term| term.text.is_empty()) {
            return Err(Error::Empty);
        }
        if terms.len() > MOST {
            return Err(Error::TooMany);
        }
        let compiled: Result<Vec<Regex>, Error> = terms.iter().filter(|term| !term.text.is_empty()).map(compile).collect();
        Ok(Query { terms: compiled?, fields: fields.to_vec(), prefilter: Prefilter::new(terms) })
    }

    /// Whether a field is asked for. The files of a call are a part of its input.
    pub(super) fn wants(&self, field: Field) -> bool {
        self.fields.is_empty() || self.fields.contains(&field) || (field == Field::Path && self.fields.contains(&Field::Input))
    }

    /// Which terms a text has, a bit for each; and where the first of them begins.
    pub(super) fn find(&self, text: &str) -> Option<(u64, usize)> {
        let mut found = None;
        for (number, term) in self.terms.iter().enumerate() {
            if let Some(hit) = term.find(text) {
                let (terms, first) = found.unwrap_or((0, usize::MAX));
                found = Some((terms | 1 << number, hit.start().min(first)));
            }
        }
        found
    }

    /// All terms, a bit for each.
    pub(super) fn all(&self) -> u64 {
        u64::MAX >> (MOST - self.terms.len())
    }
}

fn compile(term: &Term) -> Result<Regex, Error> {
    let built = RegexBuilder::new(&term.pattern()).case_insensitive(!term.case).multi_line(true).build();
    built.map_err(|error| Error::Pattern { pattern: term.text.clone(), why: reason(&error) })
}

/// Why an expression cannot be used, in one line: the message of the reader of expressions ends with it.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
        other => {
            let text = other.to_string();
            let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_told_apart_by_their_bits() {
        let query = Query::new(&[Term::text("a.b"), Term::regex("^x$")], &[]).unwrap();
        assert_eq!(query.find("y\nX\nA.B"), Some((0b11, 2)));
        assert_eq!(query.find("axb"), None);
        assert_eq!(query.all(), 0b11);
    }

    #[test]
    fn mistakes_are_told_in_one_line() {
        let error = Query::new(&[Term::regex("a(b")], &[]).unwrap_err().to_string();
        assert_eq!(error, "`a(b` is no regular expression: unclosed group");
        assert!(Query::new(&[Term::text("")], &[]).is_err());
        assert!(Query::new(&vec![Term::text("a"); 65], &[]).is_err());
        assert!(Query::new(&vec![Term::text("a"); 64], &[]).is_ok_and(|query| query.all() == u64::MAX));
    }

    #[test]
    fn a_file_is_a_part_of_the_input() {
        let query = Query::new(&[Term::text("a")], &[Field::Input]).unwrap();
        assert!(query.wants(Field::Path) && query.wants(Field::Input) && !query.wants(Field::Result));
    }
}
