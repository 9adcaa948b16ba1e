//! A file that is written.
//!
//! ```text
//! ✚ Write   docs/x.md                        new file · 40 lines   8 ms ✓
//!   1  # X
//! ```

use super::{ToolView, title};
use crate::diff::{Counts, from_texts};
use crate::head::counted;
use crate::pieces::{changes, file, happened, notice};
use crate::{Block, Class, Head, Limits, Line};
use tooltrail_model::detail::{Detail, Write as Writing};
use tooltrail_model::transcript::{Level, Story};

/// The view of files that are written.
pub(super) struct Write;

impl ToolView for Write {
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
        if write.user_modified {
            out.push(notice(Level::Info, "You changed the proposal before it was written."));
        }
        let known = write.original.as_ref().filter(|_| write.new != Some(true) && write.hunks.is_empty());
        let found = known.map(|original| from_texts(original, &write.content, Some(1)));
        if found.as_ref().is_some_and(Vec::is_empty) {
            out.push(notice(Level::Info, "The text is the same as before."));
        }
        let hunks = found.as_ref().unwrap_or(&write.hunks);
        out.push(if hunks.is_empty() { file(&write.path, Some(1), &write.content, limits) } else { changes(hunks, limits) });
        out
    }
}

fn facts(call: &Story<'_>, write: &Writing) -> Vec<Line> {
    let done = happened(call);
    let lines = counted(write.content.lines().count() as u64, "line");
    let mut facts: Vec<Line> = Vec::new();
    match (write.hunks.is_empty(), write.new, done) {
        (false, _, _) => facts.push(Counts::of(&write.hunks).line(done)),
        (true, Some(true), true) => facts.extend(["new file".into(), lines.into()]),
        (true, _, true) => facts.push(lines.into()),
        (true, _, false) => facts.push(Line::of(Class::Dim, &format!("would be {lines}"))),
    }
    facts.extend(write.user_modified.then(|| "edited by you".into()));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use tooltrail_model::{Kind, Status};

    fn call(status: Status, write: Writing) -> Story<'static> {
        story("Write", Kind::Write, status, Detail::Write(write))
    }

    fn writing() -> Writing {
        Writing { path: "/srv/app/docs/x.md".into(), content: "# X\n".into(), ..Writing::default() }
    }

    #[test]
    fn a_new_file() {
        let new = || Writing { new: Some(true), ..writing() };
        assert_eq!(head(&call(Status::Succeeded, new())), "✚ | Write | docs/x.md | new file, 1 line");
        assert_eq!(head(&call(Status::Rejected, new())), "✚ | Write | docs/x.md | would be 1 line");
        assert_eq!(body(&call(Status::Rejected, new())), "code md 1\n| # X\n");
    }

    #[test]
    fn a_file_that_was_there() {
        let with_hunks =
            Writing { hunks: from_texts("# Y\n", "# X\n", Some(1)), original: Some("# Y\n".into()), new: Some(false), ..writing() };
        assert_eq!(head(&call(Status::Succeeded, with_hunks.clone())), "✚ | Write | docs/x.md | +1 −1");
        assert_eq!(head(&call(Status::Failed, with_hunks.clone())), "✚ | Write | docs/x.md | would be +1 −1");
        let without = Writing { hunks: Vec::new(), user_modified: true, ..with_hunks.clone() };
        assert_eq!(head(&call(Status::Succeeded, without.clone())), "✚ | Write | docs/x.md | 1 line, edited by you");
        let diff = "hunk\n1 · -# Y\n· 1 +# X\n";
        assert_eq!(body(&call(Status::Succeeded, with_hunks)), diff);
        assert_eq!(body(&call(Status::Succeeded, without)), format!("Info You changed the proposal before it was written.\n{diff}"));
        let same = Writing { original: Some("# X\n".into()), ..writing() };
        assert_eq!(body(&call(Status::Succeeded, same)), "Info The text is the same as before.\ncode md 1\n| # X\n");
    }
}
