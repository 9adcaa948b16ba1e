//! Which logs and lines are worth decoding: a look at their raw bytes that may be wrong in one direction only.
//!
//! A text that has a match has certain plain characters in a row, the *run*. JSON writes such characters as they are, however deep a
//! string is nested in other strings, or as `\uXXXX`. So bytes without the run, in any case where case does not count, and without
//! an escape that could stand for one of its characters, have no match. Characters that are usually escaped (quotes, backslashes,
//! slashes, control characters) never belong to a run, and neither does what broken text reads as. Where an expression has no run that
//! all its matches must have, every line is decoded. The verdict is always on decoded text.
//!
//! A few texts are put together from several strings ([`OpenRecords::composed`](tooltrail_formats::OpenRecords::composed)): a run may stand across
//! the place where they meet, a word of it never does. So a log is looked through for words, at the speed of memory, and only lines that
//! have one are asked for the run.

use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Hir, HirKind};
use std::io::{self, Read};
use tooltrail_formats::FORMATS;
use tooltrail_model::filter::Pattern;

/// The largest number of alternative runs: searching for more would be no faster than decoding everything.
const MOST: usize = 32;

/// The shortest word that is looked for in place of a run.
const SHORTEST: usize = 3;

/// How much of a log is looked at in one go: what stays in the processor's cache.
const CHUNK: usize = 256 * 1024;

/// More bytes than any mark or escape has.
const MARK: usize = 64;

/// Decides which lines may contain a match.
#[derive(Debug, Default)]
pub struct Prefilter {
    /// `None` where no line can be excluded.
    must: Option<RequiredBytes>,
}

/// The expressions that a line with a match contains, unless an escape is in it.
#[derive(Debug)]
struct RequiredBytes {
    /// The words, or a mark that an output was saved beside the log.
    words: Regex,
    /// The words alone.
    own: Regex,
    /// The runs that a line with such a word must contain as well, where that excludes more.
    runs: Option<Regex>,
    escapes: EscapeSet,
    /// More bytes than any match has: the overlap of two pieces of a log, so that a match across the cut is found.
    reach: usize,
}

impl Prefilter {
    /// For lines that may have any of some texts.
    pub fn new<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Self {
        let runs: Option<Vec<PatternRuns>> = patterns.map(PatternRuns::of).collect();
        Prefilter { must: runs.and_then(|runs| RequiredBytes::new(&runs)) }
    }

    /// Whether a line may have a match; or any other bytes that are no part of a line.
    pub fn may_match(&self, line: &[u8]) -> bool {
        self.must.as_ref().is_none_or(|must| {
            must.escapes.are_in(line) || (must.words.is_match(line) && must.runs.as_ref().is_none_or(|runs| runs.is_match(line)))
        })
    }

    /// Whether a log may have a line that passes. `saved` tells whether outputs may have been saved beside it; `chunk` is space that is used
    /// again for the next log.
    pub(super) fn may_have(&self, mut log: impl Read, saved: impl Fn() -> bool, chunk: &mut Vec<u8>) -> io::Result<bool> {
        let Some(must) = &self.must else { return Ok(true) };
        chunk.resize(must.reach + CHUNK, 0);
        let mut held = 0;
        loop {
            let count = match log.read(&mut chunk[held..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            let bytes = &chunk[..held + count];
            if count == 0 || must.is_in(bytes, &saved) || must.escapes.are_in(bytes) {
                return Ok(count > 0);
            }
            let end = held + count;
            // The end of this piece is searched again with the next one, because a match may lie across the cut.
            held = end.min(must.reach);
            chunk.copy_within(end - held..end, 0);
        }
    }

    /// Whether every line is decoded.
    pub fn is_open(&self) -> bool {
        self.must.is_none()
    }
}

impl RequiredBytes {
    /// Whether there is a word; or a mark of a saved output, if there may be one.
    fn is_in(&self, bytes: &[u8], saved: &impl Fn() -> bool) -> bool {
        let mut from = 0;
        while let Some(found) = self.words.find_at(bytes, from) {
            let is_mark = FORMATS.iter().flat_map(|format| format.saved_marks()).any(|mark| mark.as_bytes() == found.as_bytes());
            if !is_mark || self.own.is_match(found.as_bytes()) || saved() {
                return true;
            }
            // A word may begin inside of a mark.
            from = found.start() + 1;
        }
        false
    }

    fn new(all: &[PatternRuns]) -> Option<Self> {
        let words = |names: fn(&dyn tooltrail_formats::Format) -> &'static [&'static str]| {
            FORMATS.iter().flat_map(move |format| names(*format)).map(|word| regex::escape(word))
        };
        let saved = || words(|format| format.saved_marks());
        let composed = || words(|format| format.composed());
        let whole = all.iter().all(|runs| runs.words == runs.runs);
        let sure = |runs: &PatternRuns| runs.words.iter().all(|word| word.len() >= SHORTEST);
        let alone = whole || all.iter().all(|runs| sure(runs) || runs.words == runs.runs);
        let either = |choose: fn(&PatternRuns) -> &[String]| all.iter().map(move |runs| runs.expression(choose(runs)));
        let (own, runs): (Vec<String>, Option<Vec<String>>) = match () {
            () if whole => (either(|runs| &runs.words).collect(), None),
            () if alone => {
                let runs = either(|runs| &runs.runs).chain(saved()).chain(composed());
                (either(|runs| &runs.words).collect(), Some(runs.collect()))
            }
            () => (either(|runs| &runs.runs).chain(composed()).collect(), None),
        };
        let words: Vec<String> = own.iter().cloned().chain(saved()).collect();
        let build = |parts: &Vec<String>| RegexBuilder::new(&parts.join("|")).build().ok();
        let runs = match &runs {
            Some(runs) => Some(build(runs)?),
            None => None,
        };
        // In another case a character may take up to four bytes.
        let longest = all.iter().flat_map(|runs| &runs.runs).map(|run| run.chars().count()).max().unwrap_or(0);
        Some(RequiredBytes { words: build(&words)?, own: build(&own)?, runs, escapes: EscapeSet::of(all)?, reach: MARK + 4 * longest })
    }
}

/// The escapes by which a run may be spelled, as far as they matter: `\u001b` is frequent, and in no run.
#[derive(Debug)]
struct EscapeSet {
    /// The characters that one escape may spell, sorted.
    letters: Vec<u16>,
    /// Whether there is a character that takes two.
    pairs: bool,
}

impl EscapeSet {
    fn of(all: &[PatternRuns]) -> Option<Self> {
        // A string in a string may have its own escapes spelled by escapes.
        let mut letters: Vec<u16> = r"0123456789abcdefABCDEFuU\".encode_utf16().collect();
        let mut pairs = false;
        for (runs, letter) in all.iter().flat_map(|runs| runs.runs.iter().flat_map(|run| run.chars()).map(move |letter| (runs, letter))) {
            let mut spelled = ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]);
            if !runs.cased {
                spelled.try_case_fold_simple().ok()?;
            }
            for letter in spelled.iter().flat_map(|range| range.start()..=range.end()) {
                match u16::try_from(u32::from(letter)) {
                    Ok(letter) => letters.push(letter),
                    Err(_) => pairs = true,
                }
            }
        }
        letters.sort_unstable();
        letters.dedup();
        Some(EscapeSet { letters, pairs })
    }

    /// Whether any of them is there.
    fn are_in(&self, bytes: &[u8]) -> bool {
        memmem::find_iter(bytes, b"\\u").any(|at| {
            // What is cut off here is whole in the next piece, or nowhere.
            let Some(digits) = bytes.get(at + 2..at + 6) else { return false };
            if matches!(digits, [b'0', b'0', b'0' | b'1', _]) {
                return false;
            }
            let digit = |place: usize| digits.get(place).and_then(|&digit| char::from(digit).to_digit(16));
            let code = (0..4).try_fold(0, |code, place| Some(code << 4 | digit(place)?));
            // Where the digits themselves are spelled otherwise, they may be anything.
            match code.and_then(|code: u32| u16::try_from(code).ok()) {
                Some(code) => self.letters.binary_search(&code).is_ok() || (self.pairs && (0xd800..0xe000).contains(&code)),
                None => digit(0).is_some(),
            }
        })
    }
}

/// Runs of a text: every match contains at least one of them.
struct PatternRuns {
    /// Plain characters in a row.
    runs: Vec<String>,
    /// The longest word of each.
    words: Vec<String>,
    cased: bool,
}

impl PatternRuns {
    fn of(pattern: &Pattern) -> Option<Self> {
        let hir = ParserBuilder::new().multi_line(true).build().parse(pattern.expression()).ok()?;
        let runs = runs(&hir)?;
        let word = |run: &String| run.split([' ', '!']).max_by_key(|word| word.len()).unwrap_or_default().to_owned();
        Some(PatternRuns { words: runs.iter().map(word).collect(), runs, cased: pattern.is_cased() })
    }

    /// An expression for some of them. Where case does not count, any spelling of it.
    fn expression(&self, some: &[String]) -> String {
        let some: Vec<String> = some.iter().map(|run| regex::escape(run)).collect();
        format!("(?{}:{})", if self.cased { "" } else { "i" }, some.join("|"))
    }
}

/// A list of runs such that every match contains at least one; `None` if there is no such list.
fn runs(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(literal) => longest(std::str::from_utf8(&literal.0).ok()?).map(|run| vec![run.to_owned()]),
        HirKind::Capture(capture) => runs(&capture.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => runs(&repeated.sub),
        // Any part will do, so the one whose shortest run is longest, because it excludes the most.
        HirKind::Concat(parts) => parts.iter().filter_map(runs).max_by_key(|runs| (shortest(runs), std::cmp::Reverse(runs.len()))),
        // Every alternative must have a run: a match may be of any of them.
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
        assert!(!asked.may_match(br#"{"a":"as\u001bk, \u003cb\u003e \u00e9 \ud83e\udd80"}"#));
        assert!(filter("é").may_match(br"\u00C9") && filter("🦀").may_match(br"\ud83e\udd80") && filter("a<").may_match(br"\u003c"));
        let has = |text: &[u8]| asked.may_have(text, || false, &mut Vec::new()).unwrap();
        assert!(lines.iter().all(|line| has(line.as_bytes())) && !has(b"{}\n") && !has(b""));
        // Wherever a log is cut.
        for before in (CHUNK - 20..CHUNK + 2 * MARK + 20).chain([3 * CHUNK]) {
            assert!(!has(format!("{}\\u001b  \n", " ".repeat(before)).as_bytes()), "{before}");
            assert!(lines.iter().all(|line| has(format!("{}{line}\n", " ".repeat(before)).as_bytes())), "{before}");
        }
        let exact = filter("case:Ask");
        assert!(exact.may_match(b"Ask") && !exact.may_match(b"ask"));
        assert!(filter(r#""\"""#).is_open());
        assert!(filter(r"ask re:\d").is_open());
        // What was saved beside a log counts where something was; what stands in the log, always.
        let marked =
            |query: &str, saved: bool| filter(query).may_have(&br#"{"persistedOutputPath":"x"}"#[..], || saved, &mut Vec::new()).unwrap();
        assert!(marked("ask", true) && !marked("ask", false) && marked("path", false) && marked("OutputPath", false));
        let phrase = filter("\"run fast\"");
        let composed = br#"<command-name>/run</command-name><command-args>fast</command-args>"#;
        assert!(phrase.may_match(b"RUN FAST") && phrase.may_match(composed) && !phrase.may_match(b"run very fast"));
        assert!(filter("\"a b\"").may_match(b"<command-name>/a</command-name><command-args>b</command-args>"));
    }
}
