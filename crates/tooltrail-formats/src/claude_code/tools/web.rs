//! The web: searches and pages, by the agent's own tools and by the service's.

use super::super::content::text;
use super::ToolCall;
use super::fields::texts;
use serde_json::Value;
use tooltrail_model::content::Content;
use tooltrail_model::detail::{Detail, WebFetch, WebLink, WebSearch};

/// `WebSearch`, and the service's `web_search`.
pub(super) fn search(call: &mut ToolCall<'_>) -> Detail {
    let (input, produced) = (&mut call.input, &mut call.produced);
    let mut search = WebSearch {
        query: input.string("query").or_else(|| produced.string("query")).unwrap_or_default(),
        allowed: input.take("allowed_domains", texts).unwrap_or_default(),
        blocked: input.take("blocked_domains", texts).unwrap_or_default(),
        ..WebSearch::default()
    };
    produced.drop(&["query", "durationSeconds"]);
    // Taken only where all of it was read; otherwise it is shown as it is.
    let listed = produced.peek("results");
    if listed.is_some_and(|results| structured(results, &mut search)) {
        produced.drop(&["results"]);
    }
    // The text repeats what the structured result has.
    if search.results.is_none()
        && search.prose.is_empty()
        && let Some(text) = call.answer()
    {
        spoken(&text, &mut search);
    }
    if search.results.is_none() && listed.and_then(Value::as_array).is_some_and(Vec::is_empty) {
        search.results = Some(Vec::new());
    }
    if search.results.is_none() {
        // The service's own tool returns its results as blocks of a kind of their own.
        let links: Vec<WebLink> = others(call.ask.seen).filter_map(link).collect();
        search.results = (!links.is_empty()).then_some(links);
    }
    Detail::WebSearch(search)
}

/// Blocks of kinds that only one tool knows.
fn others(seen: &[Content]) -> impl Iterator<Item = &Value> {
    seen.iter().filter_map(|content| if let Content::Other { value } = content { Some(value) } else { None })
}

/// Takes over results in any shape: pages, lists of pages, objects with such lists in them, addresses, or words about them. Whether all of
/// it was understood.
fn structured(result: &Value, search: &mut WebSearch) -> bool {
    match result {
        Value::String(text) if is_address(text) => {
            search.results.get_or_insert_default().push(WebLink { url: text.clone(), title: text.clone(), ..WebLink::default() });
            true
        }
        Value::String(prose) => {
            add(prose, search);
            true
        }
        // All of them are read, whatever one of them is.
        Value::Array(items) => items.iter().filter(|item| !structured(item, search)).count() == 0,
        Value::Object(fields) => {
            if let Some(link) = link(result) {
                search.results.get_or_insert_default().push(link);
                return true;
            }
            // All fields are read, whatever one of them is.
            fields.iter().filter(|(key, value)| !inside(key, value, search)).count() == 0
        }
        _ => false,
    }
}

/// Takes over a field of an object that is no page itself: a list of pages, or what says where they come from.
fn inside(key: &str, value: &Value, search: &mut WebSearch) -> bool {
    match value {
        // An empty list of pages says that nothing was found.
        Value::Array(items) if items.iter().all(|item| item.is_object() || item.is_array()) => {
            search.results.get_or_insert_default();
            structured(value, search)
        }
        _ => matches!(key, "tool_use_id" | "type"),
    }
}

/// Whether a text is an address and nothing else.
fn is_address(text: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme)) && !text.contains(char::is_whitespace)
}

/// A page that was found.
fn link(value: &Value) -> Option<WebLink> {
    let url = text(value, "url")?.to_owned();
    let snippet = ["snippet", "page_age"].iter().find_map(|key| text(value, key)).map(str::to_owned);
    Some(WebLink { title: text(value, "title").unwrap_or_default().to_owned(), url, snippet })
}

/// `Web search results for query: "…"`, then `Links: […]`, then words about them.
fn spoken(text: &str, search: &mut WebSearch) {
    // The reminder is for the model.
    let text = text.split("\n\nREMINDER: You MUST include").next().unwrap_or(text);
    let text = match text.strip_prefix("Web search results for query: ") {
        Some(rest) => rest.split_once("\n\n").map_or("", |(_, rest)| rest),
        None => text,
    };
    let mut prose = String::new();
    for line in text.lines() {
        let links = line.strip_prefix("Links: ").and_then(|list| serde_json::from_str::<Vec<Value>>(list).ok());
        match links {
            Some(links) => {
                search.results.get_or_insert_default().extend(links.iter().filter_map(link));
                add(&std::mem::take(&mut prose), search);
            }
            None if line == "No links found." => search.results = Some(Vec::new()),
            None => {
                prose.push_str(line);
                prose.push('\n');
            }
        }
    }
    add(&prose, search);
}

/// Adds words about what was found.
fn add(prose: &str, search: &mut WebSearch) {
    search.prose.extend(Some(prose.trim()).filter(|prose| !prose.is_empty()).map(str::to_owned));
}

/// `WebFetch`, and the service's `web_fetch`.
pub(super) fn fetch(call: &mut ToolCall<'_>) -> Detail {
    let (input, produced) = (&mut call.input, &mut call.produced);
    let url = input.string("url").or_else(|| produced.string("url")).unwrap_or_default();
    let code = produced.number("code");
    let words = produced.string("codeText").unwrap_or_default();
    let bytes = produced.number("bytes");
    let answer = produced.string("result");
    // The final address is shown only if it is another page.
    if produced.peek("url").and_then(Value::as_str) == Some(&url) {
        produced.drop(&["url"]);
    }
    produced.drop(&["durationMs"]);
    let page = || others(call.ask.seen).find_map(|value| value.pointer("/content/source/data").and_then(Value::as_str)).map(str::to_owned);
    Detail::WebFetch(WebFetch {
        url,
        prompt: input.string("prompt"),
        code: code.map(|code| (code, words)),
        bytes,
        answer: answer.or_else(|| call.answer()).or_else(page),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_are_read_in_any_shape() {
        let page = json!({"title": "T", "url": "https://example.org/t"});
        let table = [
            (json!([{"tool_use_id": "x", "content": [page]}, "Words."]), true, Some(1), 1),
            (json!([page]), true, Some(1), 0),
            (json!([[page], [page]]), true, Some(2), 0),
            (json!({"web": [page]}), true, Some(1), 0),
            (json!(["https://example.org/t"]), true, Some(1), 0),
            (json!([{"tool_use_id": "x", "content": []}]), true, Some(0), 0),
            (json!([]), true, None, 0),
            // What is left over is shown as it is.
            (json!([page, {"heading": "x", "tags": ["a"]}]), false, Some(1), 0),
            (json!([{"tool_use_id": "x", "content": {"error_code": "busy"}}]), false, None, 0),
            (json!([7]), false, None, 0),
        ];
        for (results, all, links, words) in table {
            let mut search = WebSearch::default();
            assert_eq!(structured(&results, &mut search), all, "{results}");
            assert_eq!((search.results.map(|links| links.len()), search.prose.len()), (links, words), "{results}");
        }
    }

    #[test]
    fn links_and_words_are_told_apart() {
        let mut search = WebSearch::default();
        spoken(
            "Web search results for query: \"q\"\n\nLinks: [{\"title\":\"T\",\"url\":\"https://example.com\"}]\n\nIt says so.\n\n\
             REMINDER: You MUST include the sources above",
            &mut search,
        );
        assert_eq!(search.results.map(|links| links.len()), Some(1));
        assert_eq!(search.prose, ["It says so."]);
    }
}
