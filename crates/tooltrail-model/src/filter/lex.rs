//! Splits a query into words. Spaces separate words, except inside double quotes; inside those everything is literal, and
//! only `\"` is an escape.

use super::mistake::Mistake;
use std::ops::Range;

/// A character of a query.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    /// The character it stands for.
    pub(super) sign: char,
    /// Its position in the query.
    pub(super) at: Range<usize>,
    /// Whether it stands in quotes, and means only itself.
    pub(super) quoted: bool,
}

/// A word, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct WordPart<'t> {
    /// Its characters, without quotes.
    pub(super) letters: &'t [Letter],
    /// Its position in the query.
    pub(super) at: Range<usize>,
}

impl<'t> WordPart<'t> {
    /// Its text.
    pub(super) fn text(&self) -> String {
        self.letters.iter().map(|letter| letter.sign).collect()
    }

    /// Whether a sign stands at a position, outside of quotes.
    pub(super) fn has(&self, place: usize, sign: char) -> bool {
        self.letters.get(place).is_some_and(|letter| letter.sign == sign && !letter.quoted)
    }

    /// All but the first characters.
    pub(super) fn from(&self, place: usize) -> WordPart<'t> {
        let letters = self.letters.get(place..).unwrap_or_default();
        // Right behind the last character left out, so that a quote between the two belongs to the rest.
        let end = place.checked_sub(1).and_then(|last| self.letters.get(last)).map_or(self.at.start, |letter| letter.at.end);
        WordPart { letters, at: end..self.at.end }
    }

    /// The first characters.
    pub(super) fn to(&self, place: usize) -> WordPart<'t> {
        let letters = self.letters.get(..place).unwrap_or(self.letters);
        let end = letters.last().map_or(self.at.start, |letter| letter.at.end);
        WordPart { letters, at: self.at.start..end }
    }

    /// Parts between the commas that are not in quotes.
    pub(super) fn alternatives(&self) -> Vec<WordPart<'t>> {
        let mut pieces = Vec::new();
        let mut rest = self.clone();
        while let Some(comma) = (0..rest.letters.len()).find(|&place| rest.has(place, ',')) {
            // A closing quote stands between the last character and the comma.
            let end = rest.letters.get(comma).map_or(rest.at.end, |letter| letter.at.start);
            pieces.push(WordPart { at: rest.at.start..end, ..rest.to(comma) });
            rest = rest.from(comma + 1);
        }
        pieces.push(rest);
        pieces
    }
}

/// A word of a query.
#[derive(Clone, Debug)]
pub(super) struct QueryWord {
    letters: Vec<Letter>,
    at: Range<usize>,
}

impl QueryWord {
    /// All of it.
    pub(super) fn piece(&self) -> WordPart<'_> {
        WordPart { letters: &self.letters, at: self.at.clone() }
    }
}

/// The words of a query.
pub(super) fn words(query: &str) -> Result<Vec<QueryWord>, Mistake> {
    let mut words: Vec<QueryWord> = Vec::new();
    let mut word: Option<QueryWord> = None;
    let mut open: Option<usize> = None;
    let mut letters = query.char_indices().peekable();
    while let Some((start, sign)) = letters.next() {
        let mut end = start + sign.len_utf8();
        if open.is_none() && sign.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        // A quote starts a word even if nothing is inside: `""` is an empty word, not a space.
        let current = word.get_or_insert_with(|| QueryWord { letters: Vec::new(), at: start..end });
        match sign {
            '"' => open = if open.is_some() { None } else { Some(start) },
            // Outside of quotes a backslash is only itself: paths of Windows are full of them.
            '\\' if open.is_some() && letters.next_if(|(_, next)| *next == '"').is_some() => {
                end += 1;
                current.letters.push(Letter { sign: '"', at: start..end, quoted: true });
            }
            sign => current.letters.push(Letter { sign, at: start..end, quoted: open.is_some() }),
        }
        current.at.end = end;
    }
    if let Some(start) = open {
        return Err(Mistake::new(query, start..query.len(), "this quote is not closed"));
    }
    words.extend(word);
    Ok(words)
}
