//! A search for tools.
//!
//! ```text
//! # ToolSearch   select:query              1 of 40 tools   5 ms ✓
//!   mcp__db__query
//! ```

use super::{ToolView, other, title};
use crate::block::CodeBlock;
use crate::head::{count, counted};
use crate::outcome::came;
use crate::pieces::notice;
use crate::{Block, Head, Limits, Line, cut};
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::{Level, Story};

/// View of searches for tools.
pub(super) struct ToolSearchView;

impl ToolView for ToolSearchView {
    fn name(&self) -> &'static str {
        "tool_search"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::ToolSearch(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::ToolSearch(search) = &call.told.detail else { return Head::default() };
        let found = search.found.len() as u64;
        // The total is the number of tools that exist, not of matches.
        let fact = match search.total {
            Some(total) => format!("{} of {}", count(found), counted(total, "tool")),
            None => counted(found, "tool"),
        };
        let facts = if came(call) { vec![fact.into()] } else { Vec::new() };
        Head { icon: "#", name: call.row.tool.into(), title: title(call), facts }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::ToolSearch(search) = &call.told.detail else { return Vec::new() };
        if !search.found.is_empty() {
            let (lines, elided) = cut::head(search.found.iter().map(Line::from).collect(), limits);
            return vec![Block::Code(CodeBlock { lines, elided, ..CodeBlock::default() })];
        }
        // What the tool said is shown as well: it may explain why.
        let nothing = came(call).then(|| notice(Level::Info, "No tools found."));
        nothing.into_iter().chain(other::output(call, limits)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, story, text_of, worked};
    use tooltrail_model::{Kind, Status, detail};

    #[test]
    fn tools_that_were_found() {
        let search = detail::ToolSearch { query: "db".into(), found: vec!["mcp__db__query".into()], total: Some(40) };
        let call = worked("ToolSearch", Kind::Other, Detail::ToolSearch(search.clone()));
        assert_eq!(facts(&ToolSearchView.head(&call).facts), ["1 of 40 tools"]);
        assert_eq!(text_of(&ToolSearchView.body(&call, &Limits::PAGE)), "mcp__db__query\n");
        let lost = story("ToolSearch", Kind::Other, Status::Unanswered, Detail::ToolSearch(search));
        assert!(ToolSearchView.head(&lost).facts.is_empty());
    }
}
