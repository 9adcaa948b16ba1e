//! Fitting rows into columns: wrapping at words or anywhere, cutting at the end or in the middle.

use super::paint::{PLAIN, StyledRow};
use unicode_width::UnicodeWidthChar;

/// Handling of a row that is too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// Continues in the next row, at a word boundary if there is one.
    Words,
    /// Continues in the next row, but no word is broken: paths must stay whole to be copied.
    Whole,
    /// Cut at the end.
    Cut,
}

/// Number of columns of a text. Where terminals disagree, the larger number: a row may end early, but never overflow.
pub(super) fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(letter).sum() }
}

fn letter(letter: char) -> usize {
    // This variation selector makes the character before it wider in some terminals.
    if letter == '\u{fe0f}' { 1 } else { letter.width().unwrap_or(0) }
}

/// A row as one or more that fit.
pub(super) fn fold(row: &StyledRow, width: usize, fold: Fold) -> Vec<StyledRow> {
    if row.columns() <= width {
        return vec![row.clone()];
    }
    match fold {
        Fold::Cut => vec![cut(row, width)],
        Fold::Words => wrap(row, width, true),
        Fold::Whole => wrap(row, width, false),
    }
}

/// Breaks a row at its spaces, and within words that are too long where that is allowed.
fn wrap(row: &StyledRow, width: usize, within: bool) -> Vec<StyledRow> {
    let mut rows = Vec::new();
    let (mut current, mut used) = (StyledRow::default(), 0);
    // Last position at which the current row can be broken: after a space that follows a word, as a piece and a byte of it.
    // Leading spaces are indentation and never a break.
    let (mut space, mut word): (Option<(usize, usize)>, bool) = (None, false);
    for piece in row.pieces() {
        for (at, c) in piece.text.char_indices() {
            // At least one character per row, or a narrow terminal would loop forever.
            if used + letter(c) > width && used > 0 && (within || c == ' ' || space.is_some()) {
                let tail = match space.take().filter(|_| c != ' ') {
                    Some((piece, byte)) => current.split_off(piece, byte),
                    None => StyledRow::default(),
                };
                used = tail.columns();
                rows.push(std::mem::replace(&mut current, tail));
                // A row does not begin with the space that it was broken at.
                if c == ' ' {
                    continue;
                }
            }
            current.push_letter(piece, c, at == 0 || current.pieces().is_empty());
            used += letter(c);
            word |= c != ' ';
            if c == ' ' && word {
                space = current.pieces().last().map(|last| (current.pieces().len() - 1, last.text.len()));
            }
        }
    }
    // An empty row stays one row.
    if !current.is_empty() || rows.is_empty() {
        rows.push(current);
    }
    rows
}

/// The beginning of a row, with a sign where more follows.
pub(super) fn cut(row: &StyledRow, width: usize) -> StyledRow {
    if row.columns() <= width {
        return row.clone();
    }
    let mut out = start(row, width.saturating_sub(1));
    out.push(PLAIN, "…");
    out
}

/// The beginning and the end of a row, because the end of a path matters most.
pub(super) fn cut_middle(row: &StyledRow, width: usize) -> StyledRow {
    if row.columns() <= width {
        return row.clone();
    }
    let rest = width.saturating_sub(1);
    // A third for the beginning: it shows where the path starts, the end which file it is.
    let head = rest / 3;
    let mut out = start(row, head);
    out.push(PLAIN, "…");
    let mut skip = row.columns().saturating_sub(rest - head);
    for piece in row.pieces() {
        let mut new = true;
        for c in piece.text.chars() {
            // A wide character may overshoot by a column; the row is then one column shorter.
            if skip > 0 {
                skip = skip.saturating_sub(letter(c));
            } else {
                out.push_letter(piece, c, std::mem::take(&mut new));
            }
        }
    }
    out
}

/// As much of the beginning of a row as fits.
fn start(row: &StyledRow, width: usize) -> StyledRow {
    let (mut out, mut used) = (StyledRow::default(), 0);
    for piece in row.pieces() {
        for (at, c) in piece.text.char_indices() {
            used += letter(c);
            if used > width {
                return out;
            }
            out.push_letter(piece, c, at == 0);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rows: &[StyledRow]) -> Vec<String> {
        rows.iter().map(|row| row.pieces().iter().map(|piece| piece.text.as_str()).collect()).collect()
    }

    #[test]
    fn rows_break_at_words() {
        let row = StyledRow::of(PLAIN, "the quick ").with(super::super::paint::BOLD, "brown fox").with(PLAIN, " jumps over");
        assert_eq!(texts(&fold(&row, 11, Fold::Words)), ["the quick ", "brown fox ", "jumps over"]);
        assert_eq!(texts(&fold(&StyledRow::of(PLAIN, "abcdefgh"), 3, Fold::Words)), ["abc", "def", "gh"]);
        assert_eq!(texts(&fold(&StyledRow::of(PLAIN, "  abcdefgh"), 6, Fold::Words)), ["  abcd", "efgh"]);
        assert_eq!(texts(&fold(&StyledRow::of(PLAIN, "日本語の文"), 5, Fold::Words)), ["日本", "語の", "文"]);
    }

    #[test]
    fn words_that_are_to_be_copied_stay_whole() {
        let row = StyledRow::of(PLAIN, "see /logs/a/long.jsonl:12 and go on");
        assert_eq!(texts(&fold(&row, 10, Fold::Whole)), ["see ", "/logs/a/long.jsonl:12", "and go on"]);
        assert_eq!(texts(&fold(&StyledRow::of(PLAIN, "abcdefgh"), 3, Fold::Whole)), ["abcdefgh"]);
    }

    #[test]
    fn rows_are_cut_where_they_tell_least() {
        let row = StyledRow::of(PLAIN, "/srv/orbit/src/parser/mod.rs");
        assert_eq!(texts(&[cut(&row, 10), cut_middle(&row, 16)]), ["/srv/orbi…", "/srv/…ser/mod.rs"]);
        assert_eq!(cut(&StyledRow::of(PLAIN, "日本語"), 4).columns(), 3);
    }

    #[test]
    fn no_row_is_wider_than_asked() {
        let row = StyledRow::of(PLAIN, "a 日本 ❤\u{fe0f} x").with(PLAIN, " words and  spaces   here");
        for width in 2..40 {
            for how in [Fold::Words, Fold::Cut] {
                assert!(fold(&row, width, how).iter().all(|row| row.columns() <= width), "{width} {how:?}");
            }
            assert!(cut_middle(&row, width).columns() <= width);
        }
    }
}
