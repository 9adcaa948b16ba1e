//! Files that are changed by a patch.
//!
//! ```text
//! ± apply_patch   src/parser.rs, docs/old.md → docs/new.md   +8 −3   11 ms ✓
//!   ▾ src/parser.rs  +8 −2
//!     119     −     let x = [1];
//!         119 +     let x = [2];
//!   ▾ docs/old.md → docs/new.md  +0 −1
//! ```

use super::{ToolView, title};
use crate::diff::LineCounts;
use crate::head::counted;
use crate::line::{Class, Line};
use crate::pieces::{changes, code, file, happened, notice, section, terminal};
use crate::{Block, Head, Limits, place};
use tooltrail_model::detail::{Detail, Patch};
use tooltrail_model::patch::{FileChange, FilePatch, PatchLine};
use tooltrail_model::transcript::{Level, Story};

/// View of patches.
pub(super) struct PatchView;

impl ToolView for PatchView {
    fn name(&self) -> &'static str {
        "patch"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Patch(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Patch(patch) = &call.told.detail else { return Head::default() };
        Head { icon: "±", name: call.row.tool.into(), title: title(call), facts: facts(call, patch) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Patch(patch) = &call.told.detail else { return Vec::new() };
        let mut out: Vec<Block> = match patch.files.as_slice() {
            // The file's name already stands in the head.
            [only] => shown(call, only, limits),
            files => files.iter().map(|file| part(call, file, limits)).collect(),
        };
        // Parts that are no valid patch are still shown as written.
        out.extend(patch.unread.as_ref().map(|text| Block::Code(code("diff", None, text, limits))));
        let printed = patch.output.as_ref().filter(|text| !text.trim().is_empty());
        out.extend(printed.map(|text| section("output", false, vec![Block::Terminal(terminal(text, limits))])));
        out
    }
}

/// `src/a.rs`, or `src/a.rs → src/b.rs`.
fn name(call: &Story<'_>, file: &FilePatch) -> Line {
    let name = place::line(call, &file.path);
    match &file.moved_to {
        Some(to) => name.with(Class::Plain, " → ").with(Class::Path, place::relative(call, to)),
        None => name,
    }
}

/// Change to the file as a whole, in words; nothing for an ordinary edit.
fn fate(file: &FilePatch, done: bool) -> Option<&'static str> {
    match (file.change, done) {
        (FileChange::Add, true) => Some("new file"),
        (FileChange::Add, false) => Some("not applied: new file"),
        (FileChange::Delete, true) => Some("deleted"),
        (FileChange::Delete, false) => Some("not applied: deleted"),
        (FileChange::Update, _) => None,
    }
}

fn facts(call: &Story<'_>, patch: &Patch) -> Vec<Line> {
    let done = happened(call);
    let mut facts = Vec::new();
    let counts = patch.files.iter().map(|file| LineCounts::of(&file.hunks)).fold(LineCounts::default(), LineCounts::and);
    if counts != LineCounts::default() {
        facts.push(counts.line(done));
    }
    // With several files, each section has its own numbers.
    if let [only] = patch.files.as_slice() {
        facts.extend(fate(only, done).map(Line::from));
        facts.extend((only.hunks.len() > 1).then(|| counted(only.hunks.len() as u64, "hunk").into()));
    }
    facts
}

/// A file among others.
fn part(call: &Story<'_>, file: &FilePatch, limits: &Limits) -> Block {
    let done = happened(call);
    let mut label = name(call, file);
    let counts = LineCounts::of(&file.hunks);
    if counts != LineCounts::default() {
        label.push(Class::Plain, "  ");
        counts.line(done).runs().iter().for_each(|run| label.push(run.class, run.text()));
    }
    if let Some(fate) = fate(file, done) {
        label.push(Class::Dim, &format!(" · {fate}"));
    }
    Block::Section { label, open: true, body: shown(call, file, limits) }
}

/// The change in a file. A new file is shown as code.
fn shown(call: &Story<'_>, patch: &FilePatch, limits: &Limits) -> Vec<Block> {
    // Hunks without lines occur for renames and for patches that name a file only.
    if patch.hunks.iter().all(|hunk| hunk.lines.is_empty()) {
        let text = match patch.change {
            FileChange::Update if patch.moved_to.is_some() => "Only its name changes.",
            FileChange::Update => "The log does not contain the change.",
            FileChange::Add => "The file is empty.",
            FileChange::Delete if happened(call) => "The file was deleted; the log does not have its text.",
            FileChange::Delete => "Not applied: the file was not deleted.",
        };
        return vec![notice(Level::Info, text)];
    }
    match whole(patch) {
        Some(text) => vec![file(&patch.path, Some(1), &text, limits)],
        None => vec![changes(&patch.path, &patch.hunks, limits)],
    }
}

/// Text of a new file, whose lines are all added.
fn whole(patch: &FilePatch) -> Option<String> {
    let lines = patch.hunks.iter().flat_map(|hunk| &hunk.lines);
    let added = lines.map(|line| if let PatchLine::Added(text) = line { Some(text.as_str()) } else { None });
    let text = added.collect::<Option<Vec<&str>>>()?.join("\n");
    (patch.change == FileChange::Add).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use tooltrail_model::patch::unified;
    use tooltrail_model::{Kind, Status};

    fn call(status: Status, files: Vec<FilePatch>) -> Story<'static> {
        let patch = Patch { files, output: Some("Success.".into()), ..Patch::default() };
        story("apply_patch", Kind::Edit, status, Detail::Patch(patch))
    }

    fn file(path: &str, change: FileChange, diff: &str) -> FilePatch {
        FilePatch { path: format!("/srv/app/{path}"), moved_to: None, change, hunks: unified(diff), content: None }
    }

    #[test]
    fn one_file() {
        let files = vec![file("a.rs", FileChange::Update, "@@ -1 +1 @@\n-a\n+b\n")];
        assert_eq!(head(&call(Status::Succeeded, files.clone())), "± | apply_patch | a.rs | +1 −1");
        assert_eq!(head(&call(Status::Failed, files.clone())), "± | apply_patch | a.rs | not applied: +1 −1");
        assert_eq!(body(&call(Status::Succeeded, files)), "hunk\n1 · -a\n· 1 +b\nsection output (folded)\n  terminal\n  | Success.\n");
    }

    #[test]
    fn several_files() {
        let moved = FilePatch { moved_to: Some("/srv/app/d.rs".into()), ..file("c.rs", FileChange::Update, "") };
        let files = vec![
            file("a.rs", FileChange::Add, "@@\n+fn a() {}\n"),
            file("b.rs", FileChange::Delete, ""),
            moved,
            file("e.rs", FileChange::Update, "@@\n x\n+y\n"),
        ];
        assert_eq!(head(&call(Status::Succeeded, files.clone())), "± | apply_patch | a.rs, b.rs, c.rs → d.rs, e.rs | +2 −0");
        let shown = body(&call(Status::Rejected, files));
        assert!(shown.starts_with("section a.rs  not applied: +1 −0 · not applied: new file\n  code rs 1\n  | fn a() {}\n"), "{shown}");
        assert!(shown.contains("section b.rs · not applied: deleted\n  Info Not applied: the file was not deleted.\n"), "{shown}");
        assert!(shown.contains("section c.rs → d.rs\n  Info Only its name changes.\n"), "{shown}");
        assert!(shown.contains("section e.rs  not applied: +1 −0\n  hunk\n  · ·  x\n  · · +y\n"), "{shown}");
    }

    #[test]
    fn a_patch_that_cannot_be_read() {
        let patch = Patch { unread: Some("*** nonsense".into()), ..Patch::default() };
        let call = story("apply_patch", Kind::Edit, Status::Failed, Detail::Patch(patch));
        assert_eq!(head(&call), "± | apply_patch |  | ");
        assert_eq!(body(&call), "code diff -\n| *** nonsense\n");
    }
}
