//! Background tasks: asking for their output, and stopping them. `BashOutput`, `TaskOutput`, `KillShell`, `TaskStop` and their kin.

use super::super::outcome::task_state;
use super::ToolCall;
use super::fields::FieldTaker;
use serde_json::Value;
use tooltrail_model::detail::{Detail, TaskOutput, TaskStop};

/// `TaskOutput`, and `BashOutput` before it.
pub(super) fn output(call: &mut ToolCall<'_>) -> Detail {
    let asked = ["task_id", "bash_id", "shell_id", "agentId"].into_iter().find_map(|key| call.input.name(key));
    let mut out = TaskOutput { task: asked, ..TaskOutput::default() };
    if call.failed || !call.ask.answered {
        return Detail::TaskOutput(out);
    }
    out.retrieval = call.produced.string("retrieval_status");
    // A task has an object of its own; a shell's fields are at the top.
    if call.produced.within("task", |task| structured(task, &mut out)).is_none() && call.produced.exist() {
        structured(&mut call.produced, &mut out);
    }
    if !call.produced.exist() {
        spoken(&call.seen, &mut out);
    }
    if let Some(saved) = &call.saved {
        out.stdout = out.stdout.take().map(|text| without_note(&text, &saved.path).to_owned());
    }
    Detail::TaskOutput(out)
}

/// Takes over the fields of `toolUseResult`: of a shell at the top, of a task in an object of its own.
fn structured(fields: &mut FieldTaker<'_>, out: &mut TaskOutput) {
    let id = ["task_id", "shellId"].into_iter().find_map(|key| fields.name(key));
    out.task = out.task.take().or(id);
    out.sort = fields.string("task_type");
    let command = fields.string("command");
    out.description = command.or_else(|| fields.string("description"));
    out.state = fields.text("status").map(task_state);
    out.exit_code = fields.code("exitCode");
    let printed = fields.string("output");
    out.stdout = fields.string("stdout").or(printed);
    out.stderr = fields.string("stderr").filter(|text| !text.is_empty());
    out.prompt = fields.string("prompt");
    out.answer = fields.string("result");
    // The output of an agent repeats its answer.
    if out.answer.is_some() && out.answer.as_deref().map(str::trim) == out.stdout.as_deref().map(str::trim) {
        out.stdout = None;
    }
    fields.drop(&["stdoutLines", "stderrLines", "timestamp"]);
}

/// Takes over a result that is text: tags, with the output in the last of them.
fn spoken(text: &str, out: &mut TaskOutput) {
    // The output of a task may contain such tags itself.
    let starts = ["<output>", "<stdout>", "<stderr>"].iter().filter_map(|tag| text.find(tag));
    let (head, body) = text.split_at(starts.min().unwrap_or(text.len()));
    let field = |name: &str| super::super::tasks::tag(head, name).map(str::to_owned);
    out.retrieval = field("retrieval_status");
    out.task = out.task.take().or_else(|| field("task_id"));
    out.sort = field("task_type");
    out.state = field("status").as_deref().map(task_state);
    out.exit_code = field("exit_code").and_then(|code| code.parse().ok());
    let printed = |name: &str| {
        let inner = body.split_once(&format!("<{name}>"))?.1;
        // The last closing tag, because the output may contain one.
        let inner = inner.rsplit_once(&format!("</{name}>")).map_or(inner, |(inner, _)| inner);
        Some(inner.trim_matches('\n').to_owned())
    };
    out.stdout = printed("output").or_else(|| printed("stdout"));
    out.stderr = printed("stderr");
    if out.state.is_none() && out.retrieval.is_none() && !text.is_empty() {
        // No tags: the words are all there is.
        out.stdout = Some(text.to_owned());
    }
}

/// A text without the note that says where the rest of it is.
fn without_note<'t>(text: &'t str, path: &str) -> &'t str {
    text.strip_prefix(&format!("[Truncated. Full output: {path}]")).unwrap_or(text).trim_start_matches('\n')
}

/// `TaskStop`, and `KillShell` before it.
pub(super) fn stop(call: &mut ToolCall<'_>) -> Detail {
    let asked = ["task_id", "shell_id"].into_iter().find_map(|key| call.input.name(key));
    if call.failed || !call.ask.answered {
        return Detail::TaskStop(TaskStop { task: asked, ..TaskStop::default() });
    }
    // The model sees the same object as a text.
    let spelled: Option<Value> = serde_json::from_str(&call.seen).ok().filter(Value::is_object);
    let mut stop = if call.produced.exist() { stopped(&mut call.produced) } else { stopped(&mut FieldTaker::of(spelled.as_ref())) };
    stop.task = asked.or(stop.task);
    stop.message = stop.message.or_else(|| call.answer());
    Detail::TaskStop(stop)
}

/// The fields of the answer.
fn stopped(fields: &mut FieldTaker<'_>) -> TaskStop {
    let task = ["task_id", "shell_id"].into_iter().find_map(|key| fields.name(key));
    let message = fields.string("message");
    let command = fields.string("command").or_else(|| message.as_deref().and_then(bracketed));
    TaskStop { task, command, message }
}

/// The command in `Successfully killed shell: bash_1 (npm run dev)`.
fn bracketed(message: &str) -> Option<String> {
    let (_, rest) = message.strip_prefix("Successfully ")?.split_once(" (")?;
    rest.strip_suffix(')').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tooltrail_model::event::TaskState;

    #[test]
    fn tags_are_read_and_output_is_left_alone() {
        let mut out = TaskOutput::default();
        let text = "<retrieval_status>success</retrieval_status>\n\n<task_id>b1</task_id>\n\n<task_type>local_bash</task_type>\n\n\
                    <status>failed</status>\n\n<exit_code>3</exit_code>\n\n<output>\n<status>running</status>\nx\n</output>";
        spoken(text, &mut out);
        assert_eq!((out.state, out.exit_code), (Some(TaskState::Failed), Some(3)));
        assert_eq!(out.stdout.as_deref(), Some("<status>running</status>\nx"));
        assert_eq!(out.retrieval.as_deref(), Some("success"));
        assert_eq!(bracketed("Successfully killed shell: bash_1 (echo (a))").as_deref(), Some("echo (a)"));
    }
}
