//! Tools of MCP servers. The answer is what the model saw; an end adds little to it.

use super::CodexCall;
use super::bag::Bag;
use crate::served::{self, ServedAnswer};
use serde_json::Value;
use tooltrail_model::detail::{Detail, Mcp};
use tooltrail_model::{Kind, Status};

pub(super) fn detail(call: &mut CodexCall<'_>) -> Detail {
    let server = call.ask.server.or_else(|| super::server(call.ask.tool)).unwrap_or_default().to_owned();
    let tool = call.ask.tool.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(&*server)).and_then(|rest| rest.strip_prefix("__"));
    let tool = tool.unwrap_or(call.ask.tool).to_owned();
    call.produced.drop(&["invocation", "server", "tool", "arguments", "error"]);
    // The content is shown as seen; structured content and metadata are kept.
    if let Some(result) = call.produced.take("result") {
        let inner = result.get("Ok").or_else(|| result.get("Err")).unwrap_or(&result);
        for (key, value) in inner.as_object().into_iter().flatten() {
            if !matches!(key.as_str(), "content" | "isError" | "is_error") && !value.is_null() {
                call.produced.put(key, Value::clone(value));
            }
        }
    }
    served(call, &server, &tool).unwrap_or(Detail::Mcp(Mcp { server, tool }))
}

/// A shell or a file tool of a server.
fn served(call: &mut CodexCall<'_>, server: &str, tool: &str) -> Option<Detail> {
    // A scan decides what the call is; here it is only read.
    if call.ask.kind == Kind::Mcp {
        return None;
    }
    let status = call.ask.status;
    let ran = matches!(status, Status::Succeeded | Status::Answered | Status::Failed | Status::TimedOut | Status::Interrupted);
    let failed = !matches!(status, Status::Succeeded | Status::Answered | Status::Running | Status::Unanswered);
    let answer = ServedAnswer { text: call.header.body, answered: call.ask.answered, failed, ran };
    let read = served::detail(server, tool, call.ask.input, answer)?;
    if read.printed {
        call.error = None;
    }
    call.input = Bag::of(Some(&Value::Object(read.rest)));
    Some(read.detail)
}
