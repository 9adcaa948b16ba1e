//! `/s/{session}/waterfall`: all calls on a time axis, and the same rows as a table.
//!
//! `data` makes the JSON that the script draws, `table` the table, which needs no script.

mod data;
mod table;

use super::session::{self, Visit};
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::open_sessions::SessionReader;
use crate::request::PageRequest;
use data::Waterfall;
use maud::{Markup, html};
use tooltrail_model::book::Book;
use tooltrail_model::row::CallNumber;
use tooltrail_view::head::{counted, look_of, took};
use tooltrail_view::render::html::window::{OrderedLine, SessionPageRequest, Tab};

/// Style sheets and script.
pub(super) const ASSETS: &[&str] = &["session.css", "waterfall.css", "waterfall.js"];
/// Number of rows that come with the page.
const ROWS: usize = 40;
/// Letters of a call's argument.
const LETTERS: usize = 120;

/// The keys of the page.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("↑ ↓", "previous, next row"),
    ("← →", "earlier, later"),
    ("+ −", "zoom"),
    ("f", "fit all"),
    ("r", "fit visible rows"),
    ("e E", "next, previous problem"),
    ("o", "expand or collapse a subagent"),
    ("w", "the same call in the transcript"),
];

/// The page.
pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    session::tab(app, request, Tab::Waterfall, |reader, at, request| {
        let fall = Waterfall::new(reader);
        Ok(match request.get("view") {
            Some("table") => table::drawn(reader, &fall, at, request),
            _ => drawn(reader, &fall, at, request),
        })
    })
}

/// Data of the current version of the session, with the number of that version; `null` if the script has it (`known`).
pub(crate) fn data(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let visit = Visit::new(app, request)?;
    // In the demo the clock stands still, so that running calls do not grow forever.
    let (now, ticks) = (visit.snapshot.now.time.as_millisecond(), !app.setup.demo);
    let known = request.get("known").and_then(|version| u64::from_str_radix(version, 16).ok());
    let told = visit.open(app)?.with(|reader| {
        let is_known = known == Some(reader.version);
        serde_json::to_string(&(!is_known).then(|| data::of(reader, now, ticks)))
    });
    told.map(|told| PageResponse::Text("application/json", told)).map_err(|error| Trouble::Broken(error.to_string()))
}

/// Arguments of the calls of a section.
pub(crate) fn titles(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let visit = Visit::new(app, request)?;
    let section = session::number(request, "section");
    // Sections count positions, so the version has to be that of the script's data.
    let told = visit.open(app)?.with(|reader| visit.fits(reader).map(|_| serde_json::json!(data::titles(reader, section))))?;
    Ok(PageResponse::Text("application/json", told.to_string()))
}

/// A call beside the rows: its name, and the same block as in the transcript.
pub(crate) fn call(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    session::part(app, request, |reader, at, request| {
        let (index, transcript) = (session::number(request, "call"), reader.book().transcript());
        let Some(call) = transcript.calls.get(index) else { return html! { p { "No such call." } } };
        let row = &call.row;
        let look = look_of(row);
        html! {
            header {
                h2 { span.sign aria-hidden="true" { (look.glyph) } " " (data::tool(row)) " " span.di { "#" (call.number) } }
                p.links {
                    @if let Some(address) = reader.window().row_address(index, at) { a #tt-row href=(address) { "In the transcript" } }
                    @if let Some(address) = reader.window().page_address(transcript, index, at) { a href=(address) { "Page of the call" } }
                }
            }
            div.body { (reader.window().body(reader.book(), index, false, at)) }
        }
    })
}

/// Redirects to the row of a call in the transcript.
pub(crate) fn row(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let visit = Visit::new(app, request)?;
    let index = session::number(request, "call");
    let address = visit.open(app)?.with(|reader| {
        let at = visit.at(reader);
        // A call without a row still leads to its session.
        reader.window().row_address(index, &at).unwrap_or_else(|| at.base.to_owned())
    });
    Ok(PageResponse::Elsewhere(address))
}

/// The waterfall. Its first rows come with the page; a script fetches the others and draws the bars.
fn drawn(reader: &SessionReader<'_>, fall: &Waterfall<'_>, at: &SessionPageRequest<'_>, request: &PageRequest) -> Markup {
    let transcript = fall.transcript;
    let chosen = request.get("at").and_then(|anchor| reader.window().call_at(transcript, anchor));
    // `at` is an anchor of the transcript, `call` the number of a call.
    let chosen = chosen.or_else(|| {
        let number = CallNumber::read(request.get("call")?)?;
        transcript.calls.iter().position(|call| call.number == number)
    });
    let calls = fall.calls().count();
    if calls == 0 {
        return no_calls();
    }
    // Comes with the page, so that the sum is there before the script has its data, and without it.
    let times = fall.lapse.times();
    html! {
        div.wf #tt-fall data-base=(at.base) data-v={ (format!("{:x}", at.version)) } data-call=[chosen] data-session=(transcript.session.session) {
            div.wf-tools {
                (views(at, false))
                div.zoom role="group" aria-label="Zoom" {
                    button #tt-out type="button" title="Zoom out (−)" aria-label="Zoom out" { "−" }
                    button #tt-in type="button" title="Zoom in (+)" aria-label="Zoom in" { "+" }
                    button #tt-fit type="button" title="Fit all (f)" { "Fit" }
                    button #tt-near type="button" title="Fit visible rows (r)" { "Rows" }
                }
                label { "Colour " select #tt-color autocomplete="off" {
                    option value="status" { "by status" }
                    option value="kind" { "by kind of tool" }
                } }
                label.tick title="Gaps of more than a minute" { input #tt-gaps type="checkbox" checked autocomplete="off"; span { "Fold gaps" } }
            }
            p #tt-key.wf-key aria-label="Colours of the kinds of tools" hidden {}
            p #tt-sum.wf-sum title="tools: from request to result, including waiting for approval" { "all: " (summary(&times)) }
            div.wf-over { canvas #tt-over role="img" aria-label="The whole session. Drag to select a part." {} }
            div.wf-main {
                div.wf-list {
                    div.wf-axis { span.di { (counted(calls as u64, "call")) } canvas #tt-axis aria-hidden="true" {} }
                    div.wf-scroll #tt-scroll tabindex="0" role="tree" aria-label="Calls by time" {
                        canvas #tt-bars aria-hidden="true" {}
                        div.wf-rows #tt-lines role="presentation" { (first_rows(reader, fall)) }
                    }
                }
                section.wf-side #tt-side aria-label="The selected call" { (legend()) }
            }
            p #tt-said.vh role="status" {}
            // The table is complete without a script, so nothing is lost.
            noscript { p { "The waterfall needs JavaScript. " a href="?view=table" { "The table" } " works without it." } }
        }
    }
}

/// Meaning of the marks, shown until a call is selected.
const LEGEND: &[(&str, &str)] = &[
    ("solid", "a tool ran, or the log does not say"),
    ("waits", "waiting: permission, queue, hooks"),
    ("you", "waiting for you"),
    ("model", "the model was working"),
    ("hook", "a hook ran"),
    ("task", "a background task ran"),
    ("fade", "no end in the log"),
    ("moment", "the log has only one time"),
    ("break", "gap of more than a minute"),
    ("arrow", "still running"),
    ("at-most", "≤: upper limit, because several results were written at once"),
    ("tools", "in the overview: tools were running"),
];

fn legend() -> Markup {
    html! {
        p.di { "Select a call to see its details." }
        dl.wf-legend { @for (mark, what) in LEGEND { div { dt { span class={ "mark " (mark) } {} } dd { (what) } } } }
    }
}

/// Links to both forms.
fn views(at: &SessionPageRequest<'_>, table: bool) -> Markup {
    let current = |on: bool| on.then_some("page");
    html! {
        nav.tabs aria-label="Views" {
            a #tt-as-bars href={ (at.base) "/waterfall" } aria-current=[current(!table)] { "Bars" }
            a #tt-as-table href={ (at.base) "/waterfall?view=table" } aria-current=[current(table)] { "Table" }
        }
    }
}

/// Summary of the time by who was at work.
fn summary(times: &tooltrail_model::digest::TimeBreakdown) -> Markup {
    let parts = [
        ("tools", times.tools_ms),
        ("model", times.model_ms),
        ("hooks", times.hooks_ms),
        ("waiting for you", times.person_ms),
        ("unknown", times.unknown_ms),
    ];
    html! {
        "wall " (took(times.wall_ms))
        @for (name, millis) in parts.into_iter().filter(|(_, millis)| *millis > 0) { " · " (name) " " (took(millis)) }
    }
}

/// The first rows, with the same markup as the script's.
fn first_rows(reader: &SessionReader<'_>, fall: &Waterfall<'_>) -> Markup {
    html! {
        @for placed in fall.order.iter().take(ROWS) {
            @if let Some((text, _, turn)) = fall.heading(placed) {
                div.wf-row.head role="treeitem" aria-level="1" { span.n { @if turn > 0 { (turn) } } span.t { (text) } }
            }
            @if let OrderedLine::Call { index, depth } = placed && let Some(call) = fall.transcript.calls.get(*index) {
                // Headings are level 1 of the tree, and calls of subagents one level below their parent.
                div class={ "wf-row tone-" (data::tone(call.row.status)) " d" (depth) } role="treeitem" aria-level=(depth + 2) {
                    span.n { (call.number) }
                    span.sign aria-hidden="true" { (look_of(&call.row).glyph) }
                    b { (data::tool(&call.row)) }
                    span.t { (data::title(reader, call, LETTERS)) }
                    span.vh { ", " (look_of(&call.row).word) }
                }
            }
        }
    }
}

/// Message for a session without calls.
fn no_calls() -> Markup {
    html! { p { "This session has no calls." } }
}
