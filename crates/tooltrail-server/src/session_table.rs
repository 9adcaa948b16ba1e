//! The table of sessions on the home page and in the list of sessions.

use crate::app_state::AppState;
use crate::filter_form::filter_address;
use crate::machine::LogRetention;
use crate::request::encoded;
use crate::snapshot::CatalogueSnapshot;
use crate::tested::Tested;
use crate::words::{self, LocalClock, ProjectNames, ProjectTerms};
use maud::{Markup, html};
use std::collections::HashMap;
use tooltrail_formats::format_of;
use tooltrail_model::Time;
use tooltrail_model::row::SessionRow;
use tooltrail_view::head::{count, counted, is_problem, look, took};
use tooltrail_view::line::neutral;

/// Everything that rows of sessions are drawn from. Made once per page, because names and terms depend on all sessions together.
pub(crate) struct SessionRows<'a> {
    /// The pages that rows link to.
    pub(crate) app: &'a AppState,
    /// The snapshot that they are rows of.
    pub(crate) snapshot: &'a CatalogueSnapshot,
    /// All sessions.
    pub(crate) rows: &'a [SessionRow<'a>],
    /// The user's clock.
    pub(crate) clock: &'a LocalClock,
    /// Expected deletion of their logs.
    pub(crate) fates: Option<Box<dyn LogRetention>>,
    /// The home directory that their paths mean.
    pub(crate) home: Option<String>,
    /// Filter terms that select a project.
    terms: ProjectTerms<'a>,
    /// Project names that tell projects with equal directory names apart.
    names: ProjectNames<'a>,
}

/// A time of a session.
pub(crate) type TimeOf = fn(&SessionRow<'_>) -> Option<Time>;

/// A table of some of them.
pub(crate) struct SessionTable<'t> {
    /// The sessions, by their places.
    pub(crate) places: &'t [usize],
    /// Heading of a column, by the column's name; `None` for a plain word.
    pub(crate) heads: &'t dyn Fn(&str) -> Option<Markup>,
    /// Whether they are sorted by a time, and stand under its days.
    pub(crate) by_day: Option<TimeOf>,
    /// Verdicts by place, as far as they are known.
    pub(crate) tests: &'t HashMap<usize, Tested>,
    /// Whether only the most important columns are shown.
    pub(crate) short: bool,
    /// Label of the table for screen readers.
    pub(crate) name: &'t str,
}

/// The columns: a class, which names them, and a word.
const COLUMNS: &[(&str, &str)] = &[
    ("state", "State"),
    ("when", "When"),
    ("session", "Session"),
    ("project", "Project"),
    ("branch", "Branch"),
    ("model", "Agent"),
    ("turns", "Turns"),
    ("calls", "Calls"),
    ("bad", "Problems"),
    ("lasted", "Duration"),
    ("tests", "Tests"),
    ("open", "Unresolved"),
    ("changed", "Lines"),
    ("shipped", "Commits"),
];
/// Columns of a short table.
const FEW: &[&str] = &["when", "session", "project", "calls", "bad", "tests", "changed"];
/// Columns that the style hides where the window is not wide.
const WIDE: &[&str] = &["branch", "model", "turns"];

/// A column: a class and a word.
type SessionColumn = (&'static str, &'static str);

/// State of sessions, by place. Sessions that have ended and will not be deleted soon are missing.
type States = HashMap<usize, Markup>;

impl<'a> SessionRows<'a> {
    /// Rows of a snapshot. `fates`: whether rows mention that logs will be deleted.
    pub(crate) fn new(
        app: &'a AppState,
        snapshot: &'a CatalogueSnapshot,
        rows: &'a [SessionRow<'a>],
        clock: &'a LocalClock,
        fates: bool,
    ) -> Self {
        // Working this out reads the agents' settings, so only pages that show it pay for it.
        let fates = if fates { app.machine.fates() } else { None };
        let terms = ProjectTerms::of(rows.iter().filter_map(|row| row.project));
        let names = ProjectNames::of(rows.iter().filter_map(|row| row.project));
        SessionRows { app, snapshot, rows, clock, fates, home: app.machine.home_in_logs(), terms, names }
    }

    /// A table of sessions.
    pub(crate) fn table(&self, table: &SessionTable<'_>) -> Markup {
        let whole = !table.short;
        let state = |&place: &usize| Some((place, self.state(self.rows.get(place)?, place, whole)?));
        let states: States = table.places.iter().filter_map(state).collect();
        let shown = |(name, _): &&SessionColumn| match table.short {
            // A short table shows the state before the title, not in a column.
            true => FEW.contains(name),
            false => *name != "state" || !states.is_empty(),
        };
        // Without any state to show, the column is left out rather than empty.
        let columns: Vec<&SessionColumn> = COLUMNS.iter().filter(shown).collect();
        let time = |place: &usize| table.by_day.and_then(|time| time(self.rows.get(*place)?));
        // Sessions without a time are grouped too, or they would stand under the day above them.
        let day = |place: &usize| time(place).map_or_else(|| "No time recorded".to_owned(), |time| self.clock.day(time));
        html! {
            table.sessions.short[table.short] aria-label=(table.name) data-tests-from=(self.app.to("/sessions/tests")) {
                thead { tr { @for (name, word) in &columns { (head(name, word, (table.heads)(name))) } } }
                @for group in table.places.chunk_by(|one, next| day(one) == day(next)) {
                    tbody data-rows {
                        @if let Some(first) = group.first().filter(|_| table.by_day.is_some()) {
                            // A cell for each column that may be hidden: one that spans it would keep its space.
                            @let wide = columns.iter().filter(|(name, _)| WIDE.contains(name));
                            tr.day {
                                th colspan=(columns.len() - wide.clone().count()) scope="rowgroup" { (day(first)) }
                                @for (name, _) in wide { td class=(name) {} }
                            }
                        }
                        @for &place in group { @if let Some(row) = self.rows.get(place) { (self.row(row, place, &columns, table, &states)) } }
                    }
                }
            }
        }
    }

    fn row(&self, row: &SessionRow<'_>, place: usize, columns: &[&SessionColumn], table: &SessionTable<'_>, states: &States) -> Markup {
        html! {
            // The id is the key by which the script matches rows when the table is reloaded.
            tr.gone[self.is_gone(place)] data-key=(row.session) {
                @for (name, _) in columns {
                    @match *name {
                        "state" => td.state { @match states.get(&place) { Some(state) => (state), None => span.vh { "ended" } } },
                        "session" => td.session { @if table.short && let Some(state) = states.get(&place) { (state) " " } (self.title(row, place)) },
                        name => (self.cell(name, row, place, table)),
                    }
                }
            }
        }
    }

    /// Whether a session's logs are gone.
    fn is_gone(&self, place: usize) -> bool {
        self.snapshot.listing.is_gone(place)
    }

    fn cell(&self, name: &str, row: &SessionRow<'_>, place: usize, table: &SessionTable<'_>) -> Markup {
        match name {
            "when" => html! { td.when { (self.when(row, table.by_day.is_some())) } },
            "project" => html! { td.project { @if let Some(project) = row.project { (self.project(project)) } } },
            "branch" => {
                html! { td.branch title=[row.branch.map(neutral)] { @if let Some(branch) = row.branch { (words::cut(branch, 60)) } } }
            }
            "model" => html! { td.model title=(neutral(&row.models.join(", "))) { (model(row)) } },
            "turns" => html! { td.turns.n { (with_unit(row.turns, "turn")) } },
            "calls" => html! { td.calls.n { a href=(self.calls_of(row, place, "")) { (with_unit(row.calls, "call")) } } },
            "bad" => html! { td.bad { (self.problems(row, place)) } },
            "lasted" => html! { td.lasted.n { @if let Some(millis) = words::lasted(row) { (took(millis)) } } },
            // The columns left are those of the verdict; names come from `COLUMNS` alone.
            name => match table.tests.get(&place).map(|tested| tested.cell(name)) {
                Some(Some(told)) => {
                    html! { td class=(name) { @if !told.say.is_empty() { span class=(told.class) title=(told.title) { (told.say) } } } }
                }
                // Took too long for this page; the script asks for it later, by the session's id.
                None if !self.is_gone(place) && row.calls > 0 => {
                    html! { td class=(name) { span.t-muted data-tests=(row.session) data-part=(name) title="not read yet" { @if name == "tests" { "…" } } } }
                }
                _ => html! { td class=(name) {} },
            },
        }
    }

    /// State of a session, or when its logs will be deleted; `None` if it has ended and stays.
    fn state(&self, row: &SessionRow<'_>, place: usize, fates: bool) -> Option<Markup> {
        if self.is_gone(place) {
            return Some(html! { span.t-muted title="The agent deleted the logs; only this row is left" { "gone" } });
        }
        let state = words::state(row);
        if state.glyph.is_empty() {
            // A session that has ended shows when its logs will be deleted instead of its state.
            let note = self.fates.as_ref().filter(|_| fates)?.note(row)?;
            return Some(html! { span.t-stopped title="The agent will delete the logs" { (note) } });
        }
        Some(html! { span class={ "state " (words::class(state.tone)) } title=(words::reason(row)) { (state.glyph) " " (state.word) } })
    }

    fn when(&self, row: &SessionRow<'_>, day_is_said: bool) -> Markup {
        let Some(last) = row.last_at else { return html! {} };
        let started = row.started_at.map(|time| format!("started {}, ", self.clock.full(time))).unwrap_or_default();
        html! {
            time datetime=(last) title={ (started) "last active " (self.clock.full(last)) } {
                (if day_is_said { self.clock.time(last) } else { self.clock.when(last) })
            }
        }
    }

    /// The title, as a link to the session unless it is gone.
    pub(crate) fn title(&self, row: &SessionRow<'_>, place: usize) -> Markup {
        let title = words::title(row.title);
        html! {
            @if self.is_gone(place) { span title=(title) { (title) } }
            @else { a data-row href=(self.to(row)) title=(title) { (title) } }
        }
    }

    /// The title, as a link that is not the one of its row.
    pub(crate) fn plain_title(&self, row: &SessionRow<'_>, place: usize) -> Markup {
        let title = words::title(row.title);
        html! { @if self.is_gone(place) { span title=(title) { (title) } } @else { a href=(self.to(row)) title=(title) { (title) } } }
    }

    /// The address of the page of a project.
    pub(crate) fn project_address(&self, path: &str) -> String {
        project_address(self.app, &self.terms, path)
    }

    /// The project that a name in an address means.
    pub(crate) fn project_named(&self, name: &str) -> Option<&'a str> {
        self.terms.find(name)
    }

    /// The address of a session.
    pub(crate) fn to(&self, row: &SessionRow<'_>) -> String {
        self.app.to(&format!("/s/{}", encoded(row.session)))
    }

    /// The term that selects a project.
    pub(crate) fn project_term(&self, path: &str) -> String {
        self.terms.term(path)
    }

    /// A project's name, which leads to its sessions.
    pub(crate) fn project(&self, path: &str) -> Markup {
        self.project_as(path, self.names.name(path))
    }

    /// A link to a project's sessions under another name.
    pub(crate) fn project_as(&self, path: &str, name: &str) -> Markup {
        html! {
            a href=(self.app.to(&format!("/sessions?q={}", encoded(&self.project_term(path))))) title=(neutral(&words::tilde(path, self.home.as_deref()))) {
                (words::cut(name, 60))
            }
        }
    }

    /// The address of its calls, or of those for which a term holds.
    fn calls_of(&self, row: &SessionRow<'_>, place: usize, term: &str) -> String {
        let session = words::session_term(row.session, self.is_gone(place));
        filter_address(self.app, "/calls", format!("{session} {term}").trim_end())
    }

    /// Number of calls with problems, each status a link to these calls.
    fn problems(&self, row: &SessionRow<'_>, place: usize) -> Markup {
        let all = row.by_status.iter().filter(|(status, _)| is_problem(**status));
        html! {
            @for (status, number) in all {
                @let look = look(*status);
                a class=(words::class(look.tone)) href=(self.calls_of(row, place, &format!("status:{}", status.word()))) title={ (count(*number)) " " (look.word) } {
                    (look.glyph) (count(*number)) span.vh { " " (look.word) }
                }
            }
        }
    }
}

/// The address of the page of a project.
pub(crate) fn project_address(app: &AppState, terms: &ProjectTerms<'_>, path: &str) -> String {
    app.to(&format!("/p/{}", encoded(terms.end(path))))
}

fn head(name: &str, word: &str, own: Option<Markup>) -> Markup {
    let sorted = own.as_ref().map(|_| ());
    html! { th scope="col" class=(name) data-sorts[sorted.is_some()] { @if let Some(own) = own { (own) } @else { (word) } } }
}

/// A number with its unit, which is only shown where the layout has no columns.
fn with_unit(number: u64, word: &str) -> Markup {
    let told = counted(number, word);
    let (number, unit) = told.split_once(' ').unwrap_or((&told, ""));
    html! { (number) span.unit { " " (unit) } }
}

/// The agent and its model, as short as possible.
fn model(row: &SessionRow<'_>) -> Markup {
    let short = |model: &str| {
        let model = format_of(row.agent).map_or(model, |format| format.short_model(model));
        // Release dates make names long and say little: `claude-opus-4-1-20250805` is shown as `opus-4-1`.
        let model = model
            .rsplit_once('-')
            .filter(|(_, day)| day.len() == 8 && day.bytes().all(|b| b.is_ascii_digit()))
            .map_or(model, |(name, _)| name);
        words::cut(model, 40)
    };
    let more = row.models.len().saturating_sub(1);
    html! {
        (neutral(row.agent))
        @if let Some(model) = row.models.first() { " " span.di { (short(model)) @if more > 0 { " +" (more) } } }
    }
}

/// Number of sessions in words: `12 sessions`.
pub(crate) fn sessions(number: usize) -> String {
    counted(number as u64, "session")
}
