//! Cutting: how a body keeps to its [`Limits`], and the remark on the rest.
//!
//! Code keeps its beginning, output both ends: an error stands in the last lines.

use crate::limits::{Elided, ElidedUnit, Limits};
use crate::line::Line;
use unicode_width::UnicodeWidthChar;

/// Beginning of a text, and the remark on the rest. Cheaper than cutting lines, because the rest is never looked at.
pub fn text<'t>(text: &'t str, limits: &Limits) -> (&'t str, Option<Elided>) {
    let lines = text.split_inclusive('\n').take(limits.lines).map(str::len).sum::<usize>();
    let kept = text.get(..lines.min(boundary(text, limits.bytes))).unwrap_or(text);
    if kept.len() == text.len() {
        return (text, None);
    }
    // Lines are only counted if something was cut: counting reads the whole text.
    (kept, Some(elided(kept.lines().count(), text.lines().count(), kept.len(), text.len())))
}

/// Beginning of some lines, and the remark on the rest.
pub fn head(mut lines: Vec<Line>, limits: &Limits) -> (Vec<Line>, Option<Elided>) {
    let (total, bytes) = (lines.len(), lines.iter().map(size).sum());
    let mut space = limits.bytes;
    let whole = lines.iter().take(limits.lines).take_while(|line| spend(&mut space, line)).count();
    // A single line that is too long is cut; otherwise nothing at all would be shown.
    let part = lines.get(whole).filter(|_| whole == 0 && limits.lines > 0).map(|line| clip(line, limits.bytes));
    lines.truncate(whole);
    lines.extend(part);
    let (shown, kept) = (lines.len(), lines.iter().map(size).sum());
    (lines, (kept < bytes || shown < total).then(|| elided(shown, total, kept, bytes)))
}

/// Both ends of some lines.
#[derive(Debug, Default, PartialEq)]
pub struct Ends {
    /// The lines that stay.
    pub lines: Vec<Line>,
    /// The number of lines before the gap.
    pub gap: Option<usize>,
    /// Remark on the omitted lines.
    pub elided: Option<Elided>,
}

/// Both ends of some lines: the first ones, as many as the limits allow, and the last ones of the rest.
pub fn ends(mut lines: Vec<Line>, limits: &Limits) -> Ends {
    let (total, bytes) = (lines.len(), lines.iter().map(size).sum::<usize>());
    if total <= limits.lines && bytes <= limits.bytes {
        return Ends { lines, ..Ends::default() };
    }
    let first = limits.head.min(limits.lines);
    let last = limits.lines - first;
    // The first lines may take their share of the bytes, the last ones what is left.
    let mut space = limits.bytes / limits.lines.max(1) * first;
    let front = lines.iter().take(first).take_while(|line| spend(&mut space, line)).count();
    let mut space = limits.bytes - lines.iter().take(front).map(size).sum::<usize>().min(limits.bytes);
    let rest = lines.split_off(front);
    let back = rest.iter().rev().take(last).take_while(|line| spend(&mut space, line)).count();
    if back == 0 {
        // Not even one line fits: its beginning is better than nothing.
        lines.extend(rest.first().map(|line| clip(line, space)));
    } else {
        lines.extend(rest.iter().skip(rest.len() - back).cloned());
    }
    let (shown, kept) = (lines.len(), lines.iter().map(size).sum());
    let gap = if back == 0 { shown } else { front };
    Ends { lines, gap: Some(gap), elided: Some(elided(shown, total, kept, bytes)) }
}

/// Remark on the omission: lines, or bytes where all lines are there in part.
fn elided(shown: usize, total: usize, kept: usize, bytes: usize) -> Elided {
    let (shown, total, unit) = if shown < total { (shown, total, ElidedUnit::Lines) } else { (kept, bytes, ElidedUnit::Bytes) };
    Elided { shown: shown as u64, total: total as u64, unit, kept: true }
}

/// A line up to a number of bytes, cut between letters.
pub fn clip(line: &Line, bytes: usize) -> Line {
    let (mut out, mut space) = (Line::default(), bytes);
    for run in line.runs() {
        let end = boundary(run.text(), space);
        out.push(run.class, run.text().get(..end).unwrap_or_default());
        space -= end;
        if end < run.text().len() {
            break;
        }
    }
    out
}

/// Largest position up to `bytes` at which a text can be cut.
pub fn boundary(text: &str, bytes: usize) -> usize {
    text.floor_char_boundary(bytes)
}

/// A text on one line, cut where it is long.
pub fn one_line(text: &str, most: usize) -> String {
    // Whatever follows is cut anyway; whitespace may shrink the text, hence the factor.
    let start: String = text.chars().take(most.saturating_mul(4)).collect();
    let more = if start.len() < text.len() { " …" } else { "" };
    short(&(start.split_whitespace().collect::<Vec<_>>().join(" ") + more), most)
}

/// Beginning of a line, up to a space if one is near. Wide characters count twice.
pub fn short(text: &str, most: usize) -> String {
    let mut used = 0;
    let end = text.char_indices().find(|(_, letter)| {
        used += letter.width().unwrap_or(1).max(1);
        used > most
    });
    let Some(start) = end.and_then(|(end, _)| text.get(..end)) else { return text.to_owned() };
    // Only a space in the last quarter counts as near; otherwise too much would be lost.
    let word = start.rfind(' ').filter(|at| at * 4 > start.len() * 3).and_then(|at| start.get(..at));
    format!("{} …", word.unwrap_or(start).trim_end())
}

/// End of a path, which identifies the file.
pub fn ending(path: &str, most: usize) -> String {
    let skipped = path.chars().count().saturating_sub(most);
    if skipped > 0 { "…".chars().chain(path.chars().skip(skipped)).collect() } else { path.to_owned() }
}

fn size(line: &Line) -> usize {
    // One for the line feed.
    line.runs().iter().map(|run| run.text().len()).sum::<usize>() + 1
}

/// Subtracts a line's bytes from the budget; `false` where it does not suffice.
fn spend(space: &mut usize, line: &Line) -> bool {
    let left = space.checked_sub(size(line));
    *space = left.unwrap_or(*space);
    left.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Class, lines};

    fn limits(lines: usize, bytes: usize, head: usize) -> Limits {
        Limits { lines, bytes, head, highlight: false }
    }

    fn numbered(count: usize) -> Vec<Line> {
        (1..=count).map(|number| Line::from(number.to_string())).collect()
    }

    fn joined(lines: &[Line]) -> String {
        lines.iter().map(Line::text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn code_keeps_its_beginning() {
        assert_eq!(text("a\nb\n", &limits(2, 100, 0)), ("a\nb\n", None));
        let (kept, elided) = text("a\nb\nc", &limits(2, 100, 0));
        assert_eq!((kept, elided.unwrap().words().as_str()), ("a\nb\n", "2 of 3 lines"));
        let (kept, elided) = text("ééé", &limits(2, 3, 0));
        assert_eq!((kept, elided.unwrap().words().as_str()), ("é", "2 of 6 bytes"));
        let (kept, elided) = head(numbered(9), &limits(3, 100, 0));
        assert_eq!((joined(&kept).as_str(), elided.unwrap().words().as_str()), ("1 2 3", "3 of 9 lines"));
        let (kept, elided) = head(lines(Class::Plain, "漢漢漢"), &limits(3, 5, 0));
        assert_eq!((joined(&kept).as_str(), elided.unwrap().unit), ("漢", ElidedUnit::Bytes));
        assert_eq!(head(numbered(3), &limits(3, 100, 0)).1, None);
    }

    #[test]
    fn lines_are_cut_by_their_columns() {
        assert_eq!((short("日本語", 6), short("日本語", 5), short("a b", 3)), ("日本語".into(), "日本 …".into(), "a b".into()));
        assert_eq!(short("some words that go on", 18), "some words that …");
        assert_eq!(short(&"\u{301}".repeat(50), 10).chars().count(), 12);
        assert_eq!((one_line("a\n  b\tc", 9), ending("src/lib.rs", 6)), ("a b c".into(), "…lib.rs".into()));
    }

    #[test]
    fn output_keeps_both_ends() {
        let cut = ends(numbered(100), &limits(5, 1000, 2));
        assert_eq!((joined(&cut.lines).as_str(), cut.gap), ("1 2 98 99 100", Some(2)));
        assert_eq!(cut.elided.unwrap().words(), "5 of 100 lines");
        let whole = ends(numbered(5), &limits(5, 1000, 2));
        assert_eq!((whole.lines.len(), whole.gap, whole.elided), (5, None, None));
        // Bytes run out before lines do.
        let cut = ends(numbered(9), &limits(9, 8, 3));
        assert_eq!((joined(&cut.lines).as_str(), cut.gap), ("6 7 8 9", Some(0)));
        // One line that is too long.
        let cut = ends(vec![Line::from("x".repeat(50))], &limits(9, 8, 3));
        assert_eq!((joined(&cut.lines).as_str(), cut.gap, cut.elided.unwrap().unit), ("xxxxxxxx", Some(1), ElidedUnit::Bytes));
        assert_eq!(ends(numbered(9), &limits(0, 0, 0)).lines, [Line::default()]);
    }
}
