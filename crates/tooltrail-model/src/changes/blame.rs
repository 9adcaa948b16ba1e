//! Evidence of changed lines: which call added each line of a net change, and which call removed each.
//!
//! A net change is the difference of two texts, but several calls may lie between them. Their texts are compared step by step, so that a
//! reader of one hunk learns which calls made it and need not open all calls of the file.

use super::net::{FileNet, NetPart};
use super::{FileText, Step};
use crate::patch::{Hunk, PatchLine};
use similar::{DiffOp, TextDiff};

/// The most lines that are compared for one part, in all of its steps; beyond it a hunk cites all calls of its part.
const EFFORT: usize = 400_000;

/// The calls that changed the lines of a part, by the places of the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEvidence {
    /// The call that added each line of the text after; `None` for a line that was there before.
    added: Vec<Option<usize>>,
    /// The call that removed each line of the text before; `None` for a line that is still there.
    removed: Vec<Option<usize>>,
    /// The call by which the text before is known: the last one that showed all of it.
    pub known_from: Option<usize>,
}

impl LineEvidence {
    /// The calls that changed the lines of a hunk, each once, in order. Empty where that is not known.
    pub fn of_hunk(&self, hunk: &Hunk) -> Vec<usize> {
        let (Some(mut old), Some(mut new)) = (place(hunk.old_start), place(hunk.new_start)) else { return Vec::new() };
        let mut calls = Vec::new();
        for line in &hunk.lines {
            match line {
                PatchLine::Same(_) => (old, new) = (old + 1, new + 1),
                PatchLine::Added(_) => {
                    calls.extend(self.added.get(new).copied().flatten());
                    new += 1;
                }
                PatchLine::Removed(_) => {
                    calls.extend(self.removed.get(old).copied().flatten());
                    old += 1;
                }
            }
        }
        calls.sort_unstable();
        calls.dedup();
        calls
    }
}

/// The place of a line that is counted from 1.
fn place(number: Option<u32>) -> Option<usize> {
    usize::try_from(number?).ok()?.checked_sub(1)
}

/// Evidence for each part of a file's net change, which [`super::net::net`] made from the same steps with the same selection.
pub fn line_evidence(steps: &[Step], takes: impl Fn(usize) -> bool, file: &FileNet) -> Vec<LineEvidence> {
    // The steps that `net` took, in its order: each part takes as many as it was made from.
    let own: Vec<(usize, &Step)> =
        steps.iter().enumerate().filter(|(_, step)| step.path == file.path && step.changes && takes(step.by)).collect();
    let mut left = own.as_slice();
    let mut next = |count: usize| {
        let (taken, rest) = left.split_at(count.min(left.len()));
        left = rest;
        taken
    };
    let part = |part: &NetPart| match part {
        NetPart::Outside { .. } => LineEvidence::default(),
        // Each of these is one step, whose call the part names itself.
        NetPart::Pieces { .. } => {
            next(1);
            LineEvidence::default()
        }
        NetPart::Net { by, .. } => {
            let taken = next(by.len());
            let texts: Vec<(&FileText, &FileText, usize)> = taken.iter().map(|(_, step)| (&step.before, &step.after, step.by)).collect();
            LineEvidence { known_from: taken.first().and_then(|(at, _)| known_from(steps, *at)), ..between(&texts) }
        }
    };
    file.parts.iter().map(part).collect()
}

/// Evidence for a renamed file: its last text under the old name, and the steps under the new one.
pub fn renamed_evidence(before: &FileText, steps: &[Step], takes: impl Fn(usize) -> bool, new: &FileNet) -> LineEvidence {
    // Under the new name there is no earlier text, so lines are followed from the last one under the old name.
    let mut last = before;
    let mut texts = Vec::new();
    for step in steps.iter().filter(|step| step.path == new.path && step.changes && takes(step.by)) {
        texts.push((last, &step.after, step.by));
        last = &step.after;
    }
    between(&texts)
}

/// The call that showed the text before a step: the step itself, or an earlier one from which it was replayed.
fn known_from(steps: &[Step], at: usize) -> Option<usize> {
    let step = steps.get(at)?;
    if !step.replayed || step.before == FileText::Absent {
        return Some(step.by).filter(|_| step.before != FileText::Absent);
    }
    let earlier = steps.get(..at)?.iter().rev().filter(|earlier| earlier.path == step.path);
    earlier.filter(|earlier| earlier.after.is_known() && !earlier.replayed).map(|earlier| earlier.by).next()
}

/// Follows lines through texts, each the one before and the one after a call.
fn between(texts: &[(&FileText, &FileText, usize)]) -> LineEvidence {
    let effort: usize = texts.iter().map(|(before, after, _)| lines_of(before).len().saturating_add(lines_of(after).len())).sum();
    let Some((first, ..)) = texts.first().filter(|_| effort <= EFFORT) else { return LineEvidence::default() };
    let count = lines_of(first).len();
    let mut removed = vec![None; count];
    let mut origins: Vec<LineOrigin> = (0..count).map(LineOrigin::Kept).collect();
    for (before, after, by) in texts {
        let (old, new) = (lines_of(before), lines_of(after));
        let diff = TextDiff::configure().diff_slices(&old, &new);
        let mut next = Vec::with_capacity(new.len());
        for op in diff.ops() {
            if let DiffOp::Equal { .. } = op {
                next.extend(origins.get(op.old_range()).unwrap_or_default());
                continue;
            }
            // A line that one call added and a later one removed is in neither text, so no hunk can cite it.
            for origin in origins.get(op.old_range()).unwrap_or_default() {
                if let LineOrigin::Kept(place) = origin
                    && let Some(slot) = removed.get_mut(*place)
                {
                    *slot = Some(*by);
                }
            }
            next.extend(op.new_range().map(|_| LineOrigin::Added(*by)));
        }
        origins = next;
    }
    let added = origins.into_iter().map(|origin| if let LineOrigin::Added(by) = origin { Some(by) } else { None }).collect();
    LineEvidence { added, removed, known_from: None }
}

/// Lines with their ends, as net changes count them.
fn lines_of(text: &FileText) -> Vec<&str> {
    text.as_text().unwrap_or_default().split_inclusive('\n').collect()
}

/// Where a line comes from.
#[derive(Clone, Copy)]
enum LineOrigin {
    /// A line of the first text, by its place.
    Kept(usize),
    /// A call added it.
    Added(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::unified::hunks;
    use crate::changes::{How, Strength, net::net};

    fn step(by: usize, before: &FileText, after: &FileText, replayed: bool) -> Step {
        Step {
            by,
            path: "a".to_owned(),
            before: before.clone(),
            after: after.clone(),
            how: How::Edited,
            replayed,
            changes: before != after,
            outside: false,
            hunks: Vec::new(),
            moved: None,
            strength: Strength::Edited,
        }
    }

    fn numbered(replace: &[(usize, &str)]) -> FileText {
        let line =
            |number: usize| replace.iter().find(|(at, _)| *at == number).map_or_else(|| number.to_string(), |(_, text)| (*text).to_owned());
        FileText::text((1..=40).map(|number| format!("{}\n", line(number))).collect::<String>())
    }

    #[test]
    fn a_hunk_cites_the_calls_that_made_it() {
        let texts =
            [numbered(&[]), numbered(&[(5, "five")]), numbered(&[(5, "five"), (30, "thirty")]), numbered(&[(5, "FIVE"), (30, "thirty")])];
        // Call 1 reads, call 2 changes line 5, call 3 line 30, call 4 line 5 once more.
        let mut steps = vec![step(1, &texts[0], &texts[0], false)];
        steps.extend((1..4).map(|at| step(at + 1, &texts[at - 1], &texts[at], true)));
        let files = net(&steps, |_| true);
        let evidence = line_evidence(&steps, |_| true, &files[0]);
        let changed = hunks(texts[0].as_text().expect("a text"), texts[3].as_text().expect("a text"));
        let cited: Vec<Vec<usize>> = changed.iter().map(|hunk| evidence[0].of_hunk(hunk)).collect();
        assert_eq!(cited, [vec![2, 4], vec![3]]);
        assert_eq!(evidence[0].known_from, Some(1));
    }

    #[test]
    fn a_new_file_is_known_from_nothing() {
        let text = FileText::text("a\nb\n");
        let steps = [step(7, &FileText::Absent, &text, false)];
        let files = net(&steps, |_| true);
        let evidence = line_evidence(&steps, |_| true, &files[0]);
        assert_eq!(evidence[0].of_hunk(&hunks("", "a\nb\n")[0]), [7]);
        assert_eq!(evidence[0].known_from, None);
        // A hunk without numbers has no known place.
        assert!(evidence[0].of_hunk(&Hunk { lines: vec![PatchLine::Added("a".into())], ..Hunk::default() }).is_empty());
    }

    #[test]
    fn a_renamed_file_keeps_its_evidence() {
        let (old, new, last) = (numbered(&[]), numbered(&[]), numbered(&[(3, "three")]));
        let steps = [step(1, &FileText::Absent, &new, false), step(2, &new, &last, true)];
        let file = FileNet { path: "a".into(), moved_from: None, moved_to: None, parts: Vec::new(), evidence: Vec::new() };
        let evidence = renamed_evidence(&old, &steps, |_| true, &file);
        let changed = hunks(old.as_text().expect("a text"), last.as_text().expect("a text"));
        assert_eq!(evidence.of_hunk(&changed[0]), [2]);
    }
}
