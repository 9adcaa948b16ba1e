//! Changed words: removed lines are paired with the most similar added lines, and the differences are marked.

use crate::block::DiffSign;
use crate::line::{Class, Line};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Longest line in which words are marked.
const LONGEST: usize = 1_000;
/// Largest group of changed lines in which pairs are searched.
const GROUP: usize = 48;
/// Least similarity of a pair, in percent of shared characters.
const ALIKE: usize = 40;

/// Budget for comparisons. It is counted in bytes, not in time, so that the same diff always looks the same.
pub(super) struct Effort {
    left: usize,
    /// Deadline for cases that counting did not foresee.
    end: Instant,
}

impl Effort {
    /// Budget of one diff.
    pub(super) fn new() -> Self {
        Effort { left: 16 << 20, end: Instant::now() + Duration::from_secs(5) }
    }

    /// Subtracts the cost of comparing every line of a group with every other; `false` where that exceeds the budget.
    fn spend(&mut self, lines: &[(DiffSign, &str)], removed: &Range<usize>, added: &Range<usize>) -> bool {
        let bytes =
            |range: &Range<usize>| lines.get(range.clone()).unwrap_or_default().iter().map(|line| line.1.len().min(LONGEST)).sum::<usize>();
        let cost = bytes(removed) * added.len() + bytes(added) * removed.len();
        let left = self.left.checked_sub(cost).filter(|_| removed.len() <= GROUP && added.len() <= GROUP);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

/// The lines of a hunk, with the words that changed marked.
pub(super) fn marked(lines: &[(DiffSign, &str)], effort: &mut Effort) -> Vec<Line> {
    let mut out: Vec<Line> = lines.iter().map(|(_, text)| Line::from(*text)).collect();
    for (removed, added) in groups(lines) {
        // A group that is too expensive is shown without marks.
        if !effort.spend(lines, &removed, &added) {
            continue;
        }
        for (old, new) in pairs(lines, removed, added) {
            let Some(((_, before), (_, after))) = lines.get(old).zip(lines.get(new)) else { continue };
            let (before, after) = mark(before, after, effort.end);
            for (place, line) in [(old, before), (new, after)] {
                if let Some(slot) = out.get_mut(place) {
                    *slot = line;
                }
            }
        }
    }
    out
}

/// Runs of removed lines that are directly followed by added ones, as index ranges.
fn groups(lines: &[(DiffSign, &str)]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut runs = Vec::new();
    let mut from = 0;
    for run in lines.chunk_by(|one, next| one.0 == next.0) {
        runs.push((run.first().map(|line| line.0), from..from + run.len()));
        from += run.len();
    }
    let pairs = runs.windows(2).filter_map(|pair| match pair {
        [(Some(DiffSign::Removed), removed), (Some(DiffSign::Added), added)] => Some((removed.clone(), added.clone())),
        _ => None,
    });
    pairs.collect()
}

/// The most similar added line for each removed line, in order. Pairs do not cross.
fn pairs(lines: &[(DiffSign, &str)], removed: Range<usize>, added: Range<usize>) -> Vec<(usize, usize)> {
    let text = |place: usize| lines.get(place).map_or("", |line| line.1);
    let mut out = Vec::new();
    let mut from = added.start;
    for old in removed {
        let likes = (from..added.end).map(|new| (alike(text(old), text(new)), new));
        // Of two that are equally similar, the nearer one.
        let best = likes.reduce(|best, next| if next.0 > best.0 { next } else { best });
        if let Some((_, new)) = best.filter(|(alike, _)| *alike >= ALIKE) {
            out.push((old, new));
            // Later lines may only pair with later ones: marks that cross would be unreadable.
            from = new + 1;
        }
    }
    out
}

/// Similarity of two lines in percent of shared characters, word by word. Whitespace does not count.
fn alike(old: &str, new: &str) -> usize {
    if old.len() > LONGEST || new.len() > LONGEST {
        return 0;
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    let words = |text| pieces(text).into_iter().filter(|word: &&str| !word.trim().is_empty());
    for word in words(old) {
        *left.entry(word).or_default() += 1;
    }
    let mut shared = 0;
    for word in words(new) {
        // Each word is matched once, as often as it occurs.
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            shared += 2 * word.len();
        }
    }
    let total: usize = words(old).chain(words(new)).map(str::len).sum();
    shared * 100 / total.max(1)
}

/// Both lines with their differences marked.
fn mark(old: &str, new: &str, end: Instant) -> (Line, Line) {
    let (before, after) = (pieces(old), pieces(new));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(end));
    let (mut left, mut right) = (Line::default(), Line::default());
    for op in ops {
        let same = matches!(op, DiffOp::Equal { .. });
        let text = |pieces: &[&str], range: Range<usize>| pieces.get(range).unwrap_or_default().concat();
        left.push(if same { Class::Plain } else { Class::Deleted }, &text(&before, op.old_range()));
        right.push(if same { Class::Plain } else { Class::Inserted }, &text(&after, op.new_range()));
    }
    (left, right)
}

/// A line split into words, runs of whitespace, and single signs.
fn pieces(text: &str) -> Vec<&str> {
    let kind = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter == '_' => 'w',
        // A carriage return counts as a sign, so that changed line endings are visible.
        letter if letter.is_whitespace() && letter != '\r' => ' ',
        _ => '.',
    };
    let mut out = Vec::new();
    let mut from = 0;
    let mut last = None;
    for (at, letter) in text.char_indices() {
        let now = kind(letter);
        // Signs are never joined: `((` may change to `(`.
        if last.is_some_and(|last| last != now || now == '.') {
            out.extend(text.get(from..at));
            from = at;
        }
        last = Some(now);
    }
    out.extend(text.get(from..).filter(|rest| !rest.is_empty()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(lines: &[(DiffSign, &str)]) -> Vec<String> {
        let lines = marked(lines, &mut Effort::new());
        let run = |run: &crate::TextRun| if run.class == Class::Plain { run.text().to_owned() } else { format!("[{}]", run.text()) };
        lines.iter().map(|line| line.runs().iter().map(run).collect()).collect()
    }

    #[test]
    fn lines_find_their_like() {
        let lines = [
            (DiffSign::Removed, "let total = sum(items);"),
            (DiffSign::Added, "// A new remark."),
            (DiffSign::Added, "let total = sum(items, tax);"),
            (DiffSign::Same, "}"),
        ];
        assert_eq!(drawn(&lines), ["let total = sum(items);", "// A new remark.", "let total = sum(items[, tax]);", "}"]);
    }

    #[test]
    fn what_is_another_line_is_not_marked() {
        assert_eq!(drawn(&[(DiffSign::Removed, "return 1;"), (DiffSign::Added, "while other() {")]), ["return 1;", "while other() {"]);
        let long = "x ".repeat(2_000);
        assert_eq!(drawn(&[(DiffSign::Removed, &long), (DiffSign::Added, &long)]), [long.clone(), long.clone()]);
        assert_eq!(drawn(&[(DiffSign::Added, "a"), (DiffSign::Removed, "a")]), ["a", "a"]);
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(pieces("fn a_b(x) {"), ["fn", " ", "a_b", "(", "x", ")", " ", "{"]);
        assert_eq!(drawn(&[(DiffSign::Removed, "    a = é1"), (DiffSign::Added, "  a = é2")]), ["[    ]a = [é1]", "[  ]a = [é2]"]);
    }
}
