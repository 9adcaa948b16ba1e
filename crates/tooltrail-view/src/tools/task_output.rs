//! The output of a background task, and input that is sent to it.
//!
//! ```text
//! ⤓ TaskOutput   bash_3                      12 lines · running   2 ms ✓
//!   command   npm run watch
//!   compiled in 3 s
//! ```

use super::{ToolView, title};
use crate::head::counted;
use crate::line::Line;
use crate::pieces::{FieldList, markdown, plain, section, task_state, terminal};
use crate::{Block, Head, Limits};
use tooltrail_model::detail::{Detail, TaskOutput};
use tooltrail_model::transcript::Story;

/// View of a background task's output.
pub(super) struct TaskOutputView;

impl ToolView for TaskOutputView {
    fn name(&self) -> &'static str {
        "task_output"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::TaskOutput(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::TaskOutput(task) = &call.told.detail else { return Head::default() };
        Head { icon: "⤓", name: call.row.tool.into(), title: title(call), facts: facts(call, task) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::TaskOutput(task) = &call.told.detail else { return Vec::new() };
        let mut fields = FieldList::default();
        fields.add_some("description", task.description.as_deref());
        fields.add_some("type", task.sort.as_deref());
        // A task may be a command, an agent or a shell session, and each fills other fields.
        let mut out: Vec<Block> = fields.block().into_iter().collect();
        // Empty texts are common here: a task is often polled before it printed anything.
        let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        out.extend(said(&task.sent).map(|text| section("sent", true, vec![Block::Code(plain(None, &text, limits))])));
        out.extend(said(&task.prompt).map(|text| section("prompt", false, vec![markdown(&text, limits)])));
        out.extend(said(&task.stdout).map(|text| Block::Terminal(terminal(&text, limits))));
        out.extend(said(&task.stderr).map(|text| section("stderr", true, vec![Block::Terminal(terminal(&text, limits))])));
        out.extend(said(&task.answer).map(|text| markdown(&text, limits)));
        out
    }
}

fn facts(call: &Story<'_>, task: &TaskOutput) -> Vec<Line> {
    let of = call.polls.of.map(|number| format!("of #{number}"));
    let printed = [&task.stdout, &task.stderr].into_iter().flatten().map(|text| text.lines().count() as u64).sum();
    let lines = (printed > 0).then(|| counted(printed, "line"));
    let state = task.state.map(|state| task_state(state).to_owned());
    let exit = task.exit_code.map(|code| format!("exit {code}"));
    // A successful poll needs no remark; only other outcomes are shown.
    let asking = task.retrieval.as_deref().filter(|word| *word != "success").map(|word| word.replace('_', " "));
    [lines, state, exit, asking, of].into_iter().flatten().map(Line::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use tooltrail_model::event::TaskState;
    use tooltrail_model::{Kind, Status};

    fn call(task: TaskOutput) -> Story<'static> {
        story("TaskOutput", Kind::Task, Status::Succeeded, Detail::TaskOutput(task))
    }

    #[test]
    fn what_a_task_printed() {
        let call = call(TaskOutput {
            task: Some("b1".into()),
            description: Some("npm run watch".into()),
            state: Some(TaskState::Completed),
            retrieval: Some("success".into()),
            exit_code: Some(0),
            stdout: Some("one\ntwo\n".into()),
            stderr: Some("oh\n".into()),
            ..TaskOutput::default()
        });
        assert_eq!(head(&call), "⤓ | TaskOutput | b1 | 3 lines, completed, exit 0");
        assert_eq!(body(&call), "description: npm run watch\nterminal\n| one\n| two\nsection stderr\n  terminal\n  | oh\n");
    }

    #[test]
    fn what_was_sent_and_an_agents_answer() {
        let sent = call(TaskOutput {
            task: Some("7".into()),
            sent: Some("yes\n".into()),
            retrieval: Some("not_ready".into()),
            ..TaskOutput::default()
        });
        assert_eq!(head(&sent), "⤓ | TaskOutput | 7 ← yes␊ | not ready");
        assert_eq!(body(&sent), "section sent\n  code - -\n  | yes\n");
        let agent = call(TaskOutput { prompt: Some("Look".into()), answer: Some("Found".into()), ..TaskOutput::default() });
        assert_eq!(body(&agent), "section prompt (folded)\n  markdown Look\nmarkdown Found\n");
    }
}
