//! `/failures`: calls of all sessions that failed, timed out, or were blocked or rejected, grouped by their message. With `group=` one of the
//! groups: its last failure, and its calls.
//!
//! Everything comes from the queries of the store; docs/failures.md says what counts, and what each column means.

mod group;

use super::progress;
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::chart::{self, DaySpan};
use crate::filter_form::{self, FilterForm, FilterTerms};
use crate::frame::{self, FramedPage};
use crate::request::{PageRequest, encoded};
use crate::session_table::SessionRows;
use crate::snapshot::CatalogueSnapshot;
use crate::words::{self, LocalClock, ProjectNames};
use maud::{Markup, html};
use std::time::Duration;
use tooltrail_catalog::queries::Store;
use tooltrail_catalog::queries::failures::{FailureGroup, FailureQuery, FailureReport, GroupCursor};
use tooltrail_model::digest::FollowUp;
use tooltrail_model::filter::{Filter, Mistake, Test};
use tooltrail_model::row::SessionRow;
use tooltrail_model::{Status, Time};
use tooltrail_view::failures::{follow_up_sentence, follow_up_word};
use tooltrail_view::head::{Tone, count, counted, look};
use tooltrail_view::line::neutral;

/// Groups per page.
const SHOWN: usize = 50;
/// Bars of a chart, and of one in a row.
const BARS: i32 = 60;
const SPARKS: i32 = 30;
/// The fewest days of a chart without a period.
const LEAST: i32 = 20;
/// Number of projects to narrow the list by, and of tools that a row names.
const OFFERED: usize = 10;
const TOOLS: usize = 3;
/// How long a page may read logs of live sessions, and how long where all of them are asked for.
const PATIENCE: Duration = Duration::from_millis(120);
const WHOLE: Duration = Duration::from_secs(60);

/// Keys of this page, beside those of all pages.
const KEYS: &[(&str, &str)] = &[("f", "write a filter"), ("[ ]", "previous, next page")];

/// A period that the page can be limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Period {
    /// Name in addresses.
    word: &'static str,
    /// The same for people.
    label: &'static str,
    /// The same in a sentence.
    within: &'static str,
    /// As a term of a filter.
    term: &'static str,
}

/// The periods, the shortest first.
const PERIODS: [Period; 4] = [
    Period { word: "today", label: "Today", within: "today", term: "since:today" },
    Period { word: "7d", label: "7 days", within: "in the last 7 days", term: "since:7d" },
    Period { word: "30d", label: "30 days", within: "in the last 30 days", term: "since:30d" },
    Period { word: "all", label: "All", within: "at any time", term: "" },
];
/// Those that are tried where an address names none: the first with any failure is shown.
const USUAL: &[Period] = PERIODS.split_at(1).1;

pub(crate) fn page(app: &AppState, request: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let reading = progress::reading(app, Some(&snapshot));
    let rows = snapshot.rows();
    let clock = LocalClock::at(snapshot.now.time);
    let rows = SessionRows::new(app, &snapshot, &rows, &clock, false);
    let mut view = View::new(app, request);
    let chosen = view.choose(&snapshot, rows.rows)?;
    let group = view.group.map(str::to_owned);
    let body = match chosen {
        Err(mistake) => filter_form::mistake(app, "/failures", &mistake),
        // While logs are still being read, an empty list is not yet the answer.
        Ok(_) if rows.rows.is_empty() && reading.is_none() => filter_form::no_logs(app, "shows its failures"),
        Ok((filter, report)) => {
            let page = FailuresPage { rows, view, filter };
            match &group {
                Some(group) => page.one(group, &report)?,
                None => page.list(&report),
            }
        }
    };
    // Parsed anew, because `choose` may have set a period. The form and the way back keep only what the address names.
    let view = View::new(app, request);
    let unresolved = if view.unresolved { "1" } else { "" };
    let main = html! {
        main #main.lists.failing {
            @match &group {
                Some(_) => p.crumb { a href=(View { group: None, after: None, ..view }.address()) { "← Failures" } },
                None => {
                    h1 { "Failures" }
                    (filter_form::form(app, &FilterForm { path: "/failures", id: "tt-q", label: "Filter: tool:Bash project:api purpose:test", query: view.query, beside: &[("period", view.period.map_or("", |period| period.word)), ("unresolved", unresolved)] }))
                }
            }
            (progress::line(app, reading.as_ref()))
            (filter_form::stopped(app))
            (body)
        }
    };
    let title = group.map_or_else(|| "Failures".to_owned(), |group| format!("{} · Failures", words::cut(&group, 60)));
    let assets = &["lists.css", "lists.js", "failures.css"];
    let page = FramedPage { here: "/failures", assets, keys: KEYS, again: reading.is_some(), ..FramedPage::plain(&title) };
    Ok(PageResponse::Html(frame::page(app, &page, &main)))
}

/// View of the failures, as the address has it.
#[derive(Clone, Copy)]
struct View<'a> {
    app: &'a AppState,
    query: &'a str,
    period: Option<Period>,
    unresolved: bool,
    group: Option<&'a str>,
    after: Option<&'a str>,
    /// Whether to wait for the logs of live sessions.
    whole: bool,
}

/// A filter with the failures that it selects, or the mistake in it.
type Chosen = Result<(Filter, FailureReport), Mistake>;

impl<'a> View<'a> {
    fn new(app: &'a AppState, request: &'a PageRequest) -> Self {
        let period = request.word("period").and_then(|word| PERIODS.iter().find(|period| period.word == word));
        View {
            app,
            query: request.word("q").unwrap_or_default(),
            period: period.copied(),
            unresolved: request.word("unresolved") == Some("1"),
            group: request.get("group").filter(|group| !group.is_empty()),
            after: request.word("after"),
            whole: request.word("all").is_some(),
        }
    }

    /// Finds the failures of this view. A view without a period takes the shortest one that has any.
    fn choose(&mut self, snapshot: &CatalogueSnapshot, rows: &[SessionRow<'_>]) -> Result<Chosen, Trouble> {
        // Parsed without a period first, to see whether the filter has times of its own.
        let own = match self.app.filter(self.query, snapshot) {
            Err(mistake) => return Ok(Err(mistake)),
            Ok(filter) => filter,
        };
        let is_timed = own.terms().iter().any(|term| term.test.each().iter().any(|test| matches!(test, Test::Since(_) | Test::Until(_))));
        let tried = match self.period {
            // A period that was chosen stays even if it has no failures: another one would not be what was asked for.
            Some(period) => vec![period],
            // The filter names its own period.
            None if is_timed => PERIODS.last().copied().into_iter().collect(),
            None => USUAL.to_vec(),
        };
        // Always replaced, because `tried` has at least one period.
        let mut chosen = Ok((own, FailureReport::default()));
        for period in tried {
            self.period = Some(period);
            let filter = match self.app.filter(&self.terms(), snapshot) {
                Err(mistake) => return Ok(Err(mistake)),
                Ok(filter) => filter,
            };
            // On the page of a group, `after` is the place of a call and not of a group.
            let after = self.after.filter(|_| self.group.is_none()).and_then(cursor_of_text);
            let report = store(self.app, snapshot, rows).failures(&self.asked(&filter, &words::zone()), after.as_ref(), SHOWN)?;
            let found = report.total.count > 0;
            chosen = Ok((filter, report));
            if found {
                break;
            }
        }
        Ok(chosen)
    }

    fn asked<'q>(&self, filter: &'q Filter, zone: &'q jiff::tz::TimeZone) -> FailureQuery<'q> {
        FailureQuery { filter, unresolved: self.unresolved, zone, patience: if self.whole { WHOLE } else { PATIENCE } }
    }

    /// The filter with the period, as other pages take it.
    fn terms(&self) -> String {
        [self.query, self.period.map_or("", |period| period.term)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn address(&self) -> String {
        let mut parts = Vec::new();
        let mut say = |name: &str, value: &str| {
            if !value.is_empty() {
                parts.push(format!("{name}={}", encoded(value)));
            }
        };
        say("q", self.query);
        say("period", self.period.map_or("", |period| period.word));
        say("unresolved", if self.unresolved { "1" } else { "" });
        say("group", self.group.unwrap_or_default());
        say("after", self.after.unwrap_or_default());
        say("all", if self.whole { "1" } else { "" });
        let query = if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) };
        self.app.to(&format!("/failures{query}"))
    }

    /// The address of this view from its beginning, with something else in it.
    fn with<'b>(&self, change: impl FnOnce(&mut View<'b>)) -> String
    where
        'a: 'b,
    {
        let mut view: View<'b> = View { after: None, ..*self };
        change(&mut view);
        view.address()
    }
}

fn store<'s>(
    app: &AppState,
    snapshot: &'s CatalogueSnapshot,
    rows: &'s [SessionRow<'s>],
) -> tooltrail_catalog::matching::stored::CatalogueQuery<'s> {
    snapshot.catalogued(rows, app.threads())
}

/// The place of a group, as addresses have it. The message comes last, because it may contain anything.
fn text_of_cursor(cursor: &GroupCursor) -> String {
    let last = cursor.last.map(|last| last.as_microsecond().to_string()).unwrap_or_default();
    format!("{}:{last}:{}", cursor.count, cursor.group)
}

fn cursor_of_text(text: &str) -> Option<GroupCursor> {
    let mut parts = text.splitn(3, ':');
    let count = parts.next()?.parse().ok()?;
    let last = parts.next()?;
    // Empty for a group whose failures have no times; any other text that is no number makes the address wrong.
    let last = if last.is_empty() { None } else { Some(Time::from_microsecond(last.parse().ok()?)?) };
    Some(GroupCursor { count, last, group: parts.next()?.to_owned() })
}

/// The page, being drawn.
struct FailuresPage<'a> {
    rows: SessionRows<'a>,
    view: View<'a>,
    filter: Filter,
}

impl FailuresPage<'_> {
    fn list(&self, report: &FailureReport) -> Markup {
        let total = &report.total;
        html! {
            (self.facets(report))
            @if total.count == 0 { (self.nothing(report)) } @else {
                div.sums {
                    p.counted { (self.counted(report)) }
                    (chart::bars("t-error", if total.count == 1 { "failure" } else { "failures" }, Some(total.count), &self.days(total, BARS)))
                }
                (self.table(&report.groups, total))
                (self.pages(report))
            }
            (self.pending(report))
        }
    }

    /// Number of failures, of sessions and of groups.
    fn counted(&self, report: &FailureReport) -> Markup {
        let (total, view) = (&report.total, &self.view);
        let within = view.period.map_or("", |period| period.within);
        // Interrupted and cancelled calls are no failures, so the link to the calls names the statuses.
        let statuses = total.by_status.keys().map(|status| status.word()).collect::<Vec<_>>().join(",");
        let calls = filter_form::filter_address(view.app, "/calls", format!("status:{statuses} {}", view.terms()).trim());
        html! {
            b { (counted(total.count, if view.unresolved { "unresolved failure" } else { "failure" })) } " " (within)
            span.di { " · " (counted(total.sessions, "session")) " · " (counted(report.all_groups, "message")) }
            // Where only unresolved ones are listed, this would repeat the first number.
            @if !view.unresolved { span.di { " · " (count(total.unresolved())) " unresolved" } }
            span.di { " · " a href=(calls) { "as calls" } " · " a href=(view.app.to("/help#failures")) { "what counts" } }
        }
    }

    /// The failures by day, from the beginning of the period to today.
    fn days(&self, group: &FailureGroup, most: i32) -> Vec<DaySpan> {
        let clock = self.rows.clock;
        let ((since, until), today) = (self.filter.times(), clock.date(clock.now));
        let last = group.last.map_or(today, |last| clock.date(last));
        // A period ends today, or where the filter says; all of the time ends with the last failure.
        let to = until.map_or_else(|| if since.is_some() { last.max(today) } else { last }, |until| clock.date(until).min(last.max(today)));
        let from = since.or(group.first).map_or(to, |first| clock.date(first));
        // A few days alone would be a few huge bars.
        let least = to.checked_sub(jiff::Span::new().days(LEAST)).unwrap_or(to);
        chart::spans(&group.days, if since.is_some() { from.min(to) } else { from.min(least) }, to, most)
    }

    fn table(&self, groups: &[FailureGroup], total: &FailureGroup) -> Markup {
        // The trend of a single day would be one full bar in every row.
        let several = self.view.period.is_none_or(|period| period.word != "today");
        html! {
            table.failures aria-label="Failures" {
                thead { tr {
                    th.group scope="col" { "Message" } th.count.n scope="col" { "Calls" } th.sessions.n scope="col" { "Sessions" } th.of-tools scope="col" { "Tools" }
                    @if several { th.trend scope="col" { "Trend" } }
                    th.first scope="col" { "First" } th.last scope="col" { "Last" } th.then scope="col" { "What came next" }
                } }
                tbody data-rows { @for group in groups { (self.row(group, total, several)) } }
            }
        }
    }

    fn row(&self, group: &FailureGroup, total: &FailureGroup, several: bool) -> Markup {
        let clock = self.rows.clock;
        let look = look(worst(group));
        let when = |time: Option<Time>| html! { @if let Some(time) = time { time datetime=(time) title=(clock.full(time)) { (clock.ago(time)) " ago" } } };
        html! {
            tr {
                td.group {
                    span class=(words::class(look.tone)) title=(look.word) { (look.glyph) span.vh { " " (look.word) } } " "
                    // The message has neither paths nor numbers, so the tooltip has the last error as it was printed.
                    a data-row href=(self.view.with(|view| view.group = Some(&group.group))) title=[group.error.as_deref().map(neutral)] { code { (neutral(&group.group)) } }
                }
                td.count.n { (count(group.count)) span.unit { " " (if group.count == 1 { "call" } else { "calls" }) } }
                td.sessions.n { (count(group.sessions)) span.unit { " " (if group.sessions == 1 { "session" } else { "sessions" }) } }
                td.of-tools { (tools(group)) }
                @if several { td.trend { (chart::spark(&self.trend(group, total))) } }
                td.first { (when(group.first)) }
                td.last { (when(group.last)) }
                td.then { (follow_ups(group)) }
            }
        }
    }

    /// The failures of a group by day, in the same period as those of all groups, so that rows can be compared.
    fn trend(&self, group: &FailureGroup, total: &FailureGroup) -> Vec<DaySpan> {
        let days = FailureGroup { days: group.days.clone(), first: total.first, last: total.last, ..FailureGroup::default() };
        self.days(&days, SPARKS)
    }

    fn pages(&self, report: &FailureReport) -> Markup {
        let view = &self.view;
        // The place of the last group instead of a page number: failures that come meanwhile would shift the pages.
        let next = report.groups.last().filter(|_| report.has_more).map(|last| text_of_cursor(&last.cursor()));
        html! {
            @if view.after.is_some() || next.is_some() {
                nav.pages aria-label="Pages of this list" {
                    @if view.after.is_some() { a rel="prev" href=(view.with(|_| ())) { "← First page" } }
                    span.di { (count(report.groups.len() as u64)) " of " (counted(report.all_groups, "message")) }
                    @if let Some(next) = &next { a rel="next" href=(View { after: Some(next), ..*view }.address()) { "Next →" } }
                }
            }
        }
    }

    /// Links that narrow the list.
    fn facets(&self, report: &FailureReport) -> Markup {
        let SessionRows { app, snapshot, .. } = &self.rows;
        // Links change only the filter that was written: the period has links of its own.
        let (view, terms) = (&self.view, FilterTerms::of(app, snapshot, self.view.query));
        let link = |on: bool, to: String, word: &Markup, number: Option<u64>| {
            html! { li { a.on[on] href=(to) aria-current=[on.then_some("true")] { (word) @if let Some(number) = number { " " span.di { (count(number)) } } @if on { " ✕" } } } }
        };
        let facet = |term: &str, word: &Markup, number: u64| {
            let toggle = terms.toggle(term);
            // A term that is on is shown even without failures, or no link would turn it off.
            html! { @if toggle.on || number > 0 { (link(toggle.on, view.with(|view| view.query = &toggle.query), word, Some(number))) } }
        };
        let total = &report.total;
        let statuses = [Status::Failed, Status::TimedOut, Status::Blocked, Status::Rejected].map(|status| {
            let look = look(status);
            let number = total.by_status.get(&status).copied().unwrap_or_default();
            facet(
                &format!("status:{}", status.word()),
                &html! { span class=(words::class(look.tone)) { (look.glyph) } " " (look.word) },
                number,
            )
        });
        let names = ProjectNames::of(report.projects.iter().map(|(path, _)| path.as_str()));
        html! {
            nav.facets aria-label="Filters" {
                ul aria-label="Period" {
                    @for period in PERIODS {
                        @let on = view.period == Some(period);
                        li { a.on[on] href=(view.with(|view| view.period = Some(period))) aria-current=[on.then_some("true")] { (period.label) } }
                    }
                }
                ul aria-label="Outcome" {
                    @for one in &statuses { (one) }
                    @if view.unresolved || total.count > 0 {
                        (link(view.unresolved, view.with(|view| view.unresolved = !view.unresolved), &html! { "unresolved only" }, Some(total.unresolved())))
                    }
                }
                ul aria-label="Projects" {
                    @for (path, number) in report.projects.iter().take(OFFERED) {
                        (facet(&self.rows.project_term(path), &html! { span title=(neutral(path)) { (words::cut(names.name(path), 40)) } }, *number))
                    }
                }
            }
        }
    }

    fn nothing(&self, report: &FailureReport) -> Markup {
        let view = &self.view;
        let within = view.period.map_or("", |period| period.within);
        let all = PERIODS.last().copied();
        html! {
            div.nothing {
                p { b { @if view.unresolved { "No unresolved failures " } @else { "No failures " } (within) @if !view.query.is_empty() { " that match the filter" } "." }
                    @if report.pending > 0 { " Some sessions are still being read." } }
                p {
                    @if view.period != all { a href=(view.with(|view| view.period = all)) { "Failures at any time" } " · " }
                    @if view.unresolved { a href=(view.with(|view| view.unresolved = false)) { "Resolved ones too" } " · " }
                    @if !view.query.is_empty() { a href=(view.with(|view| view.query = "")) { "Without the filter" } " · " }
                    a href=(view.app.to("/calls")) { "All calls" }
                }
            }
        }
    }

    /// Says which failures are missing.
    fn pending(&self, report: &FailureReport) -> Markup {
        let (number, view) = (report.pending, &self.view);
        html! {
            @if number > 0 {
                p.di.pending role="status" {
                    "The failures of " (counted(number, "session")) " are not counted yet: their logs are still being read. "
                    a href=(view.with(|view| view.whole = true)) { "Read them now" }
                }
            }
        }
    }
}

/// The status that most failures of a group have.
fn worst(group: &FailureGroup) -> Status {
    group.by_status.iter().max_by_key(|(_, count)| **count).map_or(Status::Failed, |(status, _)| *status)
}

/// The tools of a group, those that failed most first.
fn tools(group: &FailureGroup) -> Markup {
    let more = group.tools.len().saturating_sub(TOOLS);
    let names: Vec<String> = group.tools.iter().take(TOOLS).map(|(tool, _)| words::cut(tool, 40)).collect();
    // Limited, because names of tools come from logs, and there may be any number of them.
    let all: Vec<String> =
        group.tools.iter().take(100).map(|(tool, number)| format!("{} {}", words::cut(tool, 60), count(*number))).collect();
    html! { span title=(all.join(", ")) { (names.join(", ")) @if more > 0 { span.di { " +" (more) } } } }
}

/// What came after the failures of a group.
fn follow_ups(group: &FailureGroup) -> Markup {
    // A number beside the only kind would repeat the number of calls.
    let alone = group.follow_ups.len() == 1;
    html! {
        @for (follow_up, number) in &group.follow_ups {
            span class={ "came " (words::class(tone(*follow_up))) } title=(follow_up_sentence(*follow_up)) {
                @if !alone { (count(*number)) " " } (follow_up_word(*follow_up))
            } " "
        }
    }
}

/// The colour of what came next.
fn tone(follow_up: FollowUp) -> Tone {
    match follow_up {
        FollowUp::Resolved => Tone::Ok,
        FollowUp::Retried => Tone::Error,
        FollowUp::MovedOn | FollowUp::Stopped => Tone::Muted,
    }
}

/// A line about the largest group of failures of today, for the home page; nothing if no message came twice.
pub(super) fn attention(rows: &SessionRows<'_>) -> Result<Markup, Trouble> {
    let SessionRows { app, snapshot, rows, .. } = rows;
    let view = View { app, query: "", period: PERIODS.first().copied(), unresolved: false, group: None, after: None, whole: false };
    let Ok(filter) = app.filter(&view.terms(), snapshot) else { return Ok(html! {}) };
    let zone = words::zone();
    // The home page has much else to draw, so logs may be read for a shorter time than on the page of failures.
    let asked = FailureQuery { patience: Duration::from_millis(40), ..view.asked(&filter, &zone) };
    let report = store(app, snapshot, rows).failures(&asked, None, 1)?;
    let Some(group) = report.groups.first().filter(|group| group.count > 1) else { return Ok(html! {}) };
    let look = look(worst(group));
    Ok(html! {
        p.attention {
            span class=(words::class(look.tone)) aria-hidden="true" { (look.glyph) } " "
            (counted(group.count, "call")) " failed the same way today, in " (counted(group.sessions, "session")) ": "
            a href=(View { group: Some(&group.group), ..view }.address()) { code { (neutral(&group.group)) } }
            span.di { " · " a href=(View { ..view }.address()) { "all failures of today" } }
        }
    })
}
