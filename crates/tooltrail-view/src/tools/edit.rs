//! A file that is changed.
//!
//! ```text
//! ± Edit   src/parser.rs                     +8 −3 · 2 hunks   11 ms ✓
//!   119     −     let x = [1];
//!       119 +     let x = [2];
//! ```

use super::{ToolView, title};
use crate::diff::{LineCounts, from_texts};
use crate::head::counted;
use crate::pieces::{changes, happened, notice, section};
use crate::{Block, Head, Limits, Line};
use tooltrail_model::detail::{Detail, Edit, Replacement};
use tooltrail_model::patch::Hunk;
use tooltrail_model::transcript::{Level, Story};

/// The largest text that is built: a few replacements can multiply into more than there is memory.
const LARGEST: usize = 8 << 20;
/// Replacements with more bytes than this are not compared for a head, which has to be cheap.
const COMPARED: usize = 256 << 10;

/// View of edits to a file.
pub(super) struct EditView;

impl ToolView for EditView {
    fn name(&self) -> &'static str {
        "edit"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Edit(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Edit(edit) = &call.told.detail else { return Head::default() };
        Head { icon: "±", name: call.row.tool.into(), title: title(call), facts: facts(call, edit) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Edit(edit) = &call.told.detail else { return Vec::new() };
        let mut out = Vec::new();
        // Where both inputs are known, they are shown already, with the same remark.
        if edit.user_modified && call.requested.is_none() {
            out.push(notice(Level::Info, "You changed the proposal before it was applied."));
        }
        // With the text before, the change gets its real line numbers.
        let applied = || applied(edit).map(|(before, after)| from_texts(before, &after, Some(1)));
        // Hunks from the tool are what was really applied, so they win over anything computed here.
        match Some(edit.hunks.clone()).filter(|hunks| !hunks.is_empty()).or_else(applied) {
            Some(hunks) => out.push(changes(&edit.path, &hunks, limits)),
            None => out.extend(replacements(edit, limits)),
        }
        out
    }
}

/// The text before and after, where the log has the text before and it contains everything that is replaced.
fn applied(edit: &Edit) -> Option<(&str, String)> {
    let before = edit.original.as_deref().filter(|_| !edit.replacements.is_empty())?;
    let mut after = before.to_owned();
    for Replacement { old, new, all } in &edit.replacements {
        let found = !old.is_empty() && after.contains(old.as_str());
        // Counted before replacing, so that the result's size is known in time.
        let times = if *all && found { after.matches(old.as_str()).count() } else { 1 };
        if new.len().saturating_mul(times).saturating_add(after.len()) > LARGEST {
            return None;
        }
        after = match (found, all) {
            (true, true) => after.replace(old, new),
            (true, false) => after.replacen(old, new, 1),
            // An empty file is filled.
            (false, _) if old.is_empty() && after.is_empty() => new.clone(),
            (false, _) => return None,
        };
    }
    Some((before, after))
}

/// Each replacement on its own; its position in the file is unknown.
fn replacements(edit: &Edit, limits: &Limits) -> Vec<Block> {
    let replacements = edit.replacements.as_slice();
    let diff = |replacement: &Replacement| changes(&edit.path, &alone(replacement), limits);
    if let [only] = replacements {
        return vec![diff(only)];
    }
    let label = |number: usize, all: bool| format!("replacement {}{}", number + 1, if all { ", wherever it occurs" } else { "" });
    let sections = replacements.iter().enumerate().map(|(number, each)| section(label(number, each.all), true, vec![diff(each)]));
    sections.collect()
}

fn alone(replacement: &Replacement) -> Vec<Hunk> {
    from_texts(&replacement.old, &replacement.new, None)
}

/// Added and removed lines, by the hunks or else by the requested replacements.
fn counts(edit: &Edit) -> LineCounts {
    let bytes: usize = edit.replacements.iter().map(|each| each.old.len() + each.new.len()).sum();
    match edit.hunks.as_slice() {
        // Better no numbers than slow ones.
        [] if bytes > COMPARED => LineCounts::default(),
        [] => edit.replacements.iter().map(|each| LineCounts::of(&alone(each))).fold(LineCounts::default(), LineCounts::and),
        hunks => LineCounts::of(hunks),
    }
}

fn facts(call: &Story<'_>, edit: &Edit) -> Vec<Line> {
    let mut facts = Vec::new();
    let counts = counts(edit);
    if counts != LineCounts::default() {
        facts.push(counts.line(happened(call)));
    }
    match (edit.hunks.len(), edit.replacements.len()) {
        (2.., _) => facts.push(counted(edit.hunks.len() as u64, "hunk").into()),
        (0, 2..) => facts.push(counted(edit.replacements.len() as u64, "replacement").into()),
        _ => {}
    }
    facts.extend(edit.replacements.iter().any(|each| each.all).then(|| "replace all".into()));
    facts.extend(edit.user_modified.then(|| "edited by you".into()));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use tooltrail_model::patch::unified;
    use tooltrail_model::{Kind, Status};

    fn call(status: Status, edit: Edit) -> Story<'static> {
        story("Edit", Kind::Edit, status, Detail::Edit(edit))
    }

    fn replacing(old: &str, new: &str) -> Edit {
        let replacement = Replacement { old: old.into(), new: new.into(), all: false };
        Edit { path: "/srv/app/src/a.rs".into(), replacements: vec![replacement], ..Edit::default() }
    }

    #[test]
    fn hunks_are_believed() {
        let hunks = unified("@@ -118,2 +118,2 @@\n fn a() {\n-    1\n+    2\n@@ -200 +200 @@\n-x\n+y\n");
        let edit = Edit { hunks, user_modified: true, ..replacing("1", "2") };
        assert_eq!(head(&call(Status::Succeeded, edit.clone())), "± | Edit | src/a.rs | +2 −2, 2 hunks, edited by you");
        assert_eq!(
            body(&call(Status::Succeeded, edit)),
            "Info You changed the proposal before it was applied.\nhunk\n118 118  fn a() {\n119 · -    1\n· 119 +    2\nhunk\n200 · -x\n· 200 +y\n"
        );
    }

    #[test]
    fn without_hunks_the_replacement_is_shown() {
        let edit = replacing("a\nb\n", "a\nc\n");
        assert_eq!(head(&call(Status::Failed, edit.clone())), "± | Edit | src/a.rs | not applied: +1 −1");
        assert_eq!(body(&call(Status::Failed, edit.clone())), "hunk\n· ·  a\n· · -b\n· · +c\n");
        // The text before shows where the change is.
        let placed = Edit { original: Some("0\na\nb\nz\n".into()), ..edit };
        assert_eq!(body(&call(Status::Succeeded, placed)), "hunk\n1 1  0\n2 2  a\n3 · -b\n· 3 +c\n4 4  z\n");
    }

    #[test]
    fn several_replacements() {
        let mut edit = replacing("a", "b");
        edit.replacements.push(Replacement { old: "x".into(), new: "y".into(), all: true });
        assert_eq!(head(&call(Status::Running, edit.clone())), "± | Edit | src/a.rs | not applied: +2 −2, 2 replacements, replace all");
        assert_eq!(
            body(&call(Status::Running, edit.clone())),
            "section replacement 1\n  hunk\n  · · -a\n  · · +b\nsection replacement 2, wherever it occurs\n  hunk\n  · · -x\n  · · +y\n"
        );
        // A text that multiplies must not be built.
        let double = Replacement { old: "x".into(), new: "xx".repeat(50), all: true };
        let bomb = Edit { original: Some("x".into()), replacements: vec![double; 9], ..Edit::default() };
        assert!(applied(&bomb).is_none());
        // Replacements that do not fit the text before are shown as requested.
        edit.original = Some("nothing of it".into());
        assert!(body(&call(Status::Failed, edit)).starts_with("section replacement 1\n"));
    }
}
