//! Mistakes in a query: position, message, and suggestion.

use std::fmt;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// A part of a query that has no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The query.
    pub query: String,
    /// The wrong part, in bytes.
    pub at: Range<usize>,
    /// Message.
    pub message: String,
    /// Suggested replacement.
    pub suggestion: Option<String>,
}

impl Mistake {
    /// A mistake at a place of a query.
    pub(super) fn new(query: &str, at: Range<usize>, message: impl Into<String>) -> Self {
        let start = query.floor_char_boundary(at.start);
        let end = query.ceil_char_boundary(at.end.min(query.len()).max(start));
        Mistake { query: query.to_owned(), at: start..end, message: message.into(), suggestion: None }
    }

    /// Adds a suggestion, if there is one.
    pub(super) fn suggest(self, suggestion: impl Into<Option<String>>) -> Self {
        Mistake { suggestion: suggestion.into(), ..self }
    }
}

impl std::error::Error for Mistake {}

/// The message, and below it the query with the mistake underlined.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", shown(&self.message))?;
        if let Some(suggestion) = &self.suggestion {
            write!(f, "; did you mean `{}`?", shown(suggestion))?;
        }
        let before = self.query.get(..self.at.start).unwrap_or_default();
        let wrong = self.query.get(self.at.clone()).unwrap_or_default();
        // At least one caret, also at the end of the query.
        let carets = "^".repeat(width(wrong).max(1));
        write!(f, "\n  {}\n  {}{carets}", shown(&self.query), " ".repeat(width(before)))
    }
}

/// A text on one line that cannot act on a terminal: control and invisible characters become spaces.
fn shown(text: &str) -> String {
    text.chars().map(visible).collect()
}

fn visible(sign: char) -> char {
    if sign.is_control() || sign.width().unwrap_or(0) == 0 || matches!(sign, '\u{2028}' | '\u{2029}') { ' ' } else { sign }
}

/// Number of terminal columns of a text as shown.
fn width(text: &str) -> usize {
    text.chars().map(|sign| visible(sign).width().unwrap_or(1)).sum()
}

/// The word that was probably meant: the most similar one, if it is similar enough.
pub(super) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(40).collect();
    // Longer words may contain more mistakes.
    let far = (word.len() / 3).clamp(1, 3);
    let text: String = word.iter().collect();
    // `fail` for `failed`, `testing` for `test`.
    let begins = |other: &str| text.len().min(other.len()) >= 3 && (other.starts_with(&text) || text.starts_with(other));
    let near = |other: &'a str| {
        let away = if begins(other) { 0 } else { distance(&word, &other.chars().collect::<Vec<_>>()) };
        (away <= far).then_some((away, other))
    };
    words.into_iter().filter_map(near).min_by_key(|(away, _)| *away).map(|(_, other)| other)
}

/// Number of characters to insert, delete, replace or swap to turn one word into another.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, against) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != against);
            let mut least = replaced.min(last[column + 1] + 1).min(line[column] + 1);
            let swapped = row > 0 && column > 0 && letter == &other[column - 1] && &one[row - 1] == against;
            if swapped {
                // Two neighbours that are swapped count as one mistake, which is the most common typo.
                least = least.min(before[column - 1] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut last, line);
    }
    last.last().copied().unwrap_or(0)
}
