//! Parsing of Markdown, the same in every output.

use comrak::nodes::NodeValue;
use comrak::{Arena, Options};

/// Dialect that agents write: GitHub's Markdown.
pub(super) fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options
}

/// Markdown as plain words on one line, with a separator between blocks.
pub(crate) fn words(text: &str) -> String {
    let arena = Arena::new();
    let mut out = String::new();
    for node in comrak::parse_document(&arena, text, &options()).descendants() {
        let data = node.data();
        let (stop, words): (&str, &str) = match &data.value {
            NodeValue::Text(text) => ("", text),
            NodeValue::Code(code) => ("", &code.literal),
            NodeValue::HtmlInline(html) => ("", html),
            NodeValue::SoftBreak | NodeValue::LineBreak | NodeValue::TableCell => (" ", ""),
            NodeValue::Paragraph | NodeValue::Heading(_) | NodeValue::TableRow(_) => (" · ", ""),
            NodeValue::CodeBlock(code) => (" · ", &code.literal),
            NodeValue::HtmlBlock(html) => (" · ", &html.literal),
            _ => continue,
        };
        // No separator where the text already ends with punctuation.
        let open = out.trim_end().is_empty() || out.trim_end().ends_with(['.', ':', ';', ',', '!', '?', '·', '…']);
        out.push_str(if stop == " · " && open { " " } else { stop });
        out.push_str(words);
    }
    // Joins whitespace of code blocks too, whose line breaks are still in there.
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_words() {
        let text = "## Summary\n\nI **fixed** `parse`:\n\n- one\n- two.\n\n```sh\ncargo\ntest\n```\n\n<b>x</b> [y](https://z)\n\n| a | b |\n|---|---|\n| 1 | 2 |";
        assert_eq!(words(text), "Summary · I fixed parse: one · two. cargo test · <b>x</b> y · a b · 1 2");
        assert_eq!(words(" \n"), "");
    }
}
