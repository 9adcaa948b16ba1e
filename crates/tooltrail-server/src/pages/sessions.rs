//! `/sessions`: all sessions or those that a filter selects, in any order, with the results of their tests.

use super::progress;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::filter_form::{self, FilterForm, filter_address};
use crate::frame::{self, FramedPage};
use crate::request::{PageRequest, encoded};
use crate::session_table::{self, SessionRows, SessionTable, TimeOf};
use crate::tested::Bounds;
use crate::words::{self, LocalClock, ProjectNames};
use maud::{Markup, html};
use serde_json::{Map, json};
use std::collections::HashMap;
use tooltrail_catalog::matching::MatchScope;
use tooltrail_model::Status;
use tooltrail_model::row::SessionRow;
use tooltrail_view::head::{count, is_problem};

/// Sessions per page.
const SHOWN: usize = 100;
/// Number of projects to narrow the list by.
const OFFERED: usize = 12;

/// Example filters.
const EXAMPLES: &[(&str, &str)] = &[
    ("is:waiting", "waits for you"),
    ("since:today", "today"),
    ("is:failed since:7d", "with failed calls, last 7 days"),
    ("purpose:test status:failed", "with failed tests"),
    ("has:subagent", "with subagents"),
    ("\"connection refused\"", "that mention this phrase"),
];

pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let reading = progress::reading(app, Some(&snapshot));
    let query = request.word("q").unwrap_or_default();
    // Read before the filter, because the form keeps the order even if the filter is wrong.
    let order = SessionOrder::of_request(request);
    let body = match app.filter(query, &snapshot) {
        Err(mistake) => filter_form::mistake(app, "/sessions", &mistake),
        Ok(filter) => {
            let rows = snapshot.rows();
            // A session is listed if all terms hold for one of its calls or messages.
            let mut found = snapshot.catalogued(&rows, app.threads()).sessions(&filter, MatchScope::Call)?;
            order.sort(&rows, &mut found);
            let clock = LocalClock::at(snapshot.now.time);
            let rows = SessionRows::new(app, &snapshot, &rows, &clock, true);
            SessionsPage { rows, query, order, page: request.number("page").unwrap_or(1).max(1) }.body(&found)
        }
    };
    let main = html! {
        main #main.lists {
            h1 { "Sessions" }
            (filter_form::form(app, &FilterForm { path: "/sessions", id: "tt-q", label: "Filter: is:failed since:7d project:api", query, beside: &[("sort", request.get("sort").unwrap_or_default())] }))
            (progress::line(app, reading.as_ref()))
            (filter_form::stopped(app))
            (body)
        }
    };
    let title = if query.is_empty() { "Sessions".to_owned() } else { format!("{} · Sessions", words::cut(query, 60)) };
    let page = FramedPage {
        here: "/sessions",
        assets: &["lists.css", "lists.js"],
        again: reading.is_some(),
        follows: Some("lists"),
        snapshot: Some(&snapshot),
        ..FramedPage::plain(&title)
    };
    Ok(PageResponse::Html(frame::page(app, &page, &main)))
}

/// Verdicts on sessions, for a page that did not wait for them.
pub(crate) fn tests(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let rows = snapshot.rows();
    // At most as many as a page has, whatever the address says.
    let wanted = request.query.iter().filter(|(name, _)| name == "s").take(SHOWN);
    let places: Vec<usize> = wanted.filter_map(|(_, id)| rows.iter().position(|row| row.session == id)).collect();
    let told = app.tested.of(&snapshot, &rows, &places, &Bounds::of_script(app.threads()));
    let told: Map<_, _> = told.iter().filter_map(|(place, tested)| Some((rows.get(*place)?.session.to_owned(), json!(tested)))).collect();
    Ok(PageResponse::Text("application/json", json!(told).to_string()))
}

/// Sort key and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SessionOrder {
    by: SessionSortKey,
    /// Whether the order is reversed.
    turned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionSortKey {
    Last,
    Started,
    Title,
    Project,
    Turns,
    Calls,
    Problems,
    Lasted,
}

/// Columns that can be sorted by: class, name in addresses, heading, key. `started` has no column of its own.
const ORDERS: &[(&str, &str, &str, SessionSortKey)] = &[
    ("when", "last", "When", SessionSortKey::Last),
    ("", "started", "Started", SessionSortKey::Started),
    ("session", "title", "Session", SessionSortKey::Title),
    ("project", "project", "Project", SessionSortKey::Project),
    ("turns", "turns", "Turns", SessionSortKey::Turns),
    ("calls", "calls", "Calls", SessionSortKey::Calls),
    ("bad", "problems", "Problems", SessionSortKey::Problems),
    ("lasted", "lasted", "Duration", SessionSortKey::Lasted),
];

impl SessionOrder {
    fn of_request(request: &PageRequest) -> Self {
        let sort = request.word("sort").unwrap_or_default();
        let (word, turned) = sort.strip_prefix('-').map_or((sort, false), |word| (word, true));
        let by = ORDERS.iter().find(|(_, name, _, _)| *name == word).map_or(SessionSortKey::Last, |(_, _, _, by)| *by);
        SessionOrder { by, turned }
    }

    fn sort(self, rows: &[SessionRow<'_>], places: &mut [usize]) {
        // A safeguard for places that do not exist, without a panic in the comparison.
        let none = SessionRow::default();
        let row = |place: &usize| rows.get(*place).unwrap_or(&none);
        let bad =
            |row: &SessionRow<'_>| row.by_status.iter().filter(|(status, _)| is_problem(**status)).map(|(_, number)| *number).sum::<u64>();
        // All further sorts are stable, so this order remains among equal sessions.
        places.sort_by(|one, two| row(two).last_at.cmp(&row(one).last_at).then(two.cmp(one)));
        match self.by {
            SessionSortKey::Last => {}
            SessionSortKey::Started => places.sort_by_key(|place| std::cmp::Reverse(row(place).started_at)),
            SessionSortKey::Title => places.sort_by_cached_key(|place| words::title(row(place).title).to_lowercase()),
            SessionSortKey::Project => {
                places.sort_by_cached_key(|place| row(place).project.map(|path| words::last_part(path).to_lowercase()))
            }
            SessionSortKey::Turns => places.sort_by_key(|place| std::cmp::Reverse(row(place).turns)),
            SessionSortKey::Calls => places.sort_by_key(|place| std::cmp::Reverse(row(place).calls)),
            SessionSortKey::Problems => places.sort_by_key(|place| std::cmp::Reverse(bad(row(place)))),
            SessionSortKey::Lasted => places.sort_by_cached_key(|place| std::cmp::Reverse(words::lasted(row(place)))),
        }
        // Reversed as a whole, ties included: the reversed list is exactly the list from its other end.
        if self.turned {
            places.reverse();
        }
    }

    /// The time whose days group the rows.
    fn day(self) -> Option<TimeOf> {
        match self.by {
            SessionSortKey::Last => Some(|row| row.last_at),
            SessionSortKey::Started => Some(|row| row.started_at),
            _ => None,
        }
    }

    /// The order as addresses have it; empty for the default.
    fn word(self) -> String {
        let name = ORDERS.iter().find(|(_, _, _, by)| *by == self.by).map_or("", |(_, name, _, _)| name);
        match (self.by, self.turned) {
            // Left out, so that the plain list has one address.
            (SessionSortKey::Last, false) => String::new(),
            (_, turned) => format!("{}{name}", if turned { "-" } else { "" }),
        }
    }
}

/// The page, being drawn.
struct SessionsPage<'a> {
    rows: SessionRows<'a>,
    query: &'a str,
    order: SessionOrder,
    page: usize,
}

impl SessionsPage<'_> {
    fn body(&self, found: &[usize]) -> Markup {
        let pages = found.len().div_ceil(SHOWN).max(1);
        // A page number beyond the end shows the last page: the list may have shrunk since the link was made.
        let first = (self.page.min(pages) - 1) * SHOWN;
        let shown = found.get(first..found.len().min(first + SHOWN)).unwrap_or_default();
        let SessionRows { app, snapshot, rows, .. } = &self.rows;
        // Only for the sessions on this page.
        let tests = app.tested.of(snapshot, rows, shown, &Bounds::of_page(app.threads()));
        html! {
            (self.facets(found))
            @if found.is_empty() { (self.nothing()) } @else {
                p.counted { (self.counted(found.len(), first, shown.len())) }
                (self.rows.table(&SessionTable { places: shown, heads: &|column| self.head(column), by_day: self.order.day(), tests: &tests, short: false, name: "Sessions" }))
                (self.pages(pages))
            }
        }
    }

    /// Number of sessions, and which of them are shown.
    fn counted(&self, all: usize, first: usize, shown: usize) -> Markup {
        html! {
            @if shown < all { (count(first as u64 + 1)) "–" (count((first + shown) as u64)) " of " }
            (session_table::sessions(all))
            @if !self.query.is_empty() { span.di { " · " a href=(filter_address(self.rows.app, "/calls", self.query)) { "their calls" } } }
        }
    }

    /// Heading of a column, as a link that sorts by it.
    fn head(&self, column: &str) -> Option<Markup> {
        let (_, _, word, by) = ORDERS.iter().find(|(name, _, _, _)| *name == column)?;
        let here = self.order.by == *by;
        // A new column starts in its usual direction; a second click reverses it.
        let next = SessionOrder { by: *by, turned: here && !self.order.turned };
        let arrow = match (here, self.order.turned) {
            (false, _) => "",
            (true, false) => " ↓",
            (true, true) => " ↑",
        };
        Some(
            html! { a href=(self.address(self.query, next, 1)) title=(format!("Sort by {}", word.to_lowercase())) aria-current=[here.then_some("true")] { (word) span aria-hidden="true" { (arrow) } } },
        )
    }

    fn address(&self, query: &str, order: SessionOrder, page: usize) -> String {
        let mut parts = Vec::new();
        let mut say = |name: &str, value: String| {
            if !value.is_empty() {
                parts.push(format!("{name}={}", encoded(&value)));
            }
        };
        say("q", query.to_owned());
        say("sort", order.word());
        say("page", if page > 1 { page.to_string() } else { String::new() });
        let query = if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) };
        self.rows.app.to(&format!("/sessions{query}"))
    }

    fn pages(&self, pages: usize) -> Markup {
        let here = self.page.min(pages);
        // Sorted by time, "previous" would be ambiguous.
        let (before, after) = match (self.order.day(), self.order.turned) {
            (Some(_), false) => ("Newer", "Older"),
            (Some(_), true) => ("Older", "Newer"),
            (None, _) => ("Previous", "Next"),
        };
        html! {
            @if pages > 1 {
                nav.pages aria-label="Pages of this list" {
                    @if here > 1 { a rel="prev" href=(self.address(self.query, self.order, here - 1)) { "← " (before) } }
                    span.di { "Page " (here) " of " (pages) }
                    @if here < pages { a rel="next" href=(self.address(self.query, self.order, here + 1)) { (after) " →" } }
                }
            }
        }
    }

    /// Links that narrow the list by state, agent or project, and examples without a filter.
    fn facets(&self, found: &[usize]) -> Markup {
        let rows: Vec<(usize, &SessionRow<'_>)> = found.iter().filter_map(|&place| Some((place, self.rows.rows.get(place)?))).collect();
        // Counted over all sessions that were found, not only over those on this page.
        let number = |is: &dyn Fn(usize, &SessionRow<'_>) -> bool| rows.iter().filter(|(place, row)| is(*place, row)).count();
        let states = [
            ("is:waiting", "waits for you", number(&|_, row| matches!(row.state, Some("waiting" | "asks")))),
            ("is:live", "live", number(&|_, row| row.state.is_some_and(|state| state != "ended"))),
            ("is:failed", "with failed calls", number(&|_, row| row.by_status.get(&Status::Failed).is_some_and(|number| *number > 0))),
            ("is:gone", "gone", number(&|place, _| self.rows.snapshot.listing.is_gone(place))),
        ];
        let mut agents: HashMap<&str, usize> = HashMap::new();
        let mut projects: HashMap<&str, usize> = HashMap::new();
        for (_, row) in &rows {
            *agents.entry(row.agent).or_default() += 1;
            row.project.into_iter().for_each(|project| *projects.entry(project).or_default() += 1);
        }
        let (agents, projects) = (most(agents), most(projects));
        let names = ProjectNames::of(projects.iter().map(|(path, _)| *path));
        html! {
            nav.facets aria-label="Filters" {
                ul aria-label="States" { @for (term, word, number) in states { (self.facet(term, word, number)) } }
                ul aria-label="Agents" { @for (agent, number) in &agents { (self.facet(&format!("agent:{agent}"), agent, *number)) } }
                ul aria-label="Projects" {
                    @for (project, number) in projects.iter().take(OFFERED) {
                        (self.facet(&self.rows.project_term(project), &words::cut(names.name(project), 40), *number))
                    }
                }
                @if self.query.is_empty() {
                    ul aria-label="Examples" { @for (query, what) in EXAMPLES { li { a.example href=(filter_address(self.rows.app, "/sessions", query)) title=(what) { code { (query) } } } } }
                }
            }
        }
    }

    fn facet(&self, term: &str, word: &str, number: usize) -> Markup {
        let SessionRows { app, snapshot, .. } = &self.rows;
        let toggle = filter_form::toggle(app, snapshot, self.query, term);
        html! {
            // A term that is part of the filter stays visible even at 0, so that it can be removed.
            @if toggle.on || number > 0 {
                li { a.on[toggle.on] href=(self.address(&toggle.query, self.order, 1)) aria-current=[toggle.on.then_some("true")] title=(if toggle.on { "Remove this filter" } else { "Show only these" }) {
                    (word) " " span.di { (count(number as u64)) } @if toggle.on { " ✕" }
                } }
            }
        }
    }

    fn nothing(&self) -> Markup {
        let app = self.rows.app;
        if self.rows.rows.is_empty() && !self.rows.snapshot.read.partial {
            return filter_form::no_logs(app, "shows its sessions");
        }
        html! {
            div.nothing {
                p { b { "No sessions match." } " All terms must match the same call or message of a session." }
                p { a href=(app.to("/sessions")) { "All sessions" } " · " a href=(app.to("/help#filters")) { "Filter syntax" } }
            }
        }
    }
}

/// Sorts counts, the highest first; equal ones by name, because the order of a map is random.
fn most(counts: HashMap<&str, usize>) -> Vec<(&str, usize)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(name, one), (other, two)| two.cmp(one).then(name.cmp(other)));
    counts
}
