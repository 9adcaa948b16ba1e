//! Search against the slow way, on real logs: two hundred queries taken from the decoded text itself must find exactly the same calls and
//! messages.
//!
//! The logs lie in `shared/corpus` beside the repository and are other people's words, so nothing of them is kept here. Where they are
//! not at hand the test says so and passes.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, where a panic is the report

mod brute;
mod same;
#[path = "../support/mod.rs"]
mod support;

use brute::{Decoded, Thing};
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use support::{Term, written};
use tooltrail_catalog::library::{Library, ScannedLibrary};
use tooltrail_catalog::search::{Field, HitOwner, Query, search};
use tooltrail_formats::disk::Disk;
use tooltrail_formats::find;
use tooltrail_formats::scan::{self, Options, Progress};

/// How many queries are asked.
const QUERIES: usize = 200;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % below.max(1)
    }

    fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.roll(all.len())]
    }
}

/// What was asked.
#[derive(Debug)]
struct Asked {
    terms: Vec<Term>,
    fields: Vec<Field>,
}

/// A piece of a text: so many characters from a place that the dice choose.
fn piece(dice: &mut Dice, text: &str, longest: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    let start = dice.roll(chars.len());
    chars[start..].iter().take(2 + dice.roll(longest)).collect()
}

/// A piece around the first character of a kind.
fn around(dice: &mut Dice, texts: &[&str], odd: impl Fn(char) -> bool) -> Option<String> {
    let (start, offset) = (dice.roll(texts.len()), 1 + dice.roll(6));
    let text = texts.iter().cycle().skip(start).take(texts.len()).find(|text| text.contains(&odd))?;
    let chars: Vec<char> = text.chars().collect();
    let all: Vec<usize> = (0..chars.len()).filter(|&at| odd(chars[at])).collect();
    let at = *dice.pick(&all);
    Some(chars[at.saturating_sub(offset)..].iter().take(offset + 1 + dice.roll(8)).collect())
}

fn word(dice: &mut Dice, text: &str) -> String {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).collect();
    if words.is_empty() { text.chars().take(3).collect() } else { (*dice.pick(&words)).to_owned() }
}

/// Turns the case of about half of the letters.
fn turned(dice: &mut Dice, text: &str) -> String {
    text.chars().map(|c| if dice.roll(2) == 0 { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect()
}

/// A piece as an expression: white space as `\s+`, the ends of a line as anchors.
fn expression(dice: &mut Dice, text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let line = if lines.is_empty() { text } else { *dice.pick(&lines) };
    match dice.roll(6) {
        0 => format!("^{}", regex::escape(&line.chars().take(12).collect::<String>())),
        1 => format!("{}$", regex::escape(&line.chars().rev().take(10).collect::<Vec<_>>().into_iter().rev().collect::<String>())),
        2 => {
            let words: Vec<String> = piece(dice, text, 30).split_whitespace().map(regex::escape).collect();
            words.join(r"\s+")
        }
        3 => format!(r"\b{}\w*\s", regex::escape(&word(dice, text))),
        4 => format!(r"({}|{})\d?", regex::escape(&word(dice, text)), regex::escape(&word(dice, line))),
        _ => format!(r"^\s*{}.*\n", regex::escape(&word(dice, line))),
    }
}

fn asked(dice: &mut Dice, number: usize, units: &[Vec<&str>], all: &[&str]) -> Asked {
    let unit = dice.pick(units);
    let text = *dice.pick(unit);
    let cjk = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    let emoji = |c: char| matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}');
    let or_piece = |dice: &mut Dice, found: Option<String>| found.unwrap_or_else(|| piece(dice, text, 20));
    let terms = match number % 14 {
        0 | 1 => vec![Term::text(word(dice, text))],
        2 => {
            let word = word(dice, text);
            vec![Term::text(turned(dice, &word))]
        }
        // Words of one call or message, from wherever in it.
        3 | 4 => {
            let other = *dice.pick(unit);
            vec![Term::text(word(dice, text)), Term::text(word(dice, other))]
        }
        5 => vec![Term::text(piece(dice, text, 40))],
        6 => vec![Term::text(piece(dice, text, 12)).cased(true)],
        7..=9 => vec![Term::regex(expression(dice, text)).cased(dice.roll(3) == 0)],
        10 => {
            let found = around(dice, all, cjk);
            vec![Term::text(or_piece(dice, found))]
        }
        11 => {
            let found = around(dice, all, emoji);
            vec![Term::text(or_piece(dice, found))]
        }
        12 => {
            let found = around(dice, all, |c| matches!(c, '"' | '\\' | '\u{1b}'));
            vec![Term::text(or_piece(dice, found))]
        }
        _ => {
            let found = around(dice, all, |c| c == '\n' || c == '\t');
            vec![Term::text(or_piece(dice, found))]
        }
    };
    let fields = if dice.roll(4) == 0 { vec![*dice.pick(Field::ALL)] } else { Vec::new() };
    Asked { terms, fields }
}

/// What a search finds: the things, and the ids of calls.
fn found(library: &dyn Library, asked: &Asked) -> (BTreeSet<Thing>, HashSet<String>) {
    let query = Query::new(support::filter(&written(&asked.terms)), &asked.fields);
    let (mut things, mut ids) = (BTreeSet::new(), HashSet::new());
    let mut hits = 0;
    let totals = search(library, &query, &support::later(), 2, |page| {
        hits += page.len() as u64;
        for hit in &page {
            ids.extend(hit.call.clone());
            assert!(!hit.matches.is_empty(), "{asked:?}: {hit:?}");
            things.insert(match hit.unit {
                HitOwner::Call(_) => Thing::Call(hit.r#ref.clone()),
                HitOwner::Message(spot) => Thing::Message(hit.file.clone(), spot.at.line, spot.at.span.start),
            });
        }
        ControlFlow::Continue(())
    });
    let totals = totals.unwrap();
    assert_eq!((totals.hits, totals.calls + totals.messages), (hits, things.len() as u64), "{asked:?}");
    (things, ids)
}

#[test]
fn search_finds_exactly_what_there_is() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real");
    if !root.is_dir() {
        println!("no real logs at {}: nothing compared", root.display());
        return;
    }
    let (linker, _) = scan::scan(&find::in_paths(&[root]).files, &Options::default(), &Progress::default());
    let disk = Disk::default();
    let library = ScannedLibrary::new(linker.clone(), &disk, None);
    let linked = linker.link();
    let decoded = Decoded::read(&linked);
    let (units, all) = (decoded.units(), decoded.texts());
    println!(
        "{} calls, {} messages, {} texts of {} bytes",
        decoded.calls.len(),
        decoded.messages.len(),
        all.len(),
        all.iter().map(|text| text.len()).sum::<usize>()
    );
    let mut dice = Dice(6);
    let asked: Vec<Asked> = (0..QUERIES).map(|number| asked(&mut dice, number, &units, &all)).collect();
    let asked: Vec<Asked> = asked.into_iter().filter(|asked| asked.terms.iter().all(|term| !term.text.is_empty())).collect();
    let (mut slow, mut fast) = (std::time::Duration::ZERO, std::time::Duration::ZERO);
    let plain = brute::plain(&linked);
    let mut total = 0;
    for asked in &asked {
        let start = std::time::Instant::now();
        let (real, ids) = found(&library, asked);
        fast += start.elapsed();
        let start = std::time::Instant::now();
        let expected = decoded.search(&asked.terms, &asked.fields);
        slow += start.elapsed();
        let (missed, extra): (Vec<_>, Vec<_>) = (expected.difference(&real).collect(), real.difference(&expected).collect());
        assert!(missed.is_empty() && extra.is_empty(), "{asked:?}: missed {missed:?}, too much {extra:?}");
        total += expected.len();
        if let ([term], []) = (&asked.terms[..], &asked.fields[..]) {
            let term = term.compiled().unwrap();
            let lost: Vec<&str> = plain.iter().filter(|(id, text)| !ids.contains(id) && term.is_match(text)).map(|(id, _)| &**id).collect();
            assert!(lost.is_empty(), "{asked:?}: calls {lost:?} have it");
        }
    }
    println!("{} queries, {total} calls and messages found; {fast:.1?}, the slow way {slow:.1?}", asked.len());
    assert!(asked.len() > QUERIES * 9 / 10 && total > asked.len());
}
