//! Markdown as HTML. Nothing in it acts or fetches: markup is shown as it is written, pictures become links, links lead only to the
//! web or to a mailbox, headings stay below those of the page.

use super::text::line;
use crate::line::Class;
use comrak::nodes::{AstNode, NodeLink, NodeValue};
use comrak::{Arena, Options, format_html, parse_document};
use maud::{Markup, PreEscaped, html};
use std::sync::LazyLock;

static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut options = Options::default();
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.tasklist = true;
    options.render.escape = true;
    // Prompts are typed: a line feed is meant.
    options.render.hardbreaks = true;
    options
});

/// Prose.
pub(super) fn markdown(text: &str) -> Markup {
    let arena = Arena::new();
    let root = parse_document(&arena, text, &OPTIONS);
    // Collected first: taming a node may add a child to it.
    for node in root.descendants().collect::<Vec<_>>() {
        tame(&arena, node);
    }
    let mut html = String::with_capacity(text.len() * 3 / 2);
    // Should the renderer ever fail, the text is shown unformatted rather than lost.
    if format_html(root, &OPTIONS, &mut html).is_err() {
        return html! { pre { (text) } };
    }
    // Text is escaped, so a tag can only be one that was written here.
    PreEscaped(html.replace("<a href=", "<a rel=\"noopener noreferrer nofollow\" href="))
}

/// Makes a node harmless.
fn tame<'a>(arena: &'a Arena<'a>, node: &'a AstNode<'a>) {
    let mut data = node.data.borrow_mut();
    let remark = match &mut data.value {
        NodeValue::Heading(heading) => {
            // `h1` and `h2` belong to the page.
            heading.level = heading.level.saturating_add(2).min(6);
            return;
        }
        NodeValue::CodeBlock(code) => {
            // Highlighted here, by the same code as all other code; `Raw` keeps the markup from being escaped again.
            data.value = NodeValue::Raw(fenced(&code.info, &code.literal).into_string());
            return;
        }
        NodeValue::Image(link) => {
            // A picture without a description would become an empty link.
            let bare = node.first_child().is_none();
            let link = std::mem::replace(&mut **link, NodeLink { url: String::new(), title: String::new() });
            let label = if bare { "image" } else { "" };
            let (value, remark) = linked(link);
            data.value = value;
            format!("{label}{remark}")
        }
        NodeValue::Link(link) => {
            let link = std::mem::replace(&mut **link, NodeLink { url: String::new(), title: String::new() });
            let (value, remark) = linked(link);
            data.value = value;
            remark
        }
        _ => return,
    };
    // The borrow must end before the node is appended to.
    drop(data);
    if !remark.is_empty() {
        node.append(arena.alloc(NodeValue::Text(remark.into()).into()));
    }
}

/// Code in prose, in its language where that is named.
fn fenced(info: &str, text: &str) -> Markup {
    let language = info.split_whitespace().next().unwrap_or_default();
    let lines = if language.is_empty() { crate::line::lines(Class::Plain, text) } else { crate::highlight::lines(language, text) };
    html! { pre.code { @for text in &lines { (line(text)) "\n" } } }
}

/// A link, or emphasis with the address as text where that leads elsewhere.
fn linked(link: NodeLink) -> (NodeValue, String) {
    if safe(&link.url) {
        // A link's title is dropped: it would be text from the log that is only visible on hover.
        let title = String::new();
        return (NodeValue::Link(Box::new(NodeLink { url: link.url, title })), String::new());
    }
    let remark = if link.url.is_empty() { String::new() } else { format!(" ({})", crate::line::neutral(&link.url)) };
    (NodeValue::Emph, remark)
}

/// Whether an address leads to the web or to a mailbox.
pub(super) fn safe(url: &str) -> bool {
    // Browsers ignore case in schemes, so the comparison must too.
    let lower: String = url.chars().take(8).collect::<String>().to_ascii_lowercase();
    ["http://", "https://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_and_addresses_are_harmless() {
        let html =
            markdown("![a](https://e.example/p.gif) [b](javascript:alert(1)) [c](JaVaScRiPt:x) https://ok.example <x> # no").into_string();
        assert!(!html.contains("<img"), "{html}");
        assert!(!html.contains("href=\"j") && !html.contains("href=\"J"), "{html}");
        assert!(html.contains("rel=\"noopener noreferrer nofollow\" href=\"https://ok.example\""), "{html}");
        assert!(html.contains("&lt;x&gt;"), "{html}");
        assert_eq!(markdown("# head").into_string(), "<h3>head</h3>\n");
        assert!(!markdown("```x\" onload=y\ncode\n```").into_string().contains("onload"));
        assert!(markdown("![](data:image/png;base64,x)").into_string().contains("image (data:"));
    }
}
