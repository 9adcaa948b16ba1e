//! Searches: of the web, and of tools. Older logs keep the query, not the answer of the web.

use super::CodexCall;
use super::bag::text_in;
use crate::codex::result::tool_names;
use serde_json::Value;
use tooltrail_model::detail::{Detail, ToolSearch, WebLink, WebSearch};

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
    let results = found(call);
    let mut search = WebSearch { query, opened, results, ..WebSearch::default() };
    if search.query.is_empty() && search.opened.is_none() {
        search.query = call.script.take().unwrap_or_default().to_owned();
    }
    Detail::WebSearch(search)
}

/// The pages that were found. A result that is no page of the web is left over, to be shown.
fn found(call: &mut CodexCall<'_>) -> Option<Vec<WebLink>> {
    call.produced.drop(&["action", "query"]);
    // Anything but a list stays, too.
    call.produced.peek("results").filter(|results| results.is_array())?;
    let (mut links, mut other) = (Vec::new(), Vec::new());
    for result in call.produced.list(&["results"]) {
        match link(&result) {
            Some(link) => links.push(link),
            None => other.push(result),
        }
    }
    if !other.is_empty() {
        call.produced.put("results", other);
    }
    Some(links)
}

/// `{"type":"text_result","title":…,"url":…,"snippet":…}`.
fn link(result: &Value) -> Option<WebLink> {
    let url = text_in(result, &["url"])?;
    let title = text_in(result, &["title"]).unwrap_or_else(|| url.clone());
    Some(WebLink { title, url, snippet: text_in(result, &["snippet", "description"]) })
}

/// `web__run`: several searches, pages and texts to find at once. The first is the title; the rest is left over, to be shown.
pub(super) fn run(call: &mut CodexCall<'_>) -> Detail {
    let query = first(call, &["search_query", "image_query"], &["q"]);
    let opened = if query.is_none() { first(call, &["open", "find", "click", "screenshot"], &["ref_id"]) } else { None };
    let results = found(call);
    Detail::WebSearch(WebSearch { query: query.unwrap_or_default(), opened, results, ..WebSearch::default() })
}

/// A text of the first entry of some list. The list is taken only where that text is all there is in it.
fn first(call: &mut CodexCall<'_>, lists: &[&str], keys: &[&str]) -> Option<String> {
    lists.iter().find_map(|name| {
        let list = call.input.peek(name)?.as_array()?;
        let text = text_in(list.first()?, keys).filter(|text| !text.is_empty())?;
        let alone = list.len() == 1 && list.first().and_then(Value::as_object).is_some_and(|entry| entry.len() == 1);
        if alone {
            call.input.drop(&[name]);
        }
        Some(text)
    })
}

/// A search for tools.
pub(super) fn tools(call: &mut CodexCall<'_>) -> Detail {
    let query = call.input.text(&["query"]).unwrap_or_default();
    let found = tool_names(call.produced.take("tools").as_ref());
    call.produced.drop(&["execution"]);
    Detail::ToolSearch(ToolSearch { query, found, total: None })
}
