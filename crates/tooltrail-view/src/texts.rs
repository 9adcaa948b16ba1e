//! Texts as blocks, recognised by their form where their kind is unknown.
//!
//! Tool views, messages and the frame of calls make their blocks with these, so that the same text looks the same
//! everywhere.

use crate::head::{count, size};
use crate::line::Class;
use crate::pieces::{FieldList, markdown, plain, terminal};
use crate::{Block, Limits, Line, json};
use serde_json::Value;
use tooltrail_model::content::{Content, Image};
pub(crate) use tooltrail_model::detail::gist;

/// A text whose lines matter.
pub(crate) fn code(text: &str, limits: &Limits) -> Block {
    Block::Code(plain(None, text, limits))
}

/// A text of unknown kind: JSON, coloured output of a program, prose in Markdown, or plain lines.
pub(crate) fn sniffed(text: &str, limits: &Limits) -> Block {
    if let Some(value) = as_json(text) {
        return json::block(&value, limits);
    }
    if text.contains('\u{1b}') {
        return Block::Terminal(terminal(text, limits));
    }
    if is_markdown(text) { markdown(text, limits) } else { code(text, limits) }
}

/// The object or list that a text contains.
pub(crate) fn as_json(text: &str) -> Option<Value> {
    let text = text.trim();
    // Checked first, because parsing a large text just to fail is slow.
    let framed = (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    if framed { serde_json::from_str(text).ok() } else { None }
}

/// Whether a text can hardly be anything but Markdown. A single `#` is a comment as often as a heading.
fn is_markdown(text: &str) -> bool {
    let telling = |line: &str| line.starts_with("## ") || line.starts_with("### ") || line.starts_with("```") || line.contains("](http");
    // Enough lines to find a heading; reading a whole output for it is not worth it.
    text.lines().take(200).any(telling)
}

/// Content of a result, part by part. Pictures are shown wherever they stand.
pub(crate) fn content(content: &[Content], limits: &Limits) -> Vec<Block> {
    content.iter().flat_map(|piece| piece_of(piece, limits)).collect()
}

fn piece_of(content: &Content, limits: &Limits) -> Vec<Block> {
    match content {
        Content::Text { text } if text.trim().is_empty() => Vec::new(),
        Content::Text { text } => vec![sniffed(text, limits)],
        Content::Image(image) => vec![picture(image, "image")],
        Content::Document { title, media, text, bytes } => {
            let mut about = FieldList::default();
            about.add_some("document", title.as_deref());
            about.add_some("type", media.as_deref());
            about.add_some("size", Some(*bytes).filter(|&bytes| bytes > 0).map(size).as_deref());
            let text = text.as_deref().map(|text| code(text, limits));
            about.block().into_iter().chain(text).collect()
        }
        Content::Tool { name } => vec![Block::Fields { fields: vec![(Line::of(Class::Dim, "tool"), name.as_str().into())] }],
        Content::Other { value } => vec![json::block(value, limits)],
    }
}

/// A picture with a description for readers who cannot see it.
pub(crate) fn picture(image: &Image, name: &str) -> Block {
    let mut alt = name.to_owned();
    if !image.media.is_empty() {
        alt = format!("{alt}, {}", image.media);
    }
    if let Some((width, height)) = image.size {
        alt = format!("{alt}, {}×{}", count(width.into()), count(height.into()));
    }
    // Base64 uses four characters for three bytes.
    let held = || image.data.as_ref().map(|data| data.len() as u64 / 4 * 3);
    if let Some(bytes) = image.bytes.or_else(held) {
        alt = format!("{alt}, {}", size(bytes));
    }
    Block::Image { image: image.clone(), alt: alt.into() }
}

/// Visits every line of text in some blocks, in order. Names of sections and fields are not included.
pub(crate) fn walk(blocks: &[Block], see: &mut dyn FnMut(&str)) {
    blocks.iter().for_each(|block| walk_block(block, see));
}

fn walk_block(block: &Block, see: &mut dyn FnMut(&str)) {
    let mut all = |lines: &[Line]| lines.iter().for_each(|line| see(&line.text()));
    match block {
        Block::Code(code) => all(&code.lines),
        Block::Diff(diff) => diff.hunks.iter().flat_map(|hunk| &hunk.lines).for_each(|line| see(&line.line.text())),
        Block::Terminal(terminal) => {
            all(&terminal.command);
            all(&terminal.lines);
        }
        Block::Json { lines, .. } => all(lines),
        Block::Markdown { text, .. } => text.lines().for_each(see),
        Block::Image { alt, .. } => see(&alt.text()),
        Block::Table { rows, .. } => rows.iter().for_each(|row| all(row)),
        Block::Fields { fields } => fields.iter().for_each(|(_, value)| see(&value.text())),
        Block::Todos { items } => items.iter().for_each(|item| see(&item.text.text())),
        Block::Questions { questions } => questions.iter().for_each(|question| {
            all(std::slice::from_ref(&question.text));
            question.options.iter().for_each(|(label, _, _)| all(std::slice::from_ref(label)));
            all(&question.free);
        }),
        Block::Links { links } => links.iter().for_each(|link| see(&link.title.text())),
        Block::Files { groups, .. } => groups.iter().for_each(|(_, names)| all(names)),
        Block::Notice { text, .. } => see(&text.text()),
        Block::Nested { .. } => {}
        Block::Section { body, .. } => walk(body, see),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gist_says_if_there_is_more() {
        assert_eq!(gist("\n first \nsecond"), "first …");
        assert_eq!(gist("only"), "only");
    }

    #[test]
    fn texts_are_told_apart_by_their_looks() {
        assert!(matches!(sniffed("{\"a\": 1}", &Limits::PAGE), Block::Json { .. }));
        assert!(matches!(sniffed("{not json}", &Limits::PAGE), Block::Code(_)));
        assert!(matches!(sniffed("\u{1b}[31mred", &Limits::PAGE), Block::Terminal(_)));
        assert!(matches!(sniffed("## Head\ntext", &Limits::PAGE), Block::Markdown { .. }));
        assert!(matches!(sniffed("# comment\nls", &Limits::PAGE), Block::Code(_)));
    }

    #[test]
    fn pictures_come_from_native_blocks() {
        let image = Image { media: "image/png".into(), data: Some("AAAA".into()), size: Some((640, 480)), ..Image::default() };
        let blocks = content(&[Content::text("see"), Content::Image(image)], &Limits::PAGE);
        let [Block::Code(_), Block::Image { alt, .. }] = blocks.as_slice() else { panic!("{blocks:?}") };
        assert_eq!(alt.text(), "image, image/png, 640×480, 3 B");
    }
}
