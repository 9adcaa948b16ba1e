//! The waterfall as a sortable table, for screen readers and without a script.

use super::data::{self, Waterfall};
use super::{LETTERS, summary, views};
use crate::open_sessions::SessionReader;
use crate::request::PageRequest;
use crate::words::class;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use std::cmp::Ordering;
use tooltrail_model::transcript::CallEntry;
use tooltrail_model::waterfall::{Bar, Extent};
use tooltrail_model::{Status, Time};
use tooltrail_view::head::{WAITS, count, counted, look_of, outcome, took};
use tooltrail_view::line::neutral;
use tooltrail_view::render::html::window::SessionPageRequest;

/// Rows per page.
const ROWS: usize = 500;

/// A column: name in addresses, heading, whether the largest come first, explanation.
struct WaterfallColumn {
    word: &'static str,
    name: &'static str,
    number: bool,
    about: &'static str,
}

const fn column(word: &'static str, name: &'static str, number: bool, about: &'static str) -> WaterfallColumn {
    WaterfallColumn { word, name, number, about }
}

/// The columns.
const COLUMNS: &[WaterfallColumn] = &[
    column("number", "#", false, "Number in the session"),
    column("tool", "Tool", false, "The tool"),
    column("what", "What", false, "Command, path or pattern"),
    column("start", "Start", false, "Time of the request"),
    column("duration", "Duration", true, "From request to result, including waits"),
    column("run", "Run", true, "Run time reported by the tool"),
    column("wait", "Wait", true, "Duration minus run time: permission, queue, hooks"),
    column("status", "Status", false, "Status"),
    column("turn", "Turn", false, "Turn of the session"),
    column("subagent", "Subagent", false, "Subagent"),
];

/// A row of the table.
struct Row<'f, 'r> {
    index: usize,
    depth: usize,
    call: &'f CallEntry<'r>,
    bar: &'f Bar,
    title: Option<String>,
}

impl Row<'_, '_> {
    /// Argument, if there is one.
    fn told(&self) -> Option<&str> {
        self.title.as_deref().filter(|title| !title.is_empty())
    }
}

/// A page of the table, sorted as the request says.
pub(super) fn drawn(reader: &SessionReader<'_>, fall: &Waterfall<'_>, at: &SessionPageRequest<'_>, request: &PageRequest) -> Markup {
    if fall.calls().next().is_none() {
        return super::no_calls();
    }
    let wanted = request.get("sort").unwrap_or_default();
    let (word, back) = wanted.strip_prefix('-').map_or((wanted, false), |word| (word, true));
    let sorted = COLUMNS.iter().find(|column| column.word == word);
    let mut rows: Vec<Row<'_, '_>> = fall.calls().map(|(index, depth, call, bar)| Row { index, depth, call, bar, title: None }).collect();
    // Arguments are read from the log. Sorting by them needs all, otherwise only those of the page are read.
    if word == "what" {
        rows.iter_mut().for_each(|row| row.title = Some(data::title(reader, row.call, LETTERS)));
    }
    if let Some(column) = sorted {
        // The comparison handles the direction itself, because missing values come last in both.
        rows.sort_by(|one, other| order(column, one, other, back));
    }
    let pages = rows.len().div_ceil(ROWS).max(1);
    // Beyond the end shows the last page: the session may be reloaded in another order or version.
    let page = request.number("page").unwrap_or(1).clamp(1, pages);
    let shown = rows.iter().skip((page - 1) * ROWS).take(ROWS);
    let nav = if pages > 1 {
        paging(wanted, page, pages, rows.len())
    } else {
        html! {}
    };
    let days = days(fall, at.zone);
    html! {
        div.wf-tools { (views(at, true)) p.wf-sum { (counted(rows.len() as u64, "call")) ": " (summary(&fall.lapse.times())) } }
        (nav)
        div.wf-wide {
            table.wf-table {
                caption.vh { "Calls of the session by time" }
                thead { tr { @for column in COLUMNS { (head(column, sorted.is_some_and(|sorted| sorted.word == column.word), back)) } } }
                tbody data-rows { @for row in shown { (line(reader, fall, row, at, days)) } }
            }
        }
        (nav)
    }
}

/// Heading that sorts by its column, or reverses the order.
fn head(column: &WaterfallColumn, on: bool, back: bool) -> Markup {
    let first = if column.number { "-" } else { "" };
    // A leading `-` means descending. The first click gives the more interesting direction, the next one reverses it.
    let sign = match (on, back) {
        (false, _) => first,
        (true, true) => "",
        (true, false) => "-",
    };
    let sorted = on.then_some(if back { "descending" } else { "ascending" });
    html! {
        th scope="col" class={ "c-" (column.word) } aria-sort=[sorted] title=(column.about) {
            a href={ "?view=table&sort=" (sign) (column.word) } { (column.name) @if on { span aria-hidden="true" { (if back { " ▾" } else { " ▴" }) } } }
        }
    }
}

fn paging(sort: &str, page: usize, pages: usize, rows: usize) -> Markup {
    // The value comes from the address and goes into links, so only known names are kept.
    let known = COLUMNS.iter().any(|column| column.word == sort.trim_start_matches('-'));
    let sort = if known { format!("&sort={sort}") } else { String::new() };
    let to = |page: usize| format!("?view=table{sort}&page={page}");
    let (first, last) = ((page - 1) * ROWS + 1, rows.min(page * ROWS));
    html! {
        nav.pages aria-label="Pages of the table" {
            @if page > 1 { a rel="prev" href=(to(page - 1)) { "← before" } }
            span.di { "rows " (count(first as u64)) "–" (count(last as u64)) " of " (count(rows as u64)) }
            @if page < pages { a rel="next" href=(to(page + 1)) { "after →" } }
        }
    }
}

/// Whether the calls span more than one day, so that times need a date.
fn days(fall: &Waterfall<'_>, zone: Option<&TimeZone>) -> bool {
    let day = |millis: i64| Some(local(Time::from_millisecond(millis)?, zone).date());
    fall.lapse.first.and_then(day) != fall.lapse.last().and_then(day)
}

fn local(time: Time, zone: Option<&TimeZone>) -> jiff::Zoned {
    time.timestamp().to_zoned(zone.cloned().unwrap_or(TimeZone::UTC))
}

fn line(reader: &SessionReader<'_>, fall: &Waterfall<'_>, row: &Row<'_, '_>, at: &SessionPageRequest<'_>, days: bool) -> Markup {
    let (call, told) = (&row.call.row, look_of(&row.call.row));
    let title = row.title.clone().unwrap_or_else(|| data::title(reader, row.call, LETTERS));
    let start = row.bar.start().and_then(Time::from_millisecond).map(|time| local(time, at.zone));
    let outcome = outcome(call);
    html! {
        tr {
            td.c-number { @if let Some(page) = reader.window().page_address(fall.transcript, row.index, at) { a href=(page) { (row.call.number) } } }
            td.c-tool { @if row.depth > 0 { span.di title=(if call.is_inner() { "in a script" } else { "by a subagent" }) { "↳ " } } (data::tool(call)) }
            td.c-what { @if let Some(address) = reader.window().row_address(row.index, at) { a data-row href=(address) title=(title) { code { (title) } @if title.is_empty() { "row " (row.call.number) } } } @else { code { (title) } } }
            td.c-start {
                @match &start {
                    Some(start) => time datetime=(start.timestamp()) title=(start.strftime("%Y-%m-%d %H:%M:%S%.3f")) { (start.strftime(if days { "%-d %b %H:%M:%S" } else { "%H:%M:%S%.3f" })) },
                    None => span.di { "no time in the log" },
                }
            }
            td.c-duration { (lasted(row)) }
            td.c-run { @if let Some(ran) = row.bar.ran { (took(ran)) } }
            td.c-wait { @if let Some(waited) = row.bar.waited() { (took(waited)) } }
            td.c-status { span class=(class(told.tone)) { (told.glyph) " " (if outcome.is_empty() { told.word } else { &outcome }) } }
            td.c-turn { @if let Some(turn) = row.call.turn { a href={ (at.base) "?at=turn-" (turn + 1) "#turn-" (turn + 1) } { (turn + 1) } } }
            td.c-subagent { @if let Some(agent) = call.agent_id { (neutral(agent)) } }
        }
    }
}

/// Duration, with a note on how certain it is.
fn lasted(row: &Row<'_, '_>) -> Markup {
    // For a running call the wait is still going on.
    let waits = row.bar.person && row.call.row.status != Status::Running;
    html! {
        @match (row.bar.extent, row.bar.took) {
            (Extent::Whole { at_most: true, .. }, Some(millis)) => span title="At most: results of several calls were written at once" { "≤ " (took(millis)) },
            (_, Some(millis)) if waits => span title="Time until your answer" { (took(millis)) " (you)" },
            (_, Some(millis)) if row.call.row.may_wait => span title=(WAITS) { (took(millis)) },
            (_, Some(millis)) => (took(millis)),
            (Extent::Running(_), None) => span.di { "still running" },
            (Extent::Open(_), None) => span.di { "no end" },
            (_, None) => {},
        }
    }
}

/// Order of two rows.
fn order(column: &WaterfallColumn, one: &Row<'_, '_>, other: &Row<'_, '_>, back: bool) -> Ordering {
    let turned = |ordering: Ordering| if back { ordering.reverse() } else { ordering };
    fn known<T: Ord>(one: Option<T>, other: Option<T>, turned: impl Fn(Ordering) -> Ordering) -> Ordering {
        match (one, other) {
            (Some(one), Some(other)) => turned(one.cmp(&other)),
            // Missing values come last in both directions.
            (one, other) => other.is_some().cmp(&one.is_some()),
        }
    }
    let (call, with) = (&one.call.row, &other.call.row);
    match column.word {
        "number" => turned(one.call.number.cmp(&other.call.number)),
        "tool" => turned(call.tool.cmp(with.tool)),
        "what" => known(one.told(), other.told(), turned),
        "start" => known(one.bar.start(), other.bar.start(), turned),
        "duration" => known(one.bar.took, other.bar.took, turned),
        "run" => known(one.bar.ran, other.bar.ran, turned),
        "wait" => known(one.bar.waited(), other.bar.waited(), turned),
        "status" => turned(call.status.cmp(&with.status)),
        "turn" => known(one.call.turn, other.call.turn, turned),
        // The only column left is `subagent`; names come from `COLUMNS` alone.
        _ => known(call.agent_id, with.agent_id, turned),
    }
}
