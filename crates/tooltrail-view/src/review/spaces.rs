//! Hunks without changes of white space alone.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use tooltrail_model::patch::{Hunk, PatchLine};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// A hunk in which lines that differ only in white space count as equal: as many hunks as are left of it, perhaps none.
pub fn without_space_changes(hunk: &Hunk) -> Vec<Hunk> {
    let side = |skip: fn(&PatchLine) -> bool| -> Vec<&str> { hunk.lines.iter().filter(|line| !skip(line)).map(text).collect() };
    let old = side(|line| matches!(line, PatchLine::Added(_)));
    let new = side(|line| matches!(line, PatchLine::Removed(_)));
    let bare = |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| line.split_whitespace().collect()).collect() };
    let ops = capture_diff_slices(Algorithm::Myers, &bare(&old), &bare(&new));
    let mut lines: Vec<(PatchLine, usize, usize)> = Vec::new();
    for op in ops {
        let (olds, news) = (op.old_range(), op.new_range());
        if let DiffOp::Equal { .. } = op {
            lines.extend(olds.zip(news).filter_map(|(old, at)| Some((PatchLine::Same((*new.get(at)?).to_owned()), old, at))));
            continue;
        }
        let first = (olds.start, news.start);
        lines.extend(olds.filter_map(|at| Some((PatchLine::Removed((*old.get(at)?).to_owned()), at, first.1))));
        lines.extend(news.filter_map(|at| Some((PatchLine::Added((*new.get(at)?).to_owned()), first.0, at))));
    }
    near_changes(&lines).into_iter().map(|lines| cut_out(hunk, lines)).collect()
}

fn text(line: &PatchLine) -> &str {
    match line {
        PatchLine::Same(text) | PatchLine::Added(text) | PatchLine::Removed(text) => text,
    }
}

/// A line that is empty on its side changes nothing but white space.
fn is_change(line: &PatchLine) -> bool {
    !matches!(line, PatchLine::Same(_)) && !text(line).trim().is_empty()
}

/// The lines around changes, in groups.
fn near_changes(lines: &[(PatchLine, usize, usize)]) -> Vec<&[(PatchLine, usize, usize)]> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in lines.iter().enumerate().filter(|(_, (line, ..))| is_change(line)) {
        let (start, end) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(lines.len()));
        match ranges.last_mut() {
            Some(last) if last.1 >= start => last.1 = end,
            _ => ranges.push((start, end)),
        }
    }
    ranges.into_iter().filter_map(|(start, end)| lines.get(start..end)).collect()
}

fn cut_out(hunk: &Hunk, lines: &[(PatchLine, usize, usize)]) -> Hunk {
    let first = lines.first().map_or((0, 0), |(_, old, new)| (*old, *new));
    let number = |start: Option<u32>, skipped: usize| start.and_then(|start| start.checked_add(u32::try_from(skipped).ok()?));
    Hunk {
        old_start: number(hunk.old_start, first.0),
        new_start: number(hunk.new_start, first.1),
        lines: lines.iter().map(|(line, ..)| line.clone()).collect(),
        ..hunk.clone()
    }
}
