//! A tool of an MCP server.
//!
//! ```text
//! ⇄ github · search_issues   query=is:open label:bug        12 items   900 ms ✓
//!   query   is:open label:bug
//!   [ { "number": 7, … } ]
//! ```

use super::{ToolView, other};
use crate::{Block, Class, Head, Limits, Line};
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;

/// View of MCP tools.
pub(super) struct McpView;

impl ToolView for McpView {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::Mcp(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::Mcp(mcp) = &call.told.detail else { return Head::default() };
        let name = Line::from(mcp.server.as_str()).with(Class::Dim, " · ").with(Class::Plain, &mcp.tool);
        Head { icon: "⇄", name, title: other::title(&call.input), facts: other::facts(call) }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        // Nothing is known about an MCP tool's fields, so they are shown as any unknown tool's.
        let mut body = other::input(&call.input, limits);
        body.extend(other::output(call, limits));
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{answered, story, text_of};
    use crate::{call, tools};
    use serde_json::json;
    use tooltrail_model::{Kind, Reason, Status, detail};

    fn issues(status: Status, seen: &str) -> Story<'static> {
        let detail = Detail::Mcp(detail::Mcp { server: "github".into(), tool: "search_issues".into() });
        let mut call = answered(story("mcp__github__search_issues", Kind::Mcp, status, detail), seen);
        call.input = json!({"query": "is:open"});
        call
    }

    #[test]
    fn server_and_tool_are_the_name() {
        let call = issues(Status::Succeeded, r#"[{"number": 7}, {"number": 8}]"#);
        let view = tools::of(&call);
        let head = view.head(&call);
        assert_eq!((view.name(), head.name.text().as_str()), ("mcp", "github · search_issues"));
        assert_eq!((head.title.text().as_str(), head.facts[0].text().as_str()), ("query=is:open", "2 items"));
        assert!(text_of(&view.body(&call, &Limits::PAGE)).contains("\"number\": 7"));
    }

    #[test]
    fn an_error_comes_first_and_once() {
        let mut call = issues(Status::Failed, "MCP error -32603: no");
        call.row.reason = Some(Reason::McpError);
        assert_eq!(text_of(&call::body(&call, &Limits::PAGE)), "MCP error -32603: no\nis:open\n");
    }
}
