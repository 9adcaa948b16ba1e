//! The look at raw bytes has no false negatives: whatever a text is, however JSON spells it, whatever is looked for, a line whose decoded
//! text has a match passes.

#![allow(clippy::unwrap_used)] // helpers of tests, where a panic is the report

mod support;

use proptest::prelude::*;
use serde_json::Value;
use support::{Term, filter, written};
use tooltrail_catalog::search::prefilter::Prefilter;
use tooltrail_formats::value;

/// Characters that are spelled in many ways, or have unusual cases, or are in many expressions.
const ODD: &[char] = &[
    'a', 'b', 'K', 'k', 's', 'S', 'ſ', '\u{212a}', 'ß', 'ẞ', 'é', 'É', 'ı', 'İ', '漢', '字', '🦀', '"', '\\', '/', '\n', '\t', '\r', ' ',
    '\u{1b}', '\u{7f}', '\u{fffd}', '.', '(', '[', '$', '^', '|', '*', 'u', '0', '4', '1', ':', ',', '{', '}', '\u{feff}', '\u{2028}',
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(ODD), 1..24).prop_map(String::from_iter)
}

/// How JSON may spell a text: each character as it is, with its letter, or as `\uXXXX` in either case.
fn spelled(text: &str, choices: &[u8]) -> String {
    let mut out = String::from("\"");
    for (c, choice) in text.chars().zip(choices.iter().cycle()) {
        let short = match c {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '/' => Some("\\/"),
            '\n' => Some("\\n"),
            '\t' => Some("\\t"),
            '\r' => Some("\\r"),
            _ => None,
        };
        let must = c < ' ' || matches!(c, '"' | '\\');
        let units = |upper: bool| -> String {
            let spell = |unit: &u16| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
            c.encode_utf16(&mut [0; 2]).iter().map(spell).collect()
        };
        match (choice % 6, short) {
            // Half of a pair of surrogates reads as what stands for broken text.
            (2, None) if c == '\u{fffd}' => out.push_str("\\ud800"),
            (0, _) => out.push_str(&units(false)),
            (1, _) => out.push_str(&units(true)),
            (2, Some(short)) => out.push_str(short),
            (_, Some(short)) if must => out.push_str(short),
            _ if must => out.push_str(&units(false)),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// An expression made of pieces of a text, with other parts of expressions between them.
fn pattern() -> impl Strategy<Value = Vec<(u8, usize, usize)>> {
    prop::collection::vec((0..14u8, 0..24usize, 1..6usize), 1..5)
}

fn expression(text: &str, parts: &[(u8, usize, usize)]) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut next = None;
    for &(kind, start, length) in parts {
        let start = next.unwrap_or(start).min(chars.len());
        let end = (start + length).min(chars.len());
        next = Some(end);
        let piece = regex::escape(&String::from_iter(&chars[start..end]));
        out.push_str(&match kind {
            0..5 => piece,
            5 => piece.to_uppercase().replace("\\N", "\\n"),
            6 => format!("(?:{piece})?"),
            7 => format!("({piece}|zzz)"),
            8 => format!("(?:{piece})+"),
            9 => format!("{piece}\\s*"),
            10 => format!("^{piece}"),
            11 => format!("{piece}$"),
            12 => format!("(?s:.*){piece}"),
            _ => format!("(?:{piece}|\\w)"),
        });
    }
    out
}

fn prefilter(terms: &[Term]) -> Prefilter {
    Prefilter::new(filter(&written(terms)).texts().map(|(_, pattern)| pattern))
}

/// Whether the line passes if its decoded text has a match.
fn holds(line: &str, decoded: &str, terms: &[Term]) -> Result<bool, TestCaseError> {
    let mut matched = false;
    for term in terms {
        let Ok(regex) = term.compiled() else { return Ok(false) };
        matched |= regex.is_match(decoded);
    }
    prop_assert!(!matched || prefilter(terms).may_match(line.as_bytes()), "{line} reads {decoded:?} and has {terms:?}");
    Ok(matched)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn texts_are_found_in_every_spelling(
        text in text(), choices in prop::collection::vec(any::<u8>(), 1..40), outer in prop::collection::vec(any::<u8>(), 1..40),
        start in 0..24usize, length in 1..8usize, upper in any::<bool>(), case in any::<bool>(),
    ) {
        let line = spelled(&text, &choices);
        prop_assert_eq!(value::read(line.as_bytes()), Value::String(text.clone()));
        // JSON in a string of JSON, as some agents write arguments.
        let nested = spelled(&line, &outer);
        prop_assert_eq!(value::read(nested.as_bytes()), Value::String(line.clone()));
        let piece: String = text.chars().skip(start).take(length).collect();
        let wanted = if upper { piece.to_uppercase() } else { piece };
        if !wanted.is_empty() {
            let terms = [Term::text(wanted).cased(case)];
            let found = holds(&line, &text, &terms)?;
            prop_assert_eq!(found, holds(&nested, &text, &terms)?);
        }
    }

    #[test]
    fn expressions_are_found_in_every_spelling(
        text in text(), choices in prop::collection::vec(any::<u8>(), 1..40), parts in pattern(), case in any::<bool>(), other in text(),
    ) {
        let line = spelled(&text, &choices);
        let pattern = expression(&text, &parts);
        if !pattern.is_empty() {
            holds(&line, &text, &[Term::regex(pattern.clone()).cased(case)])?;
            holds(&line, &text, &[Term::text(other), Term::regex(pattern).cased(case)])?;
        }
    }
}

#[test]
fn what_is_not_there_mostly_does_not_pass() {
    let line = br#"{"type":"user","message":{"content":"a \u001b[31mred\u001b[0m line\nand another"}}"#;
    for absent in ["needle", "re d", "漢字", "src/lib.rs"] {
        assert!(!prefilter(&[Term::text(absent)]).may_match(line), "{absent}");
    }
    assert!(prefilter(&[Term::text("ANOTHER")]).may_match(line));
}
