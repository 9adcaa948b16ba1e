//! The filter box, its error message, and links that add a term to the filter or remove it.

use crate::app_state::AppState;
use crate::request::encoded;
use crate::snapshot::CatalogueSnapshot;
use maud::{Markup, html};
use tooltrail_catalog::stop::Stop;
use tooltrail_model::filter::{Filter, Mistake};
use tooltrail_view::line::neutral;

/// A box for a filter.
pub(crate) struct FilterForm<'a> {
    /// The page that it leads to.
    pub(crate) path: &'a str,
    /// Id of the box for scripts.
    pub(crate) id: &'a str,
    /// Label and placeholder.
    pub(crate) label: &'a str,
    /// Current filter.
    pub(crate) query: &'a str,
    /// Other values of the address that the form keeps.
    pub(crate) beside: &'a [(&'a str, &'a str)],
}

/// Draws the filter box.
pub(crate) fn form(app: &AppState, form: &FilterForm<'_>) -> Markup {
    // Empty values are left out, so that addresses stay short and equal pages have equal addresses.
    let beside = form.beside.iter().filter(|(_, value)| !value.is_empty());
    html! {
        search { form.asking action=(app.to(form.path)) {
            label.vh for=(form.id) { (form.label) }
            input id=(form.id) type="search" name="q" value=(form.query) placeholder=(form.label) autocomplete="off" spellcheck="false" autocapitalize="off";
            @for (name, value) in beside { input type="hidden" name=(name) value=(value); }
            button type="submit" { "Apply" }
        } }
    }
}

/// Error message of a filter: the position of the error and a suggestion.
pub(crate) fn mistake(app: &AppState, path: &str, mistake: &Mistake) -> Markup {
    let part = |range: std::ops::Range<usize>| mistake.query.get(range).unwrap_or_default();
    // Three pieces, so that the wrong one can be marked and replaced by the suggestion.
    let (before, wrong, after) = (part(0..mistake.at.start), part(mistake.at.clone()), part(mistake.at.end..mistake.query.len()));
    html! {
        div.mistake role="alert" {
            p { (ticked(&sentence(&mistake.message))) }
            pre { (neutral(before)) mark { (neutral(if wrong.is_empty() { " " } else { wrong })) } (neutral(after)) }
            @if let Some(right) = &mistake.suggestion {
                @let query = format!("{before}{right}{after}");
                p { "Did you mean " a data-row href=(filter_address(app, path, &query)) { code { (neutral(&query)) } } "?" }
            }
            p.di { a href=(app.to("/help#filters")) { "Filter syntax" } }
        }
    }
}

/// A message as a sentence: a capital letter at its beginning, a full stop at its end.
pub(crate) fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// Says that the page has only what was found in time; nothing if it has everything.
pub(crate) fn stopped(app: &AppState) -> Markup {
    html! {
        @if Stop::current().is_reached() {
            p.t-error role="status" {
                "The search was stopped after " (app.setup.patience.as_secs()) " s. This is what was found until then. Narrow it down, as with "
                code { "since:7d" } " or " code { "project:api" } "."
            }
        }
    }
}

/// A message in which code stands between backticks.
pub(crate) fn ticked(message: &str) -> Markup {
    html! { @for (place, piece) in message.split('`').enumerate() { @if place % 2 == 1 { code { (neutral(piece)) } } @else { (neutral(piece)) } } }
}

/// The address of a page with a filter.
pub(crate) fn filter_address(app: &AppState, path: &str, query: &str) -> String {
    if query.is_empty() { app.to(path) } else { app.to(&format!("{path}?q={}", encoded(query))) }
}

/// A link to the same page with one more term, or one less if it is there.
pub(crate) struct Toggle {
    /// Whether the filter has the term.
    pub(crate) on: bool,
    /// The filter that the link leads to.
    pub(crate) query: String,
}

/// A link that adds a term to a filter or removes it.
pub(crate) fn toggle(app: &AppState, snapshot: &CatalogueSnapshot, query: &str, term: &str) -> Toggle {
    FilterTerms::of(app, snapshot, query).toggle(term)
}

/// The terms of a filter, parsed once for many links.
pub(crate) struct FilterTerms<'a> {
    app: &'a AppState,
    snapshot: &'a CatalogueSnapshot,
    /// Its terms, as text and parsed.
    terms: Vec<(&'a str, Option<Filter>)>,
}

impl<'a> FilterTerms<'a> {
    /// The terms of a filter.
    pub(crate) fn of(app: &'a AppState, snapshot: &'a CatalogueSnapshot, query: &'a str) -> Self {
        let terms = pieces(query).into_iter().map(|word| (word, app.filter(word, snapshot).ok()));
        FilterTerms { app, snapshot, terms: terms.collect() }
    }

    /// A link that adds one or several terms, or removes them.
    pub(crate) fn toggle(&self, term: &str) -> Toggle {
        // Parsing is skipped for an empty filter, the usual case: a page has hundreds of such links.
        let own = if self.terms.is_empty() { Vec::new() } else { pieces(term) };
        let meant: Vec<Filter> = own.iter().filter_map(|word| self.app.filter(word, self.snapshot).ok()).collect();
        let has = |wanted: &Filter| self.terms.iter().any(|(_, other)| other.as_ref() == Some(wanted));
        // Compared by meaning, not by spelling: `tool:bash` switches off `tool:Bash`.
        let on = !meant.is_empty() && meant.iter().all(has);
        let stays = |other: &Option<Filter>| !on || other.as_ref().is_none_or(|other| !meant.contains(other));
        let mut words: Vec<&str> = self.terms.iter().filter(|(_, other)| stays(other)).map(|(word, _)| *word).collect();
        if !on {
            words.push(term);
        }
        Toggle { on, query: words.join(" ") }
    }
}

/// Terms of a filter as they are written, split at spaces outside quotes.
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
        // A backslash escapes only inside quotes, and `\\` is not an escape for the letter after it.
        escaped = quoted && letter == '\\' && !escaped;
    }
    pieces.push(query.get(start..).unwrap_or_default());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Message for a machine without logs; `comes` says what the page will show once there are some.
pub(crate) fn no_logs(app: &AppState, comes: &str) -> Markup {
    html! {
        div.nothing { p { b { "No logs yet." } " When an agent has run, " (comes) ". " a href=(app.to("/")) { "Log locations" } } }
    }
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
