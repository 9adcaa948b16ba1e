//! Counts of the calls in the table by tool, status and project, and their durations. Each count is a link that narrows
//! the table.

use super::View;
use crate::filter_form::FilterTerms;
use crate::session_table::SessionRows;
use crate::words::{self, ProjectNames};
use maud::{Markup, html};
use tooltrail_catalog::queries::CallTable;
use tooltrail_model::Status;
use tooltrail_model::filter::quoted;
use tooltrail_view::head::{count, look};
use tooltrail_view::line::neutral;

/// Number of links of each kind: at once, and on request.
const OFFERED: usize = 8;
const MORE: usize = 200;

/// The counts of a table as links.
pub(super) fn facets(table: &CallTable, view: &View<'_>, rows: &SessionRows<'_>) -> Markup {
    // Parsed once for all links.
    let terms = FilterTerms::of(rows.app, rows.snapshot, view.query);
    let facet = |term: &str, word: &Markup, number: u64| facet(view, &terms, term, word, number);
    let tools =
        table.tools.iter().map(|(tool, number)| facet(&format!("tool:{}", quoted(tool)), &html! { (words::cut(tool, 40)) }, *number));
    let statuses = Status::ALL.iter().filter_map(|status| Some((*status, *table.statuses.get(status)?)));
    let statuses = statuses.map(|(status, number)| {
        let look = look(status);
        let word = html! { span class=(words::class(look.tone)) { (look.glyph) } " " (look.word) };
        facet(&format!("status:{}", status.word()), &word, number)
    });
    let names = ProjectNames::of(table.projects.iter().map(|(path, _)| path.as_str()));
    let projects = table.projects.iter().map(|(path, number)| {
        facet(&rows.project_term(path), &html! { span title=(neutral(path)) { (words::cut(names.name(path), 40)) } }, *number)
    });
    html! {
        nav.facets.counts aria-label="Filters" {
            ul aria-label="Status" { @for one in statuses { (one) } }
            (group("Tools", tools, table.tools.len()))
            (group("Projects", projects, table.projects.len()))
        }
    }
}

/// The first links, and the others on request.
fn group(name: &str, mut facets: impl Iterator<Item = Markup>, all: usize) -> Markup {
    let first: Vec<Markup> = facets.by_ref().take(OFFERED).collect();
    let rest: Vec<Markup> = facets.take(MORE).collect();
    let left = all.saturating_sub(first.len() + rest.len());
    html! {
        ul aria-label=(name) {
            @for one in &first { (one) }
            @if !rest.is_empty() {
                li.rest-of { details { summary { (count(rest.len() as u64 + left as u64)) " more" }
                    ul { @for one in &rest { (one) } @if left > 0 { li.di { "and " (count(left as u64)) " that are not shown" } } } } }
            }
        }
    }
}

fn facet(view: &View<'_>, terms: &FilterTerms<'_>, term: &str, word: &Markup, number: u64) -> Markup {
    let toggle = terms.toggle(term);
    html! {
        li { a.on[toggle.on] href=(view.with_query(&toggle.query)) aria-current=[toggle.on.then_some("true")] title=(if toggle.on { "Remove this filter" } else { "Show only these" }) {
            (word) " " span.di { (count(number)) } @if toggle.on { " ✕" }
        } }
    }
}
