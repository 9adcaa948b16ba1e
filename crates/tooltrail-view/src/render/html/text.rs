//! Lines as HTML: every run becomes text, escaped, in the shortest element that carries its class.

use crate::line::{Ansi, Class, Line, TextRun};
use maud::{Markup, html};
use std::fmt::Write;

/// A line.
pub fn line(line: &Line) -> Markup {
    html! { @for piece in line.runs() { (run(piece)) } }
}

fn run(run: &TextRun) -> Markup {
    let text = run.text();
    // HTML elements where one has the meaning (`mark`, `ins`), short class names elsewhere: output is mostly runs.
    let class = match run.class {
        Class::Plain => return html! { (text) },
        Class::Strong => return html! { b { (text) } },
        Class::Match => return html! { mark { (text) } },
        Class::Inserted => return html! { ins { (text) } },
        Class::Deleted => return html! { del { (text) } },
        Class::Ansi(ansi) => return html! { i class=(ansi_classes(&ansi)) { (text) } },
        Class::Dim => "di",
        Class::Good => "ok",
        Class::Bad => "no",
        Class::Path => "pa",
        Class::Keyword => "k",
        Class::Text => "s",
        Class::Comment => "c",
        Class::Number => "n",
        Class::Function => "f",
        Class::Type => "t",
    };
    html! { i class=(class) { (text) } }
}

/// Classes of a coloured text. On a coloured ground the text is black or white, whichever is readable: the classes of
/// grounds set that, so the colour that the program asked for is dropped there.
fn ansi_classes(ansi: &Ansi) -> String {
    let (fg, bg) = if ansi.inverse { (ansi.bg, ansi.fg) } else { (ansi.fg, ansi.bg) };
    let mut classes = String::from("a");
    match (fg, bg) {
        (_, Some(ground)) => _ = write!(classes, " b{}", super::palette::index(ground)),
        (_, None) if ansi.inverse => classes.push_str(" iv"),
        (Some(color), None) => _ = write!(classes, " f{}", super::palette::index(color)),
        (None, None) => {}
    }
    let flags = [(ansi.bold, " bo"), (ansi.dim, " dm"), (ansi.italic, " it"), (ansi.underline, " ul"), (ansi.strike, " st")];
    classes.extend(flags.iter().filter(|(on, _)| *on).map(|(_, class)| *class));
    classes
}

/// A line with the colours of its language under its marks. Where the two differ in their text, only the marks are shown.
pub(super) fn overlaid(marked: &Line, colors: Option<&Line>) -> Markup {
    let Some(colors) = colors.filter(|colors| colors.text() == marked.text()) else { return line(marked) };
    let mut left: Vec<(Class, &str)> = colors.runs().iter().rev().map(|run| (run.class, run.text())).collect();
    html! {
        @for run in marked.runs() {
            @let pieces = cut_off(&mut left, run.text().len());
            @match run.class {
                Class::Inserted => ins { @for (class, text) in &pieces { (colored(*class, text)) } },
                Class::Deleted => del { @for (class, text) in &pieces { (colored(*class, text)) } },
                _ => @for (class, text) in &pieces { (colored(*class, text)) },
            }
        }
    }
}

fn colored(class: Class, text: &str) -> Markup {
    line(&Line::of(class, text))
}

/// Takes so many bytes from pieces of text, whose first is the last of the list.
fn cut_off<'t>(left: &mut Vec<(Class, &'t str)>, mut bytes: usize) -> Vec<(Class, &'t str)> {
    let mut out = Vec::new();
    while bytes > 0 {
        let Some((class, text)) = left.pop() else { break };
        // Runs of both lines end between characters, so a piece splits there too.
        match text.split_at_checked(bytes) {
            Some((own, rest)) => {
                out.push((class, own));
                left.extend((!rest.is_empty()).then_some((class, rest)));
                bytes = 0;
            }
            None => {
                bytes -= text.len().min(bytes);
                out.push((class, text));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_lie_over_colours() {
        let marked = Line::of(Class::Plain, "let x = ").with(Class::Inserted, "[2]").with(Class::Plain, ";");
        let colors = Line::of(Class::Keyword, "let").with(Class::Plain, " x = [").with(Class::Number, "2").with(Class::Plain, "];");
        assert_eq!(overlaid(&marked, Some(&colors)).0, "<i class=\"k\">let</i> x = <ins>[<i class=\"n\">2</i>]</ins>;");
        assert_eq!(overlaid(&marked, Some(&Line::of(Class::Keyword, "other"))).0, "let x = <ins>[2]</ins>;");
        assert_eq!(overlaid(&marked, None).0, line(&marked).0);
    }
}
