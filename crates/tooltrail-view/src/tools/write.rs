//! A file that is written.
//!
//! ```text
//! ✚ Write   docs/x.md                        new file · 40 lines   8 ms ✓
//!   1  # X
//! ```

use super::{ToolView, title};
use crate::diff::{LineCounts, from_texts};
use crate::head::counted;
use crate::pieces::{changes, file, happened, notice};
use crate::{Block, Class, Head, Limits, Line};
use tooltrail_model::detail::{Detail, Write};
use tooltrail_model::transcript::{Level, Story};

/// View of files that are written.
pub(super) struct WriteView;

impl ToolView for WriteView {
    fn name(&self) -> &'static str {
        "write"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Write(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Write(write) = &call.told.detail else { return Head::default() };
        Head { icon: "✚", name: call.row.tool.into(), title: title(call), facts: facts(call, write) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Write(write) = &call.told.detail else { return Vec::new() };
        let mut out = Vec::new();
        if write.user_modified && call.requested.is_none() {
            out.push(notice(Level::Info, "You changed the proposal before it was written."));
        }
        // Hunks from the tool are preferred; the text before is only compared where there are none.
        let known = write.original.as_ref().filter(|_| write.new != Some(true) && write.hunks.is_empty());
        let found = known.map(|original| from_texts(original, &write.content, Some(1)));
        if found.as_ref().is_some_and(Vec::is_empty) {
            out.push(notice(Level::Info, "The text is the same as before."));
        }
        let hunks = found.as_ref().unwrap_or(&write.hunks);
        // A new file, or one whose text before is unknown, is shown whole.
        out.push(if hunks.is_empty() { file(&write.path, Some(1), &write.content, limits) } else { changes(&write.path, hunks, limits) });
        out
    }
}

fn facts(call: &Story<'_>, write: &Write) -> Vec<Line> {
    let done = happened(call);
    let lines = counted(write.content.lines().count() as u64, "line");
    let mut facts: Vec<Line> = Vec::new();
    match (write.hunks.is_empty(), write.new, done) {
        (false, _, _) => facts.push(LineCounts::of(&write.hunks).line(done)),
        (true, Some(true), true) => facts.extend(["new file".into(), lines.into()]),
        (true, _, true) => facts.push(lines.into()),
        (true, _, false) => facts.push(Line::of(Class::Dim, &format!("not applied: {lines}"))),
    }
    facts.extend(write.user_modified.then(|| "edited by you".into()));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use tooltrail_model::{Kind, Status};

    fn call(status: Status, write: Write) -> Story<'static> {
        story("Write", Kind::Write, status, Detail::Write(write))
    }

    fn writing() -> Write {
        Write { path: "/srv/app/docs/x.md".into(), content: "# X\n".into(), ..Write::default() }
    }

    #[test]
    fn a_new_file() {
        let new = || Write { new: Some(true), ..writing() };
        assert_eq!(head(&call(Status::Succeeded, new())), "✚ | Write | docs/x.md | new file, 1 line");
        assert_eq!(head(&call(Status::Rejected, new())), "✚ | Write | docs/x.md | not applied: 1 line");
        assert_eq!(body(&call(Status::Rejected, new())), "code md 1\n| # X\n");
    }

    #[test]
    fn a_file_that_was_there() {
        let with_hunks =
            Write { hunks: from_texts("# Y\n", "# X\n", Some(1)), original: Some("# Y\n".into()), new: Some(false), ..writing() };
        assert_eq!(head(&call(Status::Succeeded, with_hunks.clone())), "✚ | Write | docs/x.md | +1 −1");
        assert_eq!(head(&call(Status::Failed, with_hunks.clone())), "✚ | Write | docs/x.md | not applied: +1 −1");
        let without = Write { hunks: Vec::new(), user_modified: true, ..with_hunks.clone() };
        assert_eq!(head(&call(Status::Succeeded, without.clone())), "✚ | Write | docs/x.md | 1 line, edited by you");
        let diff = "hunk\n1 · -# Y\n· 1 +# X\n";
        assert_eq!(body(&call(Status::Succeeded, with_hunks)), diff);
        assert_eq!(body(&call(Status::Succeeded, without)), format!("Info You changed the proposal before it was written.\n{diff}"));
        let same = Write { original: Some("# X\n".into()), ..writing() };
        assert_eq!(body(&call(Status::Succeeded, same)), "Info The text is the same as before.\ncode md 1\n| # X\n");
    }
}
