//! Alternatives: terms with `OR` between them. `OR` joins the terms beside it before all terms are required together:
//! `a OR b c` is one of `a` and `b`, and `c`.

use super::lex::{QueryWord, WordPart};
use super::mistake::Mistake;
use super::{Pattern, Spelling, Term, Test};
use std::ops::Range;

/// The word between alternatives. In any other case, and in quotes, it is a text.
pub(super) const OR: &str = "OR";

/// The terms of a query, with their positions.
pub(super) fn terms<'t>(
    query: &str,
    words: &'t [QueryWord],
    read: &dyn Fn(WordPart<'t>) -> Result<Term, Mistake>,
) -> Result<Vec<(Term, Range<usize>)>, Mistake> {
    let mut terms = Vec::new();
    let mut rest = words.iter().map(QueryWord::piece).peekable();
    while let Some(word) = rest.next() {
        if is_or(&word) {
            return Err(alone(query, &word));
        }
        let mut at = word.at.clone();
        let mut alternatives = vec![(read(word)?, at.clone())];
        while let Some(or) = rest.next_if(is_or) {
            let next = rest.next().filter(|next| !is_or(next)).ok_or_else(|| alone(query, &or))?;
            at.end = next.at.end;
            let place = next.at.clone();
            alternatives.push((read(next)?, place));
        }
        terms.push((joined(query, alternatives, &at)?, at));
    }
    Ok(terms)
}

fn is_or(word: &WordPart<'_>) -> bool {
    word.letters.iter().all(|letter| !letter.quoted) && word.text() == OR && word.at.len() == OR.len()
}

fn alone(query: &str, word: &WordPart<'_>) -> Mistake {
    let message = "`OR` stands between two terms; the word itself is written in quotes";
    Mistake::new(query, word.at.clone(), message).suggest("\"OR\"".to_owned())
}

/// One term that holds where any of several does.
fn joined(query: &str, mut alternatives: Vec<(Term, Range<usize>)>, at: &Range<usize>) -> Result<Term, Mistake> {
    if alternatives.len() == 1
        && let Some((term, _)) = alternatives.pop()
    {
        return Ok(term);
    }
    if let Some((_, place)) = alternatives.iter().find(|(term, _)| term.not) {
        return Err(Mistake::new(query, place.clone(), "`not:` cannot stand beside `OR`"));
    }
    let tests: Vec<Test> = alternatives.into_iter().map(|(term, _)| term.test).collect();
    let test = match merged(&tests) {
        Some(test) => test,
        None if tests.iter().all(|test| matches!(test, Test::Text(_))) => {
            text(&tests).map_err(|_| Mistake::new(query, at.clone(), "this is too long to look for"))?
        }
        None => Test::Any(tests),
    };
    Ok(Term { not: false, test })
}

/// Values of one key as a single test: `status:failed OR status:blocked` is `status:failed,blocked`.
fn merged(tests: &[Test]) -> Option<Test> {
    macro_rules! values {
        ($($kind:ident)*) => {
            match tests.first()? {
                $(Test::$kind(_) => {
                    let mut all = Vec::new();
                    for test in tests {
                        let Test::$kind(values) = test else { return None };
                        all.extend(values.iter().cloned());
                    }
                    Some(Test::$kind(all))
                })*
                Test::Since(_) | Test::Until(_) | Test::Text(_) | Test::Any(_) => None,
            }
        };
    }
    values!(Tool Server Kind Status Reason Agent Project Branch Model Session File Command Purpose Hook Exit Took Has Is)
}

/// Texts as a single expression, so that a search needs to look for one text only.
fn text(tests: &[Test]) -> Result<Test, regex::Error> {
    let patterns = || tests.iter().filter_map(|test| if let Test::Text(pattern) = test { Some(pattern) } else { None });
    let cased = patterns().any(Pattern::is_cased);
    let expression = |pattern: &Pattern| match (pattern.is_literal(), cased == pattern.is_cased()) {
        (true, true) => regex::escape(pattern.source()),
        // A flag in an expression would otherwise hold for those behind it too.
        (false, true) => format!("(?:{})", pattern.source()),
        (_, false) => format!("(?i:{})", pattern.expression()),
    };
    let source: Vec<String> = patterns().map(expression).collect();
    Ok(Test::Text(Pattern::new(&source.join("|"), Spelling { regex: true, cased })?))
}
