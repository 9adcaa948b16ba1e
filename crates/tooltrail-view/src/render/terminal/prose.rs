//! Markdown in a terminal: headings bold, code marked, lists and quotes indented, links with their address. Nothing is raw.

use super::TerminalWriter;
use super::paint::{ACCENT, BOLD, DIM, PLAIN, StyledRow};
use super::wrap::Fold;
use crate::render::{markdown, markup};
use anstyle::Style;
use comrak::Arena;
use comrak::nodes::{ListType, Node, NodeValue};
use std::io;

/// Deeper structure than this is shown as plain text: only a hostile text nests this deep, and recursion must end.
const DEEPEST: usize = 24;
/// Longer prose is not parsed.
const LONGEST: usize = 1 << 20;
/// The most columns of prose, however wide the terminal: longer lines are hard to read.
const MEASURE: usize = 100;

impl TerminalWriter<'_, '_> {
    /// Shows Markdown.
    pub(super) fn prose(&mut self, text: &str) -> io::Result<()> {
        if text.len() > LONGEST {
            return text.lines().try_for_each(|line| self.page.put(&StyledRow::of(PLAIN, line), Fold::Words));
        }
        // The parser drops link definitions from its tree, so a text that may contain one is turned into words first.
        let worded = text.contains("]:").then(|| markdown::prose(text).text);
        let arena = Arena::new();
        let root = comrak::parse_document(&arena, worded.as_deref().unwrap_or(text), &markup::options());
        self.children(root, 0)
    }

    /// Shows blocks with an empty row between them.
    fn children(&mut self, node: Node<'_>, depth: usize) -> io::Result<()> {
        // Paragraphs of an item stand close together, as most lists are written.
        let tight = matches!(&node.data().value, NodeValue::Item(_) | NodeValue::TaskItem(_));
        for (place, child) in node.children().enumerate() {
            if place > 0 && !tight {
                self.page.gap()?;
            }
            self.markdown_block(child, depth)?;
        }
        Ok(())
    }

    fn markdown_block(&mut self, node: Node<'_>, depth: usize) -> io::Result<()> {
        if depth > DEEPEST {
            return self.plain(node);
        }
        match &node.data().value {
            NodeValue::Paragraph => self.paragraph(node, PLAIN),
            NodeValue::Heading(_) => self.paragraph(node, BOLD.underline()),
            NodeValue::CodeBlock(code) => self.verbatim(&code.literal),
            // HTML is text here: it is shown, never interpreted.
            NodeValue::HtmlBlock(html) => html.literal.lines().try_for_each(|line| self.page.put(&StyledRow::of(PLAIN, line), Fold::Words)),
            NodeValue::ThematicBreak => self.page.put(&StyledRow::of(DIM, "───"), Fold::Cut),
            NodeValue::BlockQuote => self.indented(StyledRow::of(DIM, "│ "), node, depth),
            NodeValue::List(list) => {
                // A list may start at any number, and a hostile one at the largest.
                let mut number = list.start;
                for item in node.children() {
                    let mark = match (&item.data().value, list.list_type) {
                        (NodeValue::TaskItem(task), _) if task.symbol.is_some() => "☑ ".to_owned(),
                        (NodeValue::TaskItem(_), _) => "☐ ".to_owned(),
                        (_, ListType::Bullet) => "• ".to_owned(),
                        (_, ListType::Ordered) => format!("{number}. "),
                    };
                    number = number.saturating_add(1);
                    self.item(&mark, item, depth)?;
                }
                Ok(())
            }
            NodeValue::Table(_) => self.markdown_table(node),
            _ => self.plain(node),
        }
    }

    fn paragraph(&mut self, node: Node<'_>, style: Style) -> io::Result<()> {
        for row in inlines(node, style) {
            self.measured(&row)?;
        }
        Ok(())
    }

    /// Writes prose in lines that can be read.
    fn measured(&mut self, row: &StyledRow) -> io::Result<()> {
        let width = self.page.inner().min(MEASURE);
        // Folded already, so `put` has nothing left to cut.
        super::wrap::fold(row, width, Fold::Words).iter().try_for_each(|row| self.page.put(row, Fold::Cut))
    }

    fn verbatim(&mut self, text: &str) -> io::Result<()> {
        self.page.enter(StyledRow::of(PLAIN, "    "));
        let fold = self.fold();
        let done = text.lines().try_for_each(|line| self.page.put(&StyledRow::of(ACCENT, line), fold));
        // Left before returning an error, so that margins always match.
        self.page.leave();
        done
    }

    fn indented(&mut self, margin: StyledRow, node: Node<'_>, depth: usize) -> io::Result<()> {
        self.page.enter(margin);
        let done = self.children(node, depth + 1);
        self.page.leave();
        done
    }

    /// An item: its mark stands beside the first row of its first paragraph.
    fn item(&mut self, mark: &str, item: Node<'_>, depth: usize) -> io::Result<()> {
        let mut next = StyledRow::default();
        next.pad(super::wrap::columns(mark));
        let first = item.first_child().filter(|child| matches!(child.data().value, NodeValue::Paragraph));
        let lines = first.map_or_else(Vec::new, |first| inlines(first, PLAIN));
        // Deeply nested lists still get a few columns.
        let width = self.page.inner().min(MEASURE).saturating_sub(next.columns()).max(8);
        let mut lead = StyledRow::of(DIM, mark);
        let rows = lines.iter().flat_map(|line| super::wrap::fold(line, width, Fold::Words));
        // An item may begin with a code block or another list; then its mark stands alone.
        for row in rows.chain(lines.is_empty().then(StyledRow::default)) {
            self.page.hang(&lead, &next, &row, Fold::Cut)?;
            lead = next.clone();
        }
        self.page.enter(next);
        let rest = item.children().skip(usize::from(first.is_some()));
        let mut done = Ok(());
        for child in rest {
            done = done.and_then(|()| self.markdown_block(child, depth + 1));
        }
        self.page.leave();
        done
    }

    fn markdown_table(&mut self, node: Node<'_>) -> io::Result<()> {
        // Cells lose their inline styles: columns are measured in plain text.
        let cells = |row: Node<'_>| row.children().map(|cell| crate::Line::from(words(cell))).collect::<Vec<_>>();
        let mut rows: Vec<Vec<crate::Line>> = node.children().map(cells).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let head = rows.remove(0);
        self.table(&head, &rows)
    }

    /// The words of anything, without its structure.
    fn plain(&mut self, node: Node<'_>) -> io::Result<()> {
        words(node).lines().try_for_each(|line| self.measured(&StyledRow::of(PLAIN, line)))
    }
}

/// The lines of a paragraph, painted.
fn inlines(node: Node<'_>, base: Style) -> Vec<StyledRow> {
    let mut rows = vec![StyledRow::default()];
    paint_inlines(node, base, 0, &mut rows);
    rows.retain(|row| !row.is_empty());
    rows
}

fn paint_inlines(node: Node<'_>, style: Style, depth: usize, rows: &mut Vec<StyledRow>) {
    for child in node.children() {
        let data = child.data();
        // A line break adds a row, so the last row is looked up for every child.
        let last = rows.len().saturating_sub(1);
        let Some(row) = rows.get_mut(last) else { return };
        match &data.value {
            NodeValue::Text(text) => row.push(style, text),
            NodeValue::Code(code) => row.push(style.fg_color(ACCENT.get_fg_color()), &code.literal),
            NodeValue::HtmlInline(html) => row.push(style, html),
            NodeValue::SoftBreak | NodeValue::LineBreak => rows.push(StyledRow::default()),
            _ if depth > DEEPEST => row.push(style, &words(child)),
            NodeValue::Strong => paint_inlines(child, style.bold(), depth + 1, rows),
            NodeValue::Emph => paint_inlines(child, style.italic(), depth + 1, rows),
            NodeValue::Strikethrough => paint_inlines(child, style.strikethrough(), depth + 1, rows),
            NodeValue::Link(link) | NodeValue::Image(link) => {
                let text = words(child);
                row.push_link(style.underline(), if text.is_empty() { &link.url } else { &text }, &link.url);
                // Not repeated where the text is the address itself, as with autolinks.
                if !text.is_empty() && link.url != text && link.url.strip_prefix("mailto:") != Some(&text) {
                    row.push(DIM, &format!(" ({})", link.url));
                }
            }
            _ => paint_inlines(child, style, depth + 1, rows),
        }
    }
}

/// Words below a node. Iterative, because the tree may be deeper than the stack.
fn words(node: Node<'_>) -> String {
    let mut out = String::new();
    for node in node.descendants() {
        match &node.data().value {
            NodeValue::Text(text) => out.push_str(text),
            NodeValue::Code(code) => out.push_str(&code.literal),
            NodeValue::HtmlInline(html) => out.push_str(html),
            NodeValue::CodeBlock(code) => out.push_str(&code.literal),
            NodeValue::HtmlBlock(html) => out.push_str(&html.literal),
            NodeValue::SoftBreak | NodeValue::LineBreak => out.push(' '),
            NodeValue::Paragraph | NodeValue::Heading(_) if !out.is_empty() => out.push('\n'),
            _ => {}
        }
    }
    out
}
