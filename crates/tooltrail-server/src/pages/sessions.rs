//! `/sessions`: all sessions, or those that a filter takes, in any order; and how their tests went.

use super::progress;
use crate::answer::{Answer, Trouble};
use crate::app_state::AppState;
use crate::filter_form::{self, FilterForm, filter_address};
use crate::frame::{self, Page};
use crate::request::{PageRequest, encoded};
use crate::session_table::{self, SessionRows, SessionTable, TimeOf};
use crate::tested::Bounds;
use crate::words::{self, Clock, ProjectNames};
use maud::{Markup, html};
use serde_json::{Map, json};
use std::collections::HashMap;
use std::time::Duration;
use tooltrail_catalog::matching::MatchScope;
use tooltrail_model::Status;
use tooltrail_model::row::SessionRow;
use tooltrail_view::head::{count, is_problem};

/// How many sessions a page has.
const SHOWN: usize = 100;
/// How many projects are offered.
const OFFERED: usize = 12;
/// How long a page waits to know how tests went, for sessions of how many calls, and how long a script waits.
const PATIENCE: Duration = Duration::from_millis(60);
const FEW: u64 = 200;
const LATER: Duration = Duration::from_secs(5);

/// Filters to begin with.
const EXAMPLES: &[(&str, &str)] = &[
    ("is:waiting", "waits for you"),
    ("since:today", "today"),
    ("is:failed since:7d", "with a failed call, this week"),
    ("purpose:test status:failed", "whose tests failed"),
    ("has:subagent", "with subagents"),
    ("\"connection refused\"", "in which these words came up"),
];

pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<Answer, Trouble> {
    let snapshot = app.snapshot()?;
    let reading = progress::reading(app, Some(&snapshot));
    let query = request.word("q").unwrap_or_default();
    let order = Order::of_request(request);
    let body = match app.filter(query, &snapshot) {
        Err(mistake) => filter_form::mistake(app, "/sessions", &mistake),
        Ok(filter) => {
            let rows = snapshot.rows();
            let mut found = snapshot.catalogued(&rows, app.threads()).sessions(&filter, MatchScope::Call)?;
            order.sort(&rows, &mut found);
            let clock = Clock::at(snapshot.now.time);
            let rows = SessionRows::new(app, &snapshot, &rows, &clock, true);
            Listing { rows, query, order, page: request.number("page").unwrap_or(1).max(1) }.body(&found)
        }
    };
    let main = html! {
        main #main.lists {
            h1 { "Sessions" }
            (filter_form::form(app, &FilterForm { path: "/sessions", id: "tt-q", label: "Filter: is:failed since:7d project:api", query, beside: &[("sort", request.get("sort").unwrap_or_default())] }))
            (progress::line(app, reading.as_ref()))
            (body)
        }
    };
    let title = if query.is_empty() { "Sessions".to_owned() } else { format!("{} · Sessions", words::cut(query, 60)) };
    let page = Page {
        here: "/sessions",
        assets: &["lists.css", "lists.js"],
        again: reading.is_some(),
        follows: Some("lists"),
        snapshot: Some(&snapshot),
        ..Page::plain(&title)
    };
    Ok(Answer::Html(frame::page(app, &page, &main)))
}

/// How the tests of some sessions went, for a page that could not wait.
pub(crate) fn tests(app: &AppState, request: &PageRequest) -> Result<Answer, Trouble> {
    let snapshot = app.snapshot()?;
    let rows = snapshot.rows();
    let wanted = request.query.iter().filter(|(name, _)| name == "s").take(SHOWN);
    let places: Vec<usize> = wanted.filter_map(|(_, id)| rows.iter().position(|row| row.session == id)).collect();
    let told = app.tested.of(&snapshot, &rows, &places, &Bounds { threads: app.threads(), patience: LATER, calls: u64::MAX });
    let told: Map<_, _> = told.iter().filter_map(|(place, tested)| Some((rows.get(*place)?.session.to_owned(), json!(tested)))).collect();
    Ok(Answer::Text("application/json", json!(told).to_string()))
}

/// By what sessions are sorted, and which end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    by: By,
    /// The other end first.
    turned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Last,
    Started,
    Title,
    Project,
    Turns,
    Calls,
    Problems,
    Lasted,
}

/// The columns that can be sorted by: their names, and what they are called in an address.
const ORDERS: &[(&str, &str, &str, By)] = &[
    ("when", "last", "When", By::Last),
    ("", "started", "Started", By::Started),
    ("session", "title", "Session", By::Title),
    ("project", "project", "Project", By::Project),
    ("turns", "turns", "Turns", By::Turns),
    ("calls", "calls", "Calls", By::Calls),
    ("bad", "problems", "Not fine", By::Problems),
    ("lasted", "lasted", "Lasted", By::Lasted),
];

impl Order {
    fn of_request(request: &PageRequest) -> Self {
        let sort = request.word("sort").unwrap_or_default();
        let (word, turned) = sort.strip_prefix('-').map_or((sort, false), |word| (word, true));
        let by = ORDERS.iter().find(|(_, name, _, _)| *name == word).map_or(By::Last, |(_, _, _, by)| *by);
        Order { by, turned }
    }

    fn sort(self, rows: &[SessionRow<'_>], places: &mut [usize]) {
        let none = SessionRow::default();
        let row = |place: &usize| rows.get(*place).unwrap_or(&none);
        let bad =
            |row: &SessionRow<'_>| row.by_status.iter().filter(|(status, _)| is_problem(**status)).map(|(_, number)| *number).sum::<u64>();
        // The newest first, also among those that are otherwise equal.
        places.sort_by(|one, two| row(two).last_at.cmp(&row(one).last_at).then(two.cmp(one)));
        match self.by {
            By::Last => {}
            By::Started => places.sort_by(|one, two| row(two).started_at.cmp(&row(one).started_at)),
            By::Title => places.sort_by_cached_key(|place| words::title(row(place).title).to_lowercase()),
            By::Project => places.sort_by_cached_key(|place| row(place).project.map(|path| words::last_part(path).to_lowercase())),
            By::Turns => places.sort_by_key(|place| std::cmp::Reverse(row(place).turns)),
            By::Calls => places.sort_by_key(|place| std::cmp::Reverse(row(place).calls)),
            By::Problems => places.sort_by_key(|place| std::cmp::Reverse(bad(row(place)))),
            By::Lasted => places.sort_by_cached_key(|place| std::cmp::Reverse(words::lasted(row(place)))),
        }
        if self.turned {
            places.reverse();
        }
    }

    /// The time by whose days sessions stand together.
    fn day(self) -> Option<TimeOf> {
        match self.by {
            By::Last => Some(|row| row.last_at),
            By::Started => Some(|row| row.started_at),
            _ => None,
        }
    }

    /// As an address has it; nothing for what is so anyway.
    fn word(self) -> String {
        let name = ORDERS.iter().find(|(_, _, _, by)| *by == self.by).map_or("", |(_, name, _, _)| name);
        match (self.by, self.turned) {
            (By::Last, false) => String::new(),
            (_, turned) => format!("{}{name}", if turned { "-" } else { "" }),
        }
    }
}

/// The list, being made.
struct Listing<'a> {
    rows: SessionRows<'a>,
    query: &'a str,
    order: Order,
    page: usize,
}

impl Listing<'_> {
    fn body(&self, found: &[usize]) -> Markup {
        let pages = found.len().div_ceil(SHOWN).max(1);
        let first = (self.page.min(pages) - 1) * SHOWN;
        let shown = found.get(first..found.len().min(first + SHOWN)).unwrap_or_default();
        let SessionRows { app, snapshot, rows, .. } = &self.rows;
        let tests = app.tested.of(snapshot, rows, shown, &Bounds { threads: app.threads(), patience: PATIENCE, calls: FEW });
        html! {
            (self.facets(found))
            @if found.is_empty() { (self.nothing()) } @else {
                p.counted { (self.counted(found.len(), first, shown.len())) }
                (self.rows.table(&SessionTable { places: shown, heads: &|column| self.head(column), by_day: self.order.day(), tests: Some(&tests), name: "Sessions" }))
                (self.pages(pages))
            }
        }
    }

    /// How many there are, and which of them are shown.
    fn counted(&self, all: usize, first: usize, shown: usize) -> Markup {
        html! {
            (session_table::sessions(all))
            @if shown < all { span.di { ", here " (count(first as u64 + 1)) " to " (count((first + shown) as u64)) } }
            @if !self.query.is_empty() { span.di { " · " a href=(filter_address(self.rows.app, "/calls", self.query)) { "their calls" } } }
        }
    }

    /// The head of a column: a link that sorts by it.
    fn head(&self, column: &str) -> Option<Markup> {
        let (_, _, word, by) = ORDERS.iter().find(|(name, _, _, _)| *name == column)?;
        let here = self.order.by == *by;
        let next = Order { by: *by, turned: here && !self.order.turned };
        let arrow = match (here, self.order.turned) {
            (false, _) => "",
            (true, false) => " ↓",
            (true, true) => " ↑",
        };
        Some(
            html! { a href=(self.address(self.query, next, 1)) title=(format!("Sort by {}", word.to_lowercase())) aria-current=[here.then_some("true")] { (word) span aria-hidden="true" { (arrow) } } },
        )
    }

    fn address(&self, query: &str, order: Order, page: usize) -> String {
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

    /// Links that narrow the list: states, agents, projects, and examples where nothing was asked yet.
    fn facets(&self, found: &[usize]) -> Markup {
        let rows: Vec<(usize, &SessionRow<'_>)> = found.iter().filter_map(|&place| Some((place, self.rows.rows.get(place)?))).collect();
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
            nav.facets aria-label="Narrow the list" {
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
            @if toggle.on || number > 0 {
                li { a.on[toggle.on] href=(self.address(&toggle.query, self.order, 1)) aria-current=[toggle.on.then_some("true")] title=(if toggle.on { "Take this away" } else { "Only these" }) {
                    (word) " " span.di { (count(number as u64)) } @if toggle.on { " ✕" }
                } }
            }
        }
    }

    fn nothing(&self) -> Markup {
        let app = self.rows.app;
        if self.rows.rows.is_empty() && !self.rows.snapshot.read.partial {
            return filter_form::no_logs(app, "its sessions are here");
        }
        html! {
            div.nothing {
                p { b { "No session fits." } " All terms must hold for one call or one message of a session." }
                p { a href=(app.to("/sessions")) { "All sessions" } " · " a href=(app.to("/help#filters")) { "What a filter can say" } }
            }
        }
    }
}

/// By their number, the most first.
fn most(counts: HashMap<&str, usize>) -> Vec<(&str, usize)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(name, one), (other, two)| two.cmp(one).then(name.cmp(other)));
    counts
}
