//! Searches: of the web, and of tools. Codex keeps the query, not the answer of the web.

use super::CodexCall;
use crate::codex::result::tool_names;
use tooltrail_model::detail::{Detail, ToolSearch, WebSearch};

/// `{"type":"search","query":…}`, `{"type":"open_page","url":…}`, `{"type":"find_in_page","url":…,"pattern":…}`.
pub(super) fn search(call: &mut CodexCall<'_>) -> Detail {
    let opened = call.input.text(&["url"]);
    let asked = call.input.text(&["query", "pattern"]);
    let mut queries = call.input.texts(&["queries"]);
    let query = asked.or_else(|| queries.first().cloned()).unwrap_or_default();
    // Further queries are left over, to be shown.
    queries.retain(|other| *other != query);
    if !queries.is_empty() {
        call.input.put("queries", queries);
    }
    call.input.drop(&["type"]);
    call.produced.drop(&["action", "query"]);
    let mut search = WebSearch { query, opened, ..WebSearch::default() };
    if search.query.is_empty() && search.opened.is_none() {
        search.query = call.script.take().unwrap_or_default().to_owned();
    }
    Detail::WebSearch(search)
}

/// A search for tools.
pub(super) fn tools(call: &mut CodexCall<'_>) -> Detail {
    let query = call.input.text(&["query"]).unwrap_or_default();
    let found = tool_names(call.produced.take("tools").as_ref());
    call.produced.drop(&["execution"]);
    Detail::ToolSearch(ToolSearch { query, found, total: None })
}
