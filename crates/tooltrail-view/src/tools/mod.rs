//! Views by kind of tool, one file each. To add one: a file here and a line in [`TOOLS`].
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

use crate::{Block, Head, Limits};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{story, worked};
    use tooltrail_model::detail::*;
    use tooltrail_model::{Kind, Status};

    /// One empty detail of each kind whose view must not fail on it.
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
    fn the_last_view_shows_anything() {
        assert_eq!(TOOLS.last().map(|view| view.name()), Some("other"));
        let names: Vec<&str> = TOOLS.iter().map(|view| view.name()).collect();
        let mut sorted = names.clone();
        sorted.sort_by_key(|name| (*name == "other", *name));
        assert_eq!(names, sorted);
    }
}
