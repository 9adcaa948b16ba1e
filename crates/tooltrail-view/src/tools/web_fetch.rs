//! A page of the web that is read.
//!
//! ```text
//! ⇩ WebFetch   docs.rs/axum                200 · 38 kB   2.1 s ✓
//!   for   how to stream
//!   the answer
//! ```

use super::{ToolView, other, title};
use crate::head::size;
use crate::links::link;
use crate::outcome::came;
use crate::pieces::{markdown, section};
use crate::{Block, Head, Limits, Line};
use tooltrail_model::detail::Detail;
use tooltrail_model::transcript::Story;

/// View of fetched web pages.
pub(super) struct WebFetchView;

impl ToolView for WebFetchView {
    fn name(&self) -> &'static str {
        "web_fetch"
    }

    fn shows(&self, call: &Story<'_>) -> bool {
        matches!(call.told.detail, Detail::WebFetch(_))
    }

    fn head(&self, call: &Story<'_>) -> Head {
        let Detail::WebFetch(fetch) = &call.told.detail else { return Head::default() };
        // The scheme is the same for nearly all pages and only takes space.
        let title = title(call).without_start("https://");
        let code = fetch.code.as_ref().map(|(code, _)| Line::from(code.to_string()));
        let facts = code.into_iter().chain(fetch.bytes.map(size).map(Line::from)).filter(|_| came(call)).collect();
        Head { icon: "⇩", name: call.row.tool.into(), title, facts }
    }

    fn body(&self, call: &Story<'_>, limits: &Limits) -> Vec<Block> {
        let Detail::WebFetch(fetch) = &call.told.detail else { return Vec::new() };
        let words = fetch.code.as_ref().map(|(code, words)| format!("{code} {words}"));
        let mut body = vec![Block::Links { links: vec![link(&fetch.url, &fetch.url, words.as_deref())] }];
        body.extend(fetch.prompt.iter().map(|text| section("prompt", true, vec![markdown(text, limits)])));
        // Some tools return the page itself, others an answer about it; both are prose.
        match &fetch.answer {
            Some(answer) => body.push(markdown(answer, limits)),
            None => body.extend(other::output(call, limits)),
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{facts, text_of, worked};
    use tooltrail_model::{Kind, detail};

    #[test]
    fn a_page_with_its_answer() {
        let fetch = detail::WebFetch {
            url: "https://docs.rs/axum".into(),
            prompt: Some("how".into()),
            code: Some((200, "OK".into())),
            bytes: Some(38_000),
            answer: Some("So.".into()),
        };
        let call = worked("WebFetch", Kind::WebFetch, Detail::WebFetch(fetch));
        let head = WebFetchView.head(&call);
        assert_eq!((head.title.text().as_str(), facts(&head.facts)), ("docs.rs/axum", vec!["200".to_owned(), "38 kB".to_owned()]));
        assert_eq!(text_of(&WebFetchView.body(&call, &Limits::PAGE)), "https://docs.rs/axum\nprompt\nhow\nSo.\n");
    }
}
