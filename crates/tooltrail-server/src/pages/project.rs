//! `/p/{project}`: the work on a project: what was done on each day, the latest sessions with their checks, the files that changed most, the
//! commands and messages that fail most. Each number leads to what it counts.
//!
//! A project is named by the end of its path, as far as that is unambiguous: `/p/api`.

mod checks;
mod lists;

use super::progress;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::chart::{self, DaySpan};
use crate::filter_form::filter_address;
use crate::frame::{self, FramedPage};
use crate::request::PageRequest;
use crate::session_table::SessionRows;
use crate::words::{self, LocalClock};
use maud::{Markup, html};
use std::collections::BTreeMap;
use tooltrail_catalog::matching::stored::CatalogueQuery;
use tooltrail_catalog::queries::Store;
use tooltrail_catalog::queries::projects::{DayActivity, JudgedSession};
use tooltrail_model::filter::Filter;
use tooltrail_model::{Status, Time};
use tooltrail_view::head::{count, counted};
use tooltrail_view::line::neutral;

/// Days of the charts.
const DAYS: i32 = 30;
/// Sessions whose verdicts are read, for the checks over time; and those that are listed.
const JUDGED: usize = 60;
const LISTED: usize = 12;

pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let reading = progress::reading(app, Some(&snapshot));
    let rows = snapshot.rows();
    let clock = LocalClock::at(snapshot.now.time);
    let rows = SessionRows::new(app, &snapshot, &rows, &clock, false);
    let name = request.name("project");
    let Some(path) = rows.project_named(name) else {
        return Err(Trouble::Missing(format!("No project `{}`.", neutral(name))));
    };
    let term = rows.project_term(path);
    let filter = app.filter(&term, &snapshot).map_err(|mistake| Trouble::Wrong(mistake.to_string()))?;
    let title = words::cut(words::last_part(path), 60);
    let main = ProjectPage { rows, path, term, filter }.page(&progress::line(app, reading.as_ref()))?;
    let assets = &["lists.css", "lists.js", "failures.css", "project.css"];
    let page =
        FramedPage { assets, again: reading.is_some(), follows: Some("lists"), snapshot: Some(&snapshot), ..FramedPage::plain(&title) };
    Ok(PageResponse::Html(frame::page(app, &page, &main)))
}

/// The page, being drawn.
struct ProjectPage<'a> {
    rows: SessionRows<'a>,
    path: &'a str,
    /// The term that selects it.
    term: String,
    filter: Filter,
}

impl ProjectPage<'_> {
    fn store(&self) -> CatalogueQuery<'_> {
        let SessionRows { app, snapshot, rows, .. } = &self.rows;
        snapshot.catalogued(rows, app.threads())
    }

    /// The address of a list of something in this project.
    fn of(&self, list: &str, more: &str) -> String {
        filter_address(self.rows.app, list, format!("{} {more}", self.term).trim_end())
    }

    /// The address of its failures.
    fn failures_address(&self, more: &str) -> String {
        // Without a period the page would show the last 7 days only, and fewer failures than the number that leads to it.
        format!("{}&period=all{more}", filter_address(self.rows.app, "/failures", &self.term))
    }

    fn page(&self, progress: &Markup) -> Result<Markup, Trouble> {
        let failures = self.failures()?;
        // Read once for the table of sessions and for the checks over time.
        let judged = self.store().judged_sessions(&self.filter, None, JUDGED)?.entries;
        let totals = self.store().projects()?.into_iter().find(|project| project.project.as_deref() == Some(self.path)).unwrap_or_default();
        Ok(html! {
            main #main.lists.project {
                header.top {
                    h1 { (words::cut(words::last_part(self.path), 120)) }
                    p.path { code { (neutral(&words::tilde(self.path, self.rows.home.as_deref()))) } }
                    p.counted {
                        a href=(self.of("/sessions", "")) { (counted(totals.sessions, "session")) }
                        " · " a href=(self.of("/calls", "")) { (counted(totals.calls, "call")) }
                        @if failures.total.count > 0 { " · " a href=(self.failures_address("")) { (counted(failures.total.count, "failure")) } }
                        @if let Some(last) = totals.last_at { span.di { " · last active " time datetime=(last) title=(self.rows.clock.full(last)) { (self.rows.clock.since(last)) " ago" } } }
                    }
                    (progress)
                }
                (self.trend(totals.last_at)?)
                div.columns {
                    div { (self.sessions(&judged)) (self.checks(&judged)) (self.messages(&failures)) }
                    div.aside { (self.files()?) (self.commands()?) }
                }
            }
        })
    }

    /// Sessions, calls and failures by day.
    fn trend(&self, last: Option<Time>) -> Result<Markup, Trouble> {
        let clock = self.rows.clock;
        // A project without recent work shows its last days.
        let today = clock.date(clock.now);
        let recent = |last: &Time| last.micros_until(clock.now) < i64::from(DAYS - 1) * 86_400_000_000;
        let last = last.filter(|last| !recent(last)).map(|last| clock.date(last));
        let to = last.unwrap_or(today);
        let from = to.checked_sub(jiff::Span::new().days(DAYS - 1)).unwrap_or(to);
        let zone = words::zone();
        let since = from.to_zoned(zone.clone()).map_or(clock.now, |day| Time::from(day.timestamp()));
        let days = self.store().activity(&self.filter, since, &zone)?;
        let spans = |number: fn(&DayActivity) -> u64| -> Vec<DaySpan> {
            let days: BTreeMap<String, u64> = days.iter().map(|day| (day.day.clone(), number(day))).collect();
            chart::spans(&days, from, to, DAYS)
        };
        let sum = |number: fn(&DayActivity) -> u64| Some(days.iter().map(number).sum::<u64>());
        Ok(html! {
            section.trend {
                h2 { @match last { Some(last) => { (DAYS) " days up to " (last) }, None => { "Last " (DAYS) " days" } } }
                @if days.is_empty() { p.di { "No calls in these days." } } @else {
                    div.charts {
                        // A session that went on for days is counted on each of them, so there is no sum.
                        (chart::bars("t-plain", "Sessions", None, &spans(|day| day.sessions)))
                        (chart::bars("t-running", "calls", sum(|day| day.calls), &spans(|day| day.calls)))
                        (chart::bars("t-error", "failures", sum(|day| day.failed), &spans(|day| day.failed)))
                    }
                    // The bars say their numbers only to a pointer; the table has them as text.
                    details.rest { summary { "As a table" } (day_table(&days)) }
                }
            }
        })
    }
}

/// Days as a table, the latest first.
fn day_table(days: &[DayActivity]) -> Markup {
    html! {
        table.days aria-label="Days" {
            thead { tr { th scope="col" { "Day" } th.n scope="col" { "Sessions" } th.n scope="col" { "Calls" } th.n scope="col" { "Failures" } } }
            tbody { @for day in days.iter().rev() { tr { td { (day.day) } td.n { (count(day.sessions)) } td.n { (count(day.calls)) } td.n { (count(day.failed)) } } } }
        }
    }
}

/// Calls with problems of a session.
fn problems(judged: &JudgedSession) -> u64 {
    let bad = |(status, _): &(&Status, &u64)| tooltrail_view::head::is_problem(**status);
    judged.row.by_status.iter().filter(bad).map(|(_, number)| *number).sum()
}
