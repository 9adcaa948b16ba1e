//! A background task that is stopped.
//!
//! ```text
//! ◼ TaskStop   bash_3                                      2 ms ✓
//!   command   npm run watch
//! ```

use super::ToolView;
use crate::pieces::{FieldList, short, words};
use crate::{Block, Head, Limits};
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;

/// View of background tasks that are stopped.
pub(super) struct TaskStopView;

impl ToolView for TaskStopView {
    fn name(&self) -> &'static str {
        "task_stop"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::TaskStop(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::TaskStop(stop) = &call.told.detail else { return Head::default() };
        // A task without an id is known by its command.
        let title = short(stop.task.as_deref().or(stop.command.as_deref()).unwrap_or_default());
        Head { icon: "◼", name: call.row.tool.into(), title, facts: Vec::new() }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::TaskStop(stop) = &call.told.detail else { return Vec::new() };
        let mut fields = FieldList::default();
        fields.add_some("command", stop.command.as_deref());
        let answer = stop.message.as_deref().map(|text| words(text, limits));
        fields.block().into_iter().chain(answer).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::sample_files::{body, head, story};
    use tooltrail_model::detail::{Detail, TaskStop};
    use tooltrail_model::{Kind, Status};

    #[test]
    fn a_task_is_named() {
        let stop = TaskStop { task: Some("b1".into()), command: Some("npm run watch".into()), message: Some("Stopped b1".into()) };
        let call = story("KillShell", Kind::Task, Status::Succeeded, Detail::TaskStop(stop));
        assert_eq!(head(&call), "◼ | KillShell | b1 | ");
        assert_eq!(body(&call), "command: npm run watch\nInfo Stopped b1\n");
    }
}
