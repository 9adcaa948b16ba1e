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
use crate::pieces::{Fields, markdown, plain, section, task_state, terminal};
use crate::{Block, Head, Limits};
use tooltrail_model::detail::{Detail, TaskOutput as Output};
use tooltrail_model::transcript::Story;

/// The view of what background tasks print.
pub(super) struct TaskOutput;

impl ToolView for TaskOutput {
    fn name(&self) -> &'static str {
        "task_output"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::TaskOutput(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::TaskOutput(task) = &call.told.detail else { return Head::default() };
        Head { icon: "⤓", name: call.row.tool.into(), title: title(call), facts: facts(task) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::TaskOutput(task) = &call.told.detail else { return Vec::new() };
        let mut fields = Fields::default();
        fields.add_some("description", task.description.as_deref());
        fields.add_some("type", task.sort.as_deref());
        let mut out: Vec<Block> = fields.block().into_iter().collect();
        let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        out.extend(said(&task.sent).map(|text| section("sent", true, vec![Block::Code(plain(None, &text, limits))])));
        out.extend(said(&task.prompt).map(|text| section("prompt", false, vec![markdown(&text, limits)])));
        out.extend(said(&task.stdout).map(|text| Block::Terminal(terminal(&text, limits))));
        out.extend(said(&task.stderr).map(|text| section("stderr", true, vec![Block::Terminal(terminal(&text, limits))])));
        out.extend(said(&task.answer).map(|text| markdown(&text, limits)));
        out
    }
}

fn facts(task: &Output) -> Vec<Line> {
    let printed = [&task.stdout, &task.stderr].into_iter().flatten().map(|text| text.lines().count() as u64).sum();
    let lines = (printed > 0).then(|| counted(printed, "line"));
    let state = task.state.map(|state| task_state(state).to_owned());
    let exit = task.exit_code.map(|code| format!("exit {code}"));
    // That asking worked is seen from the answer.
    let asking = task.retrieval.as_deref().filter(|word| *word != "success").map(|word| word.replace('_', " "));
    [lines, state, exit, asking].into_iter().flatten().map(Line::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_files::{body, head, story};
    use tooltrail_model::event::TaskState;
    use tooltrail_model::{Kind, Status};

    fn call(task: Output) -> Story<'static> {
        story("TaskOutput", Kind::Task, Status::Succeeded, Detail::TaskOutput(task))
    }

    #[test]
    fn what_a_task_printed() {
        let call = call(Output {
            task: Some("b1".into()),
            description: Some("npm run watch".into()),
            state: Some(TaskState::Completed),
            retrieval: Some("success".into()),
            exit_code: Some(0),
            stdout: Some("one\ntwo\n".into()),
            stderr: Some("oh\n".into()),
            ..Output::default()
        });
        assert_eq!(head(&call), "⤓ | TaskOutput | b1 | 3 lines, completed, exit 0");
        assert_eq!(body(&call), "description: npm run watch\nterminal\n| one\n| two\nsection stderr\n  terminal\n  | oh\n");
    }

    #[test]
    fn what_was_sent_and_an_agents_answer() {
        let sent =
            call(Output { task: Some("7".into()), sent: Some("yes\n".into()), retrieval: Some("not_ready".into()), ..Output::default() });
        assert_eq!(head(&sent), "⤓ | TaskOutput | 7 ← yes␊ | not ready");
        assert_eq!(body(&sent), "section sent\n  code - -\n  | yes\n");
        let agent = call(Output { prompt: Some("Look".into()), answer: Some("Found".into()), ..Output::default() });
        assert_eq!(body(&agent), "section prompt (folded)\n  markdown Look\nmarkdown Found\n");
    }
}
