//! Counts of the calls in the table by tool, status and project, and their durations. Each count is a link that narrows
//! the table.

use super::View;
use crate::filter_cache::FilteredCalls;
use crate::filter_form::FilterTerms;
use crate::session_table::SessionRows;
use crate::words::{self, ProjectNames};
use maud::{Markup, html};
use std::collections::HashMap;
use tooltrail_catalog::store::Figure;
use tooltrail_model::Status;
use tooltrail_model::filter::quoted;
use tooltrail_view::head::{count, look};
use tooltrail_view::line::neutral;

/// Number of links of each kind: at once, and on request.
const OFFERED: usize = 8;
const MORE: usize = 200;

/// Counts of calls.
pub(super) struct CallCounts {
    /// By tool. Case does not count, as in a filter; the first spelling is shown. A script that is its one call counts by both
    /// names, because a filter finds it by both.
    tools: Vec<(String, u64)>,
    statuses: Vec<(Status, u64)>,
    /// By project, with its path.
    projects: Vec<(String, u64)>,
    /// Total duration, number of calls with a known duration, and the median.
    pub(super) took: u64,
    pub(super) timed: u64,
    pub(super) median: Option<u64>,
}

impl CallCounts {
    /// Counts calls.
    pub(super) fn of(found: &FilteredCalls, rows: &SessionRows<'_>) -> Self {
        let keys = &found.keys;
        // Arrays by index are much faster than maps here: the table may have a hundred thousand calls.
        let mut by_tool = vec![0u64; keys.tools().len()];
        let mut by_session = vec![0u64; rows.rows.len()];
        let mut by_status: HashMap<Status, u64> = HashMap::new();
        let mut unwrapped: HashMap<&str, u64> = HashMap::new();
        let mut times = Vec::new();
        for call in found.calls.iter() {
            let Some(key) = keys.of(*call) else { continue };
            by_tool.get_mut(keys.tool(key)).into_iter().for_each(|number| *number += 1);
            if let Some(inner) = keys
                .unwrapped(key)
                .filter(|inner| keys.tools().get(keys.tool(key)).is_none_or(|own| own.to_lowercase() != inner.to_lowercase()))
            {
                *unwrapped.entry(inner).or_default() += 1;
            }
            by_session.get_mut(call.session).into_iter().for_each(|number| *number += 1);
            *by_status.entry(key.status).or_default() += 1;
            times.extend(key.figure(Figure::Took).and_then(|took| u64::try_from(took).ok()));
        }
        // Filters ignore case, so tools that differ only in case get one link with their sum.
        let mut tools: HashMap<String, (String, u64)> = HashMap::new();
        let counted = keys.tools().iter().map(|name| &**name).zip(by_tool).chain(unwrapped);
        for (name, number) in counted.filter(|(_, number)| *number > 0) {
            tools.entry(name.to_lowercase()).or_insert_with(|| (name.to_owned(), 0)).1 += number;
        }
        let mut projects: HashMap<&str, u64> = HashMap::new();
        for (row, number) in rows.rows.iter().zip(by_session).filter(|(_, number)| *number > 0) {
            row.project.into_iter().for_each(|project| *projects.entry(project).or_default() += number);
        }
        let middle = times.len() / 2;
        CallCounts {
            tools: most(tools.into_values()),
            statuses: Status::ALL.iter().filter_map(|status| Some((*status, *by_status.get(status)?))).collect(),
            projects: most(projects.into_iter().map(|(path, number)| (path.to_owned(), number))),
            took: times.iter().sum(),
            timed: times.len() as u64,
            // Selecting the middle element is linear, sorting all durations is not.
            median: (!times.is_empty()).then(|| *times.select_nth_unstable(middle).1),
        }
    }

    /// The counts as links.
    pub(super) fn facets(&self, view: &View<'_>, rows: &SessionRows<'_>) -> Markup {
        // Parsed once for all links.
        let terms = FilterTerms::of(rows.app, rows.snapshot, view.query);
        let facet = |term: &str, word: &Markup, number: u64| facet(view, &terms, term, word, number);
        let tools =
            self.tools.iter().map(|(tool, number)| facet(&format!("tool:{}", quoted(tool)), &html! { (words::cut(tool, 40)) }, *number));
        let statuses = self.statuses.iter().map(|(status, number)| {
            let look = look(*status);
            let word = html! { span class=(words::class(look.tone)) { (look.glyph) } " " (look.word) };
            facet(&format!("status:{}", status.word()), &word, *number)
        });
        let names = ProjectNames::of(self.projects.iter().map(|(path, _)| path.as_str()));
        let projects = self.projects.iter().map(|(path, number)| {
            facet(&rows.project_term(path), &html! { span title=(neutral(path)) { (words::cut(names.name(path), 40)) } }, *number)
        });
        html! {
            nav.facets.counts aria-label="Filters" {
                ul aria-label="Status" { @for one in statuses { (one) } }
                (group("Tools", tools, self.tools.len()))
                (group("Projects", projects, self.projects.len()))
            }
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

/// Sorts counts, the highest first.
fn most(counts: impl Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.collect();
    // Ties are sorted by name: the order of a map is random, and the page would change on every load.
    counts.sort_unstable_by(|(name, one), (other, two)| two.cmp(one).then_with(|| name.cmp(other)));
    counts
}
