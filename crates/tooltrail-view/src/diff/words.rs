//! The words that changed: removed lines are paired with the added ones that are most like them, and what differs is marked.

use crate::block::Sign;
use crate::line::{Class, Line};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

/// In longer lines no words are marked.
const LONGEST: usize = 1_000;
/// In larger groups of changed lines no pairs are looked for.
const GROUP: usize = 48;
/// Two lines are a pair if they share at least this part of their letters, in hundredths.
const ALIKE: usize = 40;

/// How much comparing a diff is worth. It is counted in bytes, not in time, so that the same diff always looks the same.
pub(super) struct Effort {
    left: usize,
    /// Counting failed to see something coming: then time decides.
    end: Instant,
}

impl Effort {
    /// That of one diff.
    pub(super) fn new() -> Self {
        Effort { left: 16 << 20, end: Instant::now() + Duration::from_secs(5) }
    }

    /// Takes as much as comparing each line of a group with each other costs; `false` where that is more than is left.
    fn spend(&mut self, lines: &[(Sign, &str)], removed: &Range<usize>, added: &Range<usize>) -> bool {
        let bytes =
            |range: &Range<usize>| lines.get(range.clone()).unwrap_or_default().iter().map(|line| line.1.len().min(LONGEST)).sum::<usize>();
        let cost = bytes(removed) * added.len() + bytes(added) * removed.len();
        let left = self.left.checked_sub(cost).filter(|_| removed.len() <= GROUP && added.len() <= GROUP);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

/// The lines of a hunk, with the words that changed marked.
pub(super) fn marked(lines: &[(Sign, &str)], effort: &mut Effort) -> Vec<Line> {
    let mut out: Vec<Line> = lines.iter().map(|(_, text)| Line::from(*text)).collect();
    for (removed, added) in groups(lines) {
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

/// Removed lines that are followed by added ones: the places of both.
fn groups(lines: &[(Sign, &str)]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut runs = Vec::new();
    let mut from = 0;
    for run in lines.chunk_by(|one, next| one.0 == next.0) {
        runs.push((run.first().map(|line| line.0), from..from + run.len()));
        from += run.len();
    }
    let pairs = runs.windows(2).filter_map(|pair| match pair {
        [(Some(Sign::Removed), removed), (Some(Sign::Added), added)] => Some((removed.clone(), added.clone())),
        _ => None,
    });
    pairs.collect()
}

/// For each removed line, in order, the added line that is most like it. Pairs do not cross.
fn pairs(lines: &[(Sign, &str)], removed: Range<usize>, added: Range<usize>) -> Vec<(usize, usize)> {
    let text = |place: usize| lines.get(place).map_or("", |line| line.1);
    let mut out = Vec::new();
    let mut from = added.start;
    for old in removed {
        let likes = (from..added.end).map(|new| (alike(text(old), text(new)), new));
        // Of two that are as much alike, the nearer one.
        let best = likes.reduce(|best, next| if next.0 > best.0 { next } else { best });
        if let Some((_, new)) = best.filter(|(alike, _)| *alike >= ALIKE) {
            out.push((old, new));
            from = new + 1;
        }
    }
    out
}

/// How much of their letters two lines share, word by word, in hundredths. Blanks do not count.
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
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            shared += 2 * word.len();
        }
    }
    let total: usize = words(old).chain(words(new)).map(str::len).sum();
    shared * 100 / total.max(1)
}

/// Both lines with what differs marked.
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

/// A line in words, runs of blanks, and single signs.
fn pieces(text: &str) -> Vec<&str> {
    let kind = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter == '_' => 'w',
        letter if letter.is_whitespace() && letter != '\r' => ' ',
        _ => '.',
    };
    let mut out = Vec::new();
    let mut from = 0;
    let mut last = None;
    for (at, letter) in text.char_indices() {
        let now = kind(letter);
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

    fn drawn(lines: &[(Sign, &str)]) -> Vec<String> {
        let lines = marked(lines, &mut Effort::new());
        let run = |run: &crate::Run| if run.class == Class::Plain { run.text().to_owned() } else { format!("[{}]", run.text()) };
        lines.iter().map(|line| line.runs().iter().map(run).collect()).collect()
    }

    #[test]
    fn lines_find_their_like() {
        let lines = [
            (Sign::Removed, "let total = sum(items);"),
            (Sign::Added, "// A new remark."),
            (Sign::Added, "let total = sum(items, tax);"),
            (Sign::Same, "}"),
        ];
        assert_eq!(drawn(&lines), ["let total = sum(items);", "// A new remark.", "let total = sum(items[, tax]);", "}"]);
    }

    #[test]
    fn what_is_another_line_is_not_marked() {
        assert_eq!(drawn(&[(Sign::Removed, "return 1;"), (Sign::Added, "while other() {")]), ["return 1;", "while other() {"]);
        let long = "x ".repeat(2_000);
        assert_eq!(drawn(&[(Sign::Removed, &long), (Sign::Added, &long)]), [long.clone(), long.clone()]);
        assert_eq!(drawn(&[(Sign::Added, "a"), (Sign::Removed, "a")]), ["a", "a"]);
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(pieces("fn a_b(x) {"), ["fn", " ", "a_b", "(", "x", ")", " ", "{"]);
        assert_eq!(drawn(&[(Sign::Removed, "    a = é1"), (Sign::Added, "  a = é2")]), ["[    ]a = [é1]", "[  ]a = [é2]"]);
    }
}
