//! A group of failures: its numbers, its last failure with what it printed, and its calls.

use super::{FailuresPage, View, follow_ups, store, tone, tools, worst};
use crate::answer::Trouble;
use crate::chart;
use crate::request::encoded;
use crate::session_table::SessionRows;
use crate::words;
use maud::{Markup, html};
use std::collections::HashMap;
use tooltrail_catalog::queries::failures::{FailureGroup, FailureReport, GroupedCall};
use tooltrail_catalog::queries::{CallCursor, Page, Store};
use tooltrail_model::book::{Book, Loaded};
use tooltrail_model::row::CallNumber;
use tooltrail_view::failures::{follow_up_sentence, follow_up_word};
use tooltrail_view::head::{count, counted, look};
use tooltrail_view::line::neutral;
use tooltrail_view::render::html::block;
use tooltrail_view::{Limits, call};

/// Calls per page.
const CALLS: usize = 100;
/// Bars of the chart.
const BARS: i32 = 60;
/// Limits on what is shown of the last failure.
const SAMPLE: Limits = Limits { lines: 24, bytes: 16 * 1024, head: 8, highlight: false };

impl FailuresPage<'_> {
    /// The page of a group. `report` is that of all groups, of which this one may be any.
    pub(super) fn one(&self, name: &str, report: &FailureReport) -> Result<Markup, Trouble> {
        let (view, zone) = (&self.view, words::zone());
        let SessionRows { app, snapshot, rows, .. } = &self.rows;
        let query = view.asked(&self.filter, &zone);
        let store = store(app, snapshot, rows);
        let found = report.groups.iter().find(|group| group.group == name).cloned();
        // A group that is not among the first has to be looked for.
        let found = found.map_or_else(
            || Ok::<_, Trouble>(store.failures(&query, None, usize::MAX)?.groups.into_iter().find(|group| group.group == name)),
            |group| Ok(Some(group)),
        )?;
        let Some(group) = found else { return Ok(self.no_such(name)) };
        let page = store.failed_calls(&query, name, view.after.and_then(cursor_of_text).as_ref(), CALLS)?;
        // The last failure is on the first page; later pages show calls alone.
        let sample = page.entries.first().filter(|_| view.after.is_none()).map(|call| self.sample(call)).unwrap_or_default();
        Ok(html! {
            (self.head(&group))
            (sample)
            section {
                h2 { "Calls " span.di { (count(group.count)) } }
                (self.calls(&page, &group))
                (self.call_pages(&page))
            }
            (self.pending(report))
        })
    }

    fn no_such(&self, name: &str) -> Markup {
        let view = &self.view;
        let all = super::PERIODS.last().copied();
        html! {
            h1.message { code { (neutral(name)) } }
            div.nothing {
                p { b { "No such failures " (view.period.map_or("", |period| period.within)) "." } }
                p { a href=(View { query: "", unresolved: false, after: None, period: all, ..*view }.address()) { "At any time, without a filter" } }
            }
        }
    }

    fn head(&self, group: &FailureGroup) -> Markup {
        let (clock, look) = (self.rows.clock, look(worst(group)));
        let when = |time: Option<tooltrail_model::Time>| html! { @if let Some(time) = time { time datetime=(time) title=(clock.full(time)) { (clock.moment(time)) } } };
        html! {
            h1.message { span class=(words::class(look.tone)) title=(look.word) { (look.glyph) span.vh { " " (look.word) } } " " code { (neutral(&group.group)) } }
            div.sums {
                dl.facts {
                    div { dt { "Calls" } dd { (count(group.count)) " in " (counted(group.sessions, "session")) } }
                    div { dt { "Tools" } dd { (tools(group)) } }
                    div { dt { "First" } dd { (when(group.first)) } }
                    div { dt { "Last" } dd { (when(group.last)) } }
                    div { dt { "What came next" } dd { (follow_ups(group)) } }
                }
                (chart::bars("t-error", if group.count == 1 { "failure" } else { "failures" }, Some(group.count), &self.days(group, BARS)))
            }
        }
    }

    /// The last failure, as its tool shows it.
    fn sample(&self, last: &GroupedCall) -> Markup {
        let cursor = last.cursor();
        let shown = self.body(cursor);
        let about = last.call.about.as_deref().filter(|about| !about.is_empty());
        html! {
            section.sample {
                h2 { "Last failure" }
                p.of-call {
                    a href=(self.call_address(cursor)) { (neutral(&last.call.r#ref)) } " " b { (words::cut(&last.call.tool, 40)) }
                    @if let Some(about) = about { " " code { (neutral(about)) } }
                }
                // What the tool printed says more than the line of it that names the group.
                @match (shown, &last.call.error) { (Some(shown), _) => (shown), (None, Some(error)) => p.error-line { (neutral(error)) }, _ => {} }
            }
        }
    }

    /// What a call printed; `None` if its log cannot be read any more.
    fn body(&self, cursor: &CallCursor) -> Option<Markup> {
        let app = self.rows.app;
        // Opened sessions keep their snapshot, so it has to be one that can be shared.
        let snapshot = app.snapshot().ok()?;
        let place = app.session(&snapshot, &cursor.session).ok()?;
        app.open_session(&snapshot, place).ok()?.with(|reader| {
            let book = reader.calls();
            let index = book.transcript().calls.iter().position(|call| call.number == cursor.number)?;
            match book.call(index) {
                Loaded::Call(story) => Some(html! { div.body { @for one in &call::shown(&story, &SAMPLE) { (block(one)) } } }),
                _ => None,
            }
        })
    }

    fn calls(&self, page: &Page<GroupedCall>, group: &FailureGroup) -> Markup {
        // By agent too, because two agents may have sessions with the same id.
        let rows: HashMap<(&str, &str), usize> = (0..).zip(self.rows.rows).map(|(place, row)| ((row.agent, row.session), place)).collect();
        let clock = self.rows.clock;
        html! {
            table.calls.failed aria-label="Calls" {
                thead { tr { th.when scope="col" { "When" } th.session scope="col" { "Session" } th.tool scope="col" { "Tool" } th.what scope="col" { "What" } th.then scope="col" { "What came next" } } }
                tbody data-rows {
                    @for failed in &page.entries {
                        @let place = rows.get(&(failed.call.cursor.agent.as_str(), failed.call.cursor.session.as_str())).copied();
                        @let look = look(failed.call.status);
                        tr {
                            td.when { @if let Some(time) = failed.time { time datetime=(time) title=(clock.full(time)) { (clock.moment(time)) } } }
                            td.session { @if let Some((place, row)) = place.and_then(|place| Some((place, self.rows.rows.get(place)?))) { (self.rows.plain_title(row, place)) } }
                            td.tool { span class=(words::class(look.tone)) title=(look.word) { (look.glyph) span.vh { " " (look.word) } } " " (words::cut(&failed.call.tool, 40)) }
                            td.what {
                                a data-row href=(self.call_address(failed.cursor())) title=[failed.call.about.as_deref().map(neutral)] {
                                    @match failed.call.about.as_deref().filter(|about| !about.is_empty()) { Some(about) => code { (neutral(about)) }, None => span.di { "no argument" } }
                                }
                                // The heading has it already where nothing in it was folded.
                                @if let Some(error) = failed.call.error.as_ref().filter(|error| **error != group.group) { span.error-line title=(neutral(error)) { (neutral(error)) } }
                            }
                            td.then { span class=(words::class(tone(failed.follow_up))) title=(follow_up_sentence(failed.follow_up)) { (follow_up_word(failed.follow_up)) } }
                        }
                    }
                }
            }
        }
    }

    fn call_address(&self, cursor: &CallCursor) -> String {
        self.rows.app.to(&format!("/c/{}:{}", encoded(&cursor.session), cursor.number))
    }

    fn call_pages(&self, page: &Page<GroupedCall>) -> Markup {
        let view = &self.view;
        let next = page.entries.last().filter(|_| page.has_more).map(|last| text_of_cursor(last.cursor()));
        html! {
            @if view.after.is_some() || next.is_some() {
                nav.pages aria-label="Pages of this list" {
                    @if view.after.is_some() { a rel="prev" href=(view.with(|_| ())) { "← Newest" } }
                    @if let Some(next) = &next { a rel="next" href=(View { after: Some(next), ..*view }.address()) { "Older →" } }
                }
            }
        }
    }
}

/// The place of a call, as addresses have it. The session comes last, because it may contain anything.
fn text_of_cursor(cursor: &CallCursor) -> String {
    let order = cursor.order.map(|order| order.to_string()).unwrap_or_default();
    format!("{order}:{}:{}:{}", cursor.number, cursor.agent, cursor.session)
}

fn cursor_of_text(text: &str) -> Option<CallCursor> {
    let mut parts = text.splitn(4, ':');
    // Empty for a call without a place in time; any other text that is no number makes the address wrong.
    let order = parts.next().map(|order| if order.is_empty() { Some(None) } else { order.parse().ok().map(Some) })??;
    let number = CallNumber::read(parts.next()?)?;
    Some(CallCursor { order, number, agent: parts.next()?.to_owned(), session: parts.next()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_calls_come_back() {
        for order in [None, Some(-5), Some(1_772_618_400_000_000)] {
            let number = CallNumber { call: 41, inner: 2 };
            let cursor = CallCursor { order, number, agent: "claude".to_owned(), session: "a:b/c".to_owned() };
            assert_eq!(cursor_of_text(&text_of_cursor(&cursor)), Some(cursor));
        }
        for wrong in ["", "x", "1:2", "a:1:claude:s", "1:x:claude:s", ":::"] {
            assert_eq!(cursor_of_text(wrong), None, "{wrong}");
        }
    }
}
