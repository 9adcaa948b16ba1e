//! Pages from the web, MCP servers and their pictures: results that are lists of blocks.

use super::{PlannedCall, ToolReply, ToolScene};
use crate::json::{list, quoted, text_of};

pub(super) fn fetch(scene: &mut ToolScene<'_>) -> PlannedCall {
    let page = scene.pool.prose(scene.rng, 100, if scene.brief { 200 } else { 1500 });
    let url = format!("https://example.com/{}", scene.pool.words.name(scene.rng));
    let question = scene.pool.phrase(scene.rng);
    let input = text_of(|o| {
        o.text("url", &url).text("prompt", &question);
    });
    let structured = text_of(|o| {
        // HTML is several times larger than the text that is made of it.
        o.number("bytes", page.len() * 7)
            .number("code", 200)
            .text("codeText", "OK")
            .text("result", page)
            .number("durationMs", scene.rng.between(200, 9000))
            .text("url", &url);
    });
    PlannedCall::new("WebFetch", input, ToolReply::ok(quoted(page), structured))
}

pub(super) fn query(scene: &mut ToolScene<'_>) -> PlannedCall {
    let rows = scene.pool.prose(scene.rng, 100, if scene.brief { 200 } else { 1500 });
    let input = text_of(|o| {
        o.text("table", scene.pool.words.word(scene.rng)).number("limit", scene.rng.between(1, 500));
    });
    let content = list([text_block(rows)]);
    // MCP results are the same on both sides.
    PlannedCall::new("mcp__warehouse__query", input, ToolReply::ok(content.clone(), content))
}

pub(super) fn screenshot(scene: &mut ToolScene<'_>) -> PlannedCall {
    // Screenshots are the longest lines of real logs.
    let length = if scene.brief { 4000 } else { scene.rng.long_tailed(130_000.0, 0.8).clamp(4000, 2_000_000) };
    let data = scene.pool.base64(scene.rng, length);
    let content = list([text_of(|o| {
        o.text("type", "image").object("source", |o| {
            o.text("type", "base64").text("data", &data).text("media_type", "image/png");
        });
    })]);
    PlannedCall::new("mcp__browser__screenshot", "{}".to_owned(), ToolReply::ok(content.clone(), content))
}

/// One text block of a result.
pub(super) fn text_block(escaped: &str) -> String {
    text_of(|o| {
        o.text("type", "text").text("text", escaped);
    })
}
