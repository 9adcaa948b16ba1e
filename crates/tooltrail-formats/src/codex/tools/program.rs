//! Scripts: `exec`, whose input is a program that calls other tools.

use super::CodexCall;
use crate::codex::script;
use crate::{DetailRequest, codex::tools};
use serde_json::Value;
use tooltrail_model::Status;
use tooltrail_model::detail::{Detail, Program};
use tooltrail_model::event::ScriptTool;
use tooltrail_model::script::ScriptCall;

pub(super) fn detail(call: &mut CodexCall<'_>) -> Detail {
    let Some(text) = call.script.take() else { return Detail::Other };
    let read = script::read(text);
    let calls = read.script.calls.iter().zip(&read.tools).map(|(call, tool)| title(call, tool)).collect();
    let printed = call.ask.answered.then(|| script::texts(call.ask.seen).join("\n"));
    Detail::Script(Program { text: text.to_owned(), language: script::LANGUAGE, calls, printed })
}

/// The title of a call in a program: what it is about, or the tool where that is computed.
fn title(call: &ScriptCall, tool: &ScriptTool) -> String {
    let input = script::input(&call.argument);
    let ask = DetailRequest {
        tool: &tool.tool,
        server: tool.server.as_deref(),
        kind: tool.kind,
        status: Status::Unanswered,
        input: &input,
        seen: &[],
        produced: None,
        answered: false,
    };
    let title = if input == Value::Null { None } else { tools::detail(&ask).detail.about(&input, None) };
    title.map(|title| title.text()).unwrap_or_else(|| format!("{}(…)", tool.tool))
}
