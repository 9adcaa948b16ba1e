//! A cell of a notebook that is changed.
//!
//! ```text
//! ± NotebookEdit   plots.ipynb · cell 3      +2 −1   9 ms ✓
//!     − plot(x)
//!     + plot(x, y)
//! ```

use super::{ToolView, title};
use crate::diff::{LineCounts, from_texts};
use crate::head::counted;
use crate::line::{Class, Line};
use crate::pieces::{changes, code, happened, markdown, notice};
use crate::{Block, Head, Limits};
use tooltrail_model::detail::{Detail, Notebook};
use tooltrail_model::patch::Hunk;
use tooltrail_model::transcript::{Level, Story};

/// View of edits to a notebook's cell.
pub(super) struct NotebookView;

impl ToolView for NotebookView {
    fn name(&self) -> &'static str {
        "notebook"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Notebook(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Notebook(change) = &call.told.detail else { return Head::default() };
        let mut title = title(call);
        if let Some(cell) = &change.cell {
            title.push(Class::Dim, &format!(" · cell {cell}"));
        }
        Head { icon: "±", name: call.row.tool.into(), title, facts: facts(call, change) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::Notebook(change) = &call.told.detail else { return Vec::new() };
        // With the source before, a diff shows the change best, whatever the mode.
        if let Some(hunks) = hunks(change) {
            // The language of cells is Python unless the notebook says otherwise.
            let python = change.language.as_deref().is_none_or(|language| language.eq_ignore_ascii_case("python"));
            return vec![changes(if python { "cell.py" } else { "" }, &hunks, limits)];
        }
        let mut out = Vec::new();
        if deletes(change) {
            out.push(notice(Level::Info, if happened(call) { "The cell was deleted." } else { "Not applied: the cell was not deleted." }));
        }
        if !change.source.is_empty() {
            out.push(match change.sort.as_deref() {
                Some("markdown") => markdown(&change.source, limits),
                _ => Block::Code(code(change.language.as_deref().unwrap_or("python"), Some(1), &change.source, limits)),
            });
        }
        out
    }
}

fn deletes(change: &Notebook) -> bool {
    change.mode.as_deref() == Some("delete")
}

/// The change within the cell, where the log has the source before. For an inserted cell that may be the source of its
/// neighbour, so it is not used.
fn hunks(change: &Notebook) -> Option<Vec<Hunk>> {
    let old = change.old.as_deref().filter(|_| change.mode.as_deref() != Some("insert"))?;
    let new = if deletes(change) { "" } else { &change.source };
    Some(from_texts(old, new, Some(1))).filter(|hunks| !hunks.is_empty())
}

fn facts(call: &Story<'_>, change: &Notebook) -> Vec<Line> {
    let done = happened(call);
    let what = match (change.mode.as_deref(), done) {
        (Some("insert"), true) => Some("new cell"),
        (Some("insert"), false) => Some("not applied: new cell"),
        (Some("delete"), true) => Some("deleted"),
        (Some("delete"), false) => Some("not applied: deleted"),
        _ => None,
    };
    let counts = hunks(change).map(|hunks| LineCounts::of(&hunks).line(done));
    // Without a diff the size of the new source is all that is known.
    let lines = (counts.is_none() && done && !deletes(change)).then(|| counted(change.source.lines().count() as u64, "line").into());
    what.map(Line::from).into_iter().chain(counts).chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use tooltrail_model::{Kind, Status};

    fn call(status: Status, mode: &str, change: Notebook) -> Story<'static> {
        let change = Notebook { path: "/srv/app/n.ipynb".into(), cell: Some("c3".into()), mode: Some(mode.into()), ..change };
        story("NotebookEdit", Kind::Edit, status, Detail::Notebook(change))
    }

    #[test]
    fn a_cell_is_replaced() {
        let change = Notebook { source: "plot(x, y)".into(), old: Some("plot(x)".into()), ..Notebook::default() };
        assert_eq!(head(&call(Status::Succeeded, "replace", change.clone())), "± | NotebookEdit | n.ipynb · cell c3 | +1 −1");
        assert_eq!(head(&call(Status::Rejected, "replace", change.clone())), "± | NotebookEdit | n.ipynb · cell c3 | not applied: +1 −1");
        assert_eq!(body(&call(Status::Succeeded, "replace", change)), "hunk\n1 · -plot(x)\n· 1 +plot(x, y)\n");
    }

    #[test]
    fn a_cell_comes_or_goes() {
        let text = Notebook { source: "# Title".into(), sort: Some("markdown".into()), old: Some("before".into()), ..Notebook::default() };
        assert_eq!(head(&call(Status::Succeeded, "insert", text.clone())), "± | NotebookEdit | n.ipynb · cell c3 | new cell, 1 line");
        assert_eq!(body(&call(Status::Succeeded, "insert", text)), "markdown # Title\n");
        assert_eq!(
            head(&call(Status::Failed, "delete", Notebook::default())),
            "± | NotebookEdit | n.ipynb · cell c3 | not applied: deleted"
        );
        assert_eq!(body(&call(Status::Succeeded, "delete", Notebook::default())), "Info The cell was deleted.\n");
        let code = Notebook { source: "x = 1".into(), ..Notebook::default() };
        assert_eq!(body(&call(Status::Succeeded, "replace", code)), "code python 1\n| x = 1\n");
    }
}
