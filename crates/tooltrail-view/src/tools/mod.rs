//! Views by kind of tool, one file each. To add one: a file here, a line in [`TOOLS`] and one in `details` of the tests.
//!
//! A view gets a call with its result already in it. It makes a head, which is cheap, and a body when asked. It never
//! changes the call and never looks anything up; status, hooks and raw JSON are added by the frame that all calls share.

mod agent;
mod edit;
mod glob;
mod grep;
mod list;
mod lsp;
mod mcp;
mod notebook;
mod other;
mod patch;
mod picture;
mod plan;
mod question;
mod read;
pub(crate) mod script;
mod shell;
mod skill;
mod task_output;
mod task_stop;
mod tasks;
mod todo;
mod tool_search;
mod web_fetch;
mod web_search;
mod write;

use crate::{Block, Class, Head, Limits, Line};
use tooltrail_model::detail::Emphasis;
use tooltrail_model::transcript::Story;

/// All views. The first that accepts a call shows it; the last accepts anything.
// Sorted by name except for the last; a test checks that.
pub static TOOLS: &[&dyn ToolView] = &[
    &agent::AgentView,
    &edit::EditView,
    &glob::GlobView,
    &grep::GrepView,
    &list::ListView,
    &lsp::LspView,
    &mcp::McpView,
    &notebook::NotebookView,
    &patch::PatchView,
    &picture::PictureView,
    &plan::PlanView,
    &question::QuestionView,
    &read::ReadView,
    &script::ScriptView,
    &shell::ShellView,
    &skill::SkillView,
    &task_output::TaskOutputView,
    &task_stop::TaskStopView,
    &tasks::TasksView,
    &todo::TodoView,
    &tool_search::ToolSearchView,
    &web_fetch::WebFetchView,
    &web_search::WebSearchView,
    &write::WriteView,
    &other::OtherView,
];

/// View of one kind of tool.
pub trait ToolView: Sync {
    /// Name of the view, which is that of its file.
    fn name(&self) -> &'static str;

    /// Whether it shows this call.
    fn shows(&self, call: &Story<'_>) -> bool;

    /// The call in one line.
    fn head(&self, call: &Story<'_>) -> Head;

    /// The call in full.
    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block>;
}

/// The view of a call.
pub fn of(call: &Story<'_>) -> &'static dyn ToolView {
    TOOLS.iter().copied().find(|view| view.shows(call)).unwrap_or(&other::OtherView)
}

/// What a call is about, as rows and tables say it too. A head begins with it and may add what the result says.
fn title(call: &Story<'_>) -> Line {
    let about = call.told.detail.about(&call.input, call.row.cwd).unwrap_or_default();
    about.runs().iter().fold(Line::default(), |line, (emphasis, text)| {
        let class = match emphasis {
            Emphasis::Plain => Class::Plain,
            Emphasis::Dim => Class::Dim,
            Emphasis::Strong => Class::Strong,
            Emphasis::Path => Class::Path,
        };
        line.with(class, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{story, worked};
    use std::collections::BTreeSet;
    use tooltrail_model::detail::*;
    use tooltrail_model::{Kind, Status};

    /// One empty detail for each view. Those whose heads say what would be changed are in `pieces`.
    fn details() -> Vec<Detail> {
        vec![
            Detail::Todo(Todo::default()),
            Detail::Tasks(Tasks::default()),
            Detail::Agent(Agent::default()),
            Detail::Glob(Glob::default()),
            Detail::Grep(Grep::default()),
            Detail::List(List::default()),
            Detail::WebSearch(WebSearch::default()),
            Detail::WebFetch(WebFetch::default()),
            Detail::Question(Questions::default()),
            Detail::Plan(Plan::default()),
            Detail::Skill(Skill::default()),
            Detail::ToolSearch(ToolSearch::default()),
            Detail::Lsp(Lsp::default()),
            Detail::Mcp(Mcp::default()),
            Detail::Script(ScriptDetail::default()),
            Detail::Other,
        ]
    }

    #[test]
    fn views_have_icons_of_one_column_and_claim_nothing_without_a_result() {
        for detail in details() {
            let view = of(&worked("Tool", Kind::Other, detail.clone()));
            for &status in Status::ALL {
                let call = story("Tool", Kind::Other, status, detail.clone());
                let head = view.head(&call);
                assert_eq!(unicode_width::UnicodeWidthStr::width(head.icon), 1, "{}", view.name());
                assert!(head.facts.is_empty(), "{} {status:?} {:?}", view.name(), head.facts);
                // Whatever the view shows, the frame must say first how the call ended.
                let body = crate::call::body(&call, &Limits::PAGE);
                let quiet = matches!(status, Status::Succeeded | Status::Answered);
                assert!(quiet || matches!(body.first(), Some(Block::Notice { .. })), "{} {status:?} {body:?}", view.name());
            }
        }
    }

    #[test]
    fn every_view_is_tried_without_a_result() {
        let tried = details().into_iter().chain(crate::pieces::tests::details());
        let tried: BTreeSet<&str> = tried.map(|detail| of(&worked("Tool", Kind::Other, detail)).name()).collect();
        for view in TOOLS {
            assert!(tried.contains(view.name()), "add an empty detail for the view `{}` to `details` above", view.name());
        }
    }

    #[test]
    fn the_last_view_shows_anything() {
        assert_eq!(TOOLS.last().map(|view| view.name()), Some("other"));
        let names: Vec<&str> = TOOLS.iter().map(|view| view.name()).collect();
        let mut sorted = names.clone();
        sorted.sort_by_key(|name| (*name == "other", *name));
        assert_eq!(names, sorted);
    }
}
