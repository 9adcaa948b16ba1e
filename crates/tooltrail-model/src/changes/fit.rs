//! Applies hunks and replacements to a text: the result, and whether it is certain to the byte.

use crate::Set;
use crate::detail::Replacement;
use crate::patch::{Hunk, PatchLine};

/// The most comparisons for applying hunks or replacements to a text. Only texts made for it need so many.
const EFFORT: usize = 1 << 31;

/// A text that hunks were applied to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fitted {
    /// The resulting text.
    pub(super) text: String,
    /// Whether the text is certain, as far as the hunks can be trusted: an added line may begin with spaces or with tabs.
    pub(super) exact: bool,
}

/// Reliability of hunks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trust<'t> {
    /// To the byte: they were made to be applied.
    Bytes,
    /// Hunks made for display. Two spaces at the beginning of a line may be a tab, unless the line is one of these; and
    /// the line without its line feed may be marked at the wrong place.
    Shown(&'t Set<&'t str>),
}

/// A text in lines; the last one may lack its line feed.
struct TextLines<'t> {
    lines: Vec<&'t str>,
    ended: bool,
}

impl<'t> TextLines<'t> {
    fn of(text: &'t str) -> Self {
        TextLines { lines: text.split_terminator('\n').collect(), ended: text.is_empty() || text.ends_with('\n') }
    }

    fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        if self.ended && !self.lines.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Applies hunks with line numbers to a text. `None` where they do not fit.
pub(super) fn numbered(text: &str, hunks: &[Hunk], trust: Trust<'_>) -> Option<Fitted> {
    let base = TextLines::of(text);
    let mut out = TextLines { lines: Vec::with_capacity(base.lines.len()), ended: base.ended };
    let (mut at, mut exact) = (0, true);
    for hunk in hunks {
        let start = start(hunk, base.lines.len())?;
        out.lines.extend(base.lines.get(at..start)?);
        at = start;
        for line in &hunk.lines {
            let (PatchLine::Same(own) | PatchLine::Removed(own)) = line else {
                let PatchLine::Added(own) = line else { continue };
                exact &= match trust {
                    Trust::Bytes => true,
                    Trust::Shown(sure) => !own.starts_with("  ") || sure.contains(&**own),
                };
                out.lines.push(own);
                continue;
            };
            let there = *base.lines.get(at)?;
            // Displayed hunks show tabs as spaces; anything else that differs means another text.
            if there != own {
                (matches!(trust, Trust::Shown(_)) && same_but_tabs(there, own)).then_some(())?;
            }
            // The text's own line is kept, since it has the real tabs.
            if matches!(line, PatchLine::Same(_)) {
                out.lines.push(there);
            }
            at += 1;
        }
        // The hunk reaches the end of the text, so it decides about the last line feed.
        if at == base.lines.len() {
            let fits = hunk.old_unended != base.ended || base.lines.is_empty();
            (fits || matches!(trust, Trust::Shown(_))).then_some(())?;
            out.ended = !hunk.new_unended;
        }
    }
    out.lines.extend(base.lines.get(at..)?);
    Some(Fitted { text: out.text(), exact })
}

/// Index of the line before which a hunk begins.
fn start(hunk: &Hunk, lines: usize) -> Option<usize> {
    let first = usize::try_from(hunk.old_start?).ok()?;
    let touches = hunk.lines.iter().any(|line| !matches!(line, PatchLine::Added(_)));
    match touches {
        true => first.checked_sub(1),
        // Agents disagree whether such a hunk has the number of the line before it or after it; in an empty text both are
        // 0.
        false => (lines == 0).then_some(0),
    }
}

/// The hunks that undo others.
pub(super) fn reversed(hunks: &[Hunk]) -> Vec<Hunk> {
    let turned = |line: &PatchLine| match line {
        PatchLine::Same(text) => PatchLine::Same(text.clone()),
        PatchLine::Removed(text) => PatchLine::Added(text.clone()),
        PatchLine::Added(text) => PatchLine::Removed(text.clone()),
    };
    let hunk = |hunk: &Hunk| Hunk {
        old_start: hunk.new_start,
        new_start: hunk.old_start,
        lines: hunk.lines.iter().map(turned).collect(),
        old_unended: hunk.new_unended,
        new_unended: hunk.old_unended,
        ..Hunk::default()
    };
    hunks.iter().map(hunk).collect()
}

/// Applies hunks without line numbers to a text, in order, each at the first position after the one before it where its
/// lines stand, as the program that applies them does. Anything more that the program tolerates (other spaces, other
/// quotes) is not repeated here.
pub(super) fn sought(text: &str, hunks: &[Hunk]) -> Option<String> {
    let base = TextLines::of(text);
    let places = places(&base.lines, hunks)?;
    let mut out = TextLines { lines: Vec::new(), ended: true };
    let mut at = 0;
    for (hunk, place) in hunks.iter().zip(places).filter_map(|(hunk, place)| Some((hunk, place?))) {
        out.lines.extend(base.lines.get(at..place.start)?);
        out.lines.extend(hunk.lines.iter().filter_map(new));
        at = place.end;
    }
    out.lines.extend(base.lines.get(at..)?);
    // Hunks with only added lines go to the end.
    let rest = hunks.iter().filter(|hunk| hunk.lines.iter().all(|line| matches!(line, PatchLine::Added(_))));
    out.lines.extend(rest.flat_map(|hunk| hunk.lines.iter().filter_map(new)));
    // Programs disagree about an empty line at the end.
    let blank = |lines: &[&str]| lines.last() == Some(&"");
    (!blank(&base.lines) && !blank(&out.lines)).then(|| out.text())
}

/// Whether hunks without line numbers could be applied to a text if only letters and digits are compared.
pub(super) fn may_fit(text: &str, hunks: &[Hunk]) -> bool {
    let bare = |line: &str| line.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
    let lines: Vec<String> = text.split_terminator('\n').map(bare).collect();
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    let hunks: Vec<Hunk> = hunks
        .iter()
        .map(|hunk| Hunk {
            context: hunk.context.iter().map(|line| bare(line)).collect(),
            lines: hunk.lines.iter().filter_map(old).map(|line| PatchLine::Same(bare(line))).collect(),
            at_end: hunk.at_end,
            ..Hunk::default()
        })
        .collect();
    places(&lines, &hunks).is_some()
}

/// Positions of the lines of each hunk; `None` for a hunk without any.
fn places(lines: &[&str], hunks: &[Hunk]) -> Option<Vec<Option<std::ops::Range<usize>>>> {
    let mut at = 0;
    let place = |hunk: &Hunk| {
        // Context lines only narrow the search: the hunk itself comes after them.
        for context in &hunk.context {
            at = find(lines, &[context.as_str()], at, false)? + 1;
        }
        let wanted: Vec<&str> = hunk.lines.iter().filter_map(old).collect();
        if wanted.is_empty() {
            return Some(None);
        }
        let start = find(lines, &wanted, at, hunk.at_end)?;
        at = start + wanted.len();
        Some(Some(start..at))
    };
    hunks.iter().map(place).collect()
}

/// The first position from `from` where lines stand; `last` tries the end first.
fn find(lines: &[&str], wanted: &[&str], from: usize, last: bool) -> Option<usize> {
    let end = lines.len().checked_sub(wanted.len())?;
    // Checked before searching: a hostile patch must not take minutes.
    (lines.len().saturating_mul(wanted.len()) <= EFFORT).then_some(())?;
    let stands = |at: usize| lines.get(at..at + wanted.len()) == Some(wanted);
    if last && end >= from && stands(end) {
        return Some(end);
    }
    (from..=end).find(|&at| stands(at))
}

/// The old side of a line.
fn old(line: &PatchLine) -> Option<&str> {
    if let PatchLine::Same(text) | PatchLine::Removed(text) = line { Some(text) } else { None }
}

/// The new side of a line.
fn new(line: &PatchLine) -> Option<&str> {
    if let PatchLine::Same(text) | PatchLine::Added(text) = line { Some(text) } else { None }
}

/// Whether two texts differ at most in what displayed hunks get wrong: tabs, and the line feed at the end.
pub(super) fn looks_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.strip_suffix('\n').unwrap_or(one), other.strip_suffix('\n').unwrap_or(other));
    same_but_tabs(one, other)
}

/// Whether two texts differ at most in tabs that one shows as spaces.
pub(super) fn same_but_tabs(one: &str, other: &str) -> bool {
    one == other || one.split('\n').map(spread).eq(other.split('\n').map(spread))
}

/// A line as agents show it: two spaces for each tab at its beginning.
fn spread(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches('\t');
    let text = rest.trim_start_matches(' ');
    ((line.len() - rest.len()) * 2 + (rest.len() - text.len()), text)
}

/// Results of replacements on a text: as written, and as by programs that remove the line's end when they delete a text.
/// `None` where a text is missing, or occurs more than once.
pub(super) fn replaced(text: &str, replacements: &[Replacement]) -> Option<(String, String)> {
    Some((each(text, replacements, false)?, each(text, replacements, true)?))
}

fn each(text: &str, replacements: &[Replacement], swallow: bool) -> Option<String> {
    (text.len().saturating_mul(replacements.len()) <= EFFORT).then_some(())?;
    let mut text = text.to_owned();
    for one in replacements {
        if one.old.is_empty() {
            // Only an empty file can be filled like this.
            text.is_empty().then_some(())?;
            text.clone_from(&one.new);
            continue;
        }
        // Two matches are enough to know that it is ambiguous.
        let count = text.matches(&*one.old).take(2).count();
        (count == 1 || (count > 1 && one.all)).then_some(())?;
        let ended = format!("{}\n", one.old);
        let old = if swallow && one.new.is_empty() && !one.old.ends_with('\n') && text.contains(&ended) { &ended } else { &one.old };
        text = if one.all { text.replace(&**old, &one.new) } else { text.replacen(&**old, &one.new, 1) };
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::unified;

    fn put(text: &str, diff: &str, trust: Trust<'_>) -> Option<(String, bool)> {
        numbered(text, &unified(diff), trust).map(|fitted| (fitted.text, fitted.exact))
    }

    #[test]
    fn numbered_hunks_fit_or_do_not() {
        let text = "a\nb\nc\nd\n";
        assert_eq!(put(text, "@@ -2,2 +2,2 @@\n b\n-c\n+C\n", Trust::Bytes), Some(("a\nb\nC\nd\n".into(), true)));
        assert_eq!(put(text, "@@ -3,2 +3,2 @@\n b\n-c\n+C\n", Trust::Bytes), None);
        assert_eq!(put(text, "@@ -9 +9 @@\n-c\n+C\n", Trust::Bytes), None);
        assert_eq!(put("", "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n", Trust::Bytes), Some(("x".into(), true)));
        assert_eq!(put("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", Trust::Bytes), Some(("a\n".into(), true)));
        // The log says that the line was ended, but it is not.
        assert_eq!(put("a", "@@ -1 +1 @@\n-a\n+b\n", Trust::Bytes), None);
        assert_eq!(put("a", "@@ -1 +1 @@\n-a\n+b\n", Trust::Shown(&Set::default())), Some(("b\n".into(), true)));
        assert_eq!(put("a\n", "@@ -1 +0,0 @@\n-a\n", Trust::Bytes), Some((String::new(), true)));
    }

    #[test]
    fn tabs_that_are_shown_as_spaces_leave_doubt() {
        let diff = "@@ -1,2 +1,2 @@\n   a\n-  b\n+  c\n";
        assert_eq!(put("\ta\n\tb\n", diff, Trust::Shown(&Set::default())), Some(("\ta\n  c\n".into(), false)));
        assert_eq!(put("\ta\n\tb\n", diff, Trust::Bytes), None);
        assert_eq!(put("\ta\n\tb\n", diff, Trust::Shown(&Set::from_iter(["  c"]))), Some(("\ta\n  c\n".into(), true)));
        assert_eq!(put("  a\n  b\n", "@@ -1,2 +1,2 @@\n   a\n-  b\n+c\n", Trust::Shown(&Set::default())), Some(("  a\nc\n".into(), true)));
        assert!(same_but_tabs("\t\tx\ny", "    x\ny") && !same_but_tabs("\tx", " x"));
        assert!(looks_same("\tx\n", "  x") && !looks_same("x\n\n", "x"));
    }

    #[test]
    fn hunks_are_undone() {
        let (old, new) = ("a\nb\nc", "a\nB\nc\n");
        let hunks = unified("@@ -1,3 +1,3 @@\n a\n-b\n-c\n\\ No newline at end of file\n+B\n+c\n");
        assert_eq!(numbered(old, &hunks, Trust::Bytes).map(|fitted| fitted.text).as_deref(), Some(new));
        assert_eq!(numbered(new, &reversed(&hunks), Trust::Bytes).map(|fitted| fitted.text).as_deref(), Some(old));
    }

    #[test]
    fn hunks_without_numbers_are_looked_for() {
        let hunk = |context: &[&str], lines: &[&str], at_end| Hunk {
            context: context.iter().map(|text| (*text).to_owned()).collect(),
            lines: lines.iter().map(|line| PatchLine::parse(line)).collect(),
            at_end,
            ..Hunk::default()
        };
        let text = "fn a\n  x\nfn b\n  x\nend";
        assert_eq!(sought(text, &[hunk(&[], &["-  x", "+  y"], false)]).as_deref(), Some("fn a\n  y\nfn b\n  x\nend\n"));
        assert_eq!(sought(text, &[hunk(&["fn b"], &["-  x", "+  y"], false)]).as_deref(), Some("fn a\n  x\nfn b\n  y\nend\n"));
        assert_eq!(sought("x\ny\nx\n", &[hunk(&[], &["-x", "+z"], true)]).as_deref(), Some("x\ny\nz\n"));
        assert_eq!(sought("x\n", &[hunk(&[], &["+y"], false)]).as_deref(), Some("x\ny\n"));
        assert_eq!(sought(text, &[hunk(&["fn c"], &["-  x"], false)]), None);
        assert_eq!(sought("x\n\n", &[hunk(&[], &["-x", "+y"], false)]), None);
        assert!(may_fit("x\n\n", &[hunk(&[], &["-x", "+y"], false)]) && may_fit("  “x”\n", &[hunk(&[], &["-x", "+y"], false)]));
        assert!(!may_fit("z\n", &[hunk(&[], &["-x", "+y"], false)]));
    }

    #[test]
    fn replacements_must_be_there_once() {
        let one = |old: &str, new: &str, all| [Replacement { old: old.into(), new: new.into(), all }];
        let plain = |text: &str, of: &[Replacement]| replaced(text, of).map(|(plain, _)| plain);
        assert_eq!(plain("a b", &one("a", "c", false)).as_deref(), Some("c b"));
        assert_eq!(plain("a a", &one("a", "c", false)), None);
        assert_eq!(plain("a a", &one("a", "c", true)).as_deref(), Some("c c"));
        assert_eq!(plain("b", &one("a", "c", true)), None);
        assert_eq!(plain("", &one("", "c", false)).as_deref(), Some("c"));
        assert_eq!(plain("x", &one("", "c", false)), None);
        assert_eq!(replaced("a\nb\n", &one("a", "", false)), Some(("\nb\n".into(), "b\n".into())));
    }
}
