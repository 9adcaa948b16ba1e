//! A search of the web.
//!
//! ```text
//! ◎ WebSearch   "rust sse axum"            8 results   1.2 s ✓
//!   Server-sent events   docs.rs
//! ```

use super::{ToolView, other, title};
use crate::head::counted;
use crate::links::link;
use crate::outcome::came;
use crate::pieces::{FieldList, markdown, notice};
use crate::{Block, Head, Limits};
use tooltrail_model::content::words;
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::{Level, Story};

/// View of web searches.
pub(super) struct WebSearchView;

impl ToolView for WebSearchView {
    fn name(&self) -> &'static str {
        "web_search"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::WebSearch(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::WebSearch(search) = &call.told.detail else { return Head::default() };
        let results = search.results.as_ref().filter(|_| came(call));
        let facts = results.map(|results| counted(results.len() as u64, "result").into()).into_iter().collect();
        Head { icon: "◎", name: call.row.tool.into(), title: title(call), facts }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::WebSearch(search) = &call.told.detail else { return Vec::new() };
        let mut fields = FieldList::default();
        fields.add_some("only from", Some(search.allowed.join(", ")).filter(|sites| !sites.is_empty()).as_deref());
        fields.add_some("not from", Some(search.blocked.join(", ")).filter(|sites| !sites.is_empty()).as_deref());
        let mut body: Vec<Block> = fields.block().into_iter().collect();
        body.extend(search.opened.iter().map(|page| Block::Links { links: vec![link(page, page, None)] }));
        match search.results.as_deref() {
            Some([]) if came(call) => body.push(notice(Level::Info, "No matches.")),
            Some([]) => {}
            Some(results) => {
                let links = results.iter().map(|page| link(&page.title, &page.url, page.snippet.as_deref())).collect();
                body.push(Block::Links { links });
            }
            None if !search.prose.is_empty() => {}
            // A result without text for the model only repeats the request, so it is not shown.
            None if came(call) && unsaid(call) => body.push(notice(Level::Info, "The log does not keep what was found.")),
            None => body.extend(other::output(call, limits)),
        }
        body.extend(search.prose.iter().filter(|text| !text.trim().is_empty()).map(|text| markdown(text, limits)));
        body
    }
}

/// Whether the log contains no text that the model was given.
fn unsaid(call: &Story<'_>) -> bool {
    call.answer.as_ref().is_none_or(|answer| words(&answer.seen).trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, story, worked};
    use tooltrail_model::{Kind, Status, detail};

    fn search() -> Detail {
        let page = |title: &str, url: &str| detail::WebLink { title: title.into(), url: url.into(), snippet: None };
        let results = vec![page("Events", "https://docs.rs/axum"), page("Bad", "javascript:alert(1)")];
        let prose = vec!["Two **pages**.".to_owned()];
        Detail::WebSearch(detail::WebSearch { query: "rust sse".into(), results: Some(results), prose, ..detail::WebSearch::default() })
    }

    #[test]
    fn pages_are_listed_and_only_safe_ones_offered() {
        let call = worked("WebSearch", Kind::WebSearch, search());
        let head = WebSearchView.head(&call);
        assert_eq!((head.title.text().as_str(), facts(&head.facts)), ("\"rust sse\"", vec!["2 results".to_owned()]));
        let body = WebSearchView.body(&call, &Limits::PAGE);
        let [Block::Links { links }, Block::Markdown { .. }] = body.as_slice() else { panic!("{body:?}") };
        assert_eq!((links[0].url.as_deref(), links[0].place.text().as_str()), (Some("https://docs.rs/axum"), "docs.rs"));
        // Shown as text, never as a link.
        assert_eq!((links[1].url.as_deref(), links[1].place.text().as_str()), (None, "javascript:alert(1)"));
    }

    #[test]
    fn a_request_is_no_result() {
        let bare = detail::WebSearch { query: "rust sse".into(), ..detail::WebSearch::default() };
        let mut call = crate::sample::answered(story("web_search_call", Kind::WebSearch, Status::Succeeded, Detail::WebSearch(bare)), "");
        if let Some(answer) = &mut call.answer {
            answer.produced = Some(serde_json::json!({"action": {"type": "search", "query": "rust sse"}}));
        }
        assert_eq!(crate::sample::text_of(&WebSearchView.body(&call, &Limits::PAGE)), "The log does not keep what was found.\n");
    }

    #[test]
    fn a_search_without_an_answer_claims_nothing() {
        assert!(WebSearchView.head(&story("WebSearch", Kind::WebSearch, Status::Running, search())).facts.is_empty());
    }
}
