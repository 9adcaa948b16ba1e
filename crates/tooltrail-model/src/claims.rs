//! Claims: sentences in which an answer says that tests, a build or a linter pass.
//!
//! Only phrases of the tables below count, and only as a plain statement about all of it: a negation, a condition, a question, a part
//! ("the new tests pass") or an answer that admits a failure is no claim. It is better to miss a claim than to accuse an agent of one.
//! docs/verdict.md documents the tables. What a claim is worth is decided by [`session_verdict`](crate::session_verdict).

mod phrases;
mod words;

use phrases::{
    ADMISSIONS, CONDITIONS, ClaimPhrase, FILLERS, LINKS, MENDED, NEGATIONS, PARTS, PHRASES, STARTS, TIMES, WHOLES, entries, lists,
};
use serde::{Deserialize, Serialize};
use words::{ClaimWord, sentences};

/// The most bytes of an answer that are searched.
const LONGEST: usize = 256 * 1024;

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimSubject {
    /// Tests.
    Test,
    /// The build.
    Build,
    /// Linters and type checkers.
    Lint,
    /// All checks there are.
    Checks,
}

/// Words of an answer that claim success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// What they are about.
    pub about: ClaimSubject,
    /// The words, as written.
    pub text: String,
}

/// The claims in an answer, the first about each subject.
pub fn find(answer: &str) -> Vec<Claim> {
    let end = answer.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST).unwrap_or(answer.len());
    let answer = answer.get(..end).unwrap_or_default();
    let sentences = sentences(answer);
    let mut claims: Vec<Claim> = Vec::new();
    for sentence in &sentences {
        let Some((about, text)) = claim(&sentence.words, sentence.asks) else { continue };
        let text = quoted(answer, text).trim();
        if !text.is_empty() && !claims.iter().any(|known| known.about == about) {
            claims.push(Claim { about, text: text.to_owned() });
        }
    }
    // An answer that names what still fails claims nothing about the same thing.
    claims.retain(|claim| !sentences.iter().any(|sentence| admits(&sentence.words, claim.about)));
    claims
}

/// A part of an answer, with the backtick that begins or ends a command in it.
fn quoted(answer: &str, std::ops::Range { start, end }: std::ops::Range<usize>) -> &str {
    let text = answer.get(start..end).unwrap_or_default();
    if text.matches('`').count() % 2 == 0 {
        return text;
    }
    let before = start.checked_sub(1).and_then(|start| answer.get(start..end)).filter(|text| text.starts_with('`'));
    before.or_else(|| answer.get(start..end + 1).filter(|text| text.ends_with('`'))).unwrap_or(text)
}

/// The claim of a sentence: its subject, and the place of its words.
fn claim(words: &[ClaimWord], asks: bool) -> Option<(ClaimSubject, std::ops::Range<usize>)> {
    if asks || words.iter().any(ClaimWord::is_partial) {
        return None;
    }
    // A phrase that is denied or about a part may stand beside one that is not.
    let places = PHRASES.iter().flat_map(|phrase| (0..words.len()).map(move |at| (phrase, at)));
    let mut found = places.filter_map(|(phrase, at)| Some((phrase, matched(phrase, words, at)?)));
    found.find_map(|(phrase, (begin, end))| Some((phrase.about, stated(phrase, words, begin, end)?)))
}

/// The place of the words of a claim whose subject begins at `begin` and whose predicate ends at `end`, if it is plainly stated.
fn stated(phrase: &ClaimPhrase, words: &[ClaimWord], begin: usize, end: usize) -> Option<std::ops::Range<usize>> {
    let before = words.get(..begin)?;
    let clause = before.iter().rposition(|word| word.ends_clause).map_or(0, |at| at + 1);
    let (lead, rest) = (before.get(clause..)?, words.get(end..).unwrap_or_default());
    let has = |list: &'static str, words: &[ClaimWord]| words.iter().any(|word| lists(list, &word.text));
    let moved = has(TIMES, lead) || words.first().is_some_and(|first| lists(STARTS, &first.text));
    let doubted = has(CONDITIONS, before) || has(CONDITIONS, rest) || rest.first().is_some_and(|next| lists(PARTS, &next.text));
    if moved || doubted || denies(words.get(clause..)?) {
        return None;
    }
    // Words for the whole may stand before the subject, and nothing else: "the new tests pass" is about some of them.
    let whole = |word: &&ClaimWord| lists(WHOLES, &word.text) || word.is_number();
    // Counted backwards from the subject, because they may follow anything that begins a clause.
    let wholes = lead.iter().rev().take_while(whole).count();
    let opens = begin - wholes;
    if lead.len() > wholes && !lead.get(lead.len() - wholes - 1).is_some_and(|word| lists(LINKS, &word.text)) {
        return None;
    }
    // A number of checks may be of any kind.
    let named = words.get(opens..begin)?;
    if phrase.about == ClaimSubject::Checks && words.get(begin)?.text == "checks" && !named.iter().any(|word| word.text == "all") {
        return None;
    }
    Some(words.get(opens)?.start..words.get(end.checked_sub(1)?)?.end)
}

/// The place of a phrase in a sentence, if its subject begins at `at`: from the subject to behind the predicate.
fn matched(phrase: &ClaimPhrase, words: &[ClaimWord], at: usize) -> Option<(usize, usize)> {
    let here = |place: usize, text: &str| {
        let wanted = text.split(' ');
        let count = wanted.clone().count();
        let own = words.get(place..place + count)?;
        // A command in code is meant as a whole: `cargo test -p one` is about a part.
        let around = [place.checked_sub(1).and_then(|at| words.get(at)), words.get(place + count)];
        let part = |word: &&ClaimWord| word.code.is_some() && own.iter().any(|own| own.code == word.code);
        let same = wanted.zip(own).all(|(wanted, word)| word.text == wanted);
        (same && !around.iter().flatten().any(part)).then_some(count)
    };
    let longest = |place: usize, list: &'static str| entries(list).filter_map(|text| here(place, text)).max();
    let behind = at + longest(at, phrase.subjects)?;
    // At most a few words stand between the two.
    let filler = |word: &ClaimWord| lists(FILLERS, &word.text) || word.is_number();
    let fillers = words.get(behind..)?.iter().take(5).take_while(|word| filler(word)).count();
    (behind..=behind + fillers).find_map(|place| Some((at, place + longest(place, phrase.predicates)?)))
}

/// Whether words deny success. "No errors" and "without warnings" do not.
fn denies(words: &[ClaimWord]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let harmless = matches!(word.text.as_str(), "no" | "without" | "zero" | "any")
            && words.get(at + 1..).unwrap_or_default().iter().take(2).any(|next| lists(phrases::HARMS, &next.text));
        let counted = lists(phrases::HARMS, &word.text)
            && words
                .get(at.saturating_sub(2)..at)
                .unwrap_or_default()
                .iter()
                .any(|before| matches!(before.text.as_str(), "no" | "without" | "zero" | "0" | "any"));
        !harmless && !counted && (lists(NEGATIONS, &word.text) || word.text.ends_with("n't"))
    })
}

/// Whether a sentence says that something of this kind still fails or did not run.
fn admits(words: &[ClaimWord], about: ClaimSubject) -> bool {
    let has = |list: &'static str| words.iter().any(|word| lists(list, &word.text));
    let subjects = PHRASES.iter().filter(|phrase| phrase.about == about || about == ClaimSubject::Checks);
    let named = subjects
        .flat_map(|phrase| entries(phrase.subjects))
        .any(|subject| words.iter().any(|word| subject.trim_end_matches('s') == word.text.trim_end_matches('s')));
    let pairs = || {
        words.windows(2).map(|pair| format!("{} {}", pair.first().map_or("", |word| &word.text), pair.last().map_or("", |word| &word.text)))
    };
    let fails = has(ADMISSIONS) || pairs().any(|pair| lists(ADMISSIONS, &pair));
    named && fails && !has(MENDED)
}

#[cfg(test)]
mod tests;
