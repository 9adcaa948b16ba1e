//! A file for review as HTML: hunks with links to the calls that made them, and the unchanged lines between them.
//!
//! A hunk is drawn once for two looks, unified and side by side; the style sheet chooses. Kept lines have a twin for the right side, which
//! only the second look shows.

use super::blocks::{draw, gap};
use super::rows::placeless;
use super::text::{line, overlaid};
use crate::block::{DiffHunk, DiffLine, DiffSign};
use crate::head::{count, counted};
use crate::line::{Class, Line};
use crate::review::{FileReview, ReviewHunk, ReviewPart, UnchangedLines};
use maud::{Markup, html};

/// Addresses for the parts of a file.
pub struct ReviewLinks<'a> {
    /// Name and address of a call; `None` where it is not on the session's page.
    pub call: &'a dyn Fn(usize) -> Option<(String, String)>,
    /// Address of a page with unchanged lines filled in.
    pub unchanged: &'a dyn Fn(UnchangedLines) -> String,
    /// Unchanged lines that are shown, because they were asked for.
    pub filled: &'a dyn Fn(UnchangedLines) -> Option<Markup>,
}

impl std::fmt::Debug for ReviewLinks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReviewLinks")
    }
}

/// The parts of a file.
pub fn file(review: &FileReview, links: &ReviewLinks<'_>) -> Markup {
    let lines = review.parts.iter().filter_map(|part| if let ReviewPart::Hunk(hunk) = part { Some(&hunk.hunk.lines) } else { None });
    let most = lines.flatten().filter_map(|line| line.old.max(line.new)).max();
    // One width for all hunks of a file, so that their numbers align.
    let width = most.map_or(0, |most| most.to_string().len());
    html! {
        @if review.only_space { p.di { "Only white space changed." } }
        @for part in &review.parts {
            @match part {
                ReviewPart::Block(block) => (draw(block, &placeless, 0)),
                ReviewPart::Hunk(hunk) => (self::hunk(hunk, width, links)),
                ReviewPart::Unchanged(lines) => (unchanged(*lines, links)),
            }
        }
        (gap(review.elided.as_ref()))
    }
}

fn hunk(shown: &ReviewHunk, width: usize, links: &ReviewLinks<'_>) -> Markup {
    let calls: Vec<(String, String)> = shown.calls.iter().filter_map(|call| (links.call)(*call)).collect();
    html! {
        div.hunk tabindex="-1" {
            p.at {
                span.where {
                    (position(&shown.hunk))
                    @if let Some(context) = &shown.hunk.context { " " span.di { (line(context)) } }
                }
                @if !calls.is_empty() { span.proofs { span.vh { "changed by " } @for (name, address) in &calls { a href=(address) { (name) } " " } } }
            }
            (both(&shown.hunk, width))
        }
    }
}

/// Where a hunk is, as patches say it.
fn position(hunk: &DiffHunk) -> String {
    let side = |added: bool| {
        let own = |line: &&DiffLine| line.sign == DiffSign::Same || (line.sign == DiffSign::Added) == added;
        let number = |line: &DiffLine| if added { line.new } else { line.old };
        let first = hunk.lines.iter().filter(own).find_map(number);
        first.map(|first| format!("{first},{}", hunk.lines.iter().filter(own).count()))
    };
    match (side(false), side(true)) {
        (Some(old), Some(new)) => format!("@@ −{old} +{new} @@"),
        (Some(old), None) => format!("@@ −{old} @@"),
        (None, Some(new)) => format!("@@ +{new} @@"),
        // The log has the lines, but not where they are.
        (None, None) => "@@".to_owned(),
    }
}

/// The name of unchanged lines in an address: `part.old.new.count`.
pub fn fill_name(lines: UnchangedLines) -> String {
    format!("{}.{}.{}.{}", lines.part, lines.old, lines.new, lines.count)
}

/// Unchanged lines that the reader may ask for.
fn unchanged(lines: UnchangedLines, links: &ReviewLinks<'_>) -> Markup {
    if let Some(filled) = (links.filled)(lines) {
        return filled;
    }
    let known = lines.known_from.and_then(|call| (links.call)(call));
    html! {
        p.between {
            a.fill href=((links.unchanged)(lines)) data-fill=(fill_name(lines)) {
                "⋯ " (counted(lines.count.into(), "unchanged line"))
            }
            @if let Some((name, address)) = known { span.di { " known from " a href=(address) { (name) } } }
        }
    }
}

/// Unchanged lines, filled in between two hunks. `first`: the number of the first one in the text before.
pub fn filled(lines: &[(u32, String)], first: u32, total: u32) -> Markup {
    let start = lines.first().map_or(0, |(number, _)| *number);
    let shown = |(number, text): &(u32, String)| DiffLine {
        sign: DiffSign::Same,
        old: first.checked_add(number.saturating_sub(start)),
        new: Some(*number),
        line: Line::of(Class::Plain, text.strip_suffix('\r').unwrap_or(text)),
        colors: None,
    };
    let hunk = DiffHunk { context: None, lines: lines.iter().map(shown).collect() };
    let width = lines.last().map_or(0, |(last, _)| last.to_string().len());
    let missing = u64::from(total).saturating_sub(lines.len() as u64);
    html! { (both(&hunk, width)) @if missing > 0 { p.between.di { "⋯ " (count(missing)) " more unchanged lines" } } }
}

/// A hunk for both looks.
pub(super) fn both(hunk: &DiffHunk, width: usize) -> Markup {
    let runs = hunk.lines.chunk_by(|one, next| (one.sign == DiffSign::Same) == (next.sign == DiffSign::Same));
    html! {
        pre.diff.both {
            @for run in runs {
                @if run.first().is_some_and(|line| line.sign == DiffSign::Same) {
                    @for kept in run { span.pair { (half(kept, width, false)) (half(kept, width, true)) } }
                } @else {
                    // Removed lines that follow added ones begin a pair of their own, or the two sides would drift apart.
                    @for pair in run.chunk_by(|one, next| !(one.sign == DiffSign::Added && next.sign == DiffSign::Removed)) {
                        span.pair { @for changed in pair { (half(changed, width, false)) } }
                    }
                }
            }
        }
    }
}

/// A line of one side. Its twin stands on the other side, where both are shown.
fn half(changed: &DiffLine, width: usize, twin: bool) -> Markup {
    let (class, sign, word) = match changed.sign {
        DiffSign::Same if twin => ("twin", ' ', ""),
        DiffSign::Same => ("same", ' ', ""),
        DiffSign::Added => ("add", '+', "added: "),
        DiffSign::Removed => ("rem", '−', "removed: "),
    };
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let own = if twin || changed.sign == DiffSign::Added { changed.new } else { changed.old };
    let (unified, side) = match width {
        0 => (sign.to_string(), sign.to_string()),
        _ => (format!("{:>width$} {:>width$} {sign}", number(changed.old), number(changed.new)), format!("{:>width$} {sign}", number(own))),
    };
    html! {
        span class=(class) data-g=[(!twin).then_some(unified)] data-s=(side) aria-hidden=[twin.then_some("true")] {
            @if !word.is_empty() { span.vh { (word) } }
            (overlaid(&changed.line, changed.colors.as_ref())) "\n"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(sign: DiffSign, old: Option<u32>, new: Option<u32>, text: &str) -> DiffLine {
        DiffLine { sign, old, new, line: Line::of(Class::Plain, text), colors: None }
    }

    #[test]
    fn both_sides_pair_up() {
        let lines = vec![
            changed(DiffSign::Same, Some(9), Some(9), "kept"),
            changed(DiffSign::Removed, Some(10), None, "<old>"),
            changed(DiffSign::Added, None, Some(10), "new"),
            changed(DiffSign::Removed, Some(11), None, "gone"),
        ];
        let hunk = DiffHunk { context: None, lines };
        assert_eq!(position(&hunk), "@@ −9,3 +9,2 @@");
        let drawn = both(&hunk, 2).0;
        assert_eq!((drawn.matches("class=\"pair\"").count(), drawn.matches("class=\"twin\"").count()), (3, 1), "{drawn}");
        assert!(drawn.contains("data-g=\"10    −\" data-s=\"10 −\"") && drawn.contains("&lt;old&gt;"), "{drawn}");
        assert!(drawn.contains("data-g=\"   10 +\" data-s=\"10 +\""), "{drawn}");
    }

    #[test]
    fn lines_that_are_filled_in_have_both_numbers() {
        let drawn = filled(&[(20, "a".to_owned()), (21, "<b>".to_owned())], 18, 5).0;
        assert!(drawn.contains("data-g=\"19 21  \"") && drawn.contains("&lt;b&gt;") && drawn.contains("3 more unchanged lines"), "{drawn}");
    }
}
