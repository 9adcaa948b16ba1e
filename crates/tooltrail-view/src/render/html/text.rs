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
