//! `/`: sessions that wait for you, running sessions, problems of today, recent sessions, projects.

use super::{failures, progress};
use crate::answer::{PageResponse, Trouble};
use crate::app_state::AppState;
use crate::call_rows::{self, CallLine};
use crate::filter_cache::is_inner;
use crate::filter_form::{self, filter_address};
use crate::frame::{self, FramedPage};
use crate::request::PageRequest;
use crate::session_table::{self, SessionRows, SessionTable};
use crate::snapshot::CatalogueSnapshot;
use crate::tested::Bounds;
use crate::words::{self, LocalClock, ProjectNames};
use maud::{Markup, html};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tooltrail_catalog::stop::Stop;
use tooltrail_catalog::store::ListedCall;
use tooltrail_formats::FORMATS;
use tooltrail_model::filter::quoted;
use tooltrail_model::row::SessionRow;
use tooltrail_model::{Status, Time};
use tooltrail_view::head::{count, counted, is_problem, look, size, took};
use tooltrail_view::line::neutral;

/// Number of recent sessions.
const RECENT: usize = 20;
/// Limits on projects that are shown at once, and on sessions with problems.
const PROJECTS: usize = 12;
const TROUBLED: usize = 8;
/// States of sessions that need the user, the most urgent first.
const NEEDS: &[&str] = &["waiting", "asks", "your_turn"];
/// States of sessions that are running.
const WORKS: &[&str] = &["working"];
/// Limit on the sessions that are about to be deleted.
const DOOMED: usize = 5;

pub(crate) fn page(app: &AppState, _: &PageRequest) -> Result<PageResponse, Trouble> {
    let assets = &["lists.css", "lists.js"];
    let framed = |again: bool, snapshot: Option<&CatalogueSnapshot>, main: &Markup| {
        let page = FramedPage { here: "/", assets, again, follows: Some("lists"), snapshot, ..FramedPage::plain("Home") };
        Ok(PageResponse::Html(frame::page(app, &page, main)))
    };
    let snapshot = match app.snapshot() {
        Ok(snapshot) => snapshot,
        // On the first start nothing has been read yet. The page then shows the progress and reloads.
        Err(trouble) => match progress::reading(app, None) {
            Some(reading) => {
                return framed(
                    true,
                    None,
                    &html! { main #main.lists { h1 { "Reading your logs" } (progress::line(app, Some(&reading))) } },
                );
            }
            None => return Err(trouble),
        },
    };
    let reading = progress::reading(app, Some(&snapshot));
    let rows = snapshot.rows();
    // Only if nothing is being read any more: otherwise sessions may still appear.
    if rows.is_empty() && reading.is_none() {
        return framed(false, Some(&snapshot), &empty(app, &snapshot));
    }
    let clock = LocalClock::at(snapshot.now.time);
    let home = Home { rows: SessionRows::new(app, &snapshot, &rows, &clock, true) };
    // Needed twice: in the sentence at the top and in the list.
    let problems = app.problems_of_day.get(&snapshot, || home.problems())?;
    let main = html! {
        main #main.lists.home {
            header.top {
                h1 { (home.sentence(&problems)) }
                p.di { (home.read()) }
                (progress::line(app, reading.as_ref()))
            }
            div.columns {
                div #now {
                    (home.lives("Needs you", NEEDS)?)
                    (home.lives("Running", WORKS)?)
                    (home.troubles(&problems)?)
                    (failures::attention(&home.rows)?)
                    (home.recent())
                }
                div.aside { (home.projects()) (home.doomed()) }
            }
        }
    };
    framed(reading.is_some(), Some(&snapshot), &main)
}

/// Numbers of waiting and of running sessions, for the titles of pages.
pub(crate) fn now(app: &AppState, _: &PageRequest) -> Result<PageResponse, Trouble> {
    let snapshot = app.snapshot()?;
    let rows = snapshot.rows();
    let told = json!({ "needs": number(&rows, NEEDS), "works": number(&rows, WORKS), "old": app.is_old(&snapshot) });
    Ok(PageResponse::Text("application/json", told.to_string()))
}

/// Number of sessions that need the user.
pub(crate) fn needs(snapshot: &CatalogueSnapshot) -> usize {
    number(&snapshot.rows(), NEEDS)
}

/// Number of sessions in some states.
fn number(rows: &[SessionRow<'_>], states: &[&str]) -> usize {
    rows.iter().filter(|row| row.state.is_some_and(|state| states.contains(&state))).count()
}

/// The page, being drawn.
struct Home<'a> {
    rows: SessionRows<'a>,
}

impl Home<'_> {
    /// Summary of the state of affairs in a sentence.
    fn sentence(&self, problems: &Problems) -> String {
        let (waiting, working) = (self.places(NEEDS).len() as u64, self.places(WORKS).len() as u64);
        let needs = match waiting {
            0 => "No sessions wait for you".to_owned(),
            1 => "1 session waits for you".to_owned(),
            number => format!("{} sessions wait for you", count(number)),
        };
        let works = if working > 0 { format!(", {} running", count(working)) } else { String::new() };
        let wrong = match problems.calls.len() {
            number if number > 0 && problems.last.is_none() => format!("{} failed today", counted(number as u64, "call")),
            _ => self.quiet(),
        };
        // The numbers can still grow, and the sentence must not promise otherwise.
        let so_far = if self.rows.snapshot.read.partial { ", so far" } else { "" };
        format!("{needs}{works}, {wrong}{so_far}")
    }

    /// End of the sentence on a day without problems: there were none, or no activity since an earlier day.
    fn quiet(&self) -> String {
        let clock = self.rows.clock;
        match self.rows.rows.iter().filter_map(|row| row.last_at).max() {
            // Days as `2026-03-04` can be compared as texts.
            Some(last) if clock.day_word(last) < clock.day_word(clock.now) => format!("no activity since {}", clock.day_within(last)),
            _ => "no failures today".to_owned(),
        }
    }

    /// Amount of logs, and how long reading them took.
    fn read(&self) -> String {
        let read = &self.rows.snapshot.read;
        let logs = format!("{}, {}", counted(read.logs as u64, "log"), size(read.bytes));
        if read.partial {
            return logs;
        }
        let took = took(u64::try_from(read.first.took.as_millis()).unwrap_or(u64::MAX));
        let began = match read.first.read {
            0 => format!("all from the index, ready in {took}"),
            // The first start, or a new version of the catalogue: everything had to be read.
            number if number >= read.first.logs => format!("read in {took}"),
            number => format!("all but {} from the index, ready in {took}", count(number as u64)),
        };
        let newer = if read.newer > 0 { format!("; {} new or changed since", count(read.newer as u64)) } else { String::new() };
        format!("{logs}, {began}{newer}")
    }

    /// The places of the sessions in some states.
    fn places(&self, states: &[&str]) -> Vec<usize> {
        let is_one = |row: &SessionRow<'_>| row.state.is_some_and(|state| states.contains(&state));
        self.rows.rows.iter().enumerate().filter(|(_, row)| is_one(row)).map(|(place, _)| place).collect()
    }

    /// Sessions in some states, each with its running calls, the reason for its state, and the time since its last
    /// record.
    fn lives(&self, name: &str, states: &[&str]) -> Result<Markup, Trouble> {
        let mut places = self.places(states);
        // By urgency of the state, then by how long they have been waiting.
        let order = |place: &usize| {
            let row = self.rows.rows.get(*place)?;
            Some((states.iter().position(|state| row.state == Some(state)), row.last_at))
        };
        places.sort_by_key(order);
        if places.is_empty() {
            return Ok(html! {});
        }
        let mut lines = Vec::new();
        for place in &places {
            let row = self.rows.rows.get(*place);
            // Rows of calls are only read where the session has a running one.
            let runs = row.is_some_and(|row| row.by_status.get(&Status::Running).is_some_and(|number| *number > 0));
            let calls = if runs { call_rows::running(self.rows.snapshot, *place)? } else { Vec::new() };
            lines.extend(row.map(|row| self.life(row, *place, &calls)));
        }
        Ok(html! {
            section data-key=(name) {
                h2 { (name) " " span.di { (places.len()) } }
                ul.lives data-rows { @for line in &lines { (line) } }
            }
        })
    }

    fn life(&self, row: &SessionRow<'_>, place: usize, calls: &[CallLine]) -> Markup {
        let (app, clock) = (self.rows.app, self.rows.clock);
        let state = words::state(row);
        let last = row.last_at;
        html! {
            li data-key=(row.session) {
                span class={ "state " (words::class(state.tone)) } { (state.glyph) " " (state.word) }
                span.age.di title=[last.map(|last| clock.full(last))] { @if let Some(last) = last { "last write " (clock.since(last)) " ago" } }
                span.what {
                    (self.rows.title(row, place))
                    @if let Some(project) = row.project { " " span.in { (self.rows.project(project)) } }
                }
                span.now {
                    // The latest calls; a message with many parallel calls would fill the page.
                    @for call in calls.iter().rev().take(3) {
                        span.one { (call.link(app, row.session, None)) @if let Some(since) = call.since(clock) { " " span.di { "for " (since) } } }
                    }
                    // A running call says already why a session is working; all other states need their reason.
                    @if calls.is_empty() || row.state != Some("working") { span.di { (words::reason(row)) } }
                }
            }
        }
    }

    /// Calls with problems, of today; if there are none, of the last day that has some.
    fn problems(&self) -> Result<Problems, Trouble> {
        let SessionRows { app, snapshot, rows, clock, .. } = &self.rows;
        let calls = |query: &str| -> Result<Vec<ListedCall>, Trouble> {
            match app.filter(&format!("{} {query}", words::problems()), snapshot) {
                Ok(filter) => {
                    let mut calls = snapshot.catalogued(rows, app.threads()).calls(&filter)?;
                    // What failed in a script is counted by its script, like everywhere.
                    calls.retain(|call| !is_inner(call));
                    Ok(calls)
                }
                // Cannot happen: the filter is our own.
                Err(_) => Ok(Vec::new()),
            }
        };
        let query = "since:today".to_owned();
        let today = calls(&query)?;
        if !today.is_empty() {
            return Ok(Problems { calls: today, last: None, query });
        }
        let Some(last) = self.last_problem()? else { return Ok(Problems::default()) };
        let day = clock.day_word(last);
        let query = format!("since:{day} until:{day}");
        Ok(Problems { calls: calls(&query)?, last: Some(last), query })
    }

    /// Time of the last problem. Only sessions that may have a later one than the best so far are read.
    fn last_problem(&self) -> Result<Option<Time>, Trouble> {
        let SessionRows { snapshot, rows, .. } = &self.rows;
        let has_some = |row: &SessionRow<'_>| row.by_status.iter().any(|(status, number)| is_problem(*status) && *number > 0);
        let candidates = rows.iter().enumerate().filter(|(place, row)| has_some(row) && !snapshot.listing.is_gone(*place));
        let mut candidates: Vec<(Time, usize)> = candidates.filter_map(|(place, row)| Some((row.last_at?, place))).collect();
        // By last activity, the latest first: no call is later than its session's last record, so the loop can stop
        // early.
        candidates.sort_unstable_by(|one, two| two.cmp(one));
        let mut newest: Option<Time> = None;
        for (last, place) in candidates {
            if newest.is_some_and(|newest| newest >= last) {
                break;
            }
            snapshot.listing.each_call(&snapshot.library.catalogue(), place, |_, row, _| {
                if is_problem(row.status) && !row.is_inner() {
                    newest = newest.max(row.requested_at);
                }
            })?;
        }
        Ok(newest)
    }

    /// Problems by session.
    fn troubles(&self, problems: &Problems) -> Result<Markup, Trouble> {
        let (app, clock) = (self.rows.app, self.rows.clock);
        // The calls are sorted by session; otherwise a session could be in several groups.
        let mut groups: Vec<&[ListedCall]> = problems.calls.chunk_by(|one, next| one.session == next.session).collect();
        // Sessions by their latest problem, because that is most likely the one to look at.
        groups.sort_by_key(|group| std::cmp::Reverse(group.iter().filter_map(|call| call.order).max()));
        let mut lines = Vec::new();
        for group in groups.iter().take(TROUBLED) {
            lines.push(self.trouble(group, &problems.query)?);
        }
        let (number, more) = (problems.calls.len() as u64, groups.len().saturating_sub(TROUBLED));
        Ok(html! {
            section {
                h2 { "Failed " (problems.when(clock)) @if number > 0 { " " span.di { (count(number)) } } }
                @if number == 0 { p.di { "No failures in any session." } } @else {
                    ul.troubles data-rows { @for line in &lines { (line) } }
                    p.more {
                        a href=(filter_address(app, "/calls", &format!("{} {}", words::problems(), problems.query))) { (if number == 1 { "The call".to_owned() } else { format!("All {} calls", count(number)) }) }
                        @if more > 0 { span.di { ", in " (session_table::sessions(more)) " more" } }
                        span.di { " · " a href=(filter_address(app, "/calls", &words::problems())) { "all days" } }
                    }
                }
            }
        })
    }

    /// A session with problems: their number by status, and the latest one.
    fn trouble(&self, calls: &[ListedCall], day: &str) -> Result<Markup, Trouble> {
        let Some((last, row)) = calls.last().and_then(|last| Some((last, self.rows.rows.get(last.session)?))) else { return Ok(html! {}) };
        let app = self.rows.app;
        let by_status = call_rows::by_status(self.rows.snapshot, calls)?;
        let lines = call_rows::lines(self.rows.snapshot, &[*last])?;
        let query = |status: &Status| format!("session:{} status:{} {day}", quoted(row.session), status.word());
        Ok(html! {
            li {
                span.counts {
                    @for (status, number) in &by_status {
                        @let look = look(*status);
                        a class=(words::class(look.tone)) href=(filter_address(app, "/calls", &query(status))) title={ (count(*number)) " " (look.word) } {
                            (look.glyph) (count(*number)) span.vh { " " (look.word) }
                        }
                    }
                }
                span.what {
                    (self.rows.title(row, last.session))
                    @if let Some(project) = row.project { " " span.in { (self.rows.project(project)) } }
                }
                @if let Some(line) = lines.last() { span.now { span.one { (line.link(app, row.session, None)) " " (line.verdict()) } (line.error_line()) } }
            }
        })
    }

    /// The sessions with the latest activity.
    fn recent(&self) -> Markup {
        let mut places: Vec<usize> = (0..self.rows.rows.len()).collect();
        places.sort_by_key(|&place| std::cmp::Reverse(self.rows.rows.get(place).and_then(|row| row.last_at)));
        places.truncate(RECENT);
        let all = self.rows.rows.len();
        let SessionRows { app, snapshot, rows, .. } = &self.rows;
        let tests = app.tested.of(snapshot, rows, &places, &Bounds::of_page(app.threads()));
        html! {
            section {
                h2 { "Recent sessions" }
                (self.rows.table(&SessionTable { places: &places, heads: &|_| None, by_day: Some(|row| row.last_at), tests: &tests, short: true, name: "Recent sessions" }))
                @if all > places.len() { p.more { a href=(self.rows.app.to("/sessions")) { "All " (session_table::sessions(all)) } } }
            }
        }
    }

    /// The projects, the one with the latest activity first.
    fn projects(&self) -> Markup {
        let mut all: HashMap<&str, Project> = HashMap::new();
        for (place, row) in self.rows.rows.iter().enumerate() {
            if let Some(project) = row.project {
                all.entry(project).or_default().add(row, self.rows.snapshot.listing.is_gone(place));
            }
        }
        let mut all: Vec<(&str, Project)> = all.into_iter().collect();
        // Names decide between equal times: without them the order of the hash map would show, which differs each time.
        all.sort_by(|(name, one), (other, two)| two.last.cmp(&one.last).then(name.cmp(other)));
        let names = ProjectNames::of(all.iter().map(|(path, _)| *path));
        // The rest is in the page, but folded.
        let (first, rest) = all.split_at(all.len().min(PROJECTS));
        html! {
            section {
                h2 { "Projects " span.di { (all.len()) } }
                (self.project_table(first, &names))
                @if !rest.is_empty() { details.rest { summary { (count(rest.len() as u64)) " more" } (self.project_table(rest, &names)) } }
            }
        }
    }

    fn project_table(&self, projects: &[(&str, Project)], names: &ProjectNames<'_>) -> Markup {
        html! {
            table.projects aria-label="Projects" {
                thead { tr { th scope="col" { "Project" } th.n scope="col" { "Sessions" } th.n scope="col" { "Calls" } th.n scope="col" title="Calls that failed" { "Failed" } th.n scope="col" { "Last" } } }
                tbody {
                    @for (path, project) in projects {
                        @let term = self.rows.project_term(path);
                        @let calls = |more: &str| filter_address(self.rows.app, "/calls", &format!("{term}{more}"));
                        tr {
                            td { a href=(self.rows.project_address(path)) title=(neutral(&words::tilde(path, self.rows.home.as_deref()))) { (words::cut(names.name(path), 60)) } }
                            td.n { (count(project.sessions)) }
                            td.n { a href=(calls("")) { (count(project.calls)) } }
                            td.n title={ (count(project.failed)) " of " (counted(project.calls, "call")) } { @if project.failed > 0 { a href=(calls(" status:failed")) { (project.share()) } } }
                            td.n { @if let Some(last) = project.last { time datetime=(last) title=(self.rows.clock.full(last)) { (self.rows.clock.ago(last)) } } }
                        }
                    }
                }
            }
        }
    }

    /// Sessions that their agents will delete soon, with advice.
    fn doomed(&self) -> Markup {
        let Some(fates) = &self.rows.fates else { return html! {} };
        // A session that is deleted already needs no warning.
        let note = |(place, row): (usize, &SessionRow<'_>)| if self.rows.snapshot.listing.is_gone(place) { None } else { fates.note(row) };
        let mut all: Vec<(usize, String)> =
            self.rows.rows.iter().enumerate().filter_map(|(place, row)| Some((place, note((place, row))?))).collect();
        if all.is_empty() {
            return html! {};
        }
        // The oldest are deleted first.
        all.sort_by_key(|(place, _)| self.rows.rows.get(*place).and_then(|row| row.last_at));
        html! {
            section.doomed {
                h2 { "Deleted soon " span.di { (count(all.len() as u64)) } }
                p { (filter_form::ticked(&fates.advice(all.len() as u64))) "." }
                ul { @for (place, note) in all.iter().take(DOOMED) { li { @if let Some(row) = self.rows.rows.get(*place) { (self.rows.title(row, *place)) } " " span.t-stopped { (note) } } } }
                @if all.len() > DOOMED { p.di { "and " (count((all.len() - DOOMED) as u64)) " more" } }
            }
        }
    }
}

/// The problems of the latest snapshot that was asked for. With very many sessions, looking for them takes most of the page's time.
#[derive(Default)]
pub(crate) struct KnownProblems(Mutex<Option<(Instant, Arc<Problems>)>>);

impl KnownProblems {
    /// The problems of a snapshot. Requests for the same page wait for the first of them.
    fn get(&self, snapshot: &CatalogueSnapshot, look: impl FnOnce() -> Result<Problems, Trouble>) -> Result<Arc<Problems>, Trouble> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made, problems)) = &*known
            && *made == snapshot.made
        {
            return Ok(Arc::clone(problems));
        }
        let problems = Arc::new(look()?);
        // Those that were looked for until the time was over are not all.
        if !Stop::current().is_over() {
            *known = Some((snapshot.made, Arc::clone(&problems)));
        }
        Ok(problems)
    }
}

/// Problems of a day.
#[derive(Default)]
pub(crate) struct Problems {
    /// The calls, by session.
    calls: Vec<ListedCall>,
    /// Time of the last one, if not today.
    last: Option<Time>,
    /// The day, as a filter.
    query: String,
}

impl Problems {
    /// The day in words: `today`, `yesterday`, `on Monday 2 March`; empty without problems.
    fn when(&self, clock: &LocalClock) -> String {
        match self.last.map(|last| clock.day_within(last)) {
            None if self.calls.is_empty() => String::new(),
            None => "today".to_owned(),
            Some(day) if day == "yesterday" => day,
            Some(day) => format!("on {day}"),
        }
    }
}

/// Totals of a project's sessions.
#[derive(Default)]
struct Project {
    sessions: u64,
    calls: u64,
    failed: u64,
    last: Option<Time>,
}

impl Project {
    /// Counts a session. Deleted sessions cannot be opened, so they count only for the time of the last activity.
    fn add(&mut self, row: &SessionRow<'_>, gone: bool) {
        if !gone {
            self.sessions += 1;
            self.calls += row.calls;
            self.failed += row.by_status.get(&Status::Failed).copied().unwrap_or_default();
        }
        self.last = self.last.max(row.last_at);
    }

    /// The share of calls that failed: `3.1 %`; empty if none did.
    fn share(&self) -> String {
        if self.calls == 0 || self.failed == 0 {
            return String::new();
        }
        let share = self.failed as f64 * 100.0 / self.calls as f64;
        // One decimal for small shares; `9.95` would be rounded to `10.0`.
        if share < 9.95 { format!("{share:.1} %") } else { format!("{share:.0} %") }
    }
}

/// The agents whose logs are read, as in a sentence: `Claude Code and Codex`.
fn agents() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.display_name()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Page for a machine without logs: an introduction, where logs were looked for, and advice.
fn empty(app: &AppState, snapshot: &CatalogueSnapshot) -> Markup {
    html! {
        main #main.lists.narrow {
            h1 { "No sessions here yet" }
            p { "tooltrail shows every tool call of your coding agents, with its input, output and outcome. It reads the logs that " (agents()) " write to this machine, and found none yet." }
            h2 { "Where it looked" }
            ul.places { @for path in &snapshot.read.looked { li { code { (neutral(&path.to_string_lossy())) } } } }
            @for problem in &snapshot.read.problems { p.t-error { (neutral(problem)) } }
            h2 { "Logs in other directories" }
            p { "Start tooltrail with a directory laid out like a home directory, such as a backup:" }
            pre.code { "tooltrail serve --root /mnt/backup/home" }
            // Inside the demo there is no other demo to open.
            @if app.setup.root.is_empty() && !app.setup.demo {
                h2 { "Try the demo" }
                p { a.button href={ (app.to("/demo/")) } { "Open the demo" } " " span.di { "A few sample sessions." } }
            }
            p.di { "New sessions appear here automatically." }
        }
    }
}
