//! `/search`: text in all sessions, and calls that a filter selects.
//!
//! A search stops when the page is full; a script then asks for the totals.

use super::progress;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::call_rows::{self, CallLine};
use crate::filter_form::{self, FilterForm, filter_address};
use crate::frame::{self, FramedPage};
use crate::hits::{self, HitPage, SearchInput};
use crate::request::{PageRequest, encoded};
use crate::session_table::SessionRows;
use crate::words::{self, LocalClock};
use maud::{Markup, html};
use serde_json::json;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tooltrail_catalog::queries::{CallSortKey, CallTableQuery};
use tooltrail_catalog::search::{Field, HitTotals, Query, search};
use tooltrail_catalog::stop::Stop;
use tooltrail_catalog::store::Figure;
use tooltrail_model::filter::{Filter, Test};
use tooltrail_view::head::{count, counted};

/// Sessions per page of hits, calls and messages per session, and the same if the filter names a session.
const SESSIONS: usize = 20;
const UNITS: usize = 5;
const ALONE: usize = 500;
/// The last page of hits: each page searches all sessions before it again.
const LAST: usize = 200;
/// Calls per page if no text is searched for.
const CALLS: usize = 100;

/// Time for counting hits. The user may have left by then.
const PATIENCE: Duration = Duration::from_secs(3);

/// Fields that a search can be limited to, with their names on the page.
const FIELDS: &[(Field, &str)] = &[
    (Field::Prompt, "prompts"),
    (Field::Text, "answers"),
    (Field::Thinking, "thinking"),
    (Field::Input, "tool inputs"),
    (Field::Path, "paths"),
    (Field::Result, "results"),
];

/// Example queries.
pub(crate) const EXAMPLES: &[(&str, &str)] = &[
    ("status:failed since:today", "calls that failed today"),
    ("\"permission denied\"", "a phrase in prompts, answers, calls and results"),
    ("deadlock mutex", "both words in the same call or message"),
    ("kind:shell exit:nonzero since:7d", "failed commands, last 7 days"),
    ("purpose:test has:masked", "tests with a masked exit code"),
    ("took:5m..", "calls that took at least five minutes"),
    ("file:src/** has:diff", "edits in src"),
    ("status:blocked,rejected", "rejected or blocked calls"),
    ("re:TODO|FIXME not:node_modules", "regular expression, with exclusions"),
    ("tool:Bash timeout agent:codex", "a word in commands of an agent"),
];

pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let reading = progress::reading(app, Some(&snapshot));
    let query = request.word("q").unwrap_or_default();
    let (field, number) = (request.word("field").unwrap_or_default(), request.number("page").unwrap_or(1).max(1));
    let rows = snapshot.rows();
    let clock = LocalClock::at(snapshot.now.time);
    let rows = SessionRows::new(app, &snapshot, &rows, &clock, false);
    let searched = SearchPage { rows, query, field, page: number };
    let body = match app.filter(query, &snapshot) {
        Err(mistake) => filter_form::mistake(app, "/search", &mistake),
        // While logs are still being read, an empty list is not yet the answer.
        Ok(_) if searched.rows.rows.is_empty() && reading.is_none() => filter_form::no_logs(app, "shows the search"),
        Ok(filter) if filter.is_empty() => examples(app),
        // Only filters with a text need the logs; all others are answered by the catalogue.
        Ok(filter) if filter.patterns().next().is_some() => searched.texts(filter)?,
        Ok(filter) => searched.calls(&filter)?,
    };
    let main = html! {
        main #main.lists {
            h1 { "Search" }
            (filter_form::form(app, &FilterForm { path: "/search", id: "tt-search", label: "Words, a \"phrase\", any filter: status:failed since:7d", query, beside: &[("field", field)] }))
            (progress::line(app, reading.as_ref()))
            (body)
        }
    };
    let title = if query.is_empty() { "Search".to_owned() } else { words::cut(query, 60) };
    let page = FramedPage { here: "/search", assets: &["lists.css", "lists.js"], again: reading.is_some(), ..FramedPage::plain(&title) };
    Ok(PageResponse::Html(frame::page(app, &page, &main)))
}

/// Totals of a search, for a page that stopped when it was full.
pub(crate) fn counts(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let wrong = |what: &dyn std::fmt::Display| Trouble::Wrong(what.to_string());
    let filter = app.filter(request.word("q").unwrap_or_default(), &snapshot).map_err(|mistake| wrong(&mistake))?;
    if filter.patterns().next().is_none() {
        return Err(wrong(&"The search has no text."));
    }
    let query = Query::new(filter, &fields(request.word("field").unwrap_or_default()));
    let start = Instant::now();
    let mut whole = true;
    let totals = search(&snapshot.library, &query, &snapshot.now, app.threads(), |_| {
        // Checked between sessions: the count is then too low, and the text says so.
        whole = start.elapsed() < PATIENCE;
        if whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let whole = whole && !Stop::current().is_reached();
    let say = if whole { summary(&totals) } else { format!("More than {}", summary(&totals)) };
    Ok(PageResponse::Text("application/json", json!({ "say": say }).to_string()))
}

/// Fields that an address names; unknown names are ignored.
fn fields(names: &str) -> Vec<Field> {
    names.split(',').filter_map(Field::of_word).collect()
}

/// HitTotals in words: `37 hits in 12 calls and 3 messages of 4 sessions`.
fn summary(totals: &HitTotals) -> String {
    let counted_if = |number: u64, thing: &str| (number > 0).then(|| counted(number, thing));
    let units: Vec<String> = [counted_if(totals.calls, "call"), counted_if(totals.messages, "message")].into_iter().flatten().collect();
    format!("{} in {} of {}", counted(totals.hits, "hit"), units.join(" and "), counted(totals.sessions, "session"))
}

fn examples(app: &AppState) -> Markup {
    html! {
        p { "Search prompts, answers, tool inputs and results of all sessions. All terms must match the same call or message." }
        dl.examples data-rows {
            @for (query, what) in EXAMPLES { div { dt { a data-row href=(filter_address(app, "/search", query)) { code { (query) } } } dd { (what) } } }
        }
        p { a href=(app.to("/help#filters")) { "Filter syntax" } }
    }
}

/// The page, being drawn.
struct SearchPage<'a> {
    rows: SessionRows<'a>,
    query: &'a str,
    field: &'a str,
    page: usize,
}

impl SearchPage<'_> {
    /// Hits of a search for text.
    fn texts(&self, filter: Filter) -> Result<Markup, Trouble> {
        // Every page searches from the beginning, so a high number in an address would cost much for nothing.
        if self.page > LAST {
            return Ok(self.too_far());
        }
        let SessionRows { app, snapshot, .. } = &self.rows;
        // A search within a session lists far more of its hits.
        let alone = filter.terms().iter().any(|term| !term.not && matches!(term.test, Test::Session(_)));
        // The session's page can look for plain text only, not for a regular expression.
        let find = filter.patterns().find(|pattern| pattern.is_literal()).map(|pattern| pattern.source().to_owned());
        let query = Query::new(filter, &fields(self.field));
        let mut kept = HitPage::new((self.page - 1) * SESSIONS, SESSIONS, if alone { ALONE } else { UNITS });
        // Hits are dropped as they come, except for those of this page.
        let totals = search(&snapshot.library, &query, &snapshot.now, app.threads(), |hits| kept.add(&hits))?;
        let HitPage { found, more, .. } = kept;
        let wanted = SearchInput { query: self.query, find: find.as_deref() };
        let groups = found.iter().map(|group| hits::group(&self.rows, group, &wanted)).collect::<Result<Vec<_>, _>>()?;
        let stopped = Stop::current().is_reached();
        let counts = format!("/search/counts?q={}&field={}", encoded(self.query), encoded(self.field));
        Ok(html! {
            (self.fields())
            (filter_form::stopped(app))
            @if groups.is_empty() { @if !stopped { (self.nothing()) } } @else {
                p.counted {
                    // At least so many were seen; "more than" needs one less.
                    @if more { span data-count=(app.to(&counts)) { "More than " (counted(totals.hits.saturating_sub(1), "hit")) ", newest first" } } @else { (summary(&totals)) }
                    span.di { " · " a href=(filter_address(app, "/sessions", self.query)) { "as sessions" } " · " a href=(filter_address(app, "/calls", self.query)) { "calls as a table" } }
                }
                div.hits { @for group in &groups { (group) } }
                (self.pages(self.page, more))
            }
        })
    }

    /// Calls of a filter without text, the newest first.
    fn calls(&self, filter: &Filter) -> Result<Markup, Trouble> {
        let SessionRows { app, snapshot, rows, .. } = &self.rows;
        let query = CallTableQuery {
            filter,
            inner: true,
            sort: CallSortKey::Figure(Figure::Order),
            desc: true,
            project: &str::to_owned,
            offset: self.page.saturating_sub(1).saturating_mul(CALLS),
            limit: CALLS,
        };
        let found = snapshot.catalogued(rows, app.threads()).call_table(&query, None)?;
        let (page, first) = (found.first / CALLS + 1, found.first);
        let lines = call_rows::lines(snapshot, &found.calls)?;
        // The table leaves out calls in scripts unless asked, and has to have as many rows as this page.
        let inner = if found.inner > 0 { "&inner=1" } else { "" };
        let table = format!("{}{inner}", filter_address(app, "/calls", self.query));
        Ok(html! {
            (filter_form::stopped(app))
            @if lines.is_empty() { (self.nothing()) } @else {
                p.counted {
                    @if lines.len() < found.total { (count(first as u64 + 1)) "–" (count((first + lines.len()) as u64)) " of " }
                    (counted(found.total as u64, "call"))
                    span.di { " · " a href=(filter_address(app, "/sessions", self.query)) { "as sessions" } " · " a href=(table) { "calls as a table" } }
                }
                (self.call_table(&lines))
                (self.pages(page, first + lines.len() < found.total))
            }
        })
    }

    fn call_table(&self, lines: &[CallLine]) -> Markup {
        let clock = self.rows.clock;
        let day = |line: &CallLine| line.at.map(|at| clock.day(at));
        html! {
            table.calls aria-label="Calls" {
                thead { tr { th.when scope="col" { "Time" } th.what scope="col" { "Call" } th.verdict-cell scope="col" { "Outcome" } th.lasted.n scope="col" { "Took" } th.session scope="col" { "Session" } th.project scope="col" { "Project" } } }
                @for group in lines.chunk_by(|one, next| day(one) == day(next)) {
                    tbody data-rows {
                        @if let Some(line) = group.first() { tr.day { th colspan="6" scope="rowgroup" { (day(line).unwrap_or_else(|| "No time recorded".to_owned())) } } }
                        @for line in group { (self.call(line)) }
                    }
                }
            }
        }
    }

    fn call(&self, line: &CallLine) -> Markup {
        let (app, clock) = (self.rows.app, self.rows.clock);
        let Some(row) = self.rows.rows.get(line.session) else { return html! {} };
        html! {
            tr {
                td.when { @if let Some(at) = line.at { time datetime=(at) title=(clock.full(at)) { (clock.time(at)) } } }
                td.what { (line.link(app, row.session, None)) (line.error_line()) }
                td.verdict-cell { (line.verdict()) }
                td.lasted.n { (line.took()) }
                td.session {
                    a.number href=(line.address(app, row.session)) title="Timeline of this call" { "#" (line.number) } " "
                    a href=(self.rows.to(row)) { (words::title(row.title)) }
                }
                td.project { @if let Some(project) = row.project { (self.rows.project(project)) } }
            }
        }
    }

    /// Links that limit the search to a field.
    fn fields(&self) -> Markup {
        let link = |name: &str, word: &str| {
            let on = self.field == name;
            html! { li { a.on[on] href=(self.address(name, 1)) aria-current=[on.then_some("true")] { (word) } } }
        };
        html! {
            nav.facets aria-label="Search in" { ul aria-label="Texts" { (link("", "everywhere")) @for (field, word) in FIELDS { (link(field.word(), word)) } } }
        }
    }

    fn address(&self, field: &str, page: usize) -> String {
        let field = if field.is_empty() { String::new() } else { format!("&field={}", encoded(field)) };
        let page = if page > 1 { format!("&page={page}") } else { String::new() };
        self.rows.app.to(&format!("/search?q={}{field}{page}", encoded(self.query)))
    }

    fn pages(&self, page: usize, more: bool) -> Markup {
        html! {
            @if more || page > 1 {
                nav.pages aria-label="Pages of this list" {
                    @if page > 1 { a rel="prev" href=(self.address(self.field, page - 1)) { "← Newer" } }
                    span.di { "Page " (page) }
                    @if more { a rel="next" href=(self.address(self.field, page + 1)) { "Older →" } }
                }
            }
        }
    }

    /// Message instead of a page that would take too long.
    fn too_far(&self) -> Markup {
        html! {
            div.nothing {
                p { b { "Results end at page " (LAST) "." } " Narrow the search: add another word, " code { "since:7d" } ", " code { "project:api" } "." }
                p { a href=(self.address(self.field, 1)) { "First page" } " · " a href=(self.rows.app.to("/help#filters")) { "Filter syntax" } }
            }
        }
    }

    fn nothing(&self) -> Markup {
        let app = self.rows.app;
        html! {
            div.nothing {
                p { b { (if self.page > 1 { "This page is empty." } else { "No matches." }) } " All terms must match the same call or message." }
                ul {
                    @if self.page > 1 { li { a href=(self.address(self.field, 1)) { "First page" } } }
                    // The likeliest reasons for an empty result come first.
                    @if !self.field.is_empty() { li { a href=(self.address("", 1)) { "Search everywhere" } " instead of only in some texts" } }
                    li { "Try fewer words or a part of a word: a search also matches inside longer words and ignores case" }
                    li { a href=(filter_address(app, "/sessions", self.query)) { "Sessions" } " that match the filter" }
                    li { a href=(app.to("/help#filters")) { "Filter syntax" } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_told_in_words() {
        let totals = HitTotals { hits: 37, calls: 12, messages: 3, sessions: 4 };
        assert_eq!(summary(&totals), "37 hits in 12 calls and 3 messages of 4 sessions");
        assert_eq!(summary(&HitTotals { hits: 1, calls: 0, messages: 1, sessions: 1 }), "1 hit in 1 message of 1 session");
    }

    #[test]
    fn fields_that_are_none_are_left_out() {
        assert_eq!(fields("result,nonsense,path"), [Field::Result, Field::Path]);
        assert!(fields("").is_empty());
    }
}
