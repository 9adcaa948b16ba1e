//! Asking with a filter: the box it is written in, what is wrong with it, and links that add a term or take it away.

use crate::asked::encoded;
use crate::moment::Moment;
use crate::site::Site;
use maud::{Markup, html};
use tooltrail_model::filter::Mistake;
use tooltrail_view::line::neutral;

/// A box for a filter.
pub(crate) struct Form<'a> {
    /// The page that it leads to.
    pub(crate) path: &'a str,
    /// What scripts know the box by.
    pub(crate) id: &'a str,
    /// What to write there.
    pub(crate) label: &'a str,
    /// What is written there.
    pub(crate) query: &'a str,
    /// A value that is asked for beside it.
    pub(crate) beside: (&'a str, &'a str),
}

/// A box for a filter.
pub(crate) fn form(site: &Site, form: &Form<'_>) -> Markup {
    let (name, value) = form.beside;
    html! {
        search { form.asking action=(site.to(form.path)) {
            label.vh for=(form.id) { (form.label) }
            input id=(form.id) type="search" name="q" value=(form.query) placeholder=(form.label) autocomplete="off" spellcheck="false" autocapitalize="off";
            @if !value.is_empty() { input type="hidden" name=(name) value=(value); }
            button type="submit" { "Show" }
        } }
    }
}

/// What is wrong with a filter, where, and what was probably meant.
pub(crate) fn mistake(site: &Site, path: &str, mistake: &Mistake) -> Markup {
    let part = |range: std::ops::Range<usize>| mistake.query.get(range).unwrap_or_default();
    let (before, wrong, after) = (part(0..mistake.at.start), part(mistake.at.clone()), part(mistake.at.end..mistake.query.len()));
    html! {
        div.mistake role="alert" {
            p { "This filter means nothing: " (ticked(&mistake.message)) "." }
            pre { (neutral(before)) mark { (neutral(if wrong.is_empty() { " " } else { wrong })) } (neutral(after)) }
            @if let Some(right) = &mistake.suggestion {
                @let query = format!("{before}{right}{after}");
                p { "Did you mean " a data-row href=(asking(site, path, &query)) { code { (neutral(&query)) } } "?" }
            }
            p.di { a href=(site.to("/help#filters")) { "What a filter can say" } }
        }
    }
}

/// A message in which code stands between backticks.
pub(crate) fn ticked(message: &str) -> Markup {
    html! { @for (place, piece) in message.split('`').enumerate() { @if place % 2 == 1 { code { (neutral(piece)) } } @else { (neutral(piece)) } } }
}

/// The address of a page with a filter.
pub(crate) fn asking(site: &Site, path: &str, query: &str) -> String {
    if query.is_empty() { site.to(path) } else { site.to(&format!("{path}?q={}", encoded(query))) }
}

/// A link to the same page with one more term, or one less if it is there.
pub(crate) struct Toggle {
    /// Whether the filter has the term.
    pub(crate) on: bool,
    /// The filter that the link leads to.
    pub(crate) query: String,
}

/// What a link with a term leads to.
pub(crate) fn toggle(site: &Site, moment: &Moment, query: &str, term: &str) -> Toggle {
    let same = |word: &str| site.filter(word, moment).ok().zip(site.filter(term, moment).ok()).is_some_and(|(one, other)| one == other);
    let all = pieces(query);
    let others: Vec<&str> = all.iter().copied().filter(|word| !same(word)).collect();
    let on = others.len() < all.len();
    let mut words = others;
    if !on {
        words.push(term);
    }
    Toggle { on, query: words.join(" ") }
}

/// The terms of a filter as they are written: what stands between spaces, unless the spaces are in quotes.
fn pieces(query: &str) -> Vec<&str> {
    let (mut pieces, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, letter) in query.char_indices() {
        match letter {
            '"' if !escaped => quoted = !quoted,
            letter if letter.is_whitespace() && !quoted => {
                pieces.push(query.get(start..at).unwrap_or_default());
                start = at + letter.len_utf8();
            }
            _ => {}
        }
        escaped = quoted && letter == '\\' && !escaped;
    }
    pieces.push(query.get(start..).unwrap_or_default());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn a_filter_is_cut_where_its_terms_end() {
        for (query, expected) in [
            ("", &[][..]),
            ("  a  tool:Bash ", &["a", "tool:Bash"]),
            ("\"a b\" project:\"/srv/a b\" c", &["\"a b\"", "project:\"/srv/a b\"", "c"]),
            ("\"a \\\" b\" c", &["\"a \\\" b\"", "c"]),
            ("\"never closed", &["\"never closed"]),
        ] {
            assert_eq!(pieces(query), expected, "{query}");
        }
    }
}
