//! `write_stdin` and `wait`: input for a command or script that goes on, and what it printed since.

use super::CodexCall;
use crate::codex::markers::{self, Meaning};
use tooltrail_model::detail::{Detail, TaskOutput};
use tooltrail_model::event::TaskState;

pub(super) fn detail(call: &mut CodexCall<'_>) -> Detail {
    let task = call.input.id(&["session_id", "cell_id"]);
    let sent = call.input.text(&["chars"]);
    call.input.drop(&["chars"]);
    let exit_code = call.header.exit_code.or_else(|| call.produced.signed("exit_code"));
    let state = state(call, exit_code);
    // The message of a failed request is no output.
    let refused = state.is_none() && matches!(markers::of(call.header.body), Some(Meaning::Known(_) | Meaning::Error));
    let stdout = call.produced.text(&["aggregated_output", "stdout"]);
    let stdout = stdout.or_else(|| Some(call.header.body.to_owned())).filter(|text| !text.is_empty() && !refused);
    let stderr = call.produced.text(&["stderr"]);
    call.produced.drop(&["command", "cwd", "parsed_cmd", "formatted_output", "stdout", "aggregated_output"]);
    Detail::TaskOutput(TaskOutput { task, sent, state, exit_code, stdout, stderr, ..TaskOutput::default() })
}

/// The state of the task, from the lines in front.
fn state(call: &CodexCall<'_>, exit_code: Option<i64>) -> Option<TaskState> {
    let script = |word: &str| call.said.trim_start().starts_with(word);
    Some(match exit_code {
        Some(0) => TaskState::Completed,
        Some(_) => TaskState::Failed,
        None if call.header.running.is_some() => TaskState::Running,
        None if script("Script completed") => TaskState::Completed,
        None if script("Script failed") || script("Script error") => TaskState::Failed,
        None if script("Script terminated") => TaskState::Stopped,
        None => return None,
    })
}
