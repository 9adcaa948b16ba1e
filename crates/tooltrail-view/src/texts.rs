//! Texts as blocks: cut to a limit, and told apart by how they look where nobody says what they are.
//!
//! Tool views, messages and the frame of calls make their blocks with these, so that the same text looks the same everywhere.

use crate::block::{Code, Terminal};
use crate::head::{count, size};
use crate::limits::{Elided, Unit};
use crate::line::{Class, lines, neutral_text};
use crate::{Block, Limits, Line, json};
use serde_json::Value;
use tooltrail_model::content::{Content, Image};
use tooltrail_model::transcript::Level;

/// How much of a text a line gives a taste of.
const GIST: usize = 200;

/// A remark.
pub(crate) fn notice(level: Level, text: impl Into<Line>) -> Block {
    Block::Notice { level, text: text.into() }
}

/// A part with a name.
pub(crate) fn section(label: impl Into<Line>, open: bool, body: Vec<Block>) -> Block {
    Block::Section { label: label.into(), open, body }
}

/// Names and values, those that there are.
pub(crate) fn fields<const N: usize>(fields: [(&str, Option<String>); N]) -> Option<Block> {
    let there = fields.into_iter().filter_map(|(name, value)| Some((Line::of(Class::Dim, name), Line::from(value?))));
    let fields: Vec<(Line, Line)> = there.collect();
    (!fields.is_empty()).then_some(Block::Fields { fields })
}

/// The beginning of a text that is within the limits, and what was left out. It ends with a line unless the first one is too long.
pub(crate) fn cut<'t>(text: &'t str, limits: &Limits) -> (&'t str, Option<Elided>) {
    let mut end = 0;
    let mut shown = 0;
    for line in text.split_inclusive('\n').take(limits.lines) {
        if end + line.len() > limits.bytes {
            break;
        }
        end += line.len();
        shown += 1;
    }
    if end >= text.len() {
        return (text, None);
    }
    if shown == 0 {
        let start = beginning(text, limits.bytes);
        return (start, Some(Elided { shown: start.len() as u64, total: text.len() as u64, unit: Unit::Bytes, kept: true }));
    }
    let total = text.lines().count() as u64;
    (text.get(..end).unwrap_or_default(), Some(Elided { shown, total, unit: Unit::Lines, kept: true }))
}

/// The beginning of a text, of so many bytes at most.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default()
}

/// The first line that says something, and a mark if more follows or it is long.
pub(crate) fn gist(text: &str) -> String {
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default().trim_end();
    let start: String = first.chars().take(GIST).collect();
    let more = start.len() < first.len() || first.len() < text.len();
    if more { format!("{start} …") } else { start }
}

/// A text whose lines count.
pub(crate) fn code(text: &str, limits: &Limits) -> Block {
    let (text, elided) = cut(text, limits);
    Block::Code(Code { lines: lines(Class::Plain, text), elided, ..Code::default() })
}

/// What a program printed.
pub(crate) fn terminal(text: &str, limits: &Limits) -> Block {
    let (text, elided) = cut(text, limits);
    let lines = printed(text);
    Block::Terminal(Terminal { gap: elided.map(|_| lines.len()), command: Vec::new(), lines, elided })
}

/// The lines that a program printed.
pub(crate) fn printed(text: &str) -> Vec<Line> {
    lines(Class::Plain, text)
}

/// Prose.
pub(crate) fn markdown(text: &str, limits: &Limits) -> Block {
    let (text, elided) = cut(text.trim_end(), limits);
    Block::Markdown { text: neutral_text(text).into_owned(), elided }
}

/// A text of which nobody says what it is: JSON, what a program printed with colours, prose that uses Markdown, or lines.
pub(crate) fn sniffed(text: &str, limits: &Limits) -> Block {
    if let Some(value) = as_json(text) {
        return json::block(&value, limits);
    }
    if text.contains('\u{1b}') {
        return terminal(text, limits);
    }
    if is_markdown(text) { markdown(text, limits) } else { code(text, limits) }
}

/// The object or list that a text is.
pub(crate) fn as_json(text: &str) -> Option<Value> {
    let text = text.trim();
    let framed = (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    if framed { serde_json::from_str(text).ok() } else { None }
}

/// Whether a text can hardly be anything but Markdown. A single `#` is a comment as often as a heading.
fn is_markdown(text: &str) -> bool {
    let telling = |line: &str| line.starts_with("## ") || line.starts_with("### ") || line.starts_with("```") || line.contains("](http");
    text.lines().take(200).any(telling)
}

/// What came back, piece by piece. Pictures are shown wherever they stand.
pub(crate) fn content(content: &[Content], limits: &Limits) -> Vec<Block> {
    content.iter().flat_map(|piece| piece_of(piece, limits)).collect()
}

fn piece_of(content: &Content, limits: &Limits) -> Vec<Block> {
    match content {
        Content::Text { text } if text.trim().is_empty() => Vec::new(),
        Content::Text { text } => vec![sniffed(text, limits)],
        Content::Image(image) => vec![picture(image, "picture")],
        Content::Document { title, media, text, bytes } => {
            let about =
                fields([("document", title.clone()), ("type", media.clone()), ("size", Some(*bytes).filter(|&bytes| bytes > 0).map(size))]);
            let text = text.as_deref().map(|text| code(text, limits));
            about.into_iter().chain(text).collect()
        }
        Content::Tool { name } => vec![Block::Fields { fields: vec![(Line::of(Class::Dim, "tool"), name.as_str().into())] }],
        Content::Other { value } => vec![json::block(value, limits)],
    }
}

/// A picture with words for whoever cannot see it.
pub(crate) fn picture(image: &Image, name: &str) -> Block {
    let mut alt = name.to_owned();
    if !image.media.is_empty() {
        alt = format!("{alt}, {}", image.media);
    }
    if let Some((width, height)) = image.size {
        alt = format!("{alt}, {}×{}", count(width.into()), count(height.into()));
    }
    // Base64 spends four letters on three bytes.
    let held = || image.data.as_ref().map(|data| data.len() as u64 / 4 * 3);
    if let Some(bytes) = image.bytes.or_else(held) {
        alt = format!("{alt}, {}", size(bytes));
    }
    Block::Image { image: image.clone(), alt: alt.into() }
}

/// Every line of text in some blocks, in order. Names of sections and of fields are not part of it.
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

    fn tight(lines: usize, bytes: usize) -> Limits {
        Limits { lines, bytes, ..Limits::PAGE }
    }

    #[test]
    fn what_is_cut_is_told() {
        assert_eq!(cut("a\nb\nc", &tight(5, 99)), ("a\nb\nc", None));
        let (text, elided) = cut("a\nb\nc", &tight(2, 99));
        assert_eq!((text, elided.map(|elided| elided.words())), ("a\nb\n", Some("2 of 3 lines".to_owned())));
        let (text, elided) = cut("ééé", &tight(9, 3));
        assert_eq!((text, elided.map(|elided| elided.words())), ("é", Some("2 of 6 bytes".to_owned())));
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
    fn nothing_acts_in_prose() {
        let Block::Markdown { text, .. } = markdown("a\u{1b}]0;x\u{7}\n", &Limits::PAGE) else { panic!("prose") };
        assert_eq!(text, "a␛]0;x␇");
    }

    #[test]
    fn pictures_come_from_native_blocks() {
        let image = Image { media: "image/png".into(), data: Some("AAAA".into()), size: Some((640, 480)), ..Image::default() };
        let blocks = content(&[Content::text("see"), Content::Image(image)], &Limits::PAGE);
        let [Block::Code(_), Block::Image { alt, .. }] = blocks.as_slice() else { panic!("{blocks:?}") };
        assert_eq!(alt.text(), "picture, image/png, 640×480, 3 B");
    }
}
