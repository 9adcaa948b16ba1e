//! `/calls`: a table of all calls or of those that a filter selects, in any order, with a choice of columns, counts,
//! and downloads.
//!
//! Calls are chosen and counted by their stored keys; rows are read only for the calls on the page. If a filter searches texts, the page shows
//! what is found in a moment, and the rest is counted afterwards.

mod columns;
mod counts;
mod export;
mod order;

pub(crate) use export::{csv, jsonl};

use super::progress;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::call_rows::CallLine;
use crate::filter_form::{self, FilterForm, filter_address};
use crate::frame::{self, FramedPage};
use crate::request::{PageRequest, encoded};
use crate::session_table::SessionRows;
use crate::words::{self, LocalClock};
use columns::{COLUMNS, CallColumn, ShownCall, TableCall};
use maud::{Markup, html};
use order::CallOrder;
use serde_json::json;
use std::time::Duration;
use tooltrail_catalog::queries::{CallTable, CallTableQuery};
use tooltrail_catalog::store::ListedCall;
use tooltrail_model::Time;
use tooltrail_model::filter::Filter;
use tooltrail_view::head::{count, counted, took};

/// Calls per page.
const SHOWN: usize = 150;
/// Time for the search in logs: of a page, of the script that asks for the count, and of a user who asks for
/// everything.
const PATIENCE: Duration = Duration::from_millis(250);
const LATER: Duration = Duration::from_secs(5);
const WHOLE: Duration = Duration::from_secs(60);

/// Example filters.
const EXAMPLES: &[(&str, &str)] = &[
    ("is:failed since:today", "failed today"),
    ("took:1m..", "took at least a minute"),
    ("kind:shell exit:nonzero", "failed commands"),
    ("status:rejected,blocked", "rejected or blocked"),
    ("purpose:test has:masked", "tests with a masked exit code"),
    ("file:src/** has:diff", "edits in src"),
];

/// Keys of this page, beside those of all pages.
const KEYS: &[(&str, &str)] =
    &[("f", "write a filter"), ("[ ]", "previous, next page"), ("c", "choose columns"), ("e", "download the table")];

pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let reading = progress::reading(app, Some(&snapshot));
    let view = View::new(app, request);
    let rows = snapshot.rows();
    let clock = LocalClock::at(snapshot.now.time);
    let rows = SessionRows::new(app, &snapshot, &rows, &clock, false);
    let body = match app.filter(view.query, &snapshot) {
        Err(mistake) => filter_form::mistake(app, "/calls", &mistake),
        // While logs are still being read, an empty list is not yet the answer.
        Ok(_) if rows.rows.is_empty() && reading.is_none() => filter_form::no_logs(app, "shows its calls"),
        Ok(filter) => {
            // Only a search in texts takes time; all other filters are answered long before.
            let patience = if view.whole { WHOLE } else { PATIENCE };
            let query = view.asked(&filter, (view.page - 1).saturating_mul(SHOWN), SHOWN);
            let found = app.filter_cache.table(&snapshot, rows.rows, app.threads(), &query, patience)?;
            CallsPage { rows, view: &view, found }.body()?
        }
    };
    let (sort, desc) = view.order.words();
    let cols = columns::words_of(&view.columns);
    let main = html! {
        main #main.lists.explorer {
            h1 { "Calls" }
            (filter_form::form(app, &FilterForm { path: "/calls", id: "tt-q", label: "Filter: is:failed tool:Bash since:7d project:api", query: view.query, beside: &[("sort", sort), ("desc", desc), ("cols", &cols), ("inner", view.inner_word())] }))
            (progress::line(app, reading.as_ref()))
            (filter_form::stopped(app))
            (body)
        }
    };
    let title = if view.query.is_empty() { "Calls".to_owned() } else { format!("{} · Calls", words::cut(view.query, 60)) };
    let assets = &["lists.css", "lists.js", "calls.css", "calls.js"];
    let page = FramedPage { here: "/calls", assets, keys: KEYS, again: reading.is_some(), ..FramedPage::plain(&title) };
    Ok(PageResponse::Html(frame::page(app, &page, &main)))
}

/// Number of calls that a filter selects: for a page that did not wait for the whole search, and for one that asks
/// whether there are new calls. `shown`: the number that the page has.
pub(crate) fn counts(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let filter = app.filter(request.word("q").unwrap_or_default(), &snapshot).map_err(|mistake| Trouble::Wrong(mistake.to_string()))?;
    let query = View::new(app, request);
    let found = app.filter_cache.table(&snapshot, &snapshot.rows(), app.threads(), &query.asked(&filter, 0, 0), LATER)?;
    let calls = found.total;
    // The page may have found everything after all, and then needs no link to the whole list.
    let all = found.whole && request.number("shown").is_some_and(|shown| shown >= calls);
    let say = match found.whole {
        true if all => "in total.".to_owned(),
        true => format!("newest matches so far; {} in total.", count(calls as u64)),
        false => format!("newest matches so far; more than {} in total.", count(calls as u64)),
    };
    Ok(PageResponse::Text(
        "application/json",
        json!({ "say": say, "calls": calls, "whole": found.whole, "all": all, "old": app.is_old(&snapshot) }).to_string(),
    ))
}

/// View of the table, as the address has it.
struct View<'a> {
    app: &'a AppState,
    query: &'a str,
    order: CallOrder,
    columns: Vec<&'static CallColumn>,
    page: usize,
    /// Whether to wait for the whole search.
    whole: bool,
    /// Whether to list calls in the texts of scripts too.
    inner: bool,
}

impl<'a> View<'a> {
    fn new(app: &'a AppState, request: &'a PageRequest) -> Self {
        View {
            app,
            query: request.word("q").unwrap_or_default(),
            order: CallOrder::of_request(request),
            columns: columns::of_request(request),
            page: request.number("page").unwrap_or(1).max(1),
            whole: request.word("all").is_some(),
            inner: request.word("inner").is_some_and(|word| word == "1"),
        }
    }

    /// The address of this view with another filter.
    fn with_query(&self, query: &str) -> String {
        self.address("/calls", query, self.order, 1)
    }

    /// The address of this view that waits for the whole search.
    fn in_whole(&self) -> String {
        View { whole: true, columns: self.columns.clone(), ..*self }.with_query(self.query)
    }

    /// The address of this view with or without calls in the texts of scripts.
    fn with_inner(&self, inner: bool) -> String {
        View { inner, columns: self.columns.clone(), ..*self }.with_query(self.query)
    }

    fn inner_word(&self) -> &'static str {
        if self.inner { "1" } else { "" }
    }

    /// What this view lists: so many calls from a place on.
    fn asked<'q>(&self, filter: &'q Filter, offset: usize, limit: usize) -> CallTableQuery<'q> {
        let CallOrder { by: sort, desc } = self.order;
        CallTableQuery { filter, inner: self.inner, sort, desc, project: &|path| words::last_part(path).to_lowercase(), offset, limit }
    }

    fn address(&self, path: &str, query: &str, order: CallOrder, page: usize) -> String {
        let mut parts = Vec::new();
        let mut say = |name: &str, value: &str| {
            if !value.is_empty() {
                parts.push(format!("{name}={}", encoded(value)));
            }
        };
        let (sort, desc) = order.words();
        say("q", query);
        say("sort", sort);
        say("desc", desc);
        say("cols", &columns::words_of(&self.columns));
        say("inner", self.inner_word());
        // Another filter may be quick again, so it does not inherit the long wait.
        say("all", if self.whole && query == self.query { "1" } else { "" });
        say("page", &if page > 1 { page.to_string() } else { String::new() });
        let query = if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) };
        self.app.to(&format!("{path}{query}"))
    }

    /// The column whose link opens the row; not every column is always shown.
    fn leads(&self) -> &'static str {
        let has = |name: &&&str| self.columns.iter().any(|column| column.name == **name);
        ["what", "tool", "ref", "time"].iter().find(has).copied().unwrap_or_default()
    }
}

/// The page, being drawn.
struct CallsPage<'a> {
    rows: SessionRows<'a>,
    view: &'a View<'a>,
    found: CallTable,
}

impl CallsPage<'_> {
    fn body(&self) -> Result<Markup, Trouble> {
        let CallsPage { rows, view, found } = self;
        let pages = found.total.div_ceil(SHOWN).max(1);
        Ok(html! {
            (counts::facets(found, view, rows))
            @if view.query.is_empty() { (self.examples()) }
            @if found.total == 0 { (self.nothing()) } @else {
                div.over {
                    p.counted { (self.counted()) }
                    (self.tools())
                }
                div.scroll role="region" aria-label="Table of calls" tabindex="0" { (self.table(&found.calls)?) }
                (self.pages(pages, found.first, found.calls.len()))
            }
        })
    }

    /// Number of calls, and how long they took.
    fn counted(&self) -> Markup {
        let CallsPage { view, found, .. } = self;
        let number = found.total as u64;
        let inner = if view.inner { "&inner=1" } else { "" };
        let counts_at = |more: &str| view.app.to(&format!("/calls/counts?q={}{inner}{more}", encoded(view.query)));
        html! {
            b { (counted(number, "call")) }
            // A script replaces the text when the count is known; the link works without one.
            @if !found.whole {
                " " span.di data-count=(counts_at(&format!("&shown={number}"))) { "newest matches so far; still searching …" }
                " " a data-unless-all href=(view.in_whole()) { "Show all" }
            }
            @if let Some(median) = found.median {
                span.di title={ (counted(found.timed, "call")) " with a duration" } { " · took " (took(found.took)) " in total, median " (took(median)) }
            }
            span.di { " · " a href=(filter_address(view.app, "/sessions", view.query)) { "as sessions" } }
            @if view.inner { span.di { " · " a href=(view.with_inner(false)) { "without calls in scripts" } } }
            @else if found.inner > 0 { span.di { " · " a href=(view.with_inner(true)) { "with " (self.inner()) } } }
            span #tt-newer role="status" data-calls=[found.whole.then_some(number)] data-from=(counts_at("")) {}
        }
    }

    /// Number of calls in scripts that were left out.
    fn inner(&self) -> String {
        format!("{} in scripts", counted(self.found.inner as u64, "call"))
    }

    /// Choice of columns and downloads.
    fn tools(&self) -> Markup {
        let view = self.view;
        let (sort, desc) = view.order.words();
        html! {
            div.table-tools {
                details.chooser {
                    summary { "Columns" }
                    form action=(view.app.to("/calls")) {
                        // A form sends only its own fields, so filter and order are repeated as hidden ones.
                        @for (name, value) in [("q", view.query), ("sort", sort), ("desc", desc), ("inner", view.inner_word())].into_iter().filter(|(_, value)| !value.is_empty()) { input type="hidden" name=(name) value=(value); }
                        fieldset {
                            legend.vh { "Columns" }
                            @for column in COLUMNS {
                                label title=(column.about) { input type="checkbox" name="cols" value=(column.name) checked[view.columns.iter().any(|chosen| chosen.name == column.name)] autocomplete="off"; span { (column.word) } }
                            }
                        }
                        p {
                            button type="submit" { "Apply" }
                            a href=(View { columns: COLUMNS.iter().filter(|column| column.is_standard()).collect(), ..*view }.with_query(view.query)) { "Reset" }
                        }
                    }
                }
                span.save { span.di { "Download " } a href=(view.address("/calls.csv", view.query, view.order, 1)) download { "CSV" } " " a href=(view.address("/calls.jsonl", view.query, view.order, 1)) download { "JSON lines" } }
            }
        }
    }

    fn table(&self, calls: &[ListedCall]) -> Result<Markup, Trouble> {
        let view = self.view;
        let lines = self.lines(calls)?;
        let by_day = view.order.is_by_day();
        // Days group the rows only while they are sorted by time; in other orders each row shows its own date.
        let day = |(at, _): &DatedRow| at.filter(|_| by_day).map(|at| self.rows.clock.day(at));
        Ok(html! {
            table.calls.all aria-label="Calls" {
                thead { tr { @for column in &view.columns { (self.head(column)) } } }
                @for group in lines.chunk_by(|one, next| day(one) == day(next)) {
                    tbody data-rows {
                        @if let Some(line) = group.first().filter(|_| by_day) {
                            tr.day { th colspan=(view.columns.len()) scope="rowgroup" { (day(line).unwrap_or_else(|| "No time recorded".to_owned())) } }
                        }
                        @for (_, line) in group { (line) }
                    }
                }
            }
        })
    }

    /// The rows of calls, each with its time.
    fn lines(&self, calls: &[ListedCall]) -> Result<Vec<DatedRow>, Trouble> {
        let CallsPage { rows, view, .. } = self;
        let (snapshot, leads) = (rows.snapshot, view.leads());
        let mut lines = Vec::with_capacity(calls.len());
        for &listed in calls {
            // The cached result and these rows come from the same version, so this is only a safeguard.
            let Some(session) = rows.rows.get(listed.session) else { continue };
            snapshot.listing.one_call(&snapshot.library.catalogue(), listed, |_, row, spots| {
                let line = CallLine::new(snapshot, listed, row.clone(), spots.request);
                let told = TableCall { session, row: &row };
                let shown = ShownCall { told, rows, line, day_is_said: view.order.is_by_day(), leads };
                let cells =
                    html! { tr { @for column in &view.columns { td.(column.name).n[column.is_number()] { ((column.cell)(&shown)) } } } };
                lines.push((shown.line.at, cells));
            })?;
        }
        Ok(lines)
    }

    /// Heading of a column, as a link that sorts by it if that is possible.
    fn head(&self, column: &CallColumn) -> Markup {
        let view = self.view;
        let Some(by) = column.by else {
            return html! { th.(column.name).n[column.is_number()] scope="col" title=(column.about) { (column.word) } };
        };
        // `aria-sort` is set on every sortable column, so that screen readers announce which can be sorted.
        let here = view.order.by == by;
        let (sorted, arrow) = match (here, view.order.desc) {
            (false, _) => ("none", ""),
            (true, true) => ("descending", " ↓"),
            (true, false) => ("ascending", " ↑"),
        };
        html! {
            th.(column.name).n[column.is_number()] scope="col" data-sorts aria-sort=(sorted) {
                a href=(view.address("/calls", view.query, view.order.next(by), 1)) title={ "Sort by " (column.word.to_lowercase()) ": " (column.about) } { (column.word) span aria-hidden="true" { (arrow) } }
            }
        }
    }

    fn pages(&self, pages: usize, first: usize, shown: usize) -> Markup {
        let view = self.view;
        let here = view.page.min(pages);
        let to = |page: usize| view.address("/calls", view.query, view.order, page);
        html! {
            @if pages > 1 {
                nav.pages aria-label="Pages of this table" {
                    @if here > 1 { a rel="prev" href=(to(here - 1)) { "← Previous" } }
                    span.di { "Rows " (count(first as u64 + 1)) "–" (count((first + shown) as u64)) " of " (count(self.found.total as u64)) }
                    @if here < pages { a rel="next" href=(to(here + 1)) { "Next →" } }
                }
            }
        }
    }

    fn examples(&self) -> Markup {
        html! {
            nav.facets aria-label="Example filters" {
                ul aria-label="Examples" { @for (query, what) in EXAMPLES { li { a.example href=(self.view.with_query(query)) title=(what) { code { (query) } } } } }
            }
        }
    }

    fn nothing(&self) -> Markup {
        let view = self.view;
        html! {
            div.nothing {
                @if !self.found.whole {
                    p { b { "No matches so far." } " " a href=(view.in_whole()) { "Search all logs" } }
                } @else if view.query.is_empty() {
                    p { b { "No tool calls yet." } }
                } @else {
                    p { b { "No calls match." } " All terms must match the same call." }
                    ul {
                        @if self.found.inner > 0 { li { a href=(view.with_inner(true)) { (self.inner()) } " fit" @if self.found.inner == 1 { "s" } } }
                        li { "Remove or widen a term: " code { "since:30d" } ", " code { "status:failed,blocked" } }
                        li { a href=(filter_address(view.app, "/search", view.query)) { "Search" } " also looks in prompts and answers" }
                        li { a href=(view.with_query("")) { "All calls" } " · " a href=(view.app.to("/help#filters")) { "Filter syntax" } }
                    }
                }
            }
        }
    }
}

/// A drawn row, with the time that decides its day.
type DatedRow = (Option<Time>, Markup);
