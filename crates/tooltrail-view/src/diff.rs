//! Diffs: changes to a file, with real line numbers where the log has them, and changed words marked within lines.
//!
//! Hunks logged by an agent are taken as they are; for other agents they are computed here, from the text before and after.

use crate::block::{Diff, DiffHunk, DiffLine, DiffSign};
use crate::highlight::{self, HighlightBudget};
use crate::limits::{Elided, ElidedUnit, Limits};
use crate::line::{Class, Line};
use similar::{DiffTag, TextDiff};
use std::time::{Duration, Instant};
use tooltrail_model::changes::net::count_lines;
use tooltrail_model::patch::{self, PatchLine};

mod words;

/// Lines around a change.
const CONTEXT: usize = 3;
/// Time limit of a comparison; what is left then counts as changed. Only texts made for it take so long.
const PATIENCE: Duration = Duration::from_secs(1);

/// Hunks as a block.
pub fn block(hunks: &[patch::Hunk], limits: &Limits) -> Diff {
    let total: usize = hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let mut effort = words::Effort::new();
    let mut space = DiffBudget { lines: limits.lines, bytes: limits.bytes };
    let mut out = Diff::default();
    for hunk in hunks {
        // Stops before a hunk without space, so that no empty hunk is shown.
        if space.lines == 0 || space.bytes == 0 {
            break;
        }
        out.hunks.push(shown(hunk, &mut space, &mut effort));
    }
    let shown: usize = out.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let elided = Elided { shown: shown as u64, total: total as u64, unit: ElidedUnit::Lines, kept: true };
    out.elided = (shown < total).then_some(elided);
    out
}

/// Budget of a diff for colours. A diff has two sides and little around its changes, so it gets less than a file.
const COLORS: HighlightBudget = HighlightBudget { work: 100_000, patience: Duration::from_millis(200) };

/// Adds the colours of a file's language. What is beyond the budget stays plain.
pub fn color(diff: &mut Diff, path: &str) {
    let Some(language) = highlight::language(path) else { return };
    let (start, mut work) = (Instant::now(), COLORS.work);
    for hunk in &mut diff.hunks {
        for side in [DiffSign::Removed, DiffSign::Added] {
            // Kept lines take their colours from the new side; the old side is needed only where something was removed.
            if side == DiffSign::Removed && !hunk.lines.iter().any(|line| line.sign == side) {
                continue;
            }
            let patience = COLORS.patience.saturating_sub(start.elapsed());
            work = work.saturating_sub(color_side(&mut hunk.lines, side, &language, HighlightBudget { work, patience }));
        }
    }
}

/// Colours one side of a hunk, and returns its size.
fn color_side(lines: &mut [DiffLine], side: DiffSign, language: &str, budget: HighlightBudget) -> usize {
    let on_side = |line: &DiffLine| line.sign == side || line.sign == DiffSign::Same;
    let text: String = lines.iter().filter(|line| on_side(line)).map(|line| format!("{}\n", line.line.text())).collect();
    let size = text.len();
    if size > budget.work {
        return size;
    }
    let colored = highlight::lines_within(language, &text, budget);
    for (line, colors) in lines.iter_mut().filter(|line| on_side(line)).zip(colored) {
        // Both show the same text, or the marks would be in the wrong places.
        line.colors = Some(colors).filter(|colors| colors.runs().len() > 1 || colors.runs().iter().any(|run| run.class != Class::Plain));
    }
    size
}

/// Budget of lines and bytes that may still be shown.
struct DiffBudget {
    lines: usize,
    bytes: usize,
}

/// A hunk, as far as there is space.
fn shown(hunk: &patch::Hunk, space: &mut DiffBudget, effort: &mut words::Effort) -> DiffHunk {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    // Checked over the whole hunk first: a single line that ends in `\r` is a change worth seeing.
    let bare = hunk.lines.iter().all(|line| text(line).1.ends_with('\r'));
    let mut texts = Vec::new();
    for line in &hunk.lines {
        let (sign, mut text) = text(line);
        // Where every line ends in `\r`, that is the file's line ending and not a change.
        text = text.strip_suffix('\r').filter(|_| bare).unwrap_or(text);
        if space.lines == 0 || space.bytes < text.len() + 1 {
            // Emptied, so that later hunks are not shown after a gap.
            *space = DiffBudget { lines: 0, bytes: 0 };
            break;
        }
        space.lines -= 1;
        space.bytes -= text.len() + 1;
        texts.push((sign, text));
    }
    // Words are compared after cutting: lines that are not shown cost nothing.
    let marked = words::marked(&texts, effort);
    let lines = texts.iter().zip(marked).map(|((sign, _), line)| DiffLine {
        sign: *sign,
        old: if *sign == DiffSign::Added { None } else { count(&mut old) },
        new: if *sign == DiffSign::Removed { None } else { count(&mut new) },
        line,
        colors: None,
    });
    let context = hunk.context.join(" › ");
    DiffHunk { context: (!context.is_empty()).then(|| Line::of(Class::Function, &context)), lines: lines.collect() }
}

/// Returns the number and advances it for the next line.
fn count(number: &mut Option<u32>) -> Option<u32> {
    let now = *number;
    *number = now.and_then(|now| now.checked_add(1));
    now
}

fn text(line: &PatchLine) -> (DiffSign, &str) {
    match line {
        PatchLine::Same(text) => (DiffSign::Same, text),
        PatchLine::Removed(text) => (DiffSign::Removed, text),
        PatchLine::Added(text) => (DiffSign::Added, text),
    }
}

/// Changes between two texts. `first` is the number of their first line, where that is known.
pub fn from_texts(old: &str, new: &str, first: Option<u32>) -> Vec<patch::Hunk> {
    // Only line feeds end lines, as in the numbers of agents and editors; the last line counts without one too.
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_terminator('\n').collect(), new.split_terminator('\n').collect());
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
    // Numbers are given only if the position in the file is known.
    let at = |index: usize| first.zip(u32::try_from(index).ok()).and_then(|(first, index)| first.checked_add(index));
    let hunk = |ops: Vec<similar::DiffOp>| {
        let start = ops.first().map(|op| (op.old_range().start, op.new_range().start)).unwrap_or_default();
        let lines = ops.iter().flat_map(|op| diff.iter_changes(op)).map(|change| {
            let text = change.value().to_owned();
            match change.tag() {
                similar::ChangeTag::Equal => PatchLine::Same(text),
                similar::ChangeTag::Delete => PatchLine::Removed(text),
                similar::ChangeTag::Insert => PatchLine::Added(text),
            }
        });
        patch::Hunk { old_start: at(start.0), new_start: at(start.1), lines: lines.collect(), ..patch::Hunk::default() }
    };
    // Groups without a change occur for equal texts.
    let groups = diff.grouped_ops(CONTEXT).into_iter().filter(|ops| ops.iter().any(|op| op.tag() != DiffTag::Equal));
    groups.map(hunk).collect()
}

/// Number of added and removed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Added lines.
    pub added: u64,
    /// Removed lines.
    pub removed: u64,
}

impl LineCounts {
    /// Counts of some hunks.
    pub fn of(hunks: &[patch::Hunk]) -> Self {
        let (added, removed) = count_lines(hunks);
        LineCounts { added, removed }
    }

    /// Sum of two.
    #[must_use]
    pub fn and(self, other: LineCounts) -> Self {
        LineCounts { added: self.added + other.added, removed: self.removed + other.removed }
    }

    /// As text: `+8 −3` if it happened, `not applied: +8 −3` if not.
    pub fn line(self, happened: bool) -> Line {
        let added = format!("+{}", crate::head::count(self.added));
        let removed = format!("−{}", crate::head::count(self.removed));
        if !happened {
            return Line::of(Class::Dim, &format!("not applied: {added} {removed}"));
        }
        Line::of(Class::Good, &added).with(Class::Plain, " ").with(Class::Bad, &removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A diff as text: numbers, sign, and changed words in brackets.
    fn drawn(diff: &Diff) -> Vec<String> {
        let number = |number: Option<u32>| number.map_or("·".to_owned(), |number| number.to_string());
        let mut out = Vec::new();
        for line in diff.hunks.iter().flat_map(|hunk| &hunk.lines) {
            let sign = match line.sign {
                DiffSign::Same => ' ',
                DiffSign::Added => '+',
                DiffSign::Removed => '-',
            };
            let text: String = line
                .line
                .runs()
                .iter()
                .map(|run| match run.class {
                    Class::Inserted | Class::Deleted => format!("[{}]", run.text()),
                    _ => run.text().to_owned(),
                })
                .collect();
            out.push(format!("{} {} {sign}{text}", number(line.old), number(line.new)));
        }
        out
    }

    #[test]
    fn hunks_keep_their_numbers_and_words_are_marked() {
        let hunks = patch::unified("@@ -118,3 +118,3 @@ fn parse\n fn parse(s: &str) {\n-    let x = [1];\n+    let x = [2];\n }\n");
        let diff = block(&hunks, &Limits::PAGE);
        assert_eq!(drawn(&diff), ["118 118  fn parse(s: &str) {", "119 · -    let x = [[1]];", "· 119 +    let x = [[2]];", "120 120  }"]);
        assert_eq!(diff.hunks[0].context.as_ref().map(Line::text).as_deref(), Some("fn parse"));
        assert_eq!(LineCounts::of(&hunks), LineCounts { added: 1, removed: 1 });
        assert_eq!(LineCounts { added: 1200, removed: 3 }.line(true).text(), "+1,200 −3");
        assert_eq!(LineCounts { added: 8, removed: 3 }.line(false).text(), "not applied: +8 −3");
    }

    #[test]
    fn texts_give_hunks() {
        let old: String = (1..=30).map(|number| format!("line {number}\n")).collect();
        let new = old.replace("line 10\n", "line ten\n").replace("line 25\n", "");
        let hunks = from_texts(&old, &new, Some(1));
        assert_eq!(hunks.len(), 2);
        assert_eq!((hunks[0].old_start, hunks[0].new_start), (Some(7), Some(7)));
        assert_eq!((hunks[1].old_start, hunks[1].new_start), (Some(22), Some(22)));
        let nowhere = from_texts("a", "a\nb", None);
        assert_eq!(drawn(&block(&nowhere, &Limits::PAGE)), ["· ·  a", "· · +b"]);
        assert!(from_texts("same", "same", Some(1)).is_empty());
        assert_eq!(drawn(&block(&from_texts("", "x", Some(1)), &Limits::PAGE)), ["· 1 +x"]);
    }

    #[test]
    fn ends_of_lines_are_seen_where_they_differ() {
        let same = from_texts("a\r\nb\r\n", "a\r\nc\r\n", Some(1));
        assert_eq!(drawn(&block(&same, &Limits::PAGE)), ["1 1  a", "2 · -b", "· 2 +c"]);
        let other = from_texts("a\r\n", "a\n", Some(1));
        assert_eq!(drawn(&block(&other, &Limits::PAGE)), ["1 · -a[␍]", "· 1 +a"]);
    }

    #[test]
    fn colours_follow_the_language_on_both_sides() {
        let hunks = from_texts("fn a() {\n    let x = 1;\n}\n", "fn a() {\n    let x = \"one\";\n}\n", Some(1));
        let mut diff = block(&hunks, &Limits::PAGE);
        color(&mut diff, "src/a.rs");
        let colored = |line: &DiffLine, class: Class| {
            line.colors
                .as_ref()
                .is_some_and(|colors| colors.text() == line.line.text() && colors.runs().iter().any(|run| run.class == class))
        };
        let lines = &diff.hunks[0].lines;
        assert!(colored(&lines[0], Class::Function) && colored(&lines[1], Class::Number) && colored(&lines[2], Class::Text), "{lines:?}");
        let mut plain = block(&hunks, &Limits::PAGE);
        color(&mut plain, "notes.txt");
        assert!(plain.hunks[0].lines.iter().all(|line| line.colors.is_none()));
    }

    #[test]
    fn long_diffs_are_cut() {
        let old: String = (0..500).map(|number| format!("{number}\n")).collect();
        let diff = block(&from_texts(&old, "", Some(1)), &Limits::PAGE);
        assert_eq!(drawn(&diff).len(), 200);
        assert_eq!(diff.elided.map(|elided| elided.words()).as_deref(), Some("200 of 500 lines"));
    }

    #[test]
    fn hostile_texts_end_in_time() {
        let old: String = (0..40_000u64).map(|number| format!("{}\n", number.wrapping_mul(2_654_435_761) % 9_973)).collect();
        let new: String = (0..40_000u64).map(|number| format!("{}\n", number.wrapping_mul(40_503) % 9_967)).collect();
        let before = Instant::now();
        let hunks = from_texts(&old, &new, Some(1));
        block(&hunks, &Limits::WHOLE);
        // Generous, because test machines may be busy.
        assert!(before.elapsed() < Duration::from_secs(20), "{:?}", before.elapsed());
    }

    proptest! {
        #[test]
        fn every_line_is_accounted_for(old in "[ab \\r\\n漢]{0,40}", new in "[ab \\r\\n漢]{0,40}", first in prop::option::of(any::<u32>())) {
            let hunks = from_texts(&old, &new, first);
            let counts = LineCounts::of(&hunks);
            let lines = |text: &str| text.split_terminator('\n').count() as u64;
            prop_assert_eq!(lines(&old) + counts.added, lines(&new) + counts.removed);
            let shown: usize = block(&hunks, &Limits::WHOLE).hunks.iter().map(|hunk| hunk.lines.len()).sum();
            prop_assert_eq!(shown, hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>());
        }
    }
}
