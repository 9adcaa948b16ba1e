//! Which lines are worth decoding: a look at their raw bytes that may be wrong in one direction only.
//!
//! A text that has a match has certain plain characters in a row, the *run*. JSON writes such characters as they are, however deep a
//! string is nested in other strings, or as `\uXXXX`. So a line without the run, in any case where case does not count, and without
//! an escape that could stand for one of its characters, has no match. Characters that are usually escaped (quotes, backslashes,
//! slashes, control characters) never belong to a run, and neither does what broken text reads as. Where an expression has no run that
//! all its matches must have, every line is decoded. The verdict is always on decoded text.

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};
use tooltrail_formats::FORMATS;
use tooltrail_model::filter::Pattern;

/// An escape that stands for something else than a control character. Those of control characters are frequent, and in no run.
const ESCAPE: &str = r"\\u(?:00[2-9a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])";

/// The most runs of which a text may have any: more would not be found faster than everything is decoded.
const MOST: usize = 32;

/// Tells which lines may have a match.
#[derive(Debug, Default)]
pub struct Prefilter {
    /// Finds what a line must have; `None` where nothing can be told.
    must: Option<Regex>,
}

impl Prefilter {
    /// For lines that may have any of some texts.
    pub fn new<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Self {
        let parts: Option<Vec<String>> = patterns.map(alternatives).collect();
        let must = parts.and_then(|parts| {
            let composed = FORMATS.iter().flat_map(|format| format.composed()).map(|word| regex::escape(word));
            let all: Vec<String> = parts.into_iter().chain(composed).chain([ESCAPE.to_owned()]).collect();
            RegexBuilder::new(&all.join("|")).build().ok()
        });
        Prefilter { must }
    }

    /// Whether a line may have a match.
    pub fn may_match(&self, line: &[u8]) -> bool {
        self.must.as_ref().is_none_or(|must| must.is_match(line))
    }

    /// Whether every line is decoded.
    pub fn is_open(&self) -> bool {
        self.must.is_none()
    }
}

/// An expression for the runs of a text.
fn alternatives(pattern: &Pattern) -> Option<String> {
    let hir = ParserBuilder::new().multi_line(true).build().parse(pattern.expression()).ok()?;
    let runs: Vec<String> = runs(&hir)?.iter().map(|run| regex::escape(run)).collect();
    let flag = if pattern.is_cased() { "" } else { "i" };
    Some(format!("(?{flag}:{})", runs.join("|")))
}

/// Runs of which every match has at least one. Where case does not count, any spelling of it.
fn runs(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(literal) => longest(std::str::from_utf8(&literal.0).ok()?).map(|run| vec![run.to_owned()]),
        HirKind::Capture(capture) => runs(&capture.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => runs(&repeated.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(runs).max_by_key(|runs| (shortest(runs), std::cmp::Reverse(runs.len()))),
        HirKind::Alternation(parts) => {
            let all: Option<Vec<Vec<String>>> = parts.iter().map(runs).collect();
            all.map(|all| all.concat()).filter(|all| all.len() <= MOST)
        }
        _ => None,
    }
}

/// How long the shortest run is: the least that is sure.
fn shortest(runs: &[String]) -> usize {
    runs.iter().map(String::len).min().unwrap_or(0)
}

/// The longest run of plain characters in a text.
fn longest(text: &str) -> Option<&str> {
    let odd = |c: char| c.is_control() || matches!(c, '"' | '\\' | '/' | '\u{fffd}');
    text.split(odd).max_by_key(|run| run.len()).filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::query::tests::parsed;
    use super::*;
    use tooltrail_model::filter::Spelling;

    fn of(pattern: &str) -> Option<Vec<String>> {
        runs(&ParserBuilder::new().multi_line(true).build().parse(pattern).unwrap())
    }

    #[test]
    fn runs_are_what_every_match_has() {
        let some = |runs: &[&str]| Some(runs.iter().map(|run| (*run).to_owned()).collect::<Vec<_>>());
        assert_eq!(of("panicked at"), some(&["panicked at"]));
        assert_eq!(of(r#"say "hello" twice"#), some(&[" twice"]));
        assert_eq!(of(r"src/main\.rs"), some(&["main.rs"]));
        assert_eq!(of(r"^\s*(warning|error): \w+"), some(&["warning", "error"]));
        assert_eq!(of(r"fo+\s+bar?"), some(&["ba"]));
        assert_eq!(of(r"(abc)+x?"), some(&["abc"]));
        assert_eq!(of(r"a|\d"), None);
        assert_eq!(of(r"(abc)*"), None);
        assert_eq!(of(r"\n"), None);
        assert_eq!(of("\u{fffd}"), None);
    }

    fn filter(query: &str) -> Prefilter {
        Prefilter::new(parsed(query, Spelling::default()).texts().map(|(_, pattern)| pattern))
    }

    #[test]
    fn every_spelling_passes() {
        let asked = filter("Ask");
        let lines = [
            r#"{"a":"ask"}"#,
            r#"{"a":"\u0041sk"}"#,
            r#"{"a":"a\u017fK"}"#,
            "{\"a\":\"a\u{17f}\u{212a}\"}",
            r#"{"a":"{\"b\":\"\\u0061sk\"}"}"#,
        ];
        assert!(lines.iter().all(|line| asked.may_match(line.as_bytes())));
        assert!(!asked.may_match(br#"{"a":"as\u001bk"}"#));
        let exact = filter("case:Ask");
        assert!(exact.may_match(b"Ask") && !exact.may_match(b"ask"));
        assert!(filter(r#""\"""#).is_open());
        assert!(filter(r"ask re:\d").is_open());
    }
}
