//! Text patterns: words, phrases and regular expressions, in any language; case is ignored unless requested.

use regex::{Regex, RegexBuilder};

/// The largest compiled regular expression, and the longest. A query may come from an untrusted URL, and the time that an expression takes on a
/// text grows with its size.
const LARGEST: usize = 2 << 20;
const LONGEST: usize = 8 * 1024;
/// A text longer than this is searched in pieces, so that the search can end between two of them.
const PIECE: usize = 256 * 1024;
/// How much two pieces share: the longest match that is found wherever it lies in a long text.
const SHARED: usize = 64 * 1024;

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

    /// Where the first match in a text begins. Between the pieces of a long text `go_on` is asked whether to look further.
    pub(super) fn find(&self, text: &str, go_on: &mut dyn FnMut() -> bool) -> Option<usize> {
        // Plain text is found at the speed of memory.
        if self.literal || text.len() <= PIECE {
            return self.regex.find(text).map(|found| found.start());
        }
        let (mut start, mut end) = (0, text.floor_char_boundary(PIECE));
        loop {
            // Looked for in the text from its beginning, so that `^` and `\b` see what stands before the piece.
            match self.regex.find_at(&text[..end], start) {
                // `$` and `\b` may hold only because the text was cut here, so more of it is needed to decide.
                Some(found) if found.end() == end && end < text.len() && found.start() > start => start = found.start(),
                Some(found) if found.end() == end && end < text.len() && end - start < 2 * PIECE => {}
                Some(found) => return Some(found.start()),
                None if end == text.len() => return None,
                None => start = text.floor_char_boundary(end.saturating_sub(SHARED)).max(start),
            }
            if end == text.len() || !go_on() {
                return None;
            }
            end = text.floor_char_boundary(end.saturating_add(PIECE));
        }
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
    if source.len() > LONGEST {
        return Err(regex::Error::CompiledTooBig(LONGEST));
    }
    // The regex engine runs in linear time, so size is the only thing to limit.
    RegexBuilder::new(source).case_insensitive(!cased).multi_line(true).size_limit(LARGEST).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regex(source: &str) -> Result<Pattern, regex::Error> {
        Pattern::new(source, Spelling { regex: true, cased: false })
    }

    #[test]
    fn what_cannot_be_run_in_time_is_refused() {
        for source in ["(a{1000}){1000}", "((a{100}){100}){100}", r"\w{1000}", r"(\pL{50}){50}", &"a".repeat(LONGEST + 1)] {
            assert!(matches!(regex(source), Err(regex::Error::CompiledTooBig(_))), "{}", &source[..20.min(source.len())]);
        }
        for source in ["(a{10}){10}", r"\w{1,20}", "[a-z0-9]{40}", r"(?s)panicked.{0,200}unwrap"] {
            assert!(regex(source).is_ok(), "{source}");
        }
    }

    #[test]
    fn long_texts_are_searched_in_pieces_and_give_the_same() {
        let filler = "some words \u{e9}\n".repeat(3 * PIECE / 14);
        let cases = ["needle", r"^needle$", r"\bneedle\b", "xz+y", r"needle\z", r"\z", r"words\s+needle", "missing"];
        for place in [0, PIECE - 3, PIECE, 2 * PIECE - SHARED, 2 * PIECE, 3 * PIECE - 100] {
            let place = filler.floor_char_boundary(place);
            for put in ["needle", "\nneedle\n", &format!("x{}y", "z".repeat(40000))] {
                let text = format!("{}{put}{}", &filler[..place], &filler[place..]);
                for source in cases {
                    let pattern = regex(source).unwrap();
                    let whole = pattern.regex().find(&text).map(|found| found.start());
                    assert_eq!(pattern.find(&text, &mut || true), whole, "{source} at {place}");
                }
            }
        }
    }

    #[test]
    fn a_search_in_a_long_text_can_end() {
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            asked < 3
        };
        let text = "x".repeat(100 * PIECE) + "needle";
        assert_eq!(regex("needle$").unwrap().find(&text, &mut go_on), None);
        assert_eq!(asked, 3);
        assert!(regex("needle$").unwrap().find(&text, &mut || true).is_some());
    }
}
