//! Blocks as HTML: one function per kind. All text goes through escaping; nothing from a log becomes an address, a class or a style.

use super::text::{line, overlaid};
use super::{image, prose};
use crate::block::{Block, CodeBlock, Diff, DiffLine, DiffSign, PageLink, QuestionItem, Terminal, TodoEntry, TodoProgress};
use crate::head::{count, size};
use crate::limits::{Elided, ElidedUnit};
use crate::line::Line;
use maud::{Markup, html};
use tooltrail_model::content::Image;
use tooltrail_model::transcript::Level;

/// Deepest nesting of parts in parts.
const DEEPEST: usize = 8;
/// A block of more lines than this scrolls by itself, so it can be reached with the keyboard.
const TALL: usize = 30;

/// Draws a subagent's conversation, given its thread, its calls and its failed calls.
pub(super) type Nest<'a> = &'a dyn Fn(usize, u64, u64) -> Markup;

/// A body.
pub(super) fn body(blocks: &[Block], nest: Nest<'_>) -> Markup {
    html! { @for block in blocks { (draw(block, nest, 0)) } }
}

/// One block.
// Views are nested only by sections; the depth is counted here because a view made from hostile input could nest them
// without end.
pub(super) fn draw(block: &Block, nest: Nest<'_>, depth: usize) -> Markup {
    match block {
        Block::Code(code) => self::code(code),
        Block::Diff(diff) => self::diff(diff),
        Block::Terminal(output) => terminal(output),
        Block::Markdown { text, elided } => html! { div.prose { (prose::markdown(text)) } (gap(elided.as_ref())) },
        Block::Image { image, alt } => picture(image, alt),
        Block::Table { head, rows, elided } => table(head, rows, elided.as_ref()),
        Block::Fields { fields } => html! {
            dl.fields { @for (name, value) in fields { div { dt { (line(name)) } dd { (line(value)) } } } }
        },
        Block::Todos { items } => html! { ul.todos { @for item in items { (todo(item)) } } },
        Block::Questions { questions } => html! { @for asked in questions { (question(asked)) } },
        Block::Links { links } => html! { ol.links { @for found in links { (link(found)) } } },
        Block::Files { groups, elided } => files(groups, elided.as_ref()),
        Block::Json { lines, elided } => html! { (listing("code json", None, lines)) (gap(elided.as_ref())) },
        Block::Notice { level, text } => notice(*level, &line(text)),
        Block::Nested { thread, calls, failed } => nest(*thread, *calls, *failed),
        Block::Section { label, open, body } => html! {
            details.sec open[*open] {
                summary { (line(label)) }
                @if depth < DEEPEST { @for block in body { (draw(block, nest, depth + 1)) } }
                @else { (notice(Level::Warning, &html! { "Nested too deeply to show." })) }
            }
        },
    }
}

/// A remark.
pub(super) fn notice(level: Level, text: &Markup) -> Markup {
    let (class, sign, word) = match level {
        Level::Info => ("info", "i", "Note"),
        Level::Warning => ("warning", "!", "Warning"),
        Level::Error => ("error", "✗", "Error"),
    };
    html! { p class={ "notice " (class) } { span.sign aria-hidden="true" { (sign) } span.vh { (word) ": " } span { (text) } } }
}

/// The note in place of omitted content: how much is missing, and whether the log still has it.
pub(super) fn gap(elided: Option<&Elided>) -> Markup {
    let Some(elided) = elided else { return html! {} };
    // `shown` can exceed `total` where a log's own count is wrong.
    let missing = elided.total.saturating_sub(elided.shown);
    let what = match elided.unit {
        ElidedUnit::Lines => format!("{} not shown", crate::head::counted(missing, "line")),
        ElidedUnit::Bytes => format!("{} not shown", size(missing)),
        ElidedUnit::Items if missing == 1 => "1 entry not shown".to_owned(),
        ElidedUnit::Items => format!("{} entries not shown", count(missing)),
    };
    let kept = if elided.kept { "" } else { "; the rest is not in the log" };
    html! { div.gap { "… " (what) " (" (elided.words()) " shown" (kept) ")" } }
}

/// Lines, perhaps numbered. Numbers are drawn by the style, so they are not selected with the text.
fn listing(class: &str, first: Option<u64>, lines: &[Line]) -> Markup {
    // Scrollable regions must be focusable, or the keyboard cannot scroll them.
    let focus = (lines.len() > TALL).then_some("0");
    html! {
        @if let Some(first) = first {
            pre class={ (class) " num " (gutter(first.saturating_add(lines.len() as u64))) } tabindex=[focus] {
                @for (number, text) in (first..).zip(lines) { span data-n=(number) { (line(text)) "\n" } }
            }
        } @else {
            pre class=(class) tabindex=[focus] { @for text in lines { (line(text)) "\n" } }
        }
    }
}

/// The class for a column of numbers up to this one.
// Classes instead of a computed width: the page's policy forbids inline styles.
fn gutter(last: u64) -> &'static str {
    match last {
        0..1_000 => "w3",
        1_000..10_000 => "w4",
        10_000..100_000 => "w5",
        _ => "w7",
    }
}

fn code(code: &CodeBlock) -> Markup {
    html! { (unapplied(code.unapplied, &listing("code", code.first, &code.lines))) (gap(code.elided.as_ref())) }
}

/// A change; one that was not applied says so, and has no colours.
fn unapplied(is_so: bool, change: &Markup) -> Markup {
    html! { @if is_so { div.unapplied { p { "Not applied" } (change) } } @else { (change) } }
}

fn diff(diff: &Diff) -> Markup {
    let lines = || diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    // One width for both columns, so that numbers align across hunks.
    let most = lines().filter_map(|line| line.old.max(line.new)).max();
    let width = most.map_or(0, |most| most.to_string().len());
    let focus = (lines().count() > TALL).then_some("0");
    html! {
        @if let Some(path) = &diff.path { div.file { (line(path)) } }
        @if diff.look.sides { (unapplied(diff.look.unapplied, &sides(diff, width))) } @else { (unapplied(diff.look.unapplied, &unified(diff, width, focus))) }
        (gap(diff.elided.as_ref()))
    }
}

/// Hunks that the reader may see unified or side by side.
fn sides(diff: &Diff, width: usize) -> Markup {
    html! {
        @for (place, hunk) in diff.hunks.iter().enumerate() {
            @if let Some(context) = &hunk.context { p.at { "@@ " (line(context)) } }
            @else if place > 0 { p.at { "⋯" } }
            (super::review::both(hunk, width))
        }
    }
}

fn unified(diff: &Diff, width: usize, focus: Option<&str>) -> Markup {
    html! {
        pre.diff tabindex=[focus] {
            @for (place, hunk) in diff.hunks.iter().enumerate() {
                @if let Some(context) = &hunk.context { span.at { (line(context)) "\n" } }
                // Without a context line from the tool, a sign separates hunks that are not adjacent.
                @else if place > 0 { span.at { "⋯\n" } }
                @for changed in &hunk.lines { (diff_line(changed, width)) }
            }
        }
    }
}

/// A line of a hunk. The numbers and the sign are drawn by the style; the word for the sign is read out by screen readers.
fn diff_line(changed: &DiffLine, width: usize) -> Markup {
    let (class, sign, word) = match changed.sign {
        DiffSign::Same => ("", ' ', ""),
        DiffSign::Added => ("add", '+', "added: "),
        DiffSign::Removed => ("rem", '−', "removed: "),
    };
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let numbers = match width {
        0 => String::new(),
        _ => format!("{:>width$} {:>width$} ", number(changed.old), number(changed.new)),
    };
    html! {
        span class=[Some(class).filter(|class| !class.is_empty())] data-g={ (numbers) (sign) } {
            @if !word.is_empty() { span.vh { (word) } }
            (overlaid(&changed.line, changed.colors.as_ref())) "\n"
        }
    }
}

fn terminal(output: &Terminal) -> Markup {
    if output.command.is_empty() && output.lines.is_empty() && output.elided.is_none() {
        return html! {};
    }
    // `gap` comes from the view, but a later cut may have left fewer lines than it counts.
    let cut = output.gap.unwrap_or(output.lines.len()).min(output.lines.len());
    let (head, tail) = output.lines.split_at(cut);
    let focus = (output.lines.len() > TALL).then_some("0");
    html! {
        div.term {
            @if !output.command.is_empty() { pre.cmd { @for text in &output.command { (line(text)) "\n" } } }
            @if !output.lines.is_empty() || output.elided.is_some() {
                div.out tabindex=[focus] {
                    @if !head.is_empty() { pre { @for text in head { (line(text)) "\n" } } }
                    (gap(output.elided.as_ref()))
                    @if !tail.is_empty() { pre { @for text in tail { (line(text)) "\n" } } }
                }
            }
        }
    }
}

fn picture(image: &Image, alt: &Line) -> Markup {
    let address = image::address(image);
    // Known dimensions reserve the space, so rows below do not jump while the picture is decoded.
    let (width, height) = image.size.unzip();
    let mut facts: Vec<String> = Vec::new();
    facts.extend(image.size.map(|(width, height)| format!("{width} × {height}")));
    facts.extend(image.bytes.map(size));
    html! {
        @match address {
            Ok(address) => figure {
                img src=(address) alt=(alt.text()) width=[width] height=[height] loading="lazy" decoding="async";
                @if !alt.is_empty() || !facts.is_empty() { figcaption { @if alt.is_empty() { (facts.join(" · ")) } @else { (line(alt)) } } }
            },
            Err(why) => (notice(Level::Info, &html! {
                "Image not shown: " (why) ". " @if alt.is_empty() { (facts.join(" · ")) } @else { (line(alt)) }
                @if let Some(source) = &image.source { " " code { (crate::line::neutral(source)) } }
            })),
        }
    }
}

fn table(head: &[Line], rows: &[Vec<Line>], elided: Option<&Elided>) -> Markup {
    html! {
        div.scroll {
            table {
                @if !head.is_empty() { thead { tr { @for cell in head { th scope="col" { (line(cell)) } } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (line(cell)) } } } } }
            }
        }
        (gap(elided))
    }
}

fn todo(item: &TodoEntry) -> Markup {
    // Each state has a sign and a word: colour alone would be lost in print and for screen readers.
    let (class, sign, word) = match item.state {
        TodoProgress::Open => ("open", "☐", "open"),
        TodoProgress::Active => ("active", "▸", "in progress"),
        TodoProgress::Done => ("done", "✓", "done"),
        TodoProgress::Dropped => ("dropped", "✕", "dropped"),
    };
    html! {
        li class=(class) {
            span.sign aria-hidden="true" { (sign) }
            span { span.what { (line(&item.text)) } span.vh { " (" (word) ")" } @if let Some(change) = &item.change { span.change { (line(change)) } } }
        }
    }
}

fn question(asked: &QuestionItem) -> Markup {
    let (on, off) = if asked.multiple { ("☑", "☐") } else { ("◉", "○") };
    html! {
        div.question {
            p.q { @if let Some(header) = &asked.header { span.tag { (line(header)) } } span { (line(&asked.text)) } }
            ul {
                @for (label, meaning, chosen) in &asked.options {
                    li.chosen[*chosen] {
                        span.sign aria-hidden="true" { (if *chosen { on } else { off }) }
                        span {
                            span.what { (line(label)) }
                            @if *chosen { span.vh { " (chosen)" } }
                            @if let Some(meaning) = meaning { span.di { " " (line(meaning)) } }
                        }
                    }
                }
                @for free in &asked.free { li.chosen { span.sign aria-hidden="true" { "✎" } span { span.vh { "in their own words: " } (line(free)) } } }
            }
            @if let Some(why) = &asked.unanswered { p.di { (line(why)) } }
        }
    }
}

fn link(found: &PageLink) -> Markup {
    // An address from a log is a link only if it leads to the web; anything else stays plain text.
    let url = found.url.as_deref().filter(|url| prose::safe(url));
    html! {
        li {
            @if let Some(url) = url { a href=(url) rel="noopener noreferrer nofollow" { (line(&found.title)) } } @else { b { (line(&found.title)) } }
            " " span.di { (line(&found.place)) }
            @if let Some(snippet) = &found.snippet { p { (line(snippet)) } }
        }
    }
}

fn files(groups: &[(Line, Vec<Line>)], elided: Option<&Elided>) -> Markup {
    html! {
        ul.files {
            @for (folder, names) in groups {
                li {
                    @if !folder.is_empty() { span.dir { (line(folder)) } }
                    ul { @for name in names { li { (line(name)) } } }
                }
            }
        }
        (gap(elided))
    }
}
